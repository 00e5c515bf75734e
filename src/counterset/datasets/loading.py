"""Find a dataset by its name: bundled, in a folder of yours, in the local cache, or on OpenML."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pandas as pd
from sklearn.datasets import fetch_openml

from counterset._base.files import written_aside
from counterset.datasets.bundled import BUNDLED, Dataset, with_categories
from counterset.exceptions import DataUnavailableError, InvalidInputError

__all__ = ["FETCHED", "cache_folder", "fetch", "find_files", "load", "names"]

#: The environment variables that name a folder of data, and the cache.
FOLDER_VARIABLE = "COUNTERSET_DATA"
CACHE_VARIABLE = "COUNTERSET_CACHE"


@dataclass(frozen=True)
class Source:
    """Where a dataset comes from and how its file is read.

    Attributes
    ----------
    openml_name, openml_version
        The name and the version on OpenML.
    description
        What a row is, what the target means, and the licence.
    parts
        The files that hold it, without their endings, in the order of their rows.
    dropped
        Columns of OpenML's copy that are not features.
    missing
        Texts that stand for a missing value.
    positive_from
        For a target that is a number: the class is 1 from this value on, else 0.
    target
        The name of the target; None: as in the file.
    """

    openml_name: str
    openml_version: int
    description: str
    parts: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    positive_from: float | None = None
    target: str | None = None


FETCHED: Mapping[str, Source] = MappingProxyType(
    {
        "adult": Source(
            "adult",
            2,
            "Each row is a person in the United States census of 1994. The target says whether "
            "the person earned more than 50 000 dollars a year. Licence: CC BY 4.0, Barry Becker "
            "and Ronny Kohavi, UCI Machine Learning Repository, doi:10.24432/C5XW20.",
            ("adult",),
            missing=("?",),
        ),
        "credit": Source(
            "GiveMeSomeCredit",
            1,
            "Each row is a borrower. SeriousDlqin2yrs says whether a payment was 90 days late "
            "within two years; in the copy of the paper 0 stands for yes and 1 for no. Terms: "
            "those of the Kaggle competition Give Me Some Credit.",
            ("credit_train", "credit_test"),
        ),
        "news": Source(
            "OnlineNewsPopularity",
            1,
            "Each row is an article on Mashable. It is popular (1) if it was shared at least 1400 "
            "times. Licence: CC BY 4.0, Kelwin Fernandes and others, UCI Machine Learning "
            "Repository, doi:10.24432/C5NS3V.",
            ("news",),
            dropped=("url", "timedelta"),
            positive_from=1400,
            target="popular",
        ),
        "no2": Source(
            "no2",
            2,
            "Each row is an hour at a road in Oslo, between October 2001 and August 2003: traffic "
            "and weather, and the concentration of nitrogen dioxide. The target is P for a day "
            "before the mean day, else N. Origin: Magne Aldrin, StatLib.",
            ("no2",),
        ),
    }
)


def load(name: str) -> Dataset:
    """Load a dataset by its name.

    ``"diabetes"``, ``"german_credit"`` and ``"spambase"`` ship with the package. ``"adult"``,
    ``"credit"``, ``"news"`` and ``"no2"`` are read from the folder that the environment variable
    ``COUNTERSET_DATA`` names (one ``.csv`` or ``.csv.gz`` file each, the target in the last
    column). If they are not there, they are fetched from OpenML once and kept in a local cache.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    Dataset
        A new copy each time.

    Raises
    ------
    InvalidInputError
        If there is no dataset of that name.
    DataUnavailableError
        If the dataset is not on this machine and cannot be fetched from OpenML.

    Examples
    --------
    >>> load("diabetes")
    Dataset('diabetes', 768 rows x 8 features, Outcome: 0 500, 1 268)
    """
    if name in BUNDLED:
        return BUNDLED[name]()
    if name in FETCHED:
        return fetch(name)
    known = ", ".join(repr(each) for each in names())
    raise InvalidInputError(f"There is no dataset named {name!r}. Choose one of: {known}.")


def names() -> list[str]:
    """Return the names of all datasets.

    Examples
    --------
    >>> names()
    ['adult', 'credit', 'diabetes', 'german_credit', 'news', 'no2', 'spambase']
    """
    return sorted({*BUNDLED, *FETCHED})


def fetch(name: str) -> Dataset:
    """Read a dataset from the folder or the cache; if it is in neither, fetch and keep it."""
    source = FETCHED[name]
    if files := find_files(name):
        return _read(name, source, files)
    file = cache_folder() / f"{name}.csv.gz"
    table = _download(name, source)
    file.parent.mkdir(parents=True, exist_ok=True)
    with written_aside(file) as unfinished:
        table.to_csv(unfinished, index=False)
    return _read(name, source, [file])


def find_files(name: str) -> list[Path]:
    """Return the files of a dataset in the folder or the cache; none if it is in neither."""
    for folder in _folders():
        whole, *parts = (_find(folder, part) for part in (name, *FETCHED[name].parts))
        if whole is not None:
            return [whole]
        found = [file for file in parts if file is not None]
        if len(found) == len(parts):
            return found
    return []


def cache_folder() -> Path:
    """Return the folder where fetched data and trained models are kept."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "counterset"


def _folders() -> Iterator[Path]:
    if chosen := os.environ.get(FOLDER_VARIABLE):
        yield Path(chosen)
    yield cache_folder()


def _find(folder: Path, part: str) -> Path | None:
    files = (folder / f"{part}{ending}" for ending in (".csv", ".csv.gz"))
    return next((file for file in files if file.is_file()), None)


def _read(name: str, source: Source, files: list[Path]) -> Dataset:
    table = pd.concat([_read_file(file, source.missing) for file in files], ignore_index=True)
    y = table.iloc[:, -1].rename(source.target or str(table.columns[-1]))
    if source.positive_from is not None:
        y = (y >= source.positive_from).astype("int64")
    X = with_categories(table.iloc[:, :-1], {})
    return Dataset(name=name, X=X, y=y, description=source.description)


def _read_file(file: Path, missing: tuple[str, ...]) -> pd.DataFrame:
    try:
        return pd.read_csv(file, na_values=list(missing), keep_default_na=False)
    except Exception as error:  # other files can fail in many ways, and few errors name the file
        raise DataUnavailableError(
            f"The file {file} cannot be read as a table ({type(error).__name__}: {error}). Replace "
            f"it, or delete it."
        ) from error


def _download(name: str, source: Source) -> pd.DataFrame:
    ask: Callable[..., object] = fetch_openml
    try:
        bunch = ask(
            source.openml_name,
            version=source.openml_version,
            as_frame=True,
            parser="auto",
            cache=False,
            n_retries=1,
            delay=0.1,
        )
    # A failure to connect or to read, or an error that OpenML reports: it cannot be fetched.
    except (OSError, ValueError) as error:
        raise DataUnavailableError(_ways(name, source, error)) from error
    table: pd.DataFrame = bunch.frame  # type: ignore[attr-defined]
    target: str = bunch.target_names[0]  # type: ignore[attr-defined]
    table = table.drop(columns=[column for column in source.dropped if column in table])
    complete = table if source.missing else table.dropna()
    ordered = complete[[column for column in complete if column != target] + [target]]
    return ordered.astype(object).fillna(source.missing[0]) if source.missing else ordered


def _ways(name: str, source: Source, error: Exception) -> str:
    files = " and ".join(f"{part}.csv (or .csv.gz)" for part in source.parts)
    return (
        f"The dataset {name!r} is not bundled, was not found in a folder, and could not be fetched "
        f"({type(error).__name__}: {error}). To get it, either "
        f"(1) put {files}, with the target in the last column, into a folder and set the "
        f"environment variable {FOLDER_VARIABLE} to that folder; "
        f"(2) go online once: it is fetched from OpenML ({source.openml_name!r}, version "
        f"{source.openml_version}) and kept; "
        f"or (3) copy {name}.csv.gz from the cache of a machine that has it to {cache_folder()}. "
        f"Bundled datasets need none of this."
    )
