"""Each distinct row is asked about once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from counterset.models.adapter import KnownAnswers
from counterset.models.answers import Answers

CELLS = st.sampled_from([0.0, -0.0, 1.0, 2.0, np.nan])


@pytest.mark.parametrize("copies", [1, 40])
@given(st.lists(arrays(float, st.tuples(st.integers(1, 6), st.just(2)), elements=CELLS)))
def test_answers_are_those_of_asking_about_every_row(copies: int, parts: list[Any]) -> None:
    parts = [np.tile(rows, copies) for rows in parts]  # of long rows, the hash is kept
    known, asked = KnownAnswers(), []

    def ask(rows: Any) -> Answers:
        asked.append(rows)
        return model(rows)

    def model(rows: Any) -> Answers:
        total = np.nan_to_num(rows, nan=7.0).sum(axis=1)
        return Answers(total > 2 * copies, total / (20 * copies))

    for rows in parts:
        found, literal = known.get(rows, ask), model(rows)
        np.testing.assert_array_equal(found.labels, literal.labels)
        np.testing.assert_array_equal(found.confidence, literal.confidence)
    everything = [tuple(row) for rows in parts for row in np.nan_to_num(rows, nan=7.0)]
    assert sum(map(len, asked)) == len(set(everything))


def test_text_and_numbers_stay_what_they_are() -> None:
    known = KnownAnswers()
    known.get(np.array([[0.0]]), lambda rows: Answers(np.array([1])))
    both = known.get(np.array([[0.0], [1.0]]), lambda rows: Answers(np.array(["no"])))
    assert both.labels.tolist() == [1, "no"]


def test_what_the_model_did_not_answer_is_asked_again() -> None:
    known = KnownAnswers()

    def fail(rows: Any) -> Answers:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        known.get(np.array([[0.0]]), fail)
    assert known.get(np.array([[0.0]]), lambda rows: Answers(np.array([3]))).labels == [3]
