"""The fast explainer gives exactly the sets of the literal reading, on mixed tables."""

from __future__ import annotations

import warnings
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.literal_checker import is_missing
from support.mixed_tables import ORDER
from support.oracles_mixed import MixedOracle, RawFeature, RawRule, Row

from counterset import (
    AngleDiversity,
    Constraints,
    DistanceDiversity,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    LineSearch,
    NearestCandidates,
)

KINDS = ("float", "float?", "int", "word", "word?", "ordered")
# Grids of powers of two are added and scaled without rounding, so that every tie is a tie.
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "float": st.integers(0, 8).map(lambda i: i / 4),
    "int": st.integers(0, 8),
    "word": st.sampled_from("xyz"),
    "ordered": st.sampled_from(ORDER),
}


def series(kind: str, values: list[Any]) -> pd.Series:
    if kind == "ordered":
        return pd.Series(pd.Categorical(values, categories=ORDER, ordered=True))
    dtype: Any = {"float": "float64", "int": "int64", "word": object}[kind.rstrip("?")]
    plain: pd.Series = pd.Series(values, dtype=dtype)
    return plain


def raw(kind: str, value: Any) -> Any:
    if is_missing(value):
        return None
    if kind == "ordered":
        return float(ORDER.index(value))
    return value if kind.startswith("word") else float(value)


def feature(kind: str, values: list[Any]) -> RawFeature:
    known = [raw(kind, value) for value in values if not is_missing(value)]
    if kind.startswith("word"):
        return RawFeature(is_category=True)
    seen = tuple(sorted(set(known))) if len(set(known)) < len(ORDER) else ()
    return RawFeature(
        is_whole=not kind.startswith("float"),
        low=min(known, default=0.0),
        high=max(known, default=0.0),
        median=float(median(known)) if known else 0.0,
        seen=seen if kind == "ordered" else (),
    )


def immutable(i: int) -> RawRule:
    return RawRule(lambda x, c: (*c[:i], x[i], *c[i + 1 :]), lambda x, c: x[i] == c[i])


def increase_only(i: int) -> RawRule:
    def holds(x: Row, c: Row) -> bool:
        return x[i] is None or (c[i] is not None and c[i] >= x[i])

    return RawRule(lambda x, c: c if holds(x, c) else (*c[:i], x[i], *c[i + 1 :]), holds)


def within(i: int, low: float, high: float) -> RawRule:
    def project(x: Row, c: Row) -> Row:
        value = x[i] if c[i] is None else c[i]
        return (*c[:i], None if value is None else min(max(value, low), high), *c[i + 1 :])

    def holds(x: Row, c: Row) -> bool:
        return low <= c[i] <= high if c[i] is not None else x[i] is None

    return RawRule(project, holds)


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    n, k = draw(st.integers(3, 20)), draw(st.integers(1, 3))
    train, inputs = {}, {}
    for i, kind in enumerate(kinds):
        one = VALUES[kind.rstrip("?")]
        one = st.one_of(one, st.none()) if kind.endswith("?") else one
        values = draw(st.lists(one, min_size=n, max_size=n))
        train[f"f{i}"] = series(kind, values)
        inputs[f"f{i}"] = series(
            kind, draw(st.lists(st.sampled_from(values), min_size=k, max_size=k))
        )
    return {
        "kinds": kinds,
        "X": pd.DataFrame(train),
        "inputs": pd.DataFrame(inputs),
        "weights": draw(st.lists(st.integers(-3, 3), min_size=len(kinds), max_size=len(kinds))),
        "cut": draw(st.integers(-4, 6)) + 0.3,
        "alpha": draw(st.sampled_from([3, 1000])),
        "diversity": draw(
            st.sampled_from(
                [None, AngleDiversity(0.45), AngleDiversity(0.9), DistanceDiversity(0.3)]
            )
        ),
        "search": draw(st.sampled_from([None, LineSearch(0.26), LineSearch(0.03)])),
        "limit": draw(st.integers(1, 4)),
        "distance": draw(st.sampled_from(["l1", "gower"])),
        "rules": draw(
            st.lists(
                st.tuples(
                    st.sampled_from(["immutable", "increase_only", "ranges"]),
                    st.integers(0, len(kinds) - 1),
                ),
                max_size=2,
                unique_by=lambda pair: pair[1],
            )
        ),
    }


def score(case: dict[str, Any], row: Row) -> bool:
    total = 0.0
    for weight, value in zip(case["weights"], row, strict=True):
        number = "xyz".index(value) if isinstance(value, str) else value
        total += weight * (1.5 if number is None else number)
    return bool(total > case["cut"])


def rows_of(case: dict[str, Any], frame: pd.DataFrame) -> list[Row]:
    columns = [
        [raw(kind, value) for value in frame[name]]
        for kind, name in zip(case["kinds"], frame.columns, strict=True)
    ]
    return list(zip(*columns, strict=True))


def has_near_ties(distances: Any) -> bool:
    """Whether two distances of one input differ by no more than rounding: the oracle's are tied."""
    gaps = np.diff(np.sort(distances, axis=1), axis=1)
    return bool(((gaps > 0) & (gaps < 1e-9)).any())


def with_rules(case: dict[str, Any]) -> tuple[Constraints, list[RawRule], tuple[int, ...]]:
    """Return the constraints for both, in the order in which the library applies them."""
    made: dict[str, Any] = {"ranges": {}, "increase_only": [], "immutable": []}
    literal: dict[str, list[RawRule]] = {kind: [] for kind in made}
    fixed = []
    for kind, i in case["rules"]:
        if kind == "immutable":
            made[kind].append(f"f{i}")
            literal[kind].append(immutable(i))
            fixed.append(i)
        elif case["kinds"][i].startswith("word"):
            continue
        elif kind == "increase_only":
            made[kind].append(f"f{i}")
            literal[kind].append(increase_only(i))
        elif case["kinds"][i] != "ordered":
            made[kind][f"f{i}"] = (1, 2)
            literal[kind].append(within(i, 1.0, 2.0))
    in_order = [rule for rules in literal.values() for rule in rules]
    return Constraints(**made), in_order, tuple(fixed)


# Many tables that are drawn have one class only.
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(cases())
def test_fast_sets_equal_literal_sets_on_mixed_tables(case: dict[str, Any]) -> None:
    rows = rows_of(case, case["X"])
    assume(len({score(case, row) for row in rows}) > 1)
    constraints, rules, fixed = with_rules(case)
    explainer = DiverseExplainer.paper(
        lambda frame: np.array([score(case, row) for row in rows_of(case, frame)]),
        distance=case["distance"],
        candidates=NearestCandidates(case["alpha"]),
        diversity=case["diversity"],
        search=case["search"],
        max_counterfactuals=case["limit"],
        constraints=constraints,
    ).fit(case["X"])
    inputs, train = (explainer.training_.table.encode(case[name])[0] for name in ("inputs", "X"))
    assume(not has_near_ties(explainer.distance_.pairwise(inputs, train)))
    oracle = MixedOracle(
        lambda row: score(case, row),
        rows,
        [
            feature(kind, case["X"][name].tolist())
            for kind, name in zip(case["kinds"], case["X"].columns, strict=True)
        ],
        NearestCandidates(case["alpha"]),
        case["diversity"],
        case["search"],
        case["limit"],
        share=1 / len(case["kinds"]) if case["distance"] == "gower" else 1.0,
        rules=rules,
        fixed=fixed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        explanations = explainer.explain_many(case["inputs"], if_none="warn")
    for explanation, x in zip(explanations, rows_of(case, case["inputs"]), strict=True):
        found = explanation.counterfactuals
        assert isinstance(found, pd.DataFrame)
        expected = oracle.explain(x)
        if expected or not len(found):
            assert rows_of(case, found) == expected
        else:  # where the four steps find nothing, further rows are tried
            assert all(
                row != x and score(case, row) != score(case, x) for row in rows_of(case, found)
            )
