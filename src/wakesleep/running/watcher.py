"""What one of several processes says: a last word if it is ended from outside, and nothing that it did not mean to."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

_pipes: list[int] = []


@contextmanager
def last_word(sentence: str) -> Iterator[None]:
    """If the process ends within it without leaving it, the sentence is printed on standard error.

    JAX ends a process from within when another has died, and no Python runs then. So a child waits for the other
    end of a pipe to close; it must be made before there are threads.
    """
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()  # a signal to the whole group is for the process, not for its witness
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
    """Another last word, where there is to be one."""
    for writer in _pipes:
        os.write(writer, f"{sentence}\n".encode())


@contextmanager
def quiet() -> Iterator[None]:
    """Within it, what libraries write on standard output goes to standard error; the former is for results."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


@contextmanager
def witness(coordinator: str | None, patience: int) -> Iterator[None]:
    """Both of these around one of several processes, and nothing around one alone."""
    if coordinator is None:
        yield
        return
    met = f"Not all processes met at {coordinator} within {patience} s: start them all, each with its own --process-id."
    with last_word(f"wakesleep: {met}"), quiet():
        yield
