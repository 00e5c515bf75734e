"""Tree ensembles: against every cell, in single precision, with whole numbers and ties."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from support.oracles_exact import cell_points
from support.toys_exact import problem_of, thresholds, tree_data

from counterset import DiverseExplainer
from counterset.distances import L0, L1, L2, Distance, LInf
from counterset.exact import Box, counterfactual_distance
from counterset.exact.problem import Clock
from counterset.exact.trees.cells import Leads, Region, axes_of
from counterset.exact.trees.models import read_trees
from counterset.exact.trees.solve import Descent

DISTANCES = [L1(), L2(), LInf(), L0(), L1([1, 2]), L2([0.5, 2]), LInf([1, 3]), L0([1, 2])]


@given(
    seed=st.integers(0, 1000),
    distance=st.sampled_from(DISTANCES),
    n_classes=st.integers(2, 3),
    kind=st.sampled_from(["tree", "pure forest", "forest", "extra", "boosted"]),
)
def test_every_cell_agrees(seed: int, distance: Distance, n_classes: int, kind: str) -> None:
    X, y = tree_data(seed, n_classes)
    model = {
        "tree": DecisionTreeClassifier(max_depth=4, random_state=seed),
        "pure forest": RandomForestClassifier(4, random_state=seed, max_leaf_nodes=None),
        "forest": RandomForestClassifier(4, max_depth=2, random_state=seed),
        "extra": ExtraTreesClassifier(3, max_depth=3, random_state=seed),
        "boosted": GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=seed),
    }[kind].fit(X[:25], y[:25])
    x = X[30]
    points = cell_points(x, thresholds(model), 0.0, 1.0)
    labels = model.predict(points)
    others = points[labels != model.predict(x[None, :])[0]]
    if len(others) == 0:
        assert counterfactual_distance(model, x, distance, Box(0, 1)).none_exists
        return
    bounds = counterfactual_distance(model, x, distance, Box(0, 1))
    assert bounds.exact, bounds
    assert bounds.upper == pytest.approx(distance(x, others).min(), abs=1e-12)
    assert bounds.lower <= bounds.upper
    assert model.predict(bounds.witness[None, :])[0] != model.predict(x[None, :])[0]


def test_ties_go_to_the_first_class() -> None:
    # Two trees that disagree on the right half: a tie there, for class 0.
    X = np.array([[0.0], [1.0]])
    model = RandomForestClassifier(2, bootstrap=False, random_state=0).fit(X, [0, 1])
    other = RandomForestClassifier(2, bootstrap=False, random_state=0).fit([[0.0], [3.0]], [0, 1])
    model.estimators_[1] = other.estimators_[1]
    bounds = counterfactual_distance(model, [0.0], "l1", Box(0, 3))
    assert bounds.upper == pytest.approx(1.5, abs=1e-6)
    back = counterfactual_distance(model, [3.0], "l1", Box(0, 3))
    assert back.upper == pytest.approx(1.5, abs=1e-6)


@pytest.mark.parametrize("distance", [L1(), L2(), LInf(), L0()])
def test_more_features_against_a_finite_grid(distance: Distance) -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 5, (150, 5)).astype(float)
    y = (X @ [1, -2, 1, 0.5, 1] + (X[:, 0] > 2) * X[:, 1]) > 3
    frame = pd.DataFrame(X.astype(int), columns=list("abcde"))
    model = RandomForestClassifier(15, max_depth=5, random_state=0).fit(frame, y)
    points = np.array(list(itertools.product(range(5), repeat=5)), dtype=float)
    labels = model.predict(pd.DataFrame(points.astype(int), columns=frame.columns))
    for i in range(6):
        own = model.predict(frame.iloc[[i]])[0]
        bounds = counterfactual_distance(model, frame.iloc[[i]], distance, Box.of(frame))
        assert bounds.exact
        assert bounds.upper == pytest.approx(distance(X[i], points[labels != own]).min())


def test_out_of_time_gives_the_bounds_so_far() -> None:
    X, y = tree_data(0)
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    hurried = counterfactual_distance(model, X[0], "l1", Box(0, 1), time_limit=1e-9)
    assert not hurried.exact
    assert hurried.lower == 0
    assert model.predict(hurried.witness[None, :])[0] != model.predict(X[:1])[0]


# Descent through cells: never farther, and always of the other class ------------------------------


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
