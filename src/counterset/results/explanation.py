"""What an explainer returns: one explanation, or a sequence of them."""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import pandas as pd

from counterset._base.arrays import Counts, Indices, Labels, Mask, Matrix, Vector, to_python
from counterset._base.lazy import Lazy
from counterset.results.certificate import Certificate
from counterset.tables.features.feature import Feature
from counterset.tables.frames import row_at, to_pandas
from counterset.tables.table import Table, changed

__all__ = ["Explanation", "Explanations", "make_explanations"]


UNCHANGED = "·"
#: What became of an input.
Status: TypeAlias = Literal["explained", "none_found", "already_reached"]
_WITHOUT_COUNTERFACTUALS = {
    "none_found": "No counterfactual was found.",
    "already_reached": "That is what was wanted already.",
}
#: A readable answer lists at most 20 features, those that change most often first.
MOST_FEATURES = 20


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """A set of counterfactuals for one input, nearest first.

    Made by an explainer, through :func:`make_explanations`. Everything is read-only.

    Attributes
    ----------
    label
        The model's label of the input.
    labels
        The model's label of each counterfactual.
    distances
        The distance from the input to each, ascending.
    examples
        For each, the position of the training row it was searched towards.
    plausibility
        For each, how far it is from training rows, if the explainer looks at that, else None.
    index
        The input's index label, or its position in the batch.
    status
        ``"explained"``, or why there is no counterfactual: ``"none_found"``, or
        ``"already_reached"`` where the input has the wanted class or value already.
    """

    label: Any
    labels: Labels
    distances: Vector
    examples: Indices
    plausibility: Vector | None
    index: Any
    status: Status
    _certificate: Lazy[Certificate | None]
    _table: Table
    _input: Vector
    _matrix: Matrix

    @property
    def certificate(self) -> Certificate | None:
        """What is certain about this explanation, or None; proved when it is first asked for."""
        return self._certificate.value

    def with_certificate(self, certificate: Certificate) -> Explanation:
        """Return the same explanation with a certificate."""
        return replace(self, _certificate=Lazy(lambda: certificate))

    @property
    def counterfactuals(self) -> Any:
        """The counterfactuals, in the container, columns and dtypes of the training data.

        A pandas frame is indexed by the rank, from 1. Tables of polars and pyarrow have no index:
        their rows stand in that order.
        """
        name = _free_name("rank", self._table.columns)
        return self._table.decode(self._matrix, pd.RangeIndex(1, len(self) + 1, name=name))

    @property
    def values(self) -> Labels:
        """The counterfactuals as a 2-d numpy array."""
        rows = to_pandas(self.counterfactuals, "The table")
        values: Labels = rows.to_numpy() if isinstance(rows, pd.DataFrame) else rows
        return values

    @property
    def input(self) -> Any:
        """The row that was explained.

        A Series for a pandas frame, a 1-d array for an array, and a table of one row for polars
        and pyarrow.
        """
        return row_at(self._table.decode(self._input[None, :], pd.Index([self.index])), 0)

    @property
    def changed(self) -> Mask:
        """Which features each counterfactual changes, one row per counterfactual."""
        return changed(self._input, self._matrix)

    @property
    def changes(self) -> pd.DataFrame:
        """The features that change, one row each: their values in the input and in each option.

        A value that is not there reads "missing".
        """
        return self._show_changes(lambda feature, code: feature.describe(code))

    def _show_changes(self, show: Callable[[Feature, float], Any]) -> pd.DataFrame:
        """Return the changes, with what ``show`` returns for a feature and a code of it."""
        order = self._changed_features()
        features = [self._table.features[i] for i in order]
        headings = ["input", *range(1, len(self) + 1)]
        columns = {
            heading: [show(f, row[i]) for f, i in zip(features, order, strict=True)]
            for heading, row in zip(headings, [self._input, *self._matrix], strict=True)
        }
        return pd.DataFrame(columns, index=[f.name for f in features], dtype=object)

    def _changed_features(self) -> Indices:
        """Return the positions of the features that change, those that change most often first."""
        often = self.changed.sum(axis=0)
        order: Indices = np.argsort(-often, kind="stable")
        return order[: np.count_nonzero(often)]

    def __len__(self) -> int:
        return len(self._matrix)

    def __repr__(self) -> str:
        return f"{self._heading()}\n{self._for_people().to_string()}{self._rest()}"

    def _repr_html_(self) -> str:
        return (
            f"<div><p><b>{html.escape(self._heading())}</b></p>"
            f"{self._for_people().to_html(escape=True)}<p>{html.escape(self._rest())}</p></div>"
        )

    def _heading(self) -> str:
        reached = sorted({repr(to_python(label)) for label in self.labels})
        told = _WITHOUT_COUNTERFACTUALS.get(self.status)
        ways = f"{len(self)} way{'s' if len(self) != 1 else ''}"
        index = tuple(map(to_python, self.index)) if isinstance(self.index, tuple) else self.index
        told = told or f"{ways} to {' or '.join(reached)}:"
        return f"Input {to_python(index)!r} is classified as {self.label!r}. {told}"

    def _for_people(self) -> pd.DataFrame:
        """Return the changes as text, with a mark where nothing changes."""
        text = self._show_changes(lambda feature, code: feature.format(code))
        text.iloc[:, 1:] = text.iloc[:, 1:].mask(
            ~self.changed[:, self._changed_features()].T, UNCHANGED
        )
        text = text.head(MOST_FEATURES)
        text.columns = pd.Index(["input", *(f"option {i}" for i in range(1, len(self) + 1))])
        rows: dict[str, list[Any]] = {
            "features changed": list(self.changed.sum(axis=1)),
            "distance": [f"{distance:.3g}" for distance in self.distances],
        }
        if self.certificate is not None and self.certificate.safety is not None:
            rows["safe within"] = list(self.certificate.column())
        if len({str(label) for label in self.labels}) > 1:
            rows["classified as"] = [to_python(label) for label in self.labels]
        summary = [["", *map(str, values)] for values in rows.values()]
        return pd.concat([text, pd.DataFrame(summary, columns=text.columns, index=list(rows))])

    def _rest(self) -> str:
        more = len(self.changes) - MOST_FEATURES
        rest = [f"... and {more} more features that change."] if more > 0 else []
        certain = str(self.certificate) if self.certificate is not None else ""
        return "".join(f"\n{line}" for line in [*rest, *filter(None, [certain])])


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Sequence[Explanation]):
    """Explanations of many inputs, in their order.

    Attributes
    ----------
    labels
        The model's labels of the inputs.
    counts
        How many counterfactuals each input has.
    status
        The status of each input, as in :class:`Explanation`.
    input_index
        The inputs' index.
    model_calls, model_rows
        What the model was asked to make them.
    """

    labels: Labels
    counts: Counts
    status: Sequence[Status]
    input_index: pd.Index
    model_calls: int
    model_rows: int
    _table: Table
    _inputs: Matrix
    _matrix: Matrix
    _labels: Labels
    _distances: Vector
    _examples: Indices
    _plausibility: Vector | None
    _stable_radius: Lazy[Vector] | None

    def __post_init__(self) -> None:
        for array in (self.labels, self.counts, self._labels, self._distances, self._examples):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self._inputs)

    @overload
    def __getitem__(self, item: int) -> Explanation: ...
    @overload
    def __getitem__(self, item: slice) -> Explanations: ...
    def __getitem__(self, item: int | slice) -> Explanation | Explanations:
        if isinstance(item, slice):
            return self._take(np.arange(len(self))[item])
        i = range(len(self))[item]
        first = int(self.counts[:i].sum())
        part = slice(first, first + int(self.counts[i]))
        return Explanation(
            label=to_python(self.labels[i]),
            labels=self._labels[part],
            distances=self._distances[part],
            examples=self._examples[part],
            plausibility=None if self._plausibility is None else self._plausibility[part],
            index=self.input_index[i],
            status=self.status[i],
            _certificate=Lazy(lambda: self._certificate_of(i)),
            _table=self._table,
            _input=self._inputs[i],
            _matrix=self._matrix[part],
        )

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    def to_frame(self) -> Any:
        """Return one row per counterfactual, indexed by the input's index and the rank.

        The columns are the features, then the counterfactual's ``label`` and ``distance``. Where a
        feature has such a name, they and the rank are called ``counterfactual_label`` and so on,
        and a level of the index ``input_...``.

        Tables of polars and pyarrow have no index: the columns ``input``, the input's position, and
        ``rank`` come first.
        """
        frame, container = self._to_pandas(), self._table.container
        if container is None:
            return frame
        index = {
            f"input_{at}" if name is None else str(name): frame.index.get_level_values(at)
            for at, name in enumerate(frame.index.names)
        }
        figures = dict(zip(frame.columns[-2:], (self._labels, self._distances), strict=True))
        return container.labelled(self._table.decode(self._matrix), index, figures)

    def _to_pandas(self) -> pd.DataFrame:
        """Return one row per counterfactual as a pandas frame."""
        rows = to_pandas(self._table.decode(self._matrix), "The table")
        frame = pd.DataFrame(rows) if isinstance(rows, np.ndarray) else rows
        frame.columns = self._table.columns
        more = [""] * (frame.columns.nlevels - 1)
        for told, values in (("label", self._labels), ("distance", self._distances)):
            name = _free_name(told, frame.columns)
            frame[(name, *more) if more else name] = values
        owners = np.repeat(np.arange(len(self)), self.counts)
        firsts = self.counts.cumsum() - self.counts
        index = self.input_index[owners]
        names: list[Any] = []
        for name in ["input"] if index.names == [None] else index.names:
            taken = [*frame.columns, *names]
            names.append(None if name is None else _free_name(name, taken, "input"))
        levels = [index.get_level_values(i) for i in range(index.nlevels)]
        frame.index = pd.MultiIndex.from_arrays(
            [*levels, np.arange(len(owners)) - firsts[owners] + 1],
            names=[*names, _free_name("rank", [*frame.columns, *names])],
        )
        return frame

    def _take(self, which: Indices) -> Explanations:
        firsts = self.counts.cumsum() - self.counts
        parts = [np.arange(firsts[i], firsts[i] + self.counts[i]) for i in which]
        rows = np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)
        radius = self._stable_radius
        return replace(
            self,
            labels=self.labels[which],
            counts=self.counts[which],
            status=tuple(self.status[i] for i in which),
            input_index=self.input_index[which],
            _inputs=self._inputs[which],
            _matrix=self._matrix[rows],
            _labels=self._labels[rows],
            _distances=self._distances[rows],
            _examples=self._examples[rows],
            _plausibility=None if self._plausibility is None else self._plausibility[rows],
            _stable_radius=None if radius is None else Lazy(lambda: radius.value[which]),
        )

    def _certificate_of(self, i: int) -> Certificate | None:
        if self._stable_radius is None:
            return None
        radius = float(self._stable_radius.value[i])
        return Certificate(stable_radius=None if np.isnan(radius) else radius)

    def __repr__(self) -> str:
        summary = f"Explanations of {len(self)} inputs by {len(self._matrix)} counterfactuals"
        if len(self._matrix):
            summary += f", median distance {np.median(self._distances):.3g}"
        return f"{summary} (asked the model {self.model_calls} times, {self.model_rows} rows)"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self._to_pandas().head(MOST_FEATURES).to_html()}"


def make_explanations(
    table: Table,
    inputs: Matrix,
    labels: Labels,
    index: pd.Index,
    *,
    explained: Indices | None = None,
    owners: Indices,
    rows: Matrix,
    row_labels: Labels,
    distances: Vector,
    examples: Indices | None = None,
    plausibility: Vector | None = None,
    stable_radius: Lazy[Vector] | None = None,
    asked: tuple[int, int] = (0, 0),
) -> Explanations:
    """Make the explanations of some inputs: the only way to make one.

    Parameters
    ----------
    table
        The columns of inputs and counterfactuals.
    inputs, labels, index
        The inputs, ``(n, d)``, with their labels and index.
    explained
        The positions of the inputs that were to be explained, ascending; None: all. The others
        had been reached already.
    owners
        The input that each counterfactual belongs to, counted among those, ascending.
    rows, row_labels, distances
        The counterfactuals, nearest first for each input, with their labels and distances.
    examples
        The training row that each was searched towards; None: there are none, marked by -1.
    plausibility
        How far each is from training rows, if that is known.
    stable_radius
        For each of those inputs, within what distance the choice stays the same, if that is known.
    asked
        How many calls the model was asked in, and about how many rows.
    """
    explained = np.arange(len(inputs)) if explained is None else explained
    counts = np.bincount(explained[owners], minlength=len(inputs))
    status: list[Status] = ["already_reached"] * len(inputs)
    for i in explained:
        status[i] = "explained" if counts[i] else "none_found"
    return Explanations(
        labels=labels,
        counts=counts,
        status=tuple(status),
        input_index=index,
        model_calls=asked[0],
        model_rows=asked[1],
        _table=table,
        _inputs=inputs,
        _matrix=rows,
        _labels=row_labels,
        _distances=distances,
        _examples=np.full(len(rows), -1) if examples is None else examples,
        _plausibility=plausibility,
        _stable_radius=None
        if stable_radius is None
        else Lazy(lambda: _spread(stable_radius.value, explained, len(inputs))),
    )


def _spread(values: Vector, where: Indices, count: int) -> Vector:
    """Return values at their positions among more, NaN for the others."""
    spread = np.full(count, np.nan)
    spread[where] = values
    return spread


def _free_name(name: Any, taken: Collection[Any], prefix: str = "counterfactual") -> Any:
    """Return a name, with a prefix if it is taken."""
    while name in taken:
        name = f"{prefix}_{name}"
    return name
