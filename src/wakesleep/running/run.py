"""The run directory: config.json, metrics.jsonl, checkpoints, programs.jsonl.

It holds all that is needed to repeat, resume and report a run. Every file appears whole or not at
all, so that a process killed at any moment leaves a directory that can be resumed.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from jax.sharding import Mesh

from wakesleep.core.algorithms import State
from wakesleep.data.atomic import beside, write_whole
from wakesleep.errors import Refusal, require_at_least, require_one_of, require_share
from wakesleep.running import checkpoints
from wakesleep.running.checkpoints import Saver

ALGORITHMS = ("mws", "mws-fantasy", "rws", "rws-sleep", "vimco")


@dataclass(frozen=True)
class Config:
    """All that determines a run."""

    domain: str
    algorithm: str = "mws"
    memory_size: int = 5
    proposals: int = 5
    replay: str = "draw"
    explore: float | None = None
    revise: float = 0.0
    particles: int = 10
    pretrain: int = 0
    """Steps of sleep before the first, in which recognition alone learns."""
    steps: int = 10_000
    batch_size: int = 20
    learning_rate: float = 1e-3
    seed: int = 0
    checkpoint_every: int = 5000
    rows_at_once: int = 0
    """Observations that are on the devices with their memory, the rest being on the host; 0 for all."""
    settings: dict[str, Any] = field(default_factory=dict)
    data_digest: str = ""
    version: str = ""

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        require_one_of("algorithm", self.algorithm, ALGORITHMS)
        require_one_of("replay", self.replay, ("draw", "expected"))
        for name in ("memory_size", "proposals", "steps", "batch_size", "checkpoint_every"):
            require_at_least(name, getattr(self, name), 1)
        for name in ("pretrain", "rows_at_once"):
            require_at_least(name, getattr(self, name), 0)
        require_share("explore", self.explore or 0.0)
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
    def memory(self) -> Path:
        """The folder of the memory at work, where it is kept on the host; checkpoints have copies of it."""
        return self.path / "memory"

    @property
    def metrics(self) -> Path:
        """One JSON object a line: step, bound and the rest of what a step reports."""
        return self.path / "metrics.jsonl"


def create(path: Path, config: Config) -> Run:
    """A new run directory; one that exists is never written over."""
    if path.exists():
        raise Refusal(f"{path} exists already: resume it (wakesleep resume {path}) or choose another directory.")
    unfinished = beside(path)
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
    """Writes a checkpoint and waits until it is whole."""
    with Saver(run.checkpoints) as saver:
        saver.save(state)
    return run.checkpoints / f"{steps_saved(run)[-1]:09d}"


def steps_saved(run: Run) -> list[int]:
    """The steps at which there are checkpoints, in order."""
    return checkpoints.steps_saved(run.checkpoints)


def restore(run: Run, start: State, step: int | None = None, mesh: Mesh | None = None, change: bool = True) -> State:
    """The state saved at that step (the last by default), on the mesh; `start` where nothing was saved yet.

    Where something was saved, `start` may have the shapes of arrays in their stead. A memory that is kept on the host
    is copied from the checkpoint, unless it is not to change.
    """
    if step is None and not steps_saved(run):
        return start
    found = checkpoints.find(run.checkpoints, step)
    return checkpoints.restore(found, start, mesh, run.memory if change else None)


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
    checkpoints.rewind(run.checkpoints, step)
    lines = [json.dumps(line) + "\n" for line in history(run) if line["step"] <= step]
    write_whole(run.metrics, "".join(lines))
