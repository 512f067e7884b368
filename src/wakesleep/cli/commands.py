"""What the commands do, once their words are read: each a function that the command line calls."""

import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields, replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
from jax.sharding import Mesh
from rich.console import Console

from wakesleep import __version__
from wakesleep.cli.progress import Reporter
from wakesleep.core import evaluate as ev
from wakesleep.core import processes
from wakesleep.core.algorithms import State
from wakesleep.core.compilation import keep_compiled as cache_compilation
from wakesleep.core.fit import data_mesh
from wakesleep.core.keys import fused
from wakesleep.core.processes import Place
from wakesleep.domains import domain as find_domain
from wakesleep.errors import Refusal, require_at_least, require_one_of
from wakesleep.paper.results import resize
from wakesleep.running import run as runs
from wakesleep.running import stores, watcher
from wakesleep.running import train as training
from wakesleep.running.run import Config, Run
from wakesleep.running.train import Job

Rows = list[dict[str, Any]]


def train(given: dict[str, Any], output: Path | None, place: Place, console: Console) -> dict[str, Any] | None:
    """Trains from the beginning into a new run directory; what the primary process has to tell."""
    if place.several and output is None:
        raise Refusal("Several processes need --output, a directory that all of them see.")
    cache_compilation()
    config = Config(**given, version=__version__)
    path = output or Path("runs") / f"{config.domain}-{datetime.now():%Y%m%d-%H%M%S}"
    with _gather(place, config, path) as mesh:
        job = training.prepare(config, mesh.size)
        processes.check_same(f"{path} {job.config}", "settings and data")
        processes.by_primary(lambda: runs.create(path, job.config))
        run = _seen(path)
        if processes.primary():
            console.print(f"{job.dataset.note}; run directory {path}", highlight=False, markup=False)
        return _go_on(job, run, _start(job, run, mesh, console), mesh, console)


def resume(path: Path, steps: int | None, step: int | None, place: Place, console: Console) -> dict[str, Any] | None:
    """Goes on from a checkpoint, to a new last step if one is given."""
    cache_compilation()
    run = runs.open_run(path)
    config = run.config if steps is None else replace(run.config, steps=steps)
    with _gather(place, config, path) as mesh:
        job = training.prepare(config, mesh.size)
        processes.check_same(f"{path} {step} {job.config}", "settings and data")
        some = step is not None or processes.any_says(bool(runs.steps_saved(run)))
        state = runs.restore(run, job.shape(), step, mesh) if some else _start(job, run, mesh, console)
        at = int(state.step)
        if steps is not None:
            processes.by_primary(lambda: runs.reconfigure(run, config))
        processes.by_primary(lambda: runs.rewind(run, at))
        return _go_on(job, run, state, mesh, console)


def store(name: str, output: Path, sources: list[Path], settings: dict[str, str]) -> int:
    """Writes the observations of sources, or of settings, to a store; how many."""
    domain = find_domain(name)
    return stores.write(output, name, stores.gather(domain, settings, sources))


@contextmanager
def _gather(place: Place, config: Config, path: Path) -> Iterator[Mesh]:
    """The mesh of the devices of all the processes of a run; within it, the loss of one is told in a sentence."""
    if place.several and config.rows_at_once:
        raise Refusal("rows_at_once is for one process: with several, each keeps its share of the rows on its devices.")
    processes.join(place)
    again = f"wakesleep resume {path}"
    watcher.change(f"wakesleep: Another process of this run has ended, and so JAX ended this one; go on with: {again}")
    with processes.guard(again):
        yield data_mesh(processes.devices(place))


def _seen(path: Path) -> Run:
    """The run directory that the primary process made, seen from this one."""
    if not (path / "config.json").is_file():
        raise Refusal(f"Process {jax.process_index()} does not see {path}: all need the same file system.")
    return runs.open_run(path)


def _start(job: Job, run: Run, mesh: Mesh, console: Console) -> State:
    """The state before the first step; the steps of pre-training that lead to it are shown."""
    if not job.config.pretrain:
        return job.start(mesh, run.memory)
    console = console if processes.primary() else Console(quiet=True)
    console.print(f"recognition sleeps for {job.config.pretrain} steps first", highlight=False)
    with Reporter(console, job.config.pretrain) as report:
        return job.start(mesh, run.memory, report)


def _go_on(job: Job, run: Run, state: State, mesh: Mesh, console: Console) -> dict[str, Any] | None:
    console = console if processes.primary() else Console(quiet=True)
    with _interrupt() as stop, Reporter(console, job.config.steps) as report:
        state = training.train(job, run, state, report, stop, mesh)
    if int(state.step) >= job.config.steps:
        training.list_programs(job, run, state)
    processes.meet("the run is written")
    shutil.rmtree(run.memory, ignore_errors=True)  # checkpoints have what was at work there
    if not processes.primary():
        return None
    last = list(runs.history(run))
    bound = last[-1]["bound"] if last else float("nan")
    return {"run": str(run.path), "step": int(state.step), "steps": job.config.steps, "bound": bound}


@contextmanager
def _interrupt() -> Iterator[Callable[[], bool]]:
    """While it lasts, Ctrl-C (and a polite kill) asks the run to save and leave."""
    asked: list[int] = []
    handled = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(s, lambda number, _: asked.append(number)) for s in handled]
    try:
        yield lambda: bool(asked)
    finally:
        for s, handler in zip(handled, before, strict=True):
            signal.signal(s, handler)


def load_run(path: Path) -> tuple[Job, State]:
    """A run's job and its last state."""
    cache_compilation()
    run = runs.open_run(path)
    job = training.prepare(run.config)
    return job, runs.restore(run, job.shape(), change=False) if runs.steps_saved(run) else job.start()


def evaluate(path: Path, samples: int, refine: int, exact: bool, seed: int) -> Rows:
    """log p(x) on training and held-out observations."""
    require_at_least("samples", samples, 1)
    job, state = load_run(path)
    splits = {"train": job.dataset.train, "test": job.dataset.test}
    key = fused(jax.random.key(seed))
    rows: Rows = []
    for split, data in splits.items():
        if data is None:
            continue
        bounds = {"importance": ev.importance(key, state.model, data, samples)}
        if refine:
            more = ev.refined(key, state.model, data, samples, refine)
            bounds |= {f"refined by {name}" if name != "best" else "best refined": b for name, b in more.items()}
        rows += [_estimate(split, method, samples, b) for method, b in bounds.items()]
        if exact:
            programs = ev.require_enumerable(job.domain.programs(job.settings, data), job.domain.name)
            log_p = ev.exact(state.model, programs, data)
            rows.append({"split": split, "method": "exact", "log_p": float(log_p.mean()), "error": 0.0, "samples": 0})
    return rows


def _estimate(split: str, method: str, samples: int, bound: ev.Bound) -> dict[str, Any]:
    return {
        "split": split,
        "method": method,
        "log_p": bound.mean,
        "error": bound.standard_error,
        "samples": samples,
    }


def settings_of(name: str) -> Rows:
    """The settings of a domain with their defaults."""
    found = fields(find_domain(name).settings)
    return [{"setting": f.name, "default": None if f.default is MISSING else f.default} for f in found]


# The experiments, and the module of `experiments` and `report` that each lives in.
EXPERIMENTS = {
    "clusters": "clusters",
    "sparsity": "clusters",
    "strings": "strings",
    "strings-awake": "strings",
    "strings-sizes": "strings",
    "strings-generalise": "generalise",
    "strings-ablations": "generalise",
    "characters": "characters",
    "characters-alphabets": "characters",
    "timeseries": "timeseries",
    "automata": "automata",
    "automata-counts": "automata",
    "automata-unknown": "automata",
}


def reproduce(
    experiment: str,
    output: Path,
    steps: int | None,
    seeds: int | None,
    quick: bool,
    algorithms: list[str] | None,
    ks: list[int] | None,
    console: Console,
) -> None:
    """Makes the table and the figures of one experiment."""
    require_one_of("experiment", experiment, tuple(EXPERIMENTS))
    cache_compilation()
    made = import_module(f"wakesleep.paper.{EXPERIMENTS[experiment]}")
    shown = import_module(f"wakesleep.paper.figures.{EXPERIMENTS[experiment]}")
    say = lambda line: console.print(line, highlight=False, markup=False)  # noqa: E731
    plan = resize(made.QUICK[experiment] if quick else made.FULL[experiment], steps, seeds, algorithms, ks)
    if quick:
        say(f"quick: cut from {made.FULL[experiment]} to {plan}")
    made.EXPERIMENTS[experiment](output, plan, say)
    for path in shown.DRAW.get(experiment, lambda folder: [])(output):
        say(f"wrote {path}")
    say(shown.TABLES[experiment](output))
