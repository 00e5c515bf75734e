"""Step 3: when two candidates differ enough, and the fast filter for it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from counterset import (
    AngleDiversity,
    DistanceDiversity,
    FeatureDiversity,
    InvalidInputError,
    distances,
)
from counterset.strategies.diversity import Diversity, FilteringDiversity, View
from counterset.tables.space import Embedded


def points(rows: Any) -> Embedded:
    """Numbers are where they are, for distances and for angles."""
    matrix = np.array(rows, dtype=float)
    return Embedded(matrix, matrix)


def differ(
    rule: Diversity,
    a: list[float],
    b: list[float],
    x: tuple[float, ...] = (0.0, 0.0),
    nearest: float = 1.0,
    name: str = "l2",
) -> bool:
    view = View(points([x]), points([a, b]), np.array([nearest]), distances.get(name))
    return bool(rule.differ(view, np.array([0]), np.array([1]))[0])


def test_opposite_directions_count_as_diverse() -> None:
    for beta in (0.0, 0.5, 1.0):
        assert differ(AngleDiversity(beta), [1.0, 0.0], [-3.0, 0.0])


def test_the_prototype_takes_opposite_directions_for_equal() -> None:
    assert not differ(AngleDiversity(0.5, absolute=True), [1.0, 0.0], [-3.0, 0.0])


def test_a_right_angle_is_the_least_for_beta_one() -> None:
    assert differ(AngleDiversity(1.0), [1.0, 0.0], [0.0, 2.0])
    assert not differ(AngleDiversity(1.0), [1.0, 0.0], [0.01, 2.0])


def test_the_angle_is_the_one_at_the_input() -> None:
    x = (1.0, 1.0)
    assert differ(AngleDiversity(1.0), [2.0, 1.0], [1.0, 2.0], x)
    assert not differ(AngleDiversity(0.1), [2.0, 2.0], [3.0, 3.0], x)


def test_sixty_degrees_are_just_enough_for_one_half() -> None:
    sixty, less = ([np.cos(a), np.sin(a)] for a in np.radians([60.0, 59.99]))
    for absolute in (False, True):  # the two rules agree at one half on acute angles
        assert differ(AngleDiversity(0.5, absolute), [1.0, 0.0], sixty)
        assert not differ(AngleDiversity(0.5, absolute), [1.0, 0.0], less)


def test_a_larger_beta_lets_more_through_in_the_prototype_only() -> None:
    thirty = [np.cos(np.pi / 6), np.sin(np.pi / 6)]  # cosine 0.87
    assert differ(AngleDiversity(0.9, absolute=True), [1.0, 0.0], thirty)
    assert not differ(AngleDiversity(0.9), [1.0, 0.0], thirty)
    assert not differ(AngleDiversity(0.1, absolute=True), [1.0, 0.0], thirty)
    assert differ(AngleDiversity(0.1), [1.0, 0.0], thirty)


def test_the_distance_rule_asks_for_one_plus_beta_times_the_nearest() -> None:
    rule = DistanceDiversity(0.5)
    assert differ(rule, [2.0, 0.0], [2.0, 3.0], nearest=2.0)  # 3 = 1.5 * 2
    assert not differ(rule, [2.0, 0.0], [2.0, 2.99], nearest=2.0)


def test_the_distance_rule_uses_the_distance_in_use() -> None:
    rule, a, b = DistanceDiversity(1.0), [0.0, 0.0], [1.5, 1.5]
    assert differ(rule, a, b, nearest=1.5, name="l1")  # 3 >= 2 * 1.5
    assert not differ(rule, a, b, nearest=1.5, name="linf")


@pytest.mark.parametrize("rule", [AngleDiversity, DistanceDiversity])
@pytest.mark.parametrize("beta", [-0.1, 1.1, np.nan, np.inf, "0.5", None, True])
def test_beta_outside_its_range_is_refused(rule: Any, beta: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"beta must be between 0 and 1, got "):
        rule(beta)


@pytest.mark.parametrize("rule", [AngleDiversity, DistanceDiversity])
def test_the_ends_of_the_range_are_allowed(rule: Any) -> None:
    assert (rule(0).beta, rule(1).beta) == (0, 1)
    assert rule(0.5) == rule(0.5)
    with pytest.raises(AttributeError):
        rule(0.5).beta = 0.1


values = st.one_of(st.integers(-3, 3).map(float), st.floats(-4, 4, allow_subnormal=False, width=32))
rules = st.one_of(
    st.builds(AngleDiversity, st.floats(0, 1), st.booleans()),
    st.builds(AngleDiversity, st.sampled_from([0.0, 0.5, 1.0]), st.booleans()),
    st.builds(DistanceDiversity, st.floats(0, 1)),
)


@st.composite
def views(draw: st.DrawFn) -> View:
    d, m, n = draw(st.integers(1, 5)), draw(st.integers(1, 10)), draw(st.integers(1, 3))
    offset = draw(st.sampled_from([0.0, 0.0, 1000.0, 1e7]))
    x = draw(hnp.arrays(np.float64, (n, d), elements=values)) + offset
    rows = draw(hnp.arrays(np.float64, (m, d), elements=values)) + offset
    # A candidate is never the input itself.
    assume(np.abs(rows[None] - x[:, None]).max(axis=2).min() > 1e-12)
    distance = distances.get(draw(st.sampled_from(["l0", "l1", "l2", "linf"])))
    to_all = distance.rowwise(x, np.broadcast_to(rows, (n, m, d)))
    return View(points(x), points(rows), to_all.min(axis=1), distance)


@given(views(), rules, st.data())
def test_the_filter_is_never_sure_of_what_is_wrong(
    view: View, rule: FilteringDiversity, data: st.DataObject
) -> None:
    n, m = len(view.x), len(view.candidates)
    kept = np.array(data.draw(st.lists(st.integers(0, m - 1), min_size=n, max_size=n)))
    alike, different = rule.filter(view)(kept)
    assert alike.shape == different.shape == (n, m)
    for j in range(m):
        differs = rule.differ(view, kept, np.full(n, j))
        assert not (alike[:, j] & differs).any()
        assert not (different[:, j] & ~differs).any()
        # A copy of a kept candidate is left to an exact look, whatever the rule says of it.
        copies = (view.candidates.coordinates[kept] == view.candidates.coordinates[j]).all(axis=1)
        assert not (different[:, j] & copies).any()


@given(views(), rules)
def test_differing_is_mutual(view: View, rule: Diversity) -> None:
    n, m = len(view.x), len(view.candidates)
    a, b = np.zeros(n, dtype=np.intp), np.full(n, m - 1, dtype=np.intp)
    np.testing.assert_array_equal(rule.differ(view, a, b), rule.differ(view, b, a))


@given(views(), rules)
def test_what_an_input_sees_does_not_depend_on_the_others(view: View, rule: Diversity) -> None:
    n, m = len(view.x), len(view.candidates)
    a, b = np.zeros(n, dtype=np.intp), np.full(n, m - 1, dtype=np.intp)
    together = rule.differ(view, a, b)
    for i in range(n):
        alone = view.of(np.array([i]))
        assert rule.differ(alone, a[:1], b[:1])[0] == together[i]


def test_the_filter_is_sure_of_most_candidates() -> None:
    rows = np.random.default_rng(0).normal(size=(500, 4))
    view = View(points(np.zeros((1, 4))), points(rows), np.array([0.3]), distances.get("l1"))
    first = np.array([0])
    rules: list[FilteringDiversity] = [
        AngleDiversity(0.5),
        AngleDiversity(0.5, absolute=True),
        DistanceDiversity(0.5),
    ]
    for rule in rules:
        (alike,), (different,) = rule.filter(view)(first)
        differs = np.array([rule.differ(view, first, np.array([j]))[0] for j in range(500)])
        assert alike.sum() >= 0.99 * (~differs).sum() > 0
        assert different.sum() >= 0.99 * differs.sum() > 0


def test_the_allowance_for_single_precision_grows_with_the_features() -> None:
    # Far from the origin, a sum of a thousand products in single precision is off by more than
    # these candidates are apart, so none can be dropped without an exact look.
    x = np.full((1, 1000), 1000.0)
    rows = np.repeat(x, 3, axis=0)
    rows[:, 0] += [10.0, 20.0, 30.0]
    view = View(points(x), points(rows), np.array([10.0]), distances.get("l2"))
    rule = AngleDiversity(0.5)
    assert not np.any(rule.filter(view)(np.array([0])))
    assert not rule.differ(view, np.array([0]), np.array([1]))[0]
    near = View(points(x - 1000), points(rows - 1000), np.array([10.0]), distances.get("l2"))
    alike, different = rule.filter(near)(np.array([0]))
    assert alike.all()
    assert not different.any()


SETS = st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=2, max_size=6)


@given(SETS)
def test_candidates_differ_if_neither_changes_a_subset_of_the_others_features(
    sets: list[set[int]],
) -> None:
    rows = np.array([[float(i in each) for i in range(4)] for each in sets])
    view = View(points(np.zeros((1, 4))), points(rows), np.ones(1), distances.get("l1"))
    for a, b in itertools.product(range(len(sets)), repeat=2):
        differ = FeatureDiversity().differ(view, np.array([a]), np.array([b]))
        assert differ.tolist() == [not sets[a] <= sets[b] and not sets[b] <= sets[a]]


@given(SETS, SETS)
def test_candidates_that_change_more_than_another_needs_are_not_minimal(
    first: list[set[int]], second: list[set[int]]
) -> None:
    sets = [*first, *second]
    rows = np.array([[float(i in each) for i in range(4)] for each in sets])
    view = View(points(np.zeros((2, 4))), points(rows), np.ones(2), distances.get("l1"))
    owners = np.repeat([0, 1], [len(first), len(second)])
    expected = [not any(other < each for other in own) for own in (first, second) for each in own]
    assert FeatureDiversity().minimal(view, owners).tolist() == expected


def test_a_category_is_one_feature_however_many_coordinates_it_has() -> None:
    # From the first value to the second, and to the third: both change the same feature.
    x, rows = np.array([[1.0, 0, 0, 5]]), np.array([[0.0, 1, 0, 5], [0, 0, 1, 5], [1, 0, 0, 6]])
    view = View(
        points(x),
        points(rows),
        np.ones(1),
        distances.get("l1"),
        feature_of_coordinate=np.array([1, 1, 1, 0]),
    )
    assert view.changed_features(np.array([0])).tolist() == [[False, True]]
    assert not FeatureDiversity().differ(view, np.array([0]), np.array([1])).any()
    assert FeatureDiversity().differ(view, np.array([0]), np.array([2])).all()
