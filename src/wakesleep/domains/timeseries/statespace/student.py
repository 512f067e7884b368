"""The distribution function of Student's t in NumPy alone, so that series need no SciPy."""

import math

import numpy as np
from jaxtyping import Float

MOST_TERMS = 500
ENOUGH_DIGITS = 1e-15
LEAST_POSITIVE = 1e-300


def student_cdf(freedom: float, t: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """Returns P(T <= t), with I_x(freedom / 2, 1 / 2) / 2 in each tail, where x = freedom / (freedom + t^2)."""
    tail = 0.5 * _incomplete_beta(0.5 * freedom, 0.5, freedom / (freedom + t * t))
    return np.where(t > 0, 1.0 - tail, tail)


def _incomplete_beta(a: float, b: float, x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """Returns the regularised I_x(a, b), from the side on which its continued fraction converges quickly."""
    near_one = x > (a + 1.0) / (a + b + 2.0)
    found = np.empty_like(x)
    found[~near_one] = _from_fraction(a, b, x[~near_one])
    found[near_one] = 1.0 - _from_fraction(b, a, 1.0 - x[near_one])
    return found


def _from_fraction(a: float, b: float, x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """Returns I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) times a continued fraction, by the method of Lentz."""
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    c, d = np.ones_like(x), 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    fraction = d.copy()
    for m in range(1, MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + term * d)
            c = _away_from_zero(1.0 + term / c)
            fraction *= c * d
        if np.all(np.abs(c * d - 1.0) < ENOUGH_DIGITS):
            break
    with np.errstate(divide="ignore"):
        return np.exp(a * np.log(x) + b * np.log1p(-x) - log_beta) / a * fraction


def _away_from_zero(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    return np.where(np.abs(x) < LEAST_POSITIVE, LEAST_POSITIVE, x)
