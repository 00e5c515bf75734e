"""Reasons in words: one line each, the same in letters, reports and descriptions."""

from __future__ import annotations

from dataclasses import dataclass

from counterset._base.bidi import isolated
from counterset.explanations.reasons import Reason
from counterset.models.goals import AnyOther
from counterset.tables.features.feature import Feature
from counterset.words.changes import capitalised
from counterset.words.outcomes import Outcomes, rounded
from counterset.words.templates import Templates
from counterset.words.values import Writer, percent

__all__ = ["ReasonWriter"]

#: Contributions and their errors are estimates: two digits say what is known.
DIGITS = 2
#: An error of less than a billionth is one of rounding: it is written as 0.
ROUNDING = 1e-9


@dataclass(frozen=True)
class ReasonWriter:
    """Write the reasons of an explanation.

    Attributes
    ----------
    templates
        The texts of the language.
    outcomes
        What writes the labels of the explanation.
    """

    templates: Templates
    outcomes: Outcomes

    def heading(self) -> str:
        """Return what stands above the reasons; empty if there are none."""
        count = len(self._reasons)
        return self.templates("reason.one" if count == 1 else "reason.many") if count else ""

    def short(self) -> tuple[str, ...]:
        """Return each reason with the person's own value."""
        return tuple(self.templates("reason.line", **self._parts(each)) for each in self._reasons)

    def long(self) -> tuple[str, ...]:
        """Return each reason with the person's own value and its figures."""
        return tuple(
            self.templates("reason.with_figures", figures=self._figures(each), **self._parts(each))
            for each in self._reasons
        )

    @property
    def _reasons(self) -> tuple[Reason, ...]:
        return self.outcomes.explanation.reasons()

    def _parts(self, reason: Reason) -> dict[str, str]:
        """Return what both forms say, so that one begins as the other."""
        feature = self._feature(reason)
        value = Writer(self.templates).own(feature, reason.code)
        return {"label": isolated(capitalised(feature.label)), "value": value}

    def _feature(self, reason: Reason) -> Feature:
        table = self.outcomes.explanation.coded.table
        return table.features[table.position(reason.feature)]

    def _figures(self, reason: Reason) -> str:
        """Return how much a reason counts, and what is typical of the wanted result."""
        texts, explanation, outcomes = self.templates, self.outcomes.explanation, self.outcomes
        name, factor = "reason.share", 100.0
        if outcomes.is_number:
            name, factor = "reason.predicted", 1.0
        elif explanation.probability is not None:
            name = "reason.probability"
        # Not the labels that options happen to lead to: reasons do not depend on options.
        any_other = isinstance(explanation.context.goal, AnyOther)
        wanted = outcomes.other() if any_other else outcomes.goal()
        is_sure = reason.standard_error < ROUNDING * reason.contribution
        amount = rounded(factor * reason.contribution, DIGITS)
        error = rounded(0.0 if is_sure else factor * reason.standard_error, DIGITS)
        share = percent(reason.contribution, texts)
        figures = texts(name, amount=amount, share=share, error=error, wanted=wanted)
        if reason.typical == reason.value:
            return figures
        typical = Writer(texts).value(self._feature(reason), reason.typical_code)
        aim = outcomes.aim() if outcomes.is_number else wanted
        return texts("reason.typical", figures=figures, typical=typical, wanted=aim)
