"""Clients that go away: their work ends, and leaves nothing half done behind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from threading import Event
from typing import Any

import pandas as pd
import pytest
from support.served_loans import DECLINED, TRAINING, approve, serve_loans

from counterset import DiverseExplainer
from counterset._base.checkpoints import WorkCancelled, watched_by
from counterset.serve.app import create_app
from counterset.serve.cases import CaseRequest, Cases, FeatureConstraint, NearbyRequest
from counterset.serve.explorer import describe_case, draw_map, find_obstacle
from counterset.serve.people import ask_nearby
from counterset.serve.served import Served


class Held:
    """A model that waits once it is told to, and counts its calls."""

    def __init__(self) -> None:
        self.calls, self.go, self.reached, self.holds = 0, Event(), Event(), False

    def predict(self, rows: pd.DataFrame) -> Any:
        self.calls += 1
        if self.holds:
            self.reached.set()
            assert self.go.wait(60)
        return approve(rows)


def serve(model: Any) -> Served:
    loans = serve_loans()
    explainer = DiverseExplainer(**loans.explainer.get_params(deep=False) | {"model": model})
    served = Served("loans", explainer.fit(TRAINING), loans.cases, goal=loans.goal)
    served.warm_up()
    return served


async def post(app: Any, path: str, body: Any, gone: asyncio.Event) -> list[dict[str, Any]]:
    """Send a request whose client goes away when told; return what was sent to it."""
    first = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if first:
            return first.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"host", b"127.0.0.1")]
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(),
        "query_string": b"", "headers": headers, "http_version": "1.1", "scheme": "http",
    }  # fmt: skip
    await app(scope, receive, send)
    return sent


#: What the page and programs ask.
CASE: dict[str, Any] = {"values": DECLINED, "target": "approved"}
ASKED: dict[str, dict[str, Any]] = {
    "/explorer/explain": CASE,
    "/explorer/lift": CASE | {"constraints": {"income": {"locked": True}}},
    "/explorer/map": CASE,
    "/explorer/nearby": CASE | {"strategy": "shared"},
    "/explorer/report": CASE,
    "/explorer/predict": {"values": DECLINED},
    "/explain": {"instances": [DECLINED]},
    "/v1/models/loans:predict": {"instances": [DECLINED]},
}


@pytest.mark.parametrize("path", ASKED)
def test_when_the_client_is_gone_the_model_is_not_asked_again(path: str) -> None:
    """The work used to go on to its end, and all edits after it waited."""
    model = Held()
    app = create_app(serve(model))

    async def ask() -> tuple[list[Any], list[Any]]:
        gone = asyncio.Event()
        model.holds = True
        request = asyncio.create_task(post(app, path, ASKED[path], gone))
        while not model.reached.is_set():
            await asyncio.sleep(0.001)
        calls = model.calls
        gone.set()
        nothing = await request
        model.holds = False
        model.go.set()
        answer = await post(app, "/explorer/predict", {"values": DECLINED}, asyncio.Event())
        assert model.calls <= calls + 2  # those of the last request
        return nothing, answer

    nothing, answer = asyncio.run(ask())
    assert nothing == []
    assert answer[0]["status"] == 200


def test_a_request_without_an_answer_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    model = Held()
    app = create_app(serve(model))

    async def ask() -> None:
        gone = asyncio.Event()
        model.holds = True
        request = asyncio.create_task(post(app, "/explorer/explain", CASE, gone))
        while not model.reached.is_set():
            await asyncio.sleep(0.001)
        gone.set()
        await request
        model.go.set()

    with caplog.at_level("INFO", logger="counterset.serve"):
        asyncio.run(ask())
    logged = [each.__dict__["counts"] for each in caplog.records if "counts" in each.__dict__]
    assert [(each["route"], each["status"]) for each in logged] == [("/explorer/explain", 499)]


def test_a_client_that_leaves_within_its_body_is_not_answered() -> None:
    app = create_app(serve(approve))
    first = [{"type": "http.request", "body": b'{"values": ', "more_body": True}]
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return first.pop() if first else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"host", b"127.0.0.1")]
    scope = {
        "type": "http", "method": "POST", "path": "/explorer/explain", "headers": headers,
        "query_string": b"", "raw_path": b"/explorer/explain", "http_version": "1.1",
        "scheme": "http",
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    assert sent == []


class Countdown:
    """Cancels work at its nth checkpoint."""

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self, _: bool) -> None:
        self.left -= 1
        if self.left < 0:
            raise WorkCancelled


#: With difficulties, costs are a person's own, and lists are learned anew.
HARD = {"income": FeatureConstraint(difficulty=3)}
WORK: dict[str, Callable[[Cases], Any]] = {
    "explain": lambda cases: describe_case(CaseRequest(**CASE), cases),
    "lift": lambda cases: find_obstacle(
        CaseRequest(**CASE, constraints={"income": FeatureConstraint(locked=True)}), cases
    ),
    "map": lambda cases: draw_map(cases.explained(CaseRequest(**CASE)), cases.served),
    "nearby": lambda cases: ask_nearby(NearbyRequest(**CASE), cases),
    "shared, hard": lambda cases: ask_nearby(
        NearbyRequest(**CASE, strategy="shared", constraints=HARD), cases
    ),
}


@pytest.mark.parametrize("what", WORK)
def test_what_was_cancelled_anywhere_gives_the_answer_of_a_fresh_server(what: str) -> None:
    work, served = WORK[what], serve(approve)
    passed = list[bool]()
    with watched_by(passed.append):
        fresh = work(Cases(served))
    cases = Cases(served)
    for left in range(len(passed)):
        with watched_by(Countdown(left)), pytest.raises(WorkCancelled):
            work(Cases(served))
    # Within one object, too, which remembers explanations.
    with watched_by(Countdown(len(passed) // 2)), pytest.raises(WorkCancelled):
        work(cases)
    assert work(cases) == fresh
    assert work(Cases(serve(approve))) == fresh
