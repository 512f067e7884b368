"""Strings without programs: a character n-gram, which may adapt to what it reads."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from wakesleep.domains.strings.language import CHARACTERS

FIRST_SYMBOL, LAST_SYMBOL = "\r", "\n"
"""The symbols before the first character and after the last."""
UNIFORM = 1 / (len(CHARACTERS) + 1)


class Ngram:
    """Counts of what follows up to `order` - 1 characters, smoothed by shorter contexts (Witten and Bell, 1991).

    The shortest context is smoothed by `base`, the probability of a symbol after the `order` - 1 before it: by default
    of all alike.
    """

    def __init__(self, order: int, base: Callable[[str, str], float] = lambda symbol, before: UNIFORM):
        self.order, self.base = order, base
        self.counts: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def learn(self, texts: Iterable[str], times: int = 1) -> "Ngram":
        """The same model, having read some texts so many times more; -1 forgets what was read."""
        for text in texts:
            for symbol, before in self._symbols(text):
                for context in self._contexts(before):
                    seen = self.counts[context]
                    seen[symbol] += times
                    if not seen[symbol]:
                        del seen[symbol]  # kinds of symbols are counted too
        return self

    def probability(self, symbol: str, before: str) -> float:
        """Of a symbol after what was read of a text."""
        p = self.base(symbol, before)
        for context in self._contexts(before):
            seen = self.counts.get(context)
            if seen:
                p = (seen[symbol] + len(seen) * p) / (seen.total() + len(seen))
        return p

    def log_prob(self, text: str) -> float:
        """log p of a text and its end."""
        return sum(math.log(self.probability(symbol, before)) for symbol, before in self._symbols(text))

    def _symbols(self, text: str) -> Iterator[tuple[str, str]]:
        """The symbols of a text, each with what counts of the text before it."""
        for i, symbol in enumerate(text + LAST_SYMBOL):
            yield symbol, text[max(i - self.order + 1, 0) : i]

    def _contexts(self, before: str) -> list[str]:
        """From the empty one to the longest; where a text begins is part of them."""
        padded = FIRST_SYMBOL * (self.order - 1) + before
        return [padded[len(padded) - n :] for n in range(self.order)]
