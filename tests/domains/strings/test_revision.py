"""Strings: regexes changed and read off. Those that are read off explain what they were read from."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.regexes import standard
from wakesleep.core.networks import END
from wakesleep.domains.strings.evaluator import Regex, as_strings
from wakesleep.domains.strings.language import BAR, program, text_of, tree_of
from wakesleep.domains.strings.revision import mutate, read_off, wrap

LENGTH = 20
GROUPS = [
    ["FM_0679_01", "FM_0060_10", "FM_0324_92"],
    ["QC", "all", "SK", "NL", "PE"],
    ["a b", "a cd"],
    ["x"],
    ["A-1", "A-1"],
]


def texts(programs) -> set[str]:
    return {text_of([t for t in z if t != END]) for z in np.asarray(programs).tolist()}


@pytest.mark.parametrize("group", GROUPS)
def test_what_is_read_off_strings_explains_them(group):
    x = as_strings(group, 5, 24)
    keys = jax.random.split(jax.random.key(0), 64)
    found = jax.jit(jax.vmap(lambda k: read_off(k, x, LENGTH)))(keys)
    fits = [z for z in np.asarray(found).tolist() if z[-1] == END]
    assert fits
    for z in fits:
        assert all(re.fullmatch(standard(tree_of(z)), s) for s in group)
    short = jnp.asarray([z for z in fits if BAR not in z])
    assert np.isfinite(np.asarray(jax.vmap(lambda z: Regex(5, 24).log_prob(x, z))(short))).all()


def test_both_characters_and_classes_are_read_off_and_marks_are_always_written():
    x = as_strings(["FM_1", "FM_2"], 5, 24)
    found = texts(jax.vmap(lambda k: read_off(k, x, LENGTH))(jax.random.split(jax.random.key(1), 200)))
    assert {r"FM_\d", r"\u\u_\d", r"F\u_\d", "FM_1|FM_2"} <= found
    assert all("_" in f for f in found)


def test_what_the_longer_strings_have_beyond_the_shortest_is_read_off_as_optional():
    for group, some in (
        (["glu_L", "gly", "ile_L"], {r"\l\l\l(_\u)?", r"\l\l\l(_L)?"}),
        (["R 878", "R 1,612"], {r"\u\s(\d,)?\d\d\d", r"R\s(\d,)?\d\d\d"}),
        (["OE5217", "OE-5187"], {r"\u\u-?\d\d\d\d", r"OE-?5\d\d7", r"OE-?5\d\d\d"}),
        (["(a)b", "b"], {r"(\(\l\))?\l"}),
    ):
        x = as_strings(group, 5, 24)
        several = jax.jit(jax.vmap(lambda k, x=x: read_off(k, x, LENGTH)))
        found = texts(several(jax.random.split(jax.random.key(5), 1000)))
        assert some <= found


def test_brackets_are_put_around_parts():
    z = jnp.asarray(program(r"\u,\u", LENGTH))
    found = texts(jax.vmap(lambda k: wrap(k, z))(jax.random.split(jax.random.key(2), 200)))
    assert {r"\u(,\u)*", r"(\u,)?\u", r"(\u,\u)+"} <= found
    assert len(found) == 18


def test_a_mutation_changes_one_token():
    x = as_strings(["q7"], 5, 24)
    z = jnp.asarray(program(r"\u-\d", LENGTH))
    for text in texts(jax.vmap(lambda k: mutate(k, z, x))(jax.random.split(jax.random.key(3), 100))):
        assert abs(len(text) - len(r"\u-\d")) <= 2
    found = texts(jax.vmap(lambda k: mutate(k, z, x))(jax.random.split(jax.random.key(4), 2000)))
    assert {r"\u\d", r"\u-\d*", "q-\\d", r"\u7\d"} <= found
