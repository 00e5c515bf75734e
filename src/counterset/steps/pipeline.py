"""The four steps of the paper over one batch of inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from counterset._base.arrays import Codes, Labels, Mask, Matrix
from counterset._base.lazy import Lazy
from counterset.anchors.anchors import Anchors
from counterset.models.classes import Classes
from counterset.steps.acceptance import Questions
from counterset.steps.diversity import View
from counterset.steps.line_search import REFUSED, LineSearch, Segments
from counterset.steps.paths import Paths, give_way, unit_costs
from counterset.steps.selection import NONE_LEFT, Selection, Selector
from counterset.steps.sparsity import undo_needless_changes
from counterset.tables.space import Embedded
from counterset.tables.table import changed

__all__ = ["CLOSING_IN", "Candidates", "Pipeline", "settings_of"]

#: What sparse answers are made from: so many of the nearest candidates, and every so-manieth row
#: of the pool, up to so many of those.
NEAREST, LANDMARK_STRIDE, MOST_LANDMARKS = 15, 16, 40
#: With anchors, the line search is so many times more accurate than asked for: that makes up for
#: the distance which looking from an anchor costs.
CLOSING_IN = 16


@dataclass(frozen=True)
class Candidates:
    """Chosen candidates, each for one input.

    Attributes
    ----------
    owners
        Which input each belongs to, ascending.
    pool_index
        The row of the pool that it comes from.
    rows
        The candidate itself: that row, moved onto the constraints, and later towards the input.
    answers
        The number of the model's answer there.
    n_candidates
        For each input, how many acceptable candidates there were to choose from.
    reach
        For each input, the distance of the farthest candidate of step 2, if that is looked for.
    lengths
        The distance of each from its input; empty until they are in order.
    n_chosen
        For each input, how many of them step 3 chose.
    stable_radius
        For each input, within what distance the choice stays the same, NaN if nothing is proved.
    settled
        Which of them are not moved any further; None: none of them.
    """

    owners: Codes
    pool_index: Codes
    rows: Matrix
    answers: Codes
    n_candidates: Codes
    reach: Matrix
    lengths: Matrix = field(default_factory=lambda: np.zeros(0))
    n_chosen: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    stable_radius: Lazy[Matrix] | None = None
    settled: Mask | None = None

    def take(self, which: Codes) -> Candidates:
        """Give some of the candidates."""
        return replace(
            self,
            owners=self.owners[which],
            pool_index=self.pool_index[which],
            rows=self.rows[which],
            answers=self.answers[which],
            settled=None if self.settled is None else self.settled[which],
        )

    @cached_property
    def counts(self) -> Codes:
        """How many candidates each input has."""
        return np.bincount(self.owners, minlength=len(self.n_candidates))


@dataclass(frozen=True)
class Pipeline:
    """Choose candidates, undo what is not needed, search towards the input.

    Attributes
    ----------
    classes
        The labels of the training rows, and the codes of their classes.
    usable
        Which rows of the pool are plausible and confident enough to be candidates; None: all.
    anchors
        From where steps 1 to 3 look; None: from the inputs.
    sets_are_kept
        Whether the anchors hold the sets that this call would choose for them.
    finer
        How many times more accurate than asked for the search is.
    """

    selector: Selector
    search: LineSearch | None
    sparsify: bool
    classes: Classes
    usable: Mask | None
    anchors: Anchors | None = None
    sets_are_kept: bool = False
    finer: float = 1

    def run(self, questions: Questions) -> Candidates:
        """Give the counterfactuals of all inputs, nearest first."""
        if self.sparsify or questions.wishes.rules:
            found = self._choose_from_moved(questions)
        else:
            found = self._choose(questions)
        n_chosen = found.counts
        if self.search is not None:
            found = self._search_unsettled(found, self.search, questions)
        return self._in_order(found, n_chosen, questions)

    def acceptable(self, questions: Questions) -> Iterator[tuple[Codes, Mask]]:
        """Give groups of inputs, and the rows of the pool that each group may move towards."""
        goal, labels = questions.wishes.goal, questions.input_labels
        pool_labels = self._labels_at(slice(None))
        usable = True if self.usable is None else self.usable
        if not goal.per_label:
            yield np.arange(len(labels)), usable & goal.accepts(pool_labels, pool_labels)
            return
        known, groups = Classes.learn(labels)
        for group in range(len(known)):
            own = np.repeat(known.labels[[group]], len(pool_labels))
            yield np.flatnonzero(groups == group), usable & goal.accepts(pool_labels, own)

    def _labels_at(self, places: Codes | slice) -> Labels:
        """Give the labels of rows of the pool."""
        return self.classes.labels[self.selector.pool.codes[places]]

    def _choose(self, questions: Questions) -> Candidates:
        """Take steps 1 to 3."""
        if self.anchors is None:
            found = self._from_pool(questions, questions.points)
        else:
            found = self._from_anchors(questions, self.anchors)
        # Neither an anchor nor a model that changed its mind knows what the input is.
        differs = np.asarray(changed(questions.inputs[found.owners], found.rows).any(axis=1))
        return found if differs.all() else found.take(np.flatnonzero(differs))

    def _from_pool(self, questions: Questions, x: Embedded) -> Candidates:
        """Choose rows of the pool, as seen from the inputs or from other points."""
        selection = Selection.empty(len(x), self.selector.limit)
        for members, acceptable in self.acceptable(questions):
            selection.put(members, self.selector.select(x.take(members), acceptable))
        owners, ranks = np.nonzero(selection.pool_index != NONE_LEFT)
        places = selection.pool_index[owners, ranks]
        answers = questions.remember(self._labels_at(places))
        rows = self.selector.pool.matrix[places]
        return Candidates(owners, places, rows, answers, selection.n_candidates, selection.reach)

    def _from_anchors(self, questions: Questions, anchors: Anchors) -> Candidates:
        """Give each input the set of its anchor, or what steps 1 to 3 choose for the anchor."""
        kept = self.sets_are_kept
        x, codes = questions.points, self.classes.codes(questions.input_labels)
        nearest = anchors.nearest(x, codes)
        radius = Lazy(lambda: anchors.radius(x, codes))
        if kept:
            familiar, strange = self._from_sets(questions, anchors, nearest), nearest < 0
            if not strange.any():
                return replace(familiar, stable_radius=radius)
        found = self._from_pool(questions, _viewpoints(x, anchors, nearest))
        if kept:
            found = _joined(
                [familiar, found.take(np.flatnonzero(strange[found.owners]))],
                np.where(strange, found.n_candidates, familiar.n_candidates),
                np.where(strange, found.reach, familiar.reach),
            )
        return replace(found, stable_radius=radius)

    def _from_sets(self, questions: Questions, anchors: Anchors, nearest: Codes) -> Candidates:
        """Give the inputs the sets of their anchors, nothing to those without an anchor."""
        sets = anchors.sets[nearest]
        owners, ranks = np.nonzero((sets != NONE_LEFT) & (nearest >= 0)[:, None])
        chosen = anchors.options.take(sets[owners, ranks])
        answers = questions.remember(chosen.labels)
        found = Candidates(
            owners,
            chosen.pool_index,
            chosen.rows,
            answers,
            anchors.n_candidates[nearest],
            anchors.reach[nearest],
        )
        gives_way = anchors.gives_way[nearest[owners], ranks]
        if gives_way.any():
            found = self._give_way(found, gives_way, anchors.way, questions)
        return replace(found, settled=np.ones(len(owners), dtype=bool))

    def _give_way(
        self, found: Candidates, gives_way: Mask, way: float, questions: Questions
    ) -> Candidates:
        """Let candidates come towards the inputs in some features, as far as the model allows."""
        distance, rules = self.selector.pool.distance, questions.wishes.rules
        x = questions.inputs[found.owners]
        rows = give_way(distance, found.rows, x, gives_way, way, rules)
        answers = questions.ask(rows, found.owners)
        refused = np.flatnonzero(answers == REFUSED)
        least = found.take(refused)
        if self.search is not None:
            least = self._search(least, rows[refused], self.search, questions)
        rows[refused], answers[refused] = least.rows, least.answers
        return replace(found, rows=rows, answers=answers)

    def _choose_from_moved(self, questions: Questions) -> Candidates:
        """Take steps 1 to 3 where candidates are moved before step 3 compares them.

        They are moved onto the constraints, and, for sparse answers, some of their changes undone.
        """
        pool = self.selector.pool
        fixed = np.flatnonzero(questions.wishes.rules.fixed)
        ignored = np.isin(pool.distance.feature_of_coordinate, fixed)
        x = questions.points
        if self.anchors is not None:
            codes = self.classes.codes(questions.input_labels)
            x = _viewpoints(x, self.anchors, self.anchors.nearest(x, codes))
        n_candidates, reach = np.zeros(len(x), dtype=np.intp), np.zeros(len(x))
        parts = [self._move(questions, *np.empty((2, 0), dtype=np.intp))]
        for members, acceptable in self.acceptable(questions):
            for batch, start, ranking in self.selector.rank(x.take(members), acceptable, ignored):
                reach[members[batch]] = self.selector.reach(ranking)
                who, which = ranking.left()
                moved = self._move(questions, members[batch[who]], start + which)
                n_candidates += np.bincount(moved.owners, minlength=len(x))
                moved = self._by_distance(moved, questions)
                if self.sparsify:
                    parts.append(self._choose_sparse(moved, questions))
                else:
                    parts.append(self._choose_from(moved, questions))
        return _joined(parts, n_candidates, reach)

    def _move(self, questions: Questions, owners: Codes, places: Codes) -> Candidates:
        """Move candidates onto the constraints, and keep those that are still acceptable."""
        pool, rules = self.selector.pool, questions.wishes.rules
        rows = pool.matrix[places]
        if rules:
            x = questions.inputs[owners]
            rows = pool.distance.table.snap(rules.project(x, rows), x)
            answers = questions.ask(rows, owners)
        else:
            answers = questions.remember(self._labels_at(places))
        # An anchor does not know whether a candidate is the input itself.
        differs = changed(questions.inputs[owners], rows).any(axis=1)
        kept = np.flatnonzero((answers != REFUSED) & differs)
        of_none = (np.zeros(0, dtype=np.intp), np.zeros(0))  # filled in for all inputs later
        return Candidates(owners[kept], places[kept], rows[kept], answers[kept], *of_none)

    def _by_distance(self, found: Candidates, questions: Questions) -> Candidates:
        """Sort candidates by input, then by distance, then by training row."""
        lengths = self._lengths(found, questions)
        rows = self.selector.pool.training_index[found.pool_index]
        return found.take(np.lexsort((rows, lengths, found.owners)))

    def _choose_from(self, found: Candidates, questions: Questions) -> Candidates:
        """Take step 3 among candidates of each input's own, sorted by distance."""
        distance = self.selector.pool.distance
        nearest = np.full(len(questions.inputs), np.inf)
        np.minimum.at(nearest, found.owners, self._lengths(found, questions))
        view = View(
            questions.points,
            distance.embed(found.rows),
            nearest,
            distance.in_space,
        )
        return found.take(np.sort(self.selector.choose_from_own(view, found.owners)))

    def _choose_sparse(self, found: Candidates, questions: Questions) -> Candidates:
        """Undo the changes that are not needed, then take step 3.

        The nearest candidates fall together on the cheapest changes, so some from farther away
        are tried too; where there are still too few options, ways are looked for that do without
        what an option changes.
        """
        found = found.take(_near_and_far(found.owners, found.pool_index))
        sparse = self._by_distance(self._undo(found, questions), questions)
        chosen = self._choose_from(sparse, questions)
        counts = np.bincount(chosen.owners, minlength=len(questions.inputs))
        short = found.take(np.flatnonzero(counts[found.owners] < self.selector.limit))
        without = self._undo(self._do_without(chosen, short, questions), questions)
        both = _joined([chosen, without], found.n_candidates, found.reach)
        return self._choose_from(self._by_distance(both, questions), questions)

    def _undo(self, found: Candidates, questions: Questions) -> Candidates:
        if not len(found.owners):
            return found
        starts, rules = questions.inputs[found.owners], questions.wishes.rules
        rows, answers = undo_needless_changes(
            starts,
            found.rows,
            found.answers,
            rules.units,
            unit_costs(self.selector.pool.distance, starts, found.rows, rules),
            lambda tried, which: questions.ask(tried, found.owners[which]),
        )
        return replace(found, rows=rows, answers=answers)

    def _do_without(
        self, options: Candidates, found: Candidates, questions: Questions
    ) -> Candidates:
        """Undo in each candidate all that an option of the same input changes, where possible."""
        first, last = (np.searchsorted(found.owners, options.owners, s) for s in ("left", "right"))
        counts = last - first
        option = np.repeat(np.arange(len(counts)), counts)
        which = np.arange(len(option)) - np.repeat(counts.cumsum() - counts, counts) + first[option]
        tried = found.take(which)
        x = questions.inputs[tried.owners]
        rows = np.where(changed(x, options.rows[option]), x, tried.rows)
        answers = questions.ask(rows, tried.owners)
        tried = replace(tried, rows=rows, answers=answers)
        return tried.take(np.flatnonzero(answers != REFUSED))

    def _search_unsettled(
        self, found: Candidates, search: LineSearch, questions: Questions
    ) -> Candidates:
        """Take step 4: search from the inputs towards all candidates that are to be moved."""
        if found.settled is None or not found.settled.any():
            return self._search(found, questions.inputs[found.owners], search, questions)
        open_ = np.flatnonzero(~found.settled)
        moved = found.take(open_)
        moved = self._search(moved, questions.inputs[moved.owners], search, questions)
        rows, answers = found.rows.copy(), found.answers.copy()
        rows[open_], answers[open_] = moved.rows, moved.answers
        return replace(found, rows=rows, answers=answers)

    def _search(
        self, found: Candidates, starts: Matrix, search: LineSearch, questions: Questions
    ) -> Candidates:
        """Search between candidates and points that are not acceptable."""
        if not len(found.owners):
            return found
        distance, rules = self.selector.pool.distance, questions.wishes.rules
        paths = Paths(distance, starts, found.rows, rules)
        segments = Segments(
            paths.starts,
            paths.ends,
            distance.rowwise(starts, found.rows[:, None, :])[:, 0],
            found.answers,
            found.reach[found.owners],
        )

        def ask(points: Matrix, which: Codes) -> Codes:
            return questions.ask(paths.rows(points, which), found.owners[which])

        done = search.search(segments, ask, self.finer, steady=self.anchors is not None)
        rows = paths.rows(done.ends, np.arange(len(starts)))
        return replace(found, rows=rows, answers=done.answers)

    def _in_order(self, found: Candidates, n_chosen: Codes, questions: Questions) -> Candidates:
        """Put each input's counterfactuals in order of distance, each once."""
        lengths = self._lengths(found, questions)
        order = np.lexsort((lengths, found.owners))
        order = order[~_repeats(found.owners[order], lengths[order], found.rows[order])]
        return replace(found.take(order), lengths=lengths[order], n_chosen=n_chosen)

    def _lengths(self, found: Candidates, questions: Questions) -> Matrix:
        starts = questions.inputs[found.owners]
        return self.selector.pool.distance.rowwise(starts, found.rows[:, None, :])[:, 0]


def settings_of(pipeline: Pipeline) -> tuple[Any, ...]:
    """Give what the sets of anchors depend on."""
    selector = pipeline.selector
    return selector.cutoff, selector.diversity, selector.limit, pipeline.search


def _viewpoints(x: Embedded, anchors: Anchors, nearest: Codes) -> Embedded:
    """Give the points from which candidates are ranked: anchors, or inputs without one."""
    known, seen_from = (nearest >= 0)[:, None], anchors.points.take(nearest)
    places = np.where(known, seen_from.coordinates, x.coordinates)
    if x.directions is x.coordinates:
        return Embedded(places, places)
    return Embedded(places, np.where(known, seen_from.directions, x.directions))


def _near_and_far(owners: Codes, places: Codes) -> Codes:
    """Pick candidates of each input: the nearest, and landmarks among all of them.

    Landmarks are fixed rows of the pool, so that nearly equal inputs share them; picking by rank
    would give each its own.
    """
    landmark = places % LANDMARK_STRIDE == 0
    first = np.searchsorted(owners, owners)
    rank = np.arange(len(owners)) - first
    landmarks_before = landmark.cumsum() - landmark
    landmark_rank = landmarks_before - landmarks_before[first]
    picked = (rank < NEAREST) | landmark & (landmark_rank < MOST_LANDMARKS)
    return np.flatnonzero(picked)


def _joined(parts: list[Candidates], n_candidates: Codes, reach: Matrix) -> Candidates:
    """Put candidates together, in the order of the inputs."""
    settled = [
        np.zeros(len(part.owners), dtype=bool) if part.settled is None else part.settled
        for part in parts
    ]
    joined = Candidates(
        np.concatenate([part.owners for part in parts]),
        np.concatenate([part.pool_index for part in parts]),
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.answers for part in parts]),
        n_candidates,
        reach,
        settled=np.concatenate(settled),
    )
    return joined.take(np.argsort(joined.owners, kind="stable"))


def _repeats(owners: Codes, lengths: Matrix, rows: Matrix) -> Mask:
    """Mark the rows that an input has already; rounding can lead two searches to one row."""
    repeats = np.zeros(len(owners), dtype=bool)
    # Equal rows are equally far, so they stand next to each other, or among others as far.
    gap = 1
    while (alike := (owners[gap:] == owners[:-gap]) & (lengths[gap:] == lengths[:-gap])).any():
        at = np.flatnonzero(alike)
        repeats[at[~changed(rows[at], rows[at + gap]).any(axis=1)] + gap] = True
        gap += 1
    return repeats
