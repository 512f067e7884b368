"""The run directory: config.json, metrics.jsonl, checkpoints, programs.jsonl.

It holds all that is needed to repeat, resume and report a run. Every file appears whole or not at
all, so that a process killed at any moment leaves a directory that can be resumed.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jax.sharding import Mesh

from wakesleep.core.algorithms import State
from wakesleep.data.atomic import beside, write_whole
from wakesleep.errors import Refusal
from wakesleep.running import checkpoints
from wakesleep.running.checkpoints import Saver
from wakesleep.running.config import Config, parse


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
        """The folder of the memory in use, where it is kept on the host; checkpoints have copies of it."""
        return self.path / "memory"

    @property
    def metrics(self) -> Path:
        """One JSON object a line: step, bound and the rest of what a step reports."""
        return self.path / "metrics.jsonl"


def create(path: Path, config: Config) -> Run:
    """Makes a run directory; one that exists is never written over."""
    if path.exists():
        raise Refusal(f"{path} exists already: resume it (wakesleep resume {path}) or choose another directory.")
    unfinished = beside(path)
    (unfinished / "checkpoints").mkdir(parents=True)
    run = reconfigure(Run(unfinished, config), config)
    unfinished.rename(path)
    return Run(path, run.config)


def reconfigure(run: Run, config: Config) -> Run:
    """Writes another configuration into a run directory, and returns the run with it."""
    write_whole(run.path / "config.json", json.dumps(asdict(config), indent=2, default=str) + "\n")
    return Run(run.path, config)


def open_run(path: Path) -> Run:
    """The run of an existing run directory."""
    file = path / "config.json"
    if not file.is_file():
        raise Refusal(f"{path} is not a run directory: it has no config.json.")
    try:
        return Run(path, parse(json.loads(file.read_text())))
    except Refusal as refusal:
        raise Refusal(f"{file} cannot be used: {refusal}") from None
    except (ValueError, RecursionError) as error:
        raise Refusal(f"{file} is damaged ({error}).") from None


def save(run: Run, state: State) -> Path:
    """Writes a checkpoint, waits until it is whole, and returns its folder."""
    with Saver(run.checkpoints) as saver:
        saver.save(state)
    return run.checkpoints / checkpoints.folder_name(steps_saved(run)[-1])


def steps_saved(run: Run) -> list[int]:
    """The steps that have checkpoints, in order."""
    return checkpoints.steps_saved(run.checkpoints)


def restore(run: Run, start: State, step: int | None = None, mesh: Mesh | None = None, change: bool = True) -> State:
    """The state saved at a step, by default the last, on the mesh; `start` where nothing was saved yet.

    Where something was saved, `start` may have shapes in place of arrays. A memory that is kept on the host is copied
    from the checkpoint if it is to `change`, and otherwise mapped for reading.
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
    """The metrics up to the first line that is cut off or damaged."""
    if run.metrics.exists():
        for text in run.metrics.read_text(errors="replace").splitlines():
            try:
                line = json.loads(text)
            except json.JSONDecodeError:
                return
            if not (isinstance(line, dict) and isinstance(line.get("step"), int)):
                return
            yield line


def rewind(run: Run, step: int) -> None:
    """Removes the metrics and checkpoints after a step."""
    checkpoints.rewind(run.checkpoints, step)
    lines = [json.dumps(line) + "\n" for line in history(run) if line["step"] <= step]
    write_whole(run.metrics, "".join(lines))
