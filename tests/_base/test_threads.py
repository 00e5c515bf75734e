"""Work shared between cores."""

from __future__ import annotations

import numpy as np
import pytest

from counterset._base.arrays import Matrix
from counterset._base.threads import share_rows


@pytest.mark.parametrize(("rows", "parts"), [(2, [2]), (3, [1, 1, 1]), (7, [2, 2, 3])])
def test_many_rows_are_shared_and_come_back_in_order(
    rows: int, parts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterset._base.threads.PAYS_TO_SHARE", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    asked: list[int] = []

    def product(A: Matrix, B: Matrix) -> Matrix:
        asked.append(len(A))
        return A * B.T

    A = np.arange(float(rows))[:, None]
    np.testing.assert_array_equal(share_rows(product, A, np.ones((2, 1))), A * np.ones(2))
    assert sorted(asked) == parts


def test_little_work_is_not_shared() -> None:
    asked = []
    A = np.ones((50, 2))
    share_rows(lambda a, b: asked.append(len(a)) or a, A, A)  # type: ignore[func-returns-value]
    assert asked == [50]
