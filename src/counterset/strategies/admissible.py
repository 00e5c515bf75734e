"""Admissible rows: rows that are put together within the constraints of an input.

Training rows that are moved onto the constraints can lose what made them candidates, so that an
input is left with nothing although it has options. Then rows are tried that are put together of
training values: one feature alone is changed, or many are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset.constraints.rules import Allowed, InRange
from counterset.strategies.batch import NO_ROW, REFUSED, Chosen, QueryBatch
from counterset.strategies.selection import Selector
from counterset.strategies.training import CandidatePool
from counterset.tables.table import changed

__all__ = ["Proposals", "search_admissible"]

#: One feature alone is set to up to 40 values of its training column, with equally many rows
#: between them; in a wide table to fewer, so that there are some 4000 such rows, but at least to 4.
MOST_VALUES, SINGLE_ROWS, LEAST_VALUES = 40, 4000, 4
#: Rows that change many features are tried in blocks of 256, 1024 and 4096 rows and so on, up to
#: 20,000, until one leads to the goal. A block has 4 million numbers at most, 32 MB.
FIRST_BLOCK, GROWTH, MOST_ROWS, MOST_NUMBERS = 256, 4, 20_000, 4_000_000
#: Of 4 rows, 2 change all features and 1 changes some, to values of training rows; 1 changes some
#: to values that the constraints allow alone, half of them the least or the most. Each kind finds
#: options that the others miss.
KINDS, EXTREME = 4, 0.5
#: The draws are the same for all inputs.
SEED = 0
#: What is found goes on with the nearest 24 rows: many turn out to be the same option.
MOST_FOUND = 24


def search_admissible(selector: Selector, batch: QueryBatch) -> Chosen:
    """Return rows within the constraints that lead to the goal, the nearest of each input.

    They hold changes that are not needed. What an input gets does not depend on the others.
    """
    found = [Chosen.empty(batch)]
    for members, eligible in selector.eligible(batch):
        proposals, open_ = Proposals.of(selector.pool, eligible, batch), members
        for draws in [None, *proposals.draws()]:
            count = max(1, proposals.count if draws is None else len(draws.values))
            at_once = max(1, MOST_NUMBERS // (count * batch.inputs.shape[1]))
            for start in range(0, len(open_), at_once):
                found.append(_accepted(proposals, open_[start : start + at_once], draws))
            open_ = np.setdiff1d(open_, np.concatenate([part.owners for part in found]))
            if not len(open_):
                break
    joined = Chosen.joined(found, found[0].n_candidates, found[0].farthest)
    return replace(joined, n_candidates=joined.counts)


def _accepted(proposals: Proposals, inputs: Indices, draws: Draws | None) -> Chosen:
    """Return the nearest proposals to each input that lead to the goal."""
    batch = proposals.batch
    parts = [proposals.rows(int(each), draws) for each in inputs]
    rows, owners = np.concatenate(parts), np.repeat(inputs, [len(part) for part in parts])
    codes = batch.ask(rows, owners)
    kept = np.flatnonzero(codes != REFUSED)
    lengths = batch.lengths_of(rows[kept], owners[kept])
    order = np.lexsort((lengths, owners[kept]))
    kept, lengths = kept[order], lengths[order]
    nearest = np.arange(len(kept)) - np.searchsorted(owners[kept], owners[kept]) < MOST_FOUND
    kept, lengths = kept[nearest], lengths[nearest]
    return replace(
        Chosen.empty(batch),
        owners=owners[kept],
        pool_index=np.full(len(kept), NO_ROW),
        rows=rows[kept],
        codes=codes[kept],
        embedded=batch.distance.embed(rows[kept]),
        lengths=lengths,
        settled=np.zeros(len(kept), dtype=bool),
    )


@dataclass(frozen=True)
class Draws:
    """What is drawn for a block of rows, the same for all inputs.

    Attributes
    ----------
    values
        Values of training rows, ``(n, d)``.
    changes
        Which units change, ``(n, units)``.
    place
        Where the value of a unit lies among those that the constraints allow alone, from 0 to 1.
    alone
        Which rows take such values in place of the others.
    """

    values: Matrix
    changes: Mask
    place: Matrix
    alone: Mask


@dataclass(frozen=True)
class Proposals:
    """Rows to try for inputs that may move towards the same training rows.

    Attributes
    ----------
    training
        The training rows whose values are used.
    batch
        The inputs and their constraints.
    """

    training: Matrix
    batch: QueryBatch

    @classmethod
    def of(cls, pool: CandidatePool, eligible: Mask, batch: QueryBatch) -> Proposals:
        """Take values of the rows that lead to the goal; if there are none, of all rows."""
        training = pool.matrix[eligible] if eligible.any() else pool.matrix
        return cls(training, batch)

    @property
    def count(self) -> int:
        """How many rows change one unit alone, at most."""
        return len(self._settings[0])

    def draws(self) -> Iterator[Draws]:
        """Yield what is drawn for block after block."""
        features, units = self.training.shape[1], len(self._units)
        start, size = 0, FIRST_BLOCK
        while start < MOST_ROWS:
            size = min(size, MOST_ROWS - start, max(FIRST_BLOCK, MOST_NUMBERS // features))
            random = np.random.default_rng([SEED, start])
            # The features of a unit take the values of one row.
            which = random.integers(len(self.training), size=(size, units))
            values = self.training[which[:, self._unit_of], np.arange(features)]
            kind = np.arange(size) % KINDS
            share = np.where(kind < 2, 1.0, random.random(size))
            changes = random.random((size, units)) < share[:, None]
            place = (random.random((size, units)) - EXTREME / 2) / (1 - EXTREME)
            yield Draws(values, changes, np.clip(place, 0, 1), kind == KINDS - 1)
            start, size = start + size, size * GROWTH

    def rows(self, position: int, draws: Draws | None) -> Matrix:
        """Return rows within the constraints of an input; without draws, one unit changes alone."""
        x = self.batch.inputs[position]
        single, unit_of = self._single(position)
        if draws is None:
            return single
        units = np.arange(len(self._units))
        first, count = np.searchsorted(unit_of, units), np.bincount(unit_of, minlength=len(units))
        place = np.rint(draws.place[draws.alone] * (count - 1)).astype(np.intp)
        at = np.where(count > 0, first + place, len(single))[:, self._unit_of]
        values = draws.values.copy()
        values[draws.alone] = np.concatenate([single, x[None]])[at, np.arange(len(x))]
        rows = np.where(draws.changes[:, self._unit_of], values, x)
        return self._within_constraints(rows, position)

    def _single(self, position: int) -> tuple[Matrix, Indices]:
        """Return rows in which one unit is changed, and that unit, ascending."""
        x = self.batch.inputs[position]
        values, unit_of = self._settings
        is_set = self._unit_of == unit_of[:, None]
        rows = self._within_constraints(np.where(is_set, values, x), position)
        # What is set may have been moved back, and another feature of a relation in its place.
        differs = np.flatnonzero((changed(x[None], rows) & is_set).any(axis=1))
        return rows[differs], unit_of[differs]

    def _within_constraints(self, rows: Matrix, position: int) -> Matrix:
        owners = np.full(len(rows), position)
        return self.batch.onto_steps(rows, owners)

    @cached_property
    def _settings(self) -> tuple[Matrix, Indices]:
        """The values that single units are set to, in rows ``(m, d)``, and the unit of each."""
        known = self.batch.distance.table.without_special(self.training)
        most = int(np.clip(SINGLE_ROWS // len(self._units), LEAST_VALUES, MOST_VALUES))
        parts, unit_of = [], []
        for i, unit in enumerate(self._units):
            columns = known[:, unit]
            columns = columns[~np.isnan(columns).any(axis=1)]
            values = np.empty((0, len(unit)))
            if len(columns):
                # By the first column of a group, which takes whole rows.
                order = np.lexsort(columns.T[::-1])
                picked = np.linspace(0, len(order) - 1, most).astype(np.intp)
                values = np.unique(columns[order[picked]], axis=0)
            if len(unit) == 1:
                more = self._allowed(int(unit[0]))
                values = np.unique(np.concatenate([values[:, 0], more]))[:, None]
            rows = np.zeros((len(values), known.shape[1]))
            rows[:, unit] = values
            parts.append(rows)
            unit_of += [i] * len(values)
        return np.concatenate(parts), np.array(unit_of, dtype=np.intp)

    def _allowed(self, feature: int) -> Vector:
        """Return the values that constraints name: allowed ones, and the ends of ranges."""
        values: list[float] = []
        rules = self.batch.requirements.rules
        moves = [move for condition in rules.conditions for move in condition.moves]
        for rule in itertools.chain(rules.rules, *moves):
            if isinstance(rule, Allowed) and rule.at == feature:
                values += rule.codes.tolist()
            if isinstance(rule, InRange) and rule.at == feature:
                # An open end is no value: of whole numbers it is the largest of their dtype.
                ends = (rule.first, rule.low), (rule.last, rule.high)
                values += [end for end, declared in ends if np.isfinite(declared)]
        return np.array(values)

    @property
    def _units(self) -> list[Indices]:
        return self.batch.requirements.rules.units

    @property
    def _unit_of(self) -> Indices:
        return self.batch.requirements.rules.unit_of
