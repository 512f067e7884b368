"""Clusterings in words and pictures."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from matplotlib.patches import Ellipse

from wakesleep.domains.clusters.language import ABSENT

CLUSTER_COLOURS = ("#3366cc", "#dc6a12", "#2f9e44", "#c2255c", "#7048e8", "#0b7285", "#e8a10c", "#868e96")


def show(z: Int[np.ndarray, "j"]) -> str:
    """Returns the clusters as sets of point numbers, such as {1,2,5} {3,4}."""
    labels = [k for k in dict.fromkeys(z.tolist()) if k != ABSENT]
    sets = [",".join(str(j + 1) for j in np.flatnonzero(z == k)) for k in labels]
    return " ".join(f"{{{s}}}" for s in sets)


def words(x: Float[np.ndarray, "j d"]) -> list[list[float]]:
    """Returns the points, to two decimals."""
    return [[round(float(v), 2) for v in point] for point in x]


def picture(figure: FigureBase, x: Float[np.ndarray, "j d"], programs: Any, evaluator: Any) -> None:
    """Draws a panel for each (program, probability), with clusters coloured and numbered."""
    axes = figure.subplots(1, len(programs), sharex=True, sharey=True, squeeze=False)[0]
    for axis, (z, probability) in zip(axes, programs, strict=True):
        scatter(axis, x, z)
        axis.set_title(f"{100 * probability:.0f} %", fontsize=9)


def scatter(axis: Axes, x: Float[np.ndarray, "j d"], z: Int[np.ndarray, "j"]) -> None:
    """Draws the first two coordinates of the points, coloured by cluster."""
    here = z != ABSENT
    across, up = x[here, 0], x[here, 1] if x.shape[1] > 1 else np.zeros(int(here.sum()))
    axis.scatter(across, up, c=[CLUSTER_COLOURS[k % len(CLUSTER_COLOURS)] for k in z[here]], s=22, zorder=3)
    reach = max(2.5, 1.15 * float(np.abs(x[here]).max()))  # one scale for all groups, unless one reaches further
    axis.set(xticks=[], yticks=[], aspect="equal", xlim=(-reach, reach), ylim=(-reach, reach))


def predictive(
    axis: Axes, x: Float[np.ndarray, "j d"], z: Int[np.ndarray, "j"], sigma: Float[np.ndarray, "d d"]
) -> None:
    """Draws each cluster's posterior predictive as grey ellipses of one and two standard deviations."""
    precision = np.linalg.inv(sigma)
    for k in sorted(set(z.tolist()) - {ABSENT}):
        members = x[z == k]
        covariance = np.linalg.inv(np.eye(x.shape[1]) + len(members) * precision)
        mean = covariance @ precision @ members.sum(axis=0)
        values, vectors = np.linalg.eigh(covariance + sigma)
        angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
        for deviations in (1, 2):
            across, along = 2 * deviations * np.sqrt(values)
            axis.add_patch(Ellipse(tuple(mean), along, across, angle=angle, color="#868e96", alpha=0.22, lw=0))
