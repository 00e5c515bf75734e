"""What the parameters of an explainer may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from counterset._base.checks import check_count
from counterset.constraints.constraints import Constraints
from counterset.constraints.plausibility import NearData
from counterset.exceptions import InvalidInputError, NotFittedError
from counterset.steps.cutoffs import Cutoff, NearestCandidates
from counterset.steps.diversity import AngleDiversity, Diversity
from counterset.steps.line_search import LineSearch, Search
from counterset.tables.schema import Schema

__all__ = ["check_parameter", "check_parameters", "paper_settings", "used_by_fit"]

#: The type of each parameter, and what to say if it is something else.
_ALLOWED: dict[str, tuple[Any, str]] = {
    "candidates": (Cutoff, "NearestCandidates, CandidatesWithin or an object with cut(ranking)"),
    "diversity": (
        Diversity | None,
        "AngleDiversity, DistanceDiversity, FeatureDiversity, an object with differ(view, a, b), "
        "or None",
    ),
    "search": (
        Search | None,
        "LineSearch, an object with search(segments, ask) and needs_farthest, or None",
    ),
    "schema": (Schema | None, "Schema or None"),
    "constraints": (Constraints | None, "Constraints or None"),
    "costs": (Mapping | None, "a mapping from names to numbers above 0, or None"),
    "sparsify": (bool | np.bool_, "True or False"),
    "plausibility": (NearData | None, "NearData or None"),
}


#: Parameters that ``fit`` uses; the others are read when a row is explained.
_USED_BY_FIT = ("model", "distance", "scale", "costs", "schema", "plausibility", "anchors")


def used_by_fit(explainer: Any) -> dict[str, Any]:
    """Return the parameters of an explainer that ``fit`` uses."""
    return {name: getattr(explainer, name) for name in _USED_BY_FIT}


def _check_unchanged(explainer: Any, fitted_with: dict[str, Any]) -> None:
    """Check that the parameters that ``fit`` used are still those of the explainer."""
    changed = [
        name for name in _USED_BY_FIT if not _same(getattr(explainer, name), fitted_with[name])
    ]
    if changed:
        raise NotFittedError(
            f"{' and '.join(changed)} changed after fit, so what was learned no longer applies. "
            f"Call fit again."
        )


def _same(value: Any, other: Any) -> bool:
    if value is other:
        return True
    if isinstance(value, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(value, other)
    return type(value) is type(other) and bool(value == other)


def check_parameters(explainer: Any, fitted_with: dict[str, Any] | None = None) -> None:
    """Check that the parameters of an explainer are what it can use.

    Parameters
    ----------
    fitted_with
        After ``fit``: what ``used_by_fit`` returned then, which must not have changed.
    """
    check_count(explainer.max_counterfactuals, "max_counterfactuals")
    if explainer.max_model_rows is not None:
        check_count(explainer.max_model_rows, "max_model_rows")
    anchors = explainer.anchors
    if isinstance(anchors, str) and anchors != "auto":
        raise InvalidInputError(
            f"anchors must be None, 'auto' or a number of anchors per class, got {anchors!r}."
        )
    if anchors is not None and anchors != "auto":
        check_count(anchors, "anchors")
    for name in _ALLOWED:
        check_parameter(name, getattr(explainer, name))
    if fitted_with is not None:
        _check_unchanged(explainer, fitted_with)


def check_parameter(name: str, value: Any) -> None:
    """Check that one parameter is of the type that an explainer can use."""
    kind, allowed = _ALLOWED[name]
    # A class has the methods of its objects: NearestCandidates is meant as NearestCandidates().
    if isinstance(value, type) or not isinstance(value, kind):
        raise InvalidInputError(f"{name} must be {allowed}, got {value!r}.")


def paper_settings(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the paper, with changes in their place.

    Examples
    --------
    >>> paper_settings({"sparsify": True})["search"]
    LineSearch(gamma=0.1, halvings='segment', first_crossing=False)
    """
    settings: dict[str, Any] = {
        "candidates": NearestCandidates(1000),
        "diversity": AngleDiversity(0.5),
        "search": LineSearch(0.1),
        "scale": "range",
        "schema": Schema(),
        "sparsify": False,
        **changes,
    }
    if isinstance(settings["schema"], Schema | None):
        settings["schema"] = (settings["schema"] or Schema()).without_steps()
    return settings
