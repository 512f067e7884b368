"""What is remembered for watched observations is written down when it changes."""

import json

import jax
import jax.numpy as jnp
import numpy as np

from wakesleep.core.memory import Memory
from wakesleep.core.step import Info, State
from wakesleep.domains.contract import Domain
from wakesleep.running import run as runs
from wakesleep.running import train as training
from wakesleep.running.chronicle import Chronicle
from wakesleep.running.config import Config, parse

DOMAIN = Domain(name="none", settings=dict, load=dict, build=dict, show=lambda z: f"program {int(z[0])}")
INFO = Info(jnp.asarray(-1.5), jnp.asarray(1.0), jnp.asarray(0.5), jnp.zeros(3), jnp.asarray(2.0), jnp.zeros(3))


def state(step, programs, log_joint, phase=None):
    found = None if phase is None else jnp.asarray(phase, jnp.int8)
    memory = Memory(jnp.asarray(programs)[..., None], jnp.asarray(log_joint), found)
    return State(jnp.asarray(step), None, None, memory)


def lines(path):
    return [json.loads(text) for text in path.read_text().splitlines()]


def test_rows_are_written_when_they_change(tmp_path):
    file = tmp_path / "memory.jsonl"
    chronicle = Chronicle(file, DOMAIN, 2)
    log = np.log([[0.3, 0.1], [0.2, 0.0], [0.5, 0.5]], where=[[1, 1], [1, 0], [1, 1]], out=np.full((3, 2), -np.inf))
    chronicle.see(state(5, [[1, 2], [3, 0], [4, 5]], log, [[0, 2], [1, 0], [0, 0]]), INFO)
    chronicle.see(state(9, [[1, 2], [3, 0], [4, 5]], log, [[0, 2], [1, 0], [0, 0]]), INFO)
    chronicle.see(state(12, [[1, 7], [3, 0], [4, 5]], log, [[0, 1], [1, 0], [0, 0]]), INFO)
    found = lines(file)
    assert [line["bound"] for line in found if "bound" in line] == [-1.5] * 3
    rows = [(line["step"], line["row"]) for line in found if "row" in line]
    assert rows == [(5, 0), (5, 1), (12, 0)]
    assert found[1]["programs"] == [
        {"program": "program 1", "q": 0.75, "since": 5, "by": "recognition"},
        {"program": "program 2", "q": 0.25, "since": 5, "by": "revision"},
    ]
    assert found[-1]["programs"][0]["since"] == 5
    assert found[-1]["programs"][1] == {"program": "program 7", "q": 0.25, "since": 12, "by": "prior"}


def test_a_chronicle_goes_on_where_it_was(tmp_path):
    file = tmp_path / "memory.jsonl"
    log = np.log([[0.5, 0.5]])
    Chronicle(file, DOMAIN, 1).see(state(5, [[1, 2]], log, [[0, 2]]), INFO)
    Chronicle(file, DOMAIN, 1).see(state(8, [[1, 3]], log, [[2, 2]]), INFO)
    assert lines(file)[-1]["programs"][0] == {"program": "program 1", "q": 0.5, "since": 5, "by": "recognition"}


def test_an_impossible_bound_is_still_json(tmp_path):
    file = tmp_path / "memory.jsonl"
    Chronicle(file, DOMAIN, 1).see(state(1, [[1, 2]], [[-np.inf, -np.inf]]), INFO._replace(bound=jnp.asarray(-jnp.inf)))
    assert lines(file) == [{"step": 1, "bound": None, "explained": 1.0, "novel": 0.5}]


def test_a_run_from_before_is_still_read():
    assert parse({"domain": "clusters"}).watch == 0


def test_a_watched_run_writes_its_memory_and_forgets_lost_steps(tmp_path):
    config = Config("clusters", watch=3, steps=30, checkpoint_every=10, batch_size=5, explore=0.5,
                    settings={"observations": 5, "points": 3})  # fmt: skip
    job = training.prepare(config)
    run = runs.create(tmp_path / "run", job.config)
    training.train(job, run, job.start())
    found = list(runs.read_lines(run.chronicle))
    assert {line["row"] for line in found if "row" in line} == {0, 1, 2}
    assert {p["by"] for line in found for p in line.get("programs", [])} <= {"recognition", "prior"}
    runs.rewind(run, 20)
    assert max(line["step"] for line in runs.read_lines(run.chronicle)) == 20
    assert jax.tree.leaves(runs.restore(run, job.start()).memory.phase)
