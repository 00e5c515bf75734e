"""The noise models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterset import GaussianNoise, InvalidInputError
from counterset._base.arrays import Indices, Mask, Matrix
from counterset.noise import NumericColumns
from counterset.tables.table import Table


def anything(copies: Matrix, owners: Indices) -> Mask:
    return np.ones(len(copies), dtype=bool)


def draw(X: object, noise: GaussianNoise, repeats: int = 1) -> Matrix:
    table, rows = Table.learn(X)
    random = np.random.default_rng(7)
    return noise.copies(rows, NumericColumns.of(table), repeats, anything, random)[0]


def test_copies_are_numpys_own_normal_numbers_scaled_by_the_span() -> None:
    X = np.array([[0.0, 0.0], [1.0, 10.0], [0.5, 5.5]])
    z = np.random.default_rng(7).standard_normal((3, 2, 2))
    expected = X[:, None, :] + z * np.sqrt(0.0008) * [1, 10]
    clipped = np.clip(expected, [0, 0], [1, 10])
    np.testing.assert_allclose(draw(X, GaussianNoise(), repeats=2), clipped)


def test_the_default_variance_is_that_of_the_paper() -> None:
    X = np.vstack([np.zeros(3), np.ones(3), np.full((20000, 3), 0.5)])
    copies = draw(X, GaussianNoise())[2:, 0]
    assert copies.var() == pytest.approx(0.08 * (1 - 0) / 100, rel=0.03)


def test_whole_numbers_stay_whole_and_inside_the_training_range() -> None:
    X = pd.DataFrame({"age": np.arange(18, 80), "income": np.linspace(0, 1e5, 62)})
    copies = draw(X, GaussianNoise(variance=0.5), repeats=5)
    ages = copies[:, :, 0]
    assert (ages == np.rint(ages)).all()
    assert (ages.min(), ages.max()) == (18.0, 79.0)


def test_a_copy_of_another_class_is_drawn_again() -> None:
    X = np.linspace(0, 1, 101)[:, None]
    table, rows = Table.learn(X)

    def same_class(copies: Matrix, owners: Indices) -> Mask:
        return np.asarray((copies[:, 0] > 0.5) == (rows[owners, 0] > 0.5))

    columns, random = NumericColumns.of(table), np.random.default_rng(0)
    copies, found = GaussianNoise().copies(rows, columns, 4, same_class, random)
    assert found.all()
    assert ((copies[:, :, 0] > 0.5) == (rows > 0.5)).all()


def test_it_gives_up_after_the_given_attempts() -> None:
    asked = []

    def never(copies: Matrix, owners: Indices) -> Mask:
        asked.append(len(copies))
        return np.zeros(len(copies), dtype=bool)

    table, rows = Table.learn([[0.0], [1.0]])
    noise, random = GaussianNoise(attempts=3), np.random.default_rng(0)
    _, found = noise.copies(rows, NumericColumns.of(table), 2, never, random)
    assert not found.any()
    assert asked == [4, 4, 4]


@pytest.mark.parametrize("wrong", [{"variance": 0}, {"attempts": 0}, {"variance": "much"}])
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        GaussianNoise(**wrong)  # type: ignore[arg-type]
