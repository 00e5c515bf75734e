"""When something fails, the request gets an answer, and the log tells where."""

from __future__ import annotations

import asyncio
import logging

import pandas as pd
import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from starlette.types import Message, Receive, Scope, Send
from support.served_loans import DECLINED, TRAINING, approve

from counterset import DiverseExplainer
from counterset.serve.app import create_app
from counterset.serve.logs import JsonLines
from counterset.serve.middleware import Measures, Observer
from counterset.serve.served import Served


@pytest.mark.parametrize("error", [RuntimeError, SystemExit, KeyboardInterrupt])
def test_a_model_that_fails_is_an_answer_without_its_message(
    error: type[BaseException], served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """``SystemExit`` used to end the server, and not to be an answer at all."""

    def fragile(rows: pd.DataFrame) -> object:
        if (rows["income"] == 666).any():
            raise error("Eve earns 666")
        return approve(rows)

    explainer = DiverseExplainer(fragile).fit(TRAINING)
    loans = Served("fragile", explainer, served.cases)
    loans.warm_up()
    app = create_app(loans)
    with caplog.at_level(logging.INFO, "counterset.serve"):
        answer = TestClient(app, base_url="http://127.0.0.1").post(
            "/explain", json={"instances": [DECLINED | {"income": 666}]}
        )
    assert answer.status_code == 500
    assert answer.json()["error"].startswith("The server failed.")
    assert "Eve" not in answer.text
    assert answer.headers["X-Request-ID"] in answer.text
    failed, request = caplog.records
    assert (failed.message, request.message) == ("failed", "request")
    assert request.counts["status"] == 500  # type: ignore[attr-defined]
    told = JsonLines().format(failed)
    assert error.__name__ in told
    assert "fragile" in told
    assert "Eve" not in told


def test_who_is_not_finished_when_the_server_stops_has_an_answer() -> None:
    sent: list[Message] = []

    async def hang(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.Event().wait()

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    async def stop() -> None:
        observer = Observer(hang, Measures(lambda: 0, lambda: 0))
        scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        asked = asyncio.create_task(observer(scope, receive, send))
        await asyncio.sleep(0)
        asked.cancel()
        await asked

    asyncio.run(stop())
    assert sent[0]["status"] == 503
    assert "Send it again" in sent[1]["body"].decode()


def test_requests_and_rows_are_counted_by_route_and_status(
    client: TestClient,
) -> None:
    rich = DECLINED | {"income": 90}
    client.post("/explain", json={"instances": [DECLINED, rich, DECLINED]})
    client.get("/nowhere/1")
    client.get("/nowhere/2")
    answer = client.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    samples = {
        (each.name, *sorted(each.labels.values())): each.value
        for family in text_string_to_metric_families(answer.text)
        for each in family.samples
    }
    assert samples["counterset_requests_total", "/explain", "200", "POST"] == 1
    assert samples["counterset_requests_total", "404", "GET", "other"] == 2
    assert samples["counterset_instances_total", "explained"] == 2
    assert samples["counterset_instances_total", "already_reached"] == 1
    assert samples["counterset_request_seconds_count", "/explain"] == 1
    assert samples["counterset_requests_waiting",] == 0
