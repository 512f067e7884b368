"""The command `wakesleep` run in this process, and the gist of what it said: for the benchmarks of survival."""

import os
import re
import sys
import traceback
from pathlib import Path

FOLDERS = re.compile(r"(?:/[\w.+-]+)+/")
GIST_CHARACTERS = 200


def run(words: list[str], log: Path) -> int:
    """Runs the command with its output to a log; returns the exit code, 1 after an exception."""
    from wakesleep.cli import app as cli

    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.close(out)
    sys.argv = ["wakesleep", *words]
    code = 1
    try:
        cli.main()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def gist(said: str) -> str:
    """Returns the error and the refusal that a log ends with, without the folders of this machine."""
    lines = [line.strip() for line in said.splitlines()]
    errors = [line for line in lines if re.match(r"\w*(Error|Exception)\b", line)]
    refusals = [line for line in lines if line.startswith("wakesleep:")]
    told = "; ".join([*errors[-1:], *refusals[-1:]]) or next((line for line in reversed(lines) if line), "nothing said")
    return FOLDERS.sub("", told)[:GIST_CHARACTERS]
