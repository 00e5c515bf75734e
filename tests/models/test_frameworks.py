"""How models of frameworks are known and read; stand-ins take the place of the frameworks.

The real ones are asked in ``tests/frameworks``.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.framework_stand_ins import InferenceSession, Model, Module, Sequential, Tensor, session

from counterset import CountersetError, DiverseExplainer, InvalidInputError
from counterset.exceptions import MissingExtraError, ModelError
from counterset.models.adapter import ModelAdapter
from counterset.models.frameworks import (
    KerasModel,
    OnnxFile,
    OnnxSession,
    TorchModule,
    as_predictor,
)
from counterset.tables.table import Table

ROWS = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 0.0]])
FRAME = pd.DataFrame({"age": [30, 40, 50], "home": ["own", "rent", "own"]})


def labels(model: Any, X: Any = ROWS) -> list[Any]:
    table, matrix = Table.learn(X)
    answer: list[Any] = ModelAdapter(model, table).labels(matrix).tolist()
    return answer


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    class NoGrad:
        def __enter__(self) -> None: ...

        def __exit__(self, *error: object) -> None: ...

    module: Any = ModuleType("torch")
    module.Tensor, module.no_grad = Tensor, NoGrad
    module.from_numpy = lambda array: array.view(Tensor)
    module.get_default_dtype = lambda: np.float32
    monkeypatch.setitem(sys.modules, "torch", module)
    return module  # type: ignore[no-any-return]


# Which model is which.


def test_what_is_no_model_of_a_framework_stays_itself() -> None:
    for model in (len, SimpleNamespace(predict=len), "forest", None):
        assert as_predictor(model) is model


def test_models_are_known_by_their_class_or_one_above_it() -> None:
    class OwnModule(Module):
        pass

    assert isinstance(as_predictor(OwnModule(len)), TorchModule)
    assert isinstance(as_predictor(Sequential(len)), KerasModel)
    assert isinstance(as_predictor(session()), OnnxSession)
    assert as_predictor(Path("a.onnx")) == as_predictor("a.onnx") == OnnxFile("a.onnx")


def test_a_keras_model_on_the_torch_backend_is_a_keras_model() -> None:
    # It used to be asked as a torch module.
    both = type("Both", (Sequential, Module), {})(len)
    assert isinstance(as_predictor(both), KerasModel)


def test_a_torch_module_with_a_predict_of_its_own_is_asked_by_that() -> None:
    class WithPredict(Module):
        def predict(self, rows: Any) -> Any:
            return ["own"] * len(rows)

    assert labels(WithPredict(len)) == ["own"] * 3


def test_a_wrapper_for_scikit_learn_is_not_a_keras_model() -> None:
    wrapper = type("SKLearnClassifier", (), {"__module__": "keras.src.wrappers"})()
    assert as_predictor(wrapper) is wrapper


# Scores, labels and numbers.


def test_scores_become_the_position_of_the_highest(torch: ModuleType) -> None:
    assert labels(Module(lambda rows: rows)) == [1, 0, 0]
    assert labels(Model(lambda rows: rows)) == [1, 0, 0]
    assert labels(session()) == [1, 0, 0]


@pytest.mark.parametrize("shape", [(3,), (3, 1)])
def test_a_single_number_is_taken_as_it_is(shape: tuple[int, ...], torch: ModuleType) -> None:
    def last(rows: Any) -> Any:
        return rows[:, 1].reshape(shape)

    for model in (Module(last), Model(last), Model(last, "sigmoid"), Sequential(last, "linear")):
        assert labels(model) == [1.0, 0.5, 0.0]


def test_a_network_of_one_score_asks_for_an_interval(torch: ModuleType) -> None:
    X = np.random.default_rng(0).random((50, 2))
    explainer = DiverseExplainer.paper(
        Module(lambda rows: rows.sum(axis=1, keepdims=True)), diversity=None, max_counterfactuals=1
    ).fit(X)
    with pytest.raises(InvalidInputError, match=r"predicts numbers.*interval=\(0.5, 1\)"):
        explainer.explain([0.1, 0.1])
    assert explainer.explain([0.1, 0.1], interval=(1, 2)).labels[0] >= 1


def test_a_keras_model_that_ends_in_a_sigmoid_has_the_classes_0_and_1() -> None:
    model = Sequential(lambda rows: rows[:, 1:], "sigmoid")
    assert labels(model) == [1, 0, 0]
    model.layers = []
    assert labels(model) == [1.0, 0.5, 0.0]


def test_labels_of_a_network_are_kept(torch: ModuleType) -> None:
    assert labels(Module(lambda rows: rows.argmax(axis=1))) == [1, 0, 0]


@pytest.mark.parametrize(
    "answer",
    [
        np.zeros((3, 2, 2)), np.zeros(()), np.zeros((3, 0)), np.zeros((3, 2), dtype=int),
        [np.zeros((3, 2)), np.zeros((3, 1))],
    ],
    ids=["3-d", "number", "no columns", "several labels", "several outputs"],
)  # fmt: skip
def test_a_wrong_shape_is_explained(answer: Any) -> None:
    with pytest.raises(ModelError, match=r"(per row|per class and row).*got .*shape"):
        labels(Model(lambda rows: answer))


def test_scores_of_the_wrong_number_of_rows_are_explained() -> None:
    with pytest.raises(ModelError, match=r"asked about 3 rows, got an answer of shape \(2,\)"):
        labels(Model(lambda rows: rows[:2]))


def test_a_module_that_gives_several_tensors_is_explained(torch: ModuleType) -> None:
    with pytest.raises(
        ModelError, match=r"returned a tuple, where one tensor.*Wrap it in a function"
    ):
        labels(Module(lambda rows: (rows, rows)))


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ModelError, match=r"keras model returned a score .*NaN"):
        labels(Model(lambda rows: np.full((3, 2), np.nan)))
    with pytest.raises(ModelError, match="missing label"):
        labels(Sequential(lambda rows: np.full((3, 1), np.nan), "sigmoid"))


def test_an_answer_that_is_no_array_is_explained() -> None:
    with pytest.raises(ModelError, match="a list, cannot be read as an array"):
        labels(lambda rows: [[0], [0, 1], [0]])


def test_text_is_refused_with_the_columns_that_hold_it() -> None:
    with pytest.raises(ModelError, match=r"columns \['home'\] hold something else.*encodes"):
        labels(Model(len), FRAME)


def test_missing_values_of_nullable_columns_reach_a_network_as_nan() -> None:
    frame = pd.DataFrame({"age": pd.array([30, None, 50], dtype="Int64"), "old": [True] * 3})
    seen: list[Any] = []

    def compute(values: Any) -> Any:
        seen.append(values)
        return np.ones((len(values), 2))

    labels(Model(compute), frame)
    np.testing.assert_array_equal(seen[0], [[30, 1], [np.nan, 1], [50, 1]])


# Torch.


def test_a_module_is_asked_in_evaluation_mode_and_each_part_put_back(torch: ModuleType) -> None:
    # A part that was frozen used to be in training afterwards.
    frozen, learning = Module(len), Module(len)
    frozen.training = False
    module = Module(lambda rows: rows, parts=(frozen, learning))
    labels(module)
    assert module.seen[0][1] == [False, False, False]
    assert (module.training, frozen.training, learning.training) == (True, False, True)


def test_a_module_is_put_back_after_an_error(torch: ModuleType) -> None:
    def broken(rows: Any) -> Any:
        raise ZeroDivisionError("oops")

    module = Module(broken)
    with pytest.raises(ModelError, match="raised ZeroDivisionError"):
        labels(module)
    assert module.training


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_module_gets_the_dtype_of_its_parameters(dtype: Any, torch: ModuleType) -> None:
    # Rows used to be rounded to single precision, whatever the module computed in.
    whole, floating = np.zeros(1, dtype=int).view(Tensor), np.zeros(1, dtype=dtype).view(Tensor)
    module = Module(lambda rows: rows, parameters=[whole, floating])
    labels(module, ROWS + 1e-12)
    assert module.seen[0][0].dtype == dtype
    without = Module(lambda rows: rows)
    labels(without)
    assert without.seen[0][0].dtype == np.float32


# ONNX.


def test_the_labels_of_a_converted_classifier_are_read_wherever_they_stand() -> None:
    answers = {"probabilities": [{"no": 0.1}] * 3, "label": np.array(["no", "yes", "no"])}
    model = InferenceSession(
        [("rows", "tensor(double)", [None, 2])],
        [("probabilities", "seq(map(string,tensor(float)))"), ("label", "tensor(string)")],
        lambda feeds, name: answers[name],
    )
    assert labels(model) == ["no", "yes", "no"]
    assert model.fed["rows"].dtype == np.float64


def test_an_input_for_each_column_is_fed_by_its_name() -> None:
    model = InferenceSession(
        [("home", "tensor(string)", [None, 1]), ("age", "tensor(int64)", [None, 1])],
        [("label", "tensor(int64)")],
        lambda feeds, name: feeds["age"],
    )
    assert labels(model, FRAME) == [30, 40, 50]
    assert model.fed["home"].tolist() == [["own"], ["rent"], ["own"]]
    assert model.fed["age"].dtype == np.int64
    with pytest.raises(ModelError, match=r"has inputs \['home'\] that are not columns.*Name"):
        labels(model, FRAME[["age"]])


def test_an_input_for_each_column_is_fed_by_its_position_from_an_array() -> None:
    model = InferenceSession(
        [("a", "tensor(float)", [None, 1]), ("b", "tensor(float)", [None, 1])],
        [("label", "tensor(float)")],
        lambda feeds, name: feeds["b"],
    )
    assert labels(model) == [1.0, 0.5, 0.0]
    with pytest.raises(ModelError, match="that are not columns"):
        labels(model, np.column_stack([ROWS, ROWS]))


def test_a_fixed_number_of_rows_is_explained() -> None:
    model = session()
    model.inputs[0].shape = [1, 2]
    with pytest.raises(ModelError, match=r"exported for exactly 1 rows.*dynamic_shapes"):
        labels(model)


def test_fractions_are_not_cut_for_an_input_of_whole_numbers() -> None:
    whole = session("tensor(int64)")
    whole.compute = lambda feeds, name: feeds["rows"][:, 0]
    assert labels(whole, np.rint(ROWS)) == [0, 1, 2]
    with pytest.raises(ModelError, match=r"'rows' takes whole numbers.*rows have fractions"):
        labels(session("tensor(int64)"))


def test_an_input_that_no_table_can_fill_is_explained() -> None:
    with pytest.raises(ModelError, match=r"is a seq\(tensor\(float\)\), which rows of a table"):
        labels(session("seq(tensor(float))"))


@pytest.fixture
def onnx_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a file that a stand-in for onnxruntime opens, which records how often."""
    runtime: Any = ModuleType("onnxruntime")
    runtime.opened = []

    def open_session(path: str, providers: list[str]) -> InferenceSession:
        runtime.opened.append(path)
        return session()

    runtime.InferenceSession = open_session
    runtime.get_available_providers = lambda: ["CPU"]
    monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    path = tmp_path / "model.onnx"
    path.write_bytes(b"")
    return path


def test_a_file_is_opened_once_however_often_it_is_asked(onnx_file: Path) -> None:
    X = np.random.default_rng(0).random((30, 2))
    for path in (onnx_file, str(onnx_file)):
        explainer = DiverseExplainer.paper(path, max_counterfactuals=1, diversity=None).fit(X)
        copy = pickle.loads(pickle.dumps(explainer))
        for each in (explainer, copy):
            explanation = each.explain([0.2, 0.4])
            assert (explanation.label, explanation.labels.tolist()) == (1, [0])
    assert sys.modules["onnxruntime"].opened == [str(onnx_file.resolve())]


def test_a_file_that_is_not_there_is_refused(onnx_file: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"There is no file '.*other.onnx'"):
        labels(onnx_file.with_name("other.onnx"))


def test_a_missing_onnxruntime_names_the_extra(
    onnx_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'counterset\[onnx\]'") as caught:
        DiverseExplainer.paper(onnx_file).fit(ROWS)
    assert isinstance(caught.value, CountersetError)
    assert isinstance(caught.value, ImportError)
    assert "\n" not in str(caught.value)
