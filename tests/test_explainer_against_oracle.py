"""The fast explainer gives exactly the sets of the literal reading of the paper."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support.oracles import PAIR_DISTANCES, Oracle

from counterset import (
    AngleDiversity,
    CandidatesWithin,
    DistanceDiversity,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    LineSearch,
    NearestCandidates,
)

# A coarse grid makes duplicates and ties; fine floats make the general case. None is finer than a
# millionth: rows that are equal up to rounding are one point of the scaled space, but two rows.
values = st.one_of(
    st.integers(-3, 3).map(float),
    st.integers(-4 * 2**20, 4 * 2**20).map(lambda number: number / 2**20),
)


@st.composite
def models(draw: st.DrawFn, d: int) -> Any:
    """Draw a deterministic model of two or three classes, row by row, so that it never rounds."""
    weights = draw(st.lists(st.integers(-3, 3), min_size=d, max_size=d).filter(any))
    cuts = draw(st.lists(st.integers(-4, 4), min_size=1, max_size=2, unique=True).map(sorted))
    curved = draw(st.booleans())

    def predict_one(row: tuple[float, ...]) -> str:
        score = sum(w * (v * v if curved else v) for w, v in zip(weights, row, strict=True))
        return "abc"[sum(score > cut for cut in cuts)]

    return predict_one


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    d = draw(st.integers(1, 6))
    n = draw(st.integers(2, 40))
    X = draw(hnp.arrays(np.float64, (n, d), elements=values))
    if draw(st.booleans()):
        X[:, draw(st.integers(0, d - 1))] = 1.0  # a constant feature
    if draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]  # duplicates
    return {
        "X": X,
        "inputs": draw(hnp.arrays(np.float64, (draw(st.integers(1, 4)), d), elements=values)),
        "predict_one": draw(models(d)),
        "distance": draw(st.sampled_from(sorted(PAIR_DISTANCES))),
        "candidates": draw(
            st.one_of(
                st.builds(NearestCandidates, st.integers(1, 50)),
                st.builds(CandidatesWithin, st.sampled_from([0.0, 0.25, 1.0, 10.0])),
            )
        ),
        "diversity": draw(
            st.one_of(
                st.none(),
                st.builds(AngleDiversity, st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.booleans()),
                st.builds(DistanceDiversity, st.sampled_from([0.0, 0.5, 1.0])),
            )
        ),
        "search": draw(
            st.one_of(st.none(), st.builds(LineSearch, st.sampled_from([1.0, 0.1, 0.01])))
        ),
        "limit": draw(st.integers(1, 6)),
        "scale": draw(st.sampled_from(["range", None])),
    }


def explainer_and_oracle(case: dict[str, Any]) -> tuple[DiverseExplainer, Oracle]:
    predict_one = case["predict_one"]
    rows = [tuple(map(float, row)) for row in case["X"]]
    assume(len({predict_one(row) for row in rows}) > 1)

    def predict(X: np.ndarray) -> list[str]:
        return [predict_one(tuple(map(float, row))) for row in X]

    explainer = DiverseExplainer.paper(
        predict,
        distance=case["distance"],
        candidates=case["candidates"],
        diversity=case["diversity"],
        search=case["search"],
        max_counterfactuals=case["limit"],
        scale=case["scale"],
    ).fit(case["X"])
    space = explainer.distance_.space
    oracle = Oracle(
        predict_one,
        rows,
        PAIR_DISTANCES[case["distance"]],
        tuple(space.offset),
        tuple(space.factor),
        case["candidates"],
        case["diversity"],
        case["search"],
        case["limit"],
    )
    return explainer, oracle


@given(cases())
def test_fast_sets_equal_literal_sets(case: dict[str, Any]) -> None:
    explainer, oracle = explainer_and_oracle(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        explanations = explainer.explain_many(case["inputs"])
    for explanation, x in zip(explanations, case["inputs"], strict=True):
        expected = oracle.explain(tuple(map(float, x)))
        assert [tuple(row) for row in explanation.values] == expected


@given(cases(), st.sampled_from([1.0, 0.1, 0.01]))
def test_the_prototypes_halvings_equal_the_literal_ones(case: dict[str, Any], gamma: float) -> None:
    case["search"] = LineSearch(gamma, halvings="farthest")
    # Rows that differ by less than the scaled space can tell are another matter.
    case["X"], case["inputs"] = case["X"].round(3), case["inputs"].round(3)
    explainer, oracle = explainer_and_oracle(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        explanations = explainer.explain_many(case["inputs"])
    for explanation, x in zip(explanations, case["inputs"], strict=True):
        expected = oracle.explain(tuple(map(float, x)))
        assert [tuple(row) for row in explanation.values] == expected


@given(cases(), st.sampled_from("abc"))
def test_fast_sets_equal_literal_sets_with_a_target(case: dict[str, Any], target: str) -> None:
    explainer, oracle = explainer_and_oracle(case)
    assume(target in explainer.classes_)
    inputs = [x for x in case["inputs"] if oracle.predict(tuple(map(float, x))) != target]
    assume(inputs)
    oracle.target = target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        explanations = explainer.explain_many(np.array(inputs), target=target)
    for explanation, x in zip(explanations, inputs, strict=True):
        assert [tuple(row) for row in explanation.values] == oracle.explain(tuple(map(float, x)))
        assert set(explanation.labels) == {target}


@given(cases())
def test_batch_order_and_size_do_not_change_an_explanation(case: dict[str, Any]) -> None:
    explainer, _ = explainer_and_oracle(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        together = explainer.explain_many(case["inputs"])
        backwards = explainer.explain_many(case["inputs"][::-1])
        alone = [explainer.explain(x) for x in case["inputs"]]
    for i, single in enumerate(alone):
        np.testing.assert_array_equal(together[i].values, single.values)
        np.testing.assert_array_equal(backwards[len(alone) - 1 - i].values, single.values)
        np.testing.assert_array_equal(together[i].distances, single.distances)


@given(cases())
def test_after_the_search_the_near_side_is_within_gamma(case: dict[str, Any]) -> None:
    case["search"] = case["search"] or LineSearch(0.1)
    assume(case["distance"] != "l0")  # l0 does not shrink along a segment
    explainer, oracle = explainer_and_oracle(case)
    asked: list[np.ndarray] = []

    def predict(X: np.ndarray) -> list[str]:
        asked.extend(X)
        return [oracle.predict(tuple(map(float, row))) for row in X]

    explainer.set_params(model=predict).fit(case["X"])
    for x in case["inputs"]:
        asked.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerCounterfactualsWarning)
            explanation = explainer.explain(x)
        assert all(explanation.labels != explanation.label)
        refused = [p for p in asked if oracle.predict(tuple(map(float, p))) == explanation.label]
        for c, example in zip(explanation.values, explanation.examples, strict=True):
            end = case["X"][example]
            on_segment = [p for p in refused if is_between(x, p, c, end)]
            gap = explainer.distance_(np.array(on_segment), c).min()
            assert gap <= case["search"].gamma * (1 + 1e-9)


def is_between(x: np.ndarray, p: np.ndarray, c: np.ndarray, end: np.ndarray) -> bool:
    """Whether p lies on the segment from x to end, not beyond c."""
    way, along = end - x, p - x
    share = float(along @ way) / float(way @ way)
    reached = float((c - x) @ way) / float(way @ way)
    return share <= reached and np.allclose(along, share * way, rtol=0, atol=1e-9)
