"""The view of an explanation in a notebook."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from support.worded import by_hand

from counterset import DiverseExplainer
from counterset.words.views import MARKED


def test_it_shows_words_changed_cells_and_a_drawing() -> None:
    shown = by_hand([1, 3])._repr_html_()
    tree = ET.fromstring(shown.replace("<br>", "<br/>"))
    assert "2 options lead to" in shown
    assert len(tree.findall(".//svg/circle")) == 3  # the input and two options
    assert [text.text for text in tree.findall(".//svg/text")] == ["input", "1", "2"]
    marked = [cell for cell in tree.iter("td") if cell.get("style") == MARKED]
    assert len(marked) == 10 + 10
    assert any(cell.text == "3,200 DM" for cell in marked)


def test_it_takes_its_colours_from_the_notebook() -> None:
    shown = by_hand([1, 3])._repr_html_()
    assert "currentColor" in shown
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b|\b(black|white)\b", shown)
    assert "<script" not in shown
    assert '<table style="color:inherit">' in shown  # in some pages, tables have a colour


def test_options_lie_at_their_distance() -> None:
    tree = ET.fromstring(by_hand([1, 2, 3], distances=[0.5, 1.0, 2.0])._repr_html_())
    places = [float(circle.get("cx", "")) for circle in tree.findall(".//svg/circle")]
    steps = np.array(places[1:]) - places[0]
    assert steps / steps[-1] == pytest.approx([0.25, 0.5, 1.0], abs=0.01)


def test_at_most_twenty_features_are_shown() -> None:
    X = np.random.default_rng(0).normal(size=(50, 30))
    explainer = DiverseExplainer.paper(lambda rows: rows.sum(axis=1) > 0)
    shown = explainer.fit(X).explain(X[0])._repr_html_()
    assert "... and 10 more features that change." in shown
    ET.fromstring(shown)


def test_without_options_there_is_no_drawing() -> None:
    shown = by_hand(rows=[])._repr_html_()
    assert "No option that leads to &#x27;good&#x27; was found." in shown
    assert "<svg" not in shown
