"""Explanations by weighted programs: what any domain says of its observations, without more knowledge of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
from matplotlib.figure import Figure

from wakesleep.core.memory import Weighted
from wakesleep.core.model import Evaluator, Observations
from wakesleep.domains.contract import Domain, Explanation, Rows, Table
from wakesleep.domains.figures import save
from wakesleep.errors import Refusal

MOST_ROWS_DRAWN = 12
LEAST_INCHES_WIDE = 6.0


@dataclass(frozen=True)
class Programs(Explanation):
    """The programs found for some observations, with their probabilities."""

    domain: Domain
    evaluator: Evaluator
    data: Observations
    found: Weighted
    names: Sequence[str]
    most_drawn: int = 5
    note: str = ""
    """One line for the user: what was done to the data."""

    def notes(self) -> list[str]:
        """Returns the line on the data."""
        return [self.note] if self.note else []

    def rows(self, most: int = 5) -> Rows:
        """Returns the name of each observation and its most probable programs in words."""
        return [
            {"name": name, "programs": self._described(row)[:most]}
            for row, name in zip(range(len(self.names)), self.names, strict=False)
        ]

    def _described(self, row: int) -> list[dict[str, Any]]:
        """Returns the programs of one observation; those that read the same are one."""
        found: dict[str, dict[str, Any]] = {}
        for z, probability in self._best(row):
            one = found.setdefault(text := self.domain.show(z), {"program": text, "probability": 0.0})
            one["probability"] += probability
            if self.domain.remarks is not None and "remarks" not in one:
                one["remarks"] = self.domain.remarks(self._x(row), z)
        return list(found.values())

    def _best(self, row: int, most: int | None = None) -> list[tuple[Any, float]]:
        """Returns the possible programs of one observation and their probabilities, the most probable first."""
        programs, log_weight = jax.tree.map(np.asarray, tuple(self.found))
        order = np.argsort(-log_weight[row], kind="stable")[:most]
        return [
            (jax.tree.map(lambda a, k=k: a[row, k], programs), float(np.exp(log_weight[row, k])))
            for k in order
            if np.isfinite(log_weight[row, k])
        ]

    def _x(self, row: int) -> Any:
        return jax.tree.map(lambda a: np.asarray(a[row]), self.data.x)

    def table(self, most: int = 5, width: int = 80) -> list[Table]:
        """Returns one table: observation, probability, program."""
        rows: list[tuple[str, ...]] = []
        for one in self.rows(most):
            for i, p in enumerate(one["programs"]):
                said = f"{p['program']}; {p['remarks']}" if "remarks" in p else p["program"]
                rows.append((one["name"] if i == 0 else "", f"{100 * p['probability']:.1f} %", said))
            if not one["programs"]:
                rows.append((one["name"], "", "no program that could have produced it was found"))
        return [Table("programs", ("observation", "probability", "program"), rows)]

    def draw(self, path: Path) -> Path:
        """Draws one row for each observation (a dozen at most), one panel for each of its best programs."""
        if self.domain.picture is None:
            raise Refusal(f"Programs of {self.domain.name} cannot be drawn: the domain has no `picture`.")
        rows = min(len(self.names), MOST_ROWS_DRAWN)
        figure = Figure(figsize=(max(1.8 * self.most_drawn, LEAST_INCHES_WIDE), 1.9 * rows))
        for row, part in enumerate(figure.subfigures(rows, 1, squeeze=False)[:, 0]):
            part.suptitle(self.names[row], fontsize=8, x=0.02, ha="left")
            if best := self._best(row, self.most_drawn):
                self.domain.picture(part, self._x(row), best, self.evaluator)
        return save(figure, path)

    def write(self, name: str, path: Path) -> Path:
        """Writes the picture, the report or the film."""
        if name != "film":
            return super().write(name, path)
        if self.domain.film is None:
            raise Refusal(f"Programs of {self.domain.name} cannot be watched: the domain has no `film`.")
        return self.domain.film(self.evaluator, self._best(0, 1)[0][0], path)


@dataclass(frozen=True)
class Samples(Programs):
    """Programs drawn from the prior, each with the observation that it drew."""

    def rows(self, most: int = 5) -> Rows:
        """Returns each program and its observation."""
        return [
            {"program": self.domain.show(self._best(row)[0][0]), "observation": self.domain.words(self._x(row))}
            for row in range(len(self.names))
        ]

    def table(self, most: int = 5, width: int = 80) -> list[Table]:
        """Returns one table: program, observation."""
        shown: list[tuple[str, ...]] = [(r["program"], _in_lines(r["observation"])) for r in self.rows()]
        return [Table("new programs", ("program", "observation"), shown)]


def _in_lines(words: Any) -> str:
    """Returns an observation for a cell of a table; several texts, such as the rows of an image, are lines."""
    several = isinstance(words, list) and bool(words) and all(isinstance(w, str) for w in words)
    return "\n".join(words) if several else str(words)
