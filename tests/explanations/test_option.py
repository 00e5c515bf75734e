"""Options: counterfactuals as people see them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from support.worded import by_hand

from counterset import DiverseExplainer, Explanation, Explanations
from counterset.explanations import Certificate, DistanceBounds, Option

RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.integers(20, 70, 200), "income": RNG.random(200).round(2)})


class Counting(LogisticRegression):
    """A model that counts how often it is asked for probabilities."""

    calls = 0

    def predict_proba(self, X: Any) -> Any:
        type(self).calls += 1
        return super().predict_proba(X)


@pytest.fixture(scope="module")
def explained() -> Explanations:
    model = Counting().fit(X, X.age / 70 + X.income > 1)
    explainer = DiverseExplainer(model, max_counterfactuals=2).fit(X)
    return explainer.explain_many(X[~model.predict(X)][:4], if_none="ignore")


def test_options_are_the_counterfactuals_in_their_order(explained: Explanations) -> None:
    explanation = explained[0]
    options = explanation.options
    assert [option.rank for option in options] == list(range(1, len(explanation) + 1))
    assert [option.distance for option in options] == explanation.distances.tolist()
    assert [option.label for option in options] == explanation.labels.tolist()
    for option, (_, row) in zip(options, explanation.counterfactuals.iterrows(), strict=True):
        pd.testing.assert_series_equal(option.row, row, check_names=False)
        assert {c.name for c in option.changes} == {
            name for name in X.columns if row[name] != explanation.input[name]
        }
        for change in option.changes:
            assert change.before == explanation.changes.loc[change.name, "input"]
            assert change.after == explanation.changes.loc[change.name, option.rank]


def test_a_sentence_is_the_one_that_describe_writes(explained: Explanations) -> None:
    for explanation in explained:
        text = explanation.describe(width=None)
        for option in explanation.options:
            assert f"{option.rank}. {option.sentence} (" in text
            for change, line in zip(option.changes, option.lines, strict=True):
                assert f"from {change.before_text} to {change.after_text}" in line
                assert change.after_text in option.sentence


def test_many_changes_are_counted_and_listed() -> None:
    option = by_hand(rows=[3]).options[0]
    assert len(option.changes) == len(option.lines) > 5
    assert option.sentence == f"{len(option.changes)} changes"


def test_all_probabilities_of_a_batch_take_one_call(explained: Explanations) -> None:
    model = explained.context.model
    Counting.calls = 0
    for explanation in [*explained, *explained[1:3]]:
        own = model.predict_proba(explanation.input.to_frame().T)[0]
        assert explanation.probability == pytest.approx(own.max())
        rows = model.predict_proba(explanation.counterfactuals)
        found = [option.probability for option in explanation.options]
        assert found == pytest.approx(rows[:, 1].tolist())
    assert Counting.calls == 2 * 6 + 1


def test_a_model_without_probabilities_has_none() -> None:
    explanation = (
        DiverseExplainer(lambda rows: rows[:, 1] > 0.5, max_counterfactuals=1)
        .fit(X.to_numpy())
        .explain([30, 0])
    )
    assert explanation.probability is None
    assert explanation.options[0].probability is None


def test_other_labels_than_classes_have_no_probability() -> None:
    class Named(LogisticRegression):
        def predict(self, X: Any) -> Any:
            return np.where(super().predict(X), "yes", "no")

    explainer = DiverseExplainer(Named().fit(X, X.age > 45), max_counterfactuals=1).fit(X)
    assert explainer.explain(X[X.age < 40].iloc[0]).options[0].probability is None


def test_a_pickle_keeps_the_probabilities_that_were_read_and_asks_for_none() -> None:
    model = Counting().fit(X, X.age > 45)
    explainer = DiverseExplainer(model, max_counterfactuals=1).fit(X)
    explanation = explainer.explain(X[X.age < 40].iloc[0])
    Counting.calls = 0
    lost: Explanation = pickle.loads(pickle.dumps(explanation))
    assert Counting.calls == 0
    assert lost.probability is None
    assert lost.with_model(model).probability == explanation.probability
    kept: Explanation = pickle.loads(pickle.dumps(explanation))
    assert kept.probability == explanation.probability
    assert [o.probability for o in kept.options] == [o.probability for o in explanation.options]


def test_an_option_can_be_pickled(explained: Explanations) -> None:
    option = explained[0].options[0]
    again: Option = pickle.loads(pickle.dumps(option))
    assert again.to_dict() == {**option.to_dict(), "probability": again.probability}


def test_what_is_coded_cannot_be_written(explained: Explanations) -> None:
    coded = explained[0].coded
    with pytest.raises(ValueError, match="read-only"):
        coded.matrix[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        coded.input[0] = 1.0


@pytest.mark.parametrize(
    ("certificate", "shared"),
    [
        (Certificate(), [False, False]),
        (Certificate(stable_radius=0.5), [False, False]),
        (Certificate(list_radius=0.5), [True, True]),
        (Certificate(list_radius=0.5, from_list=np.array([False, True])), [False, True]),
    ],
)
def test_shared_options_are_marked(certificate: Certificate, shared: list[bool]) -> None:
    explanation = by_hand(rows=[1, 2])
    assert [option.shared for option in explanation.options] == [False, False]
    options = explanation.with_certificate(certificate).options
    assert [option.shared for option in options] == shared


def test_what_is_proved_about_an_option_comes_from_the_certificate() -> None:
    bounds = DistanceBounds(0.25, 0.25, True, None, 0.0, "by hand")
    proved = Certificate(0.5, bounds, np.array([0.5, -0.25]), option_radii=np.array([np.inf, 0.0]))
    first, second = by_hand(rows=[1, 2]).with_certificate(proved).options
    assert (first.safety, first.works_within) == (0.5, np.inf)
    assert (second.safety, second.works_within) == (-0.25, 0.0)
    assert (first.to_dict()["works_within"], second.to_dict()["safety"]) == ("inf", -0.25)
    unread = replace(proved, distance_bounds=replace(bounds, method="search"))
    assert by_hand().with_certificate(unread).options[0].safety is None
