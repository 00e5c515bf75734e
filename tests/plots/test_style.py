"""The import of matplotlib."""

from __future__ import annotations

import sys

import pytest

from counterset import MissingExtraError
from counterset.plots.style import COLOURS, pyplot


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"counterset\[plots\]"):
        pyplot()


def test_nothing_opens_a_window() -> None:
    assert pyplot().get_backend().lower() == "agg"


def test_the_colours_are_different() -> None:
    assert len(set(COLOURS)) == len(COLOURS) == 7
