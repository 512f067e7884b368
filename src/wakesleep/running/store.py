"""Observations of a domain as arrays by name, and stores of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import jax
import numpy as np

from wakesleep.core.model import Observations
from wakesleep.data import memmap
from wakesleep.domains.contract import Dataset, Domain
from wakesleep.errors import Refusal


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


def read_dataset(folder: Path, domain: Domain) -> Dataset:
    """The observations of a store, which stay on the disk until their rows are asked for."""
    found = memmap.read(folder)
    if found.about.get("domain") != domain.name:
        raise Refusal(f"{folder} is a store of {found.about.get('domain')}, not of {domain.name}.")
    if (train := assemble(found.arrays, domain)) is None:
        raise Refusal(f"{folder} has the arrays {', '.join(found.arrays)}, which observations of {domain.name} lack.")
    note = f"{found.rows} observations mapped from the store {folder.name}"
    return Dataset(train, None, Numbered("observation", found.rows), note, found.digest)


def arrays_of(data: Observations, domain: Domain) -> dict[str, np.ndarray]:
    """The arrays of observations by the names of their fields, such as x.image, from which `assemble` makes them."""
    leaves = jax.tree_util.tree_leaves_with_path(data)
    found = {jax.tree_util.keystr(path).strip("."): np.asarray(leaf) for path, leaf in leaves}
    structure: Any = jax.tree.structure(data)
    if structure != jax.tree.structure(assemble(found, domain)):
        raise Refusal(
            f"Observations of {domain.name} cannot be stored: its Domain must name the type of x, a named tuple of "
            "arrays (observation=...)."
        )
    return found


def assemble(arrays: dict[str, Any], domain: Domain) -> Observations | None:
    """Observations from arrays by the names of their fields, or None where these are not a domain's."""
    names = [f"x.{field}" for field in domain.observation._fields] if domain.observation is not None else ["x"]
    if not set(arrays) <= {*names, "c"} or not set(arrays) & set(names):
        return None
    parts = [arrays.get(name) for name in names]
    return Observations(domain.observation(*parts) if domain.observation is not None else parts[0], arrays.get("c"))
