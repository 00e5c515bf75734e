"""The sentences of the report about many people, and of the checks, in one place.

Names in braces are filled in. Nothing here is HTML: what is filled in is escaped where the page is
made. The texts of the report about one person, and of the technical part, are those of
``words/english.toml``, which can be translated.
"""

from __future__ import annotations

__all__ = ["TEXTS", "counted"]

TEXTS = {
    # Verification.
    "check_holds": "holds:",
    "check_fails": "refused:",
    "not_checked": "not checked:",
    "intact": "the file is as it was written.",
    "not_intact": "the file was changed after it was written: its digest does not fit.",
    "unreadable": "the record in the file cannot be read any more.",
    "not_asked": "the model cannot be asked about the recorded rows. {error}",
    "the_input": "the input",
    "option": "option {rank}",
    "same_decisions": "the model gives the recorded decisions: {label!r} for the input, and those "
    "on {options}.",
    "other_decision": "the model gives another decision for {who}: {now!r}, recorded was {then!r}.",
    "same_answers": "the model answers {count} fixed rows as recorded.",
    "other_labels": "the model answers {differ} of {count} fixed rows otherwise: it was trained "
    "again, or is another one.",
    "other_probabilities": "the model's probabilities for {count} fixed rows are others: it was "
    "trained again, or is another one.",
    # Verification of many decisions.
    "needs_data": "the decisions on single people. The report does not hold their rows: pass the "
    "table that it was made from (--data).",
    "no_cases": "the decisions on single people: this report is of an older version, and did not "
    "record them.",
    "same_rows": "the data has the recorded rows of {people}.",
    "other_rows": "the data has other rows than the report, or none, for {differ} of {people}: "
    "{which}. The model was not asked about these.",
    "same_cases": "the model gives the recorded decisions on {people}, and on their {options}.",
    "other_cases": "the model gives other decisions for {differ} of {people}: {which}.",
    "on_person": "{case} ({now}, recorded was {then})",
    "on_option": "{case}, option {rank} ({now}, recorded was {then})",
    "people_of": "{count} of {people}",
    "and_others": "{names}, and {count} more",
    # Many people.
    "many_title": "What would lead to another decision, for {people}",
    "many_lead": "{some} of {people} have at least one option that leads to {wanted}.",
    "many_lead_one": "{some} of {people} has at least one option that leads to {wanted}.",
    "many_lead_all": "Of {people}, everybody has at least one option that leads to {wanted}.",
    "nobody_left": "Nobody was to be explained.",
    "reached": "Not counted below, since they have that result already: {people}.",
    "constraints_differ": "They differ from person to person.",
    "author": "Author: {author}",
    "features": "What the options change",
    "features_caption": "The share of all options that change the feature.",
    "feature": "feature",
    "share": "of all options",
    "more_features": "{count} are changed by options too, less often.",
    "options": "How many options people have",
    "options_caption": "Of {people}, by the number of their options.",
    "number": "options",
    "people": "people",
    "without": "Who has no option, and what stands in the way",
    "without_none": "Everybody has at least one option.",
    "without_lead": "{people} have no option.",
    "without_one": "{people} has no option.",
    "without_caption": "What stands in the way: without this constraint alone, they would have an "
    "option. Somebody with several such constraints is counted at each.",
    "constraint": "constraint",
    "more_constraints": "{count} are not listed; none stands in the way of more people.",
    "several": "No single constraint: several would have to be lifted.",
    "no_example": "There is no example to follow: no case in the training data has this result, as "
    "it was asked for.",
    "implausible": "Nothing that leads there is plausible enough.",
    "stopped": "The search was ended before an option was found.",
    "contradiction": "The model gives equal people different results.",
    "anonymity": "All that leads there is the row of another person in the training data.",
    "none_known": "What stands in the way is not known.",
    "part_known": "What stands in the way was found out for the first {count} of them.",
    "group": "group",
    "groups": "By {name}",
    "groups_caption": "No figures are shown of fewer than {least} people. A difference between "
    "groups is a reason to look closer, and no proof of unfair treatment.",
    "groups_distance": "The last column is the distance to the nearest option: half of the group "
    "have a nearer one, half a farther one.",
    "groups_usual": "A distance of 1 is as far as moving one feature across its usual range.",
    "share_with": "with an option",
    "mean_options": "options each, on average",
    "median_distance": "nearest option, median",
    "few": "fewer than {least} people",
    "few_each": "fewer than {least} people each",
    "small_groups": "{count} small groups",
    "stability": "How stable the options are",
    "stability_none": "This was not measured.",
    "stability_text": "{copies} of {people} were explained too. For {covered} of the copies, the "
    "nearest option is among those of the person; on average, {kept} of a person's options are "
    "offered to the copy too.",
    "stability_differences": "Slightly different means, on average: {differences}.",
    "stability_far": "The sets of options of a person and a copy are {mean} apart on average, and "
    "more than {tail} for one copy in twenty (the distance between sets).",
    "annex": "Annex: the cases",
    "annex_caption": "Each case with its decision, and its first option or what stands in the "
    "way of one.",
    "case": "case",
    "decision": "decision",
    "first": "first option",
    "has_result": "Has that result already.",
    "no_option": "No option was found.",
    "command": "counterset verify REPORT.html --model MODEL --data TABLE --all",
    "check_many": "With the table that the report was made from, the command also asks the model "
    "again about the people and their options: about all of them, or with --sample 100 about a "
    "hundred. The record holds no row of a person: it has their decisions, what each option "
    "changes, and a digest of the row.",
}


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "option"), counted(1200, "option")
    ('1 option', '1,200 options')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
