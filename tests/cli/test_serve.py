"""``counterset serve``: what it refuses, and what it would serve."""

from __future__ import annotations

import argparse
import json
import shlex
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from support.cli_files import write_loans
from support.served_loans import serve_loans
from support.slow_server import WAITS, slow_server

from counterset.cli import main, serve
from counterset.exceptions import InvalidInputError
from counterset.serve.quotas import Quotas
from counterset.serve.served import Served


def served_by(arguments: list[str]) -> Served:
    parser = argparse.ArgumentParser()
    serve.add_command(parser.add_subparsers())
    return serve.read_served(parser.parse_args(["serve", *arguments]))


def test_without_a_model_the_bundled_loans_are_served() -> None:
    served = served_by([])
    assert (served.name, served.goal) == ("german_credit", {"target": "good"})
    assert len(served.cases) == 200


@pytest.mark.parametrize(
    "given",
    [["--immutable", "age"], ["--options", "3"], ["--margin", "0.05"], ["--target", "bad"]],
    ids=" ".join,
)
def test_without_a_model_what_would_do_nothing_is_refused(given: list[str]) -> None:
    with pytest.raises(InvalidInputError, match=f"{given[0]} would do nothing. Name a model"):
        served_by(given)


def test_a_model_is_served_with_a_margin(tmp_path: Path) -> None:
    model, data = write_loans(tmp_path)
    served = served_by([model, data, "--trust", "--margin", "0.05"])
    assert served.explainer.margin == 0.05


def test_a_model_is_served_with_its_rows(tmp_path: Path) -> None:
    model, data = write_loans(tmp_path)
    served = served_by([model, data, "--trust", "--target", "approved"])
    assert served.name == "model"
    assert served.goal["target"] == "approved"
    assert list(served.cases) == ["income", "debt"]
    assert served_by([model, data, "--trust", "--name", "loans"]).name == "loans"


def test_the_head_of_sheets_comes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "sender.toml"
    file.write_text('institution = "Example Bank"\ncontact = "Ms Nowak"\n', encoding="utf-8")
    details = served_by(["--details", str(file)]).details
    assert (details["institution"], details["contact"]) == ("Example Bank", "Ms Nowak")
    with pytest.raises(InvalidInputError, match="There is no file"):
        served_by(["--details", str(tmp_path / "nowhere.toml")])


def test_cases_that_cannot_be_read_are_named_at_the_start(
    capsys: pytest.CaptureFixture[str],
) -> None:
    loans = serve_loans()
    cases = loans.cases.assign(home=["boat"] * 4 + ["own"] * 46)
    serve.tell_faults(Served("loans", loans.explainer, cases))
    told = capsys.readouterr().err
    assert told.startswith("counterset: 4 of 50 cases cannot be read and are left out on the page.")
    assert "Row 150: home is 'boat', which the training data does not have." in told
    assert told.count("Row ") == 3
    serve.tell_faults(loans)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model.skops"], "MODEL and DATA, or neither"),
        (["--host", "0.0.0.0"], "lets other machines send requests"),
        (["--host", "example.org"], "lets other machines send requests"),
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


def test_a_port_that_is_taken_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port)]) == 2
    assert f"port {port}: Address already in use. Choose another" in capsys.readouterr().err


def test_a_goal_that_cannot_be_reached_is_told_before_the_server_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write_loans(tmp_path)
    assert main(["serve", *files, "--trust", "--target", "maybe", "--port", "0"]) == 2
    told = capsys.readouterr()
    assert "No training row is predicted 'maybe'" in told.err
    assert told.out == ""


def deployed(name: str) -> list[str]:
    """Return the arguments of the command in a file for deploying."""
    text = (Path(__file__).parents[2] / "deploy" / name).read_text(encoding="utf-8")
    if name == "Dockerfile":
        line = next(each for each in text.splitlines() if each.startswith("ENTRYPOINT"))
        entry: list[str] = json.loads(line.removeprefix("ENTRYPOINT "))
        return entry[2:]
    if name == "kserve.yaml":
        line = next(each for each in text.splitlines() if "args: [" in each)
        return deployed("Dockerfile") + line.split("[")[1].strip("]").split(", ")
    line = next(each for each in text.splitlines() if each.startswith("ExecStart="))
    return shlex.split(line)[2:]


@pytest.mark.parametrize("name", ["Dockerfile", "counterset.service", "kserve.yaml"])
def test_the_files_for_deploying_have_options_that_the_command_takes(name: str) -> None:
    parser = argparse.ArgumentParser()
    serve.add_command(parser.add_subparsers())
    given = parser.parse_args(["serve", *deployed(name)])
    assert (given.model is None) == (name == "Dockerfile")
    # Who can be reached by other machines needs a token.
    assert (given.host == "127.0.0.1") == (given.token_file is None)


def listens(address: str) -> bool:
    """Whether a server takes new requests."""
    try:
        return httpx2.get(f"{address}/health").is_success
    except httpx2.TransportError:
        return False


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_loses_no_request_that_was_accepted(end: signal.Signals, tmp_path: Path) -> None:
    with slow_server(tmp_path) as server, ThreadPoolExecutor(10) as users:
        asked = [users.submit(server.explain, WAITS) for _ in range(10)]
        while server.waiting() < 10:
            pass
        server.process.send_signal(end)
        while listens(server.address):
            pass
        assert not any(each.done() for each in asked)
        server.go.touch()
        answers = [each.result() for each in asked]
        server.process.wait(timeout=60)
        lines = server.lines()
    assert [each.status_code for each in answers] == [200] * 10
    assert len({each.text for each in answers}) == 1
    finished = [each for each in lines if each.get("route") == "/explain"]
    assert [each["status"] for each in finished] == [200] * 10
    assert lines[-1]["event"].startswith("Finished server process")


def test_the_page_tells_the_options_for_which_the_help_has_no_lines() -> None:
    page = (Path(__file__).parents[2] / "docs" / "deploying.md").read_text(encoding="utf-8")
    for name in serve.QUOTAS:
        default = getattr(Quotas(), name)
        assert f"| `--{name.replace('_', '-')}` | {default:g} |" in page


def test_quotas_are_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Quotas] = []
    monkeypatch.setattr(serve, "run_server", lambda *arguments: given.append(arguments[-1]))
    model, data = write_loans(tmp_path)
    times = ["--transfer-seconds", "5", "--work-seconds", "6", "--shutdown-seconds", "7"]
    assert main(["serve", model, data, "--trust", "--connections", "40", *times]) == 0
    assert main(["serve", model, data, "--trust"]) == 0
    changed = Quotas(connections=40, transfer_seconds=5, work_seconds=6, shutdown_seconds=7)
    assert given == [changed, Quotas()]
