"""What the page asks."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

ROW = {"income": 30, "debt": 60, "home": 1, "town": 0}
#: A request for the three ways of a declined person whose town is locked.
ASKED: dict[str, Any] = {
    "case": 0, "values": ROW, "limits": {"town": {"locked": True}}, "target": 0, "ways": 3,
}  # fmt: skip


def test_the_page_is_there(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert "counterset" in answer.text


def test_every_module_of_the_page_is_served_as_a_script(client: TestClient) -> None:
    answer = client.get("/app.js")
    assert answer.status_code == 200
    assert "javascript" in answer.headers["content-type"]


def test_a_case_has_a_value_for_each_feature(client: TestClient) -> None:
    start = client.get("/explorer/start").json()
    case = client.get("/explorer/cases/7").json()
    assert case["number"] == start["cases"]["numbers"][7]
    assert list(case["values"]) == [each["name"] for each in start["features"]]
    asked = {"values": case["values"]}
    decision = client.post("/explorer/predict", json=asked).json()
    assert decision["label"] == start["cases"]["decisions"][7]


def test_a_case_that_is_not_there_is_refused(client: TestClient) -> None:
    answer = client.get("/explorer/cases/50")
    assert answer.status_code == 422
    assert "There is no case at position 50: there are 50" in answer.json()["error"]
    assert client.get("/explorer/cases/-1").status_code == 422


def test_locked_features_stay_in_every_way(client: TestClient) -> None:
    free = client.post("/explorer/explain", json=ASKED).json()
    assert (free["told"], len(free["ways"])) == ("declined", 3)
    assert any(each["name"] == "home" for way in free["ways"] for each in way["changes"])
    limits = {"town": {"locked": True}, "home": {"locked": True}}
    locked = client.post("/explorer/explain", json=ASKED | {"limits": limits}).json()
    names = {each["name"] for way in locked["ways"] for each in way["changes"]}
    assert names <= {"income", "debt"}
    assert "The home and the town stay as they are." in locked["limits"]


def test_directions_and_ranges_are_kept(client: TestClient) -> None:
    limits = {"income": {"way": "down"}, "debt": {"low": 25}, "town": {"locked": True}}
    answer = client.post("/explorer/explain", json=ASKED | {"limits": limits}).json()
    for way in answer["ways"]:
        for change in way["changes"]:
            assert change["name"] != "income"
            assert change["name"] != "debt" or change["value"] >= 25


def test_what_is_hard_is_changed_less(client: TestClient) -> None:
    def nearest(limits: dict[str, Any]) -> str:
        asked = ASKED | {"limits": {"home": {"locked": True}} | limits, "ways": 1}
        (way,) = client.post("/explorer/explain", json=asked).json()["ways"]
        return str(way["changes"][0]["name"])

    easy = {nearest({"income": {"difficulty": 5}}), nearest({"debt": {"difficulty": 5}})}
    assert nearest({"income": {"difficulty": 5}}) == "debt"
    assert easy == {"income", "debt"}


def test_what_is_wanted_already_has_no_ways(client: TestClient) -> None:
    asked = ASKED | {"values": ROW | {"income": 90}}
    answer = client.post("/explorer/explain", json=asked).json()
    assert (answer["status"], answer["ways"], answer["told"]) == ("already_reached", [], "approved")


def test_no_way_is_an_answer(client: TestClient) -> None:
    asked = ASKED | {"limits": {name: {"locked": True} for name in ROW}}
    answer = client.post("/explorer/explain", json=asked)
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["ways"]) == ("none_found", [])
    found = client.post("/explorer/lift", json=asked).json()
    assert found["button"]
    refused = client.post("/explorer/map", json=asked)
    assert (refused.status_code, refused.json()["error"]) == (
        422,
        "There is no way to draw a map of.",
    )


def test_kept_ways_are_told_for_the_case(client: TestClient) -> None:
    asked = ASKED | {"kept": [{"income": 90}, {"income": 31}]}
    kept = client.post("/explorer/explain", json=asked).json()["kept"]
    assert [each["leads"] for each in kept] == [True, False]
    assert kept[0]["headline"] == "Raise the income from 30 EUR to 90 EUR"


def test_taking_a_way_over_flips_the_decision(client: TestClient) -> None:
    for way in client.post("/explorer/explain", json=ASKED).json()["ways"]:
        taken = ROW | {each["name"]: each["value"] for each in way["changes"]}
        assert client.post("/explorer/predict", json={"values": taken}).json()["label"] == 0


def test_the_map_and_the_people_nearby_are_about_the_same_ways(client: TestClient) -> None:
    ways = client.post("/explorer/explain", json=ASKED).json()["ways"]
    assert client.post("/explorer/map", json=ASKED).json()["ways"] == ways
    nearby = client.post("/explorer/nearby", json=ASKED | {"noise": 0.02}).json()
    assert nearby["ways"] == ways
    assert [len(row) for row in nearby["kept"]] == [nearby["people"]] * len(ways)


def test_the_report_is_a_file_to_save(client: TestClient) -> None:
    answer = client.post("/explorer/report", json=ASKED)
    assert answer.headers["content-disposition"] == 'attachment; filename="explanation.html"'
    assert "counterset-record" in answer.text
    assert "150 (edited)" in answer.text


@pytest.mark.parametrize(
    "body", ["{", "[]", "null", '{"values": {"income": NaN}}', '{"values": 3}']
)
@pytest.mark.parametrize("path", ["explain", "predict", "lift", "map", "nearby", "report"])
def test_broken_requests_are_refused_with_a_sentence(
    client: TestClient, path: str, body: str
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post(f"/explorer/{path}", content=body, headers=headers)
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]


def test_two_people_with_different_limits_get_their_own_answers(client: TestClient) -> None:
    from concurrent.futures import ThreadPoolExecutor

    locks = [{"home": {"locked": True}}, {"income": {"locked": True}}] * 10
    bodies = [ASKED | {"limits": each} for each in locks]
    alone = [client.post("/explorer/explain", json=each).json() for each in bodies[:2]]
    with ThreadPoolExecutor(8) as people:
        answers = list(
            people.map(lambda body: client.post("/explorer/explain", json=body).json(), bodies)
        )
    assert answers == alone * 10
    assert alone[0] != alone[1]


#: Values that a person may type, and limits that a person may set, sense or nonsense.
SENSE = st.integers(1, 120)
NONSENSE = st.one_of(st.integers(-(2**60), 2**60), st.floats(-1e20, 1e20), st.none())
NUMBERS = st.integers(0, 9).flatmap(lambda drawn: SENSE if drawn else NONSENSE)
ROWS = st.fixed_dictionaries(
    {"income": NUMBERS, "debt": NUMBERS, "home": st.integers(0, 1), "town": st.integers(0, 2)}
)
LIMITS = st.dictionaries(
    st.sampled_from(["income", "debt", "home", "town"]),
    st.fixed_dictionaries(
        {},
        optional={
            "locked": st.booleans(),
            "way": st.sampled_from(["any", "up", "down"]),
            "low": NUMBERS,
            "high": NUMBERS,
            "difficulty": st.integers(1, 5),
        },
    ),
    max_size=2,
)


@given(
    path=st.sampled_from(["explain", "predict", "lift", "map", "nearby", "report"]),
    values=ROWS,
    limits=LIMITS,
    target=st.sampled_from([None, 0, 1]),
    kept=st.lists(st.dictionaries(st.sampled_from(["income", "home"]), NUMBERS), max_size=2),
)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_whatever_is_typed_is_answered_or_refused_with_a_sentence(
    client: TestClient, path: str, **asked: Any
) -> None:
    body = {"values": asked["values"]} if path == "predict" else asked
    answer = client.post(f"/explorer/{path}", json=body)
    event(f"{path} {answer.status_code}")
    assert answer.status_code in (200, 422)
    if answer.status_code == 422:
        assert answer.json()["error"].endswith(".")
    elif path == "explain":
        for way in answer.json()["ways"]:
            for change in way["changes"]:
                limit = asked["limits"].get(change["name"], {})
                own = asked["values"][change["name"]]
                assert not limit.get("locked")
                assert limit.get("way") != "up" or change["value"] > own
                assert limit.get("way") != "down" or change["value"] < own
