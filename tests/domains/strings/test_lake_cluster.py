"""The pure function of a catalogue on a Dask cluster, through fugue: the same rows as in processes of our own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fugue", reason="install wakesleep[lake] to test catalogues on several machines")
pytest.importorskip("distributed", reason="install wakesleep[lake] to test catalogues on several machines")

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "lake.md"


def test_the_lines_of_the_page_make_the_same_catalogue(tmp_path):
    lake = tmp_path / "lake"
    lake.mkdir()
    for i in range(6):
        days = "".join(f"2024-{1 + i:02d}-{1 + j:02d},ORD-{1000 * i + 7 * j:05d}\n" for j in range(20))
        (lake / f"{i}.csv").write_text("day,order\n" + days)
    (lake / "bad.csv").write_bytes(b"\x89PNG\r\n\x1a\n")
    script = tmp_path / "cluster.py"
    script.write_text(lines_of_the_page())
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, str(script)], cwd=tmp_path, check=True, env=environment)
    command = [sys.executable, "-m", "wakesleep", "catalogue", "lake", "-o", "alone.parquet", "--jobs", "2"]
    subprocess.run(command, cwd=tmp_path, check=True, env=environment, stdout=subprocess.DEVNULL)
    assert rows(tmp_path / "catalogue.parquet") == rows(tmp_path / "alone.parquet")


def lines_of_the_page():
    return PAGE.read_text().split("```py\n")[1].split("```")[0]


def rows(path):
    import polars as pl

    found = pl.read_parquet(path).to_dicts()
    return sorted(json.dumps({k: v for k, v in row.items() if k != "error"}, sort_keys=True) for row in found)
