"""Shapley values: how much each value of an input adds to what a model says of it.

The definition is the interventional one. An input x is compared with a row b of a background: the
worth of a set S of features is f of the row that has the values of x in S and those of b elsewhere.
The Shapley value of a feature is what it adds on average when the features come in a random order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from counterset._base.arrays import Indices, Matrix, Stack, Vector, row_blocks, rows_as_bytes

__all__ = ["MOST_CELLS", "antithetic_orders", "ask_once", "shapley_values"]

#: A model is asked about at most 5 million numbers at once: 40 MB, and as much again for copies.
MOST_CELLS = 5_000_000


def antithetic_orders(n_pairs: int, n_features: int, seed: int) -> Indices:
    """Return random orders of the features in pairs: each, and then its reverse.

    What a feature adds early in an order it does not add late: the mean of a pair varies less than
    that of two orders.

    Returns
    -------
    ndarray of shape (n_pairs, 2, n_features)

    Examples
    --------
    >>> antithetic_orders(1, 3, seed=0)
    array([[[2, 1, 0],
            [0, 1, 2]]])
    """
    generator = np.random.default_rng(seed)
    forwards = generator.random((n_pairs, n_features)).argsort(axis=1)
    return np.stack([forwards, forwards[:, ::-1]], axis=1)


def ask_once(worth: Callable[[Matrix], Vector], rows: Matrix) -> Vector:
    """Return the worth of each row; equal rows are asked about once, all in one call.

    Examples
    --------
    >>> ask_once(lambda rows: 10.0 * np.arange(len(rows)), np.array([[5.0], [4.0], [5.0]]))
    array([10.,  0., 10.])
    """
    _, first, at = np.unique(rows_as_bytes(rows), return_index=True, return_inverse=True)
    values: Vector = worth(rows[first])[at.ravel()]
    return values


def shapley_values(
    worth: Callable[[Matrix], Vector], inputs: Matrix, background: Matrix, orders: Indices
) -> Stack:
    """Return what each value adds in each order: the mean over the orders is the Shapley value.

    Order p compares with row ``p % m`` of the background. In the order, the values of that row are
    replaced by the input's own, one after the other. So the values of an order sum to the
    difference of the input's worth and that of the row.

    Parameters
    ----------
    worth
        Returns one number for each row.
    inputs
        Shape ``(n, d)``.
    background
        Shape ``(m, d)``.
    orders
        Shape ``(p, d)``, the positions of the features in each order.

    Returns
    -------
    ndarray of shape (n, p, d)

    Examples
    --------
    x has 1 and 1, b has 0 and 0. The worth is 1 if both are 1: who comes last adds it.

    >>> both, x, b = lambda rows: rows.prod(axis=1), np.ones((1, 2)), np.zeros((1, 2))
    >>> shapley_values(both, x, b, np.array([[0, 1], [1, 0]]))
    array([[[0., 1.],
            [1., 0.]]])
    """
    n_orders, d = orders.shape
    others = background[np.arange(n_orders) % len(background)][:, None, :]
    places = orders.argsort(axis=1)  # where each feature stands in each order
    steps = np.arange(d + 1)[:, None]
    found = np.empty((len(inputs), n_orders, d))
    for block in row_blocks(n_orders, max(1, MOST_CELLS // (len(inputs) * (d + 1) * d))):
        place = places[block]
        is_own = place[:, None, :] < steps  # (p, d + 1, d): after k steps, the first k are own
        rows = np.where(is_own, inputs[:, None, None, :], others[block])
        values = ask_once(worth, rows.reshape(-1, d)).reshape(len(inputs), len(place), d + 1)
        added = np.diff(values, axis=2)
        found[:, block] = np.take_along_axis(added, np.broadcast_to(place, added.shape), axis=2)
    return found
