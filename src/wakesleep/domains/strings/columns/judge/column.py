"""The features of a value beside a column: what is news in it, at which levels, and how rare such news is there."""

import base64
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wakesleep.domains.strings.columns.judge import levels
from wakesleep.domains.strings.columns.judge.keys import Keys, read_keys
from wakesleep.domains.strings.columns.judge.near import EVENTS, Near, choose
from wakesleep.domains.strings.columns.judge.news import (
    Rates,
    Rows,
    bag_level,
    count_new,
    fewest,
    measure,
    rate,
    read_rows,
    single_level,
    thinned,
)
from wakesleep.domains.strings.columns.judge.ngrams import SCORES, Steps
from wakesleep.domains.strings.columns.judge.program import FEATURE_NAMES, no_program
from wakesleep.domains.strings.columns.judge.unlisted import UNLISTED, Unlisted

MOST_DISTINCT = 1000
"""Distinct values that the levels are fitted on."""
MOST_DIGESTS = 20_000
"""Distinct values that are known by their digests besides."""
DIGEST_BYTES = 8
MOST_SUMMARISED = 500
"""Distinct values whose kinds of characters are counted for the features of the column."""
LEVELS = (*levels.SINGLE, *levels.MULTIPLE)
RARE = tuple(
    LEVELS.index(x)
    for x in ("form", "runs", "fields", "letters", "classes", "length", "start form", "end form", "first", "last",
              "marks", "words", "characters", "pair", "triple", "form pair", "word form", "word")
)  # fmt: skip
"""Levels at which a known but rare key is a feature."""
PLACE = {level: i for i, level in enumerate(LEVELS)}
COUNTED_LEVELS = ("pair", "triple", "four letters", "folded word")
COUNTED = tuple(map(LEVELS.index, COUNTED_LEVELS))
"""Levels at which the number of new keys is a feature."""
VALUES_A_BATCH, CHARACTERS_A_BATCH = 8192, 200_000
"""Values and characters whose features are computed at a time."""


COLUMN_NAMES = (
    "rows", "distinct", "distinct share", "news of rows", "seen once", "fresh values", "length", "spread of lengths",
    "small", "capital", "digit", "caseless", "blank",
)  # fmt: skip
EXTRA_NAMES = (
    "most surprise", "surprise", "news", "length", "over", "under", "over of", "under of", "null mark", "ends",
)  # fmt: skip


def feature_names() -> list[str]:
    """Returns the name of each feature as `group: what`: those of `Column.assemble`, then those of the program."""
    groups = {
        "fresh": LEVELS, "rows": LEVELS, "alone": LEVELS, "known": LEVELS, "rare": [LEVELS[i] for i in RARE],
        "near rate": EVENTS, "near": EVENTS, "steps": SCORES, "new": [LEVELS[i] for i in COUNTED],
        "words": UNLISTED,
        "value": EXTRA_NAMES, "column": COLUMN_NAMES, "program": FEATURE_NAMES,
    }  # fmt: skip
    return [f"{group}: {name}" for group, names in groups.items() for name in names]


def digest(value: str) -> bytes:
    """Returns a short hash by which a value is known again."""
    return bytes.fromhex(levels.digest(value))


class Column:
    """What is known of a column of values: levels, near duplicates, steps of characters, lengths."""

    def __init__(self, rows: Rows, total: int, others: frozenset[bytes], rates: Rates | None = None) -> None:
        self.rows, self.total, self.others, self.distinct = rows, total, others, len(rows.values)
        self.counts = dict(zip(rows.values, rows.counts.tolist(), strict=True))
        keys = read_keys(rows.values, grouped=False)
        single = {**keys.own.single, **keys.forms.single}
        bags = {**keys.own.bags, **keys.forms.bags}
        known = [single_level(rows.first, single[x]) for x in levels.SINGLE]
        known += [bag_level(rows.first, bags[x]) for x in levels.MULTIPLE]
        self.known = {x: k.keys for x, k in zip(LEVELS, known, strict=True)}
        self.birth, self.shared = (np.stack([getattr(k, x) for k in known], axis=1) for x in ("birth", "shared"))
        self.rates = rates or measure(rows, self.birth, self.shared)
        in_values = self.known["folded word"].find(keys.forms.bags["folded word"].hashes)
        alone = choose(keys.forms, in_values == 1)
        self.near = Near(keys.flat, choose(keys.forms, in_values > 0), alone)
        self.unlisted = Unlisted(alone)
        self.steps = Steps(self.known["triple"], self.known["pair"])
        self.ranks = self.steps.fit(keys.forms)
        lengths = np.array([len(v) for v in rows.values])
        self.shortest, self.longest = int(lengths.min()), int(lengths.max())
        self.summary = self._summary(lengths)
        self._rareness = _nats(rate(np.arange(self.distinct + 1), self.distinct))
        self._surprise = -np.log(np.maximum(self.rates.fresh, self.rates.alone))
        self._nats = {
            "fresh": _nats(self.rates.fresh), "rows": _nats(self.rates.rows), "alone": _nats(self.rates.alone),
            "known": _nats(1 - self.rates.alone),
            "near": _nats(rate(self.near.inside.sum(0), len(self.near.inside))),
        }  # fmt: skip

    @classmethod
    def fit(cls, values: Sequence[str]) -> "Column":
        """Returns the column of values in row order."""
        whole = read_rows(values)
        rows = thinned(whole, MOST_DISTINCT)
        kept = set(rows.values)
        most = np.argsort(-whole.counts, kind="stable")[:MOST_DIGESTS].tolist() if len(kept) < len(whole.values) else []
        others = frozenset(digest(whole.values[i]) for i in most if whole.values[i] not in kept)
        return cls(rows, len(values), others)

    def knows(self, value: str) -> bool:
        """Returns whether the value was fitted on."""
        return self.know([value])[0]

    def know(self, values: Sequence[str]) -> list[bool]:
        """Returns whether each value was fitted on."""
        counts, others = self.counts, self.others
        if not others:
            return [v in counts for v in values]
        return [v in counts or digest(v) in others for v in values]

    def as_dict(self) -> dict[str, Any]:
        """Returns the column as JSON: distinct values with counts and first rows, rates, digests of further values."""
        rows = self.rows
        return {
            "values": rows.values, "counts": rows.counts.tolist(), "first": rows.first.tolist(), "total": self.total,
            "rates": self.rates.as_dict(), "others": base64.b64encode(b"".join(sorted(self.others))).decode("ascii"),
        }  # fmt: skip

    @classmethod
    def restore(cls, given: Mapping[str, Any]) -> "Column":
        """Returns the column that `as_dict` described."""
        values, counts, first = list(given["values"]), np.array(given["counts"]), np.array(given["first"])
        alike = 0 < len(set(values)) == len(values) == len(counts) == len(first)
        if not alike or not all(isinstance(v, str) for v in values) or counts.min() < 1 or int(given["total"]) < 1:
            raise ValueError("values, counts and first rows do not agree")
        data = base64.b64decode(given["others"])
        others = frozenset(data[i : i + DIGEST_BYTES] for i in range(0, len(data), DIGEST_BYTES))
        rows = Rows(values, first.astype(int), counts.astype(int), int(counts.sum()), np.zeros(0, int))
        return cls(rows, int(given["total"]), others, Rates.restore(given["rates"], len(LEVELS)))

    def _summary(self, lengths: np.ndarray) -> np.ndarray:
        """Returns features of the column alone."""
        some = self.rows.values[:: 1 + self.distinct // MOST_SUMMARISED]
        text = levels.form_of("".join([v[: levels.CHARACTERS_LOOKED_AT] for v in some]))
        size = max(len(text), 1)
        kinds = [text.count(c) / size for c in (levels.LITTLE, levels.CAPITAL, levels.NINE, levels.CASELESS, " ")]
        once = float((self.rows.counts == 1).sum())
        return np.array([
            math.log(self.total), math.log(self.distinct), math.log(self.distinct / self.rows.total),
            math.log(self.rates.rows[0]), math.log(rate(once, self.rows.total)), math.log(self.rates.trials + 1),
            math.log1p(lengths.mean()), math.log1p(lengths.std()), *kinds,
        ])  # fmt: skip

    def features(self, values: Sequence[str], beside: np.ndarray | None = None) -> np.ndarray:
        """Returns one row of features for each value, as if it were new; then those given beside them."""
        if beside is None:
            beside = np.zeros((len(values), 0), np.float32)
        size = np.minimum(np.fromiter(map(len, values), np.int64, len(values)), levels.CHARACTERS_LOOKED_AT)
        part = np.maximum(np.arange(len(values)) // VALUES_A_BATCH, np.cumsum(size) // CHARACTERS_A_BATCH)
        cuts = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(values)]
        if len(cuts) == 2:
            return self._features(values, beside)
        return np.concatenate([self._features(values[i:j], beside[i:j]) for i, j in itertools.pairwise(cuts)])

    def _features(self, values: Sequence[str], beside: np.ndarray) -> np.ndarray:
        """Returns the features of some values at once."""
        keys = read_keys(values, grouped=True)
        forms, group = keys.forms, keys.group
        counts = self._counts(forms)
        shared = self._shared(keys.own, self._counts(keys.own)) + self._shared(forms, counts)[group]
        numbers = [count_new(counts[x], forms.bags[x], forms.count) for x in COUNTED_LEVELS]
        new = choose(forms, counts["folded word"] == 0)
        near = self.near.events(keys.flat, new, group)
        steps = self.steps.ranked(self.steps.scores(forms, counts["pair"], counts["triple"]))[group]
        words = self.unlisted.features(new)[group]
        return self.assemble(shared == 0, shared, near, steps, np.stack(numbers, axis=1)[group], words, values, beside)

    def _counts(self, keys: Keys) -> dict[str, np.ndarray]:
        """Returns how many distinct values of the column have each key of the bags."""
        return {level: self.known[level].find(bag.hashes) for level, bag in keys.bags.items()}

    def _shared(self, keys: Keys, counts: Mapping[str, np.ndarray]) -> np.ndarray:
        """Returns how many distinct values of the column share the rarest key, at each level of the keys; else zero."""
        found = np.zeros((keys.count, len(LEVELS)), np.int32)
        for level, hashes in keys.single.items():
            found[:, PLACE[level]] = self.known[level].find(hashes)
        for level, bag in keys.bags.items():
            sizes = np.bincount(bag.owner, minlength=keys.count)
            found[:, PLACE[level]] = fewest(counts[level], sizes, self.distinct)
        return found

    def new_levels(self, value: str) -> frozenset[str]:
        """Returns the levels at which a value is news."""
        keys = read_keys([value], grouped=False)
        own, forms = (self._shared(k, self._counts(k)) for k in (keys.own, keys.forms))
        return frozenset(x for x, count in zip(LEVELS, (own + forms)[0].tolist(), strict=True) if not count)

    def seen_once(self) -> tuple[np.ndarray, list[str]]:
        """Returns the features of the values that one row has, each beside all other values, and those values."""
        return self._inside(np.flatnonzero(self.rows.counts == 1), self.shared == 1)

    def _inside(self, chosen: np.ndarray, news: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """Returns the features of some of the column's own values, given what is news in each."""
        values = [self.rows.values[i] for i in chosen.tolist()]
        shared = np.maximum(self.shared[chosen] - 1, 0)
        known = news[chosen], shared, self.near.inside[chosen], self.ranks[chosen], None, self.unlisted.inside[chosen]
        return self.assemble(*known, values, no_program(len(values))), values

    def backtest(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns features of values that were new in the second half of the rows, and the shares of its rows they are.

        At most `most` of them, evenly spaced; news is told by the first half, the rest by all other values.
        """
        rows, half = self.rows, max(1, self.rows.total // 2)
        late = np.flatnonzero(rows.first >= half)
        chosen = late[np.linspace(0, len(late) - 1, min(most, len(late))).astype(int)] if len(late) else late
        weights = np.bincount(rows.places[half:], minlength=self.distinct)[chosen] / max(rows.total - half, 1)
        found, _ = self._inside(chosen, self.birth >= half)
        return found, weights * (len(late) / max(len(chosen), 1))

    def assemble(
        self,
        news: np.ndarray,
        shared: np.ndarray,
        near: np.ndarray,
        steps: np.ndarray,
        new: np.ndarray | None,
        words: np.ndarray,
        values: Sequence[str],
        beside: np.ndarray,
    ) -> np.ndarray:
        """Returns the features from what is news, how many share the rarest key, events, ranks, counts and words."""
        e, near = news.astype(np.float32), near.astype(np.float32)
        surprise = e * self._surprise.astype(np.float32)
        rare = self._rareness[shared[:, RARE]] * (1 - e[:, RARE])
        parts = (
            e * self._nats["fresh"], e * self._nats["rows"], e * self._nats["alone"], (1 - e) * self._nats["known"],
            rare, near * self._nats["near"], near, steps, np.log1p(e[:, COUNTED] if new is None else new), words,
            surprise.max(1)[:, None], surprise.sum(1)[:, None] / 10, e.mean(1)[:, None] * 3,
            self._extra(values), np.broadcast_to(self.summary, (len(values), len(self.summary))), beside,
        )  # fmt: skip
        found = np.empty((len(values), sum(p.shape[1] for p in parts)), np.float32)
        np.concatenate(parts, axis=1, out=found, casting="same_kind")
        return found

    def _extra(self, values: Sequence[str]) -> np.ndarray:
        """Returns features of values by their lengths and ends, and whether they are marks of missing values."""
        size = np.fromiter(map(len, values), np.int64, len(values))
        short = np.flatnonzero(size <= levels.LONGEST_MARK)
        marks = np.zeros(len(values), bool)
        marks[short] = levels.null_marks([values[i] for i in short.tolist()])
        ends = [v[:1].isspace() or v[-1:].isspace() for v in values]
        over, under = np.maximum(size - self.longest, 0), np.maximum(self.shortest - size, 0)
        return np.stack([
            np.log1p(size), np.log1p(over), np.log1p(under), (over > 0) * math.log(self.distinct + 1),
            (under > 0) * math.log(self.distinct + 1), marks, ends,
        ], axis=1)  # fmt: skip


def _nats(p: np.ndarray) -> np.ndarray:
    """Returns the negative logarithms of probabilities."""
    return np.asarray(-np.log(p)).astype(np.float32)
