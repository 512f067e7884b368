"""The commands that domains bring: their words come from the contract, so nothing here knows a domain."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wakesleep import domains
from wakesleep.cli import output as screen
from wakesleep.cli.explain import show
from wakesleep.cli.options import Json, app_of, build, from_fields, parameter
from wakesleep.cli.progress import standing

if TYPE_CHECKING:
    from wakesleep.domains.contract import Command

ANY_NUMBER = "..."
SHORT_NAMES = {"output": ("-o",)}
ALL_WORDS = {"ignore_unknown_options": True, "help_option_names": []}


def add_to(app: typer.Typer) -> None:
    """Adds every verb of the built-in domains; its module is imported when it is used."""
    for verb, (_, said) in domains.COMMANDS.items():
        app.command(verb, help=said, context_settings=ALL_WORDS)(_lazy(verb))


def _lazy(verb: str) -> Any:
    """Returns the function that hands all words after a verb to its own command line."""

    def call(words: Annotated[list[str] | None, typer.Argument()] = None) -> None:
        command_line(domains.command(verb))(words or [], prog_name=f"wakesleep {verb}")

    return call


def command_line(command: "Command") -> typer.Typer:
    """Returns the command line of one command: its words, its options, its files and how to show the answer."""
    words = [_argument(name, said) for name, said in command.arguments.items()]
    files = [
        parameter(name, Annotated[Path | None, typer.Option(f"--{name}", *SHORT_NAMES.get(name, ()), help=said)], None)
        for name, said in command.files.items()
    ]
    most = Annotated[int, typer.Option(help=command.shown, min=1)]
    shown = [parameter("most", most, 5), parameter("as_json", Json, False)]
    return app_of([*words, *from_fields(command.options), *files, *shown], _call(command), command.help)


def _argument(name: str, said: str) -> Any:
    """Returns a word that must be given, or any number of them."""
    made = typer.Argument(metavar=name.removesuffix(ANY_NUMBER), help=said)
    if name.endswith(ANY_NUMBER):
        return parameter(_key(name), Annotated[list[str] | None, made], None)
    return parameter(_key(name), Annotated[str, made])


def _key(name: str) -> str:
    return name.removesuffix(ANY_NUMBER).lower()


def _call(command: "Command") -> Any:
    """Returns the function that runs a command, writes its files, shows its answer and exits with its code."""

    def call(most: int, as_json: bool, **given: Any) -> None:
        found_words = [given.pop(_key(name)) for name in command.arguments]
        words = [word for each in found_words for word in ([each] if isinstance(each, str) else each or [])]
        paths = {name: given.pop(name) for name in command.files}
        options = build(command.options, given)
        with standing(screen.err) as report:
            found = command.run(words, options, report)
            for name, path in paths.items():
                if path is not None:
                    found.write(name, path)
        for note in [*found.notes(), *(f"{path} is written." for path in paths.values() if path is not None)]:
            screen.tell(note)
        if found.text() and not as_json and not any(paths.values()):
            screen.show_export(found.text().removesuffix("\n"))
        else:
            show(found, most, None, as_json)
        if found.code():
            raise typer.Exit(found.code())

    return call
