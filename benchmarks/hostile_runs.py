"""Run directories made to harm: each kind changes a whole run directory, and may point at a folder outside of it.

`resume` must end with the same state as an undisturbed run, or with one sentence and exit code 2; the folder outside
never changes. The tests try every kind once, `benchmarks/survival.py` counts them.
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wakesleep.data.atomic import digests

Kind = Callable[[Path, Path], None]
"""(the run directory, a folder outside): does the harm."""


def configured(**changes: Any) -> Kind:
    """A configuration with other values."""

    def change(run: Path, outside: Path) -> None:
        config = json.loads((run / "config.json").read_text())
        (run / "config.json").write_text(json.dumps(config | changes))

    return change


def settings(**changes: Any) -> Kind:
    """A configuration with other settings of the domain."""

    def change(run: Path, outside: Path) -> None:
        config = json.loads((run / "config.json").read_text())
        config["settings"] |= changes
        (run / "config.json").write_text(json.dumps(config))

    return change


def written(name: str, data: bytes) -> Kind:
    """A file with other bytes."""

    def change(run: Path, outside: Path) -> None:
        gone(name)(run, outside)
        (run / name).write_bytes(data)

    return change


def line(data: bytes) -> Kind:
    """A line among the metrics."""

    def change(run: Path, outside: Path) -> None:
        lines = (run / "metrics.jsonl").read_bytes().splitlines(keepends=True)
        (run / "metrics.jsonl").write_bytes(b"".join([lines[0], data + b"\n", *lines[1:]]))

    return change


def gone(name: str) -> Kind:
    """A file or folder that is missing."""

    def change(run: Path, outside: Path) -> None:
        path = run / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    return change


def folder(name: str) -> Kind:
    """A folder in the place of a file."""

    def change(run: Path, outside: Path) -> None:
        gone(name)(run, outside)
        (run / name).mkdir()

    return change


def link(name: str, target: str) -> Kind:
    """A link to the outside; `target` is `file` or `folder`."""

    def change(run: Path, outside: Path) -> None:
        gone(name)(run, outside)
        (run / name).symlink_to(outside / target)

    return change


def pipe(name: str) -> Kind:
    """A named pipe, at which a reader would wait for ever."""

    def change(run: Path, outside: Path) -> None:
        gone(name)(run, outside)
        os.mkfifo(run / name)

    return change


def last(run: Path) -> Path:
    """The last checkpoint."""
    return max(p for p in (run / "checkpoints").iterdir() if p.name.isdecimal() and p.name.isascii())


def forged(harm: Callable[[Path], object]) -> Kind:
    """A last checkpoint that was changed, with digests that fit."""

    def change(run: Path, outside: Path) -> None:
        harm(last(run))
        (last(run) / "digest.json").write_text(json.dumps(digests(last(run), "digest.json")))

    return change


def in_last(name: str, data: bytes | None) -> Kind:
    """A file of the last checkpoint with other bytes, or none."""

    def change(run: Path, outside: Path) -> None:
        (last(run) / name).unlink(missing_ok=True)
        if data is not None:
            (last(run) / name).write_bytes(data)

    return change


def evil_domain(run: Path, outside: Path) -> None:
    """A domain in a file of the run directory, which writes to the outside when it is run."""
    (run / "evil.py").write_text(f"from pathlib import Path\nPath({str(outside)!r}, 'ran').write_text('x')\n")
    configured(domain=f"{run.absolute()}/evil.py:DOMAIN")(run, outside)


def deep_folders(run: Path, outside: Path) -> None:
    (run / "/".join(["d"] * 200)).mkdir(parents=True)


def zero_state(checkpoint: Path) -> None:
    for path in sorted((checkpoint / "state").rglob("*")):
        if path.is_file():
            path.write_bytes(bytes(path.stat().st_size))


def lose_shards(checkpoint: Path) -> None:
    for path in sorted((checkpoint / "state").rglob("d")):
        shutil.rmtree(path)


def host_memory(checkpoint: Path) -> None:
    (checkpoint / "memory").mkdir()
    (checkpoint / "memory" / "programs.npy").write_bytes(b"\x93NUMPY\x01\x00")


NESTED = b"[" * 100_000
KINDS: dict[str, Kind] = {
    "settings null": configured(settings=None),
    "settings list": configured(settings=[1]),
    "a setting of the domain null": configured(settings={"width": None}),
    "seed text": configured(seed="x"),
    "seed of 71 bits": configured(seed=2**70),
    "memory_size fraction": configured(memory_size=5.5),
    "memory_size enormous": configured(memory_size=10**12),
    "proposals enormous": configured(proposals=2**31),
    "steps of 71 bits": configured(steps=2**70),
    "steps negative": configured(steps=-1),
    "batch_size zero": configured(batch_size=0),
    "batch_size beyond the data": configured(batch_size=10**6),
    "batch_size true": configured(batch_size=True),
    "checkpoint_every zero": configured(checkpoint_every=0),
    "learning_rate infinite": configured(learning_rate=float("inf")),
    "learning_rate NaN": configured(learning_rate=float("nan")),
    "learning_rate text": configured(learning_rate="fast"),
    "hold above one": configured(hold=2.0),
    "algorithm unknown": configured(algorithm="[/x]\x1b[31m"),
    "domain unknown": configured(domain="nothing"),
    "domain with NUL": configured(domain="a\0b:DOMAIN"),
    "domain of a megabyte": configured(domain="x" * 1_000_000 + ".py:DOMAIN"),
    "domain a module of Python": configured(domain="os:system"),
    "domain a number": configured(domain=7),
    "domain in the run directory": evil_domain,
    "data another file": settings(data="/etc/hostname"),
    "data missing": settings(data="/nowhere/points.csv"),
    "data a folder": settings(data="/"),
    "data with NUL": settings(data="a\0b"),
    "setting unknown": settings(colour=1),
    "setting text": settings(width="wide"),
    "setting infinite": settings(width=float("inf")),
    "setting nested": settings(width=[[1]]),
    "setting of another size": settings(width=5),
    "setting unlike the data": configured(unknown=1),
    "config empty": written("config.json", b""),
    "config a list": written("config.json", b"[]"),
    "config nested": written("config.json", NESTED),
    "config with a number of 5,000 digits": written("config.json", b'{"domain": "x", "seed": ' + b"7" * 5000 + b"}"),
    "config not text": written("config.json", b"\xff\xfe\x00{"),
    "config of 20 MB": written("config.json", b" " * 20_000_000),
    "config a folder": folder("config.json"),
    "config a link": link("config.json", "file"),
    "config a pipe": pipe("config.json"),
    "metrics with a bad byte": line(b'{"step": 5, "bound": \xff}'),
    "metrics cut": line(b'{"step": 5, "bo'),
    "metrics nested": line(NESTED),
    "metrics with 5,000 digits": line(b'{"step": 5, "bound": ' + b"7" * 5000 + b"}"),
    "metrics a list": line(b"[1]"),
    "metrics without a bound": line(b'{"step": 5}'),
    "metrics with a bound of text": line(b'{"step": 5, "bound": "[/x]"}'),
    "metrics with a step true": line(b'{"step": true, "bound": 1}'),
    "metrics with a negative step": line(b'{"step": -5, "bound": 1.0}'),
    "metrics of zeros": line(bytes(1000)),
    "metrics infinite": line(b'{"step": 5, "bound": -Infinity, "explained": 0.0}'),
    "metrics a folder": folder("metrics.jsonl"),
    "metrics a link": link("metrics.jsonl", "file"),
    "metrics a pipe": pipe("metrics.jsonl"),
    "metrics missing": gone("metrics.jsonl"),
    "unfinished metrics a link": link(".metrics.jsonl.unfinished", "file"),
    "unfinished config a link": link(".config.json.unfinished", "file"),
    "programs a link": link("programs.jsonl", "file"),
    "lock a link": link(".lock", "file"),
    "lock a folder": folder(".lock"),
    "owner a link": link("owner.json", "file"),
    "owner garbage": written("owner.json", b"\xff{"),
    "memory a link": link("memory", "folder"),
    "memory a file": written("memory", b"x"),
    "checkpoints missing": gone("checkpoints"),
    "checkpoints a file": written("checkpoints", b"x"),
    "checkpoints a link": link("checkpoints", "folder"),
    "checkpoint with a superscript digit": folder("checkpoints/²"),
    "checkpoint with Arabic digits": folder("checkpoints/٠٠٠٠٠٠٠٩٩"),
    "checkpoint a file": written("checkpoints/000000999", b"x"),
    "checkpoint empty": folder("checkpoints/000000999"),
    "checkpoint a link": link("checkpoints/000000999", "folder"),
    "checkpoint of a far step": folder("checkpoints/9999999999"),
    "unfinished checkpoint a link": link("checkpoints/.000000060.unfinished", "folder"),
    "removed checkpoint a link": link("checkpoints/.000000060.removed", "folder"),
    "unfinished checkpoint a file": written("checkpoints/.000000060.unfinished", b"x"),
    "digest missing": in_last("digest.json", None),
    "digest not JSON": in_last("digest.json", b"{"),
    "digest a list": in_last("digest.json", b"[]"),
    "digest nested": in_last("digest.json", NESTED),
    "file added to a checkpoint": in_last("more", b"x"),
    "state zeroed, digests forged": forged(zero_state),
    "state lost, digests forged": forged(lambda path: shutil.rmtree(path / "state")),
    "metadata garbage, digests forged": forged(lambda path: (path / "state" / "_METADATA").write_bytes(b"{}")),
    "metadata nested, digests forged": forged(lambda path: (path / "state" / "_METADATA").write_bytes(NESTED)),
    "shards lost, digests forged": forged(lose_shards),
    "host memory, digests forged": forged(host_memory),
    "folders nested 200 deep": deep_folders,
}


def snapshot(folder: Path) -> dict[str, tuple]:
    """Everything in a folder: kind, size, time of change and bytes of each entry."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_size, status.st_mtime_ns, data)
    return found


def make_outside(folder: Path) -> Path:
    """A folder that must not change, with a file and a folder to point at."""
    (folder / "folder").mkdir(parents=True)
    (folder / "file").write_text("export PATH\n")
    (folder / "folder" / "kept").write_text("kept\n")
    return folder
