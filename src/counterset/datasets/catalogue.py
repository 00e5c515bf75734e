"""Find a dataset by name, whichever source holds it."""

from collections.abc import Callable, Mapping

from counterset.datasets.bundled import BUNDLED
from counterset.datasets.dataset import Dataset
from counterset.exceptions import InvalidInputError

__all__ = ["load"]

# A source maps names to loaders. Asked in this order; the first that knows the name answers.
_SOURCES: tuple[Mapping[str, Callable[[], Dataset]], ...] = (BUNDLED,)


def load(name: str) -> Dataset:
    """Load a dataset by its name.

    Parameters
    ----------
    name
        ``"diabetes"`` or ``"german_credit"``.

    Returns
    -------
    Dataset
        A fresh copy: changing it changes no other.

    Raises
    ------
    InvalidInputError
        If no source knows the name.

    Examples
    --------
    >>> load("diabetes")
    Dataset('diabetes', 768 rows x 8 features, Outcome: 0 500, 1 268)
    """
    for source in _SOURCES:
        if name in source:
            return source[name]()
    known = ", ".join(repr(each) for each in sorted(set().union(*_SOURCES)))
    raise InvalidInputError(f"There is no dataset named {name!r}. Choose one of: {known}.")
