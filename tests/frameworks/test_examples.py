"""The examples of the gallery that need a framework."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.examples import EXAMPLES, FRAMEWORKS, run_example


@pytest.mark.parametrize(
    "path", [path for path in EXAMPLES if path.stem in FRAMEWORKS],
    ids=lambda path: path.stem.removeprefix("plot_"),
)  # fmt: skip
def test_an_example_runs_and_draws_a_picture(path: Path) -> None:
    run = run_example(path)
    assert len(run.figures) == 2
    assert {"xgboost", "lightgbm"} <= set(run.names["answers"])
    assert all(len(answer) for answer in run.names["answers"].values())
