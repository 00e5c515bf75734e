"""``counterset explain --out``, as a script would use it."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster
from support.cli_files import write_loans
from support.loan_frames import FEATURES, Interrupted, Lender, loans

from counterset import DiverseExplainer
from counterset._base.files import locked
from counterset.batch import FrameExplainer
from counterset.cli import explain as explain_file
from counterset.cli import main


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain_file, "ROWS", 20)


def write(folder: Path, model: Any = None, rows: pd.DataFrame | None = None) -> list[str]:
    """Write a model, training rows and 50 rows to explain; return the beginning of a command."""
    joblib.dump(model or Lender(fails_at=99.95), folder / "model.joblib")
    loans()[FEATURES].reset_index(drop=True).to_parquet(folder / "train.parquet")
    data = loans(50, seed=1) if rows is None else rows
    data.reset_index(drop=True).to_parquet(folder / "data.parquet")
    files = ["model.joblib", "data.parquet", "--train", "train.parquet"]
    named = [each if each.startswith("-") else str(folder / each) for each in files]
    return ["explain", *named, "--trust", "--options", "2", "--drop", "case"]


def interrupted(folder: Path, case: int = 1025) -> list[str]:
    """Write as ``write`` does; the command will be interrupted, once, at a case."""
    rows = loans(50, seed=1)
    rows["debt"] = np.where(rows["case"] == case, 77.77, rows["debt"])
    (folder / "armed").touch()
    return write(folder, Interrupted(str(folder / "armed"), str(folder / "asked")), rows)


def written(file: Path) -> pd.DataFrame:
    return pd.read_parquet(file) if file.suffix == ".parquet" else pd.read_csv(file)


def with_none(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of objects in which all that is missing is None."""
    return frame.astype(object).where(frame.notna(), None)


def test_the_file_holds_what_a_frame_explainer_returns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.parquet"
    command = [*write(tmp_path), "--target", "approved", "--out", str(out)]
    assert main(command) == 0
    explainer = DiverseExplainer(Lender(fails_at=99.95), max_counterfactuals=2).fit(
        loans()[FEATURES].reset_index(drop=True)
    )
    rows = loans(50, seed=1).reset_index(drop=True)
    expected = FrameExplainer(explainer, target="approved")(rows).reset_index(names="input")
    pd.testing.assert_frame_equal(with_none(written(out)), with_none(expected))
    assert written(out)["income"].dtype == "Int64"
    assert written(out)["home"].dtype == "category"
    told = capsys.readouterr()
    counts = expected.drop_duplicates("input")["status"].value_counts()
    assert told.out == (
        f"50 rows: {counts['explained']} explained, {counts['already_reached']} already had "
        f"the wanted class or value\nWritten to {out}\n"
    )
    assert "explain [########################] 50/50, " in told.err
    assert sorted(each.suffix for each in tmp_path.iterdir()) == [".joblib", *[".parquet"] * 3]


def test_some_rows_and_some_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.csv"
    command = [*write(tmp_path)[:-2], "--keep", "case", "--where", "decision == 'declined'"]
    assert main([*command, "--quiet", "--out", str(out)]) == 0
    rows = loans(50, seed=1)
    declined = np.flatnonzero(Lender().predict(rows) == "declined")
    table = written(out)
    assert table["input"].unique().tolist() == declined.tolist()
    assert (table["case"] == 1000 + table["input"]).all()
    assert set(table["label"]) == {"approved"}
    assert "explain [" not in capsys.readouterr().err
    nobody = [*command, "--quiet", "--out", str(tmp_path / "none.parquet")]
    nobody[nobody.index("decision == 'declined'")] = "case < 0"
    assert main(nobody) == 0
    assert capsys.readouterr().out.startswith("0 rows: none to explain\n")
    assert len(written(tmp_path / "none.parquet")) == 0


def test_a_row_that_fails_in_the_middle_has_its_status_and_the_exit_code_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = loans(50, seed=1)
    rows["debt"] = np.where(rows["case"] == 1030, 99.95, rows["debt"])
    out = tmp_path / "out.parquet"
    assert main([*write(tmp_path, rows=rows), "--out", str(out)]) == 3
    table = written(out)
    assert table["input"].unique().tolist() == list(range(50))
    failed = table[table["status"] == "model_error"]
    assert failed["input"].tolist() == [30]
    assert "the server is tired" in failed["message"].iloc[0]
    assert "49 explained, 1 on which the model failed\n" in capsys.readouterr().out


def test_a_cell_of_a_csv_file_that_is_no_number_fails_its_row_only(tmp_path: Path) -> None:
    model, data = write_loans(tmp_path)
    rows = pd.read_csv(data).astype(object)
    rows.loc[7, "income"] = "unknown"
    rows.loc[8, "debt"] = None
    rows.to_csv(tmp_path / "broken.csv", index=False)
    common = ["--trust", "--train", data, "--quiet", "--options", "1"]
    broken, whole = tmp_path / "broken_out.csv", tmp_path / "whole.csv"
    assert (
        main(["explain", model, str(tmp_path / "broken.csv"), *common, "--out", str(broken)]) == 3
    )
    assert main(["explain", model, data, *common, "--out", str(whole)]) == 0
    a, b = written(broken), written(whole)
    assert a["input"].tolist() == list(range(120))
    failed = a[a["status"] == "invalid_input"]
    assert failed["input"].tolist() == [7, 8]
    pd.testing.assert_frame_equal(a.drop(index=[7, 8]), b.drop(index=[7, 8]), check_dtype=False)


def test_numbers_kept_from_a_csv_file_stand_as_they_were(tmp_path: Path) -> None:
    model, data = write_loans(tmp_path)
    rows = pd.read_csv(data).assign(case=[f"{i:05d}" for i in range(120)])
    rows.to_csv(data, index=False)
    out = tmp_path / "out.csv"
    more = ["--keep", "case", "--where", "case < 2", "--out", str(out), "--options", "1"]
    assert main(["explain", model, data, "--trust", *more]) == 0
    assert [line.split(",")[:2] for line in out.read_text().splitlines()[1:]] == [
        ["0", "00000"],
        ["1", "00001"],
    ]


def test_an_interrupted_run_goes_on_without_losing_or_repeating_a_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    armed, asked = tmp_path / "armed", tmp_path / "asked"
    model = Interrupted(str(armed), str(asked))
    rows = loans(50, seed=1)
    rows["debt"] = np.where(rows["case"] == 1025, 77.77, rows["debt"])
    first = 12.34  # no other row has it
    rows["debt"] = np.where(rows["case"] == 1000, first, rows["debt"])
    command = [*write(tmp_path, model, rows), "--quiet"]
    out, whole = tmp_path / "out.parquet", tmp_path / "whole.parquet"
    assert main([*command, "--out", str(whole)]) == 0
    before = asked.read_text().split().count(str(first))
    armed.touch()
    assert main([*command, "--out", str(out)]) == 130
    assert not out.exists()
    told = capsys.readouterr().err
    assert f"20 of 50 rows are finished and kept in {out}.parts." in told
    between = asked.read_text().split().count(str(first))
    assert between == 2 * before
    assert main([*command, "--out", str(out)]) == 0
    assert asked.read_text().split().count(str(first)) == between  # it is not explained again
    pd.testing.assert_frame_equal(written(out), written(whole))
    assert not Path(f"{out}.parts").exists()


def test_parts_of_another_run_are_refused_before_the_model_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = interrupted(tmp_path)
    command += ["--quiet", "--out", str(tmp_path / "out.parquet")]
    assert main(command) == 130
    capsys.readouterr()
    assert main([*command, "--target", "approved"]) == 2
    assert "parts of another run: --target differed" in capsys.readouterr().err


def test_a_parquet_file_with_a_missing_column_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = write_loans(tmp_path)
    pd.read_csv(data).drop(columns="debt").to_parquet(tmp_path / "data.parquet")
    more = ["--trust", "--train", data, "--out", str(tmp_path / "out.parquet")]
    assert main(["explain", model, str(tmp_path / "data.parquet"), *more]) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert "The model needs columns that are not in" in told
    assert "data.parquet: debt. The columns" in told
    assert not (tmp_path / "out.parquet.parts").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "Choose either --row N, to explain one row, or --out FILE"),
        (["--row", "1", "--out", "o.csv"], "Choose either --row N"),
        (["--row", "1", "--safe-csv", "--jobs", "2"], "--safe-csv, --jobs: use it with --out, not"),
        (["--out", "{folder}/o.parquet", "--safe-csv"], "--safe-csv is for a .csv file, got"),
        (["--out", "{folder}/o.csv", "--jobs", "2", "--scheduler", "a"], "Choose either --jobs"),
        (["--row", "1", "--keep", "case", "--quiet"], "--keep, --quiet: use it with --out, not"),
        (["--out", "o.csv", "--json"], "--json: use it with --row, not with --out."),
        (["--out", "{folder}"], "--out: {folder} cannot be written, because it is a folder"),
        (["--out", "{folder}/o.csv", "--keep", "age"], "--keep names columns that are not in"),
        (["--out", "{folder}/o.csv", "--where", "age"], "--where 'age' cannot be evaluated"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(
    more: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*write(tmp_path), *(each.format(folder=tmp_path) for each in more)]
    assert main(command) == 2
    assert message.format(folder=tmp_path) in capsys.readouterr().err.splitlines()[-1]


def test_a_full_disk_leaves_what_is_finished(tmp_path: Path) -> None:
    command = [*write(tmp_path), "--quiet", "--out", str(tmp_path / "out.csv")]
    code = (
        "import sys; from counterset.cli import explain, main; explain.ROWS = 20;"
        "sys.exit(main(sys.argv[1:]))"
    )
    whole = main([*command[:-1], str(tmp_path / "whole.csv")])
    assert whole == 0
    size = (tmp_path / "whole.csv").stat().st_size

    def run(limit: int) -> subprocess.CompletedProcess[str]:
        # No file may become larger than the limit: the parts fit, all of them together do not.
        return subprocess.run(
            [sys.executable, "-c", code, *command],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )

    failed = run(size - 1000)
    assert failed.returncode == 1
    assert "File too large" in failed.stderr.splitlines()[-1]
    assert "50 of 50 rows are finished and kept in" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert not (tmp_path / "out.csv").exists()
    assert sorted(each.name for each in tmp_path.glob("unfinished*")) == []
    again = run(10 * size)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_two_jobs_give_the_same_file(tmp_path: Path) -> None:
    rows = loans(50, seed=1)
    rows["debt"] = np.where(rows["case"] == 1030, 99.95, rows["debt"])  # the model fails there
    command = [*write(tmp_path, rows=rows), "--quiet"]
    assert main([*command, "--out", str(tmp_path / "one.csv")]) == 3
    assert main([*command, "--jobs", "2", "--out", str(tmp_path / "two.csv")]) == 3
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_a_spreadsheet_finds_no_formula_in_the_safe_form(tmp_path: Path) -> None:
    model, data = write_loans(tmp_path)
    rows = pd.read_csv(data).assign(note="=HYPERLINK(A1)", balance="-12.50")
    rows.to_csv(data, index=False)
    out = tmp_path / "out.csv"
    command = [
        "explain",
        model,
        data,
        "--trust",
        "--options",
        "1",
        "--where",
        "income < 9",
        "--quiet",
    ]
    command += ["--keep", "note", "balance", "--out", str(out)]
    assert main(command) == 0
    assert set(written(out)["note"]) == {"=HYPERLINK(A1)"}
    faithful = written(out)
    assert main([*command, "--safe-csv"]) == 0
    assert set(written(out)["note"]) == {"'=HYPERLINK(A1)"}
    assert set(written(out)["balance"]) == {-12.5}
    pd.testing.assert_frame_equal(written(out).drop(columns="note"), faithful.drop(columns="note"))


def test_a_refused_command_leaves_nothing_and_does_not_block_the_corrected_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Each left a folder of parts, and the corrected command was that of another run.
    model, data = write_loans(tmp_path)
    rows = Path(data).read_text().splitlines(keepends=True)
    (tmp_path / "broken.csv").write_text("".join([*rows[:70], "1,2,3,4,5,6\n", *rows[70:]]))
    before = sorted(tmp_path.iterdir())
    base = ["--trust", "--quiet", "--options", "1", "--out", str(tmp_path / "out.csv")]
    for table, more in [
        (data, ["--where", "town == Ulm"]),
        (data, ["--where", "income"]),
        (data, ["--target", "refunded"]),
        (data, ["--immutable", "age"]),
        (data, ["--keep", "age"]),
        (data, ["--drop", "age"]),
        (data, ["--scheduler", "nonsense://"]),
        # Two parts were finished before the line was found.
        (str(tmp_path / "broken.csv"), ["--train", data]),
    ]:
        assert main(["explain", model, table, *base, *more]) == 2, more
        assert sorted(tmp_path.iterdir()) == before, more
    capsys.readouterr()
    assert main(["explain", model, data, *base]) == 0


def test_a_damaged_part_is_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # It ended in a traceback, each time.
    command = [*interrupted(tmp_path, case=1045), "--quiet", "--out"]
    out = tmp_path / "out.parquet"
    assert main([*command, str(out)]) == 130
    part = tmp_path / "out.parquet.parts" / "00000001.parquet"
    part.write_bytes(part.read_bytes()[:100])
    capsys.readouterr()
    assert main([*command, str(out)]) == 0
    assert "counterset: 1 finished parts are damaged and will be made again\n" in (
        capsys.readouterr().err
    )
    assert main([*command, str(tmp_path / "whole.parquet")]) == 0
    pd.testing.assert_frame_equal(written(out), written(tmp_path / "whole.parquet"))


def test_a_second_run_into_the_same_file_is_told_and_the_first_finishes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # It failed with the name of a file that the first had moved.
    command = [*write(tmp_path), "--quiet", "--out", str(tmp_path / "out.csv")]
    (folder := tmp_path / "out.csv.parts").mkdir()
    with locked(folder / "lock"):
        assert main(command) == 2
    assert f"Another run is writing {tmp_path / 'out.csv'} now" in capsys.readouterr().err
    assert main(command) == 0


def test_a_cluster_gives_the_same_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = write(tmp_path)
    assert main([*command, "--out", str(tmp_path / "serial.parquet")]) == 0
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        more = ["--scheduler", cluster.scheduler_address, "--out", str(tmp_path / "out.parquet")]
        assert main([*command, *more]) == 0
    pd.testing.assert_frame_equal(
        written(tmp_path / "out.parquet"), written(tmp_path / "serial.parquet")
    )


def test_the_parts_say_what_they_were_made_from(tmp_path: Path) -> None:
    command = interrupted(tmp_path)
    assert main([*command, "--out", str(tmp_path / "out.csv"), "--quiet"]) == 130
    manifest = json.loads((tmp_path / "out.csv.parts" / "manifest.json").read_text())
    assert {"counterset", "MODEL", "DATA", "--train", "--drop", "--options"} <= set(manifest)
    assert manifest["--options"] == "2"
