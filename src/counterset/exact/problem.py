"""The problem of one input, as the solvers see it: the nearest point that is a counterfactual."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from counterset._base.arrays import Labels, Mask, Matrix, Vector
from counterset.constraints.relations import Relation
from counterset.constraints.rules import Condition, Rules
from counterset.distances import Distance
from counterset.exact.constraints import Feasible
from counterset.exact.norms import Norm
from counterset.models.adapter import ModelAdapter
from counterset.models.answers import Answers
from counterset.models.goals import Goal, is_confident
from counterset.tables.table import Table

__all__ = ["Clock", "Problem", "SolverResult", "roundoff_of"]

#: The relative rounding of double precision: half of the last of its 53 bits.
DOUBLE_ROUNDOFF = 2.0**-53
#: The model classifies at most 4096 points at once: enough that the cost of a call does not matter,
#: and few enough to stay in the cache.
BATCH_ROWS = 4096
#: Reasons why bounds are not exact.
OUT_OF_TIME = "the time limit was reached"
LOW_PRECISION = "the model's own precision does not locate its decision boundary more closely"


@dataclass(frozen=True)
class Clock:
    """The time that has passed, and the time limit in seconds."""

    started: float
    limit: float

    @classmethod
    def start(cls, limit: float) -> Clock:
        """Start counting now."""
        return cls(time.perf_counter(), limit)

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def left(self) -> float:
        """The seconds that are left, at least 0."""
        return max(0.0, self.limit - self.seconds)

    @property
    def over(self) -> bool:
        """Whether the time limit is reached."""
        return self.left <= 0


@dataclass(frozen=True, eq=False)
class SolverResult:
    """What a solver found for one input.

    Attributes
    ----------
    lower
        A proved lower bound on the counterfactual distance.
    witness
        The nearest counterfactual found, ``(d,)``, confirmed by the model; None if there is none.
    method
        The name of the method, for users.
    reason
        Why the bounds may not be exact, for users.
    none_exists
        Whether it is proved that the domain holds no counterfactual.
    blur
        How far the model's own rounding may move its decision boundary.
    ignored
        What the lower bound does not consider, in the user's words. It is no less a lower bound,
        and the witness keeps to it.
    """

    lower: float
    witness: Vector | None
    method: str
    reason: str = ""
    none_exists: bool = False
    blur: float = 0.0
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Problem:
    """An input, the model, the distance, and what a counterfactual must satisfy.

    Attributes
    ----------
    x
        The input, ``(d,)``, in the model's own units.
    label
        What the model predicts for it.
    model
        Predicts the labels of rows.
    distance
        The distance between rows, in the model's own units.
    norm
        The same distance as a weighted norm; None where it is not one.
    feasible
        What each feature may move to, and what holds for several together.
    integer
        Which features take whole numbers only, ``(d,)``.
    clock
        When to stop.
    goal, probability
        Which labels are acceptable, and how probable the model must find them, or None.
    rules
        The constraints, by which a counterfactual is checked; None if there are none.
    plausible
        Returns which rows are plausible; None if all are. No solver knows it.
    missed
        Whether rows are looked for that do not reach the goal, from an input that does.
    """

    x: Vector
    label: Any
    model: ModelAdapter
    distance: Distance
    norm: Norm | None
    feasible: Feasible
    integer: Mask
    clock: Clock
    goal: Goal
    probability: float | None = None
    rules: Rules | None = None
    plausible: Callable[[Matrix], Mask] | None = None
    missed: bool = False

    @property
    def low(self) -> Vector:
        """The least that each feature may move to, ``(d,)``."""
        return self.feasible.low

    @property
    def high(self) -> Vector:
        """The most that each feature may move to, ``(d,)``."""
        return self.feasible.high

    @property
    def fixed(self) -> Mask:
        """Which features keep the input's value, ``(d,)``."""
        return np.zeros(len(self.x), dtype=bool) if self.rules is None else self.rules.fixed

    @property
    def roundoff(self) -> float:
        """The relative rounding of the numbers that the model gets."""
        return roundoff_of(self.model.table)

    @cached_property
    def holds_input(self) -> bool:
        """Whether the input itself lies between the bounds and has the values that are left."""
        return self.feasible.hold(self.x)

    @property
    def is_box(self) -> bool:
        """Whether bounds and values are all that is asked of a row: nothing about several."""
        feasible = self.feasible
        return not feasible.groups and not feasible.relations and not self.conditions

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions among the constraints."""
        return () if self.rules is None else self.rules.conditions

    @property
    def ignored(self) -> tuple[str, ...]:
        """What no solver considers, in the user's words."""
        return (*self.feasible.ignored, *(["plausibility"] if self.plausible is not None else []))

    def within(self, feasible: Feasible) -> Problem:
        """Return the same problem with another feasible set."""
        return replace(self, feasible=feasible)

    def with_rules(self, rules: Rules) -> Problem:
        """Return the same problem with other rules, which leave no more than these bounds."""
        table, x = self.model.table, self.x
        feasible = Feasible.of(rules, table, x, self.low, self.high, self.integer)
        return replace(self, rules=rules, feasible=feasible)

    def flips(self, rows: Matrix) -> Mask:
        """Return which rows are counterfactuals: they reach the goal and keep the constraints."""
        return self.reaches(rows) & self.keeps(rows)

    def reaches(self, rows: Matrix) -> Mask:
        """Return for which rows the model predicts what is wanted."""
        parts = [
            self._is_wanted(self.model.answers(rows[i : i + BATCH_ROWS]))
            for i in range(0, len(rows), BATCH_ROWS)
        ]
        return np.concatenate(parts).astype(bool)

    def keeps(self, rows: Matrix) -> Mask:
        """Return which rows keep the constraints, and are plausible if that is asked for."""
        kept = np.ones(len(rows), dtype=bool)
        if self.rules:
            kept &= self.rules.hold(np.broadcast_to(self.x, rows.shape), rows)
        if self.plausible is not None:
            kept &= self.plausible(rows)
        return kept

    def wants(self, labels: Labels) -> Mask:
        """Return which labels are looked for, whatever their probability."""
        own = np.full(len(labels), self.label, dtype=object)
        return np.asarray(self.goal.accepts(labels, own) != self.missed)

    def _is_wanted(self, answers: Answers) -> Mask:
        if not self.missed:
            return self.wants(answers.labels) & is_confident(answers, self.probability)
        return self.wants(answers.labels) | ~is_confident(answers, self.probability)

    def confirms(self, row: Vector) -> bool:
        """Check that one row is a counterfactual when the model gets it alone.

        A batch may be summed up, and so rounded, in another order.
        """
        return bool(self.flips(row[None, :])[0])

    def lengths(self, rows: Matrix) -> Vector:
        """Return the distance from the input to each row."""
        lengths: Vector = self.distance.pairwise(self.x[None, :], rows)[0]
        return lengths

    def project(self, rows: Matrix) -> Matrix:
        """Move rows to near feasible points that the columns' dtypes can hold.

        Not all of them keep the constraints then: ``keeps`` says which.
        """
        table = self.model.table
        held = table.hold(np.asarray(np.clip(rows, self.low, self.high)))
        for i, codes in self.feasible.values.items():
            if len(codes):
                held[:, i] = self._nearest_value(i, codes, held[:, i])
        for relation in self.feasible.relations:
            if relation.equal:
                self._restore(relation, held)
        if self.rules is None or self.is_box:
            return held
        return self.rules.project(np.broadcast_to(self.x, held.shape), held)

    def _nearest_value(self, feature: int, codes: Vector, given: Vector) -> Vector:
        """Return the given codes; in place of one that is not possible, the nearest."""
        if not self.model.table.features[feature].is_category:
            nearest: Vector = codes[np.abs(given[:, None] - codes).argmin(axis=1)]
            return nearest
        # Values without an order have no nearest one: the input's own, if it may stay.
        other = self.x[feature] if self.x[feature] in codes else codes[0]
        return np.where(np.isin(given, codes), given, other)

    def _restore(self, relation: Relation, rows: Matrix) -> None:
        """Move one number so that an equality holds, which solvers keep to a tolerance only."""
        weights = relation.weights
        free = (self.low < self.high) & ~self.integer & (weights != 0)
        free[list(self.feasible.values)] = False
        if free.any():
            i = int(np.argmax(np.where(free, np.abs(weights), 0.0)))
            rows[:, i] -= (rows @ weights + relation.constant) / weights[i]

    def nearest_flip(self, rows: Matrix) -> Vector | None:
        """Return the nearest of these rows that lies within the bounds and flips, or None."""
        rows = rows[((rows >= self.low) & (rows <= self.high)).all(axis=1)]
        if len(rows) == 0:
            return None
        flipped = rows[self.flips(rows)]
        for i in np.argsort(self.lengths(flipped), kind="stable"):
            if self.confirms(flipped[i]):
                return np.asarray(flipped[i])
        return None


def roundoff_of(table: Table) -> float:
    """Return the relative rounding of the coarsest floats of a table.

    A model that gets single precision computes in it.
    """
    floats = [
        feature.dtype
        for feature in table.features
        if isinstance(feature.dtype, np.dtype) and feature.dtype.kind == "f"
    ]
    return max((float(np.finfo(dtype).eps) / 2 for dtype in floats), default=DOUBLE_ROUNDOFF)
