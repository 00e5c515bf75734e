"""What the parameters of an explainer may be."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterset.constraints.constraints import Constraints
from counterset.constraints.plausibility import NearData
from counterset.exceptions import InvalidInputError
from counterset.steps.cutoffs import Cutoff
from counterset.steps.diversity import Diversity
from counterset.steps.line_search import Search
from counterset.tables.schema import Schema

__all__ = ["check_parameter", "check_parameters"]

#: The type of each parameter, and what to say if it is something else.
_ALLOWED: dict[str, tuple[Any, str]] = {
    "candidates": (Cutoff, "NearestCandidates, CandidatesWithin or an object with cut(ranking)"),
    "diversity": (
        Diversity | None,
        "AngleDiversity, DistanceDiversity, an object with differ(view, a, b), or None",
    ),
    "search": (
        Search | None,
        "LineSearch, an object with search(segments, ask) and needs_farthest, or None",
    ),
    "schema": (Schema | None, "Schema or None"),
    "constraints": (Constraints | None, "Constraints or None"),
    "sparsify": (bool | np.bool_, "True or False"),
    "plausibility": (NearData | None, "NearData or None"),
}


def check_parameters(explainer: Any) -> None:
    """Check that the parameters of an explainer are of the types that it can use."""
    for name in _ALLOWED:
        check_parameter(name, getattr(explainer, name))


def check_parameter(name: str, value: Any) -> None:
    """Check that one parameter is of the type that an explainer can use."""
    kind, allowed = _ALLOWED[name]
    # A class has the methods of its objects: NearestCandidates is meant as NearestCandidates().
    if isinstance(value, type) or not isinstance(value, kind):
        raise InvalidInputError(f"{name} must be {allowed}, got {value!r}.")
