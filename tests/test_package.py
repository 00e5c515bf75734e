"""What the package promises as a whole: its names, its types, its imports, its silence."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
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


@pytest.mark.parametrize("package", ["counterset", "counterset.cli"])
def test_importing_the_package_imports_no_extra(package: str) -> None:
    # The command once imported the server, so that it needed an extra to print its help.
    loaded = loaded_by(package)
    assert "counterset" in loaded
    assert loaded.isdisjoint(EXTRAS)
    # pandas imports pyarrow itself where that is installed.
    more = loaded - loaded_by("narwhals, pandas, scipy, sklearn.base")
    assert more.isdisjoint({"polars", "pyarrow"})


def test_importing_the_package_imports_no_room_that_is_used_seldom() -> None:
    code = "import counterset, sys; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seldom = {"batch", "cli", "paper", "plots", "report", "serve"}
    assert {f"counterset.{room}" for room in seldom}.isdisjoint(shown.stdout.split())


def test_one_module_knows_the_containers_of_tables() -> None:
    knowing = set()
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {name.split(".")[0] for name in names} & {"narwhals", "polars", "pyarrow"}:
                knowing.add(str(file.relative_to(SOURCE)))
    assert knowing == {"tables/frames.py", "batch/table_files.py"}  # containers, and a format


# DiCE draws from the global random state; its adapter seeds that of a process that is all its own.
OWN_PROCESS = SOURCE / "paper" / "peers" / "dice.py"


@pytest.mark.parametrize(
    "file",
    [file for file in FILES if file != OWN_PROCESS],
    ids=lambda file: str(file.relative_to(SOURCE)),
)
def test_no_module_prints_or_draws_from_the_global_random_state(file: Path) -> None:
    # A module has at most a generator of its own, made from a random_state.
    may_print = file.relative_to(SOURCE).parts[0].startswith("cli")
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            assert "random" not in [each.name for each in node.names]
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert may_print or called not in ("print", "pprint"), f"line {node.lineno} prints"
            legacy = called.startswith(("np.random.", "numpy.random."))
            assert not legacy or called.endswith(
                ("default_rng", "Generator", "RandomState", "SeedSequence")
            ), f"line {node.lineno} draws from the global random state: {called}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_no_module_swallows_every_exception(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"line {node.lineno}: a bare except"
            everything = ast.unparse(node.type) in ("Exception", "BaseException")
            # A future raises the error where its result is waited for.
            hands_on = "result.set_exception(error)" in ast.unparse(node)
            raises = hands_on or any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
            assert raises or not everything, f"line {node.lineno}: an error is swallowed"
