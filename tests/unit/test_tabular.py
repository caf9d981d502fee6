"""Tabular: numbers of records are None where nothing is known, and counts are whole where they are."""

from math import inf, nan

import numpy as np
import pytest

from venire.tabular import known, known_count


@pytest.mark.parametrize("value", [nan, np.float64(nan)])
def test_what_is_not_known_is_none(value):
    assert known(value) is None
    assert known_count(value) is None


@pytest.mark.parametrize(
    ("value", "count"), [(3.0, 3), (np.float64(3.0), 3), (np.int64(3), 3), (2.5, 2.5), (inf, inf), (0.0, 0)]
)
def test_counts_are_whole_unless_they_were_weighed(value, count):
    found = known_count(value)
    assert found == count
    assert type(found) is type(count)
    assert type(known(value)) is float
