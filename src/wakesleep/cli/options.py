"""Words of the command line that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

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
