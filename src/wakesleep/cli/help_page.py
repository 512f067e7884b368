"""The command line's own help as a page of Markdown. Run it: python -m wakesleep.cli.help_page"""

from typing import Any

import typer

from wakesleep import domains
from wakesleep.cli.app import app
from wakesleep.cli.explain import INTRODUCTION, command_of
from wakesleep.cli.verbs import command_line

INTRO = (
    "# Command line\n\nMade from the help of the commands by `make tables`. A refused request is one sentence on "
    "standard error and exit code 2.\n"
)


def reference() -> str:
    """Returns every command with its arguments and options."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    pages = [_page(name, command) for name, command in commands.items()]
    return INTRO + "".join(pages)


def _page(name: str, command: Any) -> str:
    if name == "explain":
        return _explain()
    if name in domains.COMMANDS:
        command = typer.main.get_command(command_line(domains.command(name)))
    return _section(name, command)


def _explain() -> str:
    """Returns the section of `explain`: its usage, then the options of each domain that comes with the package."""
    usage = "\n".join(f"    {line}".rstrip() for line in INTRODUCTION.strip().splitlines())
    return f"\n## wakesleep explain\n\n{usage}\n" + "".join(_explain_domain(name) for name in domains.BUILT_IN)


def _explain_domain(name: str) -> str:
    command: Any = typer.main.get_command(command_of(name, domains.explainer(name)))
    return _section(f"explain {name}", command).replace("\n## ", "\n### ", 1)


def _section(name: str, command: Any) -> str:
    words = [p for p in command.params if p.name != "help"]
    positional = " ".join(_name(p) for p in words if p.param_type_name == "argument")
    lines = [f"\n## wakesleep {name} {positional}".rstrip(), "", command.help, ""]
    if words:
        lines += ["| | | default |", "| --- | --- | --- |", *(_row(p) for p in words)]
    return "\n".join(lines).rstrip() + "\n"


def _name(parameter: Any) -> str:
    """Returns an argument in capitals, an option as it is typed."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return ", ".join([*parameter.opts, *parameter.secondary_opts])


def _row(parameter: Any) -> str:
    default = "" if parameter.default in (None, []) or parameter.required else parameter.default
    return f"| `{_name(parameter)}` | {parameter.help} | {default} |".replace("|  |", "| |")


if __name__ == "__main__":
    print(reference(), end="")
