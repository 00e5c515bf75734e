"""Request: what one call of an explainer asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from counterset.constraints.constraints import Constraints
from counterset.constraints.per_row import RowConstraints
from counterset.exceptions import InvalidInputError
from counterset.models.goals import check_probability
from counterset.steps.workload import Workload

__all__ = ["IfNone", "Request"]

#: What to do where an input has no counterfactual.
IfNone: TypeAlias = Literal["raise", "warn", "ignore"]


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
        Whether to raise, to warn or to say nothing where an input has no counterfactual.
    skip
        Whether inputs that have what is wanted already are passed over without a word.
    max_rows
        About how many rows the model may be asked for one input; None: any number.
    workload
        How the rows are divided.
    """

    target: Any = None
    probability: float | None = None
    interval: tuple[float, float] | None = None
    constraints: RowConstraints = None
    own_constraints: Constraints | None = None
    if_none: IfNone = "raise"
    skip: bool = False
    max_rows: int | None = None
    workload: Workload = field(default_factory=Workload)

    def __post_init__(self) -> None:
        check_probability(self.probability)
        if self.if_none not in get_args(IfNone):
            raise InvalidInputError(
                f"if_none must be 'raise', 'warn' or 'ignore', got {self.if_none!r}."
            )
        if not isinstance(self.skip, bool | np.bool_):
            raise InvalidInputError(f"skip must be True or False, got {self.skip!r}.")
