"""``counterset serve``: answer requests for explanations, and show the explorer page."""

from __future__ import annotations

import argparse
import importlib.util
import ipaddress
import socket
import sys
from concurrent.futures import Future
from dataclasses import asdict
from pathlib import Path
from typing import Any

from counterset.cli.demo import OUTCOMES, load_credit
from counterset.cli.files import check_files, read_case
from counterset.cli.parsing import (
    Commands,
    add_goal,
    add_model_and_data,
    add_parser,
    add_settings,
    add_training,
    whole_number,
)
from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.serve.quotas import Quotas
from counterset.serve.served import Served
from counterset.words.details import Details

__all__ = ["add_command", "read_served", "run_server", "tell_faults"]

#: Of the cases that cannot be read, the first 3 are named.
MOST_FAULTS = 3
#: Options that say how a model of one's own is read and explained.
OF_A_MODEL = (
    "trust", "drop", "train", "target", "target_probability", "interval", "immutable",
    "constraints", "schema", "options", "margin",
)  # fmt: skip
#: The quotas that are options of the command.
QUOTAS = ("connections", "transfer_seconds", "work_seconds", "shutdown_seconds")


def add_command(commands: Commands) -> None:
    """Add ``serve`` to the command line."""
    parser, group = add_parser(
        commands,
        "serve",
        "Serve explanations as a page and over HTTP; by default, of loans.",
        usage="[MODEL DATA] [options] [quotas: docs/deploying.md]",
        example="counterset serve model.skops credit.csv --target good",
    )
    add_model_and_data(group, "a CSV file of rows to pick from", required=False)
    add_training(group)
    add_goal(group)
    add_settings(group)
    group.add_argument("--name", help="how requests call the model (default: as its file)")
    group.add_argument("--host", default="127.0.0.1", help="where to listen (default: 127.0.0.1)")
    group.add_argument(
        "--port", type=whole_number(0, 65535), default=8000, metavar="N", help="(default: 8000)"
    )
    group.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="a file with a secret that requests must send",
    )
    # The help has no lines left for these: docs/explorer.md and docs/deploying.md explain them.
    group.add_argument("--details", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    group.add_argument("--margin", type=float, metavar="SHARE", help=argparse.SUPPRESS)
    for name in QUOTAS:
        group.add_argument(
            f"--{name.replace('_', '-')}",
            type=whole_number(1),
            default=getattr(Quotas, name),
            help=argparse.SUPPRESS,
        )
    unset = {name: parser.get_default(name) for name in OF_A_MODEL}
    parser.set_defaults(run=_run, unset=unset)


def read_served(arguments: argparse.Namespace) -> Served:
    """Read what the arguments name; without a model, take the bundled loan applications."""
    if arguments.model is None:
        given = [
            name for name, value in arguments.unset.items() if getattr(arguments, name) != value
        ]
        if given:
            raise InvalidInputError(
                f"Without MODEL and DATA, the bundled loan applications are served as they are, so "
                f"that --{given[0].replace('_', '-')} would do nothing. Name a model and its data, "
                f"or leave it out."
            )
        credit = load_credit()
        return Served(
            arguments.name or "german_credit",
            credit.explainer,
            cases=credit.X_test,
            goal={"target": "good"},
            title="German credit",
            outcomes=OUTCOMES,
            details=_read_details(arguments.details),
        )
    if arguments.data is None:
        raise InvalidInputError("serve takes MODEL and DATA, or neither of them, got MODEL only.")
    check_files(arguments)
    case = read_case(arguments)
    named = "".join(
        each if each.isalnum() or each in "-_." else "-" for each in arguments.model.stem
    )
    name = arguments.name or named
    details = _read_details(arguments.details)
    return Served(name, case.explainer, cases=case.rows, goal=case.goal, details=details)


def _read_details(file: Path | None) -> dict[str, Any]:
    """Read what stands in the head of sheets to take home."""
    return {} if file is None else asdict(Details.read(file))


def _run(arguments: argparse.Namespace) -> int:
    token = _read_token(arguments.token_file)
    if token is None and not _is_loopback(arguments.host):
        raise InvalidInputError(
            f"--host {arguments.host} lets other machines send requests, so they need a secret. "
            f"Write one to a file, and pass --token-file."
        )
    for package in ("fastapi", "uvicorn", "prometheus_client"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(f"serve needs {package}: pip install 'counterset[app]'.")
    quotas = Quotas(**{name: getattr(arguments, name) for name in QUOTAS})
    run_server(read_served(arguments), arguments.host, arguments.port, token, quotas)
    return 0


def run_server(
    served: Served,
    host: str,
    port: int,
    token: str | None = None,
    quotas: Quotas = Quotas(),
) -> None:
    """Answer requests until a signal comes; what was accepted by then is finished.

    Parameters
    ----------
    served
        What is served.
    host, port
        Where to listen; port 0 is any free one. The address is printed when the server is ready.
    token
        The secret that requests must send; None: they need none.
    quotas
        How much requests may take.
    """
    from counterset.serve.app import create_app  # noqa: PLC0415 - needs the extra
    from counterset.serve.connections import BACKLOG, quotas_within, serve_app  # noqa: PLC0415
    from counterset.serve.logs import write_logs  # noqa: PLC0415
    from counterset.serve.middleware import LOOPBACK_HOSTS  # noqa: PLC0415

    served.check_goal(served.goal)  # an error now, before the log begins
    quotas = quotas_within(quotas)
    hosts = LOOPBACK_HOSTS if _is_loopback(host) else None
    app = create_app(served, quotas, token, hosts)
    with _listen(host, port, BACKLOG) as listening:
        at = f"[{host}]" if ":" in host else host
        address = f"http://{at}:{listening.getsockname()[1]}"

        def tell(learned: Future[None]) -> None:
            if learned.exception() is None:
                tell_faults(served)
                sys.stdout.write(f"Serving {served.name} at {address} (Ctrl-C stops it)\n")
                sys.stdout.flush()

        write_logs()
        learned = served.start_warm_up()
        learned.add_done_callback(tell)
        serve_app(app, listening, quotas, learned)


def tell_faults(served: Served) -> None:
    """Say which cases cannot be picked on the page."""
    faults = served.listed.faults
    if faults:
        named = " ".join(served.listed.sentences(MOST_FAULTS))
        rest = "" if len(faults) <= MOST_FAULTS else " ..."
        sys.stderr.write(
            f"counterset: {len(faults)} of {len(served.cases)} cases cannot be read and are left "
            f"out on the page. {named}{rest}\n"
        )


def _listen(host: str, port: int, backlog: int) -> socket.socket:
    """Listen at an address; one that is not free or not here is an error now."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=backlog)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]  # which would name the address again
        raise InvalidInputError(
            f"The server cannot listen at {host}, port {port}: {reason}. Choose another with "
            f"--host and --port."
        ) from error


def _read_token(file: Path | None) -> str | None:
    """Read the secret; None: there is none."""
    if file is None:
        return None
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"--token-file: {file} cannot be read ({error}).") from error
    if not token:
        raise InvalidInputError(f"--token-file: {file} is empty. Write a secret to it.")
    return token


def _is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
