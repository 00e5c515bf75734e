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

    @cached_property
    def _sizes(self) -> Codes:
        sizes: Codes = (self.members != NONE_LEFT).sum(axis=1)
        return sizes

    def _radius(self, x: Matrix, away: Matrix, distances: Matrix, first: Codes) -> Matrix:
        own = distances[np.arange(len(x)), first][:, None]
        # Distances are sums of rounded differences of rounded coordinates.
        size = away.max(axis=1, initial=0.0) + np.abs(self.bonus).max(initial=0.0)
        size += self.distance.to_own(x, np.zeros((len(x), 1, x.shape[1])))[:, 0]
        gaps = np.full(distances.shape, np.inf)
        slopes = self._slopes(first)
        allowance = 8 * ROUNDING * size[:, None]
        rival = (slopes > 0) & np.isfinite(distances)
        if not rival.any():
            return np.full(len(x), np.inf)
        np.subtract(distances, own + allowance, out=gaps, where=rival)
        bounds = np.maximum(gaps, 0.0) / np.where(rival, slopes, 1.0)
        if isinstance(self.distance, L1 | L2):
            return (1 - MARGIN) * self._tightened(x, first, gaps, slopes, bounds, size)
        radius: Matrix = (1 - MARGIN) * bounds.min(axis=1)
        return radius

    def _slopes(self, first: Codes) -> Matrix:
        """Say how fast the distance from each set can change against that from the first one.

        By the triangle inequality, moving the input by 1 changes each option's distance by at most
        1; an option of both sets counts only as far as it weighs more in one of them.
        """
        sizes = np.maximum(self._sizes, 1)
        names, number = np.unique(first, return_inverse=True)
        slopes = np.empty((len(names), len(self.members)))
        for i, name in enumerate(names):
            own = self.members[name]
            shared = (self.members[..., None] == own[own != NONE_LEFT]).sum(axis=(1, 2))
            weight, weights = 1 / sizes[name], 1 / sizes
            slopes[i] = shared * np.abs(weight - weights)
            slopes[i] += (self._sizes[name] - shared) * weight + (self._sizes - shared) * weights
        return slopes[number]

    def _tightened(
        self,
        x: Matrix,
        first: Codes,
        gaps: Matrix,
        slopes: Matrix,
        bounds: Matrix,
        size: Matrix,
    ) -> Matrix:
        """Give the least of the tighter bounds; only rivals that could have it are looked at."""
        radius, left = np.full(len(x), np.inf), bounds.copy()
        open_ = np.arange(len(x))
        while len(open_):
            most = min(RIVALS, left.shape[1])
            rivals = np.argpartition(left[open_], most - 1, axis=1)[:, :most]
            here = open_[:, None], rivals
            tighter = self._tighter(
                x[open_], first[open_], rivals, gaps[here], slopes[here], size[open_]
            )
            tighter = np.maximum(tighter, left[here]).min(axis=1)
            radius[open_] = np.minimum(radius[open_], tighter)
            left[here] = np.inf
            open_ = open_[left[open_].min(axis=1) < radius[open_]]
        return radius

    def _tighter(
        self, x: Matrix, first: Codes, rivals: Codes, gaps: Matrix, slopes: Matrix, size: Matrix
    ) -> Matrix:
        """Give tighter bounds for some rivals of each input, ``(n, r)``."""
        own, others = self.members[first], self.members[rivals]  # (n, k), (n, r, k)
        sizes = np.maximum(self._sizes, 1)
        n, r, k = others.shape
        alike = (others[..., None] == own[:, None, None, :]) & (own != NONE_LEFT)[:, None, None, :]
        shared_own, shared_others = alike.any(axis=2), alike.any(axis=3)
        own_share, other_share = 1 / sizes[first][:, None, None], 1 / sizes[rivals][..., None]
        weights = np.concatenate(
            [
                np.where(own[:, None] == NONE_LEFT, 0.0, shared_own * other_share - own_share),
                np.where((others == NONE_LEFT) | shared_others, 0.0, other_share),
            ],
            axis=2,
        )
        which = np.concatenate([np.broadcast_to(own[:, None], (n, r, k)), others], axis=2)
        assert isinstance(self.distance, L1 | L2)
        stretched = self.distance.stretch(self.options), self.distance.stretch(x)
        points = np.where(
            (which == NONE_LEFT)[..., None], stretched[1][:, None, None], stretched[0][which]
        )
        offsets = points - stretched[1][:, None, None]
        if isinstance(self.distance, L1):
            return np.maximum(gaps, 0.0) / _steepest_l1(offsets, weights, slopes, size)
        return _bounds_l2(offsets, weights, gaps)


def _steepest_l1(offsets: Matrix, weights: Matrix, slopes: Matrix, size: Matrix) -> Matrix:
    """Say how fast a weighted sum of l1 distances can fall on average, wherever the input moves.

    The sum is one function of each coordinate, linear between the options and level beyond them;
    so none falls faster on average than on the way to some option.

    Parameters
    ----------
    offsets
        From the input to each option, ``(n, r, o, d)``.
    weights
        Of the options, ``(n, r, o)``; they add up to 0.
    slopes
        What it cannot exceed, ``(n, r)``.
    size
        How large the numbers are that were subtracted, ``(n,)``.
    """
    here = np.einsum("nro,nrod->nrd", weights, np.abs(offsets))
    between = np.abs(offsets[:, :, :, None] - offsets[:, :, None])
    there = np.einsum("nro,nriod->nrid", weights, between)
    lengths = np.abs(offsets)
    fall = here[:, :, None] - there + ROUNDING * size[:, None, None, None]
    fall = np.divide(fall, lengths, out=np.zeros_like(fall), where=lengths > 0)
    steepest = np.maximum(fall.max(axis=(2, 3)), LEAST_SLOPE)
    result: Matrix = np.minimum(steepest, np.maximum(slopes, LEAST_SLOPE))
    return result


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
    gaps = np.where(np.isfinite(gaps), np.maximum(gaps, 0.0), 0.0)
    bound = 2 * gaps / (slope + np.sqrt(slope**2 + 4 * bend * gaps))
    return np.where(usable, bound, 0.0)
