"""The structure that docs/architecture.md shows: rooms, small modules, tests beside them."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import counterset

SOURCE = Path(inspect.getfile(counterset)).parent
TESTS = Path(__file__).parent
ARCHITECTURE = TESTS.parent / "docs" / "architecture.md"
MODULES = sorted(file for file in SOURCE.rglob("*.py") if file.name != "__init__.py")
PACKAGES = sorted(file.parent for file in SOURCE.rglob("__init__.py") if file.parent != SOURCE)


def name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def test_the_root_of_the_package_reads_like_a_table_of_contents() -> None:
    assert len(list(SOURCE.glob("*.py"))) <= 8


@pytest.mark.parametrize("package", PACKAGES, ids=name)
def test_every_package_says_what_lives_there(package: Path) -> None:
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    assert len(docstring.splitlines()) >= 3


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_modules_and_functions_are_small(module: Path) -> None:
    text = module.read_text()
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            docstring = ast.get_docstring(node, clean=False) or ""
            lines = (node.end_lineno or 0) - node.lineno + 1 - len(docstring.splitlines())
            assert lines <= 60, f"{node.name} has {lines} lines beside its docstring"


@pytest.mark.parametrize(
    "module", [module for module in MODULES if module.name != "__main__.py"], ids=name
)
def test_every_module_has_its_namesake_among_the_tests(module: Path) -> None:
    relative = module.relative_to(SOURCE)
    assert (TESTS / relative.parent / f"test_{relative.name}").is_file()


def test_the_page_names_only_files_that_are_there() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests/)?[a-z_/]+(?:\.py|/))`", text)
    assert len(named) > 30
    missing = [
        each
        for each in named
        if not any((root / each).exists() for root in (SOURCE, SOURCE / "steps", TESTS.parent))
    ]
    assert missing == []


def test_the_page_draws_every_room() -> None:
    drawing = ARCHITECTURE.read_text(encoding="utf-8").split("```")[1]
    for package in PACKAGES:
        if package.parent == SOURCE:
            assert re.search(rf"(^|\W){package.name}\b", drawing), package.name
