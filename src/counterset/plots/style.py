"""What all plots share: the colours, and the import of matplotlib."""

from __future__ import annotations

from typing import Any

from counterset.exceptions import MissingExtraError

__all__ = ["COLOURS", "pyplot"]

#: The colours of Okabe and Ito, which colour-blind people can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def pyplot() -> Any:
    """Import ``matplotlib.pyplot`` for drawing into files, and return it.

    It is imported only when something is drawn, because it is an extra.
    """
    try:
        import matplotlib  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(
            "Drawing needs matplotlib. Install it with: pip install 'counterset[plots]'"
        ) from error
    matplotlib.use("agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    return plt
