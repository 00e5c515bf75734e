"""CEMSP (Wang et al. 2023): minimal sets of features that are moved to fixed targets."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, milp

from counterset._base.arrays import Matrix, Vector
from counterset.paper.peers.protocol import LIMIT
from counterset.tables.schema import Schema
from counterset.tables.table import Table

__all__ = ["Cemsp", "minimal_sets"]

#: A set of features, by their positions.
Features: TypeAlias = frozenset[int]
#: The normal range of a number: the middle half of the rows of the wanted class.
NORMAL = (0.25, 0.75)
#: The search for the sets of one input ends after a minute, with what it has found.
SECONDS = 60.0


@dataclass
class Cemsp:
    """Up to 5 counterfactuals that move the fewest features into their normal ranges.

    The paper takes normal ranges from medicine. Here that of a number is the middle half of the
    training rows that the model puts into another class than the input's own. A number outside it
    moves to its nearer end, one inside it stays. A category takes the most common value of those
    rows. So each feature has one target, and a counterfactual is a set of features to move. Sets
    with fewer features come first.

    Like the paper, it takes for granted that moving more features to their targets never undoes
    the change of class. Then the sets are all minimal ones, up to 5. Where a model breaks this,
    each set still changes the class and none of its features alone can be left out, but some
    minimal sets may be missed.

    Left out: conditions between features (causes, correlations), which the paper adds as clauses.

    Parameters
    ----------
    norm
        Not used: sets of features are compared.
    immutable
        Names of features that may not change.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    immutable: Sequence[str] = ()
    name: str = "cemsp"
    uses_norm: bool = False

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Learn the normal ranges away from each class."""
        self._model = model
        self._table, rows = Table.learn(X, Schema(step=0))
        self._fixed = [self._table.position(name) for name in self.immutable]
        labels = np.asarray(model.predict(X))
        self._ranges = {
            label: self._normal_ranges(rows[labels != label])
            for label in [*np.unique(labels).tolist(), None]
            if (labels != label).any()
        }

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set for each row; an empty one where all targets together do not help."""
        rows, _ = self._table.encode(X)
        labels = np.asarray(self._model.predict(X)).tolist()
        found = [self._explain(row, label) for row, label in zip(rows, labels, strict=True)]
        return [self._table.decode(each) for each in found]

    def _normal_ranges(self, rows: Matrix) -> Matrix:
        """Return the ends of the normal range of each feature, ``(2, d)``."""
        ends = np.nanquantile(
            rows, NORMAL, axis=0, method="nearest"
        )  # values that columns can hold
        for i, feature in enumerate(self._table.features):
            if feature.values is not None:
                known = rows[np.isfinite(rows[:, i]), i].astype(np.intp)
                ends[:, i] = np.bincount(known).argmax() if len(known) else np.nan
        return ends

    def _explain(self, row: Vector, label: Any) -> Matrix:
        # An input whose class no training row has is far from all of them.
        low, high = self._ranges.get(label, self._ranges.get(None, np.full((2, len(row)), np.nan)))
        targets = np.clip(row, low, high)
        movable = np.isfinite(targets) & (targets != row)
        movable[self._fixed] = False
        places = np.flatnonzero(movable)

        def moved(sets: Sequence[Features]) -> Matrix:
            rows = np.tile(row, (len(sets), 1))
            for i, each in enumerate(sets):
                at = places[sorted(each)]
                rows[i, at] = targets[at]
            return rows

        def works(each: Features) -> bool:
            [found] = np.asarray(self._model.predict(self._table.decode(moved([each]))))
            return bool(found != label)

        return moved(minimal_sets(len(places), works, LIMIT, SECONDS))


def minimal_sets(
    n: int, works: Callable[[Features], bool], limit: int, seconds: float = np.inf
) -> list[Features]:
    """Return sets that work and lose that without any one of their elements, smallest first.

    It is a search of hitting sets, as of MARCO. A set that works must hold an element outside of
    every set known not to work. The smallest one that does, and that holds no set found before, is
    tried. If it works, it is found; if not, it is grown until any further element would make it
    work, and then must be hit as well.

    Parameters
    ----------
    n
        The number of elements.
    works
        Whether a set works. If more elements never undo that, all minimal sets are found.
    limit
        The most sets to find.
    seconds
        When to end the search, with what was found.

    Examples
    --------
    >>> [sorted(each) for each in minimal_sets(3, lambda each: 0 in each or len(each) > 1, 5)]
    [[0], [1, 2]]
    """
    ends = time.perf_counter() + seconds
    found: list[Features] = []
    to_hit: list[Features] = []
    everything = frozenset(range(n))
    while n and len(found) < limit and time.perf_counter() < ends:
        seed = _smallest(n, to_hit, found)
        if seed is None:
            break
        if works(seed):
            found.append(_shrunk(seed, works))
        else:
            to_hit.append(everything - _grown(seed, everything, works))
    return sorted(found, key=len)


def _smallest(n: int, to_hit: list[Features], found: list[Features]) -> Features | None:
    """Return a smallest set that hits some sets and contains none of others, if there is one."""
    if frozenset() in to_hit:
        return None  # not even all elements work
    constraints = []
    for sets, least, most in ((to_hit, 1.0, np.inf), (found, -np.inf, None)):
        if sets:
            rows = np.array([[float(i in each) for i in range(n)] for each in sets])
            upper = rows.sum(axis=1) - 1 if most is None else most
            constraints.append(LinearConstraint(rows, least, upper))
    # At least one element: to move nothing is no counterfactual.
    constraints.append(LinearConstraint(np.ones((1, n)), 1.0, np.inf))
    solved = milp(np.ones(n), constraints=constraints, integrality=np.ones(n), bounds=Bounds(0, 1))
    return None if solved.x is None else frozenset(np.flatnonzero(solved.x > 0.5).tolist())


def _shrunk(seed: Features, works: Callable[[Features], bool]) -> Features:
    """Leave out elements of a set that works, until none can be left out."""
    kept = seed
    while True:
        smaller = next((kept - {i} for i in sorted(kept) if works(kept - {i})), None)
        if smaller is None:
            return kept
        kept = smaller


def _grown(seed: Features, everything: Features, works: Callable[[Features], bool]) -> Features:
    """Add elements to a set that does not work, as long as it does not."""
    kept = seed
    for i in sorted(everything - seed):
        if not works(kept | {i}):
            kept |= {i}
    return kept
