# ruff: noqa: D102, overridden methods are explained in `Node`
"""Parts one after the other."""

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from wakesleep.domains.strings.columns.characters import Chars
from wakesleep.domains.strings.columns.nodes import MEMO_TEXTS, Ends, Literal, Node, add_end, union


@dataclass(frozen=True)
class Series(Node):
    """Parts one after the other."""

    parts: tuple[Node, ...]

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return all(p.exact for p in self.parts)

    def ends(self, x: str, i: int) -> Ends:
        reached: Ends = {i: 0.0}
        for part in self.parts:
            after: Ends = {}
            for start, log_p in reached.items():
                for j, log_q in part.ends(x, start).items():
                    add_end(after, j, log_p + log_q)
            if not after:
                return {}
            reached = after
        return reached

    def log_prob(self, x: str) -> float:
        return self._log_read(x) if self.decided else super().log_prob(x)

    @cached_property
    def decided(self) -> bool:
        """Whether a text can be read in one way only, because the next character ends each part."""
        for part, after in zip(self.parts, self.parts[1:], strict=False):
            if part.fixed:
                continue
            alphabet, first = part.alphabet, after.first
            if alphabet is None or first is None or not alphabet.disjoint(first):
                return False
        return True

    @cached_property
    def _read(self) -> re.Pattern[str]:
        return re.compile("".join(p.regex if isinstance(p, Literal) else f"({p.regex})" for p in self.parts))

    @cached_property
    def _scored(self) -> list[tuple[int, Node, dict[str, float]]]:
        """Group number, part and memo of each part that is not a literal."""
        found: list[tuple[int, Node, dict[str, float]]] = []
        group = 1
        for part in self.parts:
            if not isinstance(part, Literal):
                found.append((group, part, {}))
                group += 1 + groups_in(part.regex)
        return found

    def _log_read(self, x: str) -> float:
        match = self._read.fullmatch(x)
        if match is None:
            return -math.inf
        total = 0.0
        for group, part, memo in self._scored:
            text = match[group]
            log_p = memo.get(text)
            if log_p is None:
                log_p = part.log_prob(text)
                if len(memo) < MEMO_TEXTS:
                    memo[text] = log_p
            total += log_p
        return total

    def sample(self, rng: random.Random) -> str:
        return "".join(p.sample(rng) for p in self.parts)

    @property
    def regex(self) -> str:
        return "".join(p.regex for p in self.parts)

    @property
    def alphabet(self) -> Chars | None:
        return union([p.alphabet for p in self.parts])

    @property
    def first(self) -> Chars | None:
        return self.parts[0].first if self.parts else None

    @property
    def fixed(self) -> bool:
        return all(p.fixed for p in self.parts)

    def parts_below(self) -> Sequence[Node]:
        return self.parts


def groups_in(regex: str) -> int:
    """Returns the number of capturing groups of a regex, which is compiled only where it may have some."""
    return re.compile(regex).groups if regex.count("(") > regex.count("(?") + regex.count(r"\(") else 0


def series(*parts: Node | str) -> Node:
    """Returns parts one after the other; a string stands for itself, and neighbouring literals become one."""
    found: list[Node] = []
    for part in parts:
        for node in part.parts if isinstance(part, Series) else (Literal(part) if isinstance(part, str) else part,):
            if isinstance(node, Literal) and not node.text:
                continue
            if isinstance(node, Literal) and found and isinstance(found[-1], Literal):
                found[-1] = Literal(found[-1].text + node.text)
            else:
                found.append(node)
    return found[0] if len(found) == 1 else Series(tuple(found))
