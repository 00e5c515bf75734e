"""What an explanation shows in a notebook and in a terminal."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from support.settings import explainer_by_steps
from support.worded import by_hand

from counterset import DiverseExplainer
from counterset.words.views import MARKED, MOST_FEATURES, UNCHANGED


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


ROWS = np.random.default_rng(0).random((80, 70)).round(2)


def test_at_most_sixty_features_are_listed_and_the_rest_counted() -> None:
    explainer = DiverseExplainer.paper(lambda rows: rows.sum(axis=1) > 35)
    text = repr(explainer.fit(ROWS).explain(ROWS[ROWS.sum(axis=1) < 35][0]))
    assert sum(line.startswith("x") for line in text.splitlines()) == MOST_FEATURES
    assert "... and 10 more features that change." in text


def test_a_regression_is_predicted_and_not_classified() -> None:
    explainer = explainer_by_steps(
        lambda rows: rows[:, :3].sum(axis=1) / 3, diversity=None, search=None, sparse=False
    ).fit(ROWS)
    row = ROWS[ROWS[:, :3].sum(axis=1) / 3 < 0.4][0]
    text = repr(explainer.explain(row, interval=(0.5, 0.75)))
    assert text.splitlines()[0].startswith("Input 0 is predicted to be 0.")
    assert "options lead to a prediction between 0.5 and 0.75," in text
    assert "classified" not in text
    assert "\npredicted" in text
    assert "options lead to a prediction of at least 0.5," in repr(
        explainer.explain(row, interval=(0.5, np.inf))
    )
    high = ROWS[ROWS[:, :3].sum(axis=1) / 3 > 0.6][0]
    assert "options lead to a prediction of at most 0.5," in repr(
        explainer.explain(high, interval=(-np.inf, 0.5))
    )


def test_what_stays_is_marked() -> None:
    rows = np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    explainer = explainer_by_steps(lambda X: X.sum(axis=1) > 1, max_counterfactuals=2, search=None)
    lines = repr(explainer.fit(rows).explain(rows[0])).splitlines()
    assert lines[2].split() == ["x0", "0", UNCHANGED, "3"]
    assert lines[3].split() == ["x1", "0", "2", UNCHANGED]
