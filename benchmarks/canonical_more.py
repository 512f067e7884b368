"""More columns with a known right answer: two sets, both looked at since (second, third)."""

import random
from datetime import timedelta

from canonical_columns import DIGITS, LOWER, UPPER, Draw, Right, among, dated, like, moment, name, some, word

DAYTIME = r"([01]\d|2[0-3]):[0-5]\d"
STATES = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA "
    "RI SC SD TN TX UT VT VA WA WV WI WY"
)


def hours(r: random.Random) -> str:
    start = moment(r)
    return f"{start:%H:%M}-{start + timedelta(minutes=r.randint(30, 600)):%H:%M}"


def pattern(r: random.Random, *parts: str) -> str:
    """Draws one character of each part."""
    return "".join(r.choice(p) for p in parts)


SECOND: dict[str, tuple[Draw, Right]] = {
    "priority": among("low medium high"),
    "direction": among("N NE E SE S SW W NW"),
    "sex": among("M F"),
    "tax number": (lambda r: "DE" + some(r, DIGITS, 9), like(r"DE\d{9}")),
    "batch": (
        lambda r: f"L{r.randint(18, 24)}-{some(r, DIGITS, 4)}-{r.choice('ABC')}", like(r"L\d\d-\d{4}-[A-Z]"),
    ),
    "amount and currency": (
        lambda r: f"{r.choice(['EUR', 'USD', 'GBP'])} {r.randint(1, 999)}.{some(r, DIGITS, 2)}",
        like(r"[A-Z]{3} \d{1,4}\.\d\d"),
    ),
    "article": (
        lambda r: (
            f"{some(r, UPPER, 3)}-{r.choice(['RED', 'BLU', 'GRN', 'BLK'])}-{r.choice(['S', 'M', 'L', 'XL'])}"
        ),
        like(r"[A-Z]{3}-[A-Z]{3}-(S|M|L|XL|XS)"),
    ),
    "seat": (lambda r: f"{r.randint(1, 42)}{r.choice('ABCDEF')}", like(r"[1-9]\d?[A-K]")),
    "angle": (lambda r: f"{r.randint(0, 359)}.{r.choice(DIGITS)}°", like(r"\d{1,3}\.\d°")),
    "years": (
        lambda r: "{}-{}".format(*sorted((r.randint(1950, 2020), r.randint(1950, 2020)))),
        like(r"(19|20)\d\d-(19|20)\d\d"),
    ),
    "phone with dots": (lambda r: ".".join(some(r, DIGITS, k) for k in (3, 3, 4)), like(r"\d{3}\.\d{3}\.\d{4}")),
    "health number": (lambda r: " ".join(some(r, DIGITS, k) for k in (3, 3, 4)), like(r"\d{3} \d{3} \d{4}")),
    "parcel": (lambda r: "1Z" + some(r, DIGITS + UPPER, 16), like("1Z[0-9A-Z]{16}")),
    "version with v": (
        lambda r: f"v{r.randint(0, 9)}.{r.randint(0, 20)}.{r.randint(0, 15)}", like(r"v\d{1,2}\.\d{1,2}\.\d{1,2}"),
    ),
    "weekday in full": among("Monday Tuesday Wednesday Thursday Friday Saturday Sunday"),
    "moment": (
        lambda r: f"{moment(r):%Y-%m-%dT%H:%M:%S}.{some(r, DIGITS, 3)}Z",
        like(rf"\d{{4}}-(0[1-9]|1[0-2])-([0-2]\d|3[01])T{DAYTIME}:[0-5]\d\.\d{{3}}Z"),
    ),
    "cell": (lambda r: f"{some(r, UPPER, 1, 2)}{r.randint(1, 99)}", like(r"[A-Z]{1,2}[1-9]\d{0,2}")),
    "hexadecimal with 0x": (lambda r: "0x" + some(r, DIGITS + "abcdef", 4), like("0x[0-9a-f]{4}")),
    "street": (
        lambda r: f"{r.randint(1, 199)} {name(r)} {r.choice(['Street', 'Road', 'Avenue'])}",
        like(r"[1-9]\d{0,3} [A-Z][a-z]+ [A-Z][a-z]+"),
    ),
    "band": (lambda r: f"{(k := r.randint(2, 18)) * 10}k-{k * 10 + 10}k", like(r"\d{2,3}k-\d{2,3}k")),
    "change": (lambda r: f"{r.choice('+-')}{r.randint(0, 9)}.{some(r, DIGITS, 2)}%", like(r"[+-]\d{1,2}\.\d\d%")),
    "ticker": (lambda r: some(r, UPPER, 2, 4), like("[A-Z]{1,5}")),
    "items": (lambda r: f"{r.randint(2, 60)} items", like(r"[1-9]\d{0,2} items")),
    "lap": (
        lambda r: f"{r.randint(1, 2)}:{r.randint(0, 59):02d}.{some(r, DIGITS, 3)}", like(r"\d:[0-5]\d\.\d{3}"),
    ),
}  # fmt: skip
THIRD: dict[str, tuple[Draw, Right]] = {
    "page stamp": (lambda r: "ABC" + some(r, DIGITS, 7), like(r"ABC\d{7}")),
    "vehicle": (lambda r: some(r, "ABCDEFGHJKLMNPRSTUVWXYZ" + DIGITS, 17), like("[A-HJ-NPR-Z0-9]{17}")),
    "substance": (
        lambda r: f"{some(r, DIGITS, 2, 6)}-{some(r, DIGITS, 2)}-{r.choice(DIGITS)}", like(r"\d{2,7}-\d\d-\d"),
    ),
    "state": among(STATES),
    "week": (lambda r: f"{r.randint(2012, 2024)}-W{r.randint(1, 52):02d}", like(r"20\d\d-W([0-4]\d|5[0-3])")),
    "port": (lambda r: f"{r.choice(['tcp', 'udp'])}/{r.randint(20, 9999)}", like(r"(tcp|udp)/[1-9]\d{0,4}")),
    "height": (lambda r: f"{r.randint(4, 6)}'{r.randint(0, 11)}\"", like(r"[3-7]'\d{1,2}\"")),
    "latitude": (
        lambda r: f"{r.randint(0, 89)}.{some(r, DIGITS, 4)}{r.choice('NS')}", like(r"\d{1,2}\.\d{4}[NS]"),
    ),
    "numeral": (
        among("I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX")[0],
        like("[IVXLCDM]+"),
    ),
    "blood": among("A+ A- B+ B- AB+ AB- O+ O-"),
    "bank": (
        lambda r: some(r, UPPER, 6) + some(r, UPPER + DIGITS, 2) + r.choice(["", "XXX"]),
        like("[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?"),
    ),
    "hashtag": (lambda r: "#" + word(r), like("#[a-z]{2,}")),
    "log time": dated("%d/%b/%Y:%H:%M:%S +0000"),
    "home file": (
        lambda r: f"/home/{word(r)}/{word(r)}.{r.choice(['txt', 'csv', 'pdf'])}",
        like(r"/home/[a-z]+/[a-z]+\.[a-z]{2,4}"),
    ),
    "gene": (lambda r: f"{some(r, UPPER, 3, 5)}{r.randint(1, 30)}", like(r"[A-Z]{2,6}[1-9]\d?")),
    "move": (lambda r: r.choice(["", *"KQRBN"]) + pattern(r, "abcdefgh", "12345678"), like("[KQRBN]?[a-h][1-8]")),
    "term": (
        lambda r: f"{r.choice(['Spring', 'Summer', 'Fall', 'Winter'])} {r.randint(2005, 2024)}",
        like(r"(Spring|Summer|Fall|Winter) (19|20)\d\d"),
    ),
    "fraction": (lambda r: f"{r.randint(1, 15)}/{r.randint(2, 64)}", like(r"\d{1,2}/\d{1,2}")),
    "ratio": (lambda r: f"{r.randint(1, 21)}:{r.randint(1, 16)}", like(r"\d{1,2}:\d{1,2}")),
    "initials": (lambda r: f"{r.choice(UPPER)}.{r.choice(UPPER)}.", like(r"[A-Z]\.[A-Z]\.")),
    "file size": (
        lambda r: f"{r.randint(1, 999)}.{r.choice(DIGITS)} {r.choice(['KB', 'MB', 'GB'])}",
        like(r"\d{1,4}\.\d [KMGT]B"),
    ),
    "speed": (lambda r: f"{r.randint(5, 130)} km/h", like(r"[1-9]\d{0,2} km/h")),
    "verse": (lambda r: f"{name(r)} {r.randint(1, 40)}:{r.randint(1, 40)}", like(r"[A-Z][a-z]+ \d{1,2}:\d{1,2}")),
    "course": (lambda r: f"{some(r, UPPER, 2, 4)}{r.randint(100, 499)}", like(r"[A-Z]{2,4}\d{3}")),
    "room": (lambda r: f"{r.choice('ABCDEF')}-{r.randint(100, 499)}", like(r"[A-Z]-\d{3}")),
    "key": (lambda r: "-".join(some(r, UPPER + DIGITS, 4) for _ in range(4)), like("[A-Z0-9]{4}(-[A-Z0-9]{4}){3}")),
    "token": (lambda r: some(r, UPPER + LOWER + DIGITS, 20), like("[A-Za-z0-9]{20}")),
    "schedule": (lambda r: f"{r.randint(0, 59)} {r.randint(0, 23)} * * *", like(r"\d{1,2} \d{1,2} \* \* \*")),
    "status code": among("200 201 301 302 400 401 403 404 500 503"),
    "patient": (lambda r: "MRN" + some(r, DIGITS, 8), like(r"MRN\d{8}")),
    "marital status": among("single married divorced widowed"),
    "opening": (hours, like(rf"{DAYTIME}-{DAYTIME}")),
}  # fmt: skip
