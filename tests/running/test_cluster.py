"""Several processes, real ones: each test starts them with the command and compares what they leave."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
import pytest

from wakesleep.core import processes
from wakesleep.data import memmap
from wakesleep.errors import Refusal
from wakesleep.running import cluster
from wakesleep.running import run as runs
from wakesleep.running import train as training
from wakesleep.running.cluster import Place

MAIN = [sys.executable, "-c", "from wakesleep.cli.app import main; main()"]
TINY = ["--batch-size", "4", "--set", "observations=8", "--set", "points=3", "--set", "width=4"]


def free_port():
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return one.getsockname()[1]


def explicit(count):
    """Options that join processes, for each of them, and what the environment adds."""
    shared = ["--coordinator", f"localhost:{free_port()}", "--processes", str(count)]
    return [([*shared, "--process-id", str(i)], {}) for i in range(count)]


def slurm(count):
    job = str(free_port() - 61440 + 4096 * 20)  # the port that JAX makes of it is the free one, if that is high enough
    fixed = {"SLURM_JOB_ID": job, "SLURM_STEP_NODELIST": "localhost", "SLURM_NTASKS": str(count)}
    return [
        (["--coordinator", "auto"], fixed | {"SLURM_PROCID": str(i), "SLURM_LOCALID": str(i)}) for i in range(count)
    ]


def open_mpi(count):
    fixed = {"OMPI_MCA_orte_hnp_uri": f"{4096 * os.getpid()}.0;tcp://127.0.0.1:1", "OMPI_COMM_WORLD_SIZE": str(count)}
    ranks = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")
    return [(["--coordinator", "auto"], fixed | dict.fromkeys(ranks, str(i))) for i in range(count)]


def start(words, joined):
    """The command in each of several processes."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return [
        subprocess.Popen([*MAIN, *words, *more], env=os.environ | extra, cwd=extra.get("PWD"), **pipes)
        for more, extra in joined
    ]


def finish(started):
    """Exit code, standard output and standard error of each."""
    said = [process.communicate(timeout=300) for process in started]
    return [(process.returncode, *words) for process, words in zip(started, said, strict=True)]


def leaves(path, step=None):
    """The arrays of a run's checkpoint, read on one device."""
    run = runs.open_run(path)
    state = runs.restore(run, training.prepare(run.config).shape(), step)
    return jax.tree.leaves(eqx.filter(state, eqx.is_array))


def same(a, b):
    return all(np.array_equal(u, v) for u, v in zip(a, b, strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("processes")


class Killed(NamedTuple):
    """A run on two processes of which one was killed and that two others went on with."""

    path: Path
    code: int
    said: str
    seconds: float
    last: int


@pytest.fixture(scope="module")
def killed(folder):
    """Two processes that SLURM seems to have started, saving at each step; killed, and resumed as by Open MPI."""
    path = folder / "two"
    return kill_and_resume(path, victim=1, first=slurm(2), again=open_mpi(2))


def kill_and_resume(path, victim, first, again):
    words = ["train", "clusters", "--output", str(path), "--steps", "100000", "--checkpoint-every", "1", *TINY]
    started = start([*words, "--patience", "20"], first)
    wait_for_checkpoints(path, started)
    os.kill(started[victim].pid, signal.SIGKILL)
    moment = time.monotonic()
    code, _, said = finish(started)[1 - victim]
    seconds = time.monotonic() - moment
    last = runs.steps_saved(runs.open_run(path))[-1]
    ended = finish(start(["resume", str(path), "--steps", str(last + 3), "--json"], again))
    assert [e[0] for e in ended] == [0, 0], ended
    assert json.loads(ended[0][1])["step"] == last + 3
    assert ended[1][1] == ""
    return Killed(path, code, said, seconds, last)


ELSEWHERE = """
import sys, jax, numpy as np
from pathlib import Path
from wakesleep.running import run as runs
from wakesleep.running import train as training
from wakesleep.core.fit import data_mesh

folder, last = Path(sys.argv[1]), int(sys.argv[2])
run = runs.open_run(folder / "two")
job = training.prepare(run.config)
mesh = data_mesh(2)
training.train(job, runs.create(folder / "devices", run.config), job.start(mesh), mesh=mesh)
for count in (1, 2, 4):
    mesh = data_mesh(count)
    state = runs.restore(run, job.shape(), last + 1, mesh)
    assert len(state.memory.log_joint.sharding.device_set) == count
    np.savez(folder / f"before-{count}.npz", *jax.tree.leaves(state.memory))
training.train(job, runs.create(folder / "on-4", run.config), state, mesh=mesh)
"""


@pytest.fixture(scope="module")
def elsewhere(killed, folder):
    """In one process of four devices: the run on two devices, and what two processes saved, on one, two and four."""
    environment = os.environ | {"XLA_FLAGS": f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=4"}
    command = [sys.executable, "-c", ELSEWHERE, str(folder), str(killed.last)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def test_when_one_process_is_killed_the_other_ends_with_a_sentence(killed):
    assert killed.code == 2, killed.said
    assert f"go on with: wakesleep resume {killed.path}" in killed.said.splitlines()[-1]
    assert "Traceback" not in killed.said
    assert killed.seconds < 60


def test_two_processes_killed_and_resumed_give_step_for_step_what_two_devices_give(killed, elsewhere, folder):
    one, other = (list(runs.history(runs.open_run(path))) for path in (killed.path, folder / "devices"))
    assert [line["step"] for line in one] == list(range(1, killed.last + 4))
    assert one == other
    for ago in range(3):
        assert same(leaves(killed.path, killed.last + 3 - ago), leaves(folder / "devices", killed.last + 3 - ago))


def test_each_observation_keeps_its_memory_on_any_number_of_devices(killed, elsewhere, folder):
    truth = read_memory(killed.path, killed.last + 1)
    for count in (1, 2, 4):
        with np.load(folder / f"before-{count}.npz") as saved:
            assert same(truth, list(saved.values()))
    after = read_memory(folder / "on-4")
    assert not same(truth, after)
    # Two steps may find better programs, but a row's best is not forgotten: it is in the row still.
    for row in range(8):
        assert any(np.array_equal(truth[0][row, 0], z) for z in after[0][row])


def read_memory(path, step=None):
    run = runs.open_run(path)
    return jax.tree.leaves(runs.restore(run, training.prepare(run.config).shape(), step).memory)


@pytest.mark.slow
def test_the_coordinator_can_be_killed_and_two_go_on_with_what_one_saved(folder):
    first = kill_and_resume(folder / "coordinator", victim=0, first=explicit(2), again=explicit(2))
    assert f"go on with: wakesleep resume {first.path}" in first.said.splitlines()[-1]
    assert first.seconds < 60
    words = ["train", "clusters", "--output", str(folder / "one"), "--steps", "4", "--checkpoint-every", "1", *TINY]
    assert finish(start(words, [([], {})]))[0][0] == 0
    ended = finish(start(["resume", str(folder / "one"), "--steps", "6", "--json"], explicit(2)))
    assert [e[0] for e in ended] == [0, 0], ended
    assert runs.steps_saved(runs.open_run(folder / "one")) == [4, 5, 6]


def wait_for_checkpoints(path, started, seconds=240):
    """Until a third checkpoint is there."""
    for _ in range(seconds * 20):
        if len(list((path / "checkpoints").glob("0*"))) > 2:
            return
        if any(process.poll() is not None for process in started):
            raise AssertionError(finish(started))
        time.sleep(0.05)
    raise AssertionError("no checkpoint was written")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (Place(devices=0), "devices must be at least 1"),
        (Place(processes=2), "need --coordinator HOST:PORT"),
        (Place(coordinator="here:1"), "needs --processes and --process-id"),
        (Place(1, "here", 2, 0), "takes HOST:PORT, but 'here'"),
        (Place(1, "here:99999", 2, 0), "takes HOST:PORT"),
        (Place(1, "here:1", 2, 2), "process_id must lie between 0 and 1 for 2 processes, but 2"),
        (Place(1, "here:1", 2, 0, 0), "patience must be at least 1"),
    ],
)
def test_a_place_that_cannot_be_is_refused(place, words):
    with pytest.raises(Refusal, match=words):
        cluster.check(place)


def test_nobody_at_the_coordinator_is_one_sentence(folder):
    words = ["--coordinator", f"localhost:{free_port()}", "--processes", "2", "--process-id", "1", "--patience", "3"]
    ((code, out, err),) = finish(start(["train", "clusters", "--output", str(folder / "none"), *TINY], [(words, {})]))
    assert code == 2, err
    assert "Nobody answered at --coordinator localhost" in err
    assert err.count("\n") == 1
    assert out == ""
    assert not (folder / "none").exists()


HERE = Path("/proc/self/cwd")
"""The folder in which a process was started: one path, and other files in each process."""


@pytest.mark.skipif(not HERE.exists(), reason="needs the /proc of Linux")
def test_processes_that_read_other_data_by_the_same_path_are_refused(folder):
    joined = []
    for i, (words, _) in enumerate(explicit(2)):
        place = folder / f"place-{i}"
        place.mkdir()
        pieces = [{"x": np.full((4, 3, 2), i, np.float32), "c": np.full(4, 3, np.int32)}]
        memmap.write(place / "store", pieces, {"domain": "clusters"})
        joined.append((words, {"PWD": str(place)}))
    data = ["--set", f"data={HERE / 'store'}", "--set", "width=4", "--batch-size", "2"]
    ended = finish(start(["train", "clusters", "--output", str(folder / "differing"), *data], joined))
    for code, _, said in ended:
        assert code == 2, said
        assert "The processes of a run need the same settings and data" in said
        assert "Traceback" not in said
    assert not (folder / "differing").exists()


def test_alone_a_process_agrees_with_itself():
    assert processes.greatest(2.5) == 2.5
    assert not processes.any_says(False)
    processes.check_same("a", "settings")
    with pytest.raises(Refusal, match="no"):
        processes.by_primary(lambda: (_ for _ in ()).throw(Refusal("no")))


EVERYTHING = """
import jax, numpy as np, optax
from wakesleep.domains import BUILT_IN, domain as find_domain
from wakesleep.paper.cells import VARIANTS, make
from wakesleep.core.fit import begin, data_mesh, fit

SMALL = {
    "clusters": {"observations": 8, "points": 3, "width": 4},
    "automata": {"observations": 8, "height": 4, "width": 6, "recognition": "counts"},
    "strings": {"length": 6, "hidden": 4},
    "characters": {"observations": 8, "strokes": 3, "length": 3, "reach": 1, "hidden": 4, "channels": 2},
    "timeseries": {"observations": 8, "points": 12, "length": 5, "hidden": 4, "fit_steps": 2},
}
assert set(SMALL) == set(BUILT_IN)
mesh = data_mesh(2)
for name in SMALL:
    domain = find_domain(name)
    settings = domain.configure(SMALL[name])
    data = domain.load(settings).train[:8]
    for algorithm in VARIANTS:
        made = make(algorithm, optax.adam(1e-3), 4)
        state = begin(made, domain.build(jax.random.key(0), settings, data), data, mesh)
        for state, info in fit(made, state, data, key=jax.random.key(1), steps=2, batch_size=4, mesh=mesh):
            pass
        assert int(state.step) == 2 and not np.isnan(info.bound), (name, algorithm)
        print(name, algorithm)
"""


@pytest.mark.slow
def test_every_algorithm_and_domain_runs_on_two_devices():
    environment = os.environ | {"XLA_FLAGS": f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=2"}
    done = subprocess.run(
        [sys.executable, "-c", EVERYTHING], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 15


def test_process_zero_listens_at_the_address_that_is_asked_for_and_no_other(monkeypatch):
    asked = {}
    monkeypatch.setattr(jax.distributed, "initialize", lambda *words, **given: asked.update(given, words=words))
    monkeypatch.setattr(cluster, "_wait_for", lambda address, seconds: None)
    address = f"127.0.0.1:{free_port()}"
    for process, bound in ((0, address), (1, None)):
        cluster._initialise(Place(1, address, 2, process))
        assert asked["coordinator_bind_address"] == bound
        assert asked["words"] == (address, 2, process)


@pytest.mark.parametrize("address", ["192.0.2.1:4000", "no-such-host.invalid:4000"])
def test_an_address_of_another_host_is_refused_by_process_zero(address):
    with pytest.raises(Refusal, match="give an address of its own host"):
        cluster._initialise(Place(1, address, 2, 0))
