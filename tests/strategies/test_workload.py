"""How the rows of one call are divided."""

from __future__ import annotations

from typing import Any

import joblib
import pytest

from counterset import InvalidInputError
from counterset.strategies.calls import Workload


@pytest.mark.parametrize(
    ("memory", "expected"),
    [("512MB", 512_000_000), ("1.5 gb", 1_500_000_000), ("7", 7), (123, 123), ("2K", None)],
)
def test_memory_is_read_as_bytes(memory: Any, expected: int | None) -> None:
    if expected is None:
        with pytest.raises(InvalidInputError, match="such as '512MB'"):
            Workload(memory=memory)
    else:
        assert Workload(memory=memory).bytes == expected


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"n_jobs": True}, "n_jobs"),
        ({"memory": "much"}, "memory"),
        ({"memory": 0}, "at least 1 byte"),
        ({"memory": None}, "memory"),
        ({"progress": "yes"}, "progress"),
    ],
)
def test_nonsense_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInputError, match=told):
        Workload(**settings)


def test_no_number_of_jobs_is_one_unless_joblib_says_otherwise() -> None:
    assert Workload().jobs == 1
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert Workload().jobs == 3
    assert Workload(n_jobs=-1).jobs == joblib.cpu_count()
