"""Retrained models: what a model may look like when it is trained the next time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from sklearn.base import clone

from counterset._base.arrays import Indices, Labels, to_python
from counterset._base.checks import check_count
from counterset.exceptions import InvalidInputError
from counterset.models.goals import Classes
from counterset.tables.frames import append_rows, is_frame, take_rows

__all__ = ["How", "retrainings"]

#: What is different when a model is trained again.
How = Literal["bootstrap", "seed", "drop", "newer"]
#: "drop" leaves out a tenth of the rows.
DROPPED = 0.1
#: Rows are drawn again, at most 100 times, until all classes are among them.
ATTEMPTS = 100
#: Seeds are below this number, which fits every library.
MOST_SEEDS = 2**31 - 1


def retrainings(
    estimator: Any,
    X: Any,
    y: Any,
    how: How = "bootstrap",
    *,
    newer: tuple[Any, Any] | None = None,
    n: int = 20,
    random_state: int | np.random.Generator | None = 0,
) -> Iterator[Any]:
    """Yield clones of an estimator, each fitted anew on slightly different terms.

    Pass them to :func:`~counterset.survival`. Each is fitted when it is its turn, so that only one
    is in memory.

    Parameters
    ----------
    estimator : scikit-learn estimator
        What to train: a model or a pipeline. It is cloned, and stays as it is.
    X, y : table or array of shape (n_rows, n_features), and labels
        The rows it was trained on. Rows stand in the order of ``y``.
    how : {"bootstrap", "seed", "drop", "newer"}, default="bootstrap"
        ``"bootstrap"``: on as many rows, drawn with replacement. ``"seed"``: on the same rows, with
        another ``random_state``. ``"drop"``: without a tenth of the rows. ``"newer"``: with the
        rows of ``newer`` too, drawn with replacement, as another month might have brought them.
    newer : tuple of (X, y), default=None
        Later rows, for ``how="newer"``.
    n : int, default=20
        How many models.
    random_state : int, Generator or None, default=0
        The seed. Where a ``random_state`` of the estimator is None, it gets one that follows from
        this; others stay as they are, but for ``"seed"``.

    See Also
    --------
    counterset.survival : Which options still work for these models.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> models = list(retrainings(DecisionTreeClassifier(), X, X[:, 0] > 0.5, n=3))
    >>> len({float(model.tree_.threshold[0]) for model in models}) > 1
    True
    """
    if how not in get_args(How):
        raise InvalidInputError(f"how must be 'bootstrap', 'seed', 'drop' or 'newer', got {how!r}.")
    check_count(n, "n")
    if not callable(getattr(estimator, "fit", None)) or isinstance(estimator, type):
        raise InvalidInputError(
            f"retrainings takes an estimator of scikit-learn, which has fit, got {estimator!r}. "
            f"For other models, pass retrain= to survival."
        )
    if (newer is not None) != (how == "newer"):
        raise InvalidInputError("Pass newer=(X, y) with how='newer', and only then.")
    seeds = _seeds(estimator)
    if how == "seed" and not seeds:
        raise InvalidInputError(
            f"{type(estimator).__name__} has no random_state, so that training it again on the "
            f"same rows gives the same model. Choose how='bootstrap' or how='drop'."
        )
    _check_rows(X, y, "X and y")
    later = None if newer is None else _read_newer(newer, X)
    return _fitted(estimator, X, y, how, later, n, np.random.default_rng(random_state))


def _fitted(
    estimator: Any,
    X: Any,
    y: Any,
    how: How,
    newer: tuple[Any, Any] | None,
    n: int,
    random: np.random.Generator,
) -> Iterator[Any]:
    for _ in range(n):
        model = clone(estimator)
        new = {
            name: int(random.integers(MOST_SEEDS))
            for name, value in _seeds(estimator).items()
            if how == "seed" or value is None
        }
        model.set_params(**new)
        if how == "seed":
            yield model.fit(X, y)
        elif newer is not None:
            rows = random.integers(len(newer[1]), size=len(newer[1]))
            both = (
                append_rows(X, take_rows(newer[0], rows)),
                append_rows(y, take_rows(newer[1], rows)),
            )
            yield model.fit(*both)
        else:
            rows = _drawn(np.asarray(y), how, random)
            yield model.fit(take_rows(X, rows), take_rows(y, rows))


def _seeds(estimator: Any) -> dict[str, Any]:
    """Return every random_state of an estimator and of its parts, by the parameter's name."""
    parameters = estimator.get_params(deep=True)
    return {
        name: value
        for name, value in parameters.items()
        if name == "random_state" or name.endswith("__random_state")
    }


def _drawn(labels: Labels, how: How, random: np.random.Generator) -> Indices:
    """Draw rows among which every class is."""
    classes, codes = Classes.learn(labels)
    count = len(labels)
    for _ in range(ATTEMPTS):
        if how == "bootstrap":
            rows = random.integers(count, size=count)
        else:
            rows = np.sort(random.permutation(count)[: max(1, round((1 - DROPPED) * count))])
        if classes.are_measurements or len(np.unique(codes[rows])) == len(classes):
            return rows
    sizes = np.bincount(codes)
    rarest = to_python(classes.labels[sizes.argmin()])
    raise InvalidInputError(
        f"So few rows have the class {rarest!r} that they are not drawn: {sizes.min()} "
        f"of {count}. Pass more rows of that class, or leave them out."
    )


def _read_newer(newer: Any, X: Any) -> tuple[Any, Any]:
    try:
        rows, labels = newer
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"newer takes a pair of rows and labels, (X, y), got {type(newer).__name__}."
        ) from None
    _check_rows(rows, labels, "The rows and the labels of newer")
    both = isinstance(X, pd.DataFrame), isinstance(rows, pd.DataFrame)
    if is_frame(X) != is_frame(rows) or both[0] != both[1]:
        raise InvalidInputError(
            f"newer must hold rows of the same container as X, a {type(X).__name__}, got a "
            f"{type(rows).__name__}."
        )
    return rows, labels


def _check_rows(X: Any, y: Any, what: str) -> None:
    if not hasattr(X, "__len__") or not hasattr(y, "__len__") or len(X) != len(y) or not len(X):
        sizes = [len(each) if hasattr(each, "__len__") else type(each).__name__ for each in (X, y)]
        raise InvalidInputError(
            f"{what} must have the same number of rows, at least one, got {sizes[0]} and "
            f"{sizes[1]}."
        )
