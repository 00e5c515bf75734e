"""The service for other programs: KServe's V1 protocol, and plain HTTP.

First the requests and answers, which the description of the service shows; then the routes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import asdict
from typing import Annotated, Any, TypeAlias

import pandas as pd
from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, WithJsonSchema

from counterset.constraints.constraints import Constraints
from counterset.explanations.context import as_written
from counterset.explanations.explanation import Explanation
from counterset.explanations.json_values import from_json_value, to_json_value
from counterset.models.adapter import ModelAdapter
from counterset.serve.errors import Json, RefusedError, StrictRoute, field_error, shortened
from counterset.serve.middleware import Measures
from counterset.serve.quotas import Quotas
from counterset.serve.rows import InstanceReader, instance_schema
from counterset.serve.served import Served, Strategy
from counterset.serve.workers import Workers

__all__ = [
    "HEALTH_PATHS",
    "REFUSALS",
    "ConstraintsMessage",
    "ExplainRequest",
    "PredictRequest",
    "service_router",
]

#: A relation or a condition of 500 letters has some twenty terms; a longer one costs more to read
#: than it says.
LONGEST_RELATION = 500
#: There may be 100 relations, 100 conditions and 100 groups in one request, each checked for every
#: candidate.
MOST_RELATIONS = 100
#: A list may have 1000 values: every explanation of the answer repeats the constraints.
MOST_VALUES = 1000

#: A text, a number, true or false; times are objects, as in answers. Each type stands by itself:
#: the oldest FastAPI that is allowed knows no lists of types.
_VALUES: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "object", "additionalProperties": {"type": "string"}},
]
Value = Annotated[Any, WithJsonSchema({"anyOf": _VALUES})]
Values = Annotated[list[Value], Field(max_length=MOST_VALUES)]
ValueOrNull = Annotated[Any, WithJsonSchema({"anyOf": [*_VALUES, {"type": "null"}]})]
#: Only the first fault of a list is reported: a list can have a fault for each two bytes of a body.
Names = Annotated[list[str], Field(max_length=MOST_VALUES), FailFast()]
Ends = Annotated[list[ValueOrNull], Field(min_length=2, max_length=2)]
Changes = Annotated[list[Ends], Field(max_length=MOST_VALUES)]
ExplanationForm = Annotated[
    dict[str, Any], WithJsonSchema({"$ref": "#/components/schemas/Explanation"})
]
InstanceForm = Annotated[Any, WithJsonSchema({"$ref": "#/components/schemas/Instance"})]


def _check_length(value: Any) -> Any:
    """Refuse a list that is too long; what may be any value as well has no length to declare."""
    if isinstance(value, list) and len(value) > MOST_VALUES:
        raise ValueError(f"a list may have at most {MOST_VALUES} values, got {len(value)}")
    return value


def _check_distinct(names: list[str]) -> list[str]:
    """Refuse a group that names a feature twice: each of its names is checked at each step."""
    if len(set(names)) < len(names):
        raise ValueError("a group names each feature once")
    return names


class Strict(BaseModel):
    """A part of a request: unknown keys are rejected, and so are numeric strings."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ConstraintsMessage(Strict):
    """What may change, as the parameters of ``Constraints``."""

    immutable: Names = Field([], description="Features that stay as they are.")
    increase_only: Names = Field([], description="Features that may only rise.")
    decrease_only: Names = Field([], description="Features that may only fall.")
    ranges: dict[str, Ends] = Field(
        {}, description="From features to the least and the most; null: an open end."
    )
    max_increase: dict[str, Value] = Field({}, description="How much more is possible.")
    max_decrease: dict[str, Value] = Field({}, description="How much less is possible.")
    allowed: dict[str, Values] = Field({}, description="The only values to take.")
    relations: list[Annotated[str, Field(max_length=LONGEST_RELATION)]] = Field(
        [], max_length=MOST_RELATIONS, description='Such as "years_employed <= age - 16".'
    )
    together: list[Annotated[Names, Field(min_length=1), AfterValidator(_check_distinct)]] = Field(
        [], max_length=MOST_RELATIONS, description="Features whose values must occur together."
    )
    forbidden_changes: dict[str, Changes] = Field(
        {}, description="From features to pairs of values, from and to; null: any other value."
    )
    conditions: list[Annotated[str, Field(max_length=LONGEST_RELATION)]] = Field(
        [], max_length=MOST_RELATIONS, description='Such as "if age < 18 then income == 0".'
    )

    def constraints(self) -> Constraints:
        """Return the constraints that are meant."""
        return Constraints(
            immutable=self.immutable,
            increase_only=self.increase_only,
            decrease_only=self.decrease_only,
            ranges={name: _values(ends) for name, ends in self.ranges.items()},
            max_increase={name: from_json_value(each) for name, each in self.max_increase.items()},
            max_decrease={name: from_json_value(each) for name, each in self.max_decrease.items()},
            allowed={name: _values(each) for name, each in self.allowed.items()},
            relations=self.relations,
            together=self.together,
            forbidden_changes={
                name: list(map(_values, pairs)) for name, pairs in self.forbidden_changes.items()
            },
            conditions=self.conditions,
        )


class PredictRequest(Strict):
    """Rows to classify."""

    instances: list[InstanceForm] = Field(min_length=1, description="The rows.")


class PredictResponse(BaseModel):
    """What the model predicts for each instance, in their order."""

    predictions: list[ValueOrNull]


class ExplainRequest(PredictRequest):
    """Rows to explain, and their goal."""

    target: Annotated[Value | list[Value] | None, AfterValidator(_check_length)] = Field(
        None, description="The wanted class, or several; null: any other. Left out: the server's."
    )
    target_probability: float | None = Field(
        None, ge=0, le=1, description="How probable the class of a counterfactual must be."
    )
    interval: Annotated[list[float | None], Field(min_length=2, max_length=2)] | None = Field(
        None, description="For a regression: the wanted range; null: an open end."
    )
    constraints: ConstraintsMessage | None = Field(
        None, description="What may change, in place of the server's own constraints."
    )
    options: int | None = Field(None, ge=1, description="The most options for one row.")
    strategy: Strategy = Field(
        "nearest",
        description="How options are chosen: nearest to each row alone, or from the list that "
        "people alike share.",
    )
    describe: bool = Field(False, description="Whether to describe the explanations in words, too.")


class ExplainResponse(BaseModel):
    """The explanations, one for each instance, in their order."""

    predictions: list[ValueOrNull] = Field(description="The model's class of each instance.")
    explanations: list[ExplanationForm] = Field(
        description="What ``Explanation.to_dict`` returns, without reasons. Its status says "
        "whether there is any option."
    )
    descriptions: list[str] | None = Field(
        None, description="The explanations in words, if that is asked for."
    )


class ModelList(BaseModel):
    """The models of the server."""

    models: list[str]


class ModelReady(BaseModel):
    """Whether a model can be asked."""

    name: str
    ready: bool


class Health(BaseModel):
    """Whether the server runs, and whether it takes requests."""

    live: bool
    ready: bool


class FeatureMessage(BaseModel):
    """One feature, and how people speak of it."""

    name: str
    label: str
    unit: str
    kind: str
    columns: list[str]
    low: ValueOrNull = Field(description="The least value in the training data.")
    high: ValueOrNull = Field(description="The most in the training data.")
    values: list[Value] | None = Field(description="Of a category: its values.")
    texts: list[str] | None = Field(description="How people call them.")
    nullable: bool = Field(description="Whether it may be missing.")


class SchemaResponse(BaseModel):
    """What is served, and what it takes."""

    name: str
    title: str
    features: list[FeatureMessage]
    classes: list[Value]
    goal: dict[str, Any] = Field(description="What is wanted if a request does not say.")
    constraints: dict[str, Any] = Field(description="What may change if a request does not say.")
    options: int = Field(description="The most options for one row if a request does not say.")
    quotas: dict[str, float] = Field(description="How much a request may take.")
    instance: dict[str, Any] = Field(description="The JSON schema of one instance.")


#: Health checks need no secret.
HEALTH_PATHS = ("/health", "/health/live", "/health/ready")

#: The refusals that a request can get, for the description.
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": reason,
        # As JSON, also where the answer itself would be another kind of text.
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, reason in {
        400: "The request has two lengths.",
        401: "The token is missing or wrong.",
        408: "The body did not arrive in time.",
        413: "The body is too large.",
        415: "The body is not declared to be JSON.",
        421: "The request is for another host.",
        422: "The request is invalid; the details name the field.",
        503: "The server still learns, too many requests wait, the model hangs, or it is stopping.",
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
    served: Served, workers: Workers, quotas: Quotas, measures: Measures
) -> APIRouter:
    """Return the routes that other programs ask.

    Parameters
    ----------
    served
        What is served.
    workers
        The threads that explain.
    quotas
        How much a request may take.
    measures
        What ``/metrics`` shows.
    """
    router = APIRouter(route_class=StrictRoute, responses=_REFUSALS_OF_READING)
    _add_health(router, workers, measures)
    _add_descriptions(router, served, workers, quotas)
    _add_explain(router, served, workers, quotas, measures)
    return router


def _add_health(router: APIRouter, workers: Workers, measures: Measures) -> None:
    busy: dict[int | str, dict[str, Any]] = {
        503: {
            "model": Health,
            "description": "The server still learns, too many requests wait, or the model hangs.",
        }
    }
    hung: dict[int | str, dict[str, Any]] = {
        503: {"model": Health, "description": "The model hangs in all threads."}
    }

    @router.get("/health", response_model=Health, responses=busy)
    @router.get("/health/ready", response_model=Health, responses=busy)
    async def ready() -> Response:
        """Return whether the server takes requests."""
        is_ready = workers.is_ready
        return Json({"live": workers.is_able, "ready": is_ready}, 200 if is_ready else 503)

    @router.get("/health/live", response_model=Health, responses=hung)
    async def live() -> Response:
        """Return whether the server can work; if not, restart it."""
        is_able = workers.is_able
        return Json({"live": is_able, "ready": workers.is_ready}, 200 if is_able else 503)

    @router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {measures.media_type: {"schema": {"type": "string"}}}}},
    )
    async def metrics() -> Response:
        """Return counts and times, for Prometheus."""
        return Response(measures.text(), headers={"Content-Type": measures.media_type})


def _add_descriptions(router: APIRouter, served: Served, workers: Workers, quotas: Quotas) -> None:
    described = _described(served, quotas)

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
        """Return whether the model can be asked, as KServe's V1 protocol has it."""
        return ModelReady(name=served.name, ready=served.is_ready and workers.is_able)


def _add_explain(
    router: APIRouter, served: Served, workers: Workers, quotas: Quotas, measures: Measures
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
        _check_counts(quotas, instances=len(asked.instances), options=asked.options or 1)
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
        _check_counts(quotas, instances=len(asked.instances))
        request.state.counts = {"instances": len(asked.instances)}
        return Json({"predictions": await workers.run(_predict, served, reader, asked)})

    @router.post("/v1/models/{name}:predict", include_in_schema=False)
    @router.post("/v1/models/{name}:explain", include_in_schema=False)
    async def unknown(name: str) -> None:
        """Refuse a request for another model."""
        raise HTTPException(404, f"There is no model {name!r}. This server has {served.name!r}.")


def _check_counts(quotas: Quotas, **counts: int) -> None:
    """Check how many rows and options are asked for."""
    for field, count in counts.items():
        most = getattr(quotas, field)
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
    options = first.options or served.explainer.max_counterfactuals
    goal = _goal(served, first)
    served.check_goal(goal)
    found = served.with_options(options, first.strategy).explain_many(
        # Each row keeps the number that it has in its own request.
        pd.concat(tables) if len(tables) > 1 else tables[0],
        **goal,
        constraints=None if first.constraints is None else first.constraints.constraints(),
        if_none="ignore",  # an answer has the number of its options
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
        "explanations": [each.to_dict(outcomes=served.outcomes, reasons=False) for each in found],
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


def _described(served: Served, quotas: Quotas) -> dict[str, Any]:
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
        "options": explainer.max_counterfactuals,
        "quotas": asdict(quotas),
        "instance": instance_schema(table),
    }


def _values(values: list[Any]) -> tuple[Any, ...]:
    return tuple(from_json_value(value) for value in values)
