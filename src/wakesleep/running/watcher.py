"""What one of several processes prints: a last sentence if JAX ends it, and no output of libraries among results."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

_pipes: list[int] = []


@contextmanager
def last_word(sentence: str) -> Iterator[None]:
    """Prints the sentence on standard error if the process ends inside the context.

    When another process has died, JAX ends this one without running any more Python. So a forked child waits until
    the other end of a pipe closes. It must be forked before there are threads.
    """
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()  # a signal to the process group must not reach the child
        os.close(writer)
        with os.fdopen(reader) as said:
            last = said.read().split("\n")[-2]
        if last:
            os.write(2, f"{last}\n".encode())
        os._exit(0)
    os.close(reader)
    _pipes.append(writer)
    change(sentence)
    try:
        yield
    finally:
        change("")
        _pipes.remove(writer)
        os.close(writer)


def change(sentence: str) -> None:
    """Replaces the last sentence of the contexts that are open."""
    for writer in _pipes:
        os.write(writer, f"{sentence}\n".encode())


@contextmanager
def quiet() -> Iterator[None]:
    """Sends what libraries write on standard output to standard error; standard output is for results."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


@contextmanager
def witness(coordinator: str | None, patience: int) -> Iterator[None]:
    """Opens `last_word` and `quiet` around one of several processes, and nothing around a single process."""
    if coordinator is None:
        yield
        return
    unmet = (
        f"Not all processes met at {coordinator} within {patience} s: start them all, each with its own --process-id."
    )
    with last_word(f"wakesleep: {unmet}"), quiet():
        yield
