"""Which options are the same: those that change the same features in the same direction."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Matrix, Vector
from counterset.tables.table import Table, changed

__all__ = ["option_keys"]

#: The direction that :func:`option_keys` writes for a number or a time without a value before.
STATED = 2.0


def option_keys(x: Vector, rows: Matrix, table: Table) -> list[bytes]:
    """Return a key for what changes from an input to each row; the same options have equal keys.

    Examples
    --------
    >>> table, rows = Table.learn([[0.5, 1.5], [0.7, 1.5], [0.9, 1.5], [0.3, 2.5]])
    >>> keys = option_keys(rows[0], rows[1:], table)
    >>> keys[0] == keys[1], keys[1] == keys[2]
    (True, False)
    """
    x = np.broadcast_to(x, rows.shape)
    # A category, and a number that becomes a special code, has a value instead of a direction.
    moves, known = rows.copy(), np.ones(rows.shape, dtype=bool)
    for i, feature in enumerate(table.features):
        if feature.is_category:
            continue
        before, after = feature.is_known(x[:, i]), feature.is_known(rows[:, i])
        direction = np.where(before, np.sign(rows[:, i] - x[:, i]), STATED)
        moves[:, i] = np.where(after, direction, rows[:, i])
        known[:, i] = after
    features = changed(x, rows)
    named = np.column_stack([features, known, np.where(features, moves, 0.0) + 0.0])
    return [key.tobytes() for key in named]
