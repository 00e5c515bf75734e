"""What stays as it is, and other limits that were kept, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pandas as pd

from counterset.results.context import Context
from counterset.tables.features.feature import Feature
from counterset.words.changes import capitalised
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = ["limits_kept", "what_stays"]


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
