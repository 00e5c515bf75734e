"""The bundled loan applications with a model of them: for trying things without files."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from counterset import datasets
from counterset.constraints.constraints import Constraints
from counterset.explainer import DiverseExplainer

__all__ = ["OUTCOMES", "Credit", "load_credit"]

#: The features that an applicant cannot change.
IMMUTABLE = ["age", "personal_status"]
#: How people call the classes.
OUTCOMES = {"good": "approved", "bad": "declined"}


@dataclass(frozen=True, eq=False)
class Credit:
    """German credit: loan applications, and a model that was trained on four fifths of them.

    Attributes
    ----------
    X
        All applications.
    X_train, X_test, y_train, y_test
        Those that the model was trained on, and the others, with the right classes.
    explainer
        Fitted on the training rows; ``explainer.model`` is the model.
    """

    X: pd.DataFrame
    X_train: pd.DataFrame
    X_test: pd.DataFrame
    y_train: pd.Series
    y_test: pd.Series
    explainer: DiverseExplainer


def load_credit() -> Credit:
    """Load the applications, train the model, and fit its explainer.

    Examples
    --------
    >>> credit = load_credit()
    >>> len(credit.X_train), len(credit.X_test)
    (800, 200)
    """
    credit = datasets.load("german_credit")
    X_train, X_test, y_train, y_test = train_test_split(
        credit.X, credit.y, test_size=0.2, stratify=credit.y, random_state=0
    )
    explainer = DiverseExplainer(
        _train(X_train, y_train),
        constraints=Constraints(immutable=IMMUTABLE),
        schema=credit.schema,
    ).fit(X_train)
    return Credit(credit.X, X_train, X_test, y_train, y_test, explainer)


def _train(X: pd.DataFrame, y: pd.Series) -> Pipeline:
    text = make_column_selector(dtype_include="category")
    encode = make_column_transformer((OneHotEncoder(), text), remainder="passthrough")
    return make_pipeline(encode, GradientBoostingClassifier(random_state=0)).fit(X, y)
