"""The ranking against sorting every candidate by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from counterset import CandidatesWithin, InvalidInputError, NearestCandidates, distances
from counterset._base.arrays import Indices, Mask, Matrix
from counterset.distances import L0, L1, L2, ROUNDING, CustomDistance, Distance, LInf
from counterset.strategies import ranking as nearest
from counterset.strategies.ranking import NearestSearch, Ranking

# A coarse grid makes ties and copies; fine floats make the general case.
values = st.one_of(st.integers(-2, 2).map(float), st.floats(-4, 4, allow_subnormal=False, width=32))


@dataclass
class Case:
    x: NDArray[np.float64]
    points: NDArray[np.float64]
    rows: NDArray[np.intp]
    distance: distances.Distance

    def ranking(self) -> Ranking:
        return Ranking(self.x, self.points, self.rows, self.distance)

    def exact(self, i: int, j: int) -> float:
        return float(self.distance.rowwise(self.x[i : i + 1], self.points[None, j : j + 1])[0, 0])

    def ordered(self, i: int) -> list[int]:
        """All candidates of an input but itself, by distance, then by training row."""
        others = [j for j in range(len(self.points)) if (self.points[j] != self.x[i]).any()]
        return sorted(others, key=lambda j: (self.exact(i, j), self.rows[j]))


def manhattan(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.abs(A[:, None] - B[None]).sum(axis=2))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    d, m, n = draw(st.integers(1, 4)), draw(st.integers(1, 15)), draw(st.integers(1, 3))
    points = draw(hnp.arrays(np.float64, (m, d), elements=values))
    x = draw(hnp.arrays(np.float64, (n, d), elements=values))
    if draw(st.booleans()):
        x[0] = points[0]
    # Far from the origin the fast scores are of little use, and the exact ones must decide.
    offset = draw(st.sampled_from([0.0, 0.0, 1e6]))
    rows = np.array(draw(st.permutations(range(m))), dtype=np.intp)
    distance: Any = draw(st.sampled_from(["l0", "l1", "l2", "linf", manhattan]))
    return Case(x + offset, points + offset, rows, distances.get(distance))


def left(ranking: Ranking) -> list[list[int]]:
    """Take the candidates out, nearest first."""
    everyone = np.arange(len(ranking))
    taken: list[list[int]] = [[] for _ in everyone]
    while True:
        nearest, found = ranking.first(everyone)
        if not found.any():
            return taken
        for i in np.flatnonzero(found):
            taken[i].append(int(nearest[i]))
        ranking.drop_at(everyone[found], nearest[found])


@given(cases())
def test_candidates_come_by_distance_then_by_training_row_without_the_input(case: Case) -> None:
    ranking = case.ranking()
    expected = [case.ordered(i) for i in range(len(case.x))]
    assert ranking.count().tolist() == [len(order) for order in expected]
    assert left(ranking) == expected
    assert ranking.count().tolist() == [0] * len(case.x)


@given(cases(), st.integers(1, 16))
def test_keep_nearest_keeps_the_head_of_the_sorted_list(case: Case, count: int) -> None:
    ranking = case.ranking()
    ranking.keep_nearest(count)
    assert left(ranking) == [case.ordered(i)[:count] for i in range(len(case.x))]


@given(cases(), st.sampled_from([1.0, 1.25, 2.0, 10.0]))
def test_keep_within_keeps_those_at_most_a_factor_farther(case: Case, factor: float) -> None:
    ranking = case.ranking()
    ranking.keep_within(factor)
    expected = []
    for i in range(len(case.x)):
        order = case.ordered(i)
        limit = factor * case.exact(i, order[0]) * (1 + ROUNDING) if order else 0.0
        expected.append([j for j in order if case.exact(i, j) <= limit])
    assert left(ranking) == expected


@given(cases())
def test_nearest_distance_is_exact_and_infinite_without_candidates(case: Case) -> None:
    orders = [case.ordered(i) for i in range(len(case.x))]
    expected = [case.exact(i, order[0]) if order else np.inf for i, order in enumerate(orders)]
    assert case.ranking().nearest_distance().tolist() == expected


@given(cases(), st.data())
def test_what_is_dropped_never_comes_back(case: Case, data: st.DataObject) -> None:
    ranking = case.ranking()
    mask = data.draw(hnp.arrays(np.bool_, (len(case.x), len(case.points))))
    for_all = data.draw(hnp.arrays(np.bool_, len(case.points)))
    ranking.drop(mask)
    ranking.drop(for_all)
    gone = mask | for_all
    assert left(ranking) == [
        [j for j in case.ordered(i) if not gone[i, j]] for i in range(len(case.x))
    ]


@given(cases(), st.integers(1, 16))
def test_left_lists_what_is_not_dropped(case: Case, count: int) -> None:
    ranking = case.ranking()
    ranking.keep_nearest(count)
    who, which = ranking.left()
    expected = {(i, j) for i in range(len(case.x)) for j in case.ordered(i)[:count]}
    assert set(zip(who.tolist(), which.tolist(), strict=True)) == expected
    assert len(who) == len(expected)


@given(cases())
def test_first_of_some_inputs_is_that_of_all(case: Case) -> None:
    ranking = case.ranking()
    everyone = np.arange(len(case.x))
    nearest, found = ranking.first(everyone)
    for i in everyone:
        alone, is_found = ranking.first(np.array([i]))
        assert is_found[0] == found[i]
        assert not found[i] or alone[0] == nearest[i]


@given(cases(), st.integers(1, 16))
def test_the_first_are_taken_out_one_after_the_other(case: Case, count: int) -> None:
    ranking = case.ranking()
    ranking.keep_nearest(count)
    expected = [case.ordered(i)[:count] for i in range(len(case.x))]
    for place in range(count):
        nearest, found = ranking.take_first()
        lengths = ranking.lengths(nearest, found)
        for i, order in enumerate(expected):
            assert found[i] == (place < len(order))
            if found[i]:
                assert nearest[i] == order[place]
                assert lengths[i] == case.exact(i, order[place])
            else:
                assert lengths[i] == np.inf


@given(cases(), st.integers(1, 16), st.booleans())
def test_what_is_chosen_without_the_cut_is_left_if_it_is_near_enough(
    case: Case, count: int, cut_already: bool
) -> None:
    ranking = case.ranking()
    ranking.keep_nearest(count)
    expected = [case.ordered(i) for i in range(len(case.x))]
    assert left(ranking.uncut()) == expected
    if cut_already:
        ranking.left()
    chosen = np.array([[*each, -1, *[-1] * 16][:16] for each in expected])
    has = [[j in each[:count] for j in which] for each, which in zip(expected, chosen, strict=True)]
    assert ranking.has(chosen).tolist() == has


@given(cases())
def test_copies_of_a_choice_are_the_equal_points(case: Case) -> None:
    ranking = case.ranking()
    who = np.flatnonzero(ranking.count())
    which, _ = ranking.first(who)
    inputs, copies = ranking.copies_of(who, which)
    expected = {
        (i, j)
        for i, chosen in zip(who.tolist(), which.tolist(), strict=True)
        for j in range(len(case.points))
        if (case.points[j] == case.points[chosen]).all()
    }
    assert set(zip(inputs.tolist(), copies.tolist(), strict=True)) == expected


def test_ties_go_to_the_earlier_training_row_not_the_earlier_place() -> None:
    points = np.array([[1.0], [-1.0], [1.0]])
    ranking = Ranking(np.zeros((1, 1)), points, np.array([7, 2, 5]), distances.get("l1"))
    ranking.keep_nearest(2)
    assert left(ranking) == [[1, 2]]


@pytest.mark.parametrize("kind", [distances.L1, distances.L2, distances.LInf])
def test_weights_far_from_the_origin_do_not_change_the_order(kind: Any) -> None:
    # Weighing before subtracting rounds 1.1 * 1e9 and 1.1 * 3e9 differently: scores of equally
    # far candidates then differ by more than the rounding of a sum.
    offset = np.array([1e9, 3e9 + 1, 7e8 + 1])
    points = offset + np.random.default_rng(0).integers(0, 2, (100, 3)).astype(float)
    case = Case(offset[None], points, np.arange(100)[::-1].copy(), kind(weights=[1.1] * 3))
    assert left(case.ranking()) == [case.ordered(0)]


def test_an_input_that_is_a_candidate_is_no_candidate_of_its_own() -> None:
    points = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]])
    ranking = Ranking(points[:1], points, np.arange(3), distances.get("l2"))
    assert ranking.count().tolist() == [1]
    assert left(ranking) == [[1]]


@pytest.mark.parametrize("name", ["l1", "l2"])
@pytest.mark.parametrize("count", [1, 2, 37, 500, 999, 1000])
def test_of_many_candidates_exactly_the_nearest_are_kept(name: str, count: int) -> None:
    # Small arrays are sorted as a whole where they are partitioned; large ones are not.
    rng = np.random.default_rng(count)
    x, points = rng.random((4, 3)), rng.random((1000, 3))
    distance = distances.get(name)
    ranking = Ranking(x, points, np.arange(1000), distance)
    ranking.keep_nearest(count)
    who, which = ranking.left()
    order = distance.pairwise(x, points).argsort(axis=1)[:, :count]
    for i in range(len(x)):
        assert sorted(which[who == i]) == sorted(order[i])


@pytest.mark.parametrize("name", ["l1", "l2"])
def test_a_narrowed_ranking_goes_on_as_the_whole_one_would(name: str) -> None:
    rng = np.random.default_rng(3)
    x, points = (rng.integers(0, 4, (n, 2)).astype(np.float64) for n in (3, 60))
    ranking = Ranking(x, points, rng.permutation(60), distances.get(name))
    ranking.keep_nearest(7)
    few, kept = ranking.narrowed()
    assert len(few.points) == len(kept) < 22
    assert few.count().tolist() == ranking.count().tolist()
    everyone = np.arange(3)
    for _ in range(7):
        (nearest, found), (all_nearest, all_found) = few.first(everyone), ranking.first(everyone)
        assert kept[nearest].tolist() == all_nearest.tolist()
        assert found.tolist() == all_found.tolist() == [True] * 3
        few.drop_at(everyone, nearest)
        ranking.drop_at(everyone, all_nearest)
    assert not few.count().any()


# Step 2, the cut-offs -----------------------------------------------------------------------------


def ranking() -> Ranking:
    """One input at 0, and candidates at 4, 5, 6, 5 and 10."""
    points = np.array([[4.0], [5.0], [6.0], [-5.0], [10.0]])
    return Ranking(np.zeros((1, 1)), points, np.arange(5), distances.get("l1"))


def kept(cutoff: NearestCandidates | CandidatesWithin) -> int:
    ranked = ranking()
    cutoff.cut(ranked)
    return int(ranked.count()[0])


@pytest.mark.parametrize(("alpha", "count"), [(1, 1), (2, 2), (4, 4), (5, 5), (1000, 5)])
def test_the_number_based_cut_off_keeps_alpha(alpha: int, count: int) -> None:
    assert kept(NearestCandidates(alpha)) == count


def test_a_tie_at_the_number_based_cut_off_goes_to_the_earlier_row() -> None:
    ranked = ranking()
    NearestCandidates(2).cut(ranked)
    ranked.drop_at(np.array([0]), np.array([0]))
    nearest, found = ranked.first(np.array([0]))
    assert found.all()
    assert nearest.tolist() == [1]


@pytest.mark.parametrize(
    ("epsilon", "count"), [(0, 1), (0.2, 1), (0.25, 3), (0.5, 4), (1.4, 4), (1.5, 5), (100, 5)]
)
def test_the_distance_based_cut_off_includes_its_limit(epsilon: float, count: int) -> None:
    assert kept(CandidatesWithin(epsilon)) == count


@pytest.mark.parametrize("alpha", [0, -1, 1.5, "many", None, True, np.nan])
def test_alpha_below_one_or_not_whole_is_refused(alpha: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"alpha must be a whole number of at least 1, got"):
        NearestCandidates(alpha)


@pytest.mark.parametrize("epsilon", [-0.1, np.nan, np.inf, "0.25", None, True])
def test_a_negative_epsilon_is_refused(epsilon: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"epsilon must be a number of at least 0, got"):
        CandidatesWithin(epsilon)


def test_numbers_of_numpy_are_numbers() -> None:
    assert NearestCandidates(np.int64(3)).alpha == 3  # type: ignore[arg-type]
    assert CandidatesWithin(np.float32(0.25)).epsilon == 0.25  # type: ignore[arg-type]


def test_the_cut_offs_are_frozen_values() -> None:
    assert NearestCandidates(3) == NearestCandidates(3)
    with pytest.raises(AttributeError):
        NearestCandidates(3).alpha = 4  # type: ignore[misc]
    with pytest.raises(AttributeError):
        CandidatesWithin(0.5).epsilon = 1.0  # type: ignore[misc]


# The nearest of very many candidates: what exact sorting of all of them would give ----------------


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
