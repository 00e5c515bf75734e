"""The texts: complete, all used, and translatable."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from pathlib import Path

import pytest
from support.worded import by_hand

import counterset.words
from counterset import InvalidInputError
from counterset.words.templates import Templates

ROOM = Path(inspect.getfile(counterset.words)).parent
ENGLISH = (ROOM / "english.toml").read_text(encoding="utf-8")


def literals() -> set[str]:
    """Return all texts in the code that look like the name of a template: reports use some."""
    found: set[str] = set()
    for file in (*ROOM.glob("*.py"), *(ROOM.parent / "report").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= set(re.findall(r"^[a-z]+\.[a-z_]+$", node.value))
    return found


def test_every_text_is_used_and_every_used_text_is_there() -> None:
    names = set(Templates.read().texts)
    used = {name for name in literals() if name.split(".")[0] in {n.split(".")[0] for n in names}}
    assert used == names


def translated() -> str:
    """Return the texts with every letter outside of braces and names in capitals."""
    lines = []
    for line in ENGLISH.splitlines():
        name, equals, text = line.partition(" = ")
        if equals and not name.startswith("#") and text.startswith('"'):
            text = re.sub(
                r"\{\w+\}|[^{}\\]+", lambda m: m[0] if m[0][0] == "{" else m[0].upper(), text
            )
        lines.append(f"{name}{equals}{text}")
    return "\n".join(lines)


def test_a_translated_file_works_and_no_english_is_left(tmp_path: Path) -> None:
    path = tmp_path / "capitals.toml"
    path.write_text(translated(), encoding="utf-8")
    explanation = by_hand([1, 2])
    values = {"credit", "amount", "duration", "months"}
    for text in (
        explanation.describe(templates=path),
        explanation.letter(templates=str(path)),
        explanation.letter("reviewer", templates=Templates.read(path)),
    ):
        assert "THE CREDIT AMOUNT" in text.upper()
        small = set(re.findall(r"\b(?:the|from|to|option|model|result|instead|reduce)\b", text))
        assert small - values == set()
    assert explanation.describe() != explanation.describe(templates=path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('no = "no"\n', ""), "no text for value.no"),
        (lambda text: text + '\n[more]\na = "b"\n', "unknown names: more.a"),
        (lambda text: text.replace('yes = "yes"', 'yes = "{what}"'), r"name \{what\} in value.yes"),
        (lambda text: text.replace('yes = "yes"', 'yes = "{"'), "stray brace in value.yes"),
        (lambda text: text.replace('yes = "yes"', "yes = 3"), "must have a text for value.yes"),
        (lambda text: text.replace("[value]", "[value"), "cannot be read"),
    ],
)
def test_a_faulty_translation_is_refused(tmp_path: Path, change: object, message: str) -> None:
    assert callable(change)
    path = tmp_path / "faulty.toml"
    path.write_text(change(ENGLISH), encoding="utf-8")
    with pytest.raises(InvalidInputError, match=message):
        Templates.read(path)


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(InvalidInputError, match=r"klingon\.toml cannot be read"):
        by_hand().describe(templates="klingon.toml")


def test_the_file_is_plain_toml_with_two_levels() -> None:
    tables = tomllib.loads(ENGLISH)
    assert all(isinstance(texts, dict) for texts in tables.values())


def test_values_with_braces_stay_as_they_are() -> None:
    assert Templates.read()("value.quoted", text="{x} {0}") == '"{x} {0}"'
