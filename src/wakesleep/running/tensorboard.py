"""The metrics of a run for TensorBoard."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from wakesleep.core.step import State
from wakesleep.errors import Refusal

if TYPE_CHECKING:
    from wakesleep.running.train import Callback

FLUSH_SECONDS = 5


@contextmanager
def tensorboard(folder: Path) -> "Iterator[Callback]":
    """Yields a callback of `train` that writes each number of the metrics to event files in a folder."""
    try:
        from tensorboardX import SummaryWriter
    except ModuleNotFoundError:
        raise Refusal("Logging for TensorBoard needs tensorboardX: pip install 'wakesleep[tensorboard]'.") from None
    writer = SummaryWriter(str(folder), flush_secs=FLUSH_SECONDS)

    def callback(metrics: dict[str, int | float], state: State) -> None:
        for name, value in metrics.items():
            if name != "step":
                writer.add_scalar(name, value, int(metrics["step"]))

    try:
        yield callback
    finally:
        writer.close()
