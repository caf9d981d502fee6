"""Shifts and their errors, against least squares with a column for every item and every assessor."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from venire import read_judgments
from venire.agreement import with_others as module
from venire.agreement.profiles import profiles


def labels(crews, seed):
    """Judgments of items, each by its crew; and who gave which label to which item."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(len(crews)), [len(crew) for crew in crews])
    who = np.concatenate(crews)
    label = rng.integers(0, 4, len(item))
    names = {"topic": ["1"] * len(item), "doc": item.astype(str), "assessor": [f"a{n}" for n in who], "label": label}
    return read_judgments(pl.DataFrame(names)), item, who, label


def differences(n):
    """From the middle third of shifts that are in order."""
    cut = n // 3
    middle = np.zeros(n)
    middle[cut : n - cut] = 1 / (n - 2 * cut)
    return np.eye(n) - middle


def test_errors_are_those_of_least_squares_where_all_items_have_two():
    """With two assessors to each item, weights are equal, and gaps count the same twice."""
    rng = np.random.default_rng(3)
    crews = [rng.choice(5, 2, replace=False) for _ in range(60)]
    judgments, item, who, label = labels(crews, 3)
    design = np.zeros((len(item), 65))
    design[np.arange(len(item)), item] = design[np.arange(len(item)), 60 + who] = 1
    inverse = np.linalg.pinv(design.T @ design)
    fitted = inverse @ design.T @ label
    found = profiles(judgments)
    shift = fitted[60:] - np.median(fitted[60:])
    assert found.shift == pytest.approx(shift, abs=1e-4)
    order = np.argsort(shift)
    squares = 2 * ((label - design @ fitted) ** 2).sum() / (len(item) - 5)
    against = differences(5)
    covariance = against @ inverse[60:, 60:][np.ix_(order, order)] @ against.T
    assert found.shift_se[order] == pytest.approx(np.sqrt(squares * np.diag(covariance)), rel=1e-4)


def test_errors_are_those_of_the_gaps_where_crews_differ_in_size():
    """Two teams with few items in common; gaps are taken label by label, and their errors carried to the shifts."""
    crews = [np.arange(3)] * 30 + [np.arange(3, 7)] * 30 + [np.array([0, 3])] * 4 + [np.array([4, 5])] * 10
    judgments, item, who, label = labels(crews, 2)
    n = len(item)
    k = np.array([len(crews[each]) for each in item])
    gaps = np.eye(n) - np.where((item[:, None] == item) & ~np.eye(n, dtype=bool), 1 / (k - 1)[:, None], 0.0)
    given = np.eye(7)[who]
    found = profiles(judgments)
    from_labels = np.linalg.pinv(given.T @ gaps @ given) @ given.T @ gaps
    shift = from_labels @ label
    assert found.shift == pytest.approx(shift - np.median(shift), abs=1e-4)
    order = np.argsort(shift)
    left = gaps @ (label - given @ shift)
    variance = (left**2 * (k - 1) / k).sum() / (n - 7)
    covariance = variance * (differences(7) @ from_labels[order]) @ (differences(7) @ from_labels[order]).T
    assert found.shift_se[order] == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-4)
    assert (found.shift_se[:3] > 2 * found.leniency.se[:3]).all()


def test_teams_without_a_link_and_those_who_share_nothing():
    judgments = labels([np.arange(2)] * 25 + [np.arange(2, 4)] * 25 + [np.array([4])] * 5, 1)[0]
    found = profiles(judgments)
    assert np.isfinite(found.shift_se[:4]).all()
    assert np.isnan(found.shift_se[4])


def test_of_very_many_assessors_the_error_is_not_known(monkeypatch):
    judgments = labels([np.arange(3)] * 30, 1)[0]
    assert np.isfinite(profiles(judgments).shift_se).all()
    monkeypatch.setattr(module, "MOST", 2)
    assert np.isnan(profiles(judgments).shift_se).all()


LIMITS = pytest.mark.parametrize("most", [0, 2_000], ids=["conjugate gradients", "inverse"])


@LIMITS
def test_gaps_that_cancel_are_nothing(monkeypatch, most):
    """Both give the same labels in another order: what rounding leaves of 0 must not be divided by itself."""
    monkeypatch.setattr(module, "MOST", most)
    rows = [("1", "a", who, label) for who, some in (("U", (1, 3, 0)), ("V", (0, 1, 3))) for label in some]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    found = profiles(read_judgments(frame, scale="0<1<2<3", duplicate_labels="keep"))
    assert found.shift.tolist() == found.leniency.value.tolist() == [0, 0]


@LIMITS
def test_a_long_chain_is_solved(monkeypatch, most):
    """Along a chain, the shift grows from one assessor to the next by the mean difference on what both judged."""
    monkeypatch.setattr(module, "MOST", most)
    n = 600
    _, _, who, label = labels([(a, a + 1) for a in range(n - 1) for _ in range(3)], 0)
    names = [f"{each:04d}" for each in who]
    item = np.repeat(np.arange(len(who) // 2), 2).astype(str)
    frame = {"topic": ["1"] * len(who), "doc": item, "assessor": names, "label": label}
    found = profiles(read_judgments(pl.DataFrame(frame)))
    steps = (label[1::2] - label[::2]).reshape(n - 1, 3).mean(axis=1)
    expected = np.append(0.0, np.cumsum(steps))
    assert found.shift == pytest.approx(expected - np.median(expected), abs=1e-6)


def test_what_cannot_be_solved_is_not_known(monkeypatch):
    monkeypatch.setattr(module, "MOST", 0)
    monkeypatch.setattr(module, "STEPS", 1)
    assert np.isnan(profiles(labels([np.arange(2)] * 9 + [np.arange(1, 4)] * 9, 1)[0]).shift).all()


@pytest.mark.parametrize("n_links", [0, 1, 7, 14, 40])
def test_connected_parts_are_those_of_scipy(n_links):
    from scipy.sparse.csgraph import connected_components

    rng = np.random.default_rng(n_links)
    linked = np.zeros((15, 15), dtype=bool)
    linked[tuple(rng.integers(15, size=(2, n_links)))] = True
    linked |= linked.T
    part = module._parts(linked)
    np.testing.assert_array_equal(part[:, None] == part, np.equal.outer(*[connected_components(linked)[1]] * 2))


def test_a_long_chain_is_one_part():
    chain = np.eye(40, k=1, dtype=bool) | np.eye(40, k=-1, dtype=bool)
    assert (module._parts(chain) == 0).all()
