"""What explainers are compared on: a table, a model, rows to explain, and retrained models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from counterset import datasets, distances
from counterset._base.arrays import Indices, Labels, Matrix
from counterset.datasets.loading import cache_folder
from counterset.evaluation.retraining import retrainings
from counterset.exceptions import InvalidInputError
from counterset.models.adapter import ModelAdapter
from counterset.models.frameworks import as_predictor
from counterset.models.goals import Classes
from counterset.paper.experiment import PROTOCOLS, alpha_of
from counterset.paper.setups import PAPER_DATASETS, Split, obtain, prepare, train
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

__all__ = ["KINDS", "TREES", "Task", "behind_encoders", "fitted", "named_task", "table_task"]

#: The models that are trained here, by name.
KINDS: dict[str, Callable[[], Any]] = {
    "boosting": lambda: GradientBoostingClassifier(random_state=0),
    "forest": lambda: RandomForestClassifier(100, min_samples_leaf=3, random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "network": lambda: MLPClassifier((20, 10), max_iter=500, random_state=0),
}
#: Trees need no scaled numbers, and other libraries that read trees want them as they are.
TREES = ("boosting", "forest")
#: Models are trained here on at most 3,000 rows, so that boosting on 58 features takes seconds.
MOST_ROWS = 3000
#: One row in five is kept for testing.
TEST_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Task:
    """A table and a model, and the inputs that all explainers are asked about.

    Parameters
    ----------
    data, kind
        What the table and the model are called.
    model
        The fitted classifier.
    X_train
        The training rows. Arrays are scaled already.
    inputs
        The rows to explain.
    X_test, y_test
        The rows that the accuracy is measured on; empty if their classes are not known.
    immutable
        Names of features that may not change.
    alpha
        The number of nearest candidates, for peers that use the paper's step 2.
    retrain
        Returns a number of models that were trained again on rows drawn with replacement; None if
        that cannot be done.
    reason
        Why it cannot be done.
    """

    data: str
    kind: str
    model: Any
    X_train: Any
    inputs: Any
    X_test: Any = ()
    y_test: Any = ()
    immutable: tuple[str, ...] = ()
    alpha: int = 1000
    retrain: Callable[[int], list[Any]] | None = None
    reason: str = ""
    _learned: tuple[Table, Matrix] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_learned", Table.learn(self.X_train, Schema(step=0)))
        classes, _ = Classes.learn(self.labels)
        if classes.are_measurements:
            raise InvalidInputError(
                f"The model {self.kind!r} predicts numbers with fractions, such as "
                f"{self.labels[0]!r}. Explainers are compared on classifiers."
            )
        if len(classes) < 2:
            raise InvalidInputError(
                f"The model {self.kind!r} puts all {len(self.labels)} training rows of "
                f"{self.data} into the class {self.labels[0]!r}, so there is nothing to move "
                f"towards. Choose another model, or other rows."
            )

    @property
    def table(self) -> Table:
        """The columns."""
        return self._learned[0]

    @property
    def rows(self) -> Matrix:
        """The training rows, encoded."""
        return self._learned[1]

    @cached_property
    def labels(self) -> Labels:
        """The class that the model puts each training row into."""
        return ModelAdapter(self.model, self.table).answers(self.rows).labels

    @cached_property
    def distance(self) -> TableDistance:
        """The distance that all explainers are measured in.

        It is L1. A number counts as a share of its usual range, and a category that changes as 1.
        Arrays are scaled already, so that a number counts as a share of its whole range.
        """
        scale = "robust" if isinstance(self.X_train, pd.DataFrame) else None
        space = Space.learn(self.rows, self.table, scale)
        return TableDistance(self.table, space, distances.get("l1"))

    @cached_property
    def accuracy(self) -> float:
        """The share of test rows that the model classifies correctly; NaN if that is not known."""
        if not len(self.y_test):
            return float("nan")
        found = ModelAdapter(self.model, self.table).answers(self.table.encode(self.X_test)[0])
        return float(np.mean(np.asarray(found.labels) == np.asarray(self.y_test)))


def named_task(
    name: str,
    kind: str,
    *,
    inputs: int = 10,
    immutable: Sequence[str] = (),
    weights: Path | None = None,
) -> Task:
    """Load a dataset by its name, and train a model on it.

    The five datasets of the paper are scaled and split as there. ``"network"`` is then the paper's
    network, from a folder of weights or trained as in the paper, and inputs are those of the
    paper's final results. Other models are trained on at most 3,000 rows, evenly spread.

    Parameters
    ----------
    name
        One of :func:`counterset.datasets.names`.
    kind
        The model: boosting, forest, logistic or network.
    inputs
        The number of test rows to explain.
    immutable
        Names of features that may not change.
    weights
        A folder with the weights of the paper's networks. None: train them.

    Examples
    --------
    >>> task = named_task("diabetes", "logistic", inputs=3)
    >>> task.inputs.shape, round(task.accuracy, 2)
    ((3, 8), 0.77)
    """
    if name not in PAPER_DATASETS:
        data = datasets.load(name)
        return table_task(name, data.X, data.y, kind, inputs=inputs, immutable=immutable)
    split = prepare(name)
    first = PROTOCOLS["final"].rows.start
    _check_inputs(inputs, len(split.X_test) - first, name)
    columns = list(datasets.load(name).X.columns) if immutable else []
    _check_names(immutable, columns, name)
    shared: dict[str, Any] = {
        "inputs": split.X_test[first : first + inputs],
        "X_test": split.X_test,
        "y_test": split.y_test,
        # The columns of the arrays are called x0, x1, ...
        "immutable": tuple(f"x{columns.index(each)}" for each in immutable),
        "alpha": alpha_of(name),
    }
    if kind == "network":
        model = obtain(split, weights, cache_folder())
        again = _networks_of(split)
        return Task(name, kind, model, split.X_train, retrain=again, **shared)
    kept = _spread(len(split.X_train))
    X, y = split.X_train[kept], split.y_train[kept]
    model = fitted(KINDS[kind](), X, y)
    return Task(name, kind, model, X, retrain=_clones_of(KINDS[kind](), X, y), **shared)


def table_task(
    name: str,
    X: pd.DataFrame,
    y: Any,
    model: Any,
    *,
    inputs: int = 10,
    immutable: Sequence[str] = (),
) -> Task:
    """Split a table of one's own, and train a model on it, or take one that is fitted.

    Rows with missing values are left out: few explainers take them. Numbers become floats, so that
    they move freely, and categories have no order, because other explainers know none. One row in
    five is kept for testing; inputs are the first of these.

    Parameters
    ----------
    name
        What the table is called.
    X
        The features.
    y
        The classes; None if they are not known: then the model must be fitted, and nothing can be
        said about models that are trained again.
    model
        boosting, forest, logistic or network, or a fitted classifier.
    inputs
        The number of test rows to explain.
    immutable
        Names of features that may not change.

    Examples
    --------
    >>> data = datasets.load("german_credit")
    >>> task = table_task("credit", data.X, data.y, "forest", inputs=2, immutable=["age"])
    >>> task.inputs["age"].tolist(), len(task.retrain(3))
    ([53.0, 35.0], 3)
    """
    _check_names(immutable, list(X.columns), name)
    whole = X.notna().all(axis=1).to_numpy()
    X = _plain(X[whole])
    labels = None if y is None else np.asarray(y)[whole]
    if len(X) < 2:
        raise InvalidInputError(
            f"{name} has {len(X)} rows without missing values. At least two are needed."
        )
    train_rows, test_rows = _divided(len(X), labels, name)
    _check_inputs(inputs, len(test_rows), name)
    train_rows = train_rows[_spread(len(train_rows))]
    X_train, X_test = X.iloc[train_rows], X.iloc[test_rows]
    y_train = None if labels is None else labels[train_rows]
    estimator, reason = None, "the classes of the rows are not known"
    if isinstance(model, str) and model in KINDS:
        if y_train is None:
            raise InvalidInputError(f"{name} has no classes, so that no model can be trained.")
        kind = model
        estimator = behind_encoders(KINDS[kind](), scaled=kind not in TREES)
        model = fitted(estimator, X_train, y_train)
    else:
        kind, model = "own", as_predictor(model)
        if not hasattr(model, "predict"):
            raise InvalidInputError(
                f"The model must have a predict method, which other explainers call, got "
                f"{type(model).__name__}."
            )
        if y_train is not None and is_classifier(model) and hasattr(model, "get_params"):
            estimator = model
        elif y_train is not None:
            reason = "the model is no estimator of scikit-learn, so that it cannot be trained again"
    return Task(
        name,
        kind,
        model,
        X_train,
        X_test.iloc[:inputs],
        () if labels is None else X_test,
        () if labels is None else labels[test_rows],
        tuple(immutable),
        retrain=None if estimator is None else _clones_of(estimator, X_train, y_train),
        reason="" if estimator is not None else reason,
    )


def behind_encoders(model: Any, *, scaled: bool) -> Pipeline:
    """Return a pipeline that encodes categories, scales numbers if wanted, and asks the model."""
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    encode = make_column_transformer(
        (words, make_column_selector(dtype_exclude="number")),
        (
            StandardScaler() if scaled else "passthrough",
            make_column_selector(dtype_include="number"),
        ),
    )
    return make_pipeline(encode, model)


def fitted(model: Any, X: Any, y: Any) -> Any:
    """Fit a model, without the warning of one that has not converged when its steps are over."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def _plain(X: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose numbers are floats and whose categories have no order."""
    X = X.astype(dict.fromkeys(X.select_dtypes("number").columns, np.float64))
    ordered = X.select_dtypes("category")
    return X.assign(**{str(name): ordered[name].cat.as_unordered() for name in ordered})


def _divided(rows: int, labels: Labels | None, name: str) -> tuple[Indices, Indices]:
    """Return the positions of the training rows and of the test rows, each in their order."""
    if labels is not None and pd.Series(labels).value_counts().min() < 2:
        raise InvalidInputError(
            f"A class of {name} has one row only, so that it cannot be split. Leave it out, or "
            f"name the column of the classes."
        )
    for_training, for_testing = train_test_split(
        np.arange(rows), test_size=TEST_SHARE, random_state=0, stratify=labels
    )
    return np.sort(for_training), np.sort(for_testing)


def _check_names(immutable: Sequence[str], columns: Sequence[Any], name: str) -> None:
    for each in immutable:
        if each not in columns:
            raise InvalidInputError(
                f"There is no feature {each!r} in {name}. The features are {list(columns)}."
            )


def _check_inputs(inputs: int, most: int, name: str) -> None:
    if not 1 <= inputs <= most:
        raise InvalidInputError(
            f"{name} has {most} test rows, of which 1 to {most} can be explained, got {inputs}."
        )


def _spread(rows: int) -> Indices:
    """Return the positions of at most MOST_ROWS rows, evenly spread."""
    return np.unique(np.linspace(0, rows - 1, min(MOST_ROWS, rows)).astype(np.intp))


def _clones_of(estimator: Any, X: Any, y: Any) -> Callable[[int], list[Any]]:
    def again(count: int) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return list(retrainings(estimator, X, y, n=count))

    return again


def _networks_of(split: Split) -> Callable[[int], list[Any]]:
    """Train the paper's network again, as in the paper, on at most MOST_ROWS rows."""
    size = min(MOST_ROWS, len(split.X_train))

    def again(count: int) -> list[Any]:
        generator = np.random.default_rng(0)
        drawn = generator.integers(len(split.X_train), size=(count, size))
        return [
            train(replace(split, X_train=split.X_train[rows], y_train=split.y_train[rows]))
            for rows in drawn
        ]

    return again
