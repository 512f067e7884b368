"""A combination: the mixture of programs pooled with models of statsforecast, all of equal weight."""

import importlib.util
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.forecasting.peers import (
    LEAST_DEVIATION_SHARE,
    STATSFORECAST_MODELS,
    foreseen_by,
    lagged,
    season_of,
)
from wakesleep.domains.timeseries.reading.series import Series
from wakesleep.domains.timeseries.statespace.mixture import Mixture, mixed
from wakesleep.errors import Refusal, require_one_of


def combine(ahead: Mixture, series: Series, positions: Float[np.ndarray, "h"], names: Sequence[str]) -> Mixture:
    """Returns the mixture of programs with a member for each named model, whose bands are read as symmetric.

    The pool is linear: (p_programs + p_1 + ... + p_k) / (k + 1). A member has the programs' degrees of freedom.
    """
    for name in names:
        require_one_of("combine", name, STATSFORECAST_MODELS)
    if names and importlib.util.find_spec("statsforecast") is None:
        raise Refusal("A combination needs statsforecast: install it with pip install 'wakesleep[peers]'.")
    return mixed([(1.0, ahead), *((1.0, _member(ahead, name, series, positions)) for name in dict.fromkeys(names))])


def _member(ahead: Mixture, name: str, series: Series, positions: Float[np.ndarray, "h"]) -> Mixture:
    point, deviation = foreseen_by(name, series, positions)
    least = LEAST_DEVIATION_SHARE * float(np.abs(lagged(series, season_of(series))).mean())
    scale = np.maximum(deviation, max(least, np.finfo(float).tiny))
    return Mixture(np.ones(1), point[:, None], scale[:, None], np.zeros(1, bool), ahead.freedom, ahead.least)
