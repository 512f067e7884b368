"""Series from Python's own objects: the clock is found, continues the calendar, and bad input is refused."""

import datetime

import numpy as np
import polars as pl
import pytest

from wakesleep.domains.timeseries.reading.series import series_of
from wakesleep.errors import Refusal

GRIDS = [
    ("D", "day", 1, (7, 365)),
    ("B", "day", 1, (5, 261)),
    ("2D", "day", 2, ()),
    ("h", "hour", 1, (24, 168)),
    ("15min", "minute", 15, (4, 96)),
    ("s", "second", 1, (60,)),
    ("W-SUN", "week", 1, (52,)),
    ("4W", "week", 4, (13,)),
    ("MS", "month", 1, (12,)),
    ("ME", "month", 1, (12,)),
    ("BMS", "month", 1, (12,)),
    ("2MS", "month", 2, (6,)),
    ("QS", "quarter", 1, (4,)),
    ("QE", "quarter", 1, (4,)),
    ("6MS", "quarter", 2, (2,)),
    ("YS", "year", 1, ()),
]


@pytest.mark.parametrize(("frequency", "unit", "every", "seasons"), GRIDS)
def test_the_index_of_a_pandas_column_gives_the_calendar(frequency, unit, every, seasons):
    pd = pytest.importorskip("pandas")
    index = pd.date_range("2019-01-01", periods=810, freq=frequency)
    seen, ahead = index[:800], index[800:]
    found = series_of(pd.Series(np.arange(800.0), seen, name="sales"))
    assert (found.name, found.unit, found.clock.every, found.seasons) == ("sales", unit, every, seasons)
    np.testing.assert_array_equal(found.positions, np.arange(800))
    np.testing.assert_array_equal(found.times, seen.values.astype("datetime64[s]"))
    if frequency != "BMS":
        np.testing.assert_array_equal(found.time_at(np.arange(800.0, 810)), ahead.values.astype("datetime64[s]"))
        np.testing.assert_allclose(found.clock.position_of(found.times), np.arange(800), atol=1e-9)


def test_positions_and_times_are_each_others_inverse():
    for step in ("month", "day"):
        start = np.datetime64("2019-01-31T06:00", "s")
        times = start + np.arange(40) * np.timedelta64(1, "D") if step == "day" else None
        months = [datetime.datetime(2019 + m // 12, m % 12 + 1, 5, 6) for m in range(40)]
        found = series_of(np.arange(40.0), months if times is None else times)
        asked = np.array([-7.25, 0.0, 0.5, 41.75])
        np.testing.assert_allclose(found.clock.position_of(found.time_at(asked)), asked, atol=1e-5)


def test_labels_are_words_of_the_calendar():
    first = {"year": "2019", "quarter": "2019Q1", "month": "2019-01", "day": "2019-01-01"}
    texts = {
        "year": ["2019", "2020", "2021"],
        "quarter": ["2019Q1", "2019Q2", "2019Q3"],
        "month": ["201901", "201902", "201903"],
        "day": ["2019-01-01", "2019-01-02", "2019-01-03"],
    }
    after = {"year": "2022", "quarter": "2019Q4", "month": "2019-04", "day": "2019-01-04"}
    for unit, written in texts.items():
        found = series_of([1.0, 2.0, 3.0], written)
        assert (found.unit, found.label(0), found.label(3)) == (unit, first[unit], after[unit])
    assert series_of([1, 2], ["2019-01-01 13:00", "2019-01-01 13:30"]).label(2) == "2019-01-01 14:00"
    assert series_of([1, 2, 3]).label(3) == "4"
    assert series_of([1, 2, 3], [0.5, 1.0, 1.5]).label(3) == "2"
    assert series_of([1, 2], ["9999-11", "9999-12"]).label(2) == "10000-01"


@pytest.mark.parametrize(
    "times",
    [
        [datetime.datetime(2019, m, 1) for m in range(1, 13)],
        [datetime.date(2019, m, 1) for m in range(1, 13)],
        pl.Series([datetime.date(2019, m, 1) for m in range(1, 13)]),
        np.arange("2019-01", "2020-01", dtype="datetime64[M]"),
        [np.datetime64(f"2019-{m:02}") for m in range(1, 13)],
        [datetime.datetime(2019, m, 1, tzinfo=datetime.UTC) for m in range(1, 13)],
        [201900 + m for m in range(1, 13)],
        [f"2019-{m:02}" for m in range(1, 13)],
        (2019 + np.arange(12) / 12).tolist(),
    ],
)
def test_months_come_in_many_types(times):
    found = series_of(pl.Series("a", range(12)), times)
    assert (found.name, found.unit, found.label(12)) == ("a", "month", "2020-01")
    assert found.positions.tolist() == list(range(12))


def test_periods_and_zones_of_pandas_are_read():
    pd = pytest.importorskip("pandas")
    quarters = series_of(pd.Series([1.0, 2, 3], pd.period_range("2019Q1", periods=3, freq="Q")))
    assert (quarters.unit, quarters.label(3)) == ("quarter", "2019Q4")
    zoned = series_of(pd.Series([1.0, 2, 3], pd.date_range("2019-01-01", periods=3, tz="Europe/Berlin")))
    assert (zoned.unit, str(zoned.times[0])) == ("day", "2019-01-01T00:00:00")
    assert series_of(pd.Series([1.0, 2, None])).unit == "step"


def test_missing_values_gaps_and_the_order_of_rows_are_kept():
    found = series_of([3.0, None, 1.0], ["2019-01-05", "2019-01-02", "2019-01-01"])
    assert found.positions.tolist() == [0.0, 1.0, 4.0]
    np.testing.assert_array_equal(found.values, [1.0, np.nan, 3.0])
    assert found.notes == ("rows sorted by time",)
    irregular = series_of([1, 2, 3, 4], [0.0, 1.0, 2.5, 3.9])
    np.testing.assert_allclose(irregular.positions, np.array([0.0, 1.0, 2.5, 3.9]) / 1.4)
    jittered = series_of([1, 2, 3, 4], [f"2019-01-01 {t}" for t in ("10:00:01", "10:05:00", "10:10:02", "10:14:58")])
    assert (jittered.unit, jittered.clock.every, jittered.positions.tolist()) == ("minute", 5, [0.0, 1.0, 2.0, 3.0])


def test_seasons_are_those_that_the_length_supports_or_that_are_given():
    months = [f"{2019 + m // 12}-{m % 12 + 1:02}" for m in range(30)]
    assert series_of(range(24), months[:24]).seasons == (12,)
    assert series_of(range(23), months[:23]).seasons == ()
    assert series_of(range(30), season=12).seasons == (12,)
    assert series_of(range(30), months, season=1).seasons == ()
    assert series_of(range(30), months, season=(6, 12)).seasons == (6, 12)
    assert series_of(range(30), months).first(23).seasons == ()


@pytest.mark.parametrize(
    ("y", "times", "season", "said"),
    [
        ([], None, None, "y has no value"),
        ([None, float("nan")], None, None, "y has no value"),
        ([1, "abc"], None, None, "y holds 'abc' in row 2, but a series is made of numbers"),
        ([1, 2, 1e300], None, None, r"y has 1e\+300 in row 3, but values up to 1e\+100 were expected"),
        ([1, float("inf")], None, None, "y has an infinite value in row 2"),
        ([10**400], None, None, "in row 1"),
        ("12345", None, None, "but str was given"),
        (np.zeros((3, 2)), None, None, "but ndarray was given"),
        (7, None, None, "but int was given"),
        ([1, 2, 3], [1, 2], None, "2 times and 3 values"),
        ([1, 2, 3], 5, None, "times must be"),
        ([1, 2, 3], [1, None, 3], None, "times has no time in row 2"),
        ([1, 2, 3], [1, np.datetime64("NaT"), 3], None, "times has no time in row 2"),
        ([1, 2, 3], [1, "2019-01-01", 3], None, "'2019-01-01' is among them"),
        ([1, 2, 3], [True, False, True], None, "times must be all dates"),
        ([1, 2, 3], ["2019-01", "2019-02", "2019-02"], None, "the time 2019-02 in row 2 and again in row 3"),
        ([1, 2, 3], None, 2.5, "season must be a whole number of steps, such as 12 for months"),
        ([1, 2, 3], None, -1, "season must be a whole number"),
        ([1, 2, 3], None, "monthly", "season must be a whole number"),
        ([1, 2, 3], None, float("nan"), "season must be a whole number"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(y, times, season, said):
    with pytest.raises(Refusal, match=said) as refused:
        series_of(y, times, season)
    assert "\n" not in str(refused.value)
