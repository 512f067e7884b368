"""Whether a run ended well: one that explains next to nothing, or has diverged, must not look like a success."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wakesleep.errors import Refusal
from wakesleep.running.train import Progress, Report

LEAST_EXPLAINED_SHARE = 0.05
LEAST_VISITS = 10
"""Mean visits of an observation before which a run need not have found a program for it."""
DIVERGED_RATIO = 100.0
"""A bound this many times further below zero than the best one, and `DIVERGED_NATS`, is one that has diverged."""
DIVERGED_NATS = 1000.0
WORSE_RATIO, WORSE_NATS = 1.5, 10.0
"""A bound this many times further below zero than that of the untrained model, and so many nats, is no success."""
UNTRAINED_STEP = 1
"""The step whose report is of the model as it was before any update."""


class Judge:
    """Passes on the reports of a run, remembers the best bound, and judges the end."""

    def __init__(self, report: Report, bounds: Iterable[float]):
        self.report = report
        self.best = max((b for b in bounds if math.isfinite(b)), default=-math.inf)
        self.untrained = -math.inf

    def __call__(self, now: Progress) -> None:
        """Takes note of a report."""
        self.report(now)
        if math.isfinite(now.bound):
            self.best = max(self.best, now.bound)
            if now.step == UNTRAINED_STEP:
                self.untrained = now.bound

    def check(self, last: dict[str, Any], visits: float, run: Path) -> None:
        """Refuses an end, given the last line of the metrics, at which little is explained or the bound is lost."""
        explained, bound = last.get("explained", 1.0), last.get("bound", math.nan)
        if explained < LEAST_EXPLAINED_SHARE and visits >= LEAST_VISITS:
            raise Refusal(
                f"{run} is written, but for {1 - explained:.0%} of the observations no program was found that can "
                "produce them: look for values in the data that the domain cannot produce, or give a smaller "
                "learning rate or more proposals."
            )
        worse = visits >= LEAST_VISITS and bound < min(WORSE_RATIO * self.untrained, self.untrained) - WORSE_NATS
        if worse or bound < min(DIVERGED_RATIO * self.best, 0.0) - DIVERGED_NATS:
            first = self.untrained if worse else self.best
            raise Refusal(
                f"{run} is written, but training has diverged: the bound fell from {first:.4g} to {bound:.4g} "
                "nats; give a smaller learning rate."
            )
