"""A run from its configuration: what to learn from, with what, and the loop around its checkpoints."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh
from jaxtyping import Array, Key

from wakesleep.core import processes
from wakesleep.core.algorithms import Algorithm, Info, Means, State, mws, rws, vimco
from wakesleep.core.fit import begin, check_batch, fit, whole
from wakesleep.core.keys import fused
from wakesleep.core.memory import Weighted
from wakesleep.core.model import Batch, Model, Observations
from wakesleep.core.pretrain import pretrain
from wakesleep.domains import domain as find_domain
from wakesleep.domains.contract import Dataset, Domain
from wakesleep.errors import Refusal
from wakesleep.running import host_memory as hosted
from wakesleep.running import run as runs
from wakesleep.running import stores
from wakesleep.running.checkpoints import Saver
from wakesleep.running.out_of_core import fit_chunks, plan
from wakesleep.running.run import Config, Run

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

    def start(
        self,
        mesh: Mesh | None = None,
        host: Path | None = None,
        report: Callable[["Progress"], None] = lambda _: None,
    ) -> State:
        """The state before the first step; a memory that is to be kept on the host is made in the folder `host`."""
        model = self._slept(report) if self.config.pretrain else self.model()
        if self.config.rows_at_once and host is not None:
            first = begin(self.algorithm, model, self.dataset.train[:1])
            return first._replace(memory=hosted.make(host, self.shape().memory))
        return begin(self.algorithm, model, self.dataset.train, mesh)

    def _slept(self, report: Callable[["Progress"], None]) -> Model:
        """The model with recognition that has been pre-trained."""
        config, key = self.config, jax.random.fold_in(_keys(self.config.seed)[0], 1)
        sizes = (config.pretrain, config.batch_size, config.learning_rate)

        def tell(state: State, info: Info) -> None:
            report(Progress(int(state.step), config.pretrain, float(info.bound)))

        return pretrain(key, self.model(), self.dataset.train, *sizes, tell)

    def shape(self) -> State:
        """That state with the shapes of its arrays alone."""
        data = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), self.dataset.train)
        state: State = eqx.filter_eval_shape(self.algorithm.init, self.model(), data)
        return state


def prepare(config: Config, devices: int = 1) -> Job:
    """Everything a run needs, checked before any work is done or any directory made."""
    domain = find_domain(config.domain)
    settings = domain.configure(config.settings)
    source = getattr(settings, domain.data_setting)
    dataset = stores.read(source, domain) if stores.is_store(source) else domain.load(settings)
    if config.rows_at_once:
        plan(len(dataset.train), config.rows_at_once, config.batch_size, _keys(config.seed)[1], devices)
    else:
        check_batch(len(dataset.train), config.batch_size, devices)
    job = Job(config, domain, settings, dataset, algorithm(config))
    digest = dataset.digest or _digest(dataset.train)
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
    mesh: Mesh | None = None,
) -> State:
    """Goes on to the last step, or until `stop` says so in any process; with a run, what was learned is saved there.

    The given state is consumed.
    """
    if run is None:
        return _follow(job, state, report, stop, mesh, lambda *_: None)
    with Saver(run.checkpoints) as saver:

        def keep(state: State, means: dict[str, float] | None) -> None:
            saver.check()
            if means is not None:
                if processes.primary():
                    runs.record(run, {"step": int(state.step), **means})
                saver.save(state)

        return _follow(job, state, report, stop, mesh, keep)


def _follow(
    job: Job,
    state: State,
    report: Callable[[Progress], None],
    stop: Callable[[], bool],
    mesh: Mesh | None,
    keep: Callable[[State, dict[str, float] | None], None],
) -> State:
    """The loop of `train`: `keep` sees each state, with the mean report since the last one where it is to be saved."""
    config, every, pending = job.config, job.config.checkpoint_every, Means()
    before = int(state.step)
    for state, info in _chunks(job, state, mesh):
        step = int(state.step)
        pending.add(info, step - before)
        before = step
        report(Progress(step, config.steps, float(info.bound)))
        stopping = processes.any_says(stop())
        due = step % every == 0 or step == config.steps or stopping
        keep(state, pending.means() if due else None)
        pending = Means() if due else pending
        if stopping:
            break
    return state


def _chunks(job: Job, state: State, mesh: Mesh | None) -> Iterator[tuple[State, Info]]:
    config = job.config
    given: dict[str, Any] = {
        "key": _keys(config.seed)[1],
        "steps": config.steps,
        "batch_size": config.batch_size,
        "every": config.checkpoint_every,
        "mesh": mesh,
    }
    if config.rows_at_once:
        return fit_chunks(job.algorithm, state, job.dataset.train, rows_at_once=config.rows_at_once, **given)
    return fit(job.algorithm, state, job.dataset.train, consume=True, **given)


def posterior(job: Job, state: State, rows: list[int] | None = None, seed: int = 0) -> Weighted:
    """Weighted programs for those training rows (all by default)."""
    chosen = np.arange(len(job.dataset.train)) if rows is None else np.asarray(rows)
    some = job.dataset.train[chosen]
    model, memory = whole((state.model, jax.tree.map(lambda a: a[chosen], state.memory)))
    state = State(jnp.zeros((), jnp.int32), model, None, memory)
    batch = Batch(jnp.arange(len(chosen)), some.x, some.c)
    return eqx.filter_jit(job.algorithm.posterior)(fused(jax.random.key(seed)), state, batch)


def describe(
    domain: Domain, weighted: Weighted, data: Observations, names: Sequence[str], most: int = 5
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
    found = posterior(job, state, rows)  # every process has a part in it
    if not processes.primary():
        return
    described = describe(job.domain, found, job.dataset.train[np.asarray(rows)], [job.dataset.names[i] for i in rows])
    runs.write_whole(run.path / "programs.jsonl", "".join(json.dumps(d) + "\n" for d in described))


def _keys(seed: int) -> tuple[Key[Array, ""], Key[Array, ""]]:
    """The key of the untrained model and the key of the training."""
    key_model, key_train = jax.random.split(fused(jax.random.key(seed)))
    return key_model, key_train


def _digest(data: Observations) -> str:
    """A fingerprint of the data."""
    digest = hashlib.sha256()
    for leaf in jax.tree.leaves(data):
        digest.update(np.ascontiguousarray(leaf).data.cast("B"))
    return digest.hexdigest()[:32]
