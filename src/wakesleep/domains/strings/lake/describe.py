"""The rows of a catalogue: a pure function from files to one row for each of their columns.

It runs here in processes (`wakesleep catalogue`), and anywhere else as it stands: its words are plain dictionaries.

    rows = describe([{"path": "/lake/orders.csv", "file": "orders.csv"}])
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wakesleep import __version__
from wakesleep.errors import Refusal

Row = dict[str, Any]
CATALOGUE_FIELDS = {
    "file": "str",
    "digest": "str",
    "bytes": "long",
    "position": "long",
    "column": "str",
    "type": "str",
    "rows": "long",
    "sampled": "long",
    "nulls": "double",
    "distinct": "long",
    "regex": "str",
    "description": "str",
    "probability": "double",
    "coverage": "double",
    "outliers": "long",
    "programs": "str",
    "notes": "str",
    "error": "str",
    "made": "str",
}
"""The fields of a row and their types, as `fugue` spells them; a field that does not apply is None."""
SCHEMA = ",".join(f"{name}:{kind}" for name, kind in CATALOGUE_FIELDS.items())
PROGRAMS_KEPT, LEAST_WEIGHT_KEPT = 3, 0.05
LONGEST_REASON = 500


class File(NamedTuple):
    """A file to describe: where it is, what the catalogue calls it, and its digest when it was last described."""

    path: str
    name: str
    digest: str = ""


def made_with(effort: str) -> str:
    """Returns what a row was made with; rows made with something else are not taken over."""
    return f"wakesleep {__version__}, effort {effort}"


def describe(files: Iterable[dict[str, Any]], effort: str = "quick") -> Iterator[Row]:
    """Yields the rows of files, each given by its `path` and by the name `file` that the catalogue calls it."""
    for each in files:
        yield from describe_file(File(str(each["path"]), str(each["file"])), effort) or []


def describe_file(file: File, effort: str = "quick") -> list[Row] | None:
    """Returns a row for each column, or None where the digest has not changed; a bad file has one row with a reason."""
    digest, size = "", None
    try:
        digest, size = digest_of(Path(file.path))
        if digest == file.digest:
            return None
        rows = _columns(Path(file.path), effort) or [{"error": f"{file.path} has no columns."}]
    except Refusal as refusal:
        rows = [{"error": str(refusal)}]
    except Exception as error:  # whatever a file does, the others go on
        rows = [{"error": f"{type(error).__name__}: {error}"}]
    known = {"file": file.name, "digest": digest, "bytes": size, "made": made_with(effort)}
    return [_whole(known | row) for row in rows]


def failed(file: File, effort: str, reason: str) -> list[Row]:
    """Returns the row of a file whose description did not come to its end; it is tried again the next time."""
    return [_whole({"file": file.name, "digest": "", "error": reason, "made": made_with(effort)})]


def digest_of(path: Path) -> tuple[str, int]:
    """Returns the SHA-256 of a file and its size in bytes."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror or error}.") from None


def _columns(path: Path, effort: str) -> list[Row]:
    from wakesleep.data.tables import read_table

    table = read_table(path, rows="sample")
    notes = "; ".join(table.notes) or None
    return [
        {"position": i + 1, "column": column.name, "rows": table.rows, "notes": notes} | _column(column.values, effort)
        for i, column in enumerate(table.columns)
    ]


def _column(values: Sequence[str | None], effort: str) -> Row:
    """Returns what is said of the values of one column."""
    from wakesleep.data.sniff import type_of

    present = [value for value in values if value]
    said = {
        "sampled": len(values),
        "nulls": 1 - len(present) / len(values) if values else None,
        "distinct": len(set(present)),
        "type": type_of(values),
    }
    if not present:
        return said | {"description": "no values"}
    try:
        return said | _explained(values, effort)
    except Exception as error:  # the other columns go on
        return said | {"error": f"{type(error).__name__}: {error}"}


def _explained(values: Sequence[str | None], effort: str) -> Row:
    """Returns the pattern of a column, and the programs that `like` asks."""
    from wakesleep.domains.strings.columns.explanation import explain

    found = explain(values, effort=effort)
    best = found.patterns[0]
    return {
        "regex": best.regex,
        "description": best.description,
        "probability": best.probability,
        "coverage": best.coverage,
        "outliers": sum(len(o.rows) for o in found.outliers),
        "programs": _programs(found),
    }


def _programs(found: Any) -> str:
    """Returns the best programs and their weights as JSON."""
    from wakesleep.domains.strings.columns.records import as_record

    likely = list(zip(found.posterior.weights, found.posterior.entries, strict=True))[:PROGRAMS_KEPT]
    kept = [likely[0], *(pair for pair in likely[1:] if pair[0] >= LEAST_WEIGHT_KEPT)]
    total = sum(weight for weight, _ in kept)
    return json.dumps([[weight / total, as_record(entry.program)] for weight, entry in kept], ensure_ascii=False)


def _whole(row: Row) -> Row:
    """Returns a row with every field in its order."""
    error = row.get("error")
    return dict.fromkeys(CATALOGUE_FIELDS) | row | ({"error": error[:LONGEST_REASON]} if error else {})
