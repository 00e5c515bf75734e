"""The ``counterset`` command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="counterset", description=__doc__)
    parser.parse_args(argv)
    return 0
