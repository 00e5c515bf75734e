"""The steps over a batch, as far as the explainer's own tests do not show them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from counterset import Constraints, DiverseExplainer
from counterset.steps.pipeline import LANDMARK_STRIDE, NEAREST, _near_and_far, _repeats


def test_sparse_answers_start_from_the_nearest_and_from_landmarks() -> None:
    many = NEAREST + 5
    owners = np.array([0] * many + [2] * many)
    places = np.ones(2 * many, dtype=np.intp)
    places[[many - 2, 2 * many - 1]] = 3 * LANDMARK_STRIDE  # one far landmark for each
    picked = _near_and_far(owners, places).tolist()
    assert picked == [*range(NEAREST), many - 2, *range(many, many + NEAREST), 2 * many - 1]
    assert _near_and_far(owners[:0], places[:0]).tolist() == []


def test_repeats_are_found_among_others_as_far() -> None:
    rows = np.array([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan], [1.0, np.nan]])
    owners, lengths = np.array([0, 0, 0, 1]), np.ones(4)
    assert _repeats(owners, lengths, rows).tolist() == [False, False, True, False]


def test_a_candidate_is_moved_onto_the_constraints_before_it_is_compared() -> None:
    frame = pd.DataFrame({"a": [0.0, 4.0, 4.0, 0.0], "b": [0.0, 9.0, 1.0, 9.0]})
    explainer = DiverseExplainer(
        lambda rows: rows["a"] > 2, max_counterfactuals=1, search=None
    ).fit(frame)
    found = explainer.explain(frame.iloc[0], constraints=Constraints(immutable=["b"]))
    assert found.values.tolist() == [[4, 0]]
    assert found.examples.tolist() == [1]  # in what can change both rows are as far: the first


def test_a_label_longer_than_those_of_the_training_rows_is_not_cut() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0]})

    def model(rows: pd.DataFrame) -> np.ndarray:
        return np.array(["not" if a > 5 else "no" if a > 1.5 else "si" for a in rows["a"]])

    explainer = DiverseExplainer(model, max_counterfactuals=1, search=None).fit(frame)
    assert explainer.explain([9.0]).labels.tolist() == ["no"]
