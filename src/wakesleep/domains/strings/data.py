"""Concepts, each shown by a few strings: those printed in the paper, its whole data set, or columns of a table."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from wakesleep.core.dropout import DropoutPrior
from wakesleep.core.model import Model, Observations, Program
from wakesleep.core.networks import LstmWriter, TokenPrior
from wakesleep.data import downloads as datasets
from wakesleep.data.tables import few_shot, read_table
from wakesleep.domains.contract import Dataset
from wakesleep.domains.strings.evaluator import ABSENT, Regex, Strings, as_strings
from wakesleep.domains.strings.language import CHARACTERS, RULES
from wakesleep.domains.strings.networks import StringRecognition, start_bias
from wakesleep.domains.strings.strays import LARGEST_RATE, Strays
from wakesleep.errors import Refusal, require_at_least, require_one_of, require_share

CONCEPT_FILES = {
    "paper": ["string_concepts/paper/background.jsonl"],
    "novel": ["string_concepts/paper/novel.jsonl"],
    "large": ["string_concepts/concepts.jsonl"],
    "all": ["string_concepts/paper/background.jsonl", "string_concepts/concepts.jsonl"],
    "calibration": ["string_concepts/concepts.jsonl"],
}
CALIBRATION_EVERY = 8
"""One in so many concepts of the large set is kept out of "all", to calibrate on."""
SHORTEST_REGEX = 2


@dataclass(frozen=True)
class Settings:
    """The settings of the strings domain."""

    concepts: str = "appendix"
    """appendix (43 concepts, embedded), paper (its 1,000 background concepts), novel (its others), large (a collection
    made by the same rules), all (paper and seven eighths of large) or calibration (the last eighth)."""
    strings: int = 5
    longest: int = 0
    """The most characters that a string may have; 0 takes the longest of the data."""
    length: int = 20
    """The most tokens that a regex may have."""
    hidden: int = 64
    unseen: float = 0.02
    """The share of a regex's tokens that may be any, whatever was learned: the prior is never too sure of itself."""
    dropout: float = 0.0
    """The share of the units of the prior's network that are left out, at random, where it is trained."""
    stray: float = 0.0
    """The probability, before learning, that a string comes from no program; 0: every string comes from its program."""
    stray_learned: bool = True
    """Whether that probability is learned, where it is not 0."""
    data: Path | None = None

    def __post_init__(self) -> None:
        """Refuses settings that make no sense."""
        require_one_of("concepts", self.concepts, ("appendix", *CONCEPT_FILES))
        for name, least in (("strings", 1), ("longest", 0), ("length", SHORTEST_REGEX), ("hidden", 2)):
            require_at_least(name, getattr(self, name), least)
        require_share("unseen", self.unseen)
        require_share("dropout", self.dropout)
        if not 0 <= self.stray < LARGEST_RATE:
            raise Refusal(f"stray must be at least 0 and below {LARGEST_RATE}, but {self.stray} was given.")
        if self.dropout == 1:
            raise Refusal("dropout must be below 1: some of the prior's units have to stay.")
        if self.longest and self.longest < self.length:
            raise Refusal(f"longest must be at least length ({self.length}), but {self.longest} was given.")


class Concept(NamedTuple):
    """A concept: its name and some of its strings."""

    name: str
    train: list[str]
    test: list[str]
    more: list[str]


def load(settings: Settings) -> Dataset:
    """The columns of a user's table where one is named, else the concepts asked for."""
    if settings.data is not None:
        found = _own(settings.data, settings.strings)
        note = f"{len(found)} columns of {settings.data.name}, {settings.strings} distinct values of each"
    else:
        found = concepts(settings.concepts)
        note = f"{len(found)} string concepts ({settings.concepts}), {settings.strings} strings of each"
    kept = [c for c in found if all(in_alphabet(s) for s in c.train + c.test)]
    if not kept:
        raise Refusal("None of the concepts is made of printable ASCII characters alone.")
    if len(kept) < len(found):
        note += f" ({len(found) - len(kept)} left out, which have other characters than printable ASCII)"
    train, names = observe((c.train for c in kept), settings), [c.name for c in kept]
    test = observe((c.test for c in kept), settings) if all(c.test for c in kept) else None
    return Dataset(train, test, names, note)


def _own(path: Path, strings: int) -> list[Concept]:
    """The columns of a user's table, or the concepts of a file that `wakesleep collect` made."""
    if path.suffix == ".jsonl":
        return _lines(path)
    return _columns(path, strings)


def _columns(path: Path, strings: int) -> list[Concept]:
    table = read_table(path, rows="sample")
    found = [Concept(c.name, few_shot(c.present, strings), [], []) for c in table.columns if c.present]
    if not found:
        raise Refusal(f"{path} has no values in any column.")
    return found


def _lines(path: Path) -> list[Concept]:
    try:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return [Concept(r["header"], r["train"], r["test"], r.get("more", [])) for r in rows]
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise Refusal(f"{path} is not a file of concepts ({type(error).__name__}).") from None


def concepts(which: str) -> list[Concept]:
    """The concepts of that name."""
    if which == "appendix":
        lines = (files(__package__) / "appendix.jsonl").read_text().splitlines()
        return [Concept(strings[0], strings, [], []) for strings in map(json.loads, lines)]
    found = []
    for name in CONCEPT_FILES[which]:
        rows = _lines(datasets.find(name))
        if "paper" not in name and which in ("all", "calibration"):
            rows = [r for i, r in enumerate(rows) if (i % CALIBRATION_EVERY == 0) == (which == "calibration")]
        found += rows
    return found


def observe(groups: Iterable[list[str]], settings: Settings) -> Observations:
    """Groups of strings as arrays of one shape."""
    listed = [group[: settings.strings] for group in groups]
    found = max((len(s) for group in listed for s in group), default=1)
    if settings.longest and found > settings.longest:
        raise Refusal(f"A string has {found} characters, but longest is {settings.longest}.")
    longest = max(settings.longest or found, settings.length)
    stacked = [as_strings(group, settings.strings, longest) for group in listed]
    return Observations(jax.tree.map(lambda *a: jnp.asarray(np.stack(a)), *stacked))


def in_alphabet(text: str) -> bool:
    """Whether a text has printable ASCII characters alone."""
    return text.isascii() and text.isprintable()


def build(key: Key[Array, ""], settings: Settings, data: Observations) -> Model:
    """An untrained model."""
    key_prior, key_recognition = jax.random.split(key)
    x: Strings = data.x
    _, strings, longest = x.characters.shape
    counts = jnp.zeros(len(CHARACTERS) + 1).at[x.characters.reshape(-1)].add(1.0)[:-1]
    strays = None
    if settings.stray:
        present = jnp.sum(x.lengths != ABSENT).astype(counts.dtype)
        strays = Strays(settings.stray, counts, present, settings.stray_learned)
    plain = TokenPrior(LstmWriter(key_prior, settings.hidden, start_bias(), settings.unseen), RULES, settings.length)
    return Model(
        DropoutPrior(plain, settings.dropout) if settings.dropout else plain,
        Regex(strings, longest, counts, strays),
        StringRecognition(key_recognition, settings.hidden, settings.length, start_bias()),
    )


def programs(settings: Settings, data: Observations) -> Program | None:
    """There are too many regexes to list."""
    return None
