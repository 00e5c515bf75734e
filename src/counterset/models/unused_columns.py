"""Which columns a model does not look at, where that can be known for sure."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from counterset.exceptions import UnusedColumnsWarning

__all__ = ["find_unused", "warn_of_unused"]

#: A message names the first 8 columns.
SHOWN = 8


def find_unused(model: Any, columns: Sequence[Any]) -> list[Any]:
    """Return the columns of a table that a model drops unseen; none where that is not known.

    Parameters
    ----------
    model
        A fitted model that answered about a table with these columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X = pd.DataFrame({"a": [0.0, 1.0], "b": [5.0, 5.0]})
    >>> select = ColumnTransformer([("keep", "passthrough", ["a"])])
    >>> find_unused(make_pipeline(select, LogisticRegression()).fit(X, [0, 1]), ["a", "b"])
    ['b']
    """
    first = model
    while isinstance(first, Pipeline) and len(first.steps):
        first = first.steps[0][1]
    # A model that learned from named columns, and answered though there are more, drops the others.
    used = getattr(first, "feature_names_in_", None)
    if used is None:
        return []
    if isinstance(first, ColumnTransformer):
        positions = first._transformer_to_input_indices
        kept = [name for name, step, _ in first.transformers_ if not _is_drop(step)]
        used = [used[at] for name in kept for at in positions.get(name, ())]
    names = set(used)
    return [column for column in columns if column not in names]


def warn_of_unused(model: Any, columns: Sequence[Any], stacklevel: int) -> None:
    """Warn of the columns that a model does not look at.

    Parameters
    ----------
    stacklevel
        As for :func:`warnings.warn`, counted from the caller.
    """
    unused = find_unused(model, columns)
    if not unused:
        return
    shown = ", ".join(map(repr, unused[:SHOWN])) + (", ..." if len(unused) > SHOWN else "")
    warnings.warn(
        f"The model does not look at {len(unused)} of {len(columns)} columns ({shown}): they "
        f"cannot be a reason for a decision, and no change of them leads to another. Leave them "
        f"out.",
        UnusedColumnsWarning,
        stacklevel=stacklevel + 1,
    )


def _is_drop(step: Any) -> bool:
    return isinstance(step, str) and step == "drop"
