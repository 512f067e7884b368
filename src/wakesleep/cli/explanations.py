"""What is asked of trained models: programs for observations, and new observations."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console

from wakesleep.cli.commands import Rows, cache_compilation, load_run
from wakesleep.cli.progress import Reporter, counter
from wakesleep.core import evaluate as ev
from wakesleep.core.keys import fused
from wakesleep.core.memory import Weighted
from wakesleep.core.model import Model, Observations, dream
from wakesleep.domains import DOMAINS
from wakesleep.domains import domain as find_domain
from wakesleep.domains.contract import Dataset, Domain
from wakesleep.errors import Refusal, require_at_least, require_one_of, require_share
from wakesleep.running import train as training
from wakesleep.running.run import Config
from wakesleep.running.weights import load as load_shipped

if TYPE_CHECKING:
    from wakesleep.domains.strings.explain.survey import Finding, Violation
    from wakesleep.domains.timeseries.explain.explanation import Explanation

REVISED = 0.5
"""The share of proposals that change one already found, where a domain knows how."""


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


class Wanted(NamedTuple):
    """What is to be shown of the programs that are found."""

    most: int
    """Programs of each observation."""
    picture: Path | None = None
    film: Path | None = None


def explain(target: str, file: Path, wanted: Wanted, steps: int, settings: dict, console: Console) -> Rows:
    """Programs for a user's observations: from a trained run, from a shipped model, or learned from the file alone."""
    cache_compilation()
    if target in DOMAINS and (find_domain(target).shipped is None or settings):
        return _learn_and_explain(target, file, wanted, steps, settings, console)
    known = trained(target)
    _check_film(known.domain, wanted.film)
    data = known.domain.load(known.domain.configure(known.settings | settings | {known.domain.data_setting: file}))
    if known.train is not None and _shapes(known.train) != _shapes(data.train):
        raise Refusal(
            f"The observations of {file} have another shape than those of {target}: "
            f"explain them from scratch with: wakesleep explain {known.domain.name} {file}"
        )
    size = max(wanted.most, 10)
    weighted = ev.posterior(jax.random.key(0), known.model, data.train, memory_size=size, revise=REVISED)
    return _present(known.domain, known.model, data, weighted, wanted)


def _shapes(data: Observations) -> Any:
    return jax.tree.map(lambda a: a.shape[1:], data)


def _check_film(domain: Domain, film: Path | None) -> None:
    if film is not None and domain.film is None:
        raise Refusal(f"Programs of {domain.name} cannot be watched: --film is for characters.")


def _film(domain: Domain, model: Model, weighted: Weighted, path: Path) -> None:
    """The best program of the first observation, carried out before one's eyes."""
    assert domain.film is not None
    best = int(jnp.argmax(weighted.log_weight[0]))
    domain.film(model.evaluator, jax.tree.map(lambda a: np.asarray(a[0, best]), weighted.programs), path)


def _present(domain: Domain, model: Model, data: Dataset, weighted: Weighted, wanted: Wanted) -> Rows:
    """The programs in words, and drawn and filmed where that is wanted."""
    if wanted.picture is not None:
        _draw(domain, model, data.train, weighted, data.names, wanted.most, wanted.picture)
    if wanted.film is not None:
        _film(domain, model, weighted, wanted.film)
    return training.describe(domain, weighted, data.train, data.names, wanted.most)


def _learn_and_explain(name: str, file: Path, wanted: Wanted, steps: int, settings: dict, console: Console) -> Rows:
    domain = find_domain(name)
    _check_film(domain, wanted.film)
    settings = settings | {domain.data_setting: str(file)}
    size = min(20, len(domain.load(domain.configure(settings)).train))
    job = training.prepare(Config(name, steps=steps, memory_size=20, proposals=20, batch_size=size, settings=settings))
    console.print(job.dataset.note, highlight=False, markup=False)
    with Reporter(console, steps) as report:
        state = training.train(job, None, job.start(), report)
    return _present(job.domain, state.model, job.dataset, training.posterior(job, state), wanted)


def survey_strings(file: str, column: str | None, effort: str, seed: int, console: Console) -> list["Finding"]:
    """What the shipped model finds for the columns of a table."""
    from wakesleep.data.tables import read_table
    from wakesleep.domains.strings.explain import shipped
    from wakesleep.domains.strings.explain.search import EFFORTS
    from wakesleep.domains.strings.explain.survey import survey

    require_one_of("effort", effort, tuple(EFFORTS))
    columns = read_table(file, rows="sample", column=column, seed=seed).columns
    if column is None and not any(c.present for c in columns):
        raise Refusal(f"{file} has no values in any column.")
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
    from wakesleep.domains.timeseries.explain import shipped
    from wakesleep.domains.timeseries.explain.explanation import TRANSFORMS, explain
    from wakesleep.domains.timeseries.explain.search import EFFORTS
    from wakesleep.domains.timeseries.tables import read_records

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
    from wakesleep.domains.timeseries.explain.exports import as_row, write_csv
    from wakesleep.domains.timeseries.explain.figure import draw_series

    if picture is not None:
        draw_series(found, picture, ahead)
    if csv is not None:
        write_csv(found, csv, ahead)
    return [as_row(e, most, ahead) for e in found]


def check_strings(patterns: Path, file: str, share: float, console: Console) -> list["Violation"]:
    """The values of a table, in all of its rows, that saved patterns do not accept."""
    from wakesleep.data.tables import stream_columns
    from wakesleep.domains.strings.explain import shipped
    from wakesleep.domains.strings.explain.survey import check, read_patterns

    require_share("share", share)
    cache_compilation()
    saved = read_patterns(patterns, shipped())
    return check(chain.from_iterable(stream_columns(file)), saved, share)


def _draw(
    domain: Domain, model: Model, data: Observations, weighted: Weighted, names: Sequence[str], most: int, path: Path
) -> None:
    from wakesleep.domains.pictures import draw_posteriors

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
