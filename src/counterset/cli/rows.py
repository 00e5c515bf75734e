"""Rows in CSV files, as a model takes them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.errors import ParserWarning

from counterset.exceptions import InvalidInputError
from counterset.models.files import feature_names

__all__ = ["read_rows", "select_features"]


def read_rows(file: Path, least: int = 2) -> pd.DataFrame:
    """Read a CSV file whose first line names the columns, and that has at least ``least`` rows."""
    if not file.is_file():
        raise InvalidInputError(f"There is no file {file}.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ParserWarning)
            # By default, pandas takes a cell too many for the name of its row, and shifts the rest.
            rows = pd.read_csv(file, index_col=False)
    except ParserWarning:
        raise InvalidInputError(
            f"The rows of {file} have more cells than its first line has names. Name every column."
        ) from None
    except Exception as error:  # what is no table can fail in many ways, and few name the file
        raise InvalidInputError(f"{file} cannot be read as a CSV file: {error}") from error
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
