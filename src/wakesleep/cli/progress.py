"""How a long run shows where it stands: a bar on a terminal, plain lines elsewhere."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wakesleep.cli.output import plain
from wakesleep.domains.contract import Standing

if TYPE_CHECKING:
    from wakesleep.running.train import Progress as Step

LINE_SECONDS = 10.0
SILENT_SECONDS = 10.0
"""After so long without a report it is said that the first step is still being compiled."""


class Reporter:
    """Called with each standing: shows steps a second, the bound and the time left."""

    def __init__(self, console: Console, steps: int):
        self.console, self.steps = console, steps
        self.bar: Progress | None = None
        self.first: tuple[int, float] | None = None
        self.last_line = time.monotonic()
        self.silence = threading.Timer(SILENT_SECONDS, self._explain_silence)
        self.silence.daemon = True

    def __enter__(self) -> "Reporter":
        self.silence.start()
        if self.console.is_terminal:
            self.bar = Progress(
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]:,.0f} steps/s  bound {task.fields[bound]:.3f}"),
                TimeRemainingColumn(),
                console=self.console,
            )
            self.task = self.bar.add_task("", total=self.steps, rate=0.0, bound=float("nan"))
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.silence.cancel()
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, now: "Step") -> None:  # noqa: D102, the class says it
        self.silence.cancel()
        rate = self._rate(now.step)
        if self.bar is not None:
            self.bar.update(self.task, completed=now.step, rate=rate, bound=now.bound)
        elif rate and (now.step == now.steps or time.monotonic() - self.last_line > LINE_SECONDS):
            self.last_line = time.monotonic()
            line = f"step {now.step} of {now.steps}, {rate:,.0f} steps/s, bound {now.bound:.3f}"
            self.console.print(f"{line}, {(now.steps - now.step) / rate:.0f} s left", highlight=False)

    def _explain_silence(self) -> None:
        self.console.print("the first step is being compiled, which takes longer for larger settings", highlight=False)

    def _rate(self, step: int) -> float:
        """Steps a second since the first report, which compilation had delayed; zero at that report."""
        if self.first is None:
            self.first = (step, time.monotonic())
        return (step - self.first[0]) / max(time.monotonic() - self.first[1], 1e-9)


@contextmanager
def standing(console: Console) -> Iterator[Callable[[Standing], None]]:
    """Yields a function that shows how far a piece of work has come: a bar on a terminal, nothing elsewhere."""
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda now: bar.update(
            task, completed=now.done, total=now.total, description=escape(plain(now.note[:40]))
        )
