"""Whether a report can be written, found out before the work."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from counterset import InvalidInputError, MissingExtraError
from counterset.cli.output import check_file, check_output


def test_nothing_is_made(tmp_path: Path) -> None:
    check_output(tmp_path / "a" / "b", plots=True)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Permissions do not bind the administrator, who may run these tests.
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(InvalidInputError, match=r"you may not write to .*--output"):
        check_output(tmp_path / "out", plots=False)


def test_missing_matplotlib_is_told_with_both_ways_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It was missed after the work was done.
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    check_output(tmp_path, plots=False)
    with pytest.raises(MissingExtraError, match=r"counterset\[plots\]', or .*: --no-plots\."):
        check_output(tmp_path, plots=True)


def test_a_file_that_can_be_written_is_not_made_yet(tmp_path: Path) -> None:
    check_file(tmp_path / "report.html", "--html")
    check_file(Path("report.html"), "--html")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_told_with_its_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInputError, match=r"^--html: .* because it is a folder"):
        check_file(tmp_path, "--html")
    with pytest.raises(InvalidInputError, match=r"because there is no folder .*a\. Make it"):
        check_file(tmp_path / "a" / "b.html", "--html")
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(InvalidInputError, match="because you may not write to"):
        check_file(tmp_path / "b.html", "--html")
