"""Work shared between cores."""

from __future__ import annotations

import joblib
import numpy as np
import pytest

from counterset._base.arrays import Matrix
from counterset._base.threads import core_count, share_rows


@pytest.mark.parametrize(("rows", "parts"), [(3, [1, 1, 1]), (7, [2, 2, 3])])
def test_many_rows_are_shared_and_come_back_in_order(
    rows: int, parts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterset._base.threads.PAYS_TO_SHARE", 0)
    monkeypatch.setattr("counterset._base.threads.core_count", lambda: 3)
    asked: list[int] = []

    def product(A: Matrix, B: Matrix) -> Matrix:
        asked.append(len(A))
        return A * B.T

    A = np.arange(float(rows))[:, None]
    np.testing.assert_array_equal(share_rows(product, A, np.ones((2, 1))), A * np.ones(2))
    assert sorted(asked) == parts


def test_few_rows_share_what_they_are_compared_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more cores than rows nothing used to be shared."""
    monkeypatch.setattr("counterset._base.threads.PAYS_TO_SHARE", 0)
    monkeypatch.setattr("counterset._base.threads.core_count", lambda: 3)
    asked: list[int] = []

    def product(A: Matrix, B: Matrix) -> Matrix:
        asked.append(len(B))
        return A * B.T

    B = np.arange(7.0)[:, None]
    np.testing.assert_array_equal(share_rows(product, np.ones((2, 1)), B), np.ones((2, 1)) * B.T)
    assert sorted(asked) == [2, 2, 3]


def test_the_cores_are_those_that_this_process_may_use() -> None:
    assert core_count() == joblib.cpu_count()


def test_little_work_is_not_shared() -> None:
    asked = []
    A = np.ones((50, 2))
    share_rows(lambda a, b: asked.append(len(a)) or a, A, A)  # type: ignore[func-returns-value]
    assert asked == [50]
