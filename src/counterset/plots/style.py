"""What all pictures share: the colours, and matplotlib itself."""

from __future__ import annotations

from typing import Any

from counterset.exceptions import MissingExtraError

__all__ = ["COLOURS", "pyplot"]

#: Okabe and Ito's colours, which people who see colours differently can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def pyplot() -> Any:
    """Import matplotlib only when something is drawn, without a window."""
    try:
        import matplotlib  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(
            "Drawing needs matplotlib. Install it with: pip install 'counterset[plots]'"
        ) from error
    matplotlib.use("agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    return plt
