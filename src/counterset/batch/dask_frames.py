"""Dask: explain the partitions of a dask DataFrame where they are, when they are asked for."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pandas as pd

from counterset.batch.frame_explainer import FrameExplainer
from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.explainer import DiverseExplainer
from counterset.strategies.calls import Request

__all__ = ["explain_lazily", "map_partitions"]


def explain_lazily(explainer: DiverseExplainer, frame: Any, request: Request) -> Any:
    """Return what ``explain_many`` returns for a dask DataFrame: a dask DataFrame.

    Parameters
    ----------
    explainer
        A fitted explainer.
    frame
        A dask DataFrame with the columns of the training data.
    request
        What is asked for. Rows that have no counterfactual have a status in what comes back, so
        nothing else can be asked for in their case.
    """
    if request.if_none != "raise" or request.skip:
        raise InvalidInputError(
            "if_none and skip cannot be chosen for a dask DataFrame, which is explained later: "
            "what comes back has the columns status and message, and a row for every input. Leave "
            "them out."
        )
    if request.workload.progress:
        raise InvalidInputError(
            "progress cannot be shown for a dask DataFrame, which is explained later. Leave it "
            "out; dask.diagnostics.ProgressBar shows that of a computation."
        )
    columns = explainer.training_.table.columns
    if not frame.columns.equals(columns):
        raise InvalidInputError(
            f"The columns of the dask DataFrame, {list(frame.columns)}, are not those that the "
            f"explainer was fitted on, {list(columns)}. Pass X[explainer.feature_names_in_]; to "
            f"keep others, see counterset.batch.FrameExplainer."
        )
    constraints: Any = request.constraints  # a list, one for each row, is refused
    function = FrameExplainer(
        explainer,
        target=request.target,
        target_probability=request.probability,
        interval=request.interval,
        constraints=constraints,
        n_jobs=request.workload.n_jobs,
        memory=request.workload.memory,
    )
    return map_partitions(function, frame)


def map_partitions(function: FrameExplainer, frame: Any) -> Any:
    """Return a dask DataFrame of what a function makes of each partition of another.

    The function, which holds the training data and the model, is one value that all tasks share:
    Dask sends it to each worker once, and sends it again to one that takes the place of a lost one.

    Parameters
    ----------
    function
        What explains a partition.
    frame
        A dask DataFrame.
    """
    try:
        from dask import delayed  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError(
            "A dask DataFrame needs dask: pip install 'counterset[dask]'."
        ) from None
    shared = delayed(function, name=f"frame-explainer-{uuid4().hex}", traverse=False)
    return frame.map_partitions(_explain, shared, meta=function(frame._meta))


def _explain(part: pd.DataFrame, function: FrameExplainer) -> pd.DataFrame:
    return function(part)
