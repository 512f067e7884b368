"""The network, its gradient and its thresholds against direct computation."""

import json

import numpy as np
import pytest

from wakesleep.domains.strings.columns.judge.column import feature_names
from wakesleep.domains.strings.columns.judge.fitting import (
    ALARMS,
    CALIBRATED_ROWS,
    calibrated_weights,
    gradient,
    mean_alarms,
    thresholds,
)
from wakesleep.domains.strings.columns.judge.judge import (
    DRIFT_SLOPE,
    OWN_SHARE,
    USUAL_OFFSET,
    USUAL_ROWS,
    offset_of,
    reached,
)
from wakesleep.domains.strings.columns.judge.net import (
    HEADS,
    KEEPING,
    UNASKED_SHARE,
    Net,
    Weights,
    read_weights,
    shipped,
)
from wakesleep.errors import Refusal


def random_net(size=5, units=3):
    draw = np.random.default_rng(0)
    shapes = [(size,), (size,), (size, units), (units,), (units, 2), (size, 2), (2,)]
    return Net(*(draw.normal(size=s).astype(np.float32) for s in shapes))


def loss(p, x, y, w, decay):
    z = np.maximum(x @ p[0] + p[1], 0) @ p[2] + x @ p[3] + p[4]
    fit = (w * (np.logaddexp(0, z) - y[:, None] * z)).sum() / len(y)
    return fit + decay / 2 * sum((p[i] ** 2).sum() for i in (0, 2, 3))


def test_gradient_equals_finite_differences():
    draw = np.random.default_rng(1)
    x, y, w = draw.normal(size=(20, 5)), draw.integers(0, 2, 20).astype(float), draw.random((20, 2))
    p = [draw.normal(size=s) for s in [(5, 3), (3,), (3, 2), (5, 2), (2,)]]
    found = gradient(p, x, y, w, 0.1)
    for i, array in enumerate(p):
        for place in np.ndindex(array.shape):
            ends = []
            for step in (1e-4, -1e-4):
                q = [a.copy() for a in p]
                q[i][place] += step
                ends.append(loss(q, x, y, w, 0.1))
            assert found[i][place] == pytest.approx((ends[0] - ends[1]) / 2e-4, abs=1e-4)


def test_a_network_survives_json():
    net = random_net()
    again = Net.restore(json.loads(json.dumps(net.as_dict())))
    x = np.random.default_rng(2).normal(size=(4, 5))
    np.testing.assert_array_equal(net(x), again(x))


def test_weights_that_are_none_are_refused(tmp_path):
    path = tmp_path / "weights.json"
    path.write_text('{"net": 3}')
    with pytest.raises(Refusal, match="does not hold"):
        read_weights(path)


def test_thresholds_leave_the_share_that_they_promise():
    draw = np.random.default_rng(3)
    alarms = [(draw.normal(size=400), np.full(400, 1 / 400)) for _ in range(50)]
    for allowed, t in zip(ALARMS.values(), thresholds(alarms), strict=True):
        assert np.mean([(z > t).mean() for z, _ in alarms]) == pytest.approx(allowed, abs=1e-4)


def random_alarms(draw, columns, level):
    return [(400, (draw.normal(level, size=400), np.full(400, 1 / 400))) for _ in range(columns)]


def test_an_asked_share_is_kept_after_few_rows_and_the_usual_one_says_what_it_costs():
    draw = np.random.default_rng(4)
    by_way = {w: random_alarms(draw, 60, 2 / np.log(n)) for n, w in CALIBRATED_ROWS.items()}
    weights = calibrated_weights(random_net(), by_way, {})
    for rows, way in CALIBRATED_ROWS.items():
        alarms = [a for _, a in by_way[way]]
        for share, allowed in ALARMS.items():
            assert mean_alarms(alarms, weights.threshold(share, rows)) == pytest.approx(allowed, abs=1e-3)
        assert weights.expected_alarms(rows) == pytest.approx(mean_alarms(alarms, weights.usual_threshold(rows)))
    kept, many = (weights.threshold(UNASKED_SHARE, n) for n in (10, 10**6))
    assert weights.usual_threshold(10) == pytest.approx(many + KEEPING * (kept - many))
    assert weights.usual_threshold(10**6) == many
    assert weights.expected_alarms(10) > weights.expected_alarms(15) > weights.expected_alarms(1000)
    assert weights.threshold(0.97, 10) > weights.threshold(0.97, 15) > weights.threshold(0.97, 1000)
    again = Weights.restore(json.loads(json.dumps(weights.as_dict())))
    assert again.threshold(0.9, 33) == pytest.approx(weights.threshold(0.9, 33), abs=1e-3)


def test_random_halves_of_few_rows_do_not_count_as_many():
    draw = np.random.default_rng(5)
    by_way = {w: random_alarms(draw, 20, 0) for w in CALIBRATED_ROWS.values()}
    plain = calibrated_weights(random_net(), by_way, {})
    by_way["random half"] += [(20, (np.full(400, 9.0), np.full(400, 1 / 400)))] * 20
    np.testing.assert_array_equal(calibrated_weights(random_net(), by_way, {}).thresholds, plain.thresholds)


def test_reached_is_the_log_odds_that_the_allowed_share_of_rows_stay_below():
    assert OWN_SHARE == 0.98
    assert reached(np.array([-0.5, 0.9, 0.5]), np.array([0.5, 0.01, 0.04])) == 0.5
    assert reached(np.array([9.0]), np.array([1.0])) == 3
    assert reached(np.zeros(0), np.zeros(0)) == -1


def test_the_offset_follows_its_formula():
    calm, wild, none = ((np.array([z]), np.array([1.0])) for z in (0.5, 1.5, -1.0))
    assert offset_of(calm, calm, USUAL_ROWS) == pytest.approx((0.5 + USUAL_OFFSET) / 2)
    assert offset_of(wild, calm, USUAL_ROWS) == pytest.approx((1.0 + DRIFT_SLOPE * 1.0 + USUAL_OFFSET) / 2)
    assert offset_of(calm, wild, USUAL_ROWS) == pytest.approx((1.0 + USUAL_OFFSET) / 2)
    assert offset_of(none, none, 10**9) == pytest.approx(0, abs=1e-6)


def test_shipped_weights_fit_the_features():
    weights = shipped()
    assert isinstance(weights, Weights)
    assert weights.net.hidden.shape[0] == len(feature_names())
    assert weights.net.output.shape[1] == len(HEADS)
    assert (np.diff(weights.thresholds, axis=1) > 0).all()
    assert (weights.usual_alarms[:-1] > weights.usual_alarms[1:]).all()
    assert len(set(feature_names())) == len(feature_names())
