"""Numbers as people write them."""

import numpy as np
import pytest

from wakesleep.domains.timeseries.reading.numbers import read_numbers


@pytest.mark.parametrize(
    ("texts", "read"),
    [
        (["100,350.00", "1,200.00", "900.5"], [100350, 1200, 900.5]),
        (["$1,200", "-$900", "$-3", "($4.50)"], [1200, -900, -3, -4.5]),
        (["USD 5", "7 USD"], [5, 7]),
        (["5 €", "3,50 €"], [5, 3.5]),
        (["5%", "6.5 %"], [5, 6.5]),
        (["1,5", "2,25"], [1.5, 2.25]),
        (["0,123", "0,250"], [0.123, 0.25]),
        (["1,234", "900"], [1234, 900]),
        (["1.234,5", "2"], [1234.5, 2]),
        (["1.234.567", "2"], [1234567, 2]),
        (["1 234,5", "1\u00a0234"], [1234.5, 1234]),
        (["1'234.5"], [1234.5]),
        (["1,23,456.00"], [123456]),
        (["\u22125", "+3", ".5", "1e3", "2E-2"], [-5, 3, 0.5, 1000, 0.02]),
        (["", None, "NA", "n/a", "#N/A", "-", "3"], [np.nan] * 6 + [3]),
        (["1e999", "-inf"], [np.inf, -np.inf]),
    ],
)
def test_numbers_are_read_as_they_are_meant(texts, read):
    np.testing.assert_array_equal(read_numbers(texts).values, read)


@pytest.mark.parametrize(
    ("texts", "bad", "why"),
    [
        (["1", "abc"], 1, "is not a number"),
        (["1", "1_000"], 1, "is not a number"),
        (["12,34.5"], 0, "is not a number"),
        (["1.234,5", "2.5"], 1, "is not a number"),
        (["(5"], 0, "is not a number"),
        (["1.2M"], 0, "is not a number"),
        (["٣"], 0, "is not a number"),
        (["5%", "3"], 1, "mixes per cent with other numbers"),
        (["5 €", "$3"], 1, "mixes currencies"),
        (["1," * 100_000], 0, "is not a number"),
    ],
)
def test_what_is_no_number_is_named(texts, bad, why):
    found = read_numbers(texts)
    assert (found.values, found.bad, found.why) == (None, bad, why)


def test_what_was_decided_is_noted():
    assert read_numbers(["1,234", "2,345"]).notes == ("commas read as marks of thousands, '1,234' as 1234",)
    assert read_numbers(["1,23", "2,345"]).notes == ("commas read as decimal points, '1,23' as 1.23",)
    assert read_numbers(["5%", "6%"]).notes == ("per cent read as it is written, '5%' as 5",)
    assert read_numbers(["1.5", "2"]).notes == ()
