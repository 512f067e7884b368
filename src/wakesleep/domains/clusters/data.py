"""Groups of points: drawn from the true model by seed, or read from a CSV file with a group column."""

from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Array, Key

from wakesleep.core.keys import fused
from wakesleep.core.model import Model, Observations, dream
from wakesleep.domains.clusters.evaluator import GaussianClusters
from wakesleep.domains.clusters.language import RestaurantPrior, partitions
from wakesleep.domains.clusters.networks import LabelTable
from wakesleep.domains.contract import Dataset
from wakesleep.errors import Refusal, require_at_least

MOST_POINTS = 30
MOST_ENUMERATED = 9


@dataclass(frozen=True)
class Settings:
    """The settings of the clusters domain."""

    observations: int = 100
    points: int = 7
    variance: float = 0.03
    alpha: float = 1.0
    data_seed: int = 0
    width: int = 16
    data: Path | None = None
    group: str = "group"

    def __post_init__(self) -> None:
        """Refuses settings that make no sense."""
        for name in ("observations", "points", "width"):
            require_at_least(name, getattr(self, name), 1)
        if self.points > MOST_POINTS:
            raise Refusal(f"points must be at most {MOST_POINTS}, but {self.points} was given.")
        for name in ("variance", "alpha"):
            if not getattr(self, name) > 0:
                raise Refusal(f"{name} must be positive, but {getattr(self, name)} was given.")


def load(settings: Settings) -> Dataset:
    """Reads the user's file where one is named, else draws train and test sets from the true model."""
    if settings.data is not None:
        return read(settings.data, settings.group)
    key_train, key_test = jax.random.split(fused(jax.random.key(settings.data_seed)))
    note = (
        f"{settings.observations} groups of {settings.points} points drawn with cluster variance "
        f"{settings.variance:g} (data_seed {settings.data_seed}), and as many held out"
    )
    names = [f"group {i}" for i in range(settings.observations)]
    return Dataset(synthesise(key_train, settings), synthesise(key_test, settings), names, note)


def synthesise(key: Key[Array, ""], settings: Settings) -> Observations:
    """Draws groups from the true model of the settings, and returns them as observations."""
    c = jnp.full(settings.observations, settings.points)
    _, x = eqx.filter_jit(dream)(true_model(settings), key, c, settings.observations)
    return Observations(x, c)


def true_model(settings: Settings) -> Model:
    """Returns the model that generates the synthetic data (its recognition is untrained)."""
    data = Observations(jnp.zeros((1, settings.points, 2)), jnp.full(1, settings.points))
    model = build(fused(jax.random.key(0)), settings, data)
    return Model(model.prior, GaussianClusters(2, settings.variance), model.recognition)


def build(key: Key[Array, ""], settings: Settings, data: Observations) -> Model:
    """Returns an untrained model: Sigma is the identity."""
    _, points, dimensions = data.x.shape
    return Model(
        RestaurantPrior(points, settings.alpha),
        GaussianClusters(dimensions),
        LabelTable(key, points, dimensions, settings.width),
    )


def programs(settings: Settings, data: Observations) -> Array | None:
    """Returns every partition, or None where there are too many or groups differ in size."""
    points = data.x.shape[1]
    if points > MOST_ENUMERATED or bool(jnp.any(data.c != points)):
        return None
    return jnp.asarray(partitions(points))


def read(path: Path, group: str = "group") -> Dataset:
    """Groups of points from a CSV file: a group column, every other column a coordinate.

    Coordinates are scaled to mean 0 and variance 1 over all points, since cluster means have a unit
    Gaussian prior.
    """
    table = _table(path, group)
    coordinates = [c for c in table.columns if c != group]
    values = table.select(coordinates).to_numpy().astype(np.float64)
    spread = values.std(axis=0)
    if not np.all(spread > 0):
        constant = coordinates[int(np.argmin(spread))]
        raise Refusal(f"Column {constant!r} of {path} is constant, so it cannot separate clusters: remove it.")
    values = (values - values.mean(axis=0)) / spread
    labels = table[group].cast(pl.String).to_numpy()
    names = list(dict.fromkeys(labels))
    members = [values[labels == name] for name in names]
    sizes = [len(m) for m in members]
    if max(sizes) > MOST_POINTS:
        raise Refusal(
            f"Group {names[int(np.argmax(sizes))]!r} of {path} has {max(sizes)} points, but a group may have at "
            f"most {MOST_POINTS}: split it, or sample from it."
        )
    x = np.zeros((len(names), max(sizes), len(coordinates)), np.float32)
    for row, points in enumerate(members):
        x[row, : len(points)] = points
    note = (
        f"{len(names)} groups of {min(sizes)} to {max(sizes)} points in {len(coordinates)} coordinates from "
        f"{path.name}, each coordinate scaled to mean 0 and variance 1"
    )
    return Dataset(Observations(jnp.asarray(x), jnp.asarray(sizes)), None, names, note)


def _table(path: Path, group: str) -> pl.DataFrame:
    """The file's table, checked: it exists, has the group column, and its coordinates are finite numbers."""
    if not path.is_file():
        raise Refusal(f"{path} is not a file.")
    try:
        table = pl.read_csv(path, infer_schema_length=None)
    except pl.exceptions.NoDataError:
        raise Refusal(f"{path} is empty: a header and at least one row are needed.") from None
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise Refusal(f"{path} cannot be read as a CSV file: {str(error).splitlines()[0]}.") from None
    if group not in table.columns:
        raise Refusal(f"{path} has no column {group!r}; it has {', '.join(table.columns)} (choose with group=NAME).")
    if table.height == 0:
        raise Refusal(f"{path} has a header but no rows.")
    if len(table.columns) == 1:
        raise Refusal(f"{path} has no coordinates beside the column {group!r}.")
    for name in table.columns:
        if name != group:
            _require_finite(path, table[name])
    return table


def _require_finite(path: Path, column: pl.Series) -> None:
    if not column.dtype.is_numeric():
        raise Refusal(f"Column {column.name!r} of {path} is not numeric: remove it, or name it as the group column.")
    good = column.is_not_null() & column.cast(pl.Float64).is_finite().fill_null(False)
    if not good.all():
        line = int(good.arg_min() or 0) + 2
        raise Refusal(f"Column {column.name!r} of {path} has a value that is not a finite number (line {line}).")
