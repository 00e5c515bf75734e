"""Choosing with anchors: an input gets its options from what is fixed for its region."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from counterset._base.arrays import Indices
from counterset._base.lazy import Lazy
from counterset.anchors.anchors import Anchors
from counterset.anchors.option_list import RUNGS, NothingMore, OptionList
from counterset.constraints.constraints import Constraints
from counterset.recipes.chooser import RecipeChooser, with_recipes
from counterset.recipes.recipe import in_parts
from counterset.steps.acceptance import REFUSED, Acceptance
from counterset.steps.choosers import MovedChooser, PoolChooser, pick_diverse, without_inputs
from counterset.steps.chosen import Chosen
from counterset.steps.line_search import LineSearch, Search
from counterset.steps.pipeline import Pipeline
from counterset.steps.selection import Selector
from counterset.tables.space import Embedded

__all__ = ["ListChooser", "SetChooser", "ViewChooser", "anchored"]

#: With anchors, the line search is 16 times more accurate than asked for: that makes up for the
#: distance that choosing for a region costs.
CLOSING_IN = 16


def anchored(paper: Pipeline, anchors: Anchors, constraints: Constraints | None) -> Pipeline:
    """Return a pipeline whose choices are made for regions in place of inputs.

    Parameters
    ----------
    constraints
        The explainer's own, for which recipes are learned.
    """
    own_view = with_recipes(paper, anchors.book, constraints).chooser
    if isinstance(own_view, RecipeChooser):
        return replace(paper, chooser=ListChooser(anchors, own_view))
    search = _closed_in(paper.search)
    if isinstance(paper.chooser, PoolChooser):
        return replace(paper, chooser=SetChooser(anchors, paper.chooser), search=search)
    assert isinstance(paper.chooser, MovedChooser), "made by paper_pipeline"
    return replace(paper, chooser=ViewChooser(anchors, paper.chooser), search=search)


def _closed_in(search: Search | None) -> Search | None:
    if not isinstance(search, LineSearch):
        return search
    return replace(search, gamma=search.gamma / CLOSING_IN, first_crossing=True)


@dataclass(frozen=True)
class SetChooser:
    """Return each input what steps 1 to 3 choose for the centre of its region.

    Nothing here depends on the input but its region, so the same training rows are chosen for
    all inputs of a region.
    """

    anchors: Anchors
    from_pool: PoolChooser

    @property
    def selector(self) -> Selector:
        """What candidates there are, and how they are cut off and compared."""
        return self.from_pool.selector

    def choose(self, acceptance: Acceptance) -> Chosen:
        """Choose candidates for every input."""
        regions = self.anchors.regions_of(acceptance)
        strange = np.flatnonzero(regions < 0)
        parts = [Chosen.nothing(acceptance)]
        n_candidates, farthest = parts[0].n_candidates.copy(), parts[0].farthest.copy()
        if len(strange):
            found = self.from_pool.choose(acceptance.take(strange))
            parts.append(found.among(strange, len(regions)))
            n_candidates[strange], farthest[strange] = found.n_candidates, found.farthest
        for region in np.unique(regions[regions >= 0]):
            inputs = np.flatnonzero(regions == region)
            of_centre = self.anchors.set_of(int(region), self.from_pool, acceptance.requirements)
            parts.append(_for_all(of_centre, inputs, acceptance))
            n_candidates[inputs] = of_centre.n_candidates[0]
            farthest[inputs] = of_centre.farthest[0]
        chosen = without_inputs(Chosen.joined(parts, n_candidates, farthest), acceptance)
        return replace(chosen, stable_radius=Lazy(lambda: self.anchors.radius(acceptance)))


def _for_all(of_centre: Chosen, inputs: Indices, acceptance: Acceptance) -> Chosen:
    """Return the candidates of a centre as those of each input of its region."""
    count = len(of_centre.owners)
    chosen = of_centre.take(np.tile(np.arange(count), len(inputs)))
    owners = np.repeat(inputs, count)
    lengths = acceptance.lengths(chosen.embedded, owners)
    return replace(chosen, owners=owners, lengths=lengths)


@dataclass(frozen=True)
class ViewChooser:
    """Choose as steps 1 to 3 do, but rank candidates as seen from the centre of the region.

    Candidates are moved onto the constraints of the input and compared from there, so it is the
    list of candidates that is the same for all inputs of a region.
    """

    anchors: Anchors
    moved: MovedChooser

    @property
    def selector(self) -> Selector:
        """What candidates there are, and how they are cut off and compared."""
        return self.moved.selector

    def choose(self, acceptance: Acceptance) -> Chosen:
        """Choose candidates for every input."""
        chosen = replace(self.moved, viewpoints=self._centres).choose(acceptance)
        return replace(chosen, list_radius=Lazy(lambda: self.anchors.radius(acceptance)))

    def _centres(self, acceptance: Acceptance) -> Embedded:
        """Return the centre of each input's region, or the input itself if it has none."""
        x, regions = acceptance.embedded, self.anchors.regions_of(acceptance)
        known, centres = (regions >= 0)[:, None], self.anchors.regions.centres.take(regions)
        coordinates = np.where(known, centres.coordinates, x.coordinates)
        if x.directions is x.coordinates:
            return Embedded(coordinates, coordinates)
        return Embedded(coordinates, np.where(known, centres.directions, x.directions))


@dataclass(frozen=True)
class ListChooser:
    """Let each input go down the list of its region, and take what works and differs.

    The order does not depend on the input. Where the list runs out, options are added that are
    chosen as seen from the input.
    """

    anchors: Anchors
    own_view: RecipeChooser

    @property
    def selector(self) -> Selector:
        """What candidates there are, and how they are cut off and compared."""
        return self.own_view.selector

    def choose(self, acceptance: Acceptance) -> Chosen:
        """Choose options for every input."""
        parts = [_from_list(Chosen.nothing(acceptance), True)]
        lists = self.anchors.lists(acceptance, self.own_view.own_rules, self.selector)
        for inputs, options in lists:
            for some in in_parts(inputs, len(RUNGS) * options.recipes.features.size):
                parts.append(_from_list(_working(options, acceptance, some), True))
        listed = Chosen.joined(parts, parts[0].n_candidates, parts[0].farthest)
        selector = replace(self.selector, diversity=NothingMore(self.selector.diversity))
        chosen = pick_diverse(selector, listed, acceptance)
        short = np.flatnonzero(chosen.counts < self.selector.limit)
        if len(short):
            found = self.own_view.choose(acceptance.take(short))
            more = _from_list(found, False).among(short, len(acceptance.inputs))
            # The list comes first: joining keeps the order of the parts.
            both = Chosen.joined([chosen, more], more.n_candidates, more.farthest)
            filled = pick_diverse(selector, both, acceptance)
            # What is on the list may leave little that differs from it: then it helps nobody.
            alone = more.counts > filled.counts
            chosen = Chosen.joined(
                [
                    filled.take(np.flatnonzero(~alone[filled.owners])),
                    more.take(np.flatnonzero(alone[more.owners])),
                ],
                more.n_candidates,
                more.farthest,
            )
        return replace(chosen, list_radius=Lazy(lambda: self.anchors.radius(acceptance)))


def _working(options: OptionList, acceptance: Acceptance, inputs: Indices) -> Chosen:
    """Return the recipes that work for each input on their nearest rung, in the list's order."""
    rows = options.apply(acceptance.inputs[inputs], acceptance.distance.table)
    owners = np.repeat(inputs, rows.shape[1])
    rows = acceptance.onto_steps(rows.reshape(len(owners), -1), owners)
    codes = acceptance.ask(rows, owners)
    embedded = acceptance.distance.embed(rows)
    lengths = np.where(codes != REFUSED, acceptance.lengths(embedded, owners), np.inf)
    rungs = lengths.reshape(-1, len(RUNGS))
    works = np.flatnonzero(np.isfinite(rungs).any(axis=1))
    which = works * len(RUNGS) + rungs[works].argmin(axis=1)
    return replace(
        Chosen.nothing(acceptance),
        owners=owners[which],
        pool_index=options.recipes.pool_index[works % len(options)],
        rows=rows[which],
        codes=codes[which],
        embedded=embedded.take(which),
        lengths=lengths[which],
        settled=np.ones(len(which), dtype=bool),
    )


def _from_list(chosen: Chosen, from_list: bool) -> Chosen:
    """Mark options as those of a list, or as found for the input alone."""
    return replace(chosen, from_list=np.full(len(chosen.owners), from_list))
