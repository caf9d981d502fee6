r"""What labels in condition are predicted by without a model: what a predictor has to beat.

same        the label in isolation again.  Its probability is the share s of pairs learnt from whose label stayed,
            (stayed + 1) / (pairs + 2); the other labels share 1 - s as ``prior`` has them
isolation   P(g(d|c) = k | g(d)), counted on the pairs learnt from, each row with one pair more as ``prior`` has
            it: all that is known without the document read before.  What a predictor gains on this, context gave
prior       the share of each label in condition, (count + 1) / (pairs + labels)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.models.conditional_pairs import LabelledPairs
from venire.types import Codes, Floats, Ints

BASELINES = ("isolation", "same", "prior")


class Guess(NamedTuple):
    """Probability of each label (pair, label), and the label that is said (pair,)."""

    p: Floats
    label: Codes

    @property
    def confidence(self) -> Floats:
        """Probability of the label that is said -> (pair,)."""
        return self.p[np.arange(len(self.label)), self.label]


def most_probable(p: Floats) -> Guess:
    """Say the most probable label, of equals the lowest."""
    return Guess(p, p.argmax(axis=1).astype(np.int32))


def baselines(learnt: LabelledPairs, held: LabelledPairs, n_labels: int) -> dict[str, Guess]:
    """Guess pairs held out from pairs learnt from, by each baseline.  O(pairs x labels)."""
    label = held.pairs.label
    prior = (np.bincount(learnt.outcome, minlength=n_labels) + 1) / (len(learnt) + n_labels)
    cell = learnt.pairs.label.astype(np.int64) * n_labels + learnt.outcome
    counts = np.bincount(cell, minlength=n_labels**2).reshape(n_labels, n_labels)
    rows = (counts + prior) / (counts.sum(axis=1, keepdims=True) + 1)
    return {
        "isolation": most_probable(rows[label]),
        "same": Guess(_same(counts, prior)[label], label),
        "prior": most_probable(np.tile(prior, (len(label), 1))),
    }


def _same(counts: Ints, prior: Floats) -> Floats:
    """P(label in condition | label in isolation) if it stays with one probability for all -> (label, label)."""
    if len(prior) == 1:
        return np.ones((1, 1))
    stays = (np.trace(counts) + 1) / (counts.sum() + 2)
    table: Floats = (1 - stays) * prior / (1 - prior)[:, None]
    np.fill_diagonal(table, stays)
    return table
