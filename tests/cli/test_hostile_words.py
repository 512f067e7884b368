"""Words from files and failures of the system reach a person as one plain sentence."""

import errno
import io
import sys
import time

import pytest
from rich.console import Console

from wakesleep.cli import app as cli
from wakesleep.cli import output as screen
from wakesleep.cli import progress
from wakesleep.domains.contract import Standing
from wakesleep.errors import Refusal

BAD = "a[/x]b[link=http://c]d\x1b[31me\x07f\x9bg\u202eh"
SHOWN = "a[/x]b[link=http://c]d\\x1b[31me\\x07f\\x9bg\\x202eh"


def told(monkeypatch, error, capsys):
    """What the command says when a command raises, and its exit code."""

    def fail():
        raise error

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as end:
        cli.main()
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return end.value.code, said


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (Refusal(f"{BAD} is not a file."), f"{SHOWN} is not a file."),
        (OSError(errno.EROFS, "Read-only file system", "/x/[/y]"), "/x/[/y] could not be used (Read-only file system)"),
        (OSError(errno.EACCES, "Permission denied", "a"), "a could not be used (Permission denied)"),
        (OSError(errno.EIO, "Input/output error"), "A file could not be used (Input/output error)"),
        (OSError(errno.ENOSPC, "No space left on device", "a"), "make room, then go on"),
        (MemoryError(), "There is not enough memory for this"),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes"), "There is not enough memory for this"),
    ],
)
def test_a_failure_is_one_sentence_and_exit_code_two(monkeypatch, capsys, error, sentence):
    monkeypatch.setattr(screen, "err", Console(stderr=True, width=400))
    code, said = told(monkeypatch, error, capsys)
    assert code == 2
    assert said.startswith("wakesleep: ")
    assert sentence in said


def test_errors_of_the_program_itself_are_not_hidden(monkeypatch):
    for error in (RuntimeError("a bug"), OSError("a bug"), ValueError("a bug")):

        def fail(error=error):
            raise error

        monkeypatch.setattr(cli, "app", fail)
        with pytest.raises(type(error), match="a bug"):
            cli.main()


def test_a_terminal_that_knows_only_ascii_gets_numbers_for_other_characters(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "argv", ["wakesleep", "version"])
    monkeypatch.setattr(cli, "app", lambda: screen.say("K\u00f6ln \u2713"))
    monkeypatch.setattr(screen, "out", Console(width=100))
    cli.main()
    out.flush()
    assert out.buffer.getvalue() == b"K\\xf6ln \\u2713\n"


def test_nothing_of_a_file_is_markup_or_steers_the_terminal(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(screen, "out", Console(file=shown, force_terminal=True, width=400, color_system=None))
    screen.show_table(BAD, (BAD, "x"), [(BAD, "y")])
    screen.say(BAD)
    screen.show_rows([{BAD: BAD}], BAD, as_json=False)
    said = shown.getvalue()
    assert said.count(SHOWN) == 7
    assert not any(c in said for c in "\x07\x9b\u202e")
    assert "\x1b[31m" not in said


def test_an_export_on_a_terminal_is_spelled_out_and_elsewhere_as_it_stands(monkeypatch, capsys):
    for terminal, wanted in ((True, SHOWN), (False, BAD)):
        monkeypatch.setattr(screen, "out", Console(force_terminal=terminal))
        screen.show_export(BAD)
        assert capsys.readouterr().out == f"{wanted}\n"


def test_a_note_of_a_file_in_the_progress_bar_is_plain():
    shown = io.StringIO()
    with progress.standing(Console(file=shown, force_terminal=True, width=100)) as report:
        report(Standing(1, 2, "[/x]\x1b[31m"))
        time.sleep(0.2)
    assert "[/x]" in shown.getvalue()
    assert "\x1b[31m" not in shown.getvalue()


def test_a_long_compilation_is_told(monkeypatch):
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.01)
    shown = io.StringIO()
    with progress.Reporter(Console(file=shown), 10):
        time.sleep(0.2)
    assert "the first step is being compiled" in shown.getvalue()
