"""Every published number beside ours: the table of the results page."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wakesleep.paper import automata, characters, strings
from wakesleep.paper.results import Row, load
from wakesleep.paper.tables import markdown

LEVEL_SHARE = 0.02
"""Ours counts as reproduced within this share of the published number."""


class Published(NamedTuple):
    """A published table: its title, our results file, the rows of it that count, the measure, and the numbers."""

    title: str
    file: str
    counts: Callable[[Row], bool]
    measure: str
    numbers: dict[str, dict[int, float]]
    digits: int
    protocol: str


def _is_of_task(task: str, row: Row) -> bool:
    return bool(row["task"] == task)


TABLES_OF_THE_PAPER = (
    Published(
        "Strings: NLL of five held-out strings, nats",
        "strings.json",
        lambda row: row["split"] == "background",
        "nll",
        strings.PAPER,
        1,
        "the same concepts; search before evaluation",
    ),
    Published(
        "Characters: bits a pixel, training images",
        "characters.json",
        lambda row: row["split"] == "train",
        "bits_per_pixel",
        characters.PAPER,
        3,
        "other steps and evaluation",
    ),
    *(
        Published(
            f"Automata, {task}: distance of the rule, points",
            "automata.json",
            partial(_is_of_task, task),
            "distance",
            automata.PAPER[task],
            2,
            "other images and steps",
        )
        for task in ("easy", "hard")
    ),
)


def table_published(folder: Path) -> str:
    """Returns a table for each published one: our numbers, the paper's in parentheses, and verdicts."""
    caption = (
        "Ours, and the paper's in parentheses; lower is better everywhere. Ours is a mean over seeds. The verdicts of "
        f"a line: how many are better / reproduced, within {LEVEL_SHARE:.0%} of the published number / worse. An empty "
        "place has not been run."
    )
    return "\n\n".join([*(_table(published, folder) for published in TABLES_OF_THE_PAPER), caption])


def _table(published: Published, folder: Path) -> str:
    """Returns our numbers beside those of one published table."""
    table = load(folder / published.file) or {"rows": []}
    rows = [row for row in table["rows"] if published.counts(row)]
    ks = sorted({k for numbers in published.numbers.values() for k in numbers})
    lines = [_line(published, algorithm, ks, rows) for algorithm in published.numbers]
    head = ["", *(f"K = {k}" for k in ks), "verdicts", "seeds", "steps"]
    return f"**{published.title}** ({published.protocol}).\n\n" + markdown(head, lines)


def _line(published: Published, algorithm: str, ks: list[int], rows: list[Row]) -> list[str]:
    """Returns the line of an algorithm: the longest runs of each K."""
    shown, verdicts, seeds, steps = [], [], set(), set()
    for k in ks:
        paper = published.numbers[algorithm].get(k)
        some = [row for row in rows if (row["algorithm"], row.get("K")) == (algorithm, k)]
        longest = max((row["steps"] for row in some), default=0)
        some = [row for row in some if row["steps"] == longest]
        if paper is None or not some:
            shown.append("" if paper is None else f"({paper:.{published.digits}f})")
            continue
        ours = float(np.mean([row[published.measure] for row in some]))
        shown.append(f"{ours:.{published.digits}f} ({paper:.{published.digits}f})")
        verdicts.append(verdict_of(ours, paper))
        seeds.add(sum(row.get("seeds", 1) for row in some))
        steps.add(longest)
    counts = " / ".join(str(verdicts.count(word)) for word in ("better", "reproduced", "worse"))
    return [algorithm, *shown, counts, _span(seeds), _span(steps)]


def _span(values: set[int]) -> str:
    """Returns the least and the greatest, once where they agree."""
    return " to ".join(f"{value:,}" for value in sorted({min(values), max(values)})) if values else ""


def verdict_of(ours: float, published: float) -> str:
    """Returns how a number, where less is better, stands to the published one."""
    if abs(ours - published) <= LEVEL_SHARE * abs(published):
        return "reproduced"
    return "better" if ours < published else "worse"


TABLES = {"published": table_published}
