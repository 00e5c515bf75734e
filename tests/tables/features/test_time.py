"""Times: their steps, their zones, and how they are written."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.one_feature import learn

from counterset import InvalidInputError

DAYS = pd.to_datetime(["2020-01-01", "2020-02-01"])
BERLIN = DAYS.tz_localize("Europe/Berlin")


def test_the_step_is_the_longest_that_all_training_values_are_multiples_of() -> None:
    assert learn(DAYS).step == 86_400_000_000
    assert learn(DAYS + pd.Timedelta("1s")).step == 1_000_000
    assert learn(DAYS + pd.Timedelta("1ms")).step == 1_000
    assert learn(DAYS + pd.Timedelta("1us")).step == 1


def test_times_in_milliseconds_move_by_milliseconds() -> None:
    # They used to move by microseconds, which their dtype cannot hold.
    times = learn((DAYS + pd.Timedelta("1ms")).astype("datetime64[ms]"))
    code = times.snap(np.array([times.low + 1_400.0]))
    assert times.encode(pd.DataFrame({"x": times.decode(code)[0]}), "X") == code


def test_a_time_between_days_snaps_to_the_nearest_day() -> None:
    days = learn(DAYS)
    noon = days.code_of("2020-01-05 13:00")
    assert days.snap(np.array([noon])) == days.code_of("2020-01-06")
    assert days.ends(noon, np.inf) == (days.code_of("2020-01-06"), np.inf)


def test_a_time_without_a_zone_is_in_the_zone_of_its_column() -> None:
    berlin = learn(BERLIN)
    assert berlin.code_of("2020-01-01") == berlin.low
    assert berlin.code_of(pd.Timestamp("2019-12-31 23:00", tz="UTC")) == berlin.low
    assert berlin.describe(berlin.low) == pd.Timestamp("2020-01-01", tz="Europe/Berlin")


def test_text_that_reads_as_a_time_may_be_explained() -> None:
    days = learn(DAYS)
    text = pd.DataFrame({"a": ["2020-02-01"]})
    assert days.encode(text, "X").tolist() == [days.high]


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="holds times, got 'soon'"):
        learn(DAYS).code_of("soon")
    with pytest.raises(InvalidInputError, match="must be a timedelta of at least 0, got 'long'"):
        learn(DAYS).amount_of("long")


def test_whole_days_are_described_as_dates() -> None:
    assert str(learn(DAYS)) == "continuous   2020-01-01 to 2020-02-01"
    assert str(learn(DAYS + pd.Timedelta("1h"))).endswith("2020-02-01 01:00:00")


def test_times_finer_than_a_microsecond_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="finer than a microsecond"):
        learn(pd.to_datetime([1, 2001], unit="ns"))
