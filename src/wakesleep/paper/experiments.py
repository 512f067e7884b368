"""The experiments by name: each fills a results file, then draws its figures and makes its table."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from wakesleep.core.compilation import keep_compiled
from wakesleep.errors import require_one_of
from wakesleep.paper.names import EXPERIMENTS
from wakesleep.paper.results import resize


def reproduce(
    experiment: str,
    output: Path,
    steps: int | None,
    seeds: int | None,
    quick: bool,
    algorithms: list[str] | None,
    ks: list[int] | None,
    say: Callable[[str], None],
) -> None:
    """Makes the table and the figures of one experiment, and says the table."""
    require_one_of("experiment", experiment, tuple(EXPERIMENTS))
    keep_compiled()
    made = import_module(f"wakesleep.paper.{EXPERIMENTS[experiment]}")
    shown = import_module(f"wakesleep.paper.figures.{EXPERIMENTS[experiment]}")
    plan = resize(made.QUICK[experiment] if quick else made.FULL[experiment], steps, seeds, algorithms, ks)
    if quick:
        say(f"quick: cut from {made.FULL[experiment]} to {plan}")
    made.EXPERIMENTS[experiment](output, plan, say)
    for path in shown.DRAW.get(experiment, lambda folder: [])(output):
        say(f"wrote {path}")
    say(shown.TABLES[experiment](output))
