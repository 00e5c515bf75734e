"""FACE, on points that are laid by hand, and compared with loops over all paths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from support.peer_tables import homes, pipeline_for

from counterset._base.arrays import Labels, Matrix, Vector
from counterset.paper.peers import face, find_peer


class Beyond:
    """Class 1 where the first feature is above a number."""

    def __init__(self, number: float) -> None:
        self._number = number

    def predict(self, X: Matrix) -> Labels:
        return (np.asarray(X)[:, 0] > self._number).astype(int)


def test_the_path_leads_through_dense_data_and_not_over_a_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(face, "NEIGHBOURS", 3)
    # Rows close together go up from (0, 0) and over to (3, 3). Straight on, at (2, 0), is the
    # nearest row of the other class, with nothing on the way.
    up = [(0.0, y) for y in np.arange(0.0, 3.0, 0.25)]
    over = [(x, 3.0) for x in np.arange(0.0, 3.0, 0.25)]
    alone = [(2.0, 0.0), (2.0, 0.1), (2.1, 0.0), (2.1, 0.1)]
    X = np.array(up + over + alone)
    peer = find_peer("face", 2)
    peer.fit(Beyond(1.9), X)
    (found,) = peer.explain_many(X[:1])
    np.testing.assert_allclose(found[0], [2.0, 3.0])
    nearest = find_peer("nearest-rows", 2)
    nearest.fit(Beyond(1.9), X)
    np.testing.assert_allclose(nearest.explain_many(X[:1])[0][0], [2.0, 0.0])


def literal_ends(X: Matrix, x: Vector, labels: Labels, label: int, neighbours: int) -> list[int]:
    """Return the rows to which paths lead, the cheapest first: loops, and relaxing all edges."""

    def d(a: Vector, b: Vector) -> float:
        return float(np.abs(a - b).sum())

    n = len(X)
    near = [sorted(range(n), key=lambda j: (d(a, X[j]), j)) for a in X]
    width = float(np.median([d(X[i], X[near[i][neighbours]]) for i in range(n)]))

    def density(a: Vector) -> float:
        return sum(math.exp(-((d(a, b) / width) ** 2) / 2) for b in X) / n

    densities = [density(a) for a in X]

    def cost(a: Vector, b: Vector) -> float:
        return d(a, b) * (1 - math.log(min(density((a + b) / 2) / max(densities), 1.0)))

    edges = {}
    for i in range(n):
        for j in near[i][: neighbours + 1]:
            edges[i, j] = edges[j, i] = cost(X[i], X[j])
    best = [math.inf] * n
    for j in sorted(range(n), key=lambda j: (d(x, X[j]), j))[: neighbours + 1]:
        best[j] = cost(x, X[j])
    for _ in range(n):
        for (i, j), length in edges.items():
            best[j] = min(best[j], best[i] + length)
    least = np.quantile(densities, face.LESS_DENSE)
    ends = [
        j for j in range(n) if labels[j] != label and densities[j] >= least and best[j] < math.inf
    ]
    return sorted(ends, key=lambda j: best[j])[:5]


@pytest.mark.parametrize("seed", range(3))
def test_the_ends_are_those_of_all_paths(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(face, "NEIGHBOURS", 4)
    random = np.random.default_rng(seed)
    X = random.normal(size=(40, 2))
    X[7] = X[3]  # an edge that costs nothing
    model = Beyond(0.4)
    peer = find_peer("face", 1)
    peer.fit(model, X)
    inputs = random.normal(size=(5, 2))
    labels, own = model.predict(X), model.predict(inputs)
    for x, label, found in zip(inputs, own, peer.explain_many(inputs), strict=True):
        literal = X[literal_ends(X, x, labels, label, 4)]
        np.testing.assert_allclose(found, literal.reshape(found.shape))


def test_no_edge_changes_what_is_immutable() -> None:
    frame, accepted = homes()
    model = pipeline_for(LogisticRegression()).fit(frame, accepted)
    peer = find_peer("face", 1, immutable=["home"])
    peer.fit(model, frame)
    sets: Any = peer.explain_many(frame[:10])
    assert sum(map(len, sets)) >= 40
    for i, found in enumerate(sets):
        assert (found["home"] == frame["home"].iloc[i]).all()
        assert (model.predict(found) != model.predict(frame[i : i + 1])).all()
        assert found.dtypes.equals(frame.dtypes)


def test_without_a_row_of_another_class_the_set_is_empty() -> None:
    X = np.arange(10.0)[:, None]
    peer = find_peer("face", 1)
    peer.fit(Beyond(100.0), X)
    assert peer.explain_many(X[:1])[0].shape == (0, 1)
