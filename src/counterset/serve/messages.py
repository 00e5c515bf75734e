"""Messages: what requests and answers hold, for the description of the service."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, WithJsonSchema

from counterset.constraints.constraints import Constraints
from counterset.explanations.json_values import from_json_value

__all__ = [
    "ConstraintsMessage",
    "ExplainRequest",
    "ExplainResponse",
    "Health",
    "ModelList",
    "ModelReady",
    "PredictRequest",
    "PredictResponse",
    "Problem",
    "SchemaResponse",
]

#: A relation of 500 letters has some twenty terms; a longer one costs more to read than it says.
LONGEST_RELATION = 500
#: There may be 100 relations and groups in one request, each checked for every candidate.
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
#: The first fault of a list is told: a list can have a fault for each two bytes of a body.
Names = Annotated[list[str], Field(max_length=MOST_VALUES), FailFast()]
Ends = Annotated[list[ValueOrNull], Field(min_length=2, max_length=2)]
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
        )


class PredictRequest(Strict):
    """Rows to classify."""

    instances: list[InstanceForm] = Field(min_length=1, description="The rows.")


class PredictResponse(BaseModel):
    """What the model predicts for each instance, in their order."""

    predictions: list[ValueOrNull]


class ExplainRequest(PredictRequest):
    """Rows to explain, and what is wanted."""

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
    ways: int | None = Field(None, ge=1, description="The most counterfactuals for one row.")
    anchored: bool = Field(
        False, description="Whether people alike get the same list of options (anchors)."
    )
    describe: bool = Field(False, description="Whether to say the explanations in words too.")


class ExplainResponse(BaseModel):
    """The explanations, one for each instance, in their order."""

    predictions: list[ValueOrNull] = Field(description="The model's class of each instance.")
    explanations: list[ExplanationForm] = Field(
        description="What ``Explanation.to_dict`` returns. Its status tells whether there is any "
        "counterfactual."
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
    ways: int = Field(description="How many ways there are if a request does not say.")
    limits: dict[str, float] = Field(description="How much a request may take.")
    instance: dict[str, Any] = Field(description="The JSON schema of one instance.")


class FieldProblem(BaseModel):
    """What is wrong with one field of a request."""

    instance: int | None = Field(description="The position of the instance.")
    field: str | None
    problem: str
    got: str | float | int | bool | None
    allowed: dict[str, Any] | None = Field(description="What it may hold, as a JSON schema.")


class Problem(BaseModel):
    """Why a request was refused."""

    error: str
    details: list[FieldProblem]


def _values(values: list[Any]) -> tuple[Any, ...]:
    return tuple(from_json_value(value) for value in values)
