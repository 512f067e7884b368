"""The oracle of state-space programs: dense covariances in closed form, and a level of great or infinite variance."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import gammaln


def covariance(atoms, i, seasons, t, s):
    """The covariance of atom i between times t and s, counted from the first value, without its level and noise."""
    a = {name: float(v[i]) for name, v in vars(atoms).items()}
    first, last = np.minimum(t[:, None], s), np.maximum(t[:, None], s)
    rate = max(-np.log(a["damping"]), 1e-7)
    reach = lambda u: -np.expm1(-rate * u) / rate  # noqa: E731
    variance = np.where(
        rate * first > 1e-3,
        (first - 2 * reach(first) + -np.expm1(-2 * rate * first) / (2 * rate)) / rate**2,
        first**3 / 3 - rate * first**4 / 4,
    )
    k = a["level_walk"] * first + a["slope_prior"] * reach(t)[:, None] * reach(s)
    k = k + a["slope_walk"] * (variance + reach(first) ** 2 / 2 * reach(last - first))
    crossed = np.floor(last) - np.floor(first)
    sign = np.where(a["echo"] < 0, (-1.0) ** crossed, 1.0)
    k = k + a["echo_variance"] * np.abs(a["echo"]) ** (last - first) * sign
    for season in seasons:
        alike = season.row(t) @ season.row(s).T
        walked = a["season_walk"] * first if a["season_memory"] == 1 else 0.0
        k = k + alike * (a["season_prior"] + walked) * a["season_memory"] ** (last - first)
    return k


def log_likelihood(k, y):
    """The log-density with the scale integrated out and the level diffuse, by Cholesky factors of the covariance k."""
    n = len(y)
    factor = cho_factor(k, lower=True)
    ones = np.ones(n)
    weight = ones @ cho_solve(factor, ones)
    level = ones @ cho_solve(factor, y) / weight
    squares = (y - level) @ cho_solve(factor, y - level)
    log_f = 2 * np.log(np.diag(factor[0])).sum() + np.log(weight)
    return gammaln(n / 2) - n / 2 * np.log(np.pi * squares) - log_f / 2, squares


def predict(k, cross, own, y):
    """Mean and variance, relative to the scale, of further values with a diffuse level."""
    factor = cho_factor(k, lower=True)
    ones = np.ones(len(y))
    weight = ones @ cho_solve(factor, ones)
    level = ones @ cho_solve(factor, y) / weight
    mean = level + cross @ cho_solve(factor, y - level)
    left = 1 - cross @ cho_solve(factor, ones)
    return mean, np.diag(own - cross @ cho_solve(factor, cross.T)) + left**2 / weight
