"""Starting the explorer: what it opens, and what it refuses before anything is served."""

import json
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the explorer's web framework is not installed")
pytest.importorskip("uvicorn", reason="the explorer's web server is not installed")

from wakesleep.errors import Refusal
from wakesleep.serve import bodies, server

EXAMPLES = Path(__file__).parents[2] / "examples"


def run_directory(folder):
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"algorithm": "mws"}))
    return folder


@pytest.mark.parametrize(
    ("given", "page"), [(["orders.csv"], "table/?file="), (["co2.csv"], "series/?file="), ([], "")]
)
def test_a_file_is_opened_on_the_page_that_fits_it(given, page):
    address = server.prepare([EXAMPLES / name for name in given], 0).address
    assert address.startswith("http://127.0.0.1:")
    assert address.split("/", 4)[4].startswith(page)


def test_run_directories_are_opened_on_the_page_of_memories(tmp_path):
    runs = [run_directory(tmp_path / name) for name in ("a", "b")]
    assert server.prepare(runs, 0).address.endswith("/memory/")


@pytest.mark.parametrize("given", [["none.csv"], ["orders.csv", "co2.csv"], ["."]])
def test_what_cannot_be_opened_is_refused(given):
    with pytest.raises(Refusal):
        server.prepare([EXAMPLES / name for name in given], 0)


def test_a_port_in_use_is_refused():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(Refusal, match="in use"):
            server.prepare([], taken.getsockname()[1])


def test_tokens_differ_from_start_to_start():
    assert len({server.prepare([], 0).address.split("/")[3] for _ in range(3)}) == 3


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(Refusal, match=r"pip install 'wakesleep\[explore\]'"):
        server.prepare([], 0)


def test_the_command_serves_until_it_is_interrupted():
    words = [sys.executable, "-m", "wakesleep", "explore", "--no-browser", "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        said = ""
        while "until" not in said:
            line = process.stdout.readline()
            assert line, "the command ended before it said its address"
            said += line.replace("\n", " ")
        address = "http://" + said.split("http://")[1].replace(" ", "").split("until")[0]
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert b"Programs that explain your data" in answer.read()
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(address.rsplit("/", 2)[0] + "/", timeout=30)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_client_that_sends_nothing_gets_one_sentence_and_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(bodies, "PATIENCE_SECONDS", 1)
    ready = server.prepare([], 0)
    threading.Thread(target=ready.run, daemon=True).start()
    host, root = ready.address.removeprefix("http://").split("/", 1)
    name, port = host.split(":")
    with socket.create_connection((name, int(port))) as slow:
        slow.sendall(f"POST /{root}upload?name=a HTTP/1.1\r\nHost: {host}\r\nContent-Length: 99\r\n\r\nab".encode())
        with urllib.request.urlopen(ready.address) as other:
            assert other.status == 200
        answer = b""
        while b"</html>" not in answer:
            piece = slow.recv(1 << 16)
            assert piece, answer
            answer += piece
    assert answer.startswith(b"HTTP/1.1 422 ")
    assert b"The file did not arrive: nothing came for 1 seconds." in answer
