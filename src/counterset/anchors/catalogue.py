"""Options that rows of the training data have: what sets of anchors are put together from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from counterset._base.arrays import Codes, Matrix, to_python
from counterset.anchors.anchors import Options
from counterset.steps.acceptance import Acceptance
from counterset.steps.pipeline import Pipeline
from counterset.steps.selection import NONE_LEFT

__all__ = ["AcceptanceOf", "Catalogue"]

#: Makes the acceptance of rows.
AcceptanceOf: TypeAlias = Callable[[Matrix], Acceptance]


class Catalogue:
    """The counterfactuals of rows of the pool, found when they are first asked for.

    Parameters
    ----------
    pipeline
        The paper's method.
    acceptance_of
        Makes the acceptance of rows.
    """

    def __init__(self, pipeline: Pipeline, acceptance_of: AcceptanceOf) -> None:
        self.pipeline, self.acceptance_of = pipeline, acceptance_of
        self._numbers: dict[bytes, int] = {}  # of each option, by its row
        self._rows: list[Matrix] = []
        self._places: list[int] = []
        self._labels: list[Any] = []
        self._known: dict[int, tuple[list[int], int, float]] = {}  # of each row

    def of(self, rows: Codes) -> tuple[Codes, Codes, Matrix]:
        """Return the numbers of each row's options, ``(n, limit)``, and the figures of step 2."""
        self._find(np.array([row for row in rows if int(row) not in self._known], dtype=np.intp))
        own = np.full((len(rows), self.pipeline.selector.capacity), NONE_LEFT, dtype=np.intp)
        known = [self._known[int(row)] for row in rows]
        for i, (numbers, _, _) in enumerate(known):
            own[i, : len(numbers)] = numbers
        n_candidates = np.array([count for _, count, _ in known], dtype=np.intp)
        return own, n_candidates, np.array([farthest for _, _, farthest in known])

    def options(self) -> Options:
        """Return all options so far; equal ones have one number."""
        pool = self.pipeline.selector.pool
        rows = np.array(self._rows).reshape(-1, pool.matrix.shape[1])
        return Options(
            rows,
            pool.distance.coordinates(rows),
            np.array(self._places, dtype=np.intp),
            np.array(self._labels, dtype=object),
        )

    def _find(self, rows: Codes) -> None:
        if not len(rows):
            return
        acceptance = self.acceptance_of(self.pipeline.selector.pool.matrix[rows])
        found = self.pipeline.run(acceptance).counterfactuals
        for row, count, farthest in zip(rows, found.n_candidates, found.farthest, strict=True):
            self._known[int(row)] = ([], int(count), float(farthest))
        labels = acceptance.labels(found.codes)
        for i, owner in enumerate(found.owners):
            number = self._numbers.setdefault(found.rows[i].tobytes(), len(self._rows))
            if number == len(self._rows):
                self._rows.append(found.rows[i])
                self._places.append(int(found.pool_index[i]))
                self._labels.append(to_python(labels[i]))
            self._known[int(rows[owner])][0].append(number)
