"""A counterfactual by sampling, for any model: an upper bound on the distance, never a proof."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Matrix
from counterset.exact.boundary import past_boundary
from counterset.exact.problem import Answer, Problem

__all__ = ["find_counterfactual", "solve_by_search"]

SAMPLES = 2000
#: Samples are drawn from the whole domain first, then ever nearer to the input.
SHRINKING = (1.0, 0.3, 0.1, 0.01)
LINES = 16
ROUNDS = 5
PROBES = 24
METHOD = "search"


def solve_by_search(problem: Problem, start: Matrix | None) -> Answer:
    """Give an upper bound, and 0 for a lower one."""
    best = find_counterfactual(problem)
    if start is not None and (best is None or _nearer(problem, start, best)):
        walked = _walk_back(problem, start)
        best = walked if problem.confirms(walked) else start
    reason = "only an upper bound: no exact method reads this model"
    if best is None:
        reason += ", and sampling found no counterfactual"
    return Answer(0.0, best, METHOD, reason)


def find_counterfactual(problem: Problem) -> Matrix | None:
    """Sample the domain, go back towards the input, and undo what is not needed."""
    random = np.random.default_rng(0)
    found: list[Matrix] = []
    for share in SHRINKING:
        rows = problem.admit(_sample(problem, random, share))
        flipped = rows[problem.flips(rows)]
        found.extend(flipped[np.argsort(problem.lengths(flipped), kind="stable")][:LINES])
        if problem.clock.over:
            break
    if not found:
        return None
    rows = _bisect(problem, np.array(found))
    nearest = _walk_back(problem, rows[np.argmin(problem.lengths(rows))])
    # A batch may be rounded otherwise than a row alone, which is what users will ask.
    return nearest if problem.confirms(nearest) else past_boundary(problem, nearest)


def _sample(problem: Problem, random: np.random.Generator, share: float) -> Matrix:
    """Draw points of the box, and points that differ from the input in one feature only."""
    d = len(problem.x)
    # Without bounds, look as far as the size of the input's own values suggests.
    size = np.maximum(1.0, np.abs(problem.x)) * 10.0 ** random.uniform(-1, 2, (SAMPLES, 1))
    low = np.where(np.isfinite(problem.low), problem.low, problem.x - size)
    high = np.where(np.isfinite(problem.high), problem.high, problem.x + size)
    rows = random.uniform(low, high)
    alone = np.arange(SAMPLES) < SAMPLES // 4
    only = random.integers(d, size=SAMPLES)
    rows[alone] = np.where(np.arange(d) == only[alone, None], rows[alone], problem.x)
    return np.asarray(problem.x + share * (rows - problem.x))


def _bisect(problem: Problem, ends: Matrix) -> Matrix:
    """Move counterfactuals towards the input as long as they flip, all at once."""
    n, d = ends.shape
    kept, near, far = ends.copy(), np.zeros(n), np.ones(n)
    lines = np.arange(n)
    for _ in range(ROUNDS):
        if problem.clock.over:
            break
        # Several probes on each line in one question, since calls cost more than rows.
        shares = np.linspace(near, far, PROBES + 2)[1:-1]
        rows = problem.admit((problem.x + shares[..., None] * (ends - problem.x)).reshape(-1, d))
        flips = problem.flips(rows).reshape(PROBES, n)
        first = np.where(flips.any(axis=0), flips.argmax(axis=0), PROBES)
        hit = first < PROBES
        kept[hit] = rows.reshape(PROBES, n, d)[first[hit], lines[hit]]
        stops = np.vstack([near, shares, far])
        near, far = stops[first, lines], stops[first + 1, lines]
    return kept


def _walk_back(problem: Problem, point: Matrix) -> Matrix:
    """Take each feature back towards the input as far as the model allows, in two rounds."""
    for _ in range(2):
        # The smallest changes first: they are the likeliest not to be needed.
        for feature in np.argsort(np.abs(point - problem.x), kind="stable"):
            if point[feature] == problem.x[feature] or problem.clock.over:
                continue
            rows = np.tile(point, (PROBES, 1))
            rows[:, feature] = np.linspace(problem.x[feature], point[feature], PROBES + 1)[:-1]
            rows = problem.admit(rows)
            flips = problem.flips(rows)
            if flips.any():
                better = rows[np.argmax(flips)]
                if _nearer(problem, better, point):
                    point = better
    return point


def _nearer(problem: Problem, a: Matrix, b: Matrix) -> bool:
    lengths = problem.lengths(np.vstack([a, b]))
    return bool(lengths[0] < lengths[1])
