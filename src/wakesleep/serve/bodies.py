"""Bodies of requests: form fields and uploaded files, each bounded in size and in patience."""

import secrets
from collections.abc import AsyncIterator
from pathlib import PurePath
from urllib.parse import parse_qs

import anyio
from starlette.requests import Request

from wakesleep.domains.pages import Upload
from wakesleep.errors import Refusal
from wakesleep.serve.shelf import Shelf

FORM_BYTES = 4 << 20
UPLOAD_BYTES = 64 << 20
MOST_FORM_FIELDS = 10_000
PATIENCE_SECONDS = 20
LONGEST_NAME_BYTES = 120


class TooLarge(Refusal):
    """A body above its limit."""


async def fields(request: Request) -> dict[str, list[str]]:
    """Returns the fields of the address and, of a POST, of the form."""
    found: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        found.setdefault(name, []).append(value)
    if request.method == "POST":
        body = b"".join([piece async for piece in _pieces(request, FORM_BYTES, "The form")])
        try:
            text = body.decode("utf-8")
            given = parse_qs(text, keep_blank_values=True, max_num_fields=MOST_FORM_FIELDS, errors="strict")
        except ValueError:
            raise Refusal("The form could not be read: it is not UTF-8, or it has too many fields.") from None
        for name, values in given.items():
            found.setdefault(name, []).extend(values)
    return found


async def upload(request: Request, shelf: Shelf) -> str:
    """Writes the body to a file of the shelf, and returns its word there."""
    folder = shelf.folder / secrets.token_hex(8)
    path = folder / _plain_name(request.query_params.get("name", ""))
    folder.mkdir()
    try:
        async with await anyio.open_file(path, "wb") as file:
            async for piece in _pieces(request, UPLOAD_BYTES, "The file"):
                await file.write(piece)
    except BaseException:
        path.unlink(missing_ok=True)
        folder.rmdir()
        raise
    return shelf.keep(Upload(path.name, path))


def _plain_name(given: str) -> str:
    """Returns the end of a name as every file system takes it; the name of a folder is none."""
    name = "".join(c for c in PurePath(given.replace("\\", "/")).name if c.isprintable())
    short = name.encode("utf-8", "replace")[-LONGEST_NAME_BYTES:].decode("utf-8", "ignore")
    return short if short.strip(".") else "file"


async def _pieces(request: Request, most: int, what: str) -> AsyncIterator[bytes]:
    """Yields the body piece by piece; one that is too long, or that does not come, is refused."""
    sentence = f"{what} is larger than {most >> 20} MB, the most that the explorer reads: use the command line."
    announced = request.headers.get("content-length", "0")
    if not announced.isascii() or not announced.isdigit() or int(announced) > most:
        raise TooLarge(sentence)
    size, stream = 0, request.stream().__aiter__()
    while True:
        try:
            with anyio.fail_after(PATIENCE_SECONDS):
                piece = await stream.__anext__()
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise Refusal(f"{what} did not arrive: nothing came for {PATIENCE_SECONDS} seconds.") from None
        size += len(piece)
        if size > most:
            raise TooLarge(sentence)
        yield piece
