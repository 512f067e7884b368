"""Commands about the package: reproduce, domains, version."""

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from wakesleep.cli import output as screen
from wakesleep.cli.options import Json
from wakesleep.cli.output import print_json, show_table


def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            help="clusters, sparsity, strings[-awake, -sizes], characters[-alphabets], timeseries, "
            "automata[-counts, -unknown]."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of results.")] = Path("results"),
    steps: Annotated[int | None, typer.Option(help="Steps for each cell.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Seeds for each cell.")] = None,
    quick: Annotated[bool, typer.Option(help="A small version that says what it cut.")] = False,
    algorithm: Annotated[list[str] | None, typer.Option(help="Only these algorithms; repeatable.")] = None,
    particles: Annotated[list[int] | None, typer.Option("--particles", "-K", help="Only these K; repeatable.")] = None,
) -> None:
    """Make one of the paper's tables, cell by cell; finished cells are kept."""
    from wakesleep.paper import experiments

    say = lambda line: screen.out.print(line, highlight=False, markup=False)  # noqa: E731
    experiments.reproduce(experiment, output, steps, seeds, quick, algorithm, particles, say)


def domains(
    domain: Annotated[str | None, typer.Argument(help="Show the settings of this one.")] = None,
    as_json: Json = False,
) -> None:
    """List the domains, or the settings of one."""
    from wakesleep.domains import DOMAINS

    rows: list[dict[str, Any]]
    if domain is None:
        rows = [{"domain": k, "what": v} for k, v in DOMAINS.items()]
    else:
        from wakesleep.domains import domain as find_domain

        found = fields(find_domain(domain).settings)
        rows = [{"setting": f.name, "default": None if f.default is MISSING else f.default} for f in found]
    if as_json:
        print_json(rows)
    else:
        show_table(domain or "domains", tuple(rows[0]), [tuple(str(v) for v in r.values()) for r in rows])


def version() -> None:
    """Print the version."""
    from wakesleep import __version__

    print(__version__)
