"""How inputs get their options from what is fixed for their region."""

from __future__ import annotations

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from support.batches import batch_of, selector_of
from support.made_recipes import recipes_of
from support.mixed_toys import FRAME, explain, lend
from support.settings import explainer_by_steps, paper_by_steps
from support.toys import Recorder, X, approve, fitted

import counterset.explainer
from counterset import (
    AngleDiversity,
    Constraints,
    DiverseExplainer,
    FeatureDiversity,
    InvalidInputError,
    LineSearch,
    NearData,
    Nearest,
    NoCounterfactualError,
    Schema,
    Shared,
    datasets,
    evaluate,
)
from counterset.distances import get
from counterset.metrics import set_distance
from counterset.models.goals import OneOf
from counterset.strategies import shared as fitting
from counterset.strategies import shared as learning
from counterset.strategies.batch import Requirements
from counterset.strategies.paper import PaperFinder
from counterset.strategies.recipes import Recipes, learn_recipes
from counterset.strategies.regions import Regions
from counterset.strategies.shared import (
    LENGTH,
    POWER,
    ROWS,
    RUNGS,
    OptionList,
    SharedFinder,
    in_order,
    in_sets,
    learn_order,
)
from counterset.tables.table import Table


def regions_of(explainer: DiverseExplainer) -> Regions:
    finder = explainer.strategy_
    assert isinstance(finder, PaperFinder | SharedFinder)
    assert finder.regions is not None
    return finder.regions


def listed(model: Any = lend, data: Any = FRAME, **parameters: Any) -> DiverseExplainer:
    options: dict[str, Any] = {"regions": 3, "sparse": True, "search": LineSearch(0.01)}
    return explainer_by_steps(model, **{**options, **parameters}).fit(data)


def dense(model: Any = approve, data: Any = X, **parameters: Any) -> DiverseExplainer:
    return paper_by_steps(model, **{"regions": 4, "search": None, **parameters}).fit(data)


DECLINED = FRAME[lend(FRAME) == "no"]

# --- training rows as they are


@pytest.mark.parametrize("distance", ["l1", "l2", "linf", "l0", "gower"])
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), regions=st.integers(1, 12))
def test_no_input_within_the_radius_gets_other_examples(
    distance: str, seed: int, regions: int
) -> None:
    rng = np.random.default_rng(seed)
    data = rng.random((60, 3))

    def wave(rows: Any) -> Any:
        return np.asarray(rows)[:, 0] > 0.5 + 0.3 * np.sin(6 * np.asarray(rows)[:, 1])

    explainer = dense(wave, data, distance=distance, regions=regions, max_counterfactuals=3)
    x = rng.random((3, 3))
    for row, explanation in zip(x, explain(explainer, x), strict=True):
        assert explanation.certificate is not None
        radius = explanation.certificate.stable_radius
        assert radius is not None
        steps = np.vstack([rng.normal(size=(30, 3)), explainer.training_.pool.matrix[:30] - row])
        lengths = get(distance).pairwise(row[None], row + steps)[0]
        reach = min(radius, 10.0) * rng.choice([0.3, 0.999, 1 - 1e-9], len(steps))
        tried = row + steps * (reach / np.maximum(lengths, 1e-9))[:, None]
        inside = explainer.distance_(row, tried)[0] <= radius
        tried = tried[inside & (wave(tried) == explanation.label)]
        for other in explain(explainer, tried) if len(tried) else []:
            assert sorted(other.examples) == sorted(explanation.examples)


def test_inputs_of_one_region_share_their_examples_and_the_search_is_finer() -> None:
    explainer = dense(search=LineSearch(0.1), max_counterfactuals=2)
    found = explain(explainer, X)
    regions = regions_of(explainer).of(batch_of(explainer, X))
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
        explainer = dense(regions=anchors, max_counterfactuals=3)
        pairs = zip(explain(explainer, moved[same]), explain(explainer, X[same]), strict=True)
        changes.append(
            np.mean([set_distance(a.values, b.values, explainer.distance_) for a, b in pairs])
        )
    assert changes[1] < changes[0] / 2


def test_constraints_hold_and_the_list_of_candidates_is_what_stays_the_same() -> None:
    explainer = dense(lend, FRAME, constraints=Constraints(immutable=["age"]), regions=3)
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


def from_(explainer: DiverseExplainer, x: Any, row: Any) -> float:
    return float(explainer.distance_.pairwise(x[None], row[None])[0, 0])


def without_spare_changes(explainer: DiverseExplainer, x: Any, row: Any) -> Any:
    """Undo the costliest changes that can be undone, one after the other."""
    table = explainer.training_.table

    def cost(i: int) -> float:
        return from_(explainer, x, np.where(np.arange(len(x)) == i, row, x))

    undone = True
    while undone:
        undone = False
        for i in sorted(np.flatnonzero(row != x).tolist(), key=cost, reverse=True):
            other = np.where(np.arange(len(x)) == i, x, row)
            if (other != x).any() and lend(table.decode(other[None]))[0] == "yes":
                row, undone = other, True
    return row


def test_the_choice_is_the_first_of_the_list_that_work_differ_and_are_near() -> None:
    explainer = listed(diversity=FeatureDiversity(), max_counterfactuals=2)
    alone = explain(
        explainer.with_strategy(Nearest(FeatureDiversity(), LineSearch(0.01))), DECLINED.head(60)
    )
    matrix, _ = explainer.training_.table.encode(DECLINED.head(60))
    batch = batch_of(explainer, matrix)
    found = explain(explainer, DECLINED.head(60))
    compared = 0
    assert isinstance(explainer.strategy_, SharedFinder)
    for inputs, options in explainer.strategy_.lists(batch):
        for i in inputs:
            rows = explainer.training_.table.snap(
                options.apply(matrix[[i]], explainer.training_.table)[0], matrix[[i]]
            )
            good = lend(explainer.training_.table.decode(rows)) == "yes"
            works = []
            for rungs, reach in zip(
                np.split(rows, len(options)), np.split(good, len(options)), strict=True
            ):
                enough = list(rungs[reach])
                nearest = sorted(enough, key=lambda row: from_(explainer, matrix[i], row))[:1]
                works += [without_spare_changes(explainer, matrix[i], row) for row in nearest]
            if len(alone[int(i)]) == 2:
                end = alone[int(i)].distances[-1]
                works = [row for row in works if from_(explainer, matrix[i], row) <= end]
            sets = [frozenset(np.flatnonzero(row != matrix[i])) for row in works]
            kept: list[int] = []
            for at, own in enumerate(sets):
                if not any(own <= sets[k] or sets[k] <= own for k in kept):
                    kept.append(at)
            if len(kept) >= 2:
                compared += 1
                expected = {tuple(works[at]) for at in kept[:2]}
                values, _ = explainer.training_.table.encode(found[int(i)].counterfactuals)
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


@pytest.mark.parametrize("own", [1, 2])
def test_the_inputs_own_nearest_options_come_before_the_list(own: int) -> None:
    # Lists alone lose a person's own best option.
    nearest = DiverseExplainer(lend).fit(FRAME)
    mixed = nearest.with_strategy(Shared(own=own, regions=3))
    shared = 0
    for alone, both in zip(
        explain(nearest, DECLINED.head(30)), explain(mixed, DECLINED.head(30)), strict=True
    ):
        rows = both.coded.matrix.tolist()
        assert alone.coded.matrix[:own].tolist() == [
            row for row in rows if row in alone.coded.matrix[:own].tolist()
        ]
        assert len(both) >= len(alone)
        # Nobody is sent farther than to what would be found for them alone.
        if len(alone) == 5:
            assert both.distances.max() <= alone.distances.max()
        shared += sum(option.shared for option in both.options)
    assert shared > 20


def test_an_option_of_the_list_holds_no_change_that_this_person_does_not_need() -> None:
    # A list suits many people: some of its changes are not needed by one of them.
    spare = 0
    explainer = listed()
    matrix, _ = explainer.training_.table.encode(DECLINED.head(40))
    for x, explanation in zip(matrix, explain(explainer, DECLINED.head(40)), strict=True):
        for option in explanation.options:
            kept = without_spare_changes(explainer, x, option.codes)
            assert kept.tolist() == option.codes.tolist()
            spare += option.shared
    assert spare > 20


def test_with_as_many_own_options_as_asked_for_the_list_is_not_used() -> None:
    nearest = DiverseExplainer(lend, max_counterfactuals=3).fit(FRAME)
    mixed = nearest.with_strategy(Shared(own=3, regions=3))
    for alone, both in zip(
        explain(nearest, DECLINED.head(30)), explain(mixed, DECLINED.head(30)), strict=True
    ):
        if len(alone) == 3:
            assert both.coded.matrix.tolist() == alone.coded.matrix.tolist()
            assert not any(option.shared for option in both.options)


def test_the_only_other_class_is_the_same_goal_as_any_other_class() -> None:
    explainer = listed()
    any_other = explain(explainer, DECLINED.head(10)).to_frame()
    assert any_other.equals(explain(explainer, DECLINED.head(10), target="yes").to_frame())


def test_where_the_list_runs_out_the_inputs_own_view_fills_up_and_the_explanation_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(learning, "LENGTH", 2)
    explanations = explain(listed(), DECLINED.head(10))
    without = explain(listed(regions=None), DECLINED.head(10))
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
    explainer = explainer_by_steps(lend, regions=anchors).fit(FRAME)
    for target in ("maybe", ["maybe"]):
        with pytest.raises(NoCounterfactualError, match="No training row is predicted 'maybe'"):
            explainer.explain(DECLINED.iloc[0], target=target)


def test_people_of_a_region_are_told_that_they_share_a_list() -> None:
    explanation = explain(listed(), DECLINED.head(1))[0]
    assert explanation.certificate is not None
    assert explanation.certificate.stable_radius is None
    assert explanation.certificate.list_radius is not None
    assert "go down the same list, in the same order" in repr(explanation)
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
    assert explainer.training_.support is not None
    found = [each for each in explain(explainer, FRAME.head(10)) if len(each)]
    assert found
    for explanation in found:
        rows, _ = explainer.training_.table.encode(explanation.counterfactuals)
        assert explainer.training_.support.has(explainer.distance_.coordinates(rows)).all()


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
        explainer = listed(regions=anchors, max_counterfactuals=3)
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


# What is offered to a region does not depend on who asks ------------------------------------------


def recorded(seed: int = 0, **parameters: Any) -> DiverseExplainer:
    return fitted(FRAME, lend, regions=3, sparse=True, **parameters)


def lists_of(explainer: DiverseExplainer, rows: Any) -> dict[int, OptionList]:
    """Return the list of each input."""
    matrix, _ = explainer.training_.table.encode(rows)
    batch = batch_of(explainer, matrix)
    finder = explainer.strategy_
    assert isinstance(finder, SharedFinder)
    return {int(i): options for inputs, options in finder.lists(batch) for i in inputs}


def same(a: OptionList, b: OptionList) -> bool:
    return (
        np.array_equal(a.recipes.features, b.recipes.features)
        and np.array_equal(a.recipes.values, b.recipes.values)
        and np.array_equal(a.start, b.start, equal_nan=True)
    )


SHARED = recorded()


@settings(max_examples=30)
@given(st.integers(0, len(FRAME) - 1), st.integers(-3, 3), st.integers(-3, 3))
def test_the_list_and_its_order_depend_on_the_region_only(row: int, income: int, debt: int) -> None:
    x = FRAME.iloc[[row]]
    near = x.assign(income=x["income"] + 100 * income, debt=(x["debt"] + 100 * debt).clip(0))
    (one, other), regions = (
        [lists_of(SHARED, rows)[0] for rows in (x, near)],
        [
            regions_of(SHARED).of(batch_of(SHARED, SHARED.training_.table.encode(rows)[0]))[0]
            for rows in (x, near)
        ],
    )
    if regions[0] == regions[1]:
        assert one is other
    fresh = lists_of(FRESH, near)[0]
    assert same(other, fresh)  # whoever asked first


FRESH = pickle.loads(pickle.dumps(recorded()))


def test_threads_share_lists() -> None:
    explainer = recorded()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda i: lists_of(explainer, FRAME.iloc[[i]])[0], range(12)))
    again = lists_of(explainer, FRAME.head(12))
    assert all(found[i] is again[i] for i in range(12))


def test_each_class_has_as_many_regions_as_asked_for_or_as_it_has_rows() -> None:
    assert len(regions_of(recorded())) == 6
    assert len(regions_of(fitted(X, regions=500))) == len(X)
    assert len(regions_of(fitted(np.repeat([[0.1, 0.1], [0.9, 0.9]], 5, axis=0), regions=3))) == 2


# How many regions there are, and what fit prepares ------------------------------------------------


def count(explainer: DiverseExplainer) -> int:
    return len(regions_of(explainer))


def test_lists_are_learned_in_fit() -> None:
    model = Recorder(lend)
    explainer = fitted(FRAME, model, regions="auto", sparse=True)
    assert count(explainer) == 2 * fitting.REGIONS
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


def test_progress_is_shown_if_asked_for_and_learning_takes_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    explainer = fitted(FRAME, lend, regions=2, sparse=True)
    monkeypatch.setattr(counterset.explainer, "BAR_AFTER", 1000.0)
    explainer.fit(FRAME, progress=True)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(counterset.explainer, "BAR_AFTER", 0.0)
    explainer.fit(FRAME)  # here the error stream is no terminal
    assert capsys.readouterr() == ("", "")
    explainer.fit(FRAME, progress=True)
    out, bar = capsys.readouterr()
    assert out == ""
    done, total = bar.split("] ")[-1].split("/")
    assert int(done) == int(total)


@pytest.mark.parametrize("regions", [0, -1, 2.5, "many", True])
def test_a_number_of_regions_that_makes_no_sense_is_refused(regions: Any) -> None:
    with pytest.raises(InvalidInputError, match="regions must be"):
        fitted(X, regions=regions)


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


# The order of a region's list ---------------------------------------------------------------------


ANGLE = AngleDiversity(0.5)


@given(
    st.lists(
        st.lists(st.sampled_from([0.5, 1.0, 2.0, np.inf]), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    )
)
def test_the_order_is_by_mean_distance_over_the_root_of_the_share(rows: list[list[float]]) -> None:
    scores = {}
    for option in range(3):
        works = [row[option] for row in rows if np.isfinite(row[option])]
        if works:
            share = len(works) / len(rows)
            scores[option] = np.mean(works) / share**POWER
    expected = sorted(scores, key=lambda option: scores[option])
    assert in_order(np.array(rows)).tolist() == expected


def test_what_works_for_no_row_is_not_on_the_list() -> None:
    assert in_order(np.array([[np.inf, 1.0]])).tolist() == [1]
    assert in_order(np.empty((0, 2))).tolist() == []


def learned(rows: int = 40) -> tuple[OptionList, DiverseExplainer, Requirements]:
    """Return the list of the first rows that are declined."""
    explainer = fitted(FRAME, lend, sparse=True, max_counterfactuals=3, diversity=ANGLE)
    training = explainer.training_
    no, yes = training.classes.labels == "no", OneOf(np.array(["yes"]))
    recipes = learn_recipes(training, no, yes, training.no_rules)
    wanted = Requirements(yes, None, training.no_rules, None)
    there = np.flatnonzero(no[training.pool.codes])
    ordered = learn_order(recipes, there[:rows], wanted, training)
    sets = in_sets(ordered, training.batch(there[[7]], wanted), selector_of(explainer))
    return ordered.take(sets[:LENGTH]), explainer, wanted


def test_every_recipe_of_a_learned_list_works_for_a_row_that_it_was_learned_from() -> None:
    options, explainer, _ = learned()
    pool, table = explainer.training_.pool, explainer.training_.table
    rows = np.flatnonzero(pool.codes == pool.codes[0])[:40]
    drawn = rows[np.argsort(pool.lots[rows], kind="stable")[:ROWS]]
    tried = options.apply(pool.matrix[drawn], table)
    assert 0 < len(options) <= LENGTH
    for i in range(len(options)):
        rungs = tried[:, i * len(RUNGS) : (i + 1) * len(RUNGS)].reshape(-1, tried.shape[2])
        assert (lend(table.decode(table.snap(rungs))) == "yes").any()


def test_no_row_to_learn_from_leaves_an_empty_list() -> None:
    assert len(learned(rows=0)[0]) == 0


def test_a_list_begins_with_recipes_that_differ_as_seen_from_the_centre() -> None:
    options, explainer, wanted = learned()
    training, limit = explainer.training_, explainer.max_counterfactuals
    there = np.flatnonzero(training.pool.codes == training.pool.codes[0])
    centre = training.batch(there[[7]], wanted)
    rows = options.apply(centre.inputs, training.table)[0, RUNGS.index(1.0) :: len(RUNGS)]
    rows = training.table.snap(rows[:limit], centre.inputs)
    directions = training.distance.embed(rows).directions - centre.embedded.directions
    for one, other in itertools.combinations(directions, 2):
        cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert 1 - cosine >= ANGLE.beta


def test_sets_hold_every_recipe_once_and_keep_the_order_where_nothing_differs() -> None:
    options, explainer, wanted = learned()
    training = explainer.training_
    there = np.flatnonzero(training.pool.codes == training.pool.codes[0])
    centre = training.batch(there[[7]], wanted)
    selector = replace(selector_of(explainer), diversity=None, most=len(options))
    for each in (selector, replace(selector, most=2)):
        order = in_sets(options, centre, each)
        assert sorted(order) == list(range(len(options)))


# The list of a region: what its options ask for, whoever tries them -------------------------------


HOMES = ["free", "own", "rent"]
#: The rung on which a recipe is as it was learned.
WHOLE = RUNGS.index(1.0)


def table() -> Table:
    ages, debts = np.linspace(20, 60, 41), np.linspace(0, 40, 41)
    homes = [HOMES[i % 3] for i in range(41)]
    return Table.learn(pd.DataFrame({"age": ages, "home": homes, "debt": debts}))[0]


def one(features: list[bool], values: list[float]) -> Recipes:
    return recipes_of([features], [values], [3])


def test_a_number_above_the_median_is_asked_for_at_least_one_below_at_most() -> None:
    start = np.array([40.0, np.nan, 20.0])
    options = OptionList(one([True, False, True], [50.0, 0.0, 10.0]), start)
    rows = options.apply(np.array([[30.0, 1.0, 30.0], [55.0, 1.0, 5.0]]), table())
    assert rows[:, WHOLE].tolist() == [[50.0, 1.0, 10.0], [55.0, 1.0, 5.0]]


def test_a_category_is_set_and_so_is_what_is_missing() -> None:
    start = np.array([40.0, 1.0, 20.0])
    options = OptionList(one([True, True, False], [30.0, 2.0, 0.0]), start)
    rows = options.apply(np.array([[np.nan, 0.0, 7.0]]), table())
    assert rows[:, WHOLE].tolist() == [[30.0, 2.0, 7.0]]


def test_a_special_code_is_no_number_to_keep() -> None:
    frame = pd.DataFrame({"months": [-9.0, *np.arange(30.0)]})
    coded, _ = Table.learn(frame, Schema(special={"months": [-9]}))
    options = OptionList(one([True], [5.0]), np.array([12.0]))
    assert options.apply(np.array([[-9.0]]), coded)[:, WHOLE].tolist() == [[5.0]]


def test_a_recipe_is_tried_on_every_rung_from_the_median_within_the_usual_range() -> None:
    start, x = np.array([40.0, np.nan, 20.0]), np.array([[20.0, 1.0, 3.0]])
    rows = OptionList(one([True, True, False], [48.0, 2.0, 0.0]), start).apply(x, table())[0]
    assert rows[:, 0].tolist() == [40.0 + 8 * rung for rung in RUNGS]
    assert (rows[:, 1:] == [2.0, 3.0]).all()
    beyond = OptionList(one([True, False, False], [59.0, 0.0, 0.0]), start).apply(x, table())
    assert beyond[..., 0].max() == table().features[0].usual[1]


def test_a_recipe_that_sets_no_number_is_the_same_on_every_rung() -> None:
    options = OptionList(one([False, True, False], [0.0, 2.0, 0.0]), np.zeros(3))
    rows = options.apply(np.array([[30.0, 1.0, 9.0]]), table())[0]
    assert rows.tolist() == [[30.0, 2.0, 9.0]] * len(RUNGS)


@given(
    st.lists(st.tuples(st.floats(20, 60), st.integers(0, 2)), min_size=1, max_size=4),
    st.floats(20, 60),
    st.floats(20, 60),
)
def test_who_has_what_an_option_asks_for_keeps_it(
    people: list[tuple[float, int]], start: float, value: float
) -> None:
    options = OptionList(one([True, False, False], [value, 0, 0]), np.array([start, 0.0, 0.0]))
    x = np.array([[age, home, 1.0] for age, home in people])
    for (age, _), rungs in zip(people, options.apply(x, table()), strict=True):
        has_it = age >= value if value >= start else age <= value
        assert rungs[WHOLE, 0] == (age if has_it else value)
