"""Files in gzip or zip, expanded to a temporary file; one that grows past its limit is refused."""

import gzip
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from wakesleep.data.limits import expanded_bytes
from wakesleep.errors import Refusal

BLOCK_BYTES = 1 << 20
ARCHIVE_REASON_CHARACTERS = 200
"""Of what a library says; names from the archive may be in it."""
FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


@contextmanager
def expanded(path: Path, kind: str) -> Iterator[tuple[Path, str]]:
    """The expanded file for as long as the context lasts, and the name that it had inside."""
    folder = Path(tempfile.mkdtemp(prefix="wakesleep-"))
    try:
        inside = folder / "table"
        try:
            name = _expand_gzip(path, inside) if kind == "gzip" else _expand_zip(path, inside)
        except (*FAULTS, gzip.BadGzipFile) as error:
            if isinstance(error, Refusal):
                raise
            said = " ".join(str(error).split())[:ARCHIVE_REASON_CHARACTERS]
            raise Refusal(f"{path} cannot be expanded ({said}): it is damaged, or of another kind.") from None
        yield inside, name
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _expand_gzip(path: Path, target: Path) -> str:
    with gzip.open(path, "rb") as source:
        _copy(path, source.read, target)
    return path.stem if path.suffix.lower() in (".gz", ".gzip") else path.name


def _expand_zip(path: Path, target: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        names = [n for n in archive.namelist() if not n.endswith("/") and not _is_hidden(n)]
        if len(names) != 1:
            some = ", ".join(names[:5]) + ", ..." * (len(names) > 5)
            holds = f"holds {len(names)} files ({some})" if names else "holds no file"
            raise Refusal(f"{path} {holds}, but one table was expected: unpack it and name the file that you want.")
        with archive.open(names[0]) as source:
            _copy(path, source.read, target)
    return PurePosixPath(names[0]).name


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)


def _copy(path: Path, read: Callable[[int], bytes], target: Path) -> None:
    size, done = path.stat().st_size, 0
    most = expanded_bytes(size)
    with target.open("wb") as file:
        while block := read(BLOCK_BYTES):
            done += len(block)
            if done > most:
                raise Refusal(
                    f"{path} expands from {size:,} to more than {most:,} bytes, which is the most that is read: unpack "
                    "it yourself if you trust it."
                )
            file.write(block)
