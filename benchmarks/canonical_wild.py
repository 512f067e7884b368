"""Columns of the wild: codes, dates, measures and names of many trades, with a known right answer.

All 84 were written before any was run. A half, drawn by a seed, was looked at afterwards (fourth); nothing was seen of
the other half until the language was settled (fresh).
"""

import random
import re
from datetime import timedelta

from canonical_columns import DIGITS, HEX, LOWER, UPPER, Draw, Right, among, dated, like, luhn_digit, moment, some, word
from canonical_more import DAYTIME, pattern
from canonical_parts import (
    ALNUM,
    CITIES,
    ELEMENTS,
    FIRST_NAMES,
    LAST_NAMES,
    SPECIES,
    STATE_CODES,
    ZONES,
    draw_isin,
    draw_issn,
    draw_orcid,
    expanded,
    issn_digit,
    orcid_digit,
    roman,
)

Column = tuple[Draw, Right]
BASE64 = UPPER + LOWER + DIGITS + "+/"


def checked(draw: Draw, regex: str, check: Right) -> Column:
    """A column whose values match a regex and pass a check."""
    matches = like(regex)
    return draw, lambda v: matches(v) and check(v)


def draw_move(r: random.Random) -> str:
    square = pattern(r, "abcdefgh", "12345678")
    check = r.choice(["", "", "", "+"])
    if r.random() < 0.3:
        return r.choice([square, r.choice("abcdefgh") + "x" + square]) + check
    return r.choice("KQRBN") + r.choice(["", "", "x"]) + square + check


def draw_duration(r: random.Random) -> str:
    return f"PT{r.randint(0, 5)}H{r.randint(1, 59)}M" if r.random() < 0.6 else f"PT{r.randint(1, 59)}M"


def european(r: random.Random) -> str:
    return f"{int(10 ** r.uniform(1, 5)):,}".replace(",", ".") + "," + some(r, DIGITS, 2)


def person(r: random.Random) -> str:
    return f"{r.choice(FIRST_NAMES)} {r.choice(UPPER)}. {r.choice(LAST_NAMES)}"


def draw_formula(r: random.Random) -> str:
    parts = r.sample(["C", "H", "O", "N", "Na", "Cl", "S", "Fe"], r.randint(2, 3))
    return "".join(p + r.choice(["", str(r.randint(2, 12))]) for p in parts)


def draw_timestamp(r: random.Random) -> str:
    return f"{moment(r):%Y-%m-%dT%H:%M:%S}{r.choice(['+02:00', '+01:00', '-05:00'])}"


def draw_degrees(r: random.Random) -> str:
    return f"{r.randint(1, 89)}°{r.randint(0, 59):02d}'{r.randint(0, 59):02d}\"{r.choice('NS')}"


def draw_host(r: random.Random) -> str:
    return f"{r.choice(['web', 'db', 'cache'])}{r.randint(1, 24):02d}.{r.choice(['prod', 'stage'])}.example.com"


def right_vin(value: str) -> bool:
    return re.fullmatch("[A-HJ-NPR-Z0-9]{17}", value) is not None


def draw_cidr(r: random.Random) -> str:
    return f"10.{r.randint(0, 255)}.{r.randint(0, 255)}.0/{r.randint(8, 30)}"


def draw_shift(r: random.Random) -> str:
    start = moment(r)
    return f"{start:%H:%M} - {start + timedelta(minutes=r.randint(60, 600)):%H:%M}"


BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
DATE = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
WILD: dict[str, Column] = {
    "isin": checked(draw_isin, r"[A-Z]{2}[A-Z0-9]{9}\d", lambda v: luhn_digit(expanded(v[:-1])) == v[-1]),
    "orcid": checked(
        draw_orcid, r"(\d{4}-){3}\d{3}[\dX]", lambda v: orcid_digit(v.replace("-", "")[:-1]) == v[-1]
    ),
    "issn": checked(draw_issn, r"\d{4}-\d{3}[\dX]", lambda v: issn_digit(v.replace("-", "")[:-1]) == v[-1]),
    "imei": checked(
        lambda r: (b := "35" + some(r, DIGITS, 12)) + luhn_digit(b), r"\d{15}", lambda v: luhn_digit(v[:-1]) == v[-1]
    ),
    "diagnosis": (
        lambda r: f"{r.choice('ABCDEFGHIJKLMNRSTZ')}{some(r, DIGITS, 2)}" + r.choice(["", "." + r.choice(DIGITS)]),
        like(r"[A-Z]\d\d(\.\d{1,4})?"),
    ),
    "british plate": (
        lambda r: f"{some(r, UPPER, 2)}{some(r, DIGITS, 2)} {some(r, UPPER, 3)}", like(r"[A-Z]{2}\d\d [A-Z]{3}"),
    ),
    "chess": (draw_move, like(r"[KQRBN]?([a-h]?[1-8]?x)?[a-h][1-8][+#]?")),
    "sequence": (lambda r: some(r, "ACGT", 8, 30), like("[ACGT]+")),
    "chapter": (lambda r: roman(r.randint(1, 49)), like("(X[LI]?|X{0,3})?(IX|IV|V?I{0,3})|XL(IX|IV|V?I{0,3})")),
    "cron": (
        lambda r: f"{r.choice(['0', '15', '30', '*/5', '*/10'])} {r.choice(['*', str(r.randint(0, 23))])} * * "
        f"{r.choice(['*', '1-5', '0', '1'])}",
        like(r"(\*|\*/\d{1,2}|\d{1,2}) (\*|\d{1,2}) \* \* (\*|\d(-\d)?)"),
    ),
    "position": (
        lambda r: f"{r.uniform(35, 60):.5f},{r.uniform(-10, 30):.5f}", like(r"-?\d{1,3}\.\d{5},-?\d{1,3}\.\d{5}"),
    ),
    "iso duration": (draw_duration, like(r"PT(\d{1,2}H)?\d{1,2}M")),
    "mime": (
        lambda r: r.choice([
            "text/html", "text/plain", "text/css", "image/png", "image/jpeg", "image/svg+xml", "application/json",
            "application/pdf", "application/zip", "audio/mpeg", "video/mp4", "application/xml", "text/csv",
        ]),
        like(r"(text|image|application|audio|video|font)/[a-z0-9.+-]+"),
    ),
    "unix path": (
        lambda r: "/" + "/".join(word(r) for _ in range(r.randint(2, 5))), like(r"(/[\w.-]+)+"),
    ),
    "windows path": (
        lambda r: rf"C:\Users\{word(r)}\{word(r)}.{r.choice(['docx', 'xlsx', 'pdf'])}",
        like(r"[A-Z]:\\Users\\[\w.-]+\\[\w-]+\.[a-z]{3,4}"),
    ),
    "severity": among("debug info warning error critical"),
    "http status": among("200 201 204 301 304 400 401 403 404 429 500 502 503"),
    "european amount": (european, like(r"\d{1,3}(\.\d{3})*,\d\d")),
    "european euros": (lambda r: european(r) + " €", like(r"\d{1,3}(\.\d{3})*,\d\d €")),
    "time zone": (lambda r: r.choice(ZONES), like(r"[A-Z][a-z]+/[A-Z][A-Za-z]+(_[A-Z][a-z]+)*")),
    "offset": (
        lambda r: f"{r.choice('+-')}{r.randint(0, 12):02d}:{r.choice(['00', '30'])}",
        like(r"[+-](0\d|1[0-4]):(00|15|30|45)"),
    ),
    "sku": (
        lambda r: f"{some(r, UPPER, 2)}{some(r, DIGITS, 4)}-{r.choice(['S', 'M', 'L'])}",
        like(r"[A-Z]{2}\d{4}-(S|M|L|XL)"),
    ),
    "sha": (lambda r: some(r, HEX, 40), like("[0-9a-f]{40}")),
    "base64": (lambda r: some(r, BASE64, 22) + "==", like("[A-Za-z0-9+/]{22}==")),
    "british mobile": (lambda r: f"07{some(r, DIGITS, 3)} {some(r, DIGITS, 6)}", like(r"07\d{3} \d{6}")),
    "french phone": (
        lambda r: " ".join(["0" + r.choice("123456"), *(some(r, DIGITS, 2) for _ in range(4))]),
        like(r"0[1-9]( \d\d){4}"),
    ),
    "german phone": (
        lambda r: f"+49 {r.choice(['30', '40', '89', '221', '69'])} {some(r, DIGITS, 6, 8)}",
        like(r"\+49 \d{2,4} \d{5,9}"),
    ),
    "dutch post code": (lambda r: f"{r.randint(1000, 9999)} {some(r, UPPER, 2)}", like(r"[1-9]\d{3} [A-Z]{2}")),
    "full name": (person, like(r"[A-Z][a-z]+ [A-Z]\. [A-Z][A-Za-z']+")),
    "address": (
        lambda r: f"{r.randint(1, 9999)} {r.choice(LAST_NAMES)} {r.choice(['St', 'Ave', 'Rd', 'Blvd', 'Ln'])}",
        like(r"[1-9]\d{0,4} [A-Z][A-Za-z']+ [A-Z][a-z]{1,5}"),
    ),
    "city and state": (
        lambda r: f"{r.choice(CITIES)}, {r.choice(STATE_CODES)}", like(r"[A-Z][a-z]+( [A-Z][a-z]+)*, [A-Z]{2}"),
    ),
    "vat": (
        lambda r: r.choice([f"DE{some(r, DIGITS, 9)}", f"FR{some(r, DIGITS, 11)}", f"ATU{some(r, DIGITS, 8)}"]),
        like(r"DE\d{9}|FR\d{11}|ATU\d{8}|[A-Z]{2,3}\d{8,12}"),
    ),
    "swift": (
        lambda r: f"{some(r, UPPER, 4)}{r.choice(['DE', 'US', 'GB', 'FR'])}{some(r, ALNUM, 2)}{r.choice(['', 'XXX'])}",
        like("[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?"),
    ),
    "image tag": (
        lambda r: f"{word(r)}:{r.randint(1, 9)}.{r.randint(0, 20)}{r.choice(['', '-alpine'])}",
        like(r"[a-z]+:\d{1,2}\.\d{1,2}(-[a-z]+)?"),
    ),
    "locale": among("en-US en-GB de-DE fr-FR es-ES it-IT pt-BR nl-NL ja-JP zh-CN ko-KR pl-PL sv-SE da-DK"),
    "pair": (
        lambda r: "/".join(r.sample(["EUR", "USD", "GBP", "JPY", "CHF", "AUD", "CAD", "NZD"], 2)),
        like("[A-Z]{3}/[A-Z]{3}"),
    ),
    "tail number": (
        lambda r: f"N{r.randint(100, 999)}{some(r, 'ABCDEFGHJKLMNPQRSTUVWXYZ', 2)}", like("N[1-9][0-9]{2}[A-Z]{2}"),
    ),
    "flight with space": (
        lambda r: f"{r.choice(['LH', 'BA', 'AF', 'KL', 'IB', 'AY'])} {r.randint(100, 9999)}",
        like(r"[A-Z]{2} [1-9]\d{2,3}"),
    ),
    "degrees": (draw_degrees, like(r"\d{1,2}°[0-5]\d'[0-5]\d\"[NS]")),
    "free phone": (
        lambda r: f"1-8{r.choice(['00', '88', '77', '66'])}-{some(r, DIGITS, 3)}-{some(r, DIGITS, 4)}",
        like(r"1-\d{3}-\d{3}-\d{4}"),
    ),
    "fahrenheit": (lambda r: f"{r.randint(32, 109)}°F", like(r"-?\d{1,3}°F")),
    "blood pressure": (lambda r: f"{r.randint(95, 180)}/{r.randint(55, 110)}", like(r"\d{2,3}/\d{2,3}")),
    "shift": (draw_shift, like(rf"{DAYTIME} - {DAYTIME}")),
    "finish": (
        lambda r: f"{r.randint(2, 5)}:{r.randint(0, 59):02d}:{r.randint(0, 59):02d}", like(r"\d:[0-5]\d:[0-5]\d"),
    ),
    "fiscal quarter": (lambda r: f"FY{r.randint(15, 26)} Q{r.randint(1, 4)}", like(r"FY\d\d Q[1-4]")),
    "week day": (
        lambda r: f"{r.randint(2015, 2026)}-W{r.randint(1, 52):02d}-{r.randint(1, 7)}",
        like(r"20\d\d-W(0[1-9]|[1-4]\d|5[0-3])-[1-7]"),
    ),
    "day of year": (lambda r: f"{r.randint(2000, 2025)}-{r.randint(1, 365):03d}", like(r"(19|20)\d\d-[0-3]\d\d")),
    "epoch": (lambda r: str(r.randint(1_500_000_000, 1_760_000_000)), like(r"1\d{9}")),
    "moment with offset": (draw_timestamp, like(rf"{DATE}T{DAYTIME}:[0-5]\d[+-](0\d|1[0-4]):[0-5]\d")),
    "mail date": dated("%a, %d %b %Y %H:%M:%S +0000"),
    "american moment": dated("%m/%d/%Y %I:%M %p"),
    "loss": (
        lambda r: f"({int(10 ** r.uniform(1, 5)):,}.{some(r, DIGITS, 2)})", like(r"\(\d{1,3}(,\d{3})*\.\d\d\)"),
    ),
    "scientific": (lambda r: f"{10 ** r.uniform(-12, -1):.2e}", like(r"\d\.\d\de[+-]\d\d")),
    "rating": (lambda r: f"{r.randint(1, 4)}.{r.choice(DIGITS)}/5", like(r"[0-5]\.\d/5")),
    "box": (
        lambda r: f"{r.randint(5, 99)} x {r.randint(5, 99)} x {r.randint(5, 99)} cm",
        like(r"\d{1,3} x \d{1,3} x \d{1,3} cm"),
    ),
    "screen": (
        lambda r: r.choice(["1920x1080", "1366x768", "2560x1440", "1280x800", "3840x2160", "1440x900", "1600x900"]),
        like(r"\d{3,4}x\d{3,4}"),
    ),
    "memory": (lambda r: f"{2 ** r.randint(1, 9)}GB", like(r"\d{1,4}GB")),
    "gender": among("male female other"),
    "shirt": among("XS S M L XL XXL"),
    "element": (lambda r: r.choice(ELEMENTS), like("[A-Z][a-z]?")),
    "formula": (draw_formula, like(r"([A-Z][a-z]?([2-9]|1\d)?)+")),
    "listing": (
        lambda r: f"{r.choice(['NASDAQ', 'NYSE', 'LSE'])}:{some(r, UPPER, 2, 4)}", like("(NASDAQ|NYSE|LSE):[A-Z]{1,5}"),
    ),
    "bucket": (
        lambda r: f"s3://{word(r)}-{word(r)}/{word(r)}/{word(r)}.parquet", like(r"s3://[a-z0-9-]+(/[\w.-]+)+"),
    ),
    "issue key": (
        lambda r: f"{r.choice(['WEB', 'API', 'OPS', 'CORE'])}-{r.randint(1, 4999)}", like(r"[A-Z]{2,5}-[1-9]\d{0,3}"),
    ),
    "pod": (
        lambda r: f"{word(r)}-{some(r, HEX, 9)}-{some(r, LOWER + DIGITS, 5)}",
        like("[a-z]+-[0-9a-z]{9,10}-[0-9a-z]{5}"),
    ),
    "host": (draw_host, like(r"[a-z]+\d{2}\.[a-z]+\.example\.com")),
    "cidr": (draw_cidr, like(rf"{BYTE}(\.{BYTE}){{3}}/([12]?\d|3[0-2])")),
    "lot": (
        lambda r: f"LOT{r.randint(2018, 2025)}-{some(r, DIGITS, 4)}{r.choice('ABC')}", like(r"LOT20\d\d-\d{4}[A-Z]"),
    ),
    "recording": (
        lambda r: f"{r.choice(['US', 'GB', 'DE'])}{some(r, ALNUM, 3)}{r.randint(0, 25):02d}{some(r, DIGITS, 5)}",
        like(r"[A-Z]{2}[A-Z0-9]{3}\d{7}"),
    ),
    "swedish person": (
        lambda r: f"{moment(r) - timedelta(days=12000):%y%m%d}-{some(r, DIGITS, 4)}",
        like(r"\d\d(0[1-9]|1[0-2])[0-3]\d-\d{4}"),
    ),
    "cpf": (
        lambda r: f"{some(r, DIGITS, 3)}.{some(r, DIGITS, 3)}.{some(r, DIGITS, 3)}-{some(r, DIGITS, 2)}",
        like(r"\d{3}\.\d{3}\.\d{3}-\d\d"),
    ),
    "colour in capitals": (lambda r: "#" + some(r, DIGITS + "ABCDEF", 6), like("#[0-9A-F]{6}")),
    "note": (lambda r: r.choice("ABCDEFG") + r.choice(["", "", "#"]) + r.choice("234567"), like("[A-G][#b]?[0-8]")),
    "species": (lambda r: r.choice(SPECIES), like("[A-Z][a-z]+ [a-z]+")),
    "pages": (lambda r: f"pp. {(k := r.randint(1, 400))}-{k + r.randint(3, 30)}", like(r"pp\. \d{1,4}-\d{1,4}")),
    "playing card": (
        lambda r: r.choice(["A", "K", "Q", "J", *map(str, range(2, 11))]) + r.choice("SHDC"),
        like("([AKQJ2-9]|10)[SHDC]"),
    ),
    "geohash": (lambda r: some(r, "0123456789bcdefghjkmnpqrstuvwxyz", 8), like("[0-9b-hjkmnp-z]{8}")),
    "employer": (lambda r: f"{some(r, DIGITS, 2)}-{some(r, DIGITS, 7)}", like(r"\d\d-\d{7}")),
    "vin": (lambda r: some(r, "ABCDEFGHJKLMNPRSTUVWXYZ" + DIGITS, 11) + some(r, DIGITS, 6), right_vin),
    "python": (lambda r: f"3.{r.randint(6, 14)}.{r.randint(0, 19)}", like(r"3\.\d{1,2}\.\d{1,2}")),
    "department": among("Sales Marketing Finance Engineering Support"),
    "zodiac": among("Aries Taurus Gemini Cancer Leo Virgo Libra Scorpio Sagittarius Capricorn Aquarius Pisces"),
    "duration in words": (lambda r: f"{r.randint(1, 12)} min {r.randint(0, 59)} s", like(r"\d{1,3} min \d{1,2} s")),
    "grid": (lambda r: f"{some(r, UPPER, 2)} {some(r, DIGITS, 3)} {some(r, DIGITS, 3)}", like(r"[A-Z]{2} \d{3} \d{3}")),
}  # fmt: skip
_ORDER = random.Random(84).sample(sorted(WILD), len(WILD))
FOURTH = {name: WILD[name] for name in _ORDER[: len(WILD) // 2]}
FRESH = {name: WILD[name] for name in _ORDER[len(WILD) // 2 :]}
