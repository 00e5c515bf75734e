"""Option: one counterfactual as people see it, with what it changes and what is known about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Counts, Indices, Labels, Mask, Matrix, Vector, to_python
from counterset._base.lazy import Lazy
from counterset.explanations.certificate import Certificate
from counterset.explanations.holds import Holds, Room
from counterset.explanations.json_values import row_to_json, to_json_number, to_json_value
from counterset.explanations.json_values import value_to_json as cell
from counterset.explanations.ranges import Range, Span
from counterset.models.answers import ask_model, read_confidence
from counterset.tables.features.feature import Feature
from counterset.tables.frames import row_at
from counterset.tables.table import Table, changed

__all__ = ["Change", "Coded", "CodedBatch", "Option", "Probabilities", "read_only"]


@dataclass(frozen=True, eq=False)
class Coded:
    """An input and its counterfactuals as codes: one float for each feature.

    ``explanation.coded`` returns it, for code that draws or measures options. ``table`` says what
    the codes mean. The arrays are read-only.

    Attributes
    ----------
    table : Table
        The features, in the order of the codes.
    input : ndarray of shape (d,)
        The codes of the input.
    matrix : ndarray of shape (n, d)
        The codes of the counterfactuals, nearest first.
    """

    table: Table
    input: Vector
    matrix: Matrix

    @cached_property
    def changed(self) -> Mask:
        """Which features each counterfactual changes, ``(n, d)``."""
        return changed(self.input, self.matrix)

    @cached_property
    def features(self) -> Indices:
        """The positions of the features that change, those that change most often first."""
        often = self.changed.sum(axis=0)
        order: Indices = np.argsort(-often, kind="stable")
        return order[: np.count_nonzero(often)]

    def frame(self, show: Callable[[Feature, float], Any]) -> pd.DataFrame:
        """Return one row for each feature that changes: its value in the input and each option.

        Parameters
        ----------
        show : callable
            Takes a feature and a code of it, and returns what the cell holds.
        """
        features = [self.table.features[i] for i in self.features]
        headings = ["input", *range(1, len(self.matrix) + 1)]
        columns = {
            heading: [show(f, row[i]) for f, i in zip(features, self.features, strict=True)]
            for heading, row in zip(headings, [self.input, *self.matrix], strict=True)
        }
        return pd.DataFrame(columns, index=[f.name for f in features], dtype=object)


@dataclass(frozen=True, eq=False)
class CodedBatch:
    """The inputs and counterfactuals of many explanations as codes.

    ``explanations.coded`` returns it. The arrays are read-only.

    Attributes
    ----------
    table : Table
        The features, in the order of the codes.
    inputs : ndarray of shape (n, d)
        The codes of the inputs.
    matrix : ndarray of shape (m, d)
        The codes of the counterfactuals of all inputs, in the order of the inputs.
    labels, distances : ndarray of shape (m,)
        The label of each counterfactual, and its distance from its input.
    counts : ndarray of shape (n,)
        How many counterfactuals each input has.
    """

    table: Table
    inputs: Matrix
    matrix: Matrix
    labels: Labels
    distances: Vector
    counts: Counts

    @property
    def owners(self) -> Indices:
        """The position of the input that each counterfactual belongs to, ``(m,)``."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @property
    def changed(self) -> Mask:
        """Which features each counterfactual changes, ``(m, d)``."""
        return changed(self.inputs[self.owners], self.matrix)

    @property
    def nearest(self) -> Vector:
        """The distance of each input's nearest counterfactual; NaN if it has none, ``(n,)``."""
        nearest = np.full(len(self.counts), np.inf)
        np.minimum.at(nearest, self.owners, self.distances)
        return np.where(self.counts > 0, nearest, np.nan)


class Probabilities:
    """How probable a model finds the labels of some rows.

    The model is asked once, about all rows, when ``values`` is first read. A pickle keeps what was
    read, and never asks the model.

    Parameters
    ----------
    compute : callable
        Returns the probability of each row's label, or None if the model has none.
    """

    def __init__(self, compute: Callable[[], Vector | None]) -> None:
        self._compute = compute

    @classmethod
    def of(
        cls, model: Any, table: Table, rows: Sequence[Matrix], labels: Sequence[Iterable[Any]]
    ) -> Probabilities:
        """Return the probabilities that a model finds; they are None if it has none, or is None.

        Parameters
        ----------
        model : object
            The model, or None if it was lost.
        table : Table
            The columns.
        rows, labels : sequence
            Several sets of rows, and their labels.
        """
        return cls(lambda: _ask(model, table, rows, labels))

    @classmethod
    def known(cls, values: Vector) -> Probabilities:
        """Return probabilities that are known already."""
        made = cls(lambda: values)
        made.__dict__["values"] = values
        return made

    @cached_property
    def values(self) -> Vector | None:
        """The probability of each row's label; None if the model has none."""
        return self._compute()

    @property
    def are_known(self) -> bool:
        """Whether the model was asked already, and answered."""
        return self.__dict__.get("values") is not None

    def at(self, row: int) -> float | None:
        """Return the probability of one row's label."""
        return None if self.values is None else _number_or_none(self.values[row])

    def take(self, which: Indices) -> Probabilities:
        """Return the probabilities of some of the rows."""
        if self.are_known and self.values is not None:
            return Probabilities.known(self.values[which])
        return Probabilities(lambda: None if self.values is None else self.values[which])

    def __getstate__(self) -> dict[str, Any]:
        return {"values": self.__dict__.get("values")}


def _ask(
    model: Any, table: Table, rows: Sequence[Matrix], labels: Sequence[Iterable[Any]]
) -> Vector | None:
    classes = getattr(model, "classes_", None)
    if classes is None or not callable(getattr(model, "predict_proba", None)):
        return None
    predicted = [to_python(label) for each in labels for label in each]
    known = [to_python(each) for each in np.ravel(np.asarray(classes)).tolist()]
    if not predicted or not set(predicted) <= set(known):
        return None  # such as classes_ that are numbers, while the model predicts their names
    answer = ask_model(model.predict_proba, table.decode(np.vstack(rows)))
    if np.shape(answer) != (len(predicted), len(known)):
        return None
    own = np.empty(len(predicted), dtype=object)
    own[:] = predicted
    return read_confidence(answer, model, own)


@dataclass(frozen=True)
class Change:
    """What an option does to one feature.

    Attributes
    ----------
    name : str
        The name of the feature.
    label : str
        What people call it.
    before, after : object
        Its value in the input and in the option, in the units of the data; ``"missing"`` where
        there is none.
    before_text, after_text : str
        The two values as the English sentences write them.
    """

    name: str
    label: str
    before: Any
    after: Any
    before_text: str
    after_text: str


@dataclass(frozen=True, eq=False, repr=False)
class Option:
    """One option: a counterfactual as people see it.

    ``explanation.options`` holds them in the order in which they are offered. Everything is
    read-only. What takes time, such as texts, probabilities and proofs, is computed when first
    read.

    Attributes
    ----------
    rank : int
        The number of the option, from 1: every text, report and page shows it under this number.
    label : object
        The model's label of the option.
    distance : float
        Its distance from the input.
    example : int
        The position of the training row that it was searched towards; -1 if there is none.
    plausibility : float or None
        How far it is from training rows, if the explainer looks at that.
    unusual : tuple of str
        The names of the features that it moves against the direction in which they usually help:
        see :meth:`DiverseExplainer.directions`. Such options come last.
    safe : bool
        Whether it passes the bar of safe options, where the strategy looks for such: see
        :class:`Nearest`. Nothing is proved by that.

    See Also
    --------
    Explanation : The set that it belongs to.

    Examples
    --------
    >>> from counterset import DiverseExplainer
    >>> X = np.random.default_rng(0).random((200, 2)).round(2)
    >>> approve = lambda rows: rows[:, 0] > 0.5
    >>> explainer = DiverseExplainer(approve, max_counterfactuals=1).fit(X)
    >>> option = explainer.explain([0.25, 0.5]).options[0]
    >>> option.rank, option.label, option.sentence
    (1, True, 'Raise x0 from 0.25 to 0.51')
    """

    rank: int
    label: Any
    distance: float
    example: int
    plausibility: float | None
    unusual: tuple[Any, ...]
    safe: bool
    _coded: Coded
    _certificate: Lazy[Certificate | None]
    _probabilities: Probabilities
    _holds: Holds
    _span: Span | None = None

    @property
    def codes(self) -> Vector:
        """The row as codes of ``explanation.coded.table``."""
        codes: Vector = self._coded.matrix[self.rank - 1]
        return codes

    @property
    def row(self) -> Any:
        """The row, in the container of the training data, as ``explanation.input`` is."""
        rows = self._coded.table.decode(self.codes[None, :], pd.Index([self.rank]))
        return row_at(rows, 0)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What the option changes, in the order of the features."""
        from counterset.words.templates import Templates  # noqa: PLC0415 - a room above
        from counterset.words.values import Writer  # noqa: PLC0415 - a room above

        writer, changes = Writer(Templates.read()), []
        for at in np.flatnonzero(self._coded.changed[self.rank - 1]):
            feature, codes = self._coded.table.features[at], (self._coded.input[at], self.codes[at])
            before, after = (feature.describe(code) for code in codes)
            texts = writer.pair(feature, *codes)
            changes.append(Change(feature.name, feature.label, before, after, *texts))
        return tuple(changes)

    @property
    def span(self) -> Span | None:
        """The ranges as codes of ``explanation.coded.table``; None: not looked for."""
        return self._span

    @cached_property
    def ranges(self) -> tuple[Range, ...] | None:
        """Between which values each number, time and ordinal that it changes may be chosen.

        None if that was not looked for: see :meth:`DiverseExplainer.with_ranges`.
        """
        if self._span is None:
            return None
        from counterset.words.templates import Templates  # noqa: PLC0415 - a room above
        from counterset.words.values import Writer  # noqa: PLC0415 - a room above

        writer, span, ranges = Writer(Templates.read()), self._span, []
        for at in np.flatnonzero(self._coded.changed[self.rank - 1]):
            feature, ends = self._coded.table.features[at], (span.low[at], span.high[at])
            if not feature.can_have_range or not feature.is_known(self.codes[[at]])[0]:
                continue
            low, high = (None if np.isinf(end) else feature.describe(end) for end in ends)
            text = writer.range(feature, *ends)
            known = span.proved, span.checked
            ranges.append(Range(feature.name, feature.label, low, high, text, *known))
        return tuple(ranges)

    @property
    def probability(self) -> float | None:
        """How probable the model finds the option's label; None if it is not known.

        That is so where the model has no ``predict_proba`` or no ``classes_``, and where it was
        lost by pickling or loading before the probability was read.
        """
        return self._probabilities.at(self.rank)

    @property
    def hold_rate(self) -> float | None:
        """How often the option still works when a person lands near it, from 0 to 1.

        The share of the draws of the :class:`Margin` that was asked for, or of ``Margin()`` if none
        was, that lead to what was asked for. The model is asked when it is first read. None where
        it was lost by pickling or loading before.
        """
        return self._holds.rate(self.rank - 1)

    @property
    def rooms(self) -> tuple[Room, ...]:
        """How far each number and time that changes may differ, one alone, in the model's units.

        The model was asked about every step in between. Features are left out that have no room,
        and those without steps. Empty without a model to ask.
        """
        return self._holds.rooms(self.rank - 1)

    @property
    def shared(self) -> bool:
        """Whether the option comes from a list that similar inputs share."""
        certificate = self._certificate.value
        if certificate is None or certificate.list_radius is None:
            return False
        return certificate.from_list is None or bool(certificate.from_list[self.rank - 1])

    @property
    def safety(self) -> float | None:
        """What is proved of the option's delta (definition 5); None where nothing is.

        See ``safety`` of :class:`~counterset.exact.Certificate`.
        """
        certificate = self._certificate.value
        if certificate is None or certificate.safety is None or certificate.nothing_proved:
            return None
        return float(certificate.safety[self.rank - 1])

    @property
    def works_within(self) -> float | None:
        """Within what distance the option is proved to work for others; None if not looked into.

        See ``option_radii`` of :class:`~counterset.exact.Certificate`.
        """
        certificate = self._certificate.value
        if certificate is None or certificate.option_radii is None:
            return None
        return float(certificate.option_radii[self.rank - 1])

    @cached_property
    def sentence(self) -> str:
        """All changes in one English sentence, without a point; the number of them if many."""
        sentence: str = self._writer.headline(self._coded.input, self.codes, self._span)
        return sentence

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The changes in English, one text each."""
        return tuple(self._writer.clauses(self._coded.input, self.codes, self._span))

    @property
    def unusual_text(self) -> str | None:
        """What usually helps in place of what the option does, in English; None if it is usual."""
        if not self.unusual:
            return None
        directions, texts = self._writer.usual(self._coded.input, self), self._writer.templates
        sentence: str = texts("unusual.one", rank=self.rank, directions=directions)
        return sentence

    @property
    def _writer(self) -> Any:
        from counterset.words.changes import ChangeWriter  # noqa: PLC0415 - a room above
        from counterset.words.templates import Templates  # noqa: PLC0415 - a room above

        return ChangeWriter(self._coded.table, Templates.read())

    def to_dict(self) -> dict[str, Any]:
        """Return the option as values of JSON, as it stands in ``explanation.to_dict()``."""
        before, table = self._coded.input, self._coded.table
        changed_at = np.flatnonzero(self._coded.changed[self.rank - 1])
        ranges = {} if self._span is None else {"ranges": self._ranges_to_json(self._span)}
        return {
            "rank": self.rank,
            "label": to_json_value(self.label),
            "probability": to_json_number(self.probability),
            "distance": to_json_number(self.distance),
            "sentence": self.sentence,
            "lines": list(self.lines),
            "changes": [
                {
                    "name": change.name,
                    "label": change.label,
                    "before": cell(table.features[at], float(before[at])),
                    "after": cell(table.features[at], float(self.codes[at])),
                    "before_text": change.before_text,
                    "after_text": change.after_text,
                }
                for at, change in zip(changed_at, self.changes, strict=True)
            ],
            "values": row_to_json(table, self.codes),
            "unusual": list(self.unusual),
            "unusual_text": self.unusual_text,
            "safe": self.safe,
            "hold_rate": to_json_number(self.hold_rate if self._holds.in_file else None),
            "example": self.example,
            "plausibility": to_json_number(self.plausibility),
            "shared": self.shared,
            "safety": to_json_number(self.safety),
            "works_within": to_json_number(self.works_within),
            **ranges,
        }

    def _ranges_to_json(self, span: Span) -> list[dict[str, Any]]:
        ranges = []
        for each in self.ranges or ():
            at = self._coded.table.position(each.name)
            feature = self._coded.table.features[at]
            low, high = (
                None if np.isinf(end) else cell(feature, float(end))
                for end in (span.low[at], span.high[at])
            )
            ranges.append({**asdict(each), "low": low, "high": high})
        return ranges

    def __repr__(self) -> str:
        return f"Option {self.rank}: {self.sentence} (distance {self.distance:.3g})"


def _number_or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def read_only(array: Any) -> Any:
    """Return a view of an array that cannot be written."""
    view = array.view()
    view.setflags(write=False)
    return view
