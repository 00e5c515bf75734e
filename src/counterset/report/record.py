"""The record of a report: what a machine reads, and what ``verify`` checks again later."""

from __future__ import annotations

from typing import Any

from counterset.results.explanation import Explanation
from counterset.results.explanations import Explanations

__all__ = ["FORM", "record_of", "record_of_many"]

#: The form of the record, and its version.
FORM = "counterset-report/1"


def record_of(explanation: Explanation) -> dict[str, Any]:
    """Return the record of one explanation: its JSON form, and the fingerprint of its model."""
    return {
        "form": FORM,
        "kind": "explanation",
        "fingerprint": explanation.context.fingerprint().to_dict(),
    }


def record_of_many(explanations: Explanations, figures: dict[str, Any]) -> dict[str, Any]:
    """Return the record of many explanations: figures, and no row of anybody."""
    return {
        "form": FORM,
        "kind": "explanations",
        "fingerprint": explanations.context.fingerprint().to_dict(),
        "figures": figures,
    }
