"""Peers in processes of their own: what goes wrong becomes a reason."""

from __future__ import annotations

import json
import os
import sys
from multiprocessing import Pipe
from pathlib import Path
from threading import Thread
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from counterset._base.arrays import Matrix
from counterset.paper import isolation
from counterset.paper.cells import Cell, CellError
from counterset.paper.experiment import Experiment
from counterset.paper.isolation import IsolatedPeer, PeerRunner, serve
from counterset.paper.peers.wire import pack, unpack
from counterset.paper.setups import Network, Split


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


@pytest.fixture
def runner(weights: Path) -> PeerRunner:
    return PeerRunner(Experiment(weights=weights), inputs=2, repeats=1, time_limit=300)


def cell(peer: str, norm: int = 1) -> Cell:
    return Cell("peers", "diabetes", norm, method=f"toy_peers:{peer}")


def test_a_good_peer_is_measured_in_both_norms_by_one_process(runner: PeerRunner) -> None:
    l1, l2 = runner(cell("Corner", 1)), runner(cell("Corner", 2))
    assert (l1["validity"] == 1).all()
    assert (l1["set_distance_max"] == 0).all()
    assert (l1["k_distance"] > l2["k_distance"]).all()
    assert l1["seconds"].tolist() == l2["seconds"].tolist()


def test_a_peer_that_uses_the_norm_is_fitted_for_each(runner: PeerRunner) -> None:
    tables = [runner(Cell("peers", "diabetes", norm, method="nearest-rows")) for norm in (1, 2)]
    assert (tables[0]["k_distance"] > tables[1]["k_distance"]).all()


def test_an_invalid_set_shows_up_as_invalid(runner: PeerRunner) -> None:
    assert (runner(cell("Unchanged"))["validity"] == 0).all()


@pytest.mark.parametrize(
    ("peer", "message"),
    [
        ("Crashing", "RuntimeError: the matrix is on fire"),
        ("Wordless", r"KeyError: raise KeyError \(toy_peers\.py, line"),
        ("Dying", "the process ended with exit code 3"),
        ("Killed", "the process was ended by SIGKILL; the limit of memory is 4 GB"),
        ("Crooked", "3 features"),
        ("Short", "got 1 rows and returned 0 sets"),
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
        runner = PeerRunner(runner.experiment, inputs=2, repeats=2, explained=tmp_path / "kept")
        with pytest.raises(CellError, match="exit code 3"):
            runner(cell("Tiring"))
        file = tmp_path / "kept" / "toy_peers.Tiring-diabetes.jsonl"
        assert len(file.read_text().splitlines()) == kept
    with file.open("a") as stream:
        stream.write('{"row": "half a li')  # a process was stopped while it wrote
    table = PeerRunner(runner.experiment, inputs=2, repeats=2, explained=tmp_path / "kept")(
        cell("Tiring")
    )
    assert (table["seconds"] > 0).all()
    first = table[table["repeat"] == 1].reset_index(drop=True)
    own = ["k_distance", "k_diversity", "validity", "sparsity"]
    pd.testing.assert_frame_equal(first[own], expected[own])


def test_answers_about_another_network_are_not_used(runner: PeerRunner, tmp_path: Path) -> None:
    runner.explained = tmp_path / "kept"
    with pytest.raises(CellError, match="exit code 3"):
        PeerRunner(runner.experiment, repeats=2, explained=runner.explained)(cell("Tiring"))
    first = np.zeros((8, 1))
    first[0, 0] = 1.0
    weights = runner.experiment.weights
    assert weights is not None
    Network([(first, [0.0]), ([[0.0, 1.0]], [0.3, 0.0])]).save(weights / "diabetes.npz")
    again = PeerRunner(Experiment(weights=weights), repeats=2, explained=runner.explained)
    with pytest.raises(CellError, match="exit code 3"):
        again(cell("Tiring"))
    file = tmp_path / "kept" / "toy_peers.Tiring-diabetes.jsonl"
    rows = [json.loads(line)["row"] for line in file.read_text().splitlines()]
    assert len(set(rows)) == 4


def test_a_peer_without_time_says_what_is_kept(runner: PeerRunner, tmp_path: Path) -> None:
    runner.explained, runner.time_limit = tmp_path, 0.5
    (tmp_path / "toy_peers.Hanging-diabetes.jsonl").write_text('{"row": "of another network"}\n')
    with pytest.raises(CellError, match="; 0 of 4 explanations are done, and --retry continues"):
        runner(cell("Hanging"))


def test_a_peer_without_time_is_measured_on_the_inputs_that_it_finished(
    runner: PeerRunner, tmp_path: Path
) -> None:
    # Hours of explanations had no figure, because a few were missing.
    def run(**settings: Any) -> PeerRunner:
        return PeerRunner(runner.experiment, inputs=3, repeats=2, explained=tmp_path, **settings)

    with pytest.raises(CellError, match="exit code 3"):
        run()(cell("Tiring"))
    for norm in (1, 2):  # two rows: the first input, and one of its two copies
        with pytest.raises(CellError, match="2 of 9 explanations are done, and --retry continues"):
            run(time_limit=0)(cell("Tiring", norm))
    for _ in range(2):
        with pytest.raises(CellError, match="exit code 3"):
            run()(cell("Tiring"))
    table = run(time_limit=0)(cell("Tiring"))  # six rows: two inputs
    assert table["error"].unique().tolist() == [
        "not finished; 6 of 9 explanations are done, and --retry continues with the next one"
    ]
    # The copies are those of a run that finishes.
    whole = PeerRunner(runner.experiment, inputs=3, repeats=2)(cell("Corner"))
    figures = ["input", "repeat", "k_distance", "input_distance", "set_distance_max"]
    pd.testing.assert_frame_equal(table[figures], whole[figures][:4])


def test_what_is_kept_is_measured_without_the_peer(runner: PeerRunner, tmp_path: Path) -> None:
    runner.explained = tmp_path
    expected = runner(cell("Corner"))
    again = PeerRunner(
        runner.experiment, inputs=2, repeats=1, explained=tmp_path, python="no-such-python"
    )
    pd.testing.assert_frame_equal(again(cell("Corner")), expected)


def test_an_input_without_a_counterfactual_has_an_empty_set(runner: PeerRunner) -> None:
    table = runner(cell("NothingFound"))
    assert table["counterfactuals"].tolist() == [0, 0]
    assert (table["validity"] == 0).all()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits it")
def test_a_peer_that_takes_too_much_memory_is_stopped(runner: PeerRunner) -> None:
    runner.memory_limit = 2e9
    with pytest.raises(CellError, match="needs more memory than the limit of 2 GB"):
        runner(cell("Greedy"))


def test_an_interpreter_that_does_not_exist_is_a_reason(weights: Path) -> None:
    experiment = Experiment(weights=weights)
    with pytest.raises(CellError, match="no-such-python cannot be run: No such file"):
        PeerRunner(experiment, inputs=2, repeats=1, python="no-such-python")(cell("Corner"))


def test_what_a_peer_prints_does_not_disturb_its_answers(network: Network, split: Split) -> None:
    with IsolatedPeer("toy_peers:Loud") as peer:
        peer.fit(network, split.X_train)
        [found] = peer.explain_many(split.X_test[:1])
    assert found.shape == (1, 8)


def test_the_rows_that_a_model_is_asked_about_are_counted(network: Network, split: Split) -> None:
    with IsolatedPeer("toy_peers:Corner") as peer:
        peer.fit(network, split.X_train)
        assert peer.cost.rows == 0
        peer.explain_many(split.X_test[:7])
        assert peer.cost.rows == 7
        assert peer.cost.seconds > 0


def test_a_peer_can_be_used_no_more_after_it_failed(network: Network, split: Split) -> None:
    with IsolatedPeer("toy_peers:Crashing") as peer:
        peer.fit(network, split.X_train)
        with pytest.raises(CellError, match="on fire"):
            peer.explain_many(split.X_test[:1])
        with pytest.raises(CellError, match="its process has ended"):
            peer.explain_many(split.X_test[:1])


def test_another_interpreter_asks_the_model_through_the_pipe(
    network: Network, split: Split, tmp_path: Path
) -> None:
    other = tmp_path / "another"
    other.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    other.chmod(0o755)
    sets = []
    for interpreter in (sys.executable, str(other)):
        with IsolatedPeer("nearest-rows", python=interpreter) as peer:
            peer.fit(network, split.X_train)
            assert peer.cost.rows == len(split.X_train)
            sets.append(peer.explain_many(split.X_test[:3]))
            assert peer.cost.rows == 3
    for here, there in zip(*sets, strict=True):
        assert np.array_equal(here, there)


def frame() -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(0)
    X = pd.DataFrame({
        "age": random.integers(18, 70, 80),
        "income": random.random(80),
        "job": pd.Categorical(random.choice(["no", "yes"], 80)),
        "town": random.choice(["Oslo", "Bergen"], 80),
    })  # fmt: skip
    return X, ModelOfFrames().fit(X)


class ModelOfFrames:
    """Refuses rows that do not look as the training rows did."""

    def fit(self, X: pd.DataFrame) -> ModelOfFrames:
        self.classes_ = np.array(["bad", "good"])
        self.dtypes = X.dtypes
        return self

    def predict(self, X: pd.DataFrame) -> Any:
        assert list(X.columns) == list(self.dtypes.index)
        assert X["job"].dtype == self.dtypes["job"]
        return self.classes_[((X["income"] > 0.5) & (X["job"] == "yes")).to_numpy().astype(int)]


def test_frames_and_their_models_work_through_the_pipe(tmp_path: Path) -> None:
    X, model = frame()
    other = tmp_path / "another"
    other.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    other.chmod(0o755)
    with IsolatedPeer("nearest-rows", python=str(other)) as peer:
        peer.fit(model, X)
        [found] = peer.explain_many(X[:1])
    as_rows = isolation.as_trained(found, X[:0])
    assert (model.predict(as_rows) != model.predict(X[:1])).all()
    assert found["town"].isin(["Oslo", "Bergen"]).all()


def first_request(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> tuple[Matrix, LogisticRegression, dict[str, Any]]:
    """Return training rows, a model in a file, and what a peer's process is told first."""
    monkeypatch.setattr(isolation, "_limit_memory", lambda limit: None)
    X = np.random.default_rng(0).random((40, 2))
    model = LogisticRegression().fit(X, X.sum(axis=1) > 1)
    joblib.dump(model, tmp_path / "model")
    told = {
        "peer": "nearest-rows",
        "norm": 1,
        "immutable": (),
        "alpha": None,
        "memory": 1,
        "rows": pack(X),
        "model": str(tmp_path / "model"),
    }
    return X, model, told


def answers_of_serve(requests: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return what ``serve`` answers, run in a thread of this process."""
    ours, theirs = Pipe()
    thread = Thread(target=serve, args=(os.dup(theirs.fileno()),))
    thread.start()
    answers = []
    for request in requests:
        ours.send(request)
        answers.append(ours.recv())
    ours.close()
    theirs.close()
    thread.join()
    return answers


def test_serve_answers_requests_until_the_pipe_is_closed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X, _, told = first_request(monkeypatch, tmp_path)
    (kind, fitted), (_, explained) = answers_of_serve([("fit", told), ("explain", pack(X[:2]))])
    assert kind == "done"
    assert fitted["uses_norm"]
    assert not fitted["keeps_immutable"]
    assert [len(unpack(each)) for each in explained["sets"]] == [5, 5]
    [(kind, reason)] = answers_of_serve([("fit", told | {"peer": "no-such-peer"})])
    assert kind == "failed"
    assert "no peer named" in reason


@pytest.mark.parametrize("same", [True, False])
def test_a_model_is_copied_where_versions_are_equal_and_asked_elsewhere(
    same: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Libraries that read trees could not read a model behind a pipe.
    X, model, told = first_request(monkeypatch, tmp_path)
    told |= {
        "versions": isolation._versions() if same else ["Python 2.7"],
        "answers": {"questions": ["predict"], "classes": [False, True], "read": {}},
    }
    ours, theirs = Pipe()
    thread = Thread(target=serve, args=(os.dup(theirs.fileno()),))
    thread.start()
    ours.send(("fit", told))
    kind, _ = ours.recv()
    assert kind == ("done" if same else "model")
    if not same:
        ours.send((model.predict(X).tolist(), 0.0))
        assert ours.recv()[0] == "done"
    ours.close()
    theirs.close()
    thread.join()
