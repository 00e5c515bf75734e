"""What the page sends becomes rows, constraints and costs, or is refused with a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from counterset import DiverseExplainer
from counterset.serve.case_requests import (
    CaseRequest,
    Limit,
    changed_codes,
    codes_of,
    constraints_of,
    explainer_of,
    goal_of,
    row_of,
    to_wire,
)
from counterset.serve.refusals import RefusedError
from counterset.serve.served import Served
from counterset.tables.table import Table

ROW: dict[str, float | None] = {"income": 30, "debt": 60, "home": 1, "town": 0}


def test_values_become_codes_and_come_back(served: Served) -> None:
    codes = codes_of(ROW, served.table)
    assert codes.tolist() == [30, 60, 1, 0]
    pairs = zip(served.table.features, codes, strict=True)
    assert {each.name: to_wire(each, code) for each, code in pairs} == ROW


def test_short_floats_are_written_with_their_own_digits() -> None:
    table, matrix = Table.learn(pd.DataFrame({"rate": np.array([0.1, 0.75], dtype=np.float32)}))
    assert to_wire(table.features[0], matrix[0, 0]) == 0.1
    assert codes_of({"rate": 0.1}, table)[0] == matrix[0, 0]


def test_what_is_missing_is_null_where_the_training_data_misses_it() -> None:
    table, _ = Table.learn(pd.DataFrame({"a": [1.5, np.nan, 2.5], "b": [1, 2, 3]}))
    codes = codes_of({"a": None, "b": 2}, table)
    assert np.isnan(codes[0])
    assert to_wire(table.features[0], codes[0]) is None
    with pytest.raises(RefusedError, match="The b is not stated"):
        codes_of({"a": 1, "b": None}, table)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"home": 2}, "The home has 2 values, counted from 0; there is no value at position 2"),
        ({"home": 0.5}, "no value at position 0.5"),
        ({"income": 1.5}, "The income must be a whole number, got 1.5"),
        ({"income": 1e300}, "The income cannot be"),
        ({"income": None}, "The income is not stated"),
        ({"colour": 1}, "There is no feature 'colour'"),
    ],
)
def test_a_value_that_cannot_be_is_refused(
    served: Served, change: dict[str, float | None], sentence: str
) -> None:
    with pytest.raises(RefusedError, match=sentence):
        codes_of({**ROW, **change}, served.table)


def test_a_row_with_a_hole_is_refused(served: Served) -> None:
    with pytest.raises(RefusedError, match="no value for debt"):
        codes_of({name: value for name, value in ROW.items() if name != "debt"}, served.table)


def test_kept_ways_are_put_on_the_case(served: Served) -> None:
    codes = codes_of(ROW, served.table)
    assert changed_codes(codes, {"debt": 5}, served.table).tolist() == [30, 5, 1, 0]
    assert codes.tolist() == [30, 60, 1, 0]


def test_limits_take_the_place_of_locks_and_ranges_only(served: Served) -> None:
    limits = {
        "income": Limit(way="up", low=10, high=80),
        "debt": Limit(way="down"),
        "home": Limit(locked=True),
    }
    constraints = constraints_of(limits, served)
    assert constraints.immutable == ["home"]
    assert constraints.increase_only == ["income"]
    assert constraints.decrease_only == ["debt"]
    assert constraints.ranges == {"income": (10, 80)}


def test_costs_are_those_of_the_explainer_times_the_difficulty(served: Served) -> None:
    request = CaseRequest(values=ROW, limits={"debt": Limit(difficulty=3)}, ways=2)
    explainer = explainer_of(request, served)
    assert isinstance(explainer, DiverseExplainer)
    assert (explainer.costs, explainer.max_counterfactuals) == ({"debt": 3.0}, 2)
    assert served.explainer.costs is None


def test_the_goal_is_a_class_by_its_position(served: Served) -> None:
    assert goal_of(CaseRequest(values=ROW, target=1), served) == {"target": "declined"}
    assert goal_of(CaseRequest(values=ROW), served) == {}
    with pytest.raises(RefusedError, match="There is no class at position 2"):
        goal_of(CaseRequest(values=ROW, target=2), served)


def test_a_row_is_called_as_its_case_unless_it_was_edited(served: Served) -> None:
    (codes,), _ = served.table.encode(served.cases.iloc[[3]])
    assert row_of(codes, served, 3).index.tolist() == [153]
    codes[0] += 1
    assert row_of(codes, served, 3).index.tolist() == ["153 (edited)"]
    assert row_of(codes, served).index.tolist() == ["(own)"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"ways": 0},
        {"ways": 11},
        {"ways": "5"},
        {"values": {"income": "3"}},
        {"values": {"income": float("inf")}},
        {"limits": {"income": {"difficulty": 6}}},
        {"limits": {"income": {"way": "left"}}},
        {"limits": {"income": {"colour": "red"}}},
        {"kept": [{}] * 21},
        {"wishes": 3},
    ],
)
def test_a_request_of_another_form_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CaseRequest.model_validate({"values": ROW, **wrong})
