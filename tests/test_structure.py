"""The structure that docs/architecture.md shows: rooms, and what lives in each."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import counterset

SOURCE = Path(inspect.getfile(counterset)).parent
TESTS = Path(__file__).parent
ARCHITECTURE = TESTS.parent / "docs" / "architecture.md"
PACKAGES = sorted(file.parent for file in SOURCE.rglob("__init__.py") if file.parent != SOURCE)


def test_every_package_says_what_lives_there() -> None:
    silent = []
    for package in PACKAGES:
        text = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
        if len(text.splitlines()) < 3:
            silent.append(str(package.relative_to(SOURCE)))
    assert silent == []


def test_the_page_names_only_files_that_are_there() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests/)?[a-z_/]+(?:\.py|/))`", text)
    assert len(named) > 30
    missing = [
        each for each in named if not any((root / each).exists() for root in (SOURCE, TESTS.parent))
    ]
    assert missing == []


def test_the_page_draws_every_room() -> None:
    drawing = ARCHITECTURE.read_text(encoding="utf-8").split("```")[1]
    for package in PACKAGES:
        if package.parent == SOURCE:
            assert re.search(rf"(^|\W){package.name}\b", drawing), package.name
