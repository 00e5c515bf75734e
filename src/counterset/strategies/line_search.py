"""Step 4 of the paper: move each candidate towards the input, up to the decision boundary."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from counterset._base.arrays import Codes, Counts, Indices, Mask, Matrix, Vector
from counterset._base.checks import check_positive
from counterset.constraints.rules import Rules
from counterset.distances import L1, L2
from counterset.exceptions import InvalidInputError
from counterset.strategies.batch import REFUSED, Ask, Chosen, QueryBatch
from counterset.tables.space import TableDistance
from counterset.tables.table import changed

__all__ = ["ALLOWED_SEARCH", "LineSearch", "Paths", "Search", "Segments", "minimise", "unit_costs"]

#: What may be passed, for error messages.
ALLOWED_SEARCH = "LineSearch, or an object with search(segments, ask) and needs_farthest"

#: Halvings that are asked about in one call of the model: 6 for up to 8 segments, 5 for up to 64
#: (one input with few changes has about 60), 3 for up to 256, else 1. A call costs more than the
#: rows in it, and 6 halvings take 63 rows.
HALVINGS_PER_CALL = ((8, 6), (64, 5), (256, 3))
#: A search for the first crossing looks at the 7 points of 3 halvings before it goes on.
STRIDE = 3


@dataclass(frozen=True)
class Segments:
    """The segments from each input to each of its candidates.

    Attributes
    ----------
    starts, ends
        The inputs and the candidates, ``(n, d)``: the end of each segment is acceptable, its
        start is not.
    lengths
        The distance from start to end, ``(n,)``.
    codes
        The class code at the end, ``(n,)``.
    farthest
        The distance of the farthest candidate that step 2 left to the input, ``(n,)``, if known.
    """

    starts: Matrix
    ends: Matrix
    lengths: Vector
    codes: Codes
    farthest: Vector | None = None


@runtime_checkable
class Search(Protocol):
    """Step 4: shorten the segments from each input to its candidates.

    Attributes
    ----------
    needs_farthest
        Whether ``Segments.farthest`` must be known.
    """

    @property
    def needs_farthest(self) -> bool:
        """Whether ``Segments.farthest`` must be known."""
        ...

    def search(self, segments: Segments, ask: Ask) -> Segments:
        """Return segments with other ends, each of which ``ask`` accepted, and their codes."""
        ...


@dataclass(frozen=True)
class LineSearch:
    """Binary search between the input and each candidate (Algorithm 1 of the paper).

    Parameters
    ----------
    gamma
        The accuracy: a segment is halved until the bracket around the boundary is at most this
        long. A bracket's length is its share of the segment times the segment's distance, which
        for norms is its own distance.
    halvings
        ``"segment"``: as many as the segment's own length needs. ``"farthest"``: for all
        segments of an input as many as its farthest candidate of step 2 would need, kept by
        step 3 or not, as the prototype of the paper's authors does.
    first_crossing
        Where a segment crosses the boundary more than once, halving ends at any crossing, and a
        small move of the input leads to another one. True looks at seven points at a time, and
        ends at the first crossing as seen from the candidate.

    Examples
    --------
    The boundary is at 0.3; found is the nearest point beyond it that the model was asked about:

    >>> from counterset.strategies.batch import REFUSED
    >>> def ask(points, segments):
    ...     return np.where(points[:, 0] >= 0.3, 1, REFUSED)
    >>> segments = Segments(
    ...     starts=np.array([[0.0]]), ends=np.array([[1.0]]), lengths=np.array([1.0]),
    ...     codes=np.array([1]),
    ... )
    >>> LineSearch(0.1).search(segments, ask).ends
    array([[0.3125]])
    """

    gamma: float = 0.1
    halvings: Literal["segment", "farthest"] = "segment"
    first_crossing: bool = False

    def __post_init__(self) -> None:
        check_positive(self.gamma, "gamma")
        if self.halvings not in ("segment", "farthest"):
            raise InvalidInputError(
                f"halvings must be 'segment' or 'farthest', got {self.halvings!r}."
            )

    def search(self, segments: Segments, ask: Ask) -> Segments:
        """Shorten each segment to its last acceptable point before the boundary."""
        ends, codes = segments.ends.copy(), segments.codes.copy()
        left = self._count_halvings(segments)
        open_, near, far, found = np.arange(len(left)), segments.starts, ends, codes
        while True:
            if not (more := left > 0).all():
                done = open_[~more]
                ends[done], codes[done] = far[~more], found[~more]
                open_, left, found = open_[more], left[more], found[more]
                near, far = near[more], far[more]
            if not len(open_):
                return Segments(segments.starts, ends, segments.lengths, codes, segments.farthest)
            most = next((each for few, each in HALVINGS_PER_CALL if len(open_) <= few), 1)
            if self.first_crossing:
                most = max(most // STRIDE, 1) * STRIDE
            else:
                calls = math.ceil(left.max() / most)
                most = math.ceil(left.max() / calls)
            steps = np.minimum(left, most)
            follow = _first_crossings if self.first_crossing else _halvings
            near, far, found = _halve(near, far, found, steps, open_, ask, follow)
            left = left - steps

    @property
    def needs_farthest(self) -> bool:
        """Whether the segments must tell how far the farthest candidate of step 2 is."""
        return self.halvings == "farthest"

    def _count_halvings(self, segments: Segments) -> Counts:
        lengths, gamma = segments.lengths, self.gamma
        if self.needs_farthest:
            if segments.farthest is None:
                raise InvalidInputError(
                    "halvings='farthest' needs to know the farthest candidate of each input. Set "
                    "Segments.farthest, or choose halvings='segment'."
                )
            lengths = segments.farthest
        # The least k with length / 2**k <= gamma, from the parts of the floats: without rounding.
        (shares, exponents), (share, exponent) = np.frexp(lengths), math.frexp(gamma)
        count: Counts = exponents.astype(np.intp) - exponent + (shares > share)
        return np.where(lengths > gamma, count, 0)


def _halve(
    near: Matrix,
    far: Matrix,
    codes: Codes,
    steps: Counts,
    segments: Indices,
    ask: Ask,
    follow: Callable[[Mask, Counts, int], tuple[Indices, Indices]],
) -> tuple[Matrix, Matrix, Codes]:
    """Halve each bracket ``steps`` times with one call of the model.

    All midpoints that the halvings could come to are asked at once, then the path is followed:
    it visits the points of Algorithm 1, to the last bit, in fewer calls.
    """
    depth = int(steps.max())
    each, last = np.arange(len(near)), 2**depth
    grid = np.empty((last + 1, *near.shape))  # from near to far
    asked = np.zeros((last + 1, len(near)), dtype=bool)
    grid[0], grid[last] = near, far
    for step in range(depth):
        gap = last >> step
        middle = np.add(grid[:-1:gap], grid[gap::gap], out=grid[gap // 2 :: gap])
        middle /= 2
        asked[gap // 2 :: gap] = steps > step
    found = np.full(asked.shape, REFUSED, dtype=np.intp)
    found[last] = codes
    found[asked] = ask(grid[asked], segments[np.nonzero(asked)[1]])
    at, width = follow(found != REFUSED, steps, depth)
    return grid[at, each], grid[at + width, each], found[at + width, each]


def _halvings(accepted: Mask, steps: Counts, depth: int) -> tuple[Indices, Indices]:
    """Follow the halvings: the near end of each bracket, and how wide it is, in grid points."""
    # A segment that has taken its steps meets only points that were not asked: its far end stays,
    # and its near end matters no more.
    each = np.arange(accepted.shape[1])
    at = np.zeros_like(each)
    for step in range(depth):
        half = 2**depth >> (step + 1)
        at += half * ~accepted[at + half, each]
    return at, np.ones_like(at)


def _first_crossings(accepted: Mask, steps: Counts, depth: int) -> tuple[Indices, Indices]:
    """Find the crossing nearest to the far end, first among few points, then between two."""
    each = np.arange(accepted.shape[1])
    at, width = np.zeros_like(each), np.full_like(each, 2**depth)
    numbers = np.arange(1, 2**STRIDE)[:, None]
    for step in range(0, depth, STRIDE):
        shares = 2 ** np.clip(steps - step, 0, STRIDE)
        width //= shares
        points = at + np.minimum(numbers, shares - 1) * width
        refused = (numbers < shares) & ~accepted[points, each]
        at = at + width * (numbers * refused).max(axis=0)
    return at, width


class Paths:
    """One path per candidate, as a straight line that a line search can halve.

    A feature that switches is a coordinate from 0 to 1: its share of the way. Every other feature
    is itself.

    Parameters
    ----------
    starts, ends
        The inputs and their candidates, ``(n, d)``.
    coordinates
        The same as points of the space.
    distance
        By which changes are compared.
    rules
        Which features change together.
    """

    def __init__(
        self,
        distance: TableDistance,
        starts: Matrix,
        ends: Matrix,
        coordinates: tuple[Matrix, Matrix],
        rules: Rules,
    ) -> None:
        self._table = distance.table
        self._starts, self._ends = starts, ends
        self._any_switch = False
        if rules.groups or not distance.space.is_plain:
            jumps = np.array([feature.is_category for feature in self._table.features])
            jumps[[i for group in rules.groups if len(group) > 1 for i in group]] = True
            from_, to = (self._table.without_special(rows) for rows in (starts, ends))
            self._switches = (jumps | (np.isnan(from_) != np.isnan(to))) & changed(starts, ends)
            self._any_switch = bool(self._switches.any())
        if self._any_switch:
            costs = np.zeros((len(starts), len(rules.units)))
            if not distance.space.is_plain:
                costs = unit_costs(distance, *coordinates, rules)
            self._shares = self._share_of_each_switch(rules.units, costs)

    @property
    def starts(self) -> Matrix:
        """The beginnings of the lines."""
        return np.where(self._switches, 0.0, self._starts) if self._any_switch else self._starts

    @property
    def ends(self) -> Matrix:
        """The ends of the lines."""
        return np.where(self._switches, 1.0, self._ends) if self._any_switch else self._ends

    def rows(self, points: Matrix, which: Indices) -> Matrix:
        """Return the rows that belong to points on the lines."""
        points = self.between(points, which)
        if self._table.is_plain:
            return points
        return self._table.snap(points, self._starts[which], self._ends[which])

    def between(self, points: Matrix, which: Indices) -> Matrix:
        """Return the same rows without rounding their numbers."""
        if not self._any_switch:
            return points
        switched = np.where(points >= self._shares[which], self._ends[which], self._starts[which])
        return np.where(self._switches[which], switched, points)

    def _share_of_each_switch(self, units: list[Indices], costs: Matrix) -> Matrix:
        """Spread the switches of each path evenly over it, the cheapest first."""
        switching = np.column_stack([self._switches[:, unit].any(axis=1) for unit in units])
        order = np.argsort(np.where(switching, costs, np.inf), axis=1, kind="stable")
        rank = np.argsort(order, axis=1, kind="stable")
        share = (rank + 1) / (switching.sum(axis=1, keepdims=True) + 1)
        shares = np.empty_like(self._starts)
        for i, unit in enumerate(units):
            shares[:, unit] = share[:, [i]]
        return shares


def unit_costs(distance: TableDistance, starts: Matrix, ends: Matrix, rules: Rules) -> Matrix:
    """Return how far each input moves if one unit takes its candidate's values, ``(n, units)``.

    Parameters
    ----------
    starts, ends
        The coordinates of the inputs and of their candidates.
    """
    measure, unit_of = distance.in_space, rules.unit_of[distance.feature_of_coordinate]
    if isinstance(measure, L1 | L2):
        apart = np.abs(measure.stretch(ends - starts))
        order = np.argsort(unit_of, kind="stable")
        first = np.searchsorted(unit_of[order], np.arange(len(rules.units)))
        if isinstance(measure, L1):
            return np.add.reduceat(apart[:, order], first, axis=1)
        return np.sqrt(np.add.reduceat(apart[:, order] ** 2, first, axis=1))
    costs = np.empty((len(starts), len(rules.units)))
    for unit in range(len(rules.units)):
        moved = np.where(unit_of == unit, ends, starts)
        costs[:, unit] = measure.rowwise(starts, moved[:, None, :])[:, 0]
    return costs


def minimise(chosen: Chosen, search: Search, batch: QueryBatch) -> Chosen:
    """Search from the inputs towards all candidates that are not settled."""
    open_ = np.flatnonzero(~chosen.settled)
    if not len(open_):
        return chosen
    everything = len(open_) == len(chosen.owners)
    moved = on_steps(chosen if everything else chosen.take(open_), batch)
    starts, owners = batch.inputs[moved.owners], moved.owners
    coordinates = batch.embedded.coordinates[owners], moved.embedded.coordinates
    rules = batch.requirements.rules
    paths = Paths(batch.distance, starts, moved.rows, coordinates, rules)
    segments = Segments(
        paths.starts, paths.ends, moved.lengths, moved.codes, moved.farthest[owners]
    )

    def ask(points: Matrix, which: Indices) -> Codes:
        return batch.ask(paths.rows(points, which), owners[which])

    done = search.search(segments, ask)
    rows, codes = paths.rows(done.ends, np.arange(len(owners))), done.codes
    if not everything:
        found, rows, codes = (rows, codes), chosen.rows.copy(), chosen.codes.copy()
        rows[open_], codes[open_] = found
    return chosen.with_rows(rows, codes, batch)


def on_steps(chosen: Chosen, batch: QueryBatch) -> Chosen:
    """Put candidates onto the steps of the features, where the model still accepts them there.

    Candidates are training rows, which have any values. What is proposed to a person should have
    values that people speak of.
    """
    if batch.distance.table.is_plain:
        return chosen
    owners, codes = chosen.owners, chosen.codes.copy()
    rows, left = chosen.rows.copy(), np.arange(len(owners))
    # Rounded away from the input, a value stays on the side of the boundary where it was.
    for away in (False, True):
        proposed = batch.onto_steps(chosen.rows[left], owners[left], away=away)
        apart = changed(proposed, chosen.rows[left]).any(axis=1)
        left, proposed = left[apart], proposed[apart]
        if not len(left):
            break
        replies = batch.ask(proposed, owners[left])
        accepted = replies != REFUSED
        rows[left[accepted]], codes[left[accepted]] = proposed[accepted], replies[accepted]
        left = left[~accepted]
    return chosen.with_rows(rows, codes, batch)
