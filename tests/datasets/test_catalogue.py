"""Finding a dataset by its name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pandas as pd
import pytest

from counterset import datasets
from counterset.datasets import Dataset, load, load_diabetes, load_german_credit, load_spambase
from counterset.exceptions import CountersetError, InvalidInputError


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


# The form in which every dataset is returned ------------------------------------------------------


def test_repr_is_one_line_with_name_shape_and_class_counts() -> None:
    assert repr(load_diabetes()) == (
        "Dataset('diabetes', 768 rows x 8 features, Outcome: 0 500, 1 268)"
    )


def test_a_dataset_cannot_be_reassigned() -> None:
    diabetes = load_diabetes()
    with pytest.raises(dataclasses.FrozenInstanceError):
        diabetes.name = "other"  # type: ignore[misc]


def test_datasets_compare_by_identity() -> None:
    # A generated equality would ask a frame for its truth value and raise.
    diabetes = load_diabetes()
    assert diabetes == diabetes  # noqa: PLR0124
    assert diabetes != load_diabetes()
