"""Tables of reports."""

from __future__ import annotations

import re

import pandas as pd
from support.displays import mixed, wide

from counterset import Constraints, DiverseExplainer, Schema
from counterset.report.page import facts, options_table, plain_table, unchanged


def test_changed_cells_are_marked_and_no_others() -> None:
    explanation, _ = mixed()
    decisions = ["no", *["yes"] * len(explanation)]
    table = options_table(explanation, decisions)
    assert table.count('class="changed"') == explanation.changed.sum()
    n_changing = int(explanation.changed.any(axis=0).sum())
    assert table.count('class="kept"') == n_changing * len(explanation) - explanation.changed.sum()


def test_cells_hold_the_values_escaped() -> None:
    explanation, _ = mixed()
    table = options_table(explanation, ["<no>", *["yes"] * len(explanation)])
    assert "<td>&lt;no&gt;</td>" in table
    for rank, i in zip(*explanation.changed.nonzero(), strict=True):
        text = explanation.coded.table.features[i].format(explanation.coded.matrix[rank, i])
        assert f'<td class="changed">{text}</td>' in table


def test_every_cell_belongs_to_a_row_and_a_column_with_a_heading() -> None:
    explanation, _ = mixed()
    table = options_table(explanation, ["no", *["yes"] * len(explanation)])
    assert table.count('scope="col"') == len(explanation) + 1
    rows = re.findall(r"<tr>(.*?)</tr>", table)[1:]
    assert all(row.startswith('<th scope="row">') for row in rows)
    assert {row.count("<td") for row in rows} == {len(explanation) + 1}


def test_of_50_features_20_are_shown_and_the_others_counted() -> None:
    table = options_table(wide()[0], ["no", *["yes"] * len(wide()[0])])
    assert table.count("<tr>") == 1 + 20 + 3
    assert "30 more features change" in table


def test_what_stays_is_named() -> None:
    assert unchanged(mixed()[0]) == "The same in every option: age."
    assert unchanged(wide()[0]) == ""


def test_plain_tables_and_facts_are_escaped() -> None:
    table = plain_table("A & b", ["x", "n"], [["<i>", "3"]], 1)
    assert "A &amp; b" in table
    assert '<th scope="row">&lt;i&gt;</th><td class="number">3</td>' in table
    assert facts([("a", "<b>")]) == "<dl><dt>a</dt><dd>&lt;b&gt;</dd></dl>"


def test_a_pattern_of_a_unit_is_filled_in() -> None:
    rates = pd.DataFrame({"rate": [12.0, 3.5, 20.0, 7.0] * 5, "age": list(range(20, 40))})
    explainer = DiverseExplainer(
        lambda rows: rows["rate"] < 10,
        schema=Schema(units={"rate": "{}%"}),
        constraints=Constraints(immutable=["age"]),
        max_counterfactuals=1,
    ).fit(rates)
    explanation = explainer.explain(rates.iloc[0])
    page = explanation.to_html()
    assert "<td>12%</td>" in page
    assert ">12% → " in page, "the drawing has it too"
    # The record keeps the pattern; the page does not show it, as it used to.
    assert "{}" not in page[: page.index('id="counterset-record"')].split("</style>")[1]
