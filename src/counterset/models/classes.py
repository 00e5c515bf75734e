"""Classes: the labels of the training rows, and their codes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Codes, Labels

__all__ = ["Classes"]


@dataclass(frozen=True)
class Classes:
    """The labels that the model predicts on the training rows, and their codes 0, 1, ...

    Examples
    --------
    >>> classes, codes = Classes.learn(np.array(["no", "yes", "no"]))
    >>> codes, classes.codes(np.array(["yes", "maybe"]))
    (array([0, 1, 0]), array([ 1, -1]))
    """

    labels: Labels

    @classmethod
    def learn(cls, labels: Labels) -> tuple[Classes, Codes]:
        """Learn the classes from the labels of the training rows; also return their codes."""
        codes, found = pd.factorize(labels)
        try:
            order = sorted(range(len(found)), key=lambda i: found[i])
        except TypeError:  # labels of types that do not compare keep their order of appearance
            order = list(range(len(found)))
        rank = np.empty(len(found), dtype=np.intp)
        rank[order] = np.arange(len(found))
        return cls(np.asarray(found)[order]), rank[codes]

    @cached_property
    def are_measurements(self) -> bool:
        """Whether the labels are numbers with fractions, as a regression predicts."""
        if self.labels.dtype.kind != "f":
            return False
        return bool((self.labels != np.rint(self.labels)).any())

    def codes(self, labels: Labels) -> Codes:
        """Return the codes of labels, -1 for one that no training row has."""
        return np.array([self._code_of.get(each, -1) for each in labels.tolist()], dtype=np.intp)

    @cached_property
    def _code_of(self) -> dict[Any, int]:
        return {label: code for code, label in enumerate(self.labels.tolist())}

    def __len__(self) -> int:
        return len(self.labels)
