"""The command line's own help as a page of Markdown. Run it: python -m wakesleep.cli.help_page"""

from typing import Any

import typer

from wakesleep.cli.app import app


def reference() -> str:
    """Every command with its arguments and options."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    intro = (
        "# Command line\n\nMade from the help of the commands by `make tables`. A refused request is one sentence on "
        "standard error and exit code 2.\n"
    )
    return intro + "".join(_section(name, command) for name, command in commands.items())


def _section(name: str, command: Any) -> str:
    words = [p for p in command.params if p.name != "help"]
    positional = " ".join(_name(p) for p in words if p.param_type_name == "argument")
    lines = [f"\n## wakesleep {name} {positional}".rstrip(), "", command.help, ""]
    if words:
        lines += ["| | | default |", "| --- | --- | --- |", *(_row(p) for p in words)]
    return "\n".join(lines).rstrip() + "\n"


def _name(parameter: Any) -> str:
    """An argument in capitals, an option as it is typed."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return ", ".join(parameter.opts)


def _row(parameter: Any) -> str:
    default = "" if parameter.default is None or parameter.required else parameter.default
    return f"| `{_name(parameter)}` | {parameter.help} | {default} |".replace("|  |", "| |")


if __name__ == "__main__":
    print(reference(), end="")
