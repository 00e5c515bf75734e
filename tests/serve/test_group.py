"""All cases without the wanted result: explained part by part, with figures of groups."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from sklearn.linear_model import LinearRegression, LogisticRegression
from support.served_loans import TRAINING, approve

from counterset import DiverseExplainer
from counterset._base.checkpoints import WorkCancelled, watched_by
from counterset.serve import group as module
from counterset.serve.app import create_app
from counterset.serve.cases import Cases, FeatureConstraint
from counterset.serve.group import BLOCK, GroupRequest, Surveys
from counterset.serve.served import Served
from counterset.words.groups import LEAST

RANDOM = np.random.default_rng(5)
MANY = pd.DataFrame(
    {
        "income": RANDOM.integers(1, 100, 300),
        "debt": RANDOM.integers(1, 100, 300),
        "home": RANDOM.choice(["own", "rent"], 300),
        "town": np.r_[["Ulm"] * 5, RANDOM.choice(["Bonn", "Jena"], 295)],
    },
    index=pd.RangeIndex(1000, 1300),
)
#: Who may only lower a debt of 5 or more has no option with too small an income.
TIGHT = {
    "income": FeatureConstraint(locked=True),
    "home": FeatureConstraint(locked=True),
    "town": FeatureConstraint(locked=True),
    "debt": FeatureConstraint(direction="down", low=20),
}


@pytest.fixture(scope="module")
def many() -> Served:
    served = Served("loans", DiverseExplainer(approve).fit(TRAINING), MANY)
    served.warm_up()
    return served


def all_parts(surveys: Surveys, **asked: Any) -> tuple[list[dict[str, Any]], dict[str, Any], int]:
    """Ask as the page does; return all rows, the last answer, and how many parts there were."""
    rows: list[dict[str, Any]] = []
    for parts in count():
        request = GroupRequest(target="approved", first=len(rows), **asked)
        if surveys.needs_work(request):
            surveys.explain_more(request)
        answer = surveys.describe(request)
        rows += answer["rows"]
        assert answer["done"] == len(rows)
        if len(rows) == answer["total"]:
            return rows, answer, parts + 1
    raise AssertionError


@pytest.fixture
def slow(many: Served) -> Surveys:
    """Works on one block in each part."""
    ticks = count()
    return Surveys(Cases(many), clock=lambda: float(next(ticks)))


@pytest.mark.parametrize("constraints", [{}, TIGHT], ids=["free", "tight"])
def test_all_parts_are_what_each_case_would_get_alone(
    many: Served, slow: Surveys, constraints: dict[str, FeatureConstraint]
) -> None:
    rows, answer, parts = all_parts(slow, constraints=constraints, options=2)
    declined = np.flatnonzero(approve(MANY) == "declined")
    assert [row["case"] for row in rows] == declined.tolist()
    assert [row["number"] for row in rows] == [str(1000 + each) for each in declined]
    assert (answer["people"], answer["total"]) == (300, len(declined))
    assert parts == -(-len(declined) // BLOCK)
    explainer, asked = Cases(many).settings(
        GroupRequest(target="approved", constraints=constraints, options=2)
    )
    for row in rows[::7]:
        alone = explainer.explain_many(MANY.iloc[[row["case"]]], **asked | {"if_none": "ignore"})
        assert row["options"] == len(alone[0])
        if not len(alone[0]):
            reason = alone.why_none[0]
            assert answer["why"][row["why"]] == reason[0].upper() + reason[1:]
            continue
        nearest = min(alone[0].options, key=lambda option: option.distance)
        assert row["distance"] == pytest.approx(nearest.distance, rel=1e-3)
        names = [MANY.columns[at] for at in row["changes"]]
        assert names == [change.name for change in nearest.changes]
    assert any(row["options"] == 0 for row in rows) == bool(constraints)


def test_what_is_known_is_there_at_once(slow: Surveys) -> None:
    rows, _, _ = all_parts(slow)
    again = GroupRequest(target="approved", first=0)
    assert not slow.needs_work(again)
    assert slow.describe(again)["rows"] == rows
    other = GroupRequest(target="approved", first=0, options=3)
    assert slow.needs_work(other)


def test_figures_alone_explain_nothing(slow: Surveys) -> None:
    request = GroupRequest(target="approved", first=None, by="home")
    assert not slow.needs_work(request)
    answer = slow.describe(request)
    assert (answer["total"], answer["rows"], answer["groups"]["shown"]) == (None, [], [])
    slow.explain_more(GroupRequest(target="approved"))
    answer = slow.describe(request)
    assert answer["rows"] == []
    assert [each["text"] for each in answer["groups"]["shown"]] == ["Own", "Rent"]


def test_groups_of_fewer_than_ten_people_are_not_shown(slow: Surveys) -> None:
    rows, answer, _ = all_parts(slow, by="town", constraints=TIGHT)
    groups, declined = answer["groups"], approve(MANY) == "declined"
    assert [each["text"] for each in groups["shown"]] == ["Bonn", "Jena"]
    assert groups["hidden"] == 1
    assert groups["hidden_people"] == (declined & (MANY["town"] == "Ulm")).sum() < LEAST
    for each in groups["shown"]:
        there = (MANY["town"] == each["text"]).to_numpy()
        mine = [row for row in rows if there[row["case"]]]
        with_one = [row["distance"] for row in mine if row["options"]]
        assert each["people"] == there.sum()
        assert each["open"] == each["done"] == (there & declined).sum() == len(mine)
        assert each["with_an_option"] == pytest.approx(len(with_one) / len(mine))
        expected = None if len(with_one) < LEAST else np.median(with_one)
        assert each["median_distance"] == (expected and pytest.approx(expected, rel=1e-3))


def test_numbers_are_grouped_in_bands(slow: Surveys) -> None:
    _, answer, _ = all_parts(slow, by="income")
    shown = answer["groups"]["shown"]
    assert 1 < len(shown) <= 4
    assert shown[0]["text"].startswith(f"{MANY['income'].min()} to ")
    assert sum(each["people"] for each in shown) <= 300


def test_only_the_last_surveys_are_remembered(slow: Surveys) -> None:
    for options in range(1, module.MOST_SURVEYS + 2):
        slow.explain_more(GroupRequest(target="approved", options=options))
    assert slow.needs_work(GroupRequest(target="approved", options=1))
    assert not slow.needs_work(GroupRequest(target="approved", options=2))


def test_a_least_probability_counts_who_is_not_sure_enough() -> None:
    X = TRAINING[["income", "debt"]].astype(float)
    model = LogisticRegression().fit(X, X["income"] > X["debt"])
    served = Served("loans", DiverseExplainer(model).fit(X), MANY[["income", "debt"]])
    surveys = Surveys(Cases(served))
    totals = []
    for probability in (None, 0.5, 0.9):
        request = GroupRequest(target=True, target_probability=probability)
        surveys.explain_more(request)
        totals.append(surveys.describe(request)["total"])
    probable = model.predict_proba(MANY[["income", "debt"]])[:, 1]
    assert totals == [(probable < each).sum() for each in (0.5, 0.5, 0.9)]
    assert totals[2] > totals[1]


def test_a_range_of_numbers_can_be_wanted() -> None:
    X = TRAINING[["income", "debt"]].astype(float)
    model = LinearRegression().fit(X, X["income"] - X["debt"] + 0.25)
    served = Served("loans", DiverseExplainer(model).fit(X), MANY[["income", "debt"]])
    surveys, request = Surveys(Cases(served)), GroupRequest(interval=(10.0, 60.0))
    surveys.explain_more(request)
    predicted = model.predict(MANY[["income", "debt"]])
    assert surveys.describe(request)["total"] == ((predicted < 10) | (predicted > 60)).sum()


def test_cases_that_cannot_be_read_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PEOPLE", 40)
    rows = MANY.iloc[:50].copy()
    rows.iloc[1, 2] = "boat"
    served = Served("loans", DiverseExplainer(approve).fit(TRAINING), rows)
    found, answer, _ = all_parts(Surveys(Cases(served)))
    assert (answer["people"], answer["left_out"]) == (39, 10)
    declined = np.flatnonzero(approve(rows.iloc[:40]) == "declined")
    assert [row["case"] for row in found] == [each for each in declined if each != 1]


def test_what_was_cancelled_anywhere_leaves_nothing_half_done(many: Served) -> None:
    def fresh() -> Surveys:
        return Surveys(Cases(many), clock=lambda: 0.0)

    whole = all_parts(fresh(), constraints=TIGHT)[0]
    passed: list[bool] = []
    request = GroupRequest(target="approved", constraints=TIGHT)
    with watched_by(passed.append):
        fresh().explain_more(request)
    surveys = fresh()
    for stop in range(1, len(passed), 3):
        left = iter(range(stop))

        def cancel(_: bool, left: Any = left) -> None:
            if next(left, None) is None:
                raise WorkCancelled

        try:
            with watched_by(cancel):
                surveys.explain_more(request)
        except WorkCancelled:
            continue
        break
    assert all_parts(surveys, constraints=TIGHT)[0] == whole


def test_the_route_gives_parts_until_all_is_there(many: Served) -> None:
    rows: list[Any] = []
    with TestClient(create_app(many), base_url="http://127.0.0.1") as client:
        while True:
            asked = {"target": "approved", "first": len(rows), "by": "home"}
            answer = client.post("/explorer/group", json=asked).json()
            rows += answer["rows"]
            if answer["done"] == answer["total"]:
                break
        assert len(rows) == answer["total"] == (approve(MANY) == "declined").sum()
        assert sum(each["open"] for each in answer["groups"]["shown"]) == answer["total"]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"by": "shoe size"}, "There is no feature 'shoe size'"),
        ({"by": ["home"]}, "by"),
        ({"first": -1}, "first"),
        ({"first": 0.5}, "first"),
        ({"first": "0"}, "first"),
        ({"values": {}}, "values: unknown key"),
        ({"target": "perhaps"}, "perhaps"),
        ({"target_probability": 2}, "target_probability"),
        ({"options": 0}, "options"),
        ({"constraints": {"shoe size": {"locked": True}}}, "There is no feature 'shoe size'"),
        ({"interval": [1, 2], "target": None}, "interval"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(
    many: Served, asked: dict[str, Any], says: str
) -> None:
    with TestClient(create_app(many), base_url="http://127.0.0.1") as client:
        answer = client.post("/explorer/group", json={"target": "approved"} | asked)
        assert answer.status_code == 422
        assert says in answer.json()["error"]


def test_a_page_far_ahead_gets_nothing_and_nothing_breaks(slow: Surveys) -> None:
    slow.explain_more(GroupRequest(target="approved"))
    answer = slow.describe(GroupRequest(target="approved", first=10**9))
    assert answer["rows"] == []
