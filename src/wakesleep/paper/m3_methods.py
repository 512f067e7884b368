"""Methods of the M3 experiment and their measures; apart, so that processes that share a cell need no JAX."""

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.statespace.m3 import Competitor

NORMAL_QUANTILE_95 = 1.6448536269514722
LEAST_DEVIATION = 1e-9
COMBINED = ("AutoETS", "AutoTheta")
"""The models that are pooled with the programs in the row of the combination."""


class Said(NamedTuple):
    """What a method says of the future: point, ends of the 90 % band, and the log of its density at what came."""

    point: Float[np.ndarray, "h"]
    low: Float[np.ndarray, "h"]
    high: Float[np.ndarray, "h"]
    log_density: Float[np.ndarray, "h"]


Method = Callable[[Competitor], Said]


def ours(one: Competitor, combine: tuple[str, ...] = ()) -> Said:
    """Returns what an explanation of the past forecasts, pooled with the named models of statsforecast."""
    from wakesleep.domains.timeseries.explain import explain_series

    found = explain_series(one.past.tolist(), season=one.season)
    ahead = found.ahead(found.series.future(len(one.future)), combine)
    low, point, high = (ahead.quantile(q) for q in (0.05, 0.5, 0.95))
    return Said(point, low, high, ahead.log_density(one.future))


def peer(name: str) -> Method:
    """Returns one of statsforecast's models as a method; its distribution is the normal with its 90 % band."""

    def run(one: Competitor) -> Said:
        from statsforecast import models

        said = getattr(models, name)(season_length=one.season).forecast(
            one.past.astype(np.float64), h=len(one.future), level=[90]
        )
        point, low, high = (np.asarray(said[k], float) for k in ("mean", "lo-90", "hi-90"))
        deviation = np.maximum((high - low) / (2 * NORMAL_QUANTILE_95), LEAST_DEVIATION)
        log_density = -0.5 * ((one.future - point) / deviation) ** 2 - np.log(deviation) - 0.5 * np.log(2 * np.pi)
        return Said(point, low, high, log_density)

    return run


M3_PEERS: dict[str, Method] = {name: peer(name) for name in ("AutoETS", "AutoARIMA", "AutoTheta", "SeasonalNaive")}
M3_METHODS: dict[str, Method] = (
    {"wakesleep": ours} | M3_PEERS | {f"wakesleep + {' + '.join(COMBINED)}": partial(ours, combine=COMBINED)}
)


def measure(one: Competitor, method: str) -> dict[str, float]:
    """Returns the measures of one series; densities are of values in naive scales, and CPU in seconds."""
    start = time.process_time()
    said = M3_METHODS[method](one)
    cpu = time.process_time() - start
    scale = one.naive_scale
    inside = (one.future >= said.low) & (one.future <= said.high)
    return {
        "mase": float(np.abs(one.future - said.point).mean() / scale),
        "log_density": float(said.log_density.mean() + np.log(scale)),
        "coverage": float(inside.mean()),
        "cpu": cpu,
    }
