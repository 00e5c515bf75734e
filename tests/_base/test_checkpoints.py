"""Checkpoints: where work can end or wait."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest

from counterset._base.checkpoints import WorkCancelled, checkpoint, watched_by, without_waiting
from counterset._base.lazy import Memo
from counterset.exceptions import CountersetError
from counterset.models.adapter import ModelAdapter
from counterset.tables.table import Table


def cancel(_: bool) -> None:
    raise WorkCancelled


def test_without_a_watch_nothing_happens() -> None:
    checkpoint()


def test_a_watch_is_for_its_own_thread_and_ends_with_its_block() -> None:
    passed: list[bool] = []
    with watched_by(passed.append):
        other = Thread(target=checkpoint)
        other.start()
        other.join()
        assert passed == []
        checkpoint()
    checkpoint()
    assert passed == [True]


def test_a_cancelled_model_is_not_asked_and_nothing_takes_it_for_a_failure() -> None:
    asked = []

    def model(rows: Any) -> Any:
        asked.append(len(rows))
        return rows[:, 0] > 0.5

    table, matrix = Table.learn([[0.0], [1.0]])
    adapter = ModelAdapter(model, table)
    with watched_by(cancel), pytest.raises(WorkCancelled):
        adapter.answers_once(matrix)
    assert asked == []
    assert not issubclass(WorkCancelled, Exception | CountersetError)
    assert adapter.answers_once(matrix).labels.tolist() == [False, True]


def test_a_memo_keeps_nothing_of_what_was_cancelled() -> None:
    memo: Memo[int] = Memo(most=2)

    def compute() -> int:
        checkpoint()
        return 1

    with watched_by(cancel), pytest.raises(WorkCancelled):
        memo.get("a", compute)
    assert memo.values() == []
    assert memo.get("a", compute) == 1


def test_what_holds_a_memo_does_not_wait_there() -> None:
    """An edit that needs the same value would wait for work that waits for edits."""
    passed: list[bool] = []
    with watched_by(passed.append):
        Memo[None](most=2).get("a", checkpoint)
        with without_waiting():
            checkpoint()
        checkpoint()
    assert passed == [False, False, True]


def test_what_is_known_is_found_while_others_compute() -> None:
    memo: Memo[int] = Memo(most=2)
    memo.get("known", lambda: 1)
    found = []

    def compute() -> int:
        other = Thread(target=lambda: found.append(memo.get("known", lambda: 2)))
        other.start()
        other.join(60)
        return 3

    assert memo.get("new", compute) == 3
    assert found == [1]
