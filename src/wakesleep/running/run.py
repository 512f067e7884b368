"""The run directory: config.json, metrics.jsonl, checkpoints, programs.jsonl.

It holds all that is needed to repeat, resume and report a run. Every file appears whole or not at
all, so that a process killed at any moment leaves a directory that can be resumed.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jax.sharding import Mesh

from wakesleep.core.algorithms import State
from wakesleep.data.atomic import beside, require_plain, sweep, write_whole
from wakesleep.data.documents import read_document
from wakesleep.errors import Refusal
from wakesleep.running import checkpoints
from wakesleep.running.checkpoints import Saver
from wakesleep.running.config import MOST_STEPS, Config, parse

METRICS_LINE_BYTES = 1 << 16


@dataclass(frozen=True)
class Run:
    """A run directory and its configuration."""

    path: Path
    config: Config

    @property
    def checkpoints(self) -> Path:
        """Returns the folder of checkpoints, one folder a step."""
        return self.path / "checkpoints"

    @property
    def memory(self) -> Path:
        """Returns the folder of the memory in use, where the host keeps it; checkpoints have copies of it."""
        return self.path / "memory"

    @property
    def metrics(self) -> Path:
        """Returns the file with a JSON object on each line: step, bound and the rest of what a step reports."""
        return self.path / "metrics.jsonl"

    @property
    def chronicle(self) -> Path:
        """One JSON object a line: what is remembered for the observations that are watched, when it changes."""
        return self.path / "memory.jsonl"


def create(path: Path, config: Config) -> Run:
    """Makes a run directory; one that exists is never written over."""
    if path.exists():
        raise Refusal(f"{path} exists already: resume it (wakesleep resume {path}) or choose another directory.")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = beside(path)
    unfinished.mkdir()
    try:
        (unfinished / "checkpoints").mkdir()
        reconfigure(Run(unfinished, config), config)
        unfinished.rename(path)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return Run(path, config)


def reconfigure(run: Run, config: Config) -> Run:
    """Writes another configuration into a run directory, and returns the run with it."""
    write_whole(run.path / "config.json", json.dumps(asdict(config), indent=2, default=str) + "\n")
    return Run(run.path, config)


def open_run(path: Path) -> Run:
    """Returns the run of an existing run directory; anybody may have made it."""
    file = path / "config.json"
    if not file.is_file():
        raise Refusal(f"{path} is not a run directory: it has no config.json.")
    require_plain(path)
    try:
        run = Run(path, parse(read_document(file, "a configuration")))
    except Refusal as refusal:
        raise Refusal(f"{file} cannot be used: {refusal}") from None
    if not run.checkpoints.is_dir():
        raise Refusal(f"{path} is not a run directory: it has no folder of checkpoints.")
    return run


def save(run: Run, state: State) -> Path:
    """Writes a checkpoint, waits until it is whole, and returns its folder."""
    with Saver(run.checkpoints) as saver:
        saver.save(state)
    return run.checkpoints / checkpoints.folder_name(steps_saved(run)[-1])


def steps_saved(run: Run) -> list[int]:
    """Returns the steps that have checkpoints, in order."""
    return checkpoints.steps_saved(run.checkpoints)


def restore(run: Run, start: State, step: int | None = None, mesh: Mesh | None = None, change: bool = True) -> State:
    """Returns the state saved at a step, by default the last, on the mesh; `start` where nothing was saved.

    Where something was saved, `start` may have shapes in place of arrays. A memory that is kept on the host is copied
    from the checkpoint if it is to `change`, and otherwise mapped for reading.
    """
    if step is None and not steps_saved(run):
        return start
    found = checkpoints.find(run.checkpoints, step)
    return checkpoints.restore(found, start, mesh, run.memory if change else None)


def record(run: Run, line: dict[str, Any]) -> None:
    """Appends a line to the metrics."""
    append(run.metrics, [line])


def append(file: Path, lines: list[dict[str, Any]]) -> None:
    """Appends lines to a file of JSON lines."""
    with file.open("a", encoding="utf-8") as opened:
        opened.write("".join(json.dumps(line) + "\n" for line in lines))


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yields the lines of a file of JSON lines, each of a step, without those that are cut off or damaged."""
    if not file.is_file():
        return
    with file.open("rb") as opened:
        while text := opened.readline(METRICS_LINE_BYTES):
            line = _parsed(text)
            if isinstance(line, dict) and type(line.get("step")) is int:
                yield line


def history(run: Run) -> Iterator[dict[str, Any]]:
    """Yields the lines of the metrics, without those that are cut off or damaged."""
    return (line for line in _lines(run) if line is not None)


def damaged_lines(run: Run) -> int:
    """Returns how many lines of the metrics are cut off or damaged."""
    return sum(line is None for line in _lines(run))


def _lines(run: Run) -> Iterator[dict[str, Any] | None]:
    """Yields the lines of the metrics in order, None for one that is damaged."""
    if not run.metrics.is_file():
        return
    with run.metrics.open("rb") as file:
        while text := file.readline(METRICS_LINE_BYTES):
            yield _parse_line(text)


def _parse_line(text: bytes) -> dict[str, Any] | None:
    """Returns a line of the metrics, a step and numbers, or None where the text is none."""
    line = _parsed(text)
    if not isinstance(line, dict) or not {"step", "bound"} <= set(line) or type(line["step"]) is not int:
        return None
    plain = all(type(v) is float or (type(v) is int and abs(v) <= MOST_STEPS) for v in line.values())
    return line if plain and line["step"] >= 0 else None


def _parsed(text: bytes) -> Any:
    """Returns what a whole line of JSON says, or None where it is cut off or none."""
    try:
        return json.loads(text) if text.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None


def rewind(run: Run, step: int) -> None:
    """Removes the metrics, what was watched and the checkpoints after a step, and damaged lines."""
    checkpoints.rewind(run.checkpoints, step)
    sweep(run.path)
    lines = [json.dumps(line) + "\n" for line in history(run) if line["step"] <= step]
    write_whole(run.metrics, "".join(lines))
    if run.chronicle.is_file():
        watched = [json.dumps(line) + "\n" for line in read_lines(run.chronicle) if line["step"] <= step]
        write_whole(run.chronicle, "".join(watched))
