"""Threads of Orbax print nothing about failures that the caller is told; other errors are printed as ever."""

import asyncio
import logging
import sys
import threading
from types import SimpleNamespace

import pytest

from wakesleep.running.quiet import QuietThreads

NO_SPACE = OSError(28, "No space left on device")


def raiser(module):
    """A function of a module that raises what it is given."""
    code = "def run(error):\n    raise error.with_traceback(None)\n"
    exec(code, space := {"__name__": module})
    return space["run"]


def fail(error, module="orbax.checkpoint"):
    thread = threading.Thread(target=raiser(module), args=(error,))
    thread.start()
    thread.join()


@pytest.fixture
def told(monkeypatch):
    """What the hooks for threads and for compiled parts were told; both are put back afterwards."""
    heard = []
    monkeypatch.setattr(threading, "excepthook", lambda given: heard.append(str(given.exc_value)))
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: heard.append(str(error)))
    monkeypatch.setattr(sys, "unraisablehook", lambda given: heard.append(str(given.exc_value)))
    return heard


def test_failures_of_the_system_in_threads_are_silent_and_errors_of_the_program_are_not(told):
    with QuietThreads():
        fail(NO_SPACE)
        fail(RuntimeError("Event loop is closed"))
        fail(ValueError("a bug"))
        fail(OSError(5, "of the user's own thread"), "my_program")
    assert told == ["a bug", "[Errno 5] of the user's own thread"]


def test_what_comes_after_the_caller_was_told_is_silent_too(told):
    for _ in range(2):
        with QuietThreads():
            pass
    fail(NO_SPACE)
    late = RuntimeError("Event loop is closed")
    thread = threading.Thread(target=lambda: sys.excepthook(type(late), late, None))  # as compiled parts do
    thread.start()
    thread.join()
    assert told == []
    sys.excepthook(OSError, NO_SPACE, None)  # an error that ends the program
    assert told == ["[Errno 28] No space left on device"]


def test_what_a_read_raises_that_was_given_up_is_silent_whatever_it_is(told):
    with QuietThreads():
        pass
    for module in ("orbax.checkpoint", "my_program"):
        try:
            raiser(module)(Exception(f"Encountered error in {module}"))
        except Exception as error:
            sys.unraisablehook(SimpleNamespace(exc_value=error))
    assert told == ["Encountered error in my_program"]


def test_a_logger_tells_of_other_things_only(told, caplog):
    with QuietThreads():
        pass
    log, bug = logging.getLogger("asyncio"), ValueError("a bug")
    failures = (("orbax.checkpoint", NO_SPACE), ("orbax.checkpoint", ValueError("PERMISSION_DENIED")), ("mine", bug))
    for module, error in failures:
        try:
            raiser(module)(error)
        except (OSError, ValueError):
            log.exception("in a task")
    assert [record.exc_info[1] for record in caplog.records] == [bug]


def test_a_task_that_nobody_waits_for_is_silent_and_levels_are_as_before_afterwards(told, caplog):
    async def broken():
        raiser("orbax.checkpoint")(NO_SPACE)

    async def forget():
        task = asyncio.ensure_future(broken())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del task

    level = logging.getLogger("asyncio").level
    with pytest.raises(KeyError), QuietThreads():
        asyncio.run(forget())
        raise KeyError
    assert "never retrieved" not in caplog.text
    assert logging.getLogger("asyncio").level == level
