"""Find a dataset by name, whichever source holds it."""

from counterset.datasets.bundled import BUNDLED
from counterset.datasets.dataset import Dataset
from counterset.datasets.fetched import FETCHED, fetch
from counterset.exceptions import InvalidInputError

__all__ = ["load", "names"]


def load(name: str) -> Dataset:
    """Load a dataset by its name.

    ``"diabetes"``, ``"german_credit"`` and ``"spambase"`` ship with the package. ``"adult"``,
    ``"credit"``, ``"news"`` and ``"no2"`` are read from the folder that the environment variable
    ``COUNTERSET_DATA`` names (one ``.csv`` or ``.csv.gz`` file each, the target in the last
    column), else fetched from OpenML once and kept in a local cache.

    Parameters
    ----------
    name
        One of :func:`names`.

    Returns
    -------
    Dataset
        A fresh copy: changing it changes no other.

    Raises
    ------
    InvalidInputError
        If no source knows the name.
    DataUnavailableError
        If the dataset is not here and OpenML cannot be reached.

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
    """Give the names of all datasets.

    Examples
    --------
    >>> names()
    ['adult', 'credit', 'diabetes', 'german_credit', 'news', 'no2', 'spambase']
    """
    return sorted({*BUNDLED, *FETCHED})
