"""Values that are computed when they are first read."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from counterset._base.lazy import Lazy, Memo


def test_a_value_is_computed_once_and_only_if_it_is_read() -> None:
    asked = []

    def compute() -> int:
        asked.append(1)
        return len(asked)

    lazy = Lazy(compute)
    assert asked == []
    assert (lazy.value, lazy.value) == (1, 1)
    assert asked == [1]


def test_what_is_pickled_is_the_value() -> None:
    lazy = Lazy(lambda: [1, 2])  # a lambda cannot be pickled
    assert pickle.loads(pickle.dumps(lazy)).value == [1, 2]


def test_a_value_is_computed_once_however_many_threads_ask() -> None:
    memo: Memo[int] = Memo(most=10)
    computed: list[int] = []
    barrier = threading.Barrier(4)

    def ask(_: int) -> int:
        barrier.wait()
        return memo.get("key", lambda: computed.append(1) or len(computed))  # type: ignore[func-returns-value]

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ask, range(4))) == [1, 1, 1, 1]
    assert len(computed) == 1


def test_the_oldest_value_makes_room_for_a_new_one() -> None:
    memo: Memo[str] = Memo(most=2)
    for key in "abc":
        memo.get(key, lambda key=key: key)  # type: ignore[misc]
    assert memo.values() == ["b", "c"]


def test_what_fails_is_not_kept() -> None:
    memo: Memo[int] = Memo(most=1)
    with pytest.raises(ZeroDivisionError):
        memo.get("key", lambda: 1 // 0)
    assert memo.get("key", lambda: 5) == 5


def test_a_pickle_keeps_the_values() -> None:
    memo: Memo[int] = Memo(most=1)
    memo.get("key", lambda: 1)
    assert pickle.loads(pickle.dumps(memo)).get("key", lambda: 2) == 1
