"""The results folder: interrupted runs go on, failures are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from counterset import CountersetWarning, InvalidInputError
from counterset.paper.cells import Cell, CellError, select_cells
from counterset.paper.experiment import Experiment
from counterset.paper.reproduce import ResultsFolder

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


def test_settings_that_are_new_to_a_folder_are_added_to_it(tmp_path: Path) -> None:
    ResultsFolder(tmp_path, SETTINGS | {"weights of no2": "1"})
    ResultsFolder(tmp_path, SETTINGS | {"weights of news": "2"})
    with pytest.raises(InvalidInputError, match="weights of no2: 1 there, 3 now"):
        ResultsFolder(tmp_path, SETTINGS | {"weights of no2": "3"})


@pytest.mark.parametrize("content", [None, b"", b'{"definitions": "as pub', b"[]", b"\xff"])
def test_results_without_readable_settings_are_refused(
    tmp_path: Path, content: bytes | None
) -> None:
    # Damaged settings gave a traceback, and results without any were taken for those of this run.
    ResultsFolder(tmp_path, SETTINGS).save(CELL, TABLE)
    file = tmp_path / "settings.json"
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"settings\.json is missing or damaged"):
        ResultsFolder(tmp_path, SETTINGS)


CELL = Cell("final", "no2", 1)
TABLE = pd.DataFrame(
    {
        "same_class": [True, True], "validity": [1.0, 1.0], "k_distance": [0.25, 0.75],
        "k_diversity": [1.0, 1.0], "sparsity": [3.0, 3.0], "set_distance_mean": [0.5, 0.5],
        "set_distance_max": [0.5, 0.5], "seconds": [0.1, 0.1], "input_distance": [0.1, 0.1],
    }
)  # fmt: skip


def cut(content: bytes) -> bytes:
    return content[: content.rindex(b"True")]  # a row less, and still a CSV file


def change_a_digit(content: bytes) -> bytes:
    assert content.count(b"0.75") == 1
    return content.replace(b"0.75", b"0.76")


def without_checksum(content: bytes) -> bytes:
    return content.partition(b"\n")[2]


@pytest.mark.parametrize("damage", [cut, change_a_digit, without_checksum, lambda _: b""])
def test_a_damaged_result_is_run_again_with_a_warning(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    # A truncated file counted as finished: other figures were shown, without a word.
    results, calls = ResultsFolder(tmp_path, SETTINGS), list[str]()
    results.run_all([CELL], counted(lambda cell: TABLE, calls))  # type: ignore[arg-type]
    straight = results.summary([CELL])
    (file,) = tmp_path.glob("*.csv")
    file.write_bytes(damage(file.read_bytes()))
    with pytest.warns(CountersetWarning, match="damaged .* does not count as finished"):
        assert len(results.summary([CELL])) == 0
    with pytest.warns(CountersetWarning, match="damaged"):
        results.run_all([CELL], counted(lambda cell: TABLE, calls))  # type: ignore[arg-type]
    assert len(calls) == 2
    pd.testing.assert_frame_equal(results.summary([CELL]), straight)


def test_the_result_of_another_cell_is_not_taken(tmp_path: Path) -> None:
    results = ResultsFolder(tmp_path, SETTINGS)
    results.save(CELL, TABLE)
    other = replace(CELL, norm=2)
    (file,) = tmp_path.glob("*.csv")
    file.rename(tmp_path / f"{other.key}.csv")
    with pytest.warns(CountersetWarning, match="checksum does not match"):
        assert len(results.summary([other])) == 0


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
