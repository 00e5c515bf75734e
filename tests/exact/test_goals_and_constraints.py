"""Goals and constraints, against every row of a tiny domain and a checker written by the letter."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_exact import mixed_distance
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from counterset import Box, Constraints, DistanceBounds, InvalidInputError
from counterset.exact import counterfactual_distance

Row = tuple[Any, ...]
#: All rows: two numbers and a category.
NAMES = ("a", "b", "c")
VALUES: tuple[tuple[Any, ...], ...] = (tuple(range(5)), tuple(range(4)), ("p", "q", "r"))
EVERY = [tuple(row) for row in itertools.product(*VALUES)]
SPANS = (4.0, 3.0, 1.0)

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "linear": lambda: LogisticRegression(C=10),
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": lambda: RandomForestClassifier(4, max_depth=3, random_state=0),
    "whole votes": lambda: RandomForestClassifier(4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0),
    "histograms": lambda: HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3),
    "network": lambda: MLPClassifier((3,), solver="lbfgs", max_iter=60, random_state=0),
    "searched": lambda: SVC(probability=True, random_state=0),
}
REGRESSIONS: dict[str, Callable[[], Any]] = {
    "linear": lambda: LinearRegression(),
    "tree": lambda: DecisionTreeRegressor(max_depth=4, random_state=0),
    "forest": lambda: RandomForestRegressor(4, max_depth=3, random_state=0),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=4, max_depth=2, random_state=0),
    "histograms": lambda: HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=3),
    "network": lambda: MLPRegressor(
        hidden_layer_sizes=(3,), solver="lbfgs", max_iter=60, random_state=0
    ),
}


def frame_of(rows: list[Row]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(NAMES))


@cache
def data(seed: int) -> pd.DataFrame:
    """Some of the rows, among them both ends of each number and all values of the category."""
    rng = np.random.default_rng(seed)
    picked = [EVERY[i] for i in rng.choice(len(EVERY), 22, replace=False)]
    return frame_of([(0, 0, "p"), (4, 3, "q"), (2, 1, "r"), *picked])


@cache
def fitted(kind: str, seed: int, classes: int) -> Any:
    """A model; of a regression with 0 classes."""
    frame, rng = data(seed), np.random.default_rng(seed)
    score = frame["a"] * rng.normal() + frame["b"] * rng.normal() + rng.normal(size=len(frame))
    score += (frame["c"] == "q") * rng.normal()
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["c"]), remainder="passthrough"
    )
    if classes == 0:
        model, y = make_pipeline(encode, REGRESSIONS[kind]()), score.to_numpy()
    else:
        edges = np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1])
        model, y = make_pipeline(encode, CLASSIFIERS[kind]()), np.digitize(score, edges)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a network that was not trained to the end, and the like
        return model.fit(frame, y)


@dataclass(frozen=True)
class Asked:
    """What is asked for, in plain values."""

    target: Any = None
    probability: float | None = None
    interval: tuple[float, float] | None = None
    constraints: dict[str, Any] = field(default_factory=dict)

    def arguments(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "target_probability": self.probability,
            "interval": self.interval,
            "constraints": Constraints(**self.constraints) if self.constraints else None,
        }


#: By the letter: how each relation is written, and what it says of two numbers.
RELATIONS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "a <= b + 1": lambda a, b: a <= b + 1,
    "a < b": lambda a, b: a < b,
    "2 * a - b >= 1": lambda a, b: 2 * a - b >= 1,
    "a + b == 4": lambda a, b: abs(a + b - 4) <= Fraction(1, 10**11),
    "a / 3 <= b": lambda a, b: a / 3 <= b,
    "1 <= a + b <= 5": lambda a, b: 1 <= a + b <= 5,
}


def keeps(x: Row, c: Row, asked: dict[str, Any], rows: set[Row]) -> bool:
    """Whether a row keeps constraints, by the letter of their documentation."""
    old, new = dict(zip(NAMES, x, strict=True)), dict(zip(NAMES, c, strict=True))
    rule: dict[str, Any] = {name: asked.get(name, ()) for name in ("immutable", "relations")}
    if any(new[name] != old[name] for name in rule["immutable"]):
        return False
    if any(new[name] < old[name] for name in asked.get("increase_only", ())):
        return False
    if any(new[name] > old[name] for name in asked.get("decrease_only", ())):
        return False
    for name, (low, high) in asked.get("ranges", {}).items():
        if (low is not None and new[name] < low) or (high is not None and new[name] > high):
            return False
    for name, most in asked.get("max_increase", {}).items():
        if Fraction(new[name]) - Fraction(old[name]) > Fraction(most):
            return False
    for name, most in asked.get("max_decrease", {}).items():
        if Fraction(old[name]) - Fraction(new[name]) > Fraction(most):
            return False
    if any(new[name] not in values for name, values in asked.get("allowed", {}).items()):
        return False
    for text in rule["relations"]:
        if not RELATIONS[text](Fraction(new["a"]), Fraction(new["b"])):
            return False
    for group in asked.get("together", ()):
        at = [NAMES.index(name) for name in group]
        own, taken = tuple(x[i] for i in at), tuple(c[i] for i in at)
        if taken != own and taken not in {tuple(row[i] for i in at) for row in rows}:
            return False
    return True


@cache
def answers(model: Any) -> dict[Row, tuple[Any, float]]:
    """What a model predicts for every row, with the probability of its label."""
    rows = frame_of(EVERY)
    labels = model.predict(rows)
    probable = np.zeros(len(rows))
    if hasattr(model, "classes_"):
        columns = [list(model.classes_).index(label) for label in labels]
        probable = model.predict_proba(rows)[np.arange(len(rows)), columns]
    return dict(zip(EVERY, zip(labels, probable, strict=True), strict=True))


def reaches(model: Any, x: Row, row: Row, asked: Asked) -> bool:
    """Whether the model predicts what is wanted for a row."""
    own, (label, probable) = answers(model)[x][0], answers(model)[row]
    if asked.probability is not None and probable < asked.probability:
        return False
    if asked.interval is not None:
        return bool(asked.interval[0] <= label <= asked.interval[1])
    if asked.target is None:
        return bool(label != own)
    return label in (asked.target if isinstance(asked.target, list) else [asked.target])


def plain(row: Any) -> Row:
    return tuple(value.item() if hasattr(value, "item") else value for value in row)


numbers = st.sampled_from(["a", "b"])
anything = st.sampled_from(NAMES)
ends = st.one_of(st.none(), st.integers(0, 4))


@st.composite
def constraints(draw: st.DrawFn) -> dict[str, Any]:
    """One to three kinds of constraints."""
    kinds = {
        "immutable": st.lists(anything, min_size=1, max_size=2, unique=True),
        "increase_only": st.lists(numbers, min_size=1, max_size=1),
        "decrease_only": st.lists(numbers, min_size=1, max_size=1),
        "ranges": st.dictionaries(
            numbers, st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(2, 3)))
        ),
        "max_increase": st.dictionaries(numbers, st.integers(0, 2)),
        "max_decrease": st.dictionaries(numbers, st.integers(0, 2)),
        "allowed": st.fixed_dictionaries(
            {},
            optional={
                "a": st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True),
                "c": st.lists(st.sampled_from("pqr"), min_size=1, max_size=2, unique=True),
            },
        ),
        "relations": st.lists(st.sampled_from(list(RELATIONS)), min_size=1, max_size=2),
        "together": st.sampled_from([[["a", "c"]], [["a", "b"]], [["a", "b"], ["b", "c"]]]),
    }
    chosen = draw(st.lists(st.sampled_from(list(kinds)), max_size=3, unique=True))
    made = {name: draw(kinds[name]) for name in chosen}
    return {name: value for name, value in made.items() if value}


@st.composite
def classes_asked(draw: st.DrawFn) -> Asked:
    target = draw(st.one_of(st.none(), st.integers(0, 1), st.just([0, 1])))
    probability = draw(st.one_of(st.none(), st.sampled_from([0.0, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0])))
    return Asked(target, probability, None, draw(constraints()))


def solve(
    model: Any, x: Row, asked: Asked, distance: str, domain: Any
) -> DistanceBounds | None:
    """The bounds, or None if the input has what is wanted already: then that is said."""
    if reaches(model, x, x, asked):
        with pytest.raises(InvalidInputError, match="already"):
            counterfactual_distance(model, frame_of([x]), distance, domain, **asked.arguments())
        return None
    return counterfactual_distance(model, frame_of([x]), distance, domain, **asked.arguments())


def check(
    model: Any, x: Row, asked: Asked, distance: str, bounds: DistanceBounds, rows: list[Row]
) -> float:
    """Check bounds against all rows of the domain; return the optimum."""
    known = {plain(row) for row in rows}
    lengths = [
        mixed_distance(distance, x, row, SPANS)
        for row in EVERY
        if keeps(x, row, asked.constraints, known) and reaches(model, x, row, asked)
    ]
    best = min(lengths, default=np.inf)
    assert bounds.lower <= best * (1 + 1e-9), (bounds, best)
    assert bounds.upper >= best * (1 - 1e-9), (bounds, best)
    assert bounds.none_exists <= np.isinf(best)
    assert (bounds.witness is None) == np.isinf(bounds.upper)
    if bounds.witness is not None:
        witness = plain(bounds.witness)
        assert keeps(x, witness, asked.constraints, known), witness
        assert reaches(model, x, witness, asked), witness
        assert bounds.upper == pytest.approx(mixed_distance(distance, x, witness, SPANS))
    return best


DISTANCES = st.sampled_from(["l1", "l2", "linf", "l0", "gower"])


@pytest.mark.parametrize("kind", CLASSIFIERS)
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 5),
    n_classes=st.integers(2, 3),
    x=st.sampled_from(EVERY),
    asked=classes_asked(),
    distance=DISTANCES,
)
def test_classes_probabilities_and_constraints(
    kind: str, seed: int, n_classes: int, x: Row, asked: Asked, distance: str
) -> None:
    model, frame = fitted(kind, seed, n_classes), data(seed)
    bounds = solve(model, x, asked, distance, Box.of(frame))
    if bounds is None:
        return
    best = check(model, x, asked, distance, bounds, list(frame.itertuples(index=False)))
    # The softmax of three classes is bounded by straight lines.
    curved = kind in ("linear", "network") and n_classes > 2 and asked.probability is not None
    if kind != "searched" and not curved:
        assert bounds.exact, bounds
        assert bounds.none_exists == np.isinf(best)


@pytest.mark.parametrize("kind", REGRESSIONS)
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 5),
    x=st.sampled_from(EVERY),
    share=st.floats(0, 1),
    width=st.sampled_from([0.0, 0.05, 0.3, np.inf]),
    kept=constraints(),
    distance=DISTANCES,
)
def test_ranges_of_predictions_and_constraints(
    kind: str, seed: int, x: Row, share: float, width: float, kept: dict[str, Any], distance: str
) -> None:
    model, frame = fitted(kind, seed, 0), data(seed)
    predicted = np.sort(model.predict(frame))
    low = float(np.quantile(predicted, share))
    asked = Asked(None, None, (low, low + width), kept)
    bounds = solve(model, x, asked, distance, Box.of(frame))
    if bounds is None:
        return
    best = check(model, x, asked, distance, bounds, list(frame.itertuples(index=False)))
    if width:
        assert bounds.exact, bounds
        assert bounds.none_exists == np.isinf(best)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 5),
    x=st.sampled_from(EVERY),
    asked=classes_asked(),
    distance=DISTANCES,
)
def test_finite_domains(seed: int, x: Row, asked: Asked, distance: str) -> None:
    # Any model will do, and the domain itself is the rows that are looked up together.
    model, rows = fitted("searched", seed, 3), frame_of(EVERY)
    bounds = solve(model, x, asked, distance, rows)
    if bounds is None:
        return
    best = check(model, x, asked, distance, bounds, EVERY)
    assert bounds.exact
    assert bounds.none_exists == np.isinf(best)
