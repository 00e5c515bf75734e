"""The cells within a ball as a constraint programme, solved by CP-SAT.

Scores and costs are rounded to whole numbers so that no counterfactual is lost: costs down, and
the lead that a class needs by as much as the rounding can hide. What the rounding lets in beside
is asked of the model.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset.arrays import Matrix
from counterset.exact.cells import Axis, Leaf, leaves_of
from counterset.exact.norms import Norm
from counterset.exact.tree_models import TreeEnsemble
from counterset.exceptions import MissingExtraError

__all__ = ["CellProgramme", "Found"]

#: Whole-number steps from nothing to the ball's total, and from nothing to the largest score.
COST_STEPS = 2**28
SCORE_STEPS = 2**36


@dataclass(frozen=True)
class Found:
    """The nearest cells where the other class leads, as far as whole numbers tell.

    ``lower`` bounds the distance of any; ``empty`` says that the ball holds none.
    """

    cells: list[int] | None
    lower: float
    optimal: bool
    empty: bool


class CellProgramme:
    """The programme for one ball and one other class."""

    def __init__(
        self,
        ensemble: TreeEnsemble,
        axes: list[Axis],
        norm: Norm,
        other: int,
        own: int,
        radius: float,
    ) -> None:
        self._cp = _import_cp_sat()
        self._model = self._cp.CpModel()
        self._axes, self._norm, self._radius = axes, norm, radius
        self._leaves: list[Any] = []
        self._last: list[Any] = []
        # above[f][j]: the value of feature f lies above its cut j.
        self._above = [[self._model.new_bool_var("") for _ in axis.cuts] for axis in axes]
        for literals in self._above:
            for lower, upper in itertools.pairwise(literals):
                self._model.add_implication(upper, lower)
        self._add_lead(ensemble, other, own)
        self._add_cost()

    def _add_lead(self, ensemble: TreeEnsemble, other: int, own: int) -> None:
        """Let the other class lead."""
        by_tree = [leaves_of(tree, self._axes) for tree in ensemble.trees]
        leads = [
            np.array([leaf.values[other] - leaf.values[own] for leaf in leaves])
            for leaves in by_tree
        ]
        if ensemble.rounding == 0:  # whole votes: no rounding, and the first class wins a tie
            scale, slack = 1.0, 0 if other < own else -1
        else:
            scale = SCORE_STEPS / max(sum(np.abs(lead).max() for lead in leads), 1e-200)
            slack = len(leads) + 1 + int(np.ceil(ensemble.rounding * scale))
        total = int(np.rint((ensemble.base[other] - ensemble.base[own]) * scale))
        terms: list[Any] = []
        weights: list[int] = []
        for leaves, lead in zip(by_tree, leads, strict=True):
            steps = np.rint(lead * scale).astype(np.int64)
            least = int(steps.min())
            total += least
            if len(leaves) == 1:
                continue
            literals = [self._leaf_literal(leaf) for leaf in leaves]
            self._model.add_exactly_one(literals)
            self._leaves.extend(literals)
            terms.extend(literals)
            weights.extend(int(step) - least for step in steps)
        expression = self._cp.LinearExpr.weighted_sum(terms, weights)
        self._model.add(expression + total >= -slack)

    def _leaf_literal(self, leaf: Leaf) -> Any:
        path = []
        for feature, (first, last) in leaf.spans.items():
            literals = self._above[feature]
            if first > 0:
                path.append(literals[first - 1])
            if last < len(literals):
                path.append(literals[last].negated())
        if len(path) == 1:
            return path[0]
        reached = self._model.new_bool_var("")
        for step in path:
            self._model.add_implication(reached, step)
        return reached

    def _add_cost(self) -> None:
        """Bound the total by that of the ball, and minimise it."""
        self._scale = COST_STEPS / max(self._norm.to_total(self._radius), 1e-200)
        parts = [self._cost_of(i) for i in range(len(self._axes))]
        if self._norm.kind == "linf":
            cost = self._model.new_int_var(0, COST_STEPS, "")
            for terms, weights in parts:
                self._model.add(self._cp.LinearExpr.weighted_sum(terms, weights) <= cost)
        else:
            all_terms = [term for terms, _ in parts for term in terms]
            all_weights = [weight for _, weights in parts for weight in weights]
            cost = self._cp.LinearExpr.weighted_sum(all_terms, all_weights)
            self._model.add(cost <= COST_STEPS)
        self._model.minimize(cost)

    def _cost_of(self, feature: int) -> tuple[list[Any], list[int]]:
        """Give the cost of a feature's move as a sum over the cuts that it crosses."""
        axis, literals = self._axes[feature], self._above[feature]
        # A cell just outside the ball may be in its box: no cost need be told beyond the ball's.
        steps = np.minimum(np.floor(axis.costs * self._scale), 2.0 * COST_STEPS).astype(np.int64)
        rises = np.diff(steps)
        terms = [
            literal if j >= axis.home else literal.negated() for j, literal in enumerate(literals)
        ]
        return terms, [int(abs(rise)) for rise in rises]

    def solve(self, seconds: float, hint: Matrix | None) -> Found:
        """Look for the nearest cells; start from those of a known counterfactual."""
        self._model.clear_hints()
        if hint is not None:
            for axis, literals, value in zip(self._axes, self._above, hint, strict=True):
                for cut, literal in zip(axis.cuts, literals, strict=True):
                    self._model.add_hint(literal, bool(value > cut))
        solver = self._cp.CpSolver()
        solver.parameters.max_time_in_seconds = max(seconds, 1e-3)
        solver.parameters.num_workers = min(8, os.cpu_count() or 1)
        status = solver.solve(self._model)
        if status == self._cp.INFEASIBLE:
            return Found(None, self._radius, optimal=False, empty=True)
        lower = self._length(solver.best_objective_bound)
        if status not in (self._cp.OPTIMAL, self._cp.FEASIBLE):
            return Found(None, lower, optimal=False, empty=False)
        self._last = [leaf for leaf in self._leaves if solver.boolean_value(leaf)]
        cells = [sum(map(solver.boolean_value, literals)) for literals in self._above]
        return Found(cells, lower, status == self._cp.OPTIMAL, empty=False)

    def forbid_last(self) -> None:
        """Rule out the leaves of the last solution: the model does not decide them otherwise."""
        self._model.add_bool_or([leaf.negated() for leaf in self._last])

    def _length(self, steps: float) -> float:
        return float(self._norm.length(max(0.0, steps) / self._scale))


def _import_cp_sat() -> Any:
    try:
        from ortools.sat.python import cp_model  # noqa: PLC0415 - an extra, loaded when needed
    except ImportError as error:
        raise MissingExtraError(
            "Exact distances of tree ensembles need OR-tools. Install it with: "
            "pip install 'counterset[exact]'"
        ) from error
    return cp_model
