"""Explainers by their steps: the strategy follows from what is asked for."""

from __future__ import annotations

from typing import Any

from counterset import DiverseExplainer, LineSearch, Nearest, Paper, Schema, Shared
from counterset.strategies import Strategy

__all__ = ["explainer_by_steps", "paper_by_steps", "strategy_of"]

STEPS = ("candidates", "diversity", "search", "regions")


def strategy_of(sparse: bool, gamma: float, settings: dict[str, Any]) -> Strategy:
    """Take the steps, or the strategy itself, out of settings, and return the strategy.

    Parameters
    ----------
    sparse
        Whether options change few features.
    gamma
        Of the line search, if none is given.
    """
    if "strategy" in settings:
        strategy: Strategy = settings.pop("strategy")
        return strategy
    steps = {name: settings.pop(name) for name in STEPS if name in settings}
    steps.setdefault("search", LineSearch(gamma))
    if not sparse or steps["search"] is None:
        return Paper(**steps)
    steps.pop("candidates", None)  # options of recipes have none
    regions = steps.pop("regions", None)
    return Nearest(**steps) if regions is None else Shared(own=0, regions=regions, **steps)


def explainer_by_steps(model: Any, *, sparse: bool = True, **settings: Any) -> DiverseExplainer:
    """Return an explainer with the defaults beside the steps."""
    return DiverseExplainer(model, strategy=strategy_of(sparse, 0.001, settings), **settings)


def paper_by_steps(model: Any, *, sparse: bool = False, **settings: Any) -> DiverseExplainer:
    """Return an explainer with the paper's scale and no steps of numbers."""
    strategy = strategy_of(sparse, 0.1, settings)
    schema = settings.pop("schema", None) or Schema()
    if isinstance(schema, Schema):
        schema = schema.without_steps()
    settings = {"scale": "range"} | settings
    return DiverseExplainer(model, strategy=strategy, schema=schema, **settings)
