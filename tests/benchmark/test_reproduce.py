"""The paper's experiments from one call."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from counterset import InvalidInputError
from counterset.benchmark import Experiment, PeerRunner, reproduce
from counterset.benchmark.published import Cell
from counterset.benchmark.results import CellError


class Failing(PeerRunner):
    """A runner of peers that records the cells, and fails."""

    def __init__(self) -> None:
        super().__init__(weights=None)
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
        "datasets", "accuracy", "final-minimised", "final-unminimised", "comparison",
    }  # fmt: skip


def test_a_folder_of_other_definitions_is_refused(weights: Path, tmp_path: Path) -> None:
    reproduce(Experiment(True, weights), tmp_path, datasets=("diabetes",), tables=())
    with pytest.raises(InvalidInputError, match="Choose another folder"):
        reproduce(Experiment(False, weights), tmp_path, datasets=("diabetes",), tables=())


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
