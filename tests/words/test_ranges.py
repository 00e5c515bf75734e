"""Ranges in words: sentences, letters, JSON and its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

import counterset
from counterset import DiverseExplainer, Explanation, Schema
from counterset.explanations.ranges import Span
from counterset.tables.table import Table
from counterset.words.changes import ChangeWriter
from counterset.words.templates import Templates
from counterset.words.values import Writer

INF = np.inf
FRAME = pd.DataFrame(
    {
        "duration": [48, 24, 12, 6],
        "credit_amount": [9271.0, 4100.5, 3000.0, 250.0],
        "start": pd.to_datetime(["2024-03-01", "2024-05-01", "2024-06-01", "2024-07-01"]),
    }
)
SCHEMA = Schema(
    labels={"credit_amount": "credit amount"},
    units={"duration": "months", "credit_amount": "DM"},
)
TABLE, ROWS = Table.learn(FRAME, SCHEMA)
WRITER = Writer(Templates.read())
DURATION, AMOUNT, START = TABLE.features


@pytest.mark.parametrize(
    ("feature", "low", "high", "text"),
    [
        (AMOUNT, 250, 4100, "between 250 DM and 4,100 DM"),
        (AMOUNT, -INF, 4100, "at most 4,100 DM"),
        (AMOUNT, 250, INF, "at least 250 DM"),
        (AMOUNT, 250, 250, "250 DM"),
        (DURATION, 12, 24, "between 12 and 24 months"),
        (DURATION, 12, 13, "12 or 13 months"),
        (DURATION, -INF, 24, "at most 24 months"),
        (START, ROWS[0, 2], ROWS[1, 2], "between 2024-03-01 and 2024-05-01"),
    ],
)
def test_a_range_is_written_with_its_unit(feature: Any, low: Any, high: Any, text: str) -> None:
    assert WRITER.range(feature, float(low), float(high)) == text


def span(**ends: tuple[float, float]) -> Span:
    low, high = ROWS[1].copy(), ROWS[1].copy()
    for name, pair in ends.items():
        low[TABLE.position(name)], high[TABLE.position(name)] = pair
    return Span(low, high, True, 0)


def test_sentences_have_ranges_in_place_of_points() -> None:
    writer = ChangeWriter(TABLE, Templates.read())
    before, after = ROWS[0], ROWS[1].copy()
    after[2] = before[2]
    ranges = span(credit_amount=(-INF, 4100.5), duration=(12, 24))
    assert writer.sentence(before, after, ranges) == (
        "Reduce the duration from 48 to between 12 and 24 months and the credit amount from "
        "9,271 DM to at most 4,100.5 DM"
    )
    assert writer.clauses(before, after, ranges)[0] == (
        "reduce the duration from 48 to between 12 and 24 months"
    )
    assert writer.instead(before, after, ranges) == [
        "the duration being between 12 and 24 instead of 48 months",
        "the credit amount being at most 4,100.5 DM instead of 9,271 DM",
    ]


def test_a_range_of_one_value_is_written_as_a_point() -> None:
    writer = ChangeWriter(TABLE, Templates.read())
    before, after = ROWS[0], ROWS[1]
    assert writer.sentence(before, after, span()) == writer.sentence(before, after)
    assert writer.instead(before, after, span()) == writer.instead(before, after)


def test_a_missing_value_is_stated_within_a_range() -> None:
    frame = pd.DataFrame({"income": [1000.0, 2000.0, np.nan]})
    table, rows = Table.learn(frame)
    writer = ChangeWriter(table, Templates.read())
    ranges = Span(np.array([1500.0]), np.array([INF]), True, 0)
    assert writer.sentence(rows[2], rows[1], ranges) == "State the income as at least 1,500"


def lend(rows: pd.DataFrame) -> np.ndarray:
    return (rows["income"] - 10 * rows["debts"] > 50).to_numpy()


@pytest.fixture(scope="module")
def explained() -> Explanation:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.integers(0, 101, 300), "debts": rng.integers(0, 9, 300)})
    explainer = DiverseExplainer(lend, max_counterfactuals=2).fit(frame)
    return explainer.with_ranges(explainer.explain({"income": 40, "debts": 3}))


def schema() -> Any:
    path = Path(counterset.__file__).parent / "explanations" / "explanation.schema.json"
    return json.loads(path.read_text(encoding="utf-8"))


def test_json_holds_ranges_and_gives_them_back(explained: Explanation) -> None:
    written = json.loads(explained.to_json())
    Draft202012Validator(schema()).validate(written)
    assert all(option["ranges"] for option in written["options"])
    loaded = Explanation.from_dict(written)
    assert [each.ranges for each in loaded.options] == [each.ranges for each in explained.options]
    assert loaded.describe() == explained.describe()
    assert json.loads(loaded.to_json())["options"] == written["options"]


def test_json_without_ranges_is_as_it_was(explained: Explanation) -> None:
    without = explained.with_spans(None)
    written = json.loads(without.to_json())
    Draft202012Validator(schema()).validate(written)
    assert not any("ranges" in option for option in written["options"])
    assert Explanation.from_dict(written).options[0].ranges is None


def test_an_open_end_is_null_in_json(explained: Explanation) -> None:
    spans = explained.spans
    assert spans is not None
    low = np.full_like(spans.low, -INF)
    opened = explained.with_spans(type(spans)(low, spans.high, spans.proved, spans.checked))
    written = json.loads(opened.to_json())
    Draft202012Validator(schema()).validate(written)
    ranges = [each for option in written["options"] for each in option["ranges"]]
    assert {each["low"] for each in ranges} == {None}
    loaded = Explanation.from_dict(written)
    assert [each.ranges for each in loaded.options] == [each.ranges for each in opened.options]


def test_letter_and_description_say_what_holds(explained: Explanation) -> None:
    ranges = explained.options[0].ranges
    assert ranges is not None
    wide = [each for each in ranges if each.low != each.high]
    assert wide
    assert all(each.text in explained.describe(width=None) for each in wide)
    assert all(f"being {each.text}" in explained.letter(width=None) for each in wide)
    assert "Proved: every value in the ranges of options 1 and 2 leads to" in explained.describe(
        width=None
    )


def test_reports_write_the_ranges(explained: Explanation, tmp_path: Path) -> None:
    explained.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    ranges = explained.options[0].ranges
    assert ranges is not None
    assert ranges[0].text in page
