"""Survival: which options, and which sets of options, still work after a model was retrained."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Labels, Mask, Matrix, to_python
from counterset._base.checks import check_count
from counterset.exceptions import InvalidInputError
from counterset.explanations.context import Context
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations
from counterset.explanations.survival import Survival
from counterset.models.adapter import ModelAdapter
from counterset.models.answers import Answers
from counterset.models.goals import InInterval, OneOf, is_confident

__all__ = ["survival"]

#: A model that is trained again 20 times shows what happens in one of ten retrainings, with a
#: probability of 88 %.
RETRAININGS = 20


def survival(
    explanations: Explanation | Explanations,
    *,
    models: Iterable[Any] | None = None,
    retrain: Callable[[int], Any] | None = None,
    n: int | None = None,
    random_state: int | None = None,
) -> Survival:
    """Count the retrained models for which options still lead to what was asked for.

    People act on an option weeks after they read it, and the model may have been trained again by
    then. Each retrained model is asked about every option, with the goal of the explanations: the
    class that was wanted, another class than the input's own, the least probability or the
    interval. A set survives where at least one of its options does.

    Parameters
    ----------
    explanations : Explanation or Explanations
        What an explainer returned, or what was loaded from a file.
    models : iterable of fitted models, default=None
        The retrained models, such as those that
        :func:`~counterset.evaluation.retrainings` yields. They take rows in the form of the
        training data, and are asked one after the other.
    retrain : callable, default=None
        In place of ``models``: a function that takes a seed, a whole number, and returns a model
        that is fitted anew.
    n : int, default=None
        How often ``retrain`` is called; None: 20 times.
    random_state : int, default=None
        The first seed; the next are those that follow it. None: 0.

    Returns
    -------
    Survival
        The share of retrainings that each option and each set survives, with bounds from below.
        ``explanation.describe(survival=...)`` and ``to_html`` say it in words; for one of many
        explanations, pass ``survival[i]``.

    See Also
    --------
    counterset.evaluation.retrainings : Train a model again in several ways.
    evaluate : What changes when the inputs hardly do.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from counterset import DiverseExplainer, survival
    >>> from counterset.evaluation import retrainings
    >>> random = np.random.default_rng(0)
    >>> X = random.random((300, 2))
    >>> y = X.sum(axis=1) + random.normal(0, 0.2, 300) > 1
    >>> model = LogisticRegression().fit(X, y)
    >>> explanation = DiverseExplainer(model, max_counterfactuals=2).fit(X).explain([0.3, 0.4])
    >>> survived = survival(explanation, models=retrainings(model, X, y, n=10))
    >>> survived.retrainings, survived.works.shape
    (10, (2, 10))
    """
    if not isinstance(explanations, Explanation | Explanations):
        raise InvalidInputError(
            f"survival takes explanations, as explain or explain_many returns them, got "
            f"{type(explanations).__name__}."
        )
    fitted = _models(models, retrain, n, random_state)
    asked = _Asked(explanations)
    columns = [asked.ask(model, number) for number, model in enumerate(fitted, start=1)]
    if not columns:
        raise InvalidInputError("models is empty. Pass at least one retrained model.")
    accepted = np.column_stack(columns)
    at = len(asked.index)
    return Survival(accepted[at:], accepted[:at], asked.counts, asked.index)


def _models(
    models: Iterable[Any] | None,
    retrain: Callable[[int], Any] | None,
    n: int | None,
    random_state: int | None,
) -> Iterable[Any]:
    """Return the models to ask; some are fitted when it is their turn."""
    if (models is None) == (retrain is None):
        raise InvalidInputError("Pass models=[...], which are fitted, or retrain=..., not both.")
    if models is not None:
        if n is not None or random_state is not None:
            raise InvalidInputError(
                "n and random_state are about retrain=. With models=, all of them are asked."
            )
        if hasattr(models, "predict") or not isinstance(models, Iterable):
            raise InvalidInputError(
                f"models takes a list of fitted models, got {type(models).__name__}. Put it in "
                f"brackets."
            )
        return models
    if not callable(retrain):
        raise InvalidInputError(
            f"retrain must be a function from a seed to a fitted model, got "
            f"{type(retrain).__name__}."
        )
    n, first = RETRAININGS if n is None else n, 0 if random_state is None else random_state
    check_count(n, "n")
    check_count(first, "random_state", least=0)
    return _retrained(retrain, range(first, first + n))


def _retrained(retrain: Callable[[int], Any], seeds: Iterable[int]) -> Iterator[Any]:
    yield from (retrain(seed) for seed in seeds)


class _Asked:
    """The inputs and the options of explanations, and what they were asked for."""

    def __init__(self, explanations: Explanation | Explanations) -> None:
        self._context: Context = explanations.context
        coded: Any = explanations.coded
        self._table = coded.table
        if isinstance(explanations, Explanation):
            inputs, labels = coded.input[None, :], np.array([explanations.label], dtype=object)
            self.counts = np.array([len(explanations)], dtype=np.intp)
            self.index = pd.Index([explanations.index])
            option_labels: Labels = explanations.labels
        else:
            inputs, labels = coded.inputs, explanations.labels
            self.counts, self.index = explanations.counts.copy(), explanations.index
            option_labels = coded.labels
        if not len(inputs):
            raise InvalidInputError("There are no explanations, so that nothing can survive.")
        owners: Indices = np.repeat(np.arange(len(inputs)), self.counts)
        self._rows: Matrix = np.vstack([inputs, coded.matrix])
        self._labels: Labels = np.concatenate([labels, labels[owners]])
        self._known = _known_labels(self._context, labels, option_labels)

    def ask(self, model: Any, number: int) -> Mask:
        """Return for which rows a retrained model says what is wanted: the inputs, then options.

        Parameters
        ----------
        number
            The number of the model, for messages.
        """
        context = self._context
        _check_classes(model, number, context)
        adapter = ModelAdapter(model, self._table, with_confidence=context.probability is not None)
        answers = adapter.answers(self._rows)
        self._check_labels(answers, number)
        accepted = context.goal.accepts(answers.labels, self._labels)
        return accepted & is_confident(answers, context.probability)

    def _check_labels(self, answers: Answers, number: int) -> None:
        """Check that a model speaks of the same classes, or predicts numbers too."""
        labels = answers.labels
        if isinstance(self._context.goal, InInterval):
            if labels.dtype.kind not in "biuf":
                raise InvalidInputError(
                    f"An interval of predictions was asked for, but model {number} predicts "
                    f"{to_python(labels[0])!r}, which is no number. Pass models that predict "
                    f"numbers."
                )
            return
        found = set(map(to_python, labels))
        if not found & self._known:
            raise InvalidInputError(
                f"Model {number} predicts {_listed(found)} and none of the labels of the model "
                f"that was explained: {_listed(self._known)}. Pass a model with the same labels."
            )


def _known_labels(context: Context, *labels: Labels) -> set[Any]:
    """Return the labels of the model that was explained, as far as they are known."""
    of_training = () if context.classes is None else context.classes.labels
    return {to_python(label) for each in (of_training, *labels) for label in each}


def _check_classes(model: Any, number: int, context: Context) -> None:
    """Check that a retrained model, if it tells its classes, knows one that was wanted."""
    told = getattr(model, "classes_", None)
    if told is None or isinstance(context.goal, InInterval):
        return
    classes = set(map(to_python, np.ravel(np.asarray(told)).tolist()))
    if isinstance(context.goal, OneOf):
        wanted = list(map(to_python, context.goal.wanted))
        if not classes & set(wanted):
            raise InvalidInputError(
                f"Model {number} no longer knows {_listed(wanted)}, which was wanted: its classes "
                f"are {_listed(classes)}. Train it on rows of that class, or leave it out."
            )
    elif len(classes) < 2:
        raise InvalidInputError(
            f"Model {number} knows {_listed(classes)} only, so that nothing can lead to another "
            f"class. Train it on rows of two classes, or leave it out."
        )


def _listed(labels: Iterable[Any]) -> str:
    each: Sequence[str] = sorted(map(repr, labels))
    return ", ".join(each[:10]) + (", ..." if len(each) > 10 else "")
