"""Rows in CSV and parquet files, as a model takes them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from counterset.batch.table_files import open_table
from counterset.exceptions import InvalidInputError
from counterset.models.files import feature_names

__all__ = ["read_rows", "select_features"]


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
