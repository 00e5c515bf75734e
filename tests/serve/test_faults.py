"""Faults of the model, of clients and of the machine: a server in a process of its own survives.

Time quotas are small here. Only what hangs is waited for, and verdicts do not depend on how long
that takes.
"""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from support.served_loans import DECLINED
from support.slow_server import EXITS, OPENS, WAITS, Started, slow_server

HEALTHY = {"live": True, "ready": True}
#: What a test waits for at most, so that a server that hangs is a failure and not a stop.
SAFE = 60


def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + SAFE
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.001)


def check_alive(server: Started) -> None:
    """Check that a server answers who has nothing to do with a fault."""
    for path in ("/health/live", "/health/ready", "/health"):
        answer = server.get(path)
        assert (answer.status_code, answer.json()) == (200, HEALTHY)
    answer = server.explain()
    assert (answer.status_code, answer.json()["predictions"]) == (200, ["declined"])


def check_end(server: Started, end: signal.Signals = signal.SIGTERM) -> None:
    """Check that a signal ends a server."""
    server.process.send_signal(end)
    server.process.wait(timeout=SAFE)
    assert server.lines()[-1]["event"].startswith("Finished server process")


def connect(server: Started) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=SAFE)


def rest_of(connection: socket.socket) -> bytes:
    """Return what a server sends until it closes a connection."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def send_forever(connection: socket.socket, data: bytes) -> None:
    """Send data again and again, until the server closes the connection."""
    while True:
        connection.sendall(data)


def test_a_model_that_hangs(tmp_path: Path) -> None:
    """It used to take all requests of its batch with it, and the signal did not end the server."""
    with (
        slow_server(tmp_path, threads=1, work_seconds=2, shutdown_seconds=1) as server,
        ThreadPoolExecutor(9) as users,
    ):
        asked = [users.submit(server.explain, WAITS)]
        until(lambda: server.waiting() == 1)
        # These are one batch, once the first was given up.
        incomes = [WAITS, *[DECLINED["income"]] * 7]
        asked += [users.submit(server.explain, income) for income in incomes]
        answers = [each.result() for each in asked]
        assert [answers[0].status_code, answers[1].status_code] == [504, 504]
        assert {each.status_code for each in answers[2:]} <= {200, 504}
        for each in answers:
            if each.status_code == 504:
                assert "for more than 2 s. Send it again" in each.json()["error"]
        check_alive(server)
        assert "\ncounterset_threads_hung 2.0" in server.get("/metrics").text
        given_up = [each for each in server.lines() if each["event"] == "thread given up"]
        assert [each["hung_threads"] for each in given_up] == [1, 2]
        check_end(server, signal.SIGINT)  # the other signal: test_a_signal_while_the_model_hangs


def test_a_model_that_hangs_in_all_threads(tmp_path: Path) -> None:
    """Readiness used to stay true."""
    with slow_server(tmp_path, threads=1, work_seconds=2, hung_threads=1) as server:
        assert [server.explain(WAITS).status_code for _ in range(2)] == [504, 504]
        for path in ("/health/live", "/health/ready", "/health"):
            answer = server.get(path)
            assert (answer.status_code, answer.json()) == (503, {"live": False, "ready": False})
        assert server.get("/v1/models/loans").json()["ready"] is False
        refused = server.explain()
        assert refused.status_code == 503
        assert "must be restarted" in refused.json()["error"]
        server.go.touch()  # the calls return at last
        until(lambda: server.get("/health/ready").status_code == 200)
        check_alive(server)
        check_end(server)


def test_a_model_that_raises_system_exit(tmp_path: Path) -> None:
    """No request of its batch used to be answered, and the event loop ended."""
    with slow_server(tmp_path, threads=1) as server, ThreadPoolExecutor(6) as users:
        first = users.submit(server.explain, WAITS)
        until(lambda: server.waiting() == 1)
        exits = users.submit(server.explain, EXITS)
        others = [users.submit(server.explain) for _ in range(4)]
        until(lambda: server.waiting() == 6)
        server.go.touch()
        failed = exits.result()
        assert failed.status_code == 500
        assert failed.headers["X-Request-ID"] in failed.json()["error"]
        assert [each.result().status_code for each in [first, *others]] == [200] * 5
        (logged,) = [each for each in server.lines() if each["event"] == "failed"]
        assert logged["error"] == "ThreadExitError from SystemExit"
        check_alive(server)
        check_end(server)


def test_a_signal_while_the_model_hangs(tmp_path: Path) -> None:
    """What is not finished in time is told so, and the server ends."""
    with slow_server(tmp_path, threads=1, shutdown_seconds=1) as server:
        with ThreadPoolExecutor(3) as users:
            asked = [users.submit(server.explain, WAITS) for _ in range(3)]
            until(lambda: server.waiting() == 3)
            server.process.send_signal(signal.SIGTERM)
            answers = [each.result() for each in asked]
        assert [each.status_code for each in answers] == [503] * 3
        assert "stopped before the request was finished" in answers[0].json()["error"]
        server.process.wait(timeout=SAFE)


HALVES = {
    "nothing": b"",
    "head": b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-",
    "body": b"POST /explain HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 500\r\n\r\n{",
    "chunk": b"POST /explain HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    "refused": b"POST /explain HTTP/1.1\r\nHost: evil\r\nContent-Length: 500\r\n\r\n{",
}


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """A server that waits for two seconds."""
    with slow_server(tmp_path_factory.mktemp("impatient"), transfer_seconds=2) as started:
        yield started


#: How the answer to each half begins, before the connection is closed.
ANSWERS = {
    "nothing": b"",
    "head": b"",
    "body": b"HTTP/1.1 408",
    "chunk": b"HTTP/1.1 408",
    "refused": b"HTTP/1.1 421",
}


def test_requests_that_are_half_sent(impatient: Started) -> None:
    """Connections used to stay open for ever, before any token was asked for."""
    with ExitStack() as stack:
        # All halves at once, so that they are waited for at the same time.
        opened = [
            (half, stack.enter_context(connect(impatient))) for _ in range(50) for half in HALVES
        ]
        for half, connection in opened:
            connection.sendall(HALVES[half])
        check_alive(impatient)
        # Until the server closes them all.
        begun = {(half, rest_of(connection)[:12]) for half, connection in opened}
    assert begun == set(ANSWERS.items())


def test_a_request_that_comes_byte_by_byte(impatient: Started) -> None:
    """Each byte used to begin the time anew."""
    with connect(impatient) as connection:
        connection.sendall(HALVES["refused"])  # whose body is dropped, for a while
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            send_forever(connection, b" ")
    check_alive(impatient)


def test_a_signal_while_requests_are_half_sent(tmp_path: Path) -> None:
    with slow_server(tmp_path, shutdown_seconds=1) as server, ExitStack() as stack:
        for half in HALVES.values():
            stack.enter_context(connect(server)).sendall(half)
        check_alive(server)
        check_end(server)


def test_more_connections_than_there_may_be(tmp_path: Path) -> None:
    """The oldest that keeps the server waiting is closed, and who comes is answered."""
    with slow_server(tmp_path, connections=16) as server, ExitStack() as stack:
        connections = [stack.enter_context(connect(server)) for _ in range(200)]
        for each in connections:
            each.sendall(HALVES["head"])
            check = server.get("/health/live") if each is connections[100] else None
            assert check is None or check.is_success
        check_alive(server)
        assert all(rest_of(each) == b"" for each in connections[:150])
        (told,) = [each for each in server.lines() if "connections" in each["event"]]
        assert told["event"] == "all 16 connections are taken"
        check_end(server)


def test_a_client_that_does_not_read(tmp_path: Path) -> None:
    """Its answers used to be kept for ever."""
    quotas = {"transfer_seconds": 2, "seconds": 5}
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with slow_server(tmp_path, **quotas) as server, connect(server) as connection:
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            send_forever(connection, asked * 100)
        check_alive(server)
        check_end(server)


def test_few_file_descriptors(tmp_path: Path) -> None:
    """The log used to grow by some hundred kilobytes in a second."""
    with slow_server(tmp_path, descriptors=80) as server, ExitStack() as stack:
        assert json.loads(server.get("/schema").text)["quotas"]["connections"] == 16
        for _ in range(100):
            connection = stack.enter_context(connect(server))
            connection.sendall(HALVES["head"])
        check_alive(server)
        assert len(server.lines()) < 20
        check_end(server)


def test_no_file_descriptors(tmp_path: Path) -> None:
    """A model that opens all files there may be: who comes meanwhile waits, and is answered."""
    with slow_server(tmp_path, descriptors=80) as server, ThreadPoolExecutor(9) as users:
        opens = users.submit(server.explain, OPENS)
        until((tmp_path / "opened").exists)
        others = [users.submit(server.get, "/health/live") for _ in range(8)]
        until(lambda: any("out of system" in each["event"] for each in server.lines()))
        server.go.touch()
        assert [each.result().status_code for each in [opens, *others]] == [200] * 9
        check_alive(server)
        resource = [each for each in server.lines() if "out of system" in each["event"]]
        assert len(resource) < 10  # it is told every 10 s at most; it was 2000 times a second
        check_end(server)


def test_too_few_file_descriptors_are_told(tmp_path: Path) -> None:
    with (
        pytest.raises(AssertionError, match="at least 72 open files, and this process may have 60"),
        slow_server(tmp_path, descriptors=60),
    ):
        pass


SIZE = 990_000


def repeated(begin: str, part: str, end: str) -> bytes:
    """Return a body of almost the most bytes, of many parts; ``#`` is the number of a part."""
    count = (SIZE - len(begin) - len(end)) // (len(part) + 5 * part.count("#") + 1)
    return (begin + ",".join(part.replace("#", str(i)) for i in range(count)) + end).encode()


ROW = json.dumps(DECLINED)
BODIES = {
    "keys": repeated("{", '"k#":1', "}"),
    "duplicates": repeated("{", '"k":1', "}"),
    "late duplicate": repeated("{", '"k#":1', ',"z":1,"z":1}'),
    "objects with a late duplicate": b"["
    + b",".join([repeated("{", '"k#":1', ',"z":1,"z":1}')[:9_000]] * 100)
    + b"]",
    "unknown columns": repeated('{"instances":[{', '"k#":1', "}]}"),
    "near columns": repeated('{"instances":[{', '"incom#":1', "}]}"),
    "rows": repeated('{"instances":[', "{}", "]}"),
    "long key": b'{"instances":[{"' + b"a" * SIZE + b'":1}]}',
    "long cell": b'{"instances":[["' + b"a" * SIZE + b'",1,1,1]]}',
    "floats": repeated('{"instances":[', "1e9", "]}"),
    "large numbers": repeated('{"instances":[', "9" * 4000, "]}"),
    "many digits": b'{"instances":[' + b"9" * SIZE + b"]}",
    "large exponent": b'{"instances":[1e999999]}',
    "deep": b"[" * (SIZE // 2) + b"]" * (SIZE // 2),
    "quotes": b'"' + rb"\"" * (SIZE // 2),
    "names": repeated(f'{{"instances":[{ROW}],"constraints":{{"immutable":[', "1", "]}}"),
    "groups": repeated(
        f'{{"instances":[{ROW}],"constraints":{{"together":[', '["income","income"]', "]}}"
    ),
    "allowed": repeated(
        f'{{"instances":[{ROW}],"constraints":{{"allowed":{{"income":[', "#", "]}}}"
    ),
    "targets": repeated(f'{{"instances":[{ROW}],"target":[', '"approved"', "]}"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """A server with the usual quotas."""
    with slow_server(tmp_path_factory.mktemp("server")) as started:
        yield started


@pytest.mark.parametrize("path", ["/explain", "/explorer/explain"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_worst_bodies(server: Started, path: str, body: bytes) -> None:
    """A body of 990 kB with 110,000 keys used to block the whole server for 644 s."""
    assert len(body) < 1_000_000
    kind = {"Content-Type": "application/json"}
    answer = httpx2.post(server.address + path, content=body, headers=kind, timeout=SAFE)
    assert answer.status_code == 422
    assert len(answer.content) < 10_000
    check_alive(server)


OPEN = b" HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HEAD = OPEN + b"Connection: close\r\n"
TYPE = b"Content-Type: application/json\r\n"
RAW = {
    "two lengths": (
        b"POST /explain" + OPEN + TYPE + b"Content-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /schema" + HEAD + b"\r\n",
        400,
    ),
    "unequal lengths": (b"GET /" + HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
    "negative length": (b"GET /" + HEAD + b"Content-Length: -5\r\n\r\n", 400),
    "other coding": (b"POST /explain" + HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n", 400),
    "bad chunk": (b"POST /explain" + HEAD + b"Transfer-Encoding: chunked\r\n\r\nZ\r\n", 400),
    "two hosts": (b"GET /schema" + HEAD + b"Host: localhost\r\n\r\n", 400),
    "no host": (b"GET /schema HTTP/1.0\r\n\r\n", 421),
    "other host": (
        b"GET /schema HTTP/1.1\r\nHost: [::1].evil.example\r\nConnection: close\r\n\r\n",
        421,
    ),
    "address": (b"GET http://evil.example/schema" + HEAD + b"\r\n", 404),
    "long head": (b"GET /schema" + HEAD + b"X: " + b"x" * 40_000 + b"\r\n\r\n", 400),
    "many headers": (b"GET /schema" + HEAD + b"X: x\r\n" * 6_000 + b"\r\n", 400),
    "bytes": (b"GET /\xff\xfe" + HEAD + b"\r\n", 400),
    "bytes in a header": (b"GET /health/live" + HEAD + b"X: \xff\xfe\r\n\r\n", 200),
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n\r\n", 400),
    "websocket": (
        b"GET /explain" + HEAD + b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        405,
    ),
    "options": (b"OPTIONS /explain" + HEAD + b"\r\n", 405),
    "head": (b"HEAD /" + HEAD + b"\r\n", 200),
    "trace": (b"TRACE /schema" + HEAD + b"\r\n", 405),
    "connect": (b"CONNECT evil.example:80" + HEAD + b"\r\n", 404),
    "chunks beyond the limit": (
        b"POST /explain" + HEAD + TYPE + b"Transfer-Encoding: chunked\r\n\r\n"
        + (b"186A0\r\n" + b" " * 100_000 + b"\r\n") * 11,
        413,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("request_", "status"), RAW.values(), ids=RAW)
def test_the_strangest_requests(server: Started, request_: bytes, status: int) -> None:
    with connect(server) as connection:
        connection.sendall(request_)
        answer = rest_of(connection)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert answer.count(b"HTTP/1.1") == 1
    check_alive(server)
