"""xgboost, lightgbm and catboost, with columns of categories."""

from __future__ import annotations

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost

from counterset import DiverseExplainer, InvalidInputError
from counterset.datasets import Dataset
from counterset.exceptions import ModelError
from frameworks.judging import check_looks_like, explain_and_judge


def three_classes(credit: Dataset) -> pd.Series:
    """Split the good loans into small and large ones, as numbers 0, 1, 2."""
    large = (credit.X["credit_amount"] > 3000).astype(int)
    return (credit.y == "good") * (1 + large)


def test_xgboost_on_numbers(diabetes: Dataset) -> None:
    X = diabetes.X.to_numpy(dtype=np.float32)
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=3).fit(X, diabetes.y)
    explain_and_judge(model, X, model.predict)


def test_xgboost_on_categories(credit: Dataset) -> None:
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=3, enable_categorical=True)
    model.fit(credit.X, (credit.y == "good").astype(int))
    explain_and_judge(model, credit.X, model.predict)


def test_xgboost_of_three_classes(credit: Dataset) -> None:
    model = xgboost.XGBClassifier(n_estimators=10, max_depth=3, enable_categorical=True)
    model.fit(credit.X, three_classes(credit))
    explain_and_judge(model, credit.X, model.predict)


def test_a_booster_of_xgboost_is_refused_by_its_own_word(diabetes: Dataset) -> None:
    model = xgboost.XGBClassifier(n_estimators=2).fit(diabetes.X, diabetes.y)
    with pytest.raises(ModelError, match="Expecting data to be a DMatrix"):
        DiverseExplainer.paper(model.get_booster()).fit(diabetes.X)


def test_lightgbm_on_categories(credit: Dataset) -> None:
    model = lightgbm.LGBMClassifier(n_estimators=20, max_depth=3, verbose=-1)
    model.fit(credit.X, credit.y)
    explain_and_judge(model, credit.X, model.predict)


def test_lightgbm_of_three_classes(credit: Dataset) -> None:
    model = lightgbm.LGBMClassifier(n_estimators=10, max_depth=3, verbose=-1)
    model.fit(credit.X, three_classes(credit))
    explain_and_judge(model, credit.X, model.predict)


def test_probabilities_of_a_booster_of_lightgbm_are_not_taken_for_classes(credit: Dataset) -> None:
    model = lightgbm.LGBMClassifier(n_estimators=20, max_depth=3, verbose=-1)
    booster = model.fit(credit.X, credit.y).booster_
    explainer = DiverseExplainer.paper(booster).fit(credit.X)
    unlikely = credit.X[booster.predict(credit.X) < 0.3][:3]
    for target in (None, 1):
        with pytest.raises(InvalidInputError, match=r"predicts numbers.*interval"):
            explainer.explain_many(unlikely, target=target)
    for each in explainer.explain_many(unlikely, interval=(0.5, 1)):
        assert (booster.predict(each.counterfactuals) >= 0.5).all()
        check_looks_like(each.counterfactuals, credit.X)


def test_a_booster_of_several_classes_is_told_to_take_the_highest(credit: Dataset) -> None:
    model = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1)
    booster = model.fit(credit.X, three_classes(credit)).booster_
    with pytest.raises(ModelError, match=r"3 values for each row .*argmax"):
        DiverseExplainer.paper(booster).fit(credit.X)


@pytest.mark.parametrize("classes", [2, 3])
def test_catboost_on_text(credit: Dataset, credit_text: pd.DataFrame, classes: int) -> None:
    model = catboost.CatBoostClassifier(
        iterations=20,
        cat_features=list(credit_text.select_dtypes("object")),
        verbose=0,
        allow_writing_files=False,
        random_seed=0,
    )
    model.fit(credit_text, credit.y if classes == 2 else three_classes(credit))
    # Several classes come in a column, of shape (n, 1).
    assert model.predict(credit_text).ndim == classes - 1
    explain_and_judge(model, credit_text, lambda rows: model.predict(rows).reshape(-1))


def test_catboost_on_categories_with_a_probability(credit: Dataset) -> None:
    X = credit.X[["checking_status", "duration", "purpose", "credit_amount", "savings_status"]]
    model = catboost.CatBoostClassifier(
        iterations=30,
        cat_features=["checking_status", "purpose", "savings_status"],
        verbose=0,
        allow_writing_files=False,
        random_seed=0,
    ).fit(X, credit.y)
    explainer = DiverseExplainer.paper(model, max_counterfactuals=2).fit(X)
    declined = X[model.predict(X) == "bad"][:5]
    for each in explainer.explain_many(declined, target="good", target_probability=0.7):
        good = model.predict_proba(each.counterfactuals)[:, list(model.classes_).index("good")]
        assert (good >= 0.7).all()
        check_looks_like(each.counterfactuals, X)
