"""Two cases side by side."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from counterset.serve.cases import CaseRequest, Cases, FeatureConstraint
from counterset.serve.compare import CompareRequest, compare_cases
from counterset.serve.explorer import describe_case
from counterset.serve.served import Served

ROW = {"income": 30, "debt": 60, "home": "rent", "town": "Ulm"}
LOCKS = {"town": FeatureConstraint(locked=True)}


def test_a_case_is_equal_to_itself_and_shares_all_options(served: Served) -> None:
    request = CompareRequest(values=ROW, other=ROW, constraints=LOCKS, target="approved")
    answer = compare_cases(request, Cases(served))
    count = len(answer["explanations"][0]["options"])
    assert count > 0
    assert (answer["differs"], answer["equal"], answer["distance"]) == ([], 4, 0.0)
    assert answer["shared"] == [[i, i] for i in range(count)]


def test_it_shows_what_each_gets_alone(served: Served) -> None:
    other = ROW | {"income": 10, "home": "own"}
    goal: dict[str, Any] = {"constraints": LOCKS, "target": "approved", "options": 3}
    answer = compare_cases(CompareRequest(values=ROW, other=other, **goal), Cases(served))
    for shown, values in zip(answer["explanations"], (ROW, other), strict=True):
        alone = describe_case(CaseRequest(values=values, **goal), Cases(served))
        assert shown == alone["explanation"]
    assert answer["differs"] == [
        {"label": "Income", "own": "30 EUR", "other": "10 EUR"},
        {"label": "Home", "own": "rent", "other": "own"},
    ]
    assert answer["equal"] == 2
    assert answer["distance"] > 0


def test_options_are_shared_if_they_change_the_same_in_the_same_direction(served: Served) -> None:
    other = ROW | {"income": 25, "home": "own"}
    request = CompareRequest(values=ROW, other=other, constraints=LOCKS, target="approved")
    answer = compare_cases(request, Cases(served))
    mine, theirs = (each["options"] for each in answer["explanations"])

    def moves(option: dict[str, Any]) -> dict[str, Any]:
        return {
            each["name"]: each["after"]
            if isinstance(each["after"], str)
            else each["after"] > each["before"]
            for each in option["changes"]
        }

    expected = [
        [i, j]
        for i, own in enumerate(mine)
        for j, their in enumerate(theirs)
        if moves(own) == moves(their)
    ]
    assert answer["shared"] == expected
    assert expected, "both can earn more, or owe less"
    # Who owns a home already cannot be offered to buy one.
    assert len(expected) < len(mine)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, "other"),
        ({"other": []}, "other"),
        ({"other": {}}, "'income' is missing"),
        ({"other": ROW | {"home": "boat"}}, "'home' must be"),
        ({"other": ROW | {"shoe": 1}}, "'shoe' is not a column"),
    ],
)
def test_nonsense_is_refused(client: TestClient, asked: dict[str, Any], says: str) -> None:
    answer = client.post("/explorer/compare", json={"values": ROW} | asked)
    assert answer.status_code == 422
    assert says in answer.json()["error"]
