"""Explain the rows of a frame, and return a frame: also for rows that fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import uuid4

import numpy as np
import pandas as pd

from counterset._base.arrays import Counts, Indices, Labels
from counterset._base.checks import check_list
from counterset.constraints.constraints import Constraints
from counterset.exceptions import (
    InvalidInputError,
    MissingExtraError,
    ModelError,
    NoCounterfactualError,
    NotFittedError,
)
from counterset.explainer import DiverseExplainer
from counterset.explanations.explanations import Explanations
from counterset.explanations.tidy import found_frame, free_name, with_missing
from counterset.models.margin import MarginLike, read_margin
from counterset.tables.frames import is_dask_frame, to_pandas

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
    """Explain the rows of a frame, and return a frame that always has the same columns and dtypes.

    It is a function that engines such as Spark and Ray can map over the parts of a table. It can be
    pickled, and the explanation of a row does not depend on the part that the row is in. For Dask
    there is a method, :meth:`explain_dask`.

    Each input has one row per counterfactual, nearest first, with the input's index. An input
    without a counterfactual has one row that says why. So has an input that cannot be explained;
    the other inputs are explained nevertheless.

    The columns are those of ``keep``; the ``rank`` of the counterfactual, counted from 1; those of
    ``explanations.to_frame()``, which are the features, ``label`` and ``distance``; then ``status``
    and ``message``. An input without a counterfactual has missing values from ``rank`` to
    ``distance``, so whole numbers have the dtype ``Int64`` and booleans ``boolean``. If a feature
    or a kept column has one of these names, the column is called ``counterfactual_rank`` and so on.

    The status is one of these:

    - ``"explained"``: the message is empty, or says how many counterfactuals are missing.
    - ``"already_reached"``: the input already has the wanted class or value.
    - ``"none_found"``: there is no counterfactual; the message says why.
    - ``"invalid_input"``: a value of the row cannot be used.
    - ``"model_error"``: the model failed on this row, or on candidates for it.

    Parameters
    ----------
    explainer : DiverseExplainer
        A fitted explainer. Columns are found by their names, so it must be fitted on a table with
        column names.
    keep : sequence of column names, default=()
        Columns of the input that are returned with each row, such as the number of a case. Engines
        without an index need one to tell the rows apart. All other columns are left out.
    target : class, default=None
        The wanted class. None: any other class.
    target_probability : float, default=None
        The least probability that the wanted class must have.
    interval : tuple of (float, float), default=None
        The wanted range of a regression.
    constraints : Constraints or callable, default=None
        Constraints for all rows, or a function of the row. None: those of the explainer.
    margin : Margin or float, default=None
        In place of the explainer's own; 0: none.
    n_jobs : int, default=None
        The number of processes for one frame, as in ``explain_many``. Engines have their own
        workers, and need none.
    memory : str or int, default="512MB"
        About how much memory the rows that are worked on at once may take.

    See Also
    --------
    counterset.DiverseExplainer.explain_many : Explain the rows of a table.

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
        margin: MarginLike = None,
    ) -> None:
        self.explainer = explainer
        self.keep = keep
        self.target = target
        self.target_probability = target_probability
        self.interval = interval
        self.constraints = constraints
        self.n_jobs = n_jobs
        self.memory = memory
        self.margin = margin
        self._check()
        self._try()
        self._layout = Layout.of(explainer, keep)

    @property
    def meta(self) -> pd.DataFrame:
        """The columns and dtypes of what is returned, as a frame without rows."""
        if self.keep:
            raise InvalidInputError(
                f"The dtypes of the kept columns {list(self.keep)} are not known yet. Call the "
                f"FrameExplainer with a frame that has these columns and no rows: frame.head(0)."
            )
        return self(pd.DataFrame(columns=self.explainer.training_.table.columns))

    def explain_dask(self, frame: Any) -> Any:
        """Explain the partitions of a dask DataFrame where they are, once they are computed.

        Dask sends this object, which holds the training data and the model, to each worker once,
        and again to a worker that replaces a lost one.

        Parameters
        ----------
        frame : dask.dataframe.DataFrame
            A frame with the columns of the training data, in any order, and those of ``keep``.

        Returns
        -------
        dask.dataframe.DataFrame
            A lazy frame with the rows that a call returns for each partition.

        Examples
        --------
        >>> import dask.dataframe as dd
        >>> from counterset import DiverseExplainer
        >>> people = pd.DataFrame({"income": range(10, 90)})
        >>> explainer = DiverseExplainer(lambda rows: rows["income"] >= 50).fit(people)
        >>> lazy = FrameExplainer(explainer, target=True).explain_dask(dd.from_pandas(people[:6]))
        >>> lazy.compute(scheduler="synchronous")["status"].unique().tolist()
        ['explained']
        """
        try:
            from dask import delayed  # noqa: PLC0415 - an extra
        except ImportError:
            raise MissingExtraError(
                "A dask DataFrame needs dask: pip install 'counterset[dask]'."
            ) from None
        if not is_dask_frame(frame):
            raise InvalidInputError(
                f"explain_dask takes a dask DataFrame, got {type(frame).__name__}. For a table in "
                f"memory, call the FrameExplainer itself: FrameExplainer(explainer)(frame)."
            )
        shared = delayed(self, name=f"frame-explainer-{uuid4().hex}", traverse=False)
        return frame.map_partitions(_explain_part, shared, meta=self(frame._meta))

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Explain the rows of a frame.

        Parameters
        ----------
        frame : DataFrame
            A DataFrame of pandas (or a table of polars or pyarrow) with the columns of the training
            data, in any order, and those of ``keep``. It may have no rows.

        Returns
        -------
        DataFrame
            At least one row for each input.
        """
        if is_dask_frame(frame):
            raise InvalidInputError(
                "The rows of a dask DataFrame are not in memory. Call explain_dask(frame) in place "
                "of the FrameExplainer itself."
            )
        frame = to_pandas(frame, "The frame")
        features = self._features(frame)
        table, everything = self.explainer.training_.table, np.arange(len(frame))
        # Rows that cannot be read are found first: reading is much faster than explaining.
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
            messages[row] = _of_one_row(str(error))
        pieces: list[tuple[Indices, Explanations]] = []
        for rows, (explanations, texts) in found.pieces:
            status[rows], messages[rows] = explanations.status, texts
            pieces.append((rows, explanations))
        return self._layout.arrange(frame, pieces, status, messages)

    def _explain(self, features: Any) -> tuple[Explanations, list[str]]:
        """Explain rows, and return the message of each with the explanations."""
        explanations = self.explainer.explain_many(features, **self._request)
        wanted, why = self.explainer.max_counterfactuals, explanations.why_none
        messages = []
        for i, (status, count) in enumerate(
            zip(explanations.status, explanations.counts.tolist(), strict=True)
        ):
            if status == "already_reached":
                messages.append("The row already has the wanted class or value.")
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
        columns = self.explainer.training_.table.columns
        missing = [name for name in [*self.keep, *columns] if name not in frame.columns]
        if missing:
            raise InvalidInputError(
                f"The frame lacks the columns {missing}. It has {list(frame.columns)}."
            )
        features = frame[list(columns)]
        twice = [name for name in self.keep if frame[name].ndim > 1]
        if twice or features.shape[1] != len(columns):
            raise InvalidInputError("The frame has several columns of the same name.")
        return features

    def _try(self) -> None:
        """Explain two training rows of different classes.

        A wrong target or constraint is reported now, and not once in every row. What the explainer
        learns on its first call is learned before it is sent to workers.
        """
        explainer, request = self.explainer, self._request
        explainer.check_goal(self.target, self.interval)
        if callable(self.constraints):
            request |= {"constraints": None}  # the function may fail for single rows
        ends = explainer.training_.table.decode(
            explainer.training_.pool.matrix[[0, -1]]
        )  # sorted by class
        explainer.explain_many(ends, **request)

    @property
    def _request(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "target_probability": self.target_probability,
            "interval": self.interval,
            "constraints": self.constraints,
            "margin": self.margin,
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
        read_margin(self.margin)
        if not isinstance(self.constraints, Constraints | None) and not callable(self.constraints):
            raise InvalidInputError(
                f"constraints must be Constraints or a function of the row, because a frame may be "
                f"any part of the rows. Got {self.constraints!r}."
            )
        if self.explainer.training_.table.array_dtype is not None:
            raise InvalidInputError(
                "The explainer was fitted on an array without column names, so the features cannot "
                "be found in a frame. Fit it on a DataFrame."
            )
        check_list(self.keep, "keep", "columns")
        features = [name for name in self.keep if name in self.explainer.training_.table.columns]
        if features or len(set(self.keep)) < len(self.keep):
            raise InvalidInputError(
                f"keep takes columns that are not features, each once, got {list(self.keep)}."
            )


def _explain_part(part: pd.DataFrame, explain: FrameExplainer) -> pd.DataFrame:
    return explain(part)


def _of_one_row(message: str) -> str:
    """Return a message about a table of one row as one about that row.

    Examples
    --------
    >>> _of_one_row("X has a missing value in feature 'age', row 0.")
    "The row has a missing value in feature 'age'."
    """
    message = message.replace(", row 0", "").replace("row 0", "this row")
    return f"The row {message[2:]}" if message.startswith("X ") else message


@dataclass(frozen=True)
class Layout:
    """The columns and dtypes of the frame that is returned, whatever frame goes in.

    They are the kept columns of the input, the rank, the features, the counterfactual's label and
    distance, the status and the message. An input without a counterfactual has one row, in which
    the values from the rank to the distance are missing. So whole numbers and booleans have
    pandas' dtypes for missing values; the other dtypes are those of ``to_frame``.

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
        table, none = explainer.training_.table, explainer.training_.pool.matrix[:0]
        frame = found_frame(table, none, explainer.classes_[:0], np.empty(0))
        dtypes = dict(frame.dtypes)
        for feature in table.features:
            if isinstance(feature.dtype, pd.CategoricalDtype):
                # A table of polars or pyarrow without rows has no categories.
                dtypes |= {table.columns[at]: feature.dtype for at in feature.columns}
        taken = [*keep, *frame.columns]
        more = [""] * (frame.columns.nlevels - 1)
        names: list[Any] = []
        for wanted in ("rank", "status", "message"):
            name = free_name((wanted, *more) if more else wanted, [*taken, *names])
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
            explanations.coded.table,
            explanations.coded.matrix,
            explanations.coded.labels,
            explanations.coded.distances,
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
        """Return the frame of all explanations.

        Parameters
        ----------
        frame
            The frame of the inputs.
        pieces
            Positions of its rows with their explanations. All other rows failed.
        status, messages
            The status and the message of each row.
        """
        counts = np.zeros(len(frame), dtype=np.intp)
        firsts = np.zeros(len(frame), dtype=np.intp)
        found, total = [self._empty()], 0
        for rows, explanations in pieces:
            counts[rows] = explanations.counts
            firsts[rows] = total + explanations.counts.cumsum() - explanations.counts
            found.append(self.rows_of(explanations))
            total += len(found[-1])
        owners = np.repeat(np.arange(len(frame)), np.maximum(counts, 1))
        before = np.maximum(counts, 1).cumsum() - np.maximum(counts, 1)
        offsets = np.arange(len(owners)) - before[owners]
        # An input without a counterfactual takes the row -1, which does not exist: all is missing.
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

    def _empty(self) -> pd.DataFrame:
        """Return the rank, the features, the label and the distance of no counterfactual."""
        columns = {self.rank: "Int64", **self.found}
        frame = pd.DataFrame(
            {at: pd.Series(dtype=each) for at, each in enumerate(columns.values())}
        )
        frame.columns = pd.Index(list(columns))
        return frame


@dataclass(frozen=True)
class Isolated(Generic[T]):
    """What a function returned for some rows, and the errors that it raised for the others.

    Attributes
    ----------
    pieces
        Rows, ascending and each in one piece, with what the function returned for them.
    errors
        The error of each row on which the function fails.
    """

    pieces: list[tuple[Indices, T]]
    errors: dict[int, Exception]


def isolate(
    rows: Indices, work: Callable[[Indices], T], errors: tuple[type[Exception], ...]
) -> Isolated[T]:
    """Call a function with all rows; if that fails, halve them until each failing row is alone.

    With one row of n that fails, the function is called about 2 log2(n) times.

    Parameters
    ----------
    rows
        The rows, ascending.
    work
        The function of some of the rows, at least one.
    errors
        The errors that a single row can cause. Any other error is raised.

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
