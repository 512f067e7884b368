"""Output in the documents: runs the commands of console blocks that show output, and writes what they print below them.

    python docs/fill_output.py README.md ...      # `make tables` does it for the README

A block without output is left as it is; `tests/test_documents.py` runs the commands of all blocks.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN_COLUMNS = 98
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def printed(command: str, folder: Path) -> str:
    """Returns what a command prints to a terminal of `SHOWN_COLUMNS` columns."""
    words = [sys.executable, "-m", *shlex.split(command, comments=True)]
    place = {**os.environ, "COLUMNS": str(SHOWN_COLUMNS), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(words, cwd=folder, env=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command} ended with code {done.returncode}: {done.stderr}")
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


def filled(text: str) -> str:
    """Returns a document with the present output of each command whose output it shows."""

    def anew(match: re.Match[str]) -> str:
        lines = match[1].splitlines()
        if all(line.startswith("$ ") for line in lines):
            return match[0]
        commands = [line for line in lines if line.startswith("$ ")]
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "examples").symlink_to(ROOT / "examples")
            shown = [f"{line}\n{printed(line.removeprefix('$ '), Path(folder))}" for line in commands]
        return "```console\n" + "\n".join(shown) + "\n```"

    return BLOCK.sub(anew, text)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        document = Path(name)
        document.write_text(filled(document.read_text(encoding="utf-8")), encoding="utf-8")
