"""Names for the arrays that move through the library.

Several names stand for one type: a name tells what the numbers mean and how many axes there are,
which the type checker does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Codes",
    "Counts",
    "Indices",
    "Labels",
    "Mask",
    "Matrix",
    "Moves",
    "Stack",
    "Vector",
    "count_before",
    "row_blocks",
    "rows_as_bytes",
    "squared_lengths",
    "to_python",
    "unmasked",
]

#: One float for each row, ``(n,)``, or for each feature, ``(d,)``.
Vector: TypeAlias = NDArray[np.float64]
#: Rows by features, ``(n, d)``, or the distances between two sets of rows, ``(n, m)``.
Matrix: TypeAlias = NDArray[np.float64]
#: Floats with three or more axes, such as the rows of each of several inputs, ``(n, k, d)``.
Stack: TypeAlias = NDArray[np.float64]
#: Positions in another array.
Indices: TypeAlias = NDArray[np.intp]
#: Numbers of things.
Counts: TypeAlias = NDArray[np.intp]
#: Codes of classes: positions among the labels that the model predicts on the training rows.
Codes: TypeAlias = NDArray[np.intp]
#: True or False for each element.
Mask: TypeAlias = NDArray[np.bool_]
#: For each feature: 1 where it is raised, -1 where it is lowered, 0 where neither is so.
Moves: TypeAlias = NDArray[np.int8]
#: What a model predicts: numbers, text or booleans.
Labels: TypeAlias = NDArray[Any]


#: 100,000 rows of 50 numbers take 40 MB: little beside a table that has many such blocks.
BLOCK_ROWS = 100_000


def count_before(owners: Indices, counted: Mask) -> Counts:
    """Return how many counted elements of the same owner stand before each element.

    Parameters
    ----------
    owners
        The owner of each element, ascending.

    Examples
    --------
    >>> count_before(np.array([0, 0, 0, 2, 2]), np.array([True, False, True, True, True])).tolist()
    [0, 1, 1, 0, 1]
    """
    before: Counts = counted.cumsum() - counted
    return before - before[np.searchsorted(owners, owners)] if len(owners) else before


def row_blocks(count: int, size: int = BLOCK_ROWS) -> Iterator[slice]:
    """Yield slices that divide rows into blocks, so that what is made of one takes little memory.

    Examples
    --------
    >>> list(row_blocks(5, 3))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def to_python(value: Any) -> Any:
    """Return a numpy scalar as the Python object that it stands for, and all else as it is.

    Examples
    --------
    >>> to_python(np.int64(3)), to_python("yes")
    (3, 'yes')
    """
    return value.item() if isinstance(value, np.generic) else value


def rows_as_bytes(rows: Matrix) -> NDArray[np.void]:
    """Return each row of a float matrix as one element, equal for equal rows.

    Examples
    --------
    >>> one, other = rows_as_bytes(np.array([[0.0, 1.0], [-0.0, 1.0]])).tolist()
    >>> one == other
    True
    """
    # Adding 0 turns -0 into 0. Equal rows are then equal bytes, which sort faster than numbers.
    rows = np.ascontiguousarray(rows + 0.0)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def unmasked(values: Any) -> NDArray[Any]:
    """Return values as an array, in which the masked entries of a masked array are missing.

    Examples
    --------
    >>> unmasked(np.ma.array([1, 2], mask=[False, True]))
    array([ 1., nan])
    """
    if type(values) is np.ndarray:
        return values
    if isinstance(values, list | tuple) and any(map(np.ma.is_masked, values)):
        values = np.ma.array(values)
    if not np.ma.is_masked(values):
        return np.asarray(values)
    if values.dtype.kind in "iu":
        values = values.astype(np.float64)
    if values.dtype.kind in "fc":
        return np.asarray(values.filled(np.nan))
    if values.dtype.kind in "mM":
        return np.asarray(values.filled(np.array("NaT", dtype=values.dtype)))
    objects = values.data.astype(object)
    objects[values.mask] = None
    return np.asarray(objects)


#: The relative error of a float.
EPS = float(np.finfo(np.float64).eps)


def squared_lengths(A: Matrix, B: Matrix, b_squared: Vector | None = None) -> tuple[Matrix, Vector]:
    """Compute the squared Euclidean distance from each row of ``A`` to each row of ``B``.

    ``|a - b|^2 = |a|^2 - 2ab + |b|^2`` is one matrix product, but loses digits to cancellation.

    Parameters
    ----------
    b_squared
        ``|b|^2`` of each row of ``B``, if it is known.

    Returns
    -------
    squared
        Shape ``(n, m)``; rounding can make them slightly negative.
    errors
        Shape ``(n,)``: each entry of the row is within this of the exact one.

    Examples
    --------
    >>> squared, errors = squared_lengths(np.array([[0.0, 3.0]]), np.array([[4.0, 0.0]]))
    >>> squared, errors < 1e-12
    (array([[25.]]), array([ True]))
    """
    a_squared = np.einsum("nd,nd->n", A, A)
    if b_squared is None:
        b_squared = np.einsum("nd,nd->n", B, B)
    squared: Matrix = (-2 * A) @ B.T
    squared += b_squared
    squared += a_squared[:, None]
    largest = b_squared.max(initial=0.0)
    return squared, 4 * (A.shape[1] + 4) * EPS * (a_squared + largest)
