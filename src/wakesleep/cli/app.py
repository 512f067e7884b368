"""The command line: words, then one call. JAX is imported only by commands that compute."""

import errno
import io
import os
import sys

import typer

from wakesleep.cli import explain, explore, reproduce, train, verbs
from wakesleep.cli import output as screen
from wakesleep.errors import Refusal, missing_extra

app = typer.Typer(
    help="Learn generative programs with Memoised Wake-Sleep.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

NO_ROOM_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_MEMORY = "RESOURCE_EXHAUSTED"
"""What JAX says where a device or the host has no more memory."""


def main() -> None:
    """Runs a command; a refusal is one sentence and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a locale without a character gets its number
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except Refusal as refusal:
        _refuse(str(refusal))
    except ModuleNotFoundError as error:
        if isinstance(missing := missing_extra(error), Refusal):
            _refuse(str(missing))
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.errno is None:
            raise
        remedy = "make room, then go on" if error.errno in NO_ROOM_ERRORS else "see that it can be read and written"
        _refuse(f"{error.filename or 'A file'} could not be used ({error.strerror}): {remedy}.")
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and NO_MEMORY not in str(error):
            raise
        _refuse("There is not enough memory for this: give fewer or smaller data, or smaller settings.")


def _refuse(sentence: str) -> None:
    screen.refuse(sentence)
    if "jax" in sys.modules:
        from wakesleep.running import cluster

        cluster.leave(2)
    sys.exit(2)


for _command in (
    train.train,
    train.resume,
    train.store,
    train.evaluate,
    train.ship,
    explain.posterior,
    explain.sample,
    explore.explore,
    reproduce.reproduce,
    reproduce.domains,
    reproduce.version,
):
    app.command()(_command)
app.command(context_settings=verbs.ALL_WORDS)(explain.explain)
verbs.add_to(app)
