"""Nearby: what people almost like this one are offered."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from fastapi import APIRouter, Path
from starlette.responses import HTMLResponse

from counterset._base.arrays import Matrix, Vector, to_python
from counterset.evaluation.noise import GaussianNoise
from counterset.evaluation.stability import compare_with_copies
from counterset.explainer import DiverseExplainer
from counterset.explanations.explanation import Explanation
from counterset.models.adapter import ModelAdapter
from counterset.plots.map import Layout, ask_background, map_of, sides_of
from counterset.serve.cards import Cards, are_numbers, decision_on, describe_explanation, label_text
from counterset.serve.case_requests import (
    MOST_NOISE,
    MOST_WAYS,
    CaseRequest,
    Limit,
    NearbyRequest,
    RowRequest,
    changed_codes,
    codes_of,
    constraints_of,
    explainer_of,
    goal_of,
    row_of,
    to_wire,
)
from counterset.serve.errors import StrictRoute
from counterset.serve.limits import Limits
from counterset.serve.refusals import RefusedError
from counterset.serve.served import Served
from counterset.serve.workers import Workers
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number
from counterset.words.changes import capitalised
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = [
    "ask_nearby",
    "class_texts",
    "describe_features",
    "describe_start",
    "draw_map",
    "explorer_router",
    "find_in_the_way",
]

#: 20 people almost like this one: enough to see what is rare, and few enough to be drawn.
PEOPLE = 20


def ask_nearby(request: NearbyRequest, served: Served) -> dict[str, Any]:
    """Return which of the ways people almost like this one are offered too.

    Returns
    -------
    dict
        ``people``: how many copies of the same class were found; ``kept``: for each way, by which
        of them it is kept; ``differ``: the mean distance between their sets and this one, None if
        there is none; ``differences``: by how much these people differ from this one, in words.
    """
    explainer = explainer_of(request, served, anchored=request.anchored)
    row = row_of(codes_of(request.values, served.table), served)
    (explanation,) = explainer.explain_many(
        row,
        constraints=constraints_of(request.limits, served),
        if_none="ignore",
        **goal_of(request, served),
    )
    if not len(explanation):
        nothing = {"people": 0, "kept": [], "ways": [], "differ": None, "moved": None}
        return nothing | {"differences": ""}
    compared = compare_with_copies(
        explainer,
        explanation,
        repeats=PEOPLE,
        random_state=request.seed,
        noise=GaussianNoise(variance=request.noise**2),
    )
    return {
        "people": len(compared),
        "kept": compared.kept_by.astype(int).tolist(),
        "ways": Cards(explanation, served).ways(),
        "differ": _mean(compared.set_distances),
        "moved": _mean(compared.distances),
        "differences": Writer(Templates.read(None)).differences(compared.differences, served.table),
    }


def _mean(numbers: Any) -> float | None:
    known = np.asarray(numbers)[~np.isnan(numbers)]
    return float(known.mean()) if len(known) else None


#: The first 30 limits are lifted one at a time: each takes as long as an explanation.
MOST_LIFTED = 30


@dataclass(frozen=True)
class _Lifted:
    """The limits of a request without one of them.

    Attributes
    ----------
    name
        The feature.
    part
        What is lifted: ``"locked"``, ``"way"`` or ``"range"``.
    limits
        All limits that are left.
    """

    name: str
    part: str
    limits: dict[str, Limit]


def find_in_the_way(request: CaseRequest, served: Served) -> dict[str, Any]:
    """Find the limit whose lifting leads to most ways, the first of equals.

    Limits are lifted one at a time, until one leads to as many ways as were asked for.

    Returns
    -------
    dict
        ``name`` and ``part``: the feature and the part of its limit, None if no single limit
        stands in the way; ``ways``: how many there would be; ``sentence``; ``button``.
    """
    search = _Search(request, served)
    before, best, most = search.count(request.limits), None, 0
    for each in islice(_each_lifted(request), MOST_LIFTED):
        found = search.count(each.limits)
        if found > max(most, before):
            best, most = each, found
        if most == request.ways:
            break
    if best is not None:
        return _one(best, most, served)
    everything = search.count(_without_limits(request)) if request.limits else 0
    if everything > before:
        sentence = (
            f"No single limit stands in the way; without all of them there {_ways(everything)}."
        )
        return _answer(None, everything, sentence, "Lift all limits")
    return _answer(None, before, "No limit stands in the way: lifting them finds no more ways.", "")


@dataclass(frozen=True)
class _Search:
    """Look for the ways of one case within different limits."""

    request: CaseRequest
    served: Served

    def count(self, limits: Mapping[str, Limit]) -> int:
        """Return how many ways there are."""
        row = row_of(codes_of(self.request.values, self.served.table), self.served)
        (found,) = explainer_of(self.request, self.served).explain_many(
            row,
            constraints=constraints_of(limits, self.served),
            if_none="ignore",
            skip=True,
            **goal_of(self.request, self.served),
        )
        return len(found)


def _one(lifted: _Lifted, ways: int, served: Served) -> dict[str, Any]:
    feature = served.table.features[served.table.position(lifted.name)]
    named = Writer(Templates.read()).feature(feature)
    what, button = {
        "locked": (f"That {named} is locked", f"Unlock {named}"),
        "way": (f"That {named} may only go one way", f"Let {named} go any way"),
        "range": (f"The range of {named}", f"Lift the range of {named}"),
    }[lifted.part]
    sentence = f"{what} stands in the way: without it there {_ways(ways)}."
    return _answer(lifted, ways, sentence, button)


def _ways(count: int) -> str:
    return "is 1 way" if count == 1 else f"are {count} ways"


def _answer(lifted: _Lifted | None, ways: int, sentence: str, button: str) -> dict[str, Any]:
    return {
        "name": None if lifted is None else lifted.name,
        "part": None if lifted is None else lifted.part,
        "ways": ways,
        "sentence": sentence,
        "button": button,
    }


def _each_lifted(request: CaseRequest) -> Iterator[_Lifted]:
    """Yield the limits without one of them, each in turn: locks first, as they take most away."""
    free: dict[str, dict[str, Any]] = {
        "locked": {"locked": False},
        "way": {"way": "any"},
        "range": {"low": None, "high": None},
    }
    for part, change in free.items():
        for name, limit in request.limits.items():
            loose = limit.model_copy(update=change)
            if loose != limit:
                yield _Lifted(name, part, {**request.limits, name: loose})


def _without_limits(request: CaseRequest) -> dict[str, Limit]:
    return {name: Limit(difficulty=each.difficulty) for name, each in request.limits.items()}


#: The model is asked about 72 x 72 points: more are not seen on a page, and cost time.
POINTS = 72
#: At most 300 training rows are drawn: more hide the boundary.
MOST_DOTS = 300
#: Positions have 4 digits that count, a tenth of a pixel on any screen.
DIGITS = 4

ASKED = "Each cell shows what the model says about its middle, or about the case or the way in it."
NOTES = {
    True: f"A plane through the case and its ways. {ASKED}",
    False: (
        f"The case is in the middle, each way at its true distance. {ASKED} Between the lines, "
        "cases are mixtures of the two ways beside them."
    ),
}


def draw_map(
    explanation: Explanation, explainer: DiverseExplainer, served: Served
) -> dict[str, Any]:
    """Return the positions of ways and training rows, and a grid of the model's answers.

    Returns
    -------
    dict
        ``cells``: rows of the grid from below, a text of 0 and 1 each, 1 where the goal is
        reached; ``limits``: how far the grid reaches; ``options``, ``dots``: positions; ``ways``:
        the cards of the options; ``sides``: what 0 and 1 mean; ``note``: how exact it is.
    """
    layout = map_of(explanation, explainer)
    background = ask_background(layout, explanation, explainer, _grid(layout))
    dots = layout.place(explainer.training_.pool.matrix)
    dots = dots[background.holds(dots)]
    sides = sides_of(explanation, background, lambda label: label_text(label, served))
    return {
        "cells": ["".join("1" if each else "0" for each in row) for row in background.reached],
        "limits": [_rounded(np.array(ends)) for ends in background.limits],
        "options": [_rounded(at) for at in layout.options],
        "dots": [_rounded(at) for at in dots[:: max(1, -(-len(dots) // MOST_DOTS))]],
        "ways": Cards(explanation, served).ways(),
        "sides": list(sides),
        "note": NOTES[layout.is_exact],
    }


def _grid(layout: Layout) -> tuple[Matrix, Matrix]:
    """Return the middles of the cells of a square grid."""
    middles = [
        low + (high - low) * (np.arange(POINTS) + 0.5) / POINTS for low, high in layout.limits()
    ]
    right, up = np.meshgrid(*middles)
    return right, up


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
    matrix = served.explainer.training_.pool.matrix
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


def explorer_router(served: Served, workers: Workers, limits: Limits) -> APIRouter:
    """Return the routes that the page asks, all below ``/explorer``.

    Parameters
    ----------
    served
        What is served.
    workers
        The threads that explain: ``await workers.run(function, ...)``.
    limits
        How much a request may take.
    """
    router = APIRouter(prefix="/explorer", tags=["explorer"], route_class=StrictRoute)

    @router.get("/start")
    async def start() -> dict[str, Any]:
        """Tell what the page needs before its first question: features, classes, cases."""
        return await workers.run(describe_start, served)

    @router.get("/cases/{position}")
    async def case(position: int = Path(ge=0)) -> dict[str, Any]:
        """Return the values of a case; the first is at position 0."""
        return await workers.run(_case, position, served)

    @router.post("/explain")
    async def explain(request: CaseRequest) -> dict[str, Any]:
        """Say what the model decides, and which ways lead to what is wanted."""
        return await workers.run(_explain, request, served)

    @router.post("/predict")
    async def predict(request: RowRequest) -> dict[str, Any]:
        """Say what the model decides on other values."""
        return await workers.run(_predict, request, served)

    @router.post("/lift")
    async def lift(request: CaseRequest) -> dict[str, Any]:
        """Find the limit that stands in the way of more ways."""
        return await workers.run(find_in_the_way, request, served)

    @router.post("/map")
    async def map_(request: CaseRequest) -> dict[str, Any]:
        """Return a map of the ways, and what the model says between them."""
        return await workers.run(_map, request, served)

    @router.post("/nearby")
    async def nearby(request: NearbyRequest) -> dict[str, Any]:
        """Say which of the ways people almost like this one are offered too."""
        return await workers.run(ask_nearby, request, served)

    @router.post("/report", response_class=HTMLResponse)
    async def report(request: CaseRequest) -> HTMLResponse:
        """Return the report of a case, to be saved."""
        page = await workers.run(_report, request, served)
        headers = {"Content-Disposition": 'attachment; filename="explanation.html"'}
        return HTMLResponse(page, headers=headers)

    return router


def _case(position: int, served: Served) -> dict[str, Any]:
    if position >= len(served.cases):
        raise RefusedError(
            f"There is no case at position {position}: there are {len(served.cases)}, and the "
            f"first is at position 0."
        )
    table = served.table
    (codes,), index = table.encode(served.cases.iloc[[position]])
    pairs = zip(table.features, codes, strict=True)
    return {
        "number": str(index[0]),
        "values": {feature.name: to_wire(feature, code) for feature, code in pairs},
    }


def _predict(request: RowRequest, served: Served) -> dict[str, Any]:
    return decision_on(codes_of(request.values, served.table), served)


def _explain(request: CaseRequest, served: Served) -> dict[str, Any]:
    codes = codes_of(request.values, served.table)
    _, explanation = _found(request, served)
    kept = [changed_codes(codes, changes, served.table) for changes in request.kept]
    decision = decision_on(codes, served, explanation.label)
    return decision | describe_explanation(explanation, served, kept)


def _map(request: CaseRequest, served: Served) -> dict[str, Any]:
    explainer, explanation = _found(request, served)
    if not len(explanation):
        raise RefusedError("There is no way to draw a map of.")
    return draw_map(explanation, explainer, served)


def _report(request: CaseRequest, served: Served) -> str:
    # Only a report says which case it is about: to find out costs as much as asking the model.
    _, explanation = _found(request, served, request.case)
    return explanation.to_html(outcomes=served.outcomes)


def _found(
    request: CaseRequest, served: Served, case: int | None = None
) -> tuple[DiverseExplainer, Explanation]:
    """Explain a case; there may be no way, and that is an answer too."""
    explainer = explainer_of(request, served)
    (explanation,) = explainer.explain_many(
        row_of(codes_of(request.values, served.table), served, case),
        constraints=constraints_of(request.limits, served),
        if_none="ignore",
        skip=True,
        **goal_of(request, served),
    )
    return explainer, explanation
