"""What users pass as costs becomes factors, and rules about what stays."""

from __future__ import annotations

import numpy as np
import pandas as pd

from counterset.constraints.costs import Costs
from counterset.constraints.rules import Fixed
from counterset.distances import L0, L1
from counterset.tables.schema import Schema
from counterset.tables.table import Table

FRAME = pd.DataFrame({"age": [1.0, 2.0], "own": [1, 0], "rent": [0, 1], 7: [3, 4]})
TABLE, _ = Table.learn(FRAME, Schema(one_hot={"home": ["own", "rent"]}))


def test_features_are_found_by_label_by_text_and_by_group() -> None:
    assert Costs.read(None, TABLE).factors.tolist() == [1, 1, 1]
    assert Costs.read({"home": 2, "7": 0.5}, TABLE).factors.tolist() == [1, 2, 0.5]
    assert Costs.read({"rent": 2, 7: 0.5}, TABLE).factors.tolist() == [1, 2, 0.5]


def test_an_infinite_cost_is_a_rule_and_counts_one() -> None:
    read = Costs.read({"age": np.float64(np.inf), "home": 3}, TABLE)
    assert read.factors.tolist() == [1, 3, 1]
    assert read.fixed == (Fixed(0, "costs['age'] = inf"),)


def test_only_a_count_of_changes_needs_weights() -> None:
    costs = Costs.read({"age": 2}, TABLE)
    assert costs.weigh(size := L1()) is size
    for distance, weights in ((L0(), [2, 1, 1]), (L0([1, 0, 4]), [2, 0, 4])):
        weighed = costs.weigh(distance)
        assert isinstance(weighed, L0)
        assert np.asarray(weighed.weights).tolist() == weights


def test_costs_of_one_leave_a_count_as_it_is() -> None:
    distance = L0()
    assert Costs.read({"age": 1.0, 7: float("inf")}, TABLE).weigh(distance) is distance
