"""Record a digest of every number that the library computes in about sixty settings.

A change that should leave all answers as they are is checked by it: run it before and after.

    python scripts/digests.py before.json
    python scripts/digests.py after.json --compare before.json

Only public names are used, so that the same script runs on any structure of the package. Digests
are exact to the last bit and hold on one machine only: another linear algebra library may round
otherwise.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import counterset
from counterset import (
    AngleDiversity,
    CandidatesWithin,
    Constraints,
    DistanceDiversity,
    DiverseExplainer,
    ExhaustiveExplainer,
    Explanation,
    Explanations,
    LineSearch,
    NearData,
    Nearest,
    NearestCandidates,
    NoCounterfactualError,
    Paper,
    Schema,
    Shared,
    counterfactual_distance,
    datasets,
    evaluate,
    metrics,
)
from counterset.evaluation import empirical_robustness, weak_robustness
from counterset.exact import Box, Grid, ReluNetwork, counterfactual_distances
from counterset.paper import Experiment, reproduce, tune

SETTINGS: dict[str, Callable[[], Any]] = {}


def setting(name: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Add a function to the settings, under a name."""

    def add(function: Callable[[], Any]) -> Callable[[], Any]:
        SETTINGS[name] = function
        return function

    return add


# Tables and models -------------------------------------------------------------------------------

RNG = np.random.default_rng(7)
NUMBERS = RNG.random((400, 4)) * [1.0, 10.0, 100.0, 1.0] + [0.0, -5.0, 1000.0, 0.0]
INPUTS = NUMBERS[:12] + 0.003
SCALED = (NUMBERS - NUMBERS.min(axis=0)) / np.ptp(NUMBERS, axis=0)


def wavy(rows: Any) -> Any:
    """Classify by a border that is not straight."""
    values = (np.asarray(rows, dtype=float) - [0.0, -5.0, 1000.0, 0.0]) / [1.0, 10.0, 100.0, 1.0]
    return np.where(values.sum(axis=1) + 0.3 * np.sin(9 * values[:, 0]) > 2.05, "yes", "no")


def thirds(rows: Any) -> Any:
    """Classify into three classes."""
    values = np.asarray(rows, dtype=float)
    return (values[:, 0] * 3 + values[:, 3]).astype(int).clip(0, 2)


def mixed_table() -> pd.DataFrame:
    """Make a table with columns of every kind, and missing values."""
    rng = np.random.default_rng(3)
    n = 240
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.normal(30_000, 9_000, n).round(2),
            "rate": rng.random(n).astype(np.float32),
            "home": pd.Categorical(rng.choice(["rent", "own", "free"], n)),
            "savings": pd.Categorical(
                rng.choice(["none", "some", "much"], n), ["none", "some", "much"], ordered=True
            ),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "job": rng.choice(["a", "b"], n).astype(object),
            "flag": rng.random(n) > 0.5,
            "k_red": 0,
            "k_blue": 0,
        }
    )
    colour = rng.integers(0, 3, n)
    frame.loc[colour == 0, "k_red"] = 1
    frame.loc[colour == 1, "k_blue"] = 1
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame.loc[rng.random(n) < 0.1, "job"] = None
    return frame


MIXED = mixed_table()
MIXED_SCHEMA = Schema(one_hot={"colour": ["k_red", "k_blue"]})


def lend(frame: pd.DataFrame) -> Any:
    """Classify the rows of the mixed table."""
    score = (
        frame["age"] / 80
        + frame["income"].fillna(20_000) / 40_000
        + frame["rate"]
        + 0.4 * (frame["home"] == "own")
        + 0.3 * frame["savings"].cat.codes
        + 0.2 * frame["flag"]
        + 0.3 * (frame["job"] == "a")
        + 0.2 * frame["k_red"]
        + (frame["since"] - pd.Timestamp("2020-01-01")).dt.days / 2000
    )
    return np.where(score > 3.0, "good", "bad")


CREDIT = datasets.load("german_credit")
DIABETES = datasets.load("diabetes")


def credit_model(last: Any) -> Any:
    """Train a model on the German credit data, behind an encoder."""
    text = make_column_selector(dtype_include="category")
    encode = make_column_transformer((OneHotEncoder(), text), remainder="passthrough")
    return make_pipeline(encode, last).fit(CREDIT.X[:700], CREDIT.y[:700])


def credit_inputs(model: Any, count: int = 6) -> pd.DataFrame:
    """Return held-out applicants that the model declines."""
    rows = CREDIT.X[700:]
    declined: pd.DataFrame = rows[np.asarray(model.predict(rows)) == "bad"]
    return declined.iloc[:count]


def make(model: Any, **parameters: Any) -> DiverseExplainer:
    """Return an explainer with the paper's scale and numbers without steps, for any strategy."""
    if "strategy" not in parameters:
        return DiverseExplainer.paper(model, **parameters)
    schema = (parameters.pop("schema", None) or Schema()).without_steps()
    return DiverseExplainer(model, schema=schema, **({"scale": "range"} | parameters))


def explain(data: Any, inputs: Any, model: Any, asked: Any = None, **parameters: Any) -> Any:
    """Fit an explainer and explain inputs together, the first one alone, and two as a slice."""
    explainer = make(model, **parameters).fit(data)
    asked = asked or {}
    many = explainer.explain_many(inputs, if_none="warn", **asked)
    try:
        first = inputs.iloc[0] if isinstance(inputs, pd.DataFrame) else inputs[0]
        one: Any = explainer.explain(first, **asked)
    except NoCounterfactualError as error:
        one = type(error).__name__
    return many, one, many[1:3]


def numeric(**parameters: Any) -> Callable[[], Any]:
    """Explain the numeric inputs."""
    return lambda: explain(NUMBERS, INPUTS, wavy, **parameters)


def mixed(asked: Any = None, **parameters: Any) -> Callable[[], Any]:
    """Explain rows of the mixed table."""

    def run() -> Any:
        rows = MIXED[lend(MIXED) == "bad"].iloc[:10]
        return explain(MIXED, rows, lend, asked, schema=MIXED_SCHEMA, **parameters)

    return run


NEAREST = Nearest(search=LineSearch(0.1))
LISTS = Shared(own=0, regions=4, search=LineSearch(0.1))


# The paper's steps --------------------------------------------------------------------------------

for _name in ("l1", "l2", "linf", "l0", "gower"):
    SETTINGS[f"numbers {_name}"] = numeric(distance=_name)
SETTINGS |= {
    "numbers within epsilon": numeric(candidates=CandidatesWithin(0.6)),
    "numbers nearest 20": numeric(candidates=NearestCandidates(20)),
    "numbers distance filter": numeric(diversity=DistanceDiversity(0.2)),
    "numbers distance filter l2": numeric(diversity=DistanceDiversity(0.2), distance="l2"),
    "numbers absolute angle": numeric(diversity=AngleDiversity(0.3, absolute=True)),
    "numbers no filter": numeric(diversity=None),
    "numbers no search": numeric(search=None),
    "numbers fine search": numeric(search=LineSearch(0.0005)),
    "numbers farthest halvings": numeric(search=LineSearch(0.01, halvings="farthest")),
    "numbers scale mad": numeric(scale="mad"),
    "numbers scale none": numeric(scale=None),
    "numbers weights": numeric(scale=[1.0, 0.2, 0.02, 3.0]),
    "numbers costs": numeric(costs={"x1": 2.0, "x2": 3.0, "x3": 4.0}),
    "numbers own distance": numeric(
        distance=lambda A, B: np.maximum(B[None] - A[:, None], 0).sum(axis=2) + 0.01
    ),
    "numbers plausible": numeric(plausibility=NearData()),
    "numbers one option": numeric(max_counterfactuals=1),
    "numbers sparse": numeric(strategy=NEAREST),
    "numbers constraints": numeric(
        constraints=Constraints(immutable=["x1"], increase_only=["x0"], ranges={"x3": (0.1, None)})
    ),
    "numbers relation": numeric(
        constraints=Constraints(relations=["x0 + x3 <= 1.7", "x2 <= 1050 + 40 * x0"])
    ),
    "numbers sparse constraints": numeric(
        strategy=NEAREST, constraints=Constraints(max_increase={"x2": 20}, decrease_only=["x1"])
    ),
}


@setting("frame of numbers")
def frame_of_numbers() -> Any:
    frame = pd.DataFrame(NUMBERS, columns=list("abcd"), index=[f"r{i}" for i in range(400)])
    return explain(frame, frame.iloc[:6], wavy)


@setting("three classes")
def three_classes() -> Any:
    return [
        explain(SCALED, SCALED[:10], thirds),
        explain(SCALED, SCALED[thirds(SCALED) == 0][:5], thirds, {"target": 2}),
        explain(
            SCALED, SCALED[thirds(SCALED) == 0][:5], thirds, {"target": [1, 2]}, strategy=NEAREST
        ),
    ]


@setting("an unseen class")
def unseen_class() -> Any:
    def model(rows: Any) -> Any:
        values = np.asarray(rows)[:, 0]
        return np.where(values < 0.4, "a", np.where((values > 0.4) & (values < 0.6), "new", "b"))

    data = SCALED[(SCALED[:, 0] < 0.38) | (SCALED[:, 0] > 0.62)]
    return explain(data, data[:8], model, search=LineSearch(0.01))


@setting("probability")
def probability() -> Any:
    model = LogisticRegression().fit(SCALED, wavy(NUMBERS))
    rows = SCALED[model.predict(SCALED) == "no"][:6]
    asked = {"target": "yes", "target_probability": 0.7}
    return [
        explain(SCALED, rows, model, asked, **sparse, plausibility=support)
        for sparse in ({}, {"strategy": NEAREST})
        for support in (None, NearData())
    ]


@setting("interval")
def interval() -> Any:
    target = SCALED @ [3.0, 1.0, 2.0, 1.0]
    model = LinearRegression().fit(SCALED, target)
    low = SCALED[model.predict(SCALED) < 3][:6]
    return [
        explain(SCALED, low, model, {"interval": (4.0, 5.0)}),
        explain(SCALED, low, model, {"interval": (3.5, np.inf)}, strategy=NEAREST),
    ]


# Mixed tables -------------------------------------------------------------------------------------

BOUNDS = Constraints(
    immutable=["age"],
    increase_only=["savings"],
    ranges={"income": (None, 60_000)},
    allowed={"home": ["rent", "own"]},
    together=[["job", "flag"]],
)
SETTINGS |= {
    "mixed l1": mixed(),
    "mixed l2": mixed(distance="l2"),
    "mixed linf": mixed(distance="linf"),
    "mixed l0": mixed(distance="l0"),
    "mixed gower": mixed(distance="gower"),
    "mixed mad": mixed(scale="mad"),
    "mixed no search": mixed(search=None),
    "mixed distance filter": mixed(diversity=DistanceDiversity(0.1)),
    "mixed constraints": mixed(constraints=BOUNDS),
    "mixed constraints l2": mixed(constraints=BOUNDS, distance="l2"),
    "mixed sparse": mixed(strategy=NEAREST),
    "mixed sparse gower": mixed(strategy=NEAREST, distance="gower"),
    "mixed sparse constraints": mixed(strategy=NEAREST, constraints=BOUNDS),
    "mixed sparse linf": mixed(strategy=NEAREST, constraints=BOUNDS, distance="linf"),
    "mixed plausible": mixed(plausibility=NearData(share=0.99), strategy=NEAREST),
    "mixed constraints of a call": mixed({"constraints": BOUNDS, "target": "good"}),
    "mixed impossible": mixed(constraints=Constraints(immutable=list(MIXED.columns[:8]))),
}


@setting("german credit, boosting")
def credit_boosting() -> Any:
    model = credit_model(GradientBoostingClassifier(n_estimators=40, random_state=0))
    rows = credit_inputs(model)
    kept = Constraints(immutable=["age", "personal_status"])
    return [
        explain(
            CREDIT.X[:700], rows, model, {"target": "good"}, constraints=kept, strategy=NEAREST
        ),
        explain(CREDIT.X[:700], rows, model),
    ]


# Regions ------------------------------------------------------------------------------------------


@setting("regions 8")
def regions_8() -> Any:
    return [explain(NUMBERS, INPUTS, wavy, regions=8, distance=name) for name in ("l1", "l2")]


@setting("regions auto")
def regions_auto() -> Any:
    return explain(NUMBERS[:150], INPUTS, wavy, regions="auto")


@setting("regions auto without a search")
def regions_auto_no_search() -> Any:
    return explain(NUMBERS[:150], INPUTS, wavy, regions="auto", search=None)


@setting("regions on a mixed table")
def regions_mixed() -> Any:
    return [
        mixed(regions=4)(),
        mixed(strategy=LISTS, constraints=BOUNDS)(),
        mixed({"target": "good"}, regions=4)(),
    ]


@setting("the default and shared lists on german credit")
def default_and_shared() -> Any:
    model = credit_model(GradientBoostingClassifier(n_estimators=40, random_state=0))
    rows, kept = credit_inputs(model), Constraints(immutable=["age", "personal_status"])
    explainer = DiverseExplainer(model, schema=CREDIT.schema, constraints=kept).fit(CREDIT.X[:700])
    return [
        explainer.with_strategy(strategy).explain_many(rows, target="good", if_none="warn")
        for strategy in (Nearest(), Shared(), Shared(own=0), Paper(regions=4))
    ]


# Exact distances ----------------------------------------------------------------------------------


def exact(model: Any, rows: Any, names: Iterable[str] = ("l1", "l2", "linf", "l0")) -> Any:
    """Bound the distances of a few rows in several norms."""
    box = Box.of(SCALED)
    return [
        counterfactual_distance(model, row, name, box, time_limit=600.0)
        for name in names
        for row in rows
    ]


@setting("exact linear")
def exact_linear() -> Any:
    model = LogisticRegression().fit(SCALED, thirds(SCALED))
    scaled = make_pipeline(StandardScaler(), LogisticRegression()).fit(SCALED, wavy(NUMBERS))
    many = counterfactual_distances(model, SCALED[:50], "l2", Box.of(SCALED))
    return exact(model, SCALED[:4]), exact(scaled, SCALED[:4]), many


@setting("exact linear on whole numbers")
def exact_whole() -> Any:
    rows = np.random.default_rng(1).integers(0, 9, (80, 3))
    model = LogisticRegression().fit(rows, rows.sum(axis=1) > 12)
    frame = pd.DataFrame(rows, columns=list("abc"))
    model = LogisticRegression().fit(frame, rows.sum(axis=1) > 12)
    box = Box.of(frame)
    return [counterfactual_distance(model, frame.iloc[i], "l1", box) for i in range(4)]


@setting("exact network")
def exact_network() -> Any:
    model = MLPClassifier((6,), max_iter=300, random_state=0).fit(SCALED, wavy(NUMBERS))
    rng = np.random.default_rng(2)
    first, last = rng.normal(size=(4, 5)), rng.normal(size=(5, 2))
    middle = np.maximum(SCALED.mean(axis=0) @ first, 0) @ last
    by_hand = ReluNetwork([(first, np.zeros(5)), (last, -middle)])
    return exact(model, SCALED[:3]), exact(by_hand, SCALED[:2], ("l1", "l2"))


@setting("exact trees")
def exact_trees() -> Any:
    labels = wavy(NUMBERS)
    forest = RandomForestClassifier(8, max_depth=4, random_state=0).fit(SCALED, labels)
    boosted = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(SCALED, labels)
    tree = DecisionTreeClassifier(max_depth=5, random_state=0).fit(SCALED, labels)
    return [exact(model, SCALED[:3]) for model in (forest, boosted, tree)]


@setting("exact trees on a mixed table")
def exact_mixed_trees() -> Any:
    model = credit_model(RandomForestClassifier(6, max_depth=4, random_state=0))
    explainer = make(model, strategy=NEAREST).fit(CREDIT.X[:700])
    rows = credit_inputs(model, 3)
    certified = explainer.certify(explainer.explain(rows.iloc[0]), epsilon=0.3)
    return certified, [
        counterfactual_distance(model, rows.iloc[i], "gower", Box.of(CREDIT.X)) for i in range(2)
    ]


@setting("exact neighbour, search and finite domains")
def exact_others() -> Any:
    neighbour = KNeighborsClassifier(1).fit(SCALED[:60], wavy(NUMBERS)[:60])
    points = SCALED[:80]
    grid = Grid([np.linspace(0, 1, 6)] * 4)

    def model(rows: Any) -> Any:
        return rows.sum(axis=1) > 2

    return [
        exact(neighbour, SCALED[100:103], ("l1", "l2")),
        counterfactual_distance(model, SCALED[0], "l1", Box(0, 1), method="search"),
        counterfactual_distance(model, SCALED[0], "l2", points),
        counterfactual_distance(model, SCALED[0], "l1", grid),
    ]


@setting("exhaustive explainer")
def exhaustive() -> Any:
    points = SCALED[:120]
    explainer = ExhaustiveExplainer(lambda rows: rows.sum(axis=1) > 2, 0.3, domain=points)
    grid = ExhaustiveExplainer(
        lambda rows: rows.sum(axis=1) > 2, 0.2, domain=Grid([np.linspace(0, 1, 5)] * 4)
    )
    found = explainer.explain(points[0])
    c = found.values[0]
    return (
        found,
        grid.explain(np.full(4, 0.25)),
        explainer.contains(points[0], c).value,
        explainer.safety(points[0], c),
        explainer.counterfactual_distance(points[0]),
    )


@setting("certificates")
def certificates() -> Any:
    model = LogisticRegression().fit(SCALED, wavy(NUMBERS))
    explainer = make(model, regions=6).fit(SCALED)
    return [explainer.certify(explainer.explain(row), epsilon=0.4) for row in SCALED[:4]]


@setting("robustness of pairs")
def robustness() -> Any:
    points = SCALED[:150]
    model = LogisticRegression().fit(points, points.sum(axis=1) > 2)
    explainer = DiverseExplainer.paper(model, max_counterfactuals=3).fit(points)
    pairs = [(points[i], points[i] + 0.01) for i in range(6)]
    weak = weak_robustness(explainer, pairs, epsilon=0.2)
    found = empirical_robustness(explainer, pairs, epsilon=0.2)
    return weak.holds.value, weak.pairs, weak.kept, weak.undecided, found.k, found.ratios


# Evaluation ---------------------------------------------------------------------------------------


@setting("evaluate")
def evaluated() -> Any:
    explainer = DiverseExplainer.paper(wavy).fit(NUMBERS)
    sparse = make(lend, schema=MIXED_SCHEMA, strategy=NEAREST).fit(MIXED)

    def nearest(x: Any) -> Any:
        return NUMBERS[wavy(NUMBERS) != wavy(x[None, :])][:3]

    return [
        evaluate(explainer, INPUTS, repeats=2, random_state=1).drop(columns="seconds"),
        evaluate(explainer, INPUTS[:4], distance="l2").drop(columns="seconds"),
        evaluate(sparse, MIXED.iloc[:5], random_state=2).drop(columns="seconds"),
        evaluate(nearest, INPUTS[:3], model=wavy, training=NUMBERS).drop(columns="seconds"),
    ]


@setting("metrics")
def measured() -> Any:
    explainer = DiverseExplainer.paper(lend, schema=MIXED_SCHEMA).fit(MIXED)
    first, second = explainer.explain_many(MIXED.iloc[:2])
    sets, distance = (first.counterfactuals, second.counterfactuals), explainer.distance_
    return [
        metrics.validity(first, lend),
        metrics.k_distance(first.input, sets[0], distance),
        metrics.k_diversity(sets[0], distance),
        [metrics.set_distance(*sets, distance, how=how) for how in ("mean", "max")],
        metrics.sparsity(first.input, sets[0]),
    ]


@setting("tune")
def tuned() -> Any:
    paper: dict[str, Any] = {"strategy": Paper(), "scale": "range", "schema": Schema(step=0)}
    tuning = tune(wavy, NUMBERS, INPUTS, betas=[0, 0.5], gammas=[0.1, None], **paper)
    return tuning.table.drop(columns="seconds"), dict(tuning.recommended.drop("seconds"))


def reproduced(as_published: bool) -> Callable[[], Any]:
    """Run the paper's tuning of one dataset with a network that is trained here."""

    def run() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            X = DIABETES.X.to_numpy(dtype=float)
            X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
            network = MLPClassifier((20, 10), max_iter=60, random_state=0).fit(X, DIABETES.y)
            layers = list(zip(network.coefs_, network.intercepts_, strict=True))
            weights, bias = layers[-1]
            layers[-1] = np.hstack([-weights, weights]), np.append(-bias, bias)
            arrays = {f"W{i}": layer[0] for i, layer in enumerate(layers)}
            arrays |= {f"b{i}": layer[1] for i, layer in enumerate(layers)}
            np.savez(path / "diabetes.npz", **arrays)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                report = reproduce(
                    Experiment(as_published, path),
                    path / "out",
                    datasets=("diabetes",),
                    tables=("final", "tuning"),
                    norms=(1, 2),
                )
            return report.summary.drop(columns=["time_s", "error"])

    return run


SETTINGS["reproduce, the paper's definitions"] = reproduced(as_published=False)
SETTINGS["reproduce, as published"] = reproduced(as_published=True)


# Digests ------------------------------------------------------------------------------------------


def parts_of(result: Any) -> Any:
    """Return the parts of a result that are to be recorded; None for a single value."""
    if isinstance(result, Explanations):
        # The options alone: inputs without one, and their status, are told by the explanations.
        frame = result._take(np.flatnonzero(result.counts)).to_frame()
        if isinstance(frame, pd.DataFrame):
            return [frame.iloc[:, :-1], *result]
        names = list(getattr(frame, "column_names", None) or frame.columns)
        return [frame.select(names[:-1]), *result]
    if isinstance(result, Explanation):
        certificate = result.certificate
        told = [result.label, result.labels, result.distances, result.examples, result.changed]
        told += [result.plausibility, result.counterfactuals, result.input]
        if certificate is not None:
            told += [certificate.stable_radius, certificate.safety, certificate.distance_bounds]
        return told
    if isinstance(result, counterset.exact.DistanceBounds):
        return [result.lower, result.upper, result.exact, result.witness]
    if isinstance(result, pd.DataFrame):
        return [list(map(str, result.columns)), *(result[column] for column in result)]
    if isinstance(result, Mapping):
        return list(result.items())
    if isinstance(result, pd.Series | np.ndarray):
        return result.tolist()
    return None if isinstance(result, str) or not isinstance(result, Iterable) else list(result)


def numbers_of(result: Any) -> Any:
    """Return all numbers and labels of a result as nested lists, floats as exact text."""
    parts = parts_of(result)
    if parts is not None:
        return [numbers_of(part) for part in parts]
    if isinstance(result, float | np.floating):
        return float(result).hex()
    return str(result.item() if isinstance(result, np.generic) else result)


def digest(result: Any) -> str:
    """Return a short digest of all numbers of a result."""
    text = json.dumps(numbers_of(result))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main() -> int:
    """Run the settings, write their digests, and compare them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path, help="where to write the digests, as JSON")
    parser.add_argument("--compare", type=Path, help="digests to compare with")
    parser.add_argument("--only", default="", help="settings whose name holds this text")
    arguments = parser.parse_args()
    found: dict[str, str] = {}
    for name, run in SETTINGS.items():
        if arguments.only in name:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = digest(run())
            sys.stderr.write(f"{found[name]}  {name}\n")
    arguments.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if arguments.compare is None:
        return 0
    before = json.loads(arguments.compare.read_text(encoding="utf-8"))
    different = [name for name in found if before.get(name) != found[name]]
    sys.stdout.write(f"{len(found)} settings, {len(different)} differ.\n")
    sys.stdout.writelines(f"  {name}\n" for name in different)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
