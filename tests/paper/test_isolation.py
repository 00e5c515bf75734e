"""Peers in processes of their own: what goes wrong shows up in the table."""

from __future__ import annotations

import json
import sys
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

from counterset.paper import isolation as worker
from counterset.paper.cells import Cell, CellError
from counterset.paper.isolation import PeerRunner


@pytest.fixture
def runner(weights: Path, monkeypatch: pytest.MonkeyPatch) -> PeerRunner:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    return PeerRunner(weights, inputs=2, repeats=1, time_limit=300)


def cell(peer: str, norm: int = 1) -> Cell:
    return Cell("peers", "diabetes", norm, method=f"toy_peers:{peer}")


def test_a_good_peer_is_measured_in_both_norms_by_one_process(runner: PeerRunner) -> None:
    l1, l2 = runner(cell("Corner", 1)), runner(cell("Corner", 2))
    assert (l1["validity"] == 1).all()
    assert (l1["set_distance_max"] == 0).all()
    assert (l1["k_distance"] > l2["k_distance"]).all()
    assert l1["seconds"].tolist() == l2["seconds"].tolist()


def test_an_invalid_set_shows_up_as_invalid(runner: PeerRunner) -> None:
    assert (runner(cell("Unchanged"))["validity"] == 0).all()


@pytest.mark.parametrize(
    ("peer", "message"),
    [
        ("Crashing", "RuntimeError: the matrix is on fire"),
        ("Dying", "the process ended with exit code 3"),
        ("Crooked", "3 features"),
        ("Missing", "has no attribute 'Missing'"),
    ],
)
def test_a_peer_that_crashes_shows_up_with_its_message(
    runner: PeerRunner, peer: str, message: str
) -> None:
    for _ in range(2):  # the second norm does not run it again
        with pytest.raises(CellError, match=message):
            runner(cell(peer))


def test_a_peer_that_hangs_is_stopped(runner: PeerRunner) -> None:
    runner.time_limit = 0.5
    with pytest.raises(CellError, match=r"not finished within the time limit of 0\.5 s"):
        runner(cell("Hanging"))


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
