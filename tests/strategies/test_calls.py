"""Blocks and workers: the answers are the same however the rows are divided."""

from __future__ import annotations

import io
import threading
import warnings
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.settings import paper_by_steps
from support.toys import FRAME, fitted

from counterset import (
    Constraints,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    InvalidInputError,
)
from counterset.strategies.calls import Workload

X = np.random.default_rng(0).integers(0, 8, (160, 4)).astype(float)


def approve(rows: Any) -> Any:
    # No training row is "unsure": its label gets a code of its own in each block.
    total = np.asarray(rows).sum(axis=1)
    return np.where(np.abs(total - 14.25) < 0.3, "unsure", np.where(total > 14, "yes", "no"))


def made(explainer: DiverseExplainer, rows: Any, **how: Any) -> tuple[pd.DataFrame, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        found = explainer.explain_many(rows, if_none="warn", **how)
    return found.to_frame(), [each.describe() for each in found]


EXPLAINERS = [
    DiverseExplainer(approve).fit(X),
    DiverseExplainer(approve, constraints=Constraints(immutable=["x0"])).fit(X),
    DiverseExplainer.paper(approve).fit(X),
    paper_by_steps(approve, regions=3).fit(X),
]


@settings(max_examples=20)
@given(
    which=st.sampled_from(range(len(EXPLAINERS))),
    n_jobs=st.sampled_from([None, 1, 2, 3]),
    memory=st.sampled_from([1, 100_000, 2_000_000, "512MB"]),
)
def test_answers_are_the_same_however_the_rows_are_divided(
    which: int, n_jobs: int | None, memory: Any
) -> None:
    explainer, rows = EXPLAINERS[which], X[:37]
    expected, reasons = made(explainer, rows)
    with joblib.parallel_config(backend="threading"):
        found, told = made(explainer, rows, n_jobs=n_jobs, memory=memory)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert told == reasons


def test_processes_give_the_same_answers_as_one() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X.sum(axis=1) > 14)
    explainer = DiverseExplainer(model).fit(X)
    expected, _ = made(explainer, X[:40])
    found, _ = made(explainer, X[:40], n_jobs=2)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_constraints_of_each_row_survive_the_division() -> None:
    explainer = EXPLAINERS[0]
    each = [Constraints(immutable=[f"x{i % 3}"]) for i in range(12)]
    expected, _ = made(explainer, X[:12], constraints=each)
    found, _ = made(explainer, X[:12], constraints=each, memory=1)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_a_model_that_cannot_be_sent_to_a_process_is_told() -> None:
    class Locked:
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def predict(self, rows: Any) -> Any:
            return rows.sum(axis=1) > 14

    explainer = DiverseExplainer.paper(Locked(), diversity=None).fit(X)
    with pytest.raises(InvalidInputError, match="cannot be pickled"):
        explainer.explain_many(X[:40], n_jobs=2)
    with joblib.parallel_config(backend="threading"):
        assert len(explainer.explain_many(X[:40], n_jobs=2)) == 40


def test_the_bar_moves_with_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    made(EXPLAINERS[2], X, progress=True)
    assert "explain [" in stream.getvalue()
    assert "160/160" in stream.getvalue()
    assert stream.getvalue().count("\r") > 5


def test_the_bar_moves_more_often_where_rows_are_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    # 16 rows with many features were one block: nothing was seen for a long time.
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    wide = np.random.default_rng(0).random((60, 300))
    explainer = DiverseExplainer.paper(lambda rows: rows[:, 0] > 0.5, diversity=None).fit(wide)
    explainer.explain_many(wide[:16], progress=True)
    assert stream.getvalue().count("\r") > 5


# Runs of groups are put together in the order of the inputs ---------------------------------------


EACH = [Constraints(ranges={"age": (0, 2)}), Constraints(ranges={"income": (0, 2)})] * 5


def test_two_groups_are_one_answer_in_the_order_of_the_rows() -> None:
    # Both constraints allow everything, so the answer is that of one group.
    explainer = fitted(FRAME, max_counterfactuals=1)
    one = explainer.explain_many(FRAME[:10], constraints=EACH[0])
    two = explainer.explain_many(FRAME[:10], constraints=EACH)
    pd.testing.assert_frame_equal(one.to_frame(), two.to_frame())
    assert two.labels.tolist() == one.labels.tolist()
    assert two.model_rows == one.model_rows


def test_a_label_that_no_training_row_has_is_the_same_in_every_group() -> None:
    def model(rows: pd.DataFrame) -> Any:
        # Between the training rows lies a class of its own.
        known = rows["age"].isin(FRAME["age"]) & rows["income"].isin(FRAME["income"])
        label = np.where(rows["age"] + rows["income"] > 1, "yes", "no")
        return np.where(known, label, np.where(rows["age"] > 0.5, "new", "other"))

    explainer = fitted(FRAME, model, max_counterfactuals=1)
    each = EACH[:6]
    found = explainer.explain_many(FRAME[:6], constraints=each)
    for one, constraints in zip(found, each, strict=True):
        assert one.labels.tolist() == model(one.counterfactuals).tolist()
        alone = explainer.explain(one.input, constraints=constraints)
        assert one.labels.tolist() == alone.labels.tolist()


def test_stable_radii_stay_with_their_rows() -> None:
    # Sets are kept, and radii proved, only for rows without constraints.
    explainer = fitted(FRAME, regions=4, max_counterfactuals=1)
    each = [None, EACH[0]] * 4
    found = explainer.explain_many(FRAME[:8], constraints=each)
    expected = [explainer.explain(FRAME.iloc[i], constraints=each[i]) for i in range(8)]
    radii = [one.certificate and one.certificate.stable_radius for one in found]
    assert radii == [one.certificate and one.certificate.stable_radius for one in expected]
    assert sum(radius is not None for radius in radii) >= 2
    assert [repr(one) for one in found] == [repr(one) for one in expected]


# How the rows of one call are divided -------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "expected"),
    [("512MB", 512_000_000), ("1.5 gb", 1_500_000_000), ("7", 7), (123, 123), ("2K", None)],
)
def test_memory_is_read_as_bytes(memory: Any, expected: int | None) -> None:
    if expected is None:
        with pytest.raises(InvalidInputError, match="such as '512MB'"):
            Workload(memory=memory)
    else:
        assert Workload(memory=memory).bytes == expected


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"n_jobs": True}, "n_jobs"),
        ({"memory": "much"}, "memory"),
        ({"memory": 0}, "at least 1 byte"),
        ({"memory": None}, "memory"),
        ({"progress": "yes"}, "progress"),
    ],
)
def test_nonsense_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInputError, match=told):
        Workload(**settings)


def test_no_number_of_jobs_is_one_unless_joblib_says_otherwise() -> None:
    assert Workload().jobs == 1
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert Workload().jobs == 3
    assert Workload(n_jobs=-1).jobs == joblib.cpu_count()


# What one call asks for is checked before anything is computed ------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"skip": "yes"}, "skip must be True or False, got 'yes'"),
        ({"skip": None}, "skip must be True or False, got None"),
        ({"if_none": "skip"}, "if_none must be 'raise', 'warn' or 'ignore', got 'skip'"),
        ({"target_probability": 2}, "target_probability"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        fitted(FRAME).explain_many(FRAME[:2], **options)
