"""Choosing with anchors: each input takes the set of the anchor that is nearest to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterset._base.arrays import Indices, Mask
from counterset._base.lazy import Lazy
from counterset.anchors.anchors import Anchors
from counterset.steps.acceptance import REFUSED, Acceptance
from counterset.steps.choosers import MovedChooser, PoolChooser, without_inputs
from counterset.steps.chosen import Chosen
from counterset.steps.line_search import LineSearch, Search
from counterset.steps.minimisation import minimise_from
from counterset.steps.paths import give_way
from counterset.steps.pipeline import Pipeline
from counterset.steps.selection import NONE_LEFT, Selector
from counterset.tables.space import Embedded

__all__ = ["AnchorChooser", "anchored", "closed_in", "settings_of"]

#: With anchors, the line search is 16 times more accurate than asked for: that makes up for the
#: distance that choosing for an anchor costs.
CLOSING_IN = 16


def anchored(paper: Pipeline, anchors: Anchors, *, sets_are_kept: bool) -> Pipeline:
    """Return the paper's pipeline with choices made for anchors in place of inputs.

    Parameters
    ----------
    sets_are_kept
        Whether the anchors hold the sets that this pipeline would choose for them.
    """
    search = closed_in(paper.search, first_crossing=True)
    assert isinstance(paper.chooser, PoolChooser | MovedChooser), "made by paper_pipeline"
    chooser = replace(paper.chooser, viewpoints=_Viewpoints(anchors))
    if isinstance(chooser, MovedChooser):
        return Pipeline(chooser, search, paper.sparsify)
    return Pipeline(AnchorChooser(chooser, anchors, search, sets_are_kept), search)


def closed_in(search: Search | None, *, first_crossing: bool = False) -> Search | None:
    """Return the search as it is used with anchors."""
    if not isinstance(search, LineSearch):
        return search
    return replace(search, gamma=search.gamma / CLOSING_IN, first_crossing=first_crossing)


def settings_of(pipeline: Pipeline) -> tuple[Any, ...]:
    """Return what the sets of anchors depend on."""
    selector = pipeline.selector
    return selector.cutoff, selector.diversity, selector.limit, pipeline.search


@dataclass(frozen=True)
class _Viewpoints:
    """From where candidates are ranked: from anchors, or from inputs without one."""

    anchors: Anchors

    def __call__(self, acceptance: Acceptance) -> Embedded:
        x = acceptance.embedded
        nearest = self.anchors.nearest(x, acceptance.input_codes)
        known, seen_from = (nearest >= 0)[:, None], self.anchors.points.take(nearest)
        coordinates = np.where(known, seen_from.coordinates, x.coordinates)
        if x.directions is x.coordinates:
            return Embedded(coordinates, coordinates)
        return Embedded(coordinates, np.where(known, seen_from.directions, x.directions))


@dataclass(frozen=True)
class AnchorChooser:
    """Return each input the set of its anchor, or what steps 1 to 3 choose for the anchor."""

    from_pool: PoolChooser
    anchors: Anchors
    search: Search | None
    sets_are_kept: bool

    @property
    def selector(self) -> Selector:
        """What candidates there are, and how they are cut off and compared."""
        return self.from_pool.selector

    def choose(self, acceptance: Acceptance) -> Chosen:
        """Choose candidates for every input."""
        x, codes = acceptance.embedded, acceptance.input_codes
        radius = Lazy(lambda: self.anchors.radius(x, codes))
        if not self.sets_are_kept:
            return replace(self.from_pool.choose(acceptance), stable_radius=radius)
        nearest = self.anchors.nearest(x, codes)
        chosen, strange = self._from_sets(acceptance, nearest), nearest < 0
        if strange.any():
            found = self.from_pool.choose(acceptance)
            chosen = Chosen.joined(
                [chosen, found.take(np.flatnonzero(strange[found.owners]))],
                np.where(strange, found.n_candidates, chosen.n_candidates),
                np.where(strange, found.farthest, chosen.farthest),
            )
        return replace(without_inputs(chosen, acceptance), stable_radius=radius)

    def _from_sets(self, acceptance: Acceptance, nearest: Indices) -> Chosen:
        """Return the inputs the sets of their anchors, nothing to those without an anchor."""
        anchors = self.anchors
        sets = anchors.sets[nearest]
        owners, ranks = np.nonzero((sets != NONE_LEFT) & (nearest >= 0)[:, None])
        options = anchors.options.take(sets[owners, ranks])
        embedded = acceptance.distance.embed(options.rows)
        chosen = Chosen(
            owners,
            options.pool_index,
            options.rows,
            acceptance.codes(options.labels),
            embedded,
            acceptance.lengths(embedded, owners),
            np.ones(len(owners), dtype=bool),
            anchors.n_candidates[nearest],
            anchors.farthest[nearest],
        )
        gives_way = anchors.gives_way[nearest[owners], ranks]
        return self._give_way(chosen, gives_way, acceptance) if gives_way.any() else chosen

    def _give_way(self, chosen: Chosen, gives_way: Mask, acceptance: Acceptance) -> Chosen:
        """Let candidates come towards the inputs in some features, as far as the model allows."""
        distance, rules = acceptance.distance, acceptance.requirements.rules
        x = acceptance.inputs[chosen.owners]
        rows = give_way(distance, chosen.rows, x, gives_way, self.anchors.way, rules)
        codes = acceptance.ask(rows, chosen.owners)
        refused = np.flatnonzero(codes == REFUSED)
        least = chosen.take(refused)
        if self.search is not None:
            starts = rows[refused]
            coordinates = distance.coordinates(starts)
            least = minimise_from(least, starts, coordinates, self.search, acceptance)
        rows[refused], codes[refused] = least.rows, least.codes
        return chosen.with_rows(rows, codes, acceptance)
