"""What is printed is what was returned is what was asked, in the units that people use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from support.settings import explainer_by_steps

from counterset import (
    Constraints,
    DiverseExplainer,
    Explanation,
    InvalidInputError,
    LineSearch,
    Schema,
)
from counterset.exceptions import UnsupportedDistanceError

# How many ways there are is not looked at here.
pytestmark = pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")

RANDOM = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "income": np.round(RANDOM.lognormal(8, 0.6, 400), 2),
        "children": np.where(RANDOM.random(400) < 0.05, np.nan, RANDOM.integers(0, 5, 400)),
        "owner": RANDOM.integers(0, 2, 400).astype(float),
        "rate": RANDOM.uniform(0, 0.2, 400).astype("float32"),
        "months_since_delay": RANDOM.choice([-9, -8, 0, 3, 7, 12, 24, 36], 400),
    }
)
SPECIAL = Schema(special={"months_since_delay": [-9, -8]})


def lend(rows: pd.DataFrame) -> Any:
    """A model that reads the codes as they are meant."""
    delay = rows["months_since_delay"].to_numpy(dtype=float)
    known = np.where(delay < 0, 20, delay)
    score = (
        rows["income"].to_numpy(dtype=float) / 2000
        - rows["children"].fillna(2).to_numpy(dtype=float) / 2
        + rows["owner"].to_numpy(dtype=float)
        - 8 * rows["rate"].to_numpy(dtype=float)
        + known / 24
    )
    return np.where(score > 1.8, "yes", "no")


def frame_of(explanation: Explanation) -> pd.DataFrame:
    assert isinstance(explanation.counterfactuals, pd.DataFrame)
    return explanation.counterfactuals


def typed_in(explanation: Explanation) -> list[pd.DataFrame]:
    """Read the printed options back: each as a row with the printed text in place of the input."""
    lines = [line.split() for line in repr(explanation).splitlines()[2:]]
    cells = {name: texts for name, *texts in lines}
    options = []
    for option in range(len(explanation)):
        row = pd.Series(explanation.input)
        for name in set(cells) & set(row.index):
            text = cells[name][option + 1].replace(",", "")
            if text != "·":
                row[name] = float(text)
        options.append(row.to_frame().T.astype(PEOPLE.dtypes))
    return options


@pytest.fixture(scope="module")
def explainer() -> DiverseExplainer:
    return DiverseExplainer(lend, schema=SPECIAL, max_counterfactuals=3).fit(PEOPLE)


@settings(max_examples=30)
@given(st.integers(0, len(PEOPLE) - 1), st.sampled_from(["steps", "no steps"]))
def test_printed_options_flip_the_model_when_they_are_typed_in(
    explainer: DiverseExplainer, at: int, how: str
) -> None:
    if how == "no steps":
        schema = Schema(special={"months_since_delay": [-9, -8]}, step=0)
        explainer = DiverseExplainer(lend, schema=schema, max_counterfactuals=2).fit(PEOPLE)
    explanation = explainer.explain(PEOPLE.iloc[at])
    typed = pd.concat(typed_in(explanation), ignore_index=True)
    pd.testing.assert_frame_equal(
        typed, frame_of(explanation).reset_index(drop=True), check_exact=True
    )
    assert (lend(typed) != explanation.label).all()


def test_answers_are_multiples_of_the_steps_or_the_inputs_own(explainer: DiverseExplainer) -> None:
    steps = {each.name: each.step for each in explainer.training_.table.features}
    assert steps == {
        "income": 100,
        "children": 1,
        "owner": 1,
        "rate": pytest.approx(0.001),
        "months_since_delay": 1,
    }
    for explanation in explainer.explain_many(PEOPLE.iloc[:100]):
        rows, own = frame_of(explanation), explanation.input
        for name, step in steps.items():
            values = rows[name].to_numpy(dtype=float)
            on_grid = np.abs(values / step - np.rint(values / step)) < 1e-4
            kept = (values == own[name]) | np.isnan(values)
            assert (on_grid | kept).all()
        assert set(rows["owner"]) <= {0.0, 1.0}
        children = rows["children"].dropna()
        assert (children % 1 == 0).all()


def test_special_codes_are_kept_or_become_numbers_and_are_never_moved_into(
    explainer: DiverseExplainer,
) -> None:
    delays = PEOPLE["months_since_delay"]
    for explanation in explainer.explain_many(PEOPLE.iloc[:200]):
        own = explanation.input["months_since_delay"]
        moved = frame_of(explanation)["months_since_delay"]
        assert ((moved == own) | (moved >= 0)).all()
    feature = explainer.training_.table.features[-1]
    assert (feature.low, feature.high) == (0, delays.max())
    assert "special -9, -8" in str(feature)


def test_special_codes_do_not_count_as_numbers_in_the_distance(
    explainer: DiverseExplainer,
) -> None:
    rows = PEOPLE.iloc[[0, 0, 0, 0]].copy()
    rows["months_since_delay"] = [-9, -8, 0, 36]
    between = explainer.distance_(rows, rows)
    assert between[2, 3] == pytest.approx(1)
    # From a code to a number: one for the state, and the way from the median.
    assert between[0, 2] == between[1, 2] > 1
    assert between[0, 1] == 2  # from one state to the other


def test_constraints_take_special_codes_for_missing() -> None:
    constraints = Constraints(
        increase_only=["months_since_delay"],
        ranges={"months_since_delay": (0, 24)},
        immutable=["owner", "rate"],
    )
    explainer = DiverseExplainer(
        lend, schema=SPECIAL, constraints=constraints, max_counterfactuals=2
    ).fit(PEOPLE)
    rows = PEOPLE[lend(PEOPLE) == "no"].iloc[:60]
    for explanation in explainer.explain_many(rows, if_none="warn"):
        own = explanation.input["months_since_delay"]
        moved = frame_of(explanation)["months_since_delay"]
        if own < 0:
            assert ((moved == own) | moved.between(0, 24)).all()
        else:
            assert (moved >= own).all()


def test_the_inputs_own_value_stays_though_no_step_holds_it() -> None:
    X = np.round(np.random.default_rng(0).random((200, 2)) * 100)
    explainer = DiverseExplainer(lambda rows: rows.sum(axis=1) > 100, max_counterfactuals=2).fit(X)
    explanation = explainer.explain([12.3456, 20.0])
    assert explanation.input.tolist() == [12.3456, 20.0]
    assert 12.3456 in explanation.values[:, 0]


def test_a_declared_step_and_allowed_values_off_it_hold() -> None:
    X = np.random.default_rng(0).random((300, 2)) * 1000
    explainer = DiverseExplainer(
        lambda rows: rows.sum(axis=1) > 1000,
        schema=Schema(step={"x0": 250, "x1": 0}),
        max_counterfactuals=2,
    ).fit(X)
    values = explainer.explain([130.5, 330.25]).values
    assert all(value == 130.5 or value % 250 == 0 for value in values[:, 0])
    allowed = Constraints(allowed={"x0": [333.3, 987.6]}, immutable=["x1"])
    only = explainer.explain([130.5, 330.25], constraints=allowed)
    assert only.values.tolist() == [[987.6, 330.25]]


@given(st.data())
def test_ranges_and_moves_that_no_step_fits_into_are_kept(data: st.DataObject) -> None:
    low = data.draw(st.floats(0, 700))
    width = data.draw(st.floats(1, 300))
    most = data.draw(st.floats(1, 500))
    X = np.random.default_rng(0).random((100, 2)) * 1000
    explainer = explainer_by_steps(
        lambda rows: rows.sum(axis=1) > 1000,
        schema=Schema(step={"x0": 100, "x1": 100}),
        search=LineSearch(0.01),
        max_counterfactuals=2,
    ).fit(X)
    x = np.array([data.draw(st.floats(0, 480)), data.draw(st.floats(0, 480))])
    constraints = Constraints(ranges={"x0": (low, low + width)}, max_increase={"x1": most})
    (explanation,) = explainer.explain_many([x], constraints=constraints, if_none="warn")
    for first, second in explanation.values:
        assert low <= first <= low + width
        assert second - x[1] <= most
        assert first + second > 1000


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"step": {"a": -1}}, r"step\['a'\] must be a number of at least 0, got -1"),
        ({"step": {"a": "much"}}, r"step\['a'\] must be a number of at least 0"),
        ({"step": 5}, "step takes a mapping from names to numbers"),
        ({"special": {"a": "x"}}, r"special\['a'\] takes a list"),
        ({"special": {"a": ["x"]}}, r"special\['a'\] must be a finite number, got 'x'"),
        ({"special": ["x"]}, "A code in special must be a finite number, got 'x'"),
    ],
)
def test_wrong_steps_and_codes_are_refused(schema: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Schema(**schema)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (Schema(step={"town": 1}), r"step\['town'\] is for numbers, but 'town' is categorical"),
        (Schema(step={"day": 1}), r"step\['day'\] is for numbers, but 'day' is a time"),
        (Schema(special={"town": [1]}), r"special\['town'\] is for numbers"),
        (Schema(step={"b": 1}), "unknown columns"),
        (Schema(special={"b": [1]}), "unknown columns"),
        (Schema(step={"n": 0.5}), "takes whole numbers only"),
    ],
)
def test_steps_and_codes_that_do_not_fit_the_data_are_refused(schema: Schema, message: str) -> None:
    frame = pd.DataFrame(
        {
            "a": [0.5, 1.5, 2.5],
            "n": [1, 2, 3],
            "town": ["x", "y", "z"],
            "day": pd.to_datetime(["2020-01-01", "2020-02-01", "2020-03-01"]),
        }
    )
    with pytest.raises(InvalidInputError, match=message):
        DiverseExplainer(lambda rows: rows["a"] > 1, schema=schema).fit(frame)


def test_the_schema_says_what_was_inferred() -> None:
    explainer = DiverseExplainer(lend, schema=SPECIAL).fit(PEOPLE)
    lines = {line.split()[0]: line for line in repr(explainer.schema_).splitlines()[1:]}
    assert "in steps of 100" in lines["income"]
    assert "integer" in lines["children"]
    assert "held as float64" in lines["children"]
    assert "binary" in lines["owner"]
    assert "in steps of 0.001" in lines["rate"]


def test_one_step_of_0_switches_all_off() -> None:
    explainer = DiverseExplainer(lend, schema=Schema(step=0)).fit(PEOPLE)
    kinds = [feature.kind for feature in explainer.training_.table.features]
    assert kinds == ["continuous"] * 4 + ["integer"]
    assert [feature.step for feature in explainer.training_.table.features] == [0, 0, 0, 0, 1]


def test_exact_distances_take_no_special_code_for_a_number() -> None:
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.choice([-9, 0, 5, 30], 200), "b": random.random(200) * 100})
    model = LogisticRegression().fit(X, X["b"] > 50)
    outside = DiverseExplainer(model, schema=Schema(special={"a": [-9]}), max_counterfactuals=1)
    outside.fit(X)
    certified = outside.certify(outside.explain({"a": 5, "b": 20.0}), epsilon=0.5)
    assert certified.certificate is not None
    assert certified.certificate.distance_bounds is not None
    assert certified.certificate.distance_bounds.exact
    with pytest.raises(UnsupportedDistanceError, match="no value for"):
        outside.certify(outside.explain({"a": -9, "b": 20.0}), epsilon=0.5)
    between = DiverseExplainer(model, schema=Schema(special={"a": [5]}), max_counterfactuals=1)
    between.fit(X)
    with pytest.raises(UnsupportedDistanceError, match="lie between their numbers"):
        between.certify(between.explain({"a": 0, "b": 20.0}), epsilon=0.5)
