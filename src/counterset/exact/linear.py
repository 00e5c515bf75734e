"""Linear models: how they are read, and the distance to their boundary in closed form.

Scalers before a linear model change its weights, so that both together are one linear model. The
region of a class is an intersection of half-spaces. Within a box, the nearest point of a half-space
has a closed form; whole numbers, categories and relations need a programme.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lars,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.linear_model import Perceptron as _Perceptron
from sklearn.linear_model import RidgeClassifierCV as _RidgeClassifierCV
from sklearn.linear_model import RidgeCV as _RidgeCV
from sklearn.svm import LinearSVC, LinearSVR

from counterset._base.arrays import Codes, Indices, Labels, Mask, Matrix, Vector
from counterset.exact.norms import Norm
from counterset.exact.preprocessing import Preprocessing
from counterset.exact.problem import (
    DOUBLE_ROUNDOFF,
    LOW_PRECISION,
    Problem,
    SolverResult,
    roundoff_of,
)
from counterset.exact.targets import Target
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import Classes
from counterset.tables.table import Table

__all__ = [
    "HalfSpaces",
    "Inputs",
    "LinearModel",
    "has_closed_form",
    "read_closed_form",
    "read_linear",
    "solve_linear",
    "solve_linear_many",
]

_LINEAR = (
    LogisticRegression,
    LinearSVC,
    RidgeClassifier,
    _RidgeClassifierCV,
    SGDClassifier,
    _Perceptron,
    LinearDiscriminantAnalysis,
)
#: With their subclasses: a Lasso is an ElasticNet.
_REGRESSIONS = (
    LinearRegression,
    Ridge,
    _RidgeCV,
    ElasticNet,
    Lars,
    HuberRegressor,
    SGDRegressor,
    LinearSVR,
)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores ``(x - centre) @ weights + bias``, one for each class; the highest one wins.

    Those of a regression are 0 and its prediction.

    Attributes
    ----------
    weights, bias
        Of shapes ``(d, classes)`` and ``(classes,)``.
    labels
        The label of each class; None for a regression.
    weight_size, bias_size
        The size of the terms that each weight and each bias is the sum of, of the same shapes: the
        model rounds them.
    centre
        What scalers subtract first, ``(d,)``.
    """

    weights: Matrix
    bias: Vector
    labels: Labels | None
    weight_size: Matrix
    bias_size: Vector
    centre: Vector

    @property
    def n_classes(self) -> int:
        """The number of scores."""
        return len(self.bias)

    def codes(self, labels: Labels) -> Codes:
        """Return the columns of labels."""
        assert self.labels is not None, "of a classifier"
        return Classes(self.labels).codes(labels)

    def preference(
        self, X: Matrix, row: Vector, least: float, roundoff: float
    ) -> tuple[Vector, Vector, Vector, Vector]:
        """Compare a weighted sum of the scores with the least that is wanted.

        The lead is that sum minus the least.

        Parameters
        ----------
        row
            The weight of each score, ``(classes,)``: 1 and -1 compare two classes.

        Returns
        -------
        gradient
            Of the lead, ``(d,)``.
        need
            How much the lead lacks of 0 at each row, ``(n,)``.
        rounding
            How far the model's own sums may be off, ``(n,)``.
        growth
            How much farther they may be off for each step away in a feature, ``(d,)``.
        """
        gradient, offset = self.weights @ row, self.bias @ row - least
        centred = X - self.centre
        lead = centred @ gradient + offset
        sizes = self.weight_size @ np.abs(row)
        terms = np.abs(centred) @ sizes
        if roundoff > DOUBLE_ROUNDOFF:  # then the centre is rounded too
            terms = terms + np.abs(self.centre) @ sizes
        # A move to the border adds to the terms at least as much as the lead lacks.
        size = terms + self.bias_size @ np.abs(row) + abs(least) + np.abs(lead)
        # Twice the bound on a sum of d products, for what scaling and storing add.
        unit = 2 * (X.shape[1] + 4) * roundoff
        return gradient, -lead, unit * size, unit * sizes

    def before(self, preprocessing: Preprocessing, table: Table) -> LinearModel | None:
        """Return the model of a table's columns before linear steps; None if they are not linear.

        The columns are numbers.
        """
        if not preprocessing.steps:
            return self
        sources = preprocessing.sources_in(table)
        if sources is None or not all(each.rises and np.isfinite(each.factor) for each in sources):
            return None
        weights = np.zeros((len(table.columns), self.n_classes))
        weight_size, centre = np.zeros_like(weights), np.zeros(len(weights))
        for source in sources:
            centre[source.column] = source.centre
        bias, bias_size = self.bias, self.bias_size
        for source, row in zip(sources, self.weights, strict=True):
            weights[source.column] += source.factor * row
            weight_size[source.column] += np.abs(source.factor * row)
            # Two scalers of one column have two centres.
            apart = (centre[source.column] - source.centre) * source.factor
            bias = bias + (source.shift + apart) * row
            bias_size = bias_size + (abs(source.shift) + abs(apart) + source.rounds) * np.abs(row)
        return LinearModel(weights, bias, self.labels, weight_size, bias_size, centre)


def read_linear(model: Any) -> LinearModel | None:
    """Read a linear model; None if it is not one.

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0], [4.0]]
    >>> model = read_linear(RidgeClassifier().fit(X, ["no", "no", "yes", "yes"]))
    >>> model.labels, model.weights.round(3)
    (array(['no', 'yes'], dtype='<U3'), array([[0.   , 0.545]]))
    """
    if not isinstance(model, (*_LINEAR, *_REGRESSIONS)) or not hasattr(model, "coef_"):
        return None
    weights = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64)).T
    bias = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    labels = None if isinstance(model, _REGRESSIONS) else np.asarray(model.classes_)
    count = 2 if labels is None else len(labels)
    if count == 2 and weights.shape[1] == 1:
        weights = np.hstack([np.zeros_like(weights), weights])
        bias = np.array([0.0, bias[0]])
    bias = np.broadcast_to(bias, weights.shape[1])
    if weights.shape[1] != count or (labels is None and np.ndim(model.coef_) > 1):
        return None  # several outputs a row: no single class or number to change
    centre = np.zeros(len(weights))
    return LinearModel(weights, bias, labels, np.abs(weights), np.abs(bias), centre)


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    """Half-spaces ``gradient @ move >= need`` around n inputs.

    Attributes
    ----------
    gradient
        The same for all inputs, ``(d,)``.
    room
        How far each feature may move in the direction of its gradient, ``(d, n)``: one row per
        feature, since the computation goes feature by feature for all inputs together.
    norm
        The length of a move.
    """

    gradient: Vector
    room: Matrix
    norm: Norm

    @classmethod
    def around(
        cls, X: Matrix, gradient: Vector, low: Matrix, high: Matrix, norm: Norm
    ) -> HalfSpaces:
        """Make the half-spaces around inputs ``(n, d)`` in a box.

        The bounds of the box may be the same for all inputs, ``(d,)``, or differ, ``(n, d)``.
        """
        room = np.zeros(X.shape[::-1])
        low, high = np.broadcast_to(low, X.shape), np.broadcast_to(high, X.shape)
        for i, slope in enumerate(gradient):
            if slope != 0:
                room[i] = high[:, i] - X[:, i] if slope > 0 else X[:, i] - low[:, i]
        return cls(gradient, room, norm)

    def widened(self, growth: Vector, X: Matrix, low: Matrix, high: Matrix) -> HalfSpaces:
        """Return the half-spaces with gradients that are larger by as much as rounding adds.

        Where rounding may turn the sign of a gradient, the feature may move either way.
        """
        gradient = self.gradient + np.where(self.gradient >= 0, growth, -growth)
        either = ((growth > 0) & (growth >= np.abs(self.gradient)))[:, None]
        room = np.where(either, np.maximum(high - X, X - low).T, self.room)
        return HalfSpaces(gradient, room, self.norm)

    def of(self, inputs: Indices) -> HalfSpaces:
        """Return the half-spaces around some of the inputs."""
        return HalfSpaces(self.gradient, self.room[:, inputs], self.norm)

    def moves(self, need: Vector) -> Matrix:
        """Find the shortest move of each input that fills its need, ``(n, d)``.

        NaN where the box has too little room.
        """
        gains = np.abs(self.gradient)
        moved = np.zeros_like(self.room)
        # Features without a cost move first, and the others make up for the rest of the need.
        left = np.maximum(need, 0.0)
        for i in np.flatnonzero((self.norm.weights == 0) & (gains > 0)):
            left = _take(left, gains[i], self.room[i], moved[i])
        paid = np.flatnonzero((self.norm.weights > 0) & (gains > 0))
        if len(paid):
            self._pay(left, gains, paid, moved)
        with np.errstate(over="ignore"):
            most = sum((gains[i] * self.room[i] for i in np.flatnonzero(gains)), 0.0 * left)
        moved[:, most < need] = np.nan
        moved *= np.sign(self.gradient)[:, None]
        return np.ascontiguousarray(moved.T)

    def _pay(self, need: Vector, gains: Vector, paid: Indices, moved: Matrix) -> None:
        """Fill the need by the features that have a cost; write their moves into ``moved``."""
        weights = self.norm.weights[paid]
        if self.norm.kind == "l1":
            for i in paid[np.argsort(-gains[paid] / weights, kind="stable")]:
                need = _take(need, gains[i], self.room[i], moved[i])
            return
        if self.norm.kind == "l0":
            moved[paid] = _largest_first(need, gains[paid], self.room[paid])
            return
        pace = gains[paid] / weights if self.norm.kind == "l2" else 1.0 / weights
        moved[paid] = _rise_together(need, gains[paid], self.room[paid], pace)


def _take(need: Vector, gain: float, room: Vector, moved: Vector) -> Vector:
    """Move one feature as far as needed and possible; return the need that is left."""
    taken = np.minimum(need, gain * room)
    np.divide(taken, gain, out=moved)
    return np.asarray(need - taken)


def _rise_together(need: Vector, gains: Vector, room: Matrix, pace: Vector) -> Matrix:
    """Fill the need by moves of ``min(level * pace, room)``, at the lowest level that does.

    The gain is concave in the level. So Newton's steps from below never pass the right level, and
    they reach it when no further feature comes to the end of its room.
    """
    slopes = gains * pace
    level = need / slopes.sum()
    moved: Matrix = np.minimum(level * pace[:, None], room)
    pending = np.flatnonzero((moved < level * pace[:, None]).any(axis=0))
    for _ in range(len(pace)):
        if len(pending) == 0:
            break
        here, level_here = room[:, pending], level[pending]
        ended = here <= level_here * pace[:, None]
        full = np.where(ended, here, 0.0) * gains[:, None]
        rising = slopes @ ~ended
        left = need[pending] - full.sum(axis=0)
        # Where nothing rises any more, all the room is used.
        raised = np.divide(left, rising, out=np.full(len(left), np.inf), where=rising > 0)
        level[pending] = np.maximum(raised, level_here)
        with np.errstate(invalid="ignore"):
            moved[:, pending] = np.minimum(level[pending] * pace[:, None], here)
        more = ((here <= level[pending] * pace[:, None]) & ~ended).any(axis=0)
        pending = pending[more]
    return moved


def _largest_first(need: Vector, gains: Vector, room: Matrix) -> Matrix:
    """Fill the need by as few features as possible, those with the largest possible gain first."""
    capacity = gains[:, None] * room
    order = np.argsort(-capacity, axis=0, kind="stable")
    inputs = np.arange(len(need))
    filled = np.zeros_like(room)
    for features in order:  # one feature for each input
        taken = np.minimum(need, capacity[features, inputs])
        filled[features, inputs] = taken
        need = need - taken
    return np.asarray(filled / gains[:, None])


METHOD = "closed form of a linear model"
#: The reason where the bounds are not exact and no counterfactual was found.
BORDER_ONLY = "what is wanted reaches the border of the box at most"
#: How much the lead of the other class is raised until the model itself predicts that class,
#: relative to what it lacks and to what the input's own values add to it, since points are rounded
#: as these are: 19 steps from a double's rounding to a millionth. All of them are more than the
#: model's rounding can hide. None is no rise at all, for a box without room for more.
PUSHES = (*(float(step) for step in np.geomspace(1e-15, 1e-6, 19)), None)


def read_closed_form(model: Any, table: Table, norm: Norm, integer: Mask) -> LinearModel | None:
    """Read a linear model, also after scalers, that this module solves; None for any other.

    Whole numbers, categories and weighted counts need a programme.
    """
    equal_weights = norm.kind != "l0" or len(np.unique(norm.weights)) == 1
    before, last = Preprocessing.of(model)
    linear = read_linear(last)
    if linear is None or integer.any() or not equal_weights:
        return None
    return linear.before(before, table)


@dataclass(frozen=True)
class Boxes:
    """Inputs and the bounds around each, all ``(n, d)``."""

    X: Matrix
    low: Matrix
    high: Matrix


@dataclass(frozen=True)
class Inputs(Boxes):
    """Inputs ``(n, d)``, the box around each, and the labels that the model predicts."""

    labels: Labels

    def of(self, rows: Indices) -> Inputs:
        """Return some of the inputs."""
        return Inputs(self.X[rows], self.low[rows], self.high[rows], self.labels[rows])


#: Takes points, and the position of the input of each; returns which are counterfactuals.
Confirm: TypeAlias = Callable[[Matrix, Indices], Mask]


def has_closed_form(problem: Problem, targets: tuple[Target, ...], scores: Vector) -> bool:
    """Return whether each target is one half-space, as seen from an input with these scores.

    All that is asked of a point besides is to lie in a box that the input lies in.
    """
    feasible = problem.feasible
    if not problem.is_box or feasible.values or not problem.holds_input:
        return False
    return all(len(target.least) == 1 or _is_strip(target, scores) for target in targets)


def _is_strip(target: Target, scores: Vector) -> bool:
    """Return whether a target is a range of one sum, of which one end is not reached yet."""
    return len(target.least) == 2 and bool(
        (target.weights[0] == -target.weights[1]).all() and (target.lacks(scores) > 0).sum() == 1
    )


def solve_linear(
    model: LinearModel, problem: Problem, norm: Norm, targets: tuple[Target, ...], scores: Vector
) -> SolverResult:
    """Find the distance of one input, for targets that have a closed form."""
    nearest = _Nearest(problem.x[None, :])
    box = Boxes(problem.x[None, :], problem.low[None, :], problem.high[None, :])
    for target in targets:
        row = int(np.argmax(target.lacks(scores)))
        half_space = target.weights[row], float(target.least[row])
        nearest.add(
            _Search(
                model,
                problem.model.table,
                norm,
                box,
                half_space,
                lambda points, _: problem.flips(points),
            ),
            np.array([0]),
        )
    found = not np.isnan(nearest.witnesses[0]).any()
    return SolverResult(
        float(nearest.lower[0]),
        nearest.witnesses[0] if found else None,
        METHOD,
        LOW_PRECISION if found else BORDER_ONLY,
        bool(np.isinf(nearest.lower[0])),
    )


def solve_linear_many(
    model: LinearModel, adapter: ModelAdapter, norm: Norm, inputs: Inputs
) -> tuple[Vector, Matrix, Mask]:
    """Find the distances of many inputs to another class.

    Returns
    -------
    lower
        The lower bound of each input, ``(n,)``.
    witnesses
        The nearest counterfactual of each input, ``(n, d)``; NaN where none was found.
    none_exists
        Where it is proved that there is none, ``(n,)``.
    """
    codes, nearest = model.codes(inputs.labels), _Nearest(inputs.X)
    for own in np.unique(codes):
        rows = np.flatnonzero(codes == own)
        some = inputs.of(rows)

        def flips(points: Matrix, which: Indices, labels: Labels = some.labels) -> Mask:
            return np.asarray(adapter.labels(points) != labels[which], dtype=bool)

        for other in range(model.n_classes):
            if other == own:
                continue
            weights = np.zeros(model.n_classes)
            weights[other], weights[own] = 1.0, -1.0
            search = _Search(model, adapter.table, norm, some, (weights, 0.0), flips)
            nearest.add(search, rows)
    return nearest.lower, nearest.witnesses, np.isinf(nearest.lower)


class _Nearest:
    """The nearest counterfactuals of inputs so far, and what is proved of all half-spaces."""

    def __init__(self, X: Matrix) -> None:
        self._X = X
        self.lower = np.full(len(X), np.inf)
        self.witnesses = np.full_like(X, np.nan)
        self._distances = np.full(len(X), np.inf)

    def add(self, search: _Search, rows: Indices) -> None:
        """Add one half-space for some of the inputs."""
        found = search.confirmed()
        self.lower[rows] = np.fmin(self.lower[rows], search.lower_bounds())
        lengths = _lengths(search.norm, found - self._X[rows])
        better = lengths < self._distances[rows]
        self.witnesses[rows[better]] = found[better]
        self._distances[rows] = np.fmin(self._distances[rows], lengths)


class _Search:
    """One half-space of the scores, as the target of inputs: its weights and its least sum."""

    def __init__(
        self,
        model: LinearModel,
        table: Table,
        norm: Norm,
        box: Boxes,
        half_space: tuple[Vector, float],
        confirm: Confirm,
    ) -> None:
        self._model, self._table, self.norm = model, table, norm
        self._inputs, self._half_space, self._confirm = box, half_space, confirm
        self._roundoff = roundoff_of(table)
        gradient, self._need, self._rounding, self._growth = model.preference(
            box.X, *half_space, self._roundoff
        )
        self._rounding_at_input = self._rounding.copy()
        self._half_spaces = HalfSpaces.around(box.X, gradient, box.low, box.high, norm)

    def confirmed(self) -> Matrix:
        """Find the nearest points that the model confirms, ``(n, d)``; NaN for no such point."""
        found = np.full_like(self._inputs.X, np.nan)
        unclear: list[tuple[int, Vector]] = []
        pending = np.arange(len(self._inputs.X))
        for push in PUSHES:
            rows, points = self._pushed(pending, push)
            if len(rows) == 0:
                continue
            flipped = self._confirm(points, rows)
            _, need, rounding, _ = self._model.preference(points, *self._half_space, self._roundoff)
            self._rounding[rows] = np.maximum(self._rounding[rows], rounding)
            # A lead that rounding cannot hide is there in whichever order the model adds up.
            clear = flipped & (-need > rounding)
            unclear += [(int(rows[i]), points[i]) for i in np.flatnonzero(flipped & ~clear)]
            found[rows[clear]] = points[clear]
            pending = np.setdiff1d(pending, rows[clear], assume_unique=True)
            if len(pending) == 0:
                break
        for row, point in unclear:
            if np.isnan(found[row, 0]) and self._flips_alone(row, point):
                found[row] = point
        return found

    def lower_bounds(self) -> Vector:
        """Return lower bounds that hold in spite of rounding; infinite: proved out of reach."""
        inputs = self._inputs
        widened = self._half_spaces.widened(self._growth, inputs.X, inputs.low, inputs.high)
        moves = widened.moves(self._need - self._rounding_at_input)
        return _lengths(self.norm, moves) * (1 - 1e-12)

    def _pushed(self, pending: Indices, push: float | None) -> tuple[Indices, Matrix]:
        """Return the points just past the border, of those pending inputs that have one."""
        need, everything = self._need[pending], len(pending) == len(self._inputs.X)
        # A little more than rounding, since that of the sums here counts as well.
        more = need
        if push is not None:
            stored = np.abs(self._inputs.X[pending]) @ np.abs(self._half_spaces.gradient)
            more = need + 1.1 * self._rounding[pending] + push * (np.abs(need) + stored)
        spaces = self._half_spaces if everything else self._half_spaces.of(pending)
        moves = spaces.moves(more)
        possible = ~np.isnan(moves[:, 0])
        if not (everything and possible.all()):
            pending, moves = pending[possible], moves[possible]
        moves += self._inputs.X[pending]
        np.clip(moves, self._inputs.low[pending], self._inputs.high[pending], out=moves)
        return pending, self._table.hold(moves)

    def _flips_alone(self, row: int, point: Vector) -> bool:
        return bool(self._confirm(point[None, :], np.array([row]))[0])


def _lengths(norm: Norm, moves: Matrix) -> Vector:
    """Return the lengths of moves; infinite where there is none, which ``l0`` would count as d."""
    return np.where(np.isnan(moves).any(axis=1), np.inf, norm.of(moves))
