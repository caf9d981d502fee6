"""Type I error of the alternative annotator test where items of a topic depend on each other."""

from __future__ import annotations

import numpy as np
import pytest

from venire.certification.alt_test import p_below

N = 2000
SIZES = {
    "many topics": np.random.default_rng(0).integers(2, 40, 53),
    "fifteen topics": np.full(15, 6),
    "few uneven topics": np.array([3, 5, 8, 10, 20, 30, 6, 4]),
}


def differences(sizes, shares, dependence, rng):
    """Draw d for the items of each topic: +1 and -1 with these shares, which differ between topics."""
    plus, minus = (np.full(len(sizes), share) for share in shares)
    if dependence > 0:
        weight = 1 / dependence - 1
        plus = rng.beta(shares[0] * weight, (1 - shares[0]) * weight, len(sizes))
        rest = shares[1] / (1 - shares[0])
        minus = (1 - plus) * rng.beta(rest * weight, (1 - rest) * weight, len(sizes))
    group = np.repeat(np.arange(len(sizes)), sizes)
    u = rng.random(len(group))
    return np.where(u < plus[group], 1.0, np.where(u < (plus + minus)[group], -1.0, 0.0)), group


@pytest.mark.parametrize("dependence", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("shares", [(0.2, 0.05), (0.3, 0.1), (0.45, 0.25)], ids=str)
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_type_i_error_with_clustered_items(sizes, shares, dependence):
    rng = np.random.default_rng(11)
    epsilon = shares[0] - shares[1]
    rejected = [p_below(*differences(sizes, shares, dependence, rng), epsilon) <= 0.05 for _ in range(N)]
    assert np.mean(rejected) <= 0.07


def test_without_clustering_it_would_be_too_large():
    rng = np.random.default_rng(12)
    drawn = (differences(SIZES["many topics"], (0.3, 0.1), 0.1, rng)[0] for _ in range(N))
    assert np.mean([p_below(d, np.arange(len(d)), 0.2, skewness=False) <= 0.05 for d in drawn]) > 0.1
