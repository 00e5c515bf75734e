"""How inputs get their options from what is fixed for their region."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from support.anchored_toys import acceptance_of, selector_of
from support.mixed_toys import FRAME, explain, lend
from support.toys import X, approve

from counterset import (
    Constraints,
    DiverseExplainer,
    FeatureDiversity,
    LineSearch,
    NearData,
    NoCounterfactualError,
)
from counterset.distances import get
from counterset.metrics import set_distance
from counterset.strategies import shared as learning


def listed(model: Any = lend, data: Any = FRAME, **parameters: Any) -> DiverseExplainer:
    options: dict[str, Any] = {"anchors": 3, "sparsify": True, "search": LineSearch(0.01)}
    return DiverseExplainer(model, **{**options, **parameters}).fit(data)


def dense(model: Any = approve, data: Any = X, **parameters: Any) -> DiverseExplainer:
    return DiverseExplainer.paper(model, **{"anchors": 4, "search": None, **parameters}).fit(data)


DECLINED = FRAME[lend(FRAME) == "no"]

# --- training rows as they are


@pytest.mark.parametrize("distance", ["l1", "l2", "linf", "l0", "gower"])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), anchors=st.integers(1, 12))
def test_no_input_within_the_radius_gets_other_examples(
    distance: str, seed: int, anchors: int
) -> None:
    rng = np.random.default_rng(seed)
    data = rng.random((60, 3))

    def wave(rows: Any) -> Any:
        return np.asarray(rows)[:, 0] > 0.5 + 0.3 * np.sin(6 * np.asarray(rows)[:, 1])

    explainer = dense(wave, data, distance=distance, anchors=anchors, max_counterfactuals=3)
    x = rng.random((3, 3))
    for row, explanation in zip(x, explain(explainer, x), strict=True):
        assert explanation.certificate is not None
        radius = explanation.certificate.stable_radius
        assert radius is not None
        steps = np.vstack([rng.normal(size=(30, 3)), explainer.pool_.matrix[:30] - row])
        lengths = get(distance).pairwise(row[None], row + steps)[0]
        reach = min(radius, 10.0) * rng.choice([0.3, 0.999, 1 - 1e-9], len(steps))
        tried = row + steps * (reach / np.maximum(lengths, 1e-9))[:, None]
        inside = explainer.distance_(row, tried)[0] <= radius
        tried = tried[inside & (wave(tried) == explanation.label)]
        for other in explain(explainer, tried) if len(tried) else []:
            assert sorted(other.examples) == sorted(explanation.examples)


def test_inputs_of_one_region_share_their_examples_and_the_search_is_finer() -> None:
    explainer = dense(search=LineSearch(0.1), max_counterfactuals=2)
    anchors = explainer.anchors_
    assert anchors is not None
    found = explain(explainer, X)
    regions = anchors.regions_of(acceptance_of(explainer, X))
    for region in np.unique(regions):
        assert (
            len({tuple(sorted(found[int(i)].examples)) for i in np.flatnonzero(regions == region)})
            == 1
        )
    # 0.1 / 16 from the boundary, where the paper's own search ends up to 0.1 from it.
    beyond = np.concatenate([np.abs(each.values.sum(axis=1) - 1) for each in found])
    assert beyond.max() < 0.1 / 4


def test_nearly_equal_inputs_share_the_set_where_the_papers_selection_changes_it() -> None:
    moved = X + np.random.default_rng(1).normal(size=X.shape) * 0.005
    same = approve(moved) == approve(X)
    changes = []
    for anchors in (None, 4):
        explainer = dense(anchors=anchors, max_counterfactuals=3)
        pairs = zip(explain(explainer, moved[same]), explain(explainer, X[same]), strict=True)
        changes.append(
            np.mean([set_distance(a.values, b.values, explainer.distance_) for a, b in pairs])
        )
    assert changes[1] < changes[0] / 2


def test_constraints_hold_and_the_list_of_candidates_is_what_stays_the_same() -> None:
    explainer = dense(lend, FRAME, constraints=Constraints(immutable=["age"]), anchors=3)
    for explanation in explain(explainer, DECLINED.head(10)):
        assert (explanation.counterfactuals["age"] == explanation.input["age"]).all()
        assert explanation.certificate is not None
        assert explanation.certificate.stable_radius is None
        assert explanation.certificate.list_radius is not None
        assert explanation.certificate.alone == []


# --- lists of options with few changes


def test_options_work_and_keep_constraints_given_to_the_explainer_or_the_call() -> None:
    fixed = Constraints(immutable=["age"], decrease_only=["debt"])
    of_explainer = explain(listed(constraints=fixed), DECLINED.head(30))
    of_call = explain(listed(), DECLINED.head(30), constraints=fixed)
    for explanations in (of_explainer, of_call):
        found = explanations.to_frame()
        own = DECLINED.loc[found.index.get_level_values(0)]
        assert len(found) > 60
        assert (lend(found) == "yes").all()
        assert (found["age"].to_numpy() == own["age"].to_numpy()).all()
        assert (found["debt"].to_numpy() <= own["debt"].to_numpy()).all()


def test_every_batch_size_and_order_gives_the_same_answers() -> None:
    explainer = listed()
    together = explain(explainer, FRAME.head(10))
    backwards = explain(explainer, FRAME.head(10).iloc[::-1])
    for i in range(10):
        alone = explain(explainer, FRAME.iloc[[i]])[0]
        assert alone.counterfactuals.equals(together[i].counterfactuals)
        assert alone.counterfactuals.equals(backwards[9 - i].counterfactuals)


def says_yes(explainer: DiverseExplainer, row: Any) -> bool:
    return bool(lend(explainer.schema_.decode(row[None]))[0] == "yes")


def from_(explainer: DiverseExplainer, x: Any, row: Any) -> float:
    return float(explainer.distance_.pairwise(x[None], row[None])[0, 0])


def test_the_choice_is_the_first_of_the_list_that_work_and_differ() -> None:
    explainer = listed(diversity=FeatureDiversity(), max_counterfactuals=2)
    anchors = explainer.anchors_
    assert anchors is not None
    matrix, _ = explainer.schema_.encode(DECLINED.head(60))
    acceptance = acceptance_of(explainer, matrix)
    found = explain(explainer, DECLINED.head(60))
    compared = 0
    selector = selector_of(explainer)
    for inputs, options in anchors.lists(acceptance, explainer._training.rules(None), selector):
        for i in inputs:
            rows = explainer.schema_.snap(
                options.apply(matrix[[i]], explainer.schema_)[0], matrix[[i]]
            )
            works = []
            for rungs in np.split(rows, len(options)):
                enough = [row for row in rungs if says_yes(explainer, row)]
                works += sorted(enough, key=lambda row: from_(explainer, matrix[i], row))[:1]
            sets = [frozenset(np.flatnonzero(row != matrix[i])) for row in works]
            kept: list[int] = []
            for at, own in enumerate(sets):
                if not any(own <= sets[k] or sets[k] <= own for k in kept):
                    kept.append(at)
            if len(kept) >= 2:
                compared += 1
                expected = {tuple(works[at]) for at in kept[:2]}
                values, _ = explainer.schema_.encode(found[int(i)].counterfactuals)
                assert set(map(tuple, values)) == expected
    assert compared > 5


def test_no_option_is_another_one_and_something_more() -> None:
    # What used to be offered: "change the savings", and "change the savings and the job".
    compared = 0
    for explanation in explain(listed(diversity=None, max_counterfactuals=6), DECLINED.head(40)):
        rows, changed = explanation._matrix, explanation.changed
        for i, j in itertools.permutations(range(len(rows)), 2):
            compared += 1
            assert not (rows[j][changed[i]] == rows[i][changed[i]]).all()
    assert compared > 100


def test_the_only_other_class_is_the_same_goal_as_any_other_class() -> None:
    explainer = listed()
    any_other = explain(explainer, DECLINED.head(10)).to_frame()
    assert any_other.equals(explain(explainer, DECLINED.head(10), target="yes").to_frame())


def test_where_the_list_runs_out_the_inputs_own_view_fills_up_and_the_explanation_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(learning, "LENGTH", 2)
    explanations = explain(listed(), DECLINED.head(10))
    without = explain(listed(anchors=None), DECLINED.head(10))
    assert explanations.counts.sum() >= 0.9 * without.counts.sum()
    alone = [each.certificate.alone for each in explanations if each.certificate is not None]
    assert any(alone)
    told = next(each for each in explanations if each.certificate and each.certificate.alone)
    assert "found for you alone" in repr(told)


def test_constraints_that_forbid_the_whole_list_leave_the_usual_error() -> None:
    everything = Constraints(immutable=list(FRAME.columns))
    with pytest.raises(NoCounterfactualError, match="constraints immutable"):
        listed().explain(DECLINED.iloc[0], constraints=everything)


@pytest.mark.parametrize("anchors", [None, 3])
def test_a_target_that_nobody_reaches_is_named(anchors: int | None) -> None:
    explainer = DiverseExplainer(lend, anchors=anchors).fit(FRAME)
    for target in ("maybe", ["maybe"]):
        with pytest.raises(NoCounterfactualError, match="No training row is predicted 'maybe'"):
            explainer.explain(DECLINED.iloc[0], target=target)


def test_people_of_a_region_are_told_that_they_share_a_list() -> None:
    explanation = explain(listed(), DECLINED.head(1))[0]
    assert explanation.certificate is not None
    assert explanation.certificate.stable_radius is None
    assert explanation.certificate.list_radius is not None
    assert "are offered the same list, in the same order" in repr(explanation)
    assert "same list of options" in explanation.describe()


def test_lists_serve_targets_of_several_classes() -> None:
    def grade(rows: Any) -> Any:
        return np.digitize(np.asarray(rows).sum(axis=1), [0.8, 1.2])

    explainer = listed(grade, X, max_counterfactuals=2)
    low = X[grade(X) == 0][:5]
    for target in (1, 2, None):
        found = explain(explainer, low, target=target)
        assert all(len(each) for each in found)
        wanted = {target} if target is not None else {1, 2}
        assert {int(label) for each in found for label in each.labels} <= wanted


def test_lists_serve_an_interval_of_a_regression() -> None:
    explainer = listed(lambda rows: np.asarray(rows) @ [1.0, 2.0], X, max_counterfactuals=2)
    low = X[X @ [1.0, 2.0] < 1][:5]
    for explanation in explain(explainer, low, interval=(1.5, 2.0)):
        predicted = explanation.values @ [1.0, 2.0]
        assert len(predicted)
        assert ((predicted >= 1.5) & (predicted <= 2.0)).all()


def test_lists_serve_a_least_probability() -> None:
    model = LogisticRegression(C=100).fit(X, approve(X))
    explainer = listed(model, X, max_counterfactuals=2)
    low = X[model.predict(X) == "no"][:5]
    for explanation in explain(explainer, low, target="yes", target_probability=0.8):
        assert len(explanation)
        assert (model.predict_proba(explanation.values)[:, 1] >= 0.8).all()


def test_lists_serve_tables_with_missing_values() -> None:
    holes = FRAME.assign(income=FRAME["income"].where(FRAME.index % 7 != 0).astype("Float64"))

    def model(rows: Any) -> Any:
        return lend(rows.assign(income=rows["income"].astype(float).fillna(3000)))

    explainer = listed(model, holes)
    declined = holes[model(holes) == "no"].head(15)
    found = explain(explainer, declined)
    assert all(len(each) for each in found)
    frame = found.to_frame()
    own = declined.loc[frame.index.get_level_values(0)]
    assert (model(frame) == "yes").all()
    assert not (frame["income"].isna().to_numpy() & own["income"].notna().to_numpy()).any()


def test_options_are_plausible_where_that_is_asked_for() -> None:
    explainer = listed(plausibility=NearData())
    assert explainer.support_ is not None
    found = [each for each in explain(explainer, FRAME.head(10)) if len(each)]
    assert found
    for explanation in found:
        rows, _ = explainer.schema_.encode(explanation.counterfactuals)
        assert explainer.support_.has(explainer.distance_.coordinates(rows)).all()


def test_a_class_of_a_single_row_and_one_never_seen_are_explained() -> None:
    data = np.concatenate([np.linspace(0, 1, 30), [9.0]])[:, None]

    def model(rows: Any) -> Any:
        return np.digitize(np.asarray(rows)[:, 0], [5.0, 20.0])

    for explainer in (
        listed(model, data, max_counterfactuals=1),
        dense(model, data, max_counterfactuals=1),
    ):
        for x in (8.0, 0.5, 30.0):
            explanation = explain(explainer, [[x]])[0]
            assert len(explanation) == 1
            assert explanation.labels[0] != explanation.label


def test_a_pickle_explains_alike_and_fitting_twice_finds_the_same() -> None:
    explainer = listed()
    expected = explain(explainer, FRAME.head(8)).to_frame()
    for other in (pickle.loads(pickle.dumps(explainer)), listed()):
        assert explain(other, FRAME.head(8)).to_frame().equals(expected)


def test_settings_changed_after_fit_are_kept_to() -> None:
    explainer = dense(max_counterfactuals=3)
    assert explain(explainer, X[:5]).counts.max() == 3
    explainer.set_params(max_counterfactuals=1)
    assert explain(explainer, X[:5]).counts.max() == 1
    mixed = listed()
    explain(mixed, DECLINED.head(3))
    mixed.set_params(constraints=Constraints(immutable=["income"]))
    fresh = listed(constraints=Constraints(immutable=["income"]))
    after, expected = (explain(each, DECLINED.head(10)).to_frame() for each in (mixed, fresh))
    assert after.equals(expected)


def test_slices_keep_the_certificates() -> None:
    explanations = explain(listed(), DECLINED.head(6))
    for part in (explanations[2:5], pickle.loads(pickle.dumps(explanations))[2:5]):
        for one, other in zip(part, list(explanations)[2:5], strict=True):
            assert one.certificate is not None
            assert other.certificate is not None
            assert one.certificate.list_radius == other.certificate.list_radius
            assert one.certificate.alone == other.certificate.alone


def test_lists_are_steadier_than_what_is_chosen_from_the_inputs_own_view() -> None:
    near = DECLINED.assign(income=DECLINED["income"] - 100, debt=DECLINED["debt"] + 100)
    near = near[near["debt"] < FRAME["debt"].max()]
    changes = []
    for anchors in (None, 3):
        explainer = listed(anchors=anchors, max_counterfactuals=3)
        here = explain(explainer, DECLINED.loc[near.index])
        there = explain(explainer, near)
        changes.append(
            np.mean(
                [
                    set_distance(a.counterfactuals, b.counterfactuals, explainer.distance_)
                    for a, b in zip(here, there, strict=True)
                    if len(a) and len(b)
                ]
            )
        )
    assert changes[1] < changes[0]


def test_an_index_of_the_frame_changes_nothing() -> None:
    renamed = FRAME.set_axis(pd.RangeIndex(1000, 1000 + len(FRAME)))
    one, other = listed(), listed(data=renamed)
    first, second = explain(one, FRAME.head(5)), explain(other, renamed.head(5))
    assert all((a.values == b.values).all() for a, b in zip(first, second, strict=True))
