"""A server whose model waits for a file: python slow_server.py FILE.

Tests run it as a process of its own, to end it while it works.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
from served_loans import approve, serve_loans

from counterset import DiverseExplainer
from counterset.cli.serve import run_server
from counterset.serve.served import Served


class Waiting:
    """A model that answers about few rows only when a file is there."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def predict(self, rows: pd.DataFrame) -> Any:
        while self.waits_for(rows) and not self.file.exists():
            time.sleep(0.01)
        return approve(rows)

    @staticmethod
    def waits_for(rows: pd.DataFrame) -> bool:
        """Whether these are the rows of a request: no training row has this income."""
        return bool((rows["income"] == 1000).any())


def main() -> None:
    """Serve loans on a free port."""
    served = serve_loans()
    explainer = DiverseExplainer(Waiting(Path(sys.argv[1]))).fit(served.training)
    run_server(Served("loans", explainer, served.cases, served.training), "127.0.0.1", 0)


if __name__ == "__main__":
    main()
