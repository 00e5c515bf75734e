"""Names of columns: by label, or by label as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset import Constraints, DiverseExplainer, InvalidInputError, Schema
from counterset.tables.schema import find_name, positions_by_name
from counterset.tables.table import Table

NUMBERS = np.random.default_rng(0).random((60, 3))


def test_a_column_is_found_by_its_label_and_by_its_text() -> None:
    positions = positions_by_name(pd.Index(["age", 1, ("a", 2)], dtype=object, tupleize_cols=False))
    expected: list[list[Any]] = [["age"], [1, "1", np.int64(1)], [("a", 2), "('a', 2)"]]
    for position, names in enumerate(expected):
        assert [find_name(name, positions) for name in names] == [position] * len(names)
    for unknown in ("Age", 2, None, ["age"], {"age": 1}):
        assert find_name(unknown, positions) is None


@pytest.mark.parametrize("columns", [[1, "1", 2], [2.5, "x", "2.5"]])
def test_columns_that_are_the_same_as_text_are_refused(columns: list[Any]) -> None:
    # With columns [1, "1"], immutable=["1"] used to fix column 1.
    frame = pd.DataFrame(NUMBERS, columns=columns)
    with pytest.raises(InvalidInputError, match=r"the same name as text.*Rename one of them"):
        DiverseExplainer.paper(above).fit(frame)


def above(rows: Any) -> Any:
    return np.asarray(rows).sum(axis=1) > 1.5


PAIRS = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")])


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ([0, 1, 2], 1),
        ([0, 1, 2], "1"),
        (["a", "b", "c"], "b"),
        (PAIRS, ("a", "y")),
        (PAIRS, "('a', 'y')"),
        (pd.date_range("2020", periods=3), pd.Timestamp("2020-01-02")),
    ],
)
def test_every_place_that_takes_a_name_finds_the_column(columns: Any, name: Any) -> None:
    frame = pd.DataFrame(NUMBERS, columns=columns)
    for constraints in (
        Constraints(immutable=[name]),
        Constraints(max_increase={name: 0}, max_decrease={name: 0}),
        Constraints(increase_only=[name], decrease_only=[name]),
        Constraints(immutable=pd.Index([name], tupleize_cols=False)),
    ):
        explainer = DiverseExplainer.paper(
            above,
            diversity=None,
            constraints=constraints,
            scale={name: 2.0},
            schema=Schema(continuous=[name]),
        ).fit(frame)
        explanations = explainer.explain_many(frame[:5])
        changed = np.vstack([each.changed for each in explanations])
        assert changed.any(axis=0).tolist() == [True, False, True]
        assert explainer.distance_.space.factor.tolist() == [1, 2, 1]
        assert explanations.to_frame().shape[1] == 6


def test_a_part_of_a_name_is_no_name() -> None:
    # It used to fix the first of the columns below it.
    frame = pd.DataFrame(NUMBERS, columns=PAIRS)
    with pytest.raises(InvalidInputError, match="There is no feature 'a'"):
        DiverseExplainer.paper(above, constraints=Constraints(immutable=["a"])).fit(frame)


def test_labels_that_are_no_texts_can_be_declared() -> None:
    # Schema(categorical=[3]) used to be refused, though there is a column 3.
    frame = pd.DataFrame({0: [0, 1], 1: [1, 0], 2: [5, 6], 3: [7, 8], 4: ["s", "l"]})
    for schema in (
        Schema(categorical=[3], ordinal={4: ["s", "l"]}, one_hot={"group": [0, 1]}),
        Schema(categorical=["3"], ordinal={"4": ["s", "l"]}, one_hot={"group": ["0", 1]}),
    ):
        table, _ = Table.learn(frame, schema)
        assert table.names == ["group", "2", "3", "4"]
        kinds = [each.kind for each in table.features]
        assert kinds == ["categorical", "integer", "binary", "ordinal"]
        for names in (["group", 0, "0", 1, "1"], [2, "2"], [3, "3"], [4, "4"]):
            assert len({table.position(name) for name in names}) == 1


def test_a_name_and_its_text_are_one_column() -> None:
    frame = pd.DataFrame(NUMBERS, columns=[0, 1, 2])
    with pytest.raises(InvalidInputError, match=r"declares \['1'\] more than once"):
        Schema(categorical=[1], integer=["1"])
    with pytest.raises(InvalidInputError, match=r"declares \['1'\] more than once"):
        Table.learn(frame, Schema(categorical=[1], integer=[1.0]))
    with pytest.raises(InvalidInputError, match="scale names a feature twice"):
        DiverseExplainer.paper(above, scale={1: 2.0, "1": 3.0}).fit(frame)


def test_relations_name_columns_as_text() -> None:
    frame = pd.DataFrame(NUMBERS, columns=[0, 1, 2])
    explainer = DiverseExplainer.paper(
        above, diversity=None, constraints=Constraints(relations=["`0` <= `2`"])
    ).fit(frame)
    held = frame[frame[0] <= frame[2]]
    found = explainer.explain_many(held[:5]).to_frame()
    assert (found[0] <= found[2]).all()
