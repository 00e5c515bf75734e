"""Step 3 of the paper: keep only candidates that differ from those already kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from counterset.arrays import Codes, Mask, Matrix
from counterset.checks import check_between
from counterset.distances import ROUNDING, Distance

__all__ = ["AngleDiversity", "DistanceDiversity", "Diversity", "choose_diverse"]


#: Given one kept candidate per input, which of its candidates differ enough from it.
DiffersFrom: TypeAlias = Callable[[Codes], Mask]

NONE_LEFT = -1


class Diversity(Protocol):
    """Step 3: when do two candidates differ enough to report both."""

    def compare(
        self, x: Matrix, candidates: Matrix, distances: Matrix, distance: Distance
    ) -> DiffersFrom:
        """Prepare the comparisons for a batch.

        Parameters
        ----------
        x
            The inputs, ``(n, d)``, as points of the space.
        candidates
            Each input's own candidates, ``(n, k, d)``, nearest first.
        distances
            Their distances from the input, ``(n, k)``, ascending.
        distance
            The distance that is in use.
        """
        ...


@dataclass(frozen=True)
class AngleDiversity:
    """Two candidates differ if they lie in different directions from the input.

    Parameters
    ----------
    beta
        The least cosine distance between the two directions, from 0 (any) to 1 (a right angle).
    absolute
        Compare ``|cos| <= beta`` instead, as the prototype of the paper's authors does. It takes
        opposite directions for equal, and a larger ``beta`` lets more through. At 0.5 the two
        rules agree on acute angles.

    Examples
    --------
    Three candidates to the right, above and to the left of the input:

    >>> from counterset.distances import get
    >>> x, candidates = np.zeros((1, 2)), np.array([[[1, 0], [0, 1.1], [-1.2, 0]]])
    >>> l2 = get("l2")
    >>> AngleDiversity(0.5).compare(x, candidates, l2.to_own(x, candidates), l2)(np.array([0]))
    array([[False,  True,  True]])
    >>> prototype = AngleDiversity(0.5, absolute=True)
    >>> prototype.compare(x, candidates, l2.to_own(x, candidates), l2)(np.array([0]))
    array([[False,  True, False]])
    """

    beta: float = 0.5
    absolute: bool = False

    def __post_init__(self) -> None:
        check_between(self.beta, 0, 1, "beta")

    def compare(
        self, x: Matrix, candidates: Matrix, distances: Matrix, distance: Distance
    ) -> DiffersFrom:
        """Prepare the comparisons for a batch, see :class:`Diversity`."""
        directions = candidates - x[:, None, :]
        lengths = np.sqrt(np.einsum("nkd,nkd->nk", directions, directions))
        # A candidate at the input itself has no direction; it is never chosen.
        lengths[lengths == 0] = 1.0
        directions /= lengths[:, :, None]

        def differs_from(kept: Codes) -> Mask:
            chosen = directions[np.arange(len(kept)), kept]
            # einsum adds up in an order that depends on d alone, so on no other row of the batch.
            cosine: Matrix = np.einsum("nkd,nd->nk", directions, chosen)
            if self.absolute:
                return np.abs(cosine) <= self.beta + ROUNDING
            return 1 - cosine >= self.beta - ROUNDING

        return differs_from


@dataclass(frozen=True)
class DistanceDiversity:
    """Two candidates differ if they are at least ``(1 + beta) * m`` apart.

    ``m`` is the distance from the input to its nearest candidate.

    Parameters
    ----------
    beta
        From 0 to 1.

    Examples
    --------
    >>> from counterset.distances import get
    >>> x, candidates = np.zeros((1, 2)), np.array([[[1, 0], [0, 1.1], [-1.2, 0]]])
    >>> l1 = get("l1")
    >>> DistanceDiversity(0.5).compare(x, candidates, l1.to_own(x, candidates), l1)(np.array([0]))
    array([[False,  True,  True]])
    """

    beta: float = 0.5

    def __post_init__(self) -> None:
        check_between(self.beta, 0, 1, "beta")

    def compare(
        self, x: Matrix, candidates: Matrix, distances: Matrix, distance: Distance
    ) -> DiffersFrom:
        """Prepare the comparisons for a batch, see :class:`Diversity`."""
        least = (1 + self.beta) * distances[:, :1] * (1 - ROUNDING)

        def differs_from(kept: Codes) -> Mask:
            chosen = candidates[np.arange(len(kept)), kept]
            return distance.to_own(chosen, candidates) >= least

        return differs_from


def choose_diverse(
    usable: Mask, candidates: Matrix, distances: Matrix, limit: int, differs: DiffersFrom | None
) -> Codes:
    """Choose greedily: the nearest candidate, then the next that differs from all chosen ones.

    The paper's S_2 is a set, so a copy of a chosen candidate is never chosen, whatever the
    criterion says.

    Parameters
    ----------
    usable
        Which candidates may be chosen, ``(n, k)``.
    candidates, distances
        Each input's own candidates, nearest first, ``(n, k, d)``, and their distances.
    limit
        The most to choose for one input.
    differs
        The diversity criterion, or None for the nearest ones.

    Returns
    -------
    chosen
        Positions among the candidates, ``(n, limit)``, padded with ``NONE_LEFT``.
    """
    usable = usable.copy()
    each = np.arange(len(usable))
    chosen = np.full((len(usable), limit), NONE_LEFT, dtype=np.intp)
    for i in range(limit):
        nearest = usable.argmax(axis=1)
        found = usable[each, nearest]
        if not found.any():
            break
        chosen[found, i] = nearest[found]
        usable[each, nearest] = False
        if differs is not None:
            usable &= differs(nearest)
        # Copies are as far from the input as the original; look closely only at those.
        who, which = np.nonzero(usable & (distances == distances[each, nearest][:, None]))
        copies = (candidates[who, which] == candidates[who, nearest[who]]).all(axis=1)
        usable[who[copies], which[copies]] = False
    return chosen
