"""Commands that make and measure a run: train, resume, store, evaluate, ship."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wakesleep.cli import output as screen
from wakesleep.cli.options import (
    Coordinator,
    Devices,
    Json,
    Patience,
    Processes,
    ProcessId,
    RunPath,
    Settings,
    Tensorboard,
    from_field,
)
from wakesleep.cli.output import print_json, show_end, show_rows
from wakesleep.domains.learned import pairs
from wakesleep.running.config import offered
from wakesleep.running.watcher import witness

if TYPE_CHECKING:
    from wakesleep.running.commands import Listener
    from wakesleep.running.train import Report


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Returns the command with an option for each setting of a run in place of its `**given`."""
    plain = [p for p in inspect.signature(command).parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    made = [from_field(each) for each in offered()]
    by_name = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*plain[:2], *made, *plain[2:])]
    command.__signature__ = inspect.Signature(by_name)  # type: ignore[attr-defined]
    return command


@with_settings
def train(
    domain: Annotated[str, typer.Argument(help="What to learn (see: wakesleep domains).")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The new run directory.")] = None,
    settings: Settings = None,
    devices: Devices = 1,
    coordinator: Coordinator = None,
    processes: Processes = None,
    process_id: ProcessId = None,
    patience: Patience = 60,
    tensorboard: Tensorboard = None,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Train a model and keep it in a run directory."""
    own = pairs(settings or [])
    with witness(coordinator, patience), _listener(tensorboard) as listener:
        from wakesleep.running import commands
        from wakesleep.running.cluster import Place

        place = Place(devices, coordinator, processes, process_id, patience)
        summary = commands.train({"domain": domain, "settings": own, **given}, output, place, listener)
    show_end(summary and summary._asdict(), as_json)


def resume(
    run: RunPath,
    steps: Annotated[int | None, typer.Option(help="A new last step.")] = None,
    step: Annotated[int | None, typer.Option(help="The checkpoint to go on from (default: the last).")] = None,
    domain: Annotated[str | None, typer.Option(help="Name the run's own domain again, if its code changed.")] = None,
    devices: Devices = 1,
    coordinator: Coordinator = None,
    processes: Processes = None,
    process_id: ProcessId = None,
    patience: Patience = 60,
    tensorboard: Tensorboard = None,
    as_json: Json = False,
) -> None:
    """Go on with a run that was stopped, or train it for longer, on as many devices or processes as you like."""
    with witness(coordinator, patience), _listener(tensorboard) as listener:
        from wakesleep.running import commands
        from wakesleep.running.cluster import Place

        place = Place(devices, coordinator, processes, process_id, patience)
        summary = commands.resume(run, steps, step, place, listener, domain)
    show_end(summary and summary._asdict(), as_json)


def store(
    domain: Annotated[str, typer.Argument(help="Of what the observations are (see: wakesleep domains).")],
    output: Annotated[Path, typer.Argument(help="The new folder.")],
    sources: Annotated[list[Path] | None, typer.Argument(help="Files of your own, read one after the other.")] = None,
    settings: Settings = None,
) -> None:
    """Write observations to a folder that training maps into memory: train DOMAIN --set data=FOLDER."""
    from wakesleep.domains import domain as find_domain
    from wakesleep.running.store import store as write

    count = write(find_domain(domain), output, sources or [], pairs(settings or []))
    screen.say(f"{count} observations in {output}")


def evaluate(
    run: RunPath,
    samples: Annotated[int, typer.Option(help="Proposals for each observation.")] = 1000,
    refine: Annotated[int, typer.Option(help="Steps of training recognition further, the model fixed.")] = 0,
    exact: Annotated[bool, typer.Option(help="Sum over every program.")] = False,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    as_json: Json = False,
) -> None:
    """Estimate log p(x) of training and held-out observations."""
    from wakesleep.running.evaluate import evaluate as measure

    show_rows(measure(run, samples, refine, exact, seed), "log p(x), nats an observation", as_json)


def ship(
    run: RunPath,
    file: Annotated[Path, typer.Argument(help="The new file of weights (.safetensors).")],
    licence: Annotated[str, typer.Option(help="The licence of the data, for the card.")] = "",
    as_json: Json = False,
) -> None:
    """Write the model of a run to a file that can be sent, with a card of its data, steps, metrics and source."""
    from wakesleep.running import weights

    card = weights.ship(run, file, licence)
    if as_json:
        print_json({"file": str(file), **card})
    else:
        screen.show_table(str(file), ("card", ""), [(name, str(value)) for name, value in card.items()])


@contextmanager
def _listener(folder: Path | None) -> Iterator["Listener"]:
    """Shows on standard error what a run tells, and logs it for TensorBoard where a folder is given."""
    from wakesleep.cli.progress import Reporter
    from wakesleep.running.commands import Listener

    def follow(steps: int) -> AbstractContextManager["Report"]:
        return Reporter(screen.err, steps)

    if folder is None:
        yield Listener(screen.tell, follow)
        return
    from wakesleep.running.tensorboard import tensorboard

    with tensorboard(folder) as callback:
        yield Listener(screen.tell, follow, callback)
