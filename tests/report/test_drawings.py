"""Drawings by hand."""

from __future__ import annotations

from xml.etree import ElementTree

from support.displays import mixed, wide

from counterset.plots import ChangesDisplay
from counterset.report.page import bars_svg, changes_svg


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter("text")]


def test_every_change_is_drawn_with_its_values() -> None:
    display = ChangesDisplay.from_explanation(mixed()[0])
    root = parsed(changes_svg(display, 'What "changes" & how'))
    shown = texts(root)
    changes = [change for row in display.rows for change in row.changes]
    assert all(change.text in shown for change in changes)
    moves = [each for each in root.iter("path") if "move o" in each.get("class", "")]
    assert len(moves) == len(changes)
    assert root.get("aria-label") == 'What "changes" & how'
    assert root.get("role") == "img"


def test_switches_are_dashed_and_missing_values_crossed() -> None:
    display = ChangesDisplay.from_explanation(mixed()[0])
    classes = [each.get("class", "") for each in parsed(changes_svg(display, "")).iter("path")]
    n_switches = sum(len(row.changes) for row in display.rows if row.ends is None)
    assert sum("switch" in each for each in classes) == n_switches
    n_lost = sum(len(row.changes) for row in display.rows if not row.input_is_known)
    assert classes.count("lost") == n_lost > 0


def test_nothing_stands_outside_the_drawing() -> None:
    for explanation in (mixed()[0], wide()[0]):
        display = ChangesDisplay.from_explanation(explanation, max_features=6)
        root = parsed(changes_svg(display, ""))
        _, _, width, height = map(float, root.get("viewBox", "").split())
        for each in root.iter("text"):
            x, y = float(each.get("x", "nan")), float(each.get("y", "nan"))
            # A character is at most 0.62 of the size of the letters wide, on average.
            length = len(each.text or "") * 0.62 * float(each.get("font-size", "nan"))
            left = x - length if each.get("text-anchor") == "end" else x
            assert left >= 0
            assert left + length <= width
            assert 0 < y <= height


def test_bars_are_as_long_as_their_shares() -> None:
    root = parsed(bars_svg([("a <b>", 1.0, "40%"), ("c", 0.5, "20%")], "Bars"))
    first, second = (float(each.get("width", "nan")) for each in root.iter("rect"))
    assert first == 2 * second
    assert texts(root) == ["a <b>", "40%", "c", "20%"]
