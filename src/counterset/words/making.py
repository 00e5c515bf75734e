"""How explanations were made: settings, data, model and versions, as reviewers read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from counterset.explanations.context import Context, versions
from counterset.words.outcomes import rounded
from counterset.words.templates import Templates

__all__ = ["how_it_was_made"]


def how_it_was_made(
    context: Context, templates: Templates, label_text: Callable[[Any], str]
) -> tuple[str | tuple[str, ...], ...]:
    """Return how explanations were made: paragraphs, and the settings as a list.

    Parameters
    ----------
    label_text
        Returns how a label is called.
    """
    settings = tuple(
        templates("letter.setting", name=name, value=value)
        for name, value in context.settings.value.items()
        # Constraints and costs are written in words elsewhere. None: it was not set.
        if name not in ("constraints", "costs") and value is not None
    )
    blocks: list[str | tuple[str, ...]] = [
        templates("letter.review_settings", explainer=context.explainer),
        settings,
    ]
    if context.training is not None:
        data = context.training.value
        blocks.append(templates("letter.review_data", rows=f"{data.rows:,}", hash=data.hash))
        if data.labels is not None:
            counts = [f"{label_text(label)} {n:,}" for label, n in data.labels.items()]
            blocks.append(templates("letter.review_labels", labels=", ".join(counts)))
        elif data.low is not None and data.high is not None:
            low, high = rounded(data.low), rounded(data.high)
            blocks.append(templates("letter.review_range", low=low, high=high))
    model, digest = type(context.model_to_ask()).__name__, context.fingerprint().digest
    blocks.append(templates("letter.review_model", model=model, digest=digest))
    shown = ", ".join(f"{name} {version}" for name, version in versions().items())
    blocks.append(templates("letter.review_versions", versions=shown))
    return tuple(blocks)
