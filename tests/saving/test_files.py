"""Saved explainers: they answer as before, run no code, and say what is wrong with a file."""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from support.container_tables import above, tables, to_arrow
from support.mixed_tables import Case, Model, constrained, models
from support.toys import FRAME, Recorder, X, approve

from counterset import (
    Constraints,
    DiverseExplainer,
    Explanations,
    InvalidInputError,
    Margin,
    NearData,
    Nearest,
    Paper,
    Schema,
    Shared,
)
from counterset.batch import FrameExplainer
from counterset.exceptions import MissingExtraError, NotFittedError
from counterset.saving import files

STRATEGIES = (Nearest(), Nearest(both_ways=True), Nearest(safe=1), Shared(), Shared(own=0))
STRATEGIES += (Paper(), Paper(regions=3), Paper(search=None, diversity=None))  # type: ignore[assignment]


def through_file(explainer: DiverseExplainer, **options: Any) -> DiverseExplainer:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "explainer"
        explainer.save(path)
        return DiverseExplainer.load(path, explainer.model, **options)


def answers(explainer: DiverseExplainer, inputs: Any, **asked: Any) -> Explanations:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return explainer.explain_many(inputs, if_none="warn", **asked)


def assert_equal(some: Explanations, others: Explanations) -> None:
    a, b = some.to_frame(), others.to_frame()
    assert type(a) is type(b)
    if isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b, check_exact=True)
    else:
        assert a.equals(b)
        assert a.schema == b.schema
    assert some.to_json() == others.to_json()


@st.composite
def cases(draw: st.DrawFn) -> tuple[Case, Model]:
    case = draw(constrained())
    model = draw(models(case))
    assume(len(set(model.predict(case.X))) > 1)
    return case, model


@settings(max_examples=40)
@given(
    cases(),
    st.sampled_from(STRATEGIES),
    st.sampled_from(["l1", "l2", "linf", "l0", "gower"]),
    st.sampled_from([{}, {"plausibility": NearData()}, {"anonymity": 2}, {"margin": Margin(0.02)}]),
)
def test_a_loaded_explainer_answers_as_the_saved_one(
    drawn: tuple[Case, Model], strategy: Any, distance: str, more: dict[str, Any]
) -> None:
    case, model = drawn
    parameters = {"schema": case.schema, "constraints": case.constraints, **more}
    explainer = DiverseExplainer(model, strategy=strategy, distance=distance, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            explainer.fit(case.X)
        except InvalidInputError:  # constraints that no row can keep
            assume(False)
    loaded = through_file(explainer)
    assert repr(loaded) == repr(explainer)
    assert loaded.schema_ == explainer.schema_
    assert_equal(answers(loaded, case.inputs), answers(explainer, case.inputs))
    assert_equal(  # what was learned by the first call is saved too
        answers(through_file(explainer), case.inputs), answers(explainer, case.inputs)
    )


@settings(max_examples=15)
@given(tables(), st.sampled_from(["polars", "pyarrow"]))
def test_tables_of_polars_and_pyarrow_come_back_as_they_were(
    drawn: tuple[pd.DataFrame, pl.DataFrame], library: str
) -> None:
    table: Any = drawn[1] if library == "polars" else to_arrow(drawn[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = DiverseExplainer(above, max_counterfactuals=2).fit(table)
    loaded = through_file(explainer)
    low = table[:3]
    assert_equal(answers(loaded, low), answers(explainer, low))
    rows: list[Any] = [
        each.training_.table.decode(each.training_.pool.matrix) for each in (loaded, explainer)
    ]
    assert rows[0].equals(rows[1])


@pytest.mark.parametrize(
    "asked", [{"target": "c"}, {"target": ["b", "c"]}, {"target": "b", "target_probability": 0.6}]
)
@pytest.mark.parametrize("strategy", [Nearest(), Shared(), Paper(regions=3)])
def test_what_was_prepared_is_not_learned_again(strategy: Any, asked: dict[str, Any]) -> None:
    class Asked:
        """A model that counts the rows that it is asked about."""

        def __init__(self) -> None:
            self.inner = LogisticRegression().fit(X, np.digitize(X.sum(axis=1), [0.8, 1.2]))
            self.classes_, self.rows = np.array(list("abc")), 0

        def predict(self, rows: Any) -> Any:
            self.rows += len(rows)
            return self.classes_[self.inner.predict(rows)]

        def predict_proba(self, rows: Any) -> Any:
            self.rows += len(rows)
            return self.inner.predict_proba(rows)

    model = Asked()
    explainer = DiverseExplainer(model, strategy=strategy).fit(X).prepare(**asked)
    loaded, counts = through_file(explainer), []
    for each in (explainer, loaded, loaded):
        before = model.rows
        answers(each, X[:3], skip=True, **asked)
        counts.append(model.rows - before)
    assert counts[0] == counts[1] == counts[2]


def test_regressions_are_saved() -> None:
    model = LinearRegression().fit(FRAME, X @ [3.0, 1.0])
    explainer = DiverseExplainer(model).fit(FRAME)
    asked = {"interval": (2.5, 3.0), "skip": True}
    loaded = through_file(explainer)
    assert_equal(answers(loaded, FRAME[:5], **asked), answers(explainer, FRAME[:5], **asked))


def test_loaded_explainers_do_all_that_fitted_ones_do() -> None:
    model = LogisticRegression().fit(FRAME, approve(FRAME))
    fitted = DiverseExplainer(
        model, schema=Schema(labels={"age": "the age"}), max_counterfactuals=1
    )
    fitted.fit(FRAME)
    loaded = through_file(fitted)
    for change in (
        lambda each: each.with_costs({"age": 3.0}),
        lambda each: each.with_strategy(Shared()),
        lambda each: pickle.loads(pickle.dumps(each)),
        through_file,
    ):
        assert_equal(answers(change(loaded), FRAME[:3]), answers(change(fitted), FRAME[:3]))
    frame = FrameExplainer(loaded)(FRAME[:4])
    pd.testing.assert_frame_equal(frame, FrameExplainer(fitted)(FRAME[:4]))
    explanation = loaded.explain(FRAME.iloc[0])
    proved: list[Any] = [
        each.certify(explanation, epsilon=0.5).certificate for each in (loaded, fitted)
    ]
    assert proved[0].safety.tolist() == proved[1].safety.tolist()
    assert loaded.directions("yes").equals(fitted.directions("yes"))


def test_processes_share_the_training_rows() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "explainer"
        DiverseExplainer(approve).fit(X).save(path)
        pool = DiverseExplainer.load(path, approve).training_.pool
    for array in (pool.matrix, pool.embedded.coordinates):
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        assert type(base).__name__ == "mmap"
        assert not array.flags.writeable


def test_arrays_keep_the_order_of_their_numbers_in_memory(tmp_path: Path) -> None:
    # A sum over numbers in another order rounds otherwise.
    explainer = DiverseExplainer(approve).fit(X)
    columnwise = np.asfortranarray(explainer.training_.pool.matrix)
    object.__setattr__(explainer.training_.pool, "matrix", columnwise)
    explainer.save(tmp_path / "explainer")
    loaded = DiverseExplainer.load(tmp_path / "explainer", approve).training_.pool.matrix
    assert loaded.flags.f_contiguous
    np.testing.assert_array_equal(loaded, columnwise)


# Wrong files --------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "loans.counterset"
    DiverseExplainer(approve, max_counterfactuals=1).fit(X).save(path)
    return path


def test_an_explainer_that_is_not_fitted_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError, match="Call fit"):
        DiverseExplainer(approve).save(tmp_path / "explainer")


def test_what_cannot_be_saved_is_named_and_writes_nothing(tmp_path: Path, saved: Path) -> None:
    before = saved.read_bytes()
    for parameters, place in (
        ({"distance": lambda A, B: np.abs(A[:, None] - B).sum(axis=2)}, "distance is"),
        ({"strategy": Nearest(safe=1, models=[Recorder()])}, r"strategy\.models\[0\] is"),
    ):
        explainer = DiverseExplainer(approve, **parameters).fit(X)
        with pytest.raises(InvalidInputError, match=f"cannot be saved, because {place}"):
            explainer.save(saved)
    assert saved.read_bytes() == before
    assert list(tmp_path.iterdir()) == [saved]


def test_the_folder_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no folder"):
        DiverseExplainer(approve).fit(X).save(tmp_path / "none" / "explainer")


@pytest.mark.parametrize(
    "content", [b"", b"junk", b"counterset explanation", pickle.dumps([1]), b"\0" * 300]
)
def test_other_files_are_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "explainer").write_bytes(content)
    with pytest.raises(InvalidInputError, match="holds no explainer"):
        DiverseExplainer.load(tmp_path / "explainer", approve)
    with pytest.raises(InvalidInputError, match="There is no file"):
        DiverseExplainer.load(tmp_path / "nothing", approve)


def test_another_format_and_another_release_are_told(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = saved.read_bytes()
    saved.write_bytes(whole.replace(b"explainer 1\n", b"explainer 2\n", 1))
    with pytest.raises(InvalidInputError, match=r"another release .*Fit the explainer again"):
        DiverseExplainer.load(saved, approve)
    saved.write_bytes(whole)
    monkeypatch.setattr("counterset.__version__", "9.9.9")
    with pytest.raises(InvalidInputError, match=r"saved by counterset 0\..* and this is 9\.9\.9"):
        DiverseExplainer.load(saved, approve)


def test_another_model_is_told(saved: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"gives 80 of 80 training rows another label"):
        DiverseExplainer.load(saved, lambda rows: np.where(approve(rows) == "yes", "no", "yes"))
    with pytest.raises(InvalidInputError, match=r"another label .*'perhaps' in place of 'yes'"):
        DiverseExplainer.load(saved, lambda rows: np.where(approve(rows) == "yes", "perhaps", "no"))
    with pytest.raises(InvalidInputError, match="does not take the training rows"):
        DiverseExplainer.load(saved, lambda rows: rows["age"])
    with pytest.raises(InvalidInputError, match=r"without its model, a function.*Pass it"):
        DiverseExplainer.load(saved)


def test_one_label_of_another_model_is_enough(tmp_path: Path) -> None:
    model = Recorder(lambda rows: np.where(rows[:, 0] > 0.5, "yes", "no"))
    DiverseExplainer(model).fit(X).save(tmp_path / "explainer")
    first = np.sort(X[:, 0][X[:, 0] > 0.5])[0]
    with pytest.raises(InvalidInputError, match="gives 1 of 80 training rows another label"):
        DiverseExplainer.load(
            tmp_path / "explainer", lambda rows: np.where(rows[:, 0] > first, "yes", "no")
        )


@given(st.data())
def test_a_damaged_file_is_told_or_is_the_same(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "explainer"
        explainer = DiverseExplainer(approve, max_counterfactuals=1).fit(X)
        explainer.save(path)
        whole = bytearray(path.read_bytes())
        at = data.draw(st.integers(0, len(whole) - 1))
        if data.draw(st.booleans()):
            del whole[at:]
        else:
            whole[at] ^= data.draw(st.integers(1, 255))
        path.write_bytes(whole)
        try:
            loaded = DiverseExplainer.load(path, approve)
        except InvalidInputError:
            return
        assert_equal(answers(loaded, X[:2]), answers(explainer, X[:2]))  # between two arrays


def with_header(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the header of a file as an attacker would, with the right hash."""
    whole, start = path.read_bytes(), len(files.FIRST_LINE)
    length = int.from_bytes(whole[start : start + 8], "little")
    header = json.loads(whole[start + 40 : start + 40 + length])
    change(header)
    text = json.dumps(header).encode().ljust(length)
    begin = -(-(start + 40 + length) // 64) * 64
    shifted = start + 40 + len(text)
    content = whole[:start] + len(text).to_bytes(8, "little") + hashlib.sha256(text).digest() + text
    path.write_bytes(content + b"\0" * (-shifted % 64) + whole[begin:])


@pytest.mark.parametrize(
    "value",
    [
        {"object": 0, "model": 1},
        {"eval": ["open('trace', 'w')"]},
        {"numpy dtype": ["V" * 9]},
        {"number": ["O", {"bytes": ["00" * 8]}]},
        {"polars dtype": ["read_csv", "trace"]},
        {"object": 10**9},
    ],
)
def test_a_crafted_file_makes_nothing_but_known_classes(saved: Path, value: Any) -> None:
    def change(header: dict[str, Any]) -> None:
        header["content"]["distance"] = value

    with_header(saved, change)
    with pytest.raises(InvalidInputError, match="cannot be read as an explainer"):
        DiverseExplainer.load(saved, approve)


def test_a_crafted_file_maps_no_objects(saved: Path) -> None:
    with_header(saved, lambda header: header["arrays"][0].update(dtype="|O"))
    with pytest.raises(InvalidInputError, match="no dtype of plain numbers"):
        DiverseExplainer.load(saved, approve)


# Models in the file -------------------------------------------------------------------------------


def test_a_model_in_the_file_needs_no_trust_if_it_is_known_to_be_safe(tmp_path: Path) -> None:
    pytest.importorskip("skops")
    explainer = DiverseExplainer(LogisticRegression().fit(FRAME, approve(FRAME))).fit(FRAME)
    explainer.save(tmp_path / "explainer", with_model=True)
    loaded = DiverseExplainer.load(tmp_path / "explainer")
    assert isinstance(loaded.model, LogisticRegression)
    assert_equal(answers(loaded, FRAME[:3]), answers(explainer, FRAME[:3]))


class OwnTree(DecisionTreeClassifier):
    """A type that no release of skops knows; up to 0.15 it trusts the trees of scikit-learn."""


def test_a_model_of_other_types_is_loaded_only_if_it_is_trusted(tmp_path: Path) -> None:
    pytest.importorskip("skops")
    path, model = tmp_path / "explainer", OwnTree().fit(X, approve(X))
    explainer = DiverseExplainer(model).fit(X)
    explainer.save(path, with_model=True)
    with pytest.raises(InvalidInputError, match=r"not known to be safe.*pass trust=True"):
        DiverseExplainer.load(path)
    for loaded in (DiverseExplainer.load(path, trust=True), DiverseExplainer.load(path, model)):
        assert_equal(answers(loaded, X[:3]), answers(explainer, X[:3]))


def test_a_model_that_skops_cannot_save_is_told(tmp_path: Path) -> None:
    pytest.importorskip("skops")
    explainer = DiverseExplainer(lambda rows: 1 * (rows[:, 0] > 0.5)).fit(X)
    with pytest.raises(InvalidInputError, match=r"skops cannot save .*Leave the model out"):
        explainer.save(tmp_path / "explainer", with_model=True)
    assert list(tmp_path.iterdir()) == []


def test_saving_a_model_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'counterset\[skops\]'"):
        DiverseExplainer(approve).fit(X).save(tmp_path / "explainer", with_model=True)


def test_constraints_with_times_and_sets_are_saved() -> None:
    frame = FRAME.assign(since=pd.date_range("2020-01-01", periods=80))
    limits = Constraints(immutable={"income"}, ranges={"since": (pd.Timestamp("2020-01-05"), None)})
    explainer = DiverseExplainer(lambda rows: approve(rows[["age"]] * 2), constraints=limits)
    explainer.fit(frame)
    loaded = through_file(explainer)
    assert loaded.constraints == limits
    assert_equal(answers(loaded, frame[:4]), answers(explainer, frame[:4]))
