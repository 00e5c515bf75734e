"""Which options still work after retraining, on models that can be worked out by hand."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from counterset import (
    Constraints,
    DiverseExplainer,
    Explanation,
    Explanations,
    InvalidInputError,
    survival,
)
from counterset.evaluation import retrainings
from counterset.evaluation.retraining import How
from counterset.exceptions import ModelError

X = np.random.default_rng(0).random((300, 2)).round(2)
DECLINED = [[0.2, 0.3], [0.4, 0.5], [0.1, 0.1]]


class Threshold:
    """Says yes above a sum, and how probable that is."""

    classes_ = np.array(["no", "yes"])

    def __init__(self, least: float, classes: Any = ("no", "yes")) -> None:
        self.least, self.classes_ = least, np.array(classes)

    def predict(self, rows: Any) -> Any:
        return self.classes_[(np.asarray(rows).sum(axis=1) > self.least).astype(int)]

    def predict_proba(self, rows: Any) -> Any:
        yes = 1 / (1 + np.exp(-10 * (np.asarray(rows).sum(axis=1) - self.least)))
        return np.column_stack([1 - yes, yes])


def explained(**asked: Any) -> Explanations:
    explainer = DiverseExplainer(Threshold(1.0), max_counterfactuals=3).fit(X)
    return explainer.explain_many(DECLINED, if_none="ignore", **asked)


def literally(explanations: Explanations, models: list[Any], accepts: Any) -> list[list[bool]]:
    """Ask every model about every option, one at a time."""
    return [
        [bool(accepts(one.label, model, option.row)) for model in models]
        for one in explanations
        for option in one.options
    ]


MODELS = [Threshold(least) for least in (0.9, 1.0, 1.01, 1.05, 1.2)]


def test_each_option_is_asked_of_each_model() -> None:
    explanations = explained()
    survived = survival(explanations, models=MODELS)
    by_hand = literally(
        explanations, MODELS, lambda label, model, row: model.predict(row[None])[0] != label
    )
    assert survived.works.tolist() == by_hand
    assert survived.retrainings == 5
    assert len(survived) == 3
    assert survived.works[:, 1].all()  # the model that was explained
    assert not survived.works[:, 4].all()
    assert not survived.reached.any()


def test_a_set_survives_where_one_of_its_options_does() -> None:
    explanations = explained()
    survived = survival(explanations, models=MODELS)
    for i in range(len(explanations)):
        own = survived[i]
        assert own.sets_kept.tolist() == [int(own.works.any(axis=0).sum())]
        assert survived.sets_kept[i] == own.sets_kept[0]
        alone = survival(explanations[i], models=MODELS)
        assert alone.works.tolist() == own.works.tolist()
        assert alone.index.tolist() == own.index.tolist()


def test_inputs_that_have_what_is_wanted_after_retraining_are_counted() -> None:
    survived = survival(explained(), models=[Threshold(0.6), Threshold(0.1)])
    assert survived.reached.tolist() == [[False, True], [True, True], [False, True]]
    assert survived.to_frame("sets")["reached"].tolist() == [1, 2, 1]


def test_a_least_probability_is_asked_for_again() -> None:
    explanations = explained(target="yes", target_probability=0.8)
    model = Threshold(1.1)
    survived = survival(explanations, models=[Threshold(1.0), model])
    by_hand = literally(
        explanations, [model], lambda _, model, row: model.predict_proba(row[None])[0, 1] >= 0.8
    )
    assert survived.works[:, 0].all()
    assert survived.works[:, 1:].tolist() == by_hand
    with pytest.raises(InvalidInputError, match="needs a model with predict_proba"):
        survival(explanations, models=[lambda rows: np.repeat("yes", len(rows))])


def test_a_regression_must_stay_in_the_interval() -> None:
    def fitted(shift: float) -> Any:
        return lambda rows: np.asarray(rows).sum(axis=1) + shift

    explainer = DiverseExplainer(fitted(0.0), max_counterfactuals=3).fit(X)
    explanations = explainer.explain_many(DECLINED, interval=(1.2, 1.4), if_none="ignore")
    models = [fitted(0.0), fitted(0.1), fitted(5.0)]
    survived = survival(explanations, models=models)
    by_hand = literally(
        explanations, models, lambda _, model, row: 1.2 <= model(row[None])[0] <= 1.4
    )
    assert survived.works.tolist() == by_hand
    assert survived.works.mean(axis=0)[[0, 2]].tolist() == [1.0, 0.0]
    with pytest.raises(InvalidInputError, match=r"model 1 predicts 'yes', which is no number"):
        survival(explanations, models=[lambda rows: np.repeat("yes", len(rows))])


def thirds(low: float, high: float) -> Any:
    def predict(rows: Any) -> Any:
        total = np.asarray(rows).sum(axis=1)
        return np.where(total > high, "c", np.where(total > low, "b", "a"))

    return predict


def test_of_several_classes_the_wanted_one_counts() -> None:
    explainer = DiverseExplainer(thirds(0.7, 1.3), max_counterfactuals=2).fit(X)
    any_other = explainer.explain_many(DECLINED[:1], if_none="ignore")
    wanted = explainer.explain_many(DECLINED[:1], target="b", if_none="ignore")
    jumped = [thirds(0.5, 0.6)]  # what led to b leads to c now
    assert survival(any_other, models=jumped).works.all()
    assert not survival(wanted, models=jumped).works.any()
    several = explainer.explain_many(DECLINED[:1], target=["b", "c"], if_none="ignore")
    assert survival(several, models=jumped).works.all()


def test_people_without_an_option_are_left_out_of_the_mean() -> None:
    explanations = explained(constraints=Constraints(decrease_only=["x0", "x1"]))
    survived = survival(explanations, models=MODELS)
    assert survived.sets_kept.tolist() == [0, 0, 0]
    assert np.isnan(survived.set_share)
    assert np.isnan(survived.share)
    assert np.isnan(survived.nearest_share)
    assert survived.to_frame("sets")["share"].isna().all()
    assert len(survived.to_frame()) == 0
    assert str(survived[0]) == "there is no option"
    assert str(survived) == "0 options of 3 inputs, after 5 retrainings:"


def test_retrain_gets_one_seed_after_the_other() -> None:
    seeds = []

    def retrain(seed: int) -> Threshold:
        seeds.append(seed)
        return Threshold(1 + seed / 100)

    survived = survival(explained(), retrain=retrain, n=4, random_state=10)
    assert seeds == [10, 11, 12, 13]
    assert survived.retrainings == 4
    seeds.clear()
    survival(explained(), retrain=retrain)
    assert seeds == list(range(20))


def test_models_are_asked_when_they_are_fitted_and_only_once() -> None:
    alive = []

    class Counting(Threshold):
        def predict(self, rows: Any) -> Any:
            alive.append((id(self), len(rows)))
            return super().predict(rows)

    explanations = explained()
    rows = 3 + int(explanations.counts.sum())
    survival(explanations, models=(Counting(1.0) for _ in range(3)))
    assert [count for _, count in alive] == [rows] * 3


def test_files_and_frames_are_asked_too() -> None:
    frame = pd.DataFrame(X, columns=["income", "debt"])
    seen = []

    def model(rows: pd.DataFrame) -> Any:
        seen.append(list(rows.columns))
        return np.where(rows["income"] > 0.6, "yes", "no")

    explainer = DiverseExplainer(model, max_counterfactuals=1).fit(frame)
    people = pd.DataFrame({"income": [0.1, 0.2], "debt": 0.5}, index=["Łukasz", "ليلى"])
    explanations = explainer.explain_many(people)
    survived = survival(explanations, models=[model])
    assert survived.to_frame("sets").index.tolist() == ["Łukasz", "ليلى"]
    assert survived.to_frame().index[0] == ("Łukasz", 1)
    assert seen[-1] == ["income", "debt"]
    loaded = Explanation.from_json(explanations[1].to_json(reasons=False))
    assert survival(loaded, models=[model]).works.tolist() == [[True]]


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([Threshold(1.0, ["no", "maybe"])], r"Model 1 no longer knows 'yes', which was wanted"),
        ([MODELS[0], lambda rows: np.zeros(len(rows), dtype=int)], r"Model 2 predicts 0 and none"),
        ([], "models is empty"),
        (Threshold(1.0), "models takes a list of fitted models"),
        (7, "models takes a list of fitted models, got int"),
    ],
)
def test_models_that_cannot_be_compared_are_refused(models: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        survival(explained(target="yes"), models=models)


def test_a_model_of_one_class_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="Model 1 knows 'no' only"):
        survival(explained(), models=[Threshold(1.0, ["no"])])


def test_wrong_arguments_are_refused() -> None:
    explanations = explained()
    model: Any
    with pytest.raises(InvalidInputError, match="not both"):
        survival(explanations)
    with pytest.raises(InvalidInputError, match="not both"):
        survival(explanations, models=MODELS, retrain=Threshold)
    with pytest.raises(InvalidInputError, match="are about retrain="):
        survival(explanations, models=MODELS, n=3)
    with pytest.raises(InvalidInputError, match="n must be a whole number"):
        survival(explanations, retrain=Threshold, n=0)
    with pytest.raises(InvalidInputError, match="retrain must be a function"):
        survival(explanations, retrain=7)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="survival takes explanations"):
        survival(X, models=MODELS)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="nothing can survive"):
        survival(explanations[:0], models=MODELS)
    model = lambda rows: rows["income"]  # noqa: E731
    with pytest.raises(ModelError, match="The model raised"):
        survival(explanations, models=[model])


def test_the_figures_of_a_set_are_those_of_its_nearest_options() -> None:
    survived = survival(explained(), models=MODELS)
    nearest = survived.of_nearest(1)
    first = [survived[i].works[0].tolist() for i in range(3)]
    assert nearest.works.tolist() == first
    assert nearest.set_share == nearest.share == survived.nearest_share
    assert survived.of_nearest(9).works.tolist() == survived.works.tolist()


def test_bounds_are_those_of_stability() -> None:
    frame = survival(explained(), models=[Threshold(1.0)] * 20).to_frame()
    assert frame["least_share"].round(2).tolist() == [0.86] * len(frame)
    with pytest.raises(InvalidInputError, match="of must be"):
        survival(explained(), models=MODELS).to_frame("people")  # type: ignore[arg-type]


Y = X.sum(axis=1) + np.random.default_rng(1).normal(0, 0.1, 300) > 1


def test_retrained_models_differ_and_are_the_same_each_time() -> None:
    for how in ("bootstrap", "drop"):
        models = list(retrainings(LogisticRegression(), X, Y, how, n=3))
        again = list(retrainings(LogisticRegression(), X, Y, how, n=3))
        weights = [model.coef_.tolist() for model in models]
        assert len(set(map(str, weights))) == 3
        assert weights == [model.coef_.tolist() for model in again]


def test_dropping_leaves_out_a_tenth_and_a_bootstrap_repeats_rows() -> None:
    class Recording(LogisticRegression):
        def fit(self, X: Any, y: Any) -> Any:
            self.rows_ = np.asarray(X)
            assert ((self.rows_.sum(axis=1) > 1) == np.asarray(y)).all()  # rows and labels belong
            return super().fit(X, y)

    rows = pd.DataFrame({"a": np.arange(200) / 100, "b": 0.0})
    labels = pd.Series(rows["a"] > 1)
    dropped, drawn = (
        next(retrainings(Recording(), rows, labels, how, n=1)).rows_[:, 0]
        for how in ("drop", "bootstrap")
    )
    assert (len(dropped), len(set(dropped))) == (180, 180)
    assert (dropped == np.sort(dropped)).all()
    assert len(drawn) == 200
    assert len(set(drawn)) < 150
    later = rows[:40].add([5.0, 0.0]), np.ones(40, dtype=bool)
    (newer,) = retrainings(Recording(), rows, labels, "newer", newer=later, n=1)
    assert newer.rows_[:200, 0].tolist() == rows["a"].tolist()
    assert len(newer.rows_) == 240
    assert newer.rows_[200:, 0].min() >= 5


def test_another_seed_is_given_to_every_part() -> None:
    tree = DecisionTreeClassifier(max_features=1, random_state=3)
    seeds = [model.random_state for model in retrainings(tree, X, Y, "seed", n=4)]
    assert len(set(seeds)) == 4
    assert tree.random_state == 3
    kept = [model.random_state for model in retrainings(tree, X, Y, n=2)]
    assert kept == [3, 3]
    drawn = DecisionTreeClassifier(max_features=1)  # would differ from one run to the next
    first, second = ([m.random_state for m in retrainings(drawn, X, Y, n=2)] for _ in range(2))
    assert first == second
    assert None not in first


def test_every_class_is_drawn() -> None:
    y = np.array(["rare"] + ["often"] * 299)
    for model in retrainings(DecisionTreeClassifier(), X, y, n=10):
        assert model.classes_.tolist() == ["often", "rare"]


def test_polars_is_drawn_from_too() -> None:
    polars = pytest.importorskip("polars")
    frame, labels = polars.DataFrame({"a": X[:, 0], "b": X[:, 1]}), polars.Series(Y)
    for how in get_args(How):
        newer = (frame[:20], labels[:20]) if how == "newer" else None
        tree = DecisionTreeClassifier()
        (model,) = retrainings(tree, frame, labels, how, newer=newer, n=1)
        assert model.n_features_in_ == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((LogisticRegression(), X, Y, "month"), "how must be 'bootstrap'"),
        ((LogisticRegression, X, Y), "takes an estimator of scikit-learn"),
        ((Threshold(1.0), X, Y), "takes an estimator of scikit-learn"),
        ((LogisticRegression(), X, Y[:5]), "same number of rows"),
        ((LogisticRegression(), X, Y, "newer"), r"Pass newer=\(X, y\) with how='newer'"),
    ],
)
def test_what_cannot_be_retrained_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        retrainings(*arguments)


def test_newer_rows_must_fit() -> None:
    for newer, message in (
        ((pd.DataFrame(X), Y), "same container"),
        ((X, Y[:3]), "The rows and the labels of newer"),
        (X[0, 0], "takes a pair of rows and labels"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            retrainings(LogisticRegression(), X, Y, "newer", newer=newer)
    with pytest.raises(InvalidInputError, match="only then"):
        retrainings(LogisticRegression(), X, Y, newer=(X, Y))


def test_without_a_seed_training_again_is_no_other_model() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(InvalidInputError, match="KNeighborsClassifier has no random_state"):
        retrainings(KNeighborsClassifier(), X, Y, "seed")
