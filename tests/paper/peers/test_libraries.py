"""The environments of other libraries; nothing is installed."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from counterset import InvalidInputError
from counterset.exceptions import MissingExtraError
from counterset.paper.peers import PEERS, libraries
from counterset.paper.peers.libraries import (
    LIBRARIES,
    install,
    interpreter_of,
    is_installed,
    library_of,
)


def test_every_library_has_a_peer_and_pins_what_is_measured() -> None:
    assert {known.module for known in PEERS.values()} >= set(LIBRARIES)
    for library in LIBRARIES.values():
        pinned = [each for each in (*library.alone, *library.requirements) if "==" in each]
        assert pinned
        assert "torch" not in library.requirements  # unpinned, it may bring gigabytes


def test_a_peer_runs_in_its_environment_once_that_is_finished(tmp_path: Path) -> None:
    with pytest.raises(MissingExtraError, match="counterset peers --install nice"):
        interpreter_of("nice-sparsity", tmp_path)
    library = LIBRARIES["nice"]
    (tmp_path / "nice").mkdir()
    finished = tmp_path / "nice" / "installed.json"
    finished.write_text(json.dumps([*library.requirements, "NICEx==0.1"]))
    assert not is_installed("nice", tmp_path)  # it holds another version
    finished.write_text(json.dumps([*library.requirements, *library.alone]))
    assert is_installed("nice", tmp_path)
    assert interpreter_of("nice-sparsity", tmp_path) == str(tmp_path / "nice" / "bin" / "python")
    assert interpreter_of("face", tmp_path) == sys.executable
    assert library_of("face") is None


def fake_python(file: Path, version: str, code: int = 0) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(f"#!/bin/sh\necho {version}\nexit {code}\n")
    file.chmod(0o755)


def test_a_library_for_an_older_python_finds_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = replace(LIBRARIES["nice"], pythons=("2.6", "2.5"))
    fake_python(tmp_path / "shims" / "python2.6", "2.6", code=1)  # a shim with nothing behind it
    fake_python(tmp_path / "liar" / "python2.6", "2.7")
    monkeypatch.setenv("PATH", f"{tmp_path / 'shims'}:{tmp_path / 'liar'}")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    with pytest.raises(InvalidInputError, match=r"NICE runs on Python 2\.6 or 2\.5; this is 3.*"):
        libraries._python_for(library)
    of_pyenv = tmp_path / "pyenv" / "versions" / "2.5.1" / "bin" / "python"
    fake_python(of_pyenv, "2.5")
    # The tools of the fake scripts are the shell's own.
    assert libraries._python_for(library) == str(of_pyenv)
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert libraries._python_for(replace(library, pythons=("2.6", here))) == sys.executable


def test_an_unknown_library_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no library named 'lime'"):
        install("lime", tmp_path)
