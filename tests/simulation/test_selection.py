"""Second judgments that were chosen by rank, or by the first label, against collections whose p(R|i) is known.

The labels of two people have a symmetrical joint distribution, better at first ranks than below; the truth is p(R|i)
over the ranks that were chosen from.  Every topic has 40 documents, one on each rank, and one assessor labels them all.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import binom

from long_rows import judgments_of
from venire import PredictedRelevance
from venire.disagreement import selection
from venire.errors import SelectionWarning

GOOD = np.array([[0.20, 0.08, 0.02], [0.08, 0.22, 0.08], [0.02, 0.08, 0.22]])
POOR = np.array([[0.78, 0.06, 0.01], [0.06, 0.05, 0.01], [0.01, 0.01, 0.01]])
N_TOPICS, RANKS = 30, np.arange(1, 41)
BY_RANK = {
    "at random": np.full((N_TOPICS, 40), 0.3),
    "first ten": np.tile(RANKS <= 10, (N_TOPICS, 1)),
    "first ten of half the topics": (RANKS <= 10) & (np.arange(N_TOPICS) % 2 == 0)[:, None],
    "fewer deep down": np.tile(np.exp(-RANKS / 10), (N_TOPICS, 1)),
}
BY_LABEL = {"above the lowest": 0.0, "1 % contaminated": 0.01, "10 % contaminated": 0.1}
"""Share of each topic and rank, or of items with the lowest label, that is judged again."""


def joint(depth):
    """P(label by one person, label by another) -> (topic, rank, one, other); depth: how far down good results go."""
    good = np.exp(-RANKS / np.asarray(depth)[:, None])[..., None, None]
    return good * GOOD + (1 - good) * POOR


def collection(rng, chosen, *, n_others=1, keep_singles=True):
    """Label all by A, and by others what ``chosen`` gives a chance (topic, rank) -> judgments, rank of each item."""
    tables = joint(rng.uniform(6, 18, N_TOPICS))
    first = _drawn(tables.sum(axis=3), rng)
    given = np.take_along_axis(tables, first[..., None, None], axis=2)[:, :, 0]
    later = [_drawn(given / given.sum(axis=2, keepdims=True), rng) for _ in range(n_others)]
    again = rng.random(first.shape) < chosen(first)
    rows = [(t, f"d{r + 1}", "A", first[t, r]) for t, r in np.argwhere(again | keep_singles)]
    rows += [(t, f"d{r + 1}", "BCD"[n], each[t, r]) for n, each in enumerate(later) for t, r in np.argwhere(again)]
    labels = judgments_of(rows)
    return labels, np.array([int(doc[1:]) for doc in labels.items.doc])


def _drawn(chances, rng):
    """Draw labels: chances (topic, rank, label) -> (topic, rank)."""
    return (rng.random((*chances.shape[:2], 1)) > chances.cumsum(axis=2)[..., :2]).sum(axis=2)


def truth(share=1.0):
    """p(R|i) over ranks of which this share (topic, rank) is judged again, each topic as deep as any."""
    weight = np.broadcast_to(share, (N_TOPICS, 40)).mean(axis=0)[:, None, None]
    table = (weight * joint(np.linspace(6, 18, 1001)).mean(axis=0)).sum(axis=0)
    return table[:, 2] / table.sum(axis=1)


def fitted(labels, rank, **setting):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return PredictedRelevance(relevant="2", n_draws=0, **setting).fit(labels, rank=rank).p[0]


@pytest.mark.parametrize("design", BY_RANK)
def test_a_choice_by_rank_is_let_through(collections, figure, monkeypatch, design):
    n, rng, share = collections(25), np.random.default_rng(3), BY_RANK[design]
    monkeypatch.setattr(selection, "SIGNIFICANT", 0.05)
    alarms, p = 0, []
    for _ in range(n):
        labels, rank = collection(rng, lambda _: share)
        alarms += selection.find_selection(labels, rank=rank) is not None
        p.append(fitted(labels, rank))
    away = np.abs(np.mean(p, axis=0) - truth(share)).max()
    figure(f"{design}: false alarms at 5 %", alarms / n)
    figure("bias at most", away)
    assert alarms <= binom.ppf(0.999, n, 0.06)
    assert away <= 0.01 + 3.5 * np.std(p, axis=0).max() / n**0.5


@pytest.mark.parametrize("n_others", [1, 2])
@pytest.mark.parametrize("design", BY_LABEL)
def test_a_choice_by_label_is_found_and_p_is_right(collections, figure, design, n_others):
    n, rng, lowest = collections(12), np.random.default_rng(4), BY_LABEL[design]
    found, p, pooled = 0, [], []
    for _ in range(n):
        labels, rank = collection(rng, lambda label: np.where(label > 0, 1.0, lowest), n_others=n_others)
        found += selection.find_selection(labels, rank=rank) is not None
        p.append(fitted(labels, rank))
        pooled.append(fitted(labels, rank, estimator="labels"))
    there = slice(1 if lowest == 0 else 0, None)
    away = np.abs(np.nanmean(np.array(p)[:, there], axis=0) - truth()[there]).max()
    figure(f"{design}, {1 + n_others} labels: found", found / n)
    figure("bias at most", away)
    figure("p(R|0) both ways", float(np.mean(pooled, axis=0)[0]))
    assert found == n
    assert away <= 0.01 + 3.5 * np.nanstd(np.array(p)[:, there], axis=0).max() / n**0.5
    assert np.mean(pooled, axis=0)[0] > truth()[0] + 0.02


def test_kept_double_judgments_alone_are_found(collections, figure):
    n, rng = collections(12), np.random.default_rng(5)
    found, p = 0, []
    for _ in range(n):
        labels, _ = collection(rng, lambda label: np.where(label > 0, 1.0, 0.01), keep_singles=False)
        found += selection.find_selection(labels) is not None
        p.append(fitted(labels, None)[1:])
    away = np.abs(np.mean(p, axis=0) - truth()[1:]).max()
    figure("double judgments alone, 1 % contaminated: found", found / n)
    figure("bias at most", away)
    assert found == n
    assert away <= 0.01 + 3.5 * np.std(p, axis=0).max() / n**0.5
