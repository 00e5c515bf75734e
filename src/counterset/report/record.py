"""The record of a report: what a machine reads, and what ``verify`` checks again later."""

from __future__ import annotations

from typing import Any

from counterset.explanations.context import Context, versions
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations
from counterset.explanations.json_values import table_to_json, to_json_number, to_json_value

__all__ = ["FORM", "VERSION", "record_of", "record_of_many"]

#: What marks the record, so that another is noticed, and the version of its form.
FORM, VERSION = "counterset report", 1


def record_of(explanation: Explanation) -> dict[str, Any]:
    """Return the record of one explanation: its JSON form, and the fingerprint of its model."""
    return {
        **_head("explanation", explanation.context),
        "explanation": explanation.to_dict(),
    }


def record_of_many(explanations: Explanations, figures: dict[str, Any]) -> dict[str, Any]:
    """Return the record of many explanations: figures, and no row of anybody.

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
    }


def _head(kind: str, context: Context) -> dict[str, Any]:
    return {
        "form": FORM,
        "version": VERSION,
        "kind": kind,
        "fingerprint": context.fingerprint().to_dict(),
    }
