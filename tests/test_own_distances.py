"""A user's own distance, a subclass or a function, explains as the equal built-in one does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from support.settings import paper_by_steps

from counterset import Constraints
from counterset.distances import L1, Distance


class Manhattan(Distance):
    """The least that a user writes."""

    def pairwise(self, A: Any, B: Any) -> Any:
        return np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2)


class Euclid(Distance):
    """All that a user may want to say about a distance."""

    symmetric = True
    triangle_inequality = True
    category_size = math.sqrt(0.5)

    def pairwise(self, A: Any, B: Any) -> Any:
        return cdist(A, B, "euclidean")


class Differences(Distance):
    """A count of features, for which a category needs no coordinates."""

    category_size = None

    def pairwise(self, A: Any, B: Any) -> Any:
        return (A[:, None, :] != B[None, :, :]).sum(axis=2).astype(float)


def city_blocks(A: Any, B: Any) -> Any:
    return cdist(A, B, "cityblock")


OWN = [(Manhattan(), "l1"), (Euclid(), "l2"), (Differences(), "l0"), (city_blocks, "l1")]
BY_NAME = pytest.mark.parametrize(
    ("own", "name"), OWN, ids=["Manhattan", "Euclid", "Differences", "function"]
)


def test_of_a_subclass_nothing_is_assumed() -> None:
    assert not Manhattan().symmetric
    assert not Manhattan().triangle_inequality
    assert Euclid().symmetric
    assert Euclid().triangle_inequality


def test_a_subclass_needs_only_pairwise() -> None:
    A, B = np.random.default_rng(0).normal(size=(2, 9, 40))
    own = np.broadcast_to(B, (len(A), *B.shape))
    np.testing.assert_array_equal(Manhattan().rowwise(A, own), Manhattan()(A, B))
    scores, errors = Manhattan().scores(A, B)
    exact = Manhattan().score_of(L1()(A, B))
    assert np.all(np.abs(scores - exact) <= errors[:, None])


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
@BY_NAME
@pytest.mark.parametrize("sparsify", [False, True])
def test_ones_own_distance_explains_numbers_as_the_built_in_one(
    own: Any, name: str, sparsify: bool
) -> None:
    X = np.random.default_rng(1).random((150, 4)) * [1, 10, 100, 1]

    def model(rows: Any) -> Any:
        return (rows / [1, 10, 100, 1]).sum(axis=1) > 2

    mine, built_in = (
        paper_by_steps(model, distance=distance, max_counterfactuals=3, sparse=sparsify)
        .fit(X)
        .explain_many(X[:5])
        for distance in (own, name)
    )
    for one, other in zip(mine, built_in, strict=True):
        np.testing.assert_allclose(one.values, other.values, rtol=1e-9)
        np.testing.assert_allclose(one.distances, other.distances, rtol=1e-9)


def mixed_table() -> pd.DataFrame:
    random = np.random.default_rng(2)
    n = 150
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 80, n),
            "income": random.random(n),
            "home": random.choice(["rent", "own", "free"], n),
            "size": pd.Categorical(random.choice(["s", "m"], n), ["s", "m", "l"], ordered=True),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 900, n), "D"),
        }
    )
    frame.loc[::9, "income"] = np.nan
    return frame


def lend(rows: pd.DataFrame) -> Any:
    known = rows["income"].fillna(0.4)
    return rows["age"] / 80 + known + 0.4 * (rows["home"] == "own") + rows["size"].cat.codes > 1.8


@BY_NAME
@pytest.mark.parametrize("sparsify", [False, True])
def test_ones_own_distance_explains_a_mixed_table_as_the_built_in_one(
    own: Any, name: str, sparsify: bool
) -> None:
    X = mixed_table()
    mine, built_in = (
        paper_by_steps(
            lend,
            distance=distance,
            max_counterfactuals=2,
            diversity=None,
            sparse=sparsify,
            constraints=Constraints(increase_only=["age"]),
        )
        .fit(X)
        .explain_many(X.iloc[:5])
        for distance in (own, name)
    )
    for one, other in zip(mine, built_in, strict=True):
        pd.testing.assert_frame_equal(
            pd.DataFrame(one.counterfactuals), pd.DataFrame(other.counterfactuals), rtol=1e-9
        )
        np.testing.assert_allclose(one.distances, other.distances, rtol=1e-9)
