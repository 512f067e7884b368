"""The best small program for the texts of one slot: a literal, a run of a class or set, or a list of words."""

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from wakesleep.domains.strings.columns.characters import ALONE, DIGITS, LOWERS, UPPERS, Chars, chars, covering
from wakesleep.domains.strings.columns.choices import Maybe
from wakesleep.domains.strings.columns.concepts import concept, whole_number
from wakesleep.domains.strings.columns.counts import Counts, exactly, fit_counts
from wakesleep.domains.strings.columns.date_reading import dates_of
from wakesleep.domains.strings.columns.lengths import counts_of
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.positions import positional
from wakesleep.domains.strings.columns.prior import Weights, free_parameters, log_prior
from wakesleep.domains.strings.columns.ranges import ranges_of
from wakesleep.domains.strings.columns.reading import changes, complete, mask, settled
from wakesleep.domains.strings.columns.sequences import Series
from wakesleep.domains.strings.columns.slot import AFTER_DOT, Slot
from wakesleep.domains.strings.columns.vocabulary import holding, vocabularies
from wakesleep.domains.strings.columns.words import Words

MOST_WORDS, MOST_SET, FEWEST_PER_CHARACTER = 24, 8, 4
FEWEST_FOR_FORMS, FEWEST_HEX_FORMS = 4, 3
"""Different texts from which their forms are counted, and forms from which letters and digits are mixed anyhow."""
FEWEST_PREFIXED = 4
"""Different texts from which beginnings with letters are proposed."""
ROWS_PER_CODE = 6
"""Rows for each different text from which a list of texts with digits may be closed."""
NEW_WORD = {"narrow": 0.12, "usual": 0.06, "wide": 0.02}
"""Chance of an unseen word below which a slot's list of words is closed."""
LONG_LIST, MOST_CHANCE_OF_LIST = 24, 0.002
"""Words from which a known list is long: it is proposed where texts as short are hardly in it by chance."""
AFTER_DOTS = ("file extension", "top-level domain")
"""Lists of short words that are proposed for a slot after a dot only."""
FEWEST_OPEN = 4
"""Different numbers of several digits from which a list of them stays open."""
PREFIX_NATS = 5.0
"""For a shared beginning with letters before digits: a code rather than an accident."""
SHARED_NATS = 4.0
"""For digits that values in no order share, unless they may be a year."""
_YEAR = re.compile("(?:19|20)[0-9]{2}")
FEWEST_WHOLE_NUMBERS, NO_ZERO_NATS = 5, 8.0
"""Different numbers from which leading zeros are ruled out, and nats in favour of that."""
DENSE_SHARE = 0.8
"""Characters of a range that must have been seen, as a share of what is expected where each is alike."""
MOST_MISSED = 0.01
"""Chance to miss one more character from which a range of characters is not taken for all."""
FROZEN = {"narrow": 3.0, "usual": 0.0, "wide": -3.0}
"""Nats in favour of literals over runs with a habit."""


@dataclass(frozen=True)
class Reading:
    """How a column is to be read: the prior's weights and the generality asked for."""

    weights: Weights
    generality: str = "usual"
    shuffled: bool = False
    """Whether the values come in no order, so that what all share is hardly an accident of those that come first."""
    fits: dict[tuple[Slot, bool], tuple[Node, float]] = field(default_factory=dict, compare=False, repr=False)
    """The programs found for slots so far: several granularities share slots."""


@lru_cache(maxsize=4096)
def _covers(seen: frozenset[str]) -> tuple[Chars, ...]:
    return tuple(sorted(covering(seen), key=lambda c: c.size)[:4])


def covers_of(slot: Slot) -> list[Chars]:
    """Returns sets that hold every character of a slot, the smallest first.

    Hexadecimal digits mix letters and digits anyhow: where letters always stand at one place they are not proposed.
    """
    few_forms = len(slot.table) >= FEWEST_FOR_FORMS and len(set(map(mask, slot.table))) < FEWEST_HEX_FORMS
    return [c for c in _covers(slot.seen) if not (few_forms and c.classes and c.classes[0].startswith("hex"))]


def plain_run(members: Chars, counts: Counts) -> Run:
    """Returns a run; in the large classes of Unicode most characters are Latin letters or those listed."""
    large = next((n for n in members.classes if n in ALONE), None)
    if large is None:
        return Run(members, counts)
    return Run(members, counts, usual=chars("latin", extra=members.extra))


def score(node: Node, slot: Slot, reading: Reading) -> float:
    """Returns log p(node) + log p(texts | node), less half a log for each fitted parameter."""
    log_p = _log_texts(node, slot)
    return log_p + log_prior(node, reading.weights) - 0.5 * free_parameters(node) * math.log(len(slot.texts) + 1)


def _log_texts(node: Node, slot: Slot) -> float:
    """Returns log p(texts | node); for runs, which hold every character seen, from the counts of lengths alone."""
    if isinstance(node, Run) and node.usual is None:
        return sum(k * node.log_length(length) for length, k in slot.lengths.items())
    if isinstance(node, Series) and len(node.parts) == 2 and node.parts[0].fixed:
        first, rest = node.parts
        if isinstance(first, Run) and isinstance(rest, Run) and rest.usual is None and first.counts.low == 1:
            return len(slot.texts) * first.log_length(1) + sum(
                k * rest.log_length(n - 1) for n, k in slot.lengths.items()
            )
    return sum(k * node.log_prob(text) for text, k in slot.table.items())


def fit_slot(slot: Slot, reading: Reading) -> tuple[Node, float]:
    """Returns the best program for a slot and its score."""
    found = reading.fits.get((slot, False))
    if found is None:
        found = reading.fits[slot, False] = _fit_slot(slot, reading)
    return found


def _fit_slot(slot: Slot, reading: Reading) -> tuple[Node, float]:
    options = [(node, score(node, slot, reading) + bonus) for node, bonus in _options(slot, reading)]
    return max(options, key=lambda o: o[1])


def fit_loosely(slot: Slot, reading: Reading) -> tuple[Node, float]:
    """Fits a run of any length for letters and digits, of which too few were seen to tell more; else as `fit_slot`."""
    if not all(t.isalnum() for t in slot.table) or not all(slot.table):
        return fit_slot(slot, reading)
    found = reading.fits.get((slot, True))
    if found is None:
        found = reading.fits[slot, True] = _fit_loosely(slot, reading)
    return found


def _fit_loosely(slot: Slot, reading: Reading) -> tuple[Node, float]:
    counts = fit_counts(slot.lengths.elements(), 1, None) if max(slot.lengths) > 1 else exactly(1)
    nodes: list[Node] = [plain_run(c, counts) for c in _covers(slot.seen)[:2]]
    if len(slot.texts[0]) > 1 and all(t[0].isupper() and t[1:].islower() for t in slot.table):
        nodes += _capitalised(slot, reading)
    return max(((n, score(n, slot, reading)) for n in nodes), key=lambda o: o[1])


def _options(slot: Slot, reading: Reading) -> list[tuple[Node, float]]:
    if len(slot.table) == 1:
        text = slot.texts[0]
        if not text:
            return [(Literal(""), 0.0)]
        told = SHARED_NATS if reading.shuffled and text.isdecimal() and not _YEAR.fullmatch(text) else 0.0
        found: list[tuple[Node, float]] = [(Literal(text), FROZEN[reading.generality] + told)]
        if text.isalnum():
            habitual = (len(slot.texts) + 1) / (len(slot.texts) + 2)
            found += [(Run(c, exactly(len(text)), text, habitual), 0.0) for c in _covers(slot.seen)[:2]]
        return found
    if not all(slot.table):
        return [(_sometimes(slot), 0.0)]
    counts = counts_of(slot, reading.generality)
    covers = covers_of(slot)
    if len(slot.seen) <= MOST_SET and slot.characters >= FEWEST_PER_CHARACTER * len(slot.seen) and _closed_set(slot):
        covers.append(chars(extra="".join(slot.seen)))
    upto = first_characters(slot)
    if upto is not None and upto not in covers:
        covers.append(upto)
    found = [(plain_run(c, counts), 0.0) for c in covers]
    if _without_leading_zeros(slot):
        found.append((whole_number(counts), NO_ZERO_NATS))
    found += [(c, 0.0) for c in dates_of(slot)]
    if slot.shared.isalnum() and (len(slot.shared) > 1 or len(slot.texts) >= 12):
        habitual = (len(slot.texts) + 1) / (len(slot.texts) + 2)
        found += [(Run(c, counts, slot.shared, habitual), 0.0) for c in covers[:2] if not c.extra]
    if all(c.isupper() for c in {t[0] for t in slot.table}) and any(c.islower() for c in slot.seen):
        found += [(node, 0.0) for node in _capitalised(slot, reading)]
    found += ranges_of(slot)
    told = reading.shuffled and reading.generality != "wide" and not slot.number
    places = positional(slot, lambda seen: _covers(seen)[0]) if told else None
    if places is not None:
        constant = any(isinstance(p, Literal) for p in places.parts_below())
        found.append((places, SHARED_NATS if constant else 0.0))
    found += [(concept(name), 0.0) for name in holding(tuple(slot.table)) if _many_enough(slot, name)]
    found += [(node, FROZEN[reading.generality] + PREFIX_NATS) for node in _prefixed(slot, reading)]
    if _closed_words(slot, reading):
        found.append((_words(slot, reading), 0.0))
    return found


def _without_leading_zeros(slot: Slot) -> bool:
    """Returns whether numbers of several lengths never begin with a zero."""
    several = len(slot.lengths) > 1 and len(slot.table) >= FEWEST_WHOLE_NUMBERS and slot.place != AFTER_DOT
    return several and all(t.isdecimal() and t.isascii() and (t[0] != "0" or t == "0") for t in slot.table)


def _words(slot: Slot, reading: Reading) -> Words:
    """Returns the words of a slot; several numbers are those seen so far, and others of as many digits may come."""
    words, weights = tuple(slot.table), tuple(k / len(slot.texts) for k in slot.table.values())
    if reading.generality == "narrow" or len(words) < FEWEST_OPEN or not all(w.isdecimal() and w[1:] for w in words):
        return Words(words, weights)
    other = plain_run(covers_of(slot)[0], counts_of(slot, reading.generality))
    return Words(words, weights, 1 / (len(slot.texts) + 2), other)


def _many_enough(slot: Slot, name: str) -> bool:
    """Returns whether the words of a slot are enough to take them for those of a list: in a long one many words are."""
    if name in AFTER_DOTS and slot.place != AFTER_DOT:
        return False
    words = vocabularies()[name]
    size = 10 if words[0].isdecimal() else 26
    chance = min(1.0, len(words) / size ** min(map(len, slot.table)))
    return len(words) <= LONG_LIST or chance ** len(slot.table) <= MOST_CHANCE_OF_LIST


def _prefixed(slot: Slot, reading: Reading) -> list[Node]:
    """Returns a beginning up to its last letter, where letters and digits follow: `0x1f3a`."""
    start = _UP_TO_LETTER.match(slot.shared)
    if start is None or len(slot.table) < FEWEST_PREFIXED or not any(map(str.isdigit, slot.seen)):
        return []
    rest = Slot(tuple(t[len(start[0]) :] for t in slot.texts))
    if not all(rest.table) or (len(start[0]) < 2 and not _is_hex(rest.seen)):
        return []
    counts = counts_of(rest, reading.generality)
    return [Series((Literal(start[0]), plain_run(c, counts))) for c in covers_of(rest)[:2]]


def _is_hex(seen: frozenset[str]) -> bool:
    return seen <= frozenset("0123456789abcdef") or seen <= frozenset("0123456789ABCDEF")


_UP_TO_LETTER = re.compile(r"[0-9A-Za-z]*[A-Za-z]")


def _sometimes(slot: Slot) -> Node:
    """Returns one of a few texts, or nothing: signs."""
    texts = [t for t in slot.table if t]
    there = len(slot.texts) - slot.table[""]
    part: Node = Literal(texts[0])
    if len(texts) > 1:
        part = Words(tuple(texts), tuple(slot.table[t] / there for t in texts))
    return Maybe(part, there / len(slot.texts))


def _capitalised(slot: Slot, reading: Reading) -> list[Node]:
    """Returns a capital letter, then a run of the rest, where every text begins with one."""
    rest = Slot(tuple(t[1:] for t in slot.texts))
    if not rest.seen:
        return []
    counts = counts_of(rest, reading.generality)
    first = fit_capital(slot)
    return [Series((first, plain_run(c, counts))) for c in _covers(rest.seen)[:3]]


def fit_capital(slot: Slot) -> Run:
    """Returns one capital letter, of the narrowest class."""
    return Run(_covers(frozenset(t[0] for t in slot.table))[0], exactly(1))


def first_characters(slot: Slot) -> Chars | None:
    """Returns the first digits or letters up to the last that was seen, if those after it would hardly be missed."""
    for alphabet in (DIGITS, UPPERS, LOWERS):
        if slot.seen <= set(alphabet):
            size = alphabet.index(max(slot.seen)) + 1
            missed = (size / (size + 1)) ** slot.characters
            expected = size * (1 - math.exp(-slot.characters / size))
            dense = len(slot.seen) >= DENSE_SHARE * expected and (alphabet is DIGITS or max(slot.lengths) <= 2)
            sure = size < len(alphabet) and missed <= MOST_MISSED and dense
            start = 1 if alphabet is DIGITS and "0" not in slot.seen else 0
            return chars(extra=alphabet[start:size]) if sure and size - start > 1 else None
    return None


def _closed_set(slot: Slot) -> bool:
    """Returns whether every character occurs twice at least and early, so that another one is not to be expected.

    In texts of several characters most of them must occur at several places: few words do not make a set.
    """
    if max(slot.lengths) > 1:
        if any(map(str.isdecimal, slot.seen)):
            return False
        places = {(c, i) for text in slot.table for i, c in enumerate(text)}
        at = Counter(c for c, _ in places)
        if 2 * sum(k > 1 for k in at.values()) <= len(at) or len(slot.table) < len(slot.seen):
            return False
    elif not complete(len(slot.seen), len(slot.texts)):
        return False
    seen = Counter("".join(slot.texts))
    half = "".join(slot.texts[: (len(slot.texts) + 1) // 2])
    return min(seen.values()) > 1 and slot.seen <= set(half)


def _closed_words(slot: Slot, reading: Reading) -> bool:
    """Returns whether no new word is to be expected, by Good and Turing (singletons over changes) and in row order."""
    if len(slot.table) > MOST_WORDS or not settled(slot.texts):
        return False
    if any(map(str.isdecimal, slot.seen)) and len(slot.texts) < ROWS_PER_CODE * len(slot.table):
        return False
    table = Counter(changes(slot.texts))
    total = sum(table.values())
    once = sum(k == 1 for k in table.values())
    few = (once + 0.25) / total < NEW_WORD[reading.generality] and total >= 2 * len(table)
    return few and (reading.generality == "narrow" or complete(len(table), total))
