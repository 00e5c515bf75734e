"""Which input column each made column comes from."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from support.toys_exact import ENCODERS, VALUES, flats

from counterset.exact.preprocessing import sources_of


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_made_column_changes_with_its_source_alone(encoder: str) -> None:
    frame, y = flats(0)
    step = ENCODERS[encoder].fit(frame, y)
    sources = sources_of(step, frame.shape[1])
    assert sources is not None

    def made(rows: pd.DataFrame) -> Any:
        found = step.transform(rows)
        return found.toarray() if hasattr(found, "toarray") else np.asarray(found)

    assert made(frame).shape[1] == len(sources)
    for i, (name, values) in enumerate(VALUES.items()):
        rows = pd.concat([frame.iloc[[0]]] * len(values), ignore_index=True)
        rows[name] = values
        columns = made(rows)
        changed = (columns != columns[0]).any(axis=0)
        assert {source.column for source, c in zip(sources, changed, strict=True) if c} <= {i}
        for source, column in zip(sources, columns.T, strict=True):
            if source.column == i and source.rises:
                assert (np.diff(column) > 0).all()


def test_steps_that_mix_or_drop_columns_are_not_known() -> None:
    X = np.random.default_rng(0).random((20, 3))
    empty = np.column_stack([X, np.full(20, np.nan)])
    for step in (
        PCA(2).fit(X),
        FunctionTransformer(np.log1p).fit(X),
        SimpleImputer(add_indicator=True).fit(X),
        make_pipeline(StandardScaler(), PCA(2)).fit(X),
        make_column_transformer((PCA(1), [0, 1]), remainder="passthrough").fit(X),
    ):
        assert sources_of(step, 3) is None
    assert sources_of(SimpleImputer().fit(empty), 4) is None


def test_a_number_that_stands_for_a_missing_value_does_not_rise() -> None:
    # Cuts were searched by bisection, as though the imputer kept the order of numbers.
    step = SimpleImputer(missing_values=0).fit(np.array([[0], [3], [5]]))
    sources = sources_of(step, 1)
    assert sources is not None
    assert not sources[0].rises


def test_scalers_one_after_another_are_one() -> None:
    X = 1e6 + np.random.default_rng(0).random((30, 2))
    steps = make_pipeline(StandardScaler(), MinMaxScaler((-3, 1)), RobustScaler()).fit(X)
    sources = sources_of(steps, 2)
    assert sources is not None
    for source, column, made in zip(sources, X.T, steps.transform(X).T, strict=True):
        scaled = (column - source.centre) * source.factor + source.shift
        np.testing.assert_allclose(scaled, made, atol=1e-12)
        assert source.centre == pytest.approx(column.mean())
        assert source.rounds > 0


def test_a_dropped_column_has_no_source() -> None:
    frame, _ = flats(0)
    step = make_column_transformer(
        (OneHotEncoder(), ["owner"]), ("drop", ["heating"]), remainder="passthrough"
    ).fit(frame)
    sources = sources_of(step, 4)
    assert sources is not None
    assert [source.column for source in sources] == [3, 3, 0, 1]
    assert [source.rises for source in sources] == [False, False, True, True]
