"""The learned combination: a small network from features to the log-odds that a value is an error."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from wakesleep.errors import Refusal

WEIGHTS = Path(__file__).with_name("weights.json")
FARTHEST = 8.0
"""Standard deviations at which features are clipped."""
UNASKED_SHARE = 0.97
"""Share of legitimate values that is accepted after many rows where no other is asked for."""
KEEPING = 1 / 3
"""How far the usual threshold goes from that of many rows to one that keeps the share: best on tables of packages."""
HEADS = ("damaged", "stranger")
"""What an error may be: a damaged value of the column, or a value of another column."""


@dataclass(frozen=True)
class Net:
    """One hidden layer of rectified units beside a linear map; one output for each of `HEADS`."""

    mean: np.ndarray
    scale: np.ndarray
    hidden: np.ndarray
    hidden_bias: np.ndarray
    output: np.ndarray
    direct: np.ndarray
    bias: np.ndarray

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """Returns the log-odds of an error for each row of features and each head."""
        x = features - self.mean
        x *= self.scale
        np.clip(x, -FARTHEST, FARTHEST, out=x)
        units = np.maximum(x @ self.hidden + self.hidden_bias, 0)
        found: np.ndarray = units @ self.output + x @ self.direct + self.bias
        return found

    def as_dict(self) -> dict[str, Any]:
        """Returns the weights as JSON: shapes and base64 of little-endian float32."""
        return {f.name: _written(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def restore(cls, given: Mapping[str, Any]) -> "Net":
        """Returns the network that `as_dict` described."""
        return cls(**{f.name: _read(given[f.name]) for f in fields(cls)})


def _written(array: np.ndarray) -> dict[str, Any]:
    return {"shape": list(array.shape), "data": base64.b64encode(array.astype("<f4").tobytes()).decode("ascii")}


def _read(given: Mapping[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(given["data"]), "<f4").reshape(given["shape"]).astype(np.float32)


@dataclass(frozen=True)
class Weights:
    """A network, the log-odds that each share of legitimate values stays below, and a card of how they were made.

    `thresholds` has a row for each number of `rows` fitted on and a column for each of `shares`; `usual_alarms` has,
    for each of `rows`, the share of legitimate later rows above the threshold where no share is asked for.
    """

    net: Net
    shares: np.ndarray
    rows: np.ndarray
    thresholds: np.ndarray
    usual_alarms: np.ndarray
    card: dict[str, Any]

    def threshold(self, share: float, rows: int) -> float:
        """Returns the log-odds of an error, above the column's offset, that `share` of legitimate rows stay below."""
        each = [np.interp(share, self.shares, at) for at in self.thresholds]
        return float(np.interp(np.log(rows), np.log(self.rows), each))

    def usual_threshold(self, rows: int) -> float:
        """Returns the threshold where no share is asked for.

        It lies between the one that keeps `UNASKED_SHARE` after as many rows and the one of many rows, which finds more
        errors, `KEEPING` of the way from the latter.
        """
        keeps, many = self.threshold(UNASKED_SHARE, rows), self.threshold(UNASKED_SHARE, int(self.rows[-1]))
        return many + KEEPING * (keeps - many)

    def expected_alarms(self, rows: int) -> float:
        """Returns the share of legitimate rows, of columns in general, that lies above the usual threshold."""
        return float(np.exp(np.interp(np.log(rows), np.log(self.rows), np.log(self.usual_alarms))))

    def as_dict(self) -> dict[str, Any]:
        """Returns the weights and their card as JSON."""
        return {
            "card": self.card,
            "shares": self.shares.tolist(),
            "rows": self.rows.tolist(),
            "thresholds": self.thresholds.round(4).tolist(),
            "usual_alarms": self.usual_alarms.round(4).tolist(),
            "net": self.net.as_dict(),
        }

    @classmethod
    def restore(cls, given: Mapping[str, Any]) -> "Weights":
        """Returns the weights that `as_dict` described."""
        shares, rows, usual = (np.array(given[k], float) for k in ("shares", "rows", "usual_alarms"))
        thresholds = np.array(given["thresholds"], float)
        if thresholds.shape != (len(rows), len(shares)) or usual.shape != rows.shape:
            raise ValueError("thresholds do not fit the rows and shares")
        return cls(Net.restore(given["net"]), shares, rows, thresholds, usual, dict(given["card"]))

    def write(self, path: Path) -> None:
        """Writes the weights to a JSON file."""
        path.write_text(json.dumps(self.as_dict(), indent=1) + "\n", encoding="utf-8")


def read_weights(path: Path) -> Weights:
    """Reads what `Weights.write` wrote; refuses a file that is not such."""
    try:
        return Weights.restore(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refusal(f"{path} does not hold the weights of a judge ({error}); train one, or install again.") from error


@cache
def shipped() -> Weights:
    """Returns the weights that the package carries, read once."""
    return read_weights(WEIGHTS)
