"""The trainer: a configuration becomes a `Job`, and a job is trained, with checkpoints if it has a run directory.

Everything that trains goes through `prepare` and `steps`: the commands, the tables of the paper, and `train` here.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Key

from wakesleep.core import processes
from wakesleep.core.algorithms import Algorithm, Info, State
from wakesleep.core.fit import begin, check_batch, fit
from wakesleep.core.keys import fused
from wakesleep.core.model import Model, Observations
from wakesleep.core.pretrain import pretrain
from wakesleep.core.step import PARTS
from wakesleep.data.documents import reason
from wakesleep.data.memmap import DIGEST_CHARACTERS, is_store
from wakesleep.domains import domain as find_domain
from wakesleep.domains.contract import Dataset, Domain
from wakesleep.domains.references import absolute
from wakesleep.errors import Refusal
from wakesleep.running import host_memory as hosted
from wakesleep.running import run as runs
from wakesleep.running.checkpoints import Saver
from wakesleep.running.chronicle import Chronicle
from wakesleep.running.config import Config, make_algorithm
from wakesleep.running.freed import trimmed
from wakesleep.running.out_of_core import fit_chunks, plan
from wakesleep.running.reference import digest
from wakesleep.running.run import Run
from wakesleep.running.store import Say, read_dataset

REPORTED = ("bound", "explained", "novel", "effective")
"""The numbers of a report that a line of the metrics has, beside the norms of gradients."""


class Progress(NamedTuple):
    """Where a run stands."""

    step: int
    steps: int
    bound: float


Report = Callable[[Progress], None]
Callback = Callable[[dict[str, int | float], State], None]
"""Takes a line of the metrics, the step among them, and the state that the next steps will consume."""


class Due(NamedTuple):
    """What is due after a step."""

    line: bool
    checkpoint: bool


class Job(NamedTuple):
    """A configuration with everything that it names."""

    config: Config
    domain: Domain
    settings: Any
    dataset: Dataset
    algorithm: Algorithm

    def model(self) -> Model:
        """Returns the untrained model of the run's seed."""
        return self.domain.build(_keys(self.config.seed)[0], self.settings, self.dataset.train)

    def start(self, mesh: Mesh | None = None, host: Path | None = None, report: Report = lambda now: None) -> State:
        """Returns the state before the first step; with `rows_at_once`, its memory is made in the folder `host`."""
        model = self._slept(report) if self.config.pretrain else self.model()
        if self.config.rows_at_once and host is not None:
            first = begin(self.algorithm, model, self.dataset.train[:1])
            return first._replace(memory=hosted.make(host, self.shape().memory))
        return begin(self.algorithm, model, self.dataset.train, mesh)

    def start_seeds(self, count: int) -> tuple[State, Key[Array, "s"]]:
        """Returns the stacked states before the first step for seeds 0 to `count` - 1, and their keys for `steps`."""
        given = self.settings, self.dataset.train

        @eqx.filter_jit
        @eqx.filter_vmap
        def start(seed: Array) -> tuple[State, Array]:
            key_model, key_train = _keys(seed)
            return self.algorithm.init(self.domain.build(key_model, *given), self.dataset.train), key_train

        return start(jnp.arange(count))

    def shape(self) -> State:
        """Returns the state before the first step with shapes in place of arrays."""
        data = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), self.dataset.train)
        state: State = eqx.filter_eval_shape(self.algorithm.init, self.model(), data)
        return state

    def _slept(self, report: Report) -> Model:
        """Returns the model with pre-trained recognition."""
        config, key = self.config, jax.random.fold_in(_keys(self.config.seed)[0], 1)
        sizes = (config.pretrain, config.batch_size, config.learning_rate)

        def tell(state: State, info: Info) -> None:
            report(Progress(int(state.step), config.pretrain, float(info.bound)))

        return pretrain(key, self.model(), self.dataset.train, *sizes, tell)


def prepare(config: Config, devices: int = 1, given: bool = False, say: Say = lambda line: None) -> Job:
    """Returns the job of a configuration, checked before any work is done or any directory made.

    The job's configuration also records the absolute path of the domain's file and the digests of file and data.
    `given` says that the user named the domain just now, so that its code may be run. `say` is told how far the
    verification of a store has come.
    """
    config = replace(config, domain=absolute(config.domain))
    domain, algorithm = find_domain(config.domain, given), make_algorithm(config)
    settings = domain.configure(config.settings)
    source: Any = getattr(settings, domain.data_setting, None)
    stored = is_store(source)
    dataset = read_dataset(source, domain, say) if stored else domain.load(settings)
    if config.rows_at_once:
        plan(len(dataset.train), config.rows_at_once, config.batch_size, _keys(config.seed)[1], devices)
    else:
        check_batch(len(dataset.train), config.batch_size, devices)
    data_digest = dataset.digest or _digest(dataset.train)
    if config.data_digest and config.data_digest != data_digest:
        raise Refusal("The data are not those that the run was started with: bring them back, or start a new run.")
    domain_digest = config.domain_digest or digest(config.domain)
    config = replace(config, data_digest=data_digest, domain_digest=domain_digest)
    job = Job(config, domain, settings, dataset, algorithm)
    if stored:
        _check_fits(job, source)
    return job


def _check_fits(job: Job, store: Path) -> None:
    """Refuses a store whose arrays have other shapes or types than the domain's model takes."""
    try:
        job.shape()
    except Refusal:
        raise
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        raise Refusal(
            f"{store} holds observations from which {job.domain.name} cannot learn ({reason(error)}): write it again."
        ) from None


def steps(
    job: Job, state: State, mesh: Mesh | None = None, keys: Key[Array, "s"] | None = None
) -> Iterator[tuple[State, Info]]:
    """Trains to the last step, yielding the state and the mean report at each checkpoint and about once a second.

    The given state is consumed, and so is each yielded one by the next steps. With the `keys` of `start_seeds` the
    seeds train side by side.
    """
    config = job.config
    given: dict[str, Any] = {
        "key": _keys(config.seed)[1] if keys is None else keys,
        "steps": config.steps,
        "batch_size": config.batch_size,
        "every": config.lines_every,
        "mesh": mesh,
    }
    if config.rows_at_once:
        return trimmed(fit_chunks(job.algorithm, state, job.dataset.train, rows_at_once=config.rows_at_once, **given))
    return trimmed(fit(job.algorithm, state, job.dataset.train, consume=True, **given))


def train(
    job: Job,
    run: Run | None,
    state: State,
    report: Report = lambda now: None,
    stop: Callable[[], bool] = lambda: False,
    mesh: Mesh | None = None,
    callback: Callback = lambda metrics, state: None,
) -> State:
    """Trains to the last step, or until `stop` is true in any process, and returns the state reached.

    With a run, metrics and checkpoints are written there. The given state is consumed. `callback` is called every
    `report_every` steps, in the primary process.
    """

    def tell(state: State, info: Info) -> dict[str, int | float]:
        metrics = {"step": int(state.step), **numbers(info)}
        if processes.primary():
            callback(metrics, state)
        return metrics

    if run is None:
        return _follow(job, state, report, stop, mesh, lambda state, info, due: tell(state, info) if due.line else None)
    chronicle = Chronicle(run.chronicle, job.domain, job.config.watch) if job.config.watch else None
    with Saver(run.checkpoints) as saver:

        def keep(state: State, info: Info, due: Due) -> None:
            saver.check()
            if chronicle is not None:
                chronicle.see(state, info)
            if due.line:
                metrics = tell(state, info)
                if processes.primary():
                    runs.record(run, metrics)
            if due.checkpoint:
                saver.save(state)

        return _follow(job, state, report, stop, mesh, keep)


def _follow(
    job: Job,
    state: State,
    report: Report,
    stop: Callable[[], bool],
    mesh: Mesh | None,
    keep: Callable[[State, Info, Due], Any],
) -> State:
    """Runs the loop of `train`; `keep` gets each state, the report, and what is due."""
    config = job.config
    for state, info in steps(job, state, mesh):
        step = int(state.step)
        report(Progress(step, config.steps, float(info.bound)))
        stopping = processes.any_says(stop())
        ending = step == config.steps or stopping
        due = Due(step % config.lines_every == 0 or ending, step % config.checkpoint_every == 0 or ending)
        keep(state, info, due)
        if stopping:
            break
    return state


def numbers(info: Info) -> dict[str, int | float]:
    """Returns the numbers of a report by name, the norm of each part's gradient among them."""
    norms = {f"gradient_{part}": float(norm) for part, norm in zip(PARTS, np.asarray(info.gradient), strict=True)}
    return {name: float(getattr(info, name)) for name in REPORTED} | norms


def _keys(seed: Any) -> tuple[Key[Array, ""], Key[Array, ""]]:
    """Returns the key of the untrained model and the key of the training."""
    key_model, key_train = jax.random.split(fused(jax.random.key(seed)))
    return key_model, key_train


def _digest(data: Observations) -> str:
    """Returns the start of the SHA-256 of the bytes of all arrays."""
    total = hashlib.sha256()
    for leaf in jax.tree.leaves(data):
        total.update(np.ascontiguousarray(leaf).data.cast("B"))
    return total.hexdigest()[:DIGEST_CHARACTERS]
