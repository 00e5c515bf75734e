"""How a model and training data are recognised again."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression

from counterset import InvalidInputError
from counterset._base.arrays import row_blocks
from counterset.explanations.context import PROBES, Fingerprint, hash_rows, probe_rows
from counterset.tables.table import Table

X = np.random.default_rng(0).normal(size=(300, 4))
TABLE = Table.learn(X)[0]
MIXED = pd.DataFrame(
    {
        "age": [20, 35, 61, 44],
        "income": [1200.5, np.nan, 3400.0, 800.0],
        "home": ["own", "rent", None, "free"],
        "joined": pd.to_datetime(["2020-01-01", "2021-05-05", "2019-03-02", "2024-12-24"]),
        "grade": pd.Categorical(["a", "c", "a", "c"], ["a", "b", "c"], ordered=True),
        "late": [True, False, True, True],
        "empty": [None, None, None, None],
    }
)


def test_probes_lie_in_the_ranges_and_are_the_same_each_time() -> None:
    table, matrix = Table.learn(MIXED)
    rows = probe_rows(table)
    assert rows.shape == (PROBES, len(table.features))
    np.testing.assert_array_equal(rows, probe_rows(table))
    assert (rows[:, :6] >= np.nanmin(matrix[:, :6], axis=0)).all()
    assert (rows[:, :6] <= np.nanmax(matrix[:, :6], axis=0)).all()
    assert np.isnan(rows[:, 6]).all()
    table.encode(table.decode(rows))  # the columns can hold them
    for j, feature in enumerate(table.features):
        if feature.seen:
            assert set(rows[:, j]) == set(feature.seen)


def test_probes_are_no_training_rows() -> None:
    rows = {tuple(row) for row in X}
    assert not rows & {tuple(row) for row in probe_rows(TABLE)}


@pytest.mark.parametrize("has_probabilities", [True, False])
def test_a_saved_model_is_recognised_and_a_retrained_one_is_not(has_probabilities: bool) -> None:
    def trained(seed: int, rows: int = 300) -> Any:
        model = GradientBoostingClassifier(n_estimators=20, subsample=0.7, random_state=seed)
        model.fit(X[:rows], X[:rows].sum(axis=1) > 0)
        return model if has_probabilities else model.predict

    first = Fingerprint.of(trained(0), TABLE)
    assert (first.probabilities is not None) == has_probabilities
    assert first.agrees(Fingerprint.of(pickle.loads(pickle.dumps(trained(0))), TABLE))
    assert first.agrees(Fingerprint.of(trained(0), TABLE))
    assert not first.agrees(Fingerprint.of(trained(1), TABLE))
    assert not first.agrees(Fingerprint.of(trained(0, 290), TABLE))


def test_single_precision_is_the_same_model_and_a_slight_change_is_not() -> None:
    model = LogisticRegression().fit(X, X.sum(axis=1) > 0)
    first = Fingerprint.of(model, TABLE)
    model.coef_ = model.coef_.astype(np.float32)
    assert first.agrees(Fingerprint.of(model, TABLE))
    model.coef_ = model.coef_ * 1.01
    assert not first.agrees(Fingerprint.of(model, TABLE))


def test_a_regression_is_recognised_by_its_numbers() -> None:
    first, second = (
        Fingerprint.of(RandomForestRegressor(5, random_state=seed).fit(X, X[:, 0]), TABLE)
        for seed in (0, 1)
    )
    assert first.agrees(first)
    assert not first.agrees(second)


def test_it_goes_through_json() -> None:
    for labels in (X[:, 0] > 0, np.where(X[:, 0] > 0, "<yes>", "no"), (X[:, 0] > 0).astype(int)):
        first = Fingerprint.of(LogisticRegression().fit(X, labels), TABLE)
        again = Fingerprint.from_dict(json.loads(json.dumps(first.to_dict())))
        assert again.agrees(first)
        assert again.digest == first.digest


def test_what_is_no_fingerprint_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no fingerprint"):
        Fingerprint.from_dict({"labels": [1]})


def test_text_and_numbers_never_agree() -> None:
    assert not Fingerprint((1.5,)).agrees(Fingerprint(("1.5",)))


def test_the_hash_depends_on_values_names_and_dtypes() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]})
    others = [
        frame,
        frame.rename(columns={"a": "c"}),
        frame.astype({"a": float}),
        frame.replace("y", "z"),
        frame.assign(a=[1, 2, 4]),
        frame.astype({"b": "category"}),
    ]
    hashes = [hash_rows(*Table.learn(each)) for each in others]
    assert len(set(hashes)) == len(others)
    assert hash_rows(*Table.learn(frame.copy())) == hashes[0]


def test_rows_have_the_same_hash_in_one_block_or_in_many(monkeypatch: pytest.MonkeyPatch) -> None:
    table, matrix = Table.learn(np.random.default_rng(0).random((10, 2)))
    order = np.argsort(matrix[:, 0])
    hashes = {hash_rows(table, matrix[order])}
    monkeypatch.setattr(row_blocks, "__defaults__", (3,))
    hashes |= {hash_rows(table, matrix[order]), hash_rows(table, matrix, order)}
    assert len(hashes) == 1
