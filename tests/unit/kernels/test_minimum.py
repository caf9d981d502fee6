"""The minimum of a function, compared with scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from venire.disagreement.transitions import SLOPE, _cost
from venire.kernels.minimum import minimum


@pytest.mark.parametrize("n_labels", [2, 3, 4, 7])
@pytest.mark.parametrize("kind", ["few", "many", "one row", "one cell", "diagonal", "reversed", "none"])
def test_the_cost_is_not_above_that_of_scipy(kind, n_labels):
    rng = np.random.default_rng(n_labels)
    counts = rng.integers(0, 100_000 if kind == "many" else 4, (n_labels, n_labels)).astype(float)
    if kind == "one row":
        counts[1:] = 0
    elif kind in ("one cell", "none"):
        counts[:] = 0
        counts[0, -1] = 50.0 * (kind == "one cell")
    elif kind in ("diagonal", "reversed"):
        counts = 1e4 * np.eye(n_labels)[:: -1 if kind == "reversed" else 1]
    start = np.concatenate([[-1.0], np.zeros(n_labels - 2), [SLOPE]])
    expected = minimize(_cost, start, args=(counts,), method="BFGS").fun
    found = _cost(minimum(lambda parameters: _cost(parameters, counts), start), counts)
    assert found <= expected + 1e-8 * max(1.0, abs(expected))


def test_a_curved_valley():
    def rosenbrock(x):
        return float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())

    np.testing.assert_allclose(minimum(rosenbrock, np.array([-1.2, 1.0, 0.5])), 1.0, atol=1e-5)
