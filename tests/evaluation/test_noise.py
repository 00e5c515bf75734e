"""The noise models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterset import InvalidInputError
from counterset._base.arrays import Indices, Mask, Matrix
from counterset.evaluation import GaussianNoise
from counterset.evaluation.noise import NumericColumns
from counterset.tables.space import Space
from counterset.tables.table import Table


def anything(copies: Matrix, owners: Indices) -> Mask:
    return np.ones(len(copies), dtype=bool)


def columns_of(table: Table, rows: Matrix, scale: str = "range") -> NumericColumns:
    return NumericColumns.of(table, Space.learn(rows, table, scale))


def draw(X: object, noise: GaussianNoise, repeats: int = 1, scale: str = "range") -> Matrix:
    table, rows = Table.learn(X)
    random = np.random.default_rng(7)
    return noise.copies(rows, columns_of(table, rows, scale), repeats, anything, random)[0]


def test_copies_are_numpys_own_normal_numbers_scaled_by_the_span() -> None:
    X = np.array([[0.0, 0.0], [1.0, 10.0], [0.5, 5.5]])
    z = np.random.default_rng(7).standard_normal((3, 2, 2))
    expected = X[:, None, :] + z * np.sqrt(0.0008) * [1, 10]
    clipped = np.clip(expected, [0, 0], [1, 10])
    np.testing.assert_allclose(draw(X, GaussianNoise(), repeats=2), clipped)


def test_noise_is_in_units_of_the_scale_so_that_an_outlier_does_not_stretch_it() -> None:
    # Copies used to be moved by 0.028 of the whole range: by 28,000 where people differ by 100.
    X = np.append(np.linspace(0, 100, 99), 1e6)[:, None]
    moved = np.abs(draw(X, GaussianNoise(), repeats=50, scale="robust") - X[:, None])
    assert 0.5 < moved[:-1].mean() < 3
    assert 0.5 < moved[-1].mean() < 3


def test_an_input_outside_the_training_range_may_stay_there() -> None:
    table, rows = Table.learn(np.linspace(0, 1, 50)[:, None])
    far = np.array([[7.0]])
    random = np.random.default_rng(0)
    copies, _ = GaussianNoise().copies(far, columns_of(table, rows), 20, anything, random)
    assert np.abs(copies - 7).max() < 0.2


def test_differences_are_in_the_units_of_each_number() -> None:
    table, rows = Table.learn(pd.DataFrame({"age": [20, 60, 40], "home": ["a", "b", "a"]}))
    columns = columns_of(table, rows)
    apart = np.array([[2, 0], [4, 0], [np.nan, 0]])
    assert columns.differences(rows, rows + apart) == {"age": 3.0}


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

    columns, random = columns_of(table, rows), np.random.default_rng(0)
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
    _, found = noise.copies(rows, columns_of(table, rows), 2, never, random)
    assert not found.any()
    assert asked == [4, 4, 4]


@pytest.mark.parametrize("wrong", [{"variance": 0}, {"attempts": 0}, {"variance": "much"}])
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        GaussianNoise(**wrong)  # type: ignore[arg-type]
