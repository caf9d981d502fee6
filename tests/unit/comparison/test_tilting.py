"""Transition matrices tilted by the systems that return a document."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from two_judges import N_OWN, judged, lists, table
from venire import read_judgments
from venire.comparison.forecast import JudgeSwap
from venire.comparison.tilting import (
    FAVOURED,
    FAVOURED_SD,
    SLOPE_SD,
    SLOPES,
    SYSTEM_SD,
    _Evidence,
    _favoured_sets,
    fit_tilt,
    moments,
)
from venire.data.rejudging import Normals, Rejudging, Tilt

SEED = np.random.SeedSequence(4)
MATRIX = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])


def test_labels_are_drawn_from_tilted_rows():
    """Frequencies are those of the formula: T_ij exp(u l_j), normalised."""
    old = np.repeat([0, 1, 2], 4000).astype(np.int32)
    step, tilt = 0.8, 0.7
    known = Tilt(np.ones((len(old), 1)), (Normals.one(np.array([tilt]), np.zeros((1, 1))),), step)
    judges = Rejudging(old, np.zeros_like(old), lambda _rng, _number: MATRIX[None], range(3), SEED, tilt=known)
    drawn = judges.labels(0, 3)
    rows = MATRIX * np.exp(tilt * step * np.arange(3))
    rows /= rows.sum(axis=1, keepdims=True)
    for label in range(3):
        shares = np.bincount(drawn[:, old == label].ravel(), minlength=3) / 12_000
        np.testing.assert_allclose(shares, rows[label], atol=0.02)


def partly(overrates, share=0.6):
    """The llm overrates what L alone returns, and labelled a part."""
    frame = table(overrates=overrates)
    kept = np.random.default_rng(1).random(len(frame)) < share
    return judged(frame.filter((pl.col("assessor") == "expert") | pl.Series(kept)))


def swapped(judgments):
    return JudgeSwap.of(judgments, lists(), "P(rel=2)@5", assessor="expert", new_judge="llm")


def coefficients(swap):
    """The mean of the coefficients of systems, of the first judge."""
    found = swap.tilt.judges[0]
    return (found.weight @ found.mean)[len(SLOPES) :]


def test_a_judge_who_favours_a_system_is_found():
    favoured, fair = (coefficients(swapped(judgments)) for judgments in (partly(3), judged(table(identical=True))))
    names = swapped(partly(3)).systems
    assert favoured[names.index("L")] > 0.5
    assert favoured[names.index("L")] > favoured[names.index("C")] + 0.5
    assert np.ptp(fair) < 0.2


def test_the_favour_changes_what_is_expected_of_the_rest():
    judgments = partly(3, share=0.3)
    swap = swapped(judgments)
    with_tilt = swap.forecasts(n_draws=300)[0]
    object.__setattr__(swap, "tilt", None)
    without = swap.forecasts(n_draws=300)[0]
    one, other = (with_tilt.systems.index(name) for name in "CL")
    gaps = [(each.draws[:, one] - each.draws[:, other]).mean() for each in (with_tilt, without)]
    assert gaps[0] < gaps[1] - 0.02


def linearised(swap):
    """Design, working responses and their variances, of the labelled items."""
    tilt, old = swap.tilt, np.full(len(swap.case.judgments.items), -1)
    expert = swap.case.judgments.where(assessor="expert")
    old[expert.item] = expert.label
    new = swap.given.labels(len(old))[0]
    both = new >= 0
    levels = np.arange(4) * tilt.step
    assert tilt.step == pytest.approx(1 / old.std())
    mean, variance = moments(swap.transitions.by_assessor[0], levels)
    y = (levels[new[both]] - mean[old[both]]) / variance[old[both]]
    return tilt.design[both], y, 1 / variance[old[both]]


def test_the_posterior_is_that_of_the_normal_model():
    """Against the definition: weighted least squares, for every set of favoured systems."""
    swap = swapped(partly(3))
    x, y, noise = linearised(swap)
    centre, n = np.array([*SLOPES, 0, 0, 0]), x.shape[1]
    weight = np.diag(1 / noise)
    logs, expected = [], []
    for favoured in ([], [0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]):
        sd = np.array([SLOPE_SD, SLOPE_SD, *(FAVOURED_SD if k in favoured else SYSTEM_SD for k in range(3))])
        covariance = np.linalg.inv(np.diag(sd**-2) + x.T @ weight @ x)
        expected.append((centre + covariance @ x.T @ weight @ (y - x @ centre), covariance))
        total = np.diag(noise) + (x * sd**2) @ x.T
        left = y - x @ centre
        prior = FAVOURED / 3
        log = -np.linalg.slogdet(total)[1] / 2 - left @ np.linalg.solve(total, left) / 2
        logs.append(log + len(favoured) * np.log(prior) + (3 - len(favoured)) * np.log(1 - prior))
    chance = np.exp(np.array(logs) - max(logs))
    kept = chance >= 0.02
    found, order = swap.tilt.judges[0], np.argsort(chance[kept])
    mine = np.argsort(found.weight)
    np.testing.assert_allclose(found.weight[mine], (chance[kept] / chance[kept].sum())[order])
    for place, number in zip(mine, np.flatnonzero(kept)[order], strict=True):
        np.testing.assert_allclose(found.mean[place], expected[number][0])
        np.testing.assert_allclose(found.factor[place] @ found.factor[place].T, expected[number][1], atol=1e-12)
    further = swap.tilt.judges[1]
    np.testing.assert_allclose(further.mean[0], found.weight @ found.mean)
    np.testing.assert_allclose(further.factor[0], np.diag([SLOPE_SD, SLOPE_SD, *[SYSTEM_SD] * (n - len(SLOPES))]))


def test_coefficients_are_drawn_from_the_mixture():
    known = Normals(np.array([0.2, 0.5, 0.3]), np.array([[0.0], [10.0], [20.0]]), np.zeros((3, 1, 1)))
    rng = np.random.default_rng(3)
    drawn = np.array([known.draw(rng)[0] for _ in range(4000)])
    np.testing.assert_allclose([(drawn == value).mean() for value in (0, 10, 20)], known.weight, atol=0.03)


def test_without_labels_no_set_of_favoured_systems_is_preferred():
    nothing = _Evidence(np.zeros((4, 4)), np.zeros(4))
    found = _favoured_sets(nothing, np.full(4, SYSTEM_SD**2), 0.1)
    assert found[frozenset()] == max(found.values())
    np.testing.assert_allclose([found[frozenset([k])] - found[frozenset()] for k in (2, 3)], np.log(1 / 9))


def test_features_of_a_document():
    swap = swapped(partly(3))
    design, items = swap.tilt.design, swap.case.judgments.items
    doc = list(items.doc)
    nowhere = np.array([name.startswith("x") and int(name[1:]) >= N_OWN for name in doc])
    assert (design[nowhere, 1:] == 0).all()
    assert (design[nowhere, 0] < design[~nowhere, 0].min()).all()
    np.testing.assert_allclose(np.linalg.norm(design[~nowhere, 2:], axis=1), 1)
    np.testing.assert_allclose(design[:, 2:].sum(axis=1), 0, atol=1e-12)


def test_labels_without_an_order_or_a_spread_are_not_tilted():
    rows = [(f"q{t}", f"{side}{n}", who, "red") for t in range(3) for side in "CL" for n in range(5) for who in "ab"]
    rows[0] = (*rows[0][:3], "blue")
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    for scale in ("red|blue", "red<blue"):
        judgments = read_judgments(frame, scale=scale)
        runs = {name: {topic: lists()[name][topic] for topic in ("q0", "q1", "q2")} for name in "CL"}
        swap = JudgeSwap.of(judgments, runs, "P@5", assessor="b", gains={"red": 1, "blue": 0})
        assert swap.tilt is None


def test_many_systems_are_reduced_to_principal_components(monkeypatch):
    monkeypatch.setattr("venire.comparison.tilting.MOST_DIRECTIONS", 2)
    swap = swapped(partly(3))
    old = swap.judges("fixed", 1, seed=SEED).old
    found = fit_tilt(swap.case.facts, old, swap.given, transitions=swap.transitions, mean=np.arange(3.0))
    assert found.design.shape[1] == len(SLOPES) + 2
    assert len(found.judges[0].weight) == 1
