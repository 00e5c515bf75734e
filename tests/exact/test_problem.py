"""The problem of one input: what flips, what the domain holds, and how the model rounds."""

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.toys_exact import flats, problem_of

from counterset import Constraints
from counterset.exact import Box
from counterset.exact import problem as problem_module
from counterset.exact.problem import DOUBLE_ROUNDOFF, Clock
from counterset.exact.query import DistanceQuery


def right(rows: Any) -> Any:
    return np.asarray(rows)[:, 0] > 0.5


def test_the_nearest_flip_lies_within_the_bounds() -> None:
    problem = problem_of(right, [0.0, 0.0], "l1", Box(0, 1))
    rows = np.array([[0.6, 0.9], [0.7, 0.0], [0.4, 0.0], [0.6, -0.01]])
    found = problem.nearest_flip(rows)
    assert found is not None
    assert found.tolist() == [0.7, 0.0]
    assert problem.nearest_flip(rows[2:]) is None
    assert problem.nearest_flip(np.array([[0.4, 0.0]])) is None


def test_a_flip_that_the_model_takes_back_for_the_row_alone_does_not_count() -> None:
    def batched(rows: Any) -> Any:
        return np.asarray(rows)[:, 0] > (0.5 if len(rows) > 1 else 0.65)

    problem = problem_of(batched, [0.0], "l1", Box(0, 1))
    found = problem.nearest_flip(np.array([[0.6], [0.7]]))
    assert found is not None
    assert found.tolist() == [0.7]


def test_large_sets_of_rows_are_classified_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked_of: list[int] = []

    def counting(rows: Any) -> Any:
        asked_of.append(len(rows))
        return right(rows)

    problem = problem_of(counting, [0.0], "l1", Box(0, 1))
    monkeypatch.setattr(problem_module, "BATCH_ROWS", 3)
    rows = np.linspace(0, 1, 8)[:, None]
    np.testing.assert_array_equal(problem.flips(rows), right(rows))
    assert max(asked_of) <= 3


def test_projected_rows_are_rows_of_the_domain() -> None:
    frame, _ = flats(0)
    kept = Constraints(immutable=[name for name in frame.columns if name != "rooms"])
    query = DistanceQuery.of(lambda rows: rows["rooms"] > 2, "l1", Box.of(frame), constraints=kept)
    problem = query.problem_of(frame.iloc[[0]])
    projected = problem.project(problem.x + np.array([[0.4, 5.0, 1.0, 1.0], [9.0, 0.0, 0.0, 0.0]]))
    assert projected[0].tolist() == problem.x.tolist()
    assert projected[1].tolist() == [4.0, *problem.x[1:]]


def test_a_model_of_a_frame_in_single_precision_rounds_as_that() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0]})
    model = {"single": frame.astype({"b": np.float32}), "double": frame}
    found = {
        name: problem_of(lambda rows: rows["a"] > 0.5, data.iloc[[0]]).roundoff
        for name, data in model.items()
    }
    assert found == {"single": 2.0**-24, "double": DOUBLE_ROUNDOFF}


def test_a_clock_counts_down_to_nothing() -> None:
    clock = Clock(time.perf_counter() - 5.0, limit=60.0)
    assert not clock.over
    assert 5.0 <= clock.seconds < 60.0
    assert clock.left <= 55.0
    late = Clock(time.perf_counter() - 5.0, limit=1.0)
    assert late.over
    assert late.left == 0.0
