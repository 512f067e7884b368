"""A contract: the rules of a table's columns, as a short YAML file that people edit."""

import math
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from wakesleep.domains.strings.table.known_lists import list_name, list_pattern
from wakesleep.domains.strings.table.rules import Rule
from wakesleep.errors import Refusal

if TYPE_CHECKING:
    from wakesleep.domains.strings.table.verdict import Verdict

FORMAT = "contract 1"
LARGEST_BYTES = 5_000_000
RULE_KEYS = {
    "type": "type", "nulls": "nulls", "missing": "missing", "unique": "unique", "one of": "one_of",
    "pattern": "pattern", "longest": "longest", "from": "low", "to": "high", "format": "form",
    "check digits": "check_digits", "says": "says", "alarms": "alarms", "tolerate": "tolerate",
}  # fmt: skip
"""The words of the file for the parts of a rule, in the order in which they are written."""
KNOWN_LIST = "known"
"""The word for the name of a known list, which stands for a pattern."""
NUMBERS, LISTS = ("nulls", "low", "high", "alarms", "tolerate"), ("missing", "one_of")
WORDS = {"true": True, "yes": True, "false": False, "no": False}
WIDTH = 110


@dataclass(frozen=True)
class Expected:
    """The alarms to expect in tables of the same kind."""

    rows: float
    """The share of rows."""
    columns: float
    """The share of columns, in a table of as many rows."""


@dataclass(frozen=True)
class Contract:
    """What is asked of a table, and how many alarms are expected in tables of the same kind."""

    columns: dict[str, Rule]
    table: str = ""
    rows: int = 0
    """The rows that it was drafted from."""
    in_order: Expected | None = None
    """The alarms of rows that come before or after those of the table."""
    at_random: Expected | None = None
    """The alarms of rows drawn at random from where those of the table come from."""
    new_columns: bool = False
    """Whether columns that it does not name are allowed."""
    differs: float | None = None
    """The share of the drafted values, over all columns of text, at which the full judgement says otherwise."""

    def dumped(self) -> str:
        """Returns the contract as YAML."""
        head = {"wakesleep": FORMAT, "table": self.table, "rows": self.rows}
        for word, expected in (("alarms", self.in_order), ("alarms at random", self.at_random)):
            if expected is not None:
                head[word] = {"rows": _figure(expected.rows), "columns": _figure(expected.columns)}
        if self.differs is not None:
            head["accepts differs"] = _figure(self.differs)
        head["new columns"] = "allowed" if self.new_columns else "refused"
        head["columns"] = {name: _as_words(rule) for name, rule in self.columns.items()}
        return self._comment() + yaml.dump(head, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)

    def check(self, source: Any) -> "Verdict":
        """Judges every row of a table: a data frame or relation of any library, a dict, or a file's path."""
        from wakesleep.domains.strings.table.checking import check

        return check(self, source)

    def words(self, name: str) -> dict[str, Any]:
        """Returns what is asked of a column, in the words of the file."""
        return _as_words(self.columns[name])

    @property
    def expected_rows(self) -> str:
        """Returns the share of rows with alarms to expect, in words; nothing where the file does not state it."""
        stated = ((self.at_random, "of rows like these"), (self.in_order, "of rows that follow in order"))
        given = [(expected.rows, which) for expected, which in stated if expected is not None]
        return ", ".join(f"{_figure(100 * share):g}% {which}" for share, which in given)

    def _comment(self) -> str:
        lines = [
            "What is asked of this table. Edit it, commit it, then: wakesleep check THIS_FILE NEW_TABLE",
            "nulls: the largest share of empty cells. tolerate: a share of rows that may be refused.",
            "alarms: the share of rows (or columns, in a table of as many rows) expected to be refused though nothing",
            "is wrong, if the table goes on in this order; alarms at random: if new rows are drawn like these.",
            "accepts differs: the share of values at which the full judgement of an explanation says otherwise.",
        ]
        return "".join(f"# {line}\n" for line in lines)


def _figure(x: float) -> float:
    return float(f"{x:.2g}")


def _as_words(rule: Rule) -> dict[str, Any]:
    """Returns what a rule asks for beyond the defaults, in the words of the file."""
    plain, found = Rule(), dict[str, Any]()
    known = list_name(rule.pattern, rule.says)
    for word, name in RULE_KEYS.items():
        value = getattr(rule, name)
        if known and name in ("pattern", "says"):
            found[KNOWN_LIST] = known
        elif name in ("type", "nulls") or value != getattr(plain, name):
            found[word] = _as_value(name, value)
    return found


def _as_value(name: str, value: Any) -> Any:
    if name in LISTS:
        return list(value)
    if name in NUMBERS:
        return _figure(value) if name == "alarms" else int(value) if value == int(value) else value
    return value


class _Dumper(yaml.SafeDumper):
    """Writes lists in a line, broken between their members alone: a pattern is never folded."""

    def write_plain(self, text: str, split: bool = True) -> None:
        super().write_plain(text, split=False)

    def write_single_quoted(self, text: str, split: bool = True) -> None:
        super().write_single_quoted(text, split=False)

    def write_double_quoted(self, text: str, split: bool = True) -> None:
        super().write_double_quoted(text, split=False)


_Dumper.add_representer(list, lambda d, v: d.represent_sequence("tag:yaml.org,2002:seq", v, flow_style=True))


class _Loader(yaml.BaseLoader):
    """Reads texts, lists and mappings alone, so that `no` is a text; refuses references and repeated keys."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise Refusal("references (*name) are not allowed in it")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [k.value for k, _ in node.value if isinstance(k, yaml.ScalarNode)]
        if len(keys) < len(node.value) or len(set(keys)) < len(keys):
            twice = next((k for k in keys if keys.count(k) > 1), "a key that is no word")
            raise Refusal(f"{twice!r} stands twice or is no key")
        return {k.value: self.construct_object(v, deep=True) for k, v in node.value}


_Loader.add_constructor("tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node, deep=True))


def read_contract(path: Path | str) -> Contract:
    """Reads a contract, or refuses it in one sentence."""
    path = Path(path)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Refusal("it is not a file")
        with path.open(encoding="utf-8") as file:
            text = file.read(LARGEST_BYTES + 1)
        if len(text) > LARGEST_BYTES:
            raise Refusal(f"it has more than {LARGEST_BYTES:,} characters")
        return parsed(text)
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{path} cannot be read as a contract ({getattr(error, 'strerror', None) or error}).") from None
    except Refusal as refusal:
        raise Refusal(f"{path} cannot be read as a contract: {str(refusal).rstrip('.')}.") from None


def parsed(text: str) -> Contract:
    """Returns the contract that a text holds."""
    try:
        given = yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        raise Refusal(f"it is not YAML{where}") from None
    if not isinstance(given, dict) or given.get("wakesleep") != FORMAT:
        raise Refusal(f"it does not begin with `wakesleep: {FORMAT}`; draft one with `wakesleep draft TABLE`")
    known = ("wakesleep", "table", "rows", "alarms", "alarms at random", "accepts differs", "new columns", "columns")
    _require_known("the contract", given, known)
    columns = given.get("columns") or {}
    if not isinstance(columns, dict) or not columns:
        raise Refusal("`columns` names no column")
    return Contract(
        {name: _rule(name, asked) for name, asked in columns.items()},
        str(given.get("table", "")),
        int(_number("rows", given.get("rows", "0"))),
        _expected("alarms", given),
        _expected("alarms at random", given),
        _one_of("new columns", given.get("new columns", "refused"), {"allowed": True, "refused": False}),
        _number("accepts differs", given["accepts differs"]) if "accepts differs" in given else None,
    )


def _expected(word: str, given: dict[str, Any]) -> Expected | None:
    if not given.get(word):
        return None
    _require_known(f"`{word}`", given[word], ("rows", "columns"))
    return Expected(*(_number(name, given[word].get(name, "0")) for name in ("rows", "columns")))


def _require_known(where: str, given: Any, known: tuple[str, ...]) -> None:
    if not isinstance(given, dict):
        raise Refusal(f"{where} is not a list of words and values")
    if unknown := [k for k in given if k not in known]:
        raise Refusal(f"{where} has the unknown word {unknown[0]!r}; known are {', '.join(known)}")


def _rule(name: str, asked: Any) -> Rule:
    try:
        _require_known(f"column {name!r}", asked or {}, (*RULE_KEYS, KNOWN_LIST))
        asked = _spelled_out(asked or {})
        return Rule(**{RULE_KEYS[word]: _value(word, RULE_KEYS[word], value) for word, value in asked.items()})
    except Refusal as refusal:
        said = str(refusal).rstrip(".")
        raise Refusal(said if repr(name) in said else f"column {name!r}: {said}") from None


def _spelled_out(asked: dict[str, Any]) -> dict[str, Any]:
    """Returns the words of a column with the pattern of a known list in place of its name."""
    if KNOWN_LIST not in asked:
        return asked
    if "pattern" in asked:
        raise Refusal(f"`{KNOWN_LIST}` and `pattern` are two patterns: leave one of them out")
    name = str(asked[KNOWN_LIST])
    rest = {word: value for word, value in asked.items() if word != KNOWN_LIST}
    return {"says": name} | rest | {"pattern": list_pattern(name)}


def _value(word: str, name: str, given: Any) -> Any:
    """Returns a value of the file in the type of its part of a rule."""
    if name in LISTS:
        if not isinstance(given, list) or not all(isinstance(v, str) for v in given):
            raise Refusal(f"{word} must be a list of texts")
        return tuple(given)
    if not isinstance(given, str):
        raise Refusal(f"{word} must be one value")
    if name in NUMBERS or name == "longest":
        number = _number(word, given)
        return int(number) if name == "longest" else number
    return _one_of(word, given, WORDS) if name == "unique" else given


def _number(word: str, given: Any) -> float:
    if not isinstance(given, str) or not re.fullmatch(r"[+-]?[0-9.]{1,40}(?:e[+-]?[0-9]{1,3})?", given.lower()):
        raise Refusal(f"{word} must be a number, but {str(given)[:40]!r} was given")
    try:
        if math.isfinite(found := float(given)):
            return found
    except ValueError:
        pass
    raise Refusal(f"{word} must be a number, but {given!r} was given")


def _one_of(word: str, given: Any, known: dict[str, bool]) -> bool:
    if str(given).lower() not in known:
        raise Refusal(f"{word} must be one of {', '.join(known)}, but {str(given)[:40]!r} was given")
    return known[str(given).lower()]
