"""Programs near a fitted one: a term more or less, a factor more or less, another kernel; fits begin where it ended."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from wakesleep.domains.timeseries.language import (
    ALONE,
    DECAYING,
    MOST_VARIABLES,
    PER,
    RW,
    C,
    Kernel,
    Term,
    canonical,
    encode,
    terms_of,
    variables_of,
)

NEW = {"scale": -1.0, "wander": 0.5, "length": -2.0, "roundness": 0.0, "decay": 0.5}
"""Where the variables of a new kernel begin, in log-space."""
SPREAD = 0.3


class Part(NamedTuple):
    """A term with its variables."""

    term: Term
    values: tuple[float, ...]


def parts_of(z: Kernel, scaled: bool) -> list[Part]:
    """The terms of a program with the means of their variables."""
    mean, start, parts = np.asarray(z.mean).tolist(), 0, []
    for term in terms_of(np.asarray(z.tokens).tolist()):
        count = sum(variables_of(f, i == 0, scaled) for i, f in enumerate(term))
        parts.append(Part(term, tuple(mean[start : start + count])))
        start += count
    return parts


def assemble(parts: list[Part], length: int, scaled: bool) -> Kernel | None:
    """The program of those terms, if it is in the language."""
    ordered = sorted(parts)
    terms = canonical([p.term for p in ordered], scaled)
    if terms is None or terms != tuple(p.term for p in ordered):
        return None
    tokens = encode(terms, length)
    if tokens is None:
        return None
    values = [v for p in ordered for v in p.values]
    mean = np.array(values + [0.0] * (MOST_VARIABLES - len(values)), np.float32)
    return Kernel(tokens, mean, SPREAD * np.eye(MOST_VARIABLES, dtype=np.float32))  # type: ignore[arg-type]


def new_term(term: Term, scaled: bool, periods: Iterator[float]) -> Part:
    """A term whose variables begin at their usual values, a period at the next one on offer."""
    values: list[float] = []
    for i, factor in enumerate(term):
        if factor in (C, *ALONE):
            values.append(NEW["wander" if factor == RW else "scale"])
            continue
        values += [NEW["scale"]] * (scaled and i == 0)
        if factor == PER:
            values += [NEW["roundness"], next(periods)]
        else:
            values.append(NEW["decay"] if PER in term else NEW["length"])
    return Part(term, tuple(values))


def neighbours(
    z: Kernel, known: tuple[int, ...], length: int, scaled: bool, periods: Iterator[float]
) -> Iterator[Kernel]:
    """The programs one change away, each once for each call: `known` are the kernels of the language."""
    parts = parts_of(z, scaled)
    base = [(k,) for k in known] + [(d, PER) for d in known if d in DECAYING and PER in known]
    larger = [[*parts, new_term(term, scaled, periods)] for term in base]
    changed: list[list[Part]] = []
    for i, part in enumerate(parts):
        others = parts[:i] + parts[i + 1 :]
        changed.append(others)
        changed += [[*others, p] for p in _without(part, scaled, periods)]
        if RW in known and len(part.term) == 1 and part.term[0] in DECAYING:
            changed.append([*others, new_term((RW,), scaled, periods)])
        for factor in known:
            changed += [[*others, p] for p in _with(part, factor, scaled, periods)]
    # In turn, so that the first few are of both kinds.
    pairs: Iterator[tuple[list[Part], list[Part]]] = zip_longest(larger, changed, fillvalue=[])
    for candidate in (c for pair in pairs for c in pair):
        found = assemble(candidate, length, scaled) if candidate else None
        if found is not None:
            yield found


def _without(part: Part, scaled: bool, periods: Iterator[float]) -> Iterator[Part]:
    """A product with one factor less; its scale and the variables of the others are kept."""
    for i in range(len(part.term) if len(part.term) > 1 else 0):
        made = new_term(part.term[:i] + part.term[i + 1 :], scaled, periods)
        yield Part(made.term, _kept(part, made))


def _with(part: Part, factor: int, scaled: bool, periods: Iterator[float]) -> Iterator[Part]:
    """A term multiplied by a factor, and with each kernel replaced by it; its scale is kept."""
    if factor in ALONE or (factor == C and scaled):
        return
    fresh = lambda term: new_term(term, scaled, periods)  # noqa: E731
    for old in (*part.term, None):
        rest = list(part.term)
        if old is not None:
            rest.remove(old)
        if old == factor or (old is None and set(rest) & {C, *ALONE}):
            continue
        made = fresh(tuple(sorted([*rest, factor])))
        yield Part(made.term, _kept(part, made))


def _kept(old: Part, new: Part) -> tuple[float, ...]:
    """The new term's variables, those of kernels that it shares with the old one taken over."""
    found, taken = _by_factor(old), list(new.values)
    for factor, places in _by_factor(new, indices=True).items():
        if factor in found:
            for place, value in zip(places, found[factor], strict=True):
                taken[place] = value
    return tuple(taken)


def _by_factor(part: Part, indices: bool = False) -> dict[str, list[Any]]:
    """The variables of a term by what they belong to: its scale, and the first kernel of each kind."""
    count = sum(2 if f == PER else 1 for f in part.term)
    values: list[Any] = list(range(len(part.values))) if indices else list(part.values)
    found: dict[str, list[Any]] = {}
    if len(values) > count:
        found["scale"] = [values.pop(0)]
    for factor in part.term:
        mine = [values.pop(0) for _ in range(2 if factor == PER else 1)]
        found.setdefault(str(factor), mine)
    return found
