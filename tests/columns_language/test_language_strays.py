"""Values that an explanation leaves out, and calls outliers."""

import random

import pytest

from wakesleep.domains.strings.columns.explanation import explain, restore

ORDERS = [f"ORD-{10_400 + i}" for i in range(40)]
NAMES = [f"{a} {b}" for a in ("Ann", "Robert", "Eve", "Maria", "John") for b in ("Smith", "Miller", "Jones", "Hall")]


@pytest.mark.parametrize("wrong", ["ORD-1044l", "ord-10441", "ORD 10441", "22.04.2024", "guest"])
def test_one_value_of_another_form_is_an_outlier_and_not_part_of_the_pattern(wrong):
    values = [*ORDERS[:20], wrong, *ORDERS[20:]]
    found = explain(values)
    assert found.patterns[0].regex == "^ORD-[0-9]{5}$"
    assert [(o.value, o.rows) for o in found.outliers] == [(wrong, (20,))]
    assert "seen" not in found.outliers[0].why or "not seen" in found.outliers[0].why
    assert not found.accepts([wrong])[0]
    assert not found.matches([wrong])[0]
    assert found.patterns[0].coverage == pytest.approx(40 / 41)
    assert found.stray_rows == 1


def test_values_that_were_fitted_are_accepted_where_nothing_is_odd():
    for values in (ORDERS, NAMES, ["open", "closed", "held"] * 10):
        found = explain(values)
        assert found.outliers == ()
        assert all(found.accepts(values))


def test_a_second_form_with_several_rows_is_no_stray():
    values = random.Random(0).sample(ORDERS + ["unknown"] * 8, 48)
    found = explain(values)
    assert all(found.matches(["ORD-10999", "unknown"]))
    assert found.stray_rows == 0


def test_few_rows_have_no_strays():
    assert explain([*ORDERS[:6], "guest"]).stray_rows == 0


def test_strays_survive_being_saved():
    found = explain([*ORDERS, "guest"])
    again = restore(found.as_dict())
    assert again.outliers == found.outliers
    assert again.patterns[0].coverage == found.patterns[0].coverage
    assert again.stray_rows == 1
