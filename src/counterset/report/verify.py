"""The record of a report, and how a report is checked again later by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterset._base.arrays import to_python
from counterset._base.checks import check_count
from counterset.exceptions import CountersetError, InvalidInputError, ModelError
from counterset.explanations.context import Context, Fingerprint, versions
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations
from counterset.explanations.json_values import (
    table_from_json,
    table_to_json,
    to_json_number,
    to_json_value,
)
from counterset.models.adapter import ModelAdapter
from counterset.report.cases import Cases, Check, cases_of
from counterset.report.page import read_record, seal_holds
from counterset.report.texts import TEXTS, counted
from counterset.tables.table import Table

__all__ = ["Check", "Verification", "record_of", "record_of_many", "verify_report"]

#: What marks the record, so that another is noticed, and the version of its form.
FORM, VERSION = "counterset report", 2


def record_of(explanation: Explanation) -> dict[str, Any]:
    """Return the record of one explanation: its JSON form, and the fingerprint of its model."""
    return {
        **_head("explanation", explanation.context),
        "explanation": explanation.to_dict(),
    }


def record_of_many(explanations: Explanations, figures: dict[str, Any]) -> dict[str, Any]:
    """Return the record of many explanations: figures and decisions, and no row of any person.

    Parameters
    ----------
    figures
        What the report shows, as values of JSON.
    """
    context = explanations.context
    training = None if context.training is None else context.training.value
    return {
        **_head("explanations", context),
        "figures": figures,
        "constraints": to_json_value(context.constraints),
        "costs": {str(name): to_json_number(cost) for name, cost in context.costs.items()},
        "settings": to_json_value(context.settings.value),
        "training": None if training is None else {"rows": training.rows, "hash": training.hash},
        "table": table_to_json(context.table),
        "versions": versions(),
        "cases": cases_of(explanations),
    }


def _head(kind: str, context: Context) -> dict[str, Any]:
    return {
        "form": FORM,
        "version": VERSION,
        "kind": kind,
        "fingerprint": context.fingerprint().to_dict(),
    }


@dataclass(frozen=True)
class Verification:
    """What was found about a report.

    Attributes
    ----------
    checks
        One each: that the file is as it was written; for the report of one input, that the model
        gives the recorded decisions; that it gives the recorded answers about fixed rows; for the
        report of many with their data, that these are the recorded rows, and that the model gives
        the recorded decisions on them and on their options.
    not_checked
        What could not be checked with what was passed; empty if nothing.
    """

    checks: tuple[Check, ...]
    not_checked: str = ""

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)

    def __str__(self) -> str:
        marks = {True: TEXTS["check_holds"], False: TEXTS["check_fails"]}
        lines = [f"{marks[check.holds]} {check.text}" for check in self.checks]
        if self.not_checked:
            lines.append(f"{TEXTS['not_checked']} {self.not_checked}")
        return "\n".join(lines)


def verify_report(
    report: str | Path, model: Any, *, data: Any = None, sample: int | None = None
) -> Verification:
    """Check whether a report is as it was written, and whether a model still answers as recorded.

    The digest shows that the file was changed, by accident or by hand; it does not show who wrote
    it. The model is asked about fixed rows that are made up from the ranges of the features: a
    model that was trained again answers some of them otherwise. It is asked about the input and
    every option of the report of one input, too, and about those of many if their rows are passed.

    Parameters
    ----------
    report
        The file that ``to_html`` wrote.
    model
        The model, as explainers take it.
    data
        For the report of many: the table that it was made from, with the same index. Without it,
        single decisions are not checked.
    sample
        How many people to check, evenly spread over the report; None: all.

    See Also
    --------
    counterset.Explanation.to_html : Write a report.
    """
    if sample is not None:
        check_count(sample, "sample")
    file = Path(report)
    if not file.is_file():
        raise InvalidInputError(f"There is no file {file}.")
    try:
        page = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidInputError(f"{file} is no report of counterset: it is no text.") from None
    is_intact = seal_holds(page)
    intact = Check(is_intact, TEXTS["intact"] if is_intact else TEXTS["not_intact"])
    try:
        record = _checked(read_record(page, str(file)), file)
        checks, cases = _checks(record, model)
    except (InvalidInputError, KeyError, TypeError, AttributeError) as error:
        if is_intact or not _looks_like_one(page):
            if isinstance(error, CountersetError):
                raise
            raise InvalidInputError(f"The record of {file} is not complete: {error!r}.") from error
        # What was changed is the record itself.
        return Verification((intact, Check(False, TEXTS["unreadable"])))
    not_checked = ""
    if isinstance(cases, Cases) and data is not None:
        checks += cases.checks(data, model, sample)
    elif data is not None:
        raise InvalidInputError(
            "This report holds all that is to be checked: data is for a report about many people, "
            "as counterset writes it now. Leave it out."
        )
    elif sample is not None:
        raise InvalidInputError(
            "sample says how many people to check, which needs their rows. Pass data= too."
        )
    elif cases is not None:
        not_checked = TEXTS["needs_data"] if isinstance(cases, Cases) else cases
    return Verification((intact, *map(_asked, checks)), not_checked)


def _looks_like_one(page: str) -> bool:
    return 'name="counterset-digest"' in page and 'id="counterset-record"' in page


def _checked(record: dict[str, Any], file: Path) -> dict[str, Any]:
    """Check the form and the version of a record."""
    if record.get("form") != FORM:
        raise InvalidInputError(f"The record of {file} has another form: {record.get('form')!r}.")
    version = record.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise InvalidInputError(
            f"The report {file} has version {version!r}, and this counterset knows versions up to "
            f"{VERSION}. Verify it with a newer counterset."
        )
    return record


def _checks(
    record: Mapping[str, Any], model: Any
) -> tuple[list[Callable[[], Check]], Cases | str | None]:
    """Read a record, and return what is to be asked of the model.

    Returns
    -------
    tuple
        The checks that need no data, and the decisions that need it: why they cannot be checked,
        if they were not recorded; None, if the report holds all.
    """
    recorded = Fingerprint.from_dict(record["fingerprint"])
    if record["kind"] == "explanations":
        table = table_from_json(record["table"])
        fixed = [lambda: _fixed_rows(recorded, model, table)]
        if "cases" not in record:
            return fixed, TEXTS["no_cases"]
        return fixed, Cases.read(record["cases"], table)
    explanation = Explanation.from_dict(record["explanation"])
    table = explanation.coded.table
    return [
        lambda: _decisions(explanation, model),
        lambda: _fixed_rows(recorded, model, table),
    ], None


def _asked(check: Callable[[], Check]) -> Check:
    """Make a check; a model that cannot answer is not the recorded one."""
    try:
        return check()
    except ModelError as error:
        return Check(False, TEXTS["not_asked"].format(error=" ".join(str(error).split())))


def _decisions(explanation: Explanation, model: Any) -> Check:
    """Check the decisions on the input and the options."""
    coded = explanation.coded
    rows = np.vstack([coded.input, coded.matrix])
    now = [to_python(label) for label in ModelAdapter(model, coded.table).labels(rows)]
    then = [explanation.label, *(option.label for option in explanation.options)]
    for i, (before, after) in enumerate(zip(then, now, strict=True)):
        if not Fingerprint((before,)).agrees(Fingerprint((after,))):
            who = TEXTS["the_input"] if i == 0 else TEXTS["option"].format(rank=i)
            return Check(False, TEXTS["other_decision"].format(who=who, now=after, then=before))
    options = counted(len(explanation), "option")
    return Check(True, TEXTS["same_decisions"].format(label=then[0], options=options))


def _fixed_rows(recorded: Fingerprint, model: Any, table: Table) -> Check:
    """Check the answers about fixed rows."""
    now = Fingerprint.of(model, table)
    if recorded.agrees(now):
        return Check(True, TEXTS["same_answers"].format(count=len(recorded.labels)))
    differ = sum(
        not Fingerprint((a,)).agrees(Fingerprint((b,)))
        for a, b in zip(recorded.labels, now.labels, strict=True)
    )
    text = TEXTS["other_labels"] if differ else TEXTS["other_probabilities"]
    return Check(False, text.format(differ=differ, count=len(recorded.labels)))
