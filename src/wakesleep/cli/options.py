"""Words of the command line that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from wakesleep.errors import Refusal

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the domain (see: wakesleep domains DOMAIN)."),
]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]
Devices = Annotated[int, typer.Option(help="Devices of this process; a CPU offers as many as are asked for.")]
Coordinator = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="One of several processes: the address of process 0, or auto (SLURM, MPI)."),
]
Processes = Annotated[int | None, typer.Option(help="How many processes there are.")]
ProcessId = Annotated[int | None, typer.Option(help="Which of them this is, from 0.")]
Patience = Annotated[int, typer.Option(help="Seconds after which a silent process counts as dead.")]


def pairs(given: list[str] | None) -> dict[str, str]:
    """NAME=VALUE words as a dictionary."""
    found = {}
    for word in given or []:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise Refusal(f"--set takes NAME=VALUE, but {word!r} was given.")
        found[name] = value
    return found
