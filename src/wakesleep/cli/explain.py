"""Commands that ask: explain, posterior, sample. What they may be asked, a domain's explainer says."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wakesleep.cli import output as screen
from wakesleep.cli.options import Json, Most, Picture, RunPath, app_of, build, from_fields, parameter
from wakesleep.cli.progress import standing
from wakesleep.errors import Refusal

if TYPE_CHECKING:
    from wakesleep.domains.contract import Explainer, Explanation

HELP = ("--help", "-h")
INTRODUCTION = """Explain a file of your own by programs.

Usage: wakesleep explain FILE [OPTIONS]            the domain that reads such a file best explains it
       wakesleep explain FILE --as DOMAIN [OPTIONS]
       wakesleep explain TARGET FILE [OPTIONS]     TARGET: a domain, a run directory or a file of weights

`wakesleep explain DOMAIN --help` shows the options of a domain. The domains are:
"""


def explain(words: Annotated[list[str] | None, typer.Argument(metavar="[TARGET] FILE")] = None) -> None:
    """Explain a file of your own by programs (wakesleep explain DOMAIN --help for its options)."""
    from wakesleep import domains

    if not words or (len(words) == 1 and words[0] in HELP):
        screen.say(INTRODUCTION + "".join(f"  {name:<12}{what}\n" for name, what in domains.known().items()))
        return
    target, left = _target(words)
    command_of(target, _explainer_of(target))(left, prog_name=f"wakesleep explain {target}")


def command_of(target: str, explainer: "Explainer") -> typer.Typer:
    """Returns the command line of one explainer, with its own options alone."""
    return app_of(_parameters(explainer), _call(explainer), f"Explain {explainer.what or 'a file'} with {target}.")


def _target(words: list[str]) -> tuple[str, list[str]]:
    """Returns what is to explain, and the words that are left: those of the file and of the options."""
    from wakesleep import domains

    if "--as" in words:
        place = words.index("--as")
        if place + 1 == len(words):
            raise Refusal("--as needs the name of a domain.")
        return words[place + 1], words[:place] + words[place + 2 :]
    first = words[0]
    if domains.is_reference(first) or _is_model(Path(first)):
        return first, words[1:]
    if first != "-" and not Path(first).exists():
        known = ", ".join(domains.known())
        raise Refusal(f"{first!r} is neither a domain ({known}), nor a run directory, nor a file to explain.")
    target = domains.surest(first)
    screen.tell(f"{first} is read as {domains.explainer(target).what} ({target}); --as DOMAIN decides otherwise.")
    return target, words


def _is_model(path: Path) -> bool:
    """Whether a path is a run directory or a file of weights."""
    return (path / "config.json").is_file() or path.suffix == ".safetensors"


def _explainer_of(target: str) -> "Explainer":
    if _is_model(Path(target)):
        from wakesleep.running.asking import explainer

        return explainer(target)
    from wakesleep import domains

    return domains.explainer(target)


def _parameters(explainer: "Explainer") -> list[Any]:
    """Returns the words of `explain` for one explainer: the file, its own options, how to show what was found."""
    shown = [
        parameter("most", Most, 5),
        *(
            parameter(name, Annotated[Path | None, typer.Option(f"--{name}", help=said)], None)
            for name, said in explainer.files.items()
        ),
        *(
            [parameter("export", Annotated[str | None, typer.Option(help=f"Print {_or(explainer.exports)}.")], None)]
            if explainer.exports
            else []
        ),
        parameter("as_json", Json, False),
    ]
    file = Annotated[str, typer.Argument(metavar="FILE", help="The file to explain.")]
    return [parameter("file", file), *from_fields(explainer.options), *shown]


def _or(names: tuple[str, ...]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _call(explainer: "Explainer") -> Any:
    """Returns the function that reads, explains and shows."""

    def call(file: str, most: int, as_json: bool, export: str | None = None, **given: Any) -> None:
        if export is not None and export not in explainer.exports:
            raise Refusal(f"export must be one of {', '.join(explainer.exports)}, but {export!r} was given.")
        paths = {name: given.pop(name) for name in explainer.files}
        options = build(explainer.options, given)
        read = explainer.read(file, options)
        with standing(screen.err) as report:
            found = explainer.explain(read, options, report)
            for name, path in paths.items():
                if path is not None:
                    found.write(name, path)
        for note in found.notes():
            screen.tell(note)
        show(found, most, export, as_json)

    return call


def show(found: "Explanation", most: int, export: str | None, as_json: bool) -> None:
    """Prints an explanation: as another tool reads it, as JSON, or as tables."""
    if export is not None:
        screen.show_export(found.export(export))
    elif as_json:
        screen.print_json(found.rows(most))
    else:
        for table in found.table(most, screen.out.width):
            screen.show_table(*table)


def posterior(
    run: RunPath,
    row: Annotated[list[int] | None, typer.Option(help="A training observation by number; repeatable.")] = None,
    most: Most = 5,
    picture: Picture = None,
    as_json: Json = False,
) -> None:
    """Show the programs that a run found for its training observations."""
    from wakesleep.running.asking import posterior

    found = posterior(run, row)
    if picture is not None:
        found.draw(picture)
    show(found, most, None, as_json)


def sample(
    target: Annotated[str, typer.Argument(help="A run directory, a file of weights, or a domain that ships a model.")],
    count: Annotated[int, typer.Option("--count", "-n", help="How many.")] = 5,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    condition: Annotated[int | None, typer.Option(help="The condition by number, where the model has one.")] = None,
    picture: Picture = None,
    as_json: Json = False,
) -> None:
    """Draw new programs from the learned prior, and an observation from each."""
    from wakesleep.running.asking import sample

    found = sample(target, count, seed, condition)
    if picture is not None:
        found.draw(picture)
    show(found, count, None, as_json)
