"""A server whose model can be made to fail: python slow_server.py FILE QUOTAS.

Tests run it as a process of its own, to end it while it works. What the model does follows from
the income, which no training row has.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pandas as pd

from counterset import DiverseExplainer
from counterset.cli.serve import run_server
from counterset.serve.quotas import Quotas
from counterset.serve.served import Served
from support.served_loans import DECLINED, TRAINING, approve, serve_loans

__all__ = ["EXITS", "OPENS", "WAITS", "Started", "slow_server"]

#: The model waits for the file.
WAITS = 1000
#: It raises SystemExit.
EXITS = 2000
#: It opens as many files as it can, makes a folder ``opened``, and waits for the file.
OPENS = 3000


class Faulty:
    """A model that fails as the income says."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def predict(self, rows: pd.DataFrame) -> Any:
        income = rows["income"]
        if (income == EXITS).any():
            raise SystemExit
        opened = []
        if (income == OPENS).any():
            opened = list(open_all())
            self.file.with_name("opened").mkdir(exist_ok=True)  # a file would need a descriptor
        while income.isin([WAITS, OPENS]).any() and not self.file.exists():
            time.sleep(0.01)
        for each in opened:
            os.close(each)
        return approve(rows)


def open_all() -> Iterator[int]:
    """Open files until no more can be opened."""
    try:
        while True:
            yield os.dup(0)
    except OSError:
        return


@dataclass(frozen=True)
class Started:
    """A server that runs as a process of its own."""

    process: subprocess.Popen[bytes]
    address: str
    go: Path
    log: Path

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def get(self, path: str) -> httpx2.Response:
        return httpx2.get(self.address + path, timeout=60)

    def explain(self, income: int = DECLINED["income"]) -> httpx2.Response:
        """Ask for an explanation; the income says how the model fails."""
        asked = {"instances": [DECLINED | {"income": income}]}
        return httpx2.post(f"{self.address}/explain", json=asked, timeout=60)

    def waiting(self) -> int:
        """Return how many requests are worked on or wait."""
        text = self.get("/metrics").text
        return int(float(text.split("\ncounterset_requests_waiting ")[1].split("\n")[0]))

    def lines(self) -> list[dict[str, Any]]:
        """Return what was logged."""
        text = self.log.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


@contextmanager
def slow_server(folder: Path, descriptors: int | None = None, **quotas: float) -> Iterator[Started]:
    """Start a server, and end it; the model goes on when the file ``go`` is in the folder."""
    script = [sys.executable, __file__, str(folder / "go"), json.dumps(quotas)]
    if descriptors is not None:
        script = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *script]
    log = folder / "log"
    with log.open("wb") as stream:
        paths = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
        process = subprocess.Popen(script, stdout=subprocess.PIPE, stderr=stream, env=paths)
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        assert line.startswith("Serving loans at http://127.0.0.1:"), log.read_text()
        yield Started(process, line.split()[3], folder / "go", log)
    finally:
        process.kill()
        process.communicate()


def main() -> None:
    """Serve loans on a free port."""
    served = serve_loans()
    explainer = DiverseExplainer(Faulty(Path(sys.argv[1]))).fit(TRAINING)
    quotas = Quotas(**json.loads(sys.argv[2]))
    loans = Served("loans", explainer, served.cases, goal=served.goal)
    run_server(loans, "127.0.0.1", 0, quotas=quotas)


if __name__ == "__main__":
    main()
