"""The prior over programs: a probabilistic grammar, learned by `learn.py` and shipped as JSON."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from wakesleep.domains.strings.columns.characters import Chars
from wakesleep.domains.strings.columns.checks import Checked
from wakesleep.domains.strings.columns.choices import Either, Listing, Maybe
from wakesleep.domains.strings.columns.concepts import Concept
from wakesleep.domains.strings.columns.counts import Counts
from wakesleep.domains.strings.columns.dates import Date
from wakesleep.domains.strings.columns.library import LIBRARY, LONGEST_PIECE, key, log_shares, regex_of
from wakesleep.domains.strings.columns.nodes import Literal, Node, Run
from wakesleep.domains.strings.columns.numbers import Number
from wakesleep.domains.strings.columns.sequences import Series
from wakesleep.domains.strings.columns.words import Words

GROUPS: dict[str, tuple[str, ...]] = {
    "part": (
        "literal letters", "literal digits", "literal symbols", "run", "words", "open words", "series", "maybe",
        "either", "listing", "date", "number", "concept", LIBRARY,
    ),
    "class": (
        "digit", "upper", "lower", "hex lower", "hex upper", "letter", "hex", "upper digit", "lower digit", "alnum",
        "word", "visible", "printable", "latin upper", "latin lower", "latin", "latin extended", "cyrillic", "greek",
        "hebrew", "arabic", "kana", "hangul", "han", "any letter", "any word", "any visible", "any",
        "set digits", "set letters", "set other",
    ),
    "counts": ("fixed", "range", "open"),
    "habit": ("no habit", "habit"),
    "extra": ("no extra", "extra"),
}  # fmt: skip
"""Choices of the grammar; the probabilities of each group sum to one."""
FIRST_GUESS = {
    "run": 4.0, "literal symbols": 4.0, "literal letters": 2.0, "literal digits": 0.3, "words": 0.3, "open words": 0.1,
    "series": 1.0, "maybe": 0.2, "either": 0.2, "listing": 0.4, "date": 0.5, "number": 0.1, "concept": 1.0,
    "digit": 8.0, "upper": 4.0, "lower": 4.0, "letter": 1.5, "upper digit": 1.0, "alnum": 0.7, "lower digit": 0.5,
    "hex lower": 0.7, "hex upper": 0.3, "hex": 0.1, "word": 0.1, "visible": 0.02, "printable": 0.002, "any": 0.001,
    "any visible": 0.005, "set digits": 0.2, "set letters": 0.3, "set other": 0.1,
    "fixed": 3.0, "range": 3.0, "open": 1.0, "no habit": 3.0, "habit": 1.0, "no extra": 8.0, "extra": 1.0,
}  # fmt: skip
"""Pseudo-counts before anything is learned; choices that are not listed have a tenth."""
CHARACTER_COST = {"letter": math.log(52), "digit": math.log(10), "symbol": math.log(33)}
CONCEPT_COST = math.log(40)
DATE_COST = math.log(60)
YEARS = 200
"""Years that a column of dates may begin and end with."""
MORE_PARTS = math.log(2)
"""Cost of each further part, branch or word."""

Weights = Mapping[str, float]


def normalised(pseudo_counts: Mapping[str, float]) -> dict[str, float]:
    """Returns log-probabilities of the choices from pseudo-counts."""
    found: dict[str, float] = {}
    for group in GROUPS.values():
        total = sum(pseudo_counts.get(choice, 0.1) for choice in group)
        found |= {choice: math.log(pseudo_counts.get(choice, 0.1) / total) for choice in group}
    return found | log_shares(pseudo_counts)


@lru_cache(maxsize=1)
def shipped() -> Weights:
    """Returns the learned log-probabilities that the package carries; the first guess for choices they do not list."""
    path = files(__package__).joinpath("prior.json")
    learned = json.loads(path.read_text(encoding="utf-8"))["pseudo_counts"] if path.is_file() else {}
    return normalised({**FIRST_GUESS, **learned})


def text_cost(text: str) -> float:
    """Returns nats for a text written out: its characters, by kind."""
    letters = sum(c.isalpha() for c in text)
    digits = sum(c.isdigit() for c in text)
    rest = len(text) - letters - digits
    return letters * CHARACTER_COST["letter"] + digits * CHARACTER_COST["digit"] + rest * CHARACTER_COST["symbol"]


def integer_cost(k: int) -> float:
    """Returns nats for a whole number: 2 log(k + 1) + log(pi^2 / 6), which sums to at most one over all k >= 0."""
    return 2 * math.log(k + 1) + math.log(math.pi**2 / 6)


def usual_cost(node: Node) -> float:
    """Returns nats for the range of numbers or years that was seen so far: any two ends of the range it may have."""
    if isinstance(node, Number) and node.usual:
        return 2 * math.log(node.high - node.low + 1)
    return 2 * math.log(YEARS) if isinstance(node, Date) and node.years else 0.0


def literal_kind(text: str) -> str:
    """Returns which kind of literal a text is."""
    if any(c.isalpha() for c in text):
        return "literal letters"
    return "literal digits" if any(c.isdigit() for c in text) else "literal symbols"


def _set_kind(extra: str) -> tuple[str, int]:
    """Returns the choice for a set read off a column, and the number of characters that it was taken from."""
    if extra.isascii() and extra.isdigit():
        return "set digits", 10
    if extra.isascii() and extra.isalpha():
        return "set letters", 26 if extra.isupper() or extra.islower() else 52
    return "set other", 95


def choices(node: Node) -> tuple[list[str], float]:  # noqa: PLR0911, one return for each kind of node
    """Returns the grammar's choices that make a node, and nats for what they leave open (texts, counts, sets)."""
    match node:
        case Literal(text):
            return [literal_kind(text)], text_cost(text)
        case Run(members, counts, habit):
            names, cost = _class_choices(members)
            more, count_cost = _count_choices(counts)
            names += [*more, "habit" if habit else "no habit"]
            return ["run", *names], cost + count_cost + text_cost(habit)
        case Words(words, _, new):
            return ["open words" if new else "words"], sum(text_cost(w) + MORE_PARTS for w in words)
        case Listing(_, _, counts):
            more, cost = _count_choices(counts)
            return ["listing", *more], cost
        case Series(parts):
            return ["series"], MORE_PARTS * len(parts)
        case Either(branches, _):
            return ["either"], MORE_PARTS * len(branches)
        case Maybe():
            return ["maybe"], 0.0
        case Date():
            return ["date"], DATE_COST + usual_cost(node)
        case Number(low, high, width):
            return ["number"], integer_cost(low) + integer_cost(high) + integer_cost(width) + usual_cost(node)
        case Concept():
            return ["concept"], CONCEPT_COST
    raise TypeError(f"no prior for {type(node).__name__}")


def _class_choices(members: Chars) -> tuple[list[str], float]:
    if not members.classes:
        kind, pool = _set_kind(members.extra)
        k = len(members.extra)
        return [kind, "no extra"], math.log(math.comb(max(pool, k), k)) + integer_cost(k)
    cost = len(members.extra) * CHARACTER_COST["symbol"] + MORE_PARTS * len(members.extra)
    return [*members.classes, "extra" if members.extra else "no extra"], cost


def _count_choices(counts: Counts) -> tuple[list[str], float]:
    if counts.fixed:
        return ["fixed"], integer_cost(counts.low)
    if counts.high is None:
        return ["open"], integer_cost(counts.low)
    return ["range"], integer_cost(counts.low) + integer_cost(counts.high - counts.low)


def log_prior(node: Node, weights: Weights) -> float:
    """Returns log p(program), a sequence in its cheapest cut into sub-programs of the library and parts."""
    if isinstance(node, Series):
        return weights["series"] + sum(price - MORE_PARTS for _, price in cheapest_cut(node.parts, weights))
    names, cost = choices(node)
    own = sum(weights[n] for n in names) - cost
    if isinstance(node, Run):
        return max(own, weights[LIBRARY] + weights.get(key([regex_of(node)]), -math.inf))
    if isinstance(node, Concept):
        own -= usual_cost(node.body)
        payload = node.body.payload if node.fitted and isinstance(node.body, Checked) else None
        return own + (log_prior(payload, weights) + CONCEPT_COST if payload is not None else 0.0)
    return own + sum(log_prior(part, weights) for part in node.parts_below())


def cheapest_cut(parts: Sequence[Node], weights: Weights) -> list[tuple[Sequence[Node], float]]:
    """Returns the sub-programs and single parts, each with its log p, that make a sequence likeliest."""
    regexes = list(map(regex_of, parts))
    best: list[tuple[float, list[tuple[Sequence[Node], float]]]] = [(0.0, [])]
    for j in range(1, len(parts) + 1):
        ways = [(j - 1, log_prior(parts[j - 1], weights))]
        for i in range(max(0, j - LONGEST_PIECE), j - 1):
            share = weights.get(key(regexes[i:j]))
            if share is not None:
                ways.append((i, weights[LIBRARY] + share))
        i, price = max(ways, key=lambda way: best[way[0]][0] + way[1] - MORE_PARTS)
        best.append((best[i][0] + price - MORE_PARTS, [*best[i][1], (parts[i:j], price)]))
    return best[-1][1]


def used(node: Node, weights: Weights) -> Counter[str]:
    """Returns how often each choice is made in a program, in its cheapest cut."""
    if isinstance(node, Series):
        found = Counter(["series"])
        for parts, _ in cheapest_cut(node.parts, weights):
            found += used(parts[0], weights) if len(parts) == 1 else Counter([LIBRARY, key(list(map(regex_of, parts)))])
        return found
    name = key([regex_of(node)]) if isinstance(node, Run) else ""
    if name in weights and log_prior(node, weights) == weights[LIBRARY] + weights[name]:
        return Counter([LIBRARY, name])
    found = Counter(choices(node)[0])
    if not isinstance(node, Concept):
        for part in node.parts_below():
            found += used(part, weights)
    return found


def free_parameters(node: Node) -> int:
    """Returns the number of parameters fitted to the column: frequencies of counts, words, branches and habits."""
    own = 0
    match node:
        case Run(_, counts, habit):
            own = max(len(counts.seen) - 1, 0) + bool(habit)
        case Words(words, _, new):
            own = len(words) - 1 + bool(new)
        case Listing(_, _, counts):
            own = max(len(counts.seen) - 1, 0)
        case Either(branches, _):
            own = len(branches) - 1
        case Maybe():
            own = 1
        case Date(_, habits):
            own = len(habits) + bool(node.years)
        case Number():
            own = int(node.usual is not None)
        case Concept(_, _, False):
            return 0
    return own + sum(free_parameters(part) for part in node.parts_below())
