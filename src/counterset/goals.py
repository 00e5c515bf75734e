"""What counts as "decided otherwise"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset.arrays import Codes, Labels, Mask
from counterset.exceptions import InvalidInputError, NoCounterfactualError
from counterset.models import Classes, plain

__all__ = ["Goal"]


@dataclass(frozen=True)
class Goal:
    """The labels that are acceptable to each input of a batch.

    Attributes
    ----------
    labels
        The model's labels of the inputs.
    target
        The wanted label, or None for any other than the input's.
    """

    labels: Labels
    target: Any

    @classmethod
    def set(cls, labels: Labels, target: Any, classes: Classes) -> Goal:
        """Check that the target can be reached from every input."""
        if target is None:
            return cls(labels, None)
        known = [plain(label) for label in classes.labels]
        if plain(target) not in known:
            raise NoCounterfactualError(
                f"No training row is predicted {plain(target)!r}, so there is nothing to move "
                f"towards. Fit on data that holds that class, or choose another target of {known}."
            )
        there = np.flatnonzero(labels == target)
        if len(there):
            raise InvalidInputError(
                f"The model already decides {plain(target)!r} for {len(there)} of {len(labels)} "
                f"inputs (first at position {there[0]}), so there is nothing to explain. "
                f"Leave them out."
            )
        return cls(labels, target)

    def accepts(self, labels: Labels, owners: Codes) -> Mask:
        """Say which labels are acceptable to the inputs that own them."""
        if self.target is None:
            return np.asarray(labels != self.labels[owners], dtype=bool)
        return np.asarray(labels == self.target, dtype=bool)

    def acceptable_classes(self, label: Any, classes: Classes) -> list[int]:
        """Give the codes of the classes acceptable to an input of this label."""
        if self.target is None:
            return [code for code, other in enumerate(classes.labels) if other != label]
        return [code for code, other in enumerate(classes.labels) if other == self.target]
