"""Which solver reads which model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.neural_network import MLPRegressor

from counterset._base.arrays import Labels, Vector
from counterset.exact.cases import solve_cases
from counterset.exact.linear import has_closed_form, read_closed_form, read_linear, solve_linear
from counterset.exact.neighbours import read_neighbours, solve_neighbours
from counterset.exact.networks import ReluNetwork, read_network, solve_network
from counterset.exact.norms import Norm
from counterset.exact.preprocessing import Columns, Preprocessing
from counterset.exact.problem import Problem, SolverResult
from counterset.exact.sampling import find_counterfactual, solve_by_sampling
from counterset.exact.targets import Targets, targets_of
from counterset.exact.trees.models import TreeEnsemble
from counterset.exact.trees.pipelines import read_tree_pipeline
from counterset.exact.trees.solve import solve_trees
from counterset.exceptions import UnsupportedDistanceError, UnsupportedModelError
from counterset.models.goals import InInterval

__all__ = ["solve"]


@dataclass(frozen=True)
class _Solver:
    """An exact method for one kind of model.

    Attributes
    ----------
    kind
        What error messages call such a model.
    read
        Returns what the method needs to know of a model, or None if it is of another kind.
    solve
        Takes what was read, the problem, its norm and a known counterfactual or None.
    takes_categories
        Whether it also moves categories and ranks, besides numbers.
    """

    kind: str
    read: Callable[[Any, Problem], Any]
    solve: Callable[[Any, Problem, Norm, Vector | None], SolverResult]
    takes_categories: bool = False


def solve(model: Any, problem: Problem, start: Vector | None, fallback: bool) -> SolverResult:
    """Solve by the first method that reads the model.

    Parameters
    ----------
    start
        A known counterfactual, or None.
    fallback
        Whether to sample if no method reads the model; an error is raised otherwise.
    """
    for solver in _SOLVERS:
        reading = solver.read(model, problem)
        if reading is None:
            continue
        if not solver.takes_categories:
            _check_numeric(solver.kind, problem)
        if problem.norm is None:
            raise UnsupportedDistanceError(
                f"The exact distance of a {solver.kind} is measured in l0, l1, l2 or linf, with "
                f"or without weights or scaling, got {problem.distance!r}. Choose one of them, a "
                f"finite domain, or method='search' for an upper bound."
            )
        if problem.conditions:
            result = solve_cases(problem, start, partial(_solve_part, model, fallback))
            return _with_witness(result, problem)
        return solver.solve(reading, problem, problem.norm, start)
    if not fallback:
        raise UnsupportedModelError(
            f"No exact method reads this {type(getattr(model, 'module', model)).__name__}: linear "
            f"models, ReLU networks (in torch, a Sequential of Linear and ReLU), tree ensembles "
            f"and one nearest neighbour are read. Pass a finite domain, or method='auto' for an "
            f"upper bound."
        )
    return solve_by_sampling(problem, start)


def _solve_part(model: Any, fallback: bool, problem: Problem, start: Vector | None) -> SolverResult:
    return solve(model, problem, start, fallback)


def _check_numeric(kind: str, problem: Problem) -> None:
    table = problem.model.table
    other = [feature.name for feature in table.features if feature.values is not None]
    if other:
        raise UnsupportedDistanceError(
            f"The exact distance of a {kind} is between numbers, but {other[:5]} are categories "
            f"or ranks. Pass the model as a function of encoded numbers, a finite domain, or "
            f"method='search' for an upper bound."
        )


@dataclass(frozen=True)
class _SeenNetwork:
    """A network, the columns that it sees, and the model that it is the last step of.

    ``last`` is that step itself, and ``labels`` are its classes; None for a regression.
    """

    model: Any
    last: Any
    network: ReluNetwork
    columns: Columns
    labels: Labels | None

    @property
    def scores(self) -> Vector:
        """The outputs for the input."""
        return np.asarray(self.network.scores(self.columns.start[None, :])[0])

    def targets(self, problem: Problem) -> Targets:
        """Return what is wanted of the outputs."""
        return targets_of(problem, self.last, self.labels, self.scores)


def _read_linear(model: Any, problem: Problem) -> _SeenNetwork | None:
    before, last = Preprocessing.of(model)
    linear = read_linear(last)
    if linear is None or _is_other_regression(linear.labels, problem):
        return None
    # A linear model is a network without hidden layers.
    network = ReluNetwork([(linear.weights, linear.bias)], linear.labels)
    columns = Columns.of(before, problem)
    if columns is None:
        return None
    return _SeenNetwork(model, last, network, columns, linear.labels)


def _is_other_regression(labels: Labels | None, problem: Problem) -> bool:
    """Return whether a regression is asked for something else than a range: it is not read."""
    return labels is None and not isinstance(problem.goal, InInterval)


def _solve_linear(
    seen: _SeenNetwork, problem: Problem, norm: Norm, start: Vector | None
) -> SolverResult:
    linear = read_closed_form(seen.model, problem.model.table, norm, problem.integer)
    targets = seen.targets(problem)
    if linear is not None and has_closed_form(problem, targets.each, seen.scores):
        result = solve_linear(linear, problem, norm, targets.each, seen.scores)
        # Of a range, the nearest point beyond one end may lie beyond the other one too.
        strip = any(len(target.least) > 1 for target in targets.each)
        if result.witness is not None or result.none_exists or not strip:
            result = replace(result, ignored=targets.ignored)
            return _with_witness(result, problem) if problem.ignored else result
    return _solve_network(seen, problem, norm, start)


def _read_network(model: Any, problem: Problem) -> _SeenNetwork | None:
    before, last = Preprocessing.of(model)
    network = read_network(last)
    columns = None if network is None else Columns.of(before, problem)
    if network is None or columns is None:
        return None
    labels = None if isinstance(last, MLPRegressor) else network.labels
    if _is_other_regression(labels, problem):
        return None
    return _SeenNetwork(model, last, network, columns, labels)


def _solve_network(
    seen: _SeenNetwork, problem: Problem, norm: Norm, start: Vector | None
) -> SolverResult:
    targets = seen.targets(problem)
    result = solve_network(seen.network, seen.columns, problem, norm, targets, start)
    return _with_witness(result, problem)


def _with_witness(result: SolverResult, problem: Problem) -> SolverResult:
    """Return the result with any counterfactual, if the solver found none itself.

    It may have run out of time, or what it considers may be less than what is asked for.
    """
    if result.witness is not None or result.none_exists:
        return result
    return replace(result, witness=find_counterfactual(problem))


def _solve_trees(
    ensemble: TreeEnsemble, problem: Problem, norm: Norm, start: Vector | None
) -> SolverResult:
    if start is None and len(ensemble.trees) > 1:
        start = find_counterfactual(problem)
    return solve_trees(ensemble, problem, norm, start)


def _read_trees(model: Any, problem: Problem) -> TreeEnsemble | None:
    pipeline = read_tree_pipeline(model)
    if pipeline is None or _is_other_regression(pipeline.ensemble.labels, problem):
        return None
    return pipeline.in_features(problem)


def _model_only(read: Callable[[Any], Any]) -> Callable[[Any, Problem], Any]:
    """Return a reader that does not need the problem."""
    return lambda model, problem: read(model)


_SOLVERS = (
    _Solver("linear model", _read_linear, _solve_linear, takes_categories=True),
    _Solver("ReLU network", _read_network, _solve_network, takes_categories=True),
    _Solver("tree ensemble", _read_trees, _solve_trees, takes_categories=True),
    _Solver("nearest neighbour", _model_only(read_neighbours), solve_neighbours),
)
