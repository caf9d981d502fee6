r"""Preferences by label: how often a document with a higher label is preferred.

Every choice between two documents that an assessor of the judgments labelled a and b is a sample of p(a > b), the
probability that a document labelled a is preferred to one labelled b.  Each assessor who labelled both documents is a
sample of their own (Chu et al. 2021, doi:10.1145/3459637.3482428, Eq. 10).  Both orientations are counted, a tie as one
half of each:

.. math:: p(a > b) = \frac{n_{a \succ b} + n_{a \sim b} / 2}{n_{ab}}

so that p(a > b) + p(b > a) = 1 and p(a > a) = 1/2.  (As printed, Eq. 10 counts one orientation and need not add up.)

Intervals take choices of one topic as dependent (``kernels.shares``).

Cost: O(choices x labels per document), and topics x labels^2 cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.data.scale import Scale
from venire.errors import PairsError
from venire.kernels.paired_labels import by_person, middle_entries
from venire.kernels.shares import clustered_shares
from venire.results import Records, Tabular, counted, known
from venire.types import Codes, Floats, Ints


class LabelledChoices(NamedTuple):
    """Choices with the labels of both documents by one assessor, all (sample,): row is into the preferences."""

    row: Ints
    label_left: Codes
    label_right: Codes


@dataclass(frozen=True, eq=False)
class PreferencesByLabels(Tabular):
    """Preferences by label: counts (label_left, label_right, outcome: left, tie, right) in both orientations.

    p, low, high (label_left, label_right): probability that the left one is preferred, NaN where no choice was made.
    n_choices counts the choices that both labels were found for; n_unlabelled the others.
    """

    scale: Scale
    counts: Ints
    p: Floats
    low: Floats
    high: Floats
    n_choices: int
    n_unlabelled: int
    n_topics: int

    def told_apart(self, higher: int, lower: int) -> bool | None:
        """Return whether the higher label is preferred significantly more often than not; None where unknown."""
        low = self.low[higher, lower]
        return None if np.isnan(low) else bool(low > 0.5)

    def records(self) -> Records:
        """Return one row per pair of labels, lower label first; None where nothing is known, with a reason."""
        lower, higher = np.triu_indices(len(self.scale), 1)
        return [self._record(a, b) for a, b in zip(lower.tolist(), higher.tolist(), strict=True)]

    def sentence(self) -> str:
        """Return how often the higher of two neighbouring labels is preferred, with 95 % intervals."""
        steps = [self._record(level, level + 1) for level in range(len(self.scale) - 1)]
        shown = [
            f"{each['higher']} over {each['lower']} in {each['p']:.0%} [{each['low']:.0%}, {each['high']:.0%}]"
            for each in steps
            if each["p"] is not None
        ]
        choices, topics = counted(self.n_choices, "choice"), counted(self.n_topics, "topic")
        return f"Preference for the higher label, {choices} on {topics}: {', '.join(shown) or 'not known'}."

    def _record(self, lower: int, higher: int) -> dict[str, Any]:
        won, tied, lost = self.counts[higher, lower].tolist()
        p, low, high = (known(each[higher, lower]) for each in (self.p, self.low, self.high))
        return {
            "lower": self.scale.labels[lower],
            "higher": self.scale.labels[higher],
            "higher_preferred": won,
            "ties": tied,
            "lower_preferred": lost,
            "p": p,
            "low": low,
            "high": high,
            "told_apart": self.told_apart(higher, lower),
            "reason": "no choice is between documents with these labels" if p is None else None,
        }


def preferences_by_labels(preferences: Preferences, judgments: Judgments) -> PreferencesByLabels:
    """Count choices by the labels of the two documents, and how often the higher label is preferred.

    A choice is counted once for every assessor who labelled both documents.  When not to use this: labels and
    preferences by the same people at the same time, which are not independent.
    """
    chosen = labelled_choices(preferences, judgments)
    if len(chosen.row) == 0:
        message = "no choice is between two documents that one assessor labelled"
        raise PairsError(message, hint="check that both files name topics and documents alike")
    n_labels, topic = len(judgments.scale), preferences.topic[chosen.row]
    by_topic = _counts(chosen, preferences.outcome[chosen.row], topic, (len(preferences.topics), n_labels))
    hits = by_topic[..., 0] + by_topic[..., 1] / 2
    p, low, high = clustered_shares(hits, by_topic.sum(axis=-1).astype(np.float64))
    for each in (p, low, high):  # one half by definition
        np.fill_diagonal(each, 0.5)
    n_choices = len(np.unique(chosen.row))
    counts = n_choices, len(preferences) - n_choices, len(np.unique(topic))
    return PreferencesByLabels(judgments.scale, by_topic.sum(axis=0), p, low, high, *counts)


def labelled_choices(preferences: Preferences, judgments: Judgments) -> LabelledChoices:
    """Join each choice with the labels of both documents, assessor by assessor (Eq. 10).

    Of several labels that an assessor gave to a document the median counts, the lower of two.
    """
    left, right = item_numbers(preferences, judgments)
    row = np.flatnonzero((left >= 0) & (right >= 0))
    entries = middle_entries(judgments.item, judgments.assessor.codes, judgments.label, len(judgments.items))
    pairs = by_person(entries, left[row].astype(np.int64), right[row].astype(np.int64))
    return LabelledChoices(row[pairs.pair], pairs.a, pairs.b)


def item_numbers(preferences: Preferences, judgments: Judgments) -> tuple[Ints, Ints]:
    """Return the item numbers of the left and the right document of each choice, -1 for documents without judgment."""
    docs = preferences.docs.slices
    left, right = (
        judgments.items.numbers_of(preferences.topics, preferences.topic, docs.take(side))
        for side in (preferences.left, preferences.right)
    )
    return left, right


def _counts(chosen: LabelledChoices, outcome: Codes, topic: Codes, shape: tuple[int, int]) -> Ints:
    """Count samples in both orientations -> (topic, label_left, label_right, outcome)."""
    n_topics, n_labels = shape
    cell = topic.astype(np.int64) * n_labels
    here = ((cell + chosen.label_left) * n_labels + chosen.label_right) * 3 + (1 - outcome)
    swapped = ((cell + chosen.label_right) * n_labels + chosen.label_left) * 3 + (1 + outcome)
    counts = np.bincount(np.concatenate([here, swapped]), minlength=n_topics * n_labels**2 * 3)
    return counts.reshape(n_topics, n_labels, n_labels, 3)
