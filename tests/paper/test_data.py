"""Splitting and scaling as the paper's experiments had it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from counterset import datasets
from counterset.datasets import Dataset
from counterset.paper import data
from counterset.paper.data import prepare


def test_features_span_the_unit_interval_over_the_whole_file() -> None:
    split = prepare("diabetes")
    whole = np.vstack([split.X_train, split.X_test])
    np.testing.assert_array_equal(whole.min(axis=0), np.zeros(8))
    np.testing.assert_array_equal(whole.max(axis=0), np.ones(8))


def test_one_row_in_five_is_for_testing_and_classes_keep_their_shares() -> None:
    split = prepare("diabetes")
    y = datasets.load("diabetes").y
    _, test = train_test_split(y, test_size=0.2, stratify=y, shuffle=True, random_state=0)
    np.testing.assert_array_equal(split.y_test, test)


def test_spambase_lacks_its_first_row() -> None:
    split = prepare("spambase")
    assert (len(split.X_train), len(split.X_test)) == (3680, 920)
    bundled = datasets.load("spambase").X.to_numpy(dtype=float)[1:]
    scaled = (bundled - bundled.min(axis=0)) / np.ptp(bundled, axis=0)
    whole = np.vstack([split.X_train, split.X_test])
    assert sorted(map(tuple, whole)) == sorted(map(tuple, scaled))


def test_the_authors_credit_is_split_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "CREDIT_ROWS", 5)
    monkeypatch.setattr(data, "CREDIT_TRAINING_ROWS", 3)
    X = pd.DataFrame({"age": [0.1, 0.2, 0.3, 0.4, 0.5]})
    credit = Dataset("credit", X, pd.Series([1, 0, 1, 0, 1], name="good"), "")
    monkeypatch.setattr(datasets, "load", lambda name: credit)
    split = prepare("credit")
    assert split.X_train[:, 0].tolist() == [0.1, 0.2, 0.3]
    assert split.y_test.tolist() == [0, 1]
