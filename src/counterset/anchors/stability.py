"""How far an input can move before another set of options is nearer to it on average.

The distance of an input from a set is the mean distance from its options, less a bonus. Which of
two sets is nearer can only change as fast as those means do; ``docs/anchors.md`` has the proofs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterset._base.arrays import AnyMatrix, Codes, Matrix
from counterset.distances import L1, L2, ROUNDING, Distance
from counterset.steps.selection import NONE_LEFT

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

    def distances(self, away: AnyMatrix) -> AnyMatrix:
        """Return the distances of inputs from the sets, ``(n, m)``; empty ones are infinitely far.

        Parameters
        ----------
        away
            The distance of each input from each option.
        """
        towards, sizes = away.T, self._sizes
        sums = np.zeros((len(self.members), len(away)), dtype=away.dtype)
        for here, numbers in self._columns:
            sums[here] += towards[numbers]
        sums /= np.maximum(sizes, 1).astype(away.dtype)[:, None]
        sums -= self.bonus.astype(away.dtype)[:, None]
        sums[sizes == 0] = np.inf
        return sums.T

    def nearest(self, x: Matrix) -> Codes:
        """Find the set nearest to each input, the first of equally near ones."""
        first = np.zeros(len(x), dtype=np.intp)
        for part, away in self._in_parts(x):
            first[part] = self.distances(away).argmin(axis=1)
        return first

    def radius(self, x: Matrix) -> Matrix:
        """Return how far each input is at least from where another set is chosen.

        NaN for a distance that is not known to be a metric.
        """
        radius = np.full(len(x), np.nan)
        if self.distance.triangle_inequality and self.distance.symmetric:
            for part, away in self._in_parts(x):
                radius[part] = self._radius(x[part], away)
        return radius

    def _in_parts(self, x: Matrix) -> Iterator[tuple[slice, Matrix]]:
        """Return some inputs at a time, and how far they are from the options."""
        size, features = self.members.shape[1], x.shape[1]
        compared = features * RIVALS * (2 * size) ** 2
        at_once = max(1, BATCH // max(self.options.size, self.members.size, compared))
        for start in range(0, len(x), at_once):
            part = slice(start, start + at_once)
            yield (
                part,
                self.distance.rowwise(
                    x[part], np.broadcast_to(self.options, (len(x[part]), *self.options.shape))
                ),
            )

    def _radius(self, x: Matrix, away: Matrix) -> Matrix:
        """Bound how far it is to another set; only rivals that could be next are looked at."""
        radius = np.full(len(x), np.inf)
        if len(self.members) == 1:
            return radius
        distances, each = self.distances(away), np.arange(len(x))
        first = distances.argmin(axis=1)
        # Distances are sums of rounded differences of rounded coordinates.
        size = away.max(axis=1, initial=0.0) + self._largest_bonus
        size += self.distance.rowwise(x, np.zeros((len(x), 1, x.shape[1])))[:, 0]
        own = distances[each, first] + 8 * ROUNDING * size
        gaps = np.maximum(distances - own[:, None], 0.0)
        gaps[each, first] = np.inf
        left = gaps / 2  # the least there is: the weights of two sets add up to 2
        open_, most = each, min(RIVALS, len(self.members))
        while len(open_):
            rivals = np.argpartition(left[open_], most - 1, axis=1)[:, :most]
            here = open_[:, None], rivals
            bounds = self._bounds(
                x[open_], *self._weighed(first[open_], rivals), gaps[here], size[open_]
            )
            radius[open_] = np.minimum(radius[open_], bounds.min(axis=1))
            left[here] = np.inf
            open_ = open_[left[open_].min(axis=1) < radius[open_]]
        radius *= 1 - MARGIN
        return radius

    def _weighed(self, first: Codes, rivals: Codes) -> tuple[Codes, Matrix]:
        """Return the options of each input's set and of its rivals, and how much more each weighs.

        More in the rival, that is; what both have is listed once.
        """
        own, others = self.members[first][:, None, :], self.members[rivals]
        own_share, share = self._shares[first][:, None, None], self._shares[rivals][..., None]
        alike = (others[..., None] == own[..., None, :]) & (own != NONE_LEFT)[..., None, :]
        weights = np.concatenate(
            [
                np.where(own == NONE_LEFT, 0.0, alike.any(axis=2) * share - own_share),
                np.where((others == NONE_LEFT) | alike.any(axis=3), 0.0, share),
            ],
            axis=2,
        )
        return np.concatenate([np.broadcast_to(own, others.shape), others], axis=2), weights

    def _bounds(
        self, x: Matrix, which: Codes, weights: Matrix, gaps: Matrix, size: Matrix
    ) -> Matrix:
        """Bound how far each input is from where weighted sums of distances have lost their gap.

        Parameters
        ----------
        which, weights
            Numbers of options, and their weights in each sum, ``(n, r, o)``.
        gaps
            How much each sum has to fall, ``(n, r)``.
        size
            How large the numbers are that were subtracted, ``(n,)``.
        """
        # By the triangle inequality, moving by 1 changes an option's distance by at most 1.
        slopes = np.abs(weights).sum(axis=2)
        plain: Matrix = gaps / np.maximum(slopes, LEAST_SLOPE)
        if not isinstance(self.distance, L1 | L2):
            return plain
        here = self.distance.stretch(x)[:, None, None, :]
        offsets = np.where((which == NONE_LEFT)[..., None], 0.0, self._stretched[which] - here)
        if isinstance(self.distance, L1):
            tighter = gaps / np.maximum(_steepest_l1(offsets, weights, size), LEAST_SLOPE)
        else:
            tighter = _bounds_l2(offsets, weights, gaps)
        return np.maximum(plain, tighter)

    @cached_property
    def _columns(self) -> list[tuple[slice | Codes, Codes]]:
        """The first option of each set, the second, ...: which sets have one, and its number."""
        columns: list[tuple[slice | Codes, Codes]] = []
        for numbers in np.ascontiguousarray(self.members.T):
            here = np.flatnonzero(numbers != NONE_LEFT)
            full = len(here) == len(numbers)
            columns.append((slice(None) if full else here, numbers[here]))
        return columns

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
    """Return how fast a weighted sum of l1 distances can fall on average, wherever the input moves.

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
    return np.maximum(np.where(usable, bound, 0.0), _bounds_of_pairs(offsets, weights, gaps))


def _bounds_of_pairs(offsets: Matrix, weights: Matrix, gaps: Matrix) -> Matrix:
    """Return a tighter bound where only two options have weights; 0 elsewhere.

    It is the exact distance to the plane midway between the two where the gap is all that one is
    nearer than the other.
    """
    two = ((weights != 0).sum(axis=2) == 2) & (weights > 0).any(axis=2)
    own, other = (
        np.take_along_axis(offsets, which[..., None, None], axis=2)[:, :, 0]
        for which in (weights.argmin(axis=2), weights.argmax(axis=2))
    )
    near, far, between = (np.sqrt(np.square(v).sum(axis=2)) for v in (own, other, other - own))
    gap = np.where(two, gaps, 0.0) / np.where(two, weights.max(axis=2), 1.0)
    apart = between + np.abs(far - near - gap)
    bound: Matrix = gap * (near + far) / np.where(apart > 0, 2 * apart, 1.0)
    return bound
