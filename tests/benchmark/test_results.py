"""The results folder: interrupted runs go on, failures are kept."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from counterset import InvalidInputError
from counterset.benchmark.experiment import Experiment
from counterset.benchmark.published import Cell, select_cells
from counterset.benchmark.results import CellError, ResultsFolder

SETTINGS = {"definitions": "as published"}


def counted(run: object, calls: list[str], stop_after: int = 10**9) -> object:
    def wrapped(cell: Cell) -> pd.DataFrame:
        if len(calls) == stop_after:
            raise KeyboardInterrupt
        calls.append(cell.key)
        return run(cell)  # type: ignore[operator,no-any-return]

    return wrapped


@pytest.fixture
def experiment(weights: Path) -> Experiment:
    return Experiment(as_published=True, weights=weights)


@pytest.mark.parametrize("as_published", [True, False])
def test_resuming_after_an_interruption_gives_the_same_table(
    weights: Path, tmp_path: Path, as_published: bool
) -> None:
    experiment = Experiment(as_published, weights)
    cells = select_cells("final", ["diabetes"])
    straight = ResultsFolder(tmp_path / "straight", SETTINGS)
    straight.run_all(cells, experiment.run)
    broken, calls = ResultsFolder(tmp_path / "broken", SETTINGS), list[str]()
    with pytest.raises(KeyboardInterrupt):
        broken.run_all(cells, counted(experiment.run, calls, stop_after=2))  # type: ignore[arg-type]
    assert len(broken.summary(cells)) == 2
    again = ResultsFolder(tmp_path / "broken", SETTINGS)
    again.run_all(cells, counted(experiment.run, calls))  # type: ignore[arg-type]
    assert calls == [cell.key for cell in cells]
    pd.testing.assert_frame_equal(
        again.summary(cells).drop(columns="time_s"), straight.summary(cells).drop(columns="time_s")
    )


def test_a_folder_of_other_settings_is_refused(tmp_path: Path) -> None:
    ResultsFolder(tmp_path, SETTINGS)
    with pytest.raises(InvalidInputError, match="Choose another folder"):
        ResultsFolder(tmp_path, {"definitions": "the paper's"})


def test_a_failure_is_kept_and_run_again_only_on_request(tmp_path: Path) -> None:
    cell = Cell("peers", "no2", 1, method="some:Peer")
    results, calls = ResultsFolder(tmp_path, SETTINGS), list[str]()

    def fail(cell: Cell) -> pd.DataFrame:
        calls.append(cell.key)
        raise CellError("it broke")

    results.run_all([cell], fail)
    results.run_all([cell], fail)
    assert len(calls) == 1
    assert results.summary([cell])["error"].tolist() == ["it broke"]
    results.run_all([cell], fail, retry=True)
    assert len(calls) == 2


def test_progress_names_the_cell(
    experiment: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = select_cells("tuning", ["diabetes"], [1])[:1]
    ResultsFolder(tmp_path, SETTINGS).run_all(cells, experiment.run, progress=True)
    printed = capsys.readouterr().err
    assert cells[0].key in printed
    assert "1/1" in printed
