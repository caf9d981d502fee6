"""Gwet's AC1 and AC2."""

from __future__ import annotations

import numpy as np
import pytest

from agreement_examples import K12, crowd, irrcac
from venire.agreement.distance import WEIGHTS
from venire.agreement.kappa import gwet_ac
from venire.io import read_grid


def test_ac1_published() -> None:
    assert gwet_ac(read_grid(K12)).value == pytest.approx(0.77544, abs=5e-6)


@pytest.mark.parametrize("weights", list(WEIGHTS))
@pytest.mark.parametrize("seed", range(3))
def test_as_in_irrcac(weights: str, seed: int) -> None:
    judgments, labels = crowd(seed)
    assert gwet_ac(judgments, weights).value == pytest.approx(irrcac(labels, weights, "gwet"), abs=1e-10)


def test_it_stays_high_where_nearly_all_labels_are_the_same() -> None:
    rare = read_grid(f"{'0 ' * 49}1\n{'0 ' * 48}1 0")
    assert gwet_ac(rare).value > 0.95


def test_one_label_says_nothing() -> None:
    found = gwet_ac(read_grid("1 1\n1 1"))
    assert found.value is None
    assert "the same" in found.reason


def test_interval_is_around_the_value() -> None:
    judgments, _ = crowd()
    found = gwet_ac(judgments, "quadratic")
    assert found.low < found.value < found.high
    assert np.isfinite([found.low, found.high]).all()
