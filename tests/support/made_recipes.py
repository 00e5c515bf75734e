"""Recipes made by hand, of which no direction is usual."""

from typing import Any

import numpy as np

from counterset.strategies.recipes import Recipes

__all__ = ["recipes_of"]


def recipes_of(features: Any, values: Any, pool_index: Any = None) -> Recipes:
    """Return recipes that set features to values; rows of the pool are numbered from 0."""
    features, values = np.array(features, dtype=bool), np.array(values, dtype=float)
    index = np.arange(len(features)) if pool_index is None else np.asarray(pool_index)
    never = np.zeros(features.shape[1], dtype=np.intp)
    return Recipes(features, values, index, never, never)
