"""Description: an explanation in sentences."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import pandas as pd

from counterset._base.arrays import Vector, to_python
from counterset.exceptions import InvalidInputError
from counterset.explanations.certificate import Certificate, rounded_down, rounded_up
from counterset.explanations.context import Context
from counterset.explanations.explanation import Explanation
from counterset.explanations.holds import Room
from counterset.explanations.option import Option
from counterset.explanations.stability import Stability
from counterset.explanations.survival import Survival
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import format_number
from counterset.tables.table import Table
from counterset.words.changes import MOST_IN_ONE_SENTENCE, ChangeWriter, capitalised
from counterset.words.outcomes import Outcomes, rounded
from counterset.words.reasons import ReasonWriter
from counterset.words.templates import Templates, TemplatesLike
from counterset.words.values import Writer, exact_percent, percent

__all__ = [
    "Description",
    "constraint_sentences",
    "constraints_kept",
    "costs_of_changes",
    "fewer_than_asked",
    "fixed_features",
    "folded",
    "heading",
    "how_far",
    "how_sure",
    "is_in_usual_ranges",
    "lasting_options",
    "measured",
    "order_of",
    "room_sentences",
    "survived",
    "unusual_options",
    "what_stays",
]

#: The distances and scales in which 1 is one feature moved across its usual range.
DISTANCES = re.compile(r"l1|l2|linf|(L1|L2|LInf)\((weights=None)?\)")
SCALES = ("robust", "range")
#: The columns of ``evaluate`` that are written.
MEASURED = ("input_distance", "covered", "kept")


def is_in_usual_ranges(context: Context) -> bool:
    """Return whether a distance of 1 is one feature moved across its usual range."""
    settings = context.settings.value
    is_usual = DISTANCES.fullmatch(str(settings.get("distance"))) is not None
    return is_usual and settings.get("scale") in SCALES and not context.costs


def how_far(explanation: Explanation, templates: Templates) -> list[str]:
    """Return how far the nearest option is, in words, if the distance has words."""
    if not len(explanation):
        return []
    sentences = []
    if is_in_usual_ranges(explanation.context):
        nearest = float(explanation.distances.min())
        if nearest < 1.05:  # from here on, two digits say more than 1 times
            sentences.append(templates("far.share", share=percent(nearest, templates)))
        else:
            sentences.append(templates("far.times", times=rounded(nearest, 2)))
    if explanation.context.costs:
        sentences.append(templates("far.costs"))
    return sentences


def how_sure(explanation: Explanation, templates: Templates, outcomes: Outcomes) -> list[str]:
    """Return what is checked and what is proved, a sentence each."""
    if not len(explanation):
        return _none(explanation, templates, outcomes)
    if outcomes.differ or explanation.context.probability is not None:
        asked = templates("sure.asked_goal", wanted=outcomes.aim())
    else:
        classified = outcomes.classified(explanation.labels[0])
        asked = templates("sure.asked_class", classified=classified)
    certificate = explanation.certificate or Certificate()
    return [
        asked,
        _nearest(explanation, certificate, templates),
        *_safe(certificate, templates),
        *_works(certificate, templates),
        *_ranges(explanation, templates, outcomes),
        *_same(certificate, templates),
        *_listed(certificate, templates),
    ]


def _none(explanation: Explanation, templates: Templates, outcomes: Outcomes) -> list[str]:
    """Return whether it is proved that an explanation has no options because there are none."""
    bounds = None if explanation.certificate is None else explanation.certificate.distance_bounds
    if bounds is None:
        return []
    if bounds.none_exists:
        return [templates("sure.none_exists", wanted=outcomes.aim())]
    if math.isinf(bounds.upper):
        return [templates("sure.none_unproved")]
    return [templates("sure.none_but_one", distance=rounded_up(bounds.upper))]


def _nearest(explanation: Explanation, certificate: Certificate, templates: Templates) -> str:
    bounds = certificate.distance_bounds
    if bounds is not None and not bounds.was_read:
        return templates("sure.unread")
    if bounds is not None and bounds.lower > 0:
        return templates("sure.nearest", distance=rounded_down(bounds.lower))
    return templates("sure.not_nearest")


def _safe(certificate: Certificate, templates: Templates) -> list[str]:
    """Return within what radius each option stays one; options of equal radius together."""
    if certificate.radii is None or certificate.epsilon is None or certificate.nothing_proved:
        return []
    sentences = []
    for radius, ranks in _by_radius(certificate.radii).items():
        if radius > 0:
            options = _options(ranks, ("sure.safe_one", "sure.safe_many"), templates)
            epsilon, within = f"{certificate.epsilon:g}", rounded_down(radius)
            name = "sure.safe_same" if certificate.constrained else "sure.safe"
            sentences.append(templates(name, options=options, epsilon=epsilon, radius=within))
    return sentences


def _works(certificate: Certificate, templates: Templates) -> list[str]:
    """Return for whom else each option works; options of equal radius together."""
    if certificate.option_radii is None:
        return []
    sentences = []
    for radius, ranks in _by_radius(certificate.option_radii).items():
        options = _options(ranks, ("sure.works_one", "sure.works_many"), templates)
        if math.isinf(radius):
            sentences.append(templates("sure.works_all", options=options))
        elif radius > 0:
            sentences.append(templates("sure.works", options=options, radius=rounded_down(radius)))
        else:
            sentences.append(templates("sure.works_unproved", options=options))
    return sentences


def _ranges(explanation: Explanation, templates: Templates, outcomes: Outcomes) -> list[str]:
    """Return which ranges are proved, and which were checked at points only."""
    ranks: dict[int | None, list[str]] = {}
    for option in explanation.options:
        span = option.span
        if span is not None and not span.is_point:
            ranks.setdefault(None if span.proved else span.checked, []).append(str(option.rank))
    sentences = []
    for checked, which in ranks.items():
        options = _options(which, ("sure.ranges_one", "sure.ranges_many"), templates)
        texts = {"options": options, "wanted": outcomes.aim()}
        if checked is None:
            sentences.append(templates("sure.ranges_proved", **texts))
        else:
            sentences.append(templates("sure.ranges_checked", count=f"{checked:,}", **texts))
    return sentences


def _by_radius(radii: Vector) -> dict[float, list[str]]:
    """Return the ranks of the options of each radius, rounded down."""
    ranks: dict[float, list[str]] = {}
    for rank, radius in enumerate(radii.tolist(), start=1):
        shown = float(rounded_down(radius)) if 0 < radius < math.inf else radius
        ranks.setdefault(shown, []).append(str(rank))
    return ranks


def _options(ranks: list[str], names: tuple[str, str], templates: Templates) -> str:
    """Return "option 1 works" or "options 1 and 2 work": the names of both templates are given."""
    one, many = names
    if len(ranks) == 1:
        return templates(one, rank=ranks[0])
    return templates(many, ranks=templates.join(ranks))


def _same(certificate: Certificate, templates: Templates) -> list[str]:
    radius = certificate.stable_radius
    if radius is None or not radius > 0:
        return []
    if math.isinf(radius):
        return [templates("sure.same_all")]
    return [templates("sure.same_within", radius=rounded_down(radius))]


def _listed(certificate: Certificate, templates: Templates) -> list[str]:
    """Return what is certain about the list that the options come from."""
    sentences, radius, alone = [], certificate.list_radius, certificate.alone
    if radius is not None and math.isinf(radius):
        sentences.append(templates("sure.list_all"))
    elif radius is not None and radius > 0:
        sentences.append(templates("sure.list_within", radius=rounded_down(radius)))
    if len(alone) == 1:
        sentences.append(templates("sure.alone_one", rank=alone[0]))
    elif alone:
        sentences.append(templates("sure.alone_many", ranks=templates.join(list(map(str, alone)))))
    return sentences


def measured(
    stability: pd.DataFrame | Stability | None, templates: Templates, count: int, table: Table
) -> list[str]:
    """Return what was measured on noisy copies of the input; no sentence if nothing was.

    Parameters
    ----------
    stability
        What ``evaluate`` or ``stability`` returned for this input.
    count
        How many options the explanation has.
    table
        The features, to say how different the copies are.
    """
    if stability is None:
        return []
    if isinstance(stability, Stability):
        if len(stability.kept) != count:
            raise InvalidInputError(
                f"stability was measured on {len(stability.kept)} options, but this explanation "
                f"has {count}. Pass what stability returns for this explanation."
            )
        return [*_kept(stability, templates), *_slightly(stability.differences, table, templates)]
    columns = getattr(stability, "columns", ())
    if any(name not in columns for name in MEASURED) or not len(stability):
        raise InvalidInputError(
            f"stability takes what stability returns, or the table that evaluate returns, for "
            f"this input, with the columns {', '.join(MEASURED)}, got {type(stability).__name__}."
        )
    compared = stability[list(MEASURED)].dropna()
    if not len(compared):
        return [templates("sure.kept_unknown")]
    near, covered, kept = (float(compared[name].mean()) for name in MEASURED)
    return [
        templates(
            "sure.measured",
            count=len(compared),
            near=rounded(near, 2),
            covered=round(covered * len(compared)),
            kept=percent(kept, templates),
        ),
        *_slightly(stability.attrs.get("differences", {}), table, templates),
    ]


def _slightly(differences: Mapping[str, float], table: Table, templates: Templates) -> list[str]:
    """Return how different slightly different inputs are, in the units of the reader."""
    text = Writer(templates).differences(differences, table)
    return [templates("sure.slightly", differences=text)] if text else []


def _kept(stability: Stability, templates: Templates) -> list[str]:
    """Return for how many copies each option is found again; equal numbers together."""
    if not stability.copies:
        return [templates("sure.kept_unknown")]
    ranks: dict[tuple[int, float], list[str]] = {}
    shares = zip(stability.kept.tolist(), stability.least_shares.tolist(), strict=True)
    for rank, share in enumerate(shares, start=1):
        ranks.setdefault(share, []).append(str(rank))
    found = [
        templates(
            "sure.kept_one" if len(which) == 1 else "sure.kept_many",
            ranks=templates.join(which),
            kept=kept,
            copies=stability.copies,
            least=f"{math.floor(100 * least)}%",
        )
        for (kept, least), which in ranks.items()
    ]
    sentence = templates(
        "sure.kept",
        near=rounded(stability.moved, 2),
        options=templates("list.comma").join(found),
        covered=stability.covered,
        same=stability.same,
        copies=stability.copies,
    )
    return [sentence, templates("sure.kept_means")]


def survived(
    survival: Survival | None, templates: Templates, outcomes: Outcomes, count: int
) -> list[str]:
    """Return after how many retrainings options still work; no sentence if nothing was measured.

    Parameters
    ----------
    survival
        What ``survival`` returned for this explanation.
    count
        How many options the explanation has.
    """
    if survival is None:
        return []
    if not isinstance(survival, Survival) or len(survival) != 1 or len(survival.works) != count:
        raise InvalidInputError(
            f"survival takes what survival returns for this explanation, which has {count} "
            f"options, got {survival!r}. For one of many explanations, pass survival[i]."
        )
    if not count:
        return []
    kept, wanted = int(survival.sets_kept[0]), outcomes.aim()
    if not kept:
        return [templates("sure.survived_none", count=survival.retrainings, wanted=wanted)]
    by_kept: dict[int, list[str]] = {}
    for rank, each in enumerate(survival.kept.tolist(), start=1):
        by_kept.setdefault(each, []).append(str(rank))
    single = [
        templates(
            "sure.survived_one" if len(ranks) == 1 else "sure.survived_many",
            ranks=templates.join(ranks),
            kept=each,
        )
        for each, ranks in by_kept.items()
    ]
    values: dict[str, Any] = {
        "kept": kept,
        "count": survival.retrainings,
        "wanted": wanted,
        "least": f"{math.floor(100 * survival.least_set_shares[0])}%",
    }
    if count == 1:
        return [templates("sure.survived_alone", **values)]
    return [templates("sure.survived", **values, options=templates("list.comma").join(single))]


def fixed_features(context: Context) -> list[int]:
    """Return the positions of the features that may not change, ascending."""
    immutable = context.constraints.get("immutable", ())
    infinite = [name for name, cost in context.costs.items() if math.isinf(cost)]
    return sorted({context.table.position(name) for name in [*immutable, *infinite]})


def what_stays(context: Context, templates: Templates) -> str:
    """Return which features stay as they are, by constraints or costs; empty if none is fixed.

    Where fewer features may change than must stay, those are named instead.
    """
    everything, positions = context.table.features, fixed_features(context)
    features = [everything[at] for at in positions]
    free = [feature for at, feature in enumerate(everything) if at not in positions]
    if not features:
        return ""
    if not free:
        return templates("kept.nothing_changes")
    if len(free) < len(features):
        named = templates.join([Writer(templates).feature(feature) for feature in free])
        return templates("kept.only", features=named)
    named = templates.join([Writer(templates).feature(feature) for feature in features])
    name = "kept.stays" if len(features) == 1 else "kept.stay"
    return capitalised(templates(name, features=named))


def constraints_kept(context: Context, templates: Templates) -> list[str]:
    """Return the other constraints that were kept, a sentence each."""
    writer, given = _ConstraintWriter(context, templates), context.constraints
    sentences = [
        *writer.one_way("kept.increase_only", "kept.later_only", given.get("increase_only", ())),
        *writer.one_way("kept.decrease_only", "kept.earlier_only", given.get("decrease_only", ())),
        *(writer.range(name, *ends) for name, ends in given.get("ranges", {}).items()),
        *writer.moves("kept.max_increase", "kept.max_later", given.get("max_increase", {})),
        *writer.moves("kept.max_decrease", "kept.max_earlier", given.get("max_decrease", {})),
        *(writer.allowed(name, values) for name, values in given.get("allowed", {}).items()),
        *(writer.features("kept.together", names) for names in given.get("together", ())),
        *(
            writer.forbidden(name, *pair)
            for name, pairs in given.get("forbidden_changes", {}).items()
            for pair in pairs
        ),
    ]
    if given.get("relations"):
        relations = templates("list.comma").join(given["relations"])
        sentences.append(templates("kept.relations", relations=relations))
    sentences += [
        templates("kept.condition", condition=each) for each in given.get("conditions", ())
    ]
    return [capitalised(sentence) for sentence in sentences if sentence]


def constraint_sentences(context: Context, templates: Templates, names: Iterable[str]) -> list[str]:
    """Return a sentence for each constraint that messages name, see :class:`WhyNone`."""
    known = _sentences_by_name(context, templates)
    return [capitalised(known.get(name) or templates("kept.other")) for name in names]


def _sentences_by_name(context: Context, templates: Templates) -> dict[str, str]:
    """Return the sentence of each constraint, by how messages name it."""
    writer, given = _ConstraintWriter(context, templates), context.constraints
    amounts = [given.get(parameter, {}) for parameter in ("max_increase", "max_decrease")]
    known = {"known values stay known": templates("kept.known")}
    if context.margin is not None:
        noise = exact_percent(context.margin.noise)
        known[str(context.margin)] = templates("margin.kept", noise=noise)
    for name in given.get("immutable", ()):
        known[f"immutable {name!r}"] = writer.features("kept.stays", [name])
    for way, later in (("increase_only", "later_only"), ("decrease_only", "earlier_only")):
        for name in given.get(way, ()):
            known[f"{way} {name!r}"] = "".join(
                writer.one_way(f"kept.{way}", f"kept.{later}", [name])
            )
    for name, ends in given.get("ranges", {}).items():
        known[f"ranges[{name!r}]"] = writer.range(name, *ends)
    for name in {**amounts[0], **amounts[1]}:
        up, down = ({name: each[name]} if name in each else {} for each in amounts)
        given_of = [f"max_increase[{name!r}]"] * len(up) + [f"max_decrease[{name!r}]"] * len(down)
        sentences = [
            *writer.moves("kept.max_increase", "kept.max_later", up),
            *writer.moves("kept.max_decrease", "kept.max_earlier", down),
        ]
        known[" and ".join(given_of)] = " ".join(map(capitalised, sentences))
    for name, values in given.get("allowed", {}).items():
        known[f"allowed[{name!r}]"] = writer.allowed(name, values)
    for names in given.get("together", ()):
        known[f"together {list(names)!r}"] = writer.features("kept.together", names)
    for name, pairs in given.get("forbidden_changes", {}).items():
        sentences = [writer.forbidden(name, *pair) for pair in pairs]
        known[f"forbidden_changes[{name!r}]"] = " ".join(map(capitalised, sentences))
    for text in given.get("relations", ()):
        known[f"relation {text!r}"] = templates("kept.relations", relations=text)
    for text in given.get("conditions", ()):
        known[f"condition {text!r}"] = templates("kept.condition", condition=text)
    return known


def costs_of_changes(context: Context, templates: Templates) -> list[str]:
    """Return how much a change of a feature counts, a sentence each; what stays is left out."""
    writer, table = Writer(templates), context.table
    finite = [(name, cost) for name, cost in context.costs.items() if math.isfinite(cost)]
    return [
        templates(
            "far.cost_once" if cost == 1 else "far.cost_of",
            feature=writer.feature(table.features[table.position(name)]),
            cost=format_number(cost),
        )
        for name, cost in finite
    ]


class _ConstraintWriter:
    """Write single constraints."""

    def __init__(self, context: Context, templates: Templates) -> None:
        self._table, self._templates, self._writer = context.table, templates, Writer(templates)

    def one_way(self, template: str, of_times: str, names: Iterable[Any]) -> Iterable[str]:
        """Yield which numbers, and which times, may go in one direction only."""
        are_times = {name: self._feature(name).is_time for name in names}
        for name, wanted in ((template, False), (of_times, True)):
            yield self.features(name, [n for n in are_times if are_times[n] == wanted])

    def features(self, template: str, names: Iterable[Any]) -> str:
        named = [self._writer.feature(self._feature(name)) for name in names]
        return self._templates(template, features=self._templates.join(named)) if named else ""

    def range(self, name: Any, low: Any, high: Any) -> str:
        feature = self._feature(name)
        ends = [None if _is_open(end) else self._value(feature, end) for end in (low, high)]
        if ends[1] is None and ends[0] is None:
            return ""
        if ends[1] is None:
            name = "label.or_later" if feature.is_time else "label.at_least"
            text = self._templates(name, low=ends[0])
        elif ends[0] is None:
            name = "label.or_earlier" if feature.is_time else "label.at_most"
            text = self._templates(name, high=ends[1])
        else:
            first, last = self._writer.pair(feature, feature.code_of(low), feature.code_of(high))
            text = self._templates("label.between", low=first, high=last)
        named = self._writer.feature(feature)
        return self._templates("kept.range", feature=named, range=text)

    def moves(self, template: str, of_times: str, amounts: dict[Any, Any]) -> Iterable[str]:
        for column, amount in amounts.items():
            feature = self._feature(column)
            text = _span(amount) if isinstance(amount, timedelta) else str(amount)
            if isinstance(amount, int | float) and feature.values is None:
                text = self._writer.value(feature, float(amount))
            named = self._writer.feature(feature)
            name = of_times if feature.is_time else template
            yield self._templates(name, feature=named, amount=text)

    def forbidden(self, name: Any, before: Any, after: Any) -> str:
        feature = self._feature(name)
        template = "kept.change"
        if after is None:
            template = "kept.change_from"
        elif before is None:
            template = "kept.change_to"
        texts = [None if each is None else self._value(feature, each) for each in (before, after)]
        named = self._writer.feature(feature)
        return self._templates(template, feature=named, before=texts[0], after=texts[1])

    def allowed(self, name: Any, values: Iterable[Any]) -> str:
        feature = self._feature(name)
        each = dict.fromkeys(self._value(feature, value) for value in values)
        texts = self._templates("list.comma").join(each)
        named = self._writer.feature(feature)
        return self._templates("kept.allowed", feature=named, values=texts)

    def _feature(self, name: Any) -> Feature:
        return self._table.features[self._table.position(name)]

    def _value(self, feature: Feature, value: Any) -> str:
        return self._writer.value(feature, feature.code_of(value))


def _span(amount: timedelta) -> str:
    """Return a time span as text; whole days without hours."""
    days, rest = divmod(amount, timedelta(days=1))
    if rest:
        return str(amount)
    return f"{days} day" if days == 1 else f"{days:,} days"


def _is_open(end: Any) -> bool:
    """Whether the end of a range is open."""
    if end is None or end is pd.NaT:
        return True
    return isinstance(end, float) and (math.isinf(end) or math.isnan(end))


@dataclass(frozen=True)
class Description:
    """An explanation in sentences; as text it is what ``explanation.describe()`` returns.

    Attributes
    ----------
    heading
        What the model says about the input, and how many options there are.
    options
        The options in their order: each is one sentence with its figures, or a heading and a line
        for each change.
    unusual
        What usually helps in place of what some options do.
    lasting
        Which options are safer than the others, and how near to each a person may land, if that
        was asked for.
    kept
        What stays as it is, and the other constraints that were kept.
    far
        How far the nearest option is.
    sure
        What is checked, proved and measured.
    reasons
        The main reasons, below a heading, if they were asked for.
    """

    heading: str
    options: tuple[tuple[str, ...], ...]
    kept: tuple[str, ...]
    far: tuple[str, ...]
    sure: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    unusual: tuple[str, ...] = ()
    lasting: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        explanation: Explanation,
        templates: TemplatesLike = None,
        outcomes: Mapping[Any, str] | None = None,
        stability: pd.DataFrame | Stability | None = None,
        *,
        reasons: bool = False,
        survival: Survival | None = None,
    ) -> Description:
        """Describe an explanation.

        Parameters
        ----------
        explanation
            The explanation.
        templates
            The path of the texts of another language; None: English.
        outcomes
            From labels to how people call them, such as ``{"good": "approved"}``.
        stability
            What ``stability`` or ``evaluate`` returns for this input.
        reasons
            Whether to say the main reasons too.
        survival
            What ``survival`` returned for this input.
        """
        texts = Templates.read(templates)
        labels = Outcomes(explanation, texts, outcomes or {})
        stays = what_stays(explanation.context, texts)
        why = ReasonWriter(texts, labels) if reasons and explanation.reasons() else None
        return cls(
            heading=heading(explanation, texts, labels),
            options=tuple(
                _option(explanation, option, texts, labels) for option in explanation.options
            ),
            unusual=tuple(unusual_options(explanation, texts, explanation.options)),
            lasting=tuple(lasting_options(explanation, texts, labels, explanation.options)),
            kept=(*([stays] if stays else []), *constraints_kept(explanation.context, texts)),
            far=tuple(how_far(explanation, texts)),
            sure=(
                *how_sure(explanation, texts, labels),
                *_draws(explanation, texts),
                *measured(stability, texts, len(explanation), explanation.context.table),
                *survived(survival, texts, labels, len(explanation)),
            ),
            reasons=() if why is None else (why.heading(), *why.long()),
        )

    def text(self, width: int | None = 88) -> str:
        """Return the description as text, in lines of at most ``width`` letters; None: unbroken."""
        options = [
            folded(line, width, hang) for each in self.options for line, hang in _hanging(each)
        ]
        parts = (self.unusual, self.lasting, self.kept, self.far, self.sure)
        rest = [folded(" ".join(part), width) for part in parts if part]
        reasons = [folded(self.reasons[0], width)] if self.reasons else []
        reasons += [folded(f"  {line}", width, "     ") for line in self.reasons[1:]]
        blocks = ("\n".join(block) for block in (options, reasons, rest))
        whole = [folded(self.heading, width), *blocks]
        return "\n\n".join(part for part in whole if part)

    def __str__(self) -> str:
        return self.text()


def heading(
    explanation: Explanation,
    templates: Templates,
    outcomes: Outcomes,
    *,
    followed_by: Literal["options", "table", "nothing"] = "options",
) -> str:
    """Return what the model says about the input, and how many options there are.

    Parameters
    ----------
    followed_by
        The options as sentences, or as a table, which shows what stays as it is; "nothing": the
        heading stands alone.
    """
    index = explanation.index
    index = tuple(map(to_python, index)) if isinstance(index, tuple) else to_python(index)
    classified = outcomes.classified(explanation.label)
    sentences = [templates("heading.input", index=index, classified=classified)]
    count, wanted = len(explanation), outcomes.aim()
    order = order_of(explanation, templates)
    if explanation.status == "already_reached":
        sentences.append(templates("heading.already_reached"))
    elif not count:
        sentences.append(templates("heading.none_found", wanted=wanted))
    elif followed_by == "nothing":
        name = "heading.one_alone" if count == 1 else "heading.alone"
        sentences.append(templates(name, count=f"{count:,}", wanted=wanted))
    elif followed_by == "table":
        name = "heading.table_of_one" if count == 1 else "heading.table"
        sentences.append(templates(name, count=count, wanted=wanted, order=order))
    else:
        name = "heading.one_option" if count == 1 else "heading.options"
        texts = {"count": count, "wanted": wanted, "order": order}
        texts["fewer"] = fewer_than_asked(explanation, templates)
        sentences.append(templates(name, **texts))
    return " ".join(sentences)


def order_of(explanation: Explanation, templates: Templates) -> str:
    """Return in which order options stand, such as "the nearest first"."""
    last = any(option.unusual for option in explanation.options)
    return templates("heading.unusual_last" if last else "heading.nearest_first")


def fewer_than_asked(explanation: Explanation, templates: Templates) -> str:
    """Return that there are fewer options than were asked for, in brackets; empty if not so."""
    asked, count = explanation.context.wanted_count, len(explanation)
    is_few = asked is not None and count < asked and explanation.context.training is not None
    return templates("heading.fewer", asked=asked) if is_few else ""


def _option(
    explanation: Explanation, option: Option, templates: Templates, outcomes: Outcomes
) -> tuple[str, ...]:
    """Return one option: its number, its changes and its figures."""
    figures = [templates("option.distance", distance=rounded(option.distance, 2))]
    if outcomes.differ:
        figures.insert(0, outcomes.of_option(option))
    if option.unusual:
        figures.append(templates("unusual.mark"))
    if option.safe and not all(each.safe for each in explanation.options):
        figures.append(templates("safe.mark"))
    margin = explanation.context.margin
    if margin is not None and _can_miss(explanation, option):
        kept = round((option.hold_rate or 0) * margin.draws)
        figures.append(templates("margin.rate", kept=kept, draws=margin.draws))
    writer, before = ChangeWriter(explanation.coded.table, templates), explanation.coded.input
    lines = writer.lines(before, option.codes, option.span)
    texts: dict[str, Any] = {
        "rank": option.rank,
        "sentence": writer.headline(before, option.codes, option.span),
        "figures": templates("list.comma").join(figures),
    }
    if len(lines) > MOST_IN_ONE_SENTENCE:
        return templates("option.many", **texts), *lines
    return (templates("option.line", **texts),)


def unusual_options(
    explanation: Explanation, templates: Templates, options: Iterable[Option]
) -> list[str]:
    """Return what usually helps in place of what some options do; options of the same together.

    Parameters
    ----------
    options
        Those of its options that are shown.
    """
    writer, ranks = ChangeWriter(explanation.coded.table, templates), dict[str, list[str]]()
    for option in options:
        if option.unusual:
            usual = writer.usual(explanation.coded.input, option)
            ranks.setdefault(usual, []).append(str(option.rank))
    return [
        templates("unusual.one", rank=each[0], directions=usual)
        if len(each) == 1
        else templates("unusual.many", ranks=templates.join(each), directions=usual)
        for usual, each in ranks.items()
    ]


def lasting_options(
    explanation: Explanation,
    templates: Templates,
    outcomes: Outcomes,
    options: Iterable[Option],
) -> list[str]:
    """Return which options are safer, and how far the values of each may differ.

    Parameters
    ----------
    options
        Those of its options that are shown.
    """
    shown = [option.rank for option in options]
    rooms = _rooms(explanation, templates, outcomes)
    told = [rooms[rank - 1] for rank in shown]
    return [*_safer(explanation, templates, shown), *filter(None, told)]


def _safer(explanation: Explanation, templates: Templates, shown: list[int]) -> list[str]:
    """Return which of the options that are shown are safer than the others."""
    safe = [option.rank for option in explanation.options if option.safe]
    ranks = [str(rank) for rank in shown if rank in safe]
    if not ranks:
        return []
    if len(safe) == len(explanation):
        return [templates("safe.all")] if len(ranks) > 1 else []
    if len(ranks) == 1:
        return [templates("safe.one", rank=ranks[0])]
    return [templates("safe.many", ranks=templates.join(ranks))]


def room_sentences(
    explanation: Explanation,
    outcomes: Mapping[Any, str] | None = None,
    templates: TemplatesLike = None,
) -> list[str | None]:
    """Return of each option how far its values may differ, where a margin was asked for."""
    texts = Templates.read(templates)
    return _rooms(explanation, texts, Outcomes(explanation, texts, outcomes or {}))


def _rooms(explanation: Explanation, templates: Templates, outcomes: Outcomes) -> list[str | None]:
    """Return of each option how far its values may differ; None where nothing can be said."""
    writer, table = Writer(templates), explanation.coded.table
    sentences: list[str | None] = []
    for option in explanation.options:
        has_margin = explanation.context.margin is not None
        rooms = [_room(table, room, writer) for room in option.rooms] if has_margin else []
        name = "margin.room" if len(rooms) == 1 else "margin.rooms"
        joined, texts = templates("margin.or").join(rooms), {"wanted": outcomes.aim()}
        sentence = templates(name, rooms=joined, rank=option.rank, **texts) if rooms else None
        sentences.append(sentence)
    return sentences


def _can_miss(explanation: Explanation, option: Option) -> bool:
    """Whether a person can land beside an option, and it is known how often it works there."""
    margin, coded = explanation.context.margin, explanation.coded
    if margin is None or option.hold_rate is None:
        return False
    return bool(margin.moved(coded.table, coded.input[None], option.codes[None]).any())


def _draws(explanation: Explanation, templates: Templates) -> list[str]:
    """Return what a draw is, if the options say in how many of them they work."""
    margin = explanation.context.margin
    if margin is None or not any(_can_miss(explanation, each) for each in explanation.options):
        return []
    return [templates("margin.draws", noise=exact_percent(margin.noise))]


def _room(table: Table, room: Room, writer: Writer) -> str:
    """Return how far one value may differ."""
    feature = table.features[table.position(room.name)]
    names = ("margin.same", "margin.both", "margin.lower", "margin.higher")
    if feature.is_time:
        names = ("margin.same_time", "margin.both_times", "margin.earlier", "margin.later")
    less, more = (writer.distance(feature, each) for each in (room.less, room.more))
    which = 0 if less == more else 1 if room.less and room.more else 2 if room.less else 3
    texts = {"feature": writer.feature(feature), "less": less, "more": more}
    return writer.templates(names[which], **texts)


def _hanging(option: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the lines of an option, each with the indent of what follows its first line."""
    first, *lines = option
    return [(first, "   "), *((f"   {line}", "     ") for line in lines)]


def folded(text: str, width: int | None, hang: str = "") -> str:
    """Return a text in lines of at most ``width`` letters; words are never broken."""
    if width is None:
        return text
    return textwrap.fill(
        text,
        width,
        subsequent_indent=hang,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
