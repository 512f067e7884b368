"""What the levels make of single characters, in tables by code point: classes, cases, look-alikes, kinds."""

import re

import numpy as np

from wakesleep.domains.strings.columns.judge import levels
from wakesleep.domains.strings.columns.judge.texts import TABLED

DROPPED = 0
"""Stands in `squeezed` for a character that is neither a letter nor a digit."""
_WORD, _LETTER, _ALPHANUMERIC, _DECIMAL = map(re.compile, (r"\w", r"[^\W\d_]", r"[^\W_]", r"\d"))


class Alphabet:
    """Tables over code points, filled as characters come; `simple` are those by which whole texts are mapped.

    A character is simple if its case folding is one character and if it is a digit for `str` as for `re`: the levels
    of a text of simple characters follow from the tables.
    """

    def __init__(self) -> None:
        self.filled, self.simple, self.is_word, self.is_letter, self.is_alphanumeric, self.is_space = np.zeros(
            (6, TABLED), bool
        )
        self.form, self.digits, self.folded, self.lookalike, self.squeezed = np.zeros((5, TABLED), np.int64)

    def fill(self, codes: np.ndarray) -> None:
        """Fills the tables for the code points that have not come before; `codes` are below `TABLED`."""
        new = codes[~self.filled[codes]]
        for code in np.unique(new).tolist():
            self._fill(code)

    def _fill(self, code: int) -> None:
        c = chr(code)
        folded = c.casefold()
        one = len(folded) == 1 and ord(folded) < TABLED and folded.isspace() == c.isspace()
        self.simple[code] = one and c.isdigit() == bool(_DECIMAL.match(c))
        self.is_word[code] = bool(_WORD.match(c))
        self.is_letter[code] = bool(_LETTER.match(c))
        self.is_alphanumeric[code] = bool(_ALPHANUMERIC.match(c))
        self.is_space[code] = c.isspace()
        self.form[code], self.digits[code] = ord(levels.form_of(c)), ord(levels.masked(c))
        self.lookalike[code] = ord(levels.lookalike_of(c))
        if one:
            self.folded[code] = ord(folded)
            self.squeezed[code] = ord(folded) if _ALPHANUMERIC.match(folded) else DROPPED
        self.filled[code] = True


ALPHABET = Alphabet()
