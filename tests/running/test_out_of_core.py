import dataclasses
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.running.test_weights import SMALL
from tests.toy import ALL_PROGRAMS, toy_data, toy_model
from wakesleep.cli import app as cli
from wakesleep.core.algorithms import mws
from wakesleep.core.evaluate import exact
from wakesleep.core.fit import fit
from wakesleep.core.memory import Memory
from wakesleep.core.model import Observations
from wakesleep.data import memmap
from wakesleep.domains import BUILT_IN
from wakesleep.domains import domain as find_domain
from wakesleep.errors import Refusal
from wakesleep.running import host_memory as hosted
from wakesleep.running import run as runs
from wakesleep.running import train as training
from wakesleep.running.config import Config
from wakesleep.running.out_of_core import fit_chunks, plan
from wakesleep.running.programs import list_programs
from wakesleep.running.store import arrays_of, read_dataset
from wakesleep.running.store import store as store_of

KEY = jax.random.key(3)


def flat(rows):
    return [i for some in rows for i in range(some.start, some.stop)]


@pytest.mark.parametrize(("n", "rows", "batch"), [(1000, 128, 8), (1003, 130, 7), (10, 10, 3), (70, 69, 1)])
def test_a_pass_visits_no_row_twice_and_leaves_out_less_than_a_chunk(n, rows, batch):
    chosen = plan(n, rows, batch, KEY, 1)
    a_pass = n // chosen.chunk
    assert rows - 64 < chosen.chunk <= rows
    for first in (0, a_pass):
        seen = [flat(chosen.rows(first + i)) for i in range(a_pass)]
        assert {len(some) for some in seen} == {chosen.chunk}
        visited = [row for some in seen for row in some]
        assert len(set(visited)) == len(visited) > n - chosen.chunk - chosen.block
        assert set(visited) <= set(range(n))
    assert plan(n, rows, batch, KEY, 1).rows(3) == chosen.rows(3) != chosen.rows(4)


def test_every_row_is_visited_in_some_pass():
    chosen = plan(103, 64, 4, KEY, 1)
    assert {row for i in range(30) for row in flat(chosen.rows(i))} == set(range(103))


def test_rows_go_back_where_they_came_from():
    memory = Memory(np.arange(20).reshape(10, 2), np.arange(10.0))
    rows = [slice(7, 10), slice(0, 1), slice(3, 5)]
    taken = hosted.take(memory, rows)
    assert taken.log_joint.tolist() == [7, 8, 9, 0, 3, 4]
    hosted.give(memory, rows, jax.tree.map(lambda a: -a, taken))
    assert memory.log_joint.tolist() == [0, 1, 2, -3, -4, 5, 6, -7, -8, -9]
    assert memory.programs[4].tolist() == [-8, -9]


def test_learning_in_chunks_is_as_good_and_fills_every_memory():
    data = toy_data(jax.random.key(1), 64)
    model, algorithm = toy_model(jax.random.key(0)), mws(optax.adam(1e-2), 3, 2)
    start = algorithm.init(model, data)
    host = start._replace(memory=jax.tree.map(np.array, start.memory))
    options = {"key": KEY, "steps": 300, "batch_size": 8}
    for whole, _ in fit(algorithm, start, data, **options):
        pass
    for state, _ in fit_chunks(algorithm, host, jax.tree.map(np.asarray, data), rows_at_once=32, **options):
        pass
    assert np.all(np.isfinite(state.memory.log_joint[:, 0]))
    # What a row remembers was found for that row: no score is minus infinity under its own observation.
    for row in (0, 17, 63):
        assert np.isfinite(float(state.model.log_joint(jnp.asarray(state.memory.programs[row, 0]), data.x[row])))
    found = [float(exact(s.model, ALL_PROGRAMS, data).mean()) for s in (whole, state)]
    assert abs(found[0] - found[1]) < 0.1


def write(folder, domain, pieces):
    return memmap.write(folder, (arrays_of(piece, domain) for piece in pieces), {"domain": domain.name})


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store of 96 small images in two pieces."""
    domain = find_domain("automata")
    folder = tmp_path_factory.mktemp("stores") / "images"
    given = {"observations": 48, "height": 4, "width": 6, "recognition": "counts"}
    pieces = [domain.load(domain.configure(given | {"data_seed": seed})).train for seed in (0, 1)]
    assert write(folder, domain, pieces) == 96
    return folder, pieces


def test_a_store_has_what_was_written_to_it(store):
    folder, pieces = store
    found = read_dataset(folder, find_domain("automata"))
    assert isinstance(found.train.x.image, np.memmap)
    assert found.train.x.windows is None
    for i, piece in enumerate(pieces):
        same = jax.tree.map(np.array_equal, found.train[48 * i : 48 * i + 48], jax.tree.map(np.asarray, piece))
        assert all(jax.tree.leaves(same))
    assert found.names[95] == "observation 95"
    assert list(found.names[1:3]) == ["observation 1", "observation 2"]
    with pytest.raises(Refusal, match="store of automata, not of clusters"):
        read_dataset(folder, find_domain("clusters"))


def test_a_store_is_not_overwritten_and_sources_must_agree(store, tmp_path):
    folder, pieces = store
    with pytest.raises(Refusal, match="exists already"):
        write(folder, find_domain("automata"), pieces)
    with pytest.raises(Refusal, match="The sources differ: x is"):
        write(tmp_path / "x", find_domain("clusters"), [Observations(np.zeros((2, n))) for n in (3, 4)])
    assert list(tmp_path.iterdir()) == []


def test_a_store_can_be_made_by_the_command(tmp_path, monkeypatch, capsys):
    words = ["store", "clusters", str(tmp_path / "points"), "examples/points.csv", "examples/points.csv"]
    monkeypatch.setattr(sys, "argv", ["wakesleep", *words])
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().out.startswith("12 observations")
    assert read_dataset(tmp_path / "points", find_domain("clusters")).train.c.shape == (12,)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_store_of_every_domain_can_be_trained_from(name, tmp_path):
    """The observations of a store are those that the domain loads, in the same structure."""
    domain = find_domain(name)
    settings = dict(SMALL[name].items())
    loaded = domain.load(domain.configure(settings)).train
    assert store_of(domain, tmp_path / "store", [], settings) == len(loaded)
    job = training.prepare(Config(name, batch_size=4, settings=settings | {"data": str(tmp_path / "store")}))
    assert jax.tree.structure(job.dataset.train) == jax.tree.structure(loaded)
    assert all(jax.tree.leaves(jax.tree.map(np.array_equal, job.dataset.train, loaded)))


def test_observations_of_an_undeclared_type_are_refused_and_not_written(tmp_path):
    domain = dataclasses.replace(find_domain("automata"), observation=None)
    with pytest.raises(Refusal, match="its Domain must name the type of x"):
        store_of(domain, tmp_path / "store", [], SMALL["automata"])
    assert list(tmp_path.iterdir()) == []


def test_stopped_and_resumed_in_the_middle_of_a_chunk_equals_never_stopped(store, tmp_path):
    settings = {"data": str(store[0]), "recognition": "counts"}
    config = Config("automata", steps=40, batch_size=4, checkpoint_every=7, rows_at_once=32, settings=settings)
    job = training.prepare(config)
    ended = []
    for name, stops in (("whole", []), ("stopped", [False, False, True])):
        run = runs.create(tmp_path / name, job.config)
        asked = iter(stops)
        state = training.train(job, run, job.start(host=run.memory), stop=lambda asked=asked: next(asked, False))
        if stops:
            assert int(state.step) % 8 != 0
            with (run.memory / "log_joint.npy").open("r+b") as lost:
                lost.truncate(200)  # what was at work when a process was killed is of no account
            state = training.train(job, run, runs.restore(run, job.shape()))
        assert int(state.step) == 40
        ended.append(jax.tree.leaves(eqx.filter(runs.restore(run, job.shape(), change=False), eqx.is_array_like)))
        list_programs(job, run, state)
    assert all(np.array_equal(a, b) for a, b in zip(*ended, strict=True))
    assert (tmp_path / "whole" / "programs.jsonl").read_text() == (tmp_path / "stopped" / "programs.jsonl").read_text()


def test_too_few_rows_at_once_are_refused(store):
    settings = {"data": str(store[0]), "recognition": "counts"}
    with pytest.raises(Refusal, match="between the batch_size"):
        training.prepare(Config("automata", batch_size=20, rows_at_once=10, settings=settings))


CAPPED = """
import resource, sys, jax, numpy as np, optax
from pathlib import Path
from tests.running.test_weights import SMALL
from tests.toy import toy_model
from wakesleep import mws
from wakesleep.running import host_memory as hosted
from wakesleep.running.out_of_core import fit_chunks
from wakesleep.core.fit import fit
from wakesleep.core.model import Evaluator, Observations
import equinox as eqx

MEGABYTES, WIDTH = 256, 4096
n = MEGABYTES * 2**20 // WIDTH
folder, chunked = Path(sys.argv[1]), sys.argv[2] == "chunks"

class Wide(Evaluator):
    inner: Evaluator
    def sample(self, key, z):
        return jax.numpy.zeros(WIDTH, jax.numpy.int8).at[0].set(self.inner.sample(key, z).astype(jax.numpy.int8))
    def log_prob(self, x, z):
        return self.inner.log_prob(x[0], z)

class Narrow(type(toy_model(jax.random.key(0)).recognition)):
    def encode(self, x, c):
        return x[0]

model = toy_model(jax.random.key(0))
wide = Wide(model.evaluator), Narrow(model.recognition.logits)
model = eqx.tree_at(lambda m: (m.evaluator, m.recognition), model, wide)
if not (folder / "x.npy").exists():
    made = np.lib.format.open_memmap(folder / "x.npy", "w+", np.int8, (n, WIDTH))
    made[:, 0] = np.arange(n) % 4
    made.flush()
data = Observations(np.load(folder / "x.npy", mmap_mode="r"))
algorithm = mws(optax.adam(1e-2), 3, 2)
options = {"key": jax.random.key(0), "batch_size": 8}

def chunks(rows, steps):
    some = data[:rows]
    state = algorithm.init(model, some)
    state = state._replace(memory=hosted.make(folder / "memory", eqx.filter_eval_shape(lambda: state.memory)))
    for state, _ in fit_chunks(algorithm, state, some, steps=steps, rows_at_once=1024, **options):
        pass
    return state

chunks(2048, 300)  # compiles, so that what follows needs only what its data need
held = int(next(l for l in open("/proc/self/status") if l.startswith("VmData")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (held + 96 * 2**20,) * 2)
if chunked:
    state = chunks(n, 600)
    print(int(np.isfinite(np.asarray(state.memory.log_joint)[:, 0]).sum()))
else:
    data = jax.tree.map(np.array, data)  # all of it in memory, as if read from a file of another kind
    for state, _ in fit(algorithm, algorithm.init(model, data), data, steps=10, **options):
        pass
"""


def test_data_that_do_not_fit_under_a_cap_are_learned_from_in_chunks(tmp_path):
    """256 MB of observations with 96 MB to spare: all in memory fails, 1,024 rows at a time do not."""
    run = lambda how: subprocess.run(  # noqa: E731
        [sys.executable, "-c", CAPPED, str(tmp_path), how], capture_output=True, text=True, check=False
    )
    chunked = run("chunks")
    assert chunked.returncode == 0, chunked.stderr
    assert int(chunked.stdout) > 2000
    whole = run("whole")
    assert whole.returncode != 0
    assert "MemoryError" in whole.stderr
