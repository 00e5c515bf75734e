"""Cells of a ball, and the nearest point of each."""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from support.oracles_exact import cell_points, nearest_other
from support.toys_exact import flats, problem_of, thresholds, tree_data

from counterset.distances import L2
from counterset.exact import Box, counterfactual_distance
from counterset.exact.trees.cells import Region, axes_of, first_and_last
from counterset.exact.trees.models import read_trees


def test_a_tree_is_a_finite_set_of_boxes() -> None:
    X, y = tree_data(0)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    points = cell_points(X[0], thresholds(model), 0.0, 1.0)
    bounds = counterfactual_distance(model, X[0], "l2", Box(0, 1))
    assert bounds.method == "leaves of a tree"
    assert bounds.upper == nearest_other(model.predict, X[0], points, L2())


def test_whole_numbers_and_single_precision_columns_stay_what_they_are() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"count": rng.integers(0, 9, 60), "size": rng.random(60).astype(np.float32)}
    )
    y = frame["count"] / 9 + frame["size"] > 1
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(frame, y)
    for i in range(4):
        bounds = counterfactual_distance(model, frame.iloc[[i]], "l1", Box.of(frame))
        assert bounds.exact
        witness = bounds.witness.to_frame().T.astype(frame.dtypes.to_dict())
        assert model.predict(witness)[0] != model.predict(frame.iloc[[i]])[0]
        assert witness["count"].iloc[0] == bounds.witness["count"]
        assert np.float32(bounds.witness["size"]) == bounds.witness["size"]


def test_the_point_of_a_cell_is_its_nearest() -> None:
    X, y = tree_data(0)
    model = RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, y)
    ensemble = read_trees(model)
    assert ensemble is not None
    problem = problem_of(model, X[0], "l1", Box(0, 1))
    assert problem.norm is not None
    axes = axes_of(ensemble, problem, problem.norm)
    region = Region(axes, problem.norm, np.inf)
    for row in np.random.default_rng(0).random((300, 2)):
        cells = region.cells_of(row)
        assert cells is not None
        point = region.point(cells)
        assert region.cells_of(point) == cells
        assert (np.abs(point - X[0]) <= np.abs(row - X[0])).all()
        # All points of a cell fall into the same leaves.
        for tree in ensemble.trees:
            assert tree.leaf_of(point) == tree.leaf_of(row)


def test_a_small_ball_has_fewer_cells_and_leaves() -> None:
    X, y = tree_data(0)
    model = RandomForestClassifier(4, max_depth=5, random_state=0).fit(X, y)
    ensemble = read_trees(model)
    assert ensemble is not None
    problem = problem_of(model, X[0], "l2", Box(0, 1))
    assert problem.norm is not None
    sizes = []
    for radius in (0.05, 0.3, 2.0):
        region = Region(axes_of(ensemble, problem, problem.norm, radius), problem.norm, radius)
        for tree in ensemble.trees:
            region.add(tree, np.arange(len(tree.left), dtype=float)[:, None])  # none are equal
        sizes.append(sum(len(leaves) for leaves in region.trees))
    assert sizes[0] < sizes[1] < sizes[2]
    assert sizes[2] == sum(int((tree.left == -1).sum()) for tree in ensemble.trees)


def test_a_category_has_a_cell_for_each_value() -> None:
    frame, y = flats(0)
    coded = frame[["rooms"]].assign(owner=(frame["owner"] == "private").astype("category"))
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(coded.astype(float), y)
    ensemble = read_trees(model)
    assert ensemble is not None
    problem = problem_of(model, coded.iloc[[0]], "l1", Box.of(coded))
    assert problem.norm is not None
    rooms, owner = axes_of(ensemble, problem, problem.norm)
    assert owner.cuts is None
    assert sorted(owner.points) == [0.0, 1.0]
    assert owner.costs[owner.home] == 0
    assert sorted(owner.costs) == [0.0, 1.0]
    assert owner.cell_of(7.0) is None
    assert owner.nearest(owner.all_cells) == owner.home
    assert rooms.cuts is not None
    assert (rooms.cuts == np.floor(rooms.cuts)).all()  # whole numbers are cut at whole numbers
    assert first_and_last(rooms.all_cells) == (0, len(rooms.points) - 1)
