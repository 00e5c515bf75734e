"""The gradients of models, compared with differences of their own scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier
from support.peer_tables import homes, pipeline_for

from counterset.exceptions import UnsupportedModelError
from counterset.paper.peers.gradients import Gradients, movable
from counterset.paper.setups import Network
from counterset.tables.schema import Schema
from counterset.tables.table import Table


@pytest.mark.parametrize(
    "model", [LogisticRegression(), MLPClassifier((6, 4), max_iter=2000, tol=1e-2, random_state=0)]
)
def test_leads_are_log_odds_and_their_gradients_those_of_differences(model: Any) -> None:
    frame, y = homes()
    fitted = pipeline_for(model).fit(frame, y)
    table, rows = Table.learn(frame, Schema(step=0))
    leads = Gradients.of(fitted, table).around(rows[:20])
    value, gradient = leads.at(np.zeros((20, 3)))
    shares = np.sort(fitted.predict_proba(frame[:20]), axis=1)
    np.testing.assert_allclose(value, np.log(shares[:, 0] / shares[:, 1]), rtol=1e-6)
    np.testing.assert_array_equal(gradient[:, 0], 0)  # the category
    for i in (1, 2):
        step = np.zeros((20, 3))
        step[:, i] = 1e-6
        after, before = leads.at(step)[0], leads.at(-step)[0]
        np.testing.assert_allclose(gradient[:, i], (after - before) / 2e-6, rtol=1e-4, atol=1e-7)


def test_of_several_classes_the_second_is_wanted() -> None:
    network = Network([(np.eye(3), [0.0, 0.1, 0.2])])
    table, _ = Table.learn(np.eye(3))
    value, gradient = Gradients.of(network, table).around(np.eye(3)[:1]).at(np.zeros((1, 3)))
    np.testing.assert_allclose(value, [0.2 - 1.0])
    np.testing.assert_array_equal(gradient, [[-1.0, 0.0, 1.0]])


def test_a_model_without_gradients_is_refused() -> None:
    X = np.array([[0.0], [1.0]])
    with pytest.raises(UnsupportedModelError, match="got DecisionTreeClassifier"):
        Gradients.of(DecisionTreeClassifier().fit(X, [0, 1]), Table.learn(X)[0])


def test_known_numbers_that_are_not_immutable_may_move() -> None:
    frame, _ = homes()
    frame["age"] = frame["age"].astype(float)
    frame.loc[0, "age"] = np.nan
    table, rows = Table.learn(frame)
    np.testing.assert_array_equal(
        movable(table, rows[:2], ["income"]), [[False, False, False], [False, False, True]]
    )
