"""The first acceptable row of each group, against asking about every row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset.strategies import recipes as module
from counterset.strategies.batch import REFUSED
from counterset.strategies.recipes import ROWS_IN_A_CALL, first_accepted


class Asked:
    """Accepts rows above zero, with the row's own number as the class code."""

    def __init__(self) -> None:
        self.rows: list[list[int]] = []

    def __call__(self, rows: Any, owners: Any) -> Any:
        assert (rows[:, 1] == owners).all()
        self.rows.append(rows[:, 2].astype(int).tolist())
        return np.where(rows[:, 0] > 0, rows[:, 2].astype(np.intp), REFUSED)


def table(owners: Any, accepted: Any) -> Any:
    return np.column_stack([accepted, owners, np.arange(len(owners))]).astype(float)


def literal(owners: Any, groups: Any, accepted: Any, most: int | None) -> list[int]:
    seen, found = set[int](), list[int]()
    for i, (owner, group) in enumerate(zip(owners, groups, strict=True)):
        if accepted[i] and group not in seen:
            seen.add(group)
            if most is None or sum(owners[j] == owner for j in found) < most:
                found.append(i)
    return found


@given(st.data())
def test_what_is_found_is_what_asking_about_every_row_finds(data: Any) -> None:
    count = data.draw(st.integers(0, 60))
    draw = st.lists(st.integers(0, 7), min_size=count, max_size=count)
    owners = np.sort(np.array(data.draw(draw), dtype=np.intp))
    groups = owners * 8 + np.array(data.draw(draw), dtype=np.intp)
    accepted = np.array(data.draw(draw)) > data.draw(st.integers(0, 7))
    most, ask = data.draw(st.sampled_from([None, 1, 2, 5])), Asked()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS_IN_A_CALL", data.draw(st.sampled_from([1, 4, ROWS_IN_A_CALL])))
        first, codes = first_accepted(ask, table(owners, accepted), owners, groups, most)
    assert first.tolist() == codes.tolist() == literal(owners, groups, accepted, most)
    together = [row for rows in ask.rows for row in rows]
    assert len(set(together)) == len(together), "no row is asked about twice"


def test_a_group_that_has_an_acceptable_row_is_asked_about_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ROWS_IN_A_CALL", 1)
    owners, nth = np.divmod(np.arange(40), 8)
    ask = Asked()
    first_accepted(ask, table(owners, (owners > 0) | (nth == 1)), owners, owners)
    assert ask.rows == [[0, 8, 16, 24, 32], [1, 2]]


def test_what_comes_after_enough_groups_is_asked_about_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ROWS_IN_A_CALL", 1)
    groups, ask = np.array([0, 0, 1, 2, 2, 2]), Asked()
    accepted = np.array([False, True, True, False, True, True])
    first, _ = first_accepted(ask, table(groups * 0, accepted), groups * 0, groups, most=2)
    assert first.tolist() == [1, 2]
    # After the second round two groups are known, and the third is not among the first two.
    assert ask.rows == [[0, 2, 3], [1, 4, 5]]
    ask = Asked()
    first, _ = first_accepted(ask, table(groups * 0, accepted), groups * 0, groups, most=1)
    assert ask.rows == [[0, 2, 3], [1]]


def test_few_rows_take_one_call() -> None:
    owners, nth = np.divmod(np.arange(64), 8)
    ask = Asked()
    first, _ = first_accepted(ask, table(owners, nth == 7), owners, owners)
    assert len(ask.rows) == 1
    assert first.tolist() == np.flatnonzero(nth == 7).tolist()
