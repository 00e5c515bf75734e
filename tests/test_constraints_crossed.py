"""Every constraint, on a column of every kind, kept by every way to choose options.

What is returned is judged by ``literal_checker``, which shares no code with the library.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.literal_checker import Column, broken, records, same_row, strange_values
from support.settings import explainer_by_steps, paper_by_steps
from support.ugly_tables import COLUMNS, NUMBERS, ORDERED, UglyTable, build, numbers_of

from counterset import (
    Constraints,
    CountersetWarning,
    DistanceDiversity,
    DiverseExplainer,
    Explanation,
    Explanations,
    FeatureDiversity,
    NearData,
    Schema,
    Shared,
)

#: What every table has beside the column in question: a number, a count and a word.
PARTNERS = ("uniform", "count", "colour")
#: A column that never changes has nothing to constrain.
CROSSED = tuple(name for name in COLUMNS if "constant" not in name)

STRATEGIES: dict[str, dict[str, Any]] = {
    "default": {},
    "not sparse": {"sparse": False},
    "paper": {"paper": True},
    "paper, sparse": {"paper": True, "sparse": True},
    "shared lists": {"strategy": Shared(own=0, regions=2)},
    "own and shared": {"strategy": Shared(own=2, regions=2)},
    "feature diversity": {"diversity": FeatureDiversity()},
    "distance diversity": {"diversity": DistanceDiversity(0.1)},
    "near data": {"plausibility": NearData(3, 0.9)},
    "training rows": {"search": None, "sparse": False},
}


@dataclass
class Sum:
    """Classify by a sum over the columns: numbers by how far they are from the median."""

    X: pd.DataFrame

    def __post_init__(self) -> None:
        self.words = {
            name: list(dict.fromkeys(self.X[name].dropna()))
            for name in self.X
            if COLUMNS.get(str(name), COLUMNS["job"]).switches
        }
        self.middle, self.width = {}, {}
        for name in self.X:
            if name not in self.words:
                values = numbers_of(self.X[name])
                low, self.middle[name], high = np.nanquantile(values, [0.2, 0.5, 0.8])
                self.width[name] = (high - low) or 1.0
        self.cut = float(np.quantile(self.score(self.X), 0.55))

    def score(self, rows: pd.DataFrame) -> np.ndarray:
        total = np.zeros(len(rows))
        for i, name in enumerate(rows):
            if name in self.words:
                codes = rows[name].map({word: k for k, word in enumerate(self.words[name])})
                part = pd.Series(codes).astype("Float64").to_numpy(np.float64, na_value=0.5)
            else:
                part = (numbers_of(rows[name]) - self.middle[name]) / self.width[name]
                part = np.clip(np.where(np.isnan(part), 0.2, part), -3, 3)
            total += (1.0, 0.6, -0.8, 0.7)[i % 4] * part
        return total

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        pd.testing.assert_series_equal(rows.dtypes, self.X.dtypes)
        return np.where(self.score(rows) > self.cut, "yes", "no")


def explainer_of(
    table: UglyTable, strategy: dict[str, Any], **more: Any
) -> tuple[Sum, DiverseExplainer]:
    model, schema = Sum(table.X), table.schema
    given_ = {"max_counterfactuals": 3, **strategy, **more}
    make: Any = explainer_by_steps
    if given_.pop("paper", False):
        # With the paper's settings nothing is learned from the values: kinds must be declared.
        make, names = paper_by_steps, {column.name for column in table.columns}
        schema = replace(
            schema,
            integer=[*({"whole_float"} & names)],
            binary=[*({"flag"} & names)],
            continuous=[*({"decimal", "price"} & names)],
        )
    explainer = make(model, schema=schema, **given_)
    with warnings.catch_warnings():  # ugly columns are warned of, which is not the matter here
        warnings.simplefilter("ignore", CountersetWarning)
        explainer.fit(table.X)
    return model, explainer


def limits_on(table: UglyTable, column: Column, x: dict[Any, Any]) -> Iterator[dict[str, Any]]:
    """Yield every constraint on one column, for an input: with ends that no step would hit."""
    name, alone = column.name, [c.name for c in table.columns if c.name != column.name]
    yield {"immutable": [name]}
    yield {"immutable": alone}
    yield {"immutable": alone[1:], "together": [[name, alone[0]]]}
    yield {"together": [[name, alone[0]]]}
    values = shown(table, column)
    yield {"allowed": {name: [values[0], values[-1]]}}
    yield {"allowed": {name: values[:1]}, "immutable": alone[1:]}
    yield from conditions_on(column, values)
    if name == "shade":
        yield {"allowed": {name: ["black", "red"]}, "immutable": alone}
        yield {"conditions": ["if count >= 0 then shade != 'red'"]}
    if (column.switches or column.order or column.is_one_hot) and name != "flag":
        yield {"forbidden_changes": {name: [(values[0], values[-1]), (values[-1], values[0])]}}
        yield {"forbidden_changes": {name: [(None, values[0])]}, "immutable": alone[1:]}
        yield {"forbidden_changes": {name: [(values[-1], None)]}}
    if name not in ORDERED:
        return
    yield {"increase_only": [name]}
    yield {"decrease_only": [name]}
    yield {"increase_only": [name], "immutable": alone}
    yield {"decrease_only": [name], "immutable": alone}
    low, middle, high = (values[int(q * (len(values) - 1))] for q in (0.3, 0.5, 0.8))
    yield {"ranges": {name: (low, high)}, "immutable": alone[1:]}
    yield {"ranges": {name: (None, middle)}}
    yield {"ranges": {name: (middle, None)}, "immutable": alone}
    wide = span(table, column, 0.4)
    for parameter in ("max_increase", "max_decrease"):
        yield {parameter: {name: wide}, "immutable": alone}
        yield {parameter: {name: wide * 0.1337}}
        yield {parameter: {name: wide * 0}}
    yield {"max_increase": {name: wide}, "max_decrease": {name: wide}, "increase_only": [name]}
    if name not in NUMBERS:
        return
    end, far = float(middle), float(high)
    factor = max(abs(far), abs(end))
    yield {"relations": [f"{name} <= {end!r}"]}
    yield {"relations": [f"{name} > {end!r}"], "immutable": alone[1:]}
    yield {"relations": [f"{name} + {factor!r} * uniform <= {far!r}"], "immutable": alone[1:]}
    yield {"relations": [f"{name} <= {factor!r} * (uniform + count)", "count <= 7"]}
    if column.is_known(x):
        own = float(x[name])
        yield {"relations": [f"{name} - {own!r} <= {factor!r} * uniform"], "immutable": alone[2:]}
        yield {"relations": [f"{name} == {own!r}"]}
        yield {"relations": [f"{min(own, end)!r} <= {name} <= {max(own, end)!r}"]}


def conditions_on(column: Column, values: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield conditions in which a column has a part: before "then", after it, and on both sides."""
    name, one, other = column.name, written(values[0]), written(values[-1])
    yield {"conditions": [f"if {name} == {one} then uniform <= 0.4"]}
    yield {
        "conditions": [f"if uniform > 0.4 then {name} != {one}", "if count > 5 then uniform > 0.2"]
    }
    yield {"conditions": [f"if colour in ('red', 'blue') then {name} in ({one}, {other})"]}
    yield {"conditions": [f"if {name} != {other} or count <= 4 then colour != 'green'"]}
    if name not in ORDERED:
        return
    low, high = (written(values[int(q * (len(values) - 1))]) for q in (0.4, 0.7))
    yield {"conditions": [f"if {name} > {low} then colour != 'red'"]}
    yield {"conditions": [f"if colour != 'red' then {low} <= {name} < {high}"]}
    yield {"conditions": [f"if not {name} >= {high} then count <= 3 and uniform < 0.7"]}
    if name in NUMBERS:
        factor = max(abs(float(values[0])), abs(float(values[-1])))
        yield {"conditions": [f"if colour == 'red' then {name} <= {factor!r} * uniform"]}
        yield {"conditions": [f"if {name} > {factor!r} * uniform then count >= 4"]}


def written(value: Any) -> str:
    """Return a value as a condition has it."""
    if isinstance(value, pd.Timestamp):
        return repr(str(value))
    if isinstance(value, str | bool | np.bool_):
        return repr(value if isinstance(value, str) else bool(value))
    return repr(float(value))


def shown(table: UglyTable, column: Column) -> list[Any]:
    """Return the known values of a column, from least to most where they have an order."""
    rows = records(table.X[list(column.columns)])
    values = list(dict.fromkeys(column.cell(row) for row in rows if column.is_known(row)))
    return sorted(values, key=column.amount) if column.name in ORDERED else values


def span(table: UglyTable, column: Column, share: float) -> Any:
    """Return a share of the range of a column's values, as the user would write it."""
    values = shown(table, column)
    if column.name == "since":
        return pd.Timedelta(days=int(share * (values[-1] - values[0]).days))
    if column.order is not None:
        return share * len(column.order)
    return share * (float(values[-1]) - float(values[0]))


def check(
    table: UglyTable,
    model: Sum,
    explanations: Explanations,
    inputs: list[dict[Any, Any]],
    limits: list[dict[str, Any]],
) -> None:
    training = records(table.X)
    found = []
    for explanation, x, each in zip(explanations, inputs, limits, strict=True):
        found += [
            f"{each} of {x}: {fault}"
            for fault in faults(table, model, explanation, training, x, each)
        ]
    assert not found, "\n".join(found)


def faults(
    table: UglyTable,
    model: Sum,
    explanation: Explanation,
    training: list[dict[Any, Any]],
    x: dict[Any, Any],
    limits: dict[str, Any],
) -> Iterator[str]:
    """Yield what is wrong with the options of one input."""
    frame = explanation.counterfactuals
    pd.testing.assert_series_equal(frame.dtypes, table.X.dtypes)
    rows = records(frame)
    for i, c in enumerate(rows):
        if model(frame.iloc[[i]])[0] in (explanation.label,):
            yield f"option {i + 1} has the class of the input: {c}"
        if explanation.labels[i] != model(frame.iloc[[i]])[0]:
            yield f"option {i + 1} is said to be {explanation.labels[i]}: {c}"
        if same_row(x, c) or any(same_row(c, other) for other in rows[:i]):
            yield f"option {i + 1} is the input, or another option"
        wrong = broken(limits, table.columns, training, x, c)
        wrong += strange_values(limits, table.columns, table.X, x, c)
        yield from (f"option {i + 1}: {text}: {c}" for text in wrong)


def explain(
    explainer: DiverseExplainer, rows: pd.DataFrame, limits: list[dict[str, Any]]
) -> Explanations:
    return explainer.explain_many(
        rows, constraints=[Constraints(**each) for each in limits], if_none="ignore"
    )


def table_with(name: str, seed: int = 0, n: int = 60) -> UglyTable:
    return build(dict.fromkeys([name, *PARTNERS]), n, seed)


def an_input(table: UglyTable, model: Sum, column: Column, *, known: bool) -> int:
    """Return the position of an input: with a known value in the column, or not if there is one."""
    labels = model(table.X)
    fits = [column.is_known(row) == known for row in records(table.X)]
    return next((i for i, fit in enumerate(fits) if fit and labels[i] == "no"), int(len(fits) / 2))


#: The other strategies are given every fifth request each, the default all of them.
SHARE = 5


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_constraint_holds_on_a_column_of_every_kind(strategy: str, thorough: bool) -> None:
    turn, options, asked = list(STRATEGIES).index(strategy), 0, 0
    for name in CROSSED if thorough else CROSSED[turn % 2 :: 2]:
        table = table_with(name)
        model, explainer = explainer_of(table, STRATEGIES[strategy])
        column = next(each for each in table.columns if each.name == name)
        at = an_input(table, model, column, known=turn % 2 == 0)
        x = records(table.X.iloc[[at]])[0]
        limits = list(limits_on(table, column, x))
        limits = limits if not turn else limits[turn % SHARE :: SHARE]
        explanations = explain(explainer, table.X.iloc[[at] * len(limits)], limits)
        check(table, model, explanations, [x] * len(limits), limits)
        options += int((explanations.counts > 0).sum())
        asked += len(limits)
    assert options > 0.5 * asked, f"only {options} of {asked} requests found an option"


@pytest.mark.parametrize("strategy", ["default", "paper", "own and shared"])
def test_an_immutable_column_stays_whatever_others_cost(strategy: str, thorough: bool) -> None:
    for name in CROSSED if thorough else CROSSED[len(strategy) % 2 :: 2]:
        table = table_with(name)
        model, explainer = explainer_of(table, STRATEGIES[strategy], costs={"uniform": 3.0})
        rows, kept = table.X.iloc[:3], Constraints(immutable=[name])
        explanations = explainer.explain_many(rows, constraints=kept, if_none="ignore")
        check(table, model, explanations, records(rows), [{"immutable": [name]}] * 3)
        assert explanations.counts.sum()


@settings(max_examples=25)
@given(data=st.data())
def test_several_constraints_hold_at_once(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(CROSSED), min_size=1, max_size=3, unique=True))
    table = build(dict.fromkeys([*names, *PARTNERS]), 60, data.draw(st.integers(0, 2**31 - 1)))
    strategy = data.draw(st.sampled_from(sorted(STRATEGIES)))
    model, explainer = explainer_of(table, STRATEGIES[strategy])
    at = data.draw(st.integers(0, 59))
    x = records(table.X.iloc[[at]])[0]
    columns = [each for each in table.columns if each.name in names]
    drawn: list[dict[str, Any]] = []
    for column in columns:
        single = [each for each in limits_on(table, column, x) if "immutable" not in each]
        drawn.append(data.draw(st.sampled_from(single)))
    limits = merged(drawn)
    explanations = explain(explainer, table.X.iloc[[at]], [limits])
    check(table, model, explanations, [x], [limits])


def merged(several: list[dict[str, Any]]) -> dict[str, Any]:
    """Return several constraints as one."""
    together: dict[str, Any] = {}
    for each in several:
        for name, value in each.items():
            if isinstance(value, dict):
                together[name] = {**together.get(name, {}), **value}
            else:
                together[name] = [*together.get(name, []), *value]
    return together


def none_or_options(
    model: Any, X: pd.DataFrame, limits: dict[str, Any], **more: Any
) -> pd.DataFrame:
    """Return the options of the first row, none if there are none."""
    explainer = explainer_by_steps(model, **more).fit(X)
    asked = Constraints(**limits)
    options: pd.DataFrame = explainer.explain_many(
        X.iloc[[0]], constraints=asked, if_none="ignore"
    )[0].counterfactuals
    return options


def test_an_open_range_leads_to_no_value_beyond_the_table() -> None:
    # The open end used to be the largest number that the dtype holds, and "a" became 15.
    X = pd.DataFrame({"a": np.tile(np.arange(10), 4), "b": np.repeat([0, 1], 20)})

    def model(rows: pd.DataFrame) -> np.ndarray:
        return np.where(rows["a"] + 15 * rows["b"] > 14, "yes", "no")

    options = none_or_options(model, X, {"immutable": ["b"], "ranges": {"a": (2, None)}})
    assert options.empty


def test_a_code_and_a_value_that_occur_with_another_code_do_not_occur_together() -> None:
    # The training data has 0.9 beside -8 only; an input with -9 used to keep its -9 and get 0.9.
    X = pd.DataFrame({"a": [-9, -9, -8, 5, 6, 7] * 5, "b": [0.1, 0.2, 0.9, 0.3, 0.8, 0.7] * 5})
    options = none_or_options(
        lambda rows: np.where(rows["b"] > 0.5, "yes", "no"),
        X,
        {"together": [["a", "b"]]},
        schema=Schema(special={"a": [-9, -8]}),
        max_counterfactuals=1,
    )
    assert len(options)
    for option in records(options):
        assert any(same_row(option, row) for row in records(X)), option


def test_a_group_that_no_training_row_knows_leads_to_no_option() -> None:
    # There were no values to put together, and a number of them to divide by.
    X = pd.DataFrame({"a": [0.0] * 12 + [np.nan] * 4, "b": np.nan, "c": False})
    options = none_or_options(
        lambda rows: np.where(rows["a"].isna(), "yes", "no"), X, {"together": [["a", "c"]]}
    )
    assert options.empty
