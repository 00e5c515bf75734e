"""Layout: the columns and dtypes of the frame that comes back, for any frame that goes in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Counts, Indices, Labels
from counterset.explainer import DiverseExplainer
from counterset.results.explanations import Explanations
from counterset.results.tidy import found_frame, free_name, with_missing

__all__ = ["Layout"]

#: The dtype of a column of text, which depends on the release of pandas.
TEXT = pd.Series([""]).dtype


@dataclass(frozen=True)
class Layout:
    """The columns of the frame that comes back.

    They are the kept columns of the input, the rank, the features, the counterfactual's label and
    distance, the status and the message. An input without a counterfactual has one row, in which
    the columns from the rank to the distance are missing. So whole numbers and booleans get
    pandas' dtypes that can miss values; the other dtypes are those of ``to_frame``.

    Attributes
    ----------
    keep
        The kept columns.
    rank, status, message
        The names of these columns.
    found
        The dtypes of features, label and distance.
    """

    keep: tuple[Any, ...]
    rank: Any
    found: Mapping[Any, Any]
    status: Any
    message: Any

    @classmethod
    def of(cls, explainer: DiverseExplainer, keep: Sequence[Any]) -> Layout:
        """Return the layout of an explainer's counterfactuals, beside some kept columns."""
        table, none = explainer.schema_, explainer.pool_.matrix[:0]
        frame = found_frame(table, none, explainer.classes_[:0], np.empty(0))
        dtypes = dict(frame.dtypes)
        for feature in table.features:
            if isinstance(feature.dtype, pd.CategoricalDtype):
                # A table of polars or pyarrow without rows has no categories.
                dtypes |= {table.columns[at]: feature.dtype for at in feature.columns}
        taken = [*keep, *frame.columns]
        more = [""] * (frame.columns.nlevels - 1)
        names: list[Any] = []
        for told in ("rank", "status", "message"):
            name = free_name((told, *more) if more else told, [*taken, *names])
            names.append(name)
        return cls(
            tuple(keep),
            names[0],
            {name: with_missing(dtype) for name, dtype in dtypes.items()},
            names[1],
            names[2],
        )

    def rows_of(self, explanations: Explanations) -> pd.DataFrame:
        """Return the rank, the features, the label and the distance of all counterfactuals."""
        found = found_frame(
            explanations._table,
            explanations._matrix,
            explanations._labels,
            explanations._distances,
        )
        counts: Counts = explanations.counts
        found = found.astype(dict(self.found))
        firsts = counts.cumsum() - counts
        ranks = np.arange(len(found)) - np.repeat(firsts, counts) + 1
        found.insert(0, self.rank, pd.Series(ranks, dtype="Int64"))
        return found

    def arrange(
        self,
        frame: pd.DataFrame,
        pieces: Sequence[tuple[Indices, Explanations]],
        status: Labels,
        messages: Labels,
    ) -> pd.DataFrame:
        """Return the frame that comes back.

        Parameters
        ----------
        frame
            The frame that went in.
        pieces
            Positions of its rows with their explanations; those of other rows failed.
        status, messages
            What became of each row.
        """
        counts = np.zeros(len(frame), dtype=np.intp)
        firsts = np.zeros(len(frame), dtype=np.intp)
        found, total = [self._nothing()], 0
        for rows, explanations in pieces:
            counts[rows] = explanations.counts
            firsts[rows] = total + explanations.counts.cumsum() - explanations.counts
            found.append(self.rows_of(explanations))
            total += len(found[-1])
        owners = np.repeat(np.arange(len(frame)), np.maximum(counts, 1))
        before = np.maximum(counts, 1).cumsum() - np.maximum(counts, 1)
        offsets = np.arange(len(owners)) - before[owners]
        # An input without a counterfactual takes the row -1, which is not there: all is missing.
        taken = np.where(counts[owners] > 0, firsts[owners] + offsets, -1)
        # Without the empty frame, pandas would look at dtypes of columns without any value.
        some = [each for each in found if len(each)] or found[:1]
        out = pd.concat(some, ignore_index=True).reindex(taken)
        for at, name in enumerate(self.keep):
            out.insert(at, name, frame[name].take(owners).array)
        out[self.status] = pd.Series(status[owners], index=out.index, dtype=TEXT)
        out[self.message] = pd.Series(messages[owners], index=out.index, dtype=TEXT)
        out.index = frame.index.take(owners)
        return out

    def _nothing(self) -> pd.DataFrame:
        """Return features, label and distance of no counterfactual."""
        columns = {self.rank: "Int64", **self.found}
        frame = pd.DataFrame(
            {at: pd.Series(dtype=each) for at, each in enumerate(columns.values())}
        )
        frame.columns = pd.Index(list(columns))
        return frame
