"""How far options are, how steady they are, and what is proved, checked or only measured."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Vector, to_python
from counterset.exceptions import InvalidInputError
from counterset.explanations.certificate import Certificate, rounded_down, rounded_up
from counterset.explanations.context import Context
from counterset.explanations.explanation import Explanation
from counterset.explanations.stability import Steadiness
from counterset.tables.features.feature import Feature
from counterset.tables.table import Table
from counterset.words.changes import MOST_IN_ONE_SENTENCE, ChangeWriter, capitalised
from counterset.words.outcomes import Outcomes, rounded
from counterset.words.templates import Templates, TemplatesLike
from counterset.words.values import Writer, percent

__all__ = ["Description", "folded", "how_far", "how_sure", "limits_kept", "measured", "what_stays"]

#: The distances and scales in which 1 is one feature moved across its usual range.
DISTANCES = re.compile(r"l1|l2|linf|(L1|L2|LInf)\((weights=None)?\)")
SCALES = ("robust", "range")
#: What ``evaluate`` returns, as far as it is told.
MEASURED = ("input_distance", "set_distance_mean", "k_distance")


def how_far(explanation: Explanation, templates: Templates) -> list[str]:
    """Return how far the nearest option is, in words, if the distance has words."""
    if not len(explanation):
        return []
    settings, sentences = explanation.context.settings.value, []
    usual = DISTANCES.fullmatch(str(settings.get("distance"))) and settings.get("scale") in SCALES
    if usual and not explanation.context.costs:
        nearest = float(explanation.distances[0])
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
    """Return within what radius each option stays one; ways of equal radius together."""
    if certificate.radii is None or certificate.epsilon is None or certificate.nothing_proved:
        return []
    told = []
    for radius, ranks in _by_radius(certificate.radii).items():
        if radius > 0:
            ways = _ways(ranks, ("sure.safe_one", "sure.safe_many"), templates)
            epsilon, within = f"{certificate.epsilon:g}", rounded_down(radius)
            name = "sure.safe_same" if certificate.constrained else "sure.safe"
            told.append(templates(name, ways=ways, epsilon=epsilon, radius=within))
    return told


def _works(certificate: Certificate, templates: Templates) -> list[str]:
    """Return how near others must be for whom each way works; ways of equal radius together."""
    if certificate.option_radii is None:
        return []
    told = []
    for radius, ranks in _by_radius(certificate.option_radii).items():
        ways = _ways(ranks, ("sure.works_one", "sure.works_many"), templates)
        if math.isinf(radius):
            told.append(templates("sure.works_all", ways=ways))
        elif radius > 0:
            told.append(templates("sure.works", ways=ways, radius=rounded_down(radius)))
        else:
            told.append(templates("sure.works_unproved", ways=ways))
    return told


def _by_radius(radii: Vector) -> dict[float, list[str]]:
    """Return the ranks of the ways of each radius, rounded down."""
    ranks: dict[float, list[str]] = {}
    for rank, radius in enumerate(radii.tolist(), start=1):
        told = float(rounded_down(radius)) if 0 < radius < math.inf else radius
        ranks.setdefault(told, []).append(str(rank))
    return ranks


def _ways(ranks: list[str], names: tuple[str, str], templates: Templates) -> str:
    """Return "way 1 works" or "ways 1 and 2 work", by the templates for one and for many."""
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
    told, radius, alone = [], certificate.list_radius, certificate.alone
    if radius is not None and math.isinf(radius):
        told.append(templates("sure.list_all"))
    elif radius is not None and radius > 0:
        told.append(templates("sure.list_within", radius=rounded_down(radius)))
    if len(alone) == 1:
        told.append(templates("sure.alone_one", rank=alone[0]))
    elif alone:
        told.append(templates("sure.alone_many", ranks=templates.join(list(map(str, alone)))))
    return told


def measured(
    stability: pd.DataFrame | Steadiness | None, templates: Templates, ways: int, table: Table
) -> list[str]:
    """Return what was measured on noisy copies of the input; nothing if nothing was.

    Parameters
    ----------
    stability
        What ``evaluate`` or ``steadiness`` returned for this input.
    ways
        How many ways the explanation has.
    table
        The features, to say how different the copies are.
    """
    if stability is None:
        return []
    if isinstance(stability, Steadiness):
        if len(stability.kept) != ways:
            raise InvalidInputError(
                f"stability was measured on {len(stability.kept)} ways, but this explanation has "
                f"{ways}. Pass what steadiness returns for this explanation."
            )
        return [*_kept(stability, templates), *_slightly(stability.differences, table, templates)]
    columns = getattr(stability, "columns", ())
    if any(name not in columns for name in MEASURED) or not len(stability):
        raise InvalidInputError(
            f"stability takes what steadiness returns, or the table that evaluate returns, for "
            f"this input, with the columns {', '.join(MEASURED)}, got {type(stability).__name__}."
        )
    near, differ, far = (rounded(np.nanmean(stability[name]), 2) for name in MEASURED)
    count = len(stability)
    return [
        templates("sure.measured", count=count, near=near, differ=differ, far=far),
        *_slightly(stability.attrs.get("differences", {}), table, templates),
    ]


def _slightly(differences: Mapping[str, float], table: Table, templates: Templates) -> list[str]:
    """Return how different slightly different inputs are, in the units of the reader."""
    text = Writer(templates).differences(differences, table)
    return [templates("sure.slightly", differences=text)] if text else []


def _kept(steadiness: Steadiness, templates: Templates) -> list[str]:
    """Return for how many copies each way is found again; ways of equal numbers together."""
    if not steadiness.copies:
        return [templates("sure.kept_unknown")]
    ranks: dict[int, list[str]] = {}
    for rank, kept in enumerate(steadiness.kept.tolist(), start=1):
        ranks.setdefault(kept, []).append(str(rank))
    found = [
        templates(
            "sure.kept_one" if len(which) == 1 else "sure.kept_many",
            ranks=templates.join(which),
            kept=kept,
            copies=steadiness.copies,
        )
        for kept, which in ranks.items()
    ]
    told = templates(
        "sure.kept",
        near=rounded(steadiness.moved, 2),
        ways=templates("list.comma").join(found),
        same=steadiness.same,
        copies=steadiness.copies,
    )
    return [told, templates("sure.kept_means")]


def what_stays(context: Context, templates: Templates) -> str:
    """Return which features stay as they are, by constraints or costs; empty if none is fixed.

    Where fewer features may change than must stay, those are named instead.
    """
    immutable = context.constraints.get("immutable", ())
    infinite = [name for name, cost in context.costs.items() if math.isinf(cost)]
    positions = dict.fromkeys(context.table.position(name) for name in [*immutable, *infinite])
    everything = context.table.features
    features = [everything[at] for at in sorted(positions)]
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


def limits_kept(context: Context, templates: Templates) -> list[str]:
    """Return the other limits that were kept, a sentence each."""
    limits, told = _Limits(context, templates), context.constraints
    sentences = [
        *limits.one_way("kept.increase_only", "kept.later_only", told.get("increase_only", ())),
        *limits.one_way("kept.decrease_only", "kept.earlier_only", told.get("decrease_only", ())),
        *(limits.range(name, *ends) for name, ends in told.get("ranges", {}).items()),
        *limits.moves("kept.max_increase", "kept.max_later", told.get("max_increase", {})),
        *limits.moves("kept.max_decrease", "kept.max_earlier", told.get("max_decrease", {})),
        *(limits.allowed(name, values) for name, values in told.get("allowed", {}).items()),
        *(limits.features("kept.together", names) for names in told.get("together", ())),
    ]
    if told.get("relations"):
        relations = templates("list.comma").join(told["relations"])
        sentences.append(templates("kept.relations", relations=relations))
    return [capitalised(sentence) for sentence in sentences if sentence]


class _Limits:
    """Write single limits."""

    def __init__(self, context: Context, templates: Templates) -> None:
        self._table, self._templates, self._writer = context.table, templates, Writer(templates)

    def one_way(self, template: str, of_times: str, names: Iterable[Any]) -> Iterable[str]:
        """Yield which numbers, and which times, may go one way only."""
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
            told = self._templates(name, low=ends[0])
        elif ends[0] is None:
            name = "label.or_earlier" if feature.is_time else "label.at_most"
            told = self._templates(name, high=ends[1])
        else:
            first, last = self._writer.pair(feature, feature.code_of(low), feature.code_of(high))
            told = self._templates("label.between", low=first, high=last)
        named = self._writer.feature(feature)
        return self._templates("kept.range", feature=named, range=told)

    def moves(self, template: str, of_times: str, amounts: dict[Any, Any]) -> Iterable[str]:
        for column, amount in amounts.items():
            feature = self._feature(column)
            told = _span(amount) if isinstance(amount, timedelta) else str(amount)
            if isinstance(amount, int | float) and feature.values is None:
                told = self._writer.value(feature, float(amount))
            named = self._writer.feature(feature)
            name = of_times if feature.is_time else template
            yield self._templates(name, feature=named, amount=told)

    def allowed(self, name: Any, values: Iterable[Any]) -> str:
        feature = self._feature(name)
        each = dict.fromkeys(self._value(feature, value) for value in values)
        told = self._templates("list.comma").join(each)
        named = self._writer.feature(feature)
        return self._templates("kept.allowed", feature=named, values=told)

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
        What the model says about the input, and how many ways there are.
    ways
        The ways, nearest first: each is one sentence with its figures, or a heading and a line for
        each change.
    kept
        What stays as it is, and the other limits that were kept.
    far
        How far the nearest way is.
    sure
        What is checked, proved and measured.
    """

    heading: str
    ways: tuple[tuple[str, ...], ...]
    kept: tuple[str, ...]
    far: tuple[str, ...]
    sure: tuple[str, ...]

    @classmethod
    def of(
        cls,
        explanation: Explanation,
        templates: TemplatesLike = None,
        outcomes: Mapping[Any, str] | None = None,
        stability: pd.DataFrame | Steadiness | None = None,
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
            What ``steadiness`` or ``evaluate`` returns for this input.
        """
        texts = Templates.read(templates)
        told = Outcomes(explanation, texts, outcomes or {})
        stays = what_stays(explanation.context, texts)
        return cls(
            heading=_heading(explanation, texts, told),
            ways=tuple(_way(explanation, i, texts, told) for i in range(len(explanation))),
            kept=(*([stays] if stays else []), *limits_kept(explanation.context, texts)),
            far=tuple(how_far(explanation, texts)),
            sure=(
                *how_sure(explanation, texts, told),
                *measured(stability, texts, len(explanation), explanation.context.table),
            ),
        )

    def text(self, width: int | None = 88) -> str:
        """Return the description as text, in lines of at most ``width`` letters; None: unbroken."""
        ways = [folded(line, width, hang) for way in self.ways for line, hang in _hanging(way)]
        rest = [folded(" ".join(part), width) for part in (self.kept, self.far, self.sure) if part]
        parts = [folded(self.heading, width), "\n".join(ways), "\n".join(rest)]
        return "\n\n".join(part for part in parts if part)

    def __str__(self) -> str:
        return self.text()


def _heading(explanation: Explanation, templates: Templates, outcomes: Outcomes) -> str:
    index = explanation.index
    index = tuple(map(to_python, index)) if isinstance(index, tuple) else to_python(index)
    classified = outcomes.classified(explanation.label)
    sentences = [templates("heading.input", index=index, classified=classified)]
    count, wanted = len(explanation), outcomes.aim()
    asked = explanation.context.wanted_count
    if explanation.status == "already_reached":
        sentences.append(templates("heading.already_reached"))
    elif not count:
        sentences.append(templates("heading.none_found", wanted=wanted))
    else:
        is_few = asked is not None and count < asked and explanation.context.training is not None
        fewer = templates("heading.fewer", asked=asked) if is_few else ""
        name = "heading.one_way" if count == 1 else "heading.ways"
        sentences.append(templates(name, count=count, wanted=wanted, fewer=fewer))
    return " ".join(sentences)


def _way(
    explanation: Explanation, i: int, templates: Templates, outcomes: Outcomes
) -> tuple[str, ...]:
    """Return one way: its number, its changes and its figures."""
    before, after = explanation._input, explanation._matrix[i]
    figures = [templates("way.distance", distance=rounded(explanation.distances[i], 2))]
    if outcomes.differ:
        name = "label.of_way_number" if outcomes.is_number else "label.of_way"
        figures.insert(0, templates(name, label=outcomes.told(explanation.labels[i])))
    told = templates("list.comma").join(figures)
    writer = ChangeWriter(explanation._table, templates)
    lines = writer.lines(before, after)
    if len(lines) > MOST_IN_ONE_SENTENCE:
        return templates("way.many", rank=i + 1, count=len(lines), figures=told), *lines
    sentence = writer.sentence(before, after)
    return (templates("way.line", rank=i + 1, sentence=sentence, figures=told),)


def _hanging(way: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the lines of a way, each with the indent of what follows its first line."""
    first, *lines = way
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
