"""Which solver reads which model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from counterset._base.arrays import Matrix
from counterset.exact.linear.closed_form import has_closed_form, solve_linear
from counterset.exact.linear.models import read_linear
from counterset.exact.neighbours import read_neighbours, solve_neighbours
from counterset.exact.networks.models import ReluNetwork, read_network
from counterset.exact.networks.solve import solve_network
from counterset.exact.norms import Norm
from counterset.exact.problem import Answer, Problem
from counterset.exact.sampling import find_counterfactual, solve_by_search
from counterset.exact.trees.ensembles import TreeEnsemble
from counterset.exact.trees.pipelines import read_tree_pipeline
from counterset.exact.trees.solve import solve_trees
from counterset.exceptions import UnsupportedDistanceError, UnsupportedModelError

__all__ = ["solve"]

TREES = "tree ensemble"


def solve(model: Any, problem: Problem, start: Matrix | None, fallback: bool) -> Answer:
    """Solve by the first family that reads the model; otherwise search, or raise."""
    for family, read, solve_family in _FAMILIES:
        reading = read(model, problem)
        if reading is None:
            continue
        _check_categories(family, problem)
        if problem.norm is None:
            raise UnsupportedDistanceError(
                f"The exact distance of a {family} is taken in l0, l1, l2 or linf, with or "
                f"without weights or scaling, got {problem.distance!r}. Choose one of them, a "
                f"finite domain, or method='search' for an upper bound."
            )
        return solve_family(reading, problem, problem.norm, start)
    if not fallback:
        raise UnsupportedModelError(
            f"No exact method reads this {type(getattr(model, 'module', model)).__name__}: linear "
            f"models, ReLU networks (in torch, a Sequential of Linear and ReLU), tree ensembles "
            f"and one nearest neighbour are read. Pass a finite domain, or method='auto' for an "
            f"upper bound."
        )
    return solve_by_search(problem, start)


def _check_categories(family: str, problem: Problem) -> None:
    table = problem.model.table
    other = [feature.name for feature in table.features if feature.values is not None]
    if other and family != TREES:
        raise UnsupportedDistanceError(
            f"The exact distance of a {family} is between numbers, but {other[:5]} are categories "
            f"or ranks. Give the model as a function of encoded numbers, take a finite domain, or "
            f"method='search' for an upper bound."
        )


def _linear(model: Any, problem: Problem, norm: Norm, start: Matrix | None) -> Answer:
    if has_closed_form(norm, problem.integer):
        return solve_linear(model, problem, norm)
    return _network(ReluNetwork.of_linear(model), problem, norm, start)


def _network(model: Any, problem: Problem, norm: Norm, start: Matrix | None) -> Answer:
    answer = solve_network(model, problem, norm, start)
    if answer.witness is not None or answer.none_exists:
        return answer
    found = find_counterfactual(problem)  # out of time without a point: any will do
    return replace(answer, witness=found)


def _trees(model: TreeEnsemble, problem: Problem, norm: Norm, start: Matrix | None) -> Answer:
    if start is None and len(model.trees) > 1:
        start = find_counterfactual(problem)
    return solve_trees(model, problem, norm, start)


def _read_trees(model: Any, problem: Problem) -> TreeEnsemble | None:
    pipeline = read_tree_pipeline(model)
    return None if pipeline is None else pipeline.in_features(problem)


def _alone(read: Callable[[Any], Any]) -> Callable[[Any, Problem], Any]:
    """Read a model that takes the table's columns as they are."""
    return lambda model, problem: read(model)


_FAMILIES: tuple[tuple[str, Callable[[Any, Problem], Any], Callable[..., Answer]], ...] = (
    ("linear model", _alone(read_linear), _linear),
    ("ReLU network", _alone(read_network), _network),
    (TREES, _read_trees, _trees),
    ("nearest neighbour", _alone(read_neighbours), solve_neighbours),
)
