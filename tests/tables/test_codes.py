"""Values that look like codes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset import DiverseExplainer, Schema
from counterset.exceptions import UndeclaredCodesWarning, UnsuitableScaleWarning
from counterset.tables.codes import codes_in
from counterset.tables.table import Table

#: What is warned of here is an error, unlike elsewhere.
pytestmark = [
    pytest.mark.filterwarnings("error::counterset.exceptions.UndeclaredCodesWarning"),
    pytest.mark.filterwarnings("error::counterset.exceptions.UnsuitableScaleWarning"),
]
RANDOM = np.random.default_rng(5)
COUNTS = RANDOM.poisson(0.6, 400)
CODED: dict[str, tuple[Any, list[float]]] = {
    "96 and 98 in a count": ([*COUNTS, 96, 96, 98, 98, 98], [96, 98]),
    "99,999 in a gain that is mostly 0": (
        [*[0] * 900, *RANDOM.integers(100, 41_310, 80), *[99_999] * 5],
        [99_999],
    ),
    "-9, -8 and -7 beside numbers from 0 on": (
        [*RANDOM.integers(0, 60, 300), *[-9] * 9, *[-8] * 8, *[-7] * 7],
        [-9, -8, -7],
    ),
    "-9 in a small count": ([*COUNTS, -9, -9], [-9]),
    "-1 beside numbers from 0 on": ([*RANDOM.integers(0, 900, 300), *[-1] * 30], [-1]),
    "999 for nearly everybody": ([*[999] * 900, *RANDOM.integers(0, 27, 100)], [999]),
    "days that are years ahead": ([*RANDOM.integers(-17_000, 0, 300), *[365_243] * 40], [365_243]),
    "-999 in temperatures": ([*np.round(RANDOM.normal(10, 9, 300), 1), *[-999] * 3], [-999]),
    "both ends": ([*RANDOM.integers(0, 50, 300), *[-9] * 5, *[9999] * 5], [-9, 9999]),
}
PLAIN: dict[str, Any] = {
    "one outlier": [*range(30), 10**9],
    "heavy tails": np.exp(RANDOM.normal(8, 2, 2000)),
    "whole numbers with a heavy tail": np.rint(np.exp(RANDOM.normal(3, 1.5, 3000))),
    "counts": COUNTS,
    "a balance": RANDOM.integers(-900, 5000, 500),
    "a scale around 0": [*range(-3, 4)] * 20,
    "a coarse scale around 0": [-10, -5, 0, 5, 10, 15, 20] * 20,
    "-1 in a small count": [*COUNTS, -1, -1],
    "mostly 0": [0] * 90 + [1, 2, 3, 5, 8] * 2,
    "two values": [0, 1000] * 20,
    "years": RANDOM.integers(1950, 2026, 300),
    "ages with 99": [*RANDOM.integers(18, 95, 500), 99, 99],
    "one value": [7] * 20,
    "nothing": [np.nan] * 5,
}


@pytest.mark.parametrize("name", CODED)
def test_isolated_repeated_values_far_outside_look_like_codes(name: str) -> None:
    column, codes = CODED[name]
    assert codes_in(np.array(column, dtype=float)) == codes


@pytest.mark.parametrize("name", PLAIN)
def test_ordinary_columns_have_no_codes(name: str) -> None:
    assert codes_in(np.array(PLAIN[name], dtype=float)) == []


def coded_frame() -> pd.DataFrame:
    random = np.random.default_rng(0)
    delays = np.where(random.random(400) < 0.03, 98, random.poisson(0.6, 400))
    return pd.DataFrame({"income": random.integers(1000, 9000, 400), "delays": delays})


def approve(rows: pd.DataFrame) -> Any:
    return np.where((rows["income"] > 4000) & ~rows["delays"].between(2, 90), "yes", "no")


def test_fit_warns_once_and_shows_the_line_to_paste() -> None:
    frame = coded_frame()
    with pytest.warns(UndeclaredCodesWarning) as caught:
        DiverseExplainer(approve).fit(frame)
    (warning,) = caught
    assert warning.filename == __file__
    text = str(warning.message)
    assert "'delays' has 98" in text
    assert "schema=Schema(special={'delays': [98]})" in text
    assert "schema=Schema(integer=['delays'])" in text


@pytest.mark.parametrize(
    "schema", [Schema(special={"delays": [98]}), Schema(special=[98]), Schema(integer=["delays"])]
)
def test_what_is_declared_is_not_warned_of(schema: Schema) -> None:
    DiverseExplainer(approve, schema=schema).fit(coded_frame())


def test_what_is_suggested_can_be_pasted_and_silences_the_warning() -> None:
    frame = coded_frame()
    suggested = Schema.suggest(frame)
    assert repr(suggested) == "Schema(special={'delays': [98]})"
    assert eval(repr(suggested)) == suggested
    DiverseExplainer(approve, schema=suggested).fit(frame)
    assert Schema.suggest(frame[["income"]]) == Schema()
    assert Schema.suggest(frame.to_numpy()) == Schema(special={"x1": [98]})


def test_a_list_of_codes_is_for_all_numbers_and_an_absent_one_is_no_error() -> None:
    frame = coded_frame().assign(home=["own", "rent"] * 200, small=np.arange(400) % 7)
    frame["small"] = frame["small"].astype("uint8")
    table, _ = Table.learn(frame, Schema(special=[-9, 98]))
    assert [feature.special for feature in table.features] == [(-9, 98), (-9, 98), (), (98,)]
    by_name, _ = Table.learn(frame, Schema(special={"income": [-9]}))
    assert by_name.features[0].special == (-9,)


def test_with_declared_codes_nobody_is_advised_to_reach_one() -> None:
    frame = coded_frame()
    explainer = DiverseExplainer(approve, schema=Schema(special=[98])).fit(frame)
    declined = frame[(approve(frame) == "no") & (frame["delays"] != 98)][:30]
    found = explainer.explain_many(declined, if_none="ignore").to_frame()
    assert len(found) >= 30
    assert not (found["delays"] == 98).any()


def test_the_range_of_the_other_values_counts_once_codes_are_declared() -> None:
    frame = coded_frame()
    explainer = DiverseExplainer(approve, schema=Schema(special=[98])).fit(frame)
    low, high = frame[["income", "delays"]].iloc[:1], frame[["income", "delays"]].iloc[:1]
    low, high = low.assign(delays=0), high.assign(delays=1)
    assert explainer.distance_(low, high)[0, 0] > 0.2


def test_few_values_that_stretch_the_usual_range_are_warned_of() -> None:
    random = np.random.default_rng(0)
    amounts = np.where(random.random(1000) < 0.05, random.uniform(7e5, 9e5, 1000), 0)
    frame = pd.DataFrame({"amount": amounts + random.uniform(0, 100, 1000)})
    with pytest.warns(UnsuitableScaleWarning, match=r"scale='robust' means little for 1 of 1") as w:
        DiverseExplainer(lambda rows: rows["amount"] > 50).fit(frame)
    assert "Cap these values" in str(w[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DiverseExplainer(lambda rows: rows["amount"] > 50, scale="mad").fit(frame)


def test_values_of_very_different_sizes_are_warned_of() -> None:
    random = np.random.default_rng(0)
    ratios = np.append(random.random(400), random.uniform(100, 3000, 100))
    with pytest.warns(UnsuitableScaleWarning, match="very different sizes"):
        DiverseExplainer(lambda rows: rows["debt"] > 0.5).fit(pd.DataFrame({"debt": ratios}))


def test_the_schema_shows_the_usual_range_and_the_step_of_every_number() -> None:
    random = np.random.default_rng(0)
    ratios = np.append(random.random(400), random.uniform(100, 3000, 100))
    frame = pd.DataFrame({"debt": ratios, "age": random.integers(20, 80, 500)})
    explainer = DiverseExplainer(lambda rows: rows["age"] > 50, scale="mad").fit(frame)
    debt, age = repr(explainer.schema_).splitlines()[1:]
    assert ", usually 0" in debt
    assert "in steps of 0.01 to 10" in debt
    assert "20 to 79, usually 20 to 79, in steps of 1" in age
