"""QueryBatch: which rows count as counterfactuals of the inputs of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np

from counterset._base.arrays import (
    Codes,
    Counts,
    Indices,
    Labels,
    Mask,
    Matrix,
    Moves,
    Vector,
    row_blocks,
    to_python,
)
from counterset._base.lazy import Lazy
from counterset.constraints.plausibility import DataSupport
from counterset.constraints.rules import Rules
from counterset.models.adapter import ModelAdapter
from counterset.models.answers import Answers
from counterset.models.goals import Classes, Goal, is_confident
from counterset.strategies.anonymity import RareRows
from counterset.strategies.directions import FARTHER
from counterset.tables.space import Embedded, TableDistance
from counterset.tables.table import changed

__all__ = [
    "NO_ROW",
    "REFUSED",
    "UNASKED",
    "Ask",
    "Bar",
    "Chosen",
    "QueryBatch",
    "Requirements",
    "RowQuota",
]

#: In place of a class code: the row is no counterfactual.
REFUSED = -1
#: In place of a class code: the model was not asked about the row yet.
UNASKED = -2
#: In place of a row of the pool: a candidate that comes from no single one.
NO_ROW = -1
#: 1000 rows at a time become points, up to 1 MB for 100 coordinates: that fits the cache.
ROWS_EMBEDDED = 1000

#: Takes rows, and the position of what each belongs to (an input, a segment). Returns the class
#: code of each row that is acceptable there, and ``REFUSED`` for the others.
Ask: TypeAlias = Callable[[Matrix, Indices], Codes]


class Bar(Protocol):
    """What an option must pass besides reaching the goal; see ``strategies/bars.py``."""

    def passes(self, batch: QueryBatch, rows: Matrix, owners: Indices) -> Mask:
        """Return which rows pass, of rows that reach the goals of their inputs."""
        ...


@dataclass(frozen=True)
class Requirements:
    """What a counterfactual must satisfy, besides being close and different.

    Attributes
    ----------
    goal
        Which labels of the model are acceptable.
    probability
        How probable the model must find its label, or None.
    rules
        The constraints.
    support
        What is plausible, or None.
    count
        How many counterfactuals are wanted.
    own_rules
        The explainer's own constraints, for which strategies learn; None: ``rules`` are those.
    rare
        The training rows that no option may equal, or None: any may.
    bars
        What a counterfactual must pass besides. The classes of training rows do not tell whether
        they pass, and nothing is learned for it.
    """

    goal: Goal
    probability: float | None
    rules: Rules
    support: DataSupport | None
    count: int = 5
    own_rules: Rules | None = None
    rare: RareRows | None = None
    bars: tuple[Bar, ...] = ()

    @property
    def rules_to_learn_for(self) -> Rules:
        """The constraints for which strategies learn: what others forbid is passed over later."""
        return self.rules if self.own_rules is None else self.own_rules


class RowQuota:
    """How many rows the model may be asked about on behalf of each input.

    Parameters
    ----------
    most
        How many for each.
    count
        How many inputs there are.
    """

    def __init__(self, most: int, count: int) -> None:
        self.most = most
        # Parts of a batch share these, each with the places of its inputs.
        self._asked, self._short = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=bool)
        self._place = np.arange(count)

    @property
    def cut_short(self) -> Mask:
        """Which inputs had more rows to ask about."""
        return self._short[self._place]

    def take(self, which: Indices) -> RowQuota:
        """Return the quota of some of the inputs, which counts with this one."""
        part = copy(self)
        part._place = self._place[which]
        return part

    def grant(self, owners: Indices) -> Mask:
        """Return about which rows the model may be asked, given the input of each; count them."""
        place = self._place[owners]
        order = np.argsort(place, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order)) - np.searchsorted(place[order], place[order])
        granted = rank < self.most - self._asked[place]
        np.add.at(self._asked, place[granted], 1)
        self._short[place[~granted]] = True
        return granted


@dataclass
class QueryBatch:
    """Judges rows on behalf of the inputs of a batch.

    Attributes
    ----------
    model
        What is asked for labels.
    distance
        How rows are compared.
    classes
        The labels of the training rows, and their codes.
    requirements
        What a counterfactual must satisfy.
    inputs, input_labels
        The inputs, ``(n, d)``, and what the model predicts for them.
    unseen
        The codes of labels that no training row has. Groups of one call share them, so that a code
        means the same in all.
    quota
        About how many rows the model may be asked, or None: any number.
    withheld
        How many options were left out at a time because they equal a rare training row, see
        :func:`~counterset.strategies.candidates.without_rare`. Parts of a batch share this list.
    directions
        In which direction each feature helps each input, ``(n, d)``: 2 and -2 where it usually
        does, 1 and -1 where it does more often. Then options against a usual direction come last,
        and no two options of an input move a feature in opposite directions. None: directions do
        not matter.
    """

    model: ModelAdapter
    distance: TableDistance
    classes: Classes
    requirements: Requirements
    inputs: Matrix
    input_labels: Labels
    unseen: dict[Any, int] = field(default_factory=dict, repr=False)
    quota: RowQuota | None = field(default=None, repr=False)
    withheld: list[int] = field(default_factory=list, repr=False)
    directions: Moves | None = field(default=None, repr=False)

    @cached_property
    def embedded(self) -> Embedded:
        """The inputs as points of the space, embedded once."""
        return self.distance.embed(self.inputs)

    @cached_property
    def input_codes(self) -> Codes:
        """The class codes of the inputs."""
        return self.codes(self.input_labels)

    @cached_property
    def fixed_coordinates(self) -> Mask:
        """Which coordinates of the space can never change."""
        fixed = np.flatnonzero(self.requirements.rules.fixed)
        return np.isin(self.distance.feature_of_coordinate, fixed)

    def take(self, which: Indices) -> QueryBatch:
        """Return the batch of some of the inputs; both have the same class codes."""
        part = replace(self, inputs=self.inputs[which], input_labels=self.input_labels[which])
        part.embedded = self.embedded.take(which)
        part.quota = None if self.quota is None else self.quota.take(which)
        part.directions = None if self.directions is None else self.directions[which]
        return part

    def with_directions(self, directions: Moves) -> QueryBatch:
        """Return the same batch with the direction in which each feature helps each input."""
        part = replace(self, directions=directions)
        part.embedded, part.input_codes = self.embedded, self.input_codes
        return part

    def with_bar(self, bar: Bar) -> QueryBatch:
        """Return the same batch with another bar that options must pass."""
        required = self.requirements
        higher = replace(required, bars=(*required.bars, bar))
        part = replace(self, requirements=higher, withheld=[])
        part.embedded, part.input_codes = self.embedded, self.input_codes
        return part

    def alone(self, which: Indices) -> QueryBatch:
        """Return the batch of some of the inputs, which shares nothing that is written to."""
        return replace(
            self,
            model=self.model.fresh(),
            inputs=self.inputs[which],
            input_labels=self.input_labels[which],
            unseen={},
            withheld=[],
            quota=None if self.quota is None else RowQuota(self.quota.most, len(which)),
        )

    def codes(self, labels: Labels) -> Codes:
        """Return the class codes of labels; one that no training row has gets a code of its own."""
        codes = self.classes.codes(labels)
        for i in np.flatnonzero(codes < 0):
            next_code = len(self.classes) + len(self.unseen)
            codes[i] = self.unseen.setdefault(to_python(labels[i]), next_code)
        return codes

    def labels(self, codes: Codes) -> Labels:
        """Return the labels that class codes stand for."""
        known = self.classes.labels
        if not self.unseen:
            return known[codes]
        unseen = np.array(list(self.unseen))
        if "O" in (known.dtype.kind, unseen.dtype.kind) or known.dtype.kind != unseen.dtype.kind:
            known, unseen = known.astype(object), np.array([*self.unseen, None], dtype=object)[:-1]
        return np.concatenate([known, unseen])[codes]

    def lengths(self, embedded: Embedded, owners: Indices) -> Vector:
        """Return the distance of each embedded row from the input that owns it."""
        return self.distance.in_space.rowwise(
            self.embedded.coordinates[owners], embedded.coordinates[:, None, :]
        )[:, 0]

    def lengths_of(self, rows: Matrix, owners: Indices) -> Vector:
        """Return the distance of each row from the input that owns it, without keeping points."""
        lengths, x = np.empty(len(rows)), self.embedded.coordinates
        for block in row_blocks(len(rows), ROWS_EMBEDDED):
            points = self.distance.coordinates(rows[block])[:, None, :]
            lengths[block] = self.distance.in_space.rowwise(x[owners[block]], points)[:, 0]
        return lengths

    def ask(self, rows: Matrix, owners: Indices, *, again: bool = False) -> Codes:
        """Return the class codes of acceptable rows, ``REFUSED`` for the others; see ``Ask``.

        Rows beyond the quota of their inputs are refused: what is accepted stays as it was.

        Parameters
        ----------
        again
            Whether to ask the model even about rows of which its answer is known, without a quota.
        """
        codes = self._ask(rows, owners, again)
        unlimited = replace(self, quota=None) if again else self
        for bar in self.requirements.bars:
            left = np.flatnonzero(codes != REFUSED)
            codes[left[~bar.passes(unlimited, rows[left], owners[left])]] = REFUSED
        return codes

    def reaches(self, rows: Matrix, owners: Indices) -> Mask:
        """Return which rows reach the goals of inputs, whatever the constraints.

        Rows beyond the quota of their inputs do not count as such.
        """
        reached = np.ones(len(rows), dtype=bool)
        if self.quota is not None:
            reached = self.quota.grant(owners)
        if reached.any():
            codes = self._read(self.model.answers_once(rows[reached]), owners[reached])
            reached[reached] = codes != REFUSED
        return reached

    def _ask(self, rows: Matrix, owners: Indices, again: bool) -> Codes:
        """Return the class codes of rows that reach the goal, whatever the bars."""
        ask = self.model.answers if again else self.model.answers_once
        possible = self.is_possible(rows, owners)
        if self.quota is not None and not again:
            possible[possible] = self.quota.grant(owners[possible])
        if possible.all() and len(rows):
            return self._read(ask(rows), owners)
        codes = np.full(len(rows), REFUSED, dtype=np.intp)
        if possible.any():
            codes[possible] = self._read(ask(rows[possible]), owners[possible])
        return codes

    def is_possible(self, rows: Matrix, owners: Indices) -> Mask:
        """Return which rows differ from their inputs, keep the constraints, and are plausible."""
        x, required = self.inputs[owners], self.requirements
        possible = np.asarray(changed(x, rows).any(axis=1))
        if required.rules:
            possible &= required.rules.hold(x, rows)
        if required.support is not None and possible.any():
            possible[possible] = required.support.has(self.distance.coordinates(rows[possible]))
        return possible

    def within_constraints(self, rows: Matrix, owners: Indices) -> Matrix:
        """Move rows to where the constraints of their inputs hold, as far as that goes."""
        x = self.inputs[owners]
        return self.distance.table.hold(self.requirements.rules.project(x, rows), x)

    def onto_steps(self, rows: Matrix, owners: Indices, *, away: bool = False) -> Matrix:
        """Move rows to values that counterfactuals of their inputs may take, as far as that goes.

        They are moved onto the steps of the features, then onto the constraints. Features that
        change together take values of a training row, which have no steps.

        Parameters
        ----------
        away
            Whether to move numbers away from the inputs' own, in place of to the nearest step.
        """
        table, x = self.distance.table, self.inputs[owners]
        snapped = table.snap_away(rows, x) if away else table.snap(rows, x)
        for group in self.requirements.rules.groups:
            snapped[:, group] = rows[:, group]
        return self.within_constraints(snapped, owners)

    def moves(self, rows: Matrix, owners: Indices) -> Moves:
        """Return where rows raise (1) or lower (-1) a feature of their inputs, ``(m, d)``."""
        return self.distance.table.moves(self.inputs[owners], rows)

    def unusual(self, rows: Matrix, owners: Indices) -> Mask:
        """Return which features rows move against the direction that usually helps, ``(m, d)``."""
        return self._along(rows, owners) < -1

    def against(self, rows: Matrix, owners: Indices) -> Mask:
        """Return which rows go against a direction that helps more often, ``(m,)``."""
        against: Mask = (self._along(rows, owners) < 0).any(axis=1)
        return against

    def _along(self, rows: Matrix, owners: Indices) -> Moves:
        """Return how far rows follow the directions: from 2, a usual one, to -2, against it."""
        if self.directions is None:
            return np.zeros(rows.shape, dtype=np.int8)
        along: Moves = self.moves(rows, owners) * self.directions[owners]
        return along

    def _read(self, answers: Answers, owners: Indices) -> Codes:
        """Return the class codes of acceptable answers, ``REFUSED`` for the others."""
        accepted = self.requirements.goal.accepts(answers.labels, self.input_labels[owners])
        if self.requirements.probability is not None:
            accepted &= is_confident(answers, self.requirements.probability)
        codes = np.full(len(accepted), REFUSED, dtype=np.intp)
        codes[accepted] = self.codes(answers.labels[accepted])
        return codes


@dataclass(frozen=True)
class Chosen:
    """Chosen candidates, each for one input.

    Attributes
    ----------
    owners
        The input that each belongs to, ascending.
    pool_index
        The row of the pool that each comes from; -1: from no single one.
    rows
        The candidates themselves: rows of the pool, moved onto constraints or towards the input.
    codes
        The class code of each.
    embedded
        The candidates as points of the space.
    lengths
        The distance of each from its input.
    settled
        Which of them step 4 leaves where they are.
    n_candidates
        For each input, how many candidates step 2 left to choose from.
    farthest
        For each input, the distance of the farthest of those, if step 4 needs it; else 0.
    stable_radius
        For each input, within what distance the choice stays the same (NaN: not proved), or None.
    list_radius
        For each input, within what distance it is offered the same list (NaN: not proved), or None.
    from_list
        Which of them come from such a list; None: there is none, or all do.
    unusual
        Which features each moves against the direction that usually helps, ``(m, d)``; None: there
        are no such directions.
    safe
        Which of them pass the bar of safe options; None: there is no such bar.
    """

    owners: Indices
    pool_index: Indices
    rows: Matrix
    codes: Codes
    embedded: Embedded
    lengths: Vector
    settled: Mask
    n_candidates: Counts
    farthest: Vector
    stable_radius: Lazy[Vector] | None = None
    list_radius: Lazy[Vector] | None = None
    from_list: Mask | None = None
    unusual: Mask | None = None
    safe: Mask | None = None

    @cached_property
    def counts(self) -> Counts:
        """How many candidates each input has."""
        return np.bincount(self.owners, minlength=len(self.n_candidates))

    def take(self, which: Indices) -> Chosen:
        """Return some of the candidates."""
        return replace(
            self,
            owners=self.owners[which],
            pool_index=self.pool_index[which],
            rows=self.rows[which],
            codes=self.codes[which],
            embedded=self.embedded.take(which),
            lengths=self.lengths[which],
            settled=self.settled[which],
            from_list=None if self.from_list is None else self.from_list[which],
            unusual=None if self.unusual is None else self.unusual[which],
            safe=None if self.safe is None else self.safe[which],
        )

    def among(self, inputs: Indices, n: int) -> Chosen:
        """Return candidates of some inputs as those of a batch of ``n``, of which these are part.

        Parameters
        ----------
        inputs
            The position of each input in the batch.
        """
        n_candidates, farthest = np.zeros(n, dtype=np.intp), np.zeros(n)
        n_candidates[inputs], farthest[inputs] = self.n_candidates, self.farthest
        return replace(
            self, owners=inputs[self.owners], n_candidates=n_candidates, farthest=farthest
        )

    @classmethod
    def empty(cls, batch: QueryBatch) -> Chosen:
        """Return no candidates, for every input of a batch."""
        none, n = np.empty(0, dtype=np.intp), len(batch.inputs)
        rows = batch.inputs[:0]
        embedded = batch.embedded.take(none)
        counts, farthest = np.zeros(n, dtype=np.intp), np.zeros(n)
        return cls(
            none, none, rows, none, embedded, np.empty(0), none.astype(bool), counts, farthest
        )

    @classmethod
    def accepted(
        cls,
        batch: QueryBatch,
        rows: Matrix,
        owners: Indices,
        *,
        pool_index: Indices | None = None,
        most: int | None = None,
    ) -> Chosen:
        """Ask the model about rows, and return those that are counterfactuals, nearest first.

        What a strategy of one's own needs: pass it to :func:`~counterset.strategies.verified`.

        Parameters
        ----------
        rows
            Rows as the training data is encoded, ``(m, d)``.
        owners
            The position in the batch of the input that each is for.
        pool_index
            The row of the pool that each comes from; None: from no single one.
        most
            How many to return for each input at most; None: all.
        """
        codes = batch.ask(rows, owners)
        kept = np.flatnonzero(codes != REFUSED)
        embedded = batch.distance.embed(rows[kept])
        found = replace(
            cls.empty(batch),
            owners=owners[kept],
            pool_index=np.full(len(kept), NO_ROW) if pool_index is None else pool_index[kept],
            rows=rows[kept],
            codes=codes[kept],
            embedded=embedded,
            lengths=batch.lengths(embedded, owners[kept]),
            settled=np.ones(len(kept), dtype=bool),
        ).nearest_first(batch)
        found = replace(found, n_candidates=found.counts)
        if most is None:
            return found
        place = np.arange(len(found.owners)) - np.searchsorted(found.owners, found.owners)
        return found.take(np.flatnonzero(place < most))

    def with_rows(self, rows: Matrix, codes: Codes, batch: QueryBatch) -> Chosen:
        """Return the candidates with other rows in their place."""
        embedded = batch.distance.embed(rows)
        lengths = batch.lengths(embedded, self.owners)
        return replace(self, rows=rows, codes=codes, embedded=embedded, lengths=lengths)

    def nearest_first(self, batch: QueryBatch, training_index: Indices | None = None) -> Chosen:
        """Sort the candidates by input, then by distance, then by training row.

        Candidates against the direction that helps more often count as farther.

        Parameters
        ----------
        training_index
            The training row of each row of the pool; None: as they stand.
        """
        rows = (
            np.arange(len(self.owners))
            if training_index is None
            else training_index[self.pool_index]
        )
        against = batch.against(self.rows, self.owners)
        lengths = np.where(against, FARTHER, 1.0) * self.lengths
        return self.take(np.lexsort((rows, lengths, self.owners)))

    def with_others(self, others: Chosen) -> Chosen:
        """Add candidates of inputs that have none; they come from no list."""
        both = Chosen.joined(
            [self, others],
            np.where(self.counts > 0, self.n_candidates, others.n_candidates),
            np.where(self.counts > 0, self.farthest, others.farthest),
        )
        from_list = None
        if self.from_list is not None:
            from_list = np.zeros(len(both.owners), dtype=bool)
            from_list[self.counts[both.owners] > 0] = self.from_list
        return replace(
            both,
            stable_radius=self.stable_radius,
            list_radius=self.list_radius,
            from_list=from_list,
        )

    @classmethod
    def joined(cls, parts: Sequence[Chosen], n_candidates: Counts, farthest: Vector) -> Chosen:
        """Put candidates together, in the order of the inputs."""
        joined = cls(
            np.concatenate([part.owners for part in parts]),
            np.concatenate([part.pool_index for part in parts]),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.codes for part in parts]),
            _joined([part.embedded for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.settled for part in parts]),
            n_candidates,
            farthest,
            from_list=_joined_masks([each.from_list for each in parts], parts, True),
            unusual=_joined_masks([each.unusual for each in parts], parts, False),
            safe=_joined_masks([each.safe for each in parts], parts, False),
        )
        return joined.take(np.argsort(joined.owners, kind="stable"))


def _joined_masks(
    masks: Sequence[Mask | None], parts: Sequence[Chosen], default: bool
) -> Mask | None:
    """Put a mask of each part together; None if no part has one."""
    known = [mask for mask in masks if mask is not None]
    if not known:
        return None
    return np.concatenate(
        [
            np.full((len(part.owners), *known[0].shape[1:]), default) if mask is None else mask
            for mask, part in zip(masks, parts, strict=True)
        ]
    )


def _joined(parts: list[Embedded]) -> Embedded:
    coordinates = np.concatenate([part.coordinates for part in parts])
    if all(part.directions is part.coordinates for part in parts):
        return Embedded(coordinates, coordinates)
    return Embedded(coordinates, np.concatenate([part.directions for part in parts]))
