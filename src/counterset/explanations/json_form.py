"""The JSON form of explanations, written and loaded."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Labels, Mask, Vector
from counterset._base.lazy import Lazy
from counterset.exceptions import InvalidInputError
from counterset.explanations.certificate import Certificate, DistanceBounds
from counterset.explanations.context import Context, TrainingSummary, versions
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations, make_explanations
from counterset.explanations.json_values import (
    from_json_number,
    from_json_tree,
    from_json_value,
    row_from_json,
    row_to_json,
    table_from_json,
    table_to_json,
    to_json_number,
    to_json_value,
    value_from_json,
    value_to_json,
)
from counterset.explanations.ranges import Span, Spans
from counterset.explanations.reasons import Reason, make_reason
from counterset.models.goals import AnyOther, Classes, Goal, InInterval, OneOf
from counterset.models.margin import Margin
from counterset.tables.table import Table

__all__ = [
    "VERSION",
    "explanation_from_dict",
    "explanation_to_dict",
    "explanations_from_json",
    "explanations_to_json",
    "parse",
]

#: The version of the form that is written.
VERSION = 3
#: What marks the form, so that another file is noticed.
FORM = "counterset explanation"
#: What the explanations of one call have in common.
SHARED = ("goal", "margin", "costs", "explainer", "settings", "training", "classes", "table")


def _upgrade_1(data: dict[str, Any]) -> dict[str, Any]:
    """Bring version 1 to version 2: options had no texts and no probabilities."""
    options = [{**each, "probability": None} for each in data["counterfactuals"]]
    return {**data, "version": 2, "probability": None, "options": options}


def _upgrade_2(data: dict[str, Any]) -> dict[str, Any]:
    """Bring version 2 to version 3: there were no reasons."""
    return {**data, "version": 3, "reasons": None}


#: From an older version to the function that brings it to the next.
UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: _upgrade_1,
    2: _upgrade_2,
}


def explanation_to_dict(
    explanation: Explanation,
    label_text: Callable[[Any], str],
    wanted_text: str,
    reasons: Sequence[Reason] | None,
) -> dict[str, Any]:
    """Return an explanation as values of JSON.

    Parameters
    ----------
    explanation
        The explanation.
    label_text
        Returns how a label is written.
    wanted_text
        What was asked for, in words.
    reasons
        All reasons, or None if they are not known.
    """
    context, coded = explanation.context, explanation.coded
    return {
        "form": FORM,
        "version": VERSION,
        "index": to_json_value(explanation.index),
        "status": explanation.status,
        "label": to_json_value(explanation.label),
        "label_text": label_text(explanation.label),
        "probability": to_json_number(explanation.probability),
        "goal": _goal_to_json(context.goal, context.probability),
        "margin": None if context.margin is None else asdict(context.margin),
        "wanted_text": wanted_text,
        "input": row_to_json(coded.table, coded.input),
        "options": [
            {**option.to_dict(), "label_text": label_text(option.label)}
            for option in explanation.options
        ],
        "reasons": None if reasons is None else [_reason(coded.table, each) for each in reasons],
        "certificate": _certificate_to_json(explanation.certificate),
        "constraints": to_json_value(context.constraints),
        "costs": {str(name): to_json_number(cost) for name, cost in context.costs.items()},
        "explainer": context.explainer,
        "settings": to_json_value(context.settings.value),
        "training": None if context.training is None else _training(context.training.value),
        "classes": None if context.classes is None else _labels(context.classes.labels),
        "table": table_to_json(coded.table),
        "versions": versions(),
    }


def explanation_from_dict(data: Any) -> Explanation:
    """Return the explanation that ``explanation_to_dict`` wrote, now or in an older version."""
    upgraded = _upgraded(data)
    return _load([upgraded], lambda keys: pd.Index(keys, tupleize_cols=False, dtype=object))[0]


def explanations_to_json(explanations: Explanations, indent: int | None, reasons: bool) -> str:
    """Return explanations as the text of a JSON array, one explanation a line."""
    each = [explanation.to_json(indent=indent, reasons=reasons) for explanation in explanations]
    return "[\n" + ",\n".join(each) + "\n]\n" if each else "[]\n"


def explanations_from_json(text: str | bytes) -> Explanations:
    """Return the explanations that stand in a JSON array, see ``Explanations.from_json``."""
    data = parse(text)
    if not isinstance(data, list) or not data:
        raise InvalidInputError(
            "This is no JSON array of explanations. Load what Explanations.to_json wrote; for one "
            "explanation, use Explanation.from_json."
        )
    upgraded = [_upgraded(each) for each in data]
    for i, each in enumerate(upgraded):
        for name in SHARED:
            if each.get(name) != upgraded[0].get(name):
                raise InvalidInputError(
                    f"The explanations at positions 0 and {i} do not have the same {name!r}: they "
                    f"were not made in one call. Load each with Explanation.from_dict."
                )
    return _load(upgraded, _index)


def _index(keys: list[Any]) -> pd.Index:
    if all(isinstance(key, tuple) for key in keys):
        levels: pd.Index = pd.MultiIndex.from_tuples(keys)
        return levels
    single: pd.Index = pd.Index(keys, tupleize_cols=False)
    return single


def _load(data: list[Mapping[str, Any]], index: Callable[[list[Any]], pd.Index]) -> Explanations:
    """Return the explanations of one call."""
    try:
        return _read(data, index)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise _incomplete(error) from error


def _incomplete(error: Exception) -> InvalidInputError:
    return InvalidInputError(
        f"This is no complete explanation ({type(error).__name__}: {error}). Load what to_dict or "
        f"to_json wrote, unchanged."
    )


def _read(data: list[Mapping[str, Any]], index: Callable[[list[Any]], pd.Index]) -> Explanations:
    context = _context_from_json(data[0])
    table = context.table
    options = [option for each in data for option in each["options"]]
    rows = [row_from_json(table, each["values"]) for each in options]
    far = [each["plausibility"] for each in options]
    unusual = [[table.position(name) for name in each.get("unusual", [])] for each in options]
    probabilities = np.array([from_json_number(each["probability"]) for each in (*data, *options)])
    safe = np.array([each.get("safe", False) for each in options], dtype=bool)
    rates = np.array([from_json_number(each.get("hold_rate")) for each in options])
    return make_explanations(
        table,
        np.array([row_from_json(table, each["input"]) for each in data]),
        _array([each["label"] for each in data]),
        index([from_json_value(each["index"]) for each in data]),
        owners=np.repeat(np.arange(len(data)), [len(each["options"]) for each in data]),
        rows=np.array(rows).reshape(len(rows), len(table.features)),
        row_labels=_array([each["label"] for each in options]),
        distances=np.array([from_json_number(each["distance"]) for each in options]),
        examples=np.array([each["example"] for each in options], dtype=np.intp),
        unusual=_marked(unusual, len(table.features)),
        safe=safe if safe.any() else None,
        hold_rates=None if np.isnan(rates).all() else rates,
        plausibility=None if None in far or not far else np.array(far, dtype=np.float64),
        context=context,
        constraints=[from_json_tree(each["constraints"]) for each in data],
        status=tuple(each["status"] for each in data),
        certificates=[_certificate_from_json(each["certificate"]) for each in data],
        probabilities=None if np.isnan(probabilities).all() else probabilities,
        reasons=[_reasons_from_json(table, each["reasons"]) for each in data],
        spans=_spans_from_json(table, data),
    )


def _spans_from_json(table: Table, data: list[Mapping[str, Any]]) -> list[Spans | None] | None:
    """Return the ranges of all options of each explanation; None if there are none."""
    if not any("ranges" in option for each in data for option in each["options"]):
        return None
    return [
        Spans.of([_span_from_json(table, option) for option in each["options"]])
        if each["options"] and all("ranges" in option for option in each["options"])
        else None
        for each in data
    ]


def _span_from_json(table: Table, option: Mapping[str, Any]) -> Span:
    low = row_from_json(table, option["values"])
    high = low.copy()
    # A row without a changed number has nothing to choose, which is proved.
    proved = all(each["proved"] for each in option["ranges"])
    checked = max((each["checked"] for each in option["ranges"]), default=0)
    for each in option["ranges"]:
        at = table.position(each["name"])
        low[at], high[at] = (
            infinite if each[end] is None else value_from_json(table.features[at], each[end])
            for end, infinite in (("low", -np.inf), ("high", np.inf))
        )
    return Span(low, high, proved, checked)


def _marked(positions: list[list[int]], count: int) -> Mask | None:
    """Return which features are named in each list of positions; None if none is."""
    if not any(positions):
        return None
    return np.array([np.isin(np.arange(count), each) for each in positions])


def _context_from_json(data: Mapping[str, Any]) -> Context:
    training, classes = data["training"], data["classes"]
    return Context(
        model=None,
        table=table_from_json(data["table"]),
        distance=None,
        classes=None if classes is None else Classes(_array(classes)),
        goal=_goal_from_json(data["goal"]),
        probability=data["goal"]["probability"],
        constraints=from_json_tree(data["constraints"]),
        costs={name: from_json_number(cost) for name, cost in data["costs"].items()},
        settings=_ready(data["settings"]),
        training=None if training is None else _ready(_training_from_json(training)),
        background=None,  # a file that is handed out must not hold the rows of other people
        explainer=data["explainer"],
        margin=None if data.get("margin") is None else Margin(**data["margin"]),
    )


def _upgraded(data: Any) -> Mapping[str, Any]:
    """Check what form and version this is, and bring an older version to the newest."""
    if isinstance(data, str | bytes):
        raise InvalidInputError("from_dict takes a dict; use from_json for text.")
    if not isinstance(data, Mapping) or data.get("form") != FORM:
        raise InvalidInputError(
            f"This is no explanation: 'form' must be {FORM!r}. Load what to_dict or to_json wrote."
        )
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InvalidInputError(f"'version' must be a whole number from 1 on, got {version!r}.")
    if version > VERSION:
        raise InvalidInputError(
            f"This explanation has version {version}, and this counterset knows versions up to "
            f"{VERSION}. Load it with a newer counterset."
        )
    upgraded: dict[str, Any] = dict(data)
    while version < VERSION:
        try:
            upgraded, version = UPGRADES[version](upgraded), version + 1
        except (KeyError, TypeError) as error:
            raise _incomplete(error) from error
    return upgraded


def parse(text: str | bytes) -> Any:
    """Return what a JSON text holds."""
    try:
        return json.loads(text)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"This is no JSON: {error}.") from error


def _ready(value: Any) -> Lazy[Any]:
    """Return a value that needs no computing."""
    return Lazy(lambda: value)


def _labels(labels: Labels) -> list[Any]:
    return [to_json_value(label) for label in labels]


def _array(labels: list[Any]) -> Labels:
    """Return labels as an array, of objects where numpy would make texts of numbers."""
    values = [from_json_value(label) for label in labels]
    if len({type(value) for value in values}) == 1 and type(values[0]) in (bool, int, float, str):
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _goal_to_json(goal: Goal, probability: float | None) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": "any_other", "labels": None, "low": None, "high": None}
    if isinstance(goal, OneOf):
        data |= {"kind": "one_of", "labels": _labels(goal.wanted)}
    elif isinstance(goal, InInterval):
        data |= {
            "kind": "interval",
            "low": to_json_number(goal.low),
            "high": to_json_number(goal.high),
        }
    return data | {"probability": None if probability is None else float(probability)}


def _goal_from_json(data: Mapping[str, Any]) -> Goal:
    if data["kind"] == "one_of":
        return OneOf(_array(data["labels"]))
    if data["kind"] == "interval":
        return InInterval(from_json_number(data["low"]), from_json_number(data["high"]))
    return AnyOther()


def _training(summary: TrainingSummary) -> dict[str, Any]:
    labels = summary.labels
    return {
        "rows": summary.rows,
        "labels": None
        if labels is None
        else [{"label": to_json_value(label), "rows": rows} for label, rows in labels.items()],
        "low": to_json_number(summary.low),
        "high": to_json_number(summary.high),
        "hash": summary.hash,
    }


def _training_from_json(data: Mapping[str, Any]) -> TrainingSummary:
    labels = data["labels"]
    counts = None
    if labels is not None:
        counts = {from_json_value(each["label"]): each["rows"] for each in labels}
    return TrainingSummary(data["rows"], counts, data["low"], data["high"], data["hash"])


def _reason(table: Table, reason: Reason) -> dict[str, Any]:
    feature = table.features[table.position(reason.feature)]
    return {
        "feature": reason.feature,
        "label": reason.label,
        "value": value_to_json(feature, reason.code),
        "text": reason.text,
        "contribution": reason.contribution,
        "standard_error": reason.standard_error,
        "typical": value_to_json(feature, reason.typical_code),
        "typical_text": reason.typical_text,
    }


def _reasons_from_json(table: Table, data: Any) -> tuple[Reason, ...] | None:
    if data is None:
        return None
    features = [table.features[table.position(each["feature"])] for each in data]
    return tuple(
        make_reason(
            feature,
            value_from_json(feature, each["value"]),
            each["contribution"],
            each["standard_error"],
            value_from_json(feature, each["typical"]),
        )
        for feature, each in zip(features, data, strict=True)
    )


def _certificate_to_json(certificate: Certificate | None) -> dict[str, Any] | None:
    if certificate is None:
        return None
    bounds = certificate.distance_bounds
    return {
        "epsilon": to_json_number(certificate.epsilon),
        "safety": _numbers(certificate.safety),
        "stable_radius": to_json_number(certificate.stable_radius),
        "list_radius": to_json_number(certificate.list_radius),
        "from_list": None if certificate.from_list is None else certificate.from_list.tolist(),
        "option_radii": _numbers(certificate.option_radii),
        "constrained": certificate.constrained,
        "distance_bounds": None
        if bounds is None
        else {
            "lower": to_json_number(bounds.lower),
            "upper": to_json_number(bounds.upper),
            "exact": bool(bounds.exact),
            "seconds": float(bounds.seconds),
            "method": bounds.method,
            "reason": bounds.reason,
            "tolerance": float(bounds.tolerance),
        },
    }


def _certificate_from_json(data: Mapping[str, Any] | None) -> Certificate | None:
    """Return a certificate; the witness of its bounds is not kept."""
    if data is None:
        return None
    bounds = data["distance_bounds"]
    return Certificate(
        epsilon=data["epsilon"],
        distance_bounds=None
        if bounds is None
        else DistanceBounds(
            from_json_number(bounds["lower"]),
            from_json_number(bounds["upper"]),
            bounds["exact"],
            None,
            bounds["seconds"],
            bounds["method"],
            bounds["reason"],
            bounds["tolerance"],
        ),
        safety=_vector_or_none(data["safety"]),
        stable_radius=_number_or_none(data["stable_radius"]),
        list_radius=_number_or_none(data.get("list_radius")),
        from_list=None if data.get("from_list") is None else np.array(data["from_list"], bool),
        option_radii=_vector_or_none(data.get("option_radii")),
        constrained=data.get("constrained", False),
    )


def _numbers(vector: Vector | None) -> list[Any] | None:
    return None if vector is None else [to_json_number(each) for each in vector]


def _vector_or_none(values: Any) -> Vector | None:
    return None if values is None else np.array([from_json_number(each) for each in values])


def _number_or_none(value: Any) -> float | None:
    return None if value is None else from_json_number(value)
