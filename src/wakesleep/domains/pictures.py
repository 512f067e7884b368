"""A picture of observations and of the programs found for them."""

from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np
from matplotlib.figure import Figure

from wakesleep.core.memory import Weighted
from wakesleep.core.model import Evaluator, Observations
from wakesleep.domains.contract import Domain
from wakesleep.domains.figures import save

MOST_ROWS, NARROWEST = 12, 6.0


def draw_posteriors(
    domain: Domain,
    evaluator: Evaluator,
    data: Observations,
    weighted: Weighted,
    names: Sequence[str],
    most: int,
    path: Path,
) -> Path:
    """One row for each observation (a dozen at most), one panel for each of its best programs."""
    rows = min(len(names), MOST_ROWS)
    programs, log_weight = jax.tree.map(np.asarray, tuple(weighted))
    figure = Figure(figsize=(max(1.8 * most, NARROWEST), 1.9 * rows))
    for row, part in enumerate(figure.subfigures(rows, 1, squeeze=False)[:, 0]):
        order = np.argsort(-log_weight[row], kind="stable")[:most]
        best = [
            (jax.tree.map(lambda a, k=k, row=row: a[row, k], programs), float(np.exp(log_weight[row, k])))
            for k in order
            if np.isfinite(log_weight[row, k])
        ]
        part.suptitle(names[row], fontsize=8, x=0.02, ha="left")
        if best:
            domain.picture(part, jax.tree.map(lambda a, row=row: np.asarray(a[row]), data.x), best, evaluator)
    return save(figure, path)
