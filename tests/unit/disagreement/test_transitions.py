"""Transitions between judges: counted right, shrunk where pairs are few, varying where judges or topics do."""

from __future__ import annotations

import numpy as np
import pytest

from venire.data.scale import Scale
from venire.disagreement.transitions import ANY, UNSEEN, agreement_transitions, concentration, fit_transitions, prior_of
from venire.errors import PairsError, SettingError, UnknownName
from venire.io import read_grid

GRID = """
    0 0 1 1 2 2 2 .
    0 1 1 2 2 2 0 1
    . . . . . 1 2 2"""


def test_counts_are_those_of_pairs_on_the_same_item():
    found = fit_transitions(read_grid(GRID), "U1", "U2")
    expected = np.zeros((3, 3))
    for old, new in zip("0011222", "0112220", strict=True):
        expected[int(old), int(new)] += 1
    np.testing.assert_array_equal(found.counts.sum(axis=(0, 1)), expected)
    assert found.n_pairs == 7
    assert found.new == ("U2",)


def test_any_other_judge_is_all_others_who_share_items():
    found = fit_transitions(read_grid(GRID), "U1", ANY)
    assert found.new == ("U2", "U3")
    assert found.n_pairs == 9


@pytest.mark.parametrize("scale", ["0<1<2", "0|1|2"])
def test_rows_are_shrunk(scale):
    found = fit_transitions(read_grid(GRID, scale=scale), "U1", "U2")
    counts = found.counts.sum(axis=(0, 1))
    prior = prior_of(counts, ordered="<" in scale)
    np.testing.assert_allclose(found.matrix, (counts + prior) / (counts + prior).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1)
    assert (found.matrix > 0).all()


def test_a_label_that_was_never_seen_is_drawn_now_and_then():
    """Of 30 items labelled alike, the rate of another label is that of one item in 51, and not 0 in most matrices."""
    same = read_grid("0 1 2 " * 10 + "\n" + "1 1 1 " * 10, scale="0<1<2")
    found = fit_transitions(same, "U1", "U2")
    rng = np.random.default_rng(3)
    other = 1 - np.stack([found.matrices("fixed")(rng, number)[0][:, 1] for number in range(500)])
    assert (other.mean(axis=0) > UNSEEN * 2 / 3 / 31).all()
    assert (np.median(other, axis=0) > 0.005).all()


@pytest.mark.parametrize("form", ["fixed", "assessors", "hierarchical"])
def test_drawn_matrices_are_distributions_around_the_matrix(form):
    found = fit_transitions(read_grid(GRID), "U1", ANY)
    rng = np.random.default_rng(3)
    drawn = np.stack([found.matrices(form)(rng, number)[0] for number in range(3000)])
    np.testing.assert_allclose(drawn.sum(axis=-1), 1)
    if form != "assessors":
        np.testing.assert_allclose(drawn.mean(axis=0), found.matrix, atol=0.03)


def test_concentration_tells_groups_that_vary_from_groups_that_do_not():
    rng = np.random.default_rng(2)
    centre = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])

    def counts(k):
        rows = [[rng.dirichlet(k * row) if np.isfinite(k) else row for row in centre] for _ in range(60)]
        return np.array([[rng.multinomial(30, row) for row in group] for group in rows], dtype=np.float64)

    assert 2 <= concentration(counts(4.0), centre[None]) <= 8
    assert concentration(counts(np.inf), centre[None]) >= 128


def test_stated_agreement_is_certain():
    stated = agreement_transitions(Scale.parse("0<1"), 0.9, 0.7)
    drawn = stated.matrices("fixed")(np.random.default_rng(0), 0)[0]
    np.testing.assert_allclose(drawn, [[0.9, 0.1], [0.3, 0.7]], atol=1e-3)


def test_what_cannot_be_is_said():
    grid = read_grid(GRID)
    with pytest.raises(UnknownName, match="U9"):
        fit_transitions(grid, "U1", "U9")
    with pytest.raises(UnknownName, match="form of judge"):
        fit_transitions(grid, "U1").matrices("odd")
    with pytest.raises(PairsError, match="no item was labelled by"):
        fit_transitions(read_grid("0 1 .\n. . 1"), "U1", "U2")
    with pytest.raises(SettingError, match="two labels"):
        agreement_transitions(Scale.parse("0<1<2"), 0.9, 0.7)
