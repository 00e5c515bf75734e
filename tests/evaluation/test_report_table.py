"""Titled tables, as text, Markdown and LaTeX."""

from __future__ import annotations

import pandas as pd
import pytest

from counterset.evaluation.report_table import ReportTable


@pytest.fixture
def table() -> ReportTable:
    frame = pd.DataFrame({"what | who": ["a_b & c", "{x}\\y"], "valid": ["50 %", "1 ± 2"]})
    return ReportTable("odd", "Odd signs", frame, note="A note.")


def test_the_note_stands_below_the_text(table: ReportTable) -> None:
    lines = table.to_text().splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("Odd signs", "A note.", 5)


def test_a_bar_does_not_break_markdown(table: ReportTable) -> None:
    lines = table.to_markdown().splitlines()
    assert lines[2:4] == ["| what / who | valid |", "|---|---|"]
    assert lines[-1] == "A note."


def test_signs_that_mean_something_in_latex_are_escaped(table: ReportTable) -> None:
    latex = table.to_latex()
    assert r"a\_b \& c & 50 \% \\" in latex
    assert r"\{x\}/y & 1 $\pm$ 2 \\" in latex


def test_a_table_without_rows_says_so() -> None:
    assert ReportTable("none", "Nothing", pd.DataFrame()).to_text() == "Nothing\n(no rows)"
