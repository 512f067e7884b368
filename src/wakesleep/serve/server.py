"""Starting the explorer: a free port of this machine, a token, the pages, and the browser."""

import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from wakesleep import domains
from wakesleep.domains.pages import Upload
from wakesleep.errors import Refusal
from wakesleep.serve.shelf import Shelf

HOST = "127.0.0.1"
USUAL_PORT = 8719
TOKEN_BYTES = 16
REPORT_SECONDS = 0.3


class Server(NamedTuple):
    """A server that is ready to run: the address to open, and what runs it until it is interrupted."""

    address: str
    run: Callable[[], None]


def prepare(given: Sequence[Path], port: int | None = None) -> Server:
    """Returns the server of the pages; of one file or of run directories its address opens the fitting page."""
    uvicorn = _uvicorn()
    from wakesleep.serve.app import Explorer
    from wakesleep.serve.memory.page import memory_page

    runs, files = _sorted(given)
    memory = memory_page(runs)
    pages = domains.pages() | {memory.address: memory}
    explorer = Explorer(secrets.token_urlsafe(TOKEN_BYTES), pages)
    bound = _bind(port)
    number = bound.getsockname()[1]
    hosts = (f"{HOST}:{number}", f"localhost:{number}")
    # The application itself tells of errors; uvicorn would tell them again, and of requests that Ctrl-C cut.
    config = uvicorn.Config(
        explorer.application(hosts), log_level="critical", access_log=False, ws="none", server_header=False,
        timeout_keep_alive=10, timeout_graceful_shutdown=1, h11_max_incomplete_event_size=1 << 16,
    )  # fmt: skip
    server = uvicorn.Server(config)

    def run() -> None:
        with suppress(KeyboardInterrupt):  # Ctrl-C, which uvicorn raises again once it has shut down
            server.run(sockets=[bound])
        explorer.shelf.close()

    return Server(f"http://{HOST}:{number}{explorer.root}/{_place(explorer.shelf, files, runs)}", run)


def open_browser(address: str) -> None:
    """Opens the address in the user's browser, once the server has had time to start."""
    timer = threading.Timer(REPORT_SECONDS, webbrowser.open, (address,))
    timer.daemon = True
    timer.start()


def _place(shelf: Shelf, files: Sequence[Path], runs: Sequence[Path]) -> str:
    """Returns the page that shows what was given."""
    if files:
        page = domains.opener(str(files[0]))
        word = shelf.keep(Upload(files[0].name, files[0].resolve()))
        return f"{page.address}/?{urlencode({'file': word})}"
    return "memory/" if runs else ""


def _sorted(given: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Returns the run directories and the files among what was given."""
    runs = [path for path in given if (path / "config.json").is_file()]
    files = [path for path in given if path not in runs]
    for path in files:
        if not path.is_file():
            raise Refusal(f"{path} is neither a file nor a run directory.")
    if len(files) > 1 or (files and runs):
        raise Refusal("explore takes one file, or any number of run directories.")
    return runs, files


def _bind(port: int | None) -> socket.socket:
    """Returns a listening socket of this machine: at the port asked for, at the usual one, or at any free one."""
    for number in [port] if port is not None else [USUAL_PORT, 0]:
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((HOST, number))
            bound.listen()  # a browser that comes early waits
        except (OSError, OverflowError):
            bound.close()
        else:
            return bound
    raise Refusal(f"Port {port} of this machine is in use or not allowed: choose another with --port.")


def _uvicorn() -> Any:
    """Returns the web server, or says how to install it."""
    try:
        import jinja2  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise Refusal(f"The explorer needs {error.name}: pip install 'wakesleep[explore]'.") from None
    return uvicorn
