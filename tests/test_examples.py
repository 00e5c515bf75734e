"""Every example of the gallery runs, draws something, and is written as the gallery needs it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from support.examples import EXAMPLES, FRAMEWORKS, cells, run_example


@pytest.mark.parametrize(
    "path",
    [path for path in EXAMPLES if path.stem not in FRAMEWORKS],
    ids=lambda path: path.stem.removeprefix("plot_"),
)
def test_an_example_runs_and_draws_a_picture(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = run_example(path)
    assert run.figures
    assert any(run.printed)
    assert not list(tmp_path.iterdir())  # what an example writes is not left behind


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem.removeprefix("plot_"))
def test_an_example_is_short_and_has_a_title_and_cells(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    title, underline, empty, *story = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    assert underline == "=" * len(title)
    assert empty == ""
    assert any(story)
    assert len(text.splitlines()) <= 125
    for start, end in cells(text)[1:]:  # each cell begins with a sentence about it
        mark, words, *_ = text[start:end].splitlines()
        assert mark == "# %%"
        assert words.startswith("# ")


def test_there_is_an_example_for_each_common_need() -> None:
    assert {path.stem.removeprefix("plot_") for path in EXAMPLES} >= {
        *("audit", "codes_and_missing_values", "constraints_per_person", "dask"),
        *("credit_with_constraints", "figure_1", "letter", "network", "own_strategy"),
        *("polars", "regression", "three_classes", "xgboost_lightgbm"),
    }


def test_what_an_example_does_wrong_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "plot_wrong.py"
    path.write_text(
        '"""\nTitle\n=====\n"""\n\n# %%\n# A cell.\n\nassert 1 == 2\n', encoding="utf-8"
    )
    with pytest.raises(AssertionError) as caught:
        run_example(path)
    assert caught.traceback[-1].lineno == 8
    path.write_text("import matplotlib.pyplot as plt\nplt.figure()\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"after the last plt\.show"):
        run_example(path)
