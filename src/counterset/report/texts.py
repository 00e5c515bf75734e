"""Every sentence of the reports, in one place, so that they can be translated.

Names in braces are filled in. Nothing here is HTML: what is filled in is escaped where the page is
made.
"""

from __future__ import annotations

__all__ = ["LANGUAGE", "TEXTS", "counted"]

LANGUAGE = "en"

TEXTS = {
    "title": "What would have led to another decision",
    "lead": "Input {index} {classified}. {options}",
    "explained": "{count} options lead to {goal}.",
    "one_explained": "One option leads to {goal}.",
    "none_found": "No option that leads to {goal} was found.",
    "already_reached": "This is already the result that was asked for.",
    "words": "In words",
    "more_options": "The {shown} nearest of {count} options are shown; the record in this file has "
    "all of them.",
    "reasons": "Reasons",
    "unknown_reasons": "Not known: there are no training rows to compare this input with.",
    "changes": "What each option changes",
    "changes_caption": "A row for each feature, over its range in the training data. The ring is "
    "the value now, the mark the value in the option. A dashed line is a switch to another "
    "category; a cross is a value that is missing or special.",
    "changes_alt": "Changes by feature: {changes}.",
    "more_features": "{count} change; the record in this file has all of them.",
    "table": "All options side by side",
    "table_caption": "Changed cells are marked, and bold. A dot: as it is now. ≈: "
    "rounded; the record in this file has all digits.",
    "now": "now",
    "as_now": "as now",
    "and_more": "{names} and {count} more",
    "option": "option {rank}",
    "features_changed": "features changed",
    "distance": "distance",
    "decision": "decision",
    "stays": "The same in every option: {names}.",
    "certain": "What is certain",
    "no_options": "There is no option, so there is nothing to prove or to measure.",
    "made": "The data and the model",
    "model": "model",
    "fingerprint": "fingerprint of the model",
    "training": "training data",
    "training_text": "{rows} rows: {labels}",
    "training_hash": "hash of the training data",
    "asked_for": "asked for",
    "asked_by": "{model}, asked by {explainer}",
    "label_count": "{count} classified as {label}",
    "label_range": "predicted {low:.4g} to {high:.4g}",
    "constraints": "constraints",
    "settings": "settings",
    "versions": "versions",
    "none": "none",
    "check": "How to check this report",
    "check_text": "This command says whether the file is as it was written, and whether a model "
    "still gives the recorded answers:",
    "command": "counterset verify REPORT.html --model MODEL",
    "digest_text": "The digest shows a change of this file. It is no signature: it does not show "
    "who wrote it.",
    "footer": "Written by counterset {version}. One file, without scripts that run and without "
    "anything loaded from a network.",
    # Verification.
    "check_holds": "holds:",
    "check_fails": "refused:",
    "intact": "the file is as it was written.",
    "not_intact": "the file was changed after it was written: its digest does not fit.",
    "unreadable": "the record in the file cannot be read any more.",
    "not_asked": "the model cannot be asked about the recorded rows. {error}",
    "the_input": "the input",
    "same_decisions": "the model gives the recorded decisions: {label!r} for the input, and those "
    "on {options}.",
    "other_decision": "the model gives another decision for {who}: {now!r}, recorded was {then!r}.",
    "same_answers": "the model answers {count} fixed rows as recorded.",
    "other_labels": "the model answers {differ} of {count} fixed rows otherwise: it was trained "
    "again, or is another one.",
    "other_probabilities": "the model's probabilities for {count} fixed rows are others: it was "
    "trained again, or is another one.",
    # Many inputs.
    "many_title": "What would lead to another decision, for many",
    "many_lead": "{inputs}: {explained} with at least one option, {none_found} without, "
    "{already_reached} that have the wanted result already.",
    "features": "Which features change most",
    "features_caption": "The share of all options that change the feature.",
    "features_alt": "Share of options that change each feature: {bars}.",
    "options": "How many options people have",
    "options_caption": "The number of inputs by the number of their options.",
    "options_alt": "Number of inputs by number of options: {bars}.",
    "without": "Who has none, and why",
    "without_none": "Every input that was to be explained has at least one option.",
    "without_caption": "Inputs without an option, by the reason.",
    "reason": "reason",
    "inputs": "inputs",
    "unknown_reason": "not looked into",
    "which": "which",
    "groups": "By {name}",
    "groups_caption": "The cost of an input is the distance of its nearest option. A difference "
    "between groups is a reason to look closer, and no proof of unfair treatment.",
    "share_with": "with an option",
    "mean_options": "mean number of options",
    "median_cost": "median cost",
    "stability": "Stability",
    "stability_text": "{copies} noisy copies of {count} inputs were explained too. {covered} of "
    "the copies find their nearest option among those of their input, and {kept} of the options of "
    "an input are offered to its copy too. Copies were moved by {moved} on average. The sets of "
    "both differ by {mean} on average, and by more than {tail} for one copy in twenty.",
    "stability_differences": " Copies differ from their inputs by small amounts, on average: "
    "{differences}.",
}


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "option"), counted(1200, "option")
    ('1 option', '1,200 options')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
