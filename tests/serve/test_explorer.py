"""What the page asks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from support.served_loans import TRAINING, approve

from counterset import DiverseExplainer, Explanation
from counterset.serve.app import create_app
from counterset.serve.served import Served

ROW = {"income": 30, "debt": 60, "home": "rent", "town": "Bonn"}
#: A request for three options of a declined person whose town is locked.
ASKED: dict[str, Any] = {
    "case": 0, "values": ROW, "constraints": {"town": {"locked": True}}, "target": "approved",
    "options": 3,
}  # fmt: skip


def options_of(client: TestClient, asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the options of a case."""
    found = client.post("/explorer/explain", json=asked).json()["explanation"]["options"]
    assert isinstance(found, list)
    return found


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
    assert decision["label"] == start["classes"][start["cases"]["decisions"][7]]["value"]


def test_a_case_that_is_not_there_is_refused(client: TestClient) -> None:
    answer = client.get("/explorer/cases/50")
    assert answer.status_code == 422
    assert "There is no case at position 50: there are 50" in answer.json()["error"]
    assert client.get("/explorer/cases/-1").status_code == 422


def test_the_answer_has_the_form_of_files(client: TestClient, served: Served) -> None:
    answer = client.post("/explorer/explain", json=ASKED).json()
    explanation = Explanation.from_dict(answer["explanation"])
    alone = served.explainer.explain(ROW, target="approved")
    assert explanation.values.tolist() == alone.values.tolist()
    assert answer["explanation"]["label_text"] == "declined"
    assert answer["explanation"]["wanted_text"] == "approved"
    text = alone.describe(width=None)
    for option in answer["explanation"]["options"]:
        assert f"{option['rank']}. {option['sentence']} (" in text
        assert option["values"] == ROW | {each["name"]: each["after"] for each in option["changes"]}
        assert option["label_text"] == "approved"


def test_a_margin_is_told_in_the_words_of_the_description(served: Served) -> None:
    explainer = DiverseExplainer(approve, margin=0.05).fit(TRAINING)
    own = Served("loans", explainer, served.cases, goal={"target": "approved"})
    own.warm_up()
    with TestClient(create_app(own), base_url="http://127.0.0.1") as asks:
        answer = asks.post("/explorer/explain", json=ASKED).json()
    alone = Explanation.from_dict(answer["explanation"]).with_model(approve)
    text = alone.describe(width=None)
    rooms = answer["rooms"]
    assert len(rooms) == len(alone)
    for option, room in zip(alone.options, rooms, strict=True):
        assert (room is not None) == bool(option.rooms)
        assert room is None or (f"Option {option.rank} still leads" in room and room in text)
    assert any(rooms)


def test_without_a_margin_no_room_is_told(client: TestClient) -> None:
    rooms = client.post("/explorer/explain", json=ASKED).json()["rooms"]
    assert rooms == [None] * 3


def test_ranges_are_told_if_they_are_asked_for(client: TestClient) -> None:
    points, asked = options_of(client, ASKED), options_of(client, ASKED | {"ranges": True})
    assert [each["values"] for each in asked] == [each["values"] for each in points]
    assert all("ranges" not in each for each in points)
    assert any(each["sentence"] != old["sentence"] for each, old in zip(asked, points, strict=True))


def test_locked_features_stay_in_every_option(client: TestClient) -> None:
    free = client.post("/explorer/explain", json=ASKED).json()["explanation"]
    assert (free["label_text"], len(free["options"])) == ("declined", 3)
    assert any(each["name"] == "home" for option in free["options"] for each in option["changes"])
    locks = {"town": {"locked": True}, "home": {"locked": True}}
    locked = client.post("/explorer/explain", json=ASKED | {"constraints": locks}).json()
    options = locked["explanation"]["options"]
    assert {each["name"] for option in options for each in option["changes"]} <= {"income", "debt"}
    assert "The home and the town stay as they are." in locked["notes"]


def test_directions_and_ranges_are_kept(client: TestClient) -> None:
    constraints = {"income": {"direction": "down"}, "debt": {"low": 25}, "town": {"locked": True}}
    for option in options_of(client, ASKED | {"constraints": constraints}):
        for change in option["changes"]:
            assert change["name"] != "income"
            assert change["name"] != "debt" or change["after"] >= 25


def test_what_is_hard_is_changed_less(client: TestClient) -> None:
    def nearest(constraints: dict[str, Any]) -> str:
        both = {"home": {"locked": True}} | constraints
        (option,) = options_of(client, ASKED | {"constraints": both, "options": 1})
        return str(option["changes"][0]["name"])

    easy = {nearest({"income": {"difficulty": 5}}), nearest({"debt": {"difficulty": 5}})}
    assert nearest({"income": {"difficulty": 5}}) == "debt"
    assert easy == {"income", "debt"}


def test_a_case_that_has_reached_its_goal_has_no_options(client: TestClient) -> None:
    asked = ASKED | {"values": ROW | {"income": 90}}
    found = client.post("/explorer/explain", json=asked).json()["explanation"]
    assert (found["status"], found["options"]) == ("already_reached", [])
    assert found["label_text"] == found["wanted_text"] == "approved"


def test_no_option_is_an_answer(client: TestClient) -> None:
    asked = ASKED | {"constraints": {name: {"locked": True} for name in ROW}}
    answer = client.post("/explorer/explain", json=asked)
    assert answer.status_code == 200
    found = answer.json()["explanation"]
    assert (found["status"], found["options"]) == ("none_found", [])
    obstacle = client.post("/explorer/lift", json=asked).json()
    assert obstacle["button"]
    refused = client.post("/explorer/map", json=asked)
    assert (refused.status_code, refused.json()["error"]) == (
        422,
        "There is no option to draw a map of.",
    )


def test_kept_options_have_the_form_of_options(client: TestClient) -> None:
    asked = ASKED | {"kept": [{"income": 90}, {"income": 31}, {}, {"income": 10}]}
    kept = client.post("/explorer/explain", json=asked).json()["kept"]
    assert [each["reaches_goal"] for each in kept] == [True, False, False, False]
    assert kept[0]["sentence"] == "Raise the income from 30 EUR to 90 EUR"
    (change,) = kept[0]["changes"]
    assert (change["before_text"], change["after_text"]) == ("30 EUR", "90 EUR")
    assert (kept[2]["sentence"], kept[3]["label_text"]) == ("Nothing changes", "declined")
    (option, *_) = options_of(client, ASKED)
    again = ASKED | {"kept": [{each["name"]: each["after"] for each in option["changes"]}]}
    (same,) = client.post("/explorer/explain", json=again).json()["kept"]
    given = {"rank", "label", "label_text", "distance", "sentence", "lines", "changes", "values"}
    assert {name: same[name] for name in given} == {name: option[name] for name in given} | {
        "rank": 1
    }


def test_taking_an_option_over_changes_the_decision(client: TestClient) -> None:
    for option in options_of(client, ASKED):
        answer = client.post("/explorer/predict", json={"values": option["values"]}).json()
        assert (answer["label"], answer["label_text"]) == ("approved", "approved")
        assert (answer["probability"], answer["chance"]) == (None, None)


def test_the_probability_is_that_of_the_decision() -> None:
    X = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 7})
    model = LogisticRegression().fit(X, np.where(X["a"] > 20, "yes", "no"))
    served = Served("toy", DiverseExplainer(model).fit(X), cases=X)
    served.warm_up()
    client = TestClient(create_app(served), base_url="http://127.0.0.1")
    for a, b in X.to_numpy()[::9]:
        (known,) = model.predict_proba(pd.DataFrame({"a": [a], "b": [b]}))
        asked = {"values": {"a": a, "b": b}}
        decision = client.post("/explorer/predict", json=asked).json()
        assert decision["probability"] == max(known)
        assert decision["label"] == model.classes_[known.argmax()]
        found = client.post("/explorer/explain", json=asked).json()["explanation"]
        assert found["label"] == decision["label"]
        # Asked together with the options: a product of matrices may round otherwise.
        assert found["probability"] == pytest.approx(max(known), rel=1e-12)


def test_the_map_and_the_people_nearby_are_about_the_same_options(client: TestClient) -> None:
    options = options_of(client, ASKED)
    changes = [each["changes"] for each in options]
    drawn = client.post("/explorer/map", json=ASKED).json()
    assert [each["changes"] for each in drawn["options"]] == changes
    assert len(drawn["places"]) == len(options)
    nearby = client.post("/explorer/nearby", json=ASKED | {"noise": 0.02}).json()
    assert [each["changes"] for each in nearby["options"]] == changes
    assert [len(row) for row in nearby["kept"]] == [nearby["people"]] * len(options)


def test_reasons_are_those_of_the_letter(client: TestClient, served: Served) -> None:
    reasons = client.post("/explorer/reasons", json=ASKED).json()
    letter = served.explainer.explain(ROW, target="approved").letter(width=None)
    assert reasons["heading"]
    assert reasons["heading"] in letter
    assert reasons["lines"]
    for line in reasons["lines"]:
        assert line in letter


@pytest.mark.parametrize(
    ("old", "new"),
    [("ways", "options"), ("limits", "constraints"), ("anchored", "strategy")],
)
def test_a_renamed_key_is_refused_with_its_new_name(client: TestClient, old: str, new: str) -> None:
    for path in ("/explorer/nearby", "/explain"):
        refused = client.post(path, json={"values": ROW, "instances": [ROW], old: 1})
        assert refused.status_code == 422
        problems = {each["field"]: each["problem"] for each in refused.json()["details"]}
        assert problems[old] == f"unknown key; use {new!r}"


def test_the_report_is_a_file_to_save(client: TestClient) -> None:
    answer = client.post("/explorer/report", json=ASKED)
    assert answer.headers["content-disposition"] == 'attachment; filename="explanation.html"'
    assert "counterset-record" in answer.text
    assert "150 (edited)" in answer.text


def test_the_sheet_shows_what_is_kept_under_its_number(client: TestClient) -> None:
    options = options_of(client, ASKED)
    kept = [{each["name"]: each["after"] for each in options[1]["changes"]}]
    sheet = client.post("/explorer/report", json=ASKED | {"kept": kept, "date": "1 May 2026"}).text
    assert "Case: 150 (edited)" in sheet
    assert "1 May 2026" in sheet
    assert f"2. {options[1]['sentence']}" in sheet
    assert f"1. {options[0]['sentence']}" not in sheet


def test_what_is_kept_and_not_on_the_list_any_more_has_a_number_behind_it(
    client: TestClient,
) -> None:
    kept = [{"income": 97}, {"income": 31}]
    asked = ASKED | {"kept": kept, "case": None}
    count = len(options_of(client, asked))
    ranks = [each["rank"] for each in client.post("/explorer/explain", json=asked).json()["kept"]]
    assert ranks == [count + 1, None]
    sheet = client.post("/explorer/report", json=asked | {"name": "Łucja"}).text
    assert f"{count + 1}. Raise the income from 30 EUR to 97 EUR" in sheet
    assert "31 EUR" not in sheet
    assert "Case: Łucja" in sheet


def test_without_anything_kept_the_sheet_has_what_the_page_shows(client: TestClient) -> None:
    options = options_of(client, ASKED)
    sheet = client.post("/explorer/report", json=ASKED | {"shown": [1, 3]}).text
    assert f"3. {options[2]['sentence']}" in sheet
    assert f"2. {options[1]['sentence']}" not in sheet


def test_the_head_of_the_sheet_is_that_of_the_server(served: Served) -> None:
    details = {"institution": "Example Bank", "contact": "Ms Nowak, room 3"}
    bank = Served("loans", served.explainer, served.cases, goal=served.goal, details=details)
    bank.warm_up()
    asks = TestClient(create_app(bank), base_url="http://127.0.0.1")
    sheet = asks.post("/explorer/report", json=ASKED).text
    assert "Example Bank" in sheet
    assert "Ms Nowak, room 3" in sheet


@pytest.mark.parametrize(
    "body", ["{", "[]", "null", '{"values": {"income": NaN}}', '{"values": 3}']
)
@pytest.mark.parametrize(
    "path", ["explain", "predict", "reasons", "lift", "map", "nearby", "report"]
)
def test_broken_requests_are_refused_with_a_sentence(
    client: TestClient, path: str, body: str
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post(f"/explorer/{path}", content=body, headers=headers)
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]


def test_two_people_with_different_locks_get_their_own_answers(client: TestClient) -> None:
    locks = [{"home": {"locked": True}}, {"income": {"locked": True}}] * 10
    bodies = [ASKED | {"constraints": each} for each in locks]
    alone = [client.post("/explorer/explain", json=each).json() for each in bodies[:2]]
    with ThreadPoolExecutor(8) as people:
        answers = list(
            people.map(lambda body: client.post("/explorer/explain", json=body).json(), bodies)
        )
    assert answers == alone * 10
    assert alone[0] != alone[1]


#: Values that a person may type, and constraints that a person may set, sense or nonsense.
SENSE = st.integers(1, 120)
NONSENSE = st.one_of(st.integers(-(2**60), 2**60), st.floats(-1e20, 1e20), st.none())
NUMBERS = st.integers(0, 9).flatmap(lambda drawn: SENSE if drawn else NONSENSE)
ROWS = st.fixed_dictionaries(
    {
        "income": NUMBERS,
        "debt": NUMBERS,
        "home": st.sampled_from(["own", "rent"]),
        "town": st.sampled_from(["Bonn", "Jena", "Ulm"]),
    }
)
CONSTRAINTS = st.dictionaries(
    st.sampled_from(["income", "debt", "home", "town"]),
    st.fixed_dictionaries(
        {},
        optional={
            "locked": st.booleans(),
            "direction": st.sampled_from(["any", "up", "down"]),
            "low": NUMBERS,
            "high": NUMBERS,
            "difficulty": st.integers(1, 5),
        },
    ),
    max_size=2,
)


@given(
    path=st.sampled_from(["explain", "predict", "reasons", "lift", "map", "nearby", "report"]),
    values=ROWS,
    constraints=CONSTRAINTS,
    target=st.sampled_from([None, "approved", "declined"]),
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
        for option in answer.json()["explanation"]["options"]:
            for change in option["changes"]:
                constraint = asked["constraints"].get(change["name"], {})
                own, other = asked["values"][change["name"]], change["after"]
                assert not constraint.get("locked")
                assert constraint.get("direction") != "up" or other > own
                assert constraint.get("direction") != "down" or other < own
