"""Groups of systems that do not differ: every pair is in a group or differs, checked pair by pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from venire.comparison.groups import groups


def random_pairs(n, share, rng):
    upper = np.triu(rng.random((n, n)) < share, 1)
    return upper | upper.T


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_two_systems_share_a_group_if_and_only_if_they_do_not_differ(n, share):
    for seed in range(20):
        different = random_pairs(n, share, np.random.default_rng(seed))
        member = groups(different)
        for a, b in combinations(range(n), 2):
            assert (member[:, a] & member[:, b]).any() == (not different[a, b])
        assert member.any(axis=0).all()


def test_no_group_is_part_of_another():
    for seed in range(30):
        member = groups(random_pairs(8, 0.4, np.random.default_rng(seed)))
        for one, other in combinations(range(len(member)), 2):
            assert not (member[one] <= member[other]).all()
            assert not (member[other] <= member[one]).all()


def test_systems_in_a_row_are_overlapping_groups():
    n = 6
    different = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > 2
    found = groups(different).astype(int).tolist()
    assert found == [[1, 1, 1, 0, 0, 0], [0, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1]]
