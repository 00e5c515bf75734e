"""The paper's experiments from one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import counterset
from counterset import InvalidInputError
from counterset.paper import Experiment, PeerRunner, reproduce
from counterset.paper.cells import Cell, CellError
from counterset.paper.setups import Network, own_setup


class Failing(PeerRunner):
    """A runner of peers that records the cells, and fails."""

    def __init__(self) -> None:
        super().__init__(Experiment())
        self.cells: list[str] = []

    def __call__(self, cell: Cell) -> pd.DataFrame:
        self.cells.append(cell.key)
        raise CellError("not today")


def test_only_what_is_asked_for_is_run(weights: Path, tmp_path: Path) -> None:
    report = reproduce(
        Experiment(True, weights), tmp_path, datasets=("diabetes",), norms=(2,), tables=("final",)
    )
    assert report.summary["norm"].tolist() == [2, 2]
    assert report.as_published
    assert [split.name for split, _ in report.setups] == ["diabetes"]
    assert {table.name for table in report.tables()} == {
        "datasets", "accuracy", "final-minimised", "final-unminimised", "claims", "comparison",
    }  # fmt: skip


def test_a_folder_of_other_definitions_is_refused(weights: Path, tmp_path: Path) -> None:
    reproduce(Experiment(True, weights), tmp_path, datasets=("diabetes",), tables=())
    with pytest.raises(InvalidInputError, match="Choose another folder"):
        reproduce(Experiment(False, weights), tmp_path, datasets=("diabetes",), tables=())


def test_results_of_other_weights_are_refused(weights: Path, tmp_path: Path) -> None:
    # Only the path of the weights told them apart, so a changed file went unnoticed.
    experiment = Experiment(True, weights)
    reproduce(experiment, tmp_path / "out", datasets=("diabetes",), norms=(1,), tables=("final",))
    moved = weights.rename(tmp_path / "moved")
    reproduce(Experiment(True, moved), tmp_path / "out", datasets=("diabetes",), tables=())
    first = np.zeros((8, 1))
    first[1, 0] = 1.0
    Network([(first, [0.0]), ([[0.0, 1.0]], [0.61, 0.0])]).save(moved / "diabetes.npz")
    with pytest.raises(InvalidInputError, match=r"weights of diabetes: \w+ there, \w+ now"):
        reproduce(Experiment(True, moved), tmp_path / "out", datasets=("diabetes",), tables=())


def test_results_of_another_version_are_refused(weights: Path, tmp_path: Path) -> None:
    reproduce(Experiment(True, weights), tmp_path, datasets=("diabetes",), tables=())
    file = tmp_path / "cells" / "settings.json"
    file.write_text(file.read_text().replace(counterset.__version__, "0.0.1"))
    with pytest.raises(InvalidInputError, match=r"version: 0\.0\.1 there, "):
        reproduce(Experiment(True, weights), tmp_path, datasets=("diabetes",), tables=())


def test_peers_on_another_number_of_inputs_are_not_mixed(weights: Path, tmp_path: Path) -> None:
    # What was measured on 2 inputs was shown as if it were measured on 20.
    def run(inputs: int) -> None:
        runner = Failing()
        runner.inputs = inputs
        reproduce(
            Experiment(weights=weights), tmp_path, datasets=("diabetes",), tables=(),
            peers=("nice",), peer_runner=runner,
        )  # fmt: skip

    run(2)
    with pytest.raises(InvalidInputError, match="peer inputs: 2 there, 20 now"):
        run(20)


def test_an_unknown_peer_is_refused_before_anything_runs(weights: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no peer named 'foo'"):
        reproduce(Experiment(weights=weights), tmp_path / "out", peers=("nice", "foo"))
    assert not (tmp_path / "out").exists()


def test_peers_that_failed_are_in_the_report_and_run_again_only_on_request(
    weights: Path, tmp_path: Path
) -> None:
    runner = Failing()
    for retry, runs in ((False, 2), (False, 2), (True, 4)):
        report = reproduce(
            Experiment(weights=weights),
            tmp_path,
            datasets=("diabetes",),
            tables=(),
            peers=("nice",),
            peer_runner=runner,
            retry=retry,
        )
        assert report.summary["error"].tolist() == ["not today"] * 2
        assert len(runner.cells) == runs
    assert runner.cells[:2] == ["peers-nice-diabetes-L1", "peers-nice-diabetes-L2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"datasets": ("german_credit",)}, "datasets has 'german_credit', which the paper has not"),
        ({"norms": (3,)}, r"norms has 3, which the paper has not. Choose from \[1, 2\]"),
        ({"tables": ("peers",)}, "tables has 'peers'"),
    ],
)
def test_what_the_paper_has_not_is_refused(
    weights: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    # A dataset with words ended in a bare ValueError, and a third norm in an empty report.
    with pytest.raises(InvalidInputError, match=message):
        reproduce(Experiment(weights=weights), tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_table_too_small_for_the_tuning_is_refused_before_anything_runs(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"income": random.random(60), "loan": random.integers(0, 2, 60)})
    own = {"people": own_setup(rows, "loan", "people")}
    with pytest.raises(InvalidInputError, match="people has 12 test rows, which are all explained"):
        reproduce(Experiment(own=own), tmp_path / "out", datasets=("people",))
    assert not (tmp_path / "out").exists()
