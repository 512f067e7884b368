"""The command line: words, then one call. JAX is imported only by commands that compute."""

import errno
import os
import sys

import typer

from wakesleep.cli import explain, reproduce, train
from wakesleep.cli import output as screen
from wakesleep.errors import Refusal

app = typer.Typer(
    help="Learn generative programs with Memoised Wake-Sleep.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main() -> None:
    """Runs a command; a refusal is one sentence and exit code 2."""
    try:
        app()
    except Refusal as refusal:
        _refuse(str(refusal))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.errno not in FULL:
            raise
        _refuse(f"{error.filename or 'A file'} could not be written ({error.strerror}): make room, then go on.")


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
    explain.check,
    explain.sample,
    reproduce.reproduce,
    reproduce.domains,
    reproduce.version,
):
    app.command()(_command)
app.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})(explain.explain)
