"""Other libraries that peers need, and an environment of its own for each."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from counterset.datasets.loading import cache_folder
from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.paper.peers.protocol import PEERS

__all__ = ["LIBRARIES", "Library", "install", "interpreter_of", "library_of"]

#: What the process of a peer needs beside its library: the package itself, without extras.
CORE = (
    "joblib>=1.3", "narwhals>=1.9", "numpy>=1.26", "pandas>=2.2.1", "scikit-learn>=1.5",
    "scipy>=1.13",
)  # fmt: skip
#: An unpinned torch brings gigabytes of code for other hardware.
TORCH = "torch==2.13.0"
#: Written last: an environment without it is not finished.
FINISHED = "installed.json"


@dataclass(frozen=True)
class Library:
    """A library, and what pip installs for it.

    Versions of what is measured are pinned, so that a table can be made again. Other pins give
    their reason.

    Attributes
    ----------
    name
        What it is called.
    module
        What is imported.
    requirements
        What pip installs, with dependencies.
    alone
        What pip installs without dependencies, because those that it asks for cannot be installed
        or are not needed.
    """

    name: str
    module: str
    requirements: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()


#: The libraries by the module of :mod:`counterset.paper.peers` that uses them.
LIBRARIES: dict[str, Library] = {
    "dice": Library("dice-ml", "dice_ml", ("dice-ml==0.12", TORCH)),
    # NICEx asks for numpy and pandas below 2, and runs with newer ones.
    "nice": Library("NICE", "nice", alone=("NICEx==0.2.3",)),
    "treecf": Library("treecf", "treecf", ("treecf==0.3.2",)),
}


def library_of(peer: str) -> Library | None:
    """Return the library that a peer needs; None if it needs no other.

    Examples
    --------
    >>> library_of("dice-random").name
    'dice-ml'
    >>> library_of("nearest-rows") is None
    True
    """
    return LIBRARIES.get(_key(peer))


def interpreter_of(peer: str, folder: Path | None = None) -> str:
    """Return the Python that runs a peer: that of its own environment, or this one.

    Parameters
    ----------
    peer
        The name of the peer.
    folder
        Where the environments are; None: in the library's cache.
    """
    library = library_of(peer)
    if library is None:
        return sys.executable
    environment = _environments(folder) / _key(peer)
    if _is_finished(environment, library):
        return str(_python(environment))
    if find_spec(library.module) is not None:
        return sys.executable
    raise MissingExtraError(
        f"{library.name} is not installed. Install it with: counterset peers --install {_key(peer)}"
    )


def install(
    name: str, folder: Path | None = None, say: Callable[[str], object] = lambda _: None
) -> Path:
    """Make the environment of a library, and return it; one that is finished stays.

    Parameters
    ----------
    name
        A key of :data:`LIBRARIES`.
    folder
        Where the environments are; None: in the library's cache.
    say
        Is told each command before it runs.
    """
    if name not in LIBRARIES:
        raise InvalidInputError(
            f"There is no library named {name!r}. Choose from {', '.join(LIBRARIES)}."
        )
    library, environment = LIBRARIES[name], _environments(folder) / name
    if _is_finished(environment, library):
        return environment
    shutil.rmtree(environment, ignore_errors=True)
    pip = [str(_python(environment)), "-m", "pip", "install", "--quiet"]
    commands = [
        [sys.executable, "-m", "venv", str(environment)],
        [*pip, *CORE, *library.requirements],
    ]
    if library.alone:
        commands.append([*pip, "--no-deps", *library.alone])
    for command in commands:
        say(" ".join(command))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last = [line for line in done.stderr.splitlines() if "ERROR" in line] or [done.stderr]
            raise InvalidInputError(f"{library.name} cannot be installed here: {last[-1].strip()}")
    (environment / FINISHED).write_text(json.dumps(_contents(library)), encoding="utf-8")
    return environment


def _key(peer: str) -> str:
    return PEERS[peer][0] if peer in PEERS else ""


def _environments(folder: Path | None) -> Path:
    return cache_folder() / "peers" if folder is None else folder


def _python(environment: Path) -> Path:
    return environment / "bin" / "python"


def _is_finished(environment: Path, library: Library) -> bool:
    file = environment / FINISHED
    return file.is_file() and json.loads(file.read_text(encoding="utf-8")) == _contents(library)


def _contents(library: Library) -> list[str]:
    return [*library.requirements, *library.alone]
