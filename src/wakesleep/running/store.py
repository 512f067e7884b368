"""Stores of observations: written from files or settings, read as data to learn from."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, overload

from wakesleep.data import memmap
from wakesleep.domains.arrays import arrays_of, assemble
from wakesleep.domains.contract import Dataset, Domain
from wakesleep.errors import Refusal

VERIFY_LINE_SECONDS = 10.0
Say = Callable[[str], None]


class Numbered(Sequence[str]):
    """Names made from numbers when they are asked for."""

    def __init__(self, word: str, length: int):
        self.word, self.length = word, length

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        numbers = range(self.length)[index]
        return f"{self.word} {numbers}" if isinstance(numbers, int) else [f"{self.word} {i}" for i in numbers]


def store(domain: Domain, output: Path, sources: list[Path], settings: dict[str, Any]) -> int:
    """Writes the observations of the sources, or those of the settings alone, to a store; returns their number."""
    given = [settings | {domain.data_setting: source} for source in sources] or [settings]
    pieces = (arrays_of(domain.load(domain.configure(each)).train, domain) for each in given)
    return memmap.write(output, pieces, {"domain": domain.name})


def read_dataset(folder: Path, domain: Domain, say: Say = lambda line: None) -> Dataset:
    """Returns the observations of a store, verified; they stay on the disk until their rows are asked for."""
    found = memmap.read(folder, _slowly(folder, say))
    if found.about.get("domain") != domain.name:
        raise Refusal(f"{folder} is a store of {found.about.get('domain')}, not of {domain.name}.")
    if (train := assemble(found.arrays, domain)) is None:
        raise Refusal(f"{folder} has the arrays {', '.join(found.arrays)}, which observations of {domain.name} lack.")
    note = f"{found.rows} observations mapped from the store {folder.name}"
    return Dataset(train, None, Numbered("observation", found.rows), note, found.digest)


def _slowly(folder: Path, say: Say) -> memmap.Hashed:
    """Returns a report of verified bytes that says a line now and then."""
    last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > VERIFY_LINE_SECONDS:
            last = time.monotonic()
            say(f"{folder.name} is verified: {done / 1e9:.1f} of {total / 1e9:.1f} GB")

    return tell
