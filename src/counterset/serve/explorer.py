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
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import make_explanations
from counterset.explanations.json_values import (
    from_json_value,
    row_to_json,
    to_json_value,
    value_to_json,
)
from counterset.models.adapter import ModelAdapter
from counterset.plots.map import ask_background, map_of, sides_of
from counterset.serve.cases import (
    MOST_NOISE,
    MOST_OPTIONS,
    MOST_REJECTED,
    CaseRequest,
    Cases,
    DecisionRequest,
    Explained,
    FeatureConstraint,
    NearbyRequest,
    ReportRequest,
)
from counterset.serve.chances import chances_of, probabilities_of
from counterset.serve.compare import CompareRequest, compare_cases
from counterset.serve.errors import RefusedError, StrictRoute
from counterset.serve.group import add_group
from counterset.serve.people import ask_nearby
from counterset.serve.readable import ReadableRows
from counterset.serve.served import MOST_LISTED, Served
from counterset.serve.workers import Workers
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number
from counterset.words.changes import capitalised
from counterset.words.description import DISTANCES, SCALES, Description, room_sentences
from counterset.words.outcomes import Outcomes
from counterset.words.reasons import ReasonWriter
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = [
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
        options in the form that options have there, with ``reaches_goal``; ``chances``: how
        probable what is wanted is, see :func:`~counterset.serve.chances.chances_of`; ``rooms``: of
        each option, how far its values may differ, where the explainer has a margin; ``notes``:
        what is checked and proved, and what stays as it is, a sentence each.
    """
    served, explanation = cases.served, cases.explained(request).explanation
    described = Description.of(explanation, outcomes=served.outcomes)
    return {
        "explanation": explanation.to_dict(outcomes=served.outcomes, reasons=False),
        "kept": _Sheet.of(request.kept, explanation, cases).to_json(served),
        "chances": chances_of(explanation, served),
        "rooms": room_sentences(explanation, served.outcomes),
        "notes": [*described.sure, *described.far, *described.kept],
    }


@dataclass(frozen=True, eq=False)
class _Sheet:
    """What a person keeps of a case.

    Attributes
    ----------
    explanation
        That of the case, and behind its options those that are kept and lead to the goal, but are
        not on its list any more: each has a number of its own.
    kept
        An explanation whose options are those that are kept, in their order.
    ranks
        The number of each in ``explanation``; None for what does not lead to the goal.
    """

    explanation: Explanation
    kept: Explanation
    ranks: list[int | None]

    @classmethod
    def of(cls, kept: list[dict[str, Any]], explanation: Explanation, cases: Cases) -> _Sheet:
        """Ask the model where kept changes lead from a case."""
        if not kept:
            return cls(explanation, explanation.nearest(0), [])
        served = cases.served
        values = row_to_json(served.table, explanation.coded.input)
        rows = np.array([cases.codes({**values, **changes}) for changes in kept])
        found = _as_options(rows, explanation, served)
        of_list = [row.tobytes() for row in explanation.coded.matrix]
        ranks: list[int | None] = []
        extra: list[Vector] = []
        for row, works in zip(rows, _reach_goal(found), strict=True):
            if row.tobytes() in of_list:
                ranks.append(of_list.index(row.tobytes()) + 1)
            elif works:
                of_list.append(row.tobytes())
                extra.append(row)
                ranks.append(len(of_list))
            else:
                ranks.append(None)
        if extra:
            explanation = _as_options(
                np.vstack([explanation.coded.matrix, *extra]), explanation, served
            )
        return cls(explanation, found, ranks)

    def to_json(self, served: Served) -> list[dict[str, Any]]:
        """Return the kept options in the form of options, with where they lead."""
        if not self.ranks:
            return []
        chances = chances_of(self.kept, served)
        options = self.kept.to_dict(outcomes=served.outcomes, reasons=False)["options"]
        works = _reach_goal(self.kept)
        return [
            option
            | {
                "rank": rank,
                "reaches_goal": reaches,
                "chance": None if chances is None else chances["then"][i],
            }
            for i, (option, rank, reaches) in enumerate(
                zip(options, self.ranks, works, strict=True)
            )
        ]


def _reach_goal(explanation: Explanation) -> list[bool]:
    """Return which options lead to the goal of an explanation."""
    goal, least = explanation.context.goal, explanation.context.probability
    own = np.repeat(np.array([explanation.label]), len(explanation))
    wanted = goal.accepts(explanation.labels, own)
    return [
        bool(each) and (least is None or (option.probability or 0.0) >= least)
        for each, option in zip(wanted, explanation.options, strict=True)
    ]


def _as_options(matrix: Matrix, explanation: Explanation, served: Served) -> Explanation:
    """Return an explanation of the same case whose options are some rows, in their order."""
    inputs, labels = explanation.coded.input[None, :], np.array([explanation.label])
    (found,) = make_explanations(
        served.table,
        inputs,
        labels,
        pd.Index([explanation.index], tupleize_cols=False),
        owners=np.zeros(len(matrix), dtype=np.intp),
        rows=matrix,
        row_labels=ModelAdapter(served.model, served.table).labels(matrix),
        distances=served.explainer.distance_.pairwise(inputs, matrix)[0],
        context=explanation.context,
    )
    return found


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
#: The letter of the boundary, and how deep in cells the last letter is: all letters are ASCII.
ZERO, MOST_DEPTH = ord("V"), 1.8
#: Positions have 4 digits that count, a tenth of a pixel on any screen.
DIGITS = 4

ASKED = "The model is asked about 72 x 72 points, and where the decision changes, about more."
NOTES = {
    True: f"A plane through the case and its options. {ASKED}",
    False: f"The case is in the middle, each option at its true distance. {ASKED}",
}
#: What else is said where there are two lines that are no axes of a plane.
BETWEEN = "Between two lines, the changes of both options are added up."


def draw_map(found: Explained, served: Served) -> dict[str, Any]:
    """Return the positions of options and training rows, and a grid of the model's decisions.

    Returns
    -------
    dict
        ``depth``: rows of the grid from below, a letter for the middle of each cell: how far it is
        from the boundary, in twentieths of a cell, counted from ``V``, above it where the goal is
        reached; ``bounds``: how far the grid reaches; ``options``: those of the case; ``places``:
        their positions; ``dots``: those of training rows; ``sides``: what 0 and 1 mean; ``note``:
        how exact it is;
        ``axes``: what stands to the right and upwards, None where no features do.
    """
    explanation, explainer = found.explanation, found.explainer
    layout = map_of(explanation, explainer)
    background = ask_background(layout, explanation, explainer, POINTS)
    dots = layout.place(explainer.training_.pool.matrix)
    dots = dots[background.holds(dots)]
    has_between = not layout.is_exact and len(explanation) > 1
    return {
        "depth": ["".join(map(chr, row)) for row in _written(background.depth)],
        "bounds": [_rounded(np.array(ends)) for ends in background.limits],
        "options": [option.to_dict() for option in explanation.options],
        "places": [_rounded(at) for at in layout.options],
        "dots": [_rounded(at) for at in dots[:: max(1, -(-len(dots) // MOST_DOTS))]],
        "sides": list(sides_of(explanation, background, served.label_text)),
        "note": " ".join([NOTES[layout.is_exact], *([BETWEEN] if has_between else [])]),
        "axes": [capitalised(served.table.features[at].label) for at in layout.features] or None,
    }


def _written(depth: Matrix) -> Any:
    """Return depths as the numbers of letters; which side of the boundary one is on stays."""
    twentieths = np.rint(np.clip(np.abs(depth), 0.05, MOST_DEPTH) / 0.05)
    return (ZERO + np.where(depth > 0, twentieths, -twentieths)).astype(int)


def _rounded(position: Matrix) -> list[float]:
    return [float(f"{each:.{DIGITS}g}") for each in position]


#: A histogram below a slider has 24 bars, which are some 5 pixels wide each.
BARS = 24
#: A slider spans the training range, unless outliers stretch that to over 4 times the usual one.
MOST_STRETCHED = 4.0
#: Of the cases that cannot be read, the first 8 are named.
MOST_FAULTS = 8
#: Without a step, a slider has 200 places.
PLACES = 200


def describe_start(served: Served) -> dict[str, Any]:
    """Return what the page needs before its first question."""
    listed = served.listed
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
        "probability": goal.get("target_probability"),
        "has_probabilities": served.has_probabilities,
        "scale": _scale_text(served),
        "most_options": MOST_OPTIONS,
        "most_asked": MOST_OPTIONS + MOST_REJECTED,
        "options": min(served.explainer.max_counterfactuals, MOST_OPTIONS),
        "most_noise": MOST_NOISE,
        "cases": {
            "count": len(served.cases),
            "numbers": [str(to_python(each)) for each in served.cases.index[:MOST_LISTED]],
            "decisions": _decisions(served),
            "faults": listed.sentences(MOST_FAULTS),
            "unreadable": len(listed.faults),
        },
    }


def _scale_text(served: Served) -> str:
    """Return what a distance of 1 is, in words; empty if there are none for it."""
    explainer = served.explainer
    is_usual = DISTANCES.fullmatch(str(explainer.distance)) and explainer.scale in SCALES
    if not is_usual or explainer.costs:
        return ""
    return "A distance of 1 is as far as moving one feature across its usual range."


def _decisions(served: Served) -> list[int | float | None]:
    """Return the position of each case's label among the classes, or the number that it is.

    None for a case that cannot be read.
    """
    listed = served.listed
    decisions: list[int | float | None] = [None] * min(len(served.cases), MOST_LISTED)
    known = {to_python(each): i for i, each in enumerate(served.explainer.classes_)}
    for at, label in zip(listed.positions, listed.labels, strict=True):
        if served.predicts_numbers:
            decisions[at] = float(f"{float(label):.4g}")
        else:
            decisions[at] = known.get(to_python(label), -1)
    return decisions


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
        "typical": value_to_json(feature, _typical(feature, codes)),
        "choices": None,
    }
    choices = _choices(feature)
    if choices is None:
        return described | _scale(feature, codes)
    described["choices"] = [
        {"value": value_to_json(feature, code), "text": capitalised(writer.value(feature, code))}
        for code in choices
    ]
    seen = set(feature.seen if feature.seen is not None else choices)
    described["unseen"] = [at for at, code in enumerate(choices) if code not in seen]
    return described


def _typical(feature: Feature, codes: Vector) -> float:
    """Return the value in the middle of the training data, or the most frequent one."""
    known = codes[feature.is_known(codes)]
    if not len(known):
        return np.nan
    if feature.is_category or feature.kind in ("binary", "ordinal"):
        values, counts = np.unique(known, return_counts=True)
        return float(values[counts.argmax()])
    # A value that somebody has: the mean of two may be none that the column can hold.
    return float(np.quantile(known, 0.5, method="lower"))


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
        "least": _number(feature, feature.low),
        "most": _number(feature, feature.high),
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
        return await workers.run(describe_start, served, urgency="now")

    @router.get("/cases/{position}")
    async def case(position: int = Path(ge=0)) -> dict[str, Any]:
        """Return the values of a case; the first is at position 0."""
        return await workers.run(_case, position, served, urgency="now")

    @router.post("/explain")
    async def explain(request: CaseRequest) -> dict[str, Any]:
        """Return the model's decision on a case, and options that lead to its goal."""
        return await workers.run(describe_case, request, cases, urgency="now")

    @router.post("/predict")
    async def predict(request: DecisionRequest) -> dict[str, Any]:
        """Return the model's decision on other values."""
        return await workers.run(_predict, request, cases, urgency="now")

    @router.post("/reasons")
    async def reasons(request: CaseRequest) -> dict[str, Any]:
        """Return what counted against a case."""
        return await workers.run(_reasons, request, cases, urgency="later")

    @router.post("/lift")
    async def lift(request: CaseRequest) -> dict[str, Any]:
        """Find the constraint that prevents more options."""
        return await workers.run(find_obstacle, request, cases, urgency="later")

    @router.post("/map")
    async def map_(request: CaseRequest) -> dict[str, Any]:
        """Return a map of the options, and the model's decisions between them."""
        return await workers.run(_map, request, cases, urgency="later")

    @router.post("/nearby")
    async def nearby(request: NearbyRequest) -> dict[str, Any]:
        """Return which of the options people almost like this one are offered too."""
        return await workers.run(ask_nearby, request, cases, urgency="later")

    @router.post("/compare")
    async def compare(request: CompareRequest) -> dict[str, Any]:
        """Return how two cases differ, and what each is offered."""
        return await workers.run(compare_cases, request, cases, urgency="now")

    add_group(router, cases, workers)

    @router.post("/report", response_class=HTMLResponse)
    async def report(request: ReportRequest) -> HTMLResponse:
        """Return the sheet to take home of a case, to be saved."""
        page = await workers.run(_report, request, cases, urgency="later")
        headers = {"Content-Disposition": 'attachment; filename="explanation.html"'}
        return HTMLResponse(page, headers=headers)

    return router


def _case(position: int, served: Served) -> dict[str, Any]:
    if position >= len(served.cases):
        raise RefusedError(
            f"There is no case at position {position}: there are {len(served.cases)}, and the "
            f"first is at position 0."
        )
    found = ReadableRows.of(served.cases.iloc[[position]], served.table, served.model)
    if found.faults:
        raise RefusedError(
            f"Case {found.faults[0].number} cannot be read: {found.faults[0].problem}."
        )
    number = str(to_python(served.cases.index[position]))
    return {"number": number, "values": row_to_json(served.table, found.matrix[0])}


def _predict(request: DecisionRequest, cases: Cases) -> dict[str, Any]:
    served, codes = cases.served, cases.codes(request.values)[None, :]
    (label,) = ModelAdapter(served.model, served.table).labels(codes)
    asked = probabilities_of(served, codes)
    classes = [to_python(each) for each in np.ravel(getattr(served.model, "classes_", ()))]
    known = {} if asked is None else dict(zip(classes, asked[0].tolist(), strict=True))
    return {
        "label": to_json_value(label),
        "label_text": served.label_text(label),
        "probability": known.get(to_python(label)),
        "chance": known.get(from_json_value(request.target)),
    }


def _reasons(request: CaseRequest, cases: Cases) -> dict[str, Any]:
    """Return the main reasons for the decision, in the words of letters and reports."""
    explanation = cases.explained(request).explanation
    templates = Templates.read()
    outcomes = Outcomes(explanation, templates, cases.served.outcomes or {})
    writer = ReasonWriter(templates, outcomes)
    return {"heading": writer.heading(), "lines": list(writer.short())}


def _map(request: CaseRequest, cases: Cases) -> dict[str, Any]:
    found = cases.explained(request)
    if not len(found.explanation):
        raise RefusedError("There is no option to draw a map of.")
    return draw_map(found, cases.served)


def _report(request: ReportRequest, cases: Cases) -> str:
    """Return the sheet to take home: with the kept options, or with those that are shown."""
    served, explanation = cases.served, cases.named(request)
    sheet = _Sheet.of(request.kept, explanation, cases)
    ranks = [rank for rank in sheet.ranks if rank is not None]
    shown = [rank for rank in request.shown or () if rank <= len(explanation)]
    case = request.name or explanation.index
    own = {"case": to_python(case), "date": request.date}
    details = dict(served.details) | {name: each for name, each in own.items() if each is not None}
    if not ranks and not shown:
        return explanation.to_html(outcomes=served.outcomes, details=details)
    found = sheet.explanation if ranks else explanation
    return found.to_html(options=ranks or shown, outcomes=served.outcomes, details=details)
