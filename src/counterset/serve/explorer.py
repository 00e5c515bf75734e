"""The explorer: what the page shows, and the routes that it asks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from fastapi import APIRouter, Path
from starlette.responses import HTMLResponse

from counterset._base.arrays import Matrix, Vector, to_python
from counterset.evaluation.noise import GaussianNoise
from counterset.evaluation.stability import compare_with_copies
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import make_explanations
from counterset.explanations.json_values import row_to_json, to_json_value, value_to_json
from counterset.explanations.option import Probabilities
from counterset.explanations.stability import least_shares
from counterset.models.adapter import ModelAdapter
from counterset.plots.map import ask_background, map_of, sides_of
from counterset.serve.cases import (
    MOST_NOISE,
    MOST_OPTIONS,
    CaseRequest,
    Cases,
    Explained,
    FeatureConstraint,
    NearbyRequest,
    RowRequest,
)
from counterset.serve.errors import RefusedError, StrictRoute
from counterset.serve.served import Served
from counterset.serve.workers import Workers
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number
from counterset.words.changes import capitalised
from counterset.words.description import Description
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = [
    "ask_nearby",
    "describe_case",
    "describe_features",
    "describe_start",
    "draw_map",
    "explorer_router",
    "find_obstacle",
]


def describe_case(request: CaseRequest, cases: Cases) -> dict[str, Any]:
    """Return the options of a case, and where the options lead that a person keeps.

    Returns
    -------
    dict
        ``explanation``: what ``Explanation.to_dict`` returns, without reasons; ``kept``: the kept
        options in the form that options have there, with ``reaches_goal``; ``notes``: what is
        checked and proved, and what stays as it is, a sentence each.
    """
    served, explanation = cases.served, cases.explained(request).explanation
    described = Description.of(explanation, outcomes=served.outcomes)
    kept = [cases.codes({**request.values, **changes}) for changes in request.kept]
    return {
        "explanation": explanation.to_dict(outcomes=served.outcomes, reasons=False),
        "kept": _kept(kept, explanation, served),
        "notes": [*described.sure, *described.far, *described.kept],
    }


def _kept(rows: list[Vector], explanation: Explanation, served: Served) -> list[dict[str, Any]]:
    """Return rows that a person keeps, as options of a case; the model is asked about them."""
    if not rows:
        return []
    matrix: Matrix = np.array(rows)
    labels = ModelAdapter(served.model, served.table).labels(matrix)
    own = np.repeat(np.array([explanation.label]), len(labels))
    reaches_goal = explanation.context.goal.accepts(labels, own)
    inputs = explanation.coded.input[None, :]
    (found,) = make_explanations(
        served.table,
        inputs,
        own[:1],
        pd.Index([explanation.index], tupleize_cols=False),
        owners=np.zeros(len(rows), dtype=np.intp),
        rows=matrix,
        row_labels=labels,
        distances=served.explainer.distance_.pairwise(inputs, matrix)[0],
        context=explanation.context,
    )
    options = found.to_dict(outcomes=served.outcomes, reasons=False)["options"]
    return [
        option | {"reaches_goal": bool(each)}
        for option, each in zip(options, reaches_goal, strict=True)
    ]


#: 20 people almost like this one: enough to see what is rare, and few enough to be drawn.
PEOPLE = 20


def ask_nearby(request: NearbyRequest, cases: Cases) -> dict[str, Any]:
    """Return which of the options people almost like this one are offered too.

    Returns
    -------
    dict
        ``people``: how many copies of the same class were found; ``covered``: how many of them find
        their nearest option among those of the case; ``options``: those of the case; ``kept``: for
        each of them, which of the people are offered it, as 0 and 1; ``least``: for each of them,
        the share of all such people that are offered it at least, 95 % sure; ``differences``: by
        how much these people differ from this one, in words.
    """
    found = cases.explained(request, request.strategy)
    if not len(found.explanation):
        nobody: dict[str, Any] = {"people": 0, "covered": 0, "kept": [], "least": []}
        return nobody | {"options": [], "differences": ""}
    compared = compare_with_copies(
        found.explainer,
        found.explanation,
        repeats=PEOPLE,
        random_state=request.seed,
        noise=GaussianNoise(variance=request.noise**2),
    )
    writer = Writer(Templates.read())
    count = len(compared)
    return {
        "people": count,
        "covered": int(compared.covered.sum()),
        "kept": compared.kept_by.astype(int).tolist(),
        "least": least_shares(compared.kept_by.sum(axis=1), count).tolist() if count else [],
        "options": [option.to_dict() for option in found.explanation.options],
        "differences": writer.differences(compared.differences, cases.served.table),
    }


#: The first 30 constraints are lifted one at a time: each takes as long as an explanation.
MOST_LIFTED = 30


@dataclass(frozen=True)
class _Lifted:
    """The constraints of a request without one of them.

    Attributes
    ----------
    name
        The feature.
    part
        What is lifted: ``"lock"``, ``"direction"`` or ``"range"``.
    constraints
        All constraints that are left.
    """

    name: str
    part: str
    constraints: dict[str, FeatureConstraint]


def find_obstacle(request: CaseRequest, cases: Cases) -> dict[str, Any]:
    """Find the constraint without which there are most options, the first of equals.

    Constraints are lifted one at a time, until there are as many options as were asked for.

    Returns
    -------
    dict
        ``name`` and ``part``: the feature and the part of its constraint, None if no single one
        prevents options; ``options``: how many there would be; ``sentence``; ``button``.
    """
    before, best, most = len(cases.explained(request).explanation), None, 0
    for each in islice(_each_lifted(request), MOST_LIFTED):
        found = cases.count(request, each.constraints)
        if found > max(most, before):
            best, most = each, found
        if most == request.options:
            break
    if best is not None:
        return _one(best, most, cases.served)
    free = {
        name: FeatureConstraint(difficulty=each.difficulty)
        for name, each in request.constraints.items()
    }
    everything = cases.count(request, free) if free else 0
    if everything > before:
        sentence = (
            f"No single constraint prevents more options; without all of them there "
            f"{_are(everything)}."
        )
        return _answer(None, everything, sentence, "Lift all constraints")
    sentence = "Constraints are not the reason: without them there are no more options."
    return _answer(None, before, sentence, "")


def _one(lifted: _Lifted, options: int, served: Served) -> dict[str, Any]:
    feature = served.table.features[served.table.position(lifted.name)]
    named = Writer(Templates.read()).feature(feature)
    what, button = {
        "lock": (f"The lock on {named} prevents more options", f"Unlock {named}"),
        "direction": (
            f"That {named} may only change in one direction prevents more options",
            f"Let {named} change in any direction",
        ),
        "range": (f"The range of {named} prevents more options", f"Lift the range of {named}"),
    }[lifted.part]
    return _answer(lifted, options, f"{what}: without it there {_are(options)}.", button)


def _are(count: int) -> str:
    return "is 1 option" if count == 1 else f"are {count} options"


def _answer(lifted: _Lifted | None, options: int, sentence: str, button: str) -> dict[str, Any]:
    return {
        "name": None if lifted is None else lifted.name,
        "part": None if lifted is None else lifted.part,
        "options": options,
        "sentence": sentence,
        "button": button,
    }


def _each_lifted(request: CaseRequest) -> Iterator[_Lifted]:
    """Yield the constraints without one of them, each in turn; locks first, the strictest."""
    free: dict[str, dict[str, Any]] = {
        "lock": {"locked": False},
        "direction": {"direction": "any"},
        "range": {"low": None, "high": None},
    }
    for part, change in free.items():
        for name, constraint in request.constraints.items():
            loose = constraint.model_copy(update=change)
            if loose != constraint:
                yield _Lifted(name, part, {**request.constraints, name: loose})


#: The model is asked about 72 x 72 points: more are not seen on a page, and cost time.
POINTS = 72
#: At most 300 training rows are drawn: more hide the boundary.
MOST_DOTS = 300
#: Positions have 4 digits that count, a tenth of a pixel on any screen.
DIGITS = 4

ASKED = (
    "Each cell shows the model's decision on its middle, or on the case or the option inside it."
)
NOTES = {
    True: f"A plane through the case and its options. {ASKED}",
    False: (
        f"The case is in the middle, each option at its true distance. {ASKED} Between two lines, "
        "the changes of both options are added up."
    ),
}


def draw_map(found: Explained, served: Served) -> dict[str, Any]:
    """Return the positions of options and training rows, and a grid of the model's decisions.

    Returns
    -------
    dict
        ``cells``: rows of the grid from below, a text of 0 and 1 each, 1 where the goal is
        reached; ``bounds``: how far the grid reaches; ``options``: those of the case; ``places``:
        their positions; ``dots``: those of training rows; ``sides``: what 0 and 1 mean; ``note``:
        how exact it is.
    """
    explanation, explainer = found.explanation, found.explainer
    layout = map_of(explanation, explainer)
    background = ask_background(layout, explanation, explainer, POINTS)
    dots = layout.place(explainer.training_.pool.matrix)
    dots = dots[background.holds(dots)]
    return {
        "cells": ["".join("1" if each else "0" for each in row) for row in background.reached],
        "bounds": [_rounded(np.array(ends)) for ends in background.limits],
        "options": [option.to_dict() for option in explanation.options],
        "places": [_rounded(at) for at in layout.options],
        "dots": [_rounded(at) for at in dots[:: max(1, -(-len(dots) // MOST_DOTS))]],
        "sides": list(sides_of(explanation, background, served.label_text)),
        "note": NOTES[layout.is_exact],
    }


def _rounded(position: Matrix) -> list[float]:
    return [float(f"{each:.{DIGITS}g}") for each in position]


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
    table, listed = served.table, served.cases.iloc[:MOST_LISTED]
    labels = ModelAdapter(served.model, table).labels(table.encode(listed)[0])
    wanted, goal = [to_python(each) for each in served.explainer.classes_], served.first_goal
    target = to_python(goal.get("target"))
    return {
        "title": served.title or served.name,
        "name": served.name,
        "features": describe_features(served),
        "classes": None
        if served.predicts_numbers
        else [{"value": to_json_value(each), "text": served.texts[each]} for each in wanted],
        "target": wanted.index(target) if target in wanted else None,
        "interval": list(goal["interval"]) if served.predicts_numbers else None,
        "most_options": MOST_OPTIONS,
        "options": min(served.explainer.max_counterfactuals, MOST_OPTIONS),
        "most_noise": MOST_NOISE,
        "cases": {
            "count": len(served.cases),
            "numbers": [str(to_python(each)) for each in listed.index],
            "decisions": _decisions(labels, served),
        },
    }


def _decisions(labels: Any, served: Served) -> list[int] | list[float]:
    """Return the position of each label among the classes, or the number that it is."""
    if served.predicts_numbers:
        return [float(f"{float(each):.4g}") for each in labels]
    known = {to_python(each): i for i, each in enumerate(served.explainer.classes_)}
    return [known.get(to_python(each), -1) for each in labels]


def describe_features(served: Served) -> list[dict[str, Any]]:
    """Return each feature: its name, the values that it can have, and its first constraint."""
    constraints = _first_constraints(served)
    matrix = served.explainer.training_.pool.matrix
    return [
        _describe(feature, matrix[:, at]) | constraints[feature.name]
        for at, feature in enumerate(served.table.features)
    ]


def _describe(feature: Feature, codes: Vector) -> dict[str, Any]:
    writer, wording = Writer(Templates.read()), feature.wording
    described: dict[str, Any] = {
        "name": feature.name,
        "label": capitalised(feature.label),
        "kind": feature.kind,
        "unit": "" if wording is None else wording.unit,
        "unit_of_one": "" if wording is None else wording.unit_of_one,
        "is_time": feature.is_time and feature.values is None,
        "has_order": not feature.is_category and feature.kind != "binary",
        "can_be_missing": feature.can_be_missing,
        "missing": writer.value(feature, np.nan),
        "choices": None,
    }
    choices = _choices(feature)
    if choices is None:
        return described | _scale(feature, codes)
    described["choices"] = [
        {"value": value_to_json(feature, code), "text": capitalised(writer.value(feature, code))}
        for code in choices
    ]
    return described


def _choices(feature: Feature) -> list[float] | None:
    """Return the codes that a person chooses from; None for a number or a time."""
    if feature.values is not None:
        return [float(code) for code in range(len(feature.values))]
    return [feature.low, feature.high] if feature.kind == "binary" else None


def _scale(feature: Feature, codes: Vector) -> dict[str, Any]:
    """Return the ends and the step of a slider, and the histogram below it.

    Times are in microseconds since 1970; ``example`` is a value of the feature in JSON.
    """
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
        "low": _number(feature, low),
        "high": _number(feature, high),
        "slider_low": float(f"{on_step:.12g}"),
        "step": step,
        "any_number": not feature.step,
        "is_whole": isinstance(feature, Number) and feature.is_whole,
        "bars": (counts / max(int(counts.max()), 1)).round(3).tolist(),
        "example": value_to_json(feature, feature.low),
    }


def _number(feature: Feature, code: float) -> float | int:
    """Return a code as the number that a slider stands at."""
    number = float(to_python(feature.describe(code))) if isinstance(feature, Number) else code
    return int(number) if float(number).is_integer() else float(number)


def _round_step(width: float) -> float:
    """Return a step of 1, 2 or 5 times a power of ten, no wider than a width."""
    if not width > 0:
        return 1.0
    power = math.floor(math.log10(width))
    first = next(each for each in (5, 2, 1) if each * 10.0**power <= width * (1 + 1e-9))
    return float(f"{first}e{power}")


def _first_constraints(served: Served) -> dict[str, dict[str, Any]]:
    """Return what each feature may do by the explainer's own constraints."""
    table, constraints = served.table, served.explainer.constraints
    first: dict[str, dict[str, Any]] = {name: {"constraint": {}} for name in table.names}

    def of(name: Any) -> dict[str, Any]:
        return first[table.features[table.position(name)].name]

    if constraints is None:
        return first
    for name in constraints.immutable:
        of(name)["constraint"]["locked"] = True
    directions = (("up", constraints.increase_only), ("down", constraints.decrease_only))
    for direction, names in directions:
        for name in names:
            of(name)["constraint"]["direction"] = direction
    for name, ends in constraints.ranges.items():
        feature = table.features[table.position(name)]
        for end, value in zip(("low", "high"), ends, strict=True):
            if value is not None:
                of(name)["constraint"][end] = value_to_json(feature, feature.code_of(value))
    return first


def explorer_router(served: Served, workers: Workers) -> APIRouter:
    """Return the routes that the page asks, all below ``/explorer``.

    Parameters
    ----------
    served
        What is served.
    workers
        The threads that explain: ``await workers.run(function, ...)``.
    """
    router = APIRouter(prefix="/explorer", tags=["explorer"], route_class=StrictRoute)
    cases = Cases(served)

    @router.get("/start")
    async def start() -> dict[str, Any]:
        """Return what the page needs before its first question: features, classes, cases."""
        return await workers.run(describe_start, served)

    @router.get("/cases/{position}")
    async def case(position: int = Path(ge=0)) -> dict[str, Any]:
        """Return the values of a case; the first is at position 0."""
        return await workers.run(_case, position, served)

    @router.post("/explain")
    async def explain(request: CaseRequest) -> dict[str, Any]:
        """Return the model's decision on a case, and options that lead to its goal."""
        return await workers.run(describe_case, request, cases)

    @router.post("/predict")
    async def predict(request: RowRequest) -> dict[str, Any]:
        """Return the model's decision on other values."""
        return await workers.run(_predict, request, cases)

    @router.post("/lift")
    async def lift(request: CaseRequest) -> dict[str, Any]:
        """Find the constraint that prevents more options."""
        return await workers.run(find_obstacle, request, cases)

    @router.post("/map")
    async def map_(request: CaseRequest) -> dict[str, Any]:
        """Return a map of the options, and the model's decisions between them."""
        return await workers.run(_map, request, cases)

    @router.post("/nearby")
    async def nearby(request: NearbyRequest) -> dict[str, Any]:
        """Return which of the options people almost like this one are offered too."""
        return await workers.run(ask_nearby, request, cases)

    @router.post("/report", response_class=HTMLResponse)
    async def report(request: CaseRequest) -> HTMLResponse:
        """Return the report of a case, to be saved."""
        page = await workers.run(_report, request, cases)
        headers = {"Content-Disposition": 'attachment; filename="explanation.html"'}
        return HTMLResponse(page, headers=headers)

    return router


def _case(position: int, served: Served) -> dict[str, Any]:
    if position >= len(served.cases):
        raise RefusedError(
            f"There is no case at position {position}: there are {len(served.cases)}, and the "
            f"first is at position 0."
        )
    (codes,), index = served.table.encode(served.cases.iloc[[position]])
    return {"number": str(index[0]), "values": row_to_json(served.table, codes)}


def _predict(request: RowRequest, cases: Cases) -> dict[str, Any]:
    served, codes = cases.served, cases.codes(request.values)[None, :]
    labels = ModelAdapter(served.model, served.table).labels(codes)
    known = Probabilities.of(served.model, served.table, [codes], [labels])
    return {
        "label": to_json_value(labels[0]),
        "label_text": served.label_text(labels[0]),
        "probability": known.at(0),
    }


def _map(request: CaseRequest, cases: Cases) -> dict[str, Any]:
    found = cases.explained(request)
    if not len(found.explanation):
        raise RefusedError("There is no option to draw a map of.")
    return draw_map(found, cases.served)


def _report(request: CaseRequest, cases: Cases) -> str:
    """Return the report of a case with the options that a person keeps; all if they keep none."""
    explanation = cases.named(request)
    kept = [cases.codes({**request.values, **changes}) for changes in request.kept]
    ranks = [
        option.rank
        for option in explanation.options
        if any(np.array_equal(option.codes, row, equal_nan=True) for row in kept)
    ]
    return explanation.to_html(options=ranks or None, outcomes=cases.served.outcomes)
