"""What the page asks about a case: the form of its requests, and what they mean to the library.

Values go over the wire as the page can show and send them: numbers as they are, a value of a
category or an ordinal as its position among the values, a time in microseconds since 1970, and
null for a missing value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from counterset._base.arrays import Vector, to_python
from counterset.constraints.constraints import Constraints
from counterset.explainer import DiverseExplainer
from counterset.serve.errors import shortened
from counterset.serve.refusals import RefusedError
from counterset.serve.served import Served
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number, format_number
from counterset.tables.table import Table, changed

__all__ = [
    "CaseRequest",
    "Limit",
    "NearbyRequest",
    "RowRequest",
    "changed_codes",
    "codes_of",
    "constraints_of",
    "explainer_of",
    "goal_of",
    "row_of",
    "to_wire",
]

#: The page has room for 10 ways.
MOST_WAYS = 10
#: A person keeps up to 20 ways.
MOST_KEPT = 20
#: Noise of up to a quarter of a feature's range: beyond, a copy is another person.
MOST_NOISE = 0.25

#: A finite number. Numeric strings are rejected.
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Values = dict[str, Finite | None]


class _Form(BaseModel):
    """A part of a request; what it does not name is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Limit(_Form):
    """What one feature may do.

    Attributes
    ----------
    locked
        Whether it stays as it is.
    way
        Which way it may go.
    low, high
        Its range; None for an open end.
    difficulty
        How many times as much as usual a change counts.
    """

    locked: bool = False
    way: Literal["any", "up", "down"] = "any"
    low: Finite | None = None
    high: Finite | None = None
    difficulty: int = Field(default=1, ge=1, le=5, strict=True)


class RowRequest(_Form):
    """A row of values, one for each feature."""

    values: Values


class CaseRequest(RowRequest):
    """A case, and what is wanted for it.

    Attributes
    ----------
    case
        The position of the case that the values come from, or None; for the report.
    limits
        From names of features to what they may do; others may do everything.
    target
        The position of the wanted class among the classes; None: any other.
    interval
        The wanted range, for a model that predicts numbers.
    ways
        How many ways to look for.
    kept
        The changes of ways that the person keeps, to be told for this case.
    """

    case: int | None = Field(default=None, ge=0, strict=True)
    limits: dict[str, Limit] = Field(default_factory=dict)
    target: int | None = Field(default=None, ge=0, strict=True)
    interval: tuple[Finite, Finite] | None = None
    ways: int = Field(default=5, ge=1, le=MOST_WAYS, strict=True)
    kept: list[Values] = Field(default_factory=list, max_length=MOST_KEPT)


class NearbyRequest(CaseRequest):
    """A case, and how its copies are drawn.

    Attributes
    ----------
    anchored
        Whether options come from the lists for people alike.
    noise
        The standard deviation of the noise, as a share of each number's range.
    seed
        Which copies are drawn.
    """

    anchored: bool = False
    noise: Finite = Field(default=0.03, gt=0, le=MOST_NOISE)
    seed: int = Field(default=0, ge=0, le=2**31, strict=True)


def codes_of(values: Mapping[str, float | None], table: Table) -> Vector:
    """Return the codes of a row that the page sent, ``(d,)``; refuse one that is not whole."""
    _check_names(values, table)
    missing = [each.label for each in table.features if each.name not in values]
    if missing:
        raise RefusedError(f"The case has no value for {', '.join(missing)}.")
    return np.array([_code_of(values[each.name], each) for each in table.features])


def changed_codes(codes: Vector, changes: Mapping[str, float | None], table: Table) -> Vector:
    """Return the codes of a row with some values changed."""
    _check_names(changes, table)
    other = codes.copy()
    for name, value in changes.items():
        at = table.position(name)
        other[at] = _code_of(value, table.features[at])
    return other


def to_wire(feature: Feature, code: float) -> float | int | None:
    """Return the value of a code as the page takes it.

    Examples
    --------
    >>> table, _ = Table.learn(pd.DataFrame({"age": [31, 52], "home": ["rent", "own"]}))
    >>> to_wire(table.features[0], 31.0), to_wire(table.features[1], 1.0)
    (31, 1)
    """
    if np.isnan(code):
        return None
    value = feature.describe(code) if isinstance(feature, Number) else code
    number = float(to_python(value))
    return int(number) if number.is_integer() else number


def row_of(codes: Vector, served: Served, case: int | None = None) -> Any:
    """Return a row as a table of one row, in the form that the explainer takes.

    Its index is that of the case that the values come from, with a note if they were changed.
    """
    index: Any = "(own)"
    if case is not None and case < len(served.cases):
        index = to_python(served.cases.index[case])
        own, _ = served.table.encode(served.cases.iloc[[case]])
        if changed(own[0], codes).any():
            index = f"{index} (edited)"
    return served.table.decode(codes[None, :], pd.Index([index], dtype=object))


def constraints_of(limits: Mapping[str, Limit], served: Served) -> Constraints:
    """Return what may change, in place of the explainer's own locks, ways and ranges.

    Constraints that the page does not show, such as relations, stay as they are.
    """
    table = served.table
    _check_names(limits, table)
    ranges = {
        name: (_end(limit.low, table, name), _end(limit.high, table, name))
        for name, limit in limits.items()
        if limit.low is not None or limit.high is not None
    }
    return replace(
        served.explainer.constraints or Constraints(),
        immutable=[name for name, limit in limits.items() if limit.locked],
        increase_only=[name for name, limit in limits.items() if limit.way == "up"],
        decrease_only=[name for name, limit in limits.items() if limit.way == "down"],
        ranges=ranges,
    )


def explainer_of(
    request: CaseRequest, served: Served, *, anchored: bool = False
) -> DiverseExplainer:
    """Return the fitted explainer with the number of ways and the costs of a request."""
    explainer = served.with_ways(request.ways, anchored=anchored)
    own = dict(explainer.costs or {})
    costs = {
        name: own.get(name, 1.0) * limit.difficulty
        for name, limit in request.limits.items()
        if limit.difficulty > 1
    }
    return explainer.with_costs({**own, **costs}) if costs else explainer


def goal_of(request: CaseRequest, served: Served) -> dict[str, Any]:
    """Return what is wanted, as parameters of ``explain_many``."""
    if request.interval is not None:
        return {"interval": request.interval}
    if request.target is None:
        return {}
    classes = served.explainer.classes_
    if request.target >= len(classes):
        raise RefusedError(
            f"There is no class at position {request.target}. The model has {len(classes)}."
        )
    return {"target": to_python(classes[request.target])}


def _check_names(named: Mapping[str, Any], table: Table) -> None:
    known = set(table.names)
    unknown = [name for name in named if name not in known]
    if unknown:
        raise RefusedError(
            f"There is no feature {shortened(unknown[0])!r}. The features are "
            f"{', '.join(table.names)}."
        )


def _code_of(value: float | None, feature: Feature) -> float:
    """Return the code of a value; refuse what the feature cannot be."""
    if value is None:
        if feature.can_be_missing:
            return np.nan
        raise RefusedError(f"The {feature.label} is not stated, and the model needs it.")
    if feature.values is not None:
        if not float(value).is_integer() or not 0 <= value < len(feature.values):
            raise RefusedError(
                f"The {feature.label} has {len(feature.values)} values, counted from 0; there is "
                f"no value at position {value:g}."
            )
        return float(value)
    if not isinstance(feature, Number):
        return float(value)
    low, high = feature.dtype_range
    if not low <= value <= high:
        raise RefusedError(f"The {feature.label} cannot be {format_number(value)}.")
    if feature.is_whole and not float(value).is_integer():
        raise RefusedError(
            f"The {feature.label} must be a whole number, got {format_number(value)}."
        )
    return feature.code_of(value)


def _end(value: float | None, table: Table, name: str) -> Any:
    """Return an end of a range as constraints take it."""
    if value is None:
        return None
    feature = table.features[table.position(name)]
    return feature.describe(_code_of(value, feature))
