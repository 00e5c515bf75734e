"""ReLU networks: how they are read, and their nearest counterfactual by a mixed-integer programme.

Networks come from scikit-learn, as a list of layers, or as a torch ``Sequential``. ``Encoding``
writes a network as linear constraints, with a binary variable for each neuron that can be on or
off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor

from counterset._base.arrays import Labels, Matrix, Vector
from counterset._base.checks import numbers
from counterset.exact.milp import Affine, Moves, Solution
from counterset.exact.norms import Norm
from counterset.exact.preprocessing import Columns
from counterset.exact.problem import (
    DOUBLE_ROUNDOFF,
    LOW_PRECISION,
    OUT_OF_TIME,
    Problem,
    SolverResult,
)
from counterset.exact.sampling import (
    OVERSIZE_FACTOR,
    BallResult,
    Incumbent,
    covering_radius,
    past_boundary,
    search_growing_balls,
)
from counterset.exact.targets import Target, Targets
from counterset.exceptions import InvalidInputError
from counterset.models.frameworks import TorchModule

__all__ = [
    "Encoding",
    "ReluNetwork",
    "Rounding",
    "TorchModel",
    "as_model",
    "read_network",
    "solve_network",
    "sum_and_gradient",
]

#: The relative rounding of torch's dtypes: half of the last bit.
TORCH_ROUNDOFF = {
    "torch.float64": DOUBLE_ROUNDOFF,
    "torch.float32": 2.0**-24,
    "torch.float16": 2.0**-11,
    "torch.bfloat16": 2.0**-8,
}


@dataclass(frozen=True, eq=False)
class ReluNetwork:
    """Dense layers with ReLU between them; the class with the highest output is predicted.

    Parameters
    ----------
    layers : list of pairs of arrays
        Pairs of weights, ``(inputs, outputs)``, and biases, ``(outputs,)``. With a single last
        output, a positive value is the second class.
    labels : array, default=None
        The classes; None: 0, 1, ...
    roundoff : float, default=1.1e-16
        The relative rounding of the model's own arithmetic, by default that of double precision.

    Examples
    --------
    >>> network = ReluNetwork([([[1.0], [1.0]], [-1.0])])
    >>> network.predict([[0.2, 0.3], [0.8, 0.9]])
    array([0, 1])
    """

    layers: Sequence[tuple[Any, Any]]
    labels: Any = None
    roundoff: float = DOUBLE_ROUNDOFF

    def __post_init__(self) -> None:
        layers = [_read_layer(i, layer) for i, layer in enumerate(self.layers)]
        if not layers:
            raise InvalidInputError(
                "A network has at least one layer, got none. Pass pairs of weights and biases."
            )
        for i, (weights, bias) in enumerate(layers):
            expected = layers[i - 1][0].shape[-1] if i else weights.shape[0]
            if weights.ndim != 2 or bias.shape != weights.shape[1:] or len(weights) != expected:
                raise InvalidInputError(
                    f"Layer {i} does not fit: weights of shape {weights.shape} and biases of "
                    f"shape {bias.shape} after {expected} outputs. Give weights as "
                    f"(inputs, outputs) and one bias per output."
                )
        weights, bias = layers[-1]
        if weights.shape[1] == 1:  # one output: its sign tells two classes apart
            layers[-1] = np.hstack([np.zeros_like(weights), weights]), np.append(0.0, bias)
        n_classes = layers[-1][0].shape[1]
        labels = np.arange(n_classes) if self.labels is None else np.asarray(self.labels)
        if labels.shape != (n_classes,):
            raise InvalidInputError(
                f"The network has {n_classes} outputs, but {len(labels)} labels were given. Pass "
                f"one label per output."
            )
        object.__setattr__(self, "layers", tuple(layers))
        object.__setattr__(self, "labels", labels)

    def scores(self, X: Any) -> Matrix:
        """Return the outputs of the last layer, ``(n, classes)``."""
        rows: Matrix = np.asarray(X, dtype=np.float64)
        n_inputs = len(self.layers[0][0])
        if rows.ndim != 2 or rows.shape[1] != n_inputs:
            raise InvalidInputError(
                f"The network takes rows of {n_inputs} features, got shape {rows.shape}. Pass rows "
                f"of that length."
            )
        for weights, bias in self.layers[:-1]:
            rows = np.maximum(rows @ weights + bias, 0.0)
        weights, bias = self.layers[-1]
        return np.asarray(rows @ weights + bias)

    def predict(self, X: Any) -> Labels:
        """Return the class of each row."""
        winners: Labels = self.labels[self.scores(X).argmax(axis=1)]
        return winners


def _read_layer(i: int, layer: Any) -> tuple[Matrix, Vector]:
    try:
        weights, bias = (numbers(part) for part in layer)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"A network is a list of pairs of weights and biases, but layer {i} is {layer!r}. "
            f"Write [(weights, biases), ...]."
        ) from None
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise InvalidInputError(
            f"Layer {i} has a weight or bias that is not a finite number. Check how the network "
            f"was trained."
        )
    return weights, bias


@dataclass(frozen=True, eq=False)
class TorchModel:
    """A torch network that predicts the class of its highest output, in its own precision.

    With a single output, a positive value is the second class, as in :class:`ReluNetwork`.
    """

    module: Any

    def predict(self, X: Any) -> Labels:
        """Return the class of each row."""
        answer = TorchModule(self.module).predict(X)
        return (answer > 0).astype(np.intp) if self._has_one_output() else answer

    def _has_one_output(self) -> bool:
        layers = [part for part in _parts(self.module) if _is_part(part, "Linear")]
        return bool(layers) and layers[-1].out_features == 1


def as_model(model: Any) -> Any:
    """Return a model that predicts labels: lists of layers and torch networks are wrapped."""
    if _is_torch(model):
        return TorchModel(model)
    return ReluNetwork(model) if isinstance(model, list | tuple) else model


def read_network(model: Any) -> ReluNetwork | None:
    """Read a model as a ReLU network; None if it is not one.

    The outputs of a regression are 0 and its prediction.
    """
    if isinstance(model, ReluNetwork):
        return model
    if isinstance(model, TorchModel):
        return _read_torch(model.module)
    return _read_sklearn(model) if isinstance(model, MLPClassifier | MLPRegressor) else None


def _read_sklearn(model: MLPClassifier | MLPRegressor) -> ReluNetwork | None:
    """Read a network of scikit-learn with one class or number for each row."""
    if not hasattr(model, "coefs_"):
        return None
    layers = list(zip(model.coefs_, model.intercepts_, strict=True))
    if len(layers) > 1 and model.activation != "relu":
        return None
    single = layers[-1][0].shape[1] == 1
    if isinstance(model, MLPRegressor):
        return ReluNetwork(layers) if single and model.out_activation_ == "identity" else None
    if model.classes_ is None or (model.out_activation_ == "logistic" and not single):
        return None  # several labels for each row
    return ReluNetwork(layers, model.classes_)


def _is_torch(model: Any) -> bool:
    # By name, so that torch need not be installed, nor imported to find out.
    return _is_part(model, "Sequential")


def _is_part(part: Any, *names: str) -> bool:
    """Return whether this is one of torch's own classes of these names, not a subclass."""
    return type(part).__name__ in names and type(part).__module__.partition(".")[0] == "torch"


def _parts(module: Any) -> Iterator[Any]:
    """Yield the parts of a Sequential and of nested ones, without those that do nothing."""
    for part in module:
        if _is_part(part, "Sequential"):
            yield from _parts(part)
        elif not _is_part(part, "Identity", "Dropout"):
            yield part


def _read_torch(module: Any) -> ReluNetwork | None:
    """Read Linear, ReLU, Linear, ...; a Softmax at the end does not change the class."""
    parts = list(_parts(module))
    if len(parts) > 1 and _is_softmax_of_several(*parts[-2:]):
        parts = parts[:-1]
    kinds = ["Linear" if i % 2 == 0 else "ReLU" for i in range(len(parts))]
    fits = all(_is_part(part, kind) for part, kind in zip(parts, kinds, strict=True))
    if not fits or len(parts) % 2 == 0:
        return None
    layers, roundoffs = [], []
    for part in parts[::2]:
        bias = np.zeros(part.out_features) if part.bias is None else _as_array(part.bias)
        layers.append((_as_array(part.weight).T, bias))
        roundoffs.append(TORCH_ROUNDOFF.get(str(part.weight.dtype)))
    # The coarsest of all counts. With an unknown one, no bound could be proved.
    known = [each for each in roundoffs if each is not None]
    return ReluNetwork(layers, roundoff=max(known)) if len(known) == len(layers) else None


def _is_softmax_of_several(last: Any, part: Any) -> bool:
    """Return whether a part is a Softmax over the several outputs of each row."""
    ranks = _is_part(part, "Softmax", "LogSoftmax") and part.dim in (1, -1)
    return ranks and _is_part(last, "Linear") and last.out_features > 1


def _as_array(tensor: Any) -> Matrix:
    return np.asarray(tensor.detach().cpu().double(), dtype=np.float64)


#: A softmax may make outputs equal that differ by a few roundings; 8 is a generous bound.
SOFTMAX_ERRORS = 8
#: The unit of a variable is at least a billionth of its size: where constraints leave a unit of the
#: network one value, its range is rounding alone, and rows divided by that mean nothing.
SMALLEST_RANGE = 1e-9


@dataclass(frozen=True, eq=False)
class Rounding:
    """Bounds on the size of values and on the error of the model's own arithmetic.

    Attributes
    ----------
    roundoff
        The relative rounding of one operation.
    size, error
        The bounds, one for each value.
    """

    roundoff: float
    size: Vector
    error: Vector

    @classmethod
    def of_input(cls, roundoff: float, size: Vector, roundings: float = 1.0) -> Rounding:
        """Start with the inputs, which the model may have to round, and scalers before it too."""
        return cls(roundoff, size, roundings * roundoff * size)

    def after(self, weights: Matrix, bias: Vector, size: Vector) -> Rounding:
        """Return the bounds after a layer whose outputs have at most this size."""
        sizes = np.abs(weights)
        terms = (self.size + self.error) @ sizes + np.abs(bias)
        # Twice the bound on a sum of as many products as there are inputs, in whichever order: the
        # model's sum is rounded, and so is that of the programme.
        error = self.error @ sizes + 2 * (len(weights) + 2) * self.roundoff * terms
        return Rounding(self.roundoff, size, error)


class Encoding:
    """The programme for one ball and one target, which is about the network's outputs.

    ``columns`` are what the network sees.
    """

    def __init__(
        self,
        network: ReluNetwork,
        columns: Columns,
        problem: Problem,
        norm: Norm,
        target: Target,
        radius: float,
    ) -> None:
        self._network, self._columns, self._target = network, columns, target
        self._moves = Moves(problem, norm, radius)
        self._problem, self._unit = problem, self._moves.unit
        self._programme = self._moves.programme
        self._add_network()

    def solve(self) -> Solution:
        """Find the nearest point of the ball where the target is reached."""
        return self._moves.solve()

    def raise_lead(self, share: float) -> None:
        """Require larger leads: what a move of this share of the radius gains at the input."""
        for row in self._lead_rows:
            self._programme.raise_lower(row, share)

    def _add_network(self) -> None:
        """Add the units, layer by layer, and the rows for the leads of the target."""
        values = self._moves.seen(self._columns)
        largest = self._columns.largest(*self._moves.ends()) + self._columns.rounds
        rounding = Rounding.of_input(self._network.roundoff, largest, self._columns.roundings)
        for depth, (weights, bias) in enumerate(self._network.layers[:-1]):
            before = Affine(
                values.columns, values.coefficients @ weights, values.constant @ weights + bias
            )
            low, high = self._ranges(before, first=depth == 0)
            values = self._add_units(before, low, high)
            rounding = rounding.after(weights, bias, np.maximum(high, 0.0))
        weights, bias = self._network.layers[-1]
        # Rounding can make the model compute a lead that does not exist.
        errors = rounding.after(weights, bias, np.zeros(len(bias))).error
        errors = errors + SOFTMAX_ERRORS * self._network.roundoff
        self._errors: list[float] = []
        self._lead_rows: list[int] = []
        for row, least in zip(self._target.weights, self._target.least, strict=True):
            self._add_lead(values, row, float(least), float(errors @ np.abs(row)))

    def _add_lead(self, values: Affine, row: Vector, least: float, error: float) -> None:
        """Add the row for one lead: a weighted sum of the outputs, over the least of it."""
        weights, bias = self._network.layers[-1]
        lead = weights @ row
        constant = values.constant @ lead + bias @ row - least
        coefficients = values.coefficients @ lead
        # In units of the slope, so that the solver's tolerance is one on the distance. Where the
        # network is flat, the unit is not so small that the other coefficients become huge.
        slope = self._slope(self._problem.x, row)
        slope = max(slope, 1e-4 * float(np.abs(coefficients).max(initial=0.0)))
        scale = 1.0 / slope if slope > 0 else 1.0
        error += 2 * self._network.roundoff * abs(least)
        self._errors.append(error)
        self._lead_rows.append(
            self._programme.add_row(
                values.columns, coefficients * scale, (-constant - error) * scale, np.inf
            )
        )

    def _slope(self, point: Vector, row: Vector) -> float:
        """Return how much a move by the radius raises a lead at most, by the slope at a point."""
        gradient = self._gradient(point, row)
        return float(np.abs(gradient * self._unit).max(initial=0.0))

    def _gradient(self, point: Vector, row: Vector) -> Vector:
        """Return the gradient of a lead at a point, ``(d,)``; 0 for features of values."""
        columns = self._columns
        _, gradient = sum_and_gradient(self._network, columns.at(point), row)
        return columns.gradient(gradient)

    def blur(self, point: Vector) -> float:
        """Return how far apart rounding may keep the bounds, by the slope at a point.

        In units of the radius.
        """
        slopes = [self._slope(point, row) for row in self._target.weights]
        # On either side: a true lead may be rounded away, and a false one may be rounded in.
        blurs = [2 * e / slope for e, slope in zip(self._errors, slopes, strict=True) if slope > 0]
        return max(blurs, default=0.0)

    def _ranges(self, before: Affine, first: bool) -> tuple[Vector, Vector]:
        """Bound the inputs of a layer's units: by intervals, then by linear programmes."""
        constant = before.constant
        # The sum of the constant and a bound is rounded.
        rounding = 4 * DOUBLE_ROUNDOFF * np.abs(constant)
        if first:
            low, high = self._moves.ranges(before)
            return constant + low - rounding, constant + high + rounding
        low, high = self._programme.intervals(before.columns, before.coefficients)
        # A bound may be off by the solver's tolerance.
        off = 1e-6 * np.maximum(np.abs(low), np.abs(high)) + rounding
        low, high = low - off, high + off
        for unit in np.flatnonzero((constant + low < 0) & (constant + high > 0)):
            if self._problem.clock.over:
                break
            row = before.coefficients[:, unit]
            most = self._programme.most(before.columns, row, self._problem.clock.left)
            high[unit] = min(high[unit], most + off[unit])
            if constant[unit] + high[unit] > 0:
                least = -self._programme.most(before.columns, -row, self._problem.clock.left)
                low[unit] = max(low[unit], least - off[unit])
        return constant + low, constant + high

    def _add_units(self, before: Affine, low: Vector, high: Vector) -> Affine:
        """Add the outputs of a layer; units that are off in the whole ball are left out.

        Each output is in units of the range of its unit, so that the solver's tolerance is the same
        part of all, whatever the scale of the weights. A unit that is always on counts from its
        lowest value: far from 0 the solver would not see it change.
        """
        start = np.maximum(low, 0.0)
        most = np.where(high > start, np.maximum(high - start, start - low), 1.0)
        most = np.maximum(most, SMALLEST_RANGE * np.maximum(np.abs(low), np.abs(high)))
        outputs = self._programme.add_variables(0.0, np.maximum(high - start, 0.0) / most)
        for unit in np.flatnonzero(high > 0):
            columns = np.append(before.columns, outputs[unit])
            row = np.append(-before.coefficients[:, unit] / most[unit], 1.0)
            constant = (before.constant[unit] - start[unit]) / most[unit]
            least = low[unit] / most[unit]
            if low[unit] >= 0:
                self._programme.add_row(columns, row, constant, constant)
                continue
            on = self._programme.add_variables(0.0, np.ones(1), whole=True)
            self._programme.add_row(columns, row, constant, np.inf)
            self._programme.add_row(
                np.append(columns, on), np.append(row, -least), -np.inf, constant - least
            )
            pair = np.array([outputs[unit], on[0]])
            self._programme.add_row(pair, np.array([1.0, -high[unit] / most[unit]]), -np.inf, 0.0)
        return Affine(outputs, np.diag(most), start)

    def directions(self, point: Vector) -> list[Vector]:
        """Return moves from a point of the boundary that raise a lead the most."""
        found = []
        for row in self._target.weights:
            per_length = self._gradient(point, row) * self._unit
            moves: Vector = per_length * self._unit
            size = float(np.abs(per_length).max(initial=0.0))
            steepest = np.where(np.abs(per_length) == size, moves, 0.0)
            found += [move / size for move in (moves, steepest)] if size > 0 else []
        return found


def sum_and_gradient(network: ReluNetwork, x: Vector, row: Vector) -> tuple[float, Vector]:
    """Return a weighted sum of the outputs at x, and its gradient.

    Examples
    --------
    >>> network = ReluNetwork([([[1.0], [2.0]], [-1.0]), ([[3.0]], [-2.0])])
    >>> sum_and_gradient(network, np.array([1.0, 1.0]), np.array([-1.0, 1.0]))
    (4.0, array([3., 6.]))
    """
    jacobian = np.eye(len(x))
    values = x
    for weights, bias in network.layers[:-1]:
        values = values @ weights + bias
        jacobian = (jacobian @ weights) * (values > 0)
        values = np.maximum(values, 0.0)
    weights, bias = network.layers[-1]
    difference = weights @ row
    return float(values @ difference + bias @ row), jacobian @ difference


#: A ball that is proved empty grows by a factor of 1.6. More would overshoot, and large balls are
#: slow; less would take more balls.
GROWTH = 1.6
#: The first ball is 1.1 times the distance that the slope at the input suggests: a little more, so
#: that it holds the boundary if the model is linear there.
FIRST_RADIUS = 1.1
#: Leads required beyond a tie, as moves relative to the radius, if the model does not confirm a
#: point: from the solver's tolerance to a thousandth.
CLEARER_LEADS = (1e-6, 1e-5, 1e-4, 1e-3)
METHOD = "mixed-integer programme of a {}"


def solve_network(
    network: ReluNetwork,
    columns: Columns,
    problem: Problem,
    norm: Norm,
    targets: Targets,
    start: Vector | None,
) -> SolverResult:
    """Find the distance, or bounds on it if the time limit is reached.

    Parameters
    ----------
    columns
        What the network sees.
    targets
        What is wanted of its outputs.
    start
        A known counterfactual, or None.
    """
    network = replace(network, roundoff=max(network.roundoff, problem.roundoff))
    incumbent = Incumbent(problem)
    incumbent.offer(start)
    searches = [
        _TargetSearch(network, columns, problem, norm, target, incumbent) for target in targets.each
    ]
    lower = min([incumbent.upper, *(search.lower_bound() for search in searches)])
    lower = min(lower, incumbent.upper)  # which the searches may have improved
    reason = "the solver stopped at its tolerance"
    if problem.clock.over:
        reason = OUT_OF_TIME
    elif network.roundoff > DOUBLE_ROUNDOFF:
        reason = LOW_PRECISION
    none_exists = incumbent.witness is None and np.isinf(lower)
    blur = max((search.blur for search in searches), default=0.0)
    method = METHOD.format("ReLU network" if len(network.layers) > 1 else "linear model")
    witness, ignored = incumbent.witness, targets.ignored
    return SolverResult(lower, witness, method, reason, bool(none_exists), blur, ignored)


class _TargetSearch:
    """Finds the distance to one target."""

    def __init__(
        self,
        network: ReluNetwork,
        columns: Columns,
        problem: Problem,
        norm: Norm,
        target: Target,
        incumbent: Incumbent,
    ) -> None:
        self._network, self._columns, self._problem = network, columns, problem
        self._norm, self._target, self._incumbent = norm, target, incumbent
        self.blur = 0.0

    def lower_bound(self) -> float:
        """Bound the distance from below; offer what is found to the incumbent."""
        radius = self._first_radius()
        covering = covering_radius(self._problem, self._norm)
        return search_growing_balls(self._search_ball, self._incumbent, radius, GROWTH, covering)

    def _search_ball(self, radius: float) -> BallResult:
        """Search a ball, and smaller ones as long as it was much too large."""
        result = self._search_once(radius)
        while not result.empty and OVERSIZE_FACTOR * self._incumbent.upper < radius:
            if self._problem.clock.over:
                break
            radius = self._incumbent.upper
            lower = max(result.lower, self._search_once(radius).lower)
            result = BallResult(lower, empty=False)
        return result

    def _search_once(self, radius: float) -> BallResult:
        encoding = Encoding(
            self._network, self._columns, self._problem, self._norm, self._target, radius
        )
        solution = encoding.solve()
        result = BallResult(solution.lower, solution.empty)
        first = solution.point
        if first is not None:
            self.blur = radius * max(encoding.blur(first), encoding.blur(self._problem.x))
        for share in CLEARER_LEADS:
            if solution.point is None:
                break
            if self._confirm(encoding, solution.point):
                if first is not None and solution.point is not first:
                    self._confirm(encoding, first)  # now that a witness shows a direction
                break
            # The point lies where units switch, so that no slope leads past the boundary.
            encoding.raise_lead(share)
            solution = encoding.solve()
        return result

    def _confirm(self, encoding: Encoding, point: Vector) -> bool:
        """Offer the nearest point past the boundary that flips; return whether there is one."""
        directions = encoding.directions(point)
        if self._incumbent.witness is not None:
            directions.append(self._incumbent.witness - point)
        witness = past_boundary(self._problem, point, directions)
        self._incumbent.offer(witness)
        return witness is not None

    def _first_radius(self) -> float:
        """Estimate from the slopes at the input how far the boundary is."""
        rows = zip(self._target.weights, self._target.least, strict=True)
        radius = max((self._radius_of(row, float(least)) for row, least in rows), default=1.0)
        problem = self._problem
        outside = np.clip(problem.x, problem.low, problem.high) - problem.x
        return max(radius, FIRST_RADIUS * float(self._norm.of(outside)))

    def _radius_of(self, row: Vector, least: float) -> float:
        norm = self._norm
        if norm.kind == "l0":
            return float(np.max(norm.weights, initial=0.0))
        columns = self._columns
        total, per_column = sum_and_gradient(self._network, columns.start, row)
        if total > least:
            return 1e-6
        gradient = columns.gradient(per_column)
        paid = (self._problem.high > self._problem.low) & (norm.weights > 0)
        slopes = np.abs(gradient[paid]) / norm.rates[paid]
        order = {"l1": np.inf, "l2": 2, "linf": 1}[norm.kind]  # of the dual norm
        slope = float(np.linalg.norm(slopes, ord=order)) if len(slopes) else 0.0
        return max(FIRST_RADIUS * (least - total) / slope, 1e-6) if slope > 0 else 1.0
