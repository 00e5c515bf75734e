"""Why there are fewer counterfactuals than were asked for, or none, in words for users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from counterset._base.arrays import Counts, Indices, Labels, Mask, Matrix, to_python
from counterset._base.progress import warn_caller
from counterset.constraints.rules import NothingLost, Rules
from counterset.exceptions import (
    FewerCounterfactualsWarning,
    InconsistentModelWarning,
    InvalidInputError,
    NoCounterfactualError,
)
from counterset.explanations.why_none import WhyNone
from counterset.models.margin import Margin
from counterset.strategies.admissible import Proposals
from counterset.strategies.batch import REFUSED, QueryBatch
from counterset.strategies.candidates import moved_onto_rules
from counterset.strategies.diversity import AngleDiversity
from counterset.strategies.ranking import NearestCandidates
from counterset.strategies.selection import Selector
from counterset.strategies.strategy import Found, Run, Strategy
from counterset.strategies.training import TrainingData

__all__ = [
    "Reasons",
    "report_contradictions",
    "report_reached",
    "report_shortfall",
    "why_fewer",
    "why_nothing",
]

#: To find out which constraint leaves an input without options, the model is asked about 10,000
#: rows at most, and about 300 without each constraint. Of more than 40 constraints, the first 40
#: are lifted.
MOST_ASKED, ASKED_EACH, MOST_LIFTED = 10_000, 300, 40
#: A third of them are the nearest training rows that lead to the goal.
NEAREST_ASKED = 100
#: After the first, the reasons of 32 inputs are found out at once: a call of the model costs as
#: much as many rows.
INPUTS_AT_ONCE = 32
#: What is said where options were left out.
ANONYMITY = (
    "Options that equal a training row that few people share were left out; anonymity=1 allows "
    "them."
)
#: Why nothing is left where all that was found was left out for that.
_ONLY_RARE = WhyNone(
    "all that was found equals a training row that few people share. anonymity=1 allows that.",
    "anonymity",
)
#: Three constraints are named: each of them is enough.
MOST_NAMED = 3


def report_reached(reached: Mask, labels: Labels, if_none: str) -> str:
    """Raise if inputs have what the user wants already, or return what to warn of."""
    there = np.flatnonzero(reached)
    if not len(there) or if_none == "ignore":
        return ""
    message = (
        f"The model already predicts what you want for {len(there)} of {len(labels)} inputs (first "
        f"at position {there[0]}: {to_python(labels[there[0]])!r}), so there is nothing to explain."
    )
    if if_none == "raise":
        raise InvalidInputError(
            f"{message} Leave them out, or pass skip=True or if_none='warn' to explain_many."
        )
    return f"{message} Their explanations are empty."


def report_contradictions(n_contradicted: int) -> None:
    """Warn if the model contradicted itself about rows that were found."""
    if n_contradicted:
        warn_caller(
            f"The model classified {n_contradicted} rows otherwise when it was asked again, in "
            f"another batch: near its decision boundary, its labels depend on the batch. So it was "
            f"asked about each counterfactual alone, and those that hold are returned.",
            InconsistentModelWarning,
        )


def report_shortfall(
    why_none: Mapping[int, str], count: int, if_none: str, reached: str, fewer: str = ""
) -> None:
    """Raise if an input has no counterfactual, or warn once of all that falls short.

    With ``if_none="ignore"``, nothing is said.

    Parameters
    ----------
    why_none
        Why inputs have no counterfactual, by where they stand in the table that the user passed.
    count
        How many inputs were to be explained.
    reached, fewer
        What to say of inputs that had what is wanted already, and of those that have few.
    """
    if if_none == "ignore":
        return
    nobody = ""
    if why_none:
        first = next(iter(why_none))
        nobody = (
            f"No counterfactual for {len(why_none)} of {count} inputs (first at position {first}): "
            f"{why_none[first]}"
        )
        if if_none == "raise":
            raise NoCounterfactualError(nobody)
    if message := " ".join(filter(None, [reached, nobody, fewer])):
        warn_caller(message, FewerCounterfactualsWarning)


def why_fewer(
    found: Found,
    wanted: int,
    strategy: Strategy,
    max_rows: int | None = None,
    margin: Margin | None = None,
) -> str:
    """Return why some inputs have too few counterfactuals; nothing if none have.

    Parameters
    ----------
    wanted
        How many were asked for.
    strategy
        How they were looked for.
    max_rows
        About how many rows the model could be asked for one input; None: any number.
    margin
        How near to an option people may land; None: they land on it.
    """
    few = _few(found, wanted, strategy, margin)
    return " ".join(filter(None, [_cut_short(found, max_rows), few, few and _withheld(found)]))


def _cut_short(found: Found, max_rows: int | None) -> str:
    """Say for how many inputs the search ended early."""
    if found.cut_short is None or not found.cut_short.any():
        return ""
    count = int(found.cut_short.sum())
    return (
        f"For {count} of {len(found.cut_short)} inputs the search ended at max_model_rows="
        f"{max_rows}: they may have fewer counterfactuals than there are, or farther ones."
    )


def _withheld(found: Found) -> str:
    """Say that options were left out because they equal the rows of few people."""
    return ANONYMITY if found.withheld else ""


def _few(found: Found, wanted: int, strategy: Strategy, margin: Margin | None) -> str:
    counts = found.counterfactuals.counts
    short = (counts < wanted) & (counts > 0)
    if found.cut_short is not None:
        short &= ~found.cut_short
    if not short.any():
        return ""
    few_options = short & found.sparse & (found.n_chosen < wanted)
    few_candidates = short & ~few_options & (found.counterfactuals.n_candidates < wanted)
    few_different = short & ~few_options & ~few_candidates & (found.n_chosen < wanted)
    diversity, candidates = _set_by_the_user(strategy)
    both_ways = getattr(strategy, "both_ways", True)
    one_way = "" if both_ways else ", and moves no feature in the opposite direction"
    near = "" if margin is None else f" with {margin}"
    reasons = (
        (
            few_options,
            f"no more options were found: nothing else that is allowed leads to what is wanted"
            f"{near}{', ' if one_way else ' and '}differs enough from these{diversity}{one_way}; "
            f"let more features change, or ask for fewer or less different ones",
        ),
        (
            few_candidates,
            f"fewer than {wanted} training rows can be followed within the constraints{near}"
            f"{candidates};"
            f" fit on more rows, or loosen the constraints",
        ),
        (
            few_different,
            f"too few candidates differ enough from each other{diversity}; ask for fewer or less "
            f"different ones{candidates and ', or for more candidates'}",
        ),
        (
            short & ~few_options & ~few_candidates & ~few_different,
            "the model did not confirm all of them"
            if found.n_contradicted
            else "the search moved several candidates to the same point",
        ),
    )
    causes = "; ".join(f"{int(who.sum())} because {reason}" for who, reason in reasons if who.any())
    return (
        f"{int(short.sum())} of {len(counts)} inputs have fewer than {wanted} counterfactuals "
        f"(the fewest: {int(counts[short].min())}): {causes}."
    )


def _set_by_the_user(strategy: Strategy) -> tuple[str, str]:
    """Return how steps 3 and 2 are set, if they are not set as they are without a word."""
    given = {"diversity": AngleDiversity(0.5), "candidates": NearestCandidates(1000)}
    texts = []
    for name, usual in given.items():
        step = getattr(strategy, name, None)
        texts.append("" if step in (None, usual) else f" ({name}={step!r})")
    diversity, candidates = texts
    return diversity, candidates


class Reasons(Mapping[int, WhyNone]):
    """Why inputs have no counterfactual, by where they stand in the user's table.

    A reason is found out when it is first read, together with those of the next inputs.

    Parameters
    ----------
    runs, found
        What was found for each group of inputs, and for all of them.
    positions
        Where the inputs stand in the table that the user passed.
    training
        The training rows.
    max_rows
        About how many rows the model could be asked for one input; None: any number.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        found: Found,
        positions: Indices,
        training: TrainingData,
        max_rows: int | None = None,
    ) -> None:
        self._runs, self._known, self._training = runs, dict[int, WhyNone](), training
        empty = np.flatnonzero(found.counterfactuals.counts == 0)
        self._place = {int(positions[each]): int(each) for each in empty}
        if found.cut_short is not None:
            text = f"the search ended at max_model_rows={max_rows}. Allow more rows."
            reason = WhyNone(text, "stopped")
            short = empty[found.cut_short[empty]]
            self._known |= dict.fromkeys(positions[short].tolist(), reason)

    def __len__(self) -> int:
        return len(self._place)

    def __iter__(self) -> Iterator[int]:
        return iter(self._place)

    def __getitem__(self, position: int) -> WhyNone:
        if position not in self._known:
            place = self._place[position]
            run = next(run for run in self._runs if place in run.members)
            members = set(run.members.tolist())
            open_ = [
                each
                for each in self._place
                if each >= position and each not in self._known and self._place[each] in members
            ][: INPUTS_AT_ONCE if self._known else 1]
            which = np.searchsorted(run.members, [self._place[each] for each in open_])
            found = why_nothing(self._training, run.batch, which, withheld=run.found.withheld)
            self._known |= zip(open_, found, strict=True)
        return self._known[position]

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def why_nothing(
    training: TrainingData, batch: QueryBatch, which: Indices, *, withheld: bool = False
) -> list[WhyNone]:
    """Find out which constraints leave inputs without a counterfactual.

    Each constraint is lifted alone: it is named if some row that breaks it, and no other, leads to
    what is wanted.

    Parameters
    ----------
    which
        The positions of the inputs, ascending.
    withheld
        Whether options were left out because they equal a training row that few people share.
    """
    part = batch.take(which)
    candidates = training.usable(batch.requirements.probability)
    cutoff = NearestCandidates(NEAREST_ASKED)
    selector = Selector(training.pool, candidates, cutoff, None, batch.requirements.count)
    rules, usable = part.requirements.rules, np.zeros(len(which), dtype=bool)
    for members, eligible in selector.eligible(part):
        usable[members] = eligible.any()
    texts = list(dict.fromkeys(rule.text for rule in rules.rules))[:MOST_LIFTED]
    opens = np.column_stack(
        [np.zeros((len(which), 0), dtype=bool)]
        + [_opens(selector, part, _without(rules, text), len(texts)) > 0 for text in texts]
    )
    only_rare = _finds_rare(selector, part) if withheld else np.zeros(len(which), dtype=bool)
    bars = part.requirements.bars
    if bars:
        anywhere = replace(part, requirements=replace(part.requirements, bars=()))
        opens = np.column_stack([_opens(selector, anywhere, rules, 1, kept=True) > 0, opens])
        texts = [" and ".join(getattr(bar, "text", "") for bar in bars), *texts]
    return [
        _ONLY_RARE
        if rare
        else _reason([text for text, opens_it in zip(texts, row, strict=True) if opens_it], part)
        if there
        else _no_training_row(part)
        for row, there, rare in zip(opens, usable, only_rare, strict=True)
    ]


def _without(rules: Rules, text: str) -> Rules:
    return replace(rules, rules=tuple(rule for rule in rules.rules if rule.text != text))


def _finds_rare(selector: Selector, batch: QueryBatch) -> Mask:
    """Return for which inputs a training row that few people share leads to the goal."""
    rare, rules = batch.requirements.rare, batch.requirements.rules
    found = np.zeros(len(batch.inputs), dtype=bool)
    rows, owners = _leading(selector, batch, rules, 1)
    if rare is not None and len(rows):
        found[owners[rare.has(rows)]] = True
    return found


def _opens(
    selector: Selector, batch: QueryBatch, rules: Rules, lifted: int, *, kept: bool = False
) -> Counts:
    """Count the rows that lead to the goal only within some of the rules, for each input.

    Parameters
    ----------
    kept
        Whether rows count that keep all rules.
    """
    rows, owners = _leading(selector, batch, rules, lifted)
    if not kept:
        # What keeps the lifted constraint too is no evidence against it.
        owners = owners[~batch.requirements.rules.hold(batch.inputs[owners], rows)]
    return np.bincount(owners, minlength=len(batch.inputs))


def _leading(
    selector: Selector, batch: QueryBatch, rules: Rules, lifted: int
) -> tuple[Matrix, Indices]:
    """Return rows that lead to the goal within some of the rules, and the input of each."""
    required, pool = batch.requirements, selector.pool
    looser = replace(batch, requirements=replace(required, rules=rules), quota=None)
    most = min(ASKED_EACH, MOST_ASKED // lifted)
    nearest = replace(selector, cutoff=NearestCandidates(min(NEAREST_ASKED, most)))
    rows, owners = [batch.inputs[:0]], [np.empty(0, dtype=np.intp)]
    for members, eligible in selector.eligible(looser):
        proposals = Proposals.of(pool, eligible, looser)
        draws = next(proposals.draws())
        ignored = looser.fixed_coordinates
        x = looser.embedded.take(members)
        for some, candidates, ranking in nearest.rank(x, eligible, ignored):
            who, at = ranking.left()
            own, at = members[some[who]], candidates.positions[at]
            moved = moved_onto_rules(pool, looser, own, at)
            rows.append(moved.rows)
            owners.append(moved.owners)
        for each in members.tolist():
            own_rows = np.concatenate([proposals.rows(each, None), proposals.rows(each, draws)])
            own_rows = own_rows[:: -(-len(own_rows) // most)]
            rows.append(own_rows)
            owners.append(np.full(len(own_rows), each))
    tried, whose = np.concatenate(rows), np.concatenate(owners)
    accepted = looser.ask(tried, whose) != REFUSED
    return tried[accepted], whose[accepted]


def _no_training_row(batch: QueryBatch) -> WhyNone:
    """Say that no training row is a candidate, and which setting is the reason."""
    required = batch.requirements
    settings = {
        "plausible": ("plausibility=", required.support),
        "probable": ("target_probability=", required.probability),
    }
    given = {word: name for word, (name, value) in settings.items() if value is not None}
    enough = f" is {' and '.join(given)} enough" if given else ""
    loosen = f"Loosen {' or '.join(given.values())}, or fit" if given else "Fit"
    text = f"no training row of an acceptable class{enough or ' is known'}. {loosen} on more rows."
    return WhyNone(text, "no_example")


def _reason(opening: list[str], batch: QueryBatch) -> WhyNone:
    """Say which constraints leave an input without an option.

    Parameters
    ----------
    opening
        The constraints without which there is an option, each alone.
    """
    rules, plausible = batch.requirements.rules, batch.requirements.support is not None
    may_change = _what_may_change(batch)
    if len(opening) == 1:
        loosen = "" if opening[0] == NothingLost.text else " Loosen it."
        bars = [getattr(bar, "text", "") for bar in batch.requirements.bars]
        named = opening[0] if opening[0] in bars else f"the constraint {opening[0]}"
        text = (
            f"{named} rules out all that was found{may_change}; without it alone there is an "
            f"option.{loosen}"
        )
        return WhyNone(text, "constraint", opening)
    if opening:
        named = "; ".join(opening[:MOST_NAMED])
        text = (
            f"each of the constraints {named} rules out all that was found{may_change}; without "
            f"one of them alone there is an option. Loosen one of them."
        )
        return WhyNone(text, "constraint", opening)
    if not rules and plausible:
        text = (
            "nothing that leads there is plausible enough. Loosen plausibility=, or fit on more "
            "rows."
        )
        return WhyNone(text, "implausible")
    if not rules:
        text = (
            "every candidate is equal to the input, so the model gives one row two labels. "
            "Pass a model that gives the same row the same label always."
        )
        return WhyNone(text, "contradiction")
    text = (
        f"no single constraint rules it out{may_change}: without any one of them nothing was found "
        f"either. Loosen several{' of them, or plausibility=' if plausible else ' of them'}."
    )
    return WhyNone(text, "several")


def _what_may_change(batch: QueryBatch) -> str:
    """Return which features may change, if that is less than half of them."""
    fixed, names = batch.requirements.rules.fixed, batch.distance.table.names
    free = [repr(name) for name, stays in zip(names, fixed, strict=True) if not stays]
    if 2 * len(free) >= len(names):
        return ""
    if not free:
        return ", because no feature may change"
    return f", because of {len(names)} features only {' and '.join(free)} may change"
