"""The command that opens the explorer."""

import os
from pathlib import Path
from typing import Annotated

import typer

from wakesleep.cli import output as screen


def explore(
    given: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE or RUN ...]", help="One file, or run directories.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="The port of this machine; by default 8719 or a free one.")] = None,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Open a local explorer in the browser: your data explained as you change them, and runs as they learn."""
    from wakesleep.serve import server

    ready = server.prepare(given or [], port)
    screen.say(f"The explorer is at {ready.address} until Ctrl-C.")
    if browser:
        server.open_browser(ready.address)
    ready.run()
    os._exit(0)  # an answer that is still being computed, and that nobody waits for, would hold the process
