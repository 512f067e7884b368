"""A run from its configuration: what to learn from, with what, and the loop around its checkpoints."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Key

from wakesleep import runs
from wakesleep.algorithms import Algorithm, Info, State, mws, rws, vimco
from wakesleep.domain import Dataset, Domain
from wakesleep.domains import domain as find_domain
from wakesleep.errors import Refusal
from wakesleep.fit import check_batch, fit
from wakesleep.keys import fused
from wakesleep.memory import Weighted
from wakesleep.model import Batch, Model, Observations
from wakesleep.runs import Config, Run

PROGRAMS_LISTED = 1000


class Job(NamedTuple):
    """A configuration brought to life."""

    config: Config
    domain: Domain
    settings: Any
    dataset: Dataset
    algorithm: Algorithm

    def model(self) -> Model:
        """The untrained model of the run's seed."""
        key, _ = _keys(self.config.seed)
        return self.domain.build(key, self.settings, self.dataset.train)

    def start(self) -> State:
        """The state before the first step."""
        return self.algorithm.init(self.model(), self.dataset.train)


def prepare(config: Config) -> Job:
    """Everything a run needs, checked before any work is done or any directory made."""
    domain = find_domain(config.domain)
    settings = domain.configure(config.settings)
    dataset = domain.load(settings)
    check_batch(len(dataset.train), config.batch_size, 1)
    job = Job(config, domain, settings, dataset, algorithm(config))
    digest = _digest(dataset.train)
    if config.data_digest and config.data_digest != digest:
        raise Refusal("The data are not those that the run was started with: bring them back, or start a new run.")
    return job._replace(config=replace(config, data_digest=digest))


def algorithm(config: Config) -> Algorithm:
    """The algorithm that the configuration names."""
    optimiser = optax.adam(config.learning_rate)
    if config.algorithm.startswith("mws"):
        recognition = "fantasy" if config.algorithm == "mws-fantasy" else "replay"
        sizes, shares = (config.memory_size, config.proposals), (config.explore, config.revise)
        return mws(optimiser, *sizes, recognition, config.replay, *shares)
    if config.algorithm == "vimco":
        return vimco(optimiser, config.particles)
    return rws(optimiser, config.particles, "sleep" if config.algorithm == "rws-sleep" else "wake")


class Progress(NamedTuple):
    """Where a run stands."""

    step: int
    steps: int
    bound: float


def train(
    job: Job,
    run: Run | None,
    state: State,
    report: Callable[[Progress], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> State:
    """Goes on to the last step, or until `stop` says so; with a run, what was learned is saved there."""
    config, (_, key) = job.config, _keys(job.config.seed)
    every = config.checkpoint_every
    pending = _Means()
    chunks = fit(
        job.algorithm,
        state,
        job.dataset.train,
        key=key,
        steps=config.steps,
        batch_size=config.batch_size,
        every=every,
    )
    before = int(state.step)
    for state, info in chunks:
        step = int(state.step)
        pending.add(info, step - before)
        before = step
        report(Progress(step, config.steps, float(info.bound)))
        stopping = stop()
        if run is not None and (step % every == 0 or step == config.steps or stopping):
            runs.record(run, {"step": step, **pending.means()})
            runs.save(run, state)
            pending = _Means()
        if stopping:
            break
    return state


class _Means:
    """The mean of what some steps reported."""

    def __init__(self) -> None:
        self.count, self.total = 0, np.zeros(len(Info._fields))

    def add(self, info: Info, count: int) -> None:
        self.total = self.total + count * np.asarray([float(v) for v in info])
        self.count += count

    def means(self) -> dict[str, float]:
        return dict(zip(Info._fields, (self.total / self.count).tolist(), strict=True))


def posterior(job: Job, state: State, rows: list[int] | None = None, seed: int = 0) -> Weighted:
    """Weighted programs for those training rows (all by default)."""
    chosen = jnp.arange(len(job.dataset.train)) if rows is None else jnp.asarray(rows)
    some = job.dataset.train[chosen]
    return jax.jit(lambda key, batch: job.algorithm.posterior(key, state, batch))(
        fused(jax.random.key(seed)), Batch(chosen, some.x, some.c)
    )


def describe(
    domain: Domain, weighted: Weighted, data: Observations, names: list[str], most: int = 5
) -> list[dict[str, Any]]:
    """For each observation its name and its most probable programs in words."""
    programs, log_weight, x = jax.tree.map(np.asarray, (*weighted, data.x))
    described = []
    for row, name in enumerate(names):
        order = [k for k in np.argsort(-log_weight[row], kind="stable") if np.isfinite(log_weight[row, k])]
        found: dict[str, dict[str, Any]] = {}
        for k in order:
            z = jax.tree.map(lambda a, k=k, row=row: a[row, k], programs)
            one = found.setdefault(text := domain.show(z), {"program": text, "probability": 0.0})
            one["probability"] += float(np.exp(log_weight[row, k]))
            if domain.remarks is not None and "remarks" not in one:
                one["remarks"] = domain.remarks(jax.tree.map(lambda a, row=row: a[row], x), z)
        best = sorted(found.values(), key=lambda one: -one["probability"])[:most]
        described.append({"name": name, "programs": best})
    return described


def list_programs(job: Job, run: Run, state: State) -> None:
    """Writes programs.jsonl: the best programs of the first thousand observations."""
    rows = list(range(min(len(job.dataset.train), PROGRAMS_LISTED)))
    some = job.dataset.train[jnp.asarray(rows)]
    described = describe(job.domain, posterior(job, state, rows), some, [job.dataset.names[i] for i in rows])
    runs.write_whole(run.path / "programs.jsonl", "".join(json.dumps(d) + "\n" for d in described))


def _keys(seed: int) -> tuple[Key[Array, ""], Key[Array, ""]]:
    """The key of the untrained model and the key of the training."""
    key_model, key_train = jax.random.split(fused(jax.random.key(seed)))
    return key_model, key_train


def _digest(data: Observations) -> str:
    """A fingerprint of the data."""
    digest = hashlib.sha256()
    for leaf in jax.tree.leaves(data):
        digest.update(np.ascontiguousarray(leaf).tobytes())
    return digest.hexdigest()[:32]
