"""Anchored selection: the anchors, their sets, and the radius within which a set is kept."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from anchored_toys import following
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from toys import FRAME, Rows, X, approve, fitted

from counterset import (
    Constraints,
    CountersetWarning,
    DiverseExplainer,
    Explanation,
    FewerCounterfactualsWarning,
    GaussianNoise,
    InvalidInputError,
    LineSearch,
    NearData,
    NearestCandidates,
    datasets,
)
from counterset.anchors.anchors import Anchors
from counterset.anchors.workshop import Plan
from counterset.distances import CustomDistance, Distance
from counterset.metrics import set_distance

DISTANCES = ["l1", "l2", "linf", "l0", "gower"]


def anchored(anchors: Any = 4, **parameters: Any) -> DiverseExplainer:
    return fitted(anchors=anchors, **parameters)


def examples(
    explainer: DiverseExplainer, rows: Rows | pd.DataFrame, **wanted: Any
) -> list[list[int]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        return [sorted(e.examples) for e in explainer.explain_many(rows, **wanted)]


def radius_of(explanation: Explanation) -> float | None:
    assert explanation.certificate is not None
    return explanation.certificate.stable_radius


def radii(explainer: DiverseExplainer, rows: Rows | pd.DataFrame) -> Rows:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        found = [e.certificate.stable_radius for e in explainer.explain_many(rows)]  # type: ignore[union-attr]
    return np.array(found, dtype=float)


# --- the sets


def nearest_anchors(explainer: DiverseExplainer, rows: Rows) -> list[int]:
    """Find the anchor of the same class with the nearest set, one input at a time."""
    anchors = explainer.anchors_
    assert anchors is not None
    found = []
    for x, label in zip(explainer.distance_.coordinates(rows), explainer.model(rows), strict=True):
        own = np.flatnonzero(explainer.classes_[anchors.codes] == label)
        away = [
            np.abs(anchors.options.points[anchors.sets[i]] - x).sum(axis=1).mean()
            - anchors.bonus[i]
            for i in own
        ]
        found.append(int(own[np.argmin(away)]))
    return found


def planned(count: int, data: Any = X, **parameters: Any) -> DiverseExplainer:
    """Fit with that many anchors, and without a search."""
    with following(Plan(count, closed_in=False)):
        return anchored("auto", data=data, search=None, **parameters)


def test_an_input_gets_the_set_of_its_anchor() -> None:
    explainer, rows = planned(5), np.random.default_rng(1).random((40, 2))
    anchors = explainer.anchors_
    assert anchors is not None
    nearest = nearest_anchors(explainer, rows)
    for anchor, explanation in zip(nearest, explainer.explain_many(rows), strict=True):
        own = anchors.options.take(anchors.sets[anchor])
        assert sorted(map(tuple, explanation.values)) == sorted(map(tuple, own.rows))
        assert set(explanation.labels) == set(own.labels)
        assert np.array_equal(own.rows, explainer.pool_.matrix[own.pool_index])  # nothing searched


def test_a_set_that_does_not_give_way_is_given_as_it_is_and_stays_within_the_radius() -> None:
    with following(Plan(6, closed_in=True)):
        explainer = anchored("auto", search=LineSearch(0.1))
    anchors, rows = explainer.anchors_, np.random.default_rng(8).random((20, 2))
    assert anchors is not None
    for x, i, found in zip(
        rows, nearest_anchors(explainer, rows), explainer.explain_many(rows), strict=True
    ):
        own = anchors.options.take(anchors.sets[i])
        assert sorted(map(tuple, found.values)) == sorted(map(tuple, own.rows))
        moved = x + 0.99 * (radius_of(found) or 0.0) / explainer.distance_.space.factor / 2
        if approve(moved[None])[0] == found.label:
            assert set_distance(found.values, explainer.explain(moved).values) == 0


def test_a_class_never_seen_in_training_is_searched_from_the_input() -> None:
    def model(rows: Any) -> Any:
        return np.where(np.asarray(rows)[:, 0] < 0, "odd", approve(rows))

    with following(Plan(3, closed_in=False)):
        explainer = anchored("auto", model=model, search=LineSearch(0.001))
    anchors = explainer.anchors_
    assert anchors is not None
    rows = np.array([[0.1, 0.3], [0.9, 0.8], [-0.2, 0.3]])
    for found, is_option in zip(explainer.explain_many(rows), (True, True, False), strict=True):
        kept = (anchors.options.rows[:, None] == found.values).all(axis=2).any(axis=0)
        assert kept.all() == is_option
        assert (model(found.values) == found.labels).all()


def test_nearly_equal_inputs_share_the_set_where_the_plain_selection_changes_it() -> None:
    rng = np.random.default_rng(0)
    data, x = rng.random((400, 4)), rng.random((100, 4))
    moved = np.clip(x + rng.normal(0, 0.01, x.shape), 0, 1)

    def model(rows: Any) -> Any:
        return np.asarray(rows).sum(axis=1) > 2

    same = model(x) == model(moved)

    def changes(anchors: Any) -> int:
        explainer = DiverseExplainer.paper(model, anchors=anchors).fit(data)
        pairs = zip(examples(explainer, x[same]), examples(explainer, moved[same]), strict=True)
        return sum(a != b for a, b in pairs)

    assert changes(8) < changes(None) / 3


@pytest.mark.parametrize("anchors", [1, 3, "auto"])
def test_every_counterfactual_is_valid(anchors: Any) -> None:
    rows = np.random.default_rng(2).random((50, 2))
    for explanation in anchored(anchors).explain_many(rows):
        assert (explanation.labels != explanation.label).all()
        assert (approve(explanation.values) == explanation.labels).all()


def test_an_answer_does_not_depend_on_the_batch() -> None:
    explainer = anchored(6)
    rows = np.random.default_rng(3).random((30, 2))
    together = explainer.explain_many(rows)
    for x, of_batch in zip(rows, together, strict=True):
        alone = explainer.explain(x)
        assert np.array_equal(alone.values, of_batch.values)
        assert radius_of(alone) == radius_of(of_batch)


def test_slices_and_pickles_keep_the_certificates() -> None:
    explanations = anchored(4).explain_many(X[:6])
    assert radius_of(explanations[2:5][1]) == radius_of(explanations[3])
    for again in (
        pickle.loads(pickle.dumps(explanations))[3],
        pickle.loads(pickle.dumps(explanations[3])),
    ):
        assert radius_of(again) == radius_of(explanations[3])
    few, many = (len(pickle.dumps(anchored(n).explain_many(X[:6])[3])) for n in (2, 20))
    assert abs(few - many) < 200  # the anchors stay at home


def test_a_radius_is_proved_when_it_is_first_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    explainer, calls = anchored(4), []
    prove = Anchors.radius

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return prove(*arguments)

    monkeypatch.setattr(Anchors, "radius", counted)
    explanations = explainer.explain_many(X[:6])
    assert not calls
    for explanation in explanations:
        assert "Anyone of your class" in repr(explanation)
    assert len(calls) == 1


# --- unusual anchors


def test_one_anchor_per_class_gives_everyone_of_the_class_the_same_and_says_so() -> None:
    explainer = anchored(1)
    rows = np.array([[0.1, 0.1], [0.4, 0.5]])
    first, second = examples(explainer, rows)
    assert first == second
    assert (radii(explainer, rows) == np.inf).all()
    assert "Anyone of your class gets the same examples." in repr(explainer.explain(rows[0]))


def test_more_anchors_than_rows_are_at_most_as_many_as_differ() -> None:
    explainer = anchored(1000)
    anchors = explainer.anchors_
    assert anchors is not None
    assert 20 < len(anchors) <= len(X)
    assert len(np.unique(np.column_stack([anchors.codes, anchors.sets]), axis=0)) == len(anchors)


def test_copies_of_a_row_are_one_anchor() -> None:
    repeated = np.repeat(X[:10], 5, axis=0)
    explainer = anchored(1000, data=repeated)
    assert explainer.anchors_ is not None
    assert len(np.unique(explainer.anchors_.points.coordinates, axis=0)) <= 10
    assert (radii(explainer, X[:10]) >= 0).all()


@pytest.mark.parametrize("anchors", [1, 7, "auto"])
def test_a_class_of_a_single_row_has_one_anchor(anchors: Any) -> None:
    data = np.vstack([X[approve(X) == "no"], [[0.9, 0.9]]])
    explainer = DiverseExplainer.paper(approve, anchors=anchors, max_counterfactuals=1).fit(data)
    assert explainer.anchors_ is not None
    assert (explainer.anchors_.codes == 1).sum() == 1
    assert explainer.explain([0.8, 0.9]).labels.tolist() == ["no"]
    assert explainer.explain([0.8, 0.9]).certificate.stable_radius == np.inf  # type: ignore[union-attr]


def test_anchors_of_equal_sets_count_as_one_in_the_radius() -> None:
    # A single acceptable row: all anchors have the same set.
    data = np.vstack([X[approve(X) == "no"], [[0.9, 0.9]]])
    explainer = DiverseExplainer.paper(approve, anchors=5, search=None, max_counterfactuals=1).fit(
        data
    )
    assert radii(explainer, np.array([[0.1, 0.2]])) == [np.inf]


def thirds(rows: Any) -> Any:
    return np.digitize(np.asarray(rows, dtype=float)[:, 0], [1 / 3, 2 / 3])


def test_several_classes_have_anchors_of_their_own() -> None:
    explainer = anchored(3, model=thirds)
    rows = np.random.default_rng(4).random((40, 2))
    for x, explanation in zip(rows, explainer.explain_many(rows), strict=True):
        assert (thirds(X[explanation.examples]) != thirds(x[None])[0]).all()


def test_a_target_class_is_chosen_for_from_the_same_anchors() -> None:
    explainer, plain = anchored(3, model=thirds), fitted(model=thirds)
    rows = np.array([[0.1, 0.5], [0.12, 0.5], [0.5, 0.1]])
    for explanation in explainer.explain_many(rows, target=2):
        assert explanation.labels.tolist() == [2, 2]
        assert explanation.certificate is not None
        assert explanation.certificate.stable_radius is not None
    anchors = explainer.anchors_
    assert anchors is not None
    place = anchors.nearest(explainer.distance_.embed(rows), thirds(rows))[0]
    row = (
        (explainer.distance_.coordinates(X) == anchors.points.coordinates[place])
        .all(axis=1)
        .argmax()
    )
    assert examples(explainer, rows, target=2)[0] == examples(plain, X[[row]], target=2)[0]


def test_a_class_never_seen_in_training_is_explained_from_the_input() -> None:
    def model(rows: Any) -> Any:
        return np.where(np.asarray(rows)[:, 0] < 0, "odd", approve(rows))

    explainer, plain = anchored(3, model=model), fitted(model=model)
    rows = np.array([[-0.2, 0.3], [0.1, 0.3]])
    assert examples(explainer, rows)[0] == examples(plain, rows)[0]
    assert np.isnan(radii(explainer, rows)[0])
    assert radii(explainer, rows)[1] > 0
    assert examples(explainer, rows, target="yes")[0] == examples(plain, rows, target="yes")[0]


def test_the_input_is_never_its_own_counterfactual() -> None:
    answers = {"changed": False}

    def fickle(rows: Any) -> Any:
        labels = approve(rows)
        return np.where(labels == "yes", "no", "yes") if answers["changed"] else labels

    explainer = anchored(80, model=fickle, search=None, max_counterfactuals=40)
    answers["changed"] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CountersetWarning)
        explanations = explainer.explain_many(X, if_none="warn")
    for x, explanation in zip(X, explanations, strict=True):
        assert not (explanation.values == x).all(axis=1).any()


# --- with the rest of the library


def test_settings_changed_after_fit_are_kept_to() -> None:
    explainer = anchored(4)
    explainer.set_params(max_counterfactuals=3)
    assert len(explainer.explain([0.2, 0.3])) == 3
    # The sets that were kept are of no use then: steps 1 to 3 look from the anchor.
    places = explainer.anchors_.points.coordinates  # type: ignore[union-attr]
    rows = places[nearest_anchors(explainer, X[:20])] / explainer.distance_.space.factor
    rows += explainer.distance_.space.offset
    assert examples(explainer, X[:20]) == examples(fitted(max_counterfactuals=3), rows)
    explainer.set_params(anchors=None, max_counterfactuals=2).fit(X)
    assert examples(explainer, X[:20]) == examples(fitted(), X[:20])
    assert explainer.explain(X[0]).certificate is None


@pytest.mark.parametrize("sparsify", [False, True])
def test_constraints_hold_and_nothing_is_certified(sparsify: bool) -> None:
    explainer = anchored(4, data=FRAME, constraints=Constraints(immutable=["age"]))
    explainer.set_params(sparsify=sparsify)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        explanations = explainer.explain_many(FRAME[:20], if_none="warn")
    assert sum(len(explanation) > 0 for explanation in explanations) > 10
    for (_, x), explanation in zip(FRAME[:20].iterrows(), explanations, strict=True):
        assert (explanation.counterfactuals["age"] == x["age"]).all()
        assert (explanation.labels != explanation.label).all()
        assert explanation.certificate is None


def test_mixed_tables_have_anchors() -> None:
    columns = ["duration", "savings_status", "purpose", "age", "employment"]
    data = datasets.load("german_credit").X[columns].head(120)

    def model(frame: Any) -> Any:
        return np.asarray((frame["duration"] > 20) & (frame["savings_status"] == "<100"))

    explainer = DiverseExplainer.paper(model, anchors=4).fit(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        explanations = explainer.explain_many(data.head(30))
        sparse = explainer.set_params(sparsify=True).explain_many(data.head(5))
    assert all((e.labels != e.label).all() for e in [*explanations, *sparse])
    assert np.median([e.certificate.stable_radius for e in explanations]) > 0  # type: ignore[union-attr]


def test_sets_are_plausible_where_that_is_asked_for() -> None:
    explainer = anchored(4, plausibility=NearData(share=0.5), search=None)
    explanations = explainer.explain_many(X[:20])
    limit = explainer.support_.limit  # type: ignore[union-attr]
    assert all(np.all(np.asarray(e.plausibility) <= limit) for e in explanations)
    assert (radii(explainer, X[:20]) >= 0).all()


class Confident:
    """A model that is surer the farther it is from the boundary."""

    classes_ = np.array(["no", "yes"])

    def predict(self, rows: Any) -> Any:
        return approve(rows)

    def predict_proba(self, rows: Any) -> Any:
        yes = np.clip(np.asarray(rows).sum(axis=1) / 2, 0, 1)
        return np.column_stack([1 - yes, yes])


def test_sets_are_probable_where_that_is_asked_for() -> None:
    explainer = anchored(4, model=Confident(), plausibility=NearData())
    explanation = explainer.explain([0.1, 0.2], target_probability=0.7)
    assert (explanation.values.sum(axis=1) / 2 >= 0.7).all()


@pytest.mark.parametrize("anchors", [5, "auto"])
def test_pickling_keeps_the_sets_to_the_last_bit(anchors: Any) -> None:
    explainer = anchored(anchors)
    again = pickle.loads(pickle.dumps(explainer))
    assert explainer.anchors_ is not None
    for name in ("sets", "bonus", "gives_way", "n_candidates", "farthest"):
        kept = getattr(explainer.anchors_, name)
        assert np.array_equal(kept, getattr(again.anchors_, name))
    assert np.array_equal(explainer.anchors_.options.rows, again.anchors_.options.rows)
    for one, other in zip(explainer.explain_many(X), again.explain_many(X), strict=True):
        assert np.array_equal(one.values, other.values)
        assert radius_of(one) == radius_of(other)


def test_fitting_twice_finds_the_same() -> None:
    first, second = anchored("auto").anchors_, anchored("auto").anchors_
    assert first is not None
    assert second is not None
    assert np.array_equal(first.points.coordinates, second.points.coordinates)
    assert np.array_equal(first.sets, second.sets)
    assert np.array_equal(first.options.rows, second.options.rows)


def test_explaining_looks_at_no_candidate_but_those_of_the_anchor() -> None:
    explainer = anchored(4)
    # Without its points the pool cannot be ranked: reaching for them would bring them back.
    again = pickle.loads(pickle.dumps(explainer))
    again.explain_many(X)
    assert "embedded" not in vars(again.pool_)


@pytest.mark.parametrize("anchors", [0, -1, 2.5, "many", True])
def test_a_number_of_anchors_that_makes_no_sense_is_refused(anchors: Any) -> None:
    with pytest.raises(InvalidInputError, match="anchors must be"):
        anchored(anchors)


# --- the certificate


def random_metric(A: Rows, B: Rows) -> Rows:
    roots: Rows = np.sqrt(np.abs(A[:, None] - B[None]).sum(axis=2))  # concave, so still a metric
    return roots


METRICS: list[str | Distance] = [
    *DISTANCES,
    CustomDistance(random_metric, is_symmetric=True, has_triangle_inequality=True),
]


@pytest.mark.parametrize(
    "distance",
    [
        CustomDistance(random_metric, has_triangle_inequality=True),
        CustomDistance(random_metric, is_symmetric=True),
    ],
)
def test_nothing_is_certain_without_symmetry_and_the_triangle_inequality(distance: Any) -> None:
    explanation = anchored(4, distance=distance).explain([0.2, 0.3])
    assert explanation.certificate is not None
    assert explanation.certificate.stable_radius is None
    assert "Anyone" not in repr(explanation)


def wave(rows: Any) -> Any:
    rows = np.asarray(rows, dtype=float)
    return rows[:, 0] > 0.5 + 0.3 * np.sin(6 * rows[:, 1])


@pytest.mark.parametrize("distance", METRICS, ids=[*DISTANCES, "custom"])
@settings(max_examples=12)  # each one fits; test_stability.py attacks the radius itself
@given(
    seed=st.integers(0, 10**6),
    anchors=st.integers(1, 30),
    on_grid=st.booleans(),
)
def test_no_input_within_the_radius_gets_other_examples(
    distance: Any, seed: int, anchors: int, on_grid: bool
) -> None:
    rng = np.random.default_rng(seed)
    data = rng.random((60, 3))
    if on_grid:
        data = np.rint(4 * data) / 4  # ties everywhere
    if len(set(wave(data))) < 2:
        return
    explainer = planned(anchors, data, model=wave, distance=distance, max_counterfactuals=3)
    x = data[:4] if on_grid else rng.random((4, 3))
    radius = radii(explainer, x)
    own, of_class = examples(explainer, x), wave(x)
    for i in range(len(x)):
        attempts = _attacks(explainer, x[i], float(radius[i]), rng)
        inside = explainer.distance_(x[i], attempts)[0] <= radius[i]
        attempts = attempts[inside & (wave(attempts) == of_class[i])]
        if len(attempts):
            assert all(found == own[i] for found in examples(explainer, attempts))


def _attacks(explainer: DiverseExplainer, x: Rows, radius: float, rng: Any) -> Rows:
    """Go towards every other anchor, and anywhere, as far as the radius allows."""
    assert explainer.anchors_ is not None
    space = explainer.distance_.space
    anchors = explainer.anchors_.points.coordinates / space.factor + space.offset
    towards = np.vstack([anchors, x + rng.normal(size=(20, 3)), x + np.eye(3), x - np.eye(3)])
    steps = towards - x
    lengths = explainer.distance_(x, towards)[0]
    reach = np.where(lengths > 0, min(radius, 1e3) / np.maximum(lengths, 1e-9), 0.0)
    shares = np.array([0.5, 0.999, 1 - 1e-9])
    straight = x + (reach[:, None] * shares)[:, :, None] * steps[:, None, :]
    # Distances that are not norms need not grow along a line as lengths do.
    along = x + rng.random((len(steps), 1)) * steps
    return np.vstack([straight.reshape(-1, 3), along])


def test_the_radius_is_not_vacuous_on_bundled_data() -> None:
    data = datasets.load("diabetes")
    frame = data.X.astype(float)
    model = make_pipeline(MinMaxScaler(), LogisticRegression()).fit(frame[:600], data.y[:600])
    deviation = GaussianNoise().variance ** 0.5
    for distance in ("l1", "l2"):
        explainer = DiverseExplainer.paper(
            model, distance=distance, candidates=NearestCandidates(50), anchors="auto", search=None
        ).fit(frame[:200])
        median = np.median(radii(explainer, frame[600:]))
        assert median > deviation
        # A radius holds in the worst direction; to be longer, it takes fewer anchors.
        explainer.set_params(anchors=2).fit(frame[:200])
        assert np.median(radii(explainer, frame[600:])) > 4 * deviation


# --- where anchors are


def test_anchors_of_a_frame_do_not_depend_on_its_index() -> None:
    shuffled = FRAME.set_axis(pd.RangeIndex(len(FRAME)))
    first, second = anchored(4, data=FRAME), anchored(4, data=shuffled)
    assert examples(first, FRAME[:9]) == examples(second, shuffled[:9])
