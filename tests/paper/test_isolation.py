"""Peers in processes of their own: what goes wrong shows up in the table."""

from __future__ import annotations

import json
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from counterset.paper import isolation as worker
from counterset.paper.cells import Cell, CellError
from counterset.paper.isolation import PeerRunner
from counterset.paper.setups import Network


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


def test_a_peer_that_was_stopped_continues_with_the_next_row(
    runner: PeerRunner, tmp_path: Path
) -> None:
    # All explanations of hours were lost when the last one failed.
    expected = runner(cell("Corner"))
    for kept in (2, 4):
        runner = PeerRunner(runner.weights, inputs=2, repeats=2, explained=tmp_path / "kept")
        with pytest.raises(CellError, match="exit code 3"):
            runner(cell("Tiring"))
        file = tmp_path / "kept" / "toy_peers.Tiring-diabetes.jsonl"
        assert len(file.read_text().splitlines()) == kept
    with file.open("a") as stream:
        stream.write('{"row": "half a li')  # a process was stopped while it wrote
    table = PeerRunner(runner.weights, inputs=2, repeats=2, explained=tmp_path / "kept")(
        cell("Tiring")
    )
    assert (table["seconds"] > 0).all()
    first = table[table["repeat"] == 1].reset_index(drop=True)
    own = ["k_distance", "k_diversity", "validity", "sparsity"]
    pd.testing.assert_frame_equal(first[own], expected[own])


def test_answers_about_another_network_are_not_used(runner: PeerRunner, tmp_path: Path) -> None:
    runner.explained = tmp_path / "kept"
    with pytest.raises(CellError, match="exit code 3"):
        PeerRunner(runner.weights, repeats=2, explained=runner.explained)(cell("Tiring"))
    first = np.zeros((8, 1))
    first[0, 0] = 1.0
    assert runner.weights is not None
    Network([(first, [0.0]), ([[0.0, 1.0]], [0.3, 0.0])]).save(runner.weights / "diabetes.npz")
    again = PeerRunner(runner.weights, repeats=2, explained=runner.explained)
    with pytest.raises(CellError, match="exit code 3"):
        again(cell("Tiring"))
    file = tmp_path / "kept" / "toy_peers.Tiring-diabetes.jsonl"
    rows = [json.loads(line)["row"] for line in file.read_text().splitlines()]
    assert len(set(rows)) == 4


def test_a_peer_without_time_says_what_is_kept(runner: PeerRunner, tmp_path: Path) -> None:
    runner.explained, runner.time_limit = tmp_path, 0.5
    (tmp_path / "toy_peers.Hanging-diabetes.jsonl").write_text("{}\n{}\n")
    with pytest.raises(CellError, match="; 2 explanations are kept, and --retry continues"):
        runner(cell("Hanging"))


def test_an_input_without_a_counterfactual_has_an_empty_set(runner: PeerRunner) -> None:
    table = runner(cell("NothingFound"))
    assert table["counterfactuals"].tolist() == [0, 0]
    assert (table["validity"] == 0).all()


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
