"""What users declare."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterset import DiverseExplainer, InvalidInputError, Schema
from counterset.tables.table import Table


def test_a_schema_says_each_thing_once_and_in_lists() -> None:
    with pytest.raises(InvalidInputError, match=r"declares \['a'\] more than once"):
        Schema(categorical=["a"], one_hot={"g": ["a", "b"]})
    with pytest.raises(InvalidInputError, match="Put it in brackets"):
        Schema(categorical="job")


def test_a_schema_knows_the_declared_kinds() -> None:
    schema = Schema(ordinal={"size": ["s", "l"]}, integer=["n"], one_hot={"g": ["a", "b"]})
    assert [schema.kind_of(name) for name in ("size", "n", "a")] == ["ordinal", "integer", None]
    assert schema.declared == ["size", "n", "a", "b"]


def test_a_schema_shows_only_what_is_declared() -> None:
    assert repr(Schema()) == "Schema()"
    assert repr(Schema(binary=["a"])) == "Schema(binary=['a'])"


FRAME = pd.DataFrame(
    {
        "age": [31, 52, 40, 29],
        "income": [1000.5, 2000.25, np.nan, 1800.75],
        "home": ["rent", "own", "free", "own"],
        "savings": pd.Categorical(["low", "high", "low", "mid"], ["low", "mid", "high"], True),
        "flag": [0.0, 1.0, 1.0, 0.0],
        "since": pd.to_datetime(["2020-01-01", "2021-05-01", "2019-03-01", "2024-01-01"]),
        "red": [1, 0, 0, 1],
        "blue": [0, 1, 0, 0],
        "delays": [0, 98, 2, 1],
    }
)
DECLARED = Schema(
    one_hot={"colour": ["red", "blue"]},
    special={"delays": [98]},
    step={"income": 0.25},
    labels={"home": "where you live"},
    units={"age": ("year", "years")},
    texts={"home": {"own": "in your own home"}, "income": {None: "not stated"}},
)


def learned() -> Schema:
    return DiverseExplainer(lambda rows: rows["age"] > 35, schema=DECLARED).fit(FRAME).schema_


def test_a_fitted_explainer_has_a_schema_of_every_feature() -> None:
    schema = learned()
    assert isinstance(schema, Schema)
    assert schema.kinds == {
        "age": "integer",
        "income": "continuous",
        "home": "categorical",
        "savings": "ordinal",
        "flag": "binary",
        "since": "continuous",
        "colour": "categorical",
        "delays": "integer",
    }
    assert list(schema.ranges) == ["age", "income", "savings", "flag", "since", "delays"]
    assert schema.ranges["age"] == (29, 52)
    assert schema.ranges["savings"] == ("low", "high")
    assert schema.ranges["delays"] == (0, 2)  # a special code is not a number
    assert schema.steps["income"] == 0.25
    assert str(schema).startswith("8 features\n  age      integer      29 to 52")


def test_what_a_user_declared_is_in_the_learned_schema() -> None:
    schema = learned()
    assert schema.one_hot == {"colour": ["red", "blue"]}
    assert schema.special_by_name == {"delays": (98.0,)}
    assert schema.labels["home"] == "where you live"
    assert schema.units == {"age": ("year", "years")}
    assert schema.texts == DECLARED.texts


def test_a_learned_schema_declares_the_same_features_again() -> None:
    first, _ = Table.learn(FRAME, DECLARED)
    again, _ = Table.learn(FRAME, first.schema())
    assert [repr(each) for each in again.features] == [repr(each) for each in first.features]


def test_a_changed_schema_shows_what_it_declares() -> None:
    changed = learned().without_wording()
    assert changed.kinds == {}
    assert repr(changed).startswith("Schema(ordinal={'savings': ('low', 'mid', 'high')}")
