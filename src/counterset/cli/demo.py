"""``counterset demo``: what would have led to a loan that was declined."""

from __future__ import annotations

import argparse
import sys
import textwrap

import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from counterset import datasets
from counterset.cli.parsers import Commands, add_parser
from counterset.constraints.constraints import Constraints
from counterset.evaluation.evaluate import evaluate
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.results.explanation import Explanation

__all__ = ["add_command", "run_demo"]

#: The features that the applicant cannot change.
IMMUTABLE = ["age", "personal_status"]
#: How people call the classes.
OUTCOMES = {"good": "approved", "bad": "declined"}
#: Stability is measured on 20 noisy copies of the applicant.
COPIES = 20


def add_command(commands: Commands) -> None:
    """Add ``demo`` to the command line."""
    parser, group = add_parser(
        commands,
        "demo",
        "Explain why someone was declined a loan, on bundled data.",
        usage="[--applicant ROW]",
        example="counterset demo --applicant 11",
    )
    group.add_argument(
        "--applicant", type=int, metavar="ROW", help="a row of the data (default: one is chosen)"
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    sys.stdout.write(f"{run_demo(arguments.applicant)}\n")
    return 0


def run_demo(applicant: int | None = None) -> str:
    """Train a model on the German credit data and explain one declined application.

    Parameters
    ----------
    applicant
        The row of the data to explain; None takes the first that the model declines, among the
        rows that it was not trained on.

    Returns
    -------
    str
        The explanation, as text to print.
    """
    credit = datasets.load("german_credit")
    X_train, X_test, y_train, y_test = train_test_split(
        credit.X, credit.y, test_size=0.2, stratify=credit.y, random_state=0
    )
    model = _train(X_train, y_train)
    explainer = DiverseExplainer(
        model, constraints=Constraints(immutable=IMMUTABLE), schema=credit.schema
    ).fit(X_train)
    row = _applicant(applicant, model, credit.X, X_test)
    explanation = explainer.explain(row.iloc[0], target="good")
    stability = evaluate(explainer, row, target="good", repeats=COPIES, random_state=0)
    return "\n\n".join(
        [
            textwrap.fill(
                f"German credit: {len(credit.X):,} loan applications. A gradient boosting model, "
                f"trained on {len(X_train)} of them, classifies {model.score(X_test, y_test):.0%} "
                f"of the other {len(X_test)} correctly.",
                width=88,
            ),
            _who(row, explanation),
            explanation.describe(outcomes=OUTCOMES, stability=stability),
        ]
    )


def _train(X: pd.DataFrame, y: pd.Series) -> Pipeline:
    text = make_column_selector(dtype_include="category")
    encode = make_column_transformer((OneHotEncoder(), text), remainder="passthrough")
    return make_pipeline(encode, GradientBoostingClassifier(random_state=0)).fit(X, y)


def _applicant(
    applicant: int | None, model: Pipeline, X: pd.DataFrame, X_test: pd.DataFrame
) -> pd.DataFrame:
    if applicant is None:
        declined: pd.DataFrame = X_test[model.predict(X_test) == "bad"]
        return declined.iloc[:1]
    if applicant not in X.index:
        raise InvalidInputError(
            f"There is no applicant {applicant}. Choose a number from 0 to 999."
        )
    row = X.loc[[applicant]]
    if model.predict(row)[0] != "bad":
        raise InvalidInputError(f"Applicant {applicant} is not declined. Choose another one.")
    return row


def _who(row: pd.DataFrame, explanation: Explanation) -> str:
    """Say who asked for what, in the words of the schema."""
    features, codes = explanation._table.features, explanation._input
    said = {each.name: each.text_of(code) for each, code in zip(features, codes, strict=True)}
    return (
        f"Applicant {row.index[0]} ({said['personal_status']}, {said['age']} years old) asked for "
        f"{said['credit_amount']} DM over {said['duration']} months for {said['purpose']}."
    )
