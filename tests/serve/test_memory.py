"""The page of memories reads run directories, whole, growing or damaged, and nothing else."""

import json

import pytest

pytest.importorskip("starlette", reason="the explorer's web framework is not installed")
pytest.importorskip("httpx2", reason="the in-process client is not installed")

from wakesleep.serve.memory import page as memory

from .client import TOKEN, client_of, explorer

AS_JSON = {"accept": "application/json"}


def write(path, lines, end=""):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + end)


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "one"
    path.mkdir()
    (path / "config.json").write_text(json.dumps({"domain": "d", "algorithm": "mws", "steps": 20}))
    write(path / "metrics.jsonl", [{"step": 10, "bound": -5.0}, {"step": 20, "bound": -4.0}])
    program = {"program": "<b>z", "q": 0.7, "since": 1, "by": "prior"}
    looks = [{"step": 1, "bound": -9.0}, {"step": 1, "row": 0, "programs": [program]},
             {"step": 7, "bound": None}, {"step": 7, "row": 2, "programs": [program]}]  # fmt: skip
    write(path / "memory.jsonl", looks, '{"step": 9, "bou')
    return path


def asked(runs, address):
    page = memory.memory_page(runs)
    made = explorer({page.address: page})
    with client_of(made) as client:
        answer = client.get(f"/{TOKEN}/memory/{address}", headers=AS_JSON if address else {})
    made.shelf.close()
    return answer


def test_bounds_come_from_the_looks_and_else_from_the_checkpoints(run):
    assert asked([run], "ask/curves").json()["runs"][0]["steps"] == [1, 7]
    assert asked([run], "ask/curves").json()["runs"][0]["bound"] == [-9.0, None]
    (run / "memory.jsonl").unlink()
    assert asked([run], "ask/curves").json()["runs"][0]["bound"] == [-5.0, -4.0]


def test_the_programs_of_an_observation_are_told(run):
    found = asked([run], "ask/remembered?run=0&row=2").json()
    assert found["rows"] == [0, 2]
    assert found["looks"] == [{"step": 7, "programs": [{"program": "<b>z", "q": 0.7, "since": 1, "by": "prior"}]}]


@pytest.mark.parametrize(("algorithm", "said"), [("mws", "--watch 20"), ("rws", "keeps no memory")])
def test_a_run_that_was_not_watched_says_why(run, algorithm, said):
    (run / "memory.jsonl").unlink()
    (run / "config.json").write_text(json.dumps({"algorithm": algorithm}))
    assert said in asked([run], "ask/remembered?run=0").json()["note"]


def test_only_the_runs_that_were_named_are_read(run):
    for number in ("1", "-1", "../two", "nan"):
        assert asked([run], f"ask/remembered?run={number}").status_code == 422
    assert asked([], "ask/remembered?run=0").status_code == 422
    assert asked([], "").status_code == 200


@pytest.mark.parametrize("damage", [
    b"\x00\xff" * 50 + b"\n", b"[" * 100_000 + b"\n", b'{"step": "x"}\n[]\n1\n',
    b'{"step": 1, "row": 0, "programs": 3}\n',
    b'{"step": 1, "row": 0, "programs": [1, {"q": "x"}, {"q": NaN}]}\n', b'{"step": 1, "bound": Infinity}\n',
])  # fmt: skip
def test_damaged_files_never_break_the_page(run, damage):
    for name in ("memory.jsonl", "metrics.jsonl", "programs.jsonl", "config.json"):
        (run / name).write_bytes(damage)
    for address in ("", "ask/curves", "ask/remembered?run=0&row=0"):
        assert asked([run], address).status_code == 200
