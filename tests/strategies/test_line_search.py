"""Step 4 against Algorithm 1 of the paper, read literally."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from support.batches import batch_of, selector_of

from counterset import DiverseExplainer, InvalidInputError, LineSearch
from counterset.constraints.constraints import Constraints
from counterset.distances import L1, L2, Distance, LInf
from counterset.strategies import line_search
from counterset.strategies.batch import REFUSED
from counterset.strategies.candidates import choose_rows
from counterset.strategies.line_search import Paths, Segments, minimise, unit_costs
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

Points = NDArray[np.float64]


@dataclass
class Asked:
    """A model that remembers what it was asked."""

    accepts: Callable[[Points], Any]
    points: list[Points] = field(default_factory=list)

    def __call__(self, points: Points, segments: NDArray[np.intp]) -> NDArray[np.intp]:
        assert len(points) == len(segments)
        self.points.append(points.copy())
        # The code tells the point that was asked about, so that a mix-up shows.
        numbers = [_number(point) for point in points]
        return np.where(self.accepts(points), np.array(numbers, dtype=np.intp), REFUSED)


def _number(point: Points) -> int:
    return hash(tuple(point.tolist())) % 2**40


def segments(starts: Any, ends: Any, lengths: Any, farthest: Any = None) -> Segments:
    starts, ends = np.array(starts, dtype=float), np.array(ends, dtype=float)
    codes = np.array([_number(end) for end in ends], dtype=np.intp)
    far = np.array(lengths if farthest is None else farthest, dtype=float)
    return Segments(starts, ends, np.array(lengths, dtype=float), codes, far)


def algorithm_1(
    x: Points, c: Points, accepts: Callable[[Points], Any], gamma: float, length: float
) -> Points:
    """One model call per probe; a bracket's length is its share of the segment's."""
    while length > gamma:
        middle = (x + c) / 2
        if accepts(middle[None])[0]:
            c = middle
        else:
            x = middle
        length /= 2
    return c


def test_an_example_worked_out_by_hand() -> None:
    # Accepted from 3 on. 0..8: 4 yes, 2 no, 3 yes; the bracket 2..3 has length 1.
    ask = Asked(lambda points: points[:, 0] >= 3)
    search = LineSearch(1.0, first_crossing=True)
    found = search.search(segments([[0.0]], [[8.0]], [8.0]), ask)
    assert found.ends.tolist() == [[3.0]]
    assert found.codes.tolist() == [_number(np.array([3.0]))]
    # One call, about all that three halvings could come to.
    assert [sorted(points[:, 0].tolist()) for points in ask.points] == [[1, 2, 3, 4, 5, 6, 7]]


def test_an_island_before_the_boundary_is_found_only_if_the_path_meets_it() -> None:
    # Accepted around 4 and beyond 6: the first middle is 4, so the search goes on below it.
    ask = Asked(lambda points: (np.abs(points[:, 0] - 4) <= 0.5) | (points[:, 0] > 6))
    found = LineSearch(1.0).search(segments([[0.0]], [[8.0]], [8.0]), ask)
    assert found.ends.tolist() == [[4.0]]


def test_a_segment_shorter_than_gamma_is_left_alone() -> None:
    ask = Asked(lambda points: np.ones(len(points), dtype=bool))
    given_ = segments([[0.0], [0.0]], [[0.1], [0.05]], [0.1, 0.05])
    found = LineSearch(0.1).search(given_, ask)
    assert ask.points == []
    np.testing.assert_array_equal(found.ends, given_.ends)
    np.testing.assert_array_equal(found.codes, given_.codes)


def test_what_is_passed_in_is_not_changed() -> None:
    given_ = segments([[0.0, 1.0]], [[8.0, 3.0]], [10.0])
    copies = [given_.starts.copy(), given_.ends.copy(), given_.lengths.copy()]
    LineSearch(0.1).search(given_, Asked(lambda points: points[:, 0] >= 3))
    for now, before in zip((given_.starts, given_.ends, given_.lengths), copies, strict=True):
        np.testing.assert_array_equal(now, before)


def test_no_segments_ask_nothing() -> None:
    ask = Asked(lambda points: np.ones(len(points), dtype=bool))
    empty = segments(np.empty((0, 2)), np.empty((0, 2)), [])
    for search in (LineSearch(0.1), LineSearch(0.1, halvings="farthest")):
        found = search.search(empty, ask)
        assert found.ends.shape == (0, 2)
    assert ask.points == []


@st.composite
def models(draw: st.DrawFn, d: int) -> Callable[[Points], Any]:
    """Half-spaces, balls and stripes: along a segment the answers may alternate."""
    weights = np.array(draw(st.lists(st.integers(-3, 3), min_size=d, max_size=d)), dtype=float)
    cut, width = draw(st.floats(-3, 3)), draw(st.sampled_from([0.1, 0.7, 3.0]))
    kind = draw(st.sampled_from(["plane", "ball", "stripes", "all", "none"]))

    def accepts(points: Points) -> Any:
        # Row by row and term by term, so that a batch cannot round otherwise than a row alone.
        scores = np.array(
            [math.fsum(w * v for w, v in zip(weights, p, strict=True)) for p in points]
        )
        if kind == "plane":
            return scores > cut
        if kind == "ball":
            return np.array([math.fsum(v * v for v in p) > abs(cut) for p in points])
        if kind == "stripes":
            return np.floor(scores / width) % 2 == 0
        return np.full(len(points), kind == "all")

    return accepts


@dataclass
class Case:
    starts: Points
    ends: Points
    lengths: Points
    farthest: Points
    accepts: Callable[[Points], Any]
    gamma: float

    def segments(self) -> Segments:
        return segments(self.starts, self.ends, self.lengths, self.farthest)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    d, n = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    values = st.one_of(
        st.integers(-4, 4).map(float), st.floats(-4, 4, allow_subnormal=False, width=32)
    )
    starts, ends = (draw(hnp.arrays(np.float64, (n, d), elements=values)) for _ in range(2))
    lengths = np.abs(starts - ends).sum(axis=1)
    farthest = lengths + draw(hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 1.0, 9.0])))
    gamma = draw(st.sampled_from([2.0, 0.5, 0.1, 0.003]))
    return Case(starts, ends, lengths, farthest, draw(models(d)), gamma)


@given(cases())
def test_the_search_is_algorithm_1_to_the_last_bit(case: Case) -> None:
    found = LineSearch(case.gamma).search(case.segments(), Asked(case.accepts))
    for i, (x, c) in enumerate(zip(case.starts, case.ends, strict=True)):
        expected = algorithm_1(x, c, case.accepts, case.gamma, case.lengths[i])
        assert found.ends[i].tolist() == expected.tolist()
        assert found.codes[i] == _number(expected)


@given(cases())
def test_farthest_halves_each_segment_as_often_as_the_farthest_candidate_needs(case: Case) -> None:
    search = LineSearch(case.gamma, halvings="farthest")
    found = search.search(case.segments(), Asked(case.accepts))
    for i, (x, c) in enumerate(zip(case.starts, case.ends, strict=True)):
        expected = algorithm_1(x, c, case.accepts, case.gamma, case.farthest[i])
        assert found.ends[i].tolist() == expected.tolist()


@pytest.mark.parametrize("gamma", [0.1, 0.25, 1e-300, 3.0])
@pytest.mark.parametrize("count", [0, 1, 2, 5, 60])
def test_a_segment_is_halved_until_it_is_just_short_enough(gamma: float, count: int) -> None:
    length = gamma * 2.0**count
    lengths = [length, np.nextafter(length, np.inf), np.nextafter(length, 0.0), 0.0]
    found = LineSearch(gamma).search(
        segments(np.zeros((4, 1)), np.ones((4, 1)), lengths),
        Asked(lambda points: np.ones(len(points), dtype=bool)),
    )
    expected = [2.0**-count, 2.0 ** -(count + 1), 2.0**-count, 1.0]
    assert found.ends[:, 0].tolist() == expected


def test_farthest_goes_on_where_the_segment_itself_would_stop() -> None:
    two = segments([[0.0], [0.0], [0.0]], [[1.0], [8.0], [1.0]], [1.0, 8.0, 1.0], [8.0, 8.0, 1.0])
    ask = Asked(lambda points: points[:, 0] > 0.3)
    assert LineSearch(1.0).search(two, ask).ends.tolist() == [[1.0], [1.0], [1.0]]
    # Three halvings for the first input's segments: 1 -> 0.5, 0.25 no, 0.375 yes.
    farthest = LineSearch(1.0, halvings="farthest").search(two, ask)
    assert farthest.ends.tolist() == [[0.375], [1.0], [1.0]]


def test_without_the_farthest_the_prototypes_count_is_refused() -> None:
    without = replace(segments([[0.0]], [[1.0]], [1.0]), farthest=None)
    with pytest.raises(InvalidInputError, match="farthest"):
        LineSearch(0.5, halvings="farthest").search(without, Asked(lambda p: p[:, 0] > 0.3))


@given(cases(), st.integers(1, 5), st.sampled_from([0, 1, 3, 1000]))
def test_how_calls_are_shared_out_does_not_change_the_answer(
    case: Case, halvings: int, few: int
) -> None:
    search = LineSearch(case.gamma)
    usual = search.search(case.segments(), Asked(case.accepts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_search, "HALVINGS_PER_CALL", ((few, halvings),))
        other = search.search(case.segments(), Asked(case.accepts))
    np.testing.assert_array_equal(usual.ends, other.ends)
    np.testing.assert_array_equal(usual.codes, other.codes)


@given(cases())
def test_few_segments_take_a_quarter_of_the_calls(case: Case) -> None:
    ask = Asked(case.accepts)
    LineSearch(case.gamma).search(case.segments(), ask)
    longest = float(case.lengths.max())
    halvings = 0
    while longest / 2**halvings > case.gamma:
        halvings += 1
    assert len(ask.points) <= math.ceil(halvings / 4)


@given(cases())
def test_the_answer_was_asked_and_accepted_and_the_near_side_is_within_gamma(case: Case) -> None:
    ask = Asked(case.accepts)
    found = LineSearch(case.gamma).search(case.segments(), ask)
    asked = {tuple(p) for points in ask.points for p in points.tolist()}
    for x, c, end, length in zip(case.starts, case.ends, found.ends, case.lengths, strict=True):
        if end.tolist() != c.tolist():
            assert tuple(end.tolist()) in asked
            assert case.accepts(end[None])[0]
        if length == 0:
            continue
        # The bracket: the found point, and a refused point (or the start) at most gamma before it.
        share = np.abs(end - x).sum() / length
        refused = [
            s for p in asked if (s := _share(np.array(p), x, c)) is not None and 0 <= s <= share
            and not case.accepts(np.array([p]))[0]
        ]  # fmt: skip
        nearest = max([0.0, *refused])
        assert (share - nearest) * length <= case.gamma * (1 + 1e-9)


def _share(p: Points, x: Points, c: Points) -> float | None:
    """How far along the segment a point lies, None if it is on another segment."""
    way = c - x
    share = float((p - x) @ way) / float(way @ way)
    return share if np.allclose(x + share * way, p, rtol=0, atol=1e-9) else None


def test_many_segments_are_halved_once_a_call() -> None:
    n = max(few for few, _ in line_search.HALVINGS_PER_CALL) + 1
    ask = Asked(lambda points: points[:, 0] >= 3)
    LineSearch(1.0).search(segments(np.zeros((n, 1)), np.full((n, 1), 8.0), [8.0] * n), ask)
    assert [len(points) for points in ask.points] == [n, n, n]


def test_the_halvings_are_shared_out_evenly_over_the_calls() -> None:
    # Seven halvings take two calls: of four and three; six and one would ask more rows.
    ask = Asked(lambda points: points[:, 0] >= 3)
    LineSearch(1.0).search(segments([[0.0]], [[128.0]], [128.0]), ask)
    assert [len(points) for points in ask.points] == [15, 7]


@pytest.mark.parametrize("gamma", [0, -0.1, np.nan, np.inf, "0.1", None, True])
def test_gamma_must_be_above_zero(gamma: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"gamma must be a number above 0, got "):
        LineSearch(gamma)


def test_an_unknown_count_of_halvings_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"'segment' or 'farthest', got 'nearest'"):
        LineSearch(0.1, halvings="nearest")  # type: ignore[arg-type]


def test_a_search_is_a_frozen_value() -> None:
    assert LineSearch(0.1) == LineSearch(0.1)
    with pytest.raises(AttributeError):
        LineSearch(0.1).gamma = 1.0  # type: ignore[misc]


def first_crossing_from_the_end(
    x: Points, c: Points, accepts: Callable[[Points], Any], halvings: int
) -> Points:
    """Look at seven points between the two, one by one from the end; go on between two."""
    while halvings > 0:
        depth = min(3, halvings)
        between = [x, c]
        for _ in range(depth):
            middles = [(a + b) / 2 for a, b in itertools.pairwise(between)]
            between = [p for pair in itertools.zip_longest(between, middles) for p in pair][:-1]
        at = len(between) - 1
        while at > 1 and accepts(between[at - 1][None])[0]:
            at -= 1
        x, c = between[at - 1], between[at]
        halvings -= depth
    return c


@given(case=cases())
def test_the_first_crossing_is_found_from_the_candidate_on(case: Case) -> None:
    found = LineSearch(case.gamma, first_crossing=True).search(case.segments(), Asked(case.accepts))
    for i in range(len(case.lengths)):
        length, halvings = case.lengths[i], 0
        while length > case.gamma:
            length, halvings = length / 2, halvings + 1
        expected = first_crossing_from_the_end(case.starts[i], case.ends[i], case.accepts, halvings)
        assert np.array_equal(found.ends[i], expected)
        assert found.codes[i] == _number(found.ends[i])


@given(case=cases())
def test_the_first_crossing_does_not_depend_on_how_calls_are_shared_out(case: Case) -> None:
    together = LineSearch(case.gamma, first_crossing=True).search(
        case.segments(), Asked(case.accepts)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_search, "HALVINGS_PER_CALL", ())
        apart = LineSearch(case.gamma, first_crossing=True).search(
            case.segments(), Asked(case.accepts)
        )
    assert np.array_equal(together.ends, apart.ends)


def test_a_search_for_the_first_crossing_passes_an_island_by() -> None:
    # Accepted around 4 and beyond 6: halving ends on the island, the first crossing lies before it.
    ask = Asked(lambda points: (np.abs(points[:, 0] - 4) <= 0.5) | (points[:, 0] > 6))
    search = LineSearch(1.0, first_crossing=True)
    found = search.search(segments([[0.0]], [[8.0]], [8.0]), ask)
    assert found.ends.tolist() == [[7.0]]


# The way from an input to a candidate -------------------------------------------------------------


FRAME = pd.DataFrame({"f": [0.0, 1.0, np.nan], "n": [0, 9, 4], "a": list("xyz"), "b": list("xyz")})
TABLE, MATRIX = Table.learn(FRAME, Schema(step=0))
COSTS = TableDistance(TABLE, Space.learn(MATRIX, TABLE, "range"), L1([1.0, 1.0, 3.0, 2.0]))
ALONE = Constraints()


def rows_at(
    share: float, start: list[float], end: list[float], constraints: Constraints
) -> list[float]:
    rules = constraints.compile(TABLE, MATRIX)
    rows = np.array([start]), np.array([end])
    coordinates = COSTS.coordinates(rows[0]), COSTS.coordinates(rows[1])
    paths = Paths(COSTS, *rows, coordinates, rules)
    points = paths.starts + share * (paths.ends - paths.starts)
    found: list[float] = paths.rows(points, np.array([0]))[0].tolist()
    return found


def test_numbers_move_and_are_rounded_and_categories_switch_cheapest_first() -> None:
    start, end = [0.0, 0.0, 0.0, 0.0], [1.0, 9.0, 1.0, 2.0]
    assert rows_at(0.25, start, end, ALONE) == [0.25, 2, 0, 0]
    assert rows_at(0.4, start, end, ALONE) == [0.4, 4, 0, 2]
    assert rows_at(0.75, start, end, ALONE) == [0.75, 7, 1, 2]
    assert rows_at(1.0, start, end, ALONE) == end


def test_a_number_with_a_missing_end_switches() -> None:
    start, end = [np.nan, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
    np.testing.assert_array_equal(rows_at(0.4, start, end, ALONE), start)
    np.testing.assert_array_equal(rows_at(0.6, start, end, ALONE), end)


def test_features_that_change_together_switch_at_once() -> None:
    start, end = [0.0, 0.0, 0.0, 0.0], [1.0, 9.0, 0.0, 0.0]
    together = Constraints(together=[["f", "n"]])
    assert rows_at(0.4, start, end, together) == start
    assert rows_at(0.5, start, end, together) == end


@pytest.mark.parametrize("together", [[], [["f", "a"]]])
@pytest.mark.parametrize(
    "inner", [L1(), L1([1.0, 1.0, 3.0, 2.0]), L2(), L2([4.0, 1, 1, 1]), LInf()]
)
def test_a_unit_costs_the_distance_to_where_it_alone_has_changed(
    inner: Distance, together: list[list[str]]
) -> None:
    distance = TableDistance(TABLE, COSTS.space, inner)
    starts, ends = (
        np.array([[0.2, 3.0, 0.0, 1.0]] * 2),
        np.array([[0.9, 1, 2, 1], [np.nan, 3, 0, 0]]),
    )
    rules = Constraints(together=together).compile(TABLE, MATRIX)
    costs = unit_costs(distance, distance.coordinates(starts), distance.coordinates(ends), rules)
    assert costs.shape == (2, len(rules.units))
    for (i, j), cost in np.ndenumerate(costs):
        moved = starts[[i]].copy()
        moved[:, rules.units[j]] = ends[i, rules.units[j]]
        assert cost == pytest.approx(distance.pairwise(starts[[i]], moved)[0, 0])


# Step 4 over chosen candidates --------------------------------------------------------------------


X = np.random.default_rng(0).random((60, 2))
EXPLAINER = DiverseExplainer.paper(
    lambda rows: rows.sum(axis=1) > 1, scale=None, max_counterfactuals=2, diversity=None
).fit(X)
SEARCH = LineSearch(0.01)


def test_candidates_end_just_past_the_boundary() -> None:
    batch = batch_of(EXPLAINER, np.array([[0.2, 0.3], [0.1, 0.1]]))
    chosen = choose_rows(selector_of(EXPLAINER), batch)
    found = minimise(chosen, SEARCH, batch)
    sums = found.rows.sum(axis=1)
    assert (sums > 1).all()
    assert (sums < 1.01).all()
    assert (found.lengths < chosen.lengths).all()


def test_settled_candidates_stay_where_they_are() -> None:
    batch = batch_of(EXPLAINER, np.array([[0.2, 0.3]]))
    chosen = choose_rows(selector_of(EXPLAINER), batch)
    half = minimise(replace(chosen, settled=np.array([True, False])), SEARCH, batch)
    moved = minimise(chosen, SEARCH, batch)
    np.testing.assert_array_equal(half.rows, [chosen.rows[0], moved.rows[1]])
    settled = replace(chosen, settled=np.array([True, True]))
    assert minimise(settled, SEARCH, batch) is settled


def test_nothing_is_searched_without_candidates() -> None:
    batch = batch_of(EXPLAINER, np.array([[0.2, 0.3]]))
    chosen = choose_rows(selector_of(EXPLAINER), batch).take(np.array([], dtype=int))
    assert len(minimise(chosen, SEARCH, batch).rows) == 0
    assert batch.model.calls == 1
