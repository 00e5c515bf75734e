"""The benchmark's commands, for the command line to take in."""

from __future__ import annotations

import argparse

from counterset.benchmark.reproduce import add_command as add_reproduce
from counterset.benchmark.tune import add_command as add_tune

__all__ = ["add_commands"]


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``reproduce`` and ``tune``; each sets ``run``, a function of the parsed arguments."""
    add_reproduce(commands)
    add_tune(commands)
