from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from venire.kernels.grade_tables import spearman_of_counts

GRADES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=40)


@given(GRADES)
def test_rho_is_scipys(pairs):
    a, b = np.array(pairs).T
    counts = np.zeros((5, 4))
    np.add.at(counts, (a, b), 1)
    found = spearman_of_counts(counts)
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert np.isnan(found)
    else:
        assert np.isclose(found, spearmanr(a, b).statistic, atol=1e-12)


def test_leading_axes_are_free_and_empty_grades_do_not_matter():
    counts = np.random.default_rng(0).integers(0, 5, size=(3, 2, 4, 4)).astype(np.float64)
    counts[..., 2, :] = 0
    found = spearman_of_counts(counts)
    assert found.shape == (3, 2)
    for place in np.ndindex(3, 2):
        a, b = np.nonzero(np.ones((4, 4)))
        n = counts[place].ravel().astype(int)
        assert np.isclose(found[place], spearmanr(np.repeat(a, n), np.repeat(b, n)).statistic)
