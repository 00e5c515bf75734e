"""The description of the service."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from jsonschema import Draft202012Validator
from support.served_loans import DECLINED

from counterset.serve.app import create_app
from counterset.serve.quotas import Quotas
from counterset.serve.served import Served


def validator(described: dict[str, Any], name: str) -> Draft202012Validator:
    """Return what checks a schema of the description."""
    parts = described["components"]
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": parts})


def test_answers_and_requests_are_as_described(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    asked = {"instances": [DECLINED, list(DECLINED.values())], "options": 2, "describe": True}
    assert validator(described, "ExplainRequest").is_valid(asked)
    answer = client.post("/explain", json=asked)
    assert validator(described, "ExplainResponse").is_valid(answer.json())
    assert validator(described, "SchemaResponse").is_valid(client.get("/schema").json())
    refused = client.post("/explain", json={"instances": [DECLINED | {"home": 5}]})
    assert validator(described, "Problem").is_valid(refused.json())
    assert not validator(described, "ExplainRequest").is_valid({"instances": [{"home": "own"}]})
    assert not validator(described, "ExplainResponse").is_valid({"explanations": [{}]})


def test_quotas_are_described(served: Served) -> None:
    described = create_app(served, Quotas(instances=7, options=4)).openapi()
    asked = described["components"]["schemas"]["ExplainRequest"]["properties"]
    assert asked["instances"]["maxItems"] == 7
    assert {"type": "integer", "minimum": 1, "maximum": 4} in asked["options"]["anyOf"]


@pytest.mark.parametrize("token", [None, "secret"])
def test_a_token_is_described_where_one_is_needed(served: Served, token: str | None) -> None:
    described = create_app(served, token=token).openapi()
    assert ("security" in described) == (token is not None)


def test_all_references_lead_somewhere(client: TestClient) -> None:
    described = client.get("/openapi.json").json()

    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            return own + [each for value in part.values() for each in references(value)]
        return (
            [each for value in part for each in references(value)] if isinstance(part, list) else []
        )

    named = {each.removeprefix("#/components/schemas/") for each in references(described)}
    assert {"Explanation", "Instance"} <= named <= set(described["components"]["schemas"])
