"""What one of several processes says: its last word if it is ended from outside, and nothing that it did not mean to."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def last_word(sentence: str) -> Iterator[None]:
    """If the process ends within it without leaving it, the sentence is printed on standard error.

    A child waits for the other end of a pipe to close, so it must come before there are threads.
    """
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()  # a signal to the whole group is for the process, not for its witness
        os.close(writer)
        if os.read(reader, 1) == b"":
            os.write(2, (sentence + "\n").encode())
        os._exit(0)
    os.close(reader)
    try:
        yield
    finally:
        os.write(writer, b".")
        os.close(writer)


@contextmanager
def quiet() -> Iterator[None]:
    """Within it, what libraries write on standard output goes to standard error: results have the former to themselves."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
