"""Processes that work through a list of tasks; one that dies or takes too long fails its task and no other."""

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context
from multiprocessing.process import BaseProcess
from typing import Any

from wakesleep.errors import Refusal

READY = "ready"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
"""Each process computes on one thread, since the others have their own."""


@dataclass(frozen=True)
class Failure:
    """Why a task has no answer."""

    reason: str


@dataclass
class Worker:
    """A process, the pipe to it, and its task with the time by which that must be done."""

    process: BaseProcess
    pipe: Any
    task: Any = None
    deadline: float = 0.0
    ended: bool = False

    def end(self) -> int:
        """Kills the process and returns its exit code."""
        self.ended = True
        self.process.kill()
        self.process.join()
        self.pipe.close()
        return self.process.exitcode or 0


def answers(work: Callable[[Any], Any], tasks: Iterable[Any], jobs: int, seconds: float) -> Iterator[tuple[Any, Any]]:
    """Yields each task with its answer, or with a `Failure`, in the order in which they are done.

    `work` is a function of a module. A task that takes more than `seconds` is given up.
    """
    left, workers = iter(tasks), list[Worker]()
    try:
        while True:
            workers = [w for w in workers if not w.ended]
            _hand_out(left, workers, work, jobs, seconds)
            busy = [w for w in workers if w.task is not None]
            if not busy:
                return
            soonest = max(0.0, min(w.deadline for w in busy) - time.monotonic())
            ready = set(connection.wait([w.pipe for w in busy], soonest))
            for worker in busy:
                late = time.monotonic() >= worker.deadline
                if worker.pipe in ready or late:
                    task, worker.task = worker.task, None
                    yield task, _answer(worker, seconds) if worker.pipe in ready else _late(worker, seconds)
    finally:
        for worker in workers:
            worker.end()


def _hand_out(left: Iterator[Any], workers: list[Worker], work: Callable, jobs: int, seconds: float) -> None:
    """Gives each idle worker a task, and starts workers while there are tasks for them."""
    while sum(w.task is not None for w in workers) < jobs:
        try:
            task = next(left)
        except StopIteration:
            return
        worker = next((w for w in workers if w.task is None), None)
        if worker is None:
            worker = _start(work)
            workers.append(worker)
        worker.task, worker.deadline = task, time.monotonic() + seconds
        with suppress(OSError):  # if it died while it was idle, its pipe says so when it is waited for
            worker.pipe.send(task)


def _start(work: Callable) -> Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work), daemon=True)
    with _one_thread():
        process.start()
    theirs.close()
    try:
        ours.recv()
    except (EOFError, OSError):
        process.join()
        raise Refusal(
            'A process could not be started: in a script, put the call below `if __name__ == "__main__":`.'
        ) from None
    return Worker(process, ours)


def _serve(pipe: Any, work: Callable) -> None:
    """Answers tasks until the other end of the pipe is closed, which also happens when that process is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pipe.send(READY)
        while True:
            pipe.send(work(pipe.recv()))
    except (EOFError, OSError):
        return


def _answer(worker: Worker, seconds: float) -> Any:
    try:
        return worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join(seconds)
        code = worker.end()
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return Failure(f"The process that described it was ended {how}: it may take too much memory.")


def _late(worker: Worker, seconds: float) -> Failure:
    worker.end()
    return Failure(f"It was given up after {seconds:g} seconds.")


@contextmanager
def _one_thread() -> Iterator[None]:
    """Asks libraries of processes that are started meanwhile for one thread each, unless the user asked otherwise."""
    new = {name: "1" for name in THREADS if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)
