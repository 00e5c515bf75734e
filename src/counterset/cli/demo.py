"""``counterset demo``: explain a declined loan, with bundled data and a model trained on it."""

from __future__ import annotations

import argparse
import sys
import textwrap
from dataclasses import dataclass

import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from counterset import datasets
from counterset.cli.parsing import Commands, add_parser
from counterset.constraints.constraints import Constraints
from counterset.evaluation.evaluate import evaluate
from counterset.evaluation.stability import stability
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.explanations.explanation import Explanation
from counterset.explanations.stability import Stability

__all__ = ["OUTCOMES", "Credit", "add_command", "load_credit", "run_demo"]

#: The features that an applicant cannot change.
IMMUTABLE = ["age", "personal_status"]
#: The classes in plain words.
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
        "--applicant",
        type=int,
        metavar="ROW",
        help="a row of the data (default: the first one declined)",
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
    credit = load_credit()
    explainer, model = credit.explainer, credit.explainer.model
    row = _applicant(applicant, model, credit.X, credit.X_test)
    explanation = explainer.explain(row.iloc[0], target="good")
    measured = stability(explainer, explanation, repeats=COPIES)
    score = model.score(credit.X_test, credit.y_test)
    return "\n\n".join(
        [
            textwrap.fill(
                f"German credit: {len(credit.X):,} loan applications. A gradient boosting model, "
                f"trained on {len(credit.X_train)} of them, classifies {score:.0%} of the other "
                f"{len(credit.X_test)} correctly.",
                width=88,
            ),
            textwrap.fill(_who(row, explanation), width=88),
            explanation.describe(outcomes=OUTCOMES, stability=measured),
            _compare(credit, measured),
        ]
    )


def _compare(credit: Credit, measured: Stability) -> str:
    """Say whether people who are nearly equal can compare their options: one each, and several.

    Parameters
    ----------
    measured
        What was measured on people almost like the applicant.
    """
    several = credit.explainer
    one = clone(several).set_params(max_counterfactuals=1).fit(credit.X_train)
    declined = credit.X_test[several.model.predict(credit.X_test) == "bad"]
    of_one, of_several = (
        evaluate(each, declined, target="good", random_state=0)["covered"].mean()
        for each in (one, several)
    )
    return textwrap.fill(
        f"Two people who are nearly equal should be able to compare what they are told. Of "
        f"{measured.copies} people almost like this applicant, {measured.covered} find their own "
        f"best option on the list above. The same was measured for all {len(declined)} applicants "
        f"that the model declines among those that it was not trained on: of the people almost "
        f"like them, {of_several:.0%} find their own best option on a list of "
        f"{several.max_counterfactuals}. If everybody were told their best option only, "
        f"{of_one:.0%} of them would be told the same.",
        width=88,
    )


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
        raise InvalidInputError(
            f"Applicant {applicant} is not declined. Choose another one, such as 11."
        )
    return row


def _who(row: pd.DataFrame, explanation: Explanation) -> str:
    """Say who asked for what, in the words of the schema."""
    features, codes = explanation.coded.table.features, explanation.coded.input
    said = {each.name: each.text_of(code) for each, code in zip(features, codes, strict=True)}
    return (
        f"Applicant {row.index[0]} ({said['personal_status']}, {said['age']} years old) asked for "
        f"{said['credit_amount']} DM over {said['duration']} months for {said['purpose']}."
    )
