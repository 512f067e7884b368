"""The command line: words, then one call. JAX is imported only by commands that compute."""

import errno
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from wakesleep.cli import output as screen
from wakesleep.cli.options import Coordinator, Devices, Json, Patience, Processes, ProcessId, RunPath, Settings
from wakesleep.cli.output import (
    print_json,
    show_columns,
    show_end,
    show_programs,
    show_rows,
    show_series,
    show_table,
)
from wakesleep.errors import Refusal
from wakesleep.running.watcher import witness

app = typer.Typer(
    help="Learn generative programs with Memoised Wake-Sleep.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main() -> None:
    """Runs a command; a refusal is one sentence and exit code 2."""
    try:
        app()
    except Refusal as refusal:
        _refuse(str(refusal))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.errno not in FULL:
            raise
        _refuse(f"{error.filename or 'A file'} could not be written ({error.strerror}): make room, then go on.")


def _refuse(sentence: str) -> None:
    screen.err.print(f"[red]wakesleep:[/red] {sentence}", highlight=False, soft_wrap=True)
    if "jax" in sys.modules:
        from wakesleep.core import processes

        processes.leave(2)
    sys.exit(2)


@app.command()
def train(
    domain: Annotated[str, typer.Argument(help="What to learn (see: wakesleep domains).")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The new run directory.")] = None,
    algorithm: Annotated[str, typer.Option(help="mws, mws-fantasy, rws, rws-sleep or vimco.")] = "mws",
    memory_size: Annotated[int, typer.Option(help="M: programs remembered for an observation.")] = 5,
    proposals: Annotated[int, typer.Option(help="R: programs proposed at a visit.")] = 5,
    replay: Annotated[str, typer.Option(help="draw (the paper's) or expected (all M weighted).")] = "draw",
    explore: Annotated[
        float | None,
        typer.Option(help="Share of proposals drawn from the prior; by default none, or a tenth if M is 1."),
    ] = None,
    revise: Annotated[float, typer.Option(help="Share of proposals that change a remembered program.")] = 0.0,
    particles: Annotated[int, typer.Option(help="K: programs drawn by rws and vimco.")] = 10,
    pretrain: Annotated[
        int, typer.Option(help="Steps of sleep before the first: recognition learns from dreams alone.")
    ] = 0,
    steps: Annotated[int, typer.Option(help="Steps to make.")] = 10_000,
    batch_size: Annotated[int, typer.Option(help="Observations in a step.")] = 20,
    learning_rate: Annotated[float, typer.Option(help="Adam's.")] = 1e-3,
    seed: Annotated[int, typer.Option(help="Of the networks and of all that is drawn.")] = 0,
    checkpoint_every: Annotated[int, typer.Option(help="Steps between checkpoints.")] = 5000,
    condition: Annotated[str | None, typer.Option(help="characters: alphabet, to tell the model of it.")] = None,
    rows_at_once: Annotated[int, typer.Option(help="Observations on the devices, the rest on the host; 0: all.")] = 0,
    settings: Settings = None,
    devices: Devices = 1,
    coordinator: Coordinator = None,
    processes: Processes = None,
    process_id: ProcessId = None,
    patience: Patience = 60,
    as_json: Json = False,
) -> None:
    """Train a model and keep it in a run directory."""
    given = {
        "domain": domain,
        "algorithm": algorithm,
        "memory_size": memory_size,
        "proposals": proposals,
        "replay": replay,
        "explore": explore,
        "revise": revise,
        "particles": particles,
        "pretrain": pretrain,
        "steps": steps,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "seed": seed,
        "checkpoint_every": checkpoint_every,
        "rows_at_once": rows_at_once,
        "settings": _pairs(settings) | ({"condition": condition} if condition else {}),
    }
    with witness(coordinator, patience):
        from wakesleep.cli import commands
        from wakesleep.core.processes import Place

        place = Place(devices, coordinator, processes, process_id, patience)
        summary = commands.train(given, output, place, screen.err)
    show_end(summary, as_json)


@app.command()
def resume(
    run: RunPath,
    steps: Annotated[int | None, typer.Option(help="A new last step.")] = None,
    step: Annotated[int | None, typer.Option(help="The checkpoint to go on from (default: the last).")] = None,
    devices: Devices = 1,
    coordinator: Coordinator = None,
    processes: Processes = None,
    process_id: ProcessId = None,
    patience: Patience = 60,
    as_json: Json = False,
) -> None:
    """Go on with a run that was stopped, or train it for longer, on as many devices or processes as you like."""
    with witness(coordinator, patience):
        from wakesleep.cli import commands
        from wakesleep.core.processes import Place

        place = Place(devices, coordinator, processes, process_id, patience)
        summary = commands.resume(run, steps, step, place, screen.err)
    show_end(summary, as_json)


@app.command()
def store(
    domain: Annotated[str, typer.Argument(help="Of what the observations are (see: wakesleep domains).")],
    output: Annotated[Path, typer.Argument(help="The new folder.")],
    sources: Annotated[list[Path] | None, typer.Argument(help="Files of your own, read one after the other.")] = None,
    settings: Settings = None,
) -> None:
    """Write observations to a folder that training maps into memory: train DOMAIN --set data=FOLDER."""
    from wakesleep.cli import commands

    count = commands.store(domain, output, sources or [], _pairs(settings))
    screen.out.print(f"{count} observations in {output}", highlight=False, markup=False)


@app.command()
def evaluate(
    run: RunPath,
    samples: Annotated[int, typer.Option(help="Proposals for each observation.")] = 1000,
    refine: Annotated[int, typer.Option(help="Steps of training recognition further, the model fixed.")] = 0,
    exact: Annotated[bool, typer.Option(help="Sum over every program.")] = False,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    as_json: Json = False,
) -> None:
    """Estimate log p(x) of training and held-out observations."""
    from wakesleep.cli import commands

    show_rows(commands.evaluate(run, samples, refine, exact, seed), "log p(x), nats an observation", as_json)


@app.command()
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


@app.command()
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
            file, column, time, effort, ahead, transform, _pairs(settings), screen.err
        )
        show_series(explanations.keep_series(rows, ahead, most, picture, csv), as_json)
        return
    wanted = explanations.Wanted(most, picture, film)
    found = explanations.explain(target, file, wanted, steps, _pairs(settings), screen.err)
    show_programs(found, as_json)


@app.command()
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


@app.command()
def collect(
    folder: Annotated[Path, typer.Argument(help="A folder of CSV files, searched with all that it holds.")],
    output: Annotated[Path, typer.Argument(help="The new file of string concepts.")],
    words: Annotated[Path | None, typer.Option(help="A list of words, instead of what could be spoken.")] = None,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
) -> None:
    """Make a set of string concepts from CSV files, by the rules of the paper's appendix."""
    from wakesleep.domains.strings.collect import write

    screen.out.print(f"{write(folder, output, words, seed)} concepts in {output}", highlight=False, markup=False)


@app.command()
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


@app.command()
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
    from wakesleep.cli import commands

    commands.reproduce(experiment, output, steps, seeds, quick, algorithm, particles, screen.out)


@app.command()
def domains(
    domain: Annotated[str | None, typer.Argument(help="Show the settings of this one.")] = None,
    as_json: Json = False,
) -> None:
    """List the domains, or the settings of one."""
    from wakesleep.domains import DOMAINS

    if domain is None:
        rows = [{"domain": k, "what": v} for k, v in DOMAINS.items()]
    else:
        from wakesleep.cli import commands

        rows = commands.settings_of(domain)
    if as_json:
        print_json(rows)
    else:
        show_table(domain or "domains", tuple(rows[0]), [tuple(str(v) for v in r.values()) for r in rows])


@app.command()
def version() -> None:
    """Print the version."""
    from wakesleep import __version__

    print(__version__)


# The options of `explain` that a target takes, where they are not those of all others.
SERVED = {"strings": ("column", "export"), "timeseries": ("set", "picture", "column", "time", "csv")}


def _check_options(target: str, given: dict[str, Any]) -> None:
    """Refuses an option that would be ignored; whether a run can be filmed is for its domain to say."""
    known = SERVED.get(target, ("set", "picture", "film"))
    for name in (name for name, value in given.items() if value and name not in known):
        raise Refusal(f"explain {target} does not take --{name}; it takes {', '.join(f'--{k}' for k in known)}.")


def _pairs(given: list[str] | None) -> dict[str, str]:
    """NAME=VALUE words as a dictionary."""
    pairs = {}
    for word in given or []:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise Refusal(f"--set takes NAME=VALUE, but {word!r} was given.")
        pairs[name] = value
    return pairs
