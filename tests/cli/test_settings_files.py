"""Constraints and schemas in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterset import Constraints, InvalidInputError, Schema, datasets
from counterset.cli.files import read_constraints, read_schema, schema_to_json


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_no_file_means_no_settings() -> None:
    assert read_constraints(None) == Constraints()
    assert read_schema(None) is None


def test_both_formats_are_read_alike(tmp_path: Path) -> None:
    in_toml = """
        immutable = ["age"]
        relations = ["debt <= income"]
        conditions = ["if home == 'rent' then debt <= 500"]
        [ranges]
        duration = [6, inf]
        [forbidden_changes]
        home = [["own", "rent"]]
    """
    in_json = """{"immutable": ["age"], "relations": ["debt <= income"],
        "conditions": ["if home == 'rent' then debt <= 500"],
        "ranges": {"duration": [6, null]}, "forbidden_changes": {"home": [["own", "rent"]]}}"""
    expected = Constraints(
        immutable=["age"],
        relations=["debt <= income"],
        ranges={"duration": (6, None)},
        conditions=["if home == 'rent' then debt <= 500"],
        forbidden_changes={"home": [["own", "rent"]]},
    )
    assert read_constraints(written(tmp_path, "c.toml", in_toml)) == expected
    assert read_constraints(written(tmp_path, "c.json", in_json)) == expected


def test_a_schema_that_was_written_is_read_again(tmp_path: Path) -> None:
    for schema in (datasets.load("german_credit").schema, Schema(step=0), Schema()):
        file = written(tmp_path, "schema.json", schema_to_json(schema))
        assert read_schema(file) == schema


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "c.toml",
            'imutable = ["age"]',
            r"'imutable', which is not a parameter of Constraints. Did ",
        ),
        ("c.toml", "colour = 1", r"'colour', .* There are immutable, increase_only"),
        ("c.json", '{"immutable": ["age"]', r"c.json cannot be read as JSON: "),
        ("c.toml", "immutable = [age]", r"c.toml cannot be read as TOML: "),
        ("c.json", '["age"]', r"must map immutable, .* to values, got \['age'\]"),
        ("c.json", '{"immutable": "age"}', r"In .*c.json: immutable takes a list of names"),
        ("c.json", '{"ranges": ["duration"]}', r"In .*c.json: ranges takes a mapping"),
        ("c.yaml", "immutable: [age]", r"c.yaml must be a .json or a .toml file"),
    ],
)
def test_a_file_that_holds_no_constraints_is_told(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_constraints(written(tmp_path, name, text))


def test_a_file_that_is_not_there_or_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="There is no file"):
        read_constraints(tmp_path / "c.json")
    (tmp_path / "schema.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInputError, match=r"schema.toml cannot be read as TOML"):
        read_schema(tmp_path / "schema.toml")
