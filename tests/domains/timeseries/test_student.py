"""Student's distribution function against SciPy's."""

import numpy as np
import pytest
from scipy.special import stdtr

from wakesleep.domains.timeseries.statespace.student import student_cdf


@pytest.mark.parametrize("freedom", [0.5, 1.0, 2.0, 3.7, 10.0, 50.0, 300.0, 3000.0])
def test_the_distribution_function_is_that_of_scipy_far_into_the_tails(freedom):
    t = np.concatenate([-np.geomspace(1e6, 1e-3, 300), [0.0], np.geomspace(1e-3, 1e6, 300)])
    found, expected = student_cdf(freedom, t), stdtr(freedom, t)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)
    assert np.all(np.diff(found) >= 0)
