"""JSON as its standard has it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset import InvalidInputError
from counterset.serve.bodies import parse_json

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
        (b"[NaN]", "NaN is no number"),
        (b"[-Infinity]", "-Infinity is no number"),
        (b"[1e999]", "too large: 1e999"),
        (b"[" + b"9" * 10_000 + b"]", "too large"),
        (b"[" * 200_000, "too deep"),
        (b"\xff\xfe", "no UTF-8"),
        (b'{"age": 1, "age": 2}', "'age' twice"),
    ],
)
def test_what_is_no_json_is_refused_with_a_reason(body: bytes, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        parse_json(body)
