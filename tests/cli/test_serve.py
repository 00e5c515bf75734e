"""``counterset serve``: what it refuses, and what it would serve."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from cli_files import write_loans

from counterset.cli import main, serve
from counterset.serve.served import Served


def served_by(arguments: list[str]) -> Served:
    parser = argparse.ArgumentParser()
    serve.add_command(parser.add_subparsers())
    return serve.read_served(parser.parse_args(["serve", *arguments]))


def test_without_a_model_the_bundled_loans_are_served() -> None:
    served = served_by([])
    assert (served.name, served.goal) == ("german_credit", {"target": "good"})
    assert len(served.cases) == 200


def test_a_model_is_served_with_its_rows(tmp_path: Path) -> None:
    model, data = write_loans(tmp_path)
    served = served_by([model, data, "--trust", "--target", "approved"])
    assert served.name == "model"
    assert served.goal["target"] == "approved"
    assert list(served.cases) == ["income", "debt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model.skops"], "MODEL and DATA, or neither"),
        (["--host", "0.0.0.0"], "lets other machines ask"),
        (["--host", "example.org"], "lets other machines ask"),
        (["--token-file", "nowhere"], "nowhere cannot be read"),
        (["--token-file", "empty"], "empty is empty"),
        (["--token-file", "noise"], "noise cannot be read"),
    ],
)
def test_what_it_cannot_use_is_told_in_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").write_text(" \n", encoding="utf-8")
    Path("noise").write_bytes(b"\xff\xfe\xfa")
    assert main(["serve", *arguments]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
