"""scikit-learn: a pipeline that encodes a raw frame itself."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from counterset.datasets import Dataset
from frameworks.judging import explain_and_judge


@pytest.mark.parametrize("kind", ["category", "object", "string"])
@pytest.mark.parametrize(
    "classifier",
    [LogisticRegression(max_iter=1000), HistGradientBoostingClassifier(max_iter=20)],
    ids=["linear", "boosting"],
)
def test_a_pipeline_is_explained_in_the_space_of_the_raw_frame(
    credit: Dataset, credit_text: pd.DataFrame, classifier: Any, kind: str
) -> None:
    X = credit.X if kind == "category" else credit_text
    if kind == "string":
        X = X.astype(dict.fromkeys(X.select_dtypes("object"), "string"))
    encode = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude="number")),
    )
    model = make_pipeline(encode, classifier).fit(X, credit.y)
    explain_and_judge(model, X, model.predict)
