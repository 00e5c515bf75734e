"""Goals: which labels an explanation may lead to.

``Classes`` numbers the labels of the training rows. A goal is any other class, one of some classes,
or an interval of a regression's predictions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd

from counterset._base.arrays import Codes, Labels, Mask, to_python
from counterset._base.checks import check_between
from counterset.exceptions import InvalidInputError, NoCounterfactualError
from counterset.models.answers import Answers

__all__ = [
    "AnyOther",
    "Classes",
    "Goal",
    "InInterval",
    "OneOf",
    "check_probability",
    "is_confident",
    "is_reached",
    "read_goal",
    "set_goal",
    "why_out_of_reach",
]


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


class Goal(Protocol):
    """Which labels are acceptable to the inputs of a batch."""

    @property
    def per_label(self) -> bool:
        """Whether inputs of different labels accept different labels."""
        ...

    def accepts(self, labels: Labels, input_labels: Labels) -> Mask:
        """Return which labels are acceptable to inputs of these labels, one by one."""
        ...


@dataclass(frozen=True)
class AnyOther:
    """Any class but the input's own."""

    per_label = True

    def accepts(self, labels: Labels, input_labels: Labels) -> Mask:
        """Return which labels differ from the input's."""
        return np.asarray(labels != input_labels, dtype=bool)


@dataclass(frozen=True)
class OneOf:
    """One of the wanted classes."""

    wanted: Labels
    per_label = False

    def accepts(self, labels: Labels, input_labels: Labels) -> Mask:
        """Return which labels are wanted."""
        accepted = np.zeros(len(labels), dtype=bool)
        for label in self.wanted:
            accepted |= np.asarray(labels == label, dtype=bool)
        return accepted


@dataclass(frozen=True)
class InInterval:
    """A predicted number in an interval, both ends included."""

    low: float
    high: float
    per_label = False

    def accepts(self, labels: Labels, input_labels: Labels) -> Mask:
        """Return which predictions lie in the interval."""
        numbers = labels.astype(np.float64)
        return (numbers >= self.low) & (numbers <= self.high)


def set_goal(classes: Classes, target: Any, interval: tuple[Any, Any] | None) -> Goal:
    """Find what the user wants, and check that training rows have it.

    Parameters
    ----------
    classes
        The classes of the training rows.
    target, interval
        What the user passed to ``explain``; None for what was left out.
    """
    goal = read_goal(classes, target, interval)
    missing = why_out_of_reach(goal, classes)
    if missing is not None:
        raise NoCounterfactualError(missing)
    return goal


def read_goal(classes: Classes, target: Any, interval: tuple[Any, Any] | None) -> Goal:
    """Find what the user wants, whether training rows have it or not."""
    if interval is not None:
        return _interval(interval, target, classes)
    if target is not None:
        return _wanted(target, classes)
    if classes.are_measurements:
        raise InvalidInputError(
            "The model predicts numbers, not classes, so that almost any change leads to "
            "another prediction. Pass the range you want: explain(x, interval=(low, high)). If "
            "it predicts probabilities, that may be interval=(0.5, 1), or pass a function that "
            "takes the class, such as lambda X: model.predict(X) > 0.5."
        )
    return AnyOther()


def why_out_of_reach(goal: Goal, classes: Classes) -> str | None:
    """Return why nothing leads to a goal, if no training row has one of its labels."""
    if isinstance(goal, OneOf):
        known = [to_python(label) for label in classes.labels]
        missing = [label for label in map(to_python, goal.wanted) if label not in known]
        if missing or not len(goal.wanted):
            return (
                f"No training row is predicted {' or '.join(map(repr, missing)) or 'any of []'}, "
                f"so there is nothing to move towards. Fit on data that holds that class, or "
                f"choose another target of {known[:10]}."
            )
    if isinstance(goal, InInterval) and not goal.accepts(classes.labels, classes.labels).any():
        low, high = to_python(classes.labels[0]), to_python(classes.labels[-1])
        return (
            f"No training row is predicted in ({goal.low:g}, {goal.high:g}), so there is nothing "
            f"to move towards. Fit on data that reaches it, or choose another interval; the "
            f"predictions go from {low} to {high}."
        )
    return None


def is_reached(goal: Goal, answers: Answers, probability: float | None) -> Mask:
    """Return which inputs have what the user wants already."""
    return goal.accepts(answers.labels, answers.labels) & is_confident(answers, probability)


def is_confident(answers: Answers, least: float | None) -> Mask:
    """Return which labels have at least this probability; all if it is None."""
    if least is None:
        return np.ones(len(answers.labels), dtype=bool)
    assert answers.confidence is not None, "asked for with predict_proba"
    return answers.confidence >= least


def check_probability(value: Any) -> None:
    """Check what the user passed as ``target_probability``."""
    if value is not None:
        check_between(value, 0, 1, "target_probability")


def _interval(interval: Any, target: Any, classes: Classes) -> Goal:
    if target is not None:
        raise InvalidInputError("Pass a target class or an interval of predictions, not both.")
    try:
        low, high = (float(end) for end in interval)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"interval must be two numbers (low, high), got {interval!r}. Use infinity for an "
            f"open end: (0.5, float('inf'))."
        ) from None
    if not low <= high:
        raise InvalidInputError(f"interval is empty: {low} is not at most {high}. Swap them.")
    if not np.issubdtype(np.asarray(classes.labels).dtype, np.number):
        raise InvalidInputError(
            "An interval needs a model that predicts numbers, but it predicts "
            f"{to_python(classes.labels[0])!r}. Pass a target class instead."
        )
    return InInterval(low, high)


def _wanted(target: Any, classes: Classes) -> Goal:
    if isinstance(target, np.ndarray):
        target = target.tolist()  # also of a single value
    several = isinstance(target, Iterable) and not isinstance(target, str | bytes)
    wanted = list(target) if several else [target]
    known = [to_python(label) for label in classes.labels]
    missing = [to_python(label) for label in wanted if to_python(label) not in known]
    if missing and classes.are_measurements:
        raise InvalidInputError(
            f"The model predicts numbers, from {known[0]} to {known[-1]}, and never exactly "
            f"{missing[0]!r}. Pass the range you want: explain(x, interval=(low, high))."
        )
    if missing or not wanted:
        labels = np.empty(len(wanted), dtype=object)
        labels[:] = [to_python(label) for label in wanted]
        return OneOf(labels)
    return OneOf(classes.labels[[known.index(to_python(label)) for label in wanted]])
