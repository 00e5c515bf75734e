"""A network that can be read by eye, for the bundled diabetes data, and the published figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from counterset.paper.cells import published_results
from counterset.paper.setups import Network, Split, prepare

__all__ = ["glucose_network", "network", "own_cache", "published", "split", "weights"]


def glucose_network() -> Network:
    """Class 1 where glucose, the second of eight features, is above 0.6 of its range."""
    first = np.zeros((8, 1))
    first[1, 0] = 1.0
    return Network([(first, [0.0]), ([[0.0, 1.0]], [0.6, 0.0])])


@pytest.fixture
def network() -> Network:
    return glucose_network()


@pytest.fixture
def split() -> Split:
    return prepare("diabetes")


@pytest.fixture
def published() -> pd.DataFrame:
    """Return the published figures as if they had been measured here."""
    table = published_results().query("method == 'ours'")
    return table.assign(error="", pairs=60.0, sparsity=3.0)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    glucose_network().save(folder / "diabetes.npz")
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSET_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("COUNTERSET_DATA", raising=False)
