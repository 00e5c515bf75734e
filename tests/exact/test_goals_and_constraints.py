"""Goals and constraints, against every row of a tiny domain and a checker written by the letter."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
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
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from support.oracles_constraints import (
    CONDITIONS,
    FORBIDDEN,
    NAMES,
    NUMBER_CONDITIONS,
    RELATIONS,
    Row,
    constraints,
    keeps,
    plain,
)
from support.oracles_exact import mixed_distance

from counterset import Constraints, InvalidInputError
from counterset.exact import Box, DistanceBounds, counterfactual_distance

#: All rows: two numbers and a category.
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
    "linear": LinearRegression,
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


@st.composite
def classes_asked(draw: st.DrawFn) -> Asked:
    target = draw(st.one_of(st.none(), st.integers(0, 1), st.just([0, 1])))
    probability = draw(st.one_of(st.none(), st.sampled_from([0.0, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0])))
    return Asked(target, probability, None, draw(constraints()))


def solve(model: Any, x: Row, asked: Asked, distance: str, domain: Any) -> DistanceBounds | None:
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


#: Older solvers called another point of the linear model optimal.
LOST = Asked([0, 1], None, None, {"ranges": {"b": (1, None)}})


@pytest.mark.parametrize("kind", CLASSIFIERS)
@settings(max_examples=30)
@example(seed=4, n_classes=3, x=(0, 0, "p"), asked=LOST, distance="linf")
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


@st.composite
def conditions(draw: st.DrawFn) -> dict[str, Any]:
    """Some conditions, mostly with forbidden changes and other constraints."""
    texts = st.lists(st.sampled_from(list(CONDITIONS)), min_size=1, max_size=4, unique=True)
    changes = st.lists(st.sampled_from(FORBIDDEN), max_size=3, unique=True)
    made = {"conditions": draw(texts), "forbidden_changes": {"c": draw(changes)}}
    return draw(constraints()) | made


@pytest.mark.parametrize("kind", CLASSIFIERS)
@given(seed=st.integers(0, 5), x=st.sampled_from(EVERY), kept=conditions(), distance=DISTANCES)
def test_conditions_and_forbidden_changes(
    kind: str, seed: int, x: Row, kept: dict[str, Any], distance: str
) -> None:
    model, frame = fitted(kind, seed, 2), data(seed)
    asked = Asked(constraints=kept)
    bounds = solve(model, x, asked, distance, Box.of(frame))
    assert bounds is not None
    best = check(model, x, asked, distance, bounds, list(frame.itertuples(index=False)))
    if kind != "searched":
        assert bounds.exact, bounds
        assert bounds.none_exists == np.isinf(best)


@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_a_network_where_the_constraints_leave_one_point(distance: str) -> None:
    # The range of its units is rounding alone then. The programme was scaled by it, and a
    # counterfactual was called impossible.
    model, frame, x = fitted("network", 0, 3), data(0), (2, 0, "p")
    asked = Asked(constraints={"immutable": ["a", "c"], "ranges": {"b": (2, 2)}})
    bounds = solve(model, x, asked, distance, Box.of(frame))
    assert bounds is not None
    assert np.isfinite(
        check(model, x, asked, distance, bounds, list(frame.itertuples(index=False)))
    )


#: No leaf of a tree was left in the ball, which has no point then.
FAR = {"ranges": {"a": (0, 2), "b": (0, 2)}, "decrease_only": ["a"], "relations": ["a <= b + 1"]}


@pytest.mark.parametrize("kind", REGRESSIONS)
@settings(max_examples=25)
@example(seed=1, x=(4, 3, "p"), share=0.0, width=0.0, kept=FAR, distance="l0")
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
    low = float(np.quantile(predicted, share)) - 0.01  # no prediction is just at an end
    asked = Asked(None, None, (low, low + width), kept)
    bounds = solve(model, x, asked, distance, Box.of(frame))
    if bounds is None:
        return
    best = check(model, x, asked, distance, bounds, list(frame.itertuples(index=False)))
    if width:
        assert bounds.exact, bounds
        assert bounds.none_exists == np.isinf(best)


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


HALVES = [i / 2 for i in range(9)]


@st.composite
def float_models(draw: st.DrawFn) -> Any:
    """Models of two numbers with fractions, three classes or a prediction."""
    seed = draw(st.integers(0, 5))
    kind = draw(st.sampled_from(["linear", "tree", "forest", "network", "neighbour"]))
    return float_model(kind, seed)


@cache
def float_model(kind: str, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (40, 2)) / 2
    y = np.digitize(X @ rng.normal(size=2) + 0.3 * rng.normal(size=40), [-0.5, 0.8])
    models = CLASSIFIERS | {"neighbour": lambda: KNeighborsClassifier(1)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return models[kind]().fit(X, y)


def test_the_presolve_of_the_solver_loses_no_optimum() -> None:
    # With a known counterfactual at 1.15, OR-tools 9.15 called the nearer ones impossible.
    kept, model = Constraints(relations=["x0 + x1 <= 3"]), float_model("forest", 0)
    asked: dict[str, Any] = {"target": 0, "constraints": kept}
    assert model.predict([[1.5, 1.5]])[0] == 0
    for start in (None, [0.875, 1.75]):
        bounds = counterfactual_distance(model, [2.0, 2.0], "l2", Box(0, 4), start=start, **asked)
        assert bounds.exact
        assert bounds.upper == pytest.approx(np.sqrt(0.5), rel=1e-5)


def with_columns(text: str) -> str:
    """The same relation or condition of the columns x0 and x1."""
    return re.sub(r"\bb\b", "x1", re.sub(r"\ba\b", "x0", text))


@st.composite
def float_constraints(draw: st.DrawFn) -> dict[str, Any]:
    halves, names = st.sampled_from(HALVES), st.sampled_from(["x0", "x1"])
    kinds = {
        "immutable": st.lists(names, min_size=1, max_size=1),
        "increase_only": st.lists(names, min_size=1, max_size=1),
        "decrease_only": st.lists(names, min_size=1, max_size=1),
        "ranges": st.dictionaries(
            names, st.tuples(st.sampled_from([0.5, 1.0]), st.sampled_from([1.0, 2.5, 3.9]))
        ),
        "max_increase": st.dictionaries(names, st.sampled_from([0.1, 0.5, 1.3])),
        "max_decrease": st.dictionaries(names, st.sampled_from([0.1, 0.5, 1.3])),
        "allowed": st.dictionaries(names, st.lists(halves, min_size=1, max_size=4)),
        "relations": st.lists(
            st.sampled_from([with_columns(text) for text in RELATIONS]),
            min_size=1,
            max_size=2,
        ),
        "conditions": st.lists(
            st.sampled_from([with_columns(text) for text in NUMBER_CONDITIONS]),
            min_size=1,
            max_size=3,
            unique=True,
        ),
    }
    chosen = draw(st.lists(st.sampled_from(list(kinds)), max_size=3, unique=True))
    made = {name: draw(kinds[name]) for name in chosen}
    return {name: value for name, value in made.items() if value}


def with_letters(given: dict[str, Any]) -> dict[str, Any]:
    """The same constraints, with the names and relations that the checker knows."""
    letter = {"x0": "a", "x1": "b"}
    renamed: dict[str, Any] = {}
    for kind, value in given.items():
        if isinstance(value, dict):
            renamed[kind] = {letter[name]: each for name, each in value.items()}
        elif kind in ("relations", "conditions"):
            renamed[kind] = [text.replace("x0", "a").replace("x1", "b") for text in value]
        else:
            renamed[kind] = [letter[name] for name in value]
    return renamed


@given(
    model=float_models(),
    x=st.tuples(st.sampled_from(HALVES), st.sampled_from(HALVES)),
    target=st.one_of(st.none(), st.integers(0, 2), st.just([0, 2])),
    given_=float_constraints(),
    distance=st.sampled_from(["l1", "l2", "linf"]),
)
def test_numbers_with_fractions(
    model: Any, x: tuple[float, float], target: Any, given_: dict[str, Any], distance: str
) -> None:
    # Here the domain has no end of rows: those of a fine grid are no nearer than the lower bound.
    own = model.predict([x])[0]
    wanted = [k for k in range(3) if k != own]
    if target is not None:
        wanted = target if isinstance(target, list) else [target]
    known = set(model.classes_)
    if own in wanted or not set(wanted) & known or (target is not None and set(wanted) - known):
        return
    grid = np.array(list(itertools.product(np.arange(33) / 8, repeat=2)))
    kept, none = with_letters(given_), ("-",)
    good = [
        row
        for row, label in zip(grid, model.predict(grid), strict=True)
        if label in wanted and keeps((*x, "-"), (*map(float, row), "-"), kept, {none})
    ]
    lengths = [mixed_distance(distance, x, row, (1.0, 1.0)) for row in good]
    bounds = counterfactual_distance(
        model,
        x,
        distance,
        Box(0, 4),
        target=target,
        constraints=Constraints(**given_),
    )
    assert bounds.lower <= min(lengths, default=np.inf) * (1 + 1e-12)
    if bounds.witness is not None:
        assert model.predict([bounds.witness])[0] in wanted
        assert keeps((*x, "-"), (*plain(bounds.witness), "-"), kept, {none}), bounds.witness
        assert (np.asarray(bounds.witness) >= 0).all()
        assert (np.asarray(bounds.witness) <= 4).all()
    if good:
        assert not bounds.none_exists
        assert bounds.witness is not None


@given(
    seed=st.integers(0, 20),
    x=st.tuples(st.sampled_from(HALVES), st.sampled_from(HALVES)),
    low=st.floats(-6, 6),
    width=st.sampled_from([1e-3, 0.5, np.inf]),
    given_=float_constraints(),
    distance=st.sampled_from(["l1", "l2", "linf", "l0"]),
)
def test_a_linear_regression_of_numbers_with_fractions(
    seed: int,
    x: tuple[float, float],
    low: float,
    width: float,
    given_: dict[str, Any],
    distance: str,
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((10, 2))
    model = LinearRegression().fit(X, X @ rng.normal(size=2) + rng.normal())
    interval = (low, low + width)
    if interval[0] <= model.predict([x])[0] <= interval[1]:
        return
    bounds = counterfactual_distance(
        model, x, distance, Box(0, 4), interval=interval, constraints=Constraints(**given_)
    )
    grid = np.array(list(itertools.product(np.arange(33) / 8, repeat=2)))
    kept = with_letters(given_)

    def good(row: Any, predicted: float) -> bool:
        within = interval[0] <= predicted <= interval[1]
        return bool(within and keeps((*x, "-"), (*plain(row), "-"), kept, set()))

    lengths = [
        mixed_distance(distance, x, row, (1.0, 1.0))
        for row, predicted in zip(grid, model.predict(grid), strict=True)
        if good(row, predicted)
    ]
    assert bounds.lower <= min(lengths, default=np.inf) * (1 + 1e-12)
    if bounds.witness is not None:
        assert good(bounds.witness, model.predict([bounds.witness])[0])
    assert not (lengths and bounds.witness is None)
    if not given_.get("relations"):
        assert bounds.exact, bounds
