"""Looking further for inputs that have nothing."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from support.toys import Recorder

from counterset import Constraints, DiverseExplainer, Explanations, NoCounterfactualError, Schema

pytestmark = pytest.mark.filterwarnings("ignore::counterset.exceptions.UnsuitableScaleWarning")
#: The codes 98 are taken for numbers here: random rows have them too.
SCHEMA = Schema(integer=["late_30", "late_90"])
CONSTRAINTS = Constraints(
    immutable=["age"],
    decrease_only=["use", "debt"],
    increase_only=["late_30", "late_90"],
    ranges={"lines": (0, 30)},
    max_increase={"income": 1500},
)


def heavy_tails(seed: int, n: int = 4000) -> tuple[pd.DataFrame, Any]:
    """Make a table of consumer credit as it comes: heavy tails, codes 98, missing incomes."""
    rng = np.random.default_rng(seed)
    risk = rng.normal(size=n)
    late_30, late_90 = rng.poisson(np.exp(0.7 * risk - 1.7)), rng.poisson(np.exp(risk - 2.7))
    coded = rng.random(n) < 0.005
    late_30[coded] = late_90[coded] = 98
    frame = pd.DataFrame(
        {
            "use": np.where(
                rng.random(n) < 0.02,
                rng.lognormal(6, 1.2, n),
                np.clip(rng.beta(0.6, 1.4, n) + 0.2 * risk, 0, 1.3),
            ).round(2),
            "age": np.clip(rng.normal(52 - 3 * risk, 14), 21, 99).round(),
            "late_30": late_30.astype(float),
            "debt": rng.lognormal(0.2 * risk - 1, 1.3, n).round(2),
            "income": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(8.6, 0.7, n).round(-2)),
            "lines": rng.poisson(8, n).astype(float),
            "late_90": late_90.astype(float),
        }
    )
    score = 1.5 * frame["use"].clip(upper=1.5) + 0.5 * late_30.clip(max=5)
    score += 0.9 * late_90.clip(max=4) - 0.03 * (frame["age"] - 50) + 0.2 * (frame["debt"] > 1)
    bad = rng.random(n) < 1 / (1 + np.exp(2 - score))
    model = HistGradientBoostingClassifier(max_iter=40, random_state=0, class_weight="balanced")
    return frame, model.fit(frame, np.where(bad, "bad", "good"))


@cache
def explained(
    seed: int,
) -> tuple[pd.DataFrame, Any, DiverseExplainer, pd.DataFrame, Explanations]:
    """Explain 150 people who were declined."""
    frame, model = heavy_tails(seed)
    explainer = DiverseExplainer(model, schema=SCHEMA, constraints=CONSTRAINTS)
    people = frame[model.predict(frame) == "bad"][:150]
    return (
        frame,
        model,
        explainer,
        people,
        explainer.fit(frame).explain_many(people, if_none="ignore"),
    )


def random_rows(x: pd.Series, frame: pd.DataFrame, count: int) -> pd.DataFrame:
    """Draw rows within the constraints, the simple way: each value from the training column."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({name: np.full(count, x[name]) for name in frame.columns})
    share = rng.random(count)
    for name in map(str, frame.columns.drop("age")):
        drawn = rng.choice(frame[name].dropna().to_numpy(), count)
        allowed = {
            "lines": drawn <= 30,
            "income": ~(drawn > x["income"] + 1500),
        }.get(name, ~(drawn > x[name]) if name in ("use", "debt") else ~(drawn < x[name]))
        rows[name] = np.where((rng.random(count) < share) & allowed, drawn, rows[name])
    return rows


@pytest.mark.parametrize("seed", [3, 7])
def test_nobody_has_nothing_for_whom_20_000_random_rows_find_an_option(seed: int) -> None:
    # Constraints were applied after the cut to the nearest 1000 candidates, and that was all.
    frame, model, _, people, found = explained(seed)
    nobody = np.flatnonzero(found.counts == 0)
    assert 0 < len(nobody) < 40
    for i in nobody:
        tried = random_rows(people.iloc[i], frame, 20_000)
        assert not (model.predict(tried) == "good").any()


def test_what_is_found_further_keeps_the_constraints_and_does_not_depend_on_the_batch() -> None:
    rng = np.random.default_rng(0)
    a = rng.random(300).round(2)
    frame = pd.DataFrame({"a": a, "b": (1 - a).round(2), "c": rng.random(300).round(2)})

    def model(rows: pd.DataFrame) -> Any:
        # No training row has high values of both.
        return (rows["c"] > 0.9) | ((rows["a"] > 0.6) & (rows["b"] > 0.6))

    constraints = Constraints(immutable=["c"], increase_only=["a"])
    explainer = DiverseExplainer(model, constraints=constraints, max_counterfactuals=1).fit(frame)
    people = frame[~model(frame)][:30]
    found = explainer.explain_many(people, if_none="ignore")
    assert found.counts.all()
    assert sum(one.examples.tolist() == [-1] for one in found) > 10
    for one in found:
        x, rows = people.loc[one.index], pd.DataFrame(one.counterfactuals)
        assert model(rows).all()
        assert (rows["c"] == x["c"]).all()
        assert (rows["a"] >= x["a"]).all()
        (alone,) = explainer.explain_many(people.loc[[one.index]], if_none="ignore")
        pd.testing.assert_frame_equal(rows, pd.DataFrame(alone.counterfactuals))
        # No single change can be undone.
        for row in rows.to_dict("records"):
            for name in frame:
                if row[name] != x[name] and sum(row[each] != x[each] for each in frame) > 1:
                    assert not model(pd.DataFrame([row | {name: x[name]}]))[0]


def test_a_value_that_only_the_constraints_name_is_tried() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(300).round(2), "b": rng.random(300).round(2)})

    def model(rows: pd.DataFrame) -> Any:
        return (rows["a"] > 0.5) | (rows["b"] >= 3)

    explainer = DiverseExplainer(model, max_counterfactuals=1).fit(frame)
    low = frame[frame["a"] < 0.3].iloc[0]
    only_b = Constraints(immutable=["a"], ranges={"b": (0, 4)})
    assert explainer.explain(low, constraints=only_b).values[0, 1] == 3
    with pytest.raises(NoCounterfactualError):
        explainer.explain(low, constraints=Constraints(immutable=["a"]))


def test_only_inputs_that_have_nothing_are_asked_about_further() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((300, 3)).round(2), columns=list("abc"))
    model = Recorder(lambda rows: rows["a"] > 0.5)
    explainer = DiverseExplainer(model, max_counterfactuals=1).fit(frame)
    rows = frame[frame["a"] < 0.3].iloc[:2]
    stuck = Constraints(immutable=["a"])
    free = explainer.explain_many(rows, constraints=[None, None], if_none="ignore")
    mixed = explainer.explain_many(rows, constraints=[None, stuck], if_none="ignore")
    assert mixed.counts.tolist() == [1, 0]
    assert free.model_rows < 2000
    assert 2000 < mixed.model_rows < 35_000
    np.testing.assert_array_equal(mixed[0].values, free[0].values)


def without(text: str) -> Constraints:
    """Return the constraints without one, given as a message names it."""
    kept: dict[str, Any] = {
        each.name: getattr(CONSTRAINTS, each.name) for each in fields(CONSTRAINTS)
    }
    found = re.fullmatch(r"(\w+)(?: |\[)'(\w+)'\]?", text)
    assert found is not None
    parameter, name = found.groups()
    left = kept[parameter]
    kept[parameter] = (
        {key: value for key, value in left.items() if key != name}
        if isinstance(left, dict)
        else [each for each in left if each != name]
    )
    return Constraints(**kept)


def test_without_a_constraint_that_is_named_there_is_an_option() -> None:
    # The last one in the order of the rules used to be named, whether it mattered or not.
    _, _, explainer, people, found = explained(3)
    assert len(found.why_none) > 5
    checked = 0
    for i, reason in found.why_none.items():
        assert "plausibility" not in reason
        assert "candidates=" not in reason
        named = re.search(r"constraints? (.*) rules out all", reason)
        for text in [] if named is None else named.group(1).split("; "):
            looser = explainer.explain_many(
                people.iloc[[i]], constraints=without(text), if_none="ignore"
            )
            assert looser.counts[0] > 0
            checked += 1
    assert checked > 5
