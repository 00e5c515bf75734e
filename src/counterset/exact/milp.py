"""Mixed-integer programmes, solved by HiGHS: variables, constraints, and moves of an input.

``Programme`` collects variables and linear constraints, and ``Moves`` adds those of an input's
features. ``quiet_solver`` keeps one message of HiGHS out of the user's output. HiGHS 1.12, which
comes with scipy 1.17, has a leftover ``printf`` that no option turns off: it writes that a solution
is being repaired. Compiled code writes to file descriptor 1, past Python's ``sys.stdout``. So that
descriptor leads to a temporary file while the solver runs, and everything but that message is
written on afterwards.

What other threads write to descriptor 1 meanwhile is delayed until the solver returns. A process
that another thread starts meanwhile keeps writing to the temporary file, which nobody reads
afterwards. On Windows nothing is redirected.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import IO

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset.exact.constraints import Group, most_of
from counterset.exact.norms import Norm
from counterset.exact.preprocessing import Columns
from counterset.exact.problem import Problem
from counterset.exceptions import DomainError

__all__ = ["Affine", "Moves", "Programme", "Result", "Solution", "quiet_solver"]

MESSAGE = b"HighsMipSolverData::transformNewIntegerFeasibleSolution tmpSolver.run();\n"
_STDOUT = 1


def quiet_solver() -> AbstractContextManager[None]:
    """Return a context in which the solver's message does not reach the user, from any thread.

    Examples
    --------
    >>> with quiet_solver():
    ...     print("All other output arrives.")
    All other output arrives.
    """
    return _redirection


class _Redirection(AbstractContextManager[None]):
    """Redirects descriptor 1 while at least one thread is inside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._stdout: int | None = None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._redirect()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore()

    def _redirect(self) -> None:
        if os.name != "posix":
            return
        try:
            stdout = os.dup(_STDOUT)
        except OSError:  # a process without output
            return
        try:
            file = tempfile.TemporaryFile()  # noqa: SIM115 - stays open until the exit
        except OSError:  # a message too many is better than no result
            os.close(stdout)
            return
        self._stdout, self._file = stdout, file
        os.dup2(file.fileno(), _STDOUT)

    def _restore(self) -> None:
        if self._stdout is None or self._file is None:
            return
        ctypes.CDLL(None).fflush(None)  # what compiled code has written may still be in a buffer
        os.dup2(self._stdout, _STDOUT)
        os.close(self._stdout)
        with self._file as file:
            file.seek(0)
            written = file.read().replace(MESSAGE, b"")
        self._stdout = self._file = None
        if written:
            with open(_STDOUT, "wb", closefd=False) as stdout:
                stdout.write(written)


_redirection = _Redirection()


_OPTIMAL, _INFEASIBLE, _FAILED = 0, 2, 4
#: Before SciPy 1.15, the presolve of its HiGHS can lose the optimum, and what it calls optimal is
#: not (a test has an example). Proofs do without it there.
PRESOLVE_IS_SOUND = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 15)


@dataclass(frozen=True, eq=False)
class Result:
    """The best values found, a lower bound on the objective, and whether no values are feasible."""

    values: Vector | None
    bound: float
    infeasible: bool


class Programme:
    """Minimise ``cost @ v`` over ``low <= v <= high`` with rows ``lower <= row @ v <= upper``.

    Examples
    --------
    >>> programme = Programme()
    >>> columns = programme.add_variables(0.0, np.array([9.0, 9.0]), whole=True)
    >>> row = programme.add_row(columns, np.array([2.0, 3.0]), 5.0, np.inf)
    >>> programme.cost.update({0: 1.0, 1: 1.2})
    >>> programme.minimise(seconds=10.0).values
    array([1., 1.])
    """

    def __init__(self) -> None:
        self.cost: dict[int, float] = {}
        self._low: list[float] = []
        self._high: list[float] = []
        self._whole: list[bool] = []
        self._columns: list[Indices] = []
        self._rows: list[Vector] = []
        self._lower: list[float] = []
        self._upper: list[float] = []

    def add_variables(self, low: ArrayLike, high: Vector, whole: bool = False) -> Indices:
        """Add a variable for each entry of ``high``; return their columns."""
        first = len(self._low)
        self._low.extend(np.broadcast_to(np.asarray(low, dtype=np.float64), high.shape))
        self._high.extend(high)
        self._whole.extend([whole] * len(high))
        return np.arange(first, len(self._low))

    def add_row(self, columns: Indices, row: Vector, lower: float, upper: float) -> int:
        """Add a constraint on some columns; return its position among the rows."""
        self._columns.append(columns)
        self._rows.append(row)
        self._lower.append(lower)
        self._upper.append(upper)
        return len(self._rows) - 1

    def raise_lower(self, row: int, by: float) -> None:
        """Raise the lower bound of a row."""
        self._lower[row] += by

    def intervals(self, columns: Indices, coefficients: Matrix) -> tuple[Vector, Vector]:
        """Bound ``coefficients.T @ v[columns]`` by the bounds of the variables alone."""
        low, high = np.array(self._low)[columns], np.array(self._high)[columns]
        positive, negative = np.maximum(coefficients, 0.0), np.minimum(coefficients, 0.0)
        return low @ positive + high @ negative, high @ positive + low @ negative

    def most(self, columns: Indices, row: Vector, seconds: float) -> float:
        """Bound ``row @ v[columns]`` from above, with whole numbers relaxed to any numbers."""
        objective = np.zeros(len(self._low))
        objective[columns] = -row
        result = self._solve(objective, np.zeros(len(self._low), dtype=bool), seconds)
        if result.infeasible:
            return -np.inf
        return -result.bound

    def minimise(self, seconds: float, like: Vector | None = None) -> Result:
        """Minimise the cost; with ``like``, every whole number is fixed at its value there."""
        objective = np.zeros(len(self._low))
        for column, cost in self.cost.items():
            objective[column] = cost
        return self._solve(objective, np.array(self._whole, dtype=bool), seconds, like)

    def _solve(
        self, objective: Vector, whole: Mask, seconds: float, like: Vector | None = None
    ) -> Result:
        low, high = np.array(self._low), np.array(self._high)
        if like is not None:
            low[whole] = high[whole] = np.rint(like[whole])
            whole = np.zeros_like(whole)
        if (low > high).any():
            return Result(None, np.inf, infeasible=True)
        constraints = None
        if self._rows:
            constraints = LinearConstraint(self._matrix(), self._lower, self._upper)
        # Only programmes with whole numbers make HiGHS write.
        options = {"time_limit": max(seconds, 1e-3), "mip_rel_gap": 1e-7}
        with quiet_solver() if whole.any() else nullcontext():
            for presolve in (True, False) if PRESOLVE_IS_SOUND else (False,):
                result = milp(
                    objective,
                    integrality=whole.astype(np.intp),
                    bounds=Bounds(low, high),
                    constraints=constraints,
                    options={**options, "presolve": presolve},
                )
                if result.status != _FAILED:  # HiGHS 1.12 may fail on what its presolve makes
                    break
        if result.status == _INFEASIBLE:
            return Result(None, np.inf, infeasible=True)
        bound = result.mip_dual_bound
        if bound is None or not np.isfinite(bound):
            # A plain linear programme has no gap; one that ran out of time has no bound.
            bound = float(result.fun) if result.status == _OPTIMAL else -np.inf
        return Result(result.x, float(bound), infeasible=False)

    def _matrix(self) -> csr_array:
        # HiGHS counts in 32 bits, and scipy before 1.15 hands it the indices as they are.
        starts = np.cumsum([0, *map(len, self._columns)], dtype=np.int32)
        data, columns = np.concatenate(self._rows), np.concatenate(self._columns, dtype=np.int32)
        return csr_array((data, columns, starts), shape=(len(self._rows), len(self._low)))


#: Each square starts with 8 tangents, denser at small moves; further ones are added at solutions.
FIRST_TANGENTS = np.linspace(0.0, 1.0, 9)[1:] ** 2
#: At most 40 rounds of new tangents: an end for a loop that should stop at its tolerance.
MOST_TANGENT_ROUNDS = 40
#: Squares are right to 2e-6 of the ball's total; the solver's own gap is half of it.
SQUARES_TOLERANCE = 2e-6
#: This is subtracted from bounds. HiGHS stops at a gap of 1e-6 and prices to 1e-7, both in units of
#: the ball's total; what it takes for feasible within its tolerance can only lower the total.
SOLVER_TOLERANCE = 2e-6
#: Whole numbers that may move by more than this are taken for any numbers: a step of 1 is less than
#: the solver's tolerance then, and HiGHS is wrong about whole numbers of billions.
MOST_WHOLE = 1e6
_NO_SQUARES: Indices = np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Solution:
    """The nearest point of a ball that is a counterfactual, according to the programme.

    Attributes
    ----------
    point
        That point, ``(d,)``; None if none was found.
    lower
        A lower bound on the distance of any counterfactual, in the ball or beyond it.
    empty
        Whether it is proved that the ball holds none.
    """

    point: Vector | None
    lower: float
    empty: bool = False


@dataclass(frozen=True, eq=False)
class Affine:
    """Values ``constant + coefficients.T @ variables[columns]``, as functions of the variables.

    Attributes
    ----------
    columns
        The columns of the variables, ``(c,)``.
    coefficients
        Of shape ``(c, values)``.
    constant
        Of shape ``(values,)``.
    """

    columns: Indices
    coefficients: Matrix
    constant: Vector


@dataclass(frozen=True, eq=False)
class _Choice:
    """The other values that a feature may take: their codes, variables and costs, ``(n,)``.

    Costs are shares of the ball's total.
    """

    feature: int
    codes: Vector
    columns: Indices
    shares: Vector


class Moves:
    """The programme of the moves within one ball.

    Attributes
    ----------
    programme
        To which users add rows.
    unit
        The move of each feature that one unit of its variables stands for, ``(d,)``.
    """

    def __init__(self, problem: Problem, norm: Norm, radius: float) -> None:
        self.problem, self.norm = problem, norm
        self.programme = Programme()
        self._radius = radius
        self._of_values = np.zeros(len(problem.x), dtype=bool)
        self._of_values[list(problem.feasible.values)] = True
        self._paid = np.flatnonzero((norm.weights > 0) & ~self._of_values)
        self.unit = self._units()
        self._up, self._down = self._add_moves()
        self._choices = [self._add_choice(int(i)) for i in np.flatnonzero(self._of_values)]
        self._squares = self._add_norm()
        self._add_whole_numbers()
        for group in problem.feasible.groups:
            self._add_group(group)
        self._add_relations()

    def point(self) -> Affine:
        """Return the point that is moved to, as a function of the variables."""
        d = len(self.unit)
        scale = np.diag(self.unit)
        rows, variables = [scale, -scale], [self._up, self._down]
        for choice in self._choices:
            moved = np.zeros((len(choice.codes), d))
            moved[:, choice.feature] = choice.codes - self.problem.x[choice.feature]
            rows.append(moved)
            variables.append(choice.columns)
        return Affine(np.concatenate(variables), np.vstack(rows), self.problem.x)

    def seen(self, columns: Columns) -> Affine:
        """Return the columns of the point that is moved to, as a function of the variables."""
        scale = np.zeros((len(self.unit), len(columns.start)))
        scale[columns.feature, np.arange(len(columns.start))] = columns.factor
        scaled = scale * self.unit[:, None]
        rows, variables = [scaled, -scaled], [self._up, self._down]
        for choice in self._choices:
            values = columns.values.get(choice.feature)
            if values is not None:
                own = np.where(columns.feature == choice.feature, columns.start, 0.0)
                rows += [values[float(code)] - own for code in choice.codes]
            else:
                moves = choice.codes - self.problem.x[choice.feature]
                rows.append(moves[:, None] * scale[choice.feature])
            variables.append(choice.columns)
        return Affine(np.concatenate(variables), np.vstack(rows), columns.start)

    def ranges(self, values: Affine) -> tuple[Vector, Vector]:
        """Bound values that are linear in what ``seen`` returns, relative to their constant."""
        n = len(self._up) + len(self._down)
        low, high = self.programme.intervals(values.columns[:n], values.coefficients[:n])
        swing = self._swing(values.coefficients[: len(self._up)])
        low, high = np.maximum(low, -swing), np.minimum(high, swing)
        for choice in self._choices:  # at most one of its values is chosen
            own = values.coefficients[np.isin(values.columns, choice.columns)]
            low, high = low + own.min(axis=0, initial=0.0), high + own.max(axis=0, initial=0.0)
        return low, high

    def _swing(self, coefficients: Matrix) -> Vector:
        """Bound how much the numbers change linear values within the ball, by the dual norm."""
        sizes = np.abs(coefficients)
        free = (self.norm.weights == 0) & ~self._of_values
        if self.norm.kind in ("l0", "linf") or free.any():
            return np.full(sizes.shape[1], np.inf)
        if self.norm.kind == "l1":
            return np.asarray(sizes.max(axis=0))
        return np.asarray(np.sqrt((sizes**2).sum(axis=0)))

    def ends(self) -> tuple[Vector, Vector]:
        """Return the lowest and the highest value of each feature within the ball, ``(d,)``."""
        reach = self.norm.reach(self._radius)
        low = np.maximum(self.problem.low, self.problem.x - reach)
        return low, np.minimum(self.problem.high, self.problem.x + reach)

    def _units(self) -> Vector:
        reach = self.norm.reach(self._radius)
        room = np.maximum(self.problem.high - self.problem.x, self.problem.x - self.problem.low)
        unit: Vector = np.where(np.isfinite(reach), reach, room)
        unit[self._of_values] = 1.0
        if not np.isfinite(unit).all():
            feature = self.problem.model.table.names[int(np.argmax(~np.isfinite(unit)))]
            raise DomainError(
                f"Feature {feature!r} may move without end at no cost, so the model cannot be "
                f"bounded. Give the feature bounds: domain=Box(low, high)."
            )
        return np.where(unit > 0, unit, 1.0)

    def _add_moves(self) -> tuple[Indices, Indices]:
        problem = self.problem
        reach = np.where(self._of_values, 0.0, self.norm.reach(self._radius) / self.unit)
        up, down = ((problem.high - problem.x) / self.unit, (problem.x - problem.low) / self.unit)
        # An input outside of its bounds must move at least as far as to them.
        least = [np.where(self._of_values, 0.0, np.maximum(-room, 0.0)) for room in (down, up)]
        up, down = np.maximum(up, 0.0), np.maximum(down, 0.0)
        return (
            self.programme.add_variables(least[0], np.minimum(up, reach)),
            self.programme.add_variables(least[1], np.minimum(down, reach)),
        )

    def _add_choice(self, feature: int) -> _Choice:
        """Add a yes or no for each value of a feature, besides the input's, within the ball."""
        problem, total = self.problem, self.norm.to_total(self._radius)
        codes = problem.feasible.values[feature]
        stays = problem.x[feature] in codes
        moves = np.zeros((len(codes), len(problem.x)))
        moves[:, feature] = codes - problem.x[feature]
        costs = self.norm.costs(moves)[:, feature]
        # A little more than the total, since costs are added up in another order in distances.
        inside = (codes != problem.x[feature]) & (costs <= total * (1 + SOLVER_TOLERANCE))
        columns = self.programme.add_variables(0.0, np.ones(inside.sum()), whole=True)
        if not stays and len(columns) == 0:
            self.programme.add_variables(1.0, np.zeros(1))  # nothing is possible in the ball
        elif not stays or len(columns) > 1:
            least = -np.inf if stays else 1.0
            self.programme.add_row(columns, np.ones(len(columns)), least, 1.0)
        shares = np.minimum(costs[inside] / max(total, 1e-300), 1.0)
        return _Choice(feature, codes[inside], columns, shares)

    def _add_norm(self) -> Indices:
        """Make the total the objective, in units of the ball's; return the columns of squares."""
        add = {
            "l0": self._add_count,
            "l1": self._add_sum,
            "l2": self._add_squares,
            "linf": self._add_largest,
        }
        return add[self.norm.kind](self._paid)

    def _add_sum(self, paid: Indices) -> Indices:
        columns = np.concatenate([self._up[paid], self._down[paid]])
        self._add_cost(columns, np.ones(len(columns)))
        return _NO_SQUARES

    def _add_largest(self, paid: Indices) -> Indices:
        largest = self.programme.add_variables(0.0, np.ones(1))
        self._add_cost(largest, np.ones(1))
        for i in paid:
            self._add_at_most(int(i), int(largest[0]))
        for choice in self._choices:
            columns = np.append(choice.columns, largest)
            self.programme.add_row(columns, np.append(choice.shares, -1.0), -np.inf, 0.0)
        return _NO_SQUARES

    def _add_count(self, paid: Indices) -> Indices:
        changed = self.programme.add_variables(0.0, np.ones(len(paid)), whole=True)
        self._add_cost(changed, self.norm.weights[paid] / max(self._radius, 1e-300))
        for column, i in zip(changed, paid, strict=True):
            self._add_at_most(int(i), int(column))
        return _NO_SQUARES

    def _add_squares(self, paid: Indices) -> Indices:
        squares = self.programme.add_variables(0.0, np.ones(len(paid)))
        self._add_cost(squares, np.ones(len(paid)))
        for column, i in zip(squares, paid, strict=True):
            for at in FIRST_TANGENTS:
                self._add_tangent(int(column), int(i), float(at))
        return squares

    def _add_cost(self, columns: Indices, costs: Vector) -> None:
        """Add costs to the objective, and keep their sum within the ball."""
        if self.norm.kind != "linf":  # what values cost is added up with the rest
            columns = np.concatenate([columns, *(choice.columns for choice in self._choices)])
            costs = np.concatenate([costs, *(choice.shares for choice in self._choices)])
        self.programme.cost.update(zip(columns.tolist(), costs.tolist(), strict=True))
        self.programme.add_row(columns, costs, -np.inf, 1.0)

    def _add_at_most(self, feature: int, column: int) -> None:
        """Bound the move of a feature by the variable of a column."""
        columns = np.array([self._up[feature], self._down[feature], column])
        self.programme.add_row(columns, np.array([1.0, 1.0, -1.0]), -np.inf, 0.0)

    def _add_tangent(self, square: int, feature: int, at: float) -> None:
        """Bound the square of a feature's move from below by its tangent at a move."""
        columns = np.array([square, self._up[feature], self._down[feature]])
        self.programme.add_row(columns, np.array([1.0, -2 * at, -2 * at]), -(at**2), np.inf)

    def _add_whole_numbers(self) -> None:
        """Add a whole-number variable for the move of each number that takes only those."""
        problem = self.problem
        moving = problem.integer & ~self._of_values & (problem.high > problem.low)
        for i in np.flatnonzero(moving & (self.unit <= MOST_WHOLE)):
            # From the input's own whole number on: far from 0 the solver could not tell them apart.
            base = np.floor(problem.x[i])
            low, high = np.ceil(problem.low[i]) - base, np.floor(problem.high[i]) - base
            whole = self.programme.add_variables(low, np.array([high]), whole=True)
            columns = np.array([whole[0], self._up[i], self._down[i]])
            row, rest = np.array([1.0, -self.unit[i], self.unit[i]]), problem.x[i] - base
            self.programme.add_row(columns, row, rest, rest)

    def _add_group(self, group: Group) -> None:
        """Add a yes or no for each combination of a group, of which one is chosen."""
        choices = {choice.feature: choice for choice in self._choices}
        own = [self.problem.x[i] for i in group.members]
        reached = np.ones(len(group.tuples), dtype=bool)
        for j, i in enumerate(group.members):
            codes = np.append(choices[int(i)].codes, own[j])
            reached &= np.isin(group.tuples[:, j], codes)
        tuples = group.tuples[reached]
        chosen = self.programme.add_variables(0.0, np.ones(len(tuples)), whole=True)
        if len(tuples) == 0:
            self.programme.add_variables(1.0, np.zeros(1))  # nothing is possible in the ball
            return
        self.programme.add_row(chosen, np.ones(len(chosen)), 1.0, 1.0)
        for j, i in enumerate(group.members):
            choice = choices[int(i)]
            for code, column in zip(choice.codes, choice.columns, strict=True):
                has = chosen[tuples[:, j] == code]
                row = np.append(np.ones(len(has)), -1.0)
                self.programme.add_row(np.append(has, column), row, 0.0, 0.0)

    def _add_relations(self) -> None:
        """Add the linear relations, each with as much slack as rounding is forgiven."""
        low, high = self.ends()
        point = self.point()
        for relation in self.problem.feasible.relations:
            row = point.coefficients @ relation.weights
            constant = float(point.constant @ relation.weights + relation.constant)
            ends = np.minimum(low, self.problem.x), np.maximum(high, self.problem.x)
            most = most_of(relation, self.problem.integer, *ends)
            size = float(np.abs(row).max(initial=0.0)) or 1.0
            least = (-constant - most) / size if relation.equal else -np.inf
            self.programme.add_row(point.columns, row / size, least, (-constant + most) / size)

    def solve(self) -> Solution:
        """Find the nearest point of the ball that satisfies all rows."""
        point, lower = None, 0.0
        for _ in range(MOST_TANGENT_ROUNDS):
            result = self.programme.minimise(self.problem.clock.left)
            if result.infeasible:
                # Tangents only cut off: a point found before the last ones lies outside the ball.
                return Solution(point, self._length(1.0 - SOLVER_TOLERANCE), empty=True)
            lower = max(lower, self._length(max(result.bound - SOLVER_TOLERANCE, 0.0)))
            if result.values is None:
                break
            point = self._moved(result.values)
            # The bound may stay where it is for a while: other points of the same cost come first.
            if not self._refine(result.values):
                break
            point = self._refine_continuous(result.values)
        return Solution(point, lower)

    def _refine_continuous(self, values: Vector) -> Vector:
        """Refine the squares with all whole numbers fixed, by linear programmes alone."""
        for _ in range(MOST_TANGENT_ROUNDS):
            result = self.programme.minimise(self.problem.clock.left, like=values)
            if result.values is None or not self._refine(result.values):
                break
            values = result.values
        return self._moved(values)

    def _refine(self, values: Vector) -> bool:
        """Add tangents where squares are too small; return whether there were any."""
        if len(self._squares) == 0:
            return False
        paid = self._paid
        moved = values[self._up[paid]] + values[self._down[paid]]
        missing = moved**2 - values[self._squares]
        if missing.sum() <= SQUARES_TOLERANCE:
            return False
        for j in np.flatnonzero(missing > 0.1 * SQUARES_TOLERANCE / len(paid)):
            self._add_tangent(self._squares[j], int(paid[j]), float(moved[j]))
        return True

    def _length(self, share: float) -> float:
        total = share * self.norm.to_total(self._radius)
        return float(self.norm.length(total))

    def _moved(self, values: Vector) -> Vector:
        moves: Vector = (values[self._up] - values[self._down]) * self.unit
        point = self.problem.x + moves
        for choice in self._choices:
            chosen = values[choice.columns] > 0.5
            point[choice.feature] = (
                choice.codes[chosen].item() if chosen.any() else point[choice.feature]
            )
        return point
