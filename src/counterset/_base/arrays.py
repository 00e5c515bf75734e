"""Names for the kinds of arrays that move through the library."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["AnyMatrix", "Codes", "Labels", "Mask", "Matrix", "to_python"]

#: Rows, points or distances, of any number of axes.
Matrix: TypeAlias = NDArray[np.float64]
#: The same, of any precision: single precision will do to choose by.
AnyMatrix: TypeAlias = NDArray[np.floating[Any]]
#: Positions, counts or class codes.
Codes: TypeAlias = NDArray[np.intp]
#: Yes or no.
Mask: TypeAlias = NDArray[np.bool_]
#: What a model answers.
Labels: TypeAlias = NDArray[Any]


def to_python(value: Any) -> Any:
    """Return a numpy scalar as the Python object that it stands for, and all else as it is.

    Examples
    --------
    >>> to_python(np.int64(3)), to_python("yes")
    (3, 'yes')
    """
    return value.item() if isinstance(value, np.generic) else value
