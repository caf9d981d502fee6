"""The quantile of Student's t distribution, for intervals of means."""

from __future__ import annotations

import pytest
from scipy.special import stdtrit

from venire.measures.scores import student_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 9, 49, 999, 10**6])
@pytest.mark.parametrize("p", [0.9, 0.975, 0.9995])
def test_it_is_that_of_scipy(freedom, p):
    assert student_quantile(freedom, p) == pytest.approx(stdtrit(freedom, p), rel=1e-7)
