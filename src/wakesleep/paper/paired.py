"""Comparisons item by item: numbers for each item kept in results files, and paired differences with intervals."""

import base64
import binascii
import zlib
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from wakesleep.errors import Refusal

UNITS_PER_NAT = 1000
"""Numbers are kept to the thousandth."""
PACKED_BYTES = 8_000_000
"""A packed text of more than two million numbers is refused."""
RESAMPLES = 10_000


def pack(values: Float[np.ndarray, "n"]) -> str:
    """Numbers in nats as text: thousandths in 32 bits, compressed, in base 85."""
    if not np.isfinite(values).all():
        raise Refusal("A likelihood that is not finite cannot be kept in a results file.")
    units = np.rint(np.asarray(values, np.float64) * UNITS_PER_NAT).astype("<i4")
    return base64.b85encode(zlib.compress(units.tobytes(), 9)).decode()


def unpack(text: str) -> Float[np.ndarray, "n"]:
    """The numbers of a packed text, in nats."""
    try:
        unzip = zlib.decompressobj()
        raw = unzip.decompress(base64.b85decode(text), PACKED_BYTES)
    except (ValueError, binascii.Error, zlib.error) as error:
        raise Refusal(f"A text of packed numbers cannot be read ({error}).") from None
    if not unzip.eof or len(raw) % 4:
        raise Refusal("A text of packed numbers is too long or cut off.")
    return np.frombuffer(raw, "<i4").astype(np.float64) / UNITS_PER_NAT


class Difference(NamedTuple):
    """A mean over items and the 95 % interval that the bootstrap gives it."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.1f} [{self.low:+.1f}, {self.high:+.1f}]"


def paired(first: list[np.ndarray], second: list[np.ndarray], resamples: int = RESAMPLES) -> Difference:
    """The mean of `first` minus `second`, each a list of seeds over the same items.

    Items are resampled, and with them the seeds of either side where there are several: the interval is for other
    items and other seeds of the same kind.
    """
    a, b = np.stack(first), np.stack(second)
    if a.shape[1] != b.shape[1]:
        raise Refusal(f"Only the same items can be paired, but there are {a.shape[1]} and {b.shape[1]}.")
    random = np.random.default_rng(0)
    means = np.empty(resamples)
    for i in range(resamples):
        items = random.integers(0, a.shape[1], a.shape[1])
        chosen = [side[random.integers(0, len(side), len(side))][:, items].mean() for side in (a, b)]
        means[i] = chosen[0] - chosen[1]
    low, high = np.quantile(means, (0.025, 0.975))
    return Difference(float(a.mean() - b.mean()), float(low), float(high))
