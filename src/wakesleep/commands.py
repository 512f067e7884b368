"""What the commands do, once their words are read: each a function that the command line calls."""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from rich.console import Console

from wakesleep import __version__, processes, runs, stores, watcher
from wakesleep import evaluate as ev
from wakesleep import train as training
from wakesleep.algorithms import State
from wakesleep.datasets import cache
from wakesleep.domain import Domain
from wakesleep.domains import DOMAINS
from wakesleep.domains import domain as find_domain
from wakesleep.errors import Refusal, require_at_least, require_one_of, require_share
from wakesleep.experiments.results import resize
from wakesleep.fit import data_mesh
from wakesleep.keys import fused
from wakesleep.memory import Weighted
from wakesleep.model import Model, Observations, dream
from wakesleep.processes import Place
from wakesleep.progress import Reporter, counter
from wakesleep.runs import Config, Run
from wakesleep.shipped import load as load_shipped
from wakesleep.train import Job

if TYPE_CHECKING:
    from wakesleep.columns.survey import Finding, Violation
    from wakesleep.series.explanation import Explanation

Rows = list[dict[str, Any]]


def cache_compilation() -> None:
    """Keeps compiled programs in the user's cache folder, so that a second start is quick."""
    jax.config.update("jax_compilation_cache_dir", str(cache() / "xla"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)


def train(given: dict[str, Any], output: Path | None, place: Place, console: Console) -> dict[str, Any] | None:
    """Trains from the beginning into a new run directory; what the primary process has to tell."""
    cache_compilation()
    mesh = _gather(place)
    job = training.prepare(Config(**given, version=__version__), mesh.size)
    if place.several and output is None:
        raise Refusal("Several processes need --output, a directory that all of them see.")
    path = output or Path("runs") / f"{job.config.domain}-{datetime.now():%Y%m%d-%H%M%S}"
    processes.check_same(f"{path} {job.config}", "settings and data")
    processes.by_primary(lambda: runs.create(path, job.config))
    run = _seen(path)
    if processes.primary():
        console.print(f"{job.dataset.note}; run directory {path}", highlight=False, markup=False)
    return _go_on(job, run, job.start(mesh, run.memory), mesh, console)


def resume(path: Path, steps: int | None, step: int | None, place: Place, console: Console) -> dict[str, Any] | None:
    """Goes on from a checkpoint, to a new last step if one is given."""
    cache_compilation()
    mesh = _gather(place)
    run = runs.open_run(path)
    config = run.config if steps is None else replace(run.config, steps=steps)
    job = training.prepare(config, mesh.size)
    processes.check_same(f"{path} {step} {job.config}", "settings and data")
    some = step is not None or processes.any_says(bool(runs.steps_saved(run)))
    state = runs.restore(run, job.shape(), step, mesh) if some else job.start(mesh, run.memory)
    at = int(state.step)
    if steps is not None:
        processes.by_primary(lambda: runs.reconfigure(run, config))
    processes.by_primary(lambda: runs.rewind(run, at))
    return _go_on(job, run, state, mesh, console)


def store(name: str, output: Path, sources: list[Path], settings: dict[str, str]) -> int:
    """Writes the observations of sources, or of settings, to a store; how many."""
    domain = find_domain(name)
    return stores.write(output, name, stores.gather(domain, settings, sources))


def _gather(place: Place) -> Mesh:
    """The mesh of the devices of all the processes of a run."""
    processes.join(place)
    return data_mesh(processes.devices(place))


def _seen(path: Path) -> Run:
    """The run directory that the primary process made, seen from this one."""
    if not (path / "config.json").is_file():
        raise Refusal(f"Process {jax.process_index()} does not see {path}: all need the same file system.")
    return runs.open_run(path)


def _go_on(job: Job, run: Run, state: State, mesh: Mesh, console: Console) -> dict[str, Any] | None:
    console = console if processes.primary() else Console(quiet=True)
    again = f"wakesleep resume {run.path}"
    watcher.change(f"wakesleep: Another process of this run has ended, and so JAX ended this one; go on with: {again}")
    with processes.guard(again):
        with _interrupt() as stop, Reporter(console, job.config.steps) as report:
            state = training.train(job, run, state, report, stop, mesh)
        if int(state.step) >= job.config.steps:
            training.list_programs(job, run, state)
        processes.meet("the run is written")
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


def posterior(path: Path, rows: list[int] | None, most: int, picture: Path | None) -> Rows:
    """Programs found for training observations; the first ten by default."""
    job, state = load_run(path)
    n = len(job.dataset.train)
    rows = rows or list(range(min(n, 10)))
    for row in rows:
        if not 0 <= row < n:
            raise Refusal(f"There is no observation {row}: the run has observations 0 to {n - 1}.")
    weighted = training.posterior(job, state, rows)
    names = [job.dataset.names[r] for r in rows]
    some = job.dataset.train[jnp.asarray(rows)]
    if picture is not None:
        _draw(job.domain, state.model, some, weighted, names, most, picture)
    return training.describe(job.domain, weighted, some, names, most)


class Trained(NamedTuple):
    """A model that can be asked."""

    domain: Domain
    settings: dict[str, Any]
    model: Model
    train: Observations | None
    """What it was trained on, where that is at hand."""


def trained(target: str) -> Trained:
    """The model of a run directory, or the one that comes with the package for a domain."""
    if target not in DOMAINS:
        if not Path(target).is_dir():
            raise Refusal(f"{target!r} is neither a domain ({', '.join(DOMAINS)}) nor a run directory.")
        job, state = load_run(Path(target))
        return Trained(job.domain, job.config.settings, state.model, job.dataset.train)
    domain = find_domain(target)
    settings, model = load_shipped(domain)
    return Trained(domain, settings, model, None)


def explain(
    target: str,
    file: Path,
    most: int,
    steps: int,
    settings: dict,
    picture: Path | None,
    film: Path | None,
    console: Console,
) -> Rows:
    """Programs for a user's observations: from a trained run, from a shipped model, or learned from the file alone."""
    cache_compilation()
    if target in DOMAINS and (find_domain(target).shipped is None or settings):
        return _learn_and_explain(target, file, most, steps, settings, picture, console)
    known = trained(target)
    data = known.domain.load(known.domain.configure(known.settings | settings | {known.domain.data_setting: file}))
    if known.train is not None and _shapes(known.train) != _shapes(data.train):
        raise Refusal(
            f"The observations of {file} have another shape than those of {target}: "
            f"explain them from scratch with: wakesleep explain {known.domain.name} {file}"
        )
    weighted = ev.posterior(jax.random.key(0), known.model, data.train, memory_size=max(most, 10))
    if picture is not None:
        _draw(known.domain, known.model, data.train, weighted, data.names, most, picture)
    if film is not None:
        _film(known, weighted, film)
    return training.describe(known.domain, weighted, data.train, data.names, most)


def _shapes(data: Observations) -> Any:
    return jax.tree.map(lambda a: a.shape[1:], data)


def _film(known: Trained, weighted: Weighted, path: Path) -> None:
    """The best program of the first observation, carried out before one's eyes."""
    if known.domain.film is None:
        raise Refusal(f"Programs of {known.domain.name} cannot be watched: --film is for characters.")
    known.domain.film(known.model.evaluator, jax.tree.map(lambda a: np.asarray(a[0, 0]), weighted.programs), path)


def _learn_and_explain(
    name: str, file: Path, most: int, steps: int, settings: dict, picture: Path | None, console: Console
) -> Rows:
    domain = find_domain(name)
    settings = settings | {domain.data_setting: str(file)}
    size = min(20, len(domain.load(domain.configure(settings)).train))
    job = training.prepare(Config(name, steps=steps, memory_size=20, proposals=20, batch_size=size, settings=settings))
    console.print(job.dataset.note, highlight=False, markup=False)
    with Reporter(console, steps) as report:
        state = training.train(job, None, job.start(), report)
    weighted = training.posterior(job, state)
    if picture is not None:
        _draw(job.domain, state.model, job.dataset.train, weighted, job.dataset.names, most, picture)
    return training.describe(job.domain, weighted, job.dataset.train, job.dataset.names, most)


def survey_strings(file: str, column: str | None, effort: str, seed: int, console: Console) -> list["Finding"]:
    """What the shipped model finds for the columns of a table."""
    from wakesleep.columns import shipped
    from wakesleep.columns.search import EFFORTS
    from wakesleep.columns.survey import survey
    from wakesleep.domains.strings.tables import read_columns

    require_one_of("effort", effort, tuple(EFFORTS))
    columns = read_columns(file, column, seed)
    cache_compilation()
    with counter(console, len(columns), "columns") as report:
        return survey(columns, shipped(), EFFORTS[effort], seed, lambda c: report(c.name))


def explain_timeseries(
    file: Path,
    column: str | None,
    time: str | None,
    effort: str,
    ahead: float,
    transform: str,
    settings: dict[str, str],
    console: Console,
) -> list["Explanation"]:
    """What the shipped model finds for the series of a table."""
    from wakesleep.domains.timeseries.tables import read_records
    from wakesleep.series import shipped
    from wakesleep.series.explanation import TRANSFORMS, explain
    from wakesleep.series.search import EFFORTS

    require_one_of("effort", effort, tuple(EFFORTS))
    require_one_of("transform", transform, TRANSFORMS)
    if not 0 < ahead <= 10:
        raise Refusal(f"ahead must lie between 0 and 10, but {ahead} was given.")
    if set(settings) - {"points"}:
        raise Refusal("explain timeseries takes --set points=N alone; train a model of your own for other settings.")
    points = find_domain("timeseries").configure(settings).points
    records = read_records(file, column, time)
    cache_compilation()
    rounds = EFFORTS[effort].rounds
    with counter(console, rounds * len(records), "rounds") as report:
        told = [lambda done, name=r.name: report(name) for r in records]
        pairs = zip(records, told, strict=True)
        return [explain(r, shipped(), EFFORTS[effort], points, transform, report=tell) for r, tell in pairs]


def keep_series(found: list["Explanation"], ahead: float, most: int, picture: Path | None, csv: Path | None) -> Rows:
    """The explanations for machines, and in files where they are asked for."""
    from wakesleep.report.series import draw_series
    from wakesleep.series.exports import as_row, write_csv

    if picture is not None:
        draw_series(found, picture, ahead)
    if csv is not None:
        write_csv(found, csv, ahead)
    return [as_row(e, most, ahead) for e in found]


def check_strings(patterns: Path, file: str, share: float, console: Console) -> list["Violation"]:
    """The values of a table that saved patterns do not accept."""
    from wakesleep.columns import shipped
    from wakesleep.columns.survey import check, read_patterns
    from wakesleep.domains.strings.tables import read_columns

    require_share("share", share)
    columns = read_columns(file)
    cache_compilation()
    return check(columns, read_patterns(patterns, shipped()), share)


def _draw(
    domain: Domain, model: Model, data: Observations, weighted: Weighted, names: Sequence[str], most: int, path: Path
) -> None:
    from wakesleep.report.posteriors import draw_posteriors

    draw_posteriors(domain, model.evaluator, data, weighted, names, most, path)


def sample(target: str, count: int, seed: int, condition: int | None, picture: Path | None) -> Rows:
    """Programs from the prior, each with an observation drawn from it."""
    require_at_least("count", count, 1)
    cache_compilation()
    known = trained(target)
    c = _conditions(known, count, condition)
    z, x = dream(known.model, fused(jax.random.key(seed)), c, count)
    if picture is not None:
        weighted = Weighted(jax.tree.map(lambda a: a[:, None], z), jnp.zeros((count, 1)))
        names = [f"sample {i + 1}" for i in range(count)]
        _draw(known.domain, known.model, Observations(x), weighted, names, 1, picture)
    z, x = jax.tree.map(np.asarray, (z, x))
    one = lambda tree, i: jax.tree.map(lambda a: a[i], tree)  # noqa: E731
    return [
        {"program": known.domain.show(one(z, i)), "observation": known.domain.words(one(x, i))} for i in range(count)
    ]


def _conditions(known: Trained, count: int, condition: int | None) -> Any:
    """What the samples are conditioned on: the number given, or those of the training observations in turn."""
    if known.train is None or known.train.c is None:
        if condition is not None:
            raise Refusal("The model is not conditioned on anything, so --condition cannot be given.")
        return None
    if condition is not None and not 0 <= condition <= (most := int(jnp.max(known.train.c))):
        raise Refusal(f"--condition must lie between 0 and {most}, but {condition} was given.")
    turn = known.train.c[jnp.arange(count) % known.train.c.shape[0]]
    return turn if condition is None else jnp.full(count, condition, turn.dtype)


def settings_of(name: str) -> Rows:
    """The settings of a domain with their defaults."""
    found = fields(find_domain(name).settings)
    return [{"setting": f.name, "default": None if f.default is MISSING else f.default} for f in found]


# The experiments, and the module of `experiments` and `report` that each lives in.
EXPERIMENTS = {
    "clusters": "clusters",
    "sparsity": "clusters",
    "strings": "strings",
    "characters": "characters",
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
    made = import_module(f"wakesleep.experiments.{EXPERIMENTS[experiment]}")
    shown = import_module(f"wakesleep.report.{EXPERIMENTS[experiment]}")
    say = lambda line: console.print(line, highlight=False, markup=False)  # noqa: E731
    plan = resize(made.QUICK[experiment] if quick else made.FULL[experiment], steps, seeds, algorithms, ks)
    if quick:
        say(f"quick: cut from {made.FULL[experiment]} to {plan}")
    made.EXPERIMENTS[experiment](output, plan, say)
    for path in shown.DRAW[experiment](output):
        say(f"wrote {path}")
    say(shown.TABLES[experiment](output))
