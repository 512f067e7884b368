"""Mutations of files: bytes and texts changed, cut, joined and repeated at random, and words that are known to hurt."""

import random

WORDS = (
    b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\x1b[31m", b"[/x]", b"[link=http://a]b", b"\r", b"\r\n", b"\n\n",
    b'"', b"'", b",", b";", b"\t", b"{", b"}", b"[" * 5000, b'{"a":' * 3000, b"NaN", b"Infinity", b"-Infinity",
    b"1e999", b"1e300", b"-1", b"0", b"9" * 5000, b"18446744073709551616", b"null", b"true", b"[]", b"{}", b'""',
    b"../../x", b"/etc/passwd", b"\xe2\x80\xae", b"\xed\xa0\x80", b"\xc2\xb2", b"=1+1", b"\\u0000", b"%s%n",
    b"&a [*a, *a]", b"*a", b"!!python/object/apply:os.system [x]", b"- " * 3000, b"? ",
)  # fmt: skip
MOST_BYTES = 200_000


def mutate(data: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    """Returns the bytes after one to four random changes; `others` are files to take pieces from."""
    for _ in range(draw.randint(1, 4)):
        data = draw.choice(CHANGES)(data, draw, others)[:MOST_BYTES]
    return data


def _span(data: bytes, draw: random.Random) -> tuple[int, int]:
    """Returns a random stretch, short ones more often than long ones."""
    first = draw.randrange(len(data) + 1)
    return first, min(len(data), first + draw.choice((1, 2, 4, 16, 64, len(data))))


def _cut(data: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _flip(data: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _replace(data: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    first, last = _span(data, draw)
    return data[:first] + draw.randbytes(draw.choice((1, 2, 4, 8))) + data[last:]


def _insert(data: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    first, last = _span(data, draw)
    return data[:first] + draw.choice(WORDS) + data[draw.choice((first, last)) :]


def _leave_out(data: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    first, last = _span(data, draw)
    return data[:first] + data[last:]


def _repeat(data: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    first, last = _span(data, draw)
    return data[:last] + data[first:last] * draw.choice((1, 2, 100)) + data[last:]


def _splice(data: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    other = draw.choice(others)
    return data[: draw.randrange(len(data) + 1)] + other[draw.randrange(len(other) + 1) :]


def _number(data: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    """Another number in the place of one that is written in digits."""
    places = [i for i, b in enumerate(data[:5000]) if 48 <= b <= 57]
    if not places:
        return data
    first = draw.choice(places)
    last = first
    while last < len(data) and 48 <= data[last] <= 57:
        last += 1
    return data[:first] + draw.choice(WORDS[19:32]) + data[last:]


CHANGES = (_cut, _flip, _flip, _replace, _insert, _insert, _leave_out, _repeat, _splice, _number)
