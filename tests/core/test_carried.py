"""A memory of programs that carry floats is a lower bound on p(x), if `log_prob` is one on p(x | tokens)."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import stats

from wakesleep.core import memory as mem
from wakesleep.core.algorithms import mws
from wakesleep.core.fit import fit
from wakesleep.core.model import Evaluator, Model, Observations, Prior, Recognition, score

CENTRES = jnp.asarray([-2.0, 0.0, 3.0])
NOISE = 0.5
DATA = Observations(jnp.asarray([-2.5, -1.0, 0.2, 1.4, 2.0, 4.0]))


class Choice(Prior):
    """Three programs, equally likely, each with a carried mean that is zero at first."""

    def sample(self, key, c):
        return jax.random.randint(key, (1,), 0, 3), jnp.zeros(())

    def log_prob(self, z, c):
        return -jnp.log(3.0) * jnp.ones(())


class Blind(Recognition):
    def sample(self, key, h):
        return jax.random.randint(key, (1,), 0, 3), jnp.zeros(())

    def log_prob(self, z, h):
        return -jnp.log(3.0) * jnp.ones(())


class Hidden(Evaluator):
    """w ~ N(centre, 1), x ~ N(w, noise): log_prob is the variational bound of the best width, with the carried mean."""

    def sample(self, key, z):
        return CENTRES[z[0][0]] + jnp.sqrt(1 + NOISE**2) * jax.random.normal(key)

    def log_prob(self, x, z):
        centre, mean, variance = CENTRES[z[0][0]], z[1], 1 / (1 + 1 / NOISE**2)
        fits = jax.scipy.stats.norm.logpdf(x, mean, NOISE) - variance / (2 * NOISE**2)
        return fits - 0.5 * (variance + (mean - centre) ** 2 - 1 - jnp.log(variance))

    def refine(self, z, x):
        best = (CENTRES[z[0][0]] + x / NOISE**2) / (1 + 1 / NOISE**2)
        return z[0], z[1] + (best - z[1]) / 2


class BestFit(Hidden):
    """A likelihood at the carried value: no lower bound on log p(x | tokens)."""

    def log_prob(self, x, z):
        return jax.scipy.stats.norm.logpdf(x, z[1], NOISE)

    def refine(self, z, x):
        return z[0], x


EXACT = np.logaddexp.reduce(
    [stats.norm.logpdf(np.asarray(DATA.x), float(m), np.sqrt(1 + NOISE**2)) - np.log(3) for m in CENTRES]
)


def remembered(evaluator, steps):
    """The sums of the memory rows after some steps of a model that learns nothing."""
    algorithm = mws(optax.sgd(0.0), 3, 4)
    state = algorithm.init(Model(Choice(), evaluator, Blind()), DATA)
    for state, _ in fit(algorithm, state, DATA, key=jax.random.key(0), steps=steps, batch_size=6):
        pass
    return np.asarray(mem.bound(state.memory.log_joint))


def test_whatever_is_carried_the_sum_over_tokens_is_below_the_exact_value():
    tokens = jnp.broadcast_to(jnp.arange(3)[:, None], (len(DATA), 3, 1))
    for seed in range(20):
        carried = 3 * jax.random.normal(jax.random.key(seed), (len(DATA), 3))
        joint = score(Model(Choice(), Hidden(), Blind()), (tokens, carried), DATA.x, None)
        assert (np.asarray(jax.nn.logsumexp(joint, axis=1)) <= EXACT + 1e-5).all()


def test_a_memory_is_a_bound_at_every_step_and_tight_where_the_fit_is():
    early, late = remembered(Hidden(), 1), remembered(Hidden(), 40)
    assert (early <= EXACT + 1e-5).all()
    assert (late <= EXACT + 1e-5).all()
    np.testing.assert_allclose(late, EXACT, atol=1e-4)  # a Gaussian is the true posterior here


def test_a_likelihood_at_the_best_fit_is_no_bound():
    assert (remembered(BestFit(), 40) > EXACT + 0.5).all()


@pytest.mark.parametrize("token", range(3))
def test_the_score_of_each_program_is_below_the_integral_over_what_is_hidden(token):
    w, carried = np.linspace(-15, 15, 3001), jnp.linspace(-6.0, 6.0, 121)
    tokens = jnp.full((121, 1), token)
    for x in np.asarray(DATA.x):
        integral = np.trapezoid(stats.norm.pdf(w, CENTRES[token], 1) * stats.norm.pdf(x, w, NOISE), w)
        bounds, fits = (
            jax.vmap(lambda z, e=e, x=x: e.log_prob(x, z))((tokens, carried)) for e in (Hidden(), BestFit())
        )
        assert float(bounds.max()) <= np.log(integral) + 1e-4
        assert float(fits.max()) > np.log(integral) + 0.1
