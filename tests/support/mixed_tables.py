"""Random tables of every dtype, random models and constraints on them, for property tests.

Whether options keep the constraints is judged on raw values, see ``literal_checker``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from counterset import Constraints, Schema
from support import literal_checker

ORDER = ["low", "mid", "high", "top"]
WORDS = ["ant", "bee", "cat", "dog"]
DAYS = pd.Timestamp("2020-01-01")

#: What a column can be; a "?" may have missing values.
DTYPES = (
    "float64",
    "float64?",
    "float32",
    "float32?",
    "int64",
    "int8",
    "Int64?",
    "bool",
    "boolean?",
    "category",
    "category?",
    "ordered",
    "ordered?",
    "object",
    "object?",
    "string",
    "string?",
    "declared",
    "days",
    "days?",
    "zoned",
    "one-hot",
)
WITH_ORDER = ("float64", "float32", "int64", "int8", "Int64", "ordered", "declared", "days")
NUMBERS = ("float64", "float32", "int64", "int8", "Int64")
WHOLE = ("int64", "int8", "Int64")


@dataclass(frozen=True)
class Column:
    """One feature of a random table: its name, what it is, and the columns that hold it."""

    name: str
    what: str

    @property
    def dtype(self) -> str:
        return self.what.rstrip("?")

    @property
    def columns(self) -> list[str]:
        if self.dtype != "one-hot":
            return [self.name]
        return [f"{self.name}_{word}" for word in WORDS[:3]]

    def amount(self, value: Any) -> float:
        """Return a value with an order as a number, by which it can be compared."""
        if self.dtype in ("ordered", "declared"):
            return float(ORDER.index(value))
        if self.dtype in ("days", "zoned"):
            return float((value.tz_localize(None) - DAYS) / pd.Timedelta(days=1))
        return float(value)


@dataclass
class Case:
    """A random table, with inputs like its rows."""

    columns: list[Column]
    X: pd.DataFrame
    inputs: pd.DataFrame
    schema: Schema
    constraints: Constraints = field(default_factory=Constraints)

    @property
    def features(self) -> list[literal_checker.Column]:
        """The columns as the literal checker knows them."""
        return [
            literal_checker.Column(
                column.name,
                tuple(column.columns),
                tuple(ORDER) if column.dtype in ("ordered", "declared") else None,
                switches=column.dtype not in (*WITH_ORDER, "zoned"),
                whole=column.dtype in WHOLE,
            )
            for column in self.columns
        ]

    @property
    def limits(self) -> dict[str, Any]:
        """The constraints as the user wrote them."""
        return {each.name: getattr(self.constraints, each.name) for each in fields(Constraints)}


# --- Tables ----------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn, dtypes: Sequence[str] = DTYPES, least: int = 2, most: int = 5) -> Case:
    whats = draw(st.lists(st.sampled_from(dtypes), min_size=least, max_size=most))
    columns = [Column(f"f{i}", what) for i, what in enumerate(whats)]
    n, k = draw(st.integers(4, 24)), draw(st.integers(1, 3))
    frames, inputs = [], []
    for column in columns:
        frame = draw(_values(column, n))
        taken = draw(st.lists(st.integers(0, n - 1), min_size=k, max_size=k))
        own = frame.iloc[taken].reset_index(drop=True)
        if column.dtype in NUMBERS:
            shift = draw(st.lists(st.sampled_from([-1, 0, 0, 1]), min_size=k, max_size=k))
            own = own.add(np.array(shift, dtype="int8"), axis=0)
        frames.append(frame)
        inputs.append(own.astype(frame.dtypes))
    orders = {column.name: ORDER for column in columns if column.dtype == "declared"}
    groups = {column.name: column.columns for column in columns if column.dtype == "one-hot"}
    return Case(
        columns,
        pd.concat(frames, axis=1),
        pd.concat(inputs, axis=1),
        Schema(ordinal=orders, one_hot=groups),
    )


@st.composite
def _values(draw: st.DrawFn, column: Column, n: int) -> pd.DataFrame:
    if column.dtype == "one-hot":
        hot = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
        held = draw(st.sampled_from([bool, np.int64, np.float64]))
        table = (np.array(hot)[:, None] == np.arange(3)).astype(held)
        return pd.DataFrame(table, columns=column.columns)
    elements: dict[str, st.SearchStrategy[Any]] = {
        "float64": st.one_of(st.integers(-3, 3).map(float), st.floats(-3, 3, width=32)),
        "float32": st.one_of(st.integers(-3, 3).map(float), st.floats(-3, 3, width=32)),
        "bool": st.booleans(),
        "boolean": st.booleans(),
        "ordered": st.sampled_from(ORDER),
        "declared": st.sampled_from(ORDER),
        "days": st.integers(-3, 400).map(lambda day: DAYS + pd.Timedelta(days=day)),
        "zoned": st.integers(0, 10**6).map(lambda s: DAYS + pd.Timedelta(seconds=s)),
    }
    numbers = st.integers(-9, 9)
    words = st.sampled_from(WORDS[:3])
    default = numbers if column.dtype in WHOLE else words
    one = elements.get(column.dtype, default)
    if column.what.endswith("?"):
        one = st.one_of(one, st.none())
    if draw(st.integers(0, 9)) == 0:
        one = st.just(draw(one))  # a constant column, or one that is all missing
    values = draw(st.lists(one, min_size=n, max_size=n))
    return pd.DataFrame({column.name: _series(values, column.dtype)})


def _series(values: list[Any], dtype: str) -> pd.Series:
    if dtype == "category":  # with a category that no row has
        return pd.Series(pd.Categorical(values, categories=WORDS))
    if dtype == "ordered":
        return pd.Series(pd.Categorical(values, categories=ORDER, ordered=True))
    if dtype == "days":
        return pd.Series(values, dtype="datetime64[ns]")
    if dtype == "zoned":
        return pd.Series(values, dtype="datetime64[us]").dt.tz_localize("America/New_York")
    return pd.Series(values, dtype=object if dtype == "declared" else dtype)


# --- Models ----------------------------------------------------------------------------------


@dataclass
class Model:
    """Classify by a sum over the columns; check that rows look like the training data."""

    case: Case
    weights: dict[str, int]
    cuts: list[float]
    curved: bool

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        pd.testing.assert_series_equal(rows.dtypes, self.case.X.dtypes)
        score = np.zeros(len(rows))
        for name, weight in self.weights.items():
            score += weight * self._numbers(rows[name])
        return np.array(list("abc"))[np.searchsorted(self.cuts, score)]

    def _numbers(self, values: pd.Series) -> np.ndarray:
        blank = values.isna().to_numpy()
        if pd.api.types.is_datetime64_any_dtype(values.dtype):
            naive = values.dt.tz_convert("UTC").dt.tz_localize(None) if values.dt.tz else values
            numbers = ((naive - DAYS) / pd.Timedelta(days=100)).to_numpy(dtype=np.float64)
        elif pd.api.types.is_numeric_dtype(values.dtype):
            numbers = values.astype("Float64").to_numpy(dtype=np.float64, na_value=0.0)
        else:
            known = [*ORDER, *WORDS]
            numbers = np.array(
                [0.0 if b else known.index(v) % 4 for v, b in zip(values, blank, strict=True)]
            )
        numbers = np.where(blank, 0.75, numbers)
        return numbers * numbers if self.curved else numbers


@st.composite
def models(draw: st.DrawFn, case: Case) -> Model:
    names = list(case.X.columns)
    weights = draw(st.lists(st.integers(-3, 3), min_size=len(names), max_size=len(names)))
    if not any(weights):
        weights[0] = 1
    cuts = draw(st.lists(st.integers(-6, 8), min_size=1, max_size=2, unique=True))
    chosen = dict(zip(names, weights, strict=True))
    return Model(case, chosen, sorted(cut + 0.25 for cut in cuts), draw(st.booleans()))


# --- Constraints -----------------------------------------------------------------------------


@st.composite
def constrained(draw: st.DrawFn, dtypes: Sequence[str] = DTYPES, most: int = 4) -> Case:
    """Draw a table with at most ``most`` constraints."""
    case = draw(tables(dtypes))
    made: dict[Any, Any] = {}
    for _ in range(draw(st.integers(0, most))):
        column = draw(st.sampled_from(case.columns))
        kind = draw(st.sampled_from(KINDS))
        if kind == "together":
            names = [c.name for c in case.columns]
            group = draw(st.lists(st.sampled_from(names), min_size=2, max_size=3, unique=True))
            made.setdefault(kind, []).append(group)
        elif kind == "relations":
            _add_relation(draw, made, case)
        elif kind == "conditions":
            parts = [draw(_comparisons(case)) for _ in range(2)]
            if all(parts):
                made.setdefault(kind, []).append(f"if {parts[0]} then {parts[1]}")
        elif kind == "forbidden_changes":
            _add_forbidden(draw, made, column, case)
        elif kind == "immutable":
            made.setdefault(kind, []).append(column.name)
        elif kind == "allowed" and case.X[column.columns].notna().any(axis=None):
            made.setdefault(kind, {})[column.name] = draw(_allowed(column, case))
        elif column.dtype in WITH_ORDER and kind != "allowed":
            _add_ordered(draw, made, kind, column, case)
    case.constraints = Constraints(**made)
    return case


KINDS = (
    "immutable",
    "increase_only",
    "decrease_only",
    "ranges",
    "max_increase",
    "max_decrease",
    "allowed",
    "relations",
    "together",
    "forbidden_changes",
    "conditions",
)


def _add_relation(draw: st.DrawFn, made: dict[Any, Any], case: Case) -> None:
    numbers = [column.name for column in case.columns if column.dtype in NUMBERS]
    if numbers:
        made.setdefault("relations", []).append(draw(_relation(numbers)))


@st.composite
def _relation(draw: st.DrawFn, numbers: list[str]) -> str:
    names = draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=3, unique=True))
    terms = [f"{draw(st.sampled_from([-2, -1, 1, 2]))} * {name}" for name in names]
    operator = draw(st.sampled_from(["<=", "<", ">=", ">", "=="]))
    return f"{' + '.join(terms)} {operator} {draw(st.integers(-5, 5))}"


@st.composite
def _comparisons(draw: st.DrawFn, case: Case) -> str:
    """Draw one part of a condition; an empty text where no column has a value."""
    columns = draw(st.lists(st.sampled_from(case.columns), min_size=1, max_size=2))
    parts = [draw(_comparison(column, case)) for column in columns]
    if not all(parts):
        return ""
    text = draw(st.sampled_from([" and ", " or "])).join(parts)
    return draw(st.sampled_from([text, text, f"not ({text})"]))


@st.composite
def _comparison(draw: st.DrawFn, column: Column, case: Case) -> str:
    if column.dtype in NUMBERS and draw(st.booleans()):
        return draw(_relation([each.name for each in case.columns if each.dtype in NUMBERS]))
    if column.dtype == "one-hot":
        known: list[Any] = [*column.columns, "none of them"]
    else:
        known = case.X[column.name].dropna().drop_duplicates().tolist()
        known += WORDS[3:] if column.dtype == "category" else []
    if not known:
        return ""
    if isinstance(known[0], pd.Timestamp):
        known = [str(each) for each in known]
    values = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True))
    operators = ["==", "!=", "in", "not in"]
    if column.dtype in (*WITH_ORDER, "zoned"):
        operators += ["<", "<=", ">", ">="]
    operator = draw(st.sampled_from(operators))
    shown: Any = tuple(values) if operator.endswith("in") else values[0]
    return f"{column.name} {operator} {shown!r}"


def _add_forbidden(draw: st.DrawFn, made: dict[Any, Any], column: Column, case: Case) -> None:
    if column.dtype in (*NUMBERS, "days", "zoned"):
        return
    if case.X[column.columns].notna().any(axis=None):
        values = draw(_allowed(column, case))
        other = draw(st.sampled_from([None, *draw(_allowed(column, case))]))
        pair = (values[0], other) if draw(st.booleans()) else (other, values[0])
        if values[0] != other:
            made.setdefault("forbidden_changes", {}).setdefault(column.name, []).append(pair)


@st.composite
def _allowed(draw: st.DrawFn, column: Column, case: Case) -> list[Any]:
    if column.dtype == "one-hot":
        known: list[Any] = [*column.columns, "none of them"]
    else:
        known = case.X[column.name].dropna().drop_duplicates().tolist()
        known += WORDS[3:] if column.dtype == "category" else []
    return draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True))


def _add_ordered(
    draw: st.DrawFn, made: dict[Any, Any], kind: str, column: Column, case: Case
) -> None:
    if kind in ("increase_only", "decrease_only"):
        made.setdefault(kind, []).append(column.name)
        return
    if kind in ("max_increase", "max_decrease"):
        amount: Any = draw(st.sampled_from([0, 0.3, 1, 2.5, 4]))
        if column.dtype == "days":
            amount = pd.Timedelta(days=float(amount))
        made.setdefault(kind, {})[column.name] = amount
        return
    known = sorted(case.X[column.name].dropna().tolist(), key=column.amount)
    if not known:
        return
    least, most = sorted(draw(st.tuples(*[st.sampled_from(known)] * 2)), key=column.amount)
    open_end = draw(st.sampled_from([0, 1, 2]))
    ends = (least if open_end != 1 else None, most if open_end != 2 else None)
    made.setdefault("ranges", {})[column.name] = ends
