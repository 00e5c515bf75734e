"""How many anchors: as few as keep explanations close and diverse on rows not used to find them.

Few anchors make large regions, and explanations that stay the same for long; but the farther an
input is from its anchor, the farther it is from the examples chosen there. So for each class some
training rows are held out, anchors are found among the others, in growing numbers, and the
held-out rows are explained both ways. The first number will do that costs them little.
"""

from __future__ import annotations

import numpy as np

from counterset.anchors import SEED, medoids, nearest_points, select_compactly
from counterset.arrays import Codes, Mask, Matrix
from counterset.selection import NONE_LEFT, Selection, Selector
from counterset.space import Points

__all__ = ["enough_anchors"]

#: k-distance at most, and k-diversity at least, so many times the paper's selection's.
MOST_DISTANCE, LEAST_DIVERSITY = 1.05, 0.95
#: Where no number reaches that, the first within this factor of the best will do.
ABOUT_THE_BEST = 1.03
#: The numbers tried go up in doubles.
FEWEST, MOST = 4, 512
#: Held out of each class: this share of its rows, up to so many.
HELD_OUT_SHARE, MOST_HELD_OUT = 0.2, 100
#: Anchors of one class are found among so many times more rows.
LEAST_ROWS = 5


def enough_anchors(selector: Selector, members: Codes, usable: Mask | None) -> int:
    """Find the number of anchors for one class.

    Parameters
    ----------
    selector
        Steps 1 to 3, with the pool of training rows.
    members
        Where in the pool the rows of the class are.
    usable
        Which rows of the pool can be chosen at all.
    """
    if len(members) < LEAST_ROWS:
        return len(members)
    random = np.random.default_rng(SEED)
    shuffled = random.permutation(members)
    n_held_out = min(MOST_HELD_OUT, max(1, int(HELD_OUT_SHARE * len(members))))
    held_out, others = np.sort(shuffled[:n_held_out]), np.sort(shuffled[n_held_out:])
    x = selector.pool.points.take(held_out)
    acceptable = selector.pool.codes != selector.pool.codes[members[0]]
    if usable is not None:
        acceptable &= usable
    paper = _k_figures(selector, x.places, select_compactly(selector, x, acceptable))
    costs: dict[int, float] = {}
    count = FEWEST
    while count <= MOST:
        found = others[medoids(selector.pool.points.directions[others], count)]
        chosen = _sets_of_nearest(selector, x, selector.pool.points.take(found), acceptable)
        costs[count] = _cost(_k_figures(selector, x.places, chosen), paper)
        if costs[count] <= 1 or len(found) < count // 2:
            break
        count *= 2
    best = max(1.0, min(costs.values()))
    return next(count for count, cost in costs.items() if cost <= ABOUT_THE_BEST * best)


def _sets_of_nearest(selector: Selector, x: Points, anchors: Points, acceptable: Mask) -> Selection:
    """Give each input the set of its nearest anchor, choosing only the sets that are needed."""
    nearest = nearest_points(selector.pool.distance.in_space, x.places, anchors.places)
    used, which = np.unique(nearest, return_inverse=True)
    return select_compactly(selector, anchors.take(used), acceptable).take(which)


def _cost(figures: tuple[float, float], paper: tuple[float, float]) -> float:
    """Say how far beyond what is allowed the anchors are: at most 1 is allowed."""
    (distance, diversity), (paper_distance, paper_diversity) = figures, paper
    too_far = distance / (MOST_DISTANCE * paper_distance) if paper_distance else 1.0
    too_alike = LEAST_DIVERSITY * paper_diversity / max(diversity, np.finfo(float).tiny)
    return max(too_far, min(too_alike, np.finfo(float).max))


def _k_figures(selector: Selector, x: Matrix, selection: Selection) -> tuple[float, float]:
    """Give the mean k-distance and the mean k-diversity of sets of training rows."""
    distance, places = selector.pool.distance.in_space, selector.pool.points.places
    k_distance, k_diversity = np.zeros(len(x)), np.zeros(len(x))
    for i, chosen in enumerate(selection.places):
        rows = places[chosen[chosen != NONE_LEFT]]
        if len(rows):
            k_distance[i] = distance.pairwise(x[i : i + 1], rows).mean()
        if len(rows) > 1:
            k_diversity[i] = distance.pairwise(rows, rows)[np.triu_indices(len(rows), k=1)].mean()
    return float(k_distance.mean()), float(k_diversity.mean())
