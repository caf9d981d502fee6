r"""Kinds of items: those with equally many labels, and equally many relevant ones, are alike to whoever draws labels.

Of an item with k labels, one is drawn at random: it is i with probability c/k where c of them are i, and that is how
much the item weighs for i.  Of the k - 1 others :math:`r' = r - [i \in R]` are relevant.  What is then drawn from the
others depends on k and r alone, so sums over items are sums over kinds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.types import Bools, Floats, Ints


class Kinds(NamedTuple):
    """Kinds of items: n_labels, n_relevant, n_items (kind,); relevant (label,).

    weight, square (kind, label): sums of c/k, and of its square, over the items of a kind.
    """

    n_labels: Ints
    n_relevant: Ints
    n_items: Ints
    weight: Floats
    square: Floats
    relevant: Bools

    def with_labels(self, at_least: int) -> Kinds:
        """Choose the items with this many labels or more."""
        enough = self.n_labels >= at_least
        counts = (self.n_labels[enough], self.n_relevant[enough], self.n_items[enough])
        return Kinds(*counts, self.weight[enough], self.square[enough], self.relevant)

    def mean(self, worth: Floats) -> tuple[Floats, Floats]:
        """Mean worth (kind, label) of the items by label, and its sd over items; NaN where no item has the label."""
        total = self.weight.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (self.weight * worth).sum(axis=0) / total
            return mean, np.sqrt((self.square * (worth - mean) ** 2).sum(axis=0)) / total

    def others(self) -> tuple[Floats, Floats]:
        """Labels besides the first, and how many of them are relevant -> (kind, 1), (kind, label)."""
        counts = np.stack([self.n_labels, self.n_relevant]).astype(np.float64)[:, :, None]
        return counts[0] - 1, counts[1] - self.relevant


def kinds_of(counts: Ints, relevant: Bools) -> Kinds:
    """Gather items into kinds; counts (item, label), relevant (label,).  O(items x labels + items log items)."""
    k, r = counts.sum(axis=1), counts[:, relevant].sum(axis=1)
    base = int(k.max(initial=0)) + 1
    cells, kind, n_items = np.unique(k * base + r, return_inverse=True, return_counts=True)
    share = counts / np.maximum(k, 1)[:, None]
    weight, square = np.zeros((2, len(cells), counts.shape[1]))
    for label, column in enumerate(share.T):
        weight[:, label] = np.bincount(kind, column, minlength=len(cells))
        square[:, label] = np.bincount(kind, column**2, minlength=len(cells))
    return Kinds(cells // base, cells % base, n_items, weight, square, relevant)


def hypergeometric_tail(m: Floats, n: int, good: Floats, total: Floats) -> Floats:
    """P(X >= m) where n of total are drawn without replacement, good of which count; arrays broadcast.

    n + 1 terms, by logarithms.  What cannot be drawn (good below 0, total below n) gives 0.
    """
    x = np.arange(n + 1).reshape(-1, *[1] * np.broadcast(m, good, total).ndim)
    with np.errstate(invalid="ignore"):
        logs = _log_choose(good, x) + _log_choose(total - good, n - x) - _log_choose(total, np.full(1, n))
    chances = np.exp(np.where(np.isnan(logs), -np.inf, logs))
    return np.clip(np.where(x >= m, chances, 0.0).sum(axis=0), 0.0, 1.0)


def _log_choose(of: Floats, some: Ints) -> Floats:
    """Logarithm of the number of ways to choose; minus infinity where there are none."""
    from scipy.special import betaln

    inside = (some >= 0) & (some <= of)
    rest, some = np.where(inside, of - some, 0.0), np.where(inside, some, 0)
    return np.where(inside, -betaln(rest + 1, some + 1) - np.log(rest + some + 1), -np.inf)
