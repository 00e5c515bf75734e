"""What judges candidates of a fitted explainer, for tests of the steps."""

from __future__ import annotations

from counterset import Constraints, DiverseExplainer
from counterset._base.arrays import Matrix
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import AnyOther, Classes
from counterset.strategies.batch import QueryBatch, Requirements
from counterset.strategies.selection import Selector

__all__ = ["acceptance_of", "selector_of"]


def selector_of(explainer: DiverseExplainer) -> Selector:
    """Return steps 1 to 3 as a fitted explainer takes them."""
    limit = explainer.max_counterfactuals
    return Selector(
        explainer.training_.pool, None, explainer.candidates, explainer.diversity, limit
    )


def acceptance_of(explainer: DiverseExplainer, rows: Matrix) -> QueryBatch:
    """Return what judges candidates for rows, without constraints."""
    model = ModelAdapter(explainer.model, explainer.schema_)
    rules = Constraints().compile(explainer.schema_, explainer.training_.pool.matrix)
    requirements = Requirements(AnyOther(), None, rules, None)
    labels, classes = model.labels(rows), Classes(explainer.classes_)
    return QueryBatch(model, explainer.distance_, classes, requirements, rows, labels)
