"""Explanation: a set of counterfactuals for one input, and the table that it prints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Labels, Mask, Matrix, Vector, to_python
from counterset._base.lazy import Lazy
from counterset.exceptions import InvalidInputError
from counterset.explanations.certificate import Certificate
from counterset.explanations.context import Context
from counterset.explanations.option import Coded, Option, Probabilities
from counterset.explanations.stability import Steadiness
from counterset.explanations.tidy import Tidy, free_name
from counterset.models.goals import InInterval
from counterset.tables.features.number import format_number, rounded
from counterset.tables.frames import row_at, to_pandas
from counterset.tables.table import Table

__all__ = ["MOST_FEATURES", "UNCHANGED", "Explanation", "Status", "options_table", "rest_of"]

#: The mark of what does not change.
UNCHANGED = "·"
#: Up to 60 features that change are listed, those that change most often first: what is printed can
#: be typed in. Answers with few changes have fewer.
MOST_FEATURES = 60


def options_table(
    coded: Coded,
    distances: Vector,
    labels: Labels,
    certificate: Certificate | None,
    told_labels: Sequence[str],
) -> pd.DataFrame:
    """Return the changes as text, with a mark where nothing changes, and figures below them.

    Parameters
    ----------
    coded, distances, labels, certificate
        Of the explanation.
    told_labels
        The heading of the labels' row, and each label as text.
    """
    text = coded.frame(lambda feature, code: feature.format(code))
    text.iloc[:, 1:] = text.iloc[:, 1:].mask(~coded.changed[:, coded.features].T, UNCHANGED)
    text = text.head(MOST_FEATURES)
    text.columns = pd.Index(["input", *(f"option {i}" for i in range(1, len(labels) + 1))])
    rows: dict[str, list[Any]] = {
        "features changed": list(coded.changed.sum(axis=1)),
        "distance": [f"{distance:.3g}" for distance in distances],
    }
    if certificate is not None and certificate.safety is not None:
        rows["safe within"] = certificate.column()
    if certificate is not None and certificate.option_radii is not None:
        rows["works within"] = certificate.works_column()
    if len({str(to_python(label)) for label in labels}) > 1:
        rows[told_labels[0]] = list(told_labels[1:])
    summary = [["", *map(str, values)] for values in rows.values()]
    return pd.concat([text, pd.DataFrame(summary, columns=text.columns, index=list(rows))])


def rest_of(coded: Coded, certificate: Certificate | None) -> str:
    """Return the lines below the table: how much it leaves out, and what is certain."""
    more = len(coded.features) - MOST_FEATURES
    rest = [f"... and {more} more features that change."] if more > 0 else []
    certain = str(certificate) if certificate is not None else ""
    return "".join(f"\n{line}" for line in [*rest, *filter(None, [certain])])


#: What became of an input.
Status: TypeAlias = Literal["explained", "none_found", "already_reached"]
_WITHOUT_COUNTERFACTUALS = {
    "none_found": "No counterfactual was found.",
    "already_reached": "That is what was wanted already.",
}


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """A set of counterfactuals for one input, nearest first.

    Made by an explainer, through :func:`~counterset.explanations.explanations.make_explanations`.
    Everything is read-only.

    Attributes
    ----------
    label
        The model's label of the input.
    labels
        The model's label of each counterfactual.
    distances
        The distance from the input to each, ascending.
    examples
        For each, the position of the training row it was searched towards; -1: of no single one.
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
    _probabilities: Probabilities
    _context: Context | None = None

    @property
    def context(self) -> Context:
        """How the explanation was made: the model, the goal, constraints, settings, the data."""
        if self._context is None:
            raise InvalidInputError(
                "It is not known how this explanation was made. Take one that an explainer made."
            )
        return self._context

    def with_model(self, model: Any) -> Explanation:
        """Return the same explanation with a model to ask: a pickle does not hold it."""
        probabilities = self._probabilities
        if not probabilities.are_known:
            rows, labels = (self._input[None, :], self._matrix), ([self.label], self.labels)
            probabilities = Probabilities.of(model, self._table, rows, labels)
        context = self.context.with_model(model)
        return replace(self, _context=context, _probabilities=probabilities)

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
        name = free_name("rank", self._table.columns)
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

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """The counterfactuals as people see them, nearest first."""
        far = self.plausibility
        return tuple(
            Option(
                rank=i + 1,
                label=to_python(label),
                distance=float(self.distances[i]),
                example=int(self.examples[i]),
                plausibility=None if far is None else float(far[i]),
                _coded=self.coded,
                _certificate=self._certificate,
                _probabilities=self._probabilities,
            )
            for i, label in enumerate(self.labels)
        )

    @property
    def probability(self) -> float | None:
        """How probable the model finds the input's own label; None if it is not known.

        The model is asked about all rows of one call at once, when a probability is first read.
        """
        return self._probabilities.at(0)

    @cached_property
    def coded(self) -> Coded:
        """The input and the counterfactuals as codes, for code that draws or measures them."""
        return Coded(self._table, _read_only(self._input), _read_only(self._matrix))

    @property
    def changed(self) -> Mask:
        """Which features each counterfactual changes, one row per counterfactual."""
        return self.coded.changed

    @property
    def changes(self) -> pd.DataFrame:
        """The features that change, one row each: their values in the input and in each option.

        A value that is not there reads "missing".
        """
        return self.coded.frame(lambda feature, code: feature.describe(code))

    def to_frame(self) -> Any:
        """Return one row per counterfactual, as :meth:`Explanations.to_frame` does."""
        counted = pd.Index([self.index]), np.array([len(self)]), [self.status]
        return Tidy(self._table, *counted, self._matrix, self.labels, self.distances).native()

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as values of JSON, in a form that has a version.

        ``counterset/explanations/explanation.schema.json`` describes it, without
        the model.
        """
        from counterset.explanations.json_form import explanation_to_dict  # noqa: PLC0415 - needs this

        return explanation_to_dict(self)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the explanation as a JSON text, see :meth:`to_dict`."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Explanation:
        """Load what :meth:`to_dict` returned, by this or an older version of counterset.

        It has no model: ``explanation.with_model(model)`` puts it back. Tables of polars and
        pyarrow come back as pandas.
        """
        from counterset.explanations.json_form import explanation_from_dict  # noqa: PLC0415 - needs this

        return explanation_from_dict(data)

    @staticmethod
    def from_json(text: str | bytes) -> Explanation:
        """Load what :meth:`to_json` returned, see :meth:`from_dict`."""
        from counterset.explanations.json_form import explanation_from_dict, parse  # noqa: PLC0415

        return explanation_from_dict(parse(text))

    def describe(
        self,
        *,
        outcomes: Mapping[Any, str] | None = None,
        stability: pd.DataFrame | Steadiness | None = None,
        templates: Any = None,
        width: int | None = 88,
    ) -> str:
        """Say in plain sentences what would have to be different.

        Parameters
        ----------
        outcomes
            From labels to how people call them, such as ``{"good": "approved"}``.
        stability
            What :func:`~counterset.steadiness` returns for this input: then it is told for how
            many slightly changed copies of it each way is found again. Or what
            :func:`~counterset.evaluate` returns for it: then how much their ways differ.
        templates
            The path of the texts in another language, a translated copy of
            ``counterset/words/english.toml``; None: English.
        width
            The most letters of a line; None: lines are not broken.
        """
        from counterset.words.description import Description  # noqa: PLC0415 - a room above

        return Description.of(self, templates, outcomes, stability).text(width)

    def letter(
        self,
        audience: Literal["applicant", "reviewer"] = "applicant",
        *,
        format: Literal["text", "html"] = "text",
        contact: str | None = None,
        outcomes: Mapping[Any, str] | None = None,
        templates: Any = None,
        width: int | None = 88,
    ) -> str:
        """Write a letter with the main reasons and the variations that lead to another result.

        Parameters
        ----------
        audience
            ``"applicant"``: short, with at most four reasons, each with the person's own value, and
            the variations; details are folded in HTML and left out in text. ``"reviewer"``: also
            what each reason does alone, distances, certificates, limits, settings, data and model.
        format
            ``"text"``, or ``"html"``: a fragment without scripts.
        contact
            Who answers questions and reviews the decision; None leaves a place to fill in.
        outcomes, templates, width
            As for :meth:`describe`.
        """
        from counterset.words.letter import write_letter  # noqa: PLC0415 - a room above

        return write_letter(
            self,
            audience,
            format=format,
            contact=contact,
            outcomes=outcomes,
            templates=templates,
            width=width,
        )

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        outcomes: Mapping[Any, str] | None = None,
        stability: pd.DataFrame | Steadiness | None = None,
        templates: Any = None,
    ) -> str:
        """Write a report: one HTML file with words, reasons, drawings, tables and a record.

        It needs no network and no matplotlib. ``counterset verify`` checks it again later.

        Parameters
        ----------
        path
            The file to write; None: none is written.
        outcomes, stability, templates
            As for :meth:`describe`.

        Returns
        -------
        str
            The page.
        """
        from counterset.report.single import report_of_one  # noqa: PLC0415 - a room above

        options: dict[str, Any] = {"stability": stability, "templates": templates}
        return report_of_one(self, path, outcomes=outcomes, **options)

    def __len__(self) -> int:
        return len(self._matrix)

    def __repr__(self) -> str:
        table = f"\n{self._options().to_string()}" if len(self) else ""
        return f"{self._heading()}{table}{self._rest()}"

    def _repr_html_(self) -> str:
        from counterset.words.notebook import notebook_html  # noqa: PLC0415 - a room above

        return notebook_html(self)

    def _heading(self) -> str:
        index = tuple(map(to_python, self.index)) if isinstance(self.index, tuple) else self.index
        ways = f"{len(self)} way{'s' if len(self) != 1 else ''}"
        verb, label = self._verb, self._told(self.label)
        told = _WITHOUT_COUNTERFACTUALS.get(self.status) or f"{ways} to {self._reached()}:"
        return f"Input {to_python(index)!r} {verb} {label}. {told}"

    @property
    def _is_number(self) -> bool:
        """Whether the model predicts a number, as a regression does."""
        return self._context is not None and self._context.is_regression

    @property
    def _verb(self) -> str:
        return "is predicted" if self._is_number else "is classified as"

    def _told(self, label: Any) -> str:
        label = to_python(label)
        if not self._is_number:
            return repr(label)
        goal = self.context.goal
        ends = (goal.low, goal.high) if isinstance(goal, InInterval) else ()
        return rounded(label, apart_from=ends)

    def _reached(self) -> str:
        """Return what the counterfactuals lead to: classes, or an interval."""
        goal = None if self._context is None else self._context.goal
        if isinstance(goal, InInterval):
            if np.isinf(goal.high):
                return f"a prediction of at least {format_number(goal.low)}"
            if np.isinf(goal.low):
                return f"a prediction of at most {format_number(goal.high)}"
            return f"a prediction between {format_number(goal.low)} and {format_number(goal.high)}"
        return " or ".join(sorted({self._told(label) for label in self.labels}))

    def _options(self) -> pd.DataFrame:
        told = [str(to_python(label)) for label in self.labels]
        if self._is_number:
            told = [self._told(label) for label in self.labels]
        verb = self._verb.removeprefix("is ")
        return options_table(
            self.coded, self.distances, self.labels, self.certificate, [verb, *told]
        )

    def _rest(self) -> str:
        return rest_of(self.coded, self.certificate)

    def __getstate__(self) -> dict[str, Any]:
        # What is computed from the rest is computed again.
        return {k: v for k, v in self.__dict__.items() if k not in ("options", "coded")}


def _read_only(array: Any) -> Any:
    view = array.view()
    view.setflags(write=False)
    return view
