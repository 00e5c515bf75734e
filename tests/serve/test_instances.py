"""The rows of a request: every fault is told by its place."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from counterset import Schema
from counterset.serve import rows as instances
from counterset.serve.errors import RefusedError
from counterset.serve.rows import InstanceReader
from counterset.tables.table import Table

FRAME = pd.DataFrame(
    {"age": [31, 52], "home": ["rent", "own"], "cat": [1, 0], "dog": [0, 0], 7: [0.5, 2.5]}
)
READER = InstanceReader(Table.learn(FRAME, Schema(one_hot={"pet": ["cat", "dog"]}))[0])
ROW = {"age": 40, "home": "own", "cat": 0, "dog": 1, "7": 1.5}


def faults_of(instances: list[Any]) -> list[tuple[Any, Any]]:
    with pytest.raises(RefusedError) as caught:
        READER.read(instances)
    return [(each["instance"], each["field"]) for each in caught.value.details]


def test_mappings_in_any_order_and_lists_are_the_same_rows() -> None:
    rows = READER.read([dict(reversed(ROW.items())), list(ROW.values())])
    assert list(rows) == list(FRAME)
    assert rows.to_numpy().tolist() == [[40, "own", 0, 1, 1.5]] * 2


@pytest.mark.parametrize(
    ("pet", "cells"), [("dog", [0, 1]), ("cat", [1, 0]), ("none of them", [0, 0])]
)
def test_a_one_hot_group_may_be_given_as_answers_have_it(pet: str, cells: list[int]) -> None:
    rows = READER.read([{"age": 40, "home": "own", "7": 1.5, "pet": pet}])
    assert rows[["cat", "dog"]].to_numpy().tolist() == [cells]


def test_every_fault_is_told_by_instance_and_field() -> None:
    wrong = [ROW, ROW | {"age": "old", "home": None}, [1], 5, {"age": 1, "hme": 2}]
    missing = [(4, each) for each in ("home", "cat", "dog", "7")]
    assert faults_of(wrong) == [
        (1, "age"),
        (1, "home"),
        (2, None),
        (3, None),
        (4, "hme"),
        *missing,
    ]


def test_two_ones_in_a_group_are_a_fault() -> None:
    assert faults_of([ROW | {"cat": 1}]) == [(0, "pet")]


def test_the_message_tells_the_first_fault_and_the_nearest_name() -> None:
    with pytest.raises(RefusedError, match="'hme' is not a column; the nearest is 'home'"):
        READER.read([ROW | {"hme": 1}])


def test_a_large_request_gets_the_first_faults_only() -> None:
    assert len(faults_of([{}] * 1000)) == 20


def test_many_unknown_names_are_not_all_compared_with_the_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A body of 1 MB has 100,000 of them, and each used to be compared with every column."""
    compared: list[str] = []

    def compare(name: str, *_: Any, **__: Any) -> list[str]:
        compared.append(name)
        return []

    monkeypatch.setattr(instances, "get_close_matches", compare)
    assert len(faults_of([{f"unknown {i}": 1 for i in range(1000)}])) == 20
    assert len(faults_of([{"a" * 100_000: 1}])) == 6
    assert len(compared) == 21
    assert max(map(len, compared)) < 110
