"""Datasets by name: bundled, in a folder, in the cache, or from a stand-in for OpenML."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest

from counterset import datasets
from counterset.datasets import Dataset, load, load_diabetes, load_german_credit, load_spambase
from counterset.datasets import loading as fetched
from counterset.exceptions import CountersetError, DataUnavailableError, InvalidInputError


@pytest.mark.parametrize("loader", [load_diabetes, load_german_credit, load_spambase])
def test_load_by_name_gives_what_the_loader_gives(loader: Callable[[], Dataset]) -> None:
    expected = loader()
    found = load(expected.name)
    assert (found.name, found.description) == (expected.name, expected.description)
    pd.testing.assert_frame_equal(found.X, expected.X)
    pd.testing.assert_series_equal(found.y, expected.y)


def test_an_unknown_name_is_refused_with_the_known_names() -> None:
    with pytest.raises(InvalidInputError, match=r"'iris'.*'diabetes', 'german_credit', ") as caught:
        load("iris")
    assert isinstance(caught.value, CountersetError)


def test_all_is_sorted_and_resolves() -> None:
    assert datasets.__all__ == sorted(datasets.__all__)
    assert all(hasattr(datasets, name) for name in datasets.__all__)


class OpenML:
    """Stands in for OpenML: gives one table, or fails, and remembers what it was asked."""

    def __init__(self, table: pd.DataFrame | None = None, target: str = "") -> None:
        self.table, self.target = table, target
        self.asked: list[tuple[str, int]] = []

    def __call__(self, name: str, *, version: int, **_: Any) -> SimpleNamespace:
        self.asked.append((name, version))
        if self.table is None:
            raise OSError("no route to host")
        return SimpleNamespace(frame=self.table, target_names=[self.target])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COUNTERSET_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("COUNTERSET_DATA", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("COUNTERSET_DATA", str(folder))
    monkeypatch.setattr(fetched, "fetch_openml", OpenML())
    return folder


def test_a_folder_is_read_first(folder: Path) -> None:
    (folder / "no2.csv").write_text("cars,wind,Outcome\n1,2.5,N\n3,4.5,P\n")
    no2 = load("no2")
    assert no2.X.to_dict("list") == {"cars": [1, 3], "wind": [2.5, 4.5]}
    assert (no2.y.name, no2.y.tolist()) == ("Outcome", ["N", "P"])


def test_compressed_files_are_read_too(folder: Path) -> None:
    pd.DataFrame({"a": [1.0], "Outcome": ["N"]}).to_csv(folder / "no2.csv.gz", index=False)
    assert load("no2").X.shape == (1, 1)


def test_a_dataset_in_two_files_is_put_together_in_their_order(folder: Path) -> None:
    (folder / "credit_test.csv").write_text("age,SeriousDlqin2yrs\n0.3,0\n")
    (folder / "credit_train.csv").write_text("age,SeriousDlqin2yrs\n0.1,1\n0.2,1\n")
    assert load("credit").X["age"].tolist() == [0.1, 0.2, 0.3]


def test_half_of_a_dataset_is_not_enough(folder: Path) -> None:
    (folder / "credit_train.csv").write_text("age,SeriousDlqin2yrs\n0.1,1\n")
    with pytest.raises(DataUnavailableError, match=r"credit_train.csv .* and credit_test.csv"):
        load("credit")


def test_news_is_popular_from_1400_shares_on(folder: Path) -> None:
    (folder / "news.csv").write_text("words,shares\n5,1399\n6,1400\n")
    news = load("news")
    assert (news.y.name, news.y.tolist()) == ("popular", [0, 1])


def test_a_question_mark_in_adult_is_a_missing_value(folder: Path) -> None:
    (folder / "adult.csv").write_text("age,workclass,income\n39,State-gov,<=50K\n40,?,>50K\n")
    adult = load("adult")
    assert adult.X["workclass"].isna().tolist() == [False, True]
    assert list(adult.X["workclass"].cat.categories) == ["State-gov"]


def test_what_openml_gives_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"binaryClass": ["N", "P"], "cars": [1.5, 2.5]})
    openml = OpenML(table, "binaryClass")
    monkeypatch.setattr(fetched, "fetch_openml", openml)
    first, again = load("no2"), load("no2")
    assert openml.asked == [("no2", 2)]
    pd.testing.assert_frame_equal(first.X, again.X)
    assert list(first.X.columns) == ["cars"]
    assert [file.name for file in cache.iterdir()] == ["no2.csv.gz"]


def test_columns_that_are_no_features_are_dropped(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pd.DataFrame({"url": ["a"], "timedelta": [1], "words": [2], "shares": [1500]})
    monkeypatch.setattr(fetched, "fetch_openml", OpenML(table, "shares"))
    assert list(load("news").X.columns) == ["words"]


def test_rows_with_missing_values_stay_only_where_they_belong(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pd.DataFrame({"a": [1.0, np.nan], "target": ["x", "y"]})
    monkeypatch.setattr(fetched, "fetch_openml", OpenML(table, "target"))
    assert len(load("credit").X) == 1
    assert load("adult").X["a"].isna().tolist() == [False, True]


def test_offline_the_message_names_the_three_ways(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched, "fetch_openml", OpenML())
    with pytest.raises(DataUnavailableError) as caught:
        load("no2")
    message = str(caught.value)
    assert isinstance(caught.value, CountersetError)
    assert "no route to host" in message
    for way in ("no2.csv", "COUNTERSET_DATA", "OpenML ('no2', version 2)", str(cache)):
        assert way in message


@pytest.mark.parametrize("name", ["no2.csv", "no2.csv.gz"])
def test_a_damaged_file_is_told_with_its_name(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"\x1f\x8b\x00\xff\xfe")
    with pytest.raises(DataUnavailableError, match=rf"{name} cannot be read as a table"):
        load("no2")


def test_the_cache_is_where_the_system_keeps_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COUNTERSET_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert fetched.cache_folder() == tmp_path / "counterset"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert fetched.cache_folder() == tmp_path / ".cache" / "counterset"


@pytest.mark.filterwarnings("ignore:.*:UserWarning", "ignore:.*:RuntimeWarning")  # its retry
def test_openml_is_asked_as_scikit_learn_wants_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A parameter that fetch_openml refuses used to look like a machine without a network.
    def offline(*_: Any, **__: Any) -> None:
        raise URLError("this test has no network")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", offline)
    with pytest.raises(DataUnavailableError, match="this test has no network"):
        load("no2")
