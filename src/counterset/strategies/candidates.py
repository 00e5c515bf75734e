"""Steps 1 to 3 over training rows, as they are or moved onto the constraints of an input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from counterset._base.arrays import Indices, Mask, Matrix
from counterset.strategies.batch import REFUSED, UNASKED, Chosen, QueryBatch
from counterset.strategies.ranking import NearestCandidates, Ranking
from counterset.strategies.selection import NONE_LEFT, Selection, Selector
from counterset.strategies.training import CandidatePool, Candidates
from counterset.tables.space import Embedded
from counterset.tables.table import changed

__all__ = [
    "MovedRows",
    "Pick",
    "Viewpoints",
    "asked",
    "choose_rows",
    "moved_onto_rules",
    "pick_diverse",
    "without_inputs",
    "without_rare",
]

#: Of candidates that stay as they are, the nearest 64 are looked at first.
NEAREST = 64

#: Where no candidate that step 2 leaves stays acceptable when it is moved onto the constraints, the
#: nearest 10,000 are moved first, and step 2 is taken among those that stay so. Some inputs are
#: taken at a time: 4 million numbers, 32 MB.
MOST_MOVED, NUMBERS_AT_ONCE = 10_000, 4_000_000
#: With a margin each takes a hundred rows to ask about, so that 2,000 are moved.
MOST_WITH_BARS = 2000

#: Returns the points from which the candidates of each input are ranked.
Viewpoints: TypeAlias = Callable[[QueryBatch], Embedded]
#: Takes step 3 among candidates of each input's own, sorted by distance. The model may not have
#: been asked about some of them.
Pick: TypeAlias = Callable[[Selector, Chosen, QueryBatch], Chosen]


def own_viewpoints(batch: QueryBatch) -> Embedded:
    """Return the inputs themselves."""
    return batch.embedded


def choose_rows(selector: Selector, batch: QueryBatch) -> Chosen:
    """Choose training rows as they are, for every input: the paper's steps 1 to 3."""
    pool, x = selector.pool, batch.embedded
    parts = [
        (members, selector.select(x.take(members), eligible))
        for members, eligible in selector.eligible(batch)
    ]
    selection = Selection.joined(parts, len(x))
    owners, ranks = np.nonzero(selection.pool_index != NONE_LEFT)
    pool_index = selection.pool_index[owners, ranks]
    embedded = pool.embedded.take(pool_index)
    return Chosen(
        owners,
        pool_index,
        pool.matrix[pool_index],
        pool.codes[pool_index],
        embedded,
        batch.lengths(embedded, owners),
        np.zeros(len(owners), dtype=bool),
        selection.n_candidates,
        selection.farthest,
    )


def without_inputs(chosen: Chosen, batch: QueryBatch) -> Chosen:
    """Drop candidates that are equal to their inputs: from another viewpoint, some may be."""
    differs = np.asarray(changed(batch.inputs[chosen.owners], chosen.rows).any(axis=1))
    return chosen if differs.all() else chosen.take(np.flatnonzero(differs))


@dataclass(frozen=True)
class MovedRows:
    """Choose among candidates that are moved onto the constraints before step 3 compares them.

    Attributes
    ----------
    pick
        Takes step 3.
    viewpoints
        From where candidates are ranked and cut off.
    """

    selector: Selector
    pick: Pick
    viewpoints: Viewpoints = own_viewpoints

    def choose(self, batch: QueryBatch) -> Chosen:
        """Choose candidates for every input."""
        selector, x = self.selector, self.viewpoints(batch)
        # What cannot change makes no candidate farther than another.
        ignored = batch.fixed_coordinates
        n_candidates, farthest = np.zeros(len(x), dtype=np.intp), np.zeros(len(x))
        parts = [Chosen.empty(batch)]
        for members, eligible in selector.eligible(batch):
            for some, candidates, ranking in selector.rank(x.take(members), eligible, ignored):
                farthest[members[some]] = selector.farthest(ranking)
                who, which = ranking.left()
                owners, pool_index = members[some[who]], candidates.positions[which]
                if self._looks_at_nearest(batch):
                    near = _nearest(selector.pool, batch, members[some], candidates, ranking)
                    found = self._pick(near, batch)
                    done = found.counts == selector.most
                    n_candidates[done] = near.counts[done]
                    parts.append(found.take(np.flatnonzero(done[found.owners])))
                    open_ = ~done[owners]
                    owners, pool_index = owners[open_], pool_index[open_]
                moved = moved_onto_rules(selector.pool, batch, owners, pool_index)
                if self.pick is pick_diverse:
                    moved = asked(moved, batch)
                n_candidates += moved.counts
                parts.append(self._pick(moved, batch))
        return Chosen.joined(parts, n_candidates, farthest)

    def choose_beyond_the_cut(self, batch: QueryBatch) -> Chosen:
        """Choose for inputs that have nothing: step 2 comes after moving, and not before it."""
        at_once = max(1, NUMBERS_AT_ONCE // (MOST_MOVED * batch.inputs.shape[1]))
        found = Chosen.empty(batch)
        for start in range(0, len(batch.inputs), at_once):
            some = np.arange(start, min(start + at_once, len(batch.inputs)))
            part = self._choose_after_moving(batch.take(some))
            found = found.with_others(part.among(some, len(batch.inputs)))
        return found

    def _choose_after_moving(self, batch: QueryBatch) -> Chosen:
        x, ignored = self.viewpoints(batch), batch.fixed_coordinates
        most = MOST_WITH_BARS if batch.requirements.bars else MOST_MOVED
        selector = replace(self.selector, cutoff=NearestCandidates(most))
        n_candidates, farthest = np.zeros(len(x), dtype=np.intp), np.zeros(len(x))
        parts = [Chosen.empty(batch)]
        for members, eligible in selector.eligible(batch):
            for some, candidates, ranking in selector.rank(x.take(members), eligible, ignored):
                who, which = ranking.left()
                owners, pool_index = members[some[who]], candidates.positions[which]
                moved = moved_onto_rules(selector.pool, batch, owners, pool_index)
                moved = asked(moved, batch)
                place = np.searchsorted(members[some], moved.owners)
                column = np.searchsorted(candidates.positions, moved.pool_index)
                refused = np.ones((len(some), len(candidates)), dtype=bool)
                refused[place, column] = False
                ranking.drop(refused)
                self.selector.cutoff.cut(ranking)
                farthest[members[some]] = self.selector.farthest(ranking)
                left = np.zeros_like(refused)
                left[ranking.left()] = True
                moved = moved.take(np.flatnonzero(left[place, column]))
                n_candidates += moved.counts
                parts.append(self._pick(moved, batch))
        return Chosen.joined(parts, n_candidates, farthest)

    def _pick(self, candidates: Chosen, batch: QueryBatch) -> Chosen:
        """Take step 3 among candidates in any order."""
        training_index = self.selector.pool.training_index
        return self.pick(self.selector, candidates.nearest_first(batch, training_index), batch)

    def _looks_at_nearest(self, batch: QueryBatch) -> bool:
        """Whether the first of the candidates are often enough, and are found without the rest."""
        rules = batch.requirements.rules
        return self.pick is pick_diverse and rules.moves_gaps_only and self._from_inputs

    @property
    def _from_inputs(self) -> bool:
        return self.viewpoints is own_viewpoints


def _nearest(
    pool: CandidatePool,
    batch: QueryBatch,
    inputs: Indices,
    candidates: Candidates,
    ranking: Ranking,
) -> Chosen:
    """Return the acceptable candidates up to some distance from each input, if only gaps move them.

    Step 3 goes from the nearest candidate on, so that it chooses the same among these as among
    all, as long as it finds enough. The ranking is used up.
    """
    positions = candidates.positions
    gaps = pool.has_gaps[positions]
    who, which = ranking.left()
    moves = gaps[which]
    moved = moved_onto_rules(pool, batch, inputs[who[moves]], positions[which[moves]])
    moved = asked(moved, batch)
    ranking.drop(gaps)
    is_cut = np.zeros(len(batch.inputs), dtype=bool)
    is_cut[inputs] = ranking.count() > NEAREST
    ranking.keep_nearest(NEAREST)
    who, which = ranking.left()
    near = moved_onto_rules(pool, batch, inputs[who], positions[which])
    as_they_are = asked(near, batch)
    end = np.zeros(len(batch.inputs))
    np.maximum.at(end, near.owners, near.lengths)
    end[~is_cut] = np.inf
    both = Chosen.joined([moved, as_they_are], moved.n_candidates, moved.farthest)
    return both.take(np.flatnonzero(both.lengths < end[both.owners]))


def moved_onto_rules(
    pool: CandidatePool, batch: QueryBatch, owners: Indices, pool_index: Indices
) -> Chosen:
    """Move rows of the pool onto the constraints; those that moved have the code ``UNASKED``.

    Parameters
    ----------
    owners, pool_index
        The input that each is a candidate of, ascending, and its position in the pool.
    """
    rules = batch.requirements.rules
    rows, x = pool.matrix[pool_index], batch.inputs[owners]
    codes = pool.codes[pool_index]
    if batch.requirements.bars:  # the class that a row had in fit does not tell enough
        codes = np.full_like(codes, UNASKED)
    as_they_are = not rules or (rules.moves_gaps_only and not pool.has_gaps[pool_index].any())
    if not as_they_are:
        moved = batch.within_constraints(rows, owners)
        # A row that stays where it is has the class that it had in fit.
        apart = changed(rows, moved).any(axis=1)
        rows, codes = moved, np.where(apart, UNASKED, codes)
        codes[~rules.hold(x, moved)] = REFUSED
    # From another viewpoint, the input itself can be among the candidates.
    kept = np.flatnonzero((codes != REFUSED) & changed(x, rows).any(axis=1))
    owners, pool_index, rows = owners[kept], pool_index[kept], rows[kept]
    embedded = pool.embedded.take(pool_index) if as_they_are else pool.distance.embed(rows)
    return replace(
        Chosen.empty(batch),
        owners=owners,
        pool_index=pool_index,
        rows=rows,
        codes=codes[kept],
        embedded=embedded,
        lengths=batch.lengths(embedded, owners),
        settled=np.zeros(len(kept), dtype=bool),
    )


def asked(found: Chosen, batch: QueryBatch) -> Chosen:
    """Ask the model about candidates that it was not asked about yet; keep the acceptable ones."""
    unknown = np.flatnonzero(found.codes == UNASKED)
    if not len(unknown):
        return found
    codes = found.codes.copy()
    codes[unknown] = batch.ask(found.rows[unknown], found.owners[unknown])
    return replace(found, codes=codes).take(np.flatnonzero(codes != REFUSED))


def pick_diverse(selector: Selector, found: Chosen, batch: QueryBatch) -> Chosen:
    """Take step 3 among candidates of each input's own, sorted by distance.

    Where directions matter, candidates against usual ones come last.
    """
    found = without_rare(found, batch, found.settled)
    moves = None
    if batch.directions is not None:
        unusual = batch.unusual(found.rows, found.owners).any(axis=1)
        found = found.take(np.lexsort((unusual, found.owners)))
        moves = batch.moves(found.rows, found.owners)
    nearest = np.full(len(batch.inputs), np.inf)
    np.minimum.at(nearest, found.owners, found.lengths)
    view = selector.view(batch.embedded, found.embedded, nearest)
    return found.take(np.sort(selector.choose_from_own(view, found.owners, moves)))


#: A number of an option that equals a rare training row is moved on by up to 4 of its steps.
MOVED_ON = np.arange(1.0, 5.0)
#: The step of a number without one: a hundredth of its usual range.
SHARE = 0.01


def without_rare(found: Chosen, batch: QueryBatch, among: Mask | None = None) -> Chosen:
    """Return options without those that equal a training row that few people share.

    Such an option is moved on: one of its numbers goes a little farther from the input, as long as
    that leads to the goal too. Otherwise it is left out, and the batch notes that.

    Parameters
    ----------
    among
        Which of the options may not equal such a row; None: all.
    """
    rare = batch.requirements.rare
    if rare is None or not len(found.rows):
        return found
    equal = rare.has(found.rows) if among is None else among & rare.has(found.rows)
    if not equal.any():
        return found
    at, rows, codes = np.flatnonzero(equal), found.rows.copy(), found.codes.copy()
    tried, origin = _moved_on(found.rows[at], found.owners[at], batch)
    answers = batch.ask(tried, found.owners[at[origin]])
    lengths = batch.lengths_of(tried, found.owners[at[origin]])
    order = np.lexsort((lengths, origin))
    order = order[answers[order] != REFUSED]
    which, first = np.unique(origin[order], return_index=True)
    rows[at[which]], codes[at[which]] = tried[order[first]], answers[order[first]]
    left = np.setdiff1d(at, at[which])
    if len(left):
        batch.withheld.append(len(left))
    kept = np.setdiff1d(np.arange(len(rows)), left)
    return found.with_rows(rows, codes, batch).take(kept)


def _moved_on(rows: Matrix, owners: Indices, batch: QueryBatch) -> tuple[Matrix, Indices]:
    """Return options with one number a little farther from the input, and the option of each.

    None of them equals a rare training row or leaves the training range.
    """
    table, rare = batch.distance.table, batch.requirements.rare
    assert rare is not None, "asked for where there are rare rows"
    x = batch.inputs[owners]
    tried, origin = [rows[:0]], [np.empty(0, dtype=np.intp)]
    for i, feature in enumerate(table.features):
        if feature.is_category:
            continue
        known = feature.is_known(x[:, i]) & feature.is_known(rows[:, i])
        which = np.flatnonzero(known & (x[:, i] != rows[:, i]))
        step = feature.step or SHARE * (feature.usual[1] - feature.usual[0])
        for each in MOVED_ON * step:
            moved = rows[which].copy()
            moved[:, i] += each * np.sign(moved[:, i] - x[which, i])
            inside = (moved[:, i] >= feature.low) & (moved[:, i] <= feature.high)
            tried.append(moved[inside])
            origin.append(which[inside])
    which = np.concatenate(origin)
    moved = batch.onto_steps(np.concatenate(tried), owners[which])
    free = np.flatnonzero(~rare.has(moved))
    return moved[free], which[free]
