"""Words of the command line that several commands share, and options made from dataclasses."""

import inspect
from collections.abc import Callable
from dataclasses import Field, fields
from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Most = Annotated[int, typer.Option(help="Programs shown for each.", min=1)]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the domain (see: wakesleep domains DOMAIN)."),
]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]
Picture = Annotated[Path | None, typer.Option(help="Draw them to this PNG.")]
Devices = Annotated[int, typer.Option(help="Devices of this process; a CPU offers as many as are asked for.")]
Coordinator = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="One of several processes: the address of process 0, or auto (SLURM, MPI)."),
]
Processes = Annotated[int | None, typer.Option(help="How many processes there are.")]
ProcessId = Annotated[int | None, typer.Option(help="Which of them this is, from 0.")]
Patience = Annotated[int, typer.Option(help="Seconds after which a silent process counts as dead.")]
Tensorboard = Annotated[Path | None, typer.Option(help="A folder to log the metrics in for TensorBoard.")]


def parameter(name: str, kind: Any, default: Any = ...) -> inspect.Parameter:
    """Returns a parameter of a command whose words are not known before it is run; it may have no default."""
    given = {} if default is ... else {"default": default}
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, **given)


def from_fields(options: type) -> list[inspect.Parameter]:
    """Returns the options of a command from a dataclass whose fields say their help."""
    return [from_field(each) for each in fields(options)]


def from_field(each: Field) -> inspect.Parameter:
    """Returns the option of a field that says its help."""
    word = each.name.replace("_", "-")
    switch = f"/--no-{word}" if each.type in (bool, bool | None) and each.default is not False else ""
    words = [f"--{word}{switch}", *filter(None, [each.metadata.get("short")])]
    metavar = "NAME=VALUE" if each.name == "set" else None
    made = typer.Option(*words, help=each.metadata.get("help", ""), metavar=metavar)
    if isinstance(each.default, tuple):
        return parameter(each.name, Annotated[list[str], made], list(each.default))
    return parameter(each.name, Annotated[each.type, made], each.default)


def build(options: type, given: dict[str, Any]) -> Any:
    """Returns the dataclass with what the command line gave; lists become tuples."""
    return options(**{k: tuple(v) if isinstance(v, list) else v for k, v in given.items()})


def app_of(parameters: list[inspect.Parameter], call: Callable[..., None], help_text: str) -> typer.Typer:
    """Returns a command line of one command, with these parameters, that calls the function."""

    def command(**given: Any) -> None:
        call(**given)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__doc__ = help_text
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(command)
    return app
