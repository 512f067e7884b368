"""Series from tables of every kind that the one reader knows, right or refused with the row."""

import datetime
import gzip

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.data.spreadsheets import write_xlsx
from wakesleep.domains.timeseries.reading.tables import read_series
from wakesleep.errors import Refusal

MONTHS = [f"{2019 + m // 12}-{m % 12 + 1:02}" for m in range(14)]


def write(folder, *rows, name="a.csv"):
    path = folder / name
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def table(folder, times, values, header="t,y"):
    return write(folder, *([header] if header else []), *(f"{t},{v}" for t, v in zip(times, values, strict=True)))


@pytest.mark.parametrize("zone", ["Z", "+00:00", " +0200"])
def test_times_with_an_offset_are_read(tmp_path, zone):
    (found,) = read_series(table(tmp_path, [f"2024-01-01T{i:02}:00:00{zone}" for i in range(12)], range(12)))
    assert (found.unit, found.positions.tolist()) == ("hour", list(range(12)))


def test_series_come_from_files_of_every_kind(tmp_path):
    days = [datetime.date(2024, 1, 1 + i) for i in range(12)]
    frame = pl.DataFrame({"day": days, "y": [i * i + 0.5 for i in range(12)]})
    frame.write_csv(tmp_path / "a.csv")
    frame.write_csv(tmp_path / "a.tsv", separator="\t")
    frame.write_parquet(tmp_path / "b.parquet")
    frame.with_columns(pl.col("day").cast(pl.Datetime("us", "UTC"))).write_parquet(tmp_path / "c.parquet")
    (tmp_path / "d.csv").write_bytes((tmp_path / "a.csv").read_text().encode("utf-16"))
    (tmp_path / "e.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    frame.with_columns(pl.col("day").cast(pl.String)).write_ndjson(tmp_path / "f.jsonl")
    write_xlsx(tmp_path / "g.xlsx", [["day", "y"], *([str(d), v] for d, v in frame.iter_rows())])
    for source in (*sorted(tmp_path.iterdir()), frame):
        (found,) = read_series(source)
        assert (found.name, found.unit, found.label(0)) == ("y", "day", "2024-01-01"), source
        np.testing.assert_array_equal(found.values, frame["y"].to_numpy())


@pytest.mark.parametrize(
    "times",
    [
        [m.replace("-", "") for m in MONTHS],
        [f"{int(m[5:])}/1/{m[2:4]}" for m in MONTHS],
        [f"{datetime.date.fromisoformat(m + '-01'):%b-%Y}" for m in MONTHS],
        [f"{datetime.date.fromisoformat(m + '-01'):%b-%y}" for m in MONTHS],
    ],
)
@pytest.mark.parametrize("header", ["date,y", ""])
def test_months_of_many_forms_keep_their_first_row(tmp_path, times, header):
    (found,) = read_series(table(tmp_path, times, [100 + i for i in range(14)], header))
    assert (found.unit, found.label(0), found.label(14)) == ("month", "2019-01", "2020-03")
    assert found.values.tolist() == [100.0 + i for i in range(14)]


def test_the_first_row_is_no_header_where_it_holds_values(tmp_path):
    money = [f'2019-{m:02},"${v}"' for m, v in enumerate(["900.00", "1,200.00", "1,100.00", "950.00"], 1)]
    (found,) = read_series(write(tmp_path, *money))
    assert found.values.tolist() == [900.0, 1200.0, 1100.0, 950.0]
    (bare,) = read_series(write(tmp_path, *range(5, 17)))
    assert (bare.name, bare.unit, bare.values[0]) == ("column 1", "step", 5.0)


def test_a_long_table_gives_one_series_each(tmp_path):
    rows = [f"{name},{m},{i + 100 * (name == 'B')}" for name in "AB" for i, m in enumerate(MONTHS)]
    for header in ("unique_id,ds,y", "shop,date,sold"):
        a, b = read_series(write(tmp_path, header, *rows))
        assert (a.name, b.name, b.values[0], len(b.values), b.unit) == ("A", "B", 100.0, 14, "month")
    numbered = [f"{n},{m},{i}" for n in (1, 2) for i, m in enumerate(MONTHS)]
    assert [s.name for s in read_series(write(tmp_path, "unique_id,ds,y", *numbered))] == ["1", "2"]
    with pytest.raises(Refusal, match="the time 2019-01 in row 1 and again in row 15"):
        read_series(write(tmp_path, "x,ds,y", *numbered))
    assert [s.name for s in read_series(write(tmp_path, "x,ds,y", *numbered), id="x")] == ["1", "2"]


def test_two_columns_may_name_the_series_of_a_long_table(tmp_path):
    rows = [f"{m},{shop},{item},{i},{-i}" for shop in "AB" for item in "cd" for i, m in enumerate(MONTHS)]
    found = read_series(write(tmp_path, "date,shop,item,sold,returned", *rows))
    assert [s.name for s in found[:3]] == ["A, c, sold", "A, c, returned", "A, d, sold"]
    assert len(found) == 8


def test_a_table_with_a_time_in_each_column_has_a_series_in_each_row(tmp_path):
    path = write(tmp_path, "country,2019,2020,2021,2022", "Chad,1,2,3,", "Peru,5,,7,8")
    chad, peru = read_series(path)
    assert (chad.name, chad.unit, chad.values.tolist(), peru.label(4)) == ("Chad", "year", [1.0, 2.0, 3.0], "2023")
    np.testing.assert_array_equal(peru.values, [5, np.nan, 7, 8])
    assert "every row read as a series, from 2019 to 2022" in chad.notes
    with pytest.raises(Refusal, match="Column 'value' holds 'x' in row 2"):
        read_series(write(tmp_path, "country,2019,2020,2021", "Chad,1,2,3", "Peru,5,x,7"))


def test_columns_of_years_and_months_make_one_time(tmp_path):
    rows = [f"{m[:4]},{int(m[5:])},{i}" for i, m in enumerate(MONTHS)]
    (found,) = read_series(write(tmp_path, "year,month,y", *rows))
    assert (found.unit, found.label(0), len(found.values)) == ("month", "2019-01", 14)
    quarters = [f"{2019 + q // 4},Q{q % 4 + 1},{q}" for q in range(10)]
    (found,) = read_series(write(tmp_path, "Year,Quarter,y", *quarters))
    assert (found.unit, found.label(9)) == ("quarter", "2021Q2")
    hours = [f"2019-01-0{1 + h // 24},{h % 24},{h}" for h in range(60)]
    (found,) = read_series(write(tmp_path, "date,hour,y", *hours))
    assert (found.unit, found.positions[-1], found.seasons) == ("hour", 59.0, (24,))


def test_a_constant_column_does_not_refuse_the_table(tmp_path):
    flat, rising = read_series(write(tmp_path, "t,flat,rising", *(f"{m},5,{i}" for i, m in enumerate(MONTHS))))
    assert (flat.name, set(flat.values.tolist()), rising.name) == ("flat", {5.0}, "rising")


def test_text_columns_are_left_out_and_that_is_said(tmp_path):
    (found,) = read_series(write(tmp_path, "t,y,remark", *(f"{m},{i},fine" for i, m in enumerate(MONTHS))))
    assert found.notes == ("columns without numbers left out: 'remark'",)
    low, high = read_series(
        write(tmp_path, "x;low;high", *(f"{t};{'NA' if t == 4 else -t};{t * t}" for t in range(1, 12)))
    )
    assert (np.isnan(low.values[3]), high.values[3], low.label(0)) == (True, 16.0, "1")
    assert "column 'x' rises" in low.notes[0]


def test_money_and_per_cent_are_read(tmp_path):
    rows = [f'{m},"{100_350 + i:,}.00","${i * 1000:,}",{i}%' for i, m in enumerate(MONTHS)]
    a, b, c = read_series(write(tmp_path, "month,a,b,c", *rows))
    assert (a.values[0], b.values[13], c.values[13]) == (100350.0, 13000.0, 13.0)


def test_rows_before_the_first_and_after_the_last_value_are_left_out(tmp_path):
    values = ["", "", *range(10), "", ""]
    (found,) = read_series(table(tmp_path, MONTHS, values))
    assert (found.label(0), len(found.values), found.label(10)) == ("2019-03", 10, "2020-01")
    assert found.notes == ("4 rows before the first or after the last value left out",)


def test_rows_in_falling_order_are_turned_and_nothing_is_averaged(tmp_path):
    (found,) = read_series(table(tmp_path, MONTHS[::-1], range(14)))
    assert found.values.tolist() == [float(i) for i in range(13, -1, -1)]
    path = tmp_path / "long.csv"
    np.savetxt(path, np.sin(np.arange(20_000) / 400), fmt="%.5f", header="y", comments="")
    assert len(read_series(path)[0].values) == 20_000


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["t,y", "1,2", "2,abc", "3,4"], "Column 'y' holds 'abc' in row 2, which is not a number"),
        (["t,y", "2019-01-01,1", "soon,2"], "The column of times 't' holds 'soon' in row 2"),
        (["t,y", "2019-01,1", ",2"], "The column of times 't' is empty in row 2, which has values"),
        (["t,y", "2019-01,1", "2019-02,5%"], "holds '5%' in row 2, which mixes per cent"),
        (["t,y", "2019-01,1", "2019-01,2", "2019-02,2"], "y has the time 2019-01 in row 1 and again in row 2"),
        (["t,y", "2019-01,1", "2019-02,1e300"], r"y has 1e\+300 in row 2"),
        (["t,y", "2019-01,1", "2019-02,inf"], "y has an infinite value in row 2"),
        (["t,y", "2019-01,", "2019-02,"], "has no value"),
        (["t,y"], "has a header but no rows"),
        (["t,y", "2019-01,yes", "2019-02,no"], "Column 'y' holds 'yes' in row 1"),
        (["t,a,b", "2019-01,yes,no", "2019-02,no,yes"], "no column of numbers"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(tmp_path, rows, said):
    with pytest.raises(Refusal, match=said) as refused:
        read_series(write(tmp_path, *rows))
    assert "\n" not in str(refused.value)


def test_columns_that_are_not_there_are_refused(tmp_path):
    path = table(tmp_path, MONTHS, range(14))
    for asked in ({"column": "z"}, {"time": "z"}, {"id": "z"}):
        with pytest.raises(Refusal, match="no column 'z'; it has t, y"):
            read_series(path, **asked)


def test_a_column_of_dates_with_one_fault_is_refused_not_left_out(tmp_path):
    days = [f"2019-01-{d:02}" for d in range(1, 15)]
    days[9] = "soon"
    with pytest.raises(Refusal, match="The column of times 'when' holds 'soon' in row 10"):
        read_series(table(tmp_path, days, range(14), "when,y"))
    codes = [f"ABC-{i}" for i in range(10, 24)]
    (found,) = read_series(table(tmp_path, codes, range(14), "code,y"))
    assert (found.unit, found.notes) == ("step", ("columns without numbers left out: 'code'",))


CELLS = (
    "2019-01", "2019-02-30", "201913", "1/1/19", "13/1/2019", "Jan-19", "2019Q5", "2019-W99", "0000-01-01", "1e300",
    "-1e300", "1e999", "nan", "inf", "", "-", "0", "1", "3.5", "1,234", "1.234,5", "$5", "5%", "(3)", "1949.083",
    "1546300800", "99999999999999999999", "2019-01-01T00:00:00+99:99", "2019-01-01 24:00", "10:00", "\x00", "0.0.0",
    "1e-320", "19-Jan", "201901010000", "2019M13", "Q1'19", "\u0661", "2200",
)  # fmt: skip
NAMES = ("t", "ds", "y", "unique_id", "year", "month", "date", "hour", "2019", "2020", "2021", "", "week")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_table_is_read_whole_or_refused_in_a_sentence(data):
    height = data.draw(st.integers(1, 6))
    cells = st.lists(st.sampled_from(CELLS), min_size=height, max_size=height)
    few = st.lists(st.sampled_from(CELLS), min_size=1, max_size=2).flatmap(
        lambda some: st.lists(st.sampled_from(some), min_size=height, max_size=height)
    )
    columns = data.draw(st.dictionaries(st.sampled_from(NAMES), cells | few, min_size=1, max_size=4))
    try:
        found = read_series(columns)
    except Refusal as refused:
        assert str(refused).endswith(".")
        return
    for series in found:
        assert series.positions[0] == 0
        assert (np.diff(series.positions) > 0).all()
        assert np.nanmax(np.abs(series.values)) <= 1e100
        ahead = series.future(3)
        np.testing.assert_allclose(series.clock.position_of(series.time_at(ahead)), ahead, atol=1e-3, rtol=1e-3)
        assert series.label(float(ahead[0]))


def test_times_that_repeat_are_not_taken_for_values(tmp_path):
    with pytest.raises(Refusal, match="the time 3 in row 3 and again in row 4"):
        read_series(write(tmp_path, "x,y", *(f"{t},{t * t}" for t in [1, 2, 3, 3, 4, 5])))
    x, y = read_series(write(tmp_path, "x,y", *(f"{t},{t * t}" for t in [1, 2, 3, 3, 7, 5])))
    assert (x.name, y.name, y.unit) == ("x", "y", "step")
