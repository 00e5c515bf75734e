"""What is certain about an explanation."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Certificate"]


@dataclass(frozen=True)
class Certificate:
    """What is proved about one explanation; a field is None where nothing is.

    Attributes
    ----------
    stable_radius
        Every input of the same class, at most this far away in the explainer's distance, is
        explained by the same training examples. Infinite if there is no other choice to make.

    Examples
    --------
    >>> print(Certificate(stable_radius=0.1234))
    Anyone of your class within 0.123 of you gets the same examples.
    """

    stable_radius: float | None = None

    def __str__(self) -> str:
        return " ".join(self._sentences())

    def _sentences(self) -> list[str]:
        if self.stable_radius is None or self.stable_radius <= 0:
            return []
        # Rounded down, so that what is said is still certain.
        if self.stable_radius == float("inf"):
            return ["Anyone of your class gets the same examples."]
        return [
            f"Anyone of your class within {_rounded_down(self.stable_radius)} of you gets the "
            f"same examples."
        ]


def _rounded_down(value: float, digits: int = 3) -> str:
    """Give a positive number with a few digits, never more than it is."""
    text = f"{value:.{digits}g}"
    if float(text) <= value:
        return text
    step = 10.0 ** (int(f"{value:e}".split("e")[1]) - digits + 1)
    return f"{float(text) - step:.{digits}g}"
