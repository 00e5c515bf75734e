"""How many regions there are, and what fit prepares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from support.mixed_toys import FRAME, lend
from support.settings import paper_by_steps
from support.toys import Recorder, X, fitted

from counterset import DiverseExplainer, InvalidInputError, LineSearch, datasets, evaluate
from counterset.strategies import shared as fitting


def count(explainer: DiverseExplainer) -> int:
    assert explainer.anchors_ is not None
    return len(explainer.anchors_)


def test_lists_are_learned_in_fit() -> None:
    model = Recorder(lend)
    explainer = fitted(FRAME, model, regions="auto", sparse=True)
    assert count(explainer) == 2 * fitting.SPARSE_REGIONS
    asked = len(model.asked)
    found = explainer.explain(FRAME.iloc[0])
    assert len(found)
    # The input, the list, and what was found once more; a few more where the list ran out.
    assert len(model.asked) - asked <= 3 or (found.certificate and found.certificate.alone)


def test_one_dense_place_needs_few_regions_and_many_places_need_more() -> None:
    rng = np.random.default_rng(0)
    one = rng.integers(0, 2, (1200, 1)) * [[100.0, 100.0]] + rng.normal(size=(1200, 2))
    places = rng.random((150, 2)).repeat(8, axis=0) * 100 + rng.normal(size=(1200, 2)) * 0.1

    def odd(rows: Any) -> Any:
        return np.floor(np.asarray(rows)[:, 0] / 10) % 2 == 0

    settings: dict[str, Any] = {"regions": "auto", "sparse": False, "search": None}
    few = fitted(one, lambda rows: np.asarray(rows)[:, 0] > 50, **settings)
    many = fitted(places, odd, **settings)
    assert count(few) < count(many)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_tiny_classes_are_divided_as_far_as_they_go(size: int) -> None:
    rows = np.concatenate([np.linspace(0, 1, 40), np.linspace(9, 10, size)])[:, None]
    for sparsify in (False, True):
        explainer = fitted(
            rows,
            lambda rows: np.asarray(rows)[:, 0] > 5,
            regions="auto",
            sparse=sparsify,
            max_counterfactuals=1,
        )
        assert explainer.explain([9.5]).values[0, 0] <= 5


def test_progress_is_shown_only_if_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    explainer = fitted(FRAME, lend, regions=2, sparse=True)
    assert capsys.readouterr() == ("", "")
    explainer.fit(FRAME, progress=True)
    out, bar = capsys.readouterr()
    assert out == ""
    done, total = bar.split("] ")[-1].split("/")
    assert int(done) == int(total)


@pytest.mark.parametrize("anchors", [0, -1, 2.5, "many", True])
def test_a_number_of_anchors_that_makes_no_sense_is_refused(anchors: Any) -> None:
    with pytest.raises(InvalidInputError, match="anchors must be"):
        fitted(X, regions=anchors)


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
@pytest.mark.parametrize("search", [None, LineSearch(0.1)])
def test_sets_change_a_third_less_and_are_as_near_and_diverse_on_rows_it_has_not_seen(
    search: Any,
) -> None:
    data = datasets.load("diabetes")
    rows = data.X.astype(float)
    model = make_pipeline(MinMaxScaler(), LogisticRegression()).fit(rows[:600], data.y[:600])
    paper, auto = (
        evaluate(
            paper_by_steps(model, regions=anchors, search=search).fit(rows[:600]),
            rows[600:700],
            repeats=1,
        )
        for anchors in (None, "auto")
    )
    figures = ["set_distance_max", "set_distance_mean", "k_distance", "k_diversity"]
    shares = {figure: auto[figure].mean() / paper[figure].mean() for figure in figures}
    assert shares["set_distance_max"] <= 0.5
    assert shares["set_distance_mean"] <= 2 / 3
    assert shares["k_distance"] <= 1.1
    assert shares["k_diversity"] >= 0.9
    assert (auto["validity"] == 1).all()
