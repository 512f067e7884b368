"""Which of the usual encodings of bytes that are not UTF-8 is the most probable: a naive Bayes model of characters.

Each encoding has letters that are frequent in its languages, other letters, capitals, and everything else. Each is
decoded strictly, so that its characters explain the same bytes, and log-probabilities can be compared.
"""

import math
from functools import cache
from typing import NamedTuple

ASCII_LOG_P = math.log(1 / 64)
FREQUENT_SHARE, LETTERS_SHARE, CAPITALS_SHARE, SIGNS_SHARE, OTHERS_SHARE = 0.55, 0.15, 0.08, 0.2, 0.02
SIGNS = "€£°§’‘“”–—…•«»®©™ºª²³½¿¡µ±×·№"
NOT_BEFORE_LETTERS = "”…™£€"
OTHERS = 3000
CONTROL_LOG_P = math.log(1e-5)
ODD_PLACE_LOG_P = math.log(0.01)
"""A capital or a sign within a word, or letters of two scripts side by side."""
FEW_HIGH_BYTES_LOG_P = math.log(0.05)
"""Two accented letters side by side, which Latin scripts hardly have."""

WEST = ("éèàçüöäßñáíóêôåøæ", "âëîïûùúãõìòœýþðÿ")
CENTRE = ("ąęłóżśćíáéčšžřěőű", "ńźýůúťďňôöüäâîăşţđ")
TURKISH = ("ıüşçöğİ", "âîûŞÜÖÇĞ")
CYRILLIC = ("оеаинтсрвлкмдпу", "яыьгзбчйхжшюцщэфъёіїєґўў")
GREEK = ("αοιετσνηυρπκμλς", "ωδγχθφάέήίόύώβξζψϊϋΐΰ")
HEBREW = ("יוהלאתרבשמנדקחעפ", "גזטךםןסףצץכ")
ARABIC = ("اليمونترةبدع", "سفحقكجشصطخثذضظغزءآأؤإئىه")


class Script(NamedTuple):
    """The characters of an encoding's languages, and how probable it is before the bytes are seen."""

    frequent: frozenset[str]
    letters: frozenset[str]
    prior: float
    latin: bool = False


def likely_encoding(sample: bytes) -> str:
    """Returns the encoding under which the bytes are the most probable."""
    scores = {name: _log_joint(sample, name) for name in (*ALPHABET_OF_ENCODING, *SYLLABLES)}
    return max(scores, key=lambda name: scores[name])


def _log_joint(sample: bytes, name: str) -> float:
    try:
        text = sample.decode(name)
    except UnicodeDecodeError:
        return -math.inf
    script = _script(name)
    total, before = math.log(script.prior), " "
    for c in text:
        total += ASCII_LOG_P if c.isascii() else _log_p(c, before, script)
        between_scripts = c.isascii() and not before.isascii() and not script.latin
        if c.isalpha() and (between_scripts or before in NOT_BEFORE_LETTERS):
            total += ODD_PLACE_LOG_P
        before = c
    return total


def _log_p(c: str, before: str, script: Script) -> float:
    """Returns the log-probability of a character beyond ASCII after another."""
    if c in SIGNS:
        return math.log(SIGNS_SHARE / len(SIGNS))
    odd = 0.0
    if before.isalpha() and (not c.isalpha() or (c.isupper() and before.islower())):
        odd = ODD_PLACE_LOG_P
    elif before.isalpha() and script.latin and not before.isascii():
        odd = FEW_HIGH_BYTES_LOG_P
    elif before.isalpha() and before.isascii() and not script.latin:
        odd = ODD_PLACE_LOG_P
    if c in script.frequent:
        return odd + math.log(FREQUENT_SHARE / len(script.frequent))
    if c in script.letters:
        return odd + math.log(LETTERS_SHARE / len(script.letters))
    if c.isupper() and c.lower() in script.frequent | script.letters:
        return odd + math.log(CAPITALS_SHARE / len(script.frequent | script.letters))
    return odd + (math.log(OTHERS_SHARE / OTHERS) if c.isprintable() else CONTROL_LOG_P)


ALPHABET_OF_ENCODING = {
    "cp1252": (WEST, 0.9, True),
    "latin-1": (WEST, 0.02, True),
    "cp1250": (CENTRE, 0.01, True),
    "iso8859-2": (CENTRE, 0.002, True),
    "cp1254": (TURKISH, 0.005, True),
    "mac_roman": (WEST, 0.002, True),
    "cp850": (WEST, 0.002, True),
    "cp1251": (CYRILLIC, 0.01, False),
    "koi8_r": (CYRILLIC, 0.002, False),
    "cp866": (CYRILLIC, 0.002, False),
    "iso8859-5": (CYRILLIC, 0.001, False),
    "cp1253": (GREEK, 0.003, False),
    "cp1255": (HEBREW, 0.003, False),
    "cp1256": (ARABIC, 0.003, False),
}
SYLLABLES = {
    "cp932": ("euc_jp", 0xB0, 0xCF, 0.01),
    "euc_jp": ("euc_jp", 0xB0, 0xCF, 0.002),
    "gb18030": ("gb2312", 0xB0, 0xD7, 0.01),
    "big5": ("big5", 0xA4, 0xC6, 0.005),
    "cp949": ("euc_kr", 0xB0, 0xC8, 0.005),
}
"""East Asian encodings: the lead bytes, in an encoding of the same characters, of those in everyday use."""
FULL_WIDTH_SIGNS = "，。、：（）"
KANA_RANGE = range(0x3041, 0x30FF)


@cache
def _script(name: str) -> Script:
    if name in ALPHABET_OF_ENCODING:
        (frequent, letters), prior, latin = ALPHABET_OF_ENCODING[name]
        return Script(frozenset(frequent), frozenset(letters), prior, latin)
    base, first, last, prior = SYLLABLES[name]
    leads = (bytes((a, b)) for a in range(first, last + 1) for b in (*range(0x40, 0x7F), *range(0xA1, 0xFF)))
    everyday = frozenset(c for pair in leads if len(c := pair.decode(base, "ignore")) == 1)
    return Script(everyday, frozenset(map(chr, KANA_RANGE)) if base == "euc_jp" else frozenset(FULL_WIDTH_SIGNS), prior)
