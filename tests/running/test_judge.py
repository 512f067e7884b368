"""A run that explains nothing or has diverged ends with a sentence."""

import math
from pathlib import Path

import pytest

from wakesleep.errors import Refusal
from wakesleep.running.judge import Judge
from wakesleep.running.train import Progress

RUN = Path("runs/one")


def judged(bounds, last, visits=100.0):
    seen = []
    judge = Judge(seen.append, [-math.inf])
    for step, bound in enumerate(bounds, start=1):
        judge(Progress(step, 10, bound))
    assert [now.bound for now in seen] == list(bounds)
    judge.check(last, visits, RUN)


def test_ends_that_are_successes():
    judged([-30.0, -20.0], {"step": 9, "bound": -25.0, "explained": 1.0})
    judged([-math.inf, -3.0], {"step": 9, "bound": -900.0, "explained": 1.0})  # few had a program at first
    judged([-20.0, -9.0], {"step": 9, "bound": -39.0, "explained": 1.0})  # within the noise of batches
    judged([-20.0, -9.0], {"step": 9, "bound": -90.0, "explained": 1.0}, visits=2.0)  # not yet
    judged([60.0, 90.0], {"step": 9, "bound": 55.0, "explained": 1.0})
    judged([500.0, 700.0], {"step": 9, "bound": 650.0, "explained": 0.3})  # densities
    judged([-math.inf], {"step": 9, "bound": -math.inf, "explained": 0.0}, visits=2.0)  # not yet
    judged([-3.0], {})


def test_an_end_at_which_nothing_is_explained():
    with pytest.raises(Refusal, match="for 99% of the observations no program was found"):
        judged([-3.0], {"step": 9, "bound": -3.0, "explained": 0.01})
    with pytest.raises(Refusal, match="for 100% of the observations"):
        judged([], {"step": 9, "bound": -math.inf, "explained": 0.0})


def test_an_end_that_has_diverged():
    for first, last in ((-20.0, -1e31), (700.0, -5e3), (-20.0, -3.1e3)):
        with pytest.raises(Refusal, match="training has diverged"):
            judged([first], {"step": 9, "bound": last, "explained": 1.0})
    for bounds, visits in (([-20.0], 2.0), ([-math.inf, -20.0], 100.0)):  # soon, or where the first bound says nothing
        with pytest.raises(Refusal, match="the bound fell from -20 to -1e\\+31"):
            judged(bounds, {"step": 9, "bound": -1e31, "explained": 1.0}, visits)


def test_an_end_below_the_untrained_model_has_diverged():
    for first, last in ((-20.0, -41.0), (60.0, 49.0), (0.0, -11.0)):
        with pytest.raises(Refusal, match=f"the bound fell from {first:.4g} to {last:.4g} nats; give a smaller"):
            judged([first, -3.0], {"step": 9, "bound": last, "explained": 1.0})
