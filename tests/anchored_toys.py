"""Some anchors and options, for tests of the sets that are made of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from counterset import AngleDiversity, Constraints, DistanceDiversity, DiverseExplainer
from counterset._base.arrays import Codes, Matrix
from counterset.anchors.sets import Neighbourhoods
from counterset.anchors.workshop import Plan
from counterset.models.adapter import ModelAdapter
from counterset.models.classes import Classes
from counterset.models.goals import AnyOther
from counterset.steps.acceptance import Acceptance, Requirements
from counterset.steps.selection import NONE_LEFT, Selector
from counterset.tables.space import Embedded

__all__ = ["DIVERSITIES", "LIMIT", "Setting", "acceptance_of", "following", "selector_of"]

LIMIT = 3


@contextmanager
def following(plan: Plan) -> Iterator[None]:
    """Let ``"auto"`` find this plan."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("counterset.anchors.search._find_plan", lambda *_: plan)
        yield


def selector_of(explainer: DiverseExplainer) -> Selector:
    """Return steps 1 to 3 as a fitted explainer takes them."""
    limit = explainer.max_counterfactuals
    return Selector(explainer.pool_, None, explainer.candidates, explainer.diversity, limit)


def acceptance_of(explainer: DiverseExplainer, rows: Matrix) -> Acceptance:
    """Return what judges candidates for rows, without constraints."""
    model = ModelAdapter(explainer.model, explainer.schema_)
    rules = Constraints().compile(explainer.schema_, explainer.pool_.matrix)
    requirements = Requirements(AnyOther(), None, rules, None)
    labels, classes = model.labels(rows), Classes(explainer.classes_)
    return Acceptance(model, explainer.distance_, classes, requirements, rows, labels)


class Setting:
    """Some anchors on one side of a line, and options on the other."""

    def __init__(self, seed: int, diversity: Any, distance: str = "l1", anchors: int = 6) -> None:
        rng = np.random.default_rng(seed)
        X = rng.random((60, 2))
        explainer = DiverseExplainer.paper(
            lambda rows: rows.sum(axis=1) > 1,
            distance=distance,
            diversity=diversity,
            scale=None,
            search=None,
            max_counterfactuals=LIMIT,
        ).fit(X)
        pool = explainer.pool_
        self.selector = selector_of(explainer)
        self.anchor_index: Codes = np.flatnonzero(pool.codes == 0)[:anchors]
        self.members: Codes = np.flatnonzero(pool.codes == 0)
        chosen = self.selector.select(
            pool.embedded.take(self.anchor_index), pool.codes == 1
        ).pool_index
        used, numbers = np.unique(chosen[chosen != NONE_LEFT], return_inverse=True)
        self.own = chosen.copy()
        self.own[chosen != NONE_LEFT] = numbers
        self.options: Embedded = pool.embedded.take(used)
        measure, rows = pool.distance.in_space, pool.embedded.coordinates
        nearest = measure.pairwise(rows[self.members], rows[self.anchor_index]).argmin(axis=1)
        self.regions: list[Codes] = [self.members[nearest == i] for i in range(anchors)]
        self.costs = np.array(
            [
                measure.pairwise(rows[region], self.options.coordinates).mean(axis=0)
                for region in self.regions
            ]
        )
        self.near = Neighbourhoods.around(
            pool.embedded.take(self.anchor_index), self.costs, self.own, self.options, self.selector
        )

    def improved(self, price: float) -> tuple[Codes, Any]:
        start = self.near.positions(self.own)
        chosen, diversity = self.near.improve(start, self.near.compare(start), price)
        return self.near.numbers(chosen), diversity

    def sets(self, price: float) -> Codes:
        return self.improved(price)[0]


DIVERSITIES = [None, AngleDiversity(0.3), DistanceDiversity(0.2)]
