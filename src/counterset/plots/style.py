"""What all plots share: colours, numbers as marks, titles, names, and the import of matplotlib.

Text, lines and areas follow the colours of the axes, so that ``plt.style.context`` changes them:
``"dark_background"`` gives dark pictures. The colours of options stay, and say nothing alone: every
option is drawn as its number.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterset._base.arrays import Indices
from counterset._base.bidi import SIGNS, isolated
from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number, few_digits, format_number
from counterset.words.outcomes import Outcomes
from counterset.words.templates import Templates

__all__ = [
    "COLOURS",
    "MARKERS",
    "SHOWN",
    "Ink",
    "axes_or_new",
    "check_one",
    "draw_input",
    "draw_note",
    "draw_number",
    "draw_title",
    "more_features",
    "most_changed",
    "name_of",
    "pyplot",
    "save",
    "shortened",
    "title_of",
    "value_text",
    "without_signs",
    "wrapped",
]

#: The colours of Okabe and Ito, which colour-blind people can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: A shape beside each colour, so that a print in grey can be read.
MARKERS = "osD^vP*X<>"
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


@dataclass(frozen=True)
class Ink:
    """The colours of a plot: they follow the axes.

    Attributes
    ----------
    text
        The colour of texts, of lines and of the input.
    paper
        The background.
    """

    text: str
    paper: str

    @classmethod
    def of(cls, ax: Any) -> Ink:
        """Return the colours of some axes, as the style had them when these were made."""
        from matplotlib.colors import to_hex, to_rgba  # noqa: PLC0415 - an extra

        faces = (to_rgba(each.get_facecolor()) for each in (ax, ax.figure))
        text = to_hex(ax.xaxis.label.get_color())
        seen = next((face for face in faces if face[3] > 0), None)
        # What is transparent is shown on what suits the text.
        paper = ("#000000" if _is_light(text) else "#ffffff") if seen is None else to_hex(seen)
        return cls(text, paper)

    @property
    def muted(self) -> str:
        """The colour of what stays in the background: range lines, training rows."""
        return _mixed(self.text, self.paper, 0.62)

    def colour(self, option: int) -> str:
        """Return the colour of an option, counted from 1; lighter on a dark background."""
        colour = COLOURS[(option - 1) % 6]
        return colour if _is_light(self.paper) else _mixed("#ffffff", colour, 0.3)

    def area(self, colour: str, share: float = 0.16) -> str:
        """Return a colour for an area: the background with a little of another colour."""
        return _mixed(colour, self.paper, share)

    @property
    def stays(self) -> str:
        """The area where the decision is not what was asked for."""
        return self.area(COLOURS[4])

    @property
    def changes(self) -> str:
        """The area where the decision is what was asked for; it is hatched too."""
        return self.area(COLOURS[5], 0.25)

    @property
    def hatch(self) -> str:
        """The lines of that area."""
        return _mixed(self.text, self.changes, 0.3)


def _mixed(colour: str, other: str, share: float) -> str:
    """Return a share of one colour in another."""
    from matplotlib.colors import to_hex, to_rgb  # noqa: PLC0415 - an extra

    pairs = zip(to_rgb(colour), to_rgb(other), strict=True)
    red, green, blue = (share * a + (1 - share) * b for a, b in pairs)
    return str(to_hex((red, green, blue)))


def draw_number(ax: Any, at: Any, option: int, ink: Ink, size: float = 11.0) -> None:
    """Draw an option, counted from 1, as its number on a disc.

    Parameters
    ----------
    at
        Its position, ``(x, y)``.
    size
        The width of the disc, in points.
    """
    colour = ink.colour(option)
    ax.plot(
        *at, "o", color=colour, markersize=size, markeredgecolor=ink.paper, markeredgewidth=0.8,
        zorder=6, clip_on=False,
    )  # fmt: skip
    ax.annotate(
        str(option), at, ha="center", va="center_baseline", zorder=7, annotation_clip=False,
        fontsize=(0.66 if option < 10 else 0.55) * size, fontweight="bold",
        color="#000000" if _is_light(colour) else "#ffffff",
    )  # fmt: skip


def draw_input(ax: Any, at: Any, ink: Ink, size: float = 8.0) -> None:
    """Draw the input: a ring."""
    ax.plot(
        *at, "o", color=ink.text, markerfacecolor=ink.paper, markersize=size, markeredgewidth=1.6,
        zorder=5, clip_on=False,
    )  # fmt: skip


def _is_light(colour: str) -> bool:
    """Whether black stands out more than white on a colour."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415 - an extra

    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4
        for each in to_rgb(colour)
    )
    # Relative luminance; above 0.179, its contrast with black is larger.
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179


def draw_title(ax: Any, title: str, width: int = 64) -> None:
    """Write what a plot says above it, from the left, in lines of at most ``width`` letters."""
    ax.set_title(
        "\n".join(textwrap.wrap(without_signs(title), width)), loc="left", fontsize=11, pad=10
    )


def draw_note(ax: Any, note: str, below: float = 8.0) -> None:
    """Write how to read a plot below it.

    Parameters
    ----------
    below
        How far below the axes, in points.
    """
    ax.annotate(
        note, (0, 0), (0, -below), xycoords="axes fraction", textcoords="offset points",
        va="top", fontsize=8, linespacing=1.35, annotation_clip=False,
    )  # fmt: skip


def more_features(count: int) -> str:
    """Return how many features change that are not shown, as a sentence; empty for none."""
    if not count:
        return ""
    return f"{count:,} more feature{'s change' if count > 1 else ' changes'}."


def title_of(explanation: Explanation, outcomes: Mapping[Any, str] | None = None) -> str:
    """Return the decision, and what options there are, in plain words.

    Parameters
    ----------
    outcomes
        From labels to how people call them.
    """
    words = Outcomes(explanation, Templates.read(), outcomes or {}, quoted=False)
    kind = "predicted to be" if words.is_number else "classified as"
    label, aim = isolated(words.text(explanation.label)), isolated(words.aim())
    if explanation.status == "already_reached":
        return f"{kind.capitalize()} {label}, as asked for: nothing has to change"
    count = len(explanation)
    lead = {0: "no option was found that leads", 1: "one option leads"}
    rest = lead.get(count, f"{count} options lead")
    return f"{kind.capitalize()} {label}: {rest} to {aim}"


def without_signs(text: str) -> str:
    """Return a text that matplotlib can draw.

    It has the signs of :func:`~counterset._base.bidi.isolated`. Releases before 3.11 write from
    left to right only, and have no glyphs for these signs.
    """
    _matplotlib()
    from matplotlib import ft2font  # noqa: PLC0415 - an extra

    return text if hasattr(ft2font, "__libraqm_version__") else SIGNS.sub("", text)


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
