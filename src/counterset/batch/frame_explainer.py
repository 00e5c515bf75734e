"""Explain the rows of a frame, and return a frame: also for rows that fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd

from counterset._base.arrays import Counts, Indices, Labels
from counterset._base.checks import check_list
from counterset.constraints.constraints import Constraints
from counterset.exceptions import (
    InvalidInputError,
    ModelError,
    NoCounterfactualError,
    NotFittedError,
)
from counterset.explainer import DiverseExplainer
from counterset.explanations.explanations import Explanations
from counterset.explanations.tidy import found_frame, free_name, with_missing
from counterset.tables.frames import to_pandas

__all__ = ["FrameExplainer", "Isolated", "Layout", "isolate"]

#: The dtype of a column of text, which depends on the release of pandas.
TEXT = pd.Series([""]).dtype
#: The errors that a single row can cause, and the status that the row gets.
ROW_ERRORS: dict[type[Exception], str] = {
    InvalidInputError: "invalid_input",
    ModelError: "model_error",
    NoCounterfactualError: "none_found",
}
T = TypeVar("T")


class FrameExplainer:
    """Explain the rows of a frame, and return a frame with the same columns and dtypes always.

    A function that engines such as Dask, Spark and Ray can map over the parts of a table: it can be
    pickled, and the explanation of a row does not depend on the part that the row is in.

    Each input has one row for each counterfactual, nearest first, under the input's index. An input
    without a counterfactual has one row, which says why. So does an input that cannot be explained:
    the others are explained all the same.

    The columns are those of ``keep``, the ``rank`` of the counterfactual, counted from 1, then
    those of ``explanations.to_frame()``: the features, ``label`` and ``distance``; then ``status``
    and ``message``. Columns that miss their value where there is no counterfactual have dtypes that
    allow it: whole numbers are ``Int64``, booleans ``boolean``. Where a feature or a kept column
    has such a name, the column is called ``counterfactual_rank`` and so on.

    The status is one of these:

    - ``"explained"``: the message is empty, or says how many counterfactuals are missing.
    - ``"already_reached"``: the input has the wanted class or value already.
    - ``"none_found"``: there is no counterfactual; the message says why.
    - ``"invalid_input"``: a value of the row cannot be used.
    - ``"model_error"``: the model failed on this row, or on candidates for it.

    Parameters
    ----------
    explainer
        A fitted explainer, whose training data was no array: columns are found by their names.
    keep
        Columns of the input that come back with each row, such as the number of a case. Engines
        without an index need one to tell the rows apart. Further columns are left out.
    target, target_probability, interval
        As in ``explain_many``.
    constraints
        In place of the explainer's own: :class:`Constraints` for all rows, or a function of the
        row.
    n_jobs, memory
        As in ``explain_many``, for each frame. An engine has workers of its own.

    Examples
    --------
    >>> import pandas as pd
    >>> from counterset import DiverseExplainer
    >>> from counterset.batch import FrameExplainer
    >>> people = pd.DataFrame({"income": range(10, 90), "case": range(80)})
    >>> def approve(rows):
    ...     return (rows["income"] >= 50).map({True: "yes", False: "no"})
    >>> explainer = DiverseExplainer(approve, max_counterfactuals=1).fit(people[["income"]])
    >>> explain = FrameExplainer(explainer, keep=["case"], target="yes")
    >>> explain(people[39:41])[["case", "rank", "income", "label", "status"]]
        case  rank  income label           status
    39    39     1      50   yes        explained
    40    40  <NA>    <NA>   NaN  already_reached
    """

    def __init__(
        self,
        explainer: DiverseExplainer,
        *,
        keep: Sequence[Any] = (),
        target: Any = None,
        target_probability: float | None = None,
        interval: tuple[float, float] | None = None,
        constraints: Constraints | Callable[[Any], Constraints | None] | None = None,
        n_jobs: int | None = None,
        memory: str | int = "512MB",
    ) -> None:
        self.explainer = explainer
        self.keep = keep
        self.target = target
        self.target_probability = target_probability
        self.interval = interval
        self.constraints = constraints
        self.n_jobs = n_jobs
        self.memory = memory
        self._check()
        self._try()
        self._layout = Layout.of(explainer, keep)

    @property
    def meta(self) -> pd.DataFrame:
        """The columns and dtypes that come back, as a frame without rows."""
        if self.keep:
            raise InvalidInputError(
                f"The dtypes of the kept columns {list(self.keep)} are not known yet. Call the "
                f"FrameExplainer with a frame that has them and no rows, such as frame.head(0)."
            )
        return self(pd.DataFrame(columns=self.explainer.schema_.columns))

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Explain the rows of a frame.

        Parameters
        ----------
        frame
            A DataFrame of pandas (or a table of polars or pyarrow) that has the columns of the
            training data, in any order, and those of ``keep``. It may have no rows.

        Returns
        -------
        DataFrame
            At least one row for each input.
        """
        frame = to_pandas(frame, "The frame")
        features = self._features(frame)
        table, everything = self.explainer.schema_, np.arange(len(frame))
        # What cannot be read is found apart, because reading is so much faster than explaining.
        read = isolate(
            everything, lambda rows: table.encode(features.iloc[rows])[1], (InvalidInputError,)
        )
        readable = np.setdiff1d(everything, list(read.errors))
        found = isolate(
            readable, lambda rows: self._explain(features.iloc[rows]), tuple(ROW_ERRORS)
        )
        status = np.empty(len(frame), dtype=object)
        messages = np.empty(len(frame), dtype=object)
        for row, error in (read.errors | found.errors).items():
            status[row] = next(name for kind, name in ROW_ERRORS.items() if isinstance(error, kind))
            messages[row] = f"{type(error).__name__}: {_of_one_row(str(error))}"
        pieces: list[tuple[Indices, Explanations]] = []
        for rows, (explanations, told) in found.pieces:
            status[rows], messages[rows] = explanations.status, told
            pieces.append((rows, explanations))
        return self._layout.arrange(frame, pieces, status, messages)

    def _explain(self, features: Any) -> tuple[Explanations, list[str]]:
        """Explain rows, and say what is to be said about each."""
        explanations = self.explainer.explain_many(features, **self._request)
        wanted, why = self.explainer.max_counterfactuals, explanations.why_none
        messages = []
        for i, (status, count) in enumerate(
            zip(explanations.status, explanations.counts.tolist(), strict=True)
        ):
            if status == "already_reached":
                messages.append("The model's answer is what is wanted already.")
            elif status == "none_found":
                messages.append(f"No counterfactual was found, because {why[i]}")
            else:
                fewer = f"{count} of {wanted} counterfactuals were found."
                messages.append(fewer if count < wanted else "")
        return explanations, messages

    def _features(self, frame: Any) -> pd.DataFrame:
        """Return the columns of the training data, in its order."""
        if not isinstance(frame, pd.DataFrame):
            raise InvalidInputError(
                f"A FrameExplainer takes a DataFrame, got a {type(frame).__name__}."
            )
        columns = self.explainer.schema_.columns
        missing = [name for name in [*self.keep, *columns] if name not in frame.columns]
        if missing:
            raise InvalidInputError(
                f"The frame misses the columns {missing}. It has {list(frame.columns)}."
            )
        features = frame[list(columns)]
        twice = [name for name in self.keep if frame[name].ndim > 1]
        if twice or features.shape[1] != len(columns):
            raise InvalidInputError("The frame has several columns of the same name.")
        return features

    def _try(self) -> None:
        """Explain a training row of two classes.

        So a wrong target or constraint shows now, and not in every row; and what the explainer
        learns when it is first asked is learned before it is sent to others.
        """
        explainer, request = self.explainer, self._request
        explainer._check_goal(self.target, self.interval)
        if callable(self.constraints):
            request |= {"constraints": None}  # the function may fail for single rows
        ends = explainer.schema_.decode(explainer.pool_.matrix[[0, -1]])  # sorted by class
        explainer.explain_many(ends, **request)

    @property
    def _request(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "target_probability": self.target_probability,
            "interval": self.interval,
            "constraints": self.constraints,
            "if_none": "ignore",
            "skip": True,
            "n_jobs": self.n_jobs,
            "memory": self.memory,
        }

    def _check(self) -> None:
        if not isinstance(self.explainer, DiverseExplainer):
            raise InvalidInputError(
                f"explainer must be a DiverseExplainer, got {self.explainer!r}."
            )
        if not self.explainer.__sklearn_is_fitted__():
            raise NotFittedError("The explainer is not fitted yet. Call its fit first.")
        if not isinstance(self.constraints, Constraints | None) and not callable(self.constraints):
            raise InvalidInputError(
                f"constraints must be Constraints or a function of the row, because a frame may be "
                f"any part of the rows; got {self.constraints!r}."
            )
        if self.explainer.schema_.array_dtype is not None:
            raise InvalidInputError(
                "The explainer was fitted on an array without column names, so the features cannot "
                "be found in a frame. Fit it on a DataFrame."
            )
        check_list(self.keep, "keep", "columns")
        features = [name for name in self.keep if name in self.explainer.schema_.columns]
        if features or len(set(self.keep)) < len(self.keep):
            raise InvalidInputError(
                f"keep names columns beside the features, each once, got {list(self.keep)}."
            )


def _of_one_row(message: str) -> str:
    """Return a message about a table of one row as one about that row."""
    return message.replace(", row 0", "").replace("row 0", "this row")


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


@dataclass(frozen=True)
class Isolated(Generic[T]):
    """What a function returned for the rows on which it works, and why it fails on the others.

    Attributes
    ----------
    pieces
        Rows, ascending and each in one piece only, with what the function returned for them.
    errors
        From the rows on which it fails to the errors.
    """

    pieces: list[tuple[Indices, T]]
    errors: dict[int, Exception]


def isolate(
    rows: Indices, work: Callable[[Indices], T], errors: tuple[type[Exception], ...]
) -> Isolated[T]:
    """Call a function with all rows; where that fails, halve them until the culprits are alone.

    With one row of n that fails, the function is called about 2 log2(n) times.

    Parameters
    ----------
    rows
        The rows, ascending.
    work
        The function of some of the rows, at least one.
    errors
        What a single row can cause. Any other error is raised.

    Examples
    --------
    >>> def invert(rows):
    ...     return [1 / row for row in (rows - 3).tolist()]
    >>> found = isolate(np.arange(5), invert, (ZeroDivisionError,))
    >>> [rows.tolist() for rows, _ in found.pieces], found.errors
    ([[0, 1, 2], [4]], {3: ZeroDivisionError('division by zero')})
    """
    pieces: list[tuple[Indices, T]] = []
    failed: dict[int, Exception] = {}
    left = [rows] if len(rows) else []
    while left:
        piece = left.pop()
        try:
            pieces.append((piece, work(piece)))
        except errors as error:
            if len(piece) == 1:
                failed[int(piece[0])] = error
            else:
                left += reversed(np.array_split(piece, 2))
    return Isolated(pieces, failed)
