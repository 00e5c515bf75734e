"""What stays as it is, and other limits, in words."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from support.worded import MATRIX, TABLE, by_hand

from counterset import Constraints
from counterset.explanations.context import as_written
from counterset.words.description import (
    constraint_sentences,
    constraints_kept,
    costs_of_changes,
    what_stays,
)
from counterset.words.templates import Templates

ENGLISH = Templates.read()


def stays(constraints: Constraints | None = None, **changes: Any) -> str:
    written = as_written(constraints or Constraints())
    return what_stays(by_hand(constraints=written, **changes).context, ENGLISH)


def limits(constraints: Constraints) -> list[str]:
    return constraints_kept(by_hand(constraints=as_written(constraints)).context, ENGLISH)


def test_features_that_stay_are_named_in_the_order_of_columns() -> None:
    assert stays() == ""
    assert stays(Constraints(immutable=["duration"])) == "The duration may not change."
    assert stays(Constraints(immutable=["late", "purpose", "duration"])) == (
        'The duration, the purpose, and "late" stay as they are.'
    )


def test_what_may_change_is_named_where_that_is_less() -> None:
    # The list of what stays was as long as the table.
    names = [feature.name for feature in by_hand().context.table.features]
    only = Constraints(immutable=[name for name in names if name not in ("late", "duration")])
    assert stays(only) == 'Only the duration and "late" may change; everything else stays as it is.'
    assert stays(Constraints(immutable=names)) == "Nothing may change."


def test_an_infinite_cost_is_told_as_a_feature_that_stays() -> None:
    told = stays(Constraints(immutable=["score"]), costs={"duration": float("inf"), "x1": 2.0})
    assert told == "The duration and the score stay as they are."


@pytest.mark.parametrize(
    ("constraints", "sentence"),
    [
        (Constraints(increase_only=["score"]), "The score may only rise."),
        (
            Constraints(decrease_only=["duration", "credit_amount"]),
            "The duration and the credit amount may only fall.",
        ),
        (
            Constraints(ranges={"duration": (6, 48)}),
            "The duration must be between 6 and 48 months.",
        ),
        (
            Constraints(ranges={"credit_amount": (None, 5000)}),
            "The credit amount must be at most 5,000 DM.",
        ),
        (
            Constraints(ranges={"start": (pd.Timestamp("2024-01-01"), None)}),
            "The start must be 2024-01-01 or later.",
        ),
        (
            Constraints(max_increase={"credit_amount": 500}),
            "The credit amount may rise by at most 500 DM.",
        ),
        (Constraints(max_decrease={"duration": 1}), "The duration may fall by at most 1 month."),
        (
            Constraints(max_increase={"start": pd.Timedelta(days=3)}),
            "The start may become at most 3 days later.",
        ),
        (
            Constraints(allowed={"purpose": ["business", "bed, table", "business"]}),
            'The purpose must be one of these: business, "bed, table".',
        ),
        (
            Constraints(ranges={"start": (None, pd.Timestamp("2024-06-01"))}),
            "The start must be 2024-06-01 or earlier.",
        ),
        (Constraints(increase_only=["start"]), "The start may only become later."),
        (
            Constraints(max_decrease={"start": pd.Timedelta(days=1)}),
            "The start may become at most 1 day earlier.",
        ),
        (
            Constraints(max_decrease={"start": pd.Timedelta(hours=36)}),
            "The start may become at most 1 days 12:00:00 earlier.",
        ),
        (
            Constraints(together=[["duration", "x1"]]),
            "The duration and x1 may only change to values that occur together in the data.",
        ),
        (
            Constraints(relations=["duration <= score", "x1 <= 3"]),
            "These relations hold: duration <= score, x1 <= 3.",
        ),
        (
            Constraints(conditions=["if purpose == 'business' then duration <= 12"]),
            "This condition holds: if purpose == 'business' then duration <= 12.",
        ),
        (
            Constraints(forbidden_changes={"purpose": [("business", "bed, table")]}),
            'The purpose may not change from business to "bed, table".',
        ),
        (
            Constraints(forbidden_changes={"purpose": [("business", None)]}),
            "The purpose may not change from business to anything else.",
        ),
        (
            Constraints(forbidden_changes={"purpose": [(None, "business")]}),
            "The purpose may not change to business.",
        ),
    ],
)
def test_every_other_limit_is_a_sentence(constraints: Constraints, sentence: str) -> None:
    assert limits(constraints) == [sentence]


def test_a_range_that_is_open_at_both_ends_limits_nothing() -> None:
    assert limits(Constraints(ranges={"duration": (None, None)})) == []


def test_each_constraint_that_a_message_names_has_its_sentence() -> None:
    constraints = Constraints(
        immutable=["late", "savings"],
        increase_only=["credit_amount", "start"],
        decrease_only=["duration"],
        ranges={"duration": (6, 48)},
        max_increase={"credit_amount": 500, "x1": 1},
        max_decrease={"credit_amount": 100, "duration": 3},
        allowed={"purpose": ["business", "used car"]},
        relations=["duration <= score"],
        together=[["duration", "x1"]],
        forbidden_changes={"purpose": [("business", "used car"), (None, "bed, table")]},
        conditions=["if purpose == 'business' then duration <= 12"],
    )
    context = by_hand(constraints=as_written(constraints)).context
    names = [rule.text for rule in constraints.compile(TABLE, MATRIX).rules]
    sentences = constraint_sentences(context, ENGLISH, names)
    assert "Another constraint." not in sentences
    assert len(set(sentences)) == len(set(names))
    told = dict(zip(names, sentences, strict=True))
    assert told == told | {
        "known values stay known": "What is known may not become missing.",
        "immutable 'savings'": "The savings may not change.",
        "increase_only 'start'": "The start may only become later.",
        "max_increase['credit_amount'] and max_decrease['credit_amount']": (
            "The credit amount may rise by at most 500 DM. The credit amount may fall by at most "
            "100 DM."
        ),
        "max_decrease['duration']": "The duration may fall by at most 3 months.",
        "forbidden_changes['purpose']": (
            "The purpose may not change from business to used car. The purpose may not change to "
            '"bed, table".'
        ),
    }


def test_a_constraint_that_nobody_wrote_is_another_one() -> None:
    context = by_hand().context
    assert constraint_sentences(context, ENGLISH, ["immutable 'x'"]) == ["Another constraint."]


def test_costs_are_sentences_and_what_stays_is_none_of_them() -> None:
    costs = {"duration": 2.5, "x1": 1.0, "score": float("inf")}
    assert costs_of_changes(by_hand(costs=costs).context, ENGLISH) == [
        "A change of the duration counts 2.5 times.",
        "A change of x1 counts once.",
    ]
