"""Batch: a frame in, a frame out, for every engine that maps functions over frames.

``frame_explainer`` holds the function: it can be pickled, its output has the same columns and
dtypes for any frame, and a row that fails is a row with its status. ``isolation`` finds the rows
that fail, ``layout`` arranges what comes back, ``dask_frames`` runs it on Dask. Begin
with ``frame_explainer``.
"""

from counterset.batch.frame_explainer import FrameExplainer

__all__ = ["FrameExplainer"]
