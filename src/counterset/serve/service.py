"""The service: what other programs ask. It speaks KServe's V1 protocol, and plain HTTP."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

import pandas as pd
from fastapi import APIRouter, HTTPException, Request, Response

from counterset.constraints.constraints import Constraints
from counterset.explanations.context import as_written
from counterset.explanations.explanation import Explanation
from counterset.explanations.json_values import from_json_value, to_json_value
from counterset.models.adapter import ModelAdapter
from counterset.serve.errors import Json, StrictRoute, field_error, shortened
from counterset.serve.limits import Limits
from counterset.serve.messages import (
    ExplainRequest,
    ExplainResponse,
    Health,
    ModelList,
    ModelReady,
    PredictRequest,
    PredictResponse,
    SchemaResponse,
)
from counterset.serve.observer import Measures
from counterset.serve.refusals import RefusedError
from counterset.serve.rows import InstanceReader, instance_schema
from counterset.serve.served import Served
from counterset.serve.workers import Workers

__all__ = ["HEALTH_PATHS", "REFUSALS", "service_router"]

#: What tells that the server runs needs no secret.
HEALTH_PATHS = ("/health", "/health/live", "/health/ready")

#: What can become of a request beside an answer, for the description.
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": told,
        # As JSON, also where the answer itself would be another kind of text.
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, told in {
        400: "The request has two lengths.",
        401: "The token is missing or wrong.",
        408: "The body did not arrive in time.",
        413: "The body is too large.",
        415: "The body is not declared to be JSON.",
        421: "The request is for another host.",
        422: "The request cannot be used; the details tell which field.",
        503: "Too many requests are waiting, the model hangs, or the server is stopping.",
        504: "The request took too long.",
    }.items()
}
#: A request of up to 4 rows gains from being worked on together with others.
FEW_ROWS = 4

#: A request, and its rows unless they are still to be read; the answer, and the number of rows of
#: each status.
_Asked: TypeAlias = tuple[ExplainRequest, pd.DataFrame | None]
_Answered: TypeAlias = tuple[bytes, Counter[str]]
_REFUSALS_OF_READING: dict[int | str, dict[str, Any]] = {
    status: REFUSALS[status] for status in (400, 401, 408, 413, 421)
}


def service_router(
    served: Served, workers: Workers, limits: Limits, measures: Measures
) -> APIRouter:
    """Return the routes that other programs ask.

    Parameters
    ----------
    served
        What is served.
    workers
        The threads that explain.
    limits
        How much a request may take.
    measures
        What ``/metrics`` tells.
    """
    router = APIRouter(route_class=StrictRoute, responses=_REFUSALS_OF_READING)
    _add_health(router, workers, measures)
    _add_descriptions(router, served, workers, limits)
    _add_explain(router, served, workers, limits, measures)
    return router


def _add_health(router: APIRouter, workers: Workers, measures: Measures) -> None:
    busy: dict[int | str, dict[str, Any]] = {
        503: {"model": Health, "description": "As many requests wait as may, or the model hangs."}
    }
    hung: dict[int | str, dict[str, Any]] = {
        503: {"model": Health, "description": "The model hangs in all threads."}
    }

    @router.get("/health", response_model=Health, responses=busy)
    @router.get("/health/ready", response_model=Health, responses=busy)
    async def ready() -> Response:
        """Tell whether the server takes requests."""
        is_ready = workers.is_ready
        return Json({"live": workers.is_able, "ready": is_ready}, 200 if is_ready else 503)

    @router.get("/health/live", response_model=Health, responses=hung)
    async def live() -> Response:
        """Tell whether the server can work; if not, only a restart helps."""
        is_able = workers.is_able
        return Json({"live": is_able, "ready": workers.is_ready}, 200 if is_able else 503)

    @router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {measures.media_type: {"schema": {"type": "string"}}}}},
    )
    async def metrics() -> Response:
        """Return what the server counts, for Prometheus."""
        return Response(measures.text(), headers={"Content-Type": measures.media_type})


def _add_descriptions(router: APIRouter, served: Served, workers: Workers, limits: Limits) -> None:
    described = _described(served, limits)

    @router.get("/schema", response_model=SchemaResponse)
    async def schema() -> Response:
        """Return the features, the classes, and what a request may hold."""
        return Json(described)

    @router.get("/v1/models")
    async def models() -> ModelList:
        """Return the names of the models, as KServe's V1 protocol has it."""
        return ModelList(models=[served.name])

    @router.get(f"/v1/models/{served.name}")
    async def model() -> ModelReady:
        """Tell whether the model can be asked, as KServe's V1 protocol has it."""
        return ModelReady(name=served.name, ready=workers.is_able)


def _add_explain(
    router: APIRouter, served: Served, workers: Workers, limits: Limits, measures: Measures
) -> None:
    reader = InstanceReader(served.table)

    def work(asked: Sequence[_Asked]) -> list[_Answered]:
        return _explain(served, reader, asked)

    @router.post("/explain", response_model=ExplainResponse, responses=REFUSALS)
    @router.post(
        f"/v1/models/{served.name}:explain", response_model=ExplainResponse, responses=REFUSALS
    )
    async def explain(asked: ExplainRequest, request: Request) -> Response:
        """Explain the model's decisions on some rows."""
        _check_counts(limits, instances=len(asked.instances), ways=asked.ways or 1)
        request.state.counts = {"instances": len(asked.instances)}
        # A fault in a few rows is found before others wait for them in a batch. Many rows take
        # long to read, and are a batch by themselves.
        rows = reader.read(asked.instances) if len(asked.instances) <= FEW_ROWS else None
        text, statuses = await workers.run_together(_key(asked), work, (asked, rows))
        measures.count_instances(statuses)
        return Response(text, media_type="application/json")

    @router.post(
        f"/v1/models/{served.name}:predict", response_model=PredictResponse, responses=REFUSALS
    )
    async def predict(asked: PredictRequest, request: Request) -> Response:
        """Classify some rows."""
        _check_counts(limits, instances=len(asked.instances))
        request.state.counts = {"instances": len(asked.instances)}
        return Json({"predictions": await workers.run(_predict, served, reader, asked)})

    @router.post("/v1/models/{name}:predict", include_in_schema=False)
    @router.post("/v1/models/{name}:explain", include_in_schema=False)
    async def unknown(name: str) -> None:
        """Tell that there is no such model."""
        raise HTTPException(404, f"There is no model {name!r}. This server has {served.name!r}.")


def _check_counts(limits: Limits, **counts: int) -> None:
    """Check how many rows and ways are asked for."""
    for field, count in counts.items():
        most = getattr(limits, field)
        if count > most:
            raise RefusedError(
                f"A request may ask for at most {most} {field}, got {shortened(count)}.",
                [field_error(f"must be at most {most}", None, field, count)],
            )


def _predict(served: Served, reader: InstanceReader, asked: PredictRequest) -> list[Any]:
    """Classify the rows of a request."""
    matrix, _ = served.table.encode(reader.read(asked.instances))
    labels = ModelAdapter(served.model, served.table).labels(matrix)
    return [to_json_value(label) for label in labels]


def _key(asked: ExplainRequest) -> Hashable:
    """Return what is equal for requests that can be worked on together.

    They want the same for their rows, and have few of them: many are a batch by themselves.
    """
    wanted = asked.model_dump_json(exclude={"instances", "describe"}, exclude_unset=True)
    return wanted, None if len(asked.instances) <= FEW_ROWS else object()


def _explain(served: Served, reader: InstanceReader, asked: Sequence[_Asked]) -> list[_Answered]:
    """Explain the rows of requests that want the same; return the answer to each.

    Beside each answer stands the number of rows of each status. Each row gets the explanation
    that it would get alone. Nothing that is made here outlives the requests.
    """
    first, _ = asked[0]
    tables = [reader.read(each.instances) if rows is None else rows for each, rows in asked]
    ways = first.ways or served.explainer.max_counterfactuals
    goal = _goal(served, first)
    served.explainer.check_goal(goal.get("target"), goal.get("interval"))
    found = served.with_ways(ways, anchored=first.anchored).explain_many(
        # Each row keeps the number that it has in its own request.
        pd.concat(tables) if len(tables) > 1 else tables[0],
        **goal,
        constraints=None if first.constraints is None else first.constraints.constraints(),
        if_none="warn",
        skip=True,
    )
    answers: list[_Answered] = []
    start = 0
    for (each, _), rows in zip(asked, tables, strict=True):
        own = list(found[start : start + len(rows)])
        answers.append((_answer(served, own, each), Counter(one.status for one in own)))
        start += len(rows)
    return answers


def _answer(served: Served, found: Sequence[Explanation], asked: ExplainRequest) -> bytes:
    """Return the answer to one request, as JSON."""
    answer = {
        "predictions": [to_json_value(each.label) for each in found],
        "explanations": [each.to_dict() for each in found],
        "descriptions": [each.describe(outcomes=served.outcomes or None) for each in found]
        if asked.describe
        else None,
    }
    return json.dumps(answer, allow_nan=False, separators=(",", ":")).encode("ascii")


def _goal(served: Served, asked: ExplainRequest) -> dict[str, Any]:
    """Return what is wanted: as the request says, and else as the server has it."""
    given = asked.model_fields_set
    goal = dict(served.goal)
    if given & {"target", "interval"}:  # one replaces the other
        goal |= {"target": None, "interval": None}
    if "target" in given:
        goal["target"] = from_json_value(asked.target)
    if "target_probability" in given:
        goal["target_probability"] = asked.target_probability
    if asked.interval is not None:
        low, high = asked.interval
        goal["interval"] = (
            float("-inf") if low is None else low,
            float("inf") if high is None else high,
        )
    return goal


def _described(served: Served, limits: Limits) -> dict[str, Any]:
    """Return what is served, and what it takes."""
    table, explainer = served.table, served.explainer
    features = [
        {
            "name": each.name,
            "label": each.label,
            "unit": each.unit,
            "kind": each.kind,
            "columns": [str(table.columns[at]) for at in each.columns],
            "low": to_json_value(each.describe(each.low)),
            "high": to_json_value(each.describe(each.high)),
            "values": None if each.values is None else [to_json_value(v) for v in each.values],
            "texts": None
            if each.values is None
            else [each.text_of(float(code)) for code in range(len(each.values))],
            "nullable": each.can_be_missing,
        }
        for each in table.features
    ]
    return {
        "name": served.name,
        "title": served.title or served.name,
        "features": features,
        "classes": [to_json_value(each) for each in explainer.classes_],
        "goal": to_json_value(as_written(dict(served.goal))),
        "constraints": to_json_value(as_written(explainer.constraints or Constraints())),
        "ways": explainer.max_counterfactuals,
        "limits": asdict(limits),
        "instance": instance_schema(table),
    }
