"""Run the scripts of ``examples/`` as the gallery does: cell by cell, without a screen."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parents[2]
#: Examples whose libraries are not among those of the usual tests.
FRAMEWORKS = {"plot_xgboost_lightgbm"}
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
#: A line of this form begins a cell.
CELL = re.compile(r"^# %%$", re.MULTILINE)


@dataclass
class Run:
    """What an example left: what each cell printed, its figures, and its names."""

    printed: list[str] = field(default_factory=list)
    figures: list[Any] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)


def run_example(path: Path) -> Run:
    """Run an example in a namespace of its own."""
    import matplotlib.pyplot as plt

    run = Run(names={"__name__": "__main__"})
    text = path.read_text(encoding="utf-8")
    with without_screen(run):
        for start, end in cells(text):
            # Empty lines above make an error point at the line of the script.
            above = "\n" * text.count("\n", 0, start)
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(above + text[start:end], str(path), "exec"), run.names)
            run.printed.append(printed.getvalue())
        assert not plt.get_fignums(), "a figure is drawn after the last plt.show()"
    return run


def cells(text: str) -> list[tuple[int, int]]:
    """Return where each cell of a script begins and ends."""
    starts = [0, *(mark.start() for mark in CELL.finditer(text)), len(text)]
    return list(itertools.pairwise(starts))


@contextlib.contextmanager
def without_screen(run: Run) -> Iterator[None]:
    """Let ``plt.show`` collect the figures, and close them at the end."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    def show() -> None:
        for number in plt.get_fignums():
            figure = plt.figure(number)
            figure.canvas.draw()  # what cannot be drawn fails here
            run.figures.append(figure)
            plt.close(figure)

    mpl.use("Agg")
    with mock.patch.object(plt, "show", show):
        try:
            yield
        finally:
            plt.close("all")
