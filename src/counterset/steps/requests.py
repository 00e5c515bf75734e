"""Request: what one call of an explainer asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from counterset.constraints.constraints import Constraints
from counterset.constraints.per_row import RowConstraints
from counterset.exceptions import InvalidInputError
from counterset.models.goals import check_probability

__all__ = ["Request"]


@dataclass(frozen=True)
class Request:
    """What one call asks for.

    Attributes
    ----------
    target, probability, interval
        What a counterfactual must lead to.
    constraints
        What may change, for all rows or for each; None: the explainer's own constraints.
    own_constraints
        The explainer's own constraints.
    if_none
        Whether to raise or to warn where an input has no counterfactual.
    skip
        Whether inputs that have what is wanted already are passed over without a word.
    """

    target: Any = None
    probability: float | None = None
    interval: tuple[float, float] | None = None
    constraints: RowConstraints = None
    own_constraints: Constraints | None = None
    if_none: Literal["raise", "warn"] = "raise"
    skip: bool = False

    def __post_init__(self) -> None:
        check_probability(self.probability)
        if self.if_none not in ("raise", "warn"):
            raise InvalidInputError(f"if_none must be 'raise' or 'warn', got {self.if_none!r}.")
        if not isinstance(self.skip, bool | np.bool_):
            raise InvalidInputError(f"skip must be True or False, got {self.skip!r}.")
