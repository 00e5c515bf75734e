"""Explanation: a set of counterfactuals for one input."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Labels, Mask, Matrix, Vector, to_python
from counterset._base.checks import check_count
from counterset._base.lazy import Lazy
from counterset.explanations.certificate import Certificate
from counterset.explanations.context import Context
from counterset.explanations.holds import Holds
from counterset.explanations.option import Coded, Option, Probabilities, read_only
from counterset.explanations.ranges import Spans
from counterset.explanations.reasons import MOST_REASONS, Reason
from counterset.explanations.stability import Stability
from counterset.explanations.survival import Survival
from counterset.explanations.tidy import Tidy, free_name
from counterset.tables.frames import row_at, to_pandas
from counterset.tables.table import Table

__all__ = ["Explanation", "Status"]

#: Whether an input has options, or why it has none.
Status: TypeAlias = Literal["explained", "none_found", "already_reached"]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """A set of counterfactuals for one input.

    The nearest come first. Those that move a feature against the direction in which it usually
    helps come after the others.

    Made by an explainer. Everything is read-only.

    Attributes
    ----------
    label : object
        The model's label of the input.
    labels : ndarray of shape (n,)
        The model's label of each counterfactual.
    distances : ndarray of shape (n,)
        The distance from the input to each: ascending, first of those without and then of those
        with ``unusual`` changes.
    examples : ndarray of shape (n,)
        For each, the position of the training row it was searched towards; -1: of no single one.
    plausibility : ndarray of shape (n,) or None
        For each, how far it is from training rows, if the explainer looks at that, else None.
    index : object
        The input's index label, or its position in the batch.
    status : str
        ``"explained"``, or why there is no counterfactual: ``"none_found"``, or
        ``"already_reached"`` where the input has the wanted class or value already.
    context : Context
        How the explanation was made: the model, the goal, constraints, settings, the data.

    See Also
    --------
    Option : One of its counterfactuals.
    Explanations : Those of many inputs.

    Examples
    --------
    >>> from counterset import DiverseExplainer
    >>> explainer = DiverseExplainer(lambda rows: rows[:, 0] > 2, max_counterfactuals=1)
    >>> explainer = explainer.fit([[1.0], [2.0], [3.0], [4.0]])
    >>> explanation = explainer.explain([1.0])
    >>> bool(explanation.label), explanation.labels.tolist()
    (False, [True])
    """

    label: Any
    labels: Labels
    distances: Vector
    examples: Indices
    plausibility: Vector | None
    index: Any
    status: Status
    context: Context
    _certificate: Lazy[Certificate | None]
    _table: Table
    _input: Vector
    _matrix: Matrix
    _probabilities: Probabilities
    _unusual: Mask | None = None
    _safe: Mask | None = None
    _known_rates: Vector | None = None
    _known_reasons: tuple[Reason, ...] | None = None
    _spans: Spans | None = None

    def with_model(self, model: Any) -> Explanation:
        """Return the same explanation with a model to ask: a pickle does not hold it."""
        probabilities = self._probabilities
        if not probabilities.are_known:
            rows, labels = (self._input[None, :], self._matrix), ([self.label], self.labels)
            probabilities = Probabilities.of(model, self._table, rows, labels)
        context = self.context.with_model(model)
        return replace(self, context=context, _probabilities=probabilities)

    @property
    def certificate(self) -> Certificate | None:
        """What is certain about this explanation, or None; proved when it is first asked for."""
        return self._certificate.value

    def with_certificate(self, certificate: Certificate) -> Explanation:
        """Return the same explanation with a certificate."""
        return replace(self, _certificate=Lazy(lambda: certificate))

    @property
    def spans(self) -> Spans | None:
        """The ranges of the options as codes, for code that draws them; None: not looked for."""
        return self._spans

    def with_spans(self, spans: Spans | None) -> Explanation:
        """Return the same explanation with the ranges of its options, as codes."""
        return replace(self, _spans=spans)

    def nearest(self, count: int) -> Explanation:
        """Return the same explanation with its nearest options only."""
        if len(self) <= count:
            return self
        certificate, far = self._certificate, self.plausibility
        return replace(
            self,
            labels=self.labels[:count],
            distances=self.distances[:count],
            examples=self.examples[:count],
            plausibility=None if far is None else far[:count],
            _certificate=Lazy(lambda: certificate.value and certificate.value.of_nearest(count)),
            _matrix=self._matrix[:count],
            _unusual=None if self._unusual is None else self._unusual[:count],
            _spans=None if self._spans is None else self._spans.first(count),
            _safe=None if self._safe is None else self._safe[:count],
            _known_rates=None if self._known_rates is None else self._known_rates[:count],
            _probabilities=self._probabilities.take(np.arange(count + 1)),
        )

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
        """The counterfactuals as people see them.

        The nearest come first. Options that move a feature against the direction in which it
        usually helps come after the others.
        """
        far = self.plausibility
        return tuple(
            Option(
                rank=i + 1,
                label=to_python(label),
                distance=float(self.distances[i]),
                example=int(self.examples[i]),
                plausibility=None if far is None else float(far[i]),
                unusual=self._unusual_features(i),
                safe=self._safe is not None and bool(self._safe[i]),
                _coded=self.coded,
                _certificate=self._certificate,
                _probabilities=self._probabilities,
                _span=None if self._spans is None else self._spans.at(i),
                _holds=self._holds,
            )
            for i, label in enumerate(self.labels)
        )

    def _unusual_features(self, i: int) -> tuple[Any, ...]:
        if self._unusual is None:
            return ()
        return tuple(self._table.features[at].name for at in np.flatnonzero(self._unusual[i]))

    @property
    def probability(self) -> float | None:
        """How probable the model finds the input's own label; None if it is not known.

        The model is asked about all rows of one call at once, when a probability is first read.
        """
        return self._probabilities.at(0)

    def reasons(self, most: int = MOST_REASONS) -> tuple[Reason, ...]:
        """Return what counted against the input, the most important first.

        The input is compared with 32 training rows that the model gives the wanted result, always
        the same ones for the same training data. The contribution of a value is its Shapley value:
        how much less probable it makes the wanted result, on average over these people and over
        the orders in which their values are replaced by the input's own (the interventional
        definition). All features count, also those that may not change. Options have no part in
        it, so that reasons are the same for every strategy, for all constraints, and without any
        option.

        A value is named if its contribution is positive, at least a tenth of the first, and if
        replacing it alone by those of the other people helps on average. If no single replacement
        helps, values count only together: then those are named whose replacement does no harm.

        For a model without ``predict_proba`` and ``classes_`` the share of wanted labels takes the
        place of the probability; for an interval of predictions, the distance to the interval.

        Parameters
        ----------
        most : int, default=4
            The most reasons to return: more than four are not likely to help.

        Returns
        -------
        tuple of Reason
            Empty if the input has the wanted result already, or no training row has it.

        Examples
        --------
        >>> from counterset import DiverseExplainer
        >>> X = np.random.default_rng(3).random((200, 3)).round(2)
        >>> approve = lambda rows: rows[:, 0] + rows[:, 1] > 1
        >>> explainer = DiverseExplainer(approve, max_counterfactuals=1).fit(X)
        >>> explanation = explainer.explain([0.2, 0.5, 0.9])
        >>> [(reason.feature, reason.value) for reason in explanation.reasons()]
        [('x0', 0.2), ('x1', 0.5)]
        """
        check_count(most, "most")
        return self._all_reasons[:most]

    @property
    def can_give_reasons(self) -> bool:
        """Whether reasons are known, or there are a model and training rows to find them with."""
        return self._known_reasons is not None or self.context.can_compare

    @cached_property
    def _all_reasons(self) -> tuple[Reason, ...]:
        if self._known_reasons is not None:
            return self._known_reasons
        if self.status == "already_reached":
            return ()
        label = np.array([self.label], dtype=object)
        return self.context.contributions(self._input[None, :], label).reasons(0)

    @cached_property
    def coded(self) -> Coded:
        """The input and the counterfactuals as codes, for code that draws or measures them."""
        return Coded(self._table, read_only(self._input), read_only(self._matrix))

    @cached_property
    def _holds(self) -> Holds:
        label, rates = np.array([self.label], dtype=object), self._known_rates
        return Holds(self.context, self._input, label, self._matrix, rates)

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

    def to_dict(
        self, *, outcomes: Mapping[Any, str] | None = None, reasons: bool = True
    ) -> dict[str, Any]:
        """Return the explanation as values of JSON, in a form that has a version.

        It holds everything but the model: values, and the English texts that show them.
        ``counterset/explanations/explanation.schema.json`` describes it. The model is asked for
        probabilities, if it has them and they were not read before, and to find the reasons.

        Parameters
        ----------
        outcomes : mapping, default=None
            As for :meth:`describe`.
        reasons : bool, default=True
            Whether to write the :meth:`reasons`, which cannot be found from the file later. They
            are None where they are not known: without a model or training rows to compare with.
        """
        from counterset.explanations.json_form import explanation_to_dict  # noqa: PLC0415 - needs this
        from counterset.words.outcomes import Outcomes  # noqa: PLC0415 - a room above
        from counterset.words.templates import Templates  # noqa: PLC0415 - a room above

        texts = Outcomes(self, Templates.read(), outcomes or {}, quoted=False)
        found = self._all_reasons if reasons and self.can_give_reasons else None
        return explanation_to_dict(self, texts.text, texts.aim(), found)

    def to_json(
        self,
        *,
        indent: int | None = None,
        outcomes: Mapping[Any, str] | None = None,
        reasons: bool = True,
    ) -> str:
        """Return the explanation as a JSON text, see :meth:`to_dict`."""
        data = self.to_dict(outcomes=outcomes, reasons=reasons)
        return json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False)

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
        stability: pd.DataFrame | Stability | None = None,
        reasons: bool = False,
        survival: Survival | None = None,
        templates: Any = None,
        width: int | None = 88,
    ) -> str:
        """Say in plain sentences what would have to be different.

        Parameters
        ----------
        outcomes : mapping, default=None
            From labels to how people call them, such as ``{"good": "approved"}``.
        stability : Stability or DataFrame, default=None
            What :func:`~counterset.evaluation.stability` returns for this input: the text says for
            how many slightly changed copies of it each option is found again. Or what
            :func:`~counterset.evaluate` returns for it: the text says how much the options of the
            copies differ.
        reasons : bool, default=False
            Whether to say the main :meth:`reasons` too, as the letter to a reviewer does.
        survival : Survival, default=None
            What :func:`~counterset.survival` returns for this input: the text says after how many
            retrainings of the model at least one of the options still works. For one of many
            explanations, pass ``survival[i]``.
        templates : str or Path, default=None
            The path of the texts in another language, a translated copy of
            ``counterset/words/english.toml``; None: English.
        width : int or None, default=88
            The most letters of a line; None: lines are not broken.
        """
        from counterset.words.description import Description  # noqa: PLC0415 - a room above

        description = Description.of(
            self, templates, outcomes, stability, reasons=reasons, survival=survival
        )
        return description.text(width)

    def letter(
        self,
        audience: Literal["applicant", "reviewer"] = "applicant",
        *,
        format: Literal["text", "html"] = "text",
        contact: str | None = None,
        details: Mapping[str, Any] | str | Path | None = None,
        outcomes: Mapping[Any, str] | None = None,
        templates: Any = None,
        width: int | None = 88,
    ) -> str:
        """Write a letter with the main reasons and the options that lead to another result.

        Parameters
        ----------
        audience : {"applicant", "reviewer"}, default="applicant"
            ``"applicant"``: short, with at most four :meth:`reasons`, each with the person's own
            value, and the options; details are folded in HTML and left out in text.
            ``"reviewer"``: also how much each reason counts, distances, certificates, constraints,
            settings, data and model.
        format : {"text", "html"}, default="text"
            ``"text"``, or ``"html"``: a whole page without scripts, for screens and for paper.
        contact : str, default=None
            Who answers questions and reviews the decision, if ``details`` does not say so; None
            leaves a place to fill in.
        details : mapping, str or Path, default=None
            ``institution``, ``address``, ``contact``, ``date``, ``case``, ``deadline`` and
            ``signature``, as a mapping or the path of a .toml or .json file. The letter to an
            applicant has a place to fill in for an institution, a date and a contact that are not
            there; the others are left out. None: the letter has no head.
        outcomes, templates, width
            As for :meth:`describe`.

        Examples
        --------
        >>> import pandas as pd
        >>> from counterset import DiverseExplainer
        >>> loans = pd.DataFrame({"income": range(100), "debt": 50})
        >>> model = lambda rows: rows["income"] > rows["debt"]
        >>> explainer = DiverseExplainer(model, max_counterfactuals=1).fit(loans)
        >>> explanation = explainer.explain({"income": 30, "debt": 50})
        >>> details = {"institution": "Example Bank", "date": "18 November 2026", "case": "4711"}
        >>> print(explanation.letter(details=details)[:47])
        Example Bank
        <BLANKLINE>
        Date: 18 November 2026
        Case: 4711
        """
        from counterset.words.letter import write_letter  # noqa: PLC0415 - a room above

        return write_letter(
            self,
            audience,
            format=format,
            contact=contact,
            details=details,
            outcomes=outcomes,
            templates=templates,
            width=width,
        )

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        options: Collection[int] | None = None,
        details: Mapping[str, Any] | str | Path | None = None,
        outcomes: Mapping[Any, str] | None = None,
        stability: pd.DataFrame | Stability | None = None,
        survival: Survival | None = None,
        templates: Any = None,
    ) -> str:
        """Write a report: one HTML file with reasons, options, a technical part and a record.

        It needs no network and no matplotlib. ``counterset verify`` checks it again later.

        Parameters
        ----------
        path : str or Path, default=None
            The file to write; None: none is written.
        options : collection of int, default=None
            The numbers of the options to show, such as those that a person keeps. They stand under
            the numbers that they have among all, and the record holds all. None: the first 7.
        details : mapping, str or Path, default=None
            As for :meth:`letter`. Institution, address, date, case, contact and deadline stand in
            the head of the report; a report has no signature.
        outcomes, stability, survival, templates
            As for :meth:`describe`.

        Returns
        -------
        str
            The page.

        Examples
        --------
        >>> from counterset import DiverseExplainer
        >>> X = np.random.default_rng(0).random((200, 2)).round(2)
        >>> explainer = DiverseExplainer(lambda rows: rows[:, 0] > 0.5, max_counterfactuals=1)
        >>> page = explainer.fit(X).explain([0.25, 0.5]).to_html(details={"case": "4711"})
        >>> "Raise x0 from 0.25 to 0.51" in page, "Case: 4711" in page
        (True, True)
        """
        from counterset.report.single import report_of_one  # noqa: PLC0415 - a room above

        return report_of_one(
            self,
            path,
            options=options,
            details=details,
            outcomes=outcomes,
            stability=stability,
            survival=survival,
            templates=templates,
        )

    def __len__(self) -> int:
        return len(self._matrix)

    def __repr__(self) -> str:
        from counterset.words.views import text_view  # noqa: PLC0415 - a room above

        return text_view(self)

    def _repr_html_(self) -> str:
        from counterset.words.views import html_view  # noqa: PLC0415 - a room above

        return html_view(self)

    def __getstate__(self) -> dict[str, Any]:
        # What is computed from the rest is computed again.
        known = self.__dict__.get("_holds")
        rates = known.rates if known is not None and known.in_file else None
        computed = ("options", "coded", "_holds", "_all_reasons")
        kept = {k: v for k, v in self.__dict__.items() if k not in computed}
        return kept if rates is None else {**kept, "_known_rates": rates}
