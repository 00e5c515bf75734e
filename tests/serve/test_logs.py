"""Lines of JSON, without personal values."""

from __future__ import annotations

import io
import json
import logging

import pytest
from fastapi.testclient import TestClient
from support.served_loans import DECLINED

from counterset.serve.logs import LOGGER, JsonLines, OnceInAWhile, write_logs


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the server logs."""
    for name in (LOGGER.name, "uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        monkeypatch.setattr(logger, "handlers", logger.handlers)
        monkeypatch.setattr(logger, "propagate", logger.propagate)
        monkeypatch.setattr(logger, "level", logger.level)
    stream = io.StringIO()
    write_logs(stream)
    return stream


def test_a_request_is_a_line_with_its_route_status_time_and_counts(
    client: TestClient, written: io.StringIO
) -> None:
    answer = client.post("/explain?who=Eve", json={"instances": [DECLINED, DECLINED]})
    line = json.loads(written.getvalue())
    assert line.keys() == {
        *("time", "level", "event", "request", "method", "route"),
        *("status", "milliseconds", "instances"),
    }
    assert (line["method"], line["route"], line["status"]) == ("POST", "/explain", 200)
    assert (line["instances"], line["request"]) == (2, answer.headers["X-Request-ID"])
    assert line["milliseconds"] > 0


def test_what_a_request_says_is_never_logged(client: TestClient, written: io.StringIO) -> None:
    secret = "Eve-Adams-1970"
    client.get(f"/{secret}?{secret}", headers={"X-Name": secret})
    client.request(secret, "/schema")
    client.post(f"/v1/models/{secret}:explain", json={})
    client.post("/explain", json={"instances": [DECLINED | {"home": secret}], secret: 1})
    client.post("/explain", json={"instances": [DECLINED | {"home": secret}]})
    client.post("/explain", content=secret)
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [line["status"] for line in lines] == [404, 405, 404, 422, 422, 415]
    assert secret not in written.getvalue()


def test_of_an_error_the_type_and_the_place_are_told_but_not_the_message() -> None:
    try:
        raise ValueError("Eve earns 30")
    except ValueError as error:
        record = logging.makeLogRecord(
            {"msg": "failed", "exc_info": (ValueError, error, error.__traceback__)}
        )
    told = json.loads(JsonLines().format(record))
    assert told["error"] == "ValueError"
    assert "test_logs.py" in told["at"][0]
    assert "Eve" not in json.dumps(told)


def test_what_others_log_is_repeated_once_in_a_while(written: io.StringIO) -> None:
    """Without descriptors, asyncio logs some thousand errors in a second."""
    asyncio_ = logging.getLogger("asyncio")
    for _ in range(1000):
        asyncio_.error("out of resource\nsocket: <of Eve>")
    asyncio_.error("another place")
    for _ in range(3):
        LOGGER.info("request")
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [line["event"] for line in lines] == [
        "out of resource",
        "another place",
        *["request"] * 3,
    ]
    assert "Eve" not in written.getvalue()


def test_a_line_that_is_repeated_tells_how_often_it_was_not() -> None:
    once = OnceInAWhile(interval=10)
    records = [logging.makeLogRecord({"created": at}) for at in (0, 1, 2, 11)]
    assert [once.filter(each) for each in records] == [True, False, False, True]
    assert records[-1].counts == {"repeated": 2}  # type: ignore[attr-defined]
