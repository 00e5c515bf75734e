"""JSON as its standard has it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset import InvalidInputError
from counterset.serve.errors import MOST_KEYS, MOST_LEVELS, parse_json

SCALARS = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
JSON = st.recursive(
    SCALARS.filter(lambda each: not isinstance(each, float) or math.isfinite(each)),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(), parts, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert parse_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "line 1, column 1"),
        (b'{"instances": [', "line 1, column 16"),
        (b"[NaN]", "NaN is not allowed; use null"),
        (b"[-Infinity]", "-Infinity is not allowed"),
        (b"[1e999]", "number 1e999 is too large"),
        (b"[" + b"9" * 10_000 + b"]", "too many digits"),
        (b"[" * 200_000, "nested at most 20 levels deep"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"age": 1, "age": 2}', "'age' twice"),
        (b'{"a": 1, "b": 2, "c": 3, "b": 4}', "'b' twice"),
        (b'{"a": {"' + b"b" * 1000 + b'": 1, "' + b"b" * 1000 + b'": 1}}', "'b{100}' twice"),
    ],
)
def test_what_is_no_json_is_refused_with_a_reason(body: bytes, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        parse_json(body)


def test_an_object_has_no_more_keys_than_a_table_has_columns() -> None:
    most = {f"column {i}": i for i in range(MOST_KEYS)}
    assert parse_json(json.dumps(most).encode()) == most
    with pytest.raises(InvalidInputError, match="at most 10000 keys, got 10001"):
        parse_json(json.dumps(most | {"one more": 0}).encode())


def levels_of(value: Any) -> int:
    """Return how deeply lists and objects are nested."""
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(levels_of, value), default=0) if isinstance(value, list) else 0


@given(
    st.recursive(
        st.text('[]{}"\\ a'),
        lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text('[]{}"\\'), parts),
        max_leaves=30,
    ),
    st.integers(0, MOST_LEVELS),
)
def test_levels_are_counted_outside_of_strings(value: Any, more: int) -> None:
    for _ in range(more):
        value = [value, "]"]
    body = json.dumps(value).encode()
    if levels_of(value) <= MOST_LEVELS:
        assert parse_json(body) == value
    else:
        with pytest.raises(InvalidInputError, match="nested at most 20 levels deep"):
            parse_json(body)


@pytest.mark.parametrize("text", ['"' + '\\"' * 400_000, '["' * 400_000 + "\\", '"' * 900_001])
def test_a_string_that_never_ends_is_refused(text: str) -> None:
    """Each quote in it used to be a place to begin again, which took time for the square."""
    with pytest.raises(InvalidInputError, match="Invalid JSON"):
        parse_json(text.encode())
