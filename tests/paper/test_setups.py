"""The paper's datasets and networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from counterset import InvalidInputError, datasets
from counterset.datasets import Dataset
from counterset.paper import setups
from counterset.paper import setups as classifiers
from counterset.paper import setups as data
from counterset.paper.setups import (
    Network,
    Split,
    check_weights,
    fingerprint,
    identity_of,
    obtain,
    own_setup,
    prepare,
    train,
)


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


def toy_split() -> Split:
    X = np.random.default_rng(0).random((200, 2))
    y = (X.sum(axis=1) > 1).astype(np.intp)
    return Split("toy", X[:150], X[150:], y[:150], y[150:])


def test_what_is_saved_is_loaded_again(network: Network, tmp_path: Path) -> None:
    network.save(tmp_path / "folder" / "one.npz")
    again = Network.load(tmp_path / "folder" / "one.npz")
    X = np.random.default_rng(0).random((50, 8))
    np.testing.assert_array_equal(again.scores(X), network.scores(X))
    assert [file.name for file in (tmp_path / "folder").iterdir()] == ["one.npz"]


def test_probabilities_are_the_softmax_of_the_scores(network: Network) -> None:
    X = np.zeros((1, 8))
    X[0, 1] = 0.9
    odds = np.exp(0.9) / np.exp(0.6)
    assert network.predict_proba(X)[0, 1] == pytest.approx(odds / (1 + odds))
    assert network.predict(X).tolist() == [1]


def test_the_glucose_network_reads_the_glucose(network: Network) -> None:
    split = prepare("diabetes")
    np.testing.assert_array_equal(network.predict(split.X_test), split.X_test[:, 1] > 0.6)
    assert network.accuracy(split) == np.mean((split.X_test[:, 1] > 0.6) == split.y_test)


def test_training_learns_a_line_and_always_the_same_way() -> None:
    split = toy_split()
    one, two = train(split), train(split)
    assert one.accuracy(split) > 0.9
    assert [weights.shape for weights, _ in one.layers] == [(2, 20), (20, 10), (10, 2)]
    np.testing.assert_array_equal(one.layers[0][0], two.layers[0][0])


def test_a_network_is_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = []

    def quick(split: Split) -> Network:
        trained.append(split.name)
        return train(split, epochs=1)

    monkeypatch.setattr(classifiers, "train", quick)
    for _ in range(2):
        obtain(toy_split(), None, tmp_path)
    assert trained == ["toy"]


def test_missing_weights_are_told_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"no weights at .*toy\.npz.*leave --weights out"):
        obtain(toy_split(), tmp_path, tmp_path)


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04 half an archive"])
def test_damaged_weights_are_told_with_their_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "no2.npz").write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"no2\.npz cannot be read .* Replace the file"):
        Network.load(tmp_path / "no2.npz")


def test_the_right_weights_are_recognised(
    tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = Network.load(weights / "diabetes.npz")
    row = check_weights(weights, ["diabetes"]).iloc[0]
    assert row["layers"] == "8-1-2"
    assert "layers of (20, 10, 2) units" in row["wrong"]
    monkeypatch.setattr(setups, "PUBLISHED_LAYERS", (1, 2))
    accuracy = network.accuracy(prepare("diabetes"))
    monkeypatch.setitem(setups.PUBLISHED_ACCURACY, "diabetes", accuracy + 0.004)
    assert check_weights(weights, ["diabetes"]).iloc[0]["wrong"] == ""
    monkeypatch.setitem(setups.PUBLISHED_ACCURACY, "diabetes", accuracy + 0.02)
    assert "classes that are swapped" in check_weights(weights, ["diabetes"]).iloc[0]["wrong"]
    assert "There are no weights" in check_weights(tmp_path, ["no2"]).iloc[0]["wrong"]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((7, 2), "take 7 features, but diabetes has 8. They may be those of no2"),
        ((9, 2), "take 9 features, but diabetes has 8. No dataset of the paper has that"),
        ((8, 3), "have 3 classes, but diabetes has 2"),
    ],
)
def test_weights_of_another_dataset_are_refused_by_name(
    tmp_path: Path, split: Split, shape: tuple[int, int], message: str
) -> None:
    # "Pass rows of that length" did not say which file was meant; three classes were accepted.
    Network([(np.ones(shape), np.zeros(shape[1]))]).save(tmp_path / "diabetes.npz")
    with pytest.raises(InvalidInputError, match=message):
        obtain(split, tmp_path, tmp_path)
    assert message in check_weights(tmp_path, ["diabetes"]).iloc[0]["wrong"]


def people() -> pd.DataFrame:
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"income": random.random(60), "age": random.integers(18, 80, 60)})
    return rows.assign(loan=np.where(rows["income"] > 0.5, "yes", "no"))


def test_a_table_of_ones_own_is_scaled_and_split_as_in_the_paper(tmp_path: Path) -> None:
    split, network = own_setup(people(), "loan", "people", cache=tmp_path)
    assert (split.X_train.shape, split.X_test.shape) == ((48, 2), (12, 2))
    whole = np.vstack([split.X_train, split.X_test])
    np.testing.assert_array_equal([whole.min(axis=0), whole.max(axis=0)], [[0, 0], [1, 1]])
    assert network.layers[0][0].shape == (2, 20)
    (file,) = (tmp_path / "networks").iterdir()
    assert file.stem == fingerprint((split.X_train, split.y_train))
    _, again = own_setup(people(), "loan", "people", cache=tmp_path)
    assert identity_of(split, again) == identity_of(split, network)


def test_a_model_of_ones_own_gets_the_rows_as_they_are() -> None:
    rows = people()
    model = LogisticRegression().fit(rows[["income", "age"]], rows["loan"])
    split, same = own_setup(rows, "loan", "people", model)
    assert same is model
    assert split.X_train["age"].max() > 70
    other = LogisticRegression(C=1e-3).fit(rows[["income", "age"]], rows["loan"])
    assert identity_of(split, model) != identity_of(split, other)


@pytest.mark.parametrize(
    ("change", "target", "message"),
    [
        ({}, "town", "There is no column 'town' in people. The columns are income, age, loan"),
        ({"town": "Oslo"}, "loan", "The column 'town' of people has no numbers"),
        ({"age": [np.nan, *range(59)]}, "loan", "'age' of people has 1 empty cells"),
        ({"loan": [None, *["a", "b"] * 29, "a"]}, "loan", "'loan' of people has 1 empty cells"),
        ({"loan": ["a", *["b"] * 59]}, "loan", "but 'a' has 1 of 60"),
        ({"loan": "a"}, "loan", "but 'a' has 60 of 60"),
        ({"loan": np.repeat(np.arange(30) / 7, 2)}, "loan", "holds numbers with fractions"),
        ({"loan": np.repeat(np.arange(20), 3)}, "loan", "60 rows of 20 classes, which are too few"),
    ],
)
def test_what_cannot_be_run_of_ones_own_is_told(
    tmp_path: Path, change: dict[str, Any], target: str, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        own_setup(people().assign(**change), target, "people", cache=tmp_path)
