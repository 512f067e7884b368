"""Commands that train and evaluate: train, resume, store, evaluate."""

from pathlib import Path
from typing import Annotated

import typer

from wakesleep.cli import output as screen
from wakesleep.cli.options import Coordinator, Devices, Json, Patience, Processes, ProcessId, RunPath, Settings
from wakesleep.cli.output import show_end, show_rows
from wakesleep.domains.learned import pairs
from wakesleep.running.watcher import witness


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
        "settings": pairs(settings or []) | ({"condition": condition} if condition else {}),
    }
    with witness(coordinator, patience):
        from wakesleep.cli import commands
        from wakesleep.core.processes import Place

        place = Place(devices, coordinator, processes, process_id, patience)
        summary = commands.train(given, output, place, screen.err)
    show_end(summary, as_json)


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


def store(
    domain: Annotated[str, typer.Argument(help="Of what the observations are (see: wakesleep domains).")],
    output: Annotated[Path, typer.Argument(help="The new folder.")],
    sources: Annotated[list[Path] | None, typer.Argument(help="Files of your own, read one after the other.")] = None,
    settings: Settings = None,
) -> None:
    """Write observations to a folder that training maps into memory: train DOMAIN --set data=FOLDER."""
    from wakesleep.cli import commands

    count = commands.store(domain, output, sources or [], pairs(settings or []))
    screen.out.print(f"{count} observations in {output}", highlight=False, markup=False)


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
