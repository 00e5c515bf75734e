"""What all plots share: colours and shapes, shortened names, and the import of matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from counterset._base.arrays import Indices
from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number, few_digits, format_number

__all__ = [
    "COLOURS",
    "GREY",
    "INPUT",
    "MARKERS",
    "PAPER",
    "SHOWN",
    "axes_or_new",
    "check_one",
    "most_changed",
    "name_of",
    "option_style",
    "pyplot",
    "save",
    "shortened",
    "value_text",
    "wrapped",
]

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


#: A number of more than 9 characters is rounded in a plot. All digits stand in the table.
LONGEST_NUMBER = 9


def most_changed(explanation: Explanation) -> Indices:
    """Return the positions of the features that change, those that change most first.

    That is by the number of options that change them, then by the share of the training range that
    they move; a category moves by all of it.
    """
    coded = explanation.coded
    table, changed = coded.table, coded.changed
    often = changed.sum(axis=0)
    spread = np.array([each.high - each.low or 1.0 for each in table.features])
    both = (coded.input[None, :], coded.matrix)
    own, rows = (table.without_special(each) for each in both)
    moved = np.where(changed, np.abs(rows - own) / spread, 0.0)
    switched = np.array([each.is_category for each in table.features]) | np.isnan(moved)
    far = np.where(switched & changed, 1.0, moved).sum(axis=0)
    order: Indices = np.lexsort((-far, -often))
    return order[: np.count_nonzero(often)]


def name_of(feature: Feature) -> str:
    """Return what a plot calls a feature: its label, with its unit if that is a word.

    A pattern such as ``"{}%"`` stands at the values, see :func:`value_text`.

    Examples
    --------
    >>> name_of(Number("credit_amount", "continuous", (0,), np.dtype(float), 0.0, 9000.0))
    'credit amount'
    """
    return f"{feature.label} ({feature.unit})" if _is_word(feature.unit) else feature.label


def value_text(
    feature: Feature, code: float, width: int = 20, apart_from: Iterable[float] = ()
) -> str:
    """Return a value as a plot shows it: long numbers rounded, long texts shortened.

    Parameters
    ----------
    width
        The most characters of a text.
    apart_from
        Other codes that the value is shown beside: rounding keeps its difference from them.

    Examples
    --------
    >>> amount = Number("amount", "continuous", (0,), np.dtype(float), 0.0, 9000.0)
    >>> value_text(amount, 2879.5), value_text(amount, 2879.53125)
    ('2,879.5', '≈2,880')
    """
    text, bare = feature.text_of(code), feature.format(code)
    if not isinstance(feature, Number) or text != bare:  # a text that was declared for it
        return shortened(text, width)
    near = few_digits(code, 4, [each for each in apart_from if not np.isnan(each)])
    is_ordinary = 1e-4 <= abs(near) < 1e15 or near == 0
    about = format_number(near) if is_ordinary else np.format_float_scientific(near, trim="-")
    if near != code and len(text) > LONGEST_NUMBER and len(about) + 1 < len(text):
        text = f"≈{about}"
    wording, is_known = feature.wording, feature.is_known(np.array([code]))[0]
    if wording is None or _is_word(wording.unit) or not is_known:
        return text
    return wording.with_unit(text, is_one=abs(code) == 1)


def _is_word(unit: str) -> bool:
    """Whether a unit is a word, and no pattern for values."""
    return bool(unit) and "{}" not in unit
