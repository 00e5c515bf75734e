"""The prototype's choices: its random stream, its filters, its halvings."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset.evaluation.noise import NumericColumns
from counterset.paper.experiment import PrototypeExplainer, PrototypeNoise
from counterset.paper.setups import Network, prepare
from counterset.tables.space import Space
from counterset.tables.table import Table


def left_half(copies: Matrix, owners: Indices) -> Mask:
    return copies[:, 0] < 0.5


def drawn_by_numpy(rows: Matrix, X: Matrix, repeats: int, keep_trying: bool) -> list[Vector]:
    """Draw from numpy's own global stream, as the prototype did."""
    variance = 0.08 * (X.max(axis=0) - X.min(axis=0)) / 100
    state = np.random.get_state()
    np.random.seed(42)
    drawn = []
    for row in rows:
        for _ in range(repeats):
            while True:
                copy = np.random.multivariate_normal(row, np.diag(variance))
                copy = np.clip(copy, X.min(axis=0), X.max(axis=0))
                if copy[0] < 0.5 or not keep_trying:
                    break
            drawn.append(copy)
    np.random.set_state(state)
    return drawn


@pytest.mark.parametrize("redraw", [True, False])
def test_the_random_stream_is_numpys_own(redraw: bool) -> None:
    X = np.array([[0.0, 0.0, 0.1], [0.499, 1.0, 0.4], [0.9, 0.2, 0.7], [0.498, 0.5, 0.2]])
    rows = X[[0, 1, 3]]
    table, matrix = Table.learn(X)
    columns = NumericColumns.of(table, Space.learn(matrix, table, "range"))
    copies, found = PrototypeNoise(redraw).copies(
        rows, columns, 3, left_half, np.random.default_rng(0)
    )
    np.testing.assert_array_equal(copies.reshape(-1, 3), drawn_by_numpy(rows, X, 3, redraw))
    np.testing.assert_array_equal(found, copies[:, :, 0] < 0.5)
    assert found.all() == redraw


def literal_set(explainer: PrototypeExplainer, rows: Matrix, x: Vector, label: int) -> list[Vector]:
    """Explain one input as the prototype did, candidate by candidate."""
    norm, beta = explainer.norm, explainer.beta
    rows = rows[explainer.model.predict(rows) != label]
    lengths = np.linalg.norm(rows - x, axis=1)
    near = np.argsort(lengths, kind="stable")[: explainer.alpha]
    m = np.linalg.norm(rows[near[0]] - x, ord=np.inf if norm == 1 else 2)

    def differ(a: Vector, b: Vector) -> bool:
        if explainer.filter == "distance":
            return bool(np.linalg.norm(a - b, ord=norm) >= (1 + beta) * m)
        u, v = a - x, b - x
        return bool(abs(u @ v) / (np.linalg.norm(u) * np.linalg.norm(v)) <= beta)

    kept: list[Vector] = []
    for row in rows[near]:
        if len(kept) < explainer.limit and all(differ(row, other) for other in kept):
            kept.append(row)
    if explainer.gamma is None:
        return kept
    halvings = math.ceil(math.log2(lengths[near[-1]] / explainer.gamma))
    return [halved(explainer.model, x, row, label, halvings) for row in kept]


def halved(model: Network, near: Vector, far: Vector, label: int, halvings: int) -> Vector:
    for _ in range(halvings):
        middle = (near + far) / 2
        if model.predict(middle[None, :])[0] == label:
            near = middle
        else:
            far = middle
    return far


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
@pytest.mark.parametrize("gamma", [None, 0.1, 0.001])
@pytest.mark.parametrize("beta", [0.1, 0.5])
@pytest.mark.parametrize(("filter_", "norm"), [("angle", 1), ("distance", 1), ("distance", 2)])
def test_the_sets_are_the_prototypes_in_its_order(
    network: Network,
    filter_: Literal["angle", "distance"],
    norm: int,
    beta: float,
    gamma: float | None,
) -> None:
    split = prepare("diabetes")
    explainer = PrototypeExplainer(network, norm, 50, filter_, beta, gamma).fit(split.X_train)
    inputs = split.X_test[:10]
    labels = network.predict(inputs)
    for x, label, found in zip(inputs, labels, explainer.explain_many(inputs), strict=True):
        np.testing.assert_array_equal(found, literal_set(explainer, split.X_train, x, label))


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
@pytest.mark.parametrize(("norm", "kept"), [(1, 3), (2, 2)])
def test_with_norm_1_the_distance_filter_takes_the_chebyshev_distance(
    norm: Literal[1, 2], kept: int
) -> None:
    # x = 0; the nearest row is (1, 1): m is 1 for norm 1 (Chebyshev), sqrt(2) for norm 2.
    # The others are apart from it by 1.2 and 1.5 in both norms, and by more from each other.
    rows = np.array([[1.0, 1.0], [1.0, 2.2], [2.5, 1.0], [0.0, 0.0]])
    above = Network([([[-1.0, 1.0], [-1.0, 1.0]], [1.0, 0.0])])
    explainer = PrototypeExplainer(above, norm, 10, "distance", 0.0, None).fit(rows)
    assert len(explainer.explain_many(np.zeros((1, 2)))[0]) == kept
