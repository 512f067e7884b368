"""A verb that a domain brings: its own words, options and files, its help, and the exit code of its answer."""

import json
import sys
from dataclasses import dataclass
from types import ModuleType

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from wakesleep import domains
from wakesleep.cli import output as screen
from wakesleep.cli import verbs
from wakesleep.cli.options import app_of, from_fields
from wakesleep.domains.contract import Command, Explanation, Standing, Table, option
from wakesleep.errors import Refusal

RAW = 100
"""The bound with which the answer is a text for another tool."""


class Counted(Explanation):
    def __init__(self, count, most):
        self.count, self.most = count, most

    def rows(self, most=5):
        return [{"count": self.count}]

    def table(self, most=5, width=80):
        return [Table("counted", ("count",), [(str(self.count),)])]

    def notes(self):
        return ["letters were counted"]

    def code(self):
        return int(self.count > self.most)

    def text(self):
        return "[/x]\x1b[31m\u202e" if self.most == RAW else ""

    def write(self, name, path):
        path.write_text(name)
        return path


@dataclass(frozen=True)
class Options:
    letter: str = option("a", "The letter.")
    bound: int = option(2, "The most of them.")


def run(words, options, report):
    report(Standing(1, 1))
    if not words[0]:
        raise Refusal("There is nothing to count in.")
    return Counted(words[0].count(options.letter), options.bound)


COUNT = Command(
    help="Count letters.", arguments={"TEXT": "Where."}, options=Options, run=run, files={"listing": "Write it here."}
)


@pytest.fixture
def count(monkeypatch, capsys):
    """Runs `wakesleep count`, a verb of a domain that exists for these tests."""
    module = ModuleType("wakesleep.domains.letters")
    module.COMMANDS = {"count": COUNT}
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(domains.COMMANDS, "count", ("letters", "Count letters in a word."))
    monkeypatch.setattr(screen, "out", Console(width=100))
    monkeypatch.setattr(screen, "err", Console(stderr=True, width=100))
    app = typer.Typer(pretty_exceptions_enable=False)
    app.callback()(lambda: None)
    verbs.add_to(app)

    def call(*words):
        with pytest.raises(SystemExit) as end:
            app(["count", *words])
        said = capsys.readouterr()
        return end.value.code or 0, said.out, said.err

    return call


def test_the_answer_is_shown_with_its_notes(count):
    code, out, err = count("banana", "--bound", "3")
    assert (code, "3" in out, "letters were counted" in err) == (0, True, True)


def test_the_exit_code_is_the_answers(count):
    assert count("banana")[0] == 1


def test_json_is_the_rows(count):
    assert json.loads(count("banana", "--letter", "n", "--json")[1]) == [{"count": 2}]


def test_a_text_for_another_tool_does_not_steer_the_terminal(count, monkeypatch):
    assert count("banana", "--bound", str(RAW))[1] == "[/x]\x1b[31m\u202e\n"
    monkeypatch.setattr(screen, "out", Console(force_terminal=True))
    assert count("banana", "--bound", str(RAW))[1] == "[/x]\\x1b[31m\\x202e\n"


def test_files_are_written(count, tmp_path):
    assert f"{tmp_path / 'a'} is written." in count("banana", "--listing", str(tmp_path / "a"))[2].replace("\n", "")
    assert (tmp_path / "a").read_text() == "listing"


def test_an_unknown_option_is_refused_and_the_help_shows_the_known(count):
    assert count("banana", "--colour", "x")[0] == 2
    assert "--letter" in count("--help")[1]


def test_every_verb_has_the_help_that_the_list_says():
    for verb, (_, said) in domains.COMMANDS.items():
        assert domains.command(verb).help.startswith(said.rstrip("."))


@dataclass(frozen=True)
class Switches:
    undecided: bool | None = option(None, "Neither, if nothing is said.")
    on: bool = option(True, "On, if nothing is said.")
    off: bool = option(False, "Off, if nothing is said.")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {"undecided": None, "on": True, "off": False}),
        (["--undecided", "--off"], {"undecided": True, "on": True, "off": True}),
        (["--no-undecided", "--no-on"], {"undecided": False, "on": False, "off": False}),
    ],
)
def test_a_switch_can_be_turned_either_way_from_where_it_is(words, expected):
    seen = {}
    made = app_of(from_fields(Switches), seen.update, "Switches.")
    assert CliRunner().invoke(made, words).exit_code == 0
    assert seen == expected
