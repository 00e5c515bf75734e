"""The names, units and texts of the bundled data fit the data."""

from __future__ import annotations

import pytest

from counterset import datasets
from counterset.tables.table import Table


@pytest.mark.parametrize("name", ["diabetes", "german_credit"])
def test_every_declared_name_and_value_is_in_the_data(name: str) -> None:
    data = datasets.load(name)
    table, _ = Table.learn(data.X, data.schema)  # what is unknown is refused
    assert [feature.name for feature in table.features] == list(data.X.columns)
    labels = [feature.label for feature in table.features]
    assert len(set(labels)) == len(labels)
    assert all("_" not in label for label in labels)


def test_no_value_of_german_credit_is_left_as_code() -> None:
    credit = datasets.load("german_credit")
    for feature in Table.learn(credit.X, credit.schema)[0].features:
        for code in feature.seen or ():
            text = feature.text_of(code)
            assert not any(sign in text for sign in "<>=/_"), (feature.name, text)


def test_wording_changes_no_kind() -> None:
    credit = datasets.load("german_credit")
    with_words, without = (Table.learn(credit.X, each)[0] for each in (credit.schema, None))
    assert repr(with_words) == repr(without)
