"""What is refused before anything else looks at a request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from support.served_loans import DECLINED

from counterset.serve.app import create_app
from counterset.serve.middleware import LOOPBACK_HOSTS, Gate
from counterset.serve.quotas import Quotas
from counterset.serve.served import Served

TOKEN = "opén sesame"


@pytest.fixture(scope="module")
def guarded(served: Served) -> TestClient:
    """Asks a server that other machines can reach."""
    app = create_app(served, token=TOKEN, hosts=None)
    return TestClient(app, base_url="http://example.org")


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", "Bearer opén sesam", "Bearer é"]
)
def test_without_the_token_nothing_is_told(guarded: TestClient, given: str | None) -> None:
    headers = {} if given is None else {b"Authorization": given.encode("utf-8")}
    for path in ("/schema", "/metrics", "/v1/models", "/openapi.json", "/nowhere", "/explain"):
        answer = guarded.get(path, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert "Authorization: Bearer" in answer.json()["error"]


@pytest.mark.parametrize("kind", ["Bearer", "bearer"])
def test_with_the_token_there_is_an_answer(guarded: TestClient, kind: str) -> None:
    headers = {b"Authorization": f"{kind} {TOKEN}".encode()}
    assert guarded.get("/schema", headers=headers).status_code == 200
    answer = guarded.post("/explain", json={"instances": [DECLINED]}, headers=headers)
    assert answer.json()["predictions"] == ["declined"]


def test_health_and_the_files_of_the_page_need_no_token(guarded: TestClient) -> None:
    for path in ("/health", "/health/live", "/health/ready", "/", "/index.html"):
        assert guarded.get(path).status_code == 200
    assert guarded.get("/health/../schema").status_code == 401


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.0.0.1:8000", "localhost:1", "localhost:65535", "LOCALHOST"),
        *("localhost.", "LocalHost.:80", "[::1]", "[::1]:8"),
    ],
)
def test_requests_for_this_machine_pass(client: TestClient, host: str) -> None:
    assert client.get("/schema", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "127.0.0.1.evil.example", "localhost.evil:80", "", "[::2]", "[::1", "]"),
        # What follows used to pass.
        *("[::1].evil.example", "[::1]evil", "localhost:evil.example", "127.0.0.1:80:evil"),
        *("localhost:", "localhost:-1", "localhost:65536", "localhost:٣", "localhost:1 evil"),
        *("evil@localhost", "localhost@evil", "user:80@evil", "localhost..", ".", "localhost/evil"),
        *("localhost,evil", "[::1%25eth0]", "[localhost]", "[[::1]]", "::1"),
    ],
)
def test_requests_for_other_hosts_are_refused(client: TestClient, host: str) -> None:
    answer = client.get("/schema", headers={b"Host": host.encode()})
    assert answer.status_code == 421
    assert "this machine only" in answer.json()["error"]


def test_a_request_has_one_host(client: TestClient) -> None:
    answer = client.get("/schema", headers=[("Host", "localhost"), ("Host", "evil.example")])
    assert answer.status_code == 421


def parts(count: int, size: int) -> Iterator[bytes]:
    for _ in range(count):
        yield b" " * size


def test_a_body_of_ten_megabytes_is_refused_however_it_is_sent(client: TestClient) -> None:
    whole = client.post("/explain", content=b" " * 10_000_000)
    assert whole.status_code == 413
    assert "at most 1000000 bytes" in whole.json()["error"]
    chunked = client.post("/explain", content=parts(1000, 10_000))
    assert chunked.status_code == 413
    lying = client.post("/explain", content=b" " * 2_000_000, headers={"Content-Length": "5"})
    assert lying.status_code == 413


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    pytest.fail("was asked")


def asked(quotas: Quotas, messages: list[Message], headers: dict[str, str]) -> tuple[int, int]:
    """Ask a gate; return the status, and how many messages it did not read."""
    gate = Gate(refuse, quotas, LOOPBACK_HOSTS, None, ())
    sent: list[Message] = []

    async def receive() -> Message:
        if not messages:
            await asyncio.Event().wait()  # nothing comes any more
        return messages.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    raw = [(b"host", b"localhost")] + [
        (name.encode(), value.encode()) for name, value in headers.items()
    ]
    scope = {"type": "http", "path": "/", "method": "POST", "headers": raw}
    asyncio.run(gate(scope, receive, send))
    return sent[0]["status"], len(messages)


def test_of_a_body_that_is_too_large_no_more_is_read_than_the_limit() -> None:
    part = {"type": "http.request", "body": b"x" * 10, "more_body": True}
    assert asked(Quotas(body=25), [part.copy() for _ in range(9)], {}) == (413, 6)
    assert asked(Quotas(body=25), [part.copy()] * 9, {"content-length": "90"}) == (413, 9)


def test_a_body_that_never_ends_is_given_up() -> None:
    begun = {"type": "http.request", "body": b"x", "more_body": True}
    assert asked(Quotas(transfer_seconds=0.01), [begun], {}) == (408, 0)


def test_a_request_that_has_two_lengths_is_refused() -> None:
    """A proxy may go by the other one, and take the rest of the body for a request of its own."""
    part = {"type": "http.request", "body": b"x", "more_body": False}
    lengths = {"content-length": "1", "transfer-encoding": "chunked"}
    assert asked(Quotas(), [part], lengths) == (400, 1)
