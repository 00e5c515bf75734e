"""Find a dataset by its name, wherever it comes from."""

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
    column). If they are not there, they are fetched from OpenML once and kept in a local cache.

    Parameters
    ----------
    name
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
