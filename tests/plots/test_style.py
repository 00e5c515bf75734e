"""What all plots share."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.text import Text
from support.displays import mixed, plane

from counterset import InvalidInputError
from counterset.evaluation import tune
from counterset.exceptions import MissingExtraError
from counterset.plots import (
    ChangesDisplay,
    MapDisplay,
    MenuDisplay,
    StabilityDisplay,
    StepsDisplay,
    TradeOffDisplay,
)
from counterset.plots.style import (
    COLOURS,
    Ink,
    axes_or_new,
    pyplot,
    shortened,
    wrapped,
)


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


@pytest.mark.parametrize("ink", [Ink("#000000", "#ffffff"), Ink("#ffffff", "#1e2129")])
def test_options_differ_in_colour_and_can_be_seen(ink: Ink) -> None:
    assert len({ink.colour(option) for option in range(1, 7)}) == 6
    assert ink.colour(7) == ink.colour(1)
    for option in range(1, 7):
        assert contrast(ink.colour(option), ink.paper) >= (1.9 if ink.paper == "#ffffff" else 4)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, as WCAG defines it."""

    def luminance(colour: str) -> float:
        parts = np.array(to_rgb(colour))
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def displays() -> dict[str, Any]:
    explanation, explainer = mixed()
    X = np.random.default_rng(0).random((60, 2))
    tuning = tune(lambda rows: rows.sum(axis=1) > 1, X, X[:3], betas=[0.5], gammas=[0.1])
    return {
        "changes": ChangesDisplay.from_explanation(explanation),
        "menu": MenuDisplay.from_explanation(explanation),
        "map": MapDisplay.from_explanation(explanation, explainer),
        "plane": MapDisplay.from_explanation(*plane()),
        "steps": StepsDisplay.from_explanation(*plane()),
        "stability": StabilityDisplay.from_explanation(explanation, explainer, repeats=2),
        "trade-off": TradeOffDisplay.from_tuning(tuning),
    }


def shown_texts(figure: Any) -> list[Text]:
    hidden = set()  # tick labels outside the limits of their axes are not drawn
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            first, last = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not first <= tick.get_loc() <= last:
                    hidden |= {tick.label1, tick.label2}
    texts = [each for each in figure.findobj(Text) if each.get_text().strip()]
    return [each for each in texts if each.get_visible() and each not in hidden]


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_every_text_can_be_read_in_light_and_in_dark(style: str) -> None:
    for name, display in displays().items():
        with plt.style.context(style):
            figure = display.plot().figure_
        paper = to_hex(figure.get_facecolor())
        for text in shown_texts(figure):
            behind = text.get_bbox_patch()
            number = text.get_text().isdecimal() and text.get_fontweight() == "bold"
            if number:  # on the disc of its option
                behind_colour = Ink.of(figure.axes[0]).colour(int(text.get_text()))
            else:
                behind_colour = paper if behind is None else to_hex(behind.get_facecolor())
            assert contrast(to_hex(text.get_color()), behind_colour) >= 4.5, (name, text)
        plt.close(figure)


def test_axes_of_a_dark_style_are_drawn_on_in_the_dark_later_too() -> None:
    with plt.style.context("dark_background"):
        _, ax = plt.subplots()
    display = ChangesDisplay.from_explanation(mixed()[0]).plot(ax)
    changes = [text for text in ax.texts if "→" in text.get_text()]
    assert {to_hex(text.get_color()) for text in changes} == {"#ffffff"}
    plt.close(display.figure_)


@pytest.mark.parametrize("transparent", ["white", "black"])
def test_transparent_axes_are_taken_for_the_paper_that_suits_their_text(transparent: str) -> None:
    settings: Any = {
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "axes.labelcolor": transparent,
    }
    with plt.rc_context(settings):
        figure, ax = plt.subplots()
    assert Ink.of(ax).paper == {"white": "#000000", "black": "#ffffff"}[transparent]
    plt.close(figure)


def test_a_title_keeps_its_order_around_arabic_words() -> None:
    explanation, _ = mixed()
    names = {"no": "\u0645\u0631\u0641\u0648\u0636", "yes": "\u0645\u0642\u0628\u0648\u0644"}
    title = (
        ChangesDisplay.from_explanation(explanation, outcomes=names).plot().ax_.get_title("left")
    )
    signs = {sign for sign in title if "\u2066" <= sign <= "\u2069"}
    assert signs == ({"\u2068", "\u2069"} if mpl.__version_info__ >= (3, 11) else set())
    assert all(name in title for name in names.values())
    plt.close("all")


def test_no_text_of_a_new_figure_is_cut_or_runs_into_another() -> None:
    for name, display in displays().items():
        figure = display.plot().figure_
        figure.canvas.draw()
        width, height = figure.canvas.get_width_height()
        boxes = []
        for text in shown_texts(figure):
            if text.get_text() == "·":
                continue
            box = text.get_window_extent()
            assert -1 <= box.x0 <= box.x1 <= width + 1, (name, text)
            assert -1 <= box.y0 <= box.y1 <= height + 1, (name, text)
            boxes.append((text, box.shrunk(0.9, 0.7)))
        for (one, first), (other, second) in itertools.combinations(boxes, 2):
            assert not first.overlaps(second), (name, one, other)
        plt.close(figure)


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
