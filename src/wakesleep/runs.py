"""The run directory: config.json, metrics.jsonl, checkpoints, programs.jsonl.

It holds all that is needed to repeat, resume and report a run. Every file appears whole or not at
all, so that a process killed at any moment leaves a directory that can be resumed.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from wakesleep.algorithms import State
from wakesleep.errors import Refusal, require_at_least, require_one_of, require_share

ALGORITHMS = ("mws", "mws-fantasy", "rws", "rws-sleep", "vimco")
KEPT = 3


@dataclass(frozen=True)
class Config:
    """All that determines a run."""

    domain: str
    algorithm: str = "mws"
    memory_size: int = 5
    proposals: int = 5
    replay: str = "draw"
    explore: float = 0.0
    revise: float = 0.0
    particles: int = 10
    steps: int = 10_000
    batch_size: int = 20
    learning_rate: float = 1e-3
    seed: int = 0
    checkpoint_every: int = 5000
    settings: dict[str, Any] = field(default_factory=dict)
    data_digest: str = ""
    version: str = ""

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        require_one_of("algorithm", self.algorithm, ALGORITHMS)
        require_one_of("replay", self.replay, ("draw", "expected"))
        for name in ("memory_size", "proposals", "steps", "batch_size", "checkpoint_every"):
            require_at_least(name, getattr(self, name), 1)
        require_share("explore", self.explore)
        require_share("revise", self.revise)
        require_at_least("particles", self.particles, 2 if self.algorithm == "vimco" else 1)
        if not self.learning_rate > 0:
            raise Refusal(f"learning_rate must be positive, but {self.learning_rate} was given.")


@dataclass(frozen=True)
class Run:
    """A run directory and its configuration."""

    path: Path
    config: Config

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints, one folder a step."""
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        """One JSON object a line: step, bound and the rest of what a step reports."""
        return self.path / "metrics.jsonl"


def create(path: Path, config: Config) -> Run:
    """A new run directory; one that exists is never written over."""
    if path.exists():
        raise Refusal(f"{path} exists already: resume it (wakesleep resume {path}) or choose another directory.")
    unfinished = _beside(path)
    (unfinished / "checkpoints").mkdir(parents=True)
    run = reconfigure(Run(unfinished, config), config)
    unfinished.rename(path)
    return Run(path, run.config)


def reconfigure(run: Run, config: Config) -> Run:
    """The run with another configuration."""
    write_whole(run.path / "config.json", json.dumps(asdict(config), indent=2, default=str) + "\n")
    return Run(run.path, config)


def open_run(path: Path) -> Run:
    """An existing run directory."""
    file = path / "config.json"
    if not file.is_file():
        raise Refusal(f"{path} is not a run directory: it has no config.json.")
    try:
        given = json.loads(file.read_text())
        known = {f.name for f in fields(Config)}
        if unknown := sorted(set(given) - known):
            raise Refusal(f"{file} has unknown settings: {', '.join(unknown)}; known are {', '.join(sorted(known))}.")
        return Run(path, Config(**given))
    except (json.JSONDecodeError, UnicodeDecodeError, TypeError) as error:
        raise Refusal(f"{file} is damaged ({error}).") from None


def save(run: Run, state: State) -> Path:
    """Writes a checkpoint; it appears under its final name only when it is whole."""
    from orbax.checkpoint import PyTreeCheckpointer

    step = int(np.max(state.step))
    final = run.checkpoints / f"{step:09d}"
    if final.exists():
        return final
    unfinished = _beside(final)
    with PyTreeCheckpointer() as checkpointer:
        checkpointer.save((unfinished / "state").absolute(), _named(state))
    (unfinished / "digest.json").write_text(json.dumps(_digests(unfinished / "state"), indent=0))
    _sync(unfinished)
    unfinished.rename(final)
    for old in steps_saved(run)[:-KEPT]:
        shutil.rmtree(run.checkpoints / f"{old:09d}")
    return final


def steps_saved(run: Run) -> list[int]:
    """The steps at which there are checkpoints, in order."""
    return sorted(int(p.name) for p in run.checkpoints.iterdir() if p.name.isdigit())


def restore(run: Run, start: State, step: int | None = None) -> State:
    """The state saved at that step (the last by default); `start` where nothing was saved yet."""
    saved = steps_saved(run)
    if not saved and step is None:
        return start
    step = saved[-1] if step is None else step
    if step not in saved:
        raise Refusal(f"{run.path} has no checkpoint of step {step}; it has {', '.join(map(str, saved)) or 'none'}.")
    path = run.checkpoints / f"{step:09d}"
    _check_digests(path, [s for s in saved if s < step])
    arrays, static = eqx.partition(start, eqx.is_array)
    expected, leaves = _named(arrays), _read(path / "state")
    shapes = {k: (np.shape(v), np.asarray(v).dtype) for k, v in leaves.items()}
    if shapes != {k: (np.shape(v), np.asarray(v).dtype) for k, v in expected.items()}:
        raise Refusal(f"{path} does not fit the model that config.json describes: was config.json edited?")
    restored = jax.tree.unflatten(jax.tree.structure(arrays), [jax.numpy.asarray(leaves[k]) for k in expected])
    return eqx.combine(restored, static)


def _read(folder: Path) -> dict[str, np.ndarray]:
    """The arrays of a checkpoint, wherever they were when they were saved."""
    from orbax.checkpoint import PyTreeCheckpointer, RestoreArgs

    with PyTreeCheckpointer() as checkpointer:
        names = list(checkpointer.metadata(folder.absolute()).item_metadata.keys())
        as_numpy = {name: RestoreArgs(restore_type=np.ndarray) for name in names}
        leaves: dict[str, np.ndarray] = checkpointer.restore(folder.absolute(), restore_args=as_numpy)
    return leaves


def record(run: Run, line: dict[str, Any]) -> None:
    """Appends a line to the metrics."""
    with run.metrics.open("a") as file:
        file.write(json.dumps(line) + "\n")


def history(run: Run) -> Iterator[dict[str, Any]]:
    """The metrics, without a last line that was cut off."""
    if run.metrics.exists():
        for line in run.metrics.read_text().splitlines():
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                return


def rewind(run: Run, step: int) -> None:
    """Drops what lies after a step: metrics lost with a killed process, checkpoints that were not chosen."""
    for later in (s for s in steps_saved(run) if s > step):
        shutil.rmtree(run.checkpoints / f"{later:09d}")
    lines = [json.dumps(line) + "\n" for line in history(run) if line["step"] <= step]
    write_whole(run.metrics, "".join(lines))


def write_whole(path: Path, text: str) -> None:
    """Replaces a file's text at once."""
    unfinished = _beside(path)
    unfinished.write_text(text)
    _sync(unfinished)
    unfinished.replace(path)


def _named(state: State) -> dict[str, Any]:
    """The arrays of a state under the names of their places."""
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter(state, eqx.is_array))
    return {f"{i:03d}{jax.tree_util.keystr(path)}": leaf for i, (path, leaf) in enumerate(leaves)}


def _beside(path: Path) -> Path:
    """A hidden name beside the path, free for unfinished work; what a killed process left there goes."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    if unfinished.is_dir():
        shutil.rmtree(unfinished)
    return unfinished


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def _check_digests(path: Path, earlier: list[int]) -> None:
    """Refuses a checkpoint that is not, byte for byte, what was written."""
    try:
        whole = json.loads((path / "digest.json").read_text()) == _digests(path / "state")
    except (OSError, ValueError):
        whole = False
    if not whole:
        offer = (
            f"an earlier one is at step {earlier[-1]} (--step {earlier[-1]})" if earlier else "there is no earlier one"
        )
        raise Refusal(f"The checkpoint {path} is damaged; {offer}.")


def _sync(path: Path) -> None:
    """Makes sure that a file or folder has reached the disk."""
    for each in [*path.rglob("*"), path] if path.is_dir() else [path]:
        handle = os.open(each, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
