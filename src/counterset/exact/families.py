"""Which solver reads which model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from counterset.arrays import Matrix
from counterset.exact.linear import has_closed_form, solve_linear
from counterset.exact.linear_models import read_linear
from counterset.exact.neighbours import read_neighbours, solve_neighbours
from counterset.exact.networks import ReluNetwork, read_network
from counterset.exact.norms import Norm
from counterset.exact.problem import Answer, Problem
from counterset.exact.relu import solve_network
from counterset.exact.search import find_counterfactual, solve_by_search
from counterset.exact.tree_models import read_trees
from counterset.exact.trees import solve_trees
from counterset.exceptions import UnsupportedDistanceError, UnsupportedModelError

__all__ = ["solve"]


def solve(model: Any, problem: Problem, start: Matrix | None, fallback: bool) -> Answer:
    """Solve by the first family that reads the model; otherwise search, or raise."""
    for family, read, solve_family in _FAMILIES:
        reading = read(model)
        if reading is None:
            continue
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


def _trees(model: Any, problem: Problem, norm: Norm, start: Matrix | None) -> Answer:
    if start is None and len(model.trees) > 1:
        start = find_counterfactual(problem)
    return solve_trees(model, problem, norm, start)


_FAMILIES: tuple[tuple[str, Callable[[Any], Any], Callable[..., Answer]], ...] = (
    ("linear model", read_linear, _linear),
    ("ReLU network", read_network, _network),
    ("tree ensemble", read_trees, _trees),
    ("nearest neighbour", read_neighbours, solve_neighbours),
)
