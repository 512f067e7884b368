"""Orbax's threads held to silence: what goes wrong in them is raised where it is waited for, and told once there."""

import gc
import logging
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

LOGGERS = ("absl", "asyncio")
"""Through these Orbax, and tasks that nobody waited for, print tracebacks."""
CHECKPOINT_LIBRARIES = ("orbax", "tensorstore", "asyncio", "concurrent")
"""The packages whose threads and tasks write and read checkpoints."""
LATE = "Event loop is closed"
"""What a late write or read of Orbax finds after another one failed."""


class QuietThreads:
    """Keeps threads and forgotten tasks from printing failures of the system that the caller is told anyway.

    Errors of other kinds are printed as ever. What comes from the threads of Orbax stays quiet for good, since it may
    come after the caller was told.
    """

    def __enter__(self) -> None:
        _hush(sys, "excepthook", lambda kind, error, trace: _in_background() and _is_straggler(error))
        _hush(threading, "excepthook", lambda given: _is_straggler(given.exc_value))
        _hush(sys, "unraisablehook", lambda given: _is_straggler(given.exc_value) or _is_abandoned(given.exc_value))
        self._levels = {name: logging.getLogger(name).level for name in LOGGERS}
        for name in LOGGERS:
            logging.getLogger(name).addFilter(_tells_news)  # the same one is added once
            logging.getLogger(name).setLevel(logging.CRITICAL)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            gc.collect()  # a forgotten task tells its error when it is collected
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)


def _hush(where: Any, name: str, quiet: Callable[..., bool]) -> None:
    """Puts a hook that drops some errors in the place of one that prints all, unless it is there."""
    hook = getattr(where, name)
    if getattr(hook, "hushed", False):
        return

    def told(*given: Any) -> None:
        if not quiet(*given):
            hook(*given)

    told.hushed = True  # type: ignore[attr-defined]
    setattr(where, name, told)


def _tells_news(record: logging.LogRecord) -> bool:
    """Whether a record of a logger is of something else than a failure that is told elsewhere."""
    error = record.exc_info[1] if record.exc_info else None
    return error is None or not (_is_straggler(error) or _is_abandoned(error))


def _is_straggler(error: BaseException | None) -> bool:
    """Whether an error is a failure of the system in Orbax's threads, or follows from one."""
    if isinstance(error, RuntimeError) and str(error) == LATE:
        return True
    return isinstance(error, OSError) and _is_of_libraries(error.__traceback__)


def _is_abandoned(error: BaseException | None) -> bool:
    """Whether an error that nobody can catch, of whatever kind, was raised by a read or write of Orbax."""
    trace = None if error is None else error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and _package(trace) in CHECKPOINT_LIBRARIES[:2]


def _is_of_libraries(trace: TracebackType | None) -> bool:
    """Whether any frame of a traceback is code of the libraries; one without frames is of their compiled parts."""
    if trace is None:
        return True
    while trace is not None:
        if _package(trace) in CHECKPOINT_LIBRARIES:
            return True
        trace = trace.tb_next
    return False


def _package(trace: TracebackType) -> str:
    """Returns the package whose code a frame runs."""
    return str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]


def _in_background() -> bool:
    """Whether this is not the thread whose errors end the program."""
    return threading.current_thread() is not threading.main_thread()
