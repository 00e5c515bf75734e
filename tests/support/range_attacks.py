"""Points of the ranges of an option, to attack them with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from counterset.explanations.option import Option

#: How far beyond an open end points are drawn: in parts of the largest number of the option.
FAR = (1e-9, 1.0, 100.0, 1e9)


def rows_of(
    option: Option, rng: np.random.Generator, count: int, near: dict[Any, list[float]] | None = None
) -> pd.DataFrame:
    """Return rows in the ranges of an option: any, on their ends, and next to some numbers.

    ``near`` has numbers around which a model may change, such as the thresholds of trees. Each
    feature chooses for itself where it lies, so that all mixtures occur.
    """
    assert option.ranges is not None
    same = pd.concat([option.row.to_frame().T] * count, ignore_index=True)
    dtypes = dict(zip(option.row.index, _dtypes(option), strict=True))
    rows: pd.DataFrame = same.astype(dtypes)
    for each in option.ranges:
        feature = option._coded.table.features[option._coded.table.position(each.name)]
        if feature.values is not None:
            first, last = (feature.values.index(end) for end in (each.low, each.high))
            chosen = rng.integers(first, last + 1, count)
            rows[each.name] = (
                pd.Categorical(
                    np.array(feature.values, dtype=object)[chosen], categories=feature.values
                )
                if isinstance(feature.dtype, pd.CategoricalDtype)
                else np.array(feature.values)[chosen]
            )
            continue
        low, high = _finite(each, rng, count)
        drawn = low + rng.random(count) * (high - low)
        drawn = np.where(rng.random(count) < 0.3, low, drawn)
        drawn = np.where(rng.random(count) < 0.3, high, drawn)
        if near and near.get(each.name):
            cuts = rng.choice(near[each.name], count)
            next_to = [np.nextafter(cuts, -np.inf), cuts, np.nextafter(cuts, np.inf)]
            next_to += [
                np.float64(np.nextafter(np.float32(cuts), np.float32(s))) for s in (-np.inf, np.inf)
            ]
            next_to += [np.floor(cuts), np.ceil(cuts)]
            cuts = np.choose(rng.integers(0, len(next_to), count), next_to)
            drawn = np.where(rng.random(count) < 0.5, cuts, drawn)
        if feature.resolution == 1:
            drawn = np.rint(drawn)
        drawn = drawn.astype(feature.float_dtype).astype(np.float64)
        rows[each.name] = np.clip(drawn, low, high).astype(rows[each.name].dtype)
    return rows


def _dtypes(option: Option) -> list[Any]:
    table = option._coded.table
    return [
        next(feature.dtype for feature in table.features if i in feature.columns)
        for i in range(len(table.columns))
    ]


def _finite(each: Any, rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Return ends to draw between; an open end lies far out, farther in some rows."""
    known = [end for end in (each.low, each.high) if end is not None]
    size = max(1.0, *map(abs, known)) if known else 1.0
    far = size * rng.choice(FAR, count)
    low = np.full(count, known[0] if known else 0.0) - far if each.low is None else each.low
    high = np.full(count, known[-1] if known else 0.0) + far if each.high is None else each.high
    return low, high
