"""The map of a case."""

from __future__ import annotations

import numpy as np
import pandas as pd

from counterset import DiverseExplainer
from counterset.serve.cases import Explained
from counterset.serve.explorer import POINTS, ZERO, draw_map
from counterset.serve.served import Served


def test_the_grid_holds_the_models_answers() -> None:
    X = pd.DataFrame(np.random.default_rng(0).random((300, 2)), columns=["a", "b"])

    def approve(rows: pd.DataFrame) -> np.ndarray:
        return np.where(rows["a"] + rows["b"] > 1, "yes", "no")

    explainer = DiverseExplainer(approve, max_counterfactuals=2).fit(X)
    served = Served("toy", explainer, cases=X, outcomes={"yes": "approved"})
    drawn = draw_map(Explained(explainer, explainer.explain([0.2, 0.3])), served)
    depth = np.array([[ord(each) - ZERO for each in row] for row in drawn["depth"]])
    cells = depth > 0
    assert (depth != 0).all()
    assert cells.shape == (POINTS, POINTS)
    (left, right), (low, high) = drawn["bounds"]

    def cell(position: list[float]) -> bool:
        across = int((position[0] - left) / (right - left) * POINTS)
        up = int((position[1] - low) / (high - low) * POINTS)
        return bool(cells[up, across])

    assert not cell([0.0, 0.0])
    beyond = [[1.1 * each for each in position] for position in drawn["places"]]
    assert [cell(each) for each in beyond] == [True, True]
    assert drawn["axes"] == ["a", "b"]
    assert drawn["sides"] == ["no", "approved"]
    assert "72 x 72 points" in drawn["note"]
    assert 0 < len(drawn["dots"]) <= 300


def test_categories_are_drawn_around_the_case(served: Served) -> None:
    row = pd.DataFrame({"income": [30], "debt": [60], "home": ["rent"], "town": ["Bonn"]})
    explanation = served.explainer.explain(row, target="approved")
    drawn = draw_map(Explained(served.explainer, explanation), served)
    lengths = [np.hypot(*at) for at in drawn["places"]]
    np.testing.assert_allclose(lengths, explanation.distances, rtol=1e-3)
    assert "Between two lines" in drawn["note"]
