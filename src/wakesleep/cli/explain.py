"""Commands that ask a model: posterior, explain, check, collect, sample."""

from pathlib import Path
from typing import Annotated, Any

import typer

from wakesleep.cli import output as screen
from wakesleep.cli.options import Json, RunPath, Settings, pairs
from wakesleep.cli.output import print_json, show_columns, show_programs, show_series, show_table
from wakesleep.errors import Refusal


def posterior(
    run: RunPath,
    row: Annotated[list[int] | None, typer.Option(help="A training observation by number; repeatable.")] = None,
    most: Annotated[int, typer.Option(help="Programs shown for each.")] = 5,
    picture: Annotated[Path | None, typer.Option(help="Draw them to this PNG.")] = None,
    as_json: Json = False,
) -> None:
    """Show the programs that a run found for its training observations."""
    from wakesleep.cli import explanations

    show_programs(explanations.posterior(run, row, most, picture), as_json)


def explain(
    target: Annotated[
        str,
        typer.Argument(
            help="A run directory, or a domain: strings, timeseries and characters need no training, others learn "
            "from the file."
        ),
    ],
    file: Annotated[
        Path, typer.Argument(help="The observations to explain; a table for strings (or - for lines) and timeseries.")
    ],
    most: Annotated[int, typer.Option(help="Programs shown for each.")] = 5,
    steps: Annotated[int, typer.Option(help="Steps of learning where the target is a domain.")] = 10_000,
    settings: Settings = None,
    picture: Annotated[Path | None, typer.Option(help="Draw them to this PNG.")] = None,
    film: Annotated[Path | None, typer.Option(help="characters: the drawing as an animated GIF.")] = None,
    column: Annotated[str | None, typer.Option(help="strings, timeseries: this column alone.")] = None,
    effort: Annotated[str, typer.Option(help="strings, timeseries: quick, usual or thorough.")] = "usual",
    time: Annotated[str | None, typer.Option(help="timeseries: the column of times.")] = None,
    ahead: Annotated[float, typer.Option(help="timeseries: continue by this share of the length.")] = 0.1,
    transform: Annotated[str, typer.Option(help="timeseries: auto, none or log.")] = "auto",
    csv: Annotated[Path | None, typer.Option(help="timeseries: write parts and extrapolation to this file.")] = None,
    export: Annotated[str | None, typer.Option(help="strings: print json-schema, pandera or re instead.")] = None,
    as_json: Json = False,
) -> None:
    """Explain observations of your own by programs."""
    from wakesleep.cli import explanations

    given = {"set": settings, "picture": picture, "film": film, "column": column, "time": time, "csv": csv}
    _check_options(target, given | {"export": export})
    if target == "strings":
        show_columns(explanations.survey_strings(str(file), column, effort, 0, screen.err), most, export, as_json)
        return
    if target == "timeseries":
        rows = explanations.explain_timeseries(
            file, column, time, effort, ahead, transform, pairs(settings), screen.err
        )
        show_series(explanations.keep_series(rows, ahead, most, picture, csv), as_json)
        return
    wanted = explanations.Wanted(most, picture, film)
    found = explanations.explain(target, file, wanted, steps, pairs(settings), screen.err)
    show_programs(found, as_json)


def check(
    domain: Annotated[str, typer.Argument(help="strings.")],
    patterns: Annotated[Path, typer.Argument(help="What `wakesleep explain strings TABLE --json` printed.")],
    file: Annotated[Path, typer.Argument(help="The new table.")],
    share: Annotated[float, typer.Option(help="The share of true members that is to be accepted.")] = 0.97,
    as_json: Json = False,
) -> None:
    """Check new data against saved patterns; the exit code is 1 if any value does not fit."""
    from wakesleep.cli import explanations

    if domain != "strings":
        raise Refusal(f"Only strings can be checked, but {domain!r} was given.")
    found = [v._asdict() for v in explanations.check_strings(patterns, str(file), share, screen.err)]
    if as_json:
        print_json(found)
    elif found:
        show_table("values that do not fit", ("column", "value", "rows"), [tuple(map(str, v.values())) for v in found])
    else:
        screen.out.print("Every value fits.")
    if found:
        raise typer.Exit(1)


def collect(
    folder: Annotated[Path, typer.Argument(help="A folder of CSV files, searched with all that it holds.")],
    output: Annotated[Path, typer.Argument(help="The new file of string concepts.")],
    words: Annotated[Path | None, typer.Option(help="A list of words, instead of what could be spoken.")] = None,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
) -> None:
    """Make a set of string concepts from CSV files, by the rules of the paper's appendix."""
    from wakesleep.domains.strings.collect import write

    screen.out.print(f"{write(folder, output, words, seed)} concepts in {output}", highlight=False, markup=False)


def sample(
    target: Annotated[str, typer.Argument(help="A run directory, or characters.")],
    count: Annotated[int, typer.Option("--count", "-n", help="How many.")] = 5,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    condition: Annotated[int | None, typer.Option(help="The number of the alphabet, where the model has one.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw them to this PNG.")] = None,
    as_json: Json = False,
) -> None:
    """Draw new programs from the learned prior, and an observation from each."""
    from wakesleep.cli import explanations

    rows = explanations.sample(target, count, seed, condition, picture)
    if as_json:
        print_json(rows)
    else:
        show_table("new programs", ("program", "observation"), [(r["program"], str(r["observation"])) for r in rows])


# The options of `explain` that a target takes, where they are not those of all others.
SERVED = {"strings": ("column", "export"), "timeseries": ("set", "picture", "column", "time", "csv")}


def _check_options(target: str, given: dict[str, Any]) -> None:
    """Refuses an option that would be ignored; whether a run can be filmed is for its domain to say."""
    known = SERVED.get(target, ("set", "picture", "film"))
    for name in (name for name, value in given.items() if value and name not in known):
        raise Refusal(f"explain {target} does not take --{name}; it takes {', '.join(f'--{k}' for k in known)}.")
