"""What all plots share."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from support.displays import mixed

from counterset import InvalidInputError
from counterset.exceptions import MissingExtraError
from counterset.plots import (
    ChangesDisplay,
    MapDisplay,
    MenuDisplay,
    StabilityDisplay,
    StepsDisplay,
)
from counterset.plots.style import COLOURS, axes_or_new, option_style, pyplot, shortened, wrapped


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"counterset\[plots\]"):
        pyplot()


def test_nothing_opens_a_window() -> None:
    assert pyplot().get_backend().lower() == "agg"


def test_the_colours_are_different() -> None:
    assert len(set(COLOURS)) == len(COLOURS) == 7


def test_a_display_names_the_extra_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"counterset\[plots\]"):
        axes_or_new(None, (4, 3))


def test_options_differ_in_colour_and_shape() -> None:
    styles = [option_style(i) for i in range(6)]
    assert len({style["color"] for style in styles}) == 6
    assert len({style["marker"] for style in styles}) == 6


@pytest.mark.parametrize(
    ("text", "expected"), [("short", "short"), ("rather long text", "rather lo…"), ("a\nb", "a b")]
)
def test_long_texts_end_in_an_ellipsis(text: str, expected: str) -> None:
    assert shortened(text, 10) == expected


def test_texts_are_wrapped_into_a_few_lines() -> None:
    assert wrapped("one two three four five", 8) == "one two\nthree f…"
    assert wrapped("x" * 20, 8) == "x" * 8 + "\n" + "x" * 7 + "…"


@pytest.mark.parametrize("display", [ChangesDisplay, MenuDisplay, MapDisplay, StepsDisplay])
def test_many_explanations_are_not_drawn_at_once(display: Any) -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    needed = [] if display in (ChangesDisplay, MenuDisplay) else [explainer]
    with pytest.raises(InvalidInputError, match=r"one explanation; pass explanations\[0\]"):
        display.from_explanation(explainer.explain_many(row), *needed)
    with pytest.raises(InvalidInputError, match="got DataFrame"):
        display.from_explanation(row, *needed)


def test_the_stability_of_many_explanations_is_not_drawn_at_once() -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    with pytest.raises(InvalidInputError, match=r"one explanation; pass explanations\[0\]"):
        StabilityDisplay.from_explanation(explainer.explain_many(row), explainer)  # type: ignore[arg-type]
