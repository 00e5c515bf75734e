"""Conditions, case by case: "if this then that" is that, or not this.

A problem is first solved without its conditions. Where the nearest counterfactual breaks one, the
problem is split into the cases of that condition, each of which is solved in its place. So only the
conditions that matter are split, and those far from the input never are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np

from counterset._base.arrays import Vector
from counterset.constraints.rules import Condition
from counterset.exact.problem import OUT_OF_TIME, Problem, SolverResult
from counterset.exact.sampling import Incumbent

__all__ = ["Solve", "solve_cases"]

#: Solves a problem without conditions, with a known counterfactual or None.
Solve = Callable[[Problem, Vector | None], SolverResult]


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of a problem: some conditions are narrowed to one of their cases, others are left."""

    problem: Problem
    left: tuple[Condition, ...]
    result: SolverResult

    def broken(self) -> Condition | None:
        """Return a condition to split by: one that the counterfactual breaks, if there is one."""
        witness = self.result.witness
        if witness is None:
            return self.left[0] if self.left else None
        x, row = self.problem.x[None, :], witness[None, :]
        return next((each for each in self.left if not each.holds(x, row)[0]), None)


def solve_cases(problem: Problem, start: Vector | None, solve: Solve) -> SolverResult:
    """Find the nearest counterfactual that keeps the conditions, or bounds if time is up.

    The part with the least lower bound is split first, until no other part can hold a nearer
    counterfactual than the nearest that was found.

    Parameters
    ----------
    start
        A known counterfactual, or None.
    solve
        Solves a part.
    """
    search = _CaseSearch(problem, solve)
    search.incumbent.offer(start)
    return search.run()


class _CaseSearch:
    """The parts of a problem that may hold its nearest counterfactual."""

    def __init__(self, problem: Problem, solve: Solve) -> None:
        self.incumbent = Incumbent(problem)
        self._problem, self._solve = problem, solve
        self._results: list[SolverResult] = []
        self._waiting: list[tuple[float, int, _Part]] = []

    def run(self) -> SolverResult:
        problem = self._problem
        assert problem.rules is not None, "it has conditions"
        self._add(problem.with_rules(problem.rules.without_conditions), problem.conditions, 0.0)
        closed = [np.inf]  # the lower bounds of parts that are not split
        while self._waiting and self._waiting[0][0] < self.incumbent.upper:
            lower, _, part = heappop(self._waiting)
            condition = None if problem.clock.over else part.broken()
            if condition is None:
                closed.append(lower)
            else:
                self._split(part, condition)
        lower = min([*closed, self.incumbent.upper])
        none_exists = self.incumbent.witness is None and np.isinf(lower)
        return replace(
            self._results[0],
            lower=lower,
            witness=self.incumbent.witness,
            reason=next((each.reason for each in self._results if each.reason), OUT_OF_TIME),
            none_exists=bool(none_exists),
            blur=max(each.blur for each in self._results),
        )

    def _split(self, part: _Part, condition: Condition) -> None:
        """Add a part for each case of a condition."""
        rules = part.problem.rules
        assert rules is not None, "it has those of the problem"
        left = tuple(each for each in part.left if each is not condition)
        for case in condition.cases:
            narrower = replace(rules, rules=(*rules.rules, *case))
            self._add(part.problem.with_rules(narrower), left, part.result.lower)

    def _add(self, problem: Problem, left: tuple[Condition, ...], least: float) -> None:
        """Solve a part that is no nearer than ``least``; keep it if it may hold something."""
        if problem.feasible.empty is not None:
            return
        known = self.incumbent.witness
        result = self._solve(problem, None if known is None else problem.nearest_flip(known[None]))
        self._results.append(result)
        if result.none_exists:
            return
        result = replace(result, lower=max(result.lower, least))
        if result.witness is not None and self._problem.confirms(result.witness):
            self.incumbent.offer(result.witness)
        heappush(self._waiting, (result.lower, len(self._results), _Part(problem, left, result)))
