"""Drawings by hand."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from support.displays import mixed, wide

from counterset.plots import ChangesDisplay
from counterset.plots.changes import Dumbbell, FeatureRow
from counterset.report.drawings import bars, ranges
from counterset.words.templates import Templates

ENGLISH = Templates.read()


def drawn(display: ChangesDisplay, shown: list[int] | None = None) -> list[ElementTree.Element]:
    """Return the drawing of each feature."""
    options = range(1, display.n_options + 1) if shown is None else shown
    return [
        ElementTree.fromstring(svg)
        for svg in re.findall(r"<svg.*?</svg>", ranges(display, options, ENGLISH))
    ]


def test_every_change_of_a_feature_with_an_order_is_a_line_with_the_number_of_the_option() -> None:
    display = ChangesDisplay.from_explanation(mixed()[0])
    ordered = [row for row in display.rows if row.ends is not None]
    assert 0 < len(ordered) < len(display.rows), "a category has no order to draw"
    for row, root in zip(ordered, drawn(display), strict=True):
        numbers = [each.text for each in root.iter("text")]
        assert numbers == [str(change.option) for change in row.changes]
        lines = [each for each in root.iter("path") if "move" in each.get("class", "")]
        assert len(lines) == len(row.changes)


def test_only_the_chosen_options_are_drawn_under_their_numbers() -> None:
    display = ChangesDisplay.from_explanation(wide()[0], max_features=3)
    for root in drawn(display, [2, 5]):
        assert [each.text for each in root.iter("text")] == ["2", "5"]
        assert "options 2 and 5" in root.get("aria-label", "")


def test_where_nothing_has_an_order_nothing_is_drawn() -> None:
    assert ranges(ChangesDisplay((), 0, 0), [], ENGLISH) == ""


def test_a_value_that_is_missing_is_a_cross() -> None:
    display = ChangesDisplay.from_explanation(mixed()[0])
    lost = [row for row in display.rows if row.ends is not None and not row.input_is_known]
    crosses = [
        each
        for root in drawn(display)
        for each in root.iter("path")
        if each.get("class") == "lost now"
    ]
    assert len(crosses) == sum(len(row.changes) for row in lost) > 0


def test_values_outside_the_usual_range_stand_beyond_its_end_on_a_dotted_line() -> None:
    def row(end: float) -> FeatureRow:
        change = Dumbbell(1, 0.5, end, "5", "50", is_known=True)
        return FeatureRow("age", ("0", "10"), (change,), input_is_known=True)

    inside, outside = drawn(ChangesDisplay((row(0.9), row(1.11)), 0, 1))
    dotted = [
        [each for each in root.iter("path") if "beyond" in each.get("class", "")]
        for root in (inside, outside)
    ]
    assert [len(each) for each in dotted] == [0, 1]


def test_nothing_stands_outside_the_drawing() -> None:
    for explanation in (mixed()[0], wide()[0]):
        display = ChangesDisplay.from_explanation(explanation, max_features=6)
        for root in drawn(display):
            _, _, width, height = map(float, root.get("viewBox", "").split())
            for path in root.iter("path"):
                ends = re.findall(r"(?:M|H)(-?[\d.]+)", path.get("d", ""))
                assert all(0 < float(end) < width for end in ends)
            for each in root.iter("circle"):
                assert 0 < float(each.get("cx", "nan")) < width
                assert 0 < float(each.get("cy", "nan")) < height


def test_names_and_ends_are_text_beside_the_drawing_so_that_they_wrap() -> None:
    display = ChangesDisplay.from_explanation(mixed()[0])
    html = ranges(display, range(1, 5), ENGLISH)
    for row in display.rows:
        if row.ends is not None:
            assert f"<figcaption>{row.name}</figcaption>" in html
            assert f"<span>{row.ends[0]}</span><span>{row.ends[1]}</span>" in html


def test_bars_are_as_long_as_their_shares() -> None:
    html = bars([("a <b>", 1.0, "40%"), ("c", 0.5, "20%")], "Bars", ("what", "share"))
    first, second = map(float, re.findall(r"width:([\d.]+)%", html))
    assert first == 2 * second == 100
    assert "a &lt;b&gt;" in html
    assert html.index("40%") < html.index("20%")
