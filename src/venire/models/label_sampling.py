"""Sampling labels: one per item, and n of the others (Demeester et al. 2014, Section 3.2, Figure 1).

The experiment with which doi:10.1145/2556195.2556268 first shows disagreement.  ``many_labels`` gives the mean over all
its choices exactly; this one shows how much a single choice matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.data.judgments import Judgments
from venire.errors import SettingError
from venire.models.many_labels import labels_of_many, one_relevant, too_few
from venire.models.relevance import Relevant
from venire.tabular import Records, Tabular, known
from venire.types import Bools, Floats, Ints, RNGLike
from venire.words import counted


@dataclass(frozen=True, eq=False)
class Sampled(Tabular):
    """The share of relevant among n random others: mean and sd over repeats, both (n, label)."""

    labels: tuple[str, ...]
    relevant: tuple[str, ...]
    n: tuple[int, ...]
    n_items: int
    n_repeats: int
    mean: Floats
    sd: Floats

    def sentence(self) -> str:
        """Say what the largest sample gives."""
        cells = ", ".join(
            f"{label} {mean:.3f} (sd {sd:.3f})"
            for label, mean, sd in zip(self.labels, self.mean[-1], self.sd[-1], strict=True)
            if not np.isnan(mean)
        )
        return (
            f"P(another user says {'|'.join(self.relevant)} | label) from {self.n[-1]} others on each of "
            f"{counted(self.n_items, 'item')}, {counted(self.n_repeats, 'repeat')}: {cells}."
        )

    def records(self) -> Records:
        """Return one row per number of others and label: the share of relevant among them, over repeats."""
        return [
            {"others": n, "label": label, "mean": known(self.mean[place, level]), "sd": known(self.sd[place, level])}
            for place, n in enumerate(self.n)
            for level, label in enumerate(self.labels)
        ]


def sampled(
    judgments: Judgments,
    *,
    relevant: Relevant = None,
    at_least: int = 6,
    n: Sequence[int] = (1, 2, 3, 4, 5),
    repeats: int = 50,
    rng: RNGLike = 0,
) -> Sampled:
    """Draw one label per item and n of the others: the share of relevant among them, by the first label (Section 3.2).

    Mean and standard deviation over repeats; both NaN for a label that never came first.  The sd says how much the
    choice of labels matters, not how sure p is: the items are the same every time.
    Cost: O(repeats x rows log rows), memory linear in the rows.
    """
    if not n or not 1 <= min(n) <= max(n) < at_least or repeats < 1:
        raise SettingError(
            f"n={tuple(n)} others of items with {at_least} labels, {repeats} repeats",
            hint="expected 1 <= n < at_least, and one repeat or more",
        )
    pairs = labels_of_many(judgments)
    names, marked = one_relevant(pairs, relevant)
    counts = pairs.sides.first[pairs.sides.first.sum(axis=1) >= at_least]
    if not len(counts):
        raise too_few(at_least)
    k, generator = counts.sum(axis=1), np.random.default_rng(rng)
    item = np.repeat(np.arange(len(counts)), k)
    label = np.repeat(np.tile(np.arange(counts.shape[1]), len(counts)), counts.ravel())
    start = np.cumsum(k) - k
    draws = np.array([_drawn(item, label, start, marked, np.array(n), generator) for _ in range(repeats)])
    with np.errstate(divide="ignore", invalid="ignore"):
        some = (~np.isnan(draws)).sum(axis=0)
        mean = np.nansum(draws, axis=0) / some
        sd = np.sqrt(np.nansum((draws - mean) ** 2, axis=0) / (some - 1))
    return Sampled(pairs.scale.labels, names, tuple(n), len(counts), repeats, mean, sd)


def _drawn(item: Ints, label: Ints, start: Ints, marked: Bools, n: Ints, generator: np.random.Generator) -> Floats:
    """Shuffle the labels of every item, and average the shares of relevant ones by the first label -> (n, label)."""
    shuffled = label[np.argsort(item + generator.random(len(item)), kind="stable")]
    first = shuffled[start]
    hits = marked[shuffled[start[:, None] + np.arange(1, n.max() + 1)]].cumsum(axis=1)[:, n - 1] / n
    total = np.bincount(first, minlength=len(marked))
    sums = np.array([np.bincount(first, column, minlength=len(marked)) for column in hits.T])
    return np.where(total > 0, sums / np.maximum(total, 1), np.nan)
