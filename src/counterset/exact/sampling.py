"""Search: near counterfactuals that are found by asking the model, without any proof.

``past_boundary`` moves a solver's point to one that really flips: a solver works to a tolerance,
and points on the boundary often belong to the input's own class. ``search_growing_balls`` lets a
solver search larger and larger balls. ``solve_by_sampling`` is for models that no solver reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Matrix, Vector
from counterset.exact.norms import Norm
from counterset.exact.problem import Problem, SolverResult
from counterset.explanations.certificate import SEARCH

__all__ = [
    "OVERSIZE_FACTOR",
    "BallResult",
    "Incumbent",
    "covering_radius",
    "find_counterfactual",
    "past_boundary",
    "search_growing_balls",
    "solve_by_sampling",
]

#: 41 steps past the point, relative to the move to it: from none, over a double's rounding (1e-15),
#: to far more than a solver's tolerance (a hundredth).
STEPS = np.concatenate([[0.0], np.geomspace(1e-15, 1e-2, 40)])
#: A solver's values within this of the input's, relative to its size, were not meant to change.
UNCHANGED = 1e-9


def past_boundary(
    problem: Problem, point: Vector, directions: Sequence[Vector] = ()
) -> Vector | None:
    """Find the nearest point that flips, at or just past a point of the boundary, or None.

    Parameters
    ----------
    point
        A point of the boundary, according to a solver.
    directions
        Further directions to try from there, besides the one from the input to the point. The
        steps are relative to the length of each. Values of categories and ranks stay as they are.
    """
    features = problem.model.table.features
    numbers = np.array([feature.values is None for feature in features])
    moves = [np.where(numbers, move, 0.0) for move in (point - problem.x, *directions)]
    relations = [each for each in problem.feasible.relations if not each.equal]
    if relations:
        # A point on the line of a relation may have to leave it, besides passing the boundary.
        size = float(np.abs(moves[0]).max()) or 1.0
        inward = sum(
            -size * relation.weights / np.abs(relation.weights).max() for relation in relations
        )
        moves += [move + inward for move in (*moves, np.zeros_like(point))]
    rows = np.concatenate([point + STEPS[:, None] * move for move in moves])
    found = problem.nearest_flip(problem.project(rows))
    if found is None:
        return None
    unchanged = np.abs(found - problem.x) < UNCHANGED * np.maximum(1.0, np.abs(problem.x))
    cleaned = np.where(unchanged, problem.x, found)
    if unchanged.any() and problem.confirms(cleaned):
        return np.asarray(cleaned)
    return found


#: A ball is searched again, as a smaller one, if its radius is more than 2 times the distance found
#: in it: the tolerance of a solver is a part of the radius.
OVERSIZE_FACTOR = 2.0


@dataclass(eq=False)
class Incumbent:
    """The nearest counterfactual so far, and its distance ``upper``."""

    problem: Problem
    witness: Vector | None = None
    upper: float = np.inf

    def offer(self, witness: Vector | None) -> None:
        """Keep a confirmed counterfactual if it is nearer."""
        if witness is None:
            return
        length = float(self.problem.lengths(witness[None, :])[0])
        if length < self.upper:
            self.witness, self.upper = witness, length


@dataclass(frozen=True)
class BallResult:
    """What is proved about a ball: no counterfactual in it is nearer than ``lower``.

    ``empty``: it holds none at all.
    """

    lower: float
    empty: bool


def search_growing_balls(
    search_ball: Callable[[float], BallResult],
    incumbent: Incumbent,
    first: float,
    growth: float,
    covering: float,
) -> float:
    """Return a lower bound on the distance; infinite if it is proved that there is nothing.

    Parameters
    ----------
    search_ball
        Searches the ball of a radius and offers what it finds to the incumbent.
    first
        The first radius.
    growth
        The factor from one radius to the next.
    covering
        A radius that covers the domain.
    """
    radius, proved = first, 0.0
    while not incumbent.problem.clock.over:
        # Only what is nearer than the incumbent matters.
        radius = min(radius, incumbent.upper, covering)
        result = search_ball(radius)
        if not result.empty:
            return max(proved, min(result.lower, radius))
        if radius >= covering:
            return np.inf
        proved = max(proved, min(result.lower, radius))
        if radius >= incumbent.upper:
            break
        radius *= growth
    return proved


def covering_radius(problem: Problem, norm: Norm) -> float:
    """Return a radius beyond which the box has no points."""
    reach = np.maximum(problem.high - problem.x, problem.x - problem.low)
    with np.errstate(invalid="ignore"):
        costs = np.where(norm.weights > 0, norm.costs(reach), 0.0)
    # A little more than the farthest corner, which a solver must not lose by rounding.
    return float(norm.length(norm.total(costs))) * (1 + 1e-9)


#: With 2000 samples of a region, a class on a thousandth of it is met more often than not.
SAMPLES = 2000
#: Sizes of the region, relative to the domain: samples are drawn from the whole domain first, then
#: ever nearer to the input.
REGION_SIZES = (1.0, 0.3, 0.1, 0.01)
#: The 16 nearest samples that flip, at each size, are moved towards the input.
LINES = 16
#: Each line is narrowed down 5 times by 24 probes, so to 1/25**5: a ten-millionth of its length.
ROUNDS = 5
PROBES = 24


def solve_by_sampling(problem: Problem, start: Vector | None) -> SolverResult:
    """Find an upper bound; the lower bound is 0."""
    best = find_counterfactual(problem)
    if start is not None and (best is None or _nearer(problem, start, best)):
        walked = _undo_changes(problem, start)
        best = walked if problem.confirms(walked) else start
    reason = "only an upper bound: no exact method reads this model"
    if best is None:
        reason += ", and sampling found no counterfactual"
    return SolverResult(0.0, best, SEARCH, reason)


def find_counterfactual(problem: Problem) -> Vector | None:
    """Sample the domain, move what flips towards the input, and undo what is not needed."""
    random = np.random.default_rng(0)
    found: list[Vector] = []
    for size in REGION_SIZES:
        rows = problem.project(_sample(problem, random, size))
        flipped = rows[problem.flips(rows)]
        found.extend(flipped[np.argsort(problem.lengths(flipped), kind="stable")][:LINES])
        if problem.clock.over:
            break
    if not found:
        return None
    rows = _bisect(problem, np.array(found))
    nearest = _undo_changes(problem, rows[np.argmin(problem.lengths(rows))])
    # A batch may be rounded in another way than a row alone, and users ask about one row.
    return nearest if problem.confirms(nearest) else past_boundary(problem, nearest)


def _sample(problem: Problem, random: np.random.Generator, size: float) -> Matrix:
    """Draw points of the box; a quarter of them differ from the input in one feature only."""
    d = len(problem.x)
    # Without bounds, look as far as the size of the input's own values suggests.
    spread = np.maximum(1.0, np.abs(problem.x)) * 10.0 ** random.uniform(-1, 2, (SAMPLES, 1))
    low = np.where(np.isfinite(problem.low), problem.low, problem.x - spread)
    high = np.where(np.isfinite(problem.high), problem.high, problem.x + spread)
    rows = random.uniform(low, high)
    alone = np.arange(SAMPLES) < SAMPLES // 4
    only = random.integers(d, size=SAMPLES)
    rows[alone] = np.where(np.arange(d) == only[alone, None], rows[alone], problem.x)
    return np.asarray(problem.x + size * (rows - problem.x))


def _bisect(problem: Problem, ends: Matrix) -> Matrix:
    """Move counterfactuals towards the input as long as they flip, all at once."""
    n, d = ends.shape
    kept, near, far = ends.copy(), np.zeros(n), np.ones(n)
    lines = np.arange(n)
    for _ in range(ROUNDS):
        if problem.clock.over:
            break
        # Several probes on each line in one call, since calls cost more than rows.
        shares = np.linspace(near, far, PROBES + 2)[1:-1]
        rows = problem.project((problem.x + shares[..., None] * (ends - problem.x)).reshape(-1, d))
        flips = problem.flips(rows).reshape(PROBES, n)
        first = np.where(flips.any(axis=0), flips.argmax(axis=0), PROBES)
        hit = first < PROBES
        kept[hit] = rows.reshape(PROBES, n, d)[first[hit], lines[hit]]
        stops = np.vstack([near, shares, far])
        near, far = stops[first, lines], stops[first + 1, lines]
    return kept


def _undo_changes(problem: Problem, point: Vector) -> Vector:
    """Move each feature back towards the input as far as the model allows, in two rounds."""
    for _ in range(2):
        # The smallest changes first: they are the likeliest not to be needed.
        for feature in np.argsort(np.abs(point - problem.x), kind="stable"):
            if point[feature] == problem.x[feature] or problem.clock.over:
                continue
            rows = np.tile(point, (PROBES, 1))
            rows[:, feature] = np.linspace(problem.x[feature], point[feature], PROBES + 1)[:-1]
            rows = problem.project(rows)
            flips = problem.flips(rows)
            if flips.any():
                better = rows[np.argmax(flips)]
                if _nearer(problem, better, point):
                    point = better
    return point


def _nearer(problem: Problem, a: Vector, b: Vector) -> bool:
    lengths = problem.lengths(np.vstack([a, b]))
    return bool(lengths[0] < lengths[1])
