"""``counterset peers``: list other explainers, and install the libraries that they need."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from counterset.cli.parsing import Commands, add_parser
from counterset.exceptions import InvalidInputError
from counterset.paper.peers.libraries import (
    LIBRARIES,
    environments_in,
    install,
    is_installed,
    key_of,
    library_of,
)
from counterset.paper.peers.protocol import PEERS

__all__ = ["add_command"]

ALL = "all"


def add_command(commands: Commands) -> None:
    """Add ``peers`` to the command line."""
    parser, group = add_parser(
        commands,
        "peers",
        "List other explainers to compare with, and install what they need.\n"
        "Each library gets an environment of its own, with pip.",
        usage="[options]",
        example="counterset peers --install nice treecf",
    )
    group.add_argument(
        "--install",
        nargs="+",
        default=[],
        metavar="NAME",
        help="libraries or peers to install, or 'all'",
    )
    group.add_argument(
        "--folder",
        type=Path,
        metavar="FOLDER",
        help="where the environments are (default: the cache)",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    names = _libraries(arguments.install)
    if not names:
        sys.stdout.write("".join(f"{line}\n" for line in _listed(arguments.folder)))
        return 0
    failed = []
    for name in names:
        try:
            environment = install(name, arguments.folder, _say)
        except InvalidInputError as error:
            failed.append(str(error))  # the others can be installed all the same
        else:
            sys.stdout.write(f"{LIBRARIES[name].name} is installed in {environment}\n")
    if failed:
        raise InvalidInputError(" ".join(failed))
    return 0


def _libraries(names: list[str]) -> list[str]:
    """Return the keys of the libraries that names of libraries, peers or 'all' stand for."""
    keys: list[str] = []
    for name in names:
        if name == ALL:
            keys += LIBRARIES
        elif name in LIBRARIES:
            keys.append(name)
        elif library_of(name) is not None:
            keys.append(key_of(name))
        elif name in PEERS:
            raise InvalidInputError(f"The peer {name!r} needs no other library.")
        else:
            raise InvalidInputError(
                f"There is no library or peer named {name!r}. "
                f"Choose from {', '.join((*LIBRARIES, ALL))}."
            )
    return list(dict.fromkeys(keys))


def _say(command: str) -> None:
    sys.stdout.write(f"  {command}\n")
    sys.stdout.flush()


def _listed(folder: Path | None) -> Iterator[str]:
    """Yield a line for each peer, under its library, and how libraries come and go."""
    width = max(map(len, PEERS))

    def lines_of(library: str) -> Iterator[str]:
        for name, peer in PEERS.items():
            if (key_of(name) if library_of(name) else "") == library:
                yield f"  {name:{width}}  {peer.about}"

    yield "Part of counterset:"
    yield from lines_of("")
    for key, library in LIBRARIES.items():
        there = "installed" if is_installed(key, folder) else "not installed"
        yield f"{key} ({library.name}, {there}):"
        yield from lines_of(key)
    yield ""
    where = environments_in(folder)
    yield from textwrap.wrap(
        f"'counterset peers --install {next(iter(LIBRARIES))}' installs a library, "
        f"'--install all' all of them. To remove one, delete its folder in {where}.",
        88,
        break_long_words=False,
        break_on_hyphens=False,
    )
