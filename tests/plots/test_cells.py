"""Which features plots show, and how values are written."""

from __future__ import annotations

import numpy as np
import pandas as pd
from support.displays import mixed, wide

from counterset import Schema
from counterset.plots.style import most_changed, name_of, value_text
from counterset.tables.table import Table


def test_features_are_ordered_by_how_often_then_by_how_far_they_change() -> None:
    for explanation in (mixed()[0], wide()[0]):
        order = most_changed(explanation)
        often = explanation.changed.sum(axis=0)
        assert sorted(order) == np.flatnonzero(often).tolist()
        assert (np.diff(often[order]) <= 0).all()
    explanation, _ = wide()
    spread = [feature.high - feature.low for feature in explanation.coded.table.features]
    far = (np.abs(explanation.coded.matrix - explanation.coded.input) / spread).sum(axis=0)
    assert (np.diff(far[most_changed(explanation)]) <= 1e-12).all()


def test_names_are_readable() -> None:
    explanation, _ = mixed()
    assert name_of(explanation.coded.table.features[1]).startswith("monthly income after")


def test_values_are_written_as_in_the_table_unless_they_are_too_long() -> None:
    features = mixed()[0].coded.table.features
    assert value_text(features[1], 3400.0) == "3,400"
    assert value_text(features[3], 612.3456789012) == "≈612.3"
    assert value_text(features[3], 1.23456789e-7) == "≈1.235e-07"
    assert value_text(features[2], 2.0, 8) == "with <b…"
    assert value_text(features[4], np.nan) == "missing"


RATES = pd.DataFrame({"rate": [12.0, 1.0, 1234567.8901], "sum": [1.0, 2.0, -9.0]})
RATE, SUM = Table.learn(
    RATES,
    Schema(
        units={"rate": "{}%", "sum": "kg"},
        special={"sum": [-9]},
        texts={"sum": {-9: "there is no record"}},
    ),
)[0].features


def test_a_pattern_of_a_unit_is_filled_in() -> None:
    # The name used to be "rate ({}%)", and the value "12".
    assert (name_of(RATE), name_of(SUM)) == ("rate", "sum (kg)")
    assert (value_text(RATE, 12.0), value_text(SUM, 12.0)) == ("12%", "12")
    assert value_text(RATE, 1234567.8901) == "≈1,235,000%"
    assert value_text(RATE, np.nan) == "missing"


def test_a_declared_text_is_no_number_to_round() -> None:
    assert value_text(SUM, -9.0) == "there is no record"  # it used to be "≈-9"


def test_a_rounded_number_stays_on_its_side_of_the_others() -> None:
    assert value_text(SUM, 612.3456789) == "≈612.3"
    assert value_text(SUM, 612.3456789, apart_from=[612.34]) == "≈612.346"
    assert value_text(SUM, 612.3456789, apart_from=[612.3456788]) == "612.3456789"
    assert value_text(SUM, 123456789.0) == "123,456,789"  # rounded, it is no shorter
