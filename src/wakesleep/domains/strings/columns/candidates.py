"""Programs read off a column: aligned tokens at several granularities, lists of items, alternations of forms."""

import math
import random
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from wakesleep.domains.strings.columns.background import flat
from wakesleep.domains.strings.columns.characters import covering
from wakesleep.domains.strings.columns.choices import Either, Listing
from wakesleep.domains.strings.columns.concepts import evenly
from wakesleep.domains.strings.columns.lengths import slot_counts
from wakesleep.domains.strings.columns.nodes import Literal, Node
from wakesleep.domains.strings.columns.optional import optional_levels, with_optional_parts
from wakesleep.domains.strings.columns.positions import positional, symbols_vary
from wakesleep.domains.strings.columns.prior import free_parameters, log_prior
from wakesleep.domains.strings.columns.reading import (
    GRANULARITIES,
    Forms,
    by_form,
    columns_of,
    marks_among,
    numbers_among,
    separators_of,
)
from wakesleep.domains.strings.columns.sequences import series
from wakesleep.domains.strings.columns.slot import Slot, places_among
from wakesleep.domains.strings.columns.slots import (
    Reading,
    covers_of,
    fit_loosely,
    fit_slot,
    plain_run,
    score,
)

MOST_BRANCHES, MOST_TOKENS, MOST_ITEMS, MOST_FORMS = 8, 24, 80, 12
STRAY_RATE = 1e-5
"""Chance of a value that has nothing to do with the program; every character of it is alike."""


def stray_scores(values: Sequence[str]) -> dict[str, float]:
    """Returns log p of each value as a stray."""
    rate = math.log(STRAY_RATE)
    return {v: rate + flat(v) for v in values}


def aligned(values: Sequence[str], level: str, reading: Reading, strays: dict[str, float]) -> Node | None:
    """Returns an alternation of the forms that pay for themselves; None if none does."""
    return _aligned(values, by_form(values, level), reading, strays)


def _aligned(values: Sequence[str], forms: Forms, reading: Reading, strays: dict[str, float]) -> Node | None:
    kept: list[tuple[Node, int]] = []
    for kinds, rows in islice(forms.items(), MOST_FORMS):
        if len(kinds) > MOST_TOKENS or not kinds:
            continue
        fit = fit_slot if len(rows) > 2 or len(rows) == len(values) else fit_loosely
        columns = columns_of(rows)
        numbers = numbers_among(kinds, columns)
        slots = list(map(Slot, columns, numbers, places_among(kinds, columns)))
        texts = ["".join(row) for row in rows]
        if len(texts) == 1 and marks_among(texts, values) and reading.generality != "wide":
            marks: Node = evenly(texts)
            fits = [(marks, score(marks, Slot(tuple(texts)), reading))]
        else:
            fits = [fit(slot, reading) for slot in slots]
        gain = sum(s for _, s in fits) - sum(strays["".join(row)] for row in rows)
        gain += len(rows) * math.log(len(rows) / len(values))
        if gain > 0:
            kept.append((series(*(node for node, _ in fits)), len(rows)))
        if len(kept) == MOST_BRANCHES:
            break
    return _either(kept)


def _either(kept: Sequence[tuple[Node, int]]) -> Node | None:
    if not kept:
        return None
    if len(kept) == 1:
        return kept[0][0]
    total = sum(k for _, k in kept)
    return Either(tuple(n for n, _ in kept), tuple(k / total for _, k in kept))


def single_run(values: Sequence[str], reading: Reading) -> list[Node]:
    """Returns runs of the narrowest sets that hold every character; of words between single spaces, where there are."""
    if all(" " not in v or _words_between_spaces(v) for v in values) and any(" " in v for v in values):
        slot = Slot(tuple(w for v in values for w in v.split(" ")))
        sizes = slot_counts(Counter(v.count(" ") + 1 for v in values), reading.generality)
        counts = slot_counts(slot.lengths, reading.generality)
        sets = sorted(covering(slot.seen), key=lambda c: c.size)[:2]
        return [Listing(plain_run(c, counts), Literal(" "), sizes) for c in sets]
    slot = Slot(tuple(values))
    counts = slot_counts(slot.lengths, reading.generality)
    found: list[Node] = [plain_run(c, counts) for c in covers_of(slot)[:3]]
    if reading.shuffled and symbols_vary(values):
        places = positional(slot, lambda seen: covering(seen)[0])
        found += [] if places is None else [places]
    return found


def _words_between_spaces(value: str) -> bool:
    return value.strip() == value and "  " not in value


def listings(values: Sequence[str], reading: Reading) -> list[Node]:
    """Returns items between separators, where the number of items varies or is above two; paths begin with one."""
    start = values[0][:1]
    if start in PATH_STARTS and all(v.startswith(start) and v[1:] for v in values):
        return [series(start, node) for node in listings([v[1:] for v in values], reading)]
    found: list[Node] = []
    for separator in separators_of(values):
        split = [v.split(separator) for v in values]
        if not all(all(items) for items in split):
            continue
        sizes = Counter(map(len, split))
        items = list(dict.fromkeys(item for row in split for item in row))
        items = items[:: max(1, len(items) // MOST_ITEMS)]
        strays = stray_scores(items)
        options = [aligned(items, level, reading, strays) for level in ("titles", "letters", "alphanumeric")]
        options += single_run(items, reading)
        counts = slot_counts(sizes, reading.generality)
        apart = [without_overlap(item) for item in options if item is not None]
        found += [Listing(item, Literal(separator), counts) for item in apart]
    return found


PATH_STARTS = ("/", "\\", ".")
OVERLAP_SAMPLES = 8


def without_overlap(node: Node) -> Node:
    """Returns the program without branches that write what an earlier branch writes.

    In a list every such item doubles the ways to read it, and a regex would try them all.
    """
    if not isinstance(node, Either):
        return node
    rng = random.Random(0)
    kept: list[tuple[Node, float, list[str]]] = []
    for branch, weight in zip(node.branches, node.weights, strict=True):
        drawn = [branch.sample(rng) for _ in range(OVERLAP_SAMPLES)]
        if not any(_writes_some(b, drawn) or _writes_some(branch, earlier) for b, _, earlier in kept):
            kept.append((branch, weight, drawn))
    if len(kept) == 1:
        return kept[0][0]
    total = sum(w for _, w, _ in kept)
    return Either(tuple(b for b, _, _ in kept), tuple(w / total for _, w, _ in kept))


def _writes_some(node: Node, texts: Sequence[str]) -> bool:
    return any(node.log_prob(t) > -math.inf for t in texts)


def read_off(values: Sequence[str], reading: Reading) -> list[tuple[str, Node]]:
    """Returns candidates with the name of what proposed them."""
    found = read_whole(values, reading)
    start, end = shared_ends(values)
    if start or end:
        cores = [v[len(start) : len(v) - len(end)] for v in values]
        found += [("ends", series(start, node, end)) for _, node in read_whole(cores, reading)]
    return found


def read_whole(values: Sequence[str], reading: Reading) -> list[tuple[str, Node]]:
    """Returns candidates for the values as they are, with the name of what proposed them."""
    strays = stray_scores(values)
    found: list[tuple[str, Node]] = []
    earlier: list[Forms] = []
    for level in GRANULARITIES:
        forms = by_form(values, level)
        if any(list(forms.values()) == list(e.values()) for e in earlier):
            continue
        earlier.append(forms)
        node = _aligned(values, forms, reading, strays)
        if node is not None:
            found.append((level, node))
    optional = [with_optional_parts(values, level, reading) for level in optional_levels(values)]
    found += [("optional", node) for node in optional if node is not None]
    found += [("list", node) for node in listings(values, reading)]
    return found + [("set", node) for node in single_run(values, reading)]


_START, _END = re.compile(r".*[^\w\s]", re.DOTALL), re.compile(r"[^\w\s].*", re.DOTALL)
SHORTEST_END, FEWEST_FOR_ENDS = 3, 3


def shared_ends(values: Sequence[str]) -> tuple[str, str]:
    """Returns the beginning and ending that all values share, cut at a symbol; empty if short or if they are all."""
    if len(values) < FEWEST_FOR_ENDS:
        return "", ""
    start = _START.match(Slot(tuple(values)).shared)
    first = start[0] if start and len(start[0]) >= SHORTEST_END else ""
    end = _END.search(Slot(tuple(v[::-1] for v in values)).shared[::-1])
    last = end[0] if end and len(end[0]) >= SHORTEST_END else ""
    if min(map(len, values)) <= len(first) + len(last):
        return "", ""
    return first, last


def rest_of(node: Node, values: Sequence[str], reading: Reading) -> Node | None:
    """Returns the program or one of the values that it cannot write; None if it writes all or less than a quarter."""
    rest = [v for v in values if node.log_prob(v) == -math.inf]
    if not rest or 4 * len(rest) > 3 * len(values):
        return None
    strays = stray_scores(rest)
    options: list[Node | None] = list(single_run(rest, reading)[:1])
    if marks_among(rest, values):
        options.append(evenly(rest))
    if len(rest) > 2:
        options += [aligned(rest, level, reading, strays) for level in ("titles", "alphanumeric")]

    def worth(option: Node) -> float:
        log_p = sum(max(option.log_prob(v), strays[v]) for v in rest)
        return log_p + log_prior(option, reading.weights) - 0.5 * free_parameters(option) * math.log(len(rest) + 1)

    best = max((o for o in options if o is not None), key=worth)
    covered = len(values) - len(rest)
    branches = (*(node.branches if isinstance(node, Either) else (node,)), best)
    own = node.weights if isinstance(node, Either) else (1.0,)
    share = covered / len(values)
    return Either(branches, (*(w * share for w in own), 1 - share))
