r"""Shown documents: which labelled documents systems show, and with what weight, for measures that add gains up.

A measure that is linear in the gains at fixed ranks is known by its rank weights: what it makes of a gain of 1 at each
rank alone.  The difference of two systems then is a sum over documents, each with the difference of its two weights;
documents with the same difference, the same label (and topic, where transitions vary by topic) are of one class.  What
the new judge labelled is known: such documents are of a class by that label, whatever the old one was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from venire.data.align import Ranked
from venire.data.facts import Facts
from venire.errors import MeasureError, SettingError
from venire.kernels.class_sums import sum_chances, sum_moments
from venire.measures.dcg import DCG
from venire.measures.layout import Layout
from venire.measures.measure import Measure
from venire.measures.scoring import Plan
from venire.types import Codes, Floats, Ints

BLOCK_CELLS = 1 << 22
"""How many cells (pairs x documents, pairs x classes) are held at a time."""
MOST_PAIRS = 1 << 10
MOST_WEIGHTS, ROUNDED = 1 << 10, 2.0**-13
"""Where more different weights occur than that, they are rounded to this part of the largest."""


def refuse_other_than_linear(measure: Measure) -> None:
    """Refuse measures that are no weighted sum of gains; DCG is one even where its gains are no probabilities."""
    linear = measure.mean_over_users == "always" or type(measure) is DCG
    if not linear or not (rank_weights(measure, 1) - rank_weights(measure, 1, gain=0.0)).any():
        raise MeasureError(
            f"{measure} is no sum of gains with fixed weights by rank, so it has no exact form here",
            hint="use P@10, CG@10, DCG@10 or RBP, or draw judges at random (forecast)",
        )


def rank_weights(measure: Measure, deepest: int, *, gain: float = 1.0) -> Floats:
    """What a gain of 1 at each rank alone comes to, by the measure itself -> (rank,)."""
    gains = np.full((1, deepest, 1), gain)
    rank = np.arange(1, deepest + 1)[:, None]
    return measure(Ranked(gains, rank, np.ones_like(gains, dtype=np.bool_), np.full(deepest, deepest)))[0]


class Distributions(NamedTuple):
    """Differences of means over topics under matrices, all (draw, pair); step of the grid, 0 where exact."""

    expected: Floats
    sd: Floats
    ahead: Floats
    tie: Floats
    behind: Floats
    step: Floats


@dataclass(frozen=True, eq=False)
class Shown:
    """Labelled documents, and kind (system, document), which of the ``weights`` each has; label, topic (document,).

    gain (label,): what the measure reads from a label.  given (document,): labels by the new judge; -1: none, as in
    ``label``.
    """

    kind: Codes
    weights: Floats
    label: Codes
    topic: Codes
    gain: Floats
    n_topics: int
    given: Codes

    @classmethod
    def of(cls, facts: Facts, layout: Layout, plan: Plan, *, label: Codes, given: Codes) -> Shown:
        """Find the documents that have a label, stand where the measure looks, and belong to a topic that is scored."""
        by_rank = rank_weights(plan.measures[0], int(facts.rank.max(initial=1)))
        weights, kind_of = np.unique(np.append(0.0, by_rank), return_inverse=True)
        owner = np.repeat(np.arange(len(facts.depth)), facts.n_hits)
        kind = kind_of[facts.rank]
        scored = np.isin(facts.topic, layout.chosen)[owner]
        hits = np.flatnonzero((np.maximum(label, given)[facts.item] >= 0) & (kind != kind_of[0]) & scored)
        item, column = np.unique(facts.item[hits], return_inverse=True)
        table = np.full((len(facts.systems), len(item)), kind_of[0], dtype=np.int32)
        table[facts.system[owner[hits]], column] = kind[hits]
        gain = plan.worths[0].values
        return cls(table, weights, label[item], facts.items.topic[item], gain, len(layout.chosen), given[item])

    def means(self) -> Floats:
        """Mean over topics under the old labels -> (system,)."""
        return self.weights[self.kind] @ np.append(self.gain, 0.0)[self.label] / self.n_topics

    def under(self, matrices: Floats, a: Ints, b: Ints, *, shared: bool = True) -> Distributions:
        """Differences between systems a and b (pair,) under judges with matrices (draw, topic or 1, label, label).

        All answers are (draw, pair).
        """
        label, gain = self._read_by(matrices)
        outcomes, place = np.unique(gain, return_inverse=True)
        chances = (matrices @ np.eye(len(outcomes))[place]).reshape(len(matrices), -1, len(outcomes))
        topic = self.topic if matrices.shape[1] > 1 else np.zeros_like(self.topic)
        drawn = topic.astype(np.int64) * len(gain) + label
        group = np.where(self.given < 0, drawn, chances.shape[1] + self.given)
        sure = np.broadcast_to(np.eye(len(outcomes))[place], (len(matrices), len(gain), len(outcomes)))
        chances = np.concatenate([chances, sure], axis=1)
        parts = [Distributions(*([np.zeros((len(matrices), 0))] * 6))]
        for counts, weight, of in self._classes(a, b, group, chances.shape[1], shared=shared):
            values = weight[:, None] * outcomes
            found = [_distributions(counts, values, each[of], self.n_topics) for each in chances]
            parts.append(Distributions(*(np.stack(each) for each in zip(*found, strict=True))))
        return Distributions(*(np.concatenate(each, axis=1) for each in zip(*parts, strict=True)))

    def _read_by(self, matrices: Floats) -> tuple[Codes, Floats]:
        """Labels and gains as a matrix knows them: those of the scale, or irrelevant and relevant for two rates."""
        n_labels = len(self.gain)
        if matrices.shape[2:] == (n_labels, n_labels):
            return self.label, self.gain
        if matrices.shape[2:] == (2, 2) and np.isin(self.gain, [0.0, 1.0]).all():
            return self.gain.astype(np.int32)[self.label], np.array([0.0, 1.0])
        shape = " x ".join(map(str, matrices.shape[2:]))
        raise SettingError(
            f"the matrix of transitions is {shape}, expected {n_labels} x {n_labels}, a row and a column per label",
            hint="two agreement rates serve measures of relevant against irrelevant, such as P@10",
        )

    def _classes(
        self, a: Ints, b: Ints, group: Ints, n_groups: int, *, shared: bool
    ) -> Iterator[tuple[Ints, Floats, Ints]]:
        """Count the documents of each class, a block of pairs at a time.

        Yields counts (pair, class), and the weight and the group of each class (class,).
        """
        w = self.weights
        weight, number = _distinct(np.subtract.outer(w, w) if shared else np.stack([w, -w]))
        n_classes, zero = len(weight) * n_groups, int(np.searchsorted(weight, 0.0))
        few = max(1, BLOCK_CELLS // max(n_classes, len(group), 1))

        def counted(first: int) -> Ints:
            one, other = self.kind[a[first : first + few]], self.kind[b[first : first + few]]
            total = np.zeros(len(one) * n_classes, dtype=np.int64)
            for found in [number[one, other]] if shared else [number[0][one], number[1][other]]:
                row, document = np.nonzero(found != zero)
                cell = row * n_classes + found[row, document] * n_groups + group[document]
                total += np.bincount(cell, minlength=len(total))
            return total.reshape(len(one), n_classes)

        step = few * max(1, min(BLOCK_CELLS // n_classes, MOST_PAIRS) // few)
        for first in range(0, len(a), step):
            counts = np.concatenate([counted(n) for n in range(first, min(first + step, len(a)), few)])
            used = np.flatnonzero(counts.any(axis=0))
            yield counts[:, used], weight[used // n_groups], used % n_groups


def _distinct(weights: Floats) -> tuple[Floats, Ints]:
    """Distinct weights, and which one each is; so many that classes would be too many are rounded."""
    distinct, number = np.unique(weights, return_inverse=True)
    if len(distinct) > MOST_WEIGHTS:
        unit = float(distinct[-1]) * ROUNDED
        distinct, number = np.unique(np.rint(weights / unit) * unit, return_inverse=True)
    return distinct, number.reshape(weights.shape).astype(np.int64)


def _distributions(counts: Ints, values: Floats, chances: Floats, n_topics: int) -> Distributions:
    mean, variance = sum_moments(counts, values, chances)
    found = sum_chances(counts, values, chances)
    return Distributions(
        mean / n_topics,
        np.sqrt(variance) / n_topics,
        found.above,
        found.level,
        found.below,
        found.step / n_topics,
    )
