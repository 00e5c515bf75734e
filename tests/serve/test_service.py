"""What other programs ask: explanations, by KServe's V1 protocol and plainly."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from support.served_loans import DECLINED, TRAINING, approve

from counterset import Constraints, DiverseExplainer, Explanation
from counterset.serve.app import create_app
from counterset.serve.quotas import Quotas
from counterset.serve.served import Served

KSERVE = "/v1/models/loans:explain"


def explained(client: TestClient, **asked: Any) -> Explanation:
    answer = client.post("/explain", json={"instances": [DECLINED], **asked})
    assert answer.status_code == 200, answer.text
    return Explanation.from_dict(answer.json()["explanations"][0])


def test_kserve_lists_models_tells_that_one_is_ready_and_explains(
    client: TestClient, served: Served
) -> None:
    assert client.get("/v1/models").json() == {"models": ["loans"]}
    assert client.get("/v1/models/loans").json() == {"name": "loans", "ready": True}
    answer = client.post(KSERVE, json={"instances": [DECLINED, list(DECLINED.values())]}).json()
    assert answer["predictions"] == ["declined", "declined"]
    alone = served.explainer.explain(DECLINED, target="approved")
    for each in answer["explanations"]:
        explanation = Explanation.from_dict(each)
        assert (explanation.values == alone.values).all()
        assert explanation.distances.tolist() == alone.distances.tolist()


def test_kserve_predicts(client: TestClient) -> None:
    rich = DECLINED | {"income": 90}
    asked = {"instances": [DECLINED, rich]}
    answer = client.post("/v1/models/loans:predict", json=asked)
    assert answer.json() == {"predictions": ["declined", "approved"]}
    refused = client.post("/v1/models/loans:predict", json={"instances": [{}]})
    assert refused.status_code == 422
    assert "'income' is missing" in refused.json()["error"]
    assert client.post("/v1/models/other:predict", json=asked).status_code == 404


def test_what_comes_back_are_counterfactuals_within_the_servers_constraints(
    client: TestClient,
) -> None:
    explanation = explained(client)
    assert len(explanation) == 3
    assert set(approve(explanation.counterfactuals)) == {"approved"}
    assert set(explanation.counterfactuals["town"]) == {"Ulm"}


def test_a_request_says_how_many_options_and_what_may_change(client: TestClient) -> None:
    locks = {"immutable": ["debt", "home"], "ranges": {"income": [0, 80]}}
    explanation = explained(client, options=2, constraints=locks)
    assert 1 <= len(explanation) <= 2
    assert set(explanation.counterfactuals["debt"]) == {60}
    assert set(explanation.counterfactuals["home"]) == {"rent"}
    assert explanation.counterfactuals["income"].max() <= 80


def test_a_request_may_want_another_class_and_words(client: TestClient) -> None:
    rich = DECLINED | {"income": 90}
    asked = {"instances": [rich], "target": "declined", "describe": True}
    answer = client.post("/explain", json=asked).json()
    assert answer["predictions"] == ["approved"]
    assert answer["explanations"][0]["goal"]["labels"] == ["declined"]
    assert "is classified as 'approved'" in answer["descriptions"][0]
    other = client.post("/explain", json=asked | {"target": None}).json()
    assert other["explanations"][0]["goal"]["kind"] == "any_other"
    assert client.post("/explain", json={"instances": [rich]}).json()["descriptions"] is None


def test_a_row_that_has_what_is_wanted_and_one_that_cannot_get_it_are_answers_too(
    client: TestClient,
) -> None:
    asked = {
        "instances": [DECLINED | {"income": 90}, DECLINED],
        "constraints": {"immutable": list(DECLINED)},
    }
    answer = client.post("/explain", json=asked | {"describe": True}).json()
    assert [each["status"] for each in answer["explanations"]] == ["already_reached", "none_found"]
    assert all(answer["descriptions"])


def test_shared_lists_can_be_asked_for(client: TestClient, served: Served) -> None:
    shared = explained(client, strategy="shared")
    alone = served.shared.explain(DECLINED, target="approved")
    assert (shared.values == alone.values).all()
    assert explained(client).context.settings.value["strategy"].startswith("Nearest(")


def test_regressions_are_asked_for_an_interval(served: Served) -> None:
    X = TRAINING[["income", "debt"]]
    explainer = DiverseExplainer(lambda rows: rows["income"] - rows["debt"] + 0.5).fit(X)
    left = Served("left", explainer, X, goal={"interval": (10, 20)})
    left.warm_up()
    client = TestClient(create_app(left), base_url="http://127.0.0.1")
    asked: dict[str, Any] = {"instances": [[30, 60]]}
    for interval, low, high in ((None, 10, 20), ([5, None], 5, np.inf)):
        given = {} if interval is None else {"interval": interval}
        answer = client.post("/explain", json=asked | given)
        explanation = Explanation.from_dict(answer.json()["explanations"][0])
        assert low <= explanation.labels.min() <= explanation.labels.max() <= high


HUGE = 10**400
BAD: list[tuple[Any, str]] = [
    ({"instances": [DECLINED | {"income": "30"}]}, "'income' must be a whole number"),
    ({"instances": [DECLINED | {"income": True}]}, "'income' must be a whole number"),
    ({"instances": [DECLINED | {"income": None}]}, "'income' must be a whole number"),
    ({"instances": [DECLINED | {"income": [30]}]}, "'income' must be a whole number"),
    (
        {"instances": [DECLINED | {"income": float("nan")}]},
        "Invalid JSON: NaN is not allowed; use null.",
    ),
    ({"instances": [DECLINED | {"income": float("inf")}]}, "Infinity is not allowed"),
    ({"instances": [DECLINED | {"income": 1e300}]}, "'income' must be a whole number"),
    ({"instances": [DECLINED | {"income": HUGE}]}, "'income' must be a whole number"),
    ({"instances": [DECLINED | {"home": "tent"}]}, '\'home\' must be one of "own", "rent"'),
    ({"instances": [DECLINED | {"home": "\ud800"}]}, "'home' must be one of"),
    ({"instances": [DECLINED | {"name": "Eve"}]}, "'name' is not a column"),
    ({"instances": [{"income": 3}]}, "'debt' is missing"),
    ({"instances": [[1, 2]]}, "has 2 values for 4 columns"),
    ({"instances": ["row"]}, "must be an object, or a list"),
    ({"instances": []}, "instances: List should have at least 1 item"),
    ({"instances": {}}, "instances: Input should be a valid list"),
    ({"instances": [DECLINED] * 101}, "at most 100 instances, got 101"),
    ({"instances": [DECLINED], "options": 21}, "at most 20 options, got 21"),
    ({"instances": [DECLINED], "options": HUGE}, "at most 20 options"),
    ({"instances": [DECLINED], "target": "rejected"}, "No training row is predicted 'rejected'"),
    ({"instances": [DECLINED], "target": {"a": "b"}}, "is no value"),
    ({"instances": [DECLINED], "target_probability": 0.9}, "needs a model with predict_proba"),
    ({"instances": [DECLINED], "interval": [0, 1]}, "needs a model that predicts numbers"),
    ({"instances": [DECLINED], "constraints": {"immutable": ["name"]}}, "no feature 'name'"),
    (
        {"instances": [DECLINED], "constraints": {"increase_only": ["home"]}},
        "feature with an order",
    ),
    ({"instances": [DECLINED], "constraints": {"ranges": {"debt": [9, 1]}}}, "is empty"),
    ({"instances": [DECLINED], "constraints": {"ranges": {"debt": [HUGE, None]}}}, "debt"),
    ({"instances": [DECLINED], "constraints": {"max_increase": {"debt": -1}}}, "at least 0"),
    (
        {"instances": [DECLINED], "constraints": {"relations": ["(" * 99]}},
        "Cannot read the relation",
    ),
    ({"instances": [DECLINED], "constraints": {"together": [[]]}}, "at least 1 item"),
    ({"instances": [DECLINED], "lock": ["debt"]}, "lock: unknown key"),
    ([DECLINED], "the body: "),
    ("instances", "the body: "),
]


@pytest.mark.parametrize("path", ["/explain", KSERVE])
@pytest.mark.parametrize(("asked", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_a_bad_request_is_refused_with_a_reason(
    client: TestClient, path: str, asked: Any, reason: str
) -> None:
    body = json.dumps(asked)  # with NaN and all that Python writes
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert reason in answer.json()["error"]


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"instances": [', "application/json", 422),
        (b"\xff", "application/json", 422),
        (b"[" * 100_000, "application/json", 422),
        (b"", "application/json", 422),
        (b'{"instances": [[1]]}', "text/plain", 415),
        (b"instances=1", "application/x-www-form-urlencoded", 415),
    ],
)
def test_what_is_no_json_is_refused(
    client: TestClient, body: bytes, kind: str, status: int
) -> None:
    answer = client.post("/explain", content=body, headers={"Content-Type": kind})
    assert answer.status_code == status
    assert "JSON" in answer.json()["error"] or "the body" in answer.json()["error"]


def test_of_many_faults_the_first_are_told(client: TestClient) -> None:
    """An answer used to list each of 80,000 unknown keys, in 9 MB."""
    unknown = {f"key {i}": i for i in range(9000)}
    answer = client.post("/explain", json={"instances": [DECLINED], **unknown})
    assert answer.status_code == 422
    assert len(answer.json()["details"]) == 20


def test_details_tell_the_instance_the_field_what_was_got_and_what_is_allowed(
    client: TestClient,
) -> None:
    wrong = DECLINED | {"home": "tent"}
    answer = client.post("/explain", json={"instances": [DECLINED, wrong]}).json()
    assert answer["details"] == [
        {
            "instance": 1,
            "field": "home",
            "problem": 'must be one of "own", "rent"',
            "got": "tent",
            "allowed": {"enum": ["own", "rent"]},
        }
    ]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/explain", 405),
        ("DELETE", KSERVE, 405),
        ("POST", "/schema", 405),
        ("POST", "/v1/models/other:explain", 404),
        ("GET", "/v1/models/other", 404),
        ("GET", "/docs", 404),
    ],
)
def test_another_method_or_model_is_refused(
    client: TestClient, method: str, path: str, status: int
) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"]


def test_the_schema_tells_what_a_request_may_hold(client: TestClient) -> None:
    told = client.get("/schema").json()
    assert [each["name"] for each in told["features"]] == list(DECLINED)
    assert told["features"][0]["unit"] == "EUR"
    assert told["features"][2]["values"] == ["own", "rent"]
    assert (told["goal"], told["options"]) == ({"target": "approved"}, 3)
    assert told["constraints"] == {"immutable": ["town"]}
    assert told["quotas"]["instances"] == 100
    assert told["instance"]["anyOf"][0]["properties"]["home"] == {"enum": ["own", "rent"]}


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
def test_users_with_different_locks_never_see_each_others_answer(
    client: TestClient, served: Served
) -> None:
    """Each answer is what the explainer gives to that user alone."""
    locks = [["debt"], ["income"], ["home", "debt"], []]
    asked = [(DECLINED | {"income": 20 + i}, locks[i % 4], 1 + i % 3) for i in range(40)]

    def ask(user: tuple[dict[str, Any], list[str], int]) -> Any:
        row, immutable, options = user
        body = {"instances": [row], "options": options, "constraints": {"immutable": immutable}}
        return client.post("/explain", json=body).json()["explanations"][0]

    with ThreadPoolExecutor(8) as users:
        answers = list(users.map(ask, asked))
    for (row, immutable, options), answer in zip(asked, answers, strict=True):
        alone = served.with_options(options).explain(
            row, target="approved", constraints=Constraints(immutable=immutable)
        )
        assert answer == json.loads(json.dumps(alone.to_dict(reasons=False)))
        for each in answer["options"]:
            assert {name: each["values"][name] for name in immutable} == {
                name: row[name] for name in immutable
            }


def test_requests_that_are_explained_together_get_what_each_would_get_alone(
    served: Served,
) -> None:
    """Requests that wait for the same are explained together, and keep their own numbers."""
    go = Event()
    row = DECLINED | {"income": 25}
    asked = [{"instances": [row, DECLINED]}, {"instances": [DECLINED], "describe": True}]
    with stuck(served, Quotas(threads=1), go) as client, ThreadPoolExecutor(12) as users:
        waiting = [users.submit(client.post, "/explain", json=asked[i % 2]) for i in range(12)]
        while "counterset_requests_waiting 12.0" not in client.get("/metrics").text:
            pass
        go.set()
        answers = [each.result().json() for each in waiting]
        alone = [client.post("/explain", json=each).json() for each in asked]
    assert answers == alone * 6
    assert [each["index"] for each in answers[0]["explanations"]] == [0, 1]
    assert answers[0]["descriptions"] is None


def stuck(served: Served, quotas: Quotas, go: Event) -> TestClient:
    """Return a client of a server whose model waits until it may go on, once it is ready."""
    free = Event()
    free.set()
    gate = [free]

    def model(rows: pd.DataFrame) -> Any:
        assert gate[0].wait(60)
        return approve(rows)

    explainer = DiverseExplainer(model).fit(TRAINING)
    slow = Served("slow", explainer, served.cases)
    slow.warm_up()
    gate[0] = go
    return TestClient(create_app(slow, quotas), base_url="http://127.0.0.1")


def test_a_full_queue_asks_to_come_later_and_is_not_ready(served: Served) -> None:
    go = Event()
    asked = {"instances": [DECLINED]}
    with stuck(served, Quotas(waiting=2, threads=1), go) as client, ThreadPoolExecutor(2) as users:
        waiting = [users.submit(client.post, "/explain", json=asked) for _ in range(2)]
        while client.get("/health/ready").status_code == 200:
            pass
        refused = client.post("/explain", json=asked)
        assert refused.status_code == 503
        assert refused.headers["Retry-After"] == "1"
        assert client.get("/health").json() == {"live": True, "ready": False}
        assert client.get("/health/live").status_code == 200
        go.set()
        assert [each.result().status_code for each in waiting] == [200, 200]
        assert client.get("/health/ready").json() == {"live": True, "ready": True}


def test_a_request_that_takes_too_long_is_given_up(served: Served) -> None:
    go = Event()
    with stuck(served, Quotas(seconds=0.05, threads=1), go) as client:
        answer = client.post("/explain", json={"instances": [DECLINED]})
        go.set()
    assert answer.status_code == 504
    assert "more than 0.05 s" in answer.json()["error"]
