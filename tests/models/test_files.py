"""Models in files: what is read, what must be trusted, and what is told of junk."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from support.framework_stand_ins import InferenceSession

from counterset import InvalidInputError
from counterset.exceptions import MissingExtraError
from counterset.models.files import feature_names, load_model

X = pd.DataFrame(np.random.default_rng(0).random((60, 2)), columns=["income", "debt"])
Y = np.where(X["income"] > X["debt"], "yes", "no")
MODEL = LogisticRegression().fit(X, Y)


class OwnModel(LogisticRegression):
    """A model of a class that skops does not know."""


class Trap:
    """Runs code when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (f"import pathlib; pathlib.Path({self.path!r}).touch()",)


@pytest.mark.parametrize("name", ["model.joblib", "model.pkl", "model"])
def test_a_pickle_runs_nothing_unless_it_is_trusted(tmp_path: Path, name: str) -> None:
    # Any pickle was loaded, and so any code was run.
    path, trace = tmp_path / name, tmp_path / "trace"
    path.write_bytes(pickle.dumps(Trap(trace)))
    with pytest.raises(InvalidInputError, match=r"can run any code when it is loaded.*--trust"):
        load_model(path)
    assert not trace.exists()


@pytest.mark.parametrize("ending", [".skops", ".onnx"])
def test_a_pickle_by_another_name_runs_nothing(
    tmp_path: Path, ending: str, onnxruntime: Any
) -> None:
    if ending == ".skops":
        pytest.importorskip("skops")
    path, trace = tmp_path / f"model{ending}", tmp_path / "trace"
    path.write_bytes(pickle.dumps(Trap(trace)))
    with pytest.raises(InvalidInputError, match=r"cannot be read as an? (skops|ONNX) file"):
        load_model(path, trust=True)
    assert not trace.exists()


def test_trusted_pickles_of_both_kinds_are_loaded(tmp_path: Path) -> None:
    joblib.dump(MODEL, tmp_path / "model.joblib")
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(MODEL))
    for name in ("model.joblib", "model.pkl"):
        assert load_model(tmp_path / name, trust=True).predict(X).tolist() == list(MODEL.predict(X))


@pytest.mark.parametrize(
    "content", [b"", b"junk", b"\x80\x04", b"hello world\n", bytes(range(256)), b"a,b\n1,2\n"]
)
def test_junk_is_told_with_its_file(tmp_path: Path, content: bytes) -> None:
    # Each had a traceback of its own.
    path = tmp_path / "model.pkl"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"model\.pkl cannot be read as a pickled model"):
        load_model(path, trust=True)


def test_a_pickle_that_is_no_model_is_told(tmp_path: Path) -> None:
    joblib.dump({"model": MODEL}, tmp_path / "model.joblib")
    with pytest.raises(InvalidInputError, match="holds no model, but an object of type dict"):
        load_model(tmp_path / "model.joblib", trust=True)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    for name in ("model.joblib", "model.skops", "model.onnx"):
        with pytest.raises(InvalidInputError, match="There is no file"):
            load_model(tmp_path / name)


def test_a_missing_skops_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skops", None)
    (tmp_path / "model.skops").write_bytes(b"")
    with pytest.raises(MissingExtraError, match=r"pip install 'counterset\[skops\]'"):
        load_model(tmp_path / "model.skops")


def test_a_skops_file_needs_no_trust(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    skops.dump(MODEL, tmp_path / "model.skops")
    model = load_model(tmp_path / "model.skops")
    assert feature_names(model) == ["income", "debt"]
    assert model.predict(X).tolist() == list(MODEL.predict(X))


def test_types_that_skops_does_not_know_are_listed_and_need_trust(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    path = tmp_path / "model.skops"
    skops.dump(OwnModel().fit(X, Y), path)
    with pytest.raises(InvalidInputError, match=r"not known to be safe .*OwnModel\..*--trust"):
        load_model(path)
    assert load_model(path, trust=True).predict(X).tolist() == list(MODEL.predict(X))


def loans_with_kinds() -> tuple[pd.DataFrame, Any]:
    home = np.where(X["income"] > 0.5, "own", "rent")
    return X.assign(home=pd.Categorical(home)), Y


def test_a_skops_file_that_selects_columns_by_their_dtype_needs_no_trust(tmp_path: Path) -> None:
    # It was refused, though pickles were told that skops files need no trust.
    skops = pytest.importorskip("skops.io")
    rows, labels = loans_with_kinds()
    encode = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude=np.number)),
        (SimpleImputer(), make_column_selector(dtype_include="number")),
    )
    fitted = make_pipeline(encode, LogisticRegression()).fit(rows, labels)
    skops.dump(fitted, tmp_path / "model.skops")
    model = load_model(tmp_path / "model.skops")
    assert model.predict(rows).tolist() == fitted.predict(rows).tolist()


def test_a_pipeline_needs_trust_for_its_trees_at_most(tmp_path: Path) -> None:
    # Up to 0.15, skops trusts the trees of scikit-learn, and older ones do not trust its losses.
    skops = pytest.importorskip("skops.io")
    rows, labels = loans_with_kinds()
    text = make_column_selector(dtype_include="category")
    encode = make_column_transformer((OneHotEncoder(), text), remainder="passthrough")
    trees = GradientBoostingClassifier(n_estimators=3, random_state=0)
    fitted = make_pipeline(encode, trees).fit(rows, labels)
    path = tmp_path / "model.skops"
    skops.dump(fitted, path)
    try:
        load_model(path)
    except InvalidInputError as error:
        told = str(error)
        assert "not known to be safe in a file from anyone: sklearn." in told
        assert "make_column_selector" not in told
        assert told.endswith("If you know where the file comes from, pass --trust.")
    assert load_model(path, trust=True).predict(rows).tolist() == fitted.predict(rows).tolist()


def test_a_table_in_place_of_a_model_is_not_to_be_trusted(tmp_path: Path) -> None:
    # The advice was to pass --trust.
    path = tmp_path / "rows.csv"
    path.write_text("a\n1\n")
    with pytest.raises(InvalidInputError, match=r"rows\.csv is a table by its name") as told:
        load_model(path)
    assert "--trust" not in str(told.value)


@pytest.fixture
def onnxruntime(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a stand-in in the place of onnxruntime; it reads files that begin with ``onnx``."""
    runtime: Any = ModuleType("onnxruntime")

    def open_session(path: str, providers: list[str]) -> InferenceSession:
        content = Path(path).read_bytes()
        if not content.startswith(b"onnx"):
            raise RuntimeError("Protobuf parsing failed.")
        names = content.decode().split()[1:]
        inputs = [(name, "tensor(float)", [None, 1]) for name in names]
        return InferenceSession(inputs, [("label", "tensor(int64)")], lambda feeds, name: feeds)

    runtime.InferenceSession = open_session
    runtime.get_available_providers = lambda: ["CPU"]
    monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    return runtime


def test_an_onnx_file_needs_no_trust(tmp_path: Path, onnxruntime: Any) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"onnx rows")
    assert load_model(path) == str(path)
    assert feature_names(str(path)) is None


def test_an_onnx_file_with_an_input_for_each_feature_knows_their_names(
    tmp_path: Path, onnxruntime: Any
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"onnx income debt")
    assert feature_names(load_model(path)) == ["income", "debt"]


def test_a_function_has_no_names() -> None:
    assert feature_names(len) is None
