"""The form in which every dataset is returned."""

import dataclasses

import pytest

from counterset.datasets import load_diabetes


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
