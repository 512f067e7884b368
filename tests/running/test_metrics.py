"""What a run reports along the way: lines of metrics, callbacks, TensorBoard, and the settings of the optimiser."""

import sys
from types import ModuleType

import equinox as eqx
import jax
import numpy as np
import optax
import pytest

from wakesleep.core.algorithms import mws, rws
from wakesleep.core.fit import fit
from wakesleep.errors import Refusal
from wakesleep.running import run as runs
from wakesleep.running import train as training
from wakesleep.running.config import OPTIMISERS, Config, make_optimiser
from wakesleep.running.tensorboard import tensorboard

TINY = {"observations": 8, "points": 3, "width": 4}


def config(**changes):
    given = {"domain": "clusters", "steps": 20, "batch_size": 4, "checkpoint_every": 10, "settings": TINY}
    return Config(**(given | changes))


@pytest.fixture(scope="module")
def job():
    return training.prepare(config())


def trained(job, path, **given):
    run = runs.create(path, job.config)
    state = training.train(job, run, job.start(), **given)
    return run, state, list(runs.history(run))


def test_lines_come_every_few_steps_and_change_nothing(job, tmp_path):
    told = []
    often = job._replace(config=config(report_every=5))
    _, plain, seldom = trained(job, tmp_path / "seldom")
    run, state, lines = trained(often, tmp_path / "often", callback=lambda metrics, state: told.append(metrics))
    assert [line["step"] for line in lines] == [5, 10, 15, 20]
    assert runs.steps_saved(run) == [10, 20]
    assert told == lines
    both = [jax.tree.leaves(eqx.filter(s.model, eqx.is_array)) for s in (plain, state)]
    assert all(np.array_equal(a, b) for a, b in zip(*both, strict=True))
    for name in ("novel", "effective", "gradient_prior", "gradient_recognition"):
        pairs = np.array([line[name] for line in lines]).reshape(2, 2).mean(axis=1)
        np.testing.assert_allclose(pairs, [line[name] for line in seldom], rtol=1e-5)


def test_a_callback_is_told_without_a_run_directory(job):
    told = []
    training.train(job, None, job.start(), callback=lambda metrics, state: told.append((metrics["step"], state)))
    assert [step for step, _ in told] == [10, 20]
    assert int(told[-1][1].step) == 20


def test_checkpoints_must_have_their_line():
    with pytest.raises(Refusal, match="multiple of report_every"):
        config(report_every=3)


@pytest.mark.parametrize("make", [lambda o: mws(o, 3, 2), lambda o: rws(o, 3)])
def test_norms_are_those_of_the_gradient_and_weights_count_as_many_as_they_are(job, make):
    """Plain descent at rate one moves each part by its gradient."""
    algorithm = make(optax.sgd(1.0))
    start = algorithm.init(job.model(), job.dataset.train)
    given = {"key": jax.random.key(0), "steps": 1, "batch_size": 4}
    ((state, info),) = fit(algorithm, start, job.dataset.train, **given)
    for part, norm in zip(("prior", "evaluator", "recognition"), info.gradient, strict=True):
        before, after = (jax.tree.leaves(eqx.filter(getattr(s.model, part), eqx.is_array)) for s in (start, state))
        moved = np.sqrt(
            sum(np.sum(np.square(np.asarray(a) - np.asarray(b))) for a, b in zip(before, after, strict=True))
        )
        assert float(norm) == pytest.approx(moved, rel=1e-3, abs=1e-6)
    assert 1 <= float(info.effective) <= 3
    assert float(info.gradient.max()) > 0


def sizes(**given):
    """The moves of plain descent on a gradient of one: the learning rate at each step."""
    optimiser = make_optimiser(Config("", optimiser="sgd", learning_rate=1.0, **given))
    one = np.float32(1.0)
    state, found = optimiser.init(one), []
    for _ in range(given["steps"]):
        update, state = optimiser.update(one, state)
        found.append(-float(update))
    return np.array(found)


def test_the_learning_rate_rises_is_held_and_falls_by_a_cosine():
    rates = sizes(steps=40, warmup=4, hold=0.5, fall="cosine")
    np.testing.assert_allclose(rates[:5], [0.25, 0.5, 0.75, 1.0, 1.0], rtol=1e-5)
    np.testing.assert_allclose(rates[4:20], 1.0, rtol=1e-5)
    cosine = 0.01 + 0.99 * (1 + np.cos(np.pi * np.arange(20) / 20)) / 2
    np.testing.assert_allclose(rates[20:], cosine, rtol=1e-4)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_every_optimiser_descends(name):
    optimiser = make_optimiser(Config("", optimiser=name, steps=10))
    x = np.float32(1.0)
    update, _ = optimiser.update(x, optimiser.init(x), x)
    assert float(update) < 0


class Written:
    """What TensorBoard's writer is called with."""

    def __init__(self, folder, **given):
        self.rows, self.closed = [], False
        Written.last = self

    def add_scalar(self, name, value, step):
        self.rows.append((name, value, step))

    def close(self):
        self.closed = True


def test_metrics_are_logged_for_tensorboard(job, tmp_path, monkeypatch):
    fake = ModuleType("tensorboardX")
    fake.SummaryWriter = Written
    monkeypatch.setitem(sys.modules, "tensorboardX", fake)
    with tensorboard(tmp_path / "events") as callback:
        _, _, lines = trained(job, tmp_path / "run", callback=callback)
    assert Written.last.closed
    assert Written.last.rows == [(n, v, line["step"]) for line in lines for n, v in line.items() if n != "step"]


def test_event_files_are_written(job, tmp_path):
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    with tensorboard(tmp_path) as callback:
        callback({"step": 3, "bound": -1.5}, job.start())
    (file,) = tmp_path.glob("events.out.tfevents.*")
    assert b"bound" in file.read_bytes()


def test_a_missing_tensorboard_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(Refusal, match=r"wakesleep\[tensorboard\]"), tensorboard(tmp_path):
        pass
