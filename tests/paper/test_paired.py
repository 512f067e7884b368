"""Numbers of items in results files, and paired differences."""

import numpy as np
import pytest

from wakesleep.errors import Refusal
from wakesleep.paper.paired import PACKED_BYTES, pack, paired, unpack


def test_packed_numbers_come_back_to_the_thousandth_and_take_little_room():
    values = np.random.default_rng(0).gamma(4.0, 20.0, 900)
    text = pack(values)
    np.testing.assert_allclose(unpack(text), values, atol=5.1e-4)
    assert len(text) < 4 * len(values)
    assert unpack(pack(np.zeros(0))).size == 0


@pytest.mark.parametrize("text", ["not packed\x00", "", pack(np.ones(3))[:-4], pack(np.zeros(PACKED_BYTES // 4 + 1))])
def test_texts_that_were_not_packed_are_refused(text):
    with pytest.raises(Refusal, match="packed numbers"):
        unpack(text)


def test_what_is_not_finite_is_refused():
    with pytest.raises(Refusal, match="not finite"):
        pack(np.array([1.0, np.inf]))


def test_the_interval_is_that_of_a_mean_of_paired_differences():
    random = np.random.default_rng(1)
    items = random.normal(80.0, 30.0, 400)  # what both sides share cancels
    noise = random.normal(-1.0, 2.0, 400)
    found = paired([items + noise], [items], resamples=4000)
    error = noise.std() / np.sqrt(400)
    assert found.mean == pytest.approx(noise.mean())
    assert found.low == pytest.approx(noise.mean() - 1.96 * error, abs=0.2 * error)
    assert found.high == pytest.approx(noise.mean() + 1.96 * error, abs=0.2 * error)


def test_seeds_that_differ_widen_the_interval():
    items = np.zeros(50)
    one, several = paired([items], [items + 1], 200), paired([items - 2, items, items + 2], [items + 1], 2000)
    assert (one.mean, one.low, one.high) == (-1.0, -1.0, -1.0)
    assert several.mean == -1.0
    assert several.low < -2.0 < 0.0 < several.high


def test_only_the_same_items_are_paired():
    with pytest.raises(Refusal, match="same items"):
        paired([np.zeros(3)], [np.zeros(4)])
