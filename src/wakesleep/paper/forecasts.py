"""Extrapolation of the classic series: the last tenth held out, this library beside a fixed kernel and other tools."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.domains.timeseries.data import classic
from wakesleep.domains.timeseries.expressions.explanation import Explanation, explain, explain_by
from wakesleep.domains.timeseries.expressions.knowledge import shipped
from wakesleep.domains.timeseries.expressions.neighbours import Part, assemble, new_term
from wakesleep.domains.timeseries.expressions.prediction import BAND_PROBABILITY
from wakesleep.domains.timeseries.expressions.search import Effort
from wakesleep.domains.timeseries.language import SE, Kernel, Term, program, terms_of, text_of
from wakesleep.domains.timeseries.records import Record, is_even
from wakesleep.paper.results import Row

CLASSIC_SEASON_LENGTH = dict.fromkeys(
    ("airline", "mauna", "call_centre", "radio", "gas_production", "sulphuric", "unemployment"), 12
)  # fmt: skip
"""Season lengths of monthly series, for the peers and the scale of MASE; the others count as without season."""
REGULAR_POINTS, RECENT_POINTS, CONDITIONED_POINTS = 1024, 160, 480
"""Most points searched on a regular grid and at irregular times, and the points that a prediction conditions on."""
NEARLY_WHOLE = 0.2
"""Times within this share of a step of whole steps are on them: months, in years, are."""
NORMAL_QUANTILE_95 = 1.6448536269514722


class Forecast(NamedTuple):
    """What a method says of the held-out values."""

    log_density: Float[np.ndarray, "t"]
    point: Float[np.ndarray, "t"]
    low: Float[np.ndarray, "t"]
    high: Float[np.ndarray, "t"]
    said: str = ""


class Split(NamedTuple):
    """A series without its last tenth, and that tenth."""

    train: Record
    times: Float[np.ndarray, "t"]
    values: Float[np.ndarray, "t"]


def split(record: Record) -> Split:
    """Returns the first nine tenths of the points, and the rest."""
    kept = len(record.times) - round(0.1 * len(record.times))
    train = record._replace(times=record.times[:kept], values=record.values[:kept])
    return Split(train, record.times[kept:], record.values[kept:])


def recent(record: Record, count: int) -> Record:
    """Returns the latest points of a record that is not on a regular grid; the whole of one that is."""
    if is_even(record.times):
        return record
    return record._replace(times=record.times[-count:], values=record.values[-count:])


def by_explanation(e: Explanation, part: Split) -> Forecast:
    """Returns the forecast by the mixture over an explanation's programs, in the series' own units."""
    ahead = e.predict(part.times, recent(part.train, CONDITIONED_POINTS))
    low, point, high = (ahead.quantile(q) for q in ((1 - BAND_PROBABILITY) / 2, 0.5, (1 + BAND_PROBABILITY) / 2))
    said = text_of(np.asarray(e.found[0].z.tokens).tolist()) + " of the logarithm" * e.log
    return Forecast(ahead.log_density(part.values), point, low, high, said)


def ours(part: Split, rounds: int) -> Forecast:
    """Returns the forecast of the library that ships; months are given their season, as the peers are."""
    from wakesleep.domains.timeseries.explain.explained import explain as explain_by_library
    from wakesleep.domains.timeseries.reading.series import Series

    positions = _steps(np.concatenate([part.train.times, part.times]))
    kept = len(part.train.times)
    season = CLASSIC_SEASON_LENGTH.get(part.train.name)
    series = Series(part.train.name, part.train.values, positions[:kept], seasons=(season,) if season else ())
    said = explain_by_library(series).predict(positions[kept:])
    low, point, high = (said.quantile(q) for q in ((1 - BAND_PROBABILITY) / 2, 0.5, (1 + BAND_PROBABILITY) / 2))
    return Forecast(said.log_density(part.values), point, low, high)


def _steps(times: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """Returns times in steps from the first, whole where they are nearly so."""
    if is_even(times):
        return np.arange(float(len(times)))
    steps = (times - times[0]) / np.median(np.diff(times))
    whole = np.round(steps)
    return whole if np.abs(steps - whole).max() < NEARLY_WHOLE and (np.diff(whole) > 0).all() else steps


def expressions(part: Split, rounds: int) -> Forecast:
    """Returns the forecast of kernel expressions, searched with the model that was trained on the archive."""
    return by_explanation(
        explain(recent(part.train, RECENT_POINTS), shipped(), Effort(rounds=rounds), REGULAR_POINTS), part
    )


def fixed(part: Split, rounds: int) -> Forecast:
    """Returns the forecast of the kernel SE + Per + WN alone, fitted from several lengths and periods."""
    terms = terms_of(program("SE + Per + WN", 11).tolist())

    def starts(periods: list[float]) -> list[Kernel]:
        pairs = [(longer, period) for longer in (-1.0, 0.0, 1.0, 2.0) for period in periods]
        made = [assemble([_start(t, longer, period) for t in terms], 11, True) for longer, period in pairs]
        return [z for z in made if z is not None]

    return by_explanation(explain_by(recent(part.train, RECENT_POINTS), shipped(), starts), part)


def _start(term: Term, longer: float, period: float) -> Part:
    """Returns a term with its usual variables; the log-length of an SE is increased by `longer`."""
    part = new_term(term, True, iter([period]))
    scale, *others = part.values
    return part._replace(values=(scale, *(v + longer * (term == (SE,)) for v in others)))


def peer(name: str) -> Callable[[Split, int], Forecast]:
    """Returns one of statsforecast's models as a method; its Gaussians come from its 90 % intervals."""

    def run(part: Split, rounds: int) -> Forecast:
        from statsforecast import models

        model = getattr(models, name)(season_length=CLASSIC_SEASON_LENGTH.get(part.train.name, 1))
        said = model.forecast(part.train.values.astype(np.float64), h=len(part.times), level=[90])
        mean, low, high = (np.asarray(said[k], float) for k in ("mean", "lo-90", "hi-90"))
        deviation = np.maximum((high - low) / (2 * NORMAL_QUANTILE_95), 1e-9)
        away = (part.values - mean) / deviation
        return Forecast(-0.5 * away**2 - np.log(deviation) - 0.5 * np.log(2 * np.pi), mean, low, high)

    return run


METHODS: dict[str, Callable[[Split, int], Forecast]] = {
    "wakesleep": ours,
    "kernel expressions": expressions,
    "SE + Per + WN": fixed,
}
PEERS = {name: peer(name) for name in ("AutoARIMA", "AutoETS", "AutoTheta")}


def measure(name: str, method: str, rounds: int) -> Row:
    """Returns the mean log density, the errors of the point forecast and the coverage of one series by one method."""
    part = split(classic(name))
    said = (METHODS | PEERS)[method](part, rounds)
    error = part.values - said.point
    season = CLASSIC_SEASON_LENGTH.get(name, 1)
    naive = np.abs(part.train.values[season:] - part.train.values[:-season]).mean()
    inside = (part.values >= said.low) & (part.values <= said.high)
    found = {
        "log_density": round(float(said.log_density.mean()), 4),
        "log_density_error": round(float(said.log_density.std() / np.sqrt(len(error))), 4),
        "rmse": float(f"{np.sqrt((error**2).mean()):.6g}"),
        "mase": round(float(np.abs(error).mean() / naive), 4),
        "coverage": round(float(inside.mean()), 4),
        "held_out": len(error),
    }
    return found | ({"expression": said.said} if said.said else {})


def peers_installed() -> bool:
    """Returns whether the other tools can be called."""
    import importlib.util

    return importlib.util.find_spec("statsforecast") is not None
