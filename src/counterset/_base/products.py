"""Fast, nearly exact results from matrix products, with bounds on their errors."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Matrix, Vector

__all__ = ["squared_lengths"]

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
