"""Tables as they come from files, with the default settings: no value is rounded or lost."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.literal_checker import (
    Column,
    Row,
    broken,
    is_missing,
    kept,
    records,
    same,
    strange_values,
)
from support.sentences import Reader, as_cell, false_verbs
from support.settings import explainer_by_steps
from support.ugly_tables import (
    CLASSIFIERS,
    Encoded,
    UglyTable,
    adult,
    build,
    consumer_credit,
    every_kind,
    fitted,
    home_credit,
    ugly_tables,
)

from counterset import (
    CountersetWarning,
    DiverseExplainer,
    Explanation,
    Explanations,
    FewerCounterfactualsWarning,
    Schema,
    evaluate,
)
from counterset.evaluation import GaussianNoise, stability

FIXED = {
    "consumer credit": consumer_credit,
    "home credit": home_credit,
    "adult": adult,
    "every kind": every_kind,
}


class Recorder:
    """Ask a model, and keep the tables that it was asked about."""

    def __init__(self, model: Any) -> None:
        self.model, self.asked = model, list[pd.DataFrame]()

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        self.asked.append(rows.copy())
        return np.asarray(self.model.predict(rows))


def fit(model: Any, table: UglyTable, **more: Any) -> DiverseExplainer:
    explainer = explainer_by_steps(model, schema=table.schema, max_counterfactuals=3, **more)
    with warnings.catch_warnings():  # fit warns of ugly columns: see the tests of that
        warnings.simplefilter("ignore", CountersetWarning)
        return explainer.fit(table.X)


def explain(explainer: DiverseExplainer, rows: pd.DataFrame) -> Explanations:
    return explainer.explain_many(rows, if_none="ignore")


@st.composite
def cases(draw: st.DrawFn) -> tuple[UglyTable, Encoded]:
    """Draw a table, and a model of two classes for it."""
    table = draw(ugly_tables())
    model = fitted(draw(st.sampled_from(sorted(CLASSIFIERS))), table.X, draw(st.integers(0, 99)))
    assume(len(set(model.predict(table.X))) > 1)
    return table, model


settings_drawn = st.sampled_from([{}, {}, {"regions": 2}, {"regions": "auto"}, {"sparse": False}])


@settings(max_examples=30)
@given(cases(), settings_drawn)
def test_training_rows_keep_their_values_and_the_labels_of_the_model(
    case: tuple[UglyTable, Encoded], more: dict[str, Any]
) -> None:
    # Rows used to be rounded to learned steps first: in a column of ratios and amounts, all ratios
    # became 0 or 1, and up to one row in five got another label.
    table, model = case
    recorder = Recorder(model)
    explainer = fit(recorder, table, **more)
    pd.testing.assert_frame_equal(
        recorder.asked[0].reset_index(drop=True), table.X, check_exact=True
    )
    labels = model.predict(table.X)
    np.testing.assert_array_equal(explainer.classes_, np.unique(labels))
    training = explain(explainer, table.X.iloc[:1]).context.training
    assert training is not None
    values, counts = np.unique(labels, return_counts=True)
    assert training.value.labels == dict(zip(values.tolist(), counts.tolist(), strict=True))


@given(cases(), settings_drawn, st.integers(0, 29))
def test_options_are_what_the_model_says_and_hold_no_code_that_the_input_had_not(
    case: tuple[UglyTable, Encoded], more: dict[str, Any], at: int
) -> None:
    table, model = case
    rows = table.X.iloc[[at, (at + 7) % 30]]
    check_options(table, model, explain(fit(model, table, **more), rows), rows)


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("classifier", ["tree", "logistic"])
def test_options_for_rows_of_raw_tables_are_what_the_model_says(name: str, classifier: str) -> None:
    table = FIXED[name]()
    model = fitted(classifier, table.X)
    anchors = 3 if classifier == "tree" else None
    rows = table.X.iloc[:8]
    explanations = explain(fit(model, table, regions=anchors), rows)
    check_options(table, model, explanations, rows)
    assert (explanations.counts > 0).mean() > 0.8


def check_options(
    table: UglyTable, model: Encoded, explanations: Explanations, rows: pd.DataFrame
) -> None:
    """Check options cell by cell, and ask the model about them row by row."""
    training = records(table.X)
    for explanation, x in zip(explanations, records(rows), strict=True):
        frame = explanation.counterfactuals
        pd.testing.assert_series_equal(frame.dtypes, table.X.dtypes)
        for i, c in enumerate(records(frame)):
            label = model.predict(frame.iloc[[i]])[0]
            assert label == explanation.labels[i]
            assert label != explanation.label
            assert broken({}, table.columns, training, x, c) == []
            assert strange_values({}, table.columns, table.X, x, c) == []


@settings(max_examples=25)
@given(cases(), st.integers(0, 29))
def test_without_a_search_options_are_training_rows_as_they_are(
    case: tuple[UglyTable, Encoded], at: int
) -> None:
    table, model = case
    explainer = fit(model, table, search=None, sparse=False)
    explanation = explain(explainer, table.X.iloc[[at]])[0]
    x, training = records(table.X.iloc[[at]])[0], records(table.X)
    labels = model.predict(table.X)
    for c, example, label in zip(
        records(explanation.counterfactuals),
        explanation.examples.tolist(),
        explanation.labels.tolist(),
        strict=True,
    ):
        row = training[example]
        for column in table.columns:
            # What the row does not know stays as the input has it.
            assert kept(column, row if column.is_known(row) else x, c)
        if all(column.is_known(row) for column in table.columns):
            assert label == labels[example]


# --- Printed values ------------------------------------------------------------------------------


@settings(max_examples=30)
@given(cases(), settings_drawn, st.integers(0, 29))
def test_printed_values_typed_back_are_the_row_that_the_model_was_asked_about(
    case: tuple[UglyTable, Encoded], more: dict[str, Any], at: int
) -> None:
    table, model = case
    explanation = explain(fit(model, table, **more), table.X.iloc[[at]])[0]
    check_printed(table, explanation, records(table.X.iloc[[at]])[0])


@pytest.mark.parametrize("name", ["adult", "every kind"])
def test_printed_values_of_raw_tables_typed_back_are_the_rows(name: str) -> None:
    table = FIXED[name](200)
    explainer = fit(fitted("boosting", table.X), table)
    for explanation, x in zip(
        explain(explainer, table.X.iloc[:6]), records(table.X.iloc[:6]), strict=True
    ):
        check_printed(table, explanation, x)


def check_printed(table: UglyTable, explanation: Explanation, x: Row) -> None:
    """Type in what the description, the letter, the table of changes and the JSON show."""
    reader, options = Reader(table.columns), records(explanation.counterfactuals)
    told = reader.options(explanation.describe(width=None))
    in_letter = reader.options_in_letter(explanation.letter(width=None))
    in_json = json.loads(explanation.to_json())["options"]
    again = Explanation.from_json(explanation.to_json())
    pd.testing.assert_frame_equal(
        again.counterfactuals, explanation.counterfactuals, check_exact=True
    )
    assert len(told) == len(in_letter) == len(in_json) == len(options)
    for i, c in enumerate(options):
        changed = [column for column in table.columns if not kept(column, x, c)]
        for changes in (told[i], in_letter[i]):
            assert [change.column for change in changes if change.column not in changed] == []
            assert len(changes) == len(changed)
            typed = reader.apply(changes, x, c)
            assert [n for n in typed if not same(typed[n], c[n])] == [], f"{changes} for {c}"
            assert false_verbs(reader, changes, x, c) == []
        for column in table.columns:
            cell = column.cell(c)
            shown = in_json[i]["values"][column.name]
            assert same(typed_in(shown, cell), cell), f"{shown!r} in JSON for {cell!r}"
            if column in changed:
                shown = explanation.changes.loc[column.name, i + 1]
                assert same(typed_in(shown, cell), cell), f"{shown!r} in the table for {cell!r}"
        after = {each["name"]: each["after"] for each in in_json[i]["changes"]}
        assert {column.name for column in changed} == set(after)
        for column in changed:
            shown, cell = after[column.name], column.cell(c)
            assert same(typed_in(shown, cell), cell), f"{shown!r} in a change for {cell!r}"


def typed_in(shown: Any, cell: Any) -> Any:
    """Return a value of a table or of JSON as a cell of the training data."""
    if shown is None or (isinstance(shown, str) and shown == "missing"):
        return None
    if isinstance(shown, dict):
        shown = shown["value"]
    return None if is_missing(cell) else as_cell(str(shown), cell)


# --- Noise ---------------------------------------------------------------------------------------


def measure(explainer: DiverseExplainer, rows: pd.DataFrame, repeats: int) -> pd.DataFrame:
    with warnings.catch_warnings():  # fewer options than asked for are no matter here
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        return evaluate(explainer, rows, repeats=repeats)


#: Of the paper's noise, on a scale on which a feature spans 1.
DEVIATION = np.sqrt(GaussianNoise().variance)


@pytest.mark.parametrize("name", FIXED)
def test_copies_are_as_near_as_the_noise_says_on_the_scale_of_the_explainer(name: str) -> None:
    # A deviation of 0.028 of the whole range, where outliers stretch it 50,000 times, used to move
    # copies hundreds of times as far as the nearest option is.
    table = FIXED[name]()
    explainer = fit(fitted("logistic", table.X), table)
    measured = measure(explainer, table.X.iloc[10:26], 3)
    numbers = sum(not c.switches and not c.is_one_hot and c.order is None for c in table.columns)
    moved = measured["input_distance"].dropna()
    assert len(moved) > 30
    # The mean of |N(0, s)| is 0.8 s. Whole numbers are rounded, which at most doubles a move.
    assert moved.mean() < numbers * DEVIATION
    assert moved.max() < 10 * numbers * DEVIATION
    # 4 deviations in every number is about as far as an option: not hundreds of times.
    assert moved.mean() < 2 * measured["k_distance"].mean()


@settings(max_examples=20)
@given(cases(), st.integers(0, 29))
def test_copies_of_a_row_of_any_table_stay_near_it(
    case: tuple[UglyTable, Encoded], at: int
) -> None:
    table, model = case
    explainer = fit(model, table)
    measured = measure(explainer, table.X.iloc[[at]], 4)
    moved = measured["input_distance"].dropna()
    assert (moved < 10 * len(table.columns) * DEVIATION).all()


def test_copies_of_an_input_beyond_the_training_range_stay_near_it() -> None:
    table = build(["uniform", "lognormal", "count"], 80, 0)
    explainer = fit(fitted("logistic", table.X), table)
    far = table.X.iloc[[0]].assign(lognormal=table.X["lognormal"].max() * 3, count=99)
    measured = measure(explainer, far, 5)
    assert measured["input_distance"].max() < 10 * 3 * DEVIATION


def test_stability_of_a_raw_row_is_measured_on_near_copies() -> None:
    table = consumer_credit()
    explainer = fit(fitted("tree", table.X), table)
    explanation = explain(explainer, table.X.iloc[[4]])[0]
    measured = stability(explainer, explanation, repeats=10)
    assert measured.moved < 10 * len(table.columns) * DEVIATION


# --- Codes that nobody declared ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "coded"),
    [
        (consumer_credit, ["Late30-59Days", "Late90Days"]),
        (home_credit, ["ExternalRisk", "MonthsSinceLate", "InstallBurden"]),
        (adult, ["capital-gain"]),
    ],
)
def test_fit_warns_of_values_that_look_like_codes(make: Any, coded: list[str]) -> None:
    table = make(1000)
    model = fitted("tree", table.X)
    with pytest.warns(CountersetWarning) as caught:
        DiverseExplainer(model).fit(table.X)
    said = " ".join(str(each.message) for each in caught)
    assert [name for name in coded if name not in said] == []
    assert "special" in said


def test_fit_does_not_warn_of_codes_that_are_declared() -> None:
    table = home_credit()
    with warnings.catch_warnings():
        warnings.simplefilter("error", CountersetWarning)
        DiverseExplainer(fitted("tree", table.X), schema=table.schema).fit(table.X)


def test_fit_does_not_warn_of_ordinary_columns() -> None:
    table = build(["uniform", "count", "whole_float", "level", "colour", "since", "job"], 200, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CountersetWarning)
        DiverseExplainer(fitted("tree", table.X), schema=table.schema).fit(table.X)


def test_options_are_right_where_codes_are_not_declared() -> None:
    for make in (consumer_credit, home_credit, adult):
        table = make()
        plain = UglyTable(
            table.X,
            tuple(Column(c.name, c.columns, c.order, (), c.switches) for c in table.columns),
            Schema(),
        )
        model = fitted("tree", plain.X)
        rows = plain.X.iloc[:6]
        check_options(plain, model, explain(fit(model, plain), rows), rows)


def test_a_word_that_the_training_data_never_had_is_refused_or_kept() -> None:
    # The dtype knows "black", though no training row has it.
    table = build(["uniform", "shade", "count"], 80, 3)
    model = fitted("tree", table.X)
    rows = table.X.iloc[:4].copy()
    rows.loc[:, "shade"] = "black"
    explanations = explain(fit(model, table), rows)
    for explanation, x in zip(explanations, records(rows), strict=True):
        for i, c in enumerate(records(explanation.counterfactuals)):
            assert model.predict(explanation.counterfactuals.iloc[[i]])[0] != explanation.label
            assert kept(table.columns[1], x, c) or c["shade"] in set(table.X["shade"])
