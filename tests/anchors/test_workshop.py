"""Regions of rows, and the anchors that they get."""

from __future__ import annotations

import numpy as np
import pytest

from counterset import DiverseExplainer
from counterset.anchors.workshop import medoids

X = np.random.default_rng(0).random((80, 2))


def test_medoids_are_rows_spread_over_the_data() -> None:
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    points = np.concatenate([centre + rng.normal(size=(50, 2)) for centre in centres])
    assert sorted(medoids(points, 3) // 50) == [0, 1, 2]


def test_of_many_rows_only_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterset.anchors.workshop.MOST_ROWS", 10)
    anchors = (
        DiverseExplainer.paper(lambda rows: rows.sum(axis=1) > 1, anchors=1000, search=None)
        .fit(X)
        .anchors_
    )
    assert anchors is not None
    assert np.bincount(anchors.codes).max() <= 10


def test_medoids_are_at_most_the_different_points() -> None:
    assert medoids(np.array([[1.0], [1.0], [2.0]]), 5).tolist() == [0, 2]
