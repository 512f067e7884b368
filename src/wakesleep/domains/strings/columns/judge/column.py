"""The features of a value beside a column: what is news in it, at which levels, and how rare such news is there."""

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wakesleep.domains.strings.columns.judge import levels
from wakesleep.domains.strings.columns.judge.near import EVENTS, Near
from wakesleep.domains.strings.columns.judge.news import (
    Rates,
    Rows,
    measure,
    rate,
    read_rows,
    set_level,
    single_level,
    thinned,
)
from wakesleep.domains.strings.columns.judge.ngrams import SCORES, Steps
from wakesleep.domains.strings.columns.judge.program import NAMES

MOST_DISTINCT = 1000
"""Distinct values that the levels are fitted on."""
MOST_KNOWN = 20_000
"""Distinct values that are known by their digests besides."""
DIGEST_BYTES = 8
LEVELS = (*levels.SINGLE, *levels.MULTIPLE)
RARE = tuple(
    LEVELS.index(x)
    for x in ("form", "runs", "fields", "letters", "classes", "length", "start form", "end form", "first", "last",
              "marks", "words", "characters", "pair", "triple", "form pair", "word form", "word")
)  # fmt: skip
"""Levels at which a known but rare key is a feature."""
_PAIR, _TRIPLE, _FOUR, _WORD = map(LEVELS.index, ("pair", "triple", "four letters", "folded word"))
_FORM = LEVELS.index("form")
COUNTED = (_PAIR, _TRIPLE, _FOUR, _WORD)
"""Levels at which the number of new keys is a feature."""


COLUMN_NAMES = (
    "rows", "distinct", "distinct share", "news of rows", "seen once", "fresh values", "length", "spread of lengths",
    "small", "capital", "digit", "caseless", "blank",
)  # fmt: skip
EXTRA_NAMES = (
    "most surprise", "surprise", "news", "length", "over", "under", "over of", "under of", "null mark", "ends",
)  # fmt: skip


def feature_names() -> list[str]:
    """The name of each feature as `group: what`: those of `Column.assemble`, then those of the program."""
    groups = {
        "fresh": LEVELS, "rows": LEVELS, "alone": LEVELS, "known": LEVELS, "rare": [LEVELS[i] for i in RARE],
        "near rate": EVENTS, "near": EVENTS, "steps": SCORES, "new": [LEVELS[i] for i in COUNTED],
        "value": EXTRA_NAMES, "column": COLUMN_NAMES, "program": NAMES,
    }  # fmt: skip
    return [f"{group}: {name}" for group, names in groups.items() for name in names]


def digest(value: str) -> bytes:
    """A short hash by which a value is known again."""
    return bytes.fromhex(levels.digest(value))


class Column:
    """What is known of a column of values: levels, near duplicates, steps of characters, lengths."""

    def __init__(self, rows: Rows, total: int, others: frozenset[bytes], rates: Rates | None = None) -> None:
        self.rows, self.total, self.others, self.distinct = rows, total, others, len(rows.values)
        self.counts = dict(zip(rows.values, rows.counts.tolist(), strict=True))
        keys = list(map(levels.keys_of, rows.values))
        sets = list(zip(*[k.sets for k in keys], strict=True))
        known = [single_level(rows.first, some) for some in zip(*[k.single for k in keys], strict=True)]
        known += [set_level(rows.first, some) for some in sets]
        self.known = [k.keys for k in known]
        self.birth, self.shared = (np.stack([getattr(k, x) for k in known], axis=1) for x in ("birth", "shared"))
        self.rates = rates or measure(rows, self.birth, self.shared)
        self.near = Near(rows.values, sets[_WORD - len(levels.SINGLE)], self.known[_WORD])
        self.steps = Steps(self.known[_TRIPLE], self.known[_PAIR])
        self.ranks = self.steps.fit([k.marked for k in keys])
        lengths = np.array([len(v) for v in rows.values])
        self.shortest, self.longest = int(lengths.min()), int(lengths.max())
        self.summary = self._summary(lengths, [str(k.single[_FORM]) for k in keys])

    @classmethod
    def fit(cls, values: Sequence[str]) -> "Column":
        """The column of values in row order."""
        whole = read_rows(values)
        rows = thinned(whole, MOST_DISTINCT)
        kept = set(rows.values)
        most = np.argsort(-whole.counts, kind="stable")[:MOST_KNOWN].tolist() if len(kept) < len(whole.values) else []
        others = frozenset(digest(whole.values[i]) for i in most if whole.values[i] not in kept)
        return cls(rows, len(values), others)

    def knows(self, value: str) -> bool:
        """Whether the value was fitted on."""
        return value in self.counts or (bool(self.others) and digest(value) in self.others)

    def as_dict(self) -> dict[str, Any]:
        """The column as JSON: distinct values with counts and first rows, rates, digests of further values."""
        rows = self.rows
        return {
            "values": rows.values, "counts": rows.counts.tolist(), "first": rows.first.tolist(), "total": self.total,
            "rates": self.rates.as_dict(), "others": base64.b64encode(b"".join(sorted(self.others))).decode("ascii"),
        }  # fmt: skip

    @classmethod
    def restore(cls, given: Mapping[str, Any]) -> "Column":
        """The column that `as_dict` described."""
        values, counts, first = list(given["values"]), np.array(given["counts"]), np.array(given["first"])
        alike = 0 < len(set(values)) == len(values) == len(counts) == len(first)
        if not alike or not all(isinstance(v, str) for v in values) or counts.min() < 1 or int(given["total"]) < 1:
            raise ValueError("values, counts and first rows do not agree")
        data = base64.b64decode(given["others"])
        others = frozenset(data[i : i + DIGEST_BYTES] for i in range(0, len(data), DIGEST_BYTES))
        rows = Rows(values, first.astype(int), counts.astype(int), int(counts.sum()), np.zeros(0, int))
        return cls(rows, int(given["total"]), others, Rates.restore(given["rates"], len(LEVELS)))

    def _summary(self, lengths: np.ndarray, forms: list[str]) -> np.ndarray:
        """Features of the column alone."""
        text = "".join(forms[:: 1 + len(forms) // 500])
        size = max(len(text), 1)
        kinds = [text.count(c) / size for c in (levels.SMALL, levels.CAPITAL, levels.DIGIT, levels.CASELESS, " ")]
        once = float((self.rows.counts == 1).sum())
        return np.array([
            math.log(self.total), math.log(self.distinct), math.log(self.distinct / self.rows.total),
            math.log(self.rates.rows[0]), math.log(rate(once, self.rows.total)), math.log(self.rates.trials + 1),
            math.log1p(lengths.mean()), math.log1p(lengths.std()), *kinds,
        ])  # fmt: skip

    def features(self, values: Sequence[str]) -> np.ndarray:
        """One row of features for each value, as if it were new."""
        shared = np.zeros((len(values), len(LEVELS)))
        near = np.zeros((len(values), len(EVENTS)))
        steps = np.zeros((len(values), len(SCORES)))
        new = np.zeros((len(values), len(COUNTED)))
        count = len(levels.SINGLE)
        for i, value in enumerate(values):
            single, sets, marked = levels.keys_of(value)
            found = [known.get(k, 0) for k, known in zip(single, self.known, strict=False)]
            for some, known in zip(sets, self.known[count:], strict=True):
                all_known = some <= known.keys()
                found.append(min(map(known.__getitem__, some), default=self.distinct) if all_known else 0)
            shared[i] = found
            near[i] = self.near.events(value, sets[_WORD - count])
            steps[i] = self.steps.ranked(self.steps.scores(marked))
            new[i] = [sum([k not in self.known[j] for k in sets[j - count]]) if not found[j] else 0 for j in COUNTED]
        return self.assemble(shared == 0, shared, near, steps, new, list(values))

    def seen_once(self) -> tuple[np.ndarray, list[str]]:
        """The features of the values that one row has, each beside all other values, and those values."""
        return self._inside(np.flatnonzero(self.rows.counts == 1), self.shared == 1)

    def _inside(self, chosen: np.ndarray, news: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """The features of some of the column's own values, given what is news in each."""
        values = [self.rows.values[i] for i in chosen.tolist()]
        shared = np.maximum(self.shared[chosen] - 1, 0)
        return self.assemble(news[chosen], shared, self.near.inside[chosen], self.ranks[chosen], None, values), values

    def backtest(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Features of values that were new in the second half of the rows, and the shares of its rows they stand for.

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
        values: list[str],
    ) -> np.ndarray:
        """The feature matrix from what is news, how many values share the rarest key, events, ranks and counts."""
        e = news.astype(float)
        if new is None:
            new = e[:, COUNTED]
        rates = self.rates
        parts = [
            e * -np.log(rates.fresh),
            e * -np.log(rates.rows),
            e * -np.log(rates.alone),
            (1 - e) * -np.log1p(-rates.alone),
        ]
        rare = (1 - e[:, RARE]) * -np.log(rate(shared[:, RARE], self.distinct))
        surprise = e * -np.log(np.maximum(rates.fresh, rates.alone))
        near_rate = rate(self.near.inside.sum(0), len(self.near.inside))
        size = np.array([len(v) for v in values])
        over, under = np.maximum(size - self.longest, 0), np.maximum(self.shortest - size, 0)
        extra = np.stack([
            surprise.max(1), surprise.sum(1) / 10, e.mean(1) * 3, np.log1p(size), np.log1p(over), np.log1p(under),
            (over > 0) * math.log(self.distinct + 1), (under > 0) * math.log(self.distinct + 1),
            [float(levels.is_null_mark(v)) for v in values], [float(v != v.strip()) for v in values],
        ], axis=1)  # fmt: skip
        whole = np.broadcast_to(self.summary, (len(values), len(self.summary)))
        both = [*parts, rare, near * -np.log(near_rate), near, steps, np.log1p(new), extra, whole]
        return np.concatenate(both, axis=1).astype(np.float32)
