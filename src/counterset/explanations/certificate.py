"""Certificate and DistanceBounds: what is proved about an explanation and its distances."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterset._base.arrays import Mask, Vector

__all__ = ["SEARCH", "Certificate", "DistanceBounds", "rounded_down", "rounded_up"]

#: The method that searches a model that could not be read, and proves nothing.
SEARCH = "search"


@dataclass(frozen=True, eq=False)
class DistanceBounds:
    """A lower and an upper bound on the counterfactual distance cfd(x) (definition 1).

    Attributes
    ----------
    lower : float
        It is proved that no counterfactual is nearer than this; infinite if there is none at all.
    upper : float
        The distance of ``witness``; infinite if none was found.
    exact : bool
        Whether the bounds differ by at most ``tolerance * upper``, or it is proved that there is no
        counterfactual. If the region of another class does not include its border, cfd is an
        infimum that no point attains: then ``lower`` is the infimum, and the witness lies just past
        it.
    witness : row or None
        A counterfactual at distance ``upper``; None if none was found. The model confirmed it, and
        it keeps the constraints.
    seconds : float
        How long it took.
    method : str
        How the bounds were found.
    reason : str, default=""
        Why the bounds are not exact; empty if they are.
    tolerance : float, default=1e-5
        The tolerance that ``exact`` refers to: the one that was asked for, plus how far the
        rounding of a model in single precision may move its decision boundary. ``lower`` holds in
        spite of that rounding.

    Examples
    --------
    >>> DistanceBounds(1.0, 1.0, True, [2.0], 0.01, "by hand")
    cfd = 1 (by hand, 0.01 s)
    >>> DistanceBounds(1.0, 2.5, False, [3.5], 60.0, "by hand", "the time limit was reached")
    1 <= cfd <= 2.5 (by hand: the time limit was reached)
    """

    lower: float
    upper: float
    exact: bool
    witness: Any
    seconds: float
    method: str
    reason: str = ""
    tolerance: float = 1e-5

    @property
    def was_read(self) -> bool:
        """Whether an exact method could read the model; otherwise nothing is proved."""
        return self.method != SEARCH

    @property
    def none_exists(self) -> bool:
        """Whether it is proved that there is no counterfactual in the domain."""
        return self.lower == math.inf

    def __repr__(self) -> str:
        if self.none_exists:
            return f"no counterfactual exists ({self.method}, {self.seconds:.2g} s)"
        if self.exact:
            return f"cfd = {self.upper:.6g} ({self.method}, {self.seconds:.2g} s)"
        return f"{self.lower:.6g} <= cfd <= {self.upper:.6g} ({self.method}: {self.reason})"


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proved about an explanation; each part is None where it was not asked for.

    Attributes
    ----------
    epsilon : float or None
        How much worse than the optimum a counterfactual may be to count as an option.
    distance_bounds : DistanceBounds or None
        The bounds on the input's counterfactual distance, for the goal and the constraints that
        were asked for. If ``none_exists``, it is proved that there is no counterfactual at all.
    safety : ndarray of shape (n,) or None
        For each counterfactual, a proved lower bound on its delta (definition 5); negative where
        it is not certain to be within epsilon of the input's own optimum. Every input of the same
        class nearer than delta / 2, that asks for the same and may take the counterfactual, has it
        within epsilon of its own optimum.
    stable_radius : float or None
        Every input of the same class, at most this far away in the explainer's distance, is
        explained by the same training examples. Infinite if there is no other choice to make.
    list_radius : float or None
        Every input of the same class, at most this far away in the explainer's distance, is offered
        the same list of options in the same order: it gets the first that work for it and differ.
        Infinite if the class has one list only.
    from_list : ndarray of shape (n,) or None
        Which counterfactuals come from that list; the others were found for this input alone.
    option_radii : ndarray of shape (n,) or None
        For each counterfactual: every input of the same class, nearer than this, gets the same
        label by the same change, that is, if the same features are set to the same values; with an
        option from a list, numbers that are beyond these values already stay. 0 where nothing is
        proved, infinite where it works for all. Another input's constraints are no part of it.
    constrained : bool, default=False
        Whether a goal or constraints were asked for: ``safety`` is then about those who ask for the
        same and may take the counterfactual.

    Examples
    --------
    >>> bounds = DistanceBounds(1.0, 1.0, True, None, 0.0, "by hand")
    >>> certificate = Certificate(epsilon=0.5, distance_bounds=bounds, safety=np.array([0.5, -0.1]))
    >>> certificate.radii
    array([0.25, 0.  ])
    """

    epsilon: float | None = None
    distance_bounds: DistanceBounds | None = None
    safety: Vector | None = None
    stable_radius: float | None = None
    list_radius: float | None = None
    from_list: Mask | None = None
    option_radii: Vector | None = None
    constrained: bool = False

    @property
    def radii(self) -> Vector | None:
        """For each counterfactual, the radius in which it stays an option: delta / 2."""
        return None if self.safety is None else np.maximum(self.safety, 0.0) / 2

    @property
    def nothing_proved(self) -> bool:
        """Whether the model could not be read: then a safety follows from epsilon alone."""
        return self.distance_bounds is not None and not self.distance_bounds.was_read

    def column(self) -> list[str]:
        """Return the radius of each counterfactual as text, for a table."""
        if self.radii is None:
            return []
        radii = np.zeros(len(self.radii)) if self.nothing_proved else self.radii
        return _column(radii)

    def works_column(self) -> list[str]:
        """Return how near others must be for whom each counterfactual works, for a table."""
        return [] if self.option_radii is None else _column(self.option_radii)

    def of_nearest(self, count: int) -> Certificate:
        """Return what is proved about the nearest counterfactuals only."""
        cut: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[:count]
            for name in ("safety", "from_list", "option_radii")
        }
        return replace(self, **cut)

    def __str__(self) -> str:
        sentences = []
        if self.nothing_proved:
            sentences.append("This model could not be read, so nothing is proved.")
        elif self.radii is not None and self.epsilon is not None:
            unsure = "" if (self.radii > 0).all() else " (-: not certain)"
            who = ", who asks for the same and may take this option, has it" * self.constrained
            if len(self.radii):
                sentences.append(
                    f"Safe within r: anyone of your class within r of you"
                    f"{who or ' has this option'} within {self.epsilon:g} of their "
                    f"optimum{unsure}."
                )
        if self.distance_bounds is not None and self.distance_bounds.none_exists:
            sentences.append("It is proved that nothing in the domain does what is asked for.")
            return " ".join(sentences)
        found = self.distance_bounds is not None and not math.isinf(self.distance_bounds.upper)
        if self.distance_bounds is not None and (found or not self.nothing_proved):
            sentences.append(f"Your own optimum is {_as_text(self.distance_bounds)} away.")
        if self.stable_radius == float("inf"):
            sentences.append("Anyone of your class gets the same examples.")
        elif self.stable_radius is not None and self.stable_radius > 0:
            # Rounded down, so that what is said is still certain.
            sentences.append(
                f"Anyone of your class within {rounded_down(self.stable_radius)} of you gets the "
                f"same examples."
            )
        return " ".join([*sentences, *self._about_options(), *self._about_the_list()])

    def _about_options(self) -> list[str]:
        """Return for whom else the options work."""
        if self.option_radii is None or not len(self.option_radii):
            return []
        if not (self.option_radii > 0).any():
            return ["It is not proved for whom else an option works."]
        unsure = "" if (self.option_radii > 0).all() else " (-: not certain)"
        return [
            f"Works within r: anyone of your class nearer than r who makes the same change gets "
            f"the same result{unsure}."
        ]

    def _about_the_list(self) -> list[str]:
        """Return what is certain about the list that the options come from."""
        sentences = []
        if self.list_radius == float("inf"):
            sentences.append("Anyone of your class goes down the same list, in the same order.")
        elif self.list_radius is not None and self.list_radius > 0:
            sentences.append(
                f"People like you, within {rounded_down(self.list_radius)} of you, go down the "
                f"same list, in the same order."
            )
        if self.alone:
            *first, last = map(str, self.alone)
            ranks = f"{', '.join(first)} and {last}" if first else last
            are = "Option {} is" if len(self.alone) == 1 else "Options {} are"
            sentences.append(f"{are.format(ranks)} not on it, but found for you alone.")
        return sentences

    @property
    def alone(self) -> list[int]:
        """The ranks, from 1, of the counterfactuals that come from no list."""
        return [] if self.from_list is None else (np.flatnonzero(~self.from_list) + 1).tolist()


def _column(radii: Vector) -> list[str]:
    """Return radii as texts of a table: rounded down, a dash for 0, "any" if infinite."""
    texts = []
    for radius in radii:
        finite = rounded_down(radius) if np.isfinite(radius) else "any"
        texts.append(finite if radius > 0 else "-")
    return texts


def _as_text(bounds: DistanceBounds) -> str:
    if bounds.exact:
        return f"{bounds.upper:.3g}"
    if not bounds.was_read:
        return f"at most {bounds.upper:.3g}"
    if math.isinf(bounds.upper):
        return f"at least {bounds.lower:.3g}"
    return f"between {bounds.lower:.3g} and {bounds.upper:.3g}"


def rounded_down(value: float, digits: int = 3) -> str:
    """Return a positive number as text with a few digits, never more than it is."""
    text = f"{value:.{digits}g}"
    if float(text) <= value:
        return text
    step = 10.0 ** (int(f"{value:e}".split("e")[1]) - digits + 1)
    return f"{float(text) - step:.{digits}g}"


def rounded_up(value: float, digits: int = 3) -> str:
    """Return a positive number as text with a few digits, never less than it is.

    Examples
    --------
    >>> rounded_up(0.12341), rounded_down(0.12349)
    ('0.124', '0.123')
    """
    text = f"{value:.{digits}g}"
    if float(text) >= value:
        return text
    step = 10.0 ** (int(f"{value:e}".split("e")[1]) - digits + 1)
    return f"{float(text) + step:.{digits}g}"
