"""Rows in CSV and parquet files, as a model takes them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from counterset._base.arrays import to_python
from counterset.batch.table_files import open_table
from counterset.cli.files import read_constraints, read_schema
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.models.files import feature_names, load_model

__all__ = [
    "Case",
    "find_class",
    "find_rows",
    "read_case",
    "read_explainer",
    "read_rows",
    "select_features",
]


def read_rows(file: Path, least: int = 2) -> pd.DataFrame:
    """Read a CSV or parquet file that has at least ``least`` rows.

    The first line of a CSV file names the columns.
    """
    rows = open_table(file).read()
    if len(rows) < least:
        raise InvalidInputError(
            f"{file} holds {len(rows)} rows below the names of its columns; at least {least} are "
            f"needed."
        )
    return rows


def select_features(
    rows: pd.DataFrame, model: Any, dropped: Sequence[str], file: Path
) -> pd.DataFrame:
    """Return the columns that are the model's features, in the order that it takes them.

    A model that knows the names of its features gets those; what else is in the file, such as the
    labels, is left out, and the error stream says so. Another gets all columns.

    Parameters
    ----------
    rows
        What the file holds.
    model
        The model.
    dropped
        The columns that the user leaves out.
    file
        Where the rows come from, for messages.
    """
    unknown = [column for column in dropped if column not in rows]
    if unknown:
        raise InvalidInputError(f"--drop names columns that are not in {file}: {unknown}.")
    rows = rows.drop(columns=list(dropped))
    names = feature_names(model)
    if names is None:
        return _counted(rows, model, file)
    needed = [name for name in dropped if name in names]
    if needed:
        raise InvalidInputError(f"--drop names columns that are features of the model: {needed}.")
    missing = [name for name in names if name not in rows]
    if missing:
        raise InvalidInputError(
            f"The model takes columns that are not in {file}: {missing}. The file has {list(rows)}."
        )
    others = [column for column in rows if column not in names]
    if others:
        sys.stderr.write(
            f"counterset: left out columns of {file} that are not features of the model: "
            f"{', '.join(map(str, others))}\n"
        )
    return rows[names]


def _counted(rows: pd.DataFrame, model: Any, file: Path) -> pd.DataFrame:
    """Check the number of columns, if the model knows how many it takes."""
    count = getattr(model, "n_features_in_", rows.shape[1])
    if count != rows.shape[1]:
        raise InvalidInputError(
            f"The model takes {count} features, but {file} has {rows.shape[1]} columns: "
            f"{list(rows)}. Name those that are not features with --drop."
        )
    return rows


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
    """Read what the shared arguments name (see :mod:`counterset.cli.parsing`), and fit.

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
