"""Names for the kinds of arrays that move through the library."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["AnyMatrix", "Codes", "Labels", "Mask", "Matrix"]

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
