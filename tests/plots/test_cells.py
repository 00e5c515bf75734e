"""Which features plots show, and how values are written."""

from __future__ import annotations

import numpy as np
from displays import mixed, wide

from counterset.plots.cells import most_changed, name_of, value_text


def test_features_are_ordered_by_how_often_then_by_how_far_they_change() -> None:
    for explanation in (mixed()[0], wide()[0]):
        order = most_changed(explanation)
        often = explanation.changed.sum(axis=0)
        assert sorted(order) == np.flatnonzero(often).tolist()
        assert (np.diff(often[order]) <= 0).all()
    explanation, _ = wide()
    spread = [feature.high - feature.low for feature in explanation._table.features]
    far = (np.abs(explanation._matrix - explanation._input) / spread).sum(axis=0)
    assert (np.diff(far[most_changed(explanation)]) <= 1e-12).all()


def test_names_are_readable() -> None:
    explanation, _ = mixed()
    assert name_of(explanation._table.features[1]).startswith("monthly income after")


def test_values_are_written_as_in_the_table_unless_they_are_too_long() -> None:
    features = mixed()[0]._table.features
    assert value_text(features[1], 3400.0) == "3,400"
    assert value_text(features[3], 612.3456789012) == "≈612.3"
    assert value_text(features[3], 1.23456789e-7) == "≈1.235e-07"
    assert value_text(features[2], 2.0, 8) == "with <b…"
    assert value_text(features[4], np.nan) == "missing"
