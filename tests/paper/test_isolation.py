"""Peers in processes of their own: what goes wrong shows up in the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterset.paper.isolation import PeerRunner
from counterset.paper.published import Cell
from counterset.paper.results import CellError


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
