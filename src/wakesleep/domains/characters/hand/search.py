"""Search: programs traced on the skeleton, fitted, then edited one change at a time; the best are remembered."""

import numpy as np
from jaxtyping import Int8

from wakesleep.domains.characters.hand import edits, trails
from wakesleep.domains.characters.hand.fit import Fit, Hand, fit
from wakesleep.domains.characters.hand.strokes import Program, structure

TRACES = 9
EDITED_PROGRAMS = 1
"""Programs whose edits are tried, at each round."""
EDIT_ROUNDS = 6
TRIAL_STEPS, FINAL_STEPS = 3, 8
PROMISING = 4
"""Edits that are fitted to the end, at each round."""


def search(
    hand: Hand,
    x: Int8[np.ndarray, "y x"],
    memory_size: int = 5,
    seed: int = 0,
    known: tuple[Program, ...] = (),
    traces: int = TRACES,
    rounds: int = EDIT_ROUNDS,
) -> list[Fit]:
    """Returns the best programs found for an image, the best first, as Laplace's evidence has it.

    Programs that are `known`, of an earlier search, take part.
    """
    if not np.any(x):
        return []
    rng = np.random.default_rng(seed)
    traced = [p for p in trails.programs(x > 0, rng, traces) if edits.is_possible(p)]
    started = _different([*known, *traced])
    memory = merge([], fit(hand, x, started), memory_size)
    tried: list[Program] = []
    for _ in range(rounds):
        best = memory[0].log_evidence
        sources = [m for m in memory[:EDITED_PROGRAMS] if not any(m.program is t for t in tried)]
        tried += [m.program for m in sources]
        changed = [p for m in sources for p in edits.redrawn(m.program) if edits.is_possible(p)]
        if not changed:
            break
        rough = fit(hand, x, changed, TRIAL_STEPS)
        rough = sorted(rough, key=lambda f: -f.log_evidence)[:PROMISING]
        memory = merge(memory, fit(hand, x, [f.program for f in rough], FINAL_STEPS), memory_size)
        if memory[0].log_evidence <= best:
            break
    return memory


def _different(programs: list[Program]) -> list[Program]:
    """Returns the programs without those whose pen strokes are all near those of an earlier one."""
    kept: dict[tuple, Program] = {}
    for program in programs:
        rounded = tuple(tuple(np.rint(p.knots).astype(int).ravel().tolist()) for p in program)
        kept.setdefault(rounded, program)
    return list(kept.values())


def merge(memory: list[Fit], found: list[Fit], size: int) -> list[Fit]:
    """Returns the best programs of a memory and of those found, the best first; of one structure the best one stays."""
    kept: dict[tuple[int, ...], Fit] = {}
    for one in sorted([*memory, *found], key=lambda f: -f.log_evidence):
        if np.isfinite(one.log_evidence):
            kept.setdefault(structure(one.program), one)
    return list(kept.values())[:size]
