"""What the parameters of an explainer may be."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from support.settings import paper_by_steps

from counterset import (
    AngleDiversity,
    DiverseExplainer,
    InvalidInputError,
    NearData,
    NearestCandidates,
    Paper,
    Schema,
)
from counterset.exceptions import NotFittedError
from counterset.strategies import View

X = np.random.default_rng(0).random((30, 2))


def model(rows: Any) -> Any:
    return rows.sum(axis=1) > 1


class OnlyFilters:
    """Used to be accepted, and to fail later: the filter was checked for, and not ``differ``."""

    def filter(self, view: View) -> Any:
        raise AssertionError("never asked")


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("candidates", AngleDiversity(), r"cut\(ranking\)"),
        ("candidates", NearestCandidates, "NearestCandidates"),
        ("diversity", OnlyFilters(), r"differ\(view, a, b\)"),
        ("search", NearestCandidates(3), r"search\(segments, ask\)"),
    ],
)
def test_what_a_step_lacks_is_told_before_anything_runs(name: str, value: Any, needed: str) -> None:
    with pytest.raises(InvalidInputError, match=needed):
        paper_by_steps(model, **{name: value}).fit(X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", lambda rows: rows.sum(axis=1) < 1),
        ("distance", "l2"),
        ("scale", "mad"),
        ("schema", Schema(integer=["x0"])),
        ("plausibility", NearData()),
        ("strategy", Paper(regions=2)),
    ],
)
def test_what_fit_used_cannot_change_without_a_new_fit(name: str, value: Any) -> None:
    # A new model was asked about candidates that had the labels of the old one; the others were
    # ignored without a word.
    explainer = DiverseExplainer.paper(model, max_counterfactuals=1).fit(X)
    explainer.explain(X[0])
    explainer.set_params(**{name: value})
    for explain in (lambda: explainer.explain(X[0]), lambda: explainer.explain_many(X)):
        with pytest.raises(NotFittedError, match=rf"{name} changed after fit.*Call fit again"):
            explain()


def test_a_parameter_that_is_set_to_what_it_was_has_not_changed() -> None:
    weights = np.array([1.0, 2.0])
    explainer = DiverseExplainer.paper(
        model, scale=weights, distance="l1", max_counterfactuals=1
    ).fit(X)
    explainer.set_params(scale=weights.copy(), distance="".join(["l", "1"]))
    assert len(explainer.explain(X[0])) == 1
    again = pickle.loads(pickle.dumps(explainer.set_params(model=model)))
    assert len(again.explain(X[0])) == 1


def test_what_fit_did_not_use_can_change() -> None:
    explainer = DiverseExplainer.paper(model, max_counterfactuals=1).fit(X)
    explainer.set_params(max_counterfactuals=2, constraints=None)
    assert len(explainer.explain(X[0])) == 2
