"""Batches of inputs and selectors of a fitted explainer, for tests of the steps."""

from __future__ import annotations

from counterset import AngleDiversity, Constraints, DiverseExplainer, NearestCandidates
from counterset._base.arrays import Matrix
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import AnyOther
from counterset.strategies.batch import QueryBatch, Requirements
from counterset.strategies.selection import Selector

__all__ = ["batch_of", "selector_of"]


def selector_of(explainer: DiverseExplainer) -> Selector:
    """Return steps 1 to 3 as a fitted explainer takes them."""
    return Selector(
        explainer.training_.pool,
        None,
        getattr(explainer.strategy, "candidates", NearestCandidates(1000)),
        getattr(explainer.strategy, "diversity", AngleDiversity(0.5)),
        explainer.max_counterfactuals,
    )


def batch_of(explainer: DiverseExplainer, rows: Matrix) -> QueryBatch:
    """Return rows as inputs that want any other class, without constraints."""
    training = explainer.training_
    model = ModelAdapter(explainer.model, training.table)
    rules = Constraints().compile(training.table, training.pool.matrix)
    requirements = Requirements(AnyOther(), None, rules, None, explainer.max_counterfactuals)
    labels = model.labels(rows)
    return QueryBatch(model, training.distance, training.classes, requirements, rows, labels)
