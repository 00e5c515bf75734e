"""What the package promises as a whole: its names, its types, its imports, its silence."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from types import ModuleType

import pytest

import counterset
from counterset import exceptions

SOURCE = Path(inspect.getfile(counterset)).parent
FILES = sorted(SOURCE.rglob("*.py"))
#: Modules whose classes and functions are all public.
PUBLIC_MODULES = ["counterset.datasets", "counterset.distances", "counterset.metrics"]
#: Rooms whose ``__all__`` is what users import from them.
PUBLIC_ROOMS = ["counterset", "counterset.evaluation", "counterset.exact", *PUBLIC_MODULES]
#: Heavy ones are extras, imported only where they are needed.
EXTRAS = [
    "dask", "dice_ml", "fastapi", "flask", "highspy", "lightgbm", "matplotlib", "onnxruntime",
    "ortools", "skops", "tensorflow", "torch", "tqdm", "xgboost",
]  # fmt: skip


def is_public(name: str, value: object) -> bool:
    """Whether a name was made to be used, and not only imported on the way."""
    return not name.startswith("_") and not isinstance(value, ModuleType)


@pytest.mark.parametrize("name", PUBLIC_ROOMS)
def test_all_is_sorted_and_without_repeats(name: str) -> None:
    names = importlib.import_module(name).__all__
    if name == "counterset.distances":  # ruff sorts constants before classes
        assert len(set(names)) == len(names)
    else:
        assert names == sorted(set(names))


def test_all_is_complete() -> None:
    public = {name for name, value in vars(counterset).items() if is_public(name, value)}
    modules = {"datasets", "distances", "metrics"}
    assert set(counterset.__all__) == public | modules | {"__version__"}


@pytest.mark.parametrize("name", PUBLIC_ROOMS)
def test_every_public_name_has_a_docstring_with_an_example(name: str) -> None:
    # The doctests run in the suite.
    module = importlib.import_module(name)
    assert module.__doc__
    for each in module.__all__:
        value = getattr(module, each)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert ">>> " in (value.__doc__ or ""), f"{name}.{each} has no example"


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_every_class_and_function_of_a_public_module_is_in_its_all(name: str) -> None:
    module = importlib.import_module(name)
    own = {
        each
        for each, value in vars(module).items()
        if is_public(each, value)
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == name
    }
    assert own <= set(module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)


def test_every_error_and_warning_has_one_of_two_roots() -> None:
    for name in exceptions.__all__:
        kind = getattr(exceptions, name)
        assert issubclass(kind, exceptions.CountersetError | exceptions.CountersetWarning)
        assert name in (exceptions.__doc__ or ""), f"{name} is missing in the tree"


def test_the_version_is_that_of_the_distribution() -> None:
    assert counterset.__version__ == metadata.version("counterset")


def test_the_types_are_shipped() -> None:
    assert resources.files("counterset").joinpath("py.typed").is_file()


def loaded_by(imports: str) -> set[str]:
    """Return the packages that a fresh process has after some imports."""
    code = f"import {imports}, sys; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stderr == ""
    return {name.split(".")[0] for name in shown.stdout.split()}


def test_importing_the_package_imports_no_extra() -> None:
    # The command once imported the server, so that it needed an extra to print its help. It
    # imports all that `import counterset` does.
    loaded = loaded_by("counterset.cli")
    assert "counterset" in loaded
    assert loaded.isdisjoint(EXTRAS)
    # pandas imports pyarrow itself where that is installed.
    more = loaded - loaded_by("narwhals, pandas, scipy, sklearn.base")
    assert more.isdisjoint({"polars", "pyarrow"})


@cache
def statements() -> list[tuple[str, ast.AST]]:
    """Return all imports, calls and handlers of errors of the package, each with its place."""
    kinds = ast.Import | ast.ImportFrom | ast.Call | ast.ExceptHandler
    return [
        (f"{file.relative_to(SOURCE)}:{node.lineno}", node)
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, kinds)
    ]


def test_one_module_knows_the_containers_of_tables() -> None:
    knowing = set()
    for place, node in statements():
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if {name.split(".")[0] for name in names} & {"narwhals", "polars", "pyarrow"}:
            knowing.add(place.split(":")[0])
    assert knowing == {"tables/frames.py", "batch/table_files.py"}  # containers, and a format


# Other libraries draw from the global random state. Their adapters seed that of a process that is
# all their own.
OWN_PROCESS = ("paper/peers/dice.py:", "paper/peers/columns.py:")
#: What makes a generator of one's own.
GENERATORS = ("default_rng", "Generator", "RandomState", "SeedSequence")


def test_no_module_prints() -> None:
    printing = [
        place
        for place, node in statements()
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("print", "pprint")
        and not place.startswith("cli/")
    ]
    assert printing == []


def test_no_module_draws_from_the_global_random_state() -> None:
    # A module has at most a generator of its own, made from a random_state.
    drawing = []
    for place, node in statements():
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        legacy = called.startswith(("np.random.", "numpy.random."))
        imports = isinstance(node, ast.Import) and "random" in [each.name for each in node.names]
        if imports or (legacy and not called.endswith(GENERATORS)):
            drawing.append(place)
    assert [place for place in drawing if not place.startswith(OWN_PROCESS)] == []


def test_no_module_swallows_every_exception() -> None:
    swallowing = []
    for place, node in statements():
        if isinstance(node, ast.ExceptHandler):
            caught = "" if node.type is None else ast.unparse(node.type)
            # A future raises the error where its result is waited for, and so does the process at
            # the other end of a pipe.
            handed_on = ("result.set_exception(error)", "connection.send(('failed', told))")
            hands_on = any(text in ast.unparse(node) for text in handed_on)
            raises = hands_on or any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
            if not caught or (caught in ("Exception", "BaseException") and not raises):
                swallowing.append(place)
    assert swallowing == []
