"""Descent through cells: never farther, and always of the other class."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from support.toys_exact import problem_of, tree_data

from counterset import DiverseExplainer
from counterset.distances import L0, L1, L2, Distance, LInf
from counterset.exact import Box
from counterset.exact.problem import Clock
from counterset.exact.trees.cells import Leads, Region, axes_of
from counterset.exact.trees.models import read_trees
from counterset.exact.trees.solve import Descent


@pytest.mark.parametrize("distance", [L1(), L2(), LInf(), L0()])
@pytest.mark.parametrize("depth", [3, None], ids=["shares", "whole votes"])
def test_descent_ends_no_farther_and_still_flips(distance: Distance, depth: int | None) -> None:
    X, y = tree_data(3)
    model = RandomForestClassifier(8, max_depth=depth, random_state=0).fit(X, y)
    ensemble = read_trees(model)
    assert ensemble is not None
    nearer = 0
    for x in X[:8]:
        problem = problem_of(model, x, distance, Box(0, 1))
        assert problem.norm is not None
        own = int(problem.label)
        weights = np.array([[1.0], [-1.0]]) * (1 if own == 1 else -1)
        region = Region(axes_of(ensemble, problem, problem.norm), problem.norm, np.inf)
        for tree in ensemble.trees:
            region.add(tree, tree.values @ weights)
        rounding = np.array([ensemble.rounding])
        loses_ties = (rounding == 0) & (own == 0)
        descent = Descent(region, Leads(np.zeros(1), rounding, loses_ties))
        for start in X[model.predict(X) != own]:
            cells = region.cells_of(start)
            assert cells is not None
            assert descent.leads(cells)
            end = region.point(descent.descend(cells, Clock.start(60.0)))
            before, after = problem.lengths(np.array([region.point(cells), end]))
            assert after <= before
            assert problem.confirms(end)
            nearer += after < before
    assert nearer


def test_trees_with_one_leaf_each_in_the_ball() -> None:
    # There is nothing to move then, which was an IndexError for categories.
    X = pd.DataFrame({"n": [2, -5, 6, 7], "c": list("rrpq")})
    encode = make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough")
    x = pd.DataFrame({"n": [5], "c": ["r"]})
    for classes in ([0, 1, 1, 0], [0, 0, 1, 1]):
        boosting = GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0)
        model = make_pipeline(encode, boosting).fit(X, classes)
        explainer = DiverseExplainer(model, distance="linf", max_counterfactuals=1).fit(X)
        certificate = explainer.certify(explainer.explain(x), epsilon=0.5).certificate
        assert certificate is not None
        assert certificate.distance_bounds is not None
        assert certificate.distance_bounds.exact
