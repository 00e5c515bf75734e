"""What users declare."""

from __future__ import annotations

import pytest

from counterset import InvalidInputError, Schema


def test_a_schema_says_each_thing_once_and_in_lists() -> None:
    with pytest.raises(InvalidInputError, match=r"declares \['a'\] more than once"):
        Schema(categorical=["a"], one_hot={"g": ["a", "b"]})
    with pytest.raises(InvalidInputError, match="Put it in brackets"):
        Schema(categorical="job")


def test_a_schema_knows_the_declared_kinds() -> None:
    schema = Schema(ordinal={"size": ["s", "l"]}, integer=["n"], one_hot={"g": ["a", "b"]})
    assert [schema.kind_of(name) for name in ("size", "n", "a")] == ["ordinal", "integer", None]
    assert schema.declared == ["size", "n", "a", "b"]


def test_a_schema_shows_only_what_is_declared() -> None:
    assert repr(Schema()) == "Schema()"
    assert repr(Schema(binary=["a"])) == "Schema(binary=['a'])"
