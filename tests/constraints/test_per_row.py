"""Constraints per row: each row gets what it would get alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.toys import FRAME, Recorder, X, approve, fitted

from counterset import Constraints, FewerCounterfactualsWarning, InvalidInputError, evaluate
from counterset.constraints.constraints import group_rows

pytestmark = pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")

NO_AGE, NO_INCOME = Constraints(immutable=["age"]), Constraints(immutable=["income"])
MORE = Constraints(increase_only=["age", "income"])
CHOICES = [NO_AGE, NO_INCOME, MORE, Constraints(), None]


@pytest.mark.parametrize("options", [{}, {"sparse": True}, {"regions": 3}])
@given(st.lists(st.sampled_from(CHOICES), min_size=8, max_size=8))
@settings(max_examples=15)
def test_each_row_gets_what_it_gets_alone(
    options: dict[str, Any], each: list[Constraints | None]
) -> None:
    explainer = fitted(FRAME, constraints=Constraints(ranges={"age": (0, 0.9)}), **options)
    found = explainer.explain_many(FRAME[:8], constraints=each, if_none="warn")
    for i, (one, constraints) in enumerate(zip(found, each, strict=True)):
        if one.status == "none_found":
            continue
        alone = explainer.explain(FRAME.iloc[i], constraints=constraints)
        pd.testing.assert_frame_equal(one.counterfactuals, alone.counterfactuals)
        assert (one.label, one.index) == (alone.label, alone.index)
        assert one.distances.tolist() == alone.distances.tolist()
        assert one.examples.tolist() == alone.examples.tolist()
        radius = [each.certificate and each.certificate.stable_radius for each in (one, alone)]
        assert radius[0] == radius[1]


def by_age(row: Any) -> Constraints | None:
    return NO_AGE if row["age"] > 0.5 else None


@pytest.mark.parametrize(
    ("data", "kind"),
    [(FRAME, pd.Series), (pl.DataFrame(FRAME.to_dict("list")), dict),
     (pl.DataFrame(FRAME.to_dict("list")).to_arrow(), dict)],
)  # fmt: skip
def test_a_function_of_the_row(data: Any, kind: type) -> None:
    asked: list[Any] = []

    def constraints(row: Any) -> Constraints | None:
        asked.append(row)
        return by_age(row)

    def model(rows: Any) -> Any:
        return np.asarray(rows["age"]) + np.asarray(rows["income"]) > 1

    explainer = fitted(data, model)
    found = explainer.explain_many(data[:10], constraints=constraints).to_frame()
    each = [by_age(row) for row in FRAME[:10].to_dict("records")]
    assert found.equals(explainer.explain_many(data[:10], constraints=each).to_frame())
    assert {type(row) for row in asked} == {kind}
    assert [row["age"] for row in asked] == FRAME["age"][:10].tolist()


def test_a_function_of_a_row_of_an_array() -> None:
    constraints = [Constraints(immutable=["x0"]) if row[0] > 0.5 else None for row in X[:6]]
    expected = fitted(X).explain_many(X[:6], constraints=constraints).to_frame()
    found = fitted(X).explain_many(
        X[:6], constraints=lambda row: Constraints(immutable=["x0"]) if row[0] > 0.5 else None
    )
    pd.testing.assert_frame_equal(found.to_frame(), expected)


def test_a_pandas_row_has_its_name() -> None:
    asked: list[Any] = []
    fitted(FRAME).explain_many(FRAME[3:5], constraints=lambda row: asked.append(row.name))
    assert asked == ["p3", "p4"]


EACH = [NO_AGE, None, NO_INCOME]


@pytest.mark.parametrize(
    "given_",
    [
        tuple(EACH),
        np.array(EACH, dtype=object),
        pd.Series(EACH, FRAME.index[:3]),
        pd.Series([NO_AGE, np.nan, NO_INCOME], FRAME.index[:3], dtype=object),
        pd.array([NO_AGE, pd.NA, NO_INCOME], dtype=object),
        pl.Series(EACH, dtype=pl.Object),
    ],
    ids=lambda given_: type(given_).__name__,
)
def test_columns_of_constraints(given_: Any) -> None:
    explainer = fitted(FRAME)
    expected = explainer.explain_many(FRAME[:3], constraints=EACH).to_frame()
    found = explainer.explain_many(FRAME[:3], constraints=given_).to_frame()
    pd.testing.assert_frame_equal(found, expected)


def test_rows_with_equal_constraints_are_explained_together() -> None:
    model = Recorder()
    explainer = fitted(FRAME, model)
    model.asked.clear()
    one = explainer.explain_many(FRAME[:20], constraints=NO_AGE).model_calls
    equal = [Constraints(immutable=["age"]) for _ in range(20)]
    assert explainer.explain_many(FRAME[:20], constraints=equal).model_calls == one


@pytest.mark.parametrize(
    ("a", "b", "together"),
    [
        (Constraints(), Constraints(), True),
        (Constraints(immutable=["a"]), Constraints(immutable=["a"]), True),
        (Constraints(immutable=["a"]), Constraints(immutable=["b"]), False),
        (Constraints(immutable=["a"]), Constraints(increase_only=["a"]), False),
        (Constraints(immutable=np.array(["a"])), Constraints(immutable=np.array(["a"])), True),
        (Constraints(immutable=np.array(["a"])), Constraints(immutable=np.array(["b"])), False),
        (Constraints(ranges={"a": (0, None)}), Constraints(ranges={"a": (0, None)}), True),
        (Constraints(ranges={"a": (0, None)}), Constraints(ranges={"a": (0, 1)}), False),
        (Constraints(ranges={"a": (0, 1)}), Constraints(ranges={"b": (0, 1)}), False),
        (Constraints(allowed={"a": ["x"]}), Constraints(allowed={"a": ["x", "y"]}), False),
        (Constraints(max_increase={"a": 1}), Constraints(max_decrease={"a": 1}), False),
        # The same in another order makes the same rules in another order.
        (Constraints(immutable=["a", "b"]), Constraints(immutable=["b", "a"]), False),
        # A set is sorted, a list is not.
        (Constraints(allowed={"a": {1, 2}}), Constraints(allowed={"a": [1, 2]}), False),
        (Constraints(together=[["a", "b"]]), Constraints(together=[["a"], ["b"]]), False),
        # Values without a hash are compared by their constraints.
        (Constraints(allowed={"a": [slice(1)]}), Constraints(allowed={"a": [slice(2)]}), False),
        (None, Constraints(), False),
        (None, None, True),
    ],
)
def test_what_is_grouped(a: Any, b: Any, together: bool) -> None:
    groups = group_rows([a, b, a])
    expected = [[0, 1, 2]] if together else [[0, 2], [1]]
    assert [group.members.tolist() for group in groups] == expected
    assert groups[0].constraints is a


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ([NO_AGE], r"constraints for 1 rows, but X has 3. Pass one for each row"),
        ([NO_AGE] * 4, "constraints for 4 rows, but X has 3"),
        ([], "constraints for 0 rows, but X has 3"),
        ([NO_AGE, "age", None], "in row 1, gives 'age'. constraints must be Constraints, a list"),
        ([NO_AGE, ["age"], None], r"in row 1, gives \['age'\]"),
        (lambda row: ["age"], r"The function constraints, for row 0, gives \['age'\]"),
        (lambda row: row["zip"], "The function constraints raised KeyError for row 0: 'zip'"),
        (lambda row: Constraints(immutable="age"), "raised InvalidInputError for row 0: immutable"),
        (lambda: None, "raised TypeError for row 0"),
        (iter([NO_AGE] * 3), "constraints must be Constraints, a list of them"),
        ({"age": NO_AGE, "b": 1, "c": 2}, "constraints must be Constraints, a list of them"),
        ("age", "constraints must be Constraints, a list of them"),
        (5, "constraints must be Constraints, a list of them"),
        (Constraints, "constraints must be Constraints, a list of them"),
        (pd.Series([NO_AGE] * 3), "index of the constraints is not that of X"),
        ([None, None, Constraints(immutable=["zip"])], "constraints of row 2: There is no feature"),
    ],
)
def test_wrong_constraints(given_: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        fitted(FRAME).explain_many(FRAME[:3], constraints=given_)


def test_the_row_that_a_function_fails_for_is_counted_among_all() -> None:
    reached = np.flatnonzero(approve(X) == "yes")[0]
    open_ = np.flatnonzero(approve(X) == "no")[0]
    rows = FRAME.iloc[[reached, open_]]

    def failing(row: Any) -> Any:
        return 1 / 0

    with pytest.raises(InvalidInputError, match="raised ZeroDivisionError for row 1") as caught:
        fitted(FRAME).explain_many(rows, target="yes", skip=True, constraints=failing)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_explain_takes_one_constraints() -> None:
    for given_ in ([NO_AGE], by_age):
        with pytest.raises(InvalidInputError, match="constraints must be Constraints or None"):
            fitted(FRAME).explain(FRAME.iloc[0], constraints=given_)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("default::counterset.FewerCounterfactualsWarning")
def test_warnings_come_once_with_counts_over_all_rows() -> None:
    stuck = Constraints(immutable=["age", "income"])
    inputs = FRAME[:6]
    each = [stuck, NO_AGE, NO_INCOME, stuck, None, stuck]
    explainer = fitted(FRAME, max_counterfactuals=60)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = explainer.explain_many(inputs, constraints=each, if_none="warn")
    told = [str(one.message) for one in caught]
    assert len(told) == 1
    assert told[0].startswith("No counterfactual for 3 of 6 inputs (first at position 0)")
    short = int(((found.counts < 60) & (found.counts > 0)).sum())
    assert f" {short} of 6 inputs have fewer than 60 counterfactuals" in told[0]
    assert {one.filename for one in caught} == {__file__}
    assert all(issubclass(one.category, FewerCounterfactualsWarning) for one in caught)


def test_evaluate_gives_copies_the_constraints_of_their_inputs() -> None:
    passed: list[tuple[float, Any]] = []

    def explain(row: Any, constraints: Any) -> Any:
        passed.append((row["age"], constraints))
        return FRAME.iloc[[0]]

    each = [NO_AGE, None, NO_INCOME]
    inputs = FRAME[:3]
    evaluate(explain, inputs, model=approve, training=FRAME, constraints=each, repeats=2)
    assert len(passed) == 9
    for age, constraints in passed:
        assert constraints is each[np.abs(inputs["age"] - age).to_numpy().argmin()]


def test_evaluate_takes_constraints_per_row() -> None:
    explainer, inputs = fitted(FRAME), FRAME[:6]
    each = [by_age(row) for _, row in inputs.iterrows()]
    tables = [
        evaluate(explainer, inputs, constraints=given_, repeats=1).drop(columns="seconds")
        for given_ in (each, by_age)
    ]
    pd.testing.assert_frame_equal(tables[0], tables[1])
    for i in range(6):
        one = evaluate(explainer, inputs[i : i + 1], constraints=each[i], repeats=1)
        assert one["k_distance"].tolist() == tables[0]["k_distance"][i : i + 1].tolist()
    with pytest.raises(InvalidInputError, match="constraints for 1 rows, but X has 6"):
        evaluate(explainer, inputs, constraints=[None])
