"""Check digits: published examples, sums over enumerable payloads, and checks found among many families."""

import math
import random

import pytest

from wakesleep.domains.strings.columns.characters import chars
from wakesleep.domains.strings.columns.check_families import FAMILIES
from wakesleep.domains.strings.columns.checked_reading import _passed
from wakesleep.domains.strings.columns.checks import CHECKS, Checked
from wakesleep.domains.strings.columns.counts import exactly
from wakesleep.domains.strings.columns.nodes import Run
from wakesleep.domains.strings.columns.posterior import infer

PUBLISHED = {
    "container": ("CSQU305438", "3"),
    "verhoeff": ("236", "3"),
    "vin": ("1M8GDM9AKP042788", "X"),
    "mod97_10": ("5493001KJTIIGC8Y1R", "12"),
    "mod11_10": ("13669597", "6"),
    "cnpj": ("112223330001", "81"),
    "mod11_2": ("11010519491231002", "X"),
    "nie": ("X1234567", "L"),
    "mod97": ("04031707", "01"),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_check_gives_the_published_characters(name):
    payload, check = PUBLISHED[name]
    assert CHECKS[name][0](payload) == check


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_gives_each_payload_one_check_so_that_probabilities_sum_to_one(name):
    node = Checked(Run(chars("digit"), exactly(2)), name, 3, 3, "[0-9]{2}[0-9XK]")
    every = (f"{n:02d}{c}" for n in range(100) for c in "0123456789XK")
    assert sum(math.exp(node.log_prob(x)) for x in every) == pytest.approx(1.0)


def pesel(payload):
    return str(-sum(int(c) * w for c, w in zip(payload, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3), strict=True)) % 10)


def cas(payload):
    return str(sum(i * int(c) for i, c in enumerate(reversed(payload), 1)) % 10)


@pytest.mark.parametrize(("make", "cuts"), [(pesel, (10, 10)), (cas, (5, 7))])
def test_a_check_is_found_among_the_families(make, cuts):
    rng = random.Random(1)
    values = []
    for _ in range(10):
        payload = f"{rng.randrange(1, 10 ** cuts[1]):0{cuts[1]}d}"
        shown = payload if cuts[0] == cuts[1] else f"{payload[: cuts[0]]}-{payload[cuts[0] :]}-"
        values.append(shown + make(payload))
    program = infer(values).entries[0].program
    assert not program.exact
    for v in values:
        assert program.log_prob(v) > -math.inf
        assert program.log_prob(v[:-1] + str((int(v[-1]) + 1) % 10)) == -math.inf


def test_digits_drawn_at_random_and_few_values_pass_no_family():
    rng = random.Random(2)
    values = [f"{rng.randrange(10**9):09d}" for _ in range(12)]
    assert _passed(values) == []
    assert _passed([f"{n:07d}0" for n in range(20)]) == []


def test_a_check_digit_behind_letters_is_found():
    rng = random.Random(3)
    payloads = [f"{rng.randrange(10**6):06d}" for _ in range(8)]
    program = infer([f"E-{p}-{CHECKS['luhn'][0](p)}" for p in payloads]).entries[0].program
    right = f"E-123456-{CHECKS['luhn'][0]('123456')}"
    assert program.log_prob(right) > -math.inf
    assert program.log_prob(right[:-1] + str((int(right[-1]) + 1) % 10)) == -math.inf
