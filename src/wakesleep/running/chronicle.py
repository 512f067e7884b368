"""What is remembered for a few observations while a run learns: which programs, since when, and found by what.

Each look appends the report of the steps since the last one, and every watched row that has changed. The scores are
those of the row's last visit, so looking computes nothing on a device.
"""

from pathlib import Path
from typing import Any

import jax
import numpy as np

from wakesleep.core import processes
from wakesleep.core.memory import PHASES
from wakesleep.core.step import Info, State
from wakesleep.domains.contract import Domain
from wakesleep.running.run import append, read_lines

LEAST_CHANGE = 0.005
"""The change of a probability from which a row is written again."""
KEPT_DIGITS = 4
UNKNOWN_PHASE = "unknown"


class Chronicle:
    """Writes down the memory of the first `rows` observations as it changes."""

    def __init__(self, file: Path, domain: Domain, rows: int) -> None:
        self._file, self._domain, self._rows = file, domain, rows
        self._last: dict[int, dict[str, float]] = {}
        self._since: dict[tuple[int, str], tuple[int, str]] = {}
        for line in read_lines(file):
            for one in line.get("programs", ()):
                self._since[line["row"], one["program"]] = one["since"], one["by"]

    def see(self, state: State, info: Info) -> None:
        """Looks at a state, and appends what is new; nothing where several processes share the rows."""
        if processes.several():
            return
        step = int(state.step)
        report = {name: _finite(getattr(info, name)) for name in ("bound", "explained", "novel")}
        lines: list[dict[str, Any]] = [{"step": step, **report}]
        if state.memory is not None:
            count = min(self._rows, state.memory.log_joint.shape[0])
            memory = jax.tree.map(lambda a: np.asarray(a[:count]), state.memory)
            lines += [line for row in range(count) if (line := self._row(step, row, memory)) is not None]
        append(self._file, lines)

    def _row(self, step: int, row: int, memory: Any) -> dict[str, Any] | None:
        """Returns the line of a row, or None where it has hardly changed."""
        found: dict[str, float] = {}
        phases: dict[str, str] = {}
        log_joint = memory.log_joint[row].astype(np.float64)
        filled = np.flatnonzero(log_joint > -np.inf)
        for slot in filled:
            text = self._domain.show(jax.tree.map(lambda a, slot=slot: a[row, slot], memory.programs))
            found[text] = found.get(text, 0.0) + float(np.exp(log_joint[slot] - log_joint[filled].max()))
            phases.setdefault(text, UNKNOWN_PHASE if memory.phase is None else PHASES[int(memory.phase[row, slot])])
        total = sum(found.values())
        weights = {text: mass / total for text, mass in found.items()}
        if not weights or not self._changed(row, weights):
            return None
        self._last[row] = weights
        programs = [self._described(step, row, text, q, phases[text]) for text, q in weights.items()]
        return {"step": step, "row": row, "programs": programs}

    def _changed(self, row: int, weights: dict[str, float]) -> bool:
        last = self._last.get(row, {})
        return last.keys() != weights.keys() or any(abs(last[t] - q) >= LEAST_CHANGE for t, q in weights.items())

    def _described(self, step: int, row: int, text: str, q: float, phase: str) -> dict[str, Any]:
        """Returns a program with the step of the look at which it was first seen, and what had found it."""
        since, by = self._since.setdefault((row, text), (step, phase))
        return {"program": text, "q": round(q, KEPT_DIGITS), "since": since, "by": by}


def _finite(value: Any) -> float | None:
    """Returns a number that JSON can carry."""
    number = float(value)
    return number if np.isfinite(number) else None
