"""Validators that the judge of columns is compared with: rexpy, grex, and novelty by levels as a control."""

import random
import re
import statistics
from collections.abc import Callable, Hashable, Iterable, Sequence

Accept = Callable[[Sequence[str]], Iterable[bool]]
Fit = Callable[[list[str]], tuple[Accept, str]]
"""Makes of values a function that accepts others, and the first pattern (empty where there is none)."""
MOST_GREX = 500
"""Distinct values that grex is given."""
ANY_CHARACTER = re.compile(r"\[ -~\]|\[ -|(?<!\\)\.[*+{]|(?<!\\)\.(?![*+{?\]])")


def accept_by(patterns: Sequence[str]) -> Accept:
    compiled = [re.compile(p) for p in patterns]
    return lambda values: [any(c.fullmatch(v) for c in compiled) for v in values]


def rexpy(values: list[str]) -> tuple[Accept, str]:
    from tdda.rexpy import extract

    patterns = extract(values)
    return accept_by(patterns), "|".join(patterns)


def grex(values: list[str]) -> tuple[Accept, str]:
    from grex import RegExpBuilder

    builder = RegExpBuilder.from_test_cases(list(dict.fromkeys(values))[:MOST_GREX]).with_conversion_of_digits()
    pattern = builder.with_conversion_of_words().with_conversion_of_repetitions().build()
    return accept_by([pattern]), pattern


def form(value: str) -> str:
    return "".join("A" if c.isupper() else "a" if c.islower() else "9" if c.isdigit() else c for c in value)


CONTROL_LEVELS: tuple[Callable[[str], Iterable[Hashable]], ...] = (
    lambda v: [v],
    lambda v: [v.lower()],
    lambda v: [re.sub(r"\d", "9", v)],
    lambda v: [re.sub(r"\d+", "9", v)],
    lambda v: [form(v)],
    lambda v: [len(v)],
    lambda v: [re.sub(r"(.)\1+", r"\1", form(v))],
    lambda v: [re.sub(r"[A-Za-z9]+", "w", form(v))],
    lambda v: [frozenset(form(v))],
    lambda v: [form(v)[:2]],
    lambda v: [form(v)[-2:]],
    lambda v: re.findall(r"[^\W\d_]+", v),
    list,
)
CONTROL_RATE, CONTROL_CUT, CONTROL_ORDERS = 0.02, 0.7, 4


def control(values: list[str]) -> tuple[Accept, str]:
    """Refuses a value that is new at a level at which less than 2 % of the later training rows are."""
    draw = random.Random(0)
    least = CONTROL_RATE if len(values) >= 100 else max(CONTROL_RATE, 2 / len(values))
    kept = []
    for level in CONTROL_LEVELS:
        items, rates = [level(v) for v in values], []
        for _ in range(CONTROL_ORDERS):
            start = int(CONTROL_CUT * len(items))
            seen = {x for item in items[:start] for x in item}
            rates.append(statistics.fmean(any(x not in seen for x in item) for item in items[start:]))
            items = draw.sample(items, len(items))
        if statistics.fmean(rates) < least:
            kept.append((level, {x for item in items for x in item}))
    return (lambda vs: [all(x in seen for level, seen in kept for x in level(v)) for v in vs]), ""


PEERS: dict[str, Fit] = {"rexpy": rexpy, "grex -d -w -r": grex, "novelty (control)": control}
