"""The keys of many values at every level, as hashes: those that a value has, and those that its masked form has."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wakesleep.domains.strings.columns.judge import levels
from wakesleep.domains.strings.columns.judge.alphabet import ALPHABET, DROPPED
from wakesleep.domains.strings.columns.judge.texts import (
    TABLED,
    Flat,
    distinct,
    hash_texts,
    joined,
    mixed,
    mixed_codes,
    powers,
    without_long,
)

OWN_SINGLE = (
    "value", "folded", "first", "last", "start", "end", "first word", "last word", "squeezed", "anagram", "undoubled",
    "lookalike",
)  # fmt: skip
OWN_BAGS = ("characters", "field", "place")
"""Levels that need the value itself; the others are alike for values that differ in digits only."""
FORM_SINGLE = tuple(x for x in levels.SINGLE if x not in OWN_SINGLE)
FORM_BAGS = tuple(x for x in levels.MULTIPLE if x not in OWN_BAGS)
MOST_FIELDS, MOST_PLACES = levels.MOST_FIELDS, levels.MOST_PLACES
IN_WORD, ONE_CASE = np.zeros((2, TABLED), bool)
"""Whether each letter of a form is of a word, and whether it is taken for a small letter where case is left aside."""
IN_WORD[[ord(c) for c in levels.WORD_CLASSES]] = True
ONE_CASE[[ord(levels.CAPITAL), ord(levels.CASELESS)]] = True
ALPHABET.fill(np.array([ord(c) for c in levels.HEAD + levels.TAIL + levels.NINE]))
UNORDERED = ("classes", "anagram")
"""Levels whose keys are sorted characters: hashed without their order."""


@dataclass(frozen=True)
class Bag:
    """Keys of some texts, in order and perhaps more than once, and the text that each belongs to."""

    hashes: np.ndarray
    owner: np.ndarray


@dataclass(frozen=True)
class Keys:
    """The keys of values: one at each single level, a bag at each multiple one; and the folded words as texts."""

    count: int
    single: dict[str, np.ndarray]
    bags: dict[str, Bag]
    words: Flat
    """The folded words, in the order of the bag `folded word`; none in keys of values themselves."""


@dataclass(frozen=True)
class Read:
    """The keys of values themselves and of their masked forms, and the number of each value's form."""

    own: Keys
    forms: Keys
    group: np.ndarray
    flat: Flat
    """The values, those that are too long as empty texts."""


NO_WORDS = Flat(np.zeros(0, np.int64), np.zeros(0, np.int64))


def read_keys(values: Sequence[str], grouped: bool) -> Read:
    """Returns the keys of values; with `grouped`, values that differ in digits only share one masked form."""
    whole = Flat.of(without_long(values, levels.CHARACTERS_LOOKED_AT))
    odd = odd_ones(values, whole)
    plain, flat = values, whole
    if odd.any():
        plain = [v for v, is_odd in zip(values, odd.tolist(), strict=True) if not is_odd]
        flat = Flat.of(plain)
    group, chosen = np.arange(len(plain)), np.ones(len(plain), bool)
    if grouped and plain:
        masked = flat.mapped(ALPHABET.digits[flat.codes]).hashes()
        _, first, group = np.unique(masked, return_index=True, return_inverse=True)
        chosen[:] = False
        chosen[first] = True
        group = (np.cumsum(chosen) - 1)[first][group]
    forms = [v for v, keep in zip(plain, chosen.tolist(), strict=True) if keep]
    own, shared = own_keys(flat), form_keys(flat.some(chosen), forms)
    if not odd.any():
        return Read(own, shared, group, whole)
    strange = [v for v, is_odd in zip(values, odd.tolist(), strict=True) if is_odd]
    others = _odd_keys(strange)
    place = np.concatenate([np.flatnonzero(~odd), np.flatnonzero(odd)])
    if not grouped:
        return Read(_both(own, others[0], place), _both(shared, others[1], place), np.arange(len(values)), whole)
    group = np.concatenate([group, len(forms) + np.arange(len(strange))])[np.argsort(place)]
    last = np.arange(len(forms) + len(strange))
    return Read(_both(own, others[0], place), _both(shared, others[1], last), group, whole)


def odd_ones(values: Sequence[str], flat: Flat) -> np.ndarray:
    """Returns whether each value is too long for arrays or has a character that is not simple."""
    odd = flat.sizes == 0
    odd[odd] = [bool(values[i]) for i in np.flatnonzero(odd).tolist()]
    large = flat.codes >= TABLED
    codes = np.where(large, 0, flat.codes)
    ALPHABET.fill(codes)
    strange = large | ~ALPHABET.simple[codes]
    if strange.any():
        odd[flat.owner[strange]] = True
    return odd


def own_keys(flat: Flat) -> Keys:
    """Returns the keys of simple values themselves."""
    codes, ends, sizes = flat.codes, flat.ends, flat.sizes
    squeezed = flat.mapped(ALPHABET.squeezed[codes])
    squeezed = squeezed.kept(squeezed.codes != DROPPED)
    single = {
        "value": flat.hashes(), "folded": flat.mapped(ALPHABET.folded[codes]).hashes(),
        "lookalike": flat.mapped(ALPHABET.lookalike[codes]).hashes(), "squeezed": squeezed.hashes(),
        "anagram": squeezed.bags(), "undoubled": squeezed.collapsed().hashes(),
        "first": flat.parts(flat.starts, flat.starts + np.minimum(sizes, 1)),
        "last": flat.parts(ends - np.minimum(sizes, 1), ends),
        "start": flat.parts(flat.starts, flat.starts + np.minimum(sizes, 3)),
        "end": flat.parts(ends - np.minimum(sizes, 3), ends),
    }  # fmt: skip
    single["first word"], single["last word"] = _outer_words(flat)
    mix, early = mixed_codes(codes), flat.place < MOST_PLACES
    bags = {
        "characters": Bag(mix, flat.owner),
        "place": Bag(mix[early] * powers()[flat.place[early] + 1], flat.owner[early]),
        "field": _fields(flat),
    }
    return Keys(len(sizes), single, bags, NO_WORDS)


def _outer_words(flat: Flat) -> tuple[np.ndarray, np.ndarray]:
    """Returns the hashes of the first and of the last run of word characters; 0 where there is none."""
    first, after = flat.runs(ALPHABET.is_word[flat.codes])
    found, count = flat.parts(first, after), np.bincount(flat.owner[first], minlength=len(flat.sizes))
    padded, last = np.concatenate([found, np.zeros(1, np.uint64)]), np.cumsum(count)
    none = len(found)
    return padded[np.where(count > 0, last - count, none)], padded[np.where(count > 0, last - 1, none)]


def _fields(flat: Flat) -> Bag:
    """Returns the first runs of letters and digits of each text with their numbers."""
    first, after = flat.runs(ALPHABET.is_alphanumeric[flat.codes])
    owner = flat.owner[first]
    number = np.arange(len(owner)) - np.searchsorted(owner, owner)
    early = number < MOST_FIELDS
    return Bag(flat.parts(first[early], after[early]) + mixed(number[early]), owner[early])


def form_keys(flat: Flat, values: Sequence[str]) -> Keys:
    """Returns the keys of simple values that depend on their masked forms."""
    digits, form = flat.mapped(ALPHABET.digits[flat.codes]), flat.mapped(ALPHABET.form[flat.codes])
    nines = digits.codes == ord(levels.NINE)
    in_word = IN_WORD[form.codes]
    runs = form.collapsed()
    fields = form.mapped(np.where(in_word, ord("w"), form.codes))
    fields = fields.kept(~in_word | fields.is_change)
    one_case = ONE_CASE[runs.codes]
    marks = fields.codes != ord("w")
    single = {
        "digits": digits.hashes(), "numbers": digits.kept(~nines | digits.is_change).hashes(), "form": form.hashes(),
        "runs": runs.hashes(), "fields": fields.hashes(), "marks": fields.kept(marks).hashes(),
        "letters": runs.mapped(np.where(one_case, ord(levels.LITTLE), runs.codes)).collapsed().hashes(),
        "classes": _distinct(runs), "length": mixed(flat.sizes),
        "start form": form.parts(form.starts, form.starts + np.minimum(form.sizes, 2)),
        "end form": form.parts(form.ends - np.minimum(form.sizes, 2), form.ends),
        "words": mixed(fields.kept(~marks).sizes), "space": _spaces(flat, values),
    }  # fmt: skip
    bounded = digits.bounded(ord(levels.HEAD), ord(levels.TAIL))
    bags = {
        "pair": Bag(*bounded.grams(2)), "triple": Bag(*bounded.grams(3)),
        "form pair": Bag(*bounded.mapped(ALPHABET.form[bounded.codes]).grams(2)), "word form": _word_forms(runs),
    }  # fmt: skip
    more, words = _words(flat)
    return Keys(len(flat.sizes), single, bags | more, words)


def _distinct(form: Flat) -> np.ndarray:
    """Returns the sum of the mixed characters of each text, every character once."""
    both = distinct(form.owner * TABLED + form.codes)
    owner = both // TABLED
    return Flat(both % TABLED, np.bincount(owner, minlength=len(form.sizes))).bags()


def _spaces(flat: Flat, values: Sequence[str]) -> np.ndarray:
    """Returns the hashes of white space other than single spaces inside a value; few values have any."""
    blank = ALPHABET.is_space[flat.codes]
    beside = np.zeros(len(blank), bool)
    beside[1:] = blank[:-1]
    edge = (flat.place == 0) | (flat.place == flat.size - 1)
    found = np.zeros(len(values), np.uint64)
    some = distinct(flat.owner[blank & (edge | beside | (flat.codes != ord(" ")))])
    if len(some):
        found[some] = hash_texts([levels.spaces_of(values[i]) for i in some.tolist()])
    return found


def _word_forms(runs: Flat) -> Bag:
    first, after = runs.runs(IN_WORD[runs.codes])
    return Bag(runs.parts(first, after), runs.owner[first])


def _words(flat: Flat) -> tuple[dict[str, Bag], Flat]:
    """Returns the levels of runs of letters, and the folded words as texts."""
    inside = ALPHABET.is_letter[flat.codes]
    first, after = flat.runs(inside)
    owner = flat.owner[first]
    words = Flat(ALPHABET.folded[flat.codes[inside]], after - first)
    spaces = np.bincount(owner, minlength=len(flat.sizes)) + 1
    spaced = Flat(np.full(len(words.codes) + int(spaces.sum()), ord(" ")), flat.kept(inside).sizes + spaces)
    spaced.codes[np.arange(len(words.codes)) + words.owner + 1 + owner[words.owner]] = words.codes
    bags = {
        "word": Bag(flat.parts(first, after), owner),
        "folded word": Bag(words.hashes(), owner),
        "four letters": Bag(*spaced.grams(4)),
    }
    return bags, words


def _odd_keys(values: Sequence[str]) -> tuple[Keys, Keys]:
    """Returns the keys of values themselves and of their forms, from those that `levels.keys_of` makes one by one."""
    made = [levels.keys_of(v) for v in values]
    single = {name: _hash_keys(name, [m.single[i] for m in made]) for i, name in enumerate(levels.SINGLE)}
    bags = {name: _hash_bag(name, [list(m.sets[i]) for m in made]) for i, name in enumerate(levels.MULTIPLE)}
    for name, size in (("pair", 2), ("triple", 3)):  # in order, for the steps from character to character
        bags[name] = _hash_bag(name, [[m.marked[i : i + size] for i in range(len(m.marked) + 1 - size)] for m in made])
    words = [list(m.sets[levels.MULTIPLE.index("folded word")]) for m in made]
    flat = Flat.of([w for some in words for w in some])
    own = Keys(len(values), {x: single[x] for x in OWN_SINGLE}, {x: bags[x] for x in OWN_BAGS}, NO_WORDS)
    return own, Keys(len(values), {x: single[x] for x in FORM_SINGLE}, {x: bags[x] for x in FORM_BAGS}, flat)


def _hash_keys(level: str, keys: Sequence[levels.Key]) -> np.ndarray:
    """Returns the hashes of keys of one level as the arrays have them."""
    if level in ("length", "words"):
        return mixed(np.array(keys, np.int64))
    if level in ("field", "place"):
        numbers = np.array([k[0] for k in keys], np.int64)  # type: ignore[index]
        texts = hash_texts([k[1] for k in keys])  # type: ignore[index]
        return texts + mixed(numbers) if level == "field" else texts * powers()[numbers + 1]
    flat = Flat.of([str(k) for k in keys])
    return flat.bags() if level in UNORDERED else flat.hashes()


def _hash_bag(level: str, keys: Sequence[list[levels.Key]]) -> Bag:
    owner = np.repeat(np.arange(len(keys)), [len(some) for some in keys])
    return Bag(_hash_keys(level, [k for some in keys for k in some]), owner)


def _both(first: Keys, second: Keys, place: np.ndarray) -> Keys:
    """Returns the keys of two lots of texts as one, each text at its place."""
    order = np.argsort(place)
    single = {x: np.concatenate([first.single[x], second.single[x]])[order] for x in first.single}
    bags, words = {}, joined([first.words, second.words])
    for x, bag in first.bags.items():
        hashes = np.concatenate([bag.hashes, second.bags[x].hashes])
        owner = place[np.concatenate([bag.owner, second.bags[x].owner + first.count])]
        by_owner = np.argsort(owner, kind="stable")
        bags[x] = Bag(hashes[by_owner], owner[by_owner])
        if x == "folded word":
            words = words.ordered(by_owner)
    return Keys(len(place), single, bags, words)
