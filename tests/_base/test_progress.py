"""The progress bar."""

from __future__ import annotations

from io import StringIO

import pytest

from counterset._base.progress import Progress


def test_time_left_follows_from_the_time_spent() -> None:
    now, stream = iter([0.0, 90.0]), StringIO()
    with Progress(4, "tables", stream=stream, clock=lambda: next(now)) as bar:
        bar.advance()
    assert stream.getvalue().endswith("1/4, 4:30 left\n")


def test_a_shorter_line_covers_the_longer_one_before() -> None:
    stream = StringIO()
    with Progress(2, "a long name", stream=stream, clock=lambda: 0.0) as bar:
        bar.advance(2, label="b")
    last = stream.getvalue().split("\r")[-1]
    assert last.startswith("b [########################] 2/2 ")
    assert len(last.rstrip("\n")) == len(stream.getvalue().split("\r")[1])


def test_nothing_is_written_when_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(2, "quiet", shown=False) as bar:
        bar.advance()
    assert capsys.readouterr() == ("", "")


def test_no_work_is_all_done() -> None:
    stream = StringIO()
    with Progress(0, "none", stream=stream):
        pass
    assert "[########################] 0/0" in stream.getvalue()
