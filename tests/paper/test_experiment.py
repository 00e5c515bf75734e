"""One run of the paper."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset.evaluation.noise import NumericColumns
from counterset.paper.classifiers import Network
from counterset.paper.data import prepare
from counterset.paper.experiment import (
    Experiment,
    PrototypeExplainer,
    PrototypeNoise,
    alpha_of,
    summarise,
)
from counterset.paper.published import METRICS, Cell
from counterset.tables.space import Space
from counterset.tables.table import Table


@pytest.mark.parametrize("as_published", [True, False])
@pytest.mark.parametrize(("stage", "shape"), [("final", (20, 3)), ("tuning", (50, 1))])
def test_a_run_has_the_inputs_and_copies_of_its_stage(
    weights: Path, as_published: bool, stage: Literal["final", "tuning"], shape: tuple[int, int]
) -> None:
    table = Experiment(as_published, weights).run(Cell(stage, "diabetes", 1))
    assert (table["input"].nunique(), table["repeat"].max()) == shape
    assert (table["validity"] == 1).all()
    # A copy of another class is skipped in the published final runs only, else drawn again.
    assert table["same_class"].all() or (as_published and stage == "final")


@pytest.mark.parametrize("as_published", [True, False])
def test_a_run_is_measured_in_the_norm_of_its_cell(weights: Path, as_published: bool) -> None:
    experiment = Experiment(as_published, weights)
    l1, l2 = (experiment.run(Cell("final", "diabetes", norm)) for norm in (1, 2))
    assert (l1["input_distance"] > l2["input_distance"]).sum() == l1["same_class"].sum()


def test_minimised_counterfactuals_are_nearer(weights: Path) -> None:
    experiment = Experiment(weights=weights)
    far, near = (experiment.run(Cell("final", "diabetes", 1, gamma=gamma)) for gamma in (None, 0.1))
    assert (near["k_distance"] <= far["k_distance"]).all()
    assert near["k_distance"].mean() < 0.9 * far["k_distance"].mean()


def test_a_dataset_is_set_up_once(weights: Path) -> None:
    experiment = Experiment(weights=weights)
    assert experiment.setup("diabetes") is experiment.setup("diabetes")


def test_alpha_is_smaller_for_the_small_datasets() -> None:
    assert [alpha_of(name) for name in ("diabetes", "no2", "news")] == [50, 50, 1000]


def test_the_summary_leaves_out_what_could_not_be_measured() -> None:
    measured = {metric: [1.0, np.nan, 5.0] for metric in METRICS}
    table = pd.DataFrame(
        {"same_class": [True, True, True], "validity": [1.0, 0.0, 1.0], "sparsity": 2.0}
        | measured
        | {"seconds": 0.5}
    )
    summary = summarise(table)
    assert (summary["pairs"], summary["time_s"]) == (3, 0.5)
    assert summary["valid"] == pytest.approx(200 / 3)
    assert (summary["k_distance"], summary["k_distance_std"]) == (3, 2)
    nothing = summarise(table[1:2])
    assert np.isnan([nothing["k_distance"], nothing["k_distance_std"]]).all()


# The prototype's choices: its random stream, its filters, its halvings ----------------------------


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
