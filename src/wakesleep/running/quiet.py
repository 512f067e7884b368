"""Orbax's threads held to silence: what goes wrong in them is raised where it is waited for, and told once there."""

import gc
import logging
import sys
import threading
from collections.abc import Callable
from typing import Any

LOGGERS = ("absl", "asyncio")
"""Through these Orbax, and tasks that nobody waited for, print tracebacks."""


class QuietThreads:
    """Keeps threads and forgotten tasks from printing failures of the system that the caller is told anyway.

    Errors of other kinds are printed as ever.
    """

    def __enter__(self) -> None:
        self._hooks = sys.excepthook, sys.unraisablehook, threading.excepthook
        self._levels = {name: logging.getLogger(name).level for name in LOGGERS}
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        sys.excepthook = _without_stragglers(sys.excepthook, lambda kind, error, trace: error)
        sys.unraisablehook = _without_stragglers(sys.unraisablehook, lambda given: given.exc_value)
        threading.excepthook = _without_stragglers(threading.excepthook, lambda given: given.exc_value)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            gc.collect()  # a forgotten task tells its error when it is collected
        sys.excepthook, sys.unraisablehook, threading.excepthook = self._hooks
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)


def _without_stragglers(hook: Callable[..., Any], error_of: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the hook without failures of the system, and without one error that follows from them.

    A late write finds Orbax's event loop closed after another write failed.
    """

    def told(*given: Any) -> None:
        error = error_of(*given)
        late = isinstance(error, RuntimeError) and str(error) == "Event loop is closed"
        if not (late or isinstance(error, OSError)):
            hook(*given)

    return told
