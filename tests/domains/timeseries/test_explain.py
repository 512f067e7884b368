"""Series of a user's own: tables, dates, bad input, and what is said, found and foretold."""

import csv
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from wakesleep.domains.timeseries.data import Settings, classic, load, records, ucr
from wakesleep.domains.timeseries.dates import label
from wakesleep.domains.timeseries.explain.explanation import explain
from wakesleep.domains.timeseries.explain.findings import Findings, finish
from wakesleep.domains.timeseries.explain.knowledge import shipped
from wakesleep.domains.timeseries.explain.neighbours import assemble, neighbours, parts_of
from wakesleep.domains.timeseries.explain.prediction import (
    Conditions,
    Mixture,
    decompose,
    matrix,
    mixture,
    nugget,
)
from wakesleep.domains.timeseries.explain.search import Effort, Found, _next, posterior
from wakesleep.domains.timeseries.explain.wording import Units, duration, sentence
from wakesleep.domains.timeseries.kernels import components, covariance, layout
from wakesleep.domains.timeseries.language import LIN, RW, Kernel, program, terms_of, text_of
from wakesleep.domains.timeseries.records import Record, is_even, observe, scale_of, shorten, tidy
from wakesleep.domains.timeseries.tables import read_records
from wakesleep.errors import Refusal


def write(path, text):
    path.write_text(text)
    return path


def rows(values, times=None):
    times = range(1, len(values) + 1) if times is None else times
    return "t,y\n" + "".join(f"{t},{v}\n" for t, v in zip(times, values, strict=True))


def test_months_are_counted_as_months_and_labelled_as_dates(tmp_path):
    months = [f"20{20 + m // 12}-{m % 12 + 1:02}" for m in range(14)]
    for form in ("{}", "{}-01"):
        (found,) = read_records(write(tmp_path / "a.csv", rows(range(14), [form.format(m) for m in months])))
        assert (found.unit, found.times.tolist()) == ("months", list(range(14)))
        assert [label(t, found.unit, found.origin) for t in (0.0, 13.0, 14.0)] == ["2020-01", "2021-02", "2021-03"]
    quarters = [f"{y}-{m:02}-01" for y in (2019, 2020, 2021) for m in (1, 4, 7, 10)]
    (found,) = read_records(write(tmp_path / "b.csv", rows(range(12), quarters)))
    assert found.times.tolist() == [3.0 * i for i in range(12)]
    assert is_even(found.times)


@pytest.mark.parametrize(
    ("first", "unit"),
    [("2024-01-{:02}", "days"), ("2024-01-01 {:02}:00", "hours"), ("{:02}.02.2023", "days"), ("{:02}/02/2023", "days")],
)
def test_dates_of_many_forms_are_read(tmp_path, first, unit):
    (found,) = read_records(write(tmp_path / "a.csv", rows(range(1, 15), [first.format(i) for i in range(1, 15)])))
    assert found.unit == unit
    assert found.times.tolist() == list(range(14))


def test_a_table_may_have_gaps_repeats_and_several_columns(tmp_path):
    path = write(
        tmp_path / "a.csv",
        "when;high;low;note\n"
        + "".join(f"{t};{t * t};{'NA' if t == 4 else -t};ok\n" for t in [1, 2, 3, 3, *range(4, 12)]),
    )
    high, low = read_records(path)
    assert (high.name, low.name) == ("high", "low")
    assert high.notes == ("1 repeated times averaged",)
    assert low.notes == ("1 rows without a value left out", "1 repeated times averaged")
    assert 4 not in low.times.tolist()
    assert not is_even(low.times)
    assert is_even(high.times)
    assert [r.name for r in read_records(path, column="low")] == ["low"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (rows([1, 2, "abc", 4, 5, 6, 7, 8, 9]), "Column 'y' holds 'abc' in row 3, but a series is made of numbers"),
        (rows([3.0] * 20), "y is constant: every value is 3"),
        (rows([1, 2]), "y has 2 points with a value, but at least 8 are needed"),
        (rows([*range(9), "inf"]), "y has an infinite value in row 10"),
        (rows(range(9), ["2024-01-01", *["soon"] * 8]), "The column of times 't' holds 'soon' in row 2"),
        ("t,y\n", "has a header but no rows"),
        ("", "is empty"),
        ("t,y\n1,\n2,\n3,\n", "y has 0 points with a value"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(tmp_path, text, said):
    with pytest.raises(Refusal, match=said.replace("(", r"\(")):
        read_records(write(tmp_path / "a.csv", text))


def test_a_million_rows_are_resampled_and_that_is_said(tmp_path):
    path = tmp_path / "long.csv"
    np.savetxt(path, np.sin(np.arange(1_000_000) / 40_000), fmt="%.5f", header="y", comments="")
    (found,) = read_records(path)
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
    named = decompose(z, Conditions(t, y, asked), True)
    assert named.terms[0] == (LIN,)
    np.testing.assert_allclose(named.mean.sum(axis=0), gain @ y, rtol=1e-4)


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


def test_sentences_name_lengths_periods_and_noise():
    units = Units(120.0, "months", 10.0, rise=1.5)
    z = kernel("Lin + SE + SE*Per + WN")._replace(
        mean=jnp.log(jnp.array([1.0, 0.5, 14 / 120, 0.4, 0.5, 1.0, 0.1, 0.03] + [1.0] * 4))
    )
    said = sentence(parts_of(z, True), units, True)
    assert said == (
        "A straight line rising by 15 over the series, plus a smooth trend with a typical length of 14 months, plus a "
        "yearly pattern that changes slowly, over about 5 years, plus noise of 0.3 (3 % of the spread)."
    )
    assert sentence(parts_of(z, True), units._replace(log=True, deviation=0.5), True).count(", times ") == 3
    walk = kernel("RW")._replace(mean=jnp.log(jnp.full(12, 2.0)))
    assert sentence(parts_of(walk, True), units, True) == "A level that wanders, by about 6.3 in 12 months."
    assert duration(1.0, "days") == "1 day"
    assert duration(48.0, "hours") == "48 hours"


@pytest.fixture(scope="module")
def explained():
    """A year's pattern with a little noise, searched as quickly as may be."""
    t = np.arange(60.0)
    values = 10 + 3 * np.sin(2 * np.pi * t / 12) + 0.2 * np.random.default_rng(0).normal(size=60)
    effort = Effort(rounds=3, batch=16, steps=20)
    return explain(Record("y", t, values, "months"), shipped(), effort, transform="none"), t


def test_a_yearly_pattern_is_found_said_and_continued(explained, tmp_path):
    found, t = explained
    assert "Per" in found.programs[0].expression
    assert "yearly" in found.programs[0].sentence
    assert posterior(found.found).sum() == pytest.approx(1.0)
    ahead = found.extrapolate(0.2)
    truth = 10 + 3 * np.sin(2 * np.pi * np.arange(60.0, 72.0) / 12)
    assert all(row["low"] - 0.5 < v < row["high"] + 0.5 for row, v in zip(ahead, truth, strict=True))
    np.testing.assert_allclose([row["median"] for row in ahead], truth, atol=1.0)
    total = found.decompose(t).mean.sum(axis=0) + found.scale.mean
    np.testing.assert_allclose(total, found.record.values, atol=1.0)


def test_an_explanation_is_json_and_csv(explained, tmp_path):
    found, _ = explained
    whole = Findings((finish(found, 0.1),))
    (row,) = json.loads(json.dumps(whole.rows(2)))
    assert row["points"] == 60
    assert len(row["programs"]) <= 2
    assert len(row["extrapolation"]) == 6
    assert all(v["low"] < v["median"] < v["high"] for v in row["extrapolation"])
    whole.write("csv", tmp_path / "a.csv")
    assert whole.draw(tmp_path / "a.png").stat().st_size > 1000
    assert "<img" in whole.report(tmp_path / "a.html").read_text()
    assert [t.title for t in whole.table()] == ["series", "extrapolation: median (90 % band)"]
    lines = list(csv.DictReader((tmp_path / "a.csv").open()))
    assert len(lines) == 66
    assert lines[0]["observed"]
    assert lines[-1]["median"]
    assert not any("nan" in v for line in lines for v in line.values())
    assert len([k for k in lines[0] if k.startswith("part")]) == len(
        terms_of(np.asarray(found.found[0].z.tokens).tolist())
    )
