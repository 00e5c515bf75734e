"""Values of every type that a category can hold and JSON can be made to hold."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pandas as pd
from hypothesis import strategies as st

SPANS = timedelta(days=-3000), timedelta(days=3000)
FREQUENCIES = ["D", "M", "Q", "Q-NOV", "W-WED", "Y", "h", "min", "s", "2M"]

numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
#: Nanoseconds since 1970 hold moments from 1677 to 2262.
moments = st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1)).map(pd.Timestamp)
#: Clocks were whole minutes apart from 1950 on.
since_1950 = st.datetimes(datetime(1950, 1, 1), datetime(2250, 1, 1)).map(pd.Timestamp)
zoned = since_1950.map(lambda each: each.tz_localize("UTC").tz_convert("Asia/Kolkata"))
spans = st.timedeltas(*SPANS).map(pd.Timedelta)


@st.composite
def intervals(draw: Any) -> pd.Interval:
    """Return an interval of whole numbers, floats, moments or spans."""
    ends = draw(st.sampled_from([st.integers(-999, 999), numbers, moments, spans]))
    left, right = sorted([draw(ends), draw(ends)])
    return pd.Interval(left, right, closed=draw(st.sampled_from(["left", "right", "both"])))


@st.composite
def periods(draw: Any) -> pd.Period:
    """Return a period of any length."""
    return pd.Period(draw(moments), freq=draw(st.sampled_from(FREQUENCIES)))


#: Of each type: values of it that are no numbers to compute with.
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "text": st.text(),
    "integer": st.integers(),
    "boolean": st.booleans(),
    "float": st.floats(allow_nan=False),
    "date": st.dates(),
    "datetime": st.datetimes().map(lambda each: each.replace(fold=0)),
    "clock": st.times().map(lambda each: each.replace(fold=0)),
    "decimal": st.decimals(allow_nan=False, allow_infinity=False),
    "moment": moments,
    "zoned": zoned,
    "span": spans,
    "timedelta": st.timedeltas(*SPANS),
    "interval": intervals(),
    "period": periods(),
    "tuple": st.tuples(st.text(), st.integers(), moments),
}


def values_of_any_type() -> st.SearchStrategy[Any]:
    """Return values of all types, and None."""
    return st.one_of(st.none(), *KINDS.values())


#: A few columns as people have them.
COLUMNS: dict[str, Any] = {
    "cut": pd.cut(pd.Series([3, 30, 60, 90] * 5), [0, 25, 50, 75, 100]),
    "cut times": pd.cut(pd.Series(pd.date_range("2024-01-01", periods=20)), 4),
    "months": pd.Series(pd.period_range("2024-01", periods=4, freq="M").tolist() * 5),
    "months as categories": pd.Series(
        pd.Categorical(pd.period_range("2024-01", periods=4, freq="M").tolist() * 5)
    ),
    "zoned": pd.Series(
        pd.Categorical(pd.date_range("2024-01-01", periods=4, tz="Europe/Berlin").tolist() * 5)
    ),
    "spans": pd.Series(pd.Categorical(pd.to_timedelta([1, 2, 3, 4] * 5, unit="D"))),
    "dates": pd.Series([date(2024, 1, 1), date(2024, 2, 1)] * 10, dtype=object),
    "clocks": pd.Series([time(12), time(13, 30), None, time(0)] * 5, dtype=object),
    "pairs": pd.Series([("a", 1), ("b", 2)] * 10, dtype=object),
    "pairs as categories": pd.Series(pd.Categorical([("a", 1), ("b", 2)] * 10)),
    "flags": pd.Series(pd.Categorical([True, False] * 10)),
    "infinite": pd.Series(pd.Categorical([1.5, float("inf")] * 10)),
    "decimals": pd.Series(pd.Categorical([Decimal("1.50"), Decimal("2")] * 10)),
}
