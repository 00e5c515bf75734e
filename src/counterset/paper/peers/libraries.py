"""Other libraries that peers need, and an environment of its own for each."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from counterset.datasets.loading import cache_folder
from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.paper.peers.protocol import PEERS

__all__ = [
    "LIBRARIES", "Library", "environments_in", "install", "interpreter_of", "is_installed",
    "key_of", "library_of",
]  # fmt: skip

#: What the process of a peer needs beside its library: the package itself, without extras.
CORE = (
    "joblib>=1.3", "narwhals>=1.9", "numpy>=1.26", "pandas>=2.2.1", "scikit-learn>=1.5",
    "scipy>=1.13",
)  # fmt: skip
#: An unpinned torch may bring gigabytes of code for other hardware.
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
    pythons
        The versions of Python that it runs on, the best first; empty: any.
    """

    name: str
    module: str
    requirements: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()


#: The libraries by the module of :mod:`counterset.paper.peers` that uses them.
LIBRARIES: dict[str, Library] = {
    # It runs with numpy 1 and TensorFlow below 2.15, for which Python 3.11 is the newest. Nothing
    # brings the click that spaCy imports.
    "alibi": Library(
        "alibi",
        "alibi",
        ("alibi==0.9.6", "tensorflow-cpu==2.14.1", "numpy<2", "click"),
        pythons=("3.11",),
    ),
    # It asks for much that these methods do not need, and not for all that the others import.
    "cel": Library(
        "CEL",
        "cel",
        (TORCH, "dice-ml==0.12", "matplotlib", "mlxtend", "tqdm"),
        alone=("ce-library==0.1.1",),
    ),
    "cfnow": Library("CFNOW", "cfnow", ("cfnow==0.0.6",)),
    "dice": Library("dice-ml", "dice_ml", ("dice-ml==0.12", TORCH)),
    "ellice": Library("ElliCE", "ellice", ("ellice==0.1.4", TORCH)),
    # NICEx asks for numpy and pandas below 2, and runs with newer ones.
    "nice": Library("NICE", "nice", alone=("NICEx==0.2.3",)),
    # It asks for mip 1.12, which cannot be built for the Pythons of today, and imports CPLEX even
    # where mip solves. It uses names that numpy 2 removed.
    "recourse": Library(
        "recourse",
        "recourse",
        ("mip==1.15.0", "cplex", "numpy<2", "prettytable", "seaborn", "tqdm"),
        alone=("recourse==1.0.0",),
        pythons=("3.11",),
    ),
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
    return LIBRARIES.get(key_of(peer))


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
    environment = environments_in(folder) / key_of(peer)
    if _is_finished(environment, library):
        return str(_python(environment))
    if find_spec(library.module) is not None:
        return sys.executable
    raise MissingExtraError(
        f"{library.name} is not installed. Install it with: "
        f"counterset peers --install {key_of(peer)}"
    )


def is_installed(name: str, folder: Path | None = None) -> bool:
    """Return whether a library has its environment, or is part of this one.

    Parameters
    ----------
    name
        A key of :data:`LIBRARIES`.
    folder
        Where the environments are; None: in the library's cache.
    """
    library = LIBRARIES[name]
    finished = _is_finished(environments_in(folder) / name, library)
    return finished or find_spec(library.module) is not None


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
    library, environment = LIBRARIES[name], environments_in(folder) / name
    if _is_finished(environment, library):
        return environment
    python = _python_for(library)
    shutil.rmtree(environment, ignore_errors=True)
    pip = [str(_python(environment)), "-m", "pip", "install", "--quiet"]
    commands = [
        [python, "-m", "venv", str(environment)],
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


def key_of(peer: str) -> str:
    """Return the key in :data:`LIBRARIES` of the library that a peer would need.

    Examples
    --------
    >>> key_of("alibi-proto")
    'alibi'
    """
    return PEERS[peer].module if peer in PEERS else ""


def environments_in(folder: Path | None) -> Path:
    """Return where the environments are: in a folder, or (None) in the library's cache."""
    return cache_folder() / "peers" if folder is None else folder


def _python_for(library: Library) -> str:
    """Return a Python that the library runs on: this one if possible."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if not library.pythons or here in library.pythons:
        return sys.executable
    for version in library.pythons:
        for python in _pythons(version):
            # A shim on the PATH may have nothing behind it, and a system's Python no venv.
            ask = "import ensurepip, sys, venv; print(*sys.version_info[:2], sep='.')"
            done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
            if done.returncode == 0 and done.stdout.strip() == version:
                return python
    wanted = " or ".join(library.pythons)
    raise InvalidInputError(
        f"{library.name} runs on Python {wanted}; this is {here}, and no other was found on the "
        f"PATH or with pyenv. Install Python {library.pythons[0]}, for example with: "
        f"pyenv install {library.pythons[0]}"
    )


def _pythons(version: str) -> Iterator[str]:
    """Yield what may be interpreters of a version: on the PATH, and installed by pyenv."""
    for folder in os.get_exec_path():
        file = shutil.which(f"python{version}", path=folder)
        if file is not None:
            yield file
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(root.glob(f"versions/{version}.*/bin/python")))


def _python(environment: Path) -> Path:
    return environment / "bin" / "python"


def _is_finished(environment: Path, library: Library) -> bool:
    file = environment / FINISHED
    return file.is_file() and json.loads(file.read_text(encoding="utf-8")) == _contents(library)


def _contents(library: Library) -> list[str]:
    return [*library.requirements, *library.alone]
