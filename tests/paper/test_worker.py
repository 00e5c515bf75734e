"""The process that measures a peer."""

from __future__ import annotations

import json
import sys
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

from counterset.paper import worker


def test_the_worker_reads_a_job_and_writes_a_table_per_norm(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = {
        "peer": "nearest-rows",
        "dataset": "diabetes",
        "norms": [1, 2],
        "weights": str(weights),
        "cache": str(tmp_path),
        "inputs": 2,
        "repeats": 1,
        "outputs": {"1": str(tmp_path / "1.csv"), "2": str(tmp_path / "2.csv")},
    }
    monkeypatch.setattr(sys, "stdin", StringIO(json.dumps(job)))
    worker.main()
    l1, l2 = (pd.read_csv(tmp_path / f"{norm}.csv") for norm in (1, 2))
    assert len(l1) == 2
    assert (l1["k_distance"] > l2["k_distance"]).all()
    toy = {**job, "peer": "toy_peers:Corner"}
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    tables = worker.measure(toy)
    assert tables[1]["seconds"].tolist() == tables[2]["seconds"].tolist()
