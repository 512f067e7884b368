"""Rules of every kind, and values that fit them or nearly do."""

import random
from dataclasses import replace

from wakesleep.domains.strings.table.contract import Contract
from wakesleep.domains.strings.table.exports.parts import main_pattern
from wakesleep.domains.strings.table.rules import Rule

COUNT = 2000
RULES = {
    "order": (Rule(pattern=r"ORD-[0-9]{5}", nulls=0.0), ["ORD-12345", "ORD-00000"]),
    "code": (Rule(pattern=r"(?:[A-Z]{2}-?[0-9]{1,4}|[a-z]+\.)", nulls=0.1), ["AB-1", "XY2024", "abc."]),
    "name": (Rule(pattern=r"(?:[^\W\d_]|[ '\-])+", nulls=0.0), ["Zoë O'Neil", "Ωmega", "中文", "½ Ⅷ", "it's"]),
    "word": (Rule(pattern=r"\w{2,}", missing=("N/A",), nulls=0.2), ["ab_1", "naïve٣", "N/A", "n/a"]),
    "odd": (Rule(pattern=r"[\]\[\^\-\\ .]{1,4}", nulls=0.0), ["]", "^-", "\\.", "[ ]", "-^"]),
    "edges": (Rule(pattern=r"[\^\-]+[^a-z\n]?", nulls=0.0), ["^", "--^", "^-Z", "-]"]),
    "free": (Rule(pattern=r"\S+(?: \S+)*", longest=12), ["two words", "a b c d e f", "twelve chars"]),
    "long": (Rule(pattern=r"[a-c]{3,300}", nulls=0.0), ["abc", "a" * 300, "b" * 301, "c" * 256]),
    "status": (Rule(type="category", one_of=("open", "it's", "a|b", "$5"), nulls=0.5), ["open", "it's", "a|b", "$5"]),
    "flag": (Rule(type="boolean", one_of=("false", "true"), nulls=0.0), ["true", "False", "TRUE", "tRUE", "fALSE"]),
    "day": (Rule(type="date", form="%Y-%m-%d", nulls=0.0), ["2024-02-29", "2023-02-29", "1999-12-31", "2024-04-31"]),
    "card": (Rule(pattern="[0-9]{13,16}", check_digits="luhn"), ["4111111111111111", "4111111111111112"]),
    "some": (Rule(nulls=0.0), ["x", " ", "\n"]),
}
STRANGE = "0123456789abcXYZ\uff11٣६éΩ中½Ⅷ_-.,'\"|^$\\[](){}*+? \t\n\r\x0b\x1c\x85\xa0\u200b\u2028\ufeff😀"


def values_of(name: str) -> list[str]:
    """Members, near misses, Unicode digits, newlines at the end, the empty text."""
    rng, seeds = random.Random(name), RULES[name][1]
    found = {"": None, **dict.fromkeys(seeds), **dict.fromkeys(s + "\n" for s in seeds)}
    while len(found) < COUNT:
        text = list(rng.choice(seeds))
        for _ in range(rng.randint(0, 3)):
            at, c = rng.randint(0, len(text)), rng.choice(STRANGE)
            text[at : at + rng.randint(0, 1)] = [c] if rng.random() < 0.8 else []
        if rng.random() < 0.3 and text:
            at = rng.randrange(len(text))
            text[at] = rng.choice("0123456789") if text[at].isdigit() else rng.choice("abcABC")
        found["".join(text) + "\n" * (rng.random() < 0.05)] = None
    return list(found)


def contract() -> Contract:
    return Contract({name: rule for name, (rule, _) in RULES.items()}, "things", differs=0.01)


def sayable(rule: Rule) -> Rule:
    """The rule without what no pattern can say: days of the calendar, check digits."""
    return replace(rule, type="text", pattern=main_pattern(rule), form="", check_digits="", one_of=None)


def patterned(rule: Rule) -> Rule:
    """The rule without what stands beside a pattern in a regex dialect."""
    return replace(sayable(rule), longest=None)
