"""Every reader of files for `benchmarks/fuzz.py`: a corpus of whole files, and what is done with a changed one."""

import json
import random
import runpy
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
import polars as pl
from hostile_runs import last
from PIL import Image

from wakesleep import domains
from wakesleep.core import weights
from wakesleep.core.algorithms import State
from wakesleep.data import images, memmap, sniff
from wakesleep.data.atomic import digests
from wakesleep.data.tables import read_table, stream_columns
from wakesleep.domains.shipped import read_notes
from wakesleep.running import commands
from wakesleep.running import run as runs
from wakesleep.running.cluster import Place
from wakesleep.running.config import make_algorithm
from wakesleep.running.train import prepare

ROOT = Path(__file__).parents[1]
write_xlsx = runpy.run_path(str(ROOT / "tests" / "data" / "spreadsheets.py"))["write_xlsx"]


class Reader(NamedTuple):
    """A kind of file: whole files by name, and the reader, which must return or refuse."""

    corpus: dict[str, bytes]
    read: Callable[[Path, bytes], object]
    """(a folder of its own, the bytes): writes the file there and reads it."""


Groups = dict[str, Callable[[], dict[str, Reader]]]
"""What makes readers, by their names."""


def every_reader(work: Path, names: list[str], more: Groups) -> dict[str, Reader]:
    """Returns the readers of those names; `work` gets the files of which the corpora are made."""
    work.mkdir(parents=True, exist_ok=True)
    groups: Groups = {
        "csv tsv jsonl parquet xlsx": lambda: tables(work),
        "png": lambda: {"png": Reader(pictures(work), picture)},
        "config metrics checkpoint": lambda: run_readers(work),
        "store": lambda: {"store": store(work)},
        "weights": lambda: {"weights": model(work)},
    }
    made: dict[str, Reader] = {}
    for group, make in (groups | more).items():
        if set(group.split()) & set(names):
            made |= make()
    return {name: made[name] for name in names}


def tables(work: Path) -> dict[str, Reader]:
    """The readers of tables, by the kind of file."""
    frame = pl.DataFrame({"code": [f"A{i}-x" for i in range(60)], "n": range(60), "w": [i / 7 for i in range(60)]})
    orders = (ROOT / "examples" / "orders.csv").read_bytes()
    frame.write_csv(work / "a.csv")
    frame.write_csv(work / "a.tsv", separator="\t")
    frame.write_ndjson(work / "a.jsonl")
    frame.write_parquet(work / "a.parquet")
    frame.write_parquet(work / "b.parquet", compression="uncompressed", use_pyarrow=False)
    write_xlsx(work / "a.xlsx", [["a", "b"], *([f"x{i}", i + 1] for i in range(20))])
    read = {name: (work / name).read_bytes() for name in sorted(p.name for p in work.iterdir() if p.is_file())}
    return {
        "csv": Reader({"a.csv": read["a.csv"], "orders.csv": orders}, partial(table, ".csv")),
        "tsv": Reader({"a.tsv": read["a.tsv"]}, partial(table, ".tsv")),
        "jsonl": Reader({"a.jsonl": read["a.jsonl"]}, partial(table, ".jsonl")),
        "parquet": Reader({n: read[n] for n in ("a.parquet", "b.parquet")}, partial(table, ".parquet")),
        "xlsx": Reader({"a.xlsx": read["a.xlsx"]}, spreadsheet),
    }


def table(suffix: str, folder: Path, data: bytes) -> None:
    """Reads a table in both ways."""
    path = folder / f"file{suffix}"
    path.write_bytes(data)
    read_table(path, rows="sample")
    for _ in stream_columns(path):
        pass


def spreadsheet(folder: Path, data: bytes) -> None:
    """Once, since a spreadsheet is read in a process of its own."""
    (folder / "file.xlsx").write_bytes(data)
    read_table(folder / "file.xlsx", rows="all")


def pictures(work: Path) -> dict[str, bytes]:
    """Small images of each kind, and arrays."""
    folder = work / "images"
    folder.mkdir(exist_ok=True)
    grid = np.arange(192, dtype=np.uint8).reshape(8, 8, 3)
    for name in ("a.png", "a.jpg", "a.gif", "a.bmp"):
        Image.fromarray(grid).save(folder / name)
    np.save(folder / "a.npy", grid)
    np.savez(folder / "a.npz", a=grid)
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def picture(folder: Path, data: bytes) -> None:
    """Reads the bytes as the kind of file that they look like."""
    suffix = {b"\x93N": ".npy", b"PK": ".npz"}.get(data[:2], ".png")
    path = folder / f"file{suffix}"
    path.write_bytes(data)
    sniff.colours(path)
    images.read_images(folder)


def run_readers(work: Path) -> dict[str, Reader]:
    """The readers of a run directory: its configuration, metrics and checkpoints."""
    path = work / "run"
    if not path.exists():
        points = [f"{g},{g}.{i},{i}.5\n" for g in range(4) for i in range(3)]
        (work / "points.csv").write_text("group,x,y\n" + "".join(points))
        settings = {"data": str(work / "points.csv"), "width": 4}
        sizes = {"steps": 4, "checkpoint_every": 2, "batch_size": 2, "memory_size": 2, "proposals": 2}
        commands.train({"domain": "clusters", "settings": settings, **sizes}, path, Place())
    job = prepare(runs.open_run(path).config)
    shape = job.shape()
    config, metrics = ((path / name).read_bytes() for name in ("config.json", "metrics.jsonl"))
    # The same bytes in every folder and at every commit, so that a case is the same in every run.
    config = config.replace(str(work).encode(), b"/corpus").replace(job.config.commit.encode() or b"?", b"")
    held = {str(p.relative_to(last(path))): p.read_bytes() for p in sorted(last(path).rglob("*")) if p.is_file()}

    def change(folder: Path, name: str, data: bytes) -> runs.Run:
        copy = folder / "run"
        (copy / "checkpoints" / "000000004").mkdir(parents=True)
        (copy / "config.json").write_bytes(config)
        (copy / name).write_bytes(data)
        return runs.open_run(copy)

    def configure(folder: Path, data: bytes) -> None:
        found = change(folder, "config.json", data).config
        domains.domain(found.domain, given=False).configure(found.settings)
        make_algorithm(found)

    def measure(folder: Path, data: bytes) -> None:
        run = change(folder, "metrics.jsonl", data)
        for line in runs.history(run):
            f"{line['bound']:.3f}"
        runs.rewind(run, 2)

    return {
        "config": Reader({"config.json": config}, configure),
        "metrics": Reader({"metrics.jsonl": metrics}, measure),
        "checkpoint": Reader(held, lambda folder, data: restore(path, shape, held, folder, data)),
    }


def restore(path: Path, shape: State, held: dict[str, bytes], folder: Path, data: bytes) -> None:
    """Reads a checkpoint one file of which was changed; the digests fit, so that what lies behind them is reached."""
    copy = folder / "run"
    shutil.copytree(last(path), copy / "checkpoints" / last(path).name)
    shutil.copy(path / "config.json", copy)
    draw = random.Random(data)
    (last(copy) / draw.choice(sorted(held))).write_bytes(data)
    if draw.random() < 0.9:
        (last(copy) / "digest.json").write_text(json.dumps(digests(last(copy), "digest.json")))
    runs.restore(runs.open_run(copy), shape, change=False)


def store(work: Path) -> Reader:
    """The reader of stores."""
    whole = work / "store"
    if not whole.exists():
        memmap.write(whole, [{"x": np.arange(24.0).reshape(6, 4), "c": np.arange(6)}], {"domain": "any"})
    corpus = {p.name: p.read_bytes() for p in sorted(whole.iterdir())}

    def read(folder: Path, data: bytes) -> None:
        copy, draw = folder / "store", random.Random(data)
        shutil.copytree(whole, copy)
        name = draw.choice(sorted(corpus))
        (copy / name).write_bytes(data)
        if name.endswith(".npy") and draw.random() < 0.9:
            said = json.loads(corpus["store.json"])
            said["files"] = {k: v for k, v in digests(copy, "store.json").items() if k.endswith(".npy")}
            (copy / "store.json").write_text(json.dumps(said))
        for array in memmap.read(copy).arrays.values():
            np.asarray(array[:2])

    return Reader(corpus, read)


def model(work: Path) -> Reader:
    """The reader of files of weights."""
    key = jax.random.key(0)
    tree = {"a": jax.random.normal(key, (3, 2)), "b": [jax.random.normal(key, (4,))]}
    weights.save(work / "a.safetensors", tree, {"settings": {"width": 4}, "card": {"data": "none"}})

    def read(folder: Path, data: bytes) -> None:
        path = folder / "file.safetensors"
        path.write_bytes(data)
        with suppress(weights.Refusal):
            read_notes(path)
        weights.load(path, tree)

    return Reader({"a.safetensors": (work / "a.safetensors").read_bytes()}, read)
