"""Distances against values worked out by hand and against literal Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from counterset import InvalidInputError, distances
from counterset.distances import L0, L1, L2, CustomDistance, Distance, LInf

NORMS: dict[str, Callable[..., Distance]] = {"l0": L0, "l1": L1, "l2": L2, "linf": LInf}

Vector = Sequence[float]


def literal(name: str, a: Vector, b: Vector, weights: Vector) -> float:
    """The definitions of the docstrings, feature by feature."""
    triples = list(zip(weights, a, b, strict=True))
    if name == "l0":
        return math.fsum(w * (p != q) for w, p, q in triples)
    if name == "l1":
        return math.fsum(w * abs(p - q) for w, p, q in triples)
    if name == "l2":
        return math.sqrt(math.fsum(w * (p - q) ** 2 for w, p, q in triples))
    return max(w * abs(p - q) for w, p, q in triples)


def of(name: str, weights: Vector | None) -> Distance:
    return NORMS[name](weights=weights)


numbers = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=False),
)


@st.composite
def row_sets(draw: st.DrawFn, sets: int = 2) -> list[NDArray[np.float64]]:
    d = draw(st.integers(1, 6))
    return [
        draw(hnp.arrays(np.float64, (draw(st.integers(1, 5)), d), elements=numbers))
        for _ in range(sets)
    ]


@pytest.mark.parametrize(
    ("name", "plain", "weighted"),
    [
        ("l0", 2.0, 11.0),
        ("l1", 7.0, 43.0),
        ("l2", 5.0, 13.0),
        ("linf", 4.0, 40.0),
    ],
)
def test_values_worked_out_by_hand(name: str, plain: float, weighted: float) -> None:
    a, b = [[1.0, 2.0, 5.0]], [[4.0, 6.0, 5.0]]  # the differences are 3, 4 and 0
    assert distances.get(name)(a, b).tolist() == [[plain]]
    # For l2: 1 * 9 + 10 * 16 = 169 = 13 ** 2.
    assert of(name, [1, 10, 7])(a, b).tolist() == [[pytest.approx(weighted)]]


@given(row_sets(), st.sampled_from(sorted(NORMS)), st.booleans(), st.data())
def test_pairwise_and_rowwise_follow_the_definition(
    rows: list[NDArray[np.float64]], name: str, weighted: bool, data: st.DataObject
) -> None:
    A, B = rows
    d = A.shape[1]
    weights = data.draw(
        st.lists(st.floats(0, 100, allow_subnormal=False), min_size=d, max_size=d)
        if weighted
        else st.none()
    )
    distance = of(name, weights)
    expected = [[literal(name, a, b, weights or [1.0] * d) for b in B] for a in A]
    assert distance(A, B).shape == (len(A), len(B))
    np.testing.assert_allclose(distance(A, B), expected, rtol=1e-12, atol=1e-300)
    own = np.broadcast_to(B, (len(A), *B.shape))
    np.testing.assert_allclose(distance.rowwise(A, own), expected, rtol=1e-12, atol=1e-300)


@given(row_sets(), st.sampled_from(sorted(NORMS)))
def test_rowwise_does_not_depend_on_what_else_is_in_the_batch(
    rows: list[NDArray[np.float64]], name: str
) -> None:
    A, B = rows
    distance = distances.get(name)
    together = distance.rowwise(A, np.broadcast_to(B, (len(A), *B.shape)))
    for i, a in enumerate(A):
        for j, b in enumerate(B):
            assert distance.rowwise(a[None], b[None, None])[0, 0] == together[i, j]


@given(row_sets(3), st.sampled_from(sorted(NORMS)))
def test_the_norms_are_symmetric_and_satisfy_the_triangle_inequality(
    rows: list[NDArray[np.float64]], name: str
) -> None:
    A, B, C = rows
    distance = distances.get(name)
    assert distance.symmetric
    assert distance.triangle_inequality
    np.testing.assert_array_equal(distance(A, B), distance(B, A).T)
    around = distance(A, B)[:, :, None] + distance(B, C)[None, :, :]
    straight = distance(A, C)[:, None, :]
    assert np.all(straight <= around * (1 + 1e-12))


@given(row_sets(), st.sampled_from(sorted(NORMS)), st.sampled_from([0.0, 1.0, 1e5, -1e8, 1e12]))
def test_scores_are_within_their_error_of_the_score_of_the_distance(
    rows: list[NDArray[np.float64]], name: str, offset: float
) -> None:
    # Far from the origin |a|^2 - 2ab + |b|^2 loses nearly all its digits; the bound must say so.
    A, B = (part + offset for part in rows)
    distance = distances.get(name)
    scores, errors = distance.scores(A, B)
    assert scores.shape == (len(A), len(B))
    assert errors.shape == (len(A),)
    exact = distance.rowwise(A, np.broadcast_to(B, (len(A), *B.shape)))
    assert np.all(np.abs(scores - distance.score_of(exact)) <= errors[:, None])


@given(
    hnp.arrays(np.float64, (3, 40), elements=st.floats(-10, 10, allow_subnormal=False)),
    hnp.arrays(np.float64, 40, elements=st.floats(0, 10, allow_subnormal=False)),
    st.sampled_from(sorted(NORMS)),
    st.sampled_from([0.0, 1e7]),
)
def test_scores_of_weighted_distances_keep_the_bound(
    rows: NDArray[np.float64], weights: NDArray[np.float64], name: str, offset: float
) -> None:
    distance = NORMS[name](weights=weights)
    A = rows + offset
    scores, errors = distance.scores(A, A)
    exact = distance.rowwise(A, np.broadcast_to(A, (3, *A.shape)))
    assert np.all(np.abs(scores - distance.score_of(exact)) <= errors[:, None])


def test_scores_rise_with_the_distance() -> None:
    far = np.array([0.0, 0.5, 1.0, 3.0])
    for name in NORMS:
        assert np.all(np.diff(distances.get(name).score_of(far)) > 0)


def test_scores_may_be_changed_by_the_caller() -> None:
    A = np.arange(6.0).reshape(3, 2)
    for name in NORMS:
        scores, _ = distances.get(name).scores(A, A)
        scores[:] = -1
        assert np.all(distances.get(name)(A, A) >= 0)


@pytest.mark.parametrize("name", sorted(NORMS))
def test_threads_give_the_same_as_one_thread(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    A, B = random.normal(size=(17, 5)), random.normal(size=(11, 5))
    alone = distances.get(name)(A, B)
    monkeypatch.setattr("counterset._base.threads.PAYS_TO_SHARE", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    np.testing.assert_array_equal(distances.get(name)(A, B), alone)


def test_one_row_may_be_given_as_a_vector() -> None:
    assert L1()([0, 0], [[1, 2], [3, 4]]).tolist() == [[3.0, 7.0]]
    assert L1()([[1, 2], [3, 4]], [0, 0]).tolist() == [[3.0], [7.0]]


def test_weights_of_zero_ignore_a_feature() -> None:
    for name in NORMS:
        assert of(name, [0, 1])([[5.0, 1.0]], [[9.0, 1.0]]).tolist() == [[0.0]]
        assert of(name, [0, 0])([[5.0, 1.0]], [[9.0, 2.0]]).tolist() == [[0.0]]


def test_the_weights_given_are_not_taken_over() -> None:
    mine = np.array([1.0, 2.0])
    distance = L1(weights=mine)
    mine[0] = 100.0  # neither read-only now, nor an alias of what the distance holds
    assert distance([[0, 0]], [[1, 1]]).tolist() == [[3.0]]


@pytest.mark.parametrize("name", sorted(NORMS))
@pytest.mark.parametrize(
    "weights", [[1.0, -1.0], [1.0, np.nan], [1.0, np.inf], [[1.0, 1.0]], ["a", "b"]]
)
def test_unusable_weights_are_refused(name: str, weights: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"weights must be .* per feature, got "):
        of(name, weights)


@pytest.mark.parametrize("name", sorted(NORMS))
def test_the_wrong_number_of_weights_is_refused(name: str) -> None:
    distance = of(name, [1.0, 1.0])
    with pytest.raises(InvalidInputError, match=r"2 weights, but the rows have 3 features"):
        distance([[0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]])
    with pytest.raises(InvalidInputError, match=r"Pass one weight per feature"):
        distance.rowwise(np.zeros((1, 3)), np.ones((1, 2, 3)))


def test_rows_of_different_length_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"same number of features, got 2 and 3\. Pass"):
        L1()([[0, 0]], [[0, 0, 0]])


def test_an_array_of_three_axes_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"compares rows, got an array of shape"):
        L1()(np.zeros((1, 1, 1)), [[0.0]])


def test_text_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"compares numbers"):
        L1()([["a"]], [["b"]])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("l0", L0), ("l1", L1), ("manhattan", L1), ("l2", L2), ("euclidean", L2), ("linf", LInf),
        ("chebyshev", LInf), ("L2", L2),
    ],
)  # fmt: skip
def test_names(name: str, kind: type[Distance]) -> None:
    assert type(distances.get(name)) is kind


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match=r"Unknown distance 'l3'\. Choose one of .*'l1'"):
        distances.get("l3")


def test_what_is_no_distance_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"a name, a Distance or a function, got int"):
        distances.get(2)  # type: ignore[arg-type]


def test_a_distance_stays_itself() -> None:
    distance = L2(weights=[1.0, 2.0])
    assert distances.get(distance) is distance


def rise_only(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """An asymmetric distance: only an increase costs."""
    return np.asarray(np.maximum(B[None] - A[:, None], 0).sum(axis=2))


def test_a_function_becomes_a_distance_of_which_nothing_is_assumed() -> None:
    distance = distances.get(rise_only)
    assert isinstance(distance, CustomDistance)
    assert not distance.symmetric
    assert not distance.triangle_inequality
    assert distance([[0, 0]], [[3, -4], [1, 1]]).tolist() == [[3.0, 2.0]]
    own = np.array([[[3.0, -4.0]], [[0.0, 0.0]]])
    assert distance.rowwise(np.array([[0.0, 0.0], [1.0, 1.0]]), own).tolist() == [[3.0], [0.0]]


def test_what_is_known_of_a_function_can_be_said() -> None:
    distance = CustomDistance(rise_only, is_symmetric=True, has_triangle_inequality=True)
    assert distance.symmetric
    assert distance.triangle_inequality


def test_a_function_of_two_vectors_is_told_how_to_be_wrapped() -> None:
    wrong = distances.get(lambda A, B: np.abs(A - B).sum())
    with pytest.raises(InvalidInputError, match=r"expected shape \(1, 2\), got \(\)\. Wrap"):
        wrong([[0.0]], [[1.0], [2.0]])


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_a_function_that_gives_no_distance_is_refused(value: float) -> None:
    wrong = distances.get(lambda A, B: np.full((len(A), len(B)), value))
    with pytest.raises(InvalidInputError, match=r"negative, infinite or missing distance"):
        wrong([[0.0]], [[1.0]])


def test_rowwise_of_no_rows_is_empty_for_every_distance() -> None:
    for distance in (*(distances.get(name) for name in NORMS), distances.get(rise_only)):
        assert distance.rowwise(np.empty((0, 2)), np.empty((0, 3, 2))).shape == (0, 3)
