"""Collect the tables of a reproduction, and write them to files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from counterset._base.files import written_aside
from counterset.benchmark import tables
from counterset.benchmark.charts import draw_all
from counterset.benchmark.classifiers import Network
from counterset.benchmark.data import Split
from counterset.evaluation.report_table import ReportTable

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """The results of a reproduction.

    Attributes
    ----------
    summary
        One row per cell.
    setups
        The rows and the network of each dataset.
    as_published
        True if run with the prototype's choices, False if with the paper's own definitions.
    """

    summary: pd.DataFrame
    setups: Sequence[tuple[Split, Network]]
    as_published: bool = False

    def tables(self) -> list[ReportTable]:
        """Return the tables that have rows."""
        found = [
            tables.dataset_table([split for split, _ in self.setups]),
            tables.accuracy_table(self.setups),
            *(tables.final_table(self.summary, minimised=flag) for flag in (True, False)),
            *(
                tables.tuning_table(self.summary, filter_, minimised=flag)
                for filter_ in ("angle", "distance")
                for flag in (True, False)
            ),
            tables.peers_table(self.summary),
            tables.comparison_table(self.summary, as_published=self.as_published),
        ]
        return [table for table in found if len(table.frame)]

    def to_text(self) -> str:
        """Return the report as text for a terminal."""
        return "\n\n".join(table.to_text() for table in self.tables()) + "\n"

    def write(self, folder: Path, *, plots: bool = True) -> list[Path]:
        """Write the report in Markdown and LaTeX, draw a plot per table, and return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        written = [folder / "report.md", folder / "report.tex", folder / "summary.csv"]
        markdown = "\n\n".join(table.to_markdown() for table in self.tables())
        latex = "\n\n".join(table.to_latex() for table in self.tables())
        with ExitStack() as stack:
            # All are moved to their names once all are written, so that they belong together.
            files = [stack.enter_context(written_aside(file)) for file in written]
            files[0].write_text(f"# The paper's tables\n\n{markdown}\n", encoding="utf-8")
            files[1].write_text(latex + "\n", encoding="utf-8")
            self.summary.to_csv(files[2], index=False)
        if plots:
            written += draw_all(self.summary, self.setups, folder / "plots")
        return written
