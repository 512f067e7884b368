"""Commands about the package: reproduce, domains, version."""

from pathlib import Path
from typing import Annotated

import typer

from wakesleep.cli import output as screen
from wakesleep.cli.options import Json
from wakesleep.paper.names import EXPERIMENTS


def reproduce(
    experiment: Annotated[str, typer.Argument(help=f"{', '.join(EXPERIMENTS)}.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of results.")] = Path("results"),
    steps: Annotated[int | None, typer.Option(help="Steps for each cell.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Seeds for each cell.")] = None,
    quick: Annotated[bool, typer.Option(help="A small version that says what it cut.")] = False,
    algorithm: Annotated[list[str] | None, typer.Option(help="Only these algorithms; repeatable.")] = None,
    particles: Annotated[list[int] | None, typer.Option("--particles", "-K", help="Only these K; repeatable.")] = None,
) -> None:
    """Make one of the paper's tables, cell by cell; finished cells are kept."""
    from wakesleep.paper.experiments import reproduce

    reproduce(experiment, output, steps, seeds, quick, algorithm, particles, screen.say)


def domains(
    domain: Annotated[str | None, typer.Argument(help="Show the settings of this one.")] = None,
    as_json: Json = False,
) -> None:
    """List the domains, or the settings of one."""
    from wakesleep import domains

    if domain is None:
        rows = [{"domain": k, "what": v} for k, v in domains.known().items()]
    else:
        rows = domains.settings_of(domain)
    screen.show_rows(rows, domain or "domains", as_json)


def version() -> None:
    """Print the version."""
    from wakesleep import __version__

    print(__version__)
