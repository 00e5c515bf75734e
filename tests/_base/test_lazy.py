"""Values that are computed when they are first read."""

from __future__ import annotations

import pickle

from counterset._base.lazy import Lazy


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
