"""Outcomes: labels, predictions and goals in words; everything that shows them reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset._base.arrays import to_python
from counterset._base.bidi import isolated
from counterset.exceptions import InvalidInputError
from counterset.explanations.context import Context
from counterset.explanations.explanation import Explanation
from counterset.explanations.option import Option
from counterset.models.goals import Goal, InInterval, OneOf
from counterset.tables.features.number import format_number, rounded
from counterset.words.templates import Templates
from counterset.words.values import exact_percent

__all__ = ["Outcomes", "between", "rounded", "wanted_text"]


@dataclass(frozen=True)
class Outcomes:
    """Write labels, predictions and goals.

    Attributes
    ----------
    explanation
        Whose labels are written.
    templates
        The texts of the language.
    texts
        From labels to how people call them; a label that is not there is written as it is. One
        that is no class of the model is an error.
    quoted
        Whether classes that are texts stand in quotes, as sentences need it.
    """

    explanation: Explanation
    templates: Templates
    texts: Mapping[Any, str]
    quoted: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.texts, Mapping):
            raise InvalidInputError(
                f"outcomes takes a mapping from classes to texts, such as {{'good': 'approved'}}, "
                f"got {self.texts!r}."
            )
        classes = self._classes()
        unknown = [label for label in self.texts if label not in classes]
        if classes and unknown and not self.is_number:
            raise InvalidInputError(
                f"outcomes names {', '.join(map(repr, unknown))}, but the model has the classes "
                f"{', '.join(map(repr, classes))}."
            )

    def _classes(self) -> list[Any]:
        """Return the classes that the model has; if it was lost, those that it gave."""
        explanation, context = self.explanation, self.explanation.context
        known = [] if context.classes is None else context.classes.labels.tolist()
        known += np.ravel(getattr(context.model, "classes_", [])).tolist()
        goal: Any = context.goal.wanted if isinstance(context.goal, OneOf) else []
        known += [to_python(label) for label in (explanation.label, *explanation.labels, *goal)]
        return list(dict.fromkeys(known))

    @property
    def is_number(self) -> bool:
        """Whether the model predicts a number, as a regression does."""
        context = self.explanation.context
        return context.is_regression or isinstance(context.goal, InInterval)

    def text(self, label: Any) -> str:
        """Return a label, or a predicted number."""
        label = to_python(label)
        if label in self.texts:
            return isolated(self.texts[label])
        if self.is_number:
            return self.predicted(label)
        if not isinstance(label, str):
            return str(label)
        return self.templates("label.class", label=isolated(label)) if self.quoted else label

    def predicted(self, number: float) -> str:
        """Return a predicted number, on the side of the goal's ends where it is."""
        goal = self.explanation.context.goal
        ends = (goal.low, goal.high) if isinstance(goal, InInterval) else ()
        return rounded(number, apart_from=ends)

    def classified(self, label: Any) -> str:
        """Return what the model says: "is classified as 'good'", "is predicted to be 175.9"."""
        name = "label.predicted" if self.is_number else "label.classified"
        return self.templates(name, label=self.text(label))

    def of_option(self, option: Option) -> str:
        """Return what an option leads to: "classified as 'good'", "predicted to be 175.9"."""
        name = "label.of_option_number" if self.is_number else "label.of_option"
        return self.templates(name, label=self.text(option.label))

    def wanted(self) -> str:
        """Return what the options lead to, with the probability that was asked for."""
        return _with_probability(self.goal(), self.explanation.context, self.templates)

    def aim(self) -> str:
        """Return what options lead to: "'good'", "a prediction between 80 and 120"."""
        return _as_prediction(self.wanted(), self.explanation.context.goal, self.templates)

    def goal(self) -> str:
        """Return the labels or the interval that the options lead to."""
        goal = self.explanation.context.goal
        if isinstance(goal, InInterval):
            return between(self.templates, goal.low, goal.high)
        labels = goal.wanted if isinstance(goal, OneOf) else self.explanation.labels
        texts = list(dict.fromkeys(self.text(label) for label in labels))
        return self.templates.join(texts, last="list.or") or self.other()

    def other(self) -> str:
        """Return the classes that differ from the input's."""
        classes = self.explanation.context.classes
        labels = [] if classes is None else classes.labels.tolist()
        others = [self.text(label) for label in labels if label != self.explanation.label]
        return self.templates.join(others, last="list.or") or self.templates("label.other")

    @property
    def differ(self) -> bool:
        """Whether the options lead to different labels, so that each has to be named."""
        return self.is_number or len({to_python(label) for label in self.explanation.labels}) > 1


def wanted_text(
    context: Context, templates: Templates, outcomes: Mapping[Any, str] | None = None
) -> str:
    """Return what the options of any input lead to: classes, a prediction, or another result."""
    goal, named = context.goal, outcomes or {}
    text = templates("label.other")
    if isinstance(goal, InInterval):
        text = between(templates, goal.low, goal.high)
    elif isinstance(goal, OneOf):
        labels = [to_python(label) for label in goal.wanted]
        texts = [isolated(named[each]) if each in named else repr(each) for each in labels]
        text = templates.join(texts, last="list.or")
    return _as_prediction(_with_probability(text, context, templates), goal, templates)


def _as_prediction(text: str, goal: Goal, templates: Templates) -> str:
    """Return "a prediction between 80 and 120" for an interval; other goals as they are."""
    if not isinstance(goal, InInterval):
        return text
    is_open = np.isinf(goal.low) or np.isinf(goal.high)
    return templates("label.prediction_of" if is_open else "label.prediction", range=text)


def _with_probability(text: str, context: Context, templates: Templates) -> str:
    if context.probability is None:
        return text
    shown = exact_percent(context.probability)
    return templates("label.probable", wanted=text, probability=shown)


def between(templates: Templates, low: float, high: float) -> str:
    """Return an interval in words."""
    if np.isinf(high):
        return templates("label.at_least", low=format_number(low))
    if np.isinf(low):
        return templates("label.at_most", high=format_number(high))
    return templates("label.between", low=format_number(low), high=format_number(high))
