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

from counterset import (
    Constraints,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    InvalidInputError,
)

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


@settings(max_examples=20, deadline=None)
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
