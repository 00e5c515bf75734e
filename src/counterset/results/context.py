"""Context: what an explanation remembers of how it was made, beyond its rows."""

from __future__ import annotations

import platform
import re
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

from counterset._base.arrays import to_python
from counterset._base.lazy import Lazy
from counterset.exceptions import InvalidInputError
from counterset.models.classes import Classes
from counterset.models.goals import Goal
from counterset.results.fingerprint import Fingerprint
from counterset.tables.schema import Schema
from counterset.tables.space import TableDistance
from counterset.tables.table import Table

__all__ = ["Context", "TrainingSummary", "as_written", "settings_of", "versions"]

#: A place in memory, which the repr of many objects names.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
#: The packages whose releases can change an answer.
PACKAGES = ("counterset", "numpy", "pandas", "scikit-learn", "scipy")


@dataclass(frozen=True)
class TrainingSummary:
    """What is told of the training rows.

    Attributes
    ----------
    rows
        How many there are.
    labels
        From each label that the model predicts for them to how many have it; None for a
        regression, whose labels are numbers.
    low, high
        For a regression, the range of the predictions, else None.
    hash
        A SHA-256 hash of the rows, see :func:`~counterset.results.fingerprint.hash_rows`.
    """

    rows: int
    labels: Mapping[Any, int] | None
    low: float | None
    high: float | None
    hash: str


@dataclass(frozen=True, eq=False)
class Context:
    """How an explanation was made: by which model, for which goal, within which constraints.

    A pickle holds neither the model nor the distance: ``model`` and ``distance`` are None after
    unpickling. ``with_model`` puts the model back.

    Attributes
    ----------
    model
        The model that was asked; None in an explanation that was unpickled or loaded.
    table
        The columns.
    distance
        How rows are compared; None in an explanation that was unpickled or loaded.
    classes
        The labels of the training rows; None if there are none.
    goal
        Which labels were acceptable.
    probability
        How probable the label of a counterfactual had to be, or None.
    constraints
        What may change, as users write it, from parameters of ``Constraints`` to what was passed.
    costs
        From names to what a change costs, as users write it.
    settings
        The explainer's parameters beside the model: numbers, texts, True, False and None as they
        are, all else as its repr; computed when first read.
    training
        What is told of the training rows, computed when first read; None if there are none.
    explainer
        The name of the explainer's class.
    """

    model: Any
    table: Table
    distance: TableDistance | None
    classes: Classes | None
    goal: Goal
    probability: float | None
    constraints: Mapping[str, Any]
    costs: Mapping[Any, float]
    settings: Lazy[Mapping[str, Any]]
    training: Lazy[TrainingSummary] | None
    explainer: str = "DiverseExplainer"

    @property
    def is_regression(self) -> bool:
        """Whether the model predicts numbers with fractions, not classes."""
        return self.classes is not None and self.classes.are_measurements

    @property
    def wanted_count(self) -> int | None:
        """How many counterfactuals were asked for, if that is a setting."""
        count = self.settings.value.get("max_counterfactuals")
        return count if isinstance(count, int) else None

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the model, which is asked about made-up rows."""
        return Fingerprint.of(self.model_to_ask(), self.table)

    def model_to_ask(self) -> Any:
        """Return the model to ask; it is an error if it was lost."""
        if self.model is None:
            raise InvalidInputError(
                "This explanation was unpickled or loaded, and holds no model to ask. Put it back: "
                "explanation.with_model(model)."
            )
        return self.model

    def with_model(self, model: Any) -> Context:
        """Return the same context with a model to ask."""
        return replace(self, model=model)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "model": None, "distance": None}


def versions() -> dict[str, str]:
    """Return the releases of Python and of the packages that can change an answer.

    Examples
    --------
    >>> sorted(versions())
    ['counterset', 'numpy', 'pandas', 'python', 'scikit-learn', 'scipy']
    """
    return dict(_versions())


@cache  # looking them up takes longer than all else that the JSON form of an explanation holds
def _versions() -> Mapping[str, str]:
    return {"python": platform.python_version()} | {
        package: metadata.version(package) for package in PACKAGES
    }


def as_written(value: Any) -> Any:
    """Return what a user passed as values that can be kept: no functions, no views.

    Objects with fields become dicts of the fields that are not empty, mappings dicts, collections
    lists, numpy's scalars numbers. Numbers, texts, True, False, None and all else stay.

    Examples
    --------
    >>> as_written({"age": np.int64(3), "sex": {"m", "f"}}), as_written((1, None))
    ({'age': 3, 'sex': ['f', 'm']}, [1, None])
    """
    if is_dataclass(value) and not isinstance(value, type):
        shown = {each.name: as_written(getattr(value, each.name)) for each in fields(value)}
        return {name: each for name, each in shown.items() if each not in ([], {})}
    if isinstance(value, Mapping):
        return {to_python(name): as_written(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Set):  # it has another order in each run
        return sorted((as_written(each) for each in value), key=repr)
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        return [as_written(each) for each in value]
    return to_python(value)


def settings_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as values that can be kept: simple ones as they are, others as text.

    Examples
    --------
    >>> settings_of({"scale": "robust", "distance": settings_of})
    {'scale': 'robust', 'distance': 'counterset.results.context.settings_of'}
    """
    return {name: _setting(value) for name, value in parameters.items()}


def _setting(value: Any) -> Any:
    value = to_python(value)
    if isinstance(value, Schema):  # how features are called changes no answer
        value = value.without_wording()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    name = getattr(value, "__qualname__", None)
    if name is not None:
        return f"{value.__module__}.{name}"
    return ADDRESS.sub("", repr(value))
