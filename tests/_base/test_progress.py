"""The progress bar."""

from __future__ import annotations

from io import StringIO

import pytest

from counterset._base.progress import Progress


def test_time_left_follows_from_the_time_spent() -> None:
    now, stream = iter([0.0, 0.0, 90.0, 90.0]), StringIO()
    with Progress(4, "tables", stream=stream, clock=lambda: next(now)) as bar:
        bar.advance()
    assert stream.getvalue().endswith("1/4, 4:30 left\n")


def test_the_rate_is_that_of_what_was_done_now() -> None:
    now, stream = iter([0.0, 0.0, 2.0, 2.0, 4.0, 4.0]), StringIO()
    with Progress(
        5000, "explain", unit="rows", done=1000, stream=stream, clock=lambda: next(now)
    ) as bar:
        bar.advance(1000)
        bar.advance(3000)
    shown = stream.getvalue().split("\r")
    assert shown[1].endswith("] 1000/5000")
    assert shown[2].endswith("2000/5000, 500 rows/s, 0:06 left")
    assert shown[3].strip().endswith("5000/5000, 1,000 rows/s")


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
