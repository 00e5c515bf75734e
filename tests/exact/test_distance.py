"""counterfactual_distance: the inputs it takes, and what its bounds mean."""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from support.toys_exact import SQUARE

from counterset.exact import (
    Box,
    Grid,
    Points,
    ReluNetwork,
    counterfactual_distance,
    counterfactual_distances,
)


def test_rows_of_frames_series_and_lists_are_inputs() -> None:
    frame = pd.DataFrame(SQUARE, columns=["a", "b"])
    model = LogisticRegression().fit(frame, SQUARE.sum(axis=1) > 1)
    from_frame = counterfactual_distance(model, frame.iloc[[0]], "l1")
    from_series = counterfactual_distance(model, frame.iloc[0], "l1")
    assert from_frame.upper == from_series.upper
    assert list(from_frame.witness.index) == ["a", "b"]
    many = counterfactual_distances(model, frame, "l1", Points(frame))
    assert many.exact.all()


def test_proved_absence_is_not_absence_in_time() -> None:
    same = ReluNetwork([([[1.0], [1.0]], [5.0])])
    assert counterfactual_distance(same, [0.5, 0.5], "l1", Box(0, 1)).none_exists
    assert counterfactual_distance(same, [0.5, 0.5], "l1", Grid([[0, 1], [0, 1]])).none_exists
    hurried = counterfactual_distance(same, [0.5, 0.5], "l1", Box(0, 1), time_limit=1e-9)
    assert (hurried.witness, hurried.upper, hurried.exact) == (None, np.inf, False)
    assert hurried.reason == "the time limit was reached"
