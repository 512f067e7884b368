"""Threads of Orbax print nothing about failures that the caller is told; other errors are printed as ever."""

import asyncio
import logging
import sys
import threading

import pytest

from wakesleep.running.quiet import QuietThreads


def fail(error):
    def run():
        raise error

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_failures_of_the_system_in_threads_are_silent_and_errors_of_the_program_are_not():
    told, before = [], threading.excepthook
    threading.excepthook = lambda given: told.append(str(given.exc_value))
    try:
        with QuietThreads():
            fail(OSError(28, "No space left on device"))
            fail(RuntimeError("Event loop is closed"))
            fail(ValueError("a bug"))
        fail(OSError(5, "after"))
    finally:
        threading.excepthook = before
    assert told == ["a bug", "[Errno 5] after"]


def test_a_task_that_nobody_waits_for_is_silent_and_all_is_as_before_afterwards(caplog):
    async def broken():
        raise OSError(5, "Input/output error")

    async def forget():
        task = asyncio.ensure_future(broken())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del task

    hooks = sys.excepthook, sys.unraisablehook, threading.excepthook, logging.getLogger("asyncio").level
    with pytest.raises(KeyError), QuietThreads():
        asyncio.run(forget())
        raise KeyError
    assert "never retrieved" not in caplog.text
    assert hooks == (sys.excepthook, sys.unraisablehook, threading.excepthook, logging.getLogger("asyncio").level)
