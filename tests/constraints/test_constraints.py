"""Constraints as users write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset import Constraints, InvalidInputError, Schema
from counterset.constraints.rules import Allowed, Rules
from counterset.tables.table import Table

FRAME = pd.DataFrame(
    {
        "n": [1, 5, 9],
        "size": pd.Series(["s", "l", "s"], dtype=object),
        "job": ["cook", "nurse", "judge"],
        "since": pd.to_datetime(["2020-01-01", "2020-01-05", "2020-02-01"]),
    }
)
TABLE, MATRIX = Table.learn(FRAME, Schema(ordinal={"size": ["s", "m", "l"]}))


def compiled(**given: Any) -> Rules:
    return Constraints(**given).compile(TABLE, MATRIX)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"immutable": "n"}, "Put it in brackets"),
        ({"allowed": {"job": "cook"}}, "Put it in brackets"),
        ({"together": ["n", "job"]}, "groups, each a list of names"),
        ({"immutable": ["zip"]}, "no feature 'zip'"),
        ({"allowed": {"job": []}}, "is empty"),
        ({"allowed": {"job": ["pilot"]}}, "no value 'pilot'"),
        ({"ranges": {"n": 5}}, "must be two values"),
        ({"ranges": {"n": (5, 1)}}, "is empty: the least, 5"),
        ({"ranges": {"n": (1.2, 1.8)}}, "holds no value"),
        ({"ranges": {"size": ("m", "m")}}, "holds no value"),
        ({"ranges": {"job": ("cook", None)}}, "needs a feature with an order"),
        ({"increase_only": ["job"]}, "needs a feature with an order"),
        ({"max_increase": {"n": -1}}, "number of at least 0"),
        ({"max_increase": {"n": "much"}}, "number of at least 0"),
        ({"max_decrease": {"since": "long"}}, "timedelta of at least 0"),
    ],
)
def test_what_cannot_be_read_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        compiled(**given)


def test_amounts_are_cut_to_whole_steps() -> None:
    rules = compiled(max_increase={"n": 2.5, "since": "36h"})
    x = MATRIX[[0]]
    moved = rules.project(x, MATRIX[[2]])
    assert moved[0, 0] == 3
    assert moved[0, 3] - x[0, 3] == pd.Timedelta("1D") / pd.Timedelta("1us")
    assert rules.hold(x, moved).all()


def test_an_allowed_value_that_no_row_has_is_the_last_resort() -> None:
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"], ["z", "x", "y"])})
    table, matrix = Table.learn(frame)
    rules = Constraints(allowed={"a": ["z", "x"]}).compile(table, matrix)
    moved = rules.project(matrix[[1]], matrix[[1]])
    assert table.features[0].describe(moved[0, 0]) == "x"


def test_each_parameter_becomes_a_rule_named_in_the_words_of_the_call() -> None:
    frame = FRAME.assign(gap=[1.0, float("nan"), 2.0])
    table, matrix = Table.learn(frame, Schema(ordinal={"size": ["s", "m", "l"]}))
    rules = Constraints(
        relations=["n <= 9"],
        together=[["n", "job"]],
        immutable=["since"],
        decrease_only=["n"],
        increase_only=["size"],
        max_decrease={"n": 1},
        max_increase={"gap": 1},
        ranges={"n": (1, None)},
        allowed={"job": ["cook"]},
    ).compile(table, matrix)
    # What sets values comes before what takes them back to the input's own.
    assert [rule.text for rule in rules.rules] == [
        "known values stay known",
        "allowed['job']",
        "ranges['n']",
        "max_increase['gap']",
        "max_decrease['n']",
        "increase_only 'size'",
        "decrease_only 'n'",
        "immutable 'since'",
        "together ['n', 'job']",
        "relation 'n <= 9'",
    ]


def test_constraints_show_only_what_was_passed() -> None:
    assert repr(Constraints()) == "Constraints()"
    assert repr(Constraints(together=[["n", "job"]])) == "Constraints(together=[['n', 'job']])"


def test_arrays_indexes_and_sets_are_lists() -> None:
    # An array used to be refused by numpy: its truth is ambiguous.
    given = Constraints(
        immutable=FRAME.columns[:2],
        increase_only=np.array(["n", "size"]),
        allowed={"job": np.array(["cook", "judge"])},
    )
    assert len(given.compile(TABLE, MATRIX).rules) == 5
    assert repr(given).startswith("Constraints(immutable=Index(['n', 'size']")


def test_a_set_of_allowed_values_has_the_order_of_the_feature() -> None:
    # A candidate without a nearest allowed value takes the first, and sets have no first.
    several = {"nurse", "judge", "cook"}
    (rule,) = compiled(allowed={"job": several}).rules
    assert isinstance(rule, Allowed)
    assert rule.codes.tolist() == [0, 1, 2]
