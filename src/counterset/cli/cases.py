"""A model and its rows, read from the files that a command names, and an explainer of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from counterset._base.arrays import to_python
from counterset.cli.rows import read_rows, select_features
from counterset.cli.settings_files import read_constraints, read_schema
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.models.files import load_model

__all__ = ["Case", "find_class", "find_rows", "read_case", "read_explainer"]


@dataclass(frozen=True)
class Case:
    """What a command explains.

    Attributes
    ----------
    explainer
        Fitted on the training rows.
    rows
        The features of the rows in DATA, in their order, numbered from 0.
    data
        All columns of DATA.
    goal
        What is wanted, as parameters of ``explain``.
    training
        The features of the rows that the explainer was fitted on.
    """

    explainer: DiverseExplainer
    rows: pd.DataFrame
    data: pd.DataFrame
    goal: dict[str, Any]
    training: pd.DataFrame


def read_case(arguments: argparse.Namespace) -> Case:
    """Read what the shared arguments name (see :mod:`counterset.cli.options`), and fit.

    The settings come first: a wrong one is told before a large model or table is read.
    """
    settings = _read_settings(arguments)
    model = load_model(arguments.model, trust=arguments.trust)
    data = read_rows(arguments.data, least=2 if arguments.train is None else 1)
    rows = select_features(data, model, arguments.drop, arguments.data)
    training = rows if arguments.train is None else _read_training(arguments, model)
    explainer = DiverseExplainer(model, **settings).fit(training)
    return Case(explainer, rows, data, _goal(arguments, explainer), training)


def read_explainer(arguments: argparse.Namespace) -> tuple[DiverseExplainer, dict[str, Any]]:
    """Read and fit as ``read_case`` does, but do not keep the rows; also return what is wanted."""
    settings = _read_settings(arguments)
    model = load_model(arguments.model, trust=arguments.trust)
    explainer = DiverseExplainer(model, **settings).fit(_read_training(arguments, model))
    return explainer, _goal(arguments, explainer)


def _read_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    constraints = read_constraints(arguments.constraints)
    if arguments.immutable:
        named = [*constraints.immutable, *arguments.immutable]
        constraints = replace(constraints, immutable=list(dict.fromkeys(named)))
    schema = read_schema(arguments.schema)
    return {
        "constraints": constraints,
        "schema": schema,
        "max_counterfactuals": arguments.ways,
    }


def _read_training(arguments: argparse.Namespace, model: Any) -> pd.DataFrame:
    """Read the training rows: those of ``--train``, or of DATA."""
    file = arguments.data if arguments.train is None else arguments.train
    rows = read_rows(file)
    dropped = arguments.drop
    if arguments.train is not None:
        dropped = [column for column in dropped if column in rows]
    return select_features(rows, model, dropped, file)


def _goal(arguments: argparse.Namespace, explainer: DiverseExplainer) -> dict[str, Any]:
    return {
        "target": find_class(arguments.target, explainer),
        "target_probability": arguments.target_probability,
        "interval": None if arguments.interval is None else tuple(arguments.interval),
    }


def find_class(name: str | None, explainer: DiverseExplainer) -> Any:
    """Return the class of a name: classes may be numbers, but arguments are texts."""
    if name is None:
        return None
    return {str(to_python(each)): each for each in explainer.classes_}.get(name, name)


def find_rows(rows: pd.DataFrame, numbers: Sequence[int], file: Any) -> pd.DataFrame:
    """Return the rows of these numbers, counted from 0.

    Parameters
    ----------
    rows
        The rows of the file.
    numbers
        Which to return.
    file
        Where they come from, for messages.
    """
    for number in numbers:
        if number >= len(rows):
            raise InvalidInputError(
                f"There is no row {number} in {file}, which has {len(rows)} rows. Choose a number "
                f"from 0, the first row below the names of the columns, to {len(rows) - 1}."
            )
    return rows.iloc[list(numbers)]
