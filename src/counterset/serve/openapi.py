"""The description of the service, as OpenAPI: with the served columns and the JSON form."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from counterset.serve.fields import instance_schema
from counterset.serve.limits import Limits
from counterset.serve.messages import Problem
from counterset.serve.served import Served

__all__ = ["add_description"]

#: Where OpenAPI has schemas.
PLACE = "#/components/schemas/"


def add_description(app: FastAPI, served: Served, limits: Limits, *, with_token: bool) -> None:
    """Make an app describe itself with the columns that are served.

    Parameters
    ----------
    app
        The app, with all its routes.
    served
        What is served.
    limits
        How much a request may take.
    with_token
        Whether requests must know a token.
    """
    made: dict[str, Any] = {}

    def describe() -> dict[str, Any]:
        if not made:
            made.update(_describe(app, served, limits, with_token))
        return made

    app.openapi = describe  # type: ignore[method-assign]  # as FastAPI's manual has it


def _describe(app: FastAPI, served: Served, limits: Limits, with_token: bool) -> dict[str, Any]:
    described = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    schemas = described["components"]["schemas"]
    schemas |= _explanation_schemas() | _problem_schemas()
    schemas["Instance"] = instance_schema(served.table)
    asked = schemas["ExplainRequest"]["properties"]
    for name in ("ExplainRequest", "PredictRequest"):
        schemas[name]["properties"]["instances"]["maxItems"] = limits.instances
    for part in asked["ways"]["anyOf"]:
        if part.get("type") == "integer":
            part["maximum"] = limits.ways
    if with_token:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
    return described


def _problem_schemas() -> dict[str, Any]:
    """Return the schema of a refusal, and its parts."""
    schema = Problem.model_json_schema(ref_template=f"{PLACE}{{model}}")
    parts: dict[str, Any] = schema.pop("$defs")
    return {"Problem": schema, **parts}


def _explanation_schemas() -> dict[str, Any]:
    """Return the schema of the JSON form, and its parts, with references that OpenAPI follows."""
    text = resources.files("counterset.results").joinpath("explanation.schema.json").read_text()
    schema = json.loads(text.replace('"#/$defs/', f'"{PLACE}Explanation_'))
    parts = schema.pop("$defs")
    for key in ("$schema", "$id"):
        del schema[key]
    return {"Explanation": schema} | {f"Explanation_{name}": part for name, part in parts.items()}
