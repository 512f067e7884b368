"""Columns with a known right answer: how a value is drawn, and which texts are right."""

import random
import re
import string
from collections.abc import Callable
from datetime import datetime, timedelta

Draw = Callable[[random.Random], str]
Right = Callable[[str], bool]
DIGITS, UPPER, LOWER = string.digits, string.ascii_uppercase, string.ascii_lowercase
HEX = DIGITS + "abcdef"


def some(r: random.Random, alphabet: str, low: int, high: int = 0) -> str:
    return "".join(r.choices(alphabet, k=r.randint(low, high or low)))


def moment(r: random.Random) -> datetime:
    return datetime(2015, 1, 1) + timedelta(seconds=r.randrange(10 * 365 * 86400))


def plain(n: int) -> str:
    return str(n)


def dated(form: str) -> tuple[Draw, Right]:
    """A date format; right is what reads back as itself."""

    def right(value: str) -> bool:
        try:
            return datetime.strptime(value, form).strftime(form) == value
        except ValueError:
            return False

    return lambda r: moment(r).strftime(form), right


def loose_date(r: random.Random) -> str:
    d = moment(r)
    return f"{d.month}/{d.day}/{d.year}"


def right_loose_date(value: str) -> bool:
    try:
        d = datetime.strptime(value, "%m/%d/%Y")
    except ValueError:
        return False
    return value == f"{d.month}/{d.day}/{d.year}"


def like(regex: str) -> Right:
    compiled = re.compile(regex)
    return lambda value: compiled.fullmatch(value) is not None


def among(words: str) -> tuple[Draw, Right]:
    listed = words.split()
    return lambda r: r.choice(listed), lambda value: value in listed


def luhn_digit(digits: str) -> str:
    total = 0
    for i, c in enumerate(reversed(digits)):
        d = int(c) * (2 if i % 2 == 0 else 1)
        total += d - 9 if d > 9 else d
    return str((10 - total % 10) % 10)


def ean_digit(digits: str) -> str:
    total = sum(int(c) * (3 if i % 2 == 0 else 1) for i, c in enumerate(reversed(digits)))
    return str((10 - total % 10) % 10)


def draw_iban(r: random.Random) -> str:
    country, account = r.choice(["DE", "FR", "GB", "ES", "IT"]), some(r, DIGITS, 18)
    number = int("".join(str(int(c, 36)) for c in account + country + "00"))
    return f"{country}{98 - number % 97:02d}{account}"


def draw_ean(r: random.Random, start: str = "") -> str:
    body = start + some(r, DIGITS, 12 - len(start))
    return body + ean_digit(body)


def draw_card(r: random.Random) -> str:
    body = r.choice("45") + some(r, DIGITS, 14)
    return body + luhn_digit(body)


def name(r: random.Random) -> str:
    sounds = "anbecadaelfagihoiljokaleminoolperisatova"
    syllables = [sounds[i : i + 2] for i in range(0, len(sounds), 2)]
    return "".join(r.choices(syllables, k=r.randint(2, 4))).capitalize()


def slug(r: random.Random) -> str:
    return "-".join(some(r, LOWER, 3, 8) for _ in range(r.randint(2, 4)))


def word(r: random.Random) -> str:
    return some(r, LOWER, 4, 9)


def thousands(r: random.Random) -> str:
    return f"{int(10 ** r.uniform(1, 6)):,}"


IP = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
COLUMNS: dict[str, tuple[Draw, Right]] = {
    "order id": (lambda r: f"ORD-{some(r, DIGITS, 5)}", like(r"ORD-\d{5}")),
    "invoice": (lambda r: f"INV/{r.randint(2015, 2024)}/{some(r, DIGITS, 4)}", like(r"INV/20\d\d/\d{4}")),
    "stock code": (
        lambda r: f"{some(r, UPPER, 3)}-{some(r, DIGITS, 4)}-{r.choice(UPPER)}",
        like(r"[A-Z]{3}-\d{4}-[A-Z]"),
    ),
    "ticket": (lambda r: f"PROJ-{r.randint(1, 9999)}", like(r"PROJ-[1-9]\d{0,3}")),
    "hex of six": (lambda r: some(r, HEX, 6), like("[0-9a-f]{6}")),
    "md5": (lambda r: some(r, HEX, 32), like("[0-9a-f]{32}")),
    "git hash": (lambda r: some(r, HEX, 7), like("[0-9a-f]{7}")),
    "uuid": (
        lambda r: "-".join(some(r, HEX, k) for k in (8, 4, 4, 4, 12)),
        like("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ),
    "hex colour": (lambda r: "#" + some(r, HEX, 6), like("#[0-9a-f]{6}")),
    "zip": (lambda r: some(r, DIGITS, 5), like(r"\d{5}")),
    "zip+4": (lambda r: f"{some(r, DIGITS, 5)}-{some(r, DIGITS, 4)}", like(r"\d{5}-\d{4}")),
    "canadian post code": (
        lambda r: "".join(r.choice(c) for c in (UPPER, DIGITS, UPPER, " ", DIGITS, UPPER, DIGITS)),
        like(r"[A-Z]\d[A-Z] \d[A-Z]\d"),
    ),
    "british post code": (
        lambda r: f"{some(r, UPPER, 1, 2)}{r.randint(1, 29)} {r.choice(DIGITS)}{some(r, UPPER, 2)}",
        like(r"[A-Z]{1,2}\d{1,2} \d[A-Z]{2}"),
    ),
    "social security": (
        lambda r: f"{some(r, DIGITS, 3)}-{some(r, DIGITS, 2)}-{some(r, DIGITS, 4)}",
        like(r"\d{3}-\d\d-\d{4}"),
    ),
    "phone in brackets": (
        lambda r: f"({some(r, DIGITS, 3)}) {some(r, DIGITS, 3)}-{some(r, DIGITS, 4)}",
        like(r"\(\d{3}\) \d{3}-\d{4}"),
    ),
    "phone international": (
        lambda r: f"+{r.choice(['1', '44', '49', '33'])}{some(r, DIGITS, 10)}",
        like(r"\+[1-9]\d{6,14}"),
    ),
    "iban": (
        draw_iban,
        lambda v: (
            bool(re.fullmatch(r"[A-Z]{2}\d{20}", v)) and int("".join(str(int(c, 36)) for c in v[4:] + v[:4])) % 97 == 1
        ),
    ),
    "isbn": (
        lambda r: draw_ean(r, "978"),
        lambda v: bool(re.fullmatch(r"97[89]\d{10}", v)) and ean_digit(v[:-1]) == v[-1],
    ),
    "ean": (draw_ean, lambda v: bool(re.fullmatch(r"\d{13}", v)) and ean_digit(v[:-1]) == v[-1]),
    "card": (draw_card, lambda v: bool(re.fullmatch(r"[45]\d{15}", v)) and luhn_digit(v[:-1]) == v[-1]),
    "ip": (lambda r: ".".join(plain(r.randint(0, 255)) for _ in range(4)), like(rf"{IP}(\.{IP}){{3}}")),
    "ip and port": (
        lambda r: ".".join(plain(r.randint(0, 255)) for _ in range(4)) + f":{r.randint(1024, 65535)}",
        like(rf"{IP}(\.{IP}){{3}}:\d{{4,5}}"),
    ),
    "mac": (lambda r: ":".join(some(r, HEX, 2) for _ in range(6)), like("[0-9a-f]{2}(:[0-9a-f]{2}){5}")),
    "url": (
        lambda r: f"https://{r.choice(['www.', ''])}{word(r)}.{r.choice(['com', 'org', 'net', 'io'])}/{slug(r)}",
        like(r"https?://([a-z0-9-]+\.)+[a-z]{2,}(/[\w./?=&%-]*)?"),
    ),
    "domain": (
        lambda r: f"{word(r)}.{r.choice(['com', 'org', 'net', 'co.uk', 'io'])}",
        like(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}"),
    ),
    "e-mail": (
        lambda r: (
            word(r)
            + r.choice(["." + word(r), "", plain(r.randint(1, 99))])
            + f"@{word(r)}.{r.choice(['com', 'org', 'de'])}"
        ),
        like(r"[\w+-]+(\.[\w+-]+)*@([A-Za-z0-9-]+\.)+[A-Za-z]{2,}"),
    ),
    "version": (
        lambda r: f"{r.randint(0, 9)}.{r.randint(0, 30)}.{r.randint(0, 20)}",
        like(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[\w.-]+)?"),
    ),
    "iso date": dated("%Y-%m-%d"),
    "american date": dated("%m/%d/%Y"),
    "american date without zeros": (loose_date, right_loose_date),
    "german date": dated("%d.%m.%Y"),
    "date with month's name": dated("%d %b %Y"),
    "long date": dated("%B %d, %Y"),
    "date and time": dated("%Y-%m-%d %H:%M:%S"),
    "date and time with T and Z": dated("%Y-%m-%dT%H:%M:%SZ"),
    "month and year": dated("%b-%y"),
    "time": dated("%H:%M:%S"),
    "time with AM and PM": dated("%I:%M %p"),
    "compact date": dated("%Y%m%d"),
    "quarter": (lambda r: f"{r.randint(2010, 2024)}-Q{r.randint(1, 4)}", like("20[012][0-9]-Q[1-4]")),
    "month": among("January February March April May June July August September October November December"),
    "weekday": among("Mon Tue Wed Thu Fri Sat Sun"),
    "yes or no": among("Y N"),
    "status": among("open shipped returned"),
    "size": among("XS S M L XL"),
    "boolean": among("true false"),
    "log level": among("INFO WARN ERROR DEBUG"),
    "method": among("GET POST PUT DELETE"),
    "price": (lambda r: f"${r.randint(0, 999)}.{some(r, DIGITS, 2)}", like(r"\$\d{1,4}\.\d\d")),
    "price with thousands": (lambda r: f"${thousands(r)}.{some(r, DIGITS, 2)}", like(r"\$\d{1,3}(,\d{3})*\.\d\d")),
    "euro": (lambda r: f"{r.randint(1, 999)},{some(r, DIGITS, 2)} €", like(r"\d{1,4},\d\d €")),
    "percentage": (lambda r: f"{r.randint(0, 99)}.{r.choice(DIGITS)}%", like(r"\d{1,3}\.\d%")),
    "number with thousands": (thousands, like(r"\d{1,3}(,\d{3})*")),
    "signed decimal": (lambda r: f"{r.uniform(-90, 90):.4f}", like(r"-?\d{1,3}\.\d{4}")),
    "coordinates": (
        lambda r: f"{r.uniform(-90, 90):.4f}, {r.uniform(-180, 180):.4f}",
        like(r"-?\d{1,3}\.\d{4}, -?\d{1,3}\.\d{4}"),
    ),
    "temperature": (lambda r: f"{r.uniform(5, 40):.1f} °C", like(r"-?\d{1,2}\.\d °C")),
    "duration": (lambda r: f"{r.randint(1, 12)}h {r.randint(1, 59)}m", like(r"\d{1,2}h \d{1,2}m")),
    "image": (lambda r: f"IMG_{some(r, DIGITS, 4)}.jpg", like(r"IMG_\d{4}\.jpg")),
    "path": (lambda r: f"/var/{word(r)}/{word(r)}.log", like(r"/var/[\w-]+/[\w-]+\.log")),
    "user": (lambda r: f"@{word(r)}{r.choice(['', plain(r.randint(1, 99))])}", like(r"@[a-z]{2,}\d*")),
    "person": (lambda r: f"{name(r)} {name(r)}", like("[A-Z][a-z]+ [A-Z][a-z]+")),
    "person, last name first": (lambda r: f"{name(r)}, {name(r)}", like("[A-Z][a-z]+, [A-Z][a-z]+")),
    "square": (lambda r: r.choice("abcdefgh") + r.choice("12345678"), like("[a-h][1-8]")),
    "number plate": (
        lambda r: f"{some(r, UPPER, 2)}-{some(r, UPPER, 2)} {some(r, DIGITS, 3)}",
        like(r"[A-Z]{2}-[A-Z]{2} \d{3}"),
    ),
    "flight": (
        lambda r: f"{r.choice(['AA', 'BA', 'LH', 'AF', 'UA', 'DL'])}{r.randint(100, 9999)}",
        like(r"[A-Z]{2}\d{3,4}"),
    ),
    "airport": (lambda r: some(r, UPPER, 3), like("[A-Z]{3}")),
    "doi": (lambda r: f"10.{some(r, DIGITS, 4)}/{word(r)}.{some(r, DIGITS, 4, 6)}", like(r"10\.\d{4}/[\w.()-]+")),
    "arxiv": (
        lambda r: f"{r.randint(10, 24)}{r.randint(1, 12):02d}.{some(r, DIGITS, 5)}",
        like(r"[0-2]\d(0[1-9]|1[0-2])\.\d{5}"),
    ),
    "country": among(
        "US DE FR GB ES IT PL NL BE SE NO FI DK CH AT PT IE GR CZ HU RO BG HR SI SK EE LV LT JP CN IN BR MX CA AU"
    ),
    "currency": among(
        "USD EUR GBP JPY CHF SEK NOK DKK PLN CZK HUF CAD AUD NZD CNY INR BRL MXN ZAR KRW SGD HKD THB TRY"
    ),
    "dna": (lambda r: some(r, "ACGT", 12), like("[ACGT]{12}")),
    "score": (lambda r: f"{r.randint(0, 9)}-{r.randint(0, 9)}", like(r"\d{1,2}-\d{1,2}")),
    "dimensions": (
        lambda r: f"{r.randint(1, 99)}x{r.randint(1, 99)}x{r.randint(1, 99)}",
        like(r"\d{1,3}x\d{1,3}x\d{1,3}"),
    ),
    "weight": (lambda r: f"{r.randint(1, 120)} kg", like(r"\d{1,3} kg")),
    "rgb": (
        lambda r: "rgb({}, {}, {})".format(*(r.randint(0, 255) for _ in range(3))),
        like(r"rgb\(\d{1,3}, \d{1,3}, \d{1,3}\)"),
    ),
    "tags": (lambda r: ";".join(word(r) for _ in range(r.randint(1, 4))), like("[a-z]+(;[a-z]+)*")),
    "slug": (slug, like("[a-z]+(-[a-z]+)*")),
    "grade": (lambda r: r.choice("ABCDF") + r.choice(["+", "-", ""]), like("[ABCDF][+-]?")),
    "russian name": (lambda r: some(r, "абвгдеиклмнопрст", 4, 9).capitalize(), like("[\u0410-\u044f\u0401\u0451]+")),
    "chinese": (lambda r: "".join(chr(r.randint(0x4E00, 0x9000)) for _ in range(r.randint(2, 4))), like("[一-鿿]+")),
    "card with null marks": (
        lambda r: r.choice(["N/A", *(f"{some(r, DIGITS, 2)}.{some(r, DIGITS, 2)}" for _ in range(5))]),
        like(r"N/A|\d\d\.\d\d"),
    ),
    "amount with a space at the end": (lambda r: f"${r.randint(100, 9999)} ", like(r"\$\d{3,4} ")),
}
