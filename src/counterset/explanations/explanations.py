"""Explanations: those of many inputs, in their order."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterator, Mapping, Reversible, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, overload

import numpy as np
import pandas as pd

from counterset._base.arrays import Counts, Indices, Labels, Mask, Matrix, Vector, to_python
from counterset._base.checks import check_count
from counterset._base.files import write_text
from counterset._base.lazy import Lazy
from counterset.explanations.certificate import Certificate
from counterset.explanations.context import Context, as_written
from counterset.explanations.explanation import Explanation, Status
from counterset.explanations.option import CodedBatch, Probabilities, read_only
from counterset.explanations.ranges import Spans
from counterset.explanations.reasons import MOST_REASONS, Contributions, Reason
from counterset.explanations.tidy import Tidy
from counterset.explanations.why_none import WhyNone
from counterset.tables.table import Table

__all__ = ["Explanations", "make_explanations"]

#: A notebook shows the first 20 counterfactuals of many.
MOST_ROWS = 20


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Collection[Explanation], Reversible[Explanation]):
    """Explanations of many inputs, in their order.

    A sequence of :class:`Explanation`, but for the methods ``index(value)`` and ``count(value)`` of
    other sequences: ``index`` holds the inputs' index labels, as ``explanation.index`` holds one.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        The model's labels of the inputs.
    counts : ndarray of shape (n,)
        How many counterfactuals each input has.
    status : sequence of str
        The status of each input, as in :class:`Explanation`.
    index : pandas.Index
        The inputs' index labels, or their positions: ``explanations[i].index`` is ``index[i]``.
    model_calls, model_rows : int
        How many calls the model was asked in to make them, and about how many rows.
    context : Context
        How they were made; constraints of single rows are known to their explanations only.
        What the model was asked to make them.

    See Also
    --------
    Explanation : That of one input.

    Examples
    --------
    >>> from counterset import DiverseExplainer
    >>> explainer = DiverseExplainer(lambda rows: rows[:, 0] > 2, max_counterfactuals=1)
    >>> explainer = explainer.fit([[1.0], [2.0], [3.0], [4.0]])
    >>> explanations = explainer.explain_many([[1.0], [4.0]])
    >>> len(explanations), explanations[0].index
    (2, 0)
    """

    labels: Labels
    counts: Counts
    status: Sequence[Status]
    index: pd.Index
    model_calls: int
    model_rows: int
    context: Context
    _table: Table
    _inputs: Matrix
    _matrix: Matrix
    _labels: Labels
    _distances: Vector
    _examples: Indices
    _plausibility: Vector | None
    _stable_radius: Lazy[Vector] | None
    _list_radius: Lazy[Vector] | None
    _from_list: Mask | None
    _unusual: Mask | None
    _safe: Mask | None
    _probabilities: Probabilities
    _constraints: tuple[Any, ...] | None = None
    _why_none: Mapping[int, WhyNone] = field(default_factory=dict)
    _certificates: tuple[Certificate | None, ...] | None = None
    _known_rates: Vector | None = None
    _known_reasons: tuple[tuple[Reason, ...] | None, ...] | None = None
    _spans: tuple[Spans | None, ...] | None = None

    def __post_init__(self) -> None:
        for array in (self.labels, self.counts, self._labels, self._distances, self._examples):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self._inputs)

    def with_model(self, model: Any) -> Explanations:
        """Return the same explanations with a model to ask: neither a pickle nor JSON holds it."""
        probabilities = self._probabilities
        if not probabilities.are_known:
            rows, labels = (self._inputs, self._matrix), (self.labels, self._labels)
            probabilities = Probabilities.of(model, self._table, rows, labels)
        context = self.context.with_model(model)
        return replace(self, context=context, _probabilities=probabilities)

    def with_spans(self, spans: Sequence[Spans | None]) -> Explanations:
        """Return the same explanations with the ranges of their options, as codes."""
        return replace(self, _spans=tuple(spans))

    @property
    def why_none(self) -> Mapping[int, WhyNone]:
        """Why inputs have no counterfactual, by their positions; found out when first asked for.

        Each is a text, with the cause as ``cause``, and as ``constraints`` those of which each,
        lifted alone, opens an option.
        """
        return self._why_none

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
            index=self.index[i],
            status=self.status[i],
            context=self._context_of(i),
            _certificate=Lazy(lambda: self._certificate_of(i)),
            _table=self._table,
            _input=self._inputs[i],
            _matrix=self._matrix[part],
            _unusual=None if self._unusual is None else self._unusual[part],
            _safe=None if self._safe is None else self._safe[part],
            _known_rates=None if self._known_rates is None else self._known_rates[part],
            _probabilities=self._probabilities.take(
                np.r_[i, len(self) + np.arange(part.start, part.stop)]
            ),
            _known_reasons=None if self._known_reasons is None else self._known_reasons[i],
            _spans=None if self._spans is None else self._spans[i],
        )

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    def __reversed__(self) -> Iterator[Explanation]:
        return (self[i] for i in reversed(range(len(self))))

    def __contains__(self, item: object) -> bool:
        return any(each is item for each in self)

    @property
    def coded(self) -> CodedBatch:
        """All inputs and counterfactuals as codes, for code that measures or writes them."""
        return CodedBatch(
            self._table,
            read_only(self._inputs),
            read_only(self._matrix),
            self._labels,
            self._distances,
            self.counts,
        )

    def reasons(self, most: int = MOST_REASONS) -> pd.DataFrame:
        """Rank the features by how much they count against these inputs.

        Inputs that have the wanted result already are left out. See :meth:`Explanation.reasons`
        for what counts, and in which units.

        Parameters
        ----------
        most : int, default=4
            How many reasons of an input are its main ones.

        Returns
        -------
        DataFrame
            One row for each feature, those that count most first: its name as ``feature``, its mean
            contribution as ``mean_contribution``, and as ``share`` the share of the inputs for
            which it is among the main reasons.

        Examples
        --------
        >>> from counterset import DiverseExplainer
        >>> X = np.random.default_rng(3).random((200, 3)).round(2)
        >>> approve = lambda rows: rows[:, 0] > 0.5
        >>> explainer = DiverseExplainer(approve, max_counterfactuals=1).fit(X)
        >>> explainer.explain_many([[0.2, 0.5, 0.9], [0.1, 0.1, 0.1]]).reasons()
          feature  mean_contribution  share
        0      x0                1.0    1.0
        1      x1                0.0    0.0
        2      x2                0.0    0.0
        """
        check_count(most, "most")
        names = self._table.names
        against, share = np.zeros(len(names)), np.zeros(len(names))
        if (open_ := self._not_reached).any():
            found = self._contributions(open_)
            against = found.against.mean(axis=0) + 0.0  # no -0
            main = [found.order(i)[:most] for i in range(len(found.inputs))]
            share = np.bincount(np.concatenate(main), minlength=len(names)) / len(main)
        columns = {"feature": names, "mean_contribution": against, "share": share}
        table = pd.DataFrame(columns).sort_values(
            "mean_contribution", ascending=False, kind="stable", ignore_index=True
        )
        return table

    @property
    def _not_reached(self) -> Mask:
        return np.array([status != "already_reached" for status in self.status], dtype=bool)

    def _contributions(self, which: Mask) -> Contributions:
        return self.context.contributions(self._inputs[which], self.labels[which])

    def _with_reasons(self) -> Explanations:
        """Return the same explanations with the reasons of all, found at once.

        Where reasons cannot be found, because there is no model or no training row to compare
        with, they stay unknown.
        """
        if self._known_reasons is not None or not self.context.can_compare:
            return self
        found: list[tuple[Reason, ...]] = [()] * len(self)
        if (open_ := self._not_reached).any():
            contributions = self._contributions(open_)
            for rank, i in enumerate(np.flatnonzero(open_)):
                found[i] = contributions.reasons(rank)
        return replace(self, _known_reasons=tuple(found))

    def to_frame(self) -> Any:
        """Return one row per counterfactual, indexed by the input's index and the rank.

        The columns are the features, then the counterfactual's ``label`` and ``distance``, and the
        input's ``status``. Where a feature has such a name, they and the rank are called
        ``counterfactual_label`` and so on, and a level of the index ``input_...``.

        An input without a counterfactual has one row, in which all but the index and the status is
        missing, the rank too. Where there is one, whole numbers and booleans have pandas' dtypes
        that can miss values; otherwise all dtypes are those of the training data.

        Tables of polars and pyarrow have no index: the columns ``input``, the input's position, and
        ``rank`` come first.
        """
        return self._tidy.native()

    @property
    def _tidy(self) -> Tidy:
        counted = self.index, self.counts, self.status
        return Tidy(self._table, *counted, self._matrix, self._labels, self._distances)

    def to_json(
        self, path: str | Path | None = None, *, indent: int | None = None, reasons: bool = True
    ) -> str:
        """Return the explanations as a JSON text: an array of what ``Explanation.to_json`` writes.

        Parameters
        ----------
        path : str or Path, default=None
            The file to write; None: none is written.
        indent : int, default=None
            How far to indent the parts of each; None: each stands on a line of its own.
        reasons : bool, default=True
            Whether to write the reasons of each, as for :meth:`Explanation.to_dict`.
        """
        from counterset.explanations.json_form import explanations_to_json  # noqa: PLC0415 - needs this

        text = explanations_to_json(self._with_reasons() if reasons else self, indent, reasons)
        if path is not None:
            write_text(Path(path), text, "The JSON text")
        return text

    @staticmethod
    def from_json(text: str | bytes) -> Explanations:
        """Load what :meth:`to_json` returned or wrote, by this or an older version of counterset.

        They have no model: ``explanations.with_model(model)`` puts it back. Why inputs have no
        counterfactual, and how often the model was asked, is not kept. Tables of polars and pyarrow
        come back as pandas.
        """
        from counterset.explanations.json_form import explanations_from_json  # noqa: PLC0415

        return explanations_from_json(text)

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        groups: Any = None,
        stability: pd.DataFrame | None = None,
        annex: bool = False,
        outcomes: Mapping[Any, str] | None = None,
        title: str | None = None,
        author: str | None = None,
        date: Any = None,
    ) -> str:
        """Write a report on all inputs: one HTML file, without the rows of people.

        It shows how many options people have, who has none and which constraint stands in the way,
        which features change most, figures by group, and how stable the options are.
        ``counterset verify`` checks it again later, also each decision if the rows are passed.

        Parameters
        ----------
        path : str or Path, default=None
            The file to write; None: none is written.
        groups : str or sequence, default=None
            The name of a feature, such as ``"sex"``, or the group of each input. Numbers with more
            than six values are shown in four bands of about equally many people. No figures are
            shown of a group of fewer than 10 people.
        stability : DataFrame, default=None
            What :func:`~counterset.evaluate` returned for some of the inputs.
        annex : bool, default=False
            Whether to list the cases: each decision, and the first option with the values that it
            changes, or what stands in the way of one.
        outcomes : mapping, default=None
            From labels to how people call them, such as ``{"good": "approved"}``.
        title, author : str, default=None
            What stands above the report, and who wrote it.
        date : str or date, default=None
            The date of the report; None: it has none.

        Returns
        -------
        str
            The page.

        Examples
        --------
        >>> from counterset import DiverseExplainer
        >>> X = np.random.default_rng(0).random((200, 2)).round(2)
        >>> explainer = DiverseExplainer(lambda rows: rows[:, 0] > 0.5, max_counterfactuals=1)
        >>> explanations = explainer.fit(X).explain_many(X[X[:, 0] < 0.4])
        >>> page = explanations.to_html(title="Declined in 2026", author="Jane Doe")
        >>> "Declined in 2026" in page, "Author: Jane Doe" in page
        (True, True)
        """
        from counterset.report.many import report_of_many  # noqa: PLC0415 - a room above

        return report_of_many(
            self,
            path,
            groups=groups,
            stability=stability,
            annex=annex,
            outcomes=outcomes,
            title=title,
            author=author,
            date=date,
        )

    def _take(self, which: Indices) -> Explanations:
        firsts = self.counts.cumsum() - self.counts
        parts = [np.arange(firsts[i], firsts[i] + self.counts[i]) for i in which]
        rows = np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)
        stable, listed = self._stable_radius, self._list_radius
        return replace(
            self,
            labels=self.labels[which],
            counts=self.counts[which],
            status=tuple(self.status[i] for i in which),
            index=self.index[which],
            _inputs=self._inputs[which],
            _matrix=self._matrix[rows],
            _labels=self._labels[rows],
            _distances=self._distances[rows],
            _examples=self._examples[rows],
            _plausibility=None if self._plausibility is None else self._plausibility[rows],
            _stable_radius=None if stable is None else Lazy(lambda: stable.value[which]),
            _list_radius=None if listed is None else Lazy(lambda: listed.value[which]),
            _from_list=None if self._from_list is None else self._from_list[rows],
            _unusual=None if self._unusual is None else self._unusual[rows],
            _safe=None if self._safe is None else self._safe[rows],
            _known_rates=None if self._known_rates is None else self._known_rates[rows],
            _probabilities=self._probabilities.take(np.r_[which, len(self) + rows]),
            _why_none=_Renumbered(self._why_none, which),
            _constraints=self._constraints and tuple(self._constraints[i] for i in which),
            _certificates=self._certificates and tuple(self._certificates[i] for i in which),
            _known_reasons=self._known_reasons and tuple(self._known_reasons[i] for i in which),
            _spans=self._spans and tuple(self._spans[i] for i in which),
        )

    def _context_of(self, i: int) -> Context:
        """Return the context of one explanation, with its own constraints."""
        if self._constraints is None:
            return self.context
        return replace(self.context, constraints=self._constraints[i])

    def _certificate_of(self, i: int) -> Certificate | None:
        if self._certificates is not None:
            return self._certificates[i]
        if self._stable_radius is None and self._list_radius is None:
            return None
        end, listed = self.counts[: i + 1].sum(), _radius(self._list_radius, i)
        from_list = self._from_list
        if from_list is not None:
            from_list = None if listed is None else from_list[end - self.counts[i] : end]
        return Certificate(
            stable_radius=_radius(self._stable_radius, i), list_radius=listed, from_list=from_list
        )

    def __repr__(self) -> str:
        summary = f"Explanations of {len(self)} inputs by {len(self._matrix)} counterfactuals"
        if len(self._matrix):
            summary += f", median distance {np.median(self._distances):.3g}"
        if not self.model_calls:  # they were loaded
            return summary
        return f"{summary} (asked the model {self.model_calls} times, {self.model_rows} rows)"

    def _repr_html_(self) -> str:
        rows = self._tidy.frame().head(MOST_ROWS)
        return f"<p>{html.escape(repr(self))}</p>{rows.to_html()}"


# isinstance(explanations, Sequence) holds, and patterns such as [first, *rest] match.
Sequence.register(Explanations)


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
    list_radius: Lazy[Vector] | None = None,
    from_list: Mask | None = None,
    unusual: Mask | None = None,
    safe: Mask | None = None,
    asked: tuple[int, int] = (0, 0),
    context: Context,
    constraints: Sequence[Any] | None = None,
    why_none: Mapping[int, WhyNone] | None = None,
    status: Sequence[Status] | None = None,
    certificates: Sequence[Certificate | None] | None = None,
    probabilities: Vector | None = None,
    hold_rates: Vector | None = None,
    reasons: Sequence[tuple[Reason, ...] | None] | None = None,
    spans: Sequence[Spans | None] | None = None,
) -> Explanations:
    """Make the explanations of some inputs; every explanation is made here.

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
        The counterfactuals in the order in which they are offered to each input, with their labels
        and distances.
    examples
        The training row that each was searched towards; None: there are none, marked by -1.
    plausibility
        How far each is from training rows, if that is known.
    stable_radius
        For each of those inputs, within what distance the choice stays the same, if that is known.
    list_radius
        For each of those inputs, within what distance the same list is offered, if that is known.
    from_list
        Which counterfactuals come from that list; None: all, or there is none.
    unusual
        Which features each counterfactual moves against the direction that usually helps; None:
        there are no such directions.
    safe
        Which counterfactuals pass the bar of safe options; None: there is no such bar.
    asked
        How many calls the model was asked in, and about how many rows.
    context
        How they were made.
    constraints
        The constraints of each of those inputs, if they are not the same for all.
    why_none
        From the positions of inputs without a counterfactual to why they have none.
    status, certificates
        Those of each input, if they are known from a file; None: they follow from the rest.
    probabilities
        The probability of each input's label, then that of each counterfactual's, if they are known
        from a file; None: the model is asked when they are first read.
    hold_rates
        How often each counterfactual holds, NaN where that is not known, if they are known from a
        file; None: the model is asked when they are first read.
    reasons
        Those of each input, if they are known from a file; None: they are found when first read.
    spans
        The ranges of the options of each input, if they are known from a file.
    """
    explained = np.arange(len(inputs)) if explained is None else explained
    counts = np.bincount(explained[owners], minlength=len(inputs))
    if status is None:
        found: list[Status] = ["already_reached"] * len(inputs)
        for i in explained:
            found[i] = "explained" if counts[i] else "none_found"
        status = found
    return Explanations(
        labels=labels,
        counts=counts,
        status=tuple(status),
        index=index,
        model_calls=asked[0],
        model_rows=asked[1],
        context=context,
        _table=table,
        _inputs=inputs,
        _matrix=rows,
        _labels=row_labels,
        _distances=distances,
        _examples=np.full(len(rows), -1) if examples is None else examples,
        _plausibility=plausibility,
        _stable_radius=_spread(stable_radius, explained, len(inputs)),
        _list_radius=_spread(list_radius, explained, len(inputs)),
        _from_list=from_list,
        _unusual=unusual,
        _safe=safe,
        _known_rates=hold_rates,
        _probabilities=Probabilities.of(context.model, table, (inputs, rows), (labels, row_labels))
        if probabilities is None
        else Probabilities.known(probabilities),
        _constraints=None if constraints is None else _kept(constraints, explained, len(inputs)),
        _why_none={} if why_none is None else why_none,
        _certificates=None if certificates is None else tuple(certificates),
        _known_reasons=None if reasons is None else tuple(reasons),
        _spans=None if spans is None else tuple(spans),
    )


class _Renumbered(Mapping[int, WhyNone]):
    """Reasons by their positions among the inputs that were taken; each is read when asked for."""

    def __init__(self, values: Mapping[int, WhyNone], which: Indices) -> None:
        self._values = values
        self._old = {i: old for i, old in enumerate(which.tolist()) if old in values}

    def __len__(self) -> int:
        return len(self._old)

    def __iter__(self) -> Iterator[int]:
        return iter(self._old)

    def __getitem__(self, position: int) -> WhyNone:
        return self._values[self._old[position]]

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def _spread(values: Lazy[Vector] | None, where: Indices, count: int) -> Lazy[Vector] | None:
    """Return values at their positions among more, NaN for the others."""

    def spread_out() -> Vector:
        assert values is not None
        spread = np.full(count, np.nan)
        spread[where] = values.value
        return spread

    return None if values is None else Lazy(spread_out)


def _radius(radii: Lazy[Vector] | None, i: int) -> float | None:
    """Return the radius of one input; None where none is proved."""
    return None if radii is None or np.isnan(radii.value[i]) else float(radii.value[i])


def _kept(constraints: Sequence[Any], where: Indices, count: int) -> tuple[Any, ...]:
    """Return constraints, as users write them, at their positions among more inputs."""
    kept: list[Any] = [{}] * count
    written: dict[int, Any] = {}  # inputs with the same constraints share them
    for i, each in zip(where.tolist(), constraints, strict=True):
        if id(each) not in written:
            written[id(each)] = {} if each is None else as_written(each)
        kept[i] = written[id(each)]
    return tuple(kept)
