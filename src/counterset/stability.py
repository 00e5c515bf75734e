"""How far an input can move before another set of options is nearer to it on average.

The distance of an input from a set is the mean distance from its options, less a bonus. Which of
two sets is nearer can only change as fast as those means do; ``docs/anchors.md`` has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterset.arrays import Codes, Matrix
from counterset.distances import L1, L2, ROUNDING, Distance
from counterset.selection import NONE_LEFT

__all__ = ["Sets"]

#: A sum of distances is taken to fall at least so fast, and a bound to be so much less than it is:
#: far away, distances are rounded more coarsely.
LEAST_SLOPE, MARGIN = 1e-4, 1e-9
#: Rivals whose bounds are tightened at once, for each input.
RIVALS = 4
#: Numbers held at once.
BATCH = 2_000_000


@dataclass(frozen=True)
class Sets:
    """Different sets of options.

    Attributes
    ----------
    options
        Where the options are, ``(o, d)``.
    members
        The numbers of each set's options, ``(m, k)``, padded with ``NONE_LEFT``.
    bonus
        How much nearer each set counts than it is.
    distance
        Between points.
    """

    options: Matrix
    members: Codes
    bonus: Matrix
    distance: Distance

    def distances(self, away: Matrix) -> Matrix:
        """Give the distances of inputs from the sets, ``(n, m)``; empty ones are infinitely far.

        Parameters
        ----------
        away
            The distance of each input from each option.
        """
        towards, sizes = away.T, self._sizes
        sums = np.zeros((len(self.members), len(away)))
        for numbers in self.members.T:
            here = numbers != NONE_LEFT
            if here.all():
                sums += towards[numbers]
            else:
                sums[here] += towards[numbers[here]]
        sums /= np.maximum(sizes, 1)[:, None]
        sums -= self.bonus[:, None]
        sums[sizes == 0] = np.inf
        return sums.T

    def nearest(self, x: Matrix) -> tuple[Codes, Matrix]:
        """Find the set nearest to each input, and how long it stays that.

        Returns
        -------
        first
            The nearest set, the first of equally near ones.
        radius
            A proved lower bound on how far the input is from where another one is as near; NaN
            for a distance that is not known to be a metric.
        """
        first, radius = np.zeros(len(x), dtype=np.intp), np.full(len(x), np.nan)
        certain = self.distance.triangle_inequality and self.distance.symmetric
        compared = RIVALS * (2 * self.members.shape[1]) ** 2 * x.shape[1]
        at_once = max(1, BATCH // max(self.options.size, self.members.size, compared))
        for start in range(0, len(x), at_once):
            part = slice(start, start + at_once)
            away = self.distance.to_own(
                x[part], np.broadcast_to(self.options, (len(x[part]), *self.options.shape))
            )
            distances = self.distances(away)
            first[part] = distances.argmin(axis=1)
            if certain:
                radius[part] = self._radius(x[part], away, distances, first[part])
        return first, radius

    def _radius(self, x: Matrix, away: Matrix, distances: Matrix, first: Codes) -> Matrix:
        """Give the least bound of all rivals; only those that could have it are looked at."""
        radius = np.full(len(x), np.inf)
        if len(self.members) == 1:
            return radius
        each = np.arange(len(x))
        # Distances are sums of rounded differences of rounded coordinates.
        size = away.max(axis=1) + self._largest_bonus
        size += self.distance.to_own(x, np.zeros((len(x), 1, x.shape[1])))[:, 0]
        own = distances[each, first] + 8 * ROUNDING * size
        gaps = np.maximum(distances - own[:, None], 0.0)
        gaps[each, first] = np.inf
        left = gaps / 2  # the least there is: the weights of two sets add up to 2
        open_, most = each, min(RIVALS, len(self.members))
        while len(open_):
            rivals = np.argpartition(left[open_], most - 1, axis=1)[:, :most]
            here = open_[:, None], rivals
            bounds = self._bounds(x[open_], first[open_], rivals, gaps[here], size[open_])
            radius[open_] = np.minimum(radius[open_], bounds.min(axis=1))
            left[here] = np.inf
            open_ = open_[left[open_].min(axis=1) < radius[open_]]
        radius *= 1 - MARGIN
        return radius

    def _bounds(self, x: Matrix, first: Codes, rivals: Codes, gaps: Matrix, size: Matrix) -> Matrix:
        """Bound how far each input is from where some rivals of its set are as near, ``(n, r)``."""
        own, others = self.members[first][:, None, :], self.members[rivals]
        own_share, share = self._shares[first][:, None, None], self._shares[rivals][..., None]
        alike = (others[..., None] == own[..., None, :]) & (own != NONE_LEFT)[..., None, :]
        # How much more each option weighs in the rival; what both have is listed once.
        weights = np.concatenate(
            [
                np.where(own == NONE_LEFT, 0.0, alike.any(axis=2) * share - own_share),
                np.where((others == NONE_LEFT) | alike.any(axis=3), 0.0, share),
            ],
            axis=2,
        )
        # By the triangle inequality, moving by 1 changes an option's distance by at most 1.
        slopes = np.abs(weights).sum(axis=2)
        plain: Matrix = gaps / np.maximum(slopes, LEAST_SLOPE)
        if not isinstance(self.distance, L1 | L2):
            return plain
        which = np.concatenate([np.broadcast_to(own, others.shape), others], axis=2)
        here = self.distance.stretch(x)[:, None, None, :]
        offsets = np.where((which == NONE_LEFT)[..., None], 0.0, self._stretched[which] - here)
        if isinstance(self.distance, L1):
            tighter = gaps / np.maximum(_steepest_l1(offsets, weights, size), LEAST_SLOPE)
        else:
            tighter = _bounds_l2(offsets, weights, gaps)
        return np.maximum(plain, tighter)

    @cached_property
    def _sizes(self) -> Codes:
        sizes: Codes = (self.members != NONE_LEFT).sum(axis=1)
        return sizes

    @cached_property
    def _shares(self) -> Matrix:
        shares: Matrix = 1 / np.maximum(self._sizes, 1)
        return shares

    @cached_property
    def _largest_bonus(self) -> float:
        return float(np.abs(self.bonus).max())

    @cached_property
    def _stretched(self) -> Matrix:
        assert isinstance(self.distance, L1 | L2)
        return self.distance.stretch(self.options)


def _steepest_l1(offsets: Matrix, weights: Matrix, size: Matrix) -> Matrix:
    """Say how fast a weighted sum of l1 distances can fall on average, wherever the input moves.

    The sum is one function of each coordinate, linear between the options and level beyond them;
    so none falls faster on average than on the way to some option.

    Parameters
    ----------
    offsets
        From the input to each option, ``(n, r, o, d)``.
    weights
        Of the options, ``(n, r, o)``; they add up to 0.
    size
        How large the numbers are that were subtracted, ``(n,)``.
    """
    here = np.einsum("nro,nrod->nrd", weights, np.abs(offsets))
    between = np.abs(offsets[:, :, :, None] - offsets[:, :, None])
    there = np.einsum("nro,nriod->nrid", weights, between)
    lengths = np.abs(offsets)
    fall = here[:, :, None] - there + ROUNDING * size[:, None, None, None]
    fall = np.divide(fall, lengths, out=np.zeros_like(fall), where=lengths > 0)
    steepest: Matrix = fall.max(axis=(2, 3))
    return steepest


def _bounds_l2(offsets: Matrix, weights: Matrix, gaps: Matrix) -> Matrix:
    """Bound how far it is to where a weighted sum of l2 distances has fallen by ``gaps``.

    A distance is a convex function of the input: at least its tangent, and at most that and
    ``step^2 / (2 distance)``. So the sum falls by at most ``slope step + bend step^2``.
    """
    lengths = np.sqrt(np.einsum("nrod,nrod->nro", offsets, offsets))
    apart = lengths > 0
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=apart)
    gradient = np.einsum("nro,nrod->nrd", weights * inverse, offsets)
    slope = np.maximum(np.sqrt(np.einsum("nrd,nrd->nr", gradient, gradient)), LEAST_SLOPE)
    sinking = np.maximum(-weights, 0.0)
    bend = (sinking * inverse).sum(axis=2) / 2
    usable = (apart | (weights == 0)).all(axis=2)
    finite = np.where(np.isfinite(gaps), gaps, 0.0)
    bound = 2 * finite / (slope + np.sqrt(slope**2 + 4 * bend * finite))
    return np.where(usable, bound, 0.0)
