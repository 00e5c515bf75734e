"""Nearest counterfactuals by solvers, compared with all points of a small grid."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from support.peer_tables import homes, pipeline_for

from counterset._base.arrays import Matrix
from counterset.exceptions import UnsupportedModelError
from counterset.paper.peers import find_peer, proved
from counterset.paper.peers.protocol import LIMIT
from counterset.paper.setups import Network

ENDS = range(4)


def grid() -> pd.DataFrame:
    """Return every row of three whole numbers from 0 to 3."""
    return pd.DataFrame(list(itertools.product(ENDS, repeat=3)), columns=["a", "b", "c"])


def label(frame: pd.DataFrame) -> Any:
    return 2 * frame["a"] + frame["b"] ** 2 - frame["c"] * frame["a"] > 4


def check_against_all_points(peer: Any, model: Any, X: pd.DataFrame, least: int) -> None:
    points = grid()
    labels = model.predict(points)
    own = model.predict(X)
    counts = []
    for i, options in enumerate(peer.explain_many(X)):
        x = X.iloc[[i]]
        assert options.dtypes.equals(X.dtypes)
        far = peer._distance(x, points)[0]
        changes = points.to_numpy() != x.to_numpy()
        left = labels != own[i]
        for length, change in zip(
            peer._distance(x, options)[0], options.to_numpy() != x.to_numpy(), strict=True
        ):
            # It is the nearest of all points that do not change all that an earlier one changed.
            assert length == pytest.approx(far[left].min(), rel=1e-5)
            left &= ~changes[:, change].all(axis=1)
        counts.append(len(options))
        assert len(options) == LIMIT or not left.any()
    assert max(counts) >= least


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("milp", LogisticRegression()),
        ("milp", MLPClassifier((5,), max_iter=3000, tol=1e-2, random_state=0)),
        ("cp-sat", RandomForestClassifier(7, random_state=0)),
    ],
)
def test_each_option_is_the_nearest_with_another_set_of_features(
    name: str, model: Any, norm: int
) -> None:
    if name == "cp-sat":
        pytest.importorskip("ortools")
    points = grid()
    model = model.fit(points, label(points))
    peer = find_peer(name, norm)
    peer.fit(model, points)
    check_against_all_points(peer, model, points.iloc[[0, 21, 42, 63]], least=2)


def test_no_option_changes_all_that_an_earlier_one_changes(split: Any) -> None:
    random = np.random.default_rng(0)
    layers: list[tuple[Matrix, Matrix]] = [
        (random.normal(size=(8, 6)), random.normal(size=6)),
        (random.normal(size=(6, 2)), random.normal(size=2)),
    ]
    network = Network(layers)
    peer = find_peer("milp", 1)
    peer.fit(network, split.X_train)
    for x, options in zip(split.X_test[:2], peer.explain_many(split.X_test[:2]), strict=True):
        assert (network.predict(options) != network.predict(x[None, :])).all()
        sets = [frozenset(np.flatnonzero(option != x)) for option in options]
        for earlier, later in itertools.combinations(sets, 2):
            assert not earlier <= later
        lengths = np.abs(options - x).sum(axis=1)
        assert (np.diff(lengths) >= -1e-6).all()


def test_in_a_mixed_table_immutable_features_stay() -> None:
    frame, accepted = homes()
    model = pipeline_for(LogisticRegression()).fit(frame, accepted)
    peer = find_peer("milp", 1, immutable=["home"])
    peer.fit(model, frame)
    x = frame.iloc[[0]]
    (options,) = peer.explain_many(x)
    assert len(options) == 2  # of income alone and of age alone: both together is more
    assert (options["home"] == x["home"].iloc[0]).all()
    assert (model.predict(options) != model.predict(x)).all()
    assert options.dtypes.equals(frame.dtypes)


def test_where_nothing_changes_the_class_the_set_is_empty() -> None:
    X = np.array([[0.0], [1.0]])
    peer = find_peer("milp", 1)
    peer.fit(Network([([[0.0, 0.0]], [1.0, 0.0])]), X)
    (options,) = peer.explain_many(X[:1])
    assert options.shape == (0, 1)


def test_without_time_nothing_is_found(
    network: Network, split: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proved, "SECONDS", 0.0)
    peer = find_peer("milp", 1)
    peer.fit(network, split.X_train)
    assert len(peer.explain_many(split.X_test[:1])[0]) == 0


def test_each_solver_names_the_other_one() -> None:
    points = grid()
    y = label(points)
    with pytest.raises(UnsupportedModelError, match="Take the peer 'cp-sat'"):
        find_peer("milp", 1).fit(RandomForestClassifier(2).fit(points, y), points)
    with pytest.raises(UnsupportedModelError, match="Take the peer 'milp'"):
        find_peer("cp-sat", 1).fit(LogisticRegression().fit(points, y), points)
    with pytest.raises(UnsupportedModelError, match=r"KNeighborsClassifier.*asks the model"):
        find_peer("cp-sat", 1).fit(KNeighborsClassifier().fit(points, y), points)
