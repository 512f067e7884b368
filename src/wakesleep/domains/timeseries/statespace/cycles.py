"""Periods that no calendar names: peaks of the periodogram that stand out from the frequencies around them."""

import numpy as np
from jaxtyping import Float

OVERSAMPLED = 8
"""Frequencies for each that a series of its span can tell apart."""
LEAST_PERIOD_STEPS, LEAST_PERIODS_IN_SPAN = 2.5, 4
NEIGHBOURHOOD = 2.0
"""A peak is compared with the median power between its frequency divided and multiplied by this factor."""
LEAST_PROMINENCE = 14.0
MOST_CYCLE_PARTS = 2
MOST_IRREGULAR_POINTS, MOST_FREQUENCIES = 1500, 3000
FEWEST_POINTS_FOR_CYCLES = 40


def candidates(positions: Float[np.ndarray, "n"], values: Float[np.ndarray, "n"]) -> tuple[float, ...]:
    """Returns periods, in steps, that stand out in a series without its straight line, the strongest first."""
    if len(positions) < FEWEST_POINTS_FOR_CYCLES:
        return ()
    line = np.polynomial.Polynomial.fit(positions, values, 1)
    frequency, power = periodogram(positions, values - line(positions))
    inside = (power[1:-1] >= power[:-2]) & (power[1:-1] > power[2:])
    peaks = np.flatnonzero(inside) + 1
    near = [(frequency > frequency[i] / NEIGHBOURHOOD) & (frequency < frequency[i] * NEIGHBOURHOOD) for i in peaks]
    prominence = np.array([power[i] / np.median(power[band]) for i, band in zip(peaks, near, strict=True)])
    found: list[float] = []
    for k in np.argsort(-prominence):
        period = 1 / frequency[peaks[k]]
        harmonic = any(abs(q / period - round(q / period)) < 0.05 for q in found)
        if prominence[k] < LEAST_PROMINENCE or len(found) == MOST_CYCLE_PARTS:
            break
        if not harmonic:
            found.append(float(period))
    return tuple(found)


def periodogram(
    positions: Float[np.ndarray, "n"], values: Float[np.ndarray, "n"]
) -> tuple[Float[np.ndarray, "f"], Float[np.ndarray, "f"]]:
    """Returns rising frequencies in cycles a step, and the power at each."""
    span = positions[-1] - positions[0] + 1
    least, most = LEAST_PERIODS_IN_SPAN / span, 1 / LEAST_PERIOD_STEPS
    window = np.hanning(len(values) + 2)[1:-1] * values
    if (positions == np.round(positions)).all():
        size = OVERSAMPLED * int(span)
        grid = np.zeros(int(span))
        grid[(positions - positions[0]).astype(int)] = window
        frequency = np.arange(size // 2 + 1) / size
        power = np.abs(np.fft.rfft(grid, size)) ** 2
    else:
        positions, window = positions[-MOST_IRREGULAR_POINTS:], window[-MOST_IRREGULAR_POINTS:]
        count = int(min(MOST_FREQUENCIES, OVERSAMPLED / 2 * span * (most - least)))
        frequency = np.linspace(least, most, max(count, 8))
        power = np.abs(np.exp(-2j * np.pi * np.outer(frequency, positions)) @ window) ** 2
    kept = (frequency >= least) & (frequency <= most)
    return frequency[kept], power[kept] + 1e-300
