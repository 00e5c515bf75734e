"""ONNX files, exported by skl2onnx and by torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import torch
from skl2onnx import to_onnx
from skl2onnx.common.data_types import Int64TensorType, StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from counterset import DiverseExplainer, InvalidInputError
from counterset.datasets import Dataset
from counterset.exceptions import ModelError
from frameworks.judging import explain_and_judge


def ask(path: Path, feeds: dict[str, Any]) -> Any:
    return onnxruntime.InferenceSession(str(path)).run(None, feeds)[0]


@pytest.fixture
def forest(diabetes: Dataset, tmp_path: Path) -> Path:
    X = diabetes.X.to_numpy(dtype=np.float32)
    model = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, diabetes.y)
    path = tmp_path / "forest.onnx"
    path.write_bytes(to_onnx(model, X[:1]).SerializeToString())
    return path


@pytest.mark.parametrize("kind", [str, Path, onnxruntime.InferenceSession])
def test_a_forest_exported_by_skl2onnx(forest: Path, diabetes: Dataset, kind: Any) -> None:
    X = diabetes.X.to_numpy(dtype=np.float32)
    explain_and_judge(
        kind(str(forest)),
        X,
        lambda rows: ask(forest, {"X": rows}),
        picklable=kind is not onnxruntime.InferenceSession,  # a session never is
    )


def test_a_pipeline_with_an_input_for_each_column(
    credit: Dataset, credit_text: pd.DataFrame, tmp_path: Path
) -> None:
    X = credit_text
    texts, numbers = list(X.select_dtypes("object")), list(X.select_dtypes("number"))
    encode = make_column_transformer((OneHotEncoder(), texts), (StandardScaler(), numbers))
    model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(X, credit.y)
    types = [
        (name, (StringTensorType if name in texts else Int64TensorType)([None, 1])) for name in X
    ]
    path = tmp_path / "credit.onnx"
    path.write_bytes(to_onnx(model, initial_types=types).SerializeToString())

    def decide(rows: pd.DataFrame) -> Any:
        return ask(path, {str(name): rows[[name]].to_numpy() for name in rows})

    explain_and_judge(path, X, decide)


def network(outputs: int = 2) -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, outputs)
    ).eval()


def test_a_network_exported_by_torch(diabetes: Dataset, tmp_path: Path) -> None:
    X = diabetes.X.to_numpy()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    path = tmp_path / "network.onnx"
    torch.onnx.export(
        network(),
        (torch.zeros(2, 8),),
        path,
        input_names=["rows"],
        dynamic_shapes=({0: torch.export.Dim("n")},),
        verbose=False,
    )

    def decide(rows: Any) -> Any:
        return ask(path, {"rows": rows.astype(np.float32)}).argmax(axis=1)

    explain_and_judge(str(path), X, decide)


def test_a_network_exported_for_a_fixed_number_of_rows_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "fixed.onnx"
    torch.onnx.export(network(), (torch.zeros(1, 8),), path, verbose=False)
    with pytest.raises(ModelError, match=r"exactly 1 rows at a time.*dynamic_shapes"):
        DiverseExplainer.paper(path).fit(np.eye(8))


def test_a_file_that_is_no_model_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"not a model")
    with pytest.raises(InvalidInputError, match=r"be read as an ONNX file \(InvalidProtobuf"):
        DiverseExplainer.paper(path).fit(np.eye(2))
