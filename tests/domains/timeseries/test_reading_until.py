"""How far a forecast goes when its last time is given in words."""

import numpy as np
import pytest

from wakesleep.domains.timeseries.reading.series import series_of
from wakesleep.errors import Refusal

MONTHS = [f"{2019 + m // 12}-{m % 12 + 1:02}" for m in range(24)]
DAYS = np.arange("2020-12-01", "2020-12-11", dtype="datetime64[D]")
HOURS = np.arange("2020-12-10T00", "2020-12-11T00", dtype="datetime64[h]")


@pytest.mark.parametrize(
    ("times", "until", "steps"),
    [
        (MONTHS, "2021-06", 6),
        (MONTHS, "202106", 6),
        (MONTHS, "Jun 2021", 6),
        (MONTHS, "2021Q2", 6),
        (MONTHS, "2021-06-01", 6),
        (MONTHS, "2021-05-31", 5),
        (MONTHS, "2021", 12),
        (DAYS, "2020-12-31", 21),
        (DAYS, "2020-12", 21),
        (HOURS, "2020-12-11", 24),
        (HOURS, "2020-12-11 05:00", 6),
        ([1.0, 1.5, 2.0], "4", 4),
        (["2018", "2019", "2020"], "2025", 5),
        (["2019Q1", "2019Q2", "2019Q3"], "2020Q4", 5),
    ],
)
def test_the_last_time_says_how_many_steps(times, until, steps):
    assert series_of(np.arange(float(len(times))), times).steps_until(until) == steps


@pytest.mark.parametrize(
    ("times", "until", "said"),
    [
        (MONTHS, "2020-12", "until must be later than the last time of y, 2020-12, but '2020-12' was given"),
        (MONTHS, "soon", "until must be a date, such as 2025-12"),
        (MONTHS, "7", "until must be a date"),
        (MONTHS, "2021-13", "until must be a date"),
        ([1, 2, 3], "2021-06", "until must be a number"),
        ([1, 2, 3], "inf", "until must be a number"),
    ],
)
def test_a_last_time_that_is_none_is_refused(times, until, said):
    with pytest.raises(Refusal, match=said):
        series_of(np.arange(float(len(times))), times).steps_until(until)
