"""Times as people write them: every form is read right, or refused in one sentence that names the row."""

import numpy as np
import pytest

from wakesleep.domains.timeseries.reading.dates import read_times
from wakesleep.errors import Refusal

TITLE = "The column of times 't'"


def days(texts):
    times, _ = read_times(texts, TITLE)
    assert times.dtype == np.dtype("datetime64[s]")
    return [str(t).removesuffix("T00:00:00") for t in times]


@pytest.mark.parametrize(
    ("texts", "read"),
    [
        (["201901", "201912"], ["2019-01-01", "2019-12-01"]),
        (["201901.0", "201902.0"], ["2019-01-01", "2019-02-01"]),
        (["20190131", "20190201"], ["2019-01-31", "2019-02-01"]),
        (["1/31/19", "2/28/19"], ["2019-01-31", "2019-02-28"]),
        (["31/1/19", "28/2/19"], ["2019-01-31", "2019-02-28"]),
        (["31.12.9999", "1.1.9999"], ["9999-12-31", "9999-01-01"]),
        (["9999-12-31", "0001-01-01"], ["9999-12-31", "0001-01-01"]),
        (["Jan-2019", "Feb-2019"], ["2019-01-01", "2019-02-01"]),
        (["Jan-19", "Feb-19"], ["2019-01-01", "2019-02-01"]),
        (["19-Jan", "19-Feb"], ["2019-01-01", "2019-02-01"]),
        (["December 1999", "Sept 1950"], ["1999-12-01", "1950-09-01"]),
        (["1-Jan-19", "02 February 2019"], ["2019-01-01", "2019-02-02"]),
        (["Jan 5, 2019", "Tue January 8th, 2019"], ["2019-01-05", "2019-01-08"]),
        (["2019M1", "2019M12"], ["2019-01-01", "2019-12-01"]),
        (["01/2019", "12/2019"], ["2019-01-01", "2019-12-01"]),
        (["2019Q1", "2019Q4"], ["2019-01-01", "2019-10-01"]),
        (["2019-Q1", "2019 q2"], ["2019-01-01", "2019-04-01"]),
        (["Q3 2019", "4Q19"], ["2019-07-01", "2019-10-01"]),
        (["2019H1", "2019H2"], ["2019-01-01", "2019-07-01"]),
        (["2019-W05", "2020-W53", "2021W01"], ["2019-01-28", "2020-12-28", "2021-01-04"]),
        (["2019-W05-7"], ["2019-02-03"]),
        (["2019-01-07/2019-01-13"], ["2019-01-07"]),
        (["2019", "2020"], ["2019-01-01", "2020-01-01"]),
        (["1949.083", "1949.167", "1949.25"], ["1949-02-01", "1949-03-01", "1949-04-01"]),
        (["1958.2027", "1958.2877", "1958.3699"], ["1958-03-01", "1958-04-01", "1958-05-01"]),
        (["2019.25", "2019.5", "2019.75"], ["2019-04-01", "2019-07-01", "2019-10-01"]),
        (["1546300800", "1546387200"], ["2019-01-01", "2019-01-02"]),
        (["1546300800000", "1546387200000"], ["2019-01-01", "2019-01-02"]),
    ],
)
def test_dates_of_many_forms_are_read(texts, read):
    assert days(texts) == read


@pytest.mark.parametrize(
    ("texts", "read"),
    [
        (["2019-01-01T13:05:00Z"], "2019-01-01T13:05:00"),
        (["2019-01-01 13:05:00.250 +02:00"], "2019-01-01T13:05:00"),
        (["2019-01-01T13:05-0530"], "2019-01-01T13:05:00"),
        (["1/2/2019 1:05 PM"], "2019-01-02T13:05:00"),
        (["13.1.2019 12:05 am"], "2019-01-13T00:05:00"),
        (["Tue, 01 Jan 2019 13:05:00 GMT"], "2019-01-01T13:05:00"),
        (["201901011305"], "2019-01-01T13:05:00"),
    ],
)
def test_times_of_the_day_and_zones_are_read(texts, read):
    assert days(texts) == [read]


def test_several_offsets_are_brought_to_one_clock():
    hours, notes = read_times(["2019-03-31T01:00+01:00", "2019-03-31T03:00+02:00"], TITLE)
    assert [str(t)[11:16] for t in hours] == ["00:00", "01:00"]
    assert "Greenwich time" in notes[0]
    midnights, notes = read_times(["2019-03-31T00:00+01:00", "2019-04-01T00:00+02:00"], TITLE)
    assert [str(t)[:10] for t in midnights] == ["2019-03-31", "2019-04-01"]
    assert "local dates" in notes[0]


def test_the_column_decides_whether_day_or_month_comes_first():
    by_month = [f"{m}/1/{y}" for y in (19, 20) for m in range(1, 13)]
    times, notes = read_times(by_month, TITLE)
    assert str(times[1])[:10] == "2019-02-01"
    assert notes[0] == "'2/1/19' read with the month first, so the times are more even"
    by_day = [f"1/{m}/{y}" for y in (19, 20) for m in range(1, 13)]
    times, notes = read_times(by_day, TITLE)
    assert str(times[1])[:10] == "2019-02-01"
    assert "with the day first" in notes[0]
    assert str(read_times(["1/2/2019", "13/2/2019"], TITLE)[0][0])[:10] == "2019-02-01"
    assert str(read_times(["1/2/2019", "1/13/2019"], TITLE)[0][0])[:10] == "2019-01-02"
    (_, said), (_, other) = (read_times([f"1{mark}2{mark}2019"], TITLE) for mark in "/.")
    assert "month first, by custom" in said[0]
    assert "day first, by custom" in other[0]


def test_fractions_of_a_second_and_plain_numbers_stay_numbers():
    times, notes = read_times(["2019-01-01 00:00:00.25", "2019-01-01 00:00:00.50"], TITLE)
    assert times.tolist() == [0.25, 0.5]
    assert "seconds from the first" in notes[0]
    assert read_times(["0.5", "1", "1.5"], TITLE)[0].tolist() == [0.5, 1.0, 1.5]
    assert read_times(["100001", "100013"], TITLE)[0].tolist() == [100001.0, 100013.0]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["2019-01-01", "soon"], "holds 'soon' in row 2: dates of one form"),
        (["soon", "2019-01-01", "2019-01-02"], "holds 'soon' in row 1"),
        (["2019-01-31", "2019-02-30"], "holds '2019-02-30' in row 2, which is no date of the calendar"),
        (["2019-W52", "2019-W53"], "holds '2019-W53' in row 2"),
        (["2019-13"], "holds '2019-13' in row 1"),
        (["1/13/2019", "13/1/2019", "14/1/2019"], "holds '1/13/2019' in row 1"),
        (["2019-01-01", "2019-01"], "holds '2019-01' in row 2"),
        (["Jan-18", "Jan-19", "Jan-20", "Jan-21"], "holds 'Jan-18' in row 1, whose number may be a day or a year"),
        (["Jan-30", "Jan-31", "Feb-01", "Feb-02"], "may be a day or a year"),
        (["Foo-2019"], "holds 'Foo-2019' in row 1"),
        (["2019-01-01 25:00"], "row 1"),
        (["٢٠١٩-01-01"], "row 1"),
        (["9" * 5000], "row 1"),
    ],
)
def test_what_is_no_time_is_refused_with_its_row(texts, said):
    with pytest.raises(Refusal, match=said) as refused:
        read_times(texts, TITLE)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300
