r"""Items with many labels: observed shares, compared with those that the User Disagreement Model predicts.

Demeester et al. (2014), doi:10.1145/2556195.2556268, Section 4.5 (Table 1, Figure 5).  An item has k labels, c of them
are i and r are relevant.  One label is drawn at random; it is i with probability c/k, which is the weight of the item
for i.  Of the k - 1 others r' = r - [i relevant] are relevant, N - 1 of them are drawn without replacement, and

.. math:: P^{(M/N)}_{R|i} = \frac{\sum_{items} \frac{c}{k} P(X + [i \in R] \ge M)}{\sum_{items} \frac{c}{k}},
          \qquad X \sim \mathrm{Hypergeometric}(k - 1, r', N - 1)

is the mean of the paper's random experiment (``sampled``, Section 3.2, Figure 1) over all its choices.  Other weights
are biased.  The mean of r'/(k - 1) over all items on which i occurs reverses the order of the labels: on the paper's
data it gives p(HRel | HRel, Rel, Non) = .23 .33 .30, where exact counting gives .34 .30 .23.  The terms depend on k and
r alone, so sums over items are sums over kinds of items (``Kinds``).

Items with label i differ.  With p = P(another user finds it relevant | i) and s = P(two other users both do | i),

.. math:: \rho = (s - p^2) / (p - p^2)

is the correlation of two other users' opinions given i, and ``udm_weights(m, n, p, relevant, rho=rho)`` the
beta-binomial form: exact for N = 3, a prediction beyond.  Independent users (rho = 0) overstate P(1/N).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.label_pairs import Pairs, pair_up
from venire.data.scale import Relevant, relevant_sets
from venire.disagreement.user_disagreement import udm_weights
from venire.errors import PairsError, SettingError
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.results import Note, Records, Tabular, counted, known
from venire.types import Bools, Floats, Ints, RNGLike


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

    def mean(self, value: Floats) -> tuple[Floats, Floats]:
        """Mean value (kind, label) of the items by label, and its sd over items; NaN where no item has the label."""
        total = self.weight.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (self.weight * value).sum(axis=0) / total
            return mean, np.sqrt((self.square * (value - mean) ** 2).sum(axis=0)) / total

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


Share = tuple[int, int]
CERTAIN = 1e-12
"""Below this variance all other users agree."""


@dataclass(frozen=True, eq=False)
class ManyLabels(Tabular):
    """P(M/N) as observed and as predicted, for each share and label; all arrays (share, label), n_items (share,).

    observed, sd     by counting, and its standard deviation over items
    predicted        the paper's formula with p, both from the same items
    correlated       the beta-binomial form, with rho too
    """

    labels: tuple[str, ...]
    relevant: tuple[str, ...]
    shares: tuple[Share, ...]
    n_items: Ints
    observed: Floats
    sd: Floats
    predicted: Floats
    correlated: Floats
    p: Floats
    rho: Floats
    notes: tuple[Note, ...] = ()

    def records(self) -> list[dict[str, object]]:
        """One record per share and label, None where no item has the label."""
        columns = ("observed", "sd", "predicted", "correlated", "p", "rho")
        return [
            {"label": label, "M": m, "N": n, "items": int(self.n_items[row])}
            | {name: known(getattr(self, name)[row, level]) for name in columns}
            for row, (m, n) in enumerate(self.shares)
            for level, label in enumerate(self.labels)
        ]

    def sentence(self, estimated: Floats | None = None) -> str:
        """Say the largest error of the predictions; estimated (share, label): weights that replace them."""
        predicted = self.predicted if estimated is None else estimated
        off = np.abs(predicted - self.observed)
        if np.isnan(off).all():
            return "No label has enough items to compare predictions with."
        row, level = np.unravel_index(np.nanargmax(off), off.shape)
        (m, n), correlated = self.shares[row], np.nanmax(np.abs(self.correlated - self.observed))
        return (
            f"The largest error of the predicted weights is {off[row, level]:.3f}, for {m}/{n} given "
            f"{self.labels[level]} (predicted {predicted[row, level]:.3f}, observed {self.observed[row, level]:.3f}, "
            f"{counted(int(self.n_items[row]), 'item')}); with correlated users it is {correlated:.3f}."
        )


class Heterogeneity(NamedTuple):
    """How alike two users' opinions are on items with a label: p, both (s), plain and clipped rho, all (label,)."""

    p: Floats
    both: Floats
    plain: Floats
    rho: Floats
    notes: tuple[Note, ...] = ()


def observed_weights(
    judgments: JudgmentsLike, shares: Sequence[Share], *, relevant: Relevant = None, at_least: int | None = None
) -> ManyLabels:
    """Observe P(M/N) on items with N labels or more (at_least: this many for every share), and predict it.

    shares: pairs (M, N).  relevant: as PredictedRelevance takes it, one notion.
    Cost: O(rows log rows + items x labels), and a sum over kinds of items for each share.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> seen = observed_weights(read_grid('''
    ...     2 2 1 0
    ...     2 1 1 0
    ...     1 0 1 0'''), [(1, 3)])
    >>> seen.labels, seen.observed.round(2).tolist(), seen.predicted.round(2).tolist()
    (('0', '1', '2'), [[0.25, 0.4, 1.0]], [[0.23, 0.51, 1.0]])
    """
    judgments = as_judgments(judgments)
    if not shares:
        raise SettingError("no share M/N was given", hint="for example (1, 3): at least one of three users")
    for m, n in shares:
        if not 1 <= m <= n:
            raise SettingError(f"{m}/{n}: expected at least M of N users with 1 <= M <= N", hint="for example 1/3")
    pairs = labels_of_many(judgments)
    names, marked = one_relevant(pairs, relevant)
    kinds = kinds_of(pairs.sides.first, marked)
    chosen = [_enough(kinds, max(n, at_least or 1)) for _, n in shares]
    alike = [heterogeneity(each.with_labels(3), pairs.scale.labels) for each in chosen]
    rows = [_compared(each, share, rho) for each, share, (*_, rho, _) in zip(chosen, shares, alike, strict=True)]
    observed, sd, predicted, correlated, p, rho = (np.array(column) for column in zip(*rows, strict=True))
    n_items = np.array([each.n_items.sum() for each in chosen])
    notes = [note for (_, n), each in zip(shares, alike, strict=True) if n >= 3 for note in each.notes]
    notes += _unseen(pairs.scale.labels, shares, observed)
    columns = (observed, sd, predicted, correlated, p, rho, tuple(dict.fromkeys(notes)))
    return ManyLabels(pairs.scale.labels, names, tuple(shares), n_items, *columns)


def labels_of_many(judgments: Judgments) -> Pairs:
    """Count the labels by item, refusing two by one assessor: they would count as the opinions of two people."""
    pairs = pair_up(judgments, estimator="labels", weight="item")
    n_repeated = len(np.unique(pairs.sides.repeated_item))
    if n_repeated:
        raise PairsError(
            f"there are several labels by one assessor on {counted(n_repeated, 'item')}, and each should be another "
            "person's",
            hint="keep one of them when reading, or treat every label as another person's with anonymous()",
        )
    return pairs


def one_relevant(pairs: Pairs, relevant: Relevant) -> tuple[tuple[str, ...], Bools]:
    """The labels that are relevant, by name and marked (label,); one notion of relevance at a time."""
    names, labels = relevant_sets(pairs.scale, relevant)
    if len(names) > 1:
        raise SettingError(
            f"{len(names)} notions of relevance, expected one", hint=f"name one, as in relevant={names[0]!r}"
        )
    return tuple(np.array(pairs.scale.labels)[labels[0]].tolist()), labels[0]


def _compared(kinds: Kinds, share: Share, rho: Floats) -> tuple[Floats, ...]:
    """Count and predict one share -> observed, sd, predicted, correlated, p, rho; all (label,)."""
    m, n = share
    others, good = kinds.others()
    observed, sd = kinds.mean(hypergeometric_tail(m - kinds.relevant.astype(np.float64), n - 1, good, others))
    pairs = kinds.with_labels(2)
    others, good = pairs.others()
    p, _ = pairs.mean(good / others)
    known = np.clip(np.nan_to_num(p), 0.0, 1.0)
    predicted, correlated = (udm_weights(m, n, known, kinds.relevant, rho=each) for each in (0.0, rho))
    absent = np.isnan(observed)
    return observed, sd, np.where(absent, np.nan, predicted), np.where(absent, np.nan, correlated), p, rho


def _unseen(labels: Sequence[str], shares: Sequence[Share], observed: Floats) -> list[Note]:
    """Note each label that no item with enough labels has."""
    return [
        Note("no-items", "label {label}: no item with enough labels for {m}/{n} has it", label=label, m=m, n=n)
        for (m, n), row in zip(shares, observed, strict=True)
        for label, value in zip(labels, row, strict=True)
        if np.isnan(value)
    ]


def heterogeneity(kinds: Kinds, labels: Sequence[str]) -> Heterogeneity:
    """Correlation of two other users' opinions given a label, from kinds of items with three labels or more.

    A value below 0, as few items may give, is set to 0, with a note.
    """
    others, good = kinds.others()
    p, _ = kinds.mean(good / others)
    both, _ = kinds.mean(good * (good - 1) / (others * (others - 1)))
    varied = p * (1 - p) > CERTAIN
    plain = np.where(varied, (both - p * p) / np.where(varied, p * (1 - p), 1.0), np.nan)
    rho = np.clip(np.where(varied, plain, 0.0), 0.0, np.nextafter(1.0, 0.0))
    return Heterogeneity(p, both, plain, rho, tuple(_clipped(labels, p, plain)))


def _clipped(labels: Sequence[str], p: Floats, plain: Floats) -> list[Note]:
    """Note each label whose correlation is not in [0, 1)."""
    found = []
    for label, share, rho in zip(labels, p.tolist(), plain.tolist(), strict=True):
        reason = ""
        if np.isnan(share):
            reason = "no item has it and two other labels"
        elif np.isnan(rho):
            reason = f"the labels of others do not vary (p = {share:g})"
        elif not 0 <= rho < 1:
            reason = f"the estimate of rho is {rho:.3f}"
        if reason:
            used = "just below 1" if rho >= 1 else "0"
            text = "label {label}: {reason}; rho is set to {used}"
            found.append(Note("rho-set", text, label=label, reason=reason, used=used))
    return found


def _enough(kinds: Kinds, at_least: int) -> Kinds:
    chosen = kinds.with_labels(at_least)
    if not len(chosen.n_labels):
        raise PairsError(f"no item has {at_least} labels or more", hint="require fewer, or judge some items more often")
    return chosen


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
        """Say the shares in the largest sample."""
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

    Mean and standard deviation over repeats; both NaN for a label that never came first.  The sd is
    that of the choice of labels, not the error of p: the items are the same every time.
    Cost: O(repeats x rows log rows), memory linear in the rows.
    """
    if not n or not 1 <= min(n) <= max(n) < at_least or repeats < 1:
        raise SettingError(
            f"n={tuple(n)} others of items with {at_least} labels, {repeats} repeats",
            hint="expected 1 <= n < at_least, and one repeat or more",
        )
    pairs = labels_of_many(judgments)
    names, marked = one_relevant(pairs, relevant)
    _enough(kinds_of(pairs.sides.first, marked), at_least)
    counts = pairs.sides.first[pairs.sides.first.sum(axis=1) >= at_least]
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
