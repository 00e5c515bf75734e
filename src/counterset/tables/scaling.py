"""The scale of each feature: which difference counts as much as which.

A difference of 1000 in income must not drown a difference of 1 in dependants, and one income of a
billion must not make all others equal.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from counterset._base.arrays import Mask, Matrix, Vector
from counterset._base.checks import numbers
from counterset.distances import L0, L1, L2, Distance, LInf
from counterset.exceptions import InvalidInputError, UnsuitableScaleWarning
from counterset.tables.spread import usual_range, without_far_out
from counterset.tables.table import Table

__all__ = [
    "ScaleLike",
    "Scaling",
    "count_costs",
    "learn_scaling",
    "medians_of",
    "read_costs",
    "warn_of_scale",
]

ScaleLike: TypeAlias = str | ArrayLike | Mapping[Any, float] | None

#: Outliers ruin a range that is more than 100 times the usual range: from one end of the usual
#: values to the other counts less than 0.01 then, a hundredth of a changed category.
RUINED = 100
#: Few values that stretch a scale are looked for among 100,000 rows, evenly spread.
MOST_ROWS = 100_000
#: The smallest spread that is scaled to 1, some 2e-308: one over less than that is no float.
SMALLEST_SPREAD = float(np.finfo(np.float64).tiny)
#: Sums of distances are kept to about 16 digits. With a cost above 1e12, or below 1e-12, most of
#: what the other features count would be lost in them.
LARGEST_COST = 1e12
#: A message shows at most 5 features.
MOST_SHOWN = 5


class Scaling(NamedTuple):
    """How each feature is scaled, ``(x - offset) * factor``.

    Attributes
    ----------
    unit
        The difference that counts 1: the inverse of the factor, before that was rounded.
    """

    offset: Vector
    factor: Vector
    unit: Vector


def learn_scaling(matrix: Matrix, table: Table, scale: ScaleLike) -> Scaling:
    """Learn how each feature is scaled.

    Parameters
    ----------
    matrix
        The training rows.
    table
        Their features.
    scale
        ``"robust"`` maps each feature's usual range to [0, 1], see
        :func:`~counterset.tables.spread.usual_range`, and ``"range"`` its whole range. ``"mad"``
        divides by the median absolute deviation, by the range where that is 0. None leaves the
        values as they are. An array, or a mapping from names, multiplies each feature by a number.
    """
    low, high = _ranges(table)
    if scale is None:
        return Scaling(np.zeros_like(low), np.ones_like(low), np.ones_like(low))
    if not isinstance(scale, str):
        weights = _weights(scale, table)
        return Scaling(np.zeros_like(low), weights, 1 / weights)
    if scale in ("robust", "range"):
        low, high = _usual_ranges(matrix, table) if scale == "robust" else (low, high)
        unit = _spread(low, high)
        return Scaling(low, 1 / unit, unit)
    if scale == "mad":
        medians, deviations = medians_of(matrix), _deviations(matrix)
        sizes = np.where(deviations > 0, deviations, _spread(low, high))
        unit = np.maximum(sizes, SMALLEST_SPREAD)
        return Scaling(medians, 1 / unit, unit)
    raise InvalidInputError(
        f"Unknown scale {scale!r}. Choose 'robust', 'range', 'mad', None, or one number per "
        f"feature."
    )


def read_costs(costs: Mapping[Any, float] | None, table: Table) -> Vector:
    """Return what the difference in each feature is multiplied by, after its scale.

    Parameters
    ----------
    costs
        What a user passed as ``costs=``; None: all features cost 1.

    Examples
    --------
    >>> table, _ = Table.learn([[1.0, 2.0], [3.0, 4.0]])
    >>> read_costs({"x1": 2.0}, table)
    array([1., 2.])
    """
    given = {} if costs is None else costs
    factors = np.ones(len(table.features))
    for (at, cost), name in zip(_by_position(given, table, "costs").items(), given, strict=True):
        factors[at] = _read_cost(cost, name)
    return factors


def _read_cost(cost: Any, name: Any) -> float:
    known = isinstance(cost, Real) and not isinstance(cost, bool)
    value = float(numbers(cost)) if known and numbers(cost).ndim == 0 else math.nan
    if not 1 / LARGEST_COST <= value <= LARGEST_COST:
        raise InvalidInputError(
            f"costs[{name!r}] must be a number above 0, from {1 / LARGEST_COST:g} to "
            f"{LARGEST_COST:g}, got {cost!r}. For a feature that cannot change, write "
            f"constraints=Constraints(immutable=[{name!r}])."
        )
    return value


def count_costs(distance: Distance, costs: Vector, table: Table) -> Distance:
    """Return the distance between points that counts costs.

    Scaled coordinates contain them, so only the number of changes needs weights: there a change
    counts 1, however large it is. A distance with weights of its own is refused.
    """
    weights = distance.weights if isinstance(distance, L0 | L1 | L2 | LInf) else None
    if weights is not None:
        same = np.sqrt(weights) if isinstance(distance, L2) else np.asarray(weights)
        named = dict(zip(table.names, map(float, same), strict=False))
        shown = dict(list(named.items())[:MOST_SHOWN])
        more = ", ..." if len(named) > len(shown) else ""
        kind = type(distance).__name__.lower()
        raise InvalidInputError(
            f"An explainer weighs features by costs, but distance= is "
            f"{type(distance).__name__} with weights of its own. Write distance={kind!r}, "
            f"costs={{{repr(shown)[1:-1]}{more}}}."
        )
    if not isinstance(distance, L0) or (costs == 1).all():
        return distance
    return replace(distance, weights=costs)


def medians_of(matrix: Matrix) -> Vector:
    """Return the median of the known values of each feature, 0 if there are none."""
    return np.array([_median(column) for column in matrix.T])


def warn_of_scale(
    matrix: Matrix, table: Table, scale: ScaleLike, stacklevel: int, but: Collection[str] = ()
) -> None:
    """Warn where a scale means little: by outliers, a deviation of 0, or too small a range.

    Parameters
    ----------
    stacklevel
        As for :func:`warnings.warn`, counted from the caller.
    but
        The names of features to pass over.
    """
    if not isinstance(scale, str):
        return
    low, high = _ranges(table)
    tiny = (high > low) & (high - low < SMALLEST_SPREAD)
    if tiny.any():
        why = (
            f"their values differ by less than {SMALLEST_SPREAD:.0e}, which floats cannot scale to "
            f"1, so that these differences hardly count. Multiply them, or leave them out"
        )
        _warn_of(tiny, table, scale, why, stacklevel + 1, but)
    if scale == "range":
        (low, high), (usual_low, usual_high) = _ranges(table), _usual_ranges(matrix, table)
        ruined = high - low > RUINED * (usual_high - usual_low)
        why = (
            f"a few outliers stretch the range to more than {RUINED} times that of the other "
            f"values, so that differences between these hardly count. Use scale='robust', or "
            f"numbers of your own"
        )
    elif scale == "mad":
        ruined = (_deviations(matrix) == 0) & _has_three_values(matrix)
        why = (
            "most values are equal, so that the median absolute deviation is 0 and the whole "
            "range is taken in its place. Use scale='robust', or numbers of your own"
        )
    elif scale == "robust":
        some = matrix[:: 1 + len(matrix) // MOST_ROWS]
        stretched = np.array([without_far_out(column) is not None for column in some.T])
        ruined = stretched | np.array([not each.grid.is_uniform for each in table.features])
        why = (
            "a few values lie far out, or all are of very different sizes, so that differences "
            "between the small ones hardly count. Cap these values, take their logarithms, declare "
            "codes with Schema(special=...), or use scale='mad'"
        )
    else:
        return
    _warn_of(ruined & ~tiny, table, scale, why, stacklevel + 1, but)


def _warn_of(
    ruined: Mask, table: Table, scale: str, why: str, stacklevel: int, but: Collection[str]
) -> None:
    # The ranks of an ordinal are as they are, and a changed category counts 1 with any scale.
    are_numbers = np.array([feature.values is None for feature in table.features])
    names = [table.names[i] for i in np.flatnonzero(ruined & are_numbers)]
    names = [name for name in names if name not in but]
    if names:
        shown = ", ".join(map(repr, names[:MOST_SHOWN])) + (
            ", ..." if len(names) > MOST_SHOWN else ""
        )
        warnings.warn(
            f"scale={scale!r} means little for {len(names)} of {len(ruined)} features ({shown}): "
            f"{why}.",
            UnsuitableScaleWarning,
            stacklevel=stacklevel + 1,
        )


def _by_position(given: Mapping[Any, Any], table: Table, what: str) -> dict[int, Any]:
    """Return what is given by the names of features by their positions.

    Parameters
    ----------
    what
        How messages name the parameter.
    """
    positions = {name: table.find(name) for name in given}
    unknown = [name for name, at in positions.items() if at is None]
    if unknown:
        raise InvalidInputError(f"{what} names unknown features {unknown}. Known: {table.names}.")
    named = {at: given[name] for name, at in positions.items() if at is not None}
    if len(named) < len(given):
        raise InvalidInputError(f"{what} names a feature twice, got {given!r}. Name it once.")
    return named


def _ranges(table: Table) -> Matrix:
    """Return the smallest and the largest training value of each feature, ``(2, d)``."""
    return np.array([(feature.low, feature.high) for feature in table.features]).T


def _usual_ranges(matrix: Matrix, table: Table) -> Matrix:
    """Return the ends of the usual range of each number, and of the whole range of all else.

    The ranks of an ordinal have no outliers: from the first to the last of them counts 1.
    """
    ends = [
        usual_range(column) if feature.values is None else (feature.low, feature.high)
        for feature, column in zip(table.features, matrix.T, strict=True)
    ]
    return np.array(ends).T


def _spread(low: Vector, high: Vector) -> Vector:
    """Return how far the ends of each range are apart, 1 if they are equal."""
    return np.where(high > low, np.maximum(high - low, SMALLEST_SPREAD), 1.0)


def _deviations(matrix: Matrix) -> Vector:
    """Return the median absolute deviation of each feature."""
    return medians_of(np.abs(matrix - medians_of(matrix)))


def _median(column: Vector) -> float:
    known = column[~np.isnan(column)]
    return float(np.median(known)) if len(known) else 0.0


def _has_three_values(matrix: Matrix) -> Mask:
    """Return which features have more than two values: the range of two is their difference."""
    return np.array([len(np.unique(column[~np.isnan(column)])) > 2 for column in matrix.T])


def _weights(scale: ArrayLike | Mapping[Any, float], table: Table) -> Vector:
    count = len(table.features)
    if isinstance(scale, Mapping):
        named = _by_position(scale, table, "scale")
        weights = numbers([named.get(i, 1.0) for i in range(count)])
    else:
        weights = numbers(scale)
    if weights.shape != (count,) or not np.all(np.isfinite(weights)) or np.any(weights <= 0):
        raise InvalidInputError(
            f"scale must be one finite number above 0 for each of the {count} features, got "
            f"{scale!r}. Use 'robust' if in doubt."
        )
    return weights
