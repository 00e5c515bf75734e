"""The ranking against sorting every candidate by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from counterset import distances
from counterset.distances import ROUNDING
from counterset.strategies.ranking import Ranking

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


few_examples = settings(max_examples=80)


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


@few_examples
@given(cases())
def test_nearest_distance_is_exact_and_infinite_without_candidates(case: Case) -> None:
    orders = [case.ordered(i) for i in range(len(case.x))]
    expected = [case.exact(i, order[0]) if order else np.inf for i, order in enumerate(orders)]
    assert case.ranking().nearest_distance().tolist() == expected


@few_examples
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


@few_examples
@given(cases(), st.integers(1, 16))
def test_left_lists_what_is_not_dropped(case: Case, count: int) -> None:
    ranking = case.ranking()
    ranking.keep_nearest(count)
    who, which = ranking.left()
    expected = {(i, j) for i in range(len(case.x)) for j in case.ordered(i)[:count]}
    assert set(zip(who.tolist(), which.tolist(), strict=True)) == expected
    assert len(who) == len(expected)


@few_examples
@given(cases())
def test_first_of_some_inputs_is_that_of_all(case: Case) -> None:
    ranking = case.ranking()
    everyone = np.arange(len(case.x))
    nearest, found = ranking.first(everyone)
    for i in everyone:
        alone, is_found = ranking.first(np.array([i]))
        assert is_found[0] == found[i]
        assert not found[i] or alone[0] == nearest[i]


@few_examples
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


@few_examples
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


@few_examples
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
