"""The nearest of very many candidates: what exact sorting of all of them would give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset._base.arrays import Indices, Mask, Matrix
from counterset.distances import L0, L1, L2, CustomDistance, Distance, LInf
from counterset.strategies import ranking as nearest
from counterset.strategies.ranking import NearestSearch

DISTANCES = [L0(), L1(), L2(), LInf(), L1([1.0, 3.0, 0.1]), L2([1e-3, 7.0, 2.0])]


def sorted_nearest(
    x: Matrix, points: Matrix, distance: Distance, count: int, eligible: Mask | None = None
) -> Indices:
    """Sort all candidates of one input exactly; ties by position."""
    lengths = distance.rowwise(x[None], points[None])[0]
    counts = (points != x).any(axis=1)
    if eligible is not None:
        counts &= eligible
    order = np.lexsort((np.arange(len(points)), lengths))
    return np.sort(order[counts[order]][:count])


def scaled_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small tables take the paths of large ones: many blocks, and trees."""
    monkeypatch.setattr(nearest, "LARGEST_BLOCK", 7)
    monkeypatch.setattr(nearest, "INPUTS_AT_ONCE", 3)
    monkeypatch.setattr(nearest, "LEVELS_EACH", 0)


@given(data=st.data(), whole=st.booleans(), use_tree=st.booleans())
def test_finds_what_exact_sorting_finds(data: st.DataObject, whole: bool, use_tree: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        scaled_down(patch)
        if not use_tree:
            patch.setattr(nearest, "LEVELS_EACH", np.inf)
        random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
        m = data.draw(st.integers(2, 60))
        # Whole numbers have many ties, and inputs that are candidates themselves.
        points: Matrix = random.random((m, 3))
        points = np.floor(3 * points) if whole else points
        x = np.concatenate([points[:2], random.integers(0, 3, (3, 3)) * 1.0])
        distance = data.draw(st.sampled_from(DISTANCES))
        count = data.draw(st.integers(1, m - 1))
        eligible = data.draw(st.none() | st.just(random.random(m) < 0.5))
        squared = data.draw(st.none() | st.just((points**2).sum(axis=1)))
        found = list(NearestSearch(points, distance, squared).find(x, count, eligible))
        assert len(found) == len(x)
        for row, got in zip(x, found, strict=True):
            wanted = sorted_nearest(row, points, distance, count, eligible)
            assert np.isin(wanted, got).all()
            assert (np.diff(got) > 0).all()
            assert (points[got] != row).any(axis=1).all()
            assert eligible is None or eligible[got].all()


@pytest.mark.parametrize("distance", DISTANCES[1:], ids=repr)
@pytest.mark.parametrize("levels_each", [0, np.inf])
def test_finds_no_more_than_the_wanted_where_no_two_are_as_far(
    monkeypatch: pytest.MonkeyPatch, distance: Distance, levels_each: float
) -> None:
    scaled_down(monkeypatch)
    monkeypatch.setattr(nearest, "LEVELS_EACH", levels_each)
    random = np.random.default_rng(0)
    points, x = random.random((200, 3)), random.random((5, 3))
    for row, got in zip(x, NearestSearch(points, distance).find(x, 9), strict=True):
        np.testing.assert_array_equal(got, sorted_nearest(row, points, distance, 9))


def test_candidates_as_far_as_the_last_are_all_found() -> None:
    points = np.repeat([[1.0, 0.0], [0.0, 1.0], [3.0, 3.0]], 4, axis=0)
    (found,) = NearestSearch(points, L1()).find(np.zeros((1, 2)), 5)
    assert found.tolist() == list(range(8))


def test_what_is_ignored_makes_no_candidate_farther() -> None:
    points = np.array([[9.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    ignored = np.array([True, False])
    (found,) = NearestSearch(points, L1()).find(np.zeros((1, 2)), 1, ignored=ignored)
    assert found.tolist() == [0]


def test_a_tree_is_used_only_for_norms_in_few_dimensions() -> None:
    points = np.zeros((64, 2))  # 6 levels are enough for 2 coordinates
    assert NearestSearch(points, L1())._has_tree
    assert not NearestSearch(np.zeros((64, 3)), L1())._has_tree
    assert not NearestSearch(points, CustomDistance(lambda A, B: L1().pairwise(A, B)))._has_tree
    assert not NearestSearch(points, L0())._has_tree


def test_to_look_for_few_of_very_many_candidates_pays() -> None:
    search = NearestSearch(np.zeros((nearest.VERY_MANY, 10)), L1())
    assert search.pays(1000)
    assert not search.pays(nearest.VERY_MANY // 2)
    assert not NearestSearch(search.points[1:], L1()).pays(1000)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_rounding_far_from_the_origin_hides_no_candidate(
    monkeypatch: pytest.MonkeyPatch, offset: float
) -> None:
    scaled_down(monkeypatch)
    random = np.random.default_rng(0)
    points, x = random.random((100, 3)) + offset, random.random((4, 3)) + offset
    for distance in (L1([0.3, 1.7, 1e3]), L2([0.3, 1.7, 1e3]), L2()):
        for row, got in zip(x, NearestSearch(points, distance).find(x, 20), strict=True):
            assert np.isin(sorted_nearest(row, points, distance, 20), got).all()
