"""A catalogue of a folder: every table once, bad files with reasons, resumed after a kill, asked for columns."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from wakesleep.cli.app import app
from wakesleep.domains.strings.columns.characters import Chars
from wakesleep.domains.strings.columns.counts import Counts
from wakesleep.domains.strings.columns.explanation import explain
from wakesleep.domains.strings.columns.nodes import Run
from wakesleep.domains.strings.columns.records import as_record
from wakesleep.domains.strings.lake import catalogue as module
from wakesleep.domains.strings.lake.catalogue import make_catalogue, tables_below
from wakesleep.domains.strings.lake.describe import CATALOGUE_FIELDS, File, describe, describe_file
from wakesleep.domains.strings.lake.like import column_values, like
from wakesleep.domains.strings.lake.pool import Failure, answers
from wakesleep.domains.strings.lake.store import Journal, rows_of, write
from wakesleep.errors import Refusal

ROOT = Path(__file__).parents[3]
ORDERS = [f"ORD-{10000 + 37 * i}" for i in range(40)]
DATES = [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(40)]
STATES = ["open", "sent", "paid", "sent"] * 10


def table(**columns):
    lines = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(line) for line in lines)]) + "\n"


@pytest.fixture
def lake(tmp_path):
    """A folder with tables of several kinds, a file that is none, and files that do not count."""
    folder = tmp_path / "lake"
    (folder / "north").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / "north" / "orders.csv").write_text(table(order=ORDERS, day=DATES))
    (folder / "states.tsv").write_text(table(state=STATES).replace(",", "\t"))
    pl.DataFrame({"when": DATES, "nothing": [None] * 40}).write_parquet(folder / "days.parquet")
    (folder / "drawing.csv").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "readme.md").write_text("no table")
    (folder / ".hidden" / "secret.csv").write_text(table(order=ORDERS))
    return folder


def test_every_table_has_a_row_for_each_column_and_a_bad_file_one_with_the_reason(lake, tmp_path):
    found = make_catalogue(lake, tmp_path / "c.parquet", jobs=2)
    rows = pl.read_parquet(tmp_path / "c.parquet").to_dicts()
    assert [(r["file"], r["column"], r["type"]) for r in rows] == [
        ("days.parquet", "when", "date"),
        ("days.parquet", "nothing", "empty"),
        ("drawing.csv", None, None),
        ("north/orders.csv", "order", "text"),
        ("north/orders.csv", "day", "date"),
        ("states.tsv", "state", "text"),
    ]
    assert "PNG" in rows[2]["error"] and [r["error"] for r in rows if r["column"]] == [None] * 5
    assert (rows[3]["distinct"], rows[3]["rows"], rows[3]["nulls"], rows[1]["nulls"]) == (40, 40, 0.0, 1.0)
    assert (found.files, found.described, found.unchanged, found.columns, found.failed) == (4, 4, 0, 5, 1)
    assert found.failures[0][0] == "drawing.csv"
    assert list(rows[0]) == list(CATALOGUE_FIELDS)


def test_json_lines_hold_the_same_rows_as_parquet(lake, tmp_path):
    for name in ("c.parquet", "c.jsonl"):
        make_catalogue(lake, tmp_path / name)
    assert list(rows_of(tmp_path / "c.jsonl")) == list(rows_of(tmp_path / "c.parquet"))


def test_only_what_changed_is_described_again(lake, tmp_path):
    output = tmp_path / "c.parquet"
    make_catalogue(lake, output)
    (lake / "states.tsv").write_text("state\n" + "new\nold\n" * 20)
    (lake / "days.parquet").unlink()
    found = make_catalogue(lake, output)
    assert (found.files, found.described, found.unchanged, found.columns) == (3, 1, 2, 1)
    fresh = tmp_path / "fresh.parquet"
    make_catalogue(lake, fresh)
    assert pl.read_parquet(output).equals(pl.read_parquet(fresh))
    assert make_catalogue(lake, output, effort="usual").described == 3, "another effort makes other rows"


def test_a_killed_catalogue_goes_on_where_it_stopped(lake, tmp_path):
    for i in range(40):
        (lake / f"t{i:02d}.csv").write_text(table(order=ORDERS[i:], text=[f"row {i} of {v}" for v in DATES[i:]]))
    whole, output = tmp_path / "whole.parquet", tmp_path / "c.parquet"
    make_catalogue(lake, whole, jobs=2)
    command = [sys.executable, "-m", "wakesleep", "catalogue", str(lake), "-o", str(output), "--jobs", "2"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = tmp_path / "c.parquet.journal"
    while process.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= 5):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not output.exists()
    done = journal.read_bytes()
    finished = done.count(b"\n")
    journal.write_bytes(done + b'[{"file": "t39.csv", "dig')  # a line that a full disk cut
    found = make_catalogue(lake, output, jobs=2)
    assert finished >= 5 and found.unchanged == finished
    assert found.described == found.files - finished
    assert pl.read_parquet(output).equals(pl.read_parquet(whole))
    assert not journal.exists()


def test_two_processes_do_not_make_the_same_catalogue(lake, tmp_path):
    with Journal(tmp_path / "c.jsonl", "made"), pytest.raises(Refusal, match="being made by another process"):
        make_catalogue(lake, tmp_path / "c.jsonl")


def square(x):
    if x == 13:
        os.kill(os.getpid(), signal.SIGKILL)
    if x == 7:
        time.sleep(60)
    return x * x


def test_a_process_that_dies_or_hangs_fails_its_task_alone():
    found = dict(answers(square, range(20), jobs=2, seconds=2.0))
    reasons = {x: answer.reason for x, answer in found.items() if isinstance(answer, Failure)}
    assert sorted(reasons) == [7, 13] and "signal 9" in reasons[13] and "2 seconds" in reasons[7]
    assert all(found[x] == x * x for x in range(20) if x not in reasons)


def test_a_file_given_up_has_a_row_and_is_tried_again(lake, tmp_path, monkeypatch):
    def fail(work, tasks, jobs, seconds):
        yield from ((task, Failure("It was given up.") if task.name == "states.tsv" else work(task)) for task in tasks)

    monkeypatch.setattr(module, "answers", fail)
    make_catalogue(lake, tmp_path / "c.jsonl")
    rows = [row for row in rows_of(tmp_path / "c.jsonl") if row["file"] == "states.tsv"]
    assert [(row["column"], row["error"]) for row in rows] == [(None, "It was given up.")]
    monkeypatch.undo()
    assert make_catalogue(lake, tmp_path / "c.jsonl").described == 1


def test_the_pure_function_needs_nothing_but_paths(lake):
    rows = list(
        describe([{"path": str(lake / "states.tsv"), "file": "s"}, {"path": str(lake / "no.csv"), "file": "n"}])
    )
    assert [(row["file"], row["column"]) for row in rows] == [("s", "state"), ("n", None)]
    assert "cannot be read" in rows[1]["error"]
    digest = rows[0]["digest"]
    assert describe_file(File(str(lake / "states.tsv"), "s", digest)) is None


def test_names_that_are_no_text_and_links_that_go_round(tmp_path):
    (tmp_path / "round").symlink_to(tmp_path)
    (tmp_path / os.fsdecode(b"caf\xe9.csv")).write_text("a\n1\n")
    assert [file.name for file in tables_below(tmp_path, tmp_path / "c.jsonl")] == ["caf\\xe9.csv"]


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    (folder / "a.csv").write_text(table(order=ORDERS, day=DATES, state=STATES, number=[str(i * 7) for i in range(40)]))
    make_catalogue(folder, folder / "c.jsonl")
    return folder / "c.jsonl"


@pytest.mark.parametrize(
    ("value", "column"), [("2021-07-30", "day"), ("ORD-99999", "order"), ("paid", "state"), ("91", "number")]
)
def test_a_value_is_found_in_the_column_it_would_fit_best(catalogue, value, column):
    assert like(catalogue, [value]).matches[0].column == column


def test_the_rank_is_the_mean_of_the_programs_log_probability(catalogue):
    values = ["2024-02-29", "2024-03-05"]
    found = {m.column: m for m in like(catalogue, values).matches}["day"]
    posterior = explain(DATES, effort="quick").posterior
    likely = list(zip(posterior.weights, posterior.entries, strict=True))[:3]
    kept = [likely[0], *(pair for pair in likely[1:] if pair[0] >= 0.05)]
    total = sum(w for w, _ in kept)
    p = [sum(w / total * np.exp(e.program.log_prob(v)) for w, e in kept) for v in values]
    expected = np.mean([np.log(0.98 * q + 0.02 * 128.0 ** -(len(v) + 1)) for q, v in zip(p, values, strict=True)])
    assert found.fitting == 1.0
    assert found.log_prob == pytest.approx(expected, abs=1e-9)


def test_a_column_is_found_though_one_value_is_misspelled(catalogue, tmp_path):
    (tmp_path / "new.csv").write_text(table(when=[*DATES[:20], "tomorrow"]))
    best = like(catalogue, column_values(f"{tmp_path}/new.csv:when")).matches[0]
    assert best.column == "day" and 0.9 < best.fitting < 1


def test_what_fits_nowhere_is_not_found(catalogue):
    found = like(catalogue, ["\x00\x01 ~~ %%"])
    assert found.code() == 1 or found.matches[0].log_prob < -20


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["catalogue", "nowhere"], "not a folder"),
        (["catalogue", ".", "-o", "c.txt"], "must end in"),
        (["catalogue", ".", "--jobs", "0"], "at least 1"),
        (["like", "nothing.jsonl", "a"], "not a file"),
        (["like", "bad.jsonl", "a"], "not a catalogue"),
        (["like", "bad.parquet", "a"], "not a catalogue"),
        (["like", "evil.jsonl", "a"], "damaged"),
        (["like", "evil.jsonl"], "either values"),
        (["like", "evil.jsonl", "a", "--column", "b.csv:c"], "either values"),
        (["like", "evil.jsonl", "--column", "b.csv"], "names no column"),
    ],
)
def test_bad_words_and_catalogues_are_refused(tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    Path("bad.jsonl").write_text('{"a": 1}\n')
    Path("bad.parquet").write_text("no")
    row = dict.fromkeys(CATALOGUE_FIELDS) | {"file": "f", "column": "c", "programs": '[[1.0, {"kind": "System"}]]'}
    Path("evil.jsonl").write_text(json.dumps(row) + "\n")
    Path("some.csv").write_text("a\n1\n")
    with pytest.raises(Refusal, match=sentence):
        app(words, standalone_mode=False)


@pytest.mark.parametrize("high", [2**33, 10**40])
def test_a_stored_count_that_no_regex_engine_takes_is_refused(tmp_path, high):
    run = as_record(Run(Chars((), "0123456789"), Counts(1, 3))) | {"counts": {"kind": "Counts", "low": 1, "high": high}}
    row = dict.fromkeys(CATALOGUE_FIELDS) | {"file": "f", "column": "c", "programs": json.dumps([[1.0, run]])}
    (tmp_path / "c.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(Refusal, match="values that cannot be"):
        like(tmp_path / "c.jsonl", ["12"])


def test_a_catalogue_is_written_whole_or_not_at_all(tmp_path):
    def rows():
        yield dict.fromkeys(CATALOGUE_FIELDS) | {"file": "a"}
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        write(rows(), tmp_path / "c.parquet")
    assert not (tmp_path / "c.parquet").exists()


def test_no_file_is_described_twice(lake, tmp_path):
    make_catalogue(lake, tmp_path / "c.jsonl", jobs=3)
    counts = Counter((row["file"], row["position"]) for row in rows_of(tmp_path / "c.jsonl"))
    assert set(counts.values()) == {1}


def test_the_figures_of_the_page_are_those_of_the_benchmark():
    rows = {r["run"]: r for r in json.loads((ROOT / "results" / "benchmark-lake.json").read_text())["rows"]}
    page = (ROOT / "docs" / "lake.md").read_text()
    for name in ("whole tables", "undisturbed"):
        r = rows[name]
        figures = f"{r['files']:,} | {r['columns']:,} | {r['cpu_seconds']} | {r['columns_a_cpu_second']}"
        assert f"| {figures} | {r['catalogue_bytes'] / 1000:.0f} kB |" in page
    first, second, third = rows["killed 3 times"]["finished_at_each_kill"]
    assert f"at {first:,}, {second:,} and {third:,} finished files" in page
    assert f"describes nothing, in {rows['nothing changed']['cpu_seconds']} CPU seconds" in page
    like, whole = rows["like 2024-01-31"], rows["100,000 whole tables, extrapolated"]
    assert f"asks {like['searched']:,} columns in {like['cpu_seconds']} CPU seconds" in page
    assert f"{whole['cpu_hours']:.0f} CPU hours and {whole['catalogue_mb']} MB" in page
