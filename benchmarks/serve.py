"""The service under load, on this machine: time, memory, and whether a request is ever lost.

python benchmarks/serve.py [--clients 200] [--seconds 30]

It starts ``counterset serve`` on the bundled data, asks it one request after the other, then with
many clients at a time, twice, and at last ends it with SIGTERM in the middle of a third load.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

from counterset.cli.demo import load_credit

#: How many requests are asked one after the other, to know the time of a single one.
SINGLE = 40


@dataclass
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    port: int
    log: Path
    started: float
    _read: int = field(default=0)

    @classmethod
    def start(cls, log: Path) -> Server:
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "counterset", "serve", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
        )
        line = process.stdout.readline()
        port = int(re.search(r":(\d+) ", line).group(1))
        return cls(process, port, log, time.perf_counter() - begun)

    def memory(self) -> float:
        """Return the resident memory, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1000

    def processor_time(self) -> float:
        """Return the processor time until now, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def logged(self) -> list[dict[str, object]]:
        """Return what was logged of explanations since the last call."""
        lines = self.log.read_text().splitlines()
        new, self._read = lines[self._read :], len(lines)
        read = [json.loads(line) for line in new if line.startswith("{")]
        return [each for each in read if each.get("route") == "/explain"]


@dataclass
class Client:
    """Asks one request after the other on one connection, as plainly as can be."""

    port: int
    bodies: list[bytes]
    seconds: list[float] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    unanswered: int = 0

    async def run(self, first: int, until: float, most: int | None = None) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        i = first
        while time.perf_counter() < until and (most is None or i - first < most):
            body = self.bodies[i % len(self.bodies)]
            begun = time.perf_counter()
            try:
                status = await self._ask(reader, writer, body)
            except (ConnectionError, asyncio.IncompleteReadError):
                self.unanswered += 1  # the server is gone
                return
            self.seconds.append(time.perf_counter() - begun)
            self.statuses.append(status)
            i += 1
        writer.close()

    async def _ask(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes
    ) -> int:
        writer.write(
            b"POST /explain HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body) + body
        )
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
        await reader.readexactly(length)
        return int(head.split()[1])


async def load(port: int, bodies: list[bytes], clients: int, seconds: float) -> list[Client]:
    """Ask with many clients at a time."""
    until = time.perf_counter() + seconds
    asked = [Client(port, bodies) for _ in range(clients)]
    await asyncio.gather(*(each.run(i, until) for i, each in enumerate(asked)))
    return asked


async def end_in_the_middle(server: Server, bodies: list[bytes], clients: int) -> list[Client]:
    """Ask with many clients, and end the server while all of them wait."""
    asked = [Client(server.port, bodies) for _ in range(clients)]
    runs = [asyncio.create_task(each.run(i, float("inf"))) for i, each in enumerate(asked)]
    while sum(len(each.statuses) for each in asked) < clients // 2:
        await asyncio.sleep(0.05)
    server.process.send_signal(signal.SIGTERM)
    await asyncio.gather(*runs)
    return asked


def declined() -> list[bytes]:
    """Return a request for each application that the model declines."""
    credit = load_credit()
    rows = credit.X_test[credit.explainer.model.predict(credit.X_test) == "bad"]
    records = json.loads(rows.to_json(orient="records"))
    return [json.dumps({"instances": [each]}).encode() for each in records]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    bodies, cores = declined(), len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        server = Server.start(Path(folder) / "log")
        try:
            measure(server, bodies, given.clients, given.seconds, cores)
        finally:
            server.process.kill()


def measure(server: Server, bodies: list[bytes], clients: int, seconds: float, cores: int) -> None:
    print("| what | measured | wanted |\n|---|---|---|")
    print(f"| from the command to the first answer | {server.started:.1f} s | |")
    print(f"| memory after the start, shared lists included | {server.memory():.0f} MB | |")
    alone, before = Client(server.port, bodies), server.processor_time()
    asyncio.run(alone.run(0, float("inf"), SINGLE))
    spent = (server.processor_time() - before) / SINGLE
    single = median(each["milliseconds"] for each in server.logged())
    print(f"| one request at a time: median server time | {single:.0f} ms | at most 100 ms |")
    print(f"| one request at a time: processor time | {1000 * spent:.0f} ms | |")
    memory = server.memory()
    for i in (1, 2):
        asked = asyncio.run(load(server.port, bodies, clients, seconds))
        tell_load(asked, i, single / 1000, cores, seconds)
        after = server.memory()
        print(f"| load {i}: memory before and after | {memory:.0f} MB, {after:.0f} MB | flat |")
        memory = after
    server.logged()
    asked = asyncio.run(end_in_the_middle(server, bodies, clients))
    server.process.wait(120)
    finished = server.logged()
    answered = sum(len(each.statuses) for each in asked)
    good = sum(each["status"] == 200 for each in finished)
    print(f"| SIGTERM in the middle: requests accepted | {len(finished)} | |")
    print(f"| SIGTERM in the middle: answered with 200 | {answered}, logged {good} | all |")


def tell_load(asked: list[Client], i: int, single: float, cores: int, seconds: float) -> None:
    times = np.concatenate([each.seconds for each in asked])
    statuses = [status for each in asked for status in each.statuses]
    errors = sum(status != 200 for status in statuses) + sum(each.unanswered for each in asked)
    share = len(asked) / cores * single
    print(
        f"| load {i}: {len(asked)} clients for {seconds:.0f} s, requests | {len(statuses)} | |\n"
        f"| load {i}: errors | {errors} | 0 |\n"
        f"| load {i}: p50, p99 | {median(times):.1f} s, {np.quantile(times, 0.99):.1f} s | |\n"
        f"| load {i}: p99 against {len(asked)} / {cores} cores x the single time "
        f"| {np.quantile(times, 0.99) / share:.2f} | at most 5 |"
    )


if __name__ == "__main__":
    main()
