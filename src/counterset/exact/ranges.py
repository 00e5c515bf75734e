"""Ranges of options: the widest box around an option of which every point reaches the goal.

The box grows on the feature's own steps: first all its features together, away from the input,
then each side alone, as far as the model reaches the goal at the points that are asked about. Then
the whole box is verified. A point that misses the goal cuts the box, and it is verified again. So
the model contradicts no box that is returned at any point where it was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterset._base.arrays import Indices, Matrix, Vector
from counterset.constraints.constraints import Constraints
from counterset.constraints.relations import Relation
from counterset.constraints.rules import Condition, Rules, Together
from counterset.exact.box_checks import BoxChecker, Verdict, read_cuts
from counterset.exact.certify import check_explanation, check_own, plausible_rows
from counterset.exact.constraints import Feasible
from counterset.exact.problem import Clock, Problem
from counterset.exact.query import integer_features
from counterset.explanations.explanation import Explanation
from counterset.explanations.ranges import Span, Spans
from counterset.models.adapter import ModelAdapter
from counterset.strategies.training import TrainingData
from counterset.tables.features.feature import Feature, Grid
from counterset.tables.features.number import Number
from counterset.tables.table import changed

__all__ = ["RangeFinder"]

#: All features together are tried at these shares of the way to their ends, in one call.
SHARES = (1.0, 0.75, 0.5, 0.25, 0.125)
#: One side is tried at 64 steps of its way, three times, each time between the last step that
#: works and the next: that tells 200,000 steps apart in three calls.
STEPS, ROUNDS = 64, 3
#: How many points of the ranges of the other features are tried at each step.
POINTS_AT_STEP = 12
POINTS_TOGETHER = 64
#: A box is cut and verified again at most 30 times; then its option stays a point.
MOST_CUTS = 30
#: Where every number will do, ends have about 3 digits of the usual range.
DIGITS = 3


class RangeFinder:
    """Finds ranges for the explanations of one explainer; reads its model once, when first asked.

    Parameters
    ----------
    training
        What the explainer learned in ``fit``.
    """

    def __init__(self, training: TrainingData) -> None:
        self._training = training

    def spans(self, explanation: Explanation, time_limit: float) -> Spans | None:
        """Return the ranges of the options; None if there is no option.

        Parameters
        ----------
        explanation
            An explanation by the explainer.
        time_limit
            In seconds, for all options together.
        """
        check_explanation(explanation, "with_ranges")
        if not len(explanation):
            return None
        training, table = self._training, self._training.table
        own = table.encode_one(explanation.input)[0][0]
        rows = table.encode(explanation.counterfactuals)[0]
        check_own(explanation, training.distance.pairwise(own[None, :], rows)[0], "with_ranges")
        clock = Clock.start(time_limit)
        problem = _problem_of(explanation, training, own, clock)
        checker, spans = BoxChecker(problem, training, self._cuts), list[Span]()
        for i, row in enumerate(rows):
            share = Clock.start(clock.left / (len(rows) - i))
            spans.append(_Search(checker, problem, row, share).span())
        return Spans.of(spans)

    @cached_property
    def _cuts(self) -> Mapping[int, Vector] | None:
        return read_cuts(self._training)


def _problem_of(
    explanation: Explanation, training: TrainingData, own: Vector, clock: Clock
) -> Problem:
    """Return what was asked for, without any bounds but those of the constraints."""
    context, table = explanation.context, training.table
    given = context.constraints
    rules = training.rules(Constraints(**given) if given else None)
    integer = integer_features(table)
    low, high = np.array([feature.dtype_range for feature in table.features]).T
    return Problem(
        x=own,
        label=explanation.label,
        model=ModelAdapter(training.model, table, with_confidence=context.probability is not None),
        distance=training.distance,
        norm=None,
        feasible=Feasible.of(rules, table, own, low, high, integer),
        integer=integer,
        clock=clock,
        goal=context.goal,
        probability=context.probability,
        rules=rules,
        plausible=plausible_rows(training),
    )


@dataclass(frozen=True)
class _Ends:
    """Between which values a feature of an option may move.

    Attributes
    ----------
    low, high
        The ends, the option's value between them.
    low_is_data, high_is_data
        Whether no constraint ends there, nor the input's value, but only the training data.
    """

    low: float
    high: float
    low_is_data: bool = False
    high_is_data: bool = False


class _Search:
    """Looks for the ranges of one option.

    Parameters
    ----------
    row
        The option, ``(d,)``.
    """

    def __init__(self, checker: BoxChecker, problem: Problem, row: Vector, clock: Clock) -> None:
        self._checker, self._problem, self._row, self._clock = checker, problem, row, clock
        self._features = problem.model.table.features
        self._ends = {int(at): self._ends_of(int(at)) for at in self._movable()}
        self._away = np.sign(row - problem.x)  # NaN where the input has no number
        self._low, self._high = row.copy(), row.copy()

    def span(self) -> Span:
        """Return the ranges."""
        self._grow()
        proved, checked = self._verify()
        if proved and (self._low < self._high).any():
            self._open()
        return Span(self._low, self._high, proved, checked)

    def _movable(self) -> Indices:
        """Return the features that the option changes and that can have a range."""
        x, row, rules = self._problem.x, self._row, self._problem.rules
        at_once = _bound_together(rules)
        # A number that may take some values only has no range.
        few = [at for at in self._problem.feasible.values if self._features[at].values is None]
        return np.array(
            [
                at
                for at in np.flatnonzero(changed(x, row))
                if self._features[at].can_have_range
                and self._features[at].is_known(row[[at]])[0]
                and at not in at_once
                and at not in few
            ],
            dtype=np.intp,
        )

    def _ends_of(self, at: int) -> _Ends:
        """Return the ends of a feature: of the constraints, the training data, and the input."""
        feature, own, code = self._features[at], self._problem.x[at], self._row[at]
        if feature.values is not None:
            return self._ends_of_ordinal(at)
        least, most = self._problem.feasible.low[at], self._problem.feasible.high[at]
        barriers = [*feature.special, *([own] if not np.isnan(own) else [])]
        below = [each for each in barriers if each < code]
        above = [each for each in barriers if each > code]
        free = feature.dtype_range
        low_is_free, high_is_free = least <= free[0] and not below, most >= free[1] and not above
        low, high = max([least, min(feature.low, code)]), min([most, max(feature.high, code)])
        if below and max(below) >= low:
            low = float(np.nextafter(max(below), np.inf))
        if above and min(above) <= high:
            high = float(np.nextafter(min(above), -np.inf))
        low, high = self._step(at, min(low, code)), self._step(at, max(high, code))
        return _Ends(low, high, low_is_free, high_is_free)

    def _ends_of_ordinal(self, at: int) -> _Ends:
        """Return the ends of an ordinal: the values around that the training data has too."""
        own, code = self._problem.x[at], self._row[at]
        known = self._problem.feasible.values[at]
        low = high = code
        while low - 1 in known and low - 1 != own:
            low -= 1
        while high + 1 in known and high + 1 != own:
            high += 1
        return _Ends(low, high)

    def _step(self, at: int, code: float) -> float:
        """Return the last value to propose between the option's own and a number."""
        feature, own = self._features[at], self._row[at]
        low, high = min(own, code), max(own, code)
        first, last = _grid_ends(feature, low, high)
        end = last if code > own else first
        if not low <= end <= high:
            return float(own)
        held = float(feature.hold(np.array([end]))[0])
        return held if low <= held <= high else float(own)

    def _grow(self) -> None:
        """Widen the box as far as the model reaches the goal at the points that are tried."""
        sides = [(at, sign) for at in self._ends for sign in (-1, 1)]
        away = [(at, sign) for at, sign in sides if self._away[at] == sign]
        if len(away) > 1:
            self._grow_together(away)
        towards = [side for side in sides if side not in away]
        for at, sign in (*away, *towards):
            self._grow_side(at, sign)

    def _grow_together(self, sides: list[tuple[int, int]]) -> None:
        boxes = []
        for share in SHARES:
            low, high = self._low.copy(), self._high.copy()
            for at, sign in sides:
                end = self._step(
                    at, self._row[at] + share * (self._limit(at, sign) - self._row[at])
                )
                (high if sign > 0 else low)[at] = end
            boxes.append((low, high))
        rows = [self._checker.design(self._row, *box, POINTS_TOGETHER) for box in boxes]
        works = np.split(
            self._checker.reaches(np.vstack(rows)), np.cumsum([len(each) for each in rows])[:-1]
        )
        for (low, high), all_work in zip(boxes, works, strict=True):
            if all_work.all():
                self._low, self._high = low, high
                return

    def _limit(self, at: int, sign: int) -> float:
        return self._ends[at].high if sign > 0 else self._ends[at].low

    def _grow_side(self, at: int, sign: int) -> None:
        """Move one end as far as the model reaches the goal at all steps on the way."""
        ends = self._high if sign > 0 else self._low
        limit, failed = self._limit(at, sign), None
        for _ in range(ROUNDS):
            tried = np.linspace(ends[at], limit, STEPS + 1)[1:]
            codes = np.unique([self._step(at, code) for code in tried])[::sign]
            codes = codes[sign * (codes - ends[at]) > 0]
            if failed is not None:
                codes = codes[sign * (failed - codes) > 0]
            if not len(codes):
                return
            low, high = self._low.copy(), self._high.copy()
            low[at] = high[at] = self._row[at]
            others = self._checker.design(self._row, low, high, POINTS_AT_STEP)
            rows = np.repeat(others[None, :, :], len(codes), axis=0)
            rows[:, :, at] = codes[:, None]
            works = self._checker.reaches(rows.reshape(-1, rows.shape[2]))
            step_works = works.reshape(len(codes), -1).all(axis=1)
            good = len(codes) if step_works.all() else int(np.argmin(step_works))
            if good:
                ends[at] = codes[good - 1]
            if good == len(codes):
                return
            limit = failed = float(codes[good])

    def _verify(self) -> tuple[bool, int]:
        """Cut the box until no point of it is known to miss the goal.

        Returns whether that is proved, and at how many points it was checked.
        """
        for _ in range(MOST_CUTS):
            if not (self._low < self._high).any():
                break
            verdict = self._checker.verify(self._row, self._low, self._high, self._clock.left)
            if not len(verdict.failing):
                if not verdict.proved and self._checker.can_solve:
                    verdict = self._pulled_in(verdict)
                return verdict.proved, verdict.checked
            self._cut(verdict.failing)
        self._low, self._high = self._row.copy(), self._row.copy()
        return True, 1  # the option itself: it was asked about when it was found

    def _pulled_in(self, unsure: Verdict) -> Verdict:
        """Return the verdict of a box that is a step shorter where the goal ends, if it is proved.

        On round numbers a box may end just where the goal does, and rounding leaves that open.
        """
        low, high = self._low.copy(), self._high.copy()
        for at in self._ends:
            if low[at] > self._limit(at, -1):
                low[at] = self._next(at, low[at])
            if high[at] < self._limit(at, 1):
                high[at] = self._next(at, high[at])
        if (low == self._low).all() and (high == self._high).all():
            return unsure
        verdict = self._checker.verify(self._row, low, high, self._clock.left)
        if not verdict.proved:
            return unsure
        self._low, self._high = low, high
        return verdict

    def _next(self, at: int, code: float) -> float:
        """Return the next value to propose towards the option's own."""
        return self._step(at, float(np.nextafter(code, self._row[at])))

    def _cut(self, failing: Matrix) -> None:
        """Cut the box so that it holds none of these points."""
        while True:
            inside = ((failing >= self._low) & (failing <= self._high)).all(axis=1)
            if not inside.any():
                return
            self._cut_off(failing[int(np.argmax(inside))])

    def _cut_off(self, point: Vector) -> None:
        """Cut the box at the feature where most of it is left."""
        best, most = None, -1.0
        for at in self._ends:
            if point[at] == self._row[at]:
                continue
            end = self._next(at, point[at])
            above = point[at] > self._row[at]
            kept = end - self._low[at] if above else self._high[at] - end
            share = kept / (self._high[at] - self._low[at])
            if share > most:
                best, most = (at, above, end), share
        assert best is not None, "the option itself reaches the goal"
        at, above, end = best
        (self._high if above else self._low)[at] = end

    def _open(self) -> None:
        """Drop the ends beyond which everything is proved to work."""
        related = _related(self._problem.rules)
        for at, ends in self._ends.items():
            if at in related:
                continue
            for sign, side, limit, is_data in (
                (-1, self._low, ends.low, ends.low_is_data),
                (1, self._high, ends.high, ends.high_is_data),
            ):
                reached = is_data and side[at] == limit and self._low[at] < self._high[at]
                if reached and self._checker.goes_on(self._row, self._low, self._high, at, sign):
                    side[at] = sign * np.inf


def _bound_together(rules: Rules | None) -> set[int]:
    """Return the features that may not move alone: of groups, conditions and equalities."""
    found: set[int] = set()
    for rule in () if rules is None else rules.rules:
        if isinstance(rule, Together | Condition):
            found |= {int(at) for at in rule.members}
        if isinstance(rule, Relation) and rule.equal:
            found |= {int(at) for at in rule.used}
    return found


def _related(rules: Rules | None) -> set[int]:
    """Return the features of relations: how far one may go depends on the others."""
    relations = [] if rules is None else [r for r in rules.rules if isinstance(r, Relation)]
    return {int(at) for relation in relations for at in relation.used}


def _grid_ends(feature: Feature, low: float, high: float) -> tuple[float, float]:
    """Return the first and the last value to propose between two numbers."""
    if not isinstance(feature, Number):
        return feature.ends(low, high)
    grid = feature.grid
    if not feature.step:
        least, most = feature.usual
        spread = most - least if most > least else max(abs(low), abs(high), 1.0)
        grid = Grid(float(f"1e{int(np.floor(np.log10(spread))) + 1 - DIGITS}"))
    first, last = grid.ends(np.array(low), np.array(high))
    return float(first), float(last)
