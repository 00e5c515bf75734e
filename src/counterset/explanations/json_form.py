"""The columns of a table as JSON has them, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Labels, Vector
from counterset._base.lazy import Lazy
from counterset.exceptions import InvalidInputError
from counterset.explanations.certificate import Certificate, DistanceBounds
from counterset.explanations.context import Context, TrainingSummary, versions
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations, make_explanations
from counterset.explanations.json_values import (
    comes_back,
    from_json_number,
    from_json_tree,
    from_json_value,
    to_json_number,
    to_json_value,
)
from counterset.models.goals import AnyOther, Classes, Goal, InInterval, OneOf
from counterset.tables.features.category import Category, OneHotGroup, Ordinal
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number
from counterset.tables.features.time import Time
from counterset.tables.features.written import WrittenNumber
from counterset.tables.table import Table
from counterset.tables.wording import Wording, readable

__all__ = [
    "VERSION",
    "explanation_from_dict",
    "explanation_to_dict",
    "explanations_from_json",
    "explanations_to_json",
    "parse",
    "row_from_json",
    "row_to_json",
    "table_from_json",
    "table_to_json",
]

#: The name of each class of features in JSON.
CLASSES: Mapping[str, type[Feature]] = {
    "number": Number,
    "written_number": WrittenNumber,
    "time": Time,
    "category": Category,
    "ordinal": Ordinal,
    "one_hot": OneHotGroup,
}
#: What stands for a missing value in a column of objects.
BLANKS: Mapping[str, Any] = {"None": None, "nan": float("nan"), "NA": pd.NA}


def table_to_json(table: Table) -> dict[str, Any]:
    """Return the columns and features of a table."""
    return {
        "columns": [to_json_value(column) for column in table.columns],
        "array_dtype": None if table.array_dtype is None else str(table.array_dtype),
        "features": [_feature_to_json(feature) for feature in table.features],
    }


def table_from_json(data: Mapping[str, Any]) -> Table:
    """Return the table that stands in JSON; tables of polars and pyarrow come back as pandas."""
    columns = [from_json_value(column) for column in data["columns"]]
    several = bool(columns) and all(isinstance(column, tuple) for column in columns)
    index = pd.MultiIndex.from_tuples(columns) if several else pd.Index(columns)
    dtype = data["array_dtype"]
    return Table(
        tuple(_feature_from_json(feature) for feature in data["features"]),
        index,
        None if dtype is None else np.dtype(dtype),
    )


def row_to_json(table: Table, codes: Vector) -> dict[str, Any]:
    """Return one row: from the names of features to values, null for what is missing."""
    return {
        feature.name: _cell(feature, float(code))
        for feature, code in zip(table.features, codes, strict=True)
    }


def row_from_json(table: Table, row: Mapping[str, Any]) -> Vector:
    """Return the codes of a row that stands in JSON."""
    codes = [_code(feature, row[feature.name]) for feature in table.features]
    return np.array(codes, dtype=np.float64)


def _cell(feature: Feature, code: float) -> Any:
    if np.isnan(code):
        return None
    value = feature.describe(code)
    if isinstance(feature, WrittenNumber | Number):
        return int(value) if float(value).is_integer() and feature.kind != "continuous" else value
    return to_json_value(value)


def _code(feature: Feature, cell: Any) -> float:
    if cell is None:
        return float("nan")
    if feature.values is not None:
        known = [to_json_value(value) for value in feature.values]
        found = [i for i, each in enumerate(known) if each == cell and type(each) is type(cell)]
        if not found:
            raise InvalidInputError(f"Feature {feature.name!r} has no value {cell!r}.")
        return float(found[0])
    return feature.code_of(from_json_value(cell))


def _feature_to_json(feature: Feature) -> dict[str, Any]:
    wording = feature.wording or Wording(readable(feature.name))
    dtype = feature.dtype
    is_category = isinstance(dtype, pd.CategoricalDtype)
    return {
        "name": feature.name,
        "label": wording.label,
        "unit": wording.unit,
        "unit_of_one": wording.unit_of_one,
        "texts": [[to_json_number(code), text] for code, text in wording.texts],
        "text_of_missing": wording.of_missing,
        "has_wording": feature.wording is not None,
        "kind": feature.kind,
        "class": next(name for name, each in CLASSES.items() if type(feature) is each),
        "columns": list(feature.columns),
        "dtype": "category" if is_category else str(dtype),
        "categories": _values_to_json(feature.name, dtype.categories) if is_category else None,
        "categories_dtype": str(dtype.categories.dtype) if is_category else None,
        "ordered": bool(dtype.ordered) if is_category else None,
        "low": to_json_number(feature.low),
        "high": to_json_number(feature.high),
        "step": feature.step,
        "finest_step": feature.finest_step,
        "can_be_missing": feature.can_be_missing,
        "values": None if feature.values is None else _values_to_json(feature.name, feature.values),
        "seen": None if feature.seen is None else list(feature.seen),
        "special": list(feature.special),
        "usual_range": list(feature.usual_range) if isinstance(feature, Number) else None,
        "form": getattr(feature, "form", None),
        "decimals": getattr(feature, "decimals", None),
        "blank": _blank_to_json(getattr(feature, "blank", None)),
    }


def _values_to_json(name: str, values: Iterable[Any]) -> list[Any]:
    """Return the values of a category; it is an error if one would not come back."""
    for value in values:
        if not comes_back(value):
            raise InvalidInputError(
                f"Feature {name!r} has the value {value!r} of type {type(value).__name__}, which "
                f"cannot be written as JSON and read again. Turn its values into text."
            )
    return [to_json_value(value) for value in values]


def _feature_from_json(data: Mapping[str, Any]) -> Feature:
    kind = CLASSES.get(data["class"])
    if kind is None:
        raise InvalidInputError(f"A feature has the unknown class {data['class']!r}.")
    more: dict[str, Any] = {}
    if issubclass(kind, Number):
        more["usual_range"] = tuple(map(float, data["usual_range"]))
    if issubclass(kind, WrittenNumber):
        more |= {"form": data["form"], "decimals": data["decimals"]}
    if issubclass(kind, WrittenNumber | Category):
        more["blank"] = BLANKS[data["blank"]]
    texts = tuple((from_json_number(code), text) for code, text in data["texts"])
    wording = Wording(
        data["label"], data["unit"], data["unit_of_one"], texts, data["text_of_missing"]
    )
    return kind(
        name=data["name"],
        kind=data["kind"],
        columns=tuple(data["columns"]),
        dtype=_dtype(data),
        low=from_json_number(data["low"]),
        high=from_json_number(data["high"]),
        step=float(data["step"]),
        finest_step=float(data.get("finest_step", 0.0)),  # older files have one step only
        can_be_missing=data["can_be_missing"],
        values=None if data["values"] is None else tuple(map(from_json_value, data["values"])),
        seen=None if data["seen"] is None else tuple(map(float, data["seen"])),
        special=tuple(map(float, data["special"])),
        wording=wording if data["has_wording"] else None,
        **more,
    )


def _dtype(data: Mapping[str, Any]) -> Any:
    """Return the dtype of a feature's columns."""
    if data["dtype"] == "category":
        # A tuple would be taken for a level of several.
        categories = pd.Index(
            [from_json_value(each) for each in data["categories"]], tupleize_cols=False
        )
        if data.get("categories_dtype") is not None:  # files of older releases do not have it
            categories = categories.astype(_read_dtype(data["name"], data["categories_dtype"]))
        return pd.CategoricalDtype(categories, ordered=data["ordered"])
    return _read_dtype(data["name"], data["dtype"])


def _read_dtype(name: str, text: str) -> Any:
    try:
        dtype = pd.api.types.pandas_dtype(text)
    except TypeError as error:
        raise InvalidInputError(
            f"The dtype {text!r} of feature {name!r} is not known here."
        ) from error
    # Releases of pandas before 3 read "str" as numpy's fixed-length text, and hold text as objects.
    return np.dtype(object) if getattr(dtype, "kind", "") == "U" else dtype


def _blank_to_json(blank: Any) -> str:
    if blank is None:
        return "None"
    return "NA" if blank is pd.NA else "nan"


#: The version of the form that is written.
VERSION = 1
#: What marks the form, so that another file is noticed.
FORM = "counterset explanation"
#: What the explanations of one call have in common.
SHARED = ("goal", "costs", "explainer", "settings", "training", "classes", "table")
#: From an older version to the function that brings it to the next.
UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def explanation_to_dict(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as values of JSON."""
    context, table = explanation.context, explanation._table
    plausibility = explanation.plausibility
    counterfactuals = [
        {
            "rank": i + 1,
            "label": to_json_value(explanation.labels[i]),
            "distance": to_json_number(explanation.distances[i]),
            "example": int(explanation.examples[i]),
            "plausibility": None if plausibility is None else to_json_number(plausibility[i]),
            "changed": [table.names[at] for at in np.flatnonzero(explanation.changed[i])],
            "values": row_to_json(table, explanation._matrix[i]),
        }
        for i in range(len(explanation))
    ]
    return {
        "form": FORM,
        "version": VERSION,
        "index": to_json_value(explanation.index),
        "status": explanation.status,
        "label": to_json_value(explanation.label),
        "goal": _goal_to_json(context.goal, context.probability),
        "input": row_to_json(table, explanation._input),
        "counterfactuals": counterfactuals,
        "certificate": _certificate_to_json(explanation.certificate),
        "constraints": to_json_value(context.constraints),
        "costs": {str(name): to_json_number(cost) for name, cost in context.costs.items()},
        "explainer": context.explainer,
        "settings": to_json_value(context.settings.value),
        "training": None if context.training is None else _training(context.training.value),
        "classes": None if context.classes is None else _labels(context.classes.labels),
        "table": table_to_json(table),
        "versions": versions(),
    }


def explanation_from_dict(data: Any) -> Explanation:
    """Return the explanation that ``explanation_to_dict`` wrote, now or in an older version."""
    data = _upgraded(data)
    try:
        return _read(data)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InvalidInputError(
            f"This is no complete explanation ({type(error).__name__}: {error}). Load what to_dict "
            f"or to_json wrote, unchanged."
        ) from error


def explanations_to_json(explanations: Explanations, indent: int | None = None) -> str:
    """Return explanations as the text of a JSON array, one explanation a line."""
    each = [explanation.to_json(indent=indent) for explanation in explanations]
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
    found = [explanation_from_dict(each) for each in upgraded]
    counts = np.array([len(each) for each in found])
    # None where it is not looked at, and where there is no counterfactual.
    far = [each.plausibility for each in found if each.plausibility is not None]
    keys = [each.index for each in found]
    several = all(isinstance(key, tuple) for key in keys)
    made = make_explanations(
        found[0]._table,
        np.array([each._input for each in found]),
        _array([each["label"] for each in upgraded]),
        pd.MultiIndex.from_tuples(keys) if several else pd.Index(keys, tupleize_cols=False),
        owners=np.repeat(np.arange(len(found)), counts),
        rows=np.vstack([each._matrix for each in found]),
        row_labels=_array([way["label"] for each in upgraded for way in each["counterfactuals"]]),
        distances=np.concatenate([each.distances for each in found]),
        examples=np.concatenate([each.examples for each in found]),
        plausibility=np.concatenate(far) if far else None,
        context=found[0].context,
    )
    return replace(
        made,
        status=tuple(each.status for each in found),
        _constraints=tuple(each.context.constraints for each in found),
        _certificates=tuple(each.certificate for each in found),
    )


def _read(data: Mapping[str, Any]) -> Explanation:
    table, found = table_from_json(data["table"]), data["counterfactuals"]
    training, classes = data["training"], data["classes"]
    rows = [row_from_json(table, each["values"]) for each in found]
    certificate = _certificate_from_json(data["certificate"])
    far = [each["plausibility"] for each in found]
    context = Context(
        model=None,
        table=table,
        distance=None,
        classes=None if classes is None else Classes(_array(classes)),
        goal=_goal_from_json(data["goal"]),
        probability=data["goal"]["probability"],
        constraints=from_json_tree(data["constraints"]),
        costs={name: from_json_number(cost) for name, cost in data["costs"].items()},
        settings=_ready(data["settings"]),
        training=None if training is None else _ready(_training_from_json(training)),
        explainer=data["explainer"],
    )
    return Explanation(
        label=from_json_value(data["label"]),
        labels=_array([each["label"] for each in found]),
        distances=np.array([from_json_number(each["distance"]) for each in found]),
        examples=np.array([each["example"] for each in found], dtype=np.intp),
        plausibility=None if None in far or not far else np.array(far, dtype=np.float64),
        index=from_json_value(data["index"]),
        status=data["status"],
        _certificate=_ready(certificate),
        _table=table,
        _input=row_from_json(table, data["input"]),
        _matrix=np.array(rows).reshape(len(rows), len(table.features)),
        _context=context,
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
        upgraded, version = UPGRADES[version](upgraded), version + 1
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
    told: dict[str, Any] = {"kind": "any_other", "labels": None, "low": None, "high": None}
    if isinstance(goal, OneOf):
        told |= {"kind": "one_of", "labels": _labels(goal.wanted)}
    elif isinstance(goal, InInterval):
        told |= {
            "kind": "interval",
            "low": to_json_number(goal.low),
            "high": to_json_number(goal.high),
        }
    return told | {"probability": None if probability is None else float(probability)}


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
