"""Safe options: one or two of a set that are likely to last, in place of the farthest."""

import pickle
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from support.literal_checker import broken, records
from support.mixed_tables import Case, Model, constrained, models

from counterset import (
    AngleDiversity,
    CountersetWarning,
    DiverseExplainer,
    Explanation,
    Explanations,
    FeatureDiversity,
    InvalidInputError,
    Margin,
    Nearest,
    Shared,
    datasets,
)
from counterset.strategies import Strategy

#: Some people have fewer options than asked for.
pytestmark = pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")

#: At most twice as far as the farthest of the others.
REACH = 2.0


def diabetes(model: Any) -> tuple[DiverseExplainer, pd.DataFrame]:
    data = datasets.load("diabetes")
    model.fit(data.X, data.y)
    return DiverseExplainer(model).fit(data.X), data.X[model.predict(data.X) == 1].head(25)


@pytest.fixture(scope="module", params=["boosting", "forest", "logistic"])
def people(request: pytest.FixtureRequest) -> tuple[DiverseExplainer, pd.DataFrame]:
    kinds = {
        "boosting": GradientBoostingClassifier(n_estimators=40, random_state=0),
        "forest": RandomForestClassifier(30, min_samples_leaf=3, random_state=0),
        "logistic": LogisticRegression(max_iter=2000),
    }
    return diabetes(kinds[request.param])


def sure_ones(explanation: Explanation) -> list[bool]:
    """Return which options the model finds at least 75 % probable."""
    return [(option.probability or 0) >= 0.75 for option in explanation.options]


def lengths(explanation: Explanation) -> list[float]:
    return sorted(explanation.distances.tolist())


@pytest.mark.parametrize("strategy", [Nearest, Shared, lambda **more: Nearest(None, **more)])
@pytest.mark.parametrize("count", [1, 2])
def test_safe_options_take_the_place_of_the_farthest(
    people: tuple[DiverseExplainer, pd.DataFrame], strategy: Any, count: int
) -> None:
    explainer, inputs = people
    plain = explainer.with_strategy(strategy()).explain_many(inputs)
    safe = explainer.with_strategy(strategy(safe=count)).explain_many(inputs)
    more = 0
    for before, after in zip(plain, safe, strict=True):
        # Where there is room, safe options are added.
        assert len(before) <= len(after) <= 5
        marks = [option.safe for option in after.options]
        sure = sure_ones(after)
        assert marks == sure
        was_sure = sure_ones(before)
        assert not any(option.safe for option in before.options)
        more += sum(sure) - sum(was_sure)
        assert sum(sure) >= min(sum(was_sure), count)
        if sum(was_sure) >= count:  # nothing is crowded out
            pd.testing.assert_frame_equal(before.counterfactuals, after.counterfactuals)
        # All but the farthest options are still there.
        rows = {tuple(row) for row in after.coded.matrix.tolist()}
        kept = [tuple(row) in rows for row in before.coded.matrix.tolist()]
        lost = [option for option, is_kept in zip(before.options, kept, strict=True) if not is_kept]
        assert len(lost) <= max(0, count - sum(was_sure))
        assert not any((option.probability or 0) >= 0.75 for option in lost)
        assert lengths(after)[-1] <= REACH * lengths(before)[-1]
    assert more > 5


def test_safe_options_differ_and_move_no_feature_both_ways(
    people: tuple[DiverseExplainer, pd.DataFrame],
) -> None:
    explainer, inputs = people
    for diversity in (AngleDiversity(0.5), FeatureDiversity()):
        safe = explainer.with_strategy(Nearest(diversity, safe=2)).explain_many(inputs)
        for explanation in safe:
            coded = explanation.coded
            moves = np.sign(coded.matrix - coded.input)
            assert not ((moves > 0).any(axis=0) & (moves < 0).any(axis=0)).any()
            assert len({tuple(row) for row in coded.matrix.tolist()}) == len(explanation)


def test_every_change_of_a_safe_option_is_needed_for_it_to_be_safe(
    people: tuple[DiverseExplainer, pd.DataFrame],
) -> None:
    explainer, inputs = people
    safe = explainer.with_strategy(Nearest(safe=1)).explain_many(inputs)
    plain = explainer.explain_many(inputs)
    seen = 0
    for explanation, before in zip(safe, plain, strict=True):
        own = {tuple(row) for row in before.coded.matrix.tolist()}
        for option, row in zip(explanation.options, explanation.coded.matrix, strict=True):
            if not option.safe or tuple(row.tolist()) in own:
                continue
            for at in np.flatnonzero(row != explanation.coded.input):
                undone = row.copy()
                undone[at] = explanation.coded.input[at]
                asked = explainer.training_.table.decode(undone[None])
                seen += 1
                assert explainer.model.predict_proba(asked)[0, 0] < 0.75
    assert seen


def test_batches_and_processes_change_nothing(
    people: tuple[DiverseExplainer, pd.DataFrame],
) -> None:
    explainer, inputs = people
    explainer = explainer.with_strategy(Nearest(safe=1))
    together = explainer.explain_many(inputs.head(8))
    backwards = explainer.explain_many(inputs.head(8).iloc[::-1])
    processes = explainer.explain_many(inputs.head(8), n_jobs=2)
    for i, explanation in enumerate(together):
        alone = explainer.explain(inputs.iloc[i])
        for other in (alone, backwards[-1 - i], processes[i]):
            pd.testing.assert_frame_equal(explanation.counterfactuals, other.counterfactuals)
            assert [each.safe for each in other.options] == [
                each.safe for each in explanation.options
            ]


def test_without_safe_options_nothing_more_is_asked() -> None:
    explainer, inputs = diabetes(LogisticRegression(max_iter=2000))
    asked = [
        explainer.with_strategy(strategy).explain_many(inputs)
        for strategy in (Nearest(), Nearest(safe=0), Nearest(safe=1))
    ]
    assert asked[0].model_rows == asked[1].model_rows < asked[2].model_rows
    assert asked[0].model_calls == asked[1].model_calls < asked[2].model_calls


def test_words_and_files_tell_which_options_are_safer() -> None:
    explainer, inputs = diabetes(LogisticRegression(max_iter=2000))
    for count in (1, 2, 5):
        explainer = explainer.with_strategy(Nearest(safe=count))
        for explanation in explainer.explain_many(inputs):
            ranks = [str(option.rank) for option in explanation.options if option.safe]
            some = 0 < len(ranks) < len(explanation)
            for text in (explanation.describe(width=None), explanation.letter(width=None)):
                assert len(re.findall(r"safer\)", text)) == (len(ranks) if some else 0)
                if some and len(ranks) == 1:
                    assert f"Option {ranks[0]} is safer than the others" in text
                elif some:
                    assert f"{ranks[-1]} are safer than the others" in text
            loaded = Explanation.from_json(explanation.to_json(reasons=False))
            for other in (loaded, pickle.loads(pickle.dumps(explanation)), explanation.nearest(2)):
                marks = [option.safe for option in other.options]
                assert marks == [option.safe for option in explanation.options][: len(other)]
    many = explainer.explain_many(inputs)
    again = Explanations.from_json(many.to_json(reasons=False))
    assert [o.safe for each in again[2:5] for o in each.options] == [
        o.safe for each in many[2:5] for o in each.options
    ]


class Labels:
    """A model without probabilities."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, X: Any) -> Any:
        return self.model.predict(X)


def test_without_probabilities_safe_options_hold_near_by() -> None:
    explainer, inputs = diabetes(GradientBoostingClassifier(n_estimators=40, random_state=0))
    X = explainer.training_.table.decode(explainer.training_.pool.matrix)
    blind = DiverseExplainer(Labels(explainer.model), strategy=Nearest(safe=1)).fit(X)
    found = blind.explain_many(inputs)
    safe = [option for each in found for option in each.options if option.safe]
    others = [option for each in found for option in each.options if not option.safe]
    assert all((option.hold_rate or 0) >= 0.95 for option in safe)
    assert all((option.hold_rate or 0) < 0.95 for option in others)
    assert sum(any(option.safe for option in each.options) for each in found) > 20


def test_safe_options_can_be_those_that_other_models_agree_on() -> None:
    data = datasets.load("diabetes")
    explainer, inputs = diabetes(GradientBoostingClassifier(n_estimators=40, random_state=0))
    random, others = np.random.default_rng(0), []
    for _ in range(10):
        rows = random.integers(0, len(data.X), len(data.X))
        model = GradientBoostingClassifier(n_estimators=40, random_state=0)
        others.append(model.fit(data.X.iloc[rows], data.y.iloc[rows]))
    found = explainer.with_strategy(Nearest(safe=1, models=others)).explain_many(inputs)
    plain = explainer.explain_many(inputs)
    agreed = [np.mean([m.predict(e.counterfactuals) == 0 for m in others], axis=0) for e in found]
    before = [np.mean([m.predict(e.counterfactuals) == 0 for m in others], axis=0) for e in plain]
    for explanation, share in zip(found, agreed, strict=True):
        assert [o.safe for o in explanation.options] == (share >= 0.9 - 1e-9).tolist()
    have = [sum((share >= 0.9).any() for share in each) for each in (agreed, before)]
    assert have[0] > have[1]


def test_a_margin_holds_for_safe_options_too() -> None:
    explainer, inputs = diabetes(LogisticRegression(max_iter=2000))
    explainer = explainer.with_strategy(Nearest(safe=1))
    found = explainer.explain_many(inputs.head(6), margin=Margin(0.05), if_none="warn")
    for explanation in found:
        assert [option.safe for option in explanation.options] == sure_ones(explanation)
        assert all((option.hold_rate or 0) >= 0.95 for option in explanation.options)


class Probable:
    """A drawn model that is as sure as a row is far from where it decides."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.classes_ = np.array(["a", "b", "c"])

    def predict(self, X: Any) -> Any:
        return self.model.predict(X)

    def predict_proba(self, X: Any) -> Any:
        numbers = pd.util.hash_pandas_object(pd.DataFrame(X), index=False).to_numpy() % 1000
        sure = 0.5 + numbers / 2000
        own = np.asarray(self.predict(X))[:, None] == self.classes_
        return np.where(own, sure[:, None], (1 - sure[:, None]) / 2)


@given(constrained(), st.data())
def test_sets_with_safe_options_keep_what_was_promised(case: Case, data: st.DataObject) -> None:
    drawn = data.draw(models(case))
    labels = set(drawn.predict(case.X))
    assume(len(labels) > 1 and labels <= {"a", "b", "c"})
    model = Probable(drawn)
    kinds: list[Strategy] = [Nearest(safe=1), Shared(safe=2), Nearest(None, safe=3)]
    strategy = data.draw(st.sampled_from(kinds))
    explainer = DiverseExplainer(
        model, schema=case.schema, constraints=case.constraints, strategy=strategy
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CountersetWarning)
        try:
            explainer.fit(case.X)
        except InvalidInputError:  # a range between two values that an ordinal has not
            assume(False)
        found = explainer.explain_many(case.inputs, if_none="warn")
    training = records(case.X)
    for explanation, x in zip(found, records(case.inputs), strict=True):
        assert len(explanation) <= 5
        for option, c in zip(
            explanation.options, records(explanation.counterfactuals), strict=True
        ):
            assert broken(case.limits, case.features, training, x, c) == []
            assert option.label != explanation.label
            assert option.safe == ((option.probability or 0) >= 0.75)


@pytest.mark.parametrize("strategy", [Nearest, Shared])
def test_what_would_do_nothing_is_refused(strategy: Any) -> None:
    with pytest.raises(InvalidInputError, match="safe must be a whole number"):
        strategy(safe=-1)
    with pytest.raises(InvalidInputError, match="safe=1, models="):
        strategy(models=[LogisticRegression()])
    with pytest.raises(InvalidInputError, match="models is empty"):
        strategy(safe=1, models=[])
    with pytest.raises(InvalidInputError, match="models"):
        strategy(safe=1, models=LogisticRegression())
