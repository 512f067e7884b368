"""Series are read from tables of every kind that the one reader knows."""

import datetime
import gzip

import numpy as np
import polars as pl
import pytest

from tests.data.spreadsheets import write_xlsx
from wakesleep.domains.timeseries.tables import read_records


@pytest.mark.parametrize("zone", ["Z", "+00:00", " +0200"])
def test_times_with_an_offset_are_read(tmp_path, zone):
    times = [f"2024-01-01T{i:02}:00:00{zone}" for i in range(12)]
    path = tmp_path / "a.csv"
    path.write_text("t,y\n" + "".join(f"{t},{i}\n" for i, t in enumerate(times)))
    (found,) = read_records(path)
    assert (found.unit, found.times.tolist()) == ("hours", list(range(12)))


def test_series_come_from_files_of_every_kind(tmp_path):
    days = [datetime.date(2024, 1, 1 + i) for i in range(12)]
    frame = pl.DataFrame({"day": days, "y": [i * i + 0.5 for i in range(12)]})
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "b.parquet")
    frame.with_columns(pl.col("day").cast(pl.Datetime("us", "UTC"))).write_parquet(tmp_path / "c.parquet")
    (tmp_path / "d.csv").write_bytes((tmp_path / "a.csv").read_text().encode("utf-16"))
    (tmp_path / "e.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    frame.with_columns(pl.col("day").cast(pl.String)).write_ndjson(tmp_path / "f.jsonl")
    write_xlsx(tmp_path / "g.xlsx", [["day", "y"], *([str(d), v] for d, v in frame.iter_rows())])
    for path in sorted(tmp_path.iterdir()):
        (found,) = read_records(path)
        assert (found.name, found.unit, found.origin) == ("y", "days", "2024-01-01T00:00:00"), path.name
        np.testing.assert_array_equal(found.values, frame["y"].to_numpy())
    (tmp_path / "h.csv").write_text("".join(f"{i * i}\n" for i in range(12)))
    (bare,) = read_records(tmp_path / "h.csv")
    assert (bare.name, len(bare.values)) == ("column 1", 12)
