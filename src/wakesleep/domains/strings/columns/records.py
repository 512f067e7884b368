"""Programs as JSON records and back; a record that is no program is refused."""

import re
from dataclasses import fields, is_dataclass
from math import isfinite
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from wakesleep.domains.strings.columns.characters import NAMED_CLASSES, Chars
from wakesleep.domains.strings.columns.checks import CHECKS, Checked
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.concepts import Concept, concept, is_known
from wakesleep.domains.strings.columns.counts import Counts
from wakesleep.domains.strings.columns.dates import DATE_FIELDS, Date
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.numbers import Number
from wakesleep.domains.strings.columns.sequences import Series
from wakesleep.domains.strings.columns.words import Words
from wakesleep.errors import Refusal

NODE_TYPES: dict[str, type] = {
    t.__name__: t
    for t in (Literal, Run, Series, Maybe, Either, Words, Listing, Number, Date, Checked, Concept, Chars, Counts)
}
DEEPEST = 40
MOST_STORED_REPEATS = 1_000_000
"""More than any value that is read has characters; engines refuse to compile counts that are greater still."""
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError)
"""What a damaged record may raise where it is read or used."""


def as_record(node: Any) -> Any:
    """Returns a program, or a part of one, as lists, numbers, texts and dictionaries with a `kind`."""
    if isinstance(node, Concept) and not node.fitted and is_known(node.name):
        return {"kind": "Concept", "name": node.name}
    if is_dataclass(node) and not isinstance(node, type):
        return {"kind": type(node).__name__, **{f.name: as_record(getattr(node, f.name)) for f in fields(node)}}
    return [as_record(v) for v in node] if isinstance(node, tuple) else node


def from_record(record: Any) -> Node:
    """Returns the program of a record."""
    node = _made(record, 0)
    if not isinstance(node, Node):
        raise Refusal("The stored program is no program: its outermost record has another kind.")
    return node


def _made(record: Any, depth: int) -> Any:
    if depth > DEEPEST:
        raise Refusal(f"The stored program is nested more than {DEEPEST} deep.")
    if isinstance(record, list):
        return tuple(_made(r, depth + 1) for r in record)
    if not isinstance(record, dict):
        return record
    kind = record.get("kind")
    if kind not in NODE_TYPES:
        raise Refusal(f"The stored program has a part of unknown kind {kind!r}.")
    if kind == "Concept" and "body" not in record:
        if not is_known(str(record.get("name"))):
            raise Refusal(f"The stored program names an unknown concept {record.get('name')!r}.")
        return concept(record["name"])
    try:
        made = NODE_TYPES[kind](**{k: _made(v, depth + 1) for k, v in record.items() if k != "kind"})
    except TypeError as fault:
        raise Refusal(f"The stored part {kind} cannot be read: {fault}.") from fault
    hints = get_type_hints(NODE_TYPES[kind])
    for field in fields(made):
        if not _fits(getattr(made, field.name), hints[field.name]):
            raise Refusal(f"The stored part {kind} has another kind of value as {field.name}.")
    return _checked(made)


def _fits(value: Any, hint: Any) -> bool:
    """Returns whether a value is of the type that a part declares; numbers must be finite."""
    inner = get_args(hint)
    if get_origin(hint) is UnionType:
        return any(_fits(value, one) for one in inner)
    if get_origin(hint) is tuple:
        every = inner[:1] * len(value) if isinstance(value, tuple) and inner[-1] is ... else inner
        return isinstance(value, tuple) and len(value) == len(every) and all(map(_fits, value, every))
    if hint in (int, float):
        return (
            isinstance(value, int if hint is int else int | float) and not isinstance(value, bool) and isfinite(value)
        )
    return isinstance(value, hint)


def _checked(made: Any) -> Any:
    """Refuses parts that would fail later: unknown classes, wrong weights, empty ranges."""
    wrong = (
        (isinstance(made, Chars) and not all(c in NAMED_CLASSES for c in made.classes))
        or (isinstance(made, Checked) and made.check not in CHECKS)
        or (isinstance(made, Counts) and not _is_count(made))
        or (isinstance(made, Either) and len(made.branches) != len(made.weights))
        or (isinstance(made, Words) and len(made.words) != len(made.weights))
        or (isinstance(made, Number) and not _is_range(made))
        or (isinstance(made, Date) and not _is_date(made))
    )
    if wrong:
        raise Refusal(f"The stored part {type(made).__name__} has values that cannot be.")
    return made


def _is_count(made: Counts) -> bool:
    return 0 <= made.low <= (made.low if made.high is None else made.high) <= MOST_STORED_REPEATS


def _is_range(made: Number) -> bool:
    first, last = made.usual or (made.low, made.high)
    return 0 <= made.low <= first <= last <= made.high and 0 <= made.share < 1


def _is_date(made: Date) -> bool:
    known = all(field in DATE_FIELDS for field in re.findall("%(.?)", made.form))
    return known and (made.years is None or 0 <= made.years[0] <= made.years[1] <= 9999)
