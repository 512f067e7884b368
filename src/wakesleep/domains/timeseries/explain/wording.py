"""Fitted expressions in plain English."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from wakesleep.domains.timeseries.explain.neighbours import Part
from wakesleep.domains.timeseries.language import DECAYING, LIN, M12, M32, PER, RW, SE, SINGLE_KERNELS, WN, C

NAMED_PERIODS = {
    ("months", 12.0): "yearly",
    ("months", 3.0): "quarterly",
    ("months", 1.0): "monthly",
    ("days", 7.0): "weekly",
    ("days", 30.44): "monthly",
    ("days", 365.25): "yearly",
    ("days", 1.0): "daily",
    ("hours", 24.0): "daily",
    ("hours", 168.0): "weekly",
    ("minutes", 60.0): "hourly",
    ("minutes", 1440.0): "daily",
    ("weeks", 52.18): "yearly",
    ("years", 1.0): "yearly",
}
PERIOD_TOLERANCE = 0.02
"""A period within this share of a named one has its name."""
LEAST_SINE_ROUNDNESS, MOST_DETAILED_ROUNDNESS = 1.8, 0.6
LARGER_UNITS = {"months": (12, "years"), "hours": (24, "days"), "minutes": (60, "hours"), "seconds": (60, "minutes")}


class Units(NamedTuple):
    """The units of the user's series, in which the model's spans and deviations are said."""

    span: float
    time: str
    deviation: float
    log: bool = False
    """The values are logarithms: terms multiply."""
    rise: float = 0.0
    """By how much the line rises over the observed span, in the model's units of values."""


def sentence(parts: list[Part], units: Units, scaled: bool) -> str:
    """Returns a fitted expression as a sentence."""
    said = [say(part, units, scaled) for part in sorted(parts, key=_weight(scaled), reverse=True)]
    joined = (", times " if units.log else ", plus ").join(said)
    return joined[0].upper() + joined[1:] + "."


def _weight(scaled: bool) -> Callable[[Part], tuple[bool, float]]:
    """Returns the sort key of terms: by size, noise last."""

    def size(part: Part) -> tuple[bool, float]:
        has_scale = scaled or part.term[0] in (C, *SINGLE_KERNELS)
        return part.term != (WN,), part.values[0] if has_scale else 0.0

    return size


def say(part: Part, units: Units, scaled: bool) -> str:
    """Returns one term in words."""
    kinds = set(part.term)
    if kinds == {WN}:
        return _noise(float(np.exp(part.values[0])), units)
    if kinds == {C}:
        return "a constant level"
    if kinds == {LIN}:
        return _line(units)
    if kinds == {RW}:
        return _walk(float(np.exp(part.values[0])), units)
    values = list(part.values)
    if scaled or part.term[0] == C:
        values.pop(0)
    length, periodic = None, []
    for factor in part.term:
        if factor in DECAYING:
            length = float(np.exp(values.pop(0))) * units.span
        elif factor == PER:
            periodic.append((float(np.exp(values.pop(0))), float(np.exp(values.pop(0))) * units.span))
    decaying = next((f for f in part.term if f in DECAYING), None)
    if not periodic:
        assert decaying is not None and length is not None
        return _trend(decaying, length, units)
    return _pattern(periodic, decaying, length, units)


def _trend(kind: int, length: float, units: Units) -> str:
    if length > 2 * units.span:
        slow = {SE: "a smooth trend", M32: "a trend", M12: "a random walk"}[kind]
        return f"{slow} that hardly turns within the series"
    name = {
        SE: "a smooth trend with a typical length of",
        M32: "an irregular trend with a typical length of",
        M12: "a jagged wandering that forgets itself after about",
    }[kind]
    return f"{name} {duration(length, units.time)}"


def _pattern(periodic: list[tuple[float, float]], decaying: int | None, length: float | None, units: Units) -> str:
    said = " within ".join(_repeat(roundness, period, units) for roundness, period in periodic)
    if decaying is None or length is None or length > 3 * units.span:
        return said
    how = {SE: "changes slowly", M32: "changes", M12: "changes abruptly"}[decaying]
    return f"{said} {'and' if ' that ' in said else 'that'} {how}, over about {duration(length, units.time)}"


def _repeat(roundness: float, period: float, units: Units) -> str:
    shape = (
        "nearly sinusoidal "
        if roundness > LEAST_SINE_ROUNDNESS
        else "detailed "
        if roundness < MOST_DETAILED_ROUNDNESS
        else ""
    )
    article = "a"
    for (unit, usual), name in NAMED_PERIODS.items():
        if unit == units.time and abs(period / usual - 1) < PERIOD_TOLERANCE:
            return f"{article} {shape}{name} pattern"
    return f"{article} {shape}pattern that repeats every {duration(period, units.time)}"


def _line(units: Units) -> str:
    if units.log:
        way, factor = "growth" if units.rise >= 0 else "decline", np.exp(units.rise * units.deviation)
        return f"a steady {way} to {factor:.3g} times over the series"
    way = "rising" if units.rise >= 0 else "falling"
    return f"a straight line {way} by {abs(units.rise) * units.deviation:.3g} over the series"


def _walk(deviation: float, units: Units) -> str:
    """Returns a random walk in words, by its change over a tenth of the span."""
    size, time = deviation * np.sqrt(0.1) * units.deviation, duration(0.1 * units.span, units.time)
    by = f"{100 * (np.exp(size) - 1):.2g} %" if units.log else f"{size:.2g}"
    return f"a level that wanders, by about {by} in {time}"


def _noise(deviation: float, units: Units) -> str:
    if units.log:
        return f"noise of {100 * (np.exp(deviation * units.deviation) - 1):.2g} %"
    return f"noise of {deviation * units.deviation:.2g} ({100 * deviation:.2g} % of the spread)"


def duration(length: float, unit: str) -> str:
    """Returns a length of time in the words of its unit, or of the next larger one."""
    size, larger = LARGER_UNITS.get(unit, (0, ""))
    if size and length >= 3 * size:
        length, unit = length / size, larger
    number = f"{length:.0f}" if length >= 20 else f"{length:.2g}"
    return f"{number} {unit.removesuffix('s') if number == '1' and not unit.startswith('units') else unit}"
