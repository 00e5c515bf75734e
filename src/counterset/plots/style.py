"""What all plots share: colours and shapes, shortened names, and the import of matplotlib."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.results.explanation import Explanation
from counterset.results.explanations import Explanations

__all__ = ["COLOURS", "GREY", "INPUT", "MARKERS", "PAPER", "axes_or_new", "option_style", "pyplot"]
__all__ += ["SHOWN", "check_one", "save", "shortened", "wrapped"]

#: The colours of Okabe and Ito, which colour-blind people can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: A shape beside each colour, so that a print in grey can be read.
MARKERS = "osD^vP*X<>"
#: The input: black on white, in every plot.
INPUT, PAPER = "#000000", "#FFFFFF"
#: What stays in the background: range lines, training rows, what was dropped.
GREY = "#767676"
#: A plot shows the 10 features that change most often: more would not fit a page.
SHOWN = 10


def check_one(explanation: Any) -> None:
    """Check that what is to be drawn is one explanation."""
    if isinstance(explanation, Explanations):
        raise InvalidInputError("This shows one explanation; pass explanations[0].")
    if not isinstance(explanation, Explanation):
        raise InvalidInputError(
            f"This shows an explanation, got {type(explanation).__name__}. Pass what explain "
            f"returned."
        )


def pyplot() -> Any:
    """Import ``matplotlib.pyplot`` for drawing into files, and return it.

    It is imported only when something is drawn, because it is an extra.
    """
    _matplotlib().use("agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    return plt


def axes_or_new(ax: Any, size: tuple[float, float], count: int = 1) -> list[Any]:
    """Return the axes to draw into: those that the user passed, or those of a new figure.

    Parameters
    ----------
    ax
        One Axes, a sequence of ``count`` Axes, or None.
    size
        The width and the height of a new figure, in inches.
    count
        The number of panels, side by side.
    """
    if ax is None:
        _matplotlib()
        # Not pyplot() above: in a notebook, the figure is shown by the backend that is there.
        import matplotlib.pyplot as plt  # noqa: PLC0415

        _, made = plt.subplots(1, count, figsize=size, layout="constrained", squeeze=False)
        return list(made[0])
    given = [ax] if hasattr(ax, "plot") else list(ax)
    if len(given) != count:
        raise InvalidInputError(
            f"This plot has {count} panel{'s' if count > 1 else ''}, got {len(given)} axes. "
            f"Pass {count}, or none."
        )
    return given


def save(display: Any, file: str | Path, size: tuple[float, float], count: int = 1) -> None:
    """Draw a display into a file, without a window and without pyplot.

    Parameters
    ----------
    display
        What has ``plot(ax)``.
    file
        The picture to write; its ending chooses the format.
    size
        In inches.
    count
        The number of panels.
    """
    matplotlib = _matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)[0]
    display.plot(axes[0] if count == 1 else axes)
    # No date and no random names: the same plot is the same file.
    dated = {"Date": None} if str(file).endswith(".svg") else {}
    with matplotlib.rc_context({"svg.hashsalt": "counterset"}):
        figure.savefig(file, dpi=120, metadata=dated)


def option_style(rank: int) -> dict[str, Any]:
    """Return the colour and the shape of an option, counted from 0."""
    return {"color": COLOURS[rank % 6], "marker": MARKERS[rank % len(MARKERS)]}


def shortened(text: str, width: int) -> str:
    """Return a text of at most ``width`` characters, with an ellipsis where some are left out.

    Examples
    --------
    >>> shortened("credit_amount", 8), shortened("age", 8)
    ('credit_…', 'age')
    """
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 1]}…"


def wrapped(text: str, width: int, lines: int = 2) -> str:
    """Return a text in a few lines of at most ``width`` characters.

    Examples
    --------
    >>> print(wrapped("the balance of all current accounts together", 16))
    the balance of
    all current acc…
    """
    parts = textwrap.wrap(text, width)
    if len(parts) <= lines:
        return "\n".join(parts)
    return "\n".join([*parts[: lines - 1], shortened(" ".join(parts[lines - 1 :]), width)])


def _matplotlib() -> Any:
    try:
        import matplotlib  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(
            "Drawing needs matplotlib. Install it with: pip install 'counterset[plots]'"
        ) from error
    return matplotlib
