"""What requests hold."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from pydantic import ValidationError

from counterset import Constraints
from counterset.serve.service import ConstraintsMessage, ExplainRequest


def test_a_request_has_every_constraint_of_the_library() -> None:
    assert list(ConstraintsMessage.model_fields) == [each.name for each in fields(Constraints)]


def test_constraints_of_a_request_are_those_of_the_library() -> None:
    asked = {"immutable": ["age"], "ranges": {"debt": [None, 5]}, "allowed": {"home": ["own"]}}
    read = ConstraintsMessage.model_validate(asked).constraints()
    assert read.immutable == ["age"]
    assert read.ranges == {"debt": (None, 5)}
    assert read.allowed == {"home": ("own",)}


def test_conditions_and_forbidden_changes_of_a_request_are_those_of_the_library() -> None:
    text = "if home == 'rent' then debt <= 5"
    asked = {"conditions": [text], "forbidden_changes": {"home": [["own", None], ["rent", "own"]]}}
    read = ConstraintsMessage.model_validate(asked).constraints()
    assert read.conditions == [text]
    assert read.forbidden_changes == {"home": [("own", None), ("rent", "own")]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"options": "5"},
        {"options": 0},
        {"options": True},
        {"target_probability": 1.5},
        {"interval": [1]},
        {"constraints": {"immutable": "age"}},
        {"constraints": {"ranges": {"age": [1, 2, 3]}}},
        {"constraints": {"relations": ["a" * 1000]}},
        {"constraints": {"imutable": []}},
        {"strategy": "anchored"},
        {"describe": 1},
        {"unknown": 1},
        {"target": ["a"] * 1001},
        {"constraints": {"immutable": ["age"] * 1001}},
        {"constraints": {"allowed": {"home": ["own"] * 1001}}},
        {"constraints": {"together": [["age", "home", "age"]]}},
        {"constraints": {"conditions": ["a" * 1000]}},
        {"constraints": {"forbidden_changes": {"home": [["own"]]}}},
        {"constraints": {"forbidden_changes": {"home": ["own", "rent"]}}},
    ],
)
def test_what_is_not_known_or_of_another_type_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ExplainRequest.model_validate({"instances": [{}]} | wrong)


def test_a_list_tells_its_first_fault_only() -> None:
    """A list of numbers in place of names used to be an error for each of them."""
    asked = {"instances": [{}], "constraints": {"immutable": [1] * 900, "together": [[2] * 900]}}
    with pytest.raises(ValidationError) as caught:
        ExplainRequest.model_validate(asked)
    assert caught.value.error_count() == 2
