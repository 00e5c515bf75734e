"""Sentences about what one option changes."""

from __future__ import annotations

import numpy as np
import pytest
from support.worded import MATRIX, TABLE

from counterset.words.changes import ChangeWriter
from counterset.words.templates import Templates

WRITER = ChangeWriter(TABLE, Templates.read())


def told(**changes: float) -> str:
    """Return the sentence about changes of the first row; it has a missing duration never."""
    after = MATRIX[0].copy()
    for name, code in changes.items():
        after[TABLE.position(name)] = code
    return WRITER.sentence(MATRIX[0], after)


def code(name: str, value: object) -> float:
    return TABLE.features[TABLE.position(name)].code_of(value)


def test_the_sentence_of_the_tutorial() -> None:
    assert told(credit_amount=3200.0, duration=24.0) == (
        "Reduce the credit amount from 5,951 DM to 3,200 DM and the duration from 48 to 24 months"
    )


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("credit_amount", 6000.0, "Raise the credit amount from 5,951 DM to 6,000 DM"),
        ("duration", 1, "Reduce the duration from 48 to 1 month"),
        ("score", 620, "Change the score from no record to 620"),
        ("purpose", "used car", "Change the purpose from business to used car"),
        ("purpose", "bed, table", 'Change the purpose from business to "bed, table"'),
        ("savings", ">500", "Change the savings from less than 100 DM to >500"),
        ("late", False, 'Change "late" from yes to no'),
        ("telephone", "yes", "Change the telephone from no to yes"),
        ("start", "2025-01-01", "Move the start from 2024-02-29 to 2025-01-01"),
        ("housing", "h_rent", "Change the housing from own home to rented"),
        ("x1", 0.5, "Raise x1 from 0.25 to 0.5"),
    ],
)
def test_a_change_of_each_kind(name: str, value: object, sentence: str) -> None:
    assert told(**{name: code(name, value)}) == sentence


def test_a_missing_value_is_to_be_stated() -> None:
    before, after = MATRIX[2].copy(), MATRIX[2].copy()
    after[TABLE.position("credit_amount")] = 3200.0
    after[TABLE.position("purpose")] = code("purpose", "used car")
    assert WRITER.sentence(before, after) == (
        "State the credit amount as 3,200 DM and the purpose as used car"
    )
    assert WRITER.instead(before, after)[0] == (
        "the credit amount being 3,200 DM instead of not stated"
    )


def test_equal_verbs_are_put_together_and_others_follow() -> None:
    assert told(credit_amount=3200.0, purpose=code("purpose", "used car")) == (
        "Reduce the credit amount from 5,951 DM to 3,200 DM and change the purpose from business "
        "to used car"
    )
    assert told(credit_amount=3200.0, duration=24.0, x1=2.0) == (
        "Reduce the credit amount from 5,951 DM to 3,200 DM and the duration from 48 to 24 months, "
        "and raise x1 from 0.25 to 2"
    )


def test_every_change_has_a_line_of_its_own() -> None:
    lines = WRITER.lines(MATRIX[0], MATRIX[1])
    assert len(lines) == 10
    assert lines[0] == "- reduce the credit amount from 5,951 DM to 3,200 DM"
    assert lines[1] == "- reduce the duration from 48 to 24 months"


def test_what_would_be_different_is_said_of_any_feature() -> None:
    told = WRITER.instead(MATRIX[0], MATRIX[1])
    assert told[1] == "the duration being 24 instead of 48 months"
    assert '"late" being no instead of yes' in told
    assert len(told) == np.count_nonzero(MATRIX[0] != MATRIX[1])
