"""The cells within a ball as a constraint programme, solved by CP-SAT.

A point falls into one leaf of each tree. A leaf and a cell outside it exclude each other. The
exclusions are stated as cliques: that makes the linear relaxation tight, which proves most bounds.

Scores and costs are rounded to whole numbers so that no counterfactual is lost: costs are rounded
down, and the lead that a class needs is lowered by as much as the rounding can hide. What the
rounding lets in by mistake is found out by the model itself. Of a linear relation it is required
that each cell alone could keep it with the best of its points: whether all do together is found out
by another programme.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset.constraints.relations import Relation
from counterset.exact.constraints import Group, most_of
from counterset.exact.problem import Problem
from counterset.exact.trees.cells import Axis, Leads, Leaf, Region, first_and_last
from counterset.exceptions import MissingExtraError

__all__ = ["CellProgramme", "Found"]

#: The ball's total cost is 2**28 steps, so that costs are right to 4e-9 of it. The largest score is
#: 2**36 steps. Sums over all features and trees fit into 64 bits.
COST_STEPS = 2**28
SCORE_STEPS = 2**36


@dataclass(frozen=True)
class Found:
    """The nearest cells where all leads are 0 or more, with scores and costs rounded.

    Attributes
    ----------
    cells
        One for each feature; None if none were found.
    lower
        A lower bound on the distance of any.
    optimal
        Whether no other cells are nearer, up to rounding.
    empty
        Whether the ball holds none.
    """

    cells: list[int] | None
    lower: float
    optimal: bool
    empty: bool


class CellProgramme:
    """The programme for one ball and one target."""

    def __init__(self, region: Region, leads: Leads, problem: Problem) -> None:
        self._cp = _import_cp_sat()
        self._model = self._cp.CpModel()
        self._region, self._integer = region, problem.integer
        self._leaves: list[tuple[Any, Leaf]] = []
        self._last: list[tuple[Any, Leaf]] = []
        # For a number: it lies above its cut j. For a category: it has value j.
        self._literals = [self._add_axis(axis) for axis in region.axes]
        self._add_leads(leads)
        self._add_cost()
        for group in problem.feasible.groups:
            self._add_group(group)
        for relation in problem.feasible.relations:
            self._add_relation(relation)

    def _add_axis(self, axis: Axis) -> list[Any]:
        if axis.cuts is None:
            literals = [self._model.new_bool_var("") for _ in axis.points]
            self._model.add_exactly_one(literals)
            return literals
        literals = [self._model.new_bool_var("") for _ in axis.cuts]
        for lower, upper in itertools.pairwise(literals):
            self._model.add_implication(upper, lower)
        return literals

    def _add_leads(self, leads: Leads) -> None:
        """Require that all leads are 0 or more."""
        trees = self._region.trees
        literals = [self._add_tree(leaves) if len(leaves) > 1 else [] for leaves in trees]
        for row, (base, rounding, loses) in enumerate(
            zip(leads.base.tolist(), leads.rounding.tolist(), leads.loses_ties, strict=True)
        ):
            values = [np.array([leaf.value[row] for leaf in leaves]) for leaves in trees]
            if rounding == 0:  # whole votes
                scale, slack = 1.0, -1 if loses else 0
            else:
                # Scores that are all 0 are known to the rounding of the model's own sum.
                largest = abs(base) + sum(np.abs(some).max() for some in values)
                scale = SCORE_STEPS / max(largest, rounding)
                slack = len(values) + 1 + int(np.ceil(rounding * scale))
            total = int(np.rint(base * scale))
            terms: list[Any] = []
            weights: list[int] = []
            for own, some in zip(literals, values, strict=True):
                steps = np.rint(some * scale).astype(np.int64)
                least = int(steps.min())
                total += least
                terms.extend(own)
                weights.extend(int(step) - least for step in steps[: len(own)])
            expression = self._cp.LinearExpr.weighted_sum(terms, weights)
            self._model.add(expression + total >= -slack)

    def _add_group(self, group: Group) -> None:
        """Require one of the combinations of features that change together."""
        axes = [self._region.axes[int(i)] for i in group.members]
        reached = np.ones(len(group.tuples), dtype=bool)
        for axis, values in zip(axes, group.tuples.T, strict=True):
            reached &= np.isin(values, axis.points)
        tuples = group.tuples[reached]
        chosen = [self._model.new_bool_var("") for _ in tuples]
        self._model.add_exactly_one(chosen)
        for each, literal in zip(tuples, chosen, strict=True):
            for i, axis, value in zip(group.members, axes, each, strict=True):
                cell, own = int(np.flatnonzero(axis.points == value)[0]), self._literals[int(i)]
                if axis.cuts is None:
                    self._model.add_implication(literal, own[cell])
                    continue
                if cell > 0:
                    self._model.add_implication(literal, own[cell - 1])
                if cell < len(own):
                    self._model.add_implication(literal, own[cell].negated())

    def _add_relation(self, relation: Relation) -> None:
        """Require that each cell has a point with which a relation could hold."""
        axes, used = self._region.axes, np.flatnonzero(relation.weights)
        ends = np.array([[axes[i].starts[0], axes[i].stops[-1]] for i in range(len(axes))])
        most = most_of(relation, self._integer, *ends.T)
        for sign in (1.0, -1.0) if relation.equal else (1.0,):
            best = [
                np.minimum(
                    sign * relation.weights[i] * axes[i].starts,
                    sign * relation.weights[i] * axes[i].stops,
                )
                for i in used
            ]
            self._add_sum(used.tolist(), best, most - sign * relation.constant)

    def _add_sum(self, features: list[int], parts: list[Any], most: float) -> None:
        """Bound the sum of what the chosen cells of features add; they add at least these parts."""
        size = sum(float(np.abs(part).max()) for part in parts) + abs(most)
        if not np.isfinite(size) or size == 0:
            return  # a cell without an end could always keep it
        scale = SCORE_STEPS / size
        total, terms, weights = 0, [], []
        for i, part in zip(features, parts, strict=True):
            steps, literals = np.floor(part * scale).astype(np.int64), self._literals[i]
            if self._region.axes[i].cuts is None:
                terms += literals
                weights += steps.tolist()
            else:
                total += int(steps[0])
                terms += literals
                weights += np.diff(steps).tolist()
        expression = self._cp.LinearExpr.weighted_sum(terms, weights)
        self._model.add(expression + total <= int(np.ceil(most * scale)))

    def _add_tree(self, leaves: list[Leaf]) -> list[Any]:
        """Add a literal for each leaf, exactly one of them true; return them."""
        literals = [self._leaf_literal(leaf) for leaf in leaves]
        for feature in sorted({feature for leaf in leaves for feature in leaf.cells}):
            every = self._region.axes[feature].all_cells
            sets = [leaf.cells.get(feature, every) for leaf in leaves]
            for outside, excluded in self._exclusions(feature, sets):
                own = outside.negated().index
                clique = [literals[i] for i in excluded if literals[i].index != own]
                if clique:
                    self._model.add_at_most_one([outside, *clique])
        self._model.add_exactly_one(literals)
        self._leaves.extend(zip(literals, leaves, strict=True))
        return literals

    def _leaf_literal(self, leaf: Leaf) -> Any:
        outside = self._outside(leaf)
        # A leaf that is bounded by one literal needs no other: it is that one's negation.
        return outside[0].negated() if len(outside) == 1 else self._model.new_bool_var("")

    def _exclusions(self, feature: int, sets: list[int]) -> Iterator[tuple[Any, list[int]]]:
        """Yield literals of a feature, each with the positions of the sets that it excludes."""
        literals, positions = self._literals[feature], range(len(sets))
        if self._region.axes[feature].cuts is None:
            for j, literal in enumerate(literals):
                yield literal, [i for i in positions if not sets[i] >> j & 1]
            return
        ends = [first_and_last(cells) for cells in sets]
        for cut in sorted({first - 1 for first, _ in ends if first > 0}):
            yield literals[cut].negated(), [i for i in positions if ends[i][0] > cut]
        for cut in sorted({last for _, last in ends if last < len(literals)}):
            yield literals[cut], [i for i in positions if ends[i][1] <= cut]

    def _outside(self, leaf: Leaf) -> list[Any]:
        """Return the literals that bound a leaf: a point is in it if all of them are false."""
        found: list[Any] = []
        for feature, cells in leaf.cells.items():
            axis, literals = self._region.axes[feature], self._literals[feature]
            if axis.cuts is None:
                found += self._values_outside(cells, literals)
                continue
            first, last = first_and_last(cells)
            if first > 0:
                found.append(literals[first - 1].negated())
            if last < len(literals):
                found.append(literals[last])
        return found

    @staticmethod
    def _values_outside(cells: int, literals: list[Any]) -> list[Any]:
        inside = [j for j in range(len(literals)) if cells >> j & 1]
        if len(inside) == 1:
            return [literals[inside[0]].negated()]
        return [literal for j, literal in enumerate(literals) if not cells >> j & 1]

    def _add_cost(self) -> None:
        """Bound the total cost by that of the ball, and minimise it."""
        norm = self._region.norm
        self._scale = COST_STEPS / max(norm.to_total(self._region.radius), 1e-200)
        parts = [self._cost_of(i) for i in range(len(self._region.axes))]
        if norm.kind == "linf":
            cost = self._model.new_int_var(0, COST_STEPS, "")
            for terms, weights, least in parts:
                self._model.add(self._cp.LinearExpr.weighted_sum(terms, weights) + least <= cost)
        else:
            all_terms = [term for terms, _, _ in parts for term in terms]
            all_weights = [weight for _, weights, _ in parts for weight in weights]
            cost = self._cp.LinearExpr.weighted_sum(all_terms, all_weights)
            cost = cost + sum(least for _, _, least in parts)
            self._model.add(cost <= COST_STEPS)
        self._model.minimize(cost)

    def _cost_of(self, feature: int) -> tuple[list[Any], list[int], int]:
        """Return the cost of a feature's move: literals, what each that is true costs, the least.

        For a number they are the cuts that it crosses, for a category its values.
        """
        axis, literals = self._region.axes[feature], self._literals[feature]
        # A cell just outside the ball may be in its box: costs beyond the ball's need not differ.
        steps = np.minimum(np.floor(axis.costs * self._scale), 2.0 * COST_STEPS).astype(np.int64)
        if axis.cuts is None:
            return literals, steps.tolist(), 0
        terms = [
            literal if j >= axis.home else literal.negated() for j, literal in enumerate(literals)
        ]
        return terms, np.abs(np.diff(steps)).tolist(), int(steps[axis.home])

    def solve(self, seconds: float, hint: list[int] | None) -> Found:
        """Find the nearest cells; ``hint`` are those of a known counterfactual, or None."""
        self._model.clear_hints()
        for axis, literals, cell in zip(
            self._region.axes, self._literals, hint or [], strict=hint is not None
        ):
            for j, literal in enumerate(literals):
                chosen = cell == j if axis.cuts is None else cell > j
                self._model.add_hint(literal, int(chosen))  # OR-tools 9.10 takes no bool
        solver = self._cp.CpSolver()
        solver.parameters.max_time_in_seconds = max(seconds, 1e-3)
        # With one worker, the same of several equally near points is found every time.
        solver.parameters.num_workers = 1
        solver.parameters.linearization_level = 2
        solver.parameters.cp_model_probing_level = 0  # the ball has been pruned already
        # In OR-tools 9.15, this part of the presolve can lose the optimum (a test has an example).
        solver.parameters.presolve_inclusion_work_limit = 0
        status = solver.solve(self._model)
        if status == self._cp.INFEASIBLE:
            return Found(None, self._region.radius, optimal=False, empty=True)
        lower = self._length(solver.best_objective_bound)
        if status not in (self._cp.OPTIMAL, self._cp.FEASIBLE):
            return Found(None, lower, optimal=False, empty=False)
        self._last = [each for each in self._leaves if solver.boolean_value(each[0])]
        cells = [
            self._cell(axis, [solver.boolean_value(literal) for literal in literals])
            for axis, literals in zip(self._region.axes, self._literals, strict=True)
        ]
        return Found(cells, lower, status == self._cp.OPTIMAL, empty=False)

    @staticmethod
    def _cell(axis: Axis, values: list[bool]) -> int:
        return values.index(True) if axis.cuts is None else sum(values)

    def forbid_last(self) -> None:
        """Rule out the leaves of the last solution: there is nothing more to find in them."""
        self._model.add_bool_or([literal.negated() for literal, _ in self._last])

    @property
    def last_leaves(self) -> list[Leaf]:
        """The leaves of the last solution."""
        return [leaf for _, leaf in self._last]

    def _length(self, steps: float) -> float:
        return float(self._region.norm.length(max(0.0, steps) / self._scale))


def _import_cp_sat() -> Any:
    try:
        from ortools.sat.python import cp_model  # noqa: PLC0415 - an extra, loaded when needed
    except ImportError as error:
        raise MissingExtraError(
            "The exact distance of a tree ensemble needs OR-tools. Install it with: "
            "pip install 'counterset[exact]'"
        ) from error
    return cp_model
