"""A counterfactual by sampling, for any model: an upper bound on the distance, never a proof."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Matrix, Vector
from counterset.exact.boundary import past_boundary
from counterset.exact.problem import Problem, SolverResult
from counterset.results.bounds import SEARCH

__all__ = ["find_counterfactual", "solve_by_sampling"]

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
