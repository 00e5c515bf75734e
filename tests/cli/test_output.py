"""Whether a report can be written, found out before the work."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from counterset import InvalidInputError, MissingExtraError
from counterset.cli.output import check_output


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
