"""Conditions and forbidden changes: what they say, where candidates are moved, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.literal_checker import Column, broken, records

from counterset import Constraints, DiverseExplainer, InvalidInputError, NoCounterfactualError
from counterset.constraints.conditions import parse_condition
from counterset.tables.schema import Schema
from counterset.tables.table import Table

ORDER = ["none", "school", "degree"]
FRAME = pd.DataFrame(
    {
        "amount": [1000, 4000, 9000, 6000],
        "duration": [6, 12, 24, 48],
        "rate": np.array([0.5, 1.5, 2.5, np.nan], dtype=np.float32),
        "purpose": ["car", "education", "repairs", "car"],
        "education": pd.Categorical(ORDER + ORDER[:1], categories=ORDER, ordered=True),
        "since": pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"]),
    }
)
TABLE, MATRIX = Table.learn(FRAME, Schema(step=0))
COLUMNS = [
    *(Column(name, (name,), whole=True) for name in ("amount", "duration")),
    Column("rate", ("rate",)),
    Column("purpose", ("purpose",), switches=True),
    Column("education", ("education",), order=tuple(ORDER)),
    Column("since", ("since",)),
]


def row(**values: Any) -> np.ndarray:
    """The first row of the table, with other values."""
    frame = FRAME.iloc[[0]].copy()
    for name, value in values.items():
        frame[name] = pd.Series([value], index=frame.index).astype(FRAME[name].dtype)
    return TABLE.encode(frame)[0]


def holds(text: str, **values: Any) -> bool:
    return bool(parse_condition(text, TABLE).holds(row(), row(**values))[0])


def test_the_example_of_the_documentation() -> None:
    text = "if purpose == 'education' then amount <= 5000"
    assert holds(text, purpose="car", amount=9000)
    assert holds(text, purpose="education", amount=5000)
    assert not holds(text, purpose="education", amount=5001)


@pytest.mark.parametrize(
    ("text", "kept", "breaks"),
    [
        ("if amount < 2000 then duration != 6", {"duration": 7}, {}),
        ("if education >= 'school' then duration > 6", {}, {"education": "degree"}),
        ("if 'school' <= education then duration > 6", {}, {"education": "degree"}),
        ("if duration == 6 then education in ('none', 'school')", {}, {"education": "degree"}),
        ("if purpose in ['car'] then 4 < duration < 8", {}, {"duration": 8}),
        ("if not purpose == 'education' then amount <= 2000", {}, {"amount": 2001}),
        ("if purpose == 'car' or amount > 1 then duration <= 9", {}, {"duration": 10}),
        ("if purpose == 'car' and amount > 1 then duration <= 9", {}, {"duration": 10}),
        ("if amount >= 150 * duration then purpose == 'car'", {}, {"purpose": "repairs"}),
        ("if amount + duration != 1006 then amount == 0", {}, {"duration": 7}),
        ("if duration not in (6, 12) then amount < 0", {"duration": 12}, {"duration": 7}),
        ("if since < '2021-06-01' then amount <= 1000", {}, {"amount": 1001}),
        ("if rate <= 0.5 then duration <= 6", {"rate": 0.6, "duration": 9}, {"duration": 9}),
        ("if duration == 6 then amount <= 1000", {}, {"amount": 1001}),
        ("if `amount` > 1 then `duration` <= 6", {}, {"duration": 7}),
    ],
)
def test_what_conditions_say(text: str, kept: dict[str, Any], breaks: dict[str, Any]) -> None:
    assert holds(text, **kept)
    assert not holds(text, **breaks)


def test_a_missing_value_breaks_no_condition() -> None:
    gap = row(rate=np.nan)
    for text, kept in (
        ("if rate > 0 then amount < 0", True),
        ("if amount > 0 then rate > 9", True),
        ("if amount > 0 then rate > duration", True),
        ("if amount > 0 then rate > 9 and duration > 9", False),
    ):
        assert parse_condition(text, TABLE).holds(gap, gap)[0] == kept


def decoded_row(matrix: np.ndarray) -> dict[Any, Any]:
    frame = TABLE.decode(matrix)
    assert isinstance(frame, pd.DataFrame)
    return records(frame)[0]


def moved(text: str, x: dict[str, Any], c: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return what a candidate is moved to, as the changes of its input."""
    rules = Constraints(conditions=[text], **more).compile(TABLE, MATRIX)
    own, before = row(**x), row(**c)
    after = rules.project(own, before)
    assert rules.hold(own, after)[0]
    decoded = [decoded_row(each) for each in (own, after)]
    return {name: decoded[1][name] for name in decoded[1] if decoded[0][name] != decoded[1][name]}


def test_candidates_are_moved_to_what_must_hold() -> None:
    text = "if purpose == 'education' then amount <= 5000"
    asked = {"purpose": "education", "amount": 9000}
    assert moved(text, {}, asked) == {"purpose": "education", "amount": 5000}
    assert moved(text, {"amount": 8000}, {"purpose": "education", "amount": 8000}) == {
        "purpose": "education",
        "amount": 5000,
    }


def test_where_another_constraint_forbids_that_the_reason_goes() -> None:
    text = "if purpose == 'education' then amount <= 5000"
    kept = {"immutable": ["amount"]}
    assert moved(text, {"amount": 9000}, {"purpose": "education", "duration": 9}, **kept) == {
        "duration": 9
    }
    # The input itself breaks the condition: it must become something else.
    x = {"purpose": "education", "amount": 9000}
    assert moved(text, x, {**x, "duration": 9}, **kept) == {"purpose": "car", "duration": 9}


def test_no_candidate_is_moved_to_values_that_the_table_does_not_show() -> None:
    # Below 1000 there is no amount in the table, so the duration goes.
    assert moved("if amount >= 1000 then duration <= 12", {}, {"duration": 30}) == {"duration": 12}
    text = "if amount >= 1000 then duration <= 12"
    rules = Constraints(conditions=[text], ranges={"duration": (24, None)})
    compiled = rules.compile(TABLE, MATRIX)
    assert not compiled.hold(row(), compiled.project(row(), row(duration=30)))[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("purpose == 'car'", "Cannot read the condition"),
        ("if purpose == 'car'", "Write 'if ... then ...'"),
        ("if purpose then amount > 1", "Cannot read the condition"),
        ("if purpose is 'car' then amount > 1", "Cannot read the condition"),
        ("if amount ** 2 > 1 then duration > 1", "Cannot read the condition"),
        ("if amount > 1 then", "Cannot read the condition"),
        ("if purpose in 'car' then amount > 1", "Cannot read the condition"),
        ("if colour == 'red' then amount > 1", "no feature 'colour'"),
        ("if purpose == 'boat' then amount > 1", "'boat'"),
        ("if purpose == 'now then' then amount > 1", "'now then'"),
        ("if purpose < 'car' then amount > 1", "by an order, but it is categorical"),
        ("if purpose == education then amount > 1", "computes with 'purpose'"),
        ("if amount == 'much' then duration > 1", "holds numbers, got 'much'"),
        ("if amount < 1e999 then duration > 1", "Name a finite value"),
        ("if education > 'degree' then amount > 1", "never applies"),
        ("if amount > 5 and amount < 5.5 then duration > 1", "never applies"),
        ("if amount > 1 then education < 'none'", "contradicts itself"),
        ("if amount > 1 then purpose == 'car' and purpose == 'repairs'", "contradicts itself"),
        ("if 1 < 2 then amount > 1", "depends on no feature"),
        (
            "if amount > 1 then "
            + " and ".join(f"(amount == {i} or duration == {i})" for i in range(9)),
            "more than 64 cases",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        parse_condition(text, TABLE)


def test_a_special_code_is_no_value_to_compare_with() -> None:
    schema = Schema(special={"amount": [-9]})
    table, _ = Table.learn(FRAME.assign(amount=[-9, 1, 2, 3]), schema)
    with pytest.raises(InvalidInputError, match="special code -9, which counts as missing"):
        parse_condition("if amount == -9 then duration > 1", table)


# --- Forbidden changes -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pair", "x", "c", "kept"),
    [
        (("car", "repairs"), "car", "repairs", False),
        (("car", "repairs"), "car", "education", True),
        (("car", "repairs"), "repairs", "car", True),
        (("car", None), "car", "education", False),
        (("car", None), "car", "car", True),
        ((None, "car"), "education", "car", False),
        ((None, "car"), "car", "car", True),
    ],
)
def test_forbidden_changes_go_from_one_value_to_another(
    pair: tuple[Any, Any], x: str, c: str, kept: bool
) -> None:
    rules = Constraints(forbidden_changes={"purpose": [pair]}).compile(TABLE, MATRIX)
    own, new = row(purpose=x), row(purpose=c)
    assert rules.hold(own, new)[0] == kept
    np.testing.assert_array_equal(rules.project(own, new), new if kept else own)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"purpose": ["car"]}, "takes pairs of values, from and to, got 'car'"),
        ({"purpose": [("car",)]}, "takes pairs of values"),
        ({"purpose": ("car", "repairs")}, "takes pairs of values, from and to, got 'car'"),
        ({"purpose": [(None, None)]}, r"Write immutable=\['purpose'\]"),
        ({"purpose": [("car", "car")]}, "'car' twice in a pair"),
        ({"purpose": [("car", "boat")]}, "'boat'"),
        ({"amount": [(1000, 4000)]}, "'amount' is integer"),
        ({"colour": [("red", "blue")]}, "no feature 'colour'"),
        (["purpose"], "takes a mapping"),
    ],
)
def test_changes_that_cannot_be_meant_are_refused(given_: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Constraints(forbidden_changes=given_).compile(TABLE, MATRIX)


def test_education_never_goes_down() -> None:
    down = [(a, b) for i, a in enumerate(ORDER) for b in ORDER[:i]]
    both: list[Any] = [{"increase_only": ["education"]}, {"forbidden_changes": {"education": down}}]
    one_way, pairs = (Constraints(**each).compile(TABLE, MATRIX) for each in both)
    for before in ORDER:
        for after in ORDER:
            x, c = row(education=before), row(education=after)
            assert one_way.hold(x, c)[0] == pairs.hold(x, c)[0]


# --- Options ---------------------------------------------------------------------------------


def lend(rows: pd.DataFrame) -> np.ndarray:
    helpful = rows["purpose"].map({"car": 0, "repairs": 1, "education": 3})
    return np.where(helpful + rows["duration"] / 12 - rows["amount"] / 4000 > 2, "yes", "no")


@pytest.fixture(scope="module")
def loans() -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "amount": random.integers(5, 100, 300) * 100,
            "duration": random.integers(4, 60, 300),
            "purpose": random.choice(["car", "repairs", "education"], 300),
        }
    )


def test_every_option_keeps_a_condition_and_some_use_it(loans: pd.DataFrame) -> None:
    text = "if purpose == 'education' then amount <= 5000"
    kept = Constraints(conditions=[text], immutable=["duration"])
    explainer = DiverseExplainer(lend, constraints=kept).fit(loans)
    refused = loans[lend(loans) == "no"]
    found = explainer.explain_many(refused, if_none="ignore")
    rows = found.to_frame()
    assert (found.counts > 0).mean() > 0.95
    students = rows[rows["purpose"] == "education"]
    assert len(students) > 20
    assert (students["amount"] <= 5000).all()


def test_the_reason_for_a_shortfall_names_the_condition(loans: pd.DataFrame) -> None:
    x = {"amount": 9000, "duration": 12, "purpose": "car"}
    text = "if purpose in ('education', 'repairs') then amount >= 12000"
    kept = Constraints(conditions=[text], immutable=["duration", "amount"])
    explainer = DiverseExplainer(lend, constraints=kept).fit(loans)
    with pytest.raises(NoCounterfactualError, match="the constraint"):
        explainer.explain(x | {"amount": 9900, "duration": 4})
    with pytest.raises(NoCounterfactualError) as caught:
        explainer.explain(x | {"amount": 5000, "duration": 12})
    assert f"condition {text!r}" in str(caught.value)
    forbidden = Constraints(
        forbidden_changes={"purpose": [("car", None)]}, immutable=["duration", "amount"]
    )
    with pytest.raises(NoCounterfactualError, match=r"forbidden_changes\['purpose'\]"):
        explainer.explain(x | {"amount": 5000, "duration": 12}, constraints=forbidden)


@given(
    x=st.integers(0, 3),
    amount=st.integers(0, 12).map(lambda i: i * 1000),
    duration=st.integers(0, 50),
    purpose=st.sampled_from(["car", "education", "repairs"]),
    education=st.sampled_from(ORDER),
    texts=st.lists(
        st.sampled_from(
            [
                "if purpose == 'education' then amount <= 5000",
                "if amount > 3000 then duration >= 12",
                "if duration >= 24 then education != 'none'",
                "if amount > 200 * duration then purpose in ('car', 'repairs')",
                "if education == 'degree' or rate > 1 then amount + 100 * duration <= 9000",
            ]
        ),
        min_size=1,
        max_size=4,
        unique=True,
    ),
)
def test_rules_judge_as_the_literal_checker_does(
    x: int, amount: int, duration: int, purpose: str, education: str, texts: list[str]
) -> None:
    rules = Constraints(conditions=texts).compile(TABLE, MATRIX)
    new = row(amount=amount, duration=duration, purpose=purpose, education=education)
    own = MATRIX[[x]]
    for tried in (new, rules.project(own, new)):
        before, after = decoded_row(own), decoded_row(tried)
        wrong = broken({"conditions": texts}, COLUMNS, [], before, after)
        assert rules.hold(own, tried)[0] == (not wrong)
