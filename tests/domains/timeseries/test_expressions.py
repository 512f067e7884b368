"""Series of a user's own: tables, dates, bad input, and what is said, found and foretold."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from wakesleep.domains.timeseries.data import Settings, classic, load, records, tabled, ucr
from wakesleep.domains.timeseries.expressions.explanation import explain
from wakesleep.domains.timeseries.expressions.knowledge import shipped
from wakesleep.domains.timeseries.expressions.neighbours import assemble, neighbours, parts_of
from wakesleep.domains.timeseries.expressions.prediction import (
    Conditions,
    Mixture,
    matrix,
    mixture,
    nugget,
)
from wakesleep.domains.timeseries.expressions.search import Effort, Found, _next, posterior
from wakesleep.domains.timeseries.kernels import components, covariance, layout
from wakesleep.domains.timeseries.language import RW, Kernel, program, text_of
from wakesleep.domains.timeseries.records import Record, is_even, observe, scale_of, shorten, tidy
from wakesleep.errors import Refusal


def test_a_table_of_series_is_tidied_for_training(tmp_path):
    path = tmp_path / "a.csv"
    rows = [f"2019-{m:02},{m * m},{'NA' if m == 4 else -m},7" for m in range(1, 13)]
    path.write_text("\n".join(["month,high,low,flat", *rows]) + "\n")
    high, low = tabled(path)
    assert (high.name, high.unit, high.times.tolist()) == ("high", "months", list(range(12)))
    assert low.notes == ("1 rows without a value left out",)
    assert 3 not in low.times.tolist()
    assert not is_even(low.times)
    assert is_even(high.times)
    loaded = load(Settings(data=path))
    assert list(loaded.names) == ["high", "low"]
    path.write_text("y\n" + "3\n" * 20)
    with pytest.raises(Refusal, match="y is constant: every value is 3"):
        tabled(path)


def test_a_million_points_are_resampled_and_that_is_said():
    found = tidy(Record("y", np.arange(1e6), np.sin(np.arange(1_000_000) / 40_000)))
    short = shorten(found, 256)
    assert len(short.times) <= 256
    assert short.notes == ("1,000,000 points resampled to 255 means of 3,907, the first 3,715 left out",)
    np.testing.assert_allclose(short.values[0], found.values[3715 : 3715 + 3907].mean())
    assert not np.isnan(np.asarray(observe([short], 256).values)).any()


def test_a_long_irregular_series_keeps_its_mean_times_and_values():
    t = np.sort(np.random.default_rng(0).random(1000))
    short = shorten(Record("a", t, 2 * t), 50)
    assert 40 < len(short.times) <= 50
    np.testing.assert_allclose(short.values, 2 * short.times)


def test_a_series_is_scaled_to_a_span_of_one_and_unit_variance():
    record = tidy(Record("a", np.arange(10.0, 30.0), np.arange(20.0) ** 2))
    x = observe([record], 24)
    assert np.asarray(x.present).sum() == 20
    np.testing.assert_allclose(np.asarray(x.times)[0, [0, 19]], [-0.5, 0.5], atol=1e-6)
    values = np.asarray(x.values)[0, :20]
    assert abs(values.mean()) < 1e-5
    assert abs(values.std() - 1) < 1e-5
    np.testing.assert_allclose(scale_of(record).value(values), record.values, rtol=1e-4, atol=1e-3)


def test_the_data_sets_are_read_where_they_are():
    assert len(records("embedded")[0].times) == 144
    try:
        assert len(ucr()) == 1000
    except Refusal as absent:
        pytest.skip(str(absent))
    assert not is_even(classic("mauna").times)
    assert "repeated times averaged" in " ".join(classic("internet").notes)
    assert is_even(classic("unemployment").times)
    assert load(Settings(series="ucr", observations=5, points=64)).train.x.values.shape == (5, 64)


THETA = np.array([0.1, -0.4, -1.2, -0.8, 0.2, -0.1, -1.9, -2.0, 0.0, 0.0, 0.0, 0.0])


def kernel(text="Lin + SE + SE*Per + WN", spread=0.05):
    tokens = program(text, 11)
    count = sum(len(p.values) for p in parts_of(Kernel(tokens, THETA, np.eye(12)), True))
    root = np.diag(np.where(np.arange(12) < count, spread, 0.0)).astype(np.float32)
    return Kernel(jnp.asarray(tokens), jnp.asarray(THETA, jnp.float32), jnp.asarray(root))


@jax.jit
def of_the_domain(tokens, theta, lags):
    shape = layout(tokens, True)
    return covariance(theta, shape, lags), components(theta, shape, lags)


def test_matrices_in_numpy_are_those_of_the_domain():
    z, t = kernel("Lin + RW + M12 + M32*Per + WN"), np.linspace(-0.5, 0.7, 7)
    parts = parts_of(z, True)
    with jax.enable_x64(True):
        whole, each = of_the_domain(z.tokens, np.asarray(z.mean, float), np.abs(t[:, None] - t[None, :]))
    for part, ours in zip(parts, np.asarray(each), strict=False):
        if len(part.values) > 1 or part.term == (RW,):
            np.testing.assert_allclose(matrix(part, t, t, True), ours, rtol=1e-9)
    np.testing.assert_allclose(matrix(parts[0], t, t, True), float(whole.slope) * np.outer(t, t), rtol=1e-9)
    np.testing.assert_allclose(nugget(parts), float(whole.nugget), rtol=1e-9)


def test_predictions_are_those_of_the_conditional_normal():
    z, rng = kernel(spread=1e-7), np.random.default_rng(0)
    t, asked, y = np.linspace(-0.5, 0.5, 15), np.array([0.55, 0.7]), rng.normal(size=15)
    both, parts = np.concatenate([t, asked]), parts_of(z, True)
    joint = sum(matrix(p, both, both, True) for p in parts) + nugget(parts) * np.eye(17)
    gain = joint[15:, :15] @ np.linalg.inv(joint[:15, :15])
    found = mixture([z], np.ones(1), Conditions(t, y, asked), True)
    np.testing.assert_allclose(found.weight @ found.mean, gain @ y, rtol=1e-4)
    deviation = np.sqrt(np.diag(joint[15:, 15:] - gain @ joint[:15, 15:]))
    np.testing.assert_allclose(found.deviation.mean(axis=0), deviation, rtol=1e-4)
    values = rng.normal(size=2)
    np.testing.assert_allclose(found.log_density(values), stats.norm(gain @ y, deviation).logpdf(values), rtol=1e-3)
    for share in (0.05, 0.5, 0.95):
        np.testing.assert_allclose(found.quantile(share), stats.norm(gain @ y, deviation).ppf(share), rtol=1e-3)


def test_a_mixture_has_the_quantiles_of_its_parts():
    found = Mixture(np.array([0.3, 0.7]), np.array([[0.0], [4.0]]), np.array([[1.0], [2.0]]), np.zeros(2, bool))
    cut = found.quantile(0.4)
    assert 0.3 * stats.norm.cdf(cut) + 0.7 * stats.norm.cdf((cut - 4) / 2) == pytest.approx(0.4, abs=1e-6)
    both = found._replace(log=np.array([False, True]))
    for share in (0.05, 0.4, 0.95):
        cut = both.quantile(share)
        below = 0.3 * stats.norm.cdf(cut) + 0.7 * stats.lognorm(2, scale=np.exp(4)).cdf(cut)
        assert below == pytest.approx(share, abs=1e-6)
    for y in (-0.5, 0.7, 30.0):
        density = 0.3 * stats.norm.pdf(y) + 0.7 * stats.lognorm(2, scale=np.exp(4)).pdf(y)
        assert both.log_density(np.array([y])) == pytest.approx(np.log(density), rel=1e-6)


def test_neighbours_are_programs_of_the_language_that_keep_what_was_fitted():
    z = kernel("SE + WN")
    around = neighbours(z, tuple(range(3, 11)), 11, True, iter([-2.0] * 99))
    near = {text_of(np.asarray(n.tokens).tolist()): n for n in around}
    assert {
        "SE",
        "WN",
        "SE + SE + WN",
        "SE*Per + WN",
        "Lin + SE + WN",
        "M32 + WN",
        "SE + SE*Per + WN",
        "RW + WN",
    } <= set(near)
    np.testing.assert_allclose(near["SE"].mean[:2], THETA[:2], rtol=1e-5)
    np.testing.assert_allclose(near["SE*Per + WN"].mean[[0, 1, 4]], THETA[[0, 1, 2]], rtol=1e-5)
    assert near["SE*Per + WN"].mean[3] == -2.0
    assert all(assemble(parts_of(n, True), 11, True) is not None for n in near.values())


def test_a_factor_can_be_left_out_and_the_others_keep_their_fit():
    z = kernel("SE*Per + WN")
    around = neighbours(z, tuple(range(3, 11)), 11, True, iter([-2.0] * 99))
    near = {text_of(np.asarray(n.tokens).tolist()): n for n in around}
    np.testing.assert_allclose(near["SE + WN"].mean[:3], THETA[[0, 1, 4]], rtol=1e-5)
    np.testing.assert_allclose(near["Per + WN"].mean[:4], THETA[[0, 2, 3, 4]], rtol=1e-5)


def test_neighbours_of_a_new_best_are_tried_again():
    """ "SE + WN" was tried beside another best program; once "Per + WN" is the best, it is tried from there."""
    names = {text: tuple(np.asarray(kernel(text).tokens).tolist()) for text in ("Per + WN", "SE + WN", "M12 + WN")}
    memory = {names[t]: Found(kernel(t), score) for t, score in (("Per + WN", 2.0), ("M12 + WN", 1.0))}
    around = lambda z: iter([kernel("SE + WN")])  # noqa: E731
    for tried in ({}, {names["SE + WN"]: {names["M12 + WN"]}}):
        chosen = [tuple(np.asarray(z.tokens).tolist()) for z in _next(memory, tried, Effort(), around)]
        assert names["SE + WN"] in chosen[2:]
    (again,) = _next(memory, {names["SE + WN"]: set(names.values())}, Effort(), around)
    assert tuple(np.asarray(again.tokens).tolist()) == names["Per + WN"]


@pytest.fixture(scope="module")
def explained():
    """A year's pattern with a little noise, searched as quickly as may be."""
    t = np.arange(60.0)
    values = 10 + 3 * np.sin(2 * np.pi * t / 12) + 0.2 * np.random.default_rng(0).normal(size=60)
    effort = Effort(rounds=3, batch=16, steps=20)
    return explain(Record("y", t, values, "months"), shipped(), effort, transform="none"), t


def test_a_yearly_pattern_is_found_and_continued(explained):
    found, _ = explained
    assert "Per" in found.programs[0].expression
    assert posterior(found.found).sum() == pytest.approx(1.0)
    ahead = found.outlook(0.2)
    truth = 10 + 3 * np.sin(2 * np.pi * np.arange(60.0, 72.0) / 12)
    assert ((ahead.low - 0.5 < truth) & (truth < ahead.high + 0.5)).all()
    np.testing.assert_allclose(ahead.median, truth, atol=1.0)
