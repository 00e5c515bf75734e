"""What the page knows of the model from the start: features, classes, cases, limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from counterset._base.arrays import Vector, to_python
from counterset.models.adapter import ModelAdapter
from counterset.serve.cards import are_numbers
from counterset.serve.case_requests import MOST_NOISE, MOST_WAYS, to_wire
from counterset.serve.served import Served
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number
from counterset.words.changes import capitalised
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = ["class_texts", "describe_features", "describe_start"]

#: A histogram below a slider has 24 bars, which are some 5 pixels wide each.
BARS = 24
#: A slider spans the training range, unless outliers stretch that to over 4 times the usual one.
MOST_STRETCHED = 4.0
#: The first 1,000 cases can be leafed through; others are found by their number.
MOST_LISTED = 1000
#: Without a step, a slider has 200 places.
PLACES = 200


def describe_start(served: Served) -> dict[str, Any]:
    """Return what the page needs before its first question."""
    table = served.table
    listed = served.cases.iloc[:MOST_LISTED]
    labels = ModelAdapter(served.model, table).labels(table.encode(listed)[0])
    return {
        "title": served.title or served.name,
        "name": served.name,
        "features": describe_features(served),
        "classes": class_texts(served),
        "target": _target(served),
        "interval": _interval(served),
        "most_ways": MOST_WAYS,
        "ways": min(served.explainer.max_counterfactuals, MOST_WAYS),
        "most_noise": MOST_NOISE,
        "cases": {
            "count": len(served.cases),
            "numbers": [str(to_python(each)) for each in listed.index],
            "decisions": _decisions(labels, served),
        },
    }


def class_texts(served: Served) -> list[str] | None:
    """Return how people call the classes; None if the model predicts numbers."""
    if are_numbers(served):
        return None
    labels = [to_python(each) for each in served.explainer.classes_]
    return [str(served.outcomes.get(label, label)) for label in labels]


def describe_features(served: Served) -> list[dict[str, Any]]:
    """Return each feature: how it is called, what it can be, and what it may do at first."""
    limits = _first_limits(served)
    matrix = served.explainer.pool_.matrix
    return [
        _describe(feature, matrix[:, at]) | limits[feature.name]
        for at, feature in enumerate(served.table.features)
    ]


def _describe(feature: Feature, codes: Vector) -> dict[str, Any]:
    writer = Writer(Templates.read())
    wording = feature.wording
    told: dict[str, Any] = {
        "name": feature.name,
        "label": capitalised(feature.label),
        "kind": feature.kind,
        "unit": "" if wording is None else wording.unit,
        "unit_of_one": "" if wording is None else wording.unit_of_one,
        "is_time": feature.is_time and feature.values is None,
        "has_order": not feature.is_category and feature.kind != "binary",
        "can_be_missing": feature.can_be_missing,
        "missing": writer.value(feature, np.nan),
        "options": None,
    }
    choices = _choices(feature)
    if choices is not None:
        texts = [writer.value(feature, code) for code in choices]
        pairs = zip(choices, texts, strict=True)
        told["options"] = [
            {"value": to_wire(feature, code), "text": capitalised(text)} for code, text in pairs
        ]
        return told
    return told | _scale(feature, codes)


def _choices(feature: Feature) -> list[float] | None:
    """Return the codes that a person chooses from; None for a number or a time."""
    if feature.values is not None:
        return [float(code) for code in range(len(feature.values))]
    return [feature.low, feature.high] if feature.kind == "binary" else None


def _scale(feature: Feature, codes: Vector) -> dict[str, Any]:
    """Return the ends and the step of a slider, and the histogram below it."""
    low, high = feature.low, feature.high
    first, last = feature.usual
    if last > first and high - low > MOST_STRETCHED * (last - first):
        low, high = first, last
    known = codes[feature.is_known(codes)]
    counts, _ = np.histogram(known, bins=BARS, range=(low, high if high > low else low + 1))
    step = feature.finest_step or feature.step or _round_step((high - low) / PLACES)
    # Sliders count from their low end: it is put on a step.
    on_step = math.floor(low / step) * step if step else low
    return {
        "low": to_wire(feature, low),
        "high": to_wire(feature, high),
        "slider_low": float(f"{on_step:.12g}"),
        "step": step,
        "any_number": not feature.step,
        "is_whole": isinstance(feature, Number) and feature.is_whole,
        "bars": (counts / max(int(counts.max()), 1)).round(3).tolist(),
        "special": [to_wire(feature, code) for code in feature.special],
    }


def _round_step(width: float) -> float:
    """Return a step of 1, 2 or 5 times a power of ten, at most so wide."""
    if not width > 0:
        return 1.0
    power = math.floor(math.log10(width))
    first = next(each for each in (5, 2, 1) if each * 10.0**power <= width * (1 + 1e-9))
    return float(f"{first}e{power}")


def _first_limits(served: Served) -> dict[str, dict[str, Any]]:
    """Return what each feature may do by the explainer's own constraints and costs."""
    table, constraints = served.table, served.explainer.constraints
    limits: dict[str, dict[str, Any]] = {name: {"limit": {}} for name in table.names}

    def of(name: Any) -> dict[str, Any]:
        return limits[table.features[table.position(name)].name]

    for name, cost in (served.explainer.costs or {}).items():
        if math.isinf(cost):
            of(name)["fixed"] = True
    if constraints is None:
        return limits
    for name in constraints.immutable:
        of(name)["limit"]["locked"] = True
    for way, names in (("up", constraints.increase_only), ("down", constraints.decrease_only)):
        for name in names:
            of(name)["limit"]["way"] = way
    for name, ends in constraints.ranges.items():
        feature = table.features[table.position(name)]
        for end, value in zip(("low", "high"), ends, strict=True):
            if value is not None:
                of(name)["limit"][end] = to_wire(feature, feature.code_of(value))
    return limits


def _decisions(labels: Any, served: Served) -> list[int] | list[float]:
    """Return the position of each label among the classes, or the number that it is."""
    if class_texts(served) is None:
        return [float(f"{float(each):.4g}") for each in labels]
    known = {to_python(each): i for i, each in enumerate(served.explainer.classes_)}
    return [known.get(to_python(each), -1) for each in labels]


def _rounded_up(number: float) -> float:
    """Return a number with three digits that is not below another."""
    near = float(f"{number:.3g}")
    unit = 10.0 ** (math.floor(math.log10(abs(number))) - 2) if number else 0.0
    return near if near >= number else float(f"{near + unit:.3g}")


def _target(served: Served) -> int | None:
    wanted = served.goal.get("target")
    if wanted is None:
        return None
    known = [to_python(each) for each in served.explainer.classes_]
    return known.index(to_python(wanted)) if to_python(wanted) in known else None


def _interval(served: Served) -> list[float] | None:
    """Return the range that is wanted at first, if the model predicts numbers."""
    if class_texts(served) is not None:
        return None
    labels = np.asarray(served.explainer.classes_, dtype=np.float64)
    if served.goal.get("interval") is None:  # the larger half
        # Rounded for people to read, and upwards at the end, so that it is reached.
        return [float(f"{np.median(labels):.3g}"), _rounded_up(float(labels.max()))]
    # JSON has no infinity: an open end is the farthest prediction.
    low, high = (float(end) for end in served.goal["interval"])
    return [max(low, float(labels.min())), min(high, float(labels.max()))]
