"""Whether every point of a box reaches a goal: proved, refuted by a point, or neither.

Three ways, the cheapest first:

- All points are asked about, where they are few: whole numbers and ordinals have single points.
  An ensemble of trees is constant between its cuts, so one point of each cell stands for all.
- A solver looks for the nearest row of the box that misses the goal. If it proves that there is
  none, all points reach the goal.
- For any other model, a fixed design of points is asked about. That refutes, and proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import qmc

from counterset import distances
from counterset._base.arrays import Mask, Matrix, Vector
from counterset.constraints.relations import Relation
from counterset.exact.constraints import Feasible
from counterset.exact.domains import Box
from counterset.exact.linear import read_linear
from counterset.exact.networks import as_model
from counterset.exact.preprocessing import Columns, Preprocessing
from counterset.exact.problem import Clock, Problem
from counterset.exact.query import DistanceQuery, integer_features
from counterset.exact.targets import SOFTMAX
from counterset.exact.trees.models import LEAF
from counterset.exact.trees.pipelines import read_tree_pipeline
from counterset.exceptions import (
    MissingExtraError,
    UnsupportedDistanceError,
    UnsupportedModelError,
)
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import AnyOther, Goal, InInterval, OneOf
from counterset.strategies.training import TrainingData
from counterset.tables.features.feature import Feature
from counterset.tables.features.time import DAY
from counterset.tables.space import TableDistance

__all__ = ["BoxChecker", "Verdict", "read_cuts"]

#: The most points of a box that are asked about one by one, as a whole or one of each cell.
MOST_POINTS = 10_000
MOST_CELLS = 60_000
#: How many points are asked about where nothing is proved: all corners up to 64, and others.
CHECKED_POINTS = 4000
MOST_CORNERS = 64
#: Of the other points, each coordinate lies on an end of the box in a third of them: models are
#: most likely to miss there.
ON_THE_ENDS = 1.5
#: Where two classes rise together with a number, rounding may outweigh the difference far out: it
#: must be a ten-thousandth of what they rise, which single precision tells.
LEAST_RISE = 1e-4


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is known about a box.

    Attributes
    ----------
    proved
        Whether every point of it reaches the goal.
    failing
        Points of it that do not, ``(n, d)``.
    checked
        How many points were asked about; 0 for a solver.
    """

    proved: bool
    failing: Matrix
    checked: int = 0


class BoxChecker:
    """Checks boxes of rows for one explanation.

    Parameters
    ----------
    problem
        The input, the goal and the constraints.
    training
        What the explainer learned: its model and its distance.
    cuts
        Those of the model, if it is an ensemble of trees, see :func:`read_cuts`.
    """

    def __init__(
        self, problem: Problem, training: TrainingData, cuts: Mapping[int, Vector] | None
    ) -> None:
        self._problem, self._training, self._cuts = problem, training, cuts
        self._table = problem.model.table
        self._solver_reads = True

    @property
    def can_solve(self) -> bool:
        """Whether a solver may prove something about a box; False once none reads the model."""
        return self._solver_reads and self._problem.plausible is None

    def reaches(self, rows: Matrix) -> Mask:
        """Return which rows reach the goal and keep the constraints."""
        return self._problem.flips(rows)

    def verify(self, row: Vector, low: Vector, high: Vector, seconds: float) -> Verdict:
        """Prove that all points of a box reach the goal, or find points that do not.

        Parameters
        ----------
        row
            A point of the box that does.
        low, high
            The ends, ``(d,)``.
        seconds
            How long a solver may take.
        """
        corners = self._worst_corners(low, high)
        failing = corners[~self._problem.keeps(corners)] if len(corners) else corners
        if len(failing):
            return Verdict(False, failing)
        points = self._points(row, low, high)
        if points is not None:
            rows, are_all = points
            failing = rows[~self.reaches(rows)]
            proved = not len(failing) and (are_all or self._problem.plausible is None)
            return Verdict(proved, failing, len(rows))
        if self.can_solve:
            solved = self._solve(row, low, high, seconds)
            if solved.proved or len(solved.failing):
                return solved
        rows = self.design(row, low, high, CHECKED_POINTS)
        return Verdict(False, rows[~self.reaches(rows)], len(rows))

    def goes_on(self, row: Vector, low: Vector, high: Vector, at: int, sign: int) -> bool:
        """Prove that everything beyond one end of a proved box reaches the goal.

        Parameters
        ----------
        at, sign
            The feature, and 1 for its upper end or -1 for its lower end.
        """
        if self._problem.plausible is not None:
            return False
        if self._cuts is None:
            return not self._table.features[at].is_time and self._rises(at, sign)
        low, high = low.copy(), high.copy()
        if sign > 0:
            low[at], high[at] = high[at], np.inf
        else:
            low[at], high[at] = -np.inf, low[at]
        points = self._points(row, low, high)
        return points is not None and bool(self.reaches(points[0]).all())

    def design(self, row: Vector, low: Vector, high: Vector, count: int) -> Matrix:
        """Return up to ``count`` points of a box, always the same: corners, edges, and others."""
        free = np.flatnonzero(low < high)
        corners = self._corners(len(free))
        others = qmc.Halton(len(free), scramble=False).random(count) if len(free) else corners
        others = np.clip((others - 0.5) * ON_THE_ENDS + 0.5, 0.0, 1.0)
        shares = np.vstack([corners, others])[:count]
        rows = np.tile(row, (len(shares), 1))
        rows[:, free] = low[free] + shares * (high - low)[free]
        for at in free:
            held = self._table.features[at].hold(rows[:, at])
            rows[:, at] = np.clip(held, low[at], high[at])
        worst = self._worst_corners(low, high)
        return np.unique(np.vstack([row[None, :], rows, worst]), axis=0)

    @staticmethod
    def _corners(count: int) -> Matrix:
        """Return the corners of the unit cube, the first 64 if there are more."""
        numbers = np.arange(min(2**count, MOST_CORNERS))
        return np.asarray(numbers[:, None] >> np.arange(count)[None, :] & 1, dtype=np.float64)

    def _worst_corners(self, low: Vector, high: Vector) -> Matrix:
        """Return the corner at which each relation is most likely to be broken."""
        rules = self._problem.rules
        relations = [] if rules is None else [r for r in rules.rules if isinstance(r, Relation)]
        corners = [np.where(each.weights > 0, high, low) for each in relations]
        return np.array(corners).reshape(len(corners), len(low))

    def _points(self, row: Vector, low: Vector, high: Vector) -> tuple[Matrix, bool] | None:
        """Return points that stand for a whole box, and whether they are all; None if too many."""
        free = np.flatnonzero(low < high)
        values, are_all, most = [], True, MOST_POINTS
        for at in free:
            feature = self._table.features[at]
            cells = None if self._cuts is None else self._cuts.get(int(at), np.empty(0))
            step = _step_of_points(feature)
            count = (high[at] - low[at]) / step + 1 if step else np.inf
            if feature.values is not None or (cells is None and count <= MOST_POINTS):
                values.append(np.arange(low[at], high[at] + step / 2, step))
            elif cells is not None:
                values.append(_cells(feature, cells, low[at], high[at]))
                are_all, most = False, MOST_CELLS
            else:
                return None
        if np.prod([float(len(each)) for each in values]) > most:
            return None
        mesh = np.meshgrid(*values, indexing="ij")
        rows = np.tile(row, (mesh[0].size if mesh else 1, 1))
        for at, axis in zip(free, mesh, strict=True):
            rows[:, at] = axis.ravel()
        return rows, are_all

    @cached_property
    def _known_problem(self) -> Problem:
        """The problem without missing values: no gain depends on another feature's value."""
        lows = np.array([feature.low for feature in self._table.features])
        return replace(self._problem, x=np.where(np.isnan(self._problem.x), lows, self._problem.x))

    def _solve(self, row: Vector, low: Vector, high: Vector, seconds: float) -> Verdict:
        """Let a solver look for a point of the box that misses the goal."""
        none = np.empty((0, len(row)))
        query = DistanceQuery(
            as_model(self._training.model),
            TableDistance(self._table, self._training.distance.space, distances.get("linf")),
            Box(low, high, table=self._table),
            time_limit=max(seconds, 1e-3),
            tolerance=1e-5,
            method="exact",
            goal=self._goal,
            probability=self._problem.probability,
            missed=True,
        )
        try:
            bounds = query.bounds_of_row(self._table, row)
        except (UnsupportedModelError, UnsupportedDistanceError, MissingExtraError):
            self._solver_reads = False
            return Verdict(False, none)
        if bounds.none_exists:
            return Verdict(True, none)
        if bounds.witness is None:
            return Verdict(False, none)
        return Verdict(False, self._table.encode_one(bounds.witness)[0])

    @cached_property
    def _goal(self) -> Goal:
        """The goal as classes: which other class is meant follows from the explained input."""
        goal = self._problem.goal
        if not isinstance(goal, AnyOther):
            return goal
        labels = self._training.classes.labels
        known = np.asarray(getattr(self._training.model, "classes_", labels))
        if known.ndim == 1 and set(labels.tolist()) <= set(known.tolist()):
            labels = known
        own = np.full(len(labels), self._problem.label, dtype=object)
        return OneOf(labels[goal.accepts(labels, own)])

    def _rises(self, at: int, sign: int) -> bool:
        """Prove that a linear model only gets farther into the goal in one direction.

        From a point in the box, all scores change in proportion to the way. If every wanted class
        gains on every other one, the class that wins in the box, or another wanted one, wins on.
        """
        gains = self._gains
        return gains is not None and bool((sign * gains[:, at] > 0).all())

    @cached_property
    def _gains(self) -> Matrix | None:
        """What rising features add to what a goal asks for, ``(n, d)``; 0 where that is unsure.

        None if the model is not linear, or the goal asks for more.
        """
        before, last = Preprocessing.of(self._training.model)
        linear = read_linear(last)
        columns = None if linear is None else Columns.of(before, self._known_problem)
        if linear is None or columns is None:
            return None
        per_class = np.array([columns.gradient(weights) for weights in linear.weights.T])
        goal = self._problem.goal
        if linear.labels is None:
            if not isinstance(goal, InInterval):
                return None
            ends = [(1.0, goal.low), (-1.0, goal.high)]
            rows = [sign * per_class[-1] for sign, end in ends if np.isfinite(end)]
            return np.array(rows).reshape(-1, per_class.shape[1])
        likely = len(linear.labels) == 2 and type(last).__name__ in SOFTMAX
        if self._problem.probability is not None and not likely:
            return None
        wanted = self._problem.wants(linear.labels)
        pairs = [(k, j) for k in np.flatnonzero(wanted) for j in np.flatnonzero(~wanted)]
        gains = [
            _unless_small(per_class[k] - per_class[j], np.abs(per_class[k]) + np.abs(per_class[j]))
            for k, j in pairs
        ]
        return np.array(gains).reshape(-1, per_class.shape[1]) if gains else None


def read_cuts(training: TrainingData) -> Mapping[int, Vector] | None:
    """Return the cuts of each feature, between which a model is constant; None if it is no trees.

    Cuts are about the column, in the last bit, and do not depend on any row.
    """
    pipeline = read_tree_pipeline(training.model)
    if pipeline is None:
        return None
    table = training.table
    least, most = np.array([feature.dtype_range for feature in table.features]).T
    row = training.pool.matrix[0]
    row = np.where(np.isnan(row), [feature.low for feature in table.features], row)
    integer = integer_features(table)
    ensemble = pipeline.in_features(
        Problem(
            x=row,
            label=None,
            model=ModelAdapter(training.model, table),
            distance=training.distance,
            norm=None,
            feasible=Feasible(least, most),
            integer=integer,
            clock=Clock.start(0.0),
            goal=AnyOther(),
        )
    )
    if ensemble is None:
        return None
    pairs = []
    for tree in ensemble.trees:
        inner = np.flatnonzero(tree.left != LEAF)
        by_number = inner[[int(node) not in tree.left_values for node in inner]]
        pairs.append(np.column_stack([tree.feature[by_number], tree.cut[by_number]]))
    found = np.unique(np.vstack(pairs), axis=0)
    found = found[np.isfinite(found[:, 1])]
    features = found[:, 0].astype(np.intp)
    return {int(at): found[features == at, 1] for at in np.unique(features)}


def _unless_small(gains: Vector, sizes: Vector) -> Vector:
    return np.where(np.abs(gains) > LEAST_RISE * sizes, gains, 0.0)


def _step_of_points(feature: Feature) -> float:
    """Return how far two neighbouring values are apart; 0 if there are values in between."""
    if feature.is_time and feature.values is None:
        return float(DAY) if feature.step == DAY else 0.0
    return 1.0 if feature.values is not None or feature.resolution else 0.0


def _cells(feature: Feature, cuts: Vector, low: float, high: float) -> Vector:
    """Return a value of each cell between two ends: the greatest one, or one beyond the last cut.

    A cell lies above one cut, up to and including the next.
    """
    inside = cuts[(cuts >= low) & (cuts < high)]
    bottoms = np.append(-np.inf if np.isinf(low) else np.nextafter(low, -np.inf), inside)
    tops = np.append(inside, high)
    values = []
    for bottom, top in zip(bottoms, tops, strict=True):
        if np.isfinite(top):
            value = _held_below(feature, top)
        else:
            value = 0.0 if np.isinf(bottom) else _held_above(feature, bottom)
        if bottom < value <= top:
            values.append(value)
    least, most = feature.dtype_range
    return np.array([each for each in values if least <= each <= most])


def _held_below(feature: Feature, value: float) -> float:
    """Return the greatest value of a column that is no greater than this one."""
    if feature.resolution:
        return float(np.floor(value))
    held = feature.float_dtype.type(value)
    if held > value:
        held = np.nextafter(held, feature.float_dtype.type(-np.inf))
    return float(held)


def _held_above(feature: Feature, value: float) -> float:
    """Return the least value of a column that is greater than this one."""
    if feature.resolution:
        return float(np.floor(value)) + 1.0
    held = feature.float_dtype.type(value)
    if held <= value:
        held = np.nextafter(held, feature.float_dtype.type(np.inf))
    return float(held)
