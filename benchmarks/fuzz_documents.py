"""Readers of documents for `benchmarks/fuzz.py`: archives, contracts, saved explanations, catalogues, series."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fuzz_readers import ROOT, Reader, table

from wakesleep import domains
from wakesleep.domains.strings.lake.catalogue import make_catalogue
from wakesleep.domains.strings.lake.like import like

EXAMPLES = ROOT / "examples"
ORDERS = EXAMPLES / "orders.csv"


def archives() -> dict[str, Reader]:
    """The readers of tables that are packed."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("orders.csv", ORDERS.read_bytes())
    return {
        "gzip": Reader({"a.csv.gz": gzip.compress(ORDERS.read_bytes(), mtime=0)}, partial(table, ".csv.gz")),
        "zip": Reader({"a.zip": packed.getvalue()}, partial(table, ".zip")),
    }


def judgements(work: Path) -> dict[str, Reader]:
    """The readers of contracts and of saved explanations, against which new data are checked."""
    explainer, saved = domains.explainer("strings"), work / "saved.json"
    draft, check = domains.command("draft"), domains.command("check")
    if not saved.exists():
        options = explainer.options(effort="quick")
        read = explainer.read(str(ORDERS), options)
        saved.write_text(json.dumps(explainer.explain(read, options, lambda now: None).rows()))
        draft.run([str(ORDERS)], draft.options(), lambda now: None).write("output", work / "contract.yaml")

    def check_one(folder: Path, data: bytes) -> None:
        (folder / "given").write_bytes(data)
        check.run([str(folder / "given"), str(ORDERS)], check.options(), lambda now: None)

    rows = {f"{i}.json": json.dumps([row]).encode() for i, row in enumerate(json.loads(saved.read_text()))}
    contract = {"contract.yaml": (work / "contract.yaml").read_bytes()}
    return {"contract": Reader(contract, check_one), "explanation": Reader(rows, check_one)}


def catalogues(work: Path) -> dict[str, Reader]:
    """The reader of catalogues, in both kinds of file."""
    corpus = {}
    for suffix in (".jsonl", ".parquet"):
        path = work / f"catalogue{suffix}"
        if not path.exists():
            (work / "lake").mkdir(exist_ok=True)
            (work / "lake" / "orders.csv").write_text("\n".join(ORDERS.read_text().splitlines()[:20]) + "\n")
            make_catalogue(work / "lake", path)
        corpus[path.name] = path.read_bytes()

    def read(folder: Path, data: bytes) -> None:
        path = folder / ("file.parquet" if data[:4] == b"PAR1" else "file.jsonl")
        path.write_bytes(data)
        like(path, ["ORD-10400", "x"])

    return {"catalogue": Reader(corpus, read)}


def series() -> dict[str, Reader]:
    """The reader of series: tables with dates and numbers."""
    explainer = domains.explainer("timeseries")

    def read(folder: Path, data: bytes) -> None:
        (folder / "file.csv").write_bytes(data)
        explainer.read(str(folder / "file.csv"), explainer.options())

    return {"series": Reader({"co2.csv": (EXAMPLES / "co2.csv").read_bytes()[:4000]}, read)}


def groups(work: Path) -> dict[str, Callable[[], dict[str, Reader]]]:
    """What makes the readers, by their names."""
    return {
        "gzip zip": archives,
        "contract explanation": lambda: judgements(work),
        "catalogue": lambda: catalogues(work),
        "series": series,
    }
