"""What `train` and `resume` do: join the processes, open the run directory, train, list the programs found.

Nothing is printed here: a `Listener` is told what happens, in the primary process alone.
"""

import math
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import jax
from jax.sharding import Mesh

from wakesleep import __version__
from wakesleep.core import processes
from wakesleep.core.algorithms import State
from wakesleep.core.compilation import keep_compiled
from wakesleep.core.fit import data_mesh
from wakesleep.domains.references import absolute
from wakesleep.errors import Refusal
from wakesleep.running import cluster, watcher
from wakesleep.running import run as runs
from wakesleep.running.cluster import Place
from wakesleep.running.config import Config
from wakesleep.running.judge import Judge
from wakesleep.running.owner import own
from wakesleep.running.programs import list_programs
from wakesleep.running.provenance import source_commit
from wakesleep.running.reference import changed, slug
from wakesleep.running.run import Run
from wakesleep.running.train import Callback, Job, Report, prepare
from wakesleep.running.train import train as train_job


def _ignore(_: Any) -> None:
    """Drops a report."""


class Listener(NamedTuple):
    """Who is told how a run goes."""

    say: Callable[[str], None] = _ignore
    """Takes a line for the user."""
    follow: Callable[[int], AbstractContextManager[Report]] = lambda steps: nullcontext(_ignore)
    """Takes a number of steps, and gives a context that yields the report to be called along the way."""
    callback: Callback = lambda metrics, state: None
    """Takes each line of the metrics and the state."""


SILENT = Listener()


class Summary(NamedTuple):
    """How a run ended."""

    run: str
    step: int
    steps: int
    bound: float | None
    """The bound at the last step; None where nothing is explained, or its line of the metrics was lost."""


def train(given: dict[str, Any], output: Path | None, place: Place, listener: Listener = SILENT) -> Summary | None:
    """Trains into a new run directory; returns a summary in the primary process."""
    if place.several and output is None:
        raise Refusal("Several processes need --output, a directory that all of them see.")
    keep_compiled()
    config = Config(**given, version=__version__, commit=source_commit())
    path = output or Path("runs") / f"{slug(config.domain)}-{datetime.now():%Y%m%d-%H%M%S}"
    with _gather(place, config, path) as mesh:
        listener = listener if processes.primary() else SILENT
        job = prepare(config, mesh.size, given=True, say=listener.say)
        _check_same(job.config, path)
        processes.by_primary(lambda: runs.create(path, job.config))
        run = _seen(path)
        with _owned(path):
            listener.say(f"{job.dataset.note}; run directory {path}")
            return _go_on(job, run, _start(job, run, mesh, listener), mesh, listener)


def resume(
    path: Path,
    steps: int | None,
    step: int | None,
    place: Place,
    listener: Listener = SILENT,
    domain: str | None = None,
) -> Summary | None:
    """Trains on from a checkpoint, by default the last, to a new last step if one is given.

    `domain` names the run's domain again, where its code is not known or has changed.
    """
    keep_compiled()
    run = runs.open_run(path)
    config = run.config if steps is None else replace(run.config, steps=steps)
    config = config if domain is None else replace(config, domain=absolute(domain))
    with _gather(place, config, path) as mesh, _owned(path):
        listener = listener if processes.primary() else SILENT
        job = prepare(config, mesh.size, given=domain is not None, say=listener.say)
        _check_same(job.config, path, step)
        if changed(job.config):
            listener.say(f"the file of the domain {job.config.domain} has changed since the run began")
        if damaged := runs.damaged_lines(run):
            listener.say(f"metrics.jsonl has {damaged} cut or damaged lines, which are left out")
        some = step is not None or processes.any_says(bool(runs.steps_saved(run)))
        state = runs.restore(run, job.shape(), step, mesh) if some else _start(job, run, mesh, listener)
        at = int(state.step)
        if steps is not None:
            processes.by_primary(lambda: runs.reconfigure(run, config))
        processes.by_primary(lambda: runs.rewind(run, at))
        return _go_on(job, run, state, mesh, listener)


@contextmanager
def _owned(path: Path) -> Iterator[None]:
    """Within it, this run directory belongs to the processes of this command alone."""
    with ExitStack() as stack:
        processes.by_primary(lambda: stack.enter_context(own(path)))
        yield


@contextmanager
def _gather(place: Place, config: Config, path: Path) -> Iterator[Mesh]:
    """Yields the mesh of all processes' devices; within it, the loss of a process becomes one sentence."""
    if place.several and config.rows_at_once:
        raise Refusal("rows_at_once is for one process: with several, each keeps its share of the rows on its devices.")
    cluster.join(place)
    again = f"wakesleep resume {path}"
    watcher.change(f"wakesleep: Another process of this run has ended, and so JAX ended this one; go on with: {again}")
    with cluster.guard(again):
        yield data_mesh(cluster.devices(place))


def _check_same(config: Config, path: Path, step: int | None = None) -> None:
    """Refuses processes with different settings or data; the source may be recorded by one host and not by another."""
    processes.check_same(f"{path} {step} {replace(config, commit='')}", "settings and data")


def _seen(path: Path) -> Run:
    """Returns the run directory that the primary process made, as this process sees it."""
    if not (path / "config.json").is_file():
        raise Refusal(f"Process {jax.process_index()} does not see {path}: all need the same file system.")
    return runs.open_run(path)


def _start(job: Job, run: Run, mesh: Mesh, listener: Listener) -> State:
    """Returns the state before the first step; the listener follows the pre-training that leads to it."""
    if not job.config.pretrain:
        return job.start(mesh, run.memory)
    listener.say(f"recognition sleeps for {job.config.pretrain} steps first")
    with listener.follow(job.config.pretrain) as report:
        return job.start(mesh, run.memory, report)


def _go_on(job: Job, run: Run, state: State, mesh: Mesh, listener: Listener) -> Summary | None:
    """Trains to the last step or to an interrupt, lists the programs found, and refuses an end that is no success."""
    jax.clear_caches()  # what was compiled to begin with takes hundreds of MiB, and the steps do not use it
    with _interrupt() as stop, listener.follow(job.config.steps) as report:
        judge = Judge(report, (line["bound"] for line in runs.history(run)))
        state = train_job(job, run, state, judge, stop, mesh, listener.callback)
    if int(state.step) >= job.config.steps:
        list_programs(job, run, state)
    processes.meet("the run is written")
    shutil.rmtree(run.memory, ignore_errors=True)  # checkpoints have copies of the memory at work
    last = [line for line in runs.history(run) if line["step"] == int(state.step)]
    visits = int(state.step) * job.config.batch_size / len(job.dataset.train)
    processes.by_primary(lambda: judge.check(last[-1] if last else {}, visits, run.path))
    if not processes.primary():
        return None
    bound = last[-1]["bound"] if last and math.isfinite(last[-1]["bound"]) else None
    return Summary(str(run.path), int(state.step), job.config.steps, bound)


@contextmanager
def _interrupt() -> Iterator[Callable[[], bool]]:
    """Within it, Ctrl-C and SIGTERM make the function that it yields true, so that the run can save and leave."""
    asked: list[int] = []
    handled = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(s, lambda number, _: asked.append(number)) for s in handled]
    try:
        yield lambda: bool(asked)
    finally:
        for s, handler in zip(handled, before, strict=True):
            signal.signal(s, handler)
