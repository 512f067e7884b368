"""Groups of points: drawn from the true model by seed, or read from a table with a group column."""

from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from wakesleep.core.keys import fused
from wakesleep.core.model import Model, Observations, dream
from wakesleep.data.tables import Column, read_table
from wakesleep.domains.clusters.evaluator import GaussianClusters
from wakesleep.domains.clusters.language import RestaurantPrior, partitions
from wakesleep.domains.clusters.networks import LabelTable
from wakesleep.domains.contract import Dataset
from wakesleep.errors import Refusal, require_at_least

MOST_GROUP_POINTS = 30
MOST_ENUMERATED_POINTS = 9


@dataclass(frozen=True)
class Settings:
    """The settings of the clusters domain."""

    observations: int = 100
    points: int = 7
    variance: float = 0.03
    alpha: float = 1.0
    start: float = 1.0
    """The cluster variance that learning begins with."""
    data_seed: int = 0
    width: int = 16
    data: Path | None = None
    group: str = "group"

    def __post_init__(self) -> None:
        """Refuses settings that make no sense."""
        for name in ("observations", "points", "width"):
            require_at_least(name, getattr(self, name), 1)
        if self.points > MOST_GROUP_POINTS:
            raise Refusal(f"points must be at most {MOST_GROUP_POINTS}, but {self.points} was given.")
        for name in ("variance", "alpha", "start"):
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
    """Returns an untrained model: Sigma is `start` times the identity."""
    _, points, dimensions = data.x.shape
    return Model(
        RestaurantPrior(points, settings.alpha),
        GaussianClusters(dimensions, settings.start),
        LabelTable(key, points, dimensions, settings.width),
    )


def programs(settings: Settings, data: Observations) -> Array | None:
    """Returns every partition, or None where there are too many or groups differ in size."""
    points = data.x.shape[1]
    if points > MOST_ENUMERATED_POINTS or bool(jnp.any(data.c != points)):
        return None
    return jnp.asarray(partitions(points))


def read(path: Path, group: str = "group") -> Dataset:
    """Groups of points from a table: a group column, every other column a coordinate.

    Coordinates are scaled to mean 0 and variance 1 over all points, since cluster means have a unit
    Gaussian prior.
    """
    found, coordinates = _table(path, group)
    values, labels = np.column_stack(list(coordinates.values())), np.array(found)
    spread = values.std(axis=0)
    if not np.all(spread > 0):
        constant = list(coordinates)[int(np.argmin(spread))]
        raise Refusal(f"Column {constant!r} of {path} is constant, so it cannot separate clusters: remove it.")
    values = (values - values.mean(axis=0)) / spread
    names = list(dict.fromkeys(found))
    members = [values[labels == name] for name in names]
    sizes = [len(m) for m in members]
    if max(sizes) > MOST_GROUP_POINTS:
        raise Refusal(
            f"Group {names[int(np.argmax(sizes))]!r} of {path} has {max(sizes)} points, but a group may have at "
            f"most {MOST_GROUP_POINTS}: split it, or sample from it."
        )
    x = np.zeros((len(names), max(sizes), len(coordinates)), np.float32)
    for row, points in enumerate(members):
        x[row, : len(points)] = points
    note = (
        f"{len(names)} groups of {min(sizes)} to {max(sizes)} points in {len(coordinates)} coordinates from "
        f"{path.name}, each coordinate scaled to mean 0 and variance 1"
    )
    return Dataset(Observations(jnp.asarray(x), jnp.asarray(sizes)), None, names, note)


def _table(path: Path, group: str) -> tuple[list[str], dict[str, Float[np.ndarray, "_"]]]:
    """The labels and the coordinates of a file's points, checked: all are there, and coordinates are finite numbers."""
    table = read_table(path, rows="all")
    if group not in table.names:
        raise Refusal(f"{path} has no column {group!r}; it has {', '.join(table.names)} (choose with group=NAME).")
    if table.rows == 0:
        raise Refusal(f"{path} has a header but no rows.")
    if len(table.columns) == 1:
        raise Refusal(f"{path} has no coordinates beside the column {group!r}.")
    coordinates = {column.name: _numbers(path, column) for column in table.columns if column.name != group}
    labels = [
        _require_label(path, group, *cell) for cell in zip(table[group].numbers, table[group].values, strict=True)
    ]
    return labels, coordinates


def _require_label(path: Path, group: str, row: int, label: str | None) -> str:
    if label is None or not label.strip():
        raise Refusal(f"Column {group!r} of {path} is empty in row {row}: every point needs a group.")
    return label.strip()


def _numbers(path: Path, column: Column) -> Float[np.ndarray, "n"]:
    """A column as finite numbers."""
    found = np.array([_number(path, column.name, value) for value in column.values])
    if not np.all(np.isfinite(found)):
        row = column.numbers[int(np.argmin(np.isfinite(found)))]
        raise Refusal(f"Column {column.name!r} of {path} has a value that is not a finite number (row {row}).")
    return found


def _number(path: Path, name: str, value: str | None) -> float:
    if value is None:
        return float("nan")
    try:
        return float(value.replace("_", "?"))  # Python, but nobody else, reads 1_000 as a number
    except ValueError:
        raise Refusal(
            f"Column {name!r} of {path} holds {value[:40]!r}, which is not numeric: remove the column, or name it as "
            "the group column (group=NAME)."
        ) from None
