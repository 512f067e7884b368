"""Series: drawn from random expressions, embedded, of the UCR archive, the classic ones, or columns of a table."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from wakesleep.core.model import Model, Observations
from wakesleep.data import downloads as datasets
from wakesleep.domains.contract import Dataset
from wakesleep.domains.timeseries.evaluator import GaussianProcess
from wakesleep.domains.timeseries.hybrid import HybridPrior, HybridProcess, HybridRecognition
from wakesleep.domains.timeseries.kernels import layout
from wakesleep.domains.timeseries.language import ALL_KERNELS, Kernel, kernel_names, program, rules
from wakesleep.domains.timeseries.likelihood import Series
from wakesleep.domains.timeseries.networks import KernelPrior, SeriesRecognition
from wakesleep.domains.timeseries.reading.tables import read_series
from wakesleep.domains.timeseries.records import Record, is_even, observe, record_of, shorten, tidy
from wakesleep.errors import Refusal, require_at_least, require_one_of

SOURCES = ("drawn", "embedded", "ucr", "classic")
CLASSIC = (
    "airline", "solar", "mauna", "wheat", "temperature", "internet", "call_centre", "radio", "gas_production",
    "sulphuric", "unemployment", "births", "wages", "sunspots", "wheat_prices_1264_1996",
)  # fmt: skip
TRUTHS = ("SE + WN", "Per + WN", "SE*Per + WN", "SE + Per + WN", "SE + SE + WN", "SE + SE*Per + WN")
"""The expressions from which series are drawn."""
SHORTEST_EXPRESSION = 3


@dataclass(frozen=True)
class Settings:
    """The settings of the time series domain."""

    series: str = "drawn"
    """drawn (from random expressions), embedded (carbon dioxide at Mauna Loa), ucr (1,000 series of the archive) or
    classic (15 series of the literature)."""
    observations: int = 0
    """The number of series; 0 takes all, or 100 where they are drawn."""
    points: int = 256
    """The most points of a series; longer ones are resampled."""
    kernels: str = ALL_KERNELS
    """The kernels of expressions; the paper's are "C SE Per WN"."""
    scaled: bool = True
    """Every term has a variance of its own; else, as in the paper, a factor C gives one."""
    length: int = 11
    """The most tokens of an expression."""
    hidden: int = 32
    fit_steps: int = 20
    """Iterations by which the continuous variables of a program are fitted at each visit."""
    hybrid: bool = False
    """Continuous variables are random variables, which recognition draws and hmws integrates out; none is fitted."""
    data_seed: int = 0
    data: Path | None = None

    def __post_init__(self) -> None:
        """Refuses settings that make no sense."""
        require_one_of("series", self.series, SOURCES)
        kernel_names(self.kernels)
        least = {"observations": 0, "points": 8, "length": SHORTEST_EXPRESSION, "hidden": 2, "fit_steps": 0}
        for name, value in least.items():
            require_at_least(name, getattr(self, name), value)


def load(settings: Settings) -> Dataset:
    """Reads the series of the user's table where one is named, else of the source that the settings name."""
    if settings.data is None and settings.series == "drawn":
        _, data = draw(jax.random.key(settings.data_seed), settings.observations or 100, settings.points)
        names = [f"series {i}" for i in range(len(data))]
        return Dataset(
            data, None, names, f"{len(data)} series of {settings.points} points drawn from known expressions"
        )
    found = tabled(settings.data) if settings.data is not None else records(settings.series)
    found = [shorten(r, settings.points) for r in found[: settings.observations or None]]
    x = observe(found, max(len(r.times) for r in found))
    where = settings.data.name if settings.data is not None else settings.series
    notes = sorted({f"{r.name}: {'; '.join(r.notes)}" for r in found if r.notes})
    shown = "; ".join(notes) if len(notes) <= 3 else f"{len(notes)} of them resampled or tidied"
    note = f"{len(found)} series from {where}, each scaled to mean 0 and variance 1" + f" ({shown})" * bool(notes)
    return Dataset(Observations(x), None, [r.name for r in found], note)


def records(source: str) -> list[Record]:
    """Returns the series of a source, tidied."""
    if source == "embedded":
        return tabled(Path(str(files(__package__) / "co2.csv")))
    if source == "classic":
        return [classic(name) for name in CLASSIC]
    return list(ucr())


def tabled(path: Path) -> list[Record]:
    """Returns the series of a table, tidied; those that are too short or constant are left out, unless all are."""
    found, refused = [], []
    for series in read_series(path):
        try:
            found.append(tidy(record_of(series)))
        except Refusal as why:
            refused.append(why)
    if not found:
        raise refused[0]
    return found


def classic(name: str) -> Record:
    """Returns one of the classic series; its times are years."""
    t, v = np.loadtxt(datasets.find(f"timeseries_classic/{name}.csv"), delimiter=",", skiprows=1).T
    return tidy(Record(name, t, v, "years"))


@cache
def ucr() -> tuple[Record, ...]:
    """Returns the 1,000 series of the archive at their native lengths."""
    with np.load(datasets.find("ucr/ucr1000.npz")) as file:
        values, offsets, kinds, names = (file[k] for k in ("values", "offsets", "dataset", "dataset_names"))
    parts = [values[a:b].astype(float) for a, b in pairwise(offsets)]
    return tuple(
        tidy(Record(f"{names[k]} {i}", np.arange(float(len(v))), v))
        for i, (v, k) in enumerate(zip(parts, kinds, strict=True))
    )


def build(key: Key[Array, ""], settings: Settings, data: Observations) -> Model:
    """Returns an untrained model: broad priors; Toeplitz likelihoods where every series is on a regular grid."""
    key_prior, key_recognition = jax.random.split(key)
    x: Series = data.x
    grammar = rules(settings.kernels, settings.scaled)
    arguments = (settings.hidden, grammar, settings.length, settings.scaled)
    regular = isinstance(x.times, jax.core.Tracer) or all(is_even(t) for t in np.asarray(x.times, float))
    if settings.hybrid:
        return Model(
            HybridPrior(key_prior, *arguments),
            HybridProcess(x.times.shape[1], settings.scaled, regular),
            HybridRecognition(key_recognition, *arguments),
        )
    return Model(
        KernelPrior(key_prior, *arguments),
        GaussianProcess(x.times.shape[1], settings.scaled, regular, settings.fit_steps),
        SeriesRecognition(key_recognition, *arguments),
    )


def programs(settings: Settings, data: Observations) -> Kernel | None:
    """Returns None: there are too many expressions to list."""
    return None


@eqx.filter_jit
def draw(key: Key[Array, ""], count: int, points: int) -> tuple[Int[Array, "n t"], Observations]:
    """Draws a series from each expression of `TRUTHS` in turn, with variables clear enough to be seen."""
    tokens = _truths(count)
    x = jax.vmap(GaussianProcess(points).draw)(
        jax.random.split(jax.random.split(key)[1], count), true_variables(key, count), tokens
    )
    return tokens, Observations(jax.vmap(normalise)(x))


def true_variables(key: Key[Array, ""], count: int) -> Float[Array, "n v"]:
    """Returns the variables that `draw` uses: noise of a tenth, and lengths and periods that fit the series."""
    centre = jnp.log(jnp.array([0.1, 0.5, 1.0, 1.0, 1.0, 0.1, 0.3, 0.2, 0.9, 0.1, 0.8, 1.0]))
    spread = jnp.array([0.4, 0.3, 0.3, 0.3, 0.2, 0.6, 0.4, 0.4, 0.2, 0.5, 0.3, 0.0])
    kind = jax.vmap(lambda tokens: layout(tokens, True).kind)(_truths(count))
    return centre[kind] + spread[kind] * jax.random.normal(jax.random.split(key)[0], kind.shape)


def _truths(count: int) -> Int[Array, "n t"]:
    return jnp.stack([jnp.asarray(program(TRUTHS[i % len(TRUTHS)], 11)) for i in range(count)])


def normalise(x: Series) -> Series:
    """Returns the series with zero mean and unit variance."""
    weight = x.present / jnp.sum(x.present)
    mean = weight @ x.values
    deviation = jnp.sqrt(weight @ (x.values - mean) ** 2)
    return x._replace(values=jnp.where(x.present, (x.values - mean) / deviation, 0.0))
