"""Programs near a fitted one: a term more or less, a factor more or less, another kernel; fits begin where it ended."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from wakesleep.domains.timeseries.language import (
    DECAYING,
    MOST_VARIABLES,
    PER,
    RW,
    SINGLE_KERNELS,
    C,
    Kernel,
    Term,
    canonical,
    encode,
    terms_of,
    variables_of,
)

NEW_LOG_VARIABLES = {"scale": -1.0, "wander": 0.5, "length": -2.0, "roundness": 0.0, "decay": 0.5}
"""Where the fit of a new kernel's variables begins, by kind, in log-space."""
NEW_LOG_SPREAD = 0.3


class Part(NamedTuple):
    """A term with its variables."""

    term: Term
    values: tuple[float, ...]


def parts_of(z: Kernel, scaled: bool) -> list[Part]:
    """Returns the terms of a program with the means of their variables."""
    mean, start, parts = np.asarray(z.mean).tolist(), 0, []
    for term in terms_of(np.asarray(z.tokens).tolist()):
        count = sum(variables_of(f, i == 0, scaled) for i, f in enumerate(term))
        parts.append(Part(term, tuple(mean[start : start + count])))
        start += count
    return parts


def assemble(parts: list[Part], length: int, scaled: bool) -> Kernel | None:
    """Returns the program of those terms, or None where it is not in the language."""
    ordered = sorted(parts)
    terms = canonical([p.term for p in ordered], scaled)
    if terms is None or terms != tuple(p.term for p in ordered):
        return None
    tokens = encode(terms, length)
    if tokens is None:
        return None
    values = [v for p in ordered for v in p.values]
    mean = np.array(values + [0.0] * (MOST_VARIABLES - len(values)), np.float32)
    return Kernel(tokens, mean, NEW_LOG_SPREAD * np.eye(MOST_VARIABLES, dtype=np.float32))  # type: ignore[arg-type]


def new_term(term: Term, scaled: bool, periods: Iterator[float]) -> Part:
    """Returns a term whose variables begin at their usual values, a period at the next one on offer."""
    values: list[float] = []
    for i, factor in enumerate(term):
        if factor in (C, *SINGLE_KERNELS):
            values.append(NEW_LOG_VARIABLES["wander" if factor == RW else "scale"])
            continue
        values += [NEW_LOG_VARIABLES["scale"]] * (scaled and i == 0)
        if factor == PER:
            values += [NEW_LOG_VARIABLES["roundness"], next(periods)]
        else:
            values.append(NEW_LOG_VARIABLES["decay"] if PER in term else NEW_LOG_VARIABLES["length"])
    return Part(term, tuple(values))


def neighbours(
    z: Kernel, known: tuple[int, ...], length: int, scaled: bool, periods: Iterator[float]
) -> Iterator[Kernel]:
    """Yields the programs one change away, each once; `known` are the kernels of the language."""
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
    """Yields the product without each of its factors; its scale and the other variables are kept."""
    for i in range(len(part.term) if len(part.term) > 1 else 0):
        made = new_term(part.term[:i] + part.term[i + 1 :], scaled, periods)
        yield Part(made.term, _kept(part, made))


def _with(part: Part, factor: int, scaled: bool, periods: Iterator[float]) -> Iterator[Part]:
    """Yields the term multiplied by a factor, and with each kernel replaced by it; its scale is kept."""
    if factor in SINGLE_KERNELS or (factor == C and scaled):
        return
    fresh = lambda term: new_term(term, scaled, periods)  # noqa: E731
    for old in (*part.term, None):
        rest = list(part.term)
        if old is not None:
            rest.remove(old)
        if old == factor or (old is None and set(rest) & {C, *SINGLE_KERNELS}):
            continue
        made = fresh(tuple(sorted([*rest, factor])))
        yield Part(made.term, _kept(part, made))


def _kept(old: Part, new: Part) -> tuple[float, ...]:
    """Returns the new term's variables, with those of shared kernels taken from the old term."""
    found, taken = _by_factor(old), list(new.values)
    for factor, places in _by_factor(new, indices=True).items():
        if factor in found:
            for place, value in zip(places, found[factor], strict=True):
                taken[place] = value
    return tuple(taken)


def _by_factor(part: Part, indices: bool = False) -> dict[str, list[Any]]:
    """Returns the variables of a term by owner: its scale, and the first kernel of each kind."""
    count = sum(2 if f == PER else 1 for f in part.term)
    values: list[Any] = list(range(len(part.values))) if indices else list(part.values)
    found: dict[str, list[Any]] = {}
    if len(values) > count:
        found["scale"] = [values.pop(0)]
    for factor in part.term:
        mine = [values.pop(0) for _ in range(2 if factor == PER else 1)]
        found.setdefault(str(factor), mine)
    return found
