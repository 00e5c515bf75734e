"""Cases: what the page asks about one, and its explanation.

A row has the form that it has in ``Explanation.to_dict()``: from features to values of JSON.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from counterset._base.arrays import Vector, to_python
from counterset.constraints.constraints import Constraints
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.explanations.explanation import Explanation
from counterset.explanations.json_values import from_json_value
from counterset.serve.errors import RefusedError, shortened
from counterset.serve.rows import InstanceReader
from counterset.serve.served import Served, Strategy
from counterset.tables.table import changed

__all__ = [
    "MOST_NOISE",
    "MOST_OPTIONS",
    "MOST_REJECTED",
    "CaseRequest",
    "Cases",
    "DecisionRequest",
    "Explained",
    "FeatureConstraint",
    "GoalRequest",
    "NearbyRequest",
    "ReportRequest",
    "RowRequest",
]

#: The page has room for 10 options.
MOST_OPTIONS = 10
#: In place of each option that a person rejects, one more is asked for, up to 10.
MOST_REJECTED = 10
#: A person keeps up to 20 options.
MOST_KEPT = 20
#: Names of people and dates have up to 100 letters.
LONGEST_NAME = 100
#: Noise of up to a quarter of a feature's range: beyond, a copy is another person.
MOST_NOISE = 0.25
#: Each person who edits a case needs two explanations, one of each strategy: enough for four
#: people at a time. One may hold the training rows, scaled by a person's own costs.
MOST_REMEMBERED = 8

#: A finite number. Numeric strings are rejected.
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]


def _check_single(value: Any) -> Any:
    if isinstance(value, list):
        raise ValueError("a list is not a value")
    return value


#: A value of a feature, as ``Explanation.to_dict()`` has it; null where it is missing.
_VALUES = [{"type": each} for each in ("string", "number", "boolean", "object", "null")]
Value = Annotated[Any, AfterValidator(_check_single), WithJsonSchema({"anyOf": _VALUES})]
Values = dict[str, Value]


class _Form(BaseModel):
    """A part of a request; unknown keys are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FeatureConstraint(_Form):
    """What one feature may do.

    Attributes
    ----------
    locked
        Whether it stays as it is.
    direction
        Whether it may only rise, or only fall.
    low, high
        Its range; None for an open end.
    difficulty
        How many times as much as usual a change counts.
    """

    locked: bool = False
    direction: Literal["any", "up", "down"] = "any"
    low: Value = None
    high: Value = None
    difficulty: int = Field(default=1, ge=1, le=5, strict=True)


class RowRequest(_Form):
    """A row: a value for each feature."""

    values: Values


class DecisionRequest(RowRequest):
    """A row to be decided.

    Attributes
    ----------
    target
        The class whose probability is asked for; None: that of none.
    """

    target: Value = None


class GoalRequest(_Form):
    """What options must lead to, and what may change.

    Attributes
    ----------
    constraints
        From names of features to what they may do; others may change freely.
    target
        The wanted class; None: any other.
    interval
        The wanted range, for a model that predicts numbers.
    target_probability
        How probable the model must find what is wanted, at least; None: as it decides.
    options
        How many options to look for.
    """

    constraints: dict[str, FeatureConstraint] = Field(default_factory=dict)
    target: Value = None
    interval: tuple[Finite, Finite] | None = None
    target_probability: Finite | None = Field(default=None, ge=0, le=1)
    options: int = Field(default=5, ge=1, le=MOST_OPTIONS + MOST_REJECTED, strict=True)


class CaseRequest(GoalRequest, RowRequest):
    """A case, and the goal of its options.

    Attributes
    ----------
    case
        The position of the case that the values come from, or None; for the report.
    kept
        The changes of each option that the person keeps; the answer says where they lead.
    ranges
        Whether options have ranges in place of points, which takes up to ten seconds.
    """

    case: int | None = Field(default=None, ge=0, strict=True)
    kept: list[Values] = Field(default_factory=list, max_length=MOST_KEPT)
    ranges: bool = Field(default=False, strict=True)


class ReportRequest(CaseRequest):
    """A case, and what its sheet to take home shows: what is kept, or else all that is shown.

    Attributes
    ----------
    shown
        The numbers of the options that the page shows; None: the nearest.
    name
        What a new person is called; None: as their case is.
    date
        The date of the sheet, as it is written there.
    """

    shown: list[Annotated[int, Field(ge=1, strict=True)]] | None = Field(
        default=None, max_length=MOST_OPTIONS
    )
    name: str | None = Field(default=None, max_length=LONGEST_NAME)
    date: str | None = Field(default=None, max_length=LONGEST_NAME)


class NearbyRequest(CaseRequest):
    """A case, and how copies of it are drawn.

    Attributes
    ----------
    strategy
        How options are chosen.
    noise
        The standard deviation of the noise, as a share of each number's range.
    seed
        Which copies are drawn.
    """

    strategy: Strategy = "nearest"
    noise: Finite = Field(default=0.03, gt=0, le=MOST_NOISE)
    seed: int = Field(default=0, ge=0, le=2**31, strict=True)


@dataclass(frozen=True, eq=False)
class Explained:
    """An explanation, and the explainer that made it, with the costs of the request."""

    explainer: DiverseExplainer
    explanation: Explanation


class Cases:
    """Explains the cases that the page asks about.

    One edit leads to several requests about the same case: its options, a map of them, which of
    them others keep. They share one explanation, as long as it is among the last ones. Threads may
    share this object; none waits for another.

    Parameters
    ----------
    served
        What is served.
    """

    def __init__(self, served: Served) -> None:
        self.served = served
        self._reader = InstanceReader(served.table)
        self._recent: OrderedDict[str, Explained] = OrderedDict()
        self._lock = Lock()

    def codes(self, values: Mapping[str, Any]) -> Vector:
        """Return the codes of a row that the page sent, ``(d,)``.

        Raises
        ------
        RefusedError
            If a value is missing, or is none that its feature can have.
        """
        codes: Vector = self.served.table.encode(self._reader.read_one(values))[0][0]
        return codes

    def explained(self, request: CaseRequest, strategy: Strategy = "nearest") -> Explained:
        """Return the explanation of a case; there may be no option, which is not an error."""
        # The case is named in reports only, and what is kept does not change the options.
        wanted = request.model_dump_json(include=set(CaseRequest.model_fields) - {"case", "kept"})
        return self._remembered(f"{strategy} {wanted}", lambda: self._explain(request, strategy))

    def settings(
        self, request: GoalRequest, strategy: Strategy = "nearest"
    ) -> tuple[DiverseExplainer, dict[str, Any]]:
        """Return what explains the rows of a request, and the parameters of ``explain_many``."""
        explainer, goal = self._explainer(request, strategy), _goal(request)
        if "target" in goal:
            self.served.check_goal(goal)
        constraints = self._constraints(request.constraints)
        return explainer, {"constraints": constraints, "skip": True, **goal}

    def named(self, request: CaseRequest) -> Explanation:
        """Return the explanation of a case under its own index, for the report."""
        return self._explain(request, "nearest", index=self._index(request)).explanation

    def count(self, request: CaseRequest, constraints: Mapping[str, FeatureConstraint]) -> int:
        """Return how many options a case has with other constraints.

        They are not remembered: up to 30 of them would displace what other requests need.
        """
        update = {"constraints": dict(constraints), "ranges": False}
        other = request.model_copy(update=update)
        return len(self._explain(other, "nearest").explanation)

    def _remembered(self, key: str, explain: Callable[[], Explained]) -> Explained:
        """Return what was found for the same request, or find it."""
        with self._lock:
            if key in self._recent:
                self._recent.move_to_end(key)
                return self._recent[key]
        # Not under the lock: a model may take long, and others need not wait for it.
        found = explain()
        with self._lock:
            self._recent[key] = found
            self._recent.move_to_end(key)
            while len(self._recent) > MOST_REMEMBERED:
                self._recent.popitem(last=False)
        return found

    def _explain(self, request: CaseRequest, strategy: Strategy, index: Any = "(own)") -> Explained:
        explainer, asked = self.settings(request, strategy)
        codes = self.codes(request.values)
        (explanation,) = explainer.explain_many(
            self.served.table.decode(codes[None, :], pd.Index([index], dtype=object)),
            if_none="ignore",
            **asked,
        )
        if request.ranges:
            explanation = explainer.with_ranges(explanation)
        return Explained(explainer, explanation)

    def _index(self, request: CaseRequest) -> Any:
        """Return the index of the case that the values come from; with a note if they differ."""
        cases, at = self.served.cases, request.case
        if at is None or at >= len(cases):
            return "(own)"
        index = to_python(cases.index[at])
        own, _ = self.served.table.encode(cases.iloc[[at]])
        is_edited = changed(own[0], self.codes(request.values)).any()
        return f"{index} (edited)" if is_edited else index

    def _explainer(self, request: GoalRequest, strategy: Strategy) -> DiverseExplainer:
        """Return the fitted explainer with the number of options and the costs of a request."""
        explainer = self.served.with_options(request.options, strategy)
        own = dict(explainer.costs or {})
        costs = {
            name: own.get(name, 1.0) * each.difficulty
            for name, each in request.constraints.items()
            if each.difficulty > 1
        }
        return explainer.with_costs({**own, **costs}) if costs else explainer

    def _constraints(self, constraints: Mapping[str, FeatureConstraint]) -> Constraints:
        """Return what may change, in place of the explainer's own locks, directions and ranges.

        Constraints that the page does not show, such as relations, stay as they are.
        """
        known = self.served.table.names
        unknown = [name for name in constraints if name not in known]
        if unknown:
            raise RefusedError(
                f"There is no feature {shortened(unknown[0])!r}. The features are "
                f"{', '.join(known)}."
            )
        return replace(
            self.served.explainer.constraints or Constraints(),
            immutable=[name for name, each in constraints.items() if each.locked],
            increase_only=[name for name, each in constraints.items() if each.direction == "up"],
            decrease_only=[name for name, each in constraints.items() if each.direction == "down"],
            ranges={
                name: (self._bound(name, each.low), self._bound(name, each.high))
                for name, each in constraints.items()
                if each.low is not None or each.high is not None
            },
        )

    def _bound(self, name: str, value: Any) -> Any:
        """Return an end of a range as constraints take it."""
        if value is None:
            return None
        feature = self.served.table.features[self.served.table.position(name)]
        if feature.is_category:
            raise RefusedError(f"{name!r} has no order, so it cannot have a range.")
        try:
            self._reader.field(feature).read(value)
        except InvalidInputError as error:
            raise RefusedError(f"The range of {name!r}: a bound {error}.") from error
        return from_json_value(value)


def _goal(request: GoalRequest) -> dict[str, Any]:
    """Return the goal as parameters of ``explain_many``."""
    if request.interval is not None:
        return {"interval": request.interval}
    goal = {} if request.target is None else {"target": from_json_value(request.target)}
    return goal | {"target_probability": request.target_probability}
