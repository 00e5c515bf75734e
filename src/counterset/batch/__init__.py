"""Batch: a frame in, a frame out, for every engine that maps functions over frames.

Begin with :mod:`counterset.batch.frame_explainer`: its function can be pickled, its output has the
same columns and dtypes for any frame, and a row that fails becomes a row with a status.
:mod:`counterset.batch.cluster` runs it on the workers of a Dask scheduler, and
:mod:`counterset.batch.table_files` reads and writes tables that are larger than the memory.
"""

from counterset.batch.frame_explainer import FrameExplainer

__all__ = ["FrameExplainer"]
