r"""Preferences against labels: which grades do users really tell apart?

Every choice between two documents that an assessor of the judgments labelled a and b says something on p(a > b), the
chance that a document labelled a is preferred to one labelled b.  Each assessor who labelled both documents is a sample
of their own (Chu et al. 2021, doi:10.1145/3459637.3482428, Eq. 10).  Both orientations are counted, a tie as one half
of each:

.. math:: p(a > b) = \frac{n_{a \succ b} + n_{a \sim b} / 2}{n_{ab}}

so that p(a > b) + p(b > a) = 1 and p(a > a) = 1/2.  (As printed, Eq. 10 counts one orientation and need not add up.)

Intervals treat the choices of a topic as alike (``kernels.shares``).

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
from venire.results import Tabular, counted, listed
from venire.types import Codes, Floats, Ints

VERDICTS = (
    "users prefer",
    "it is not sure that they prefer",
    "against the order of the scale, they do not prefer",
    "nobody was asked about",
)


class LabelledChoices(NamedTuple):
    """Choices with the labels of both documents by one assessor, all (sample,): row is into the preferences."""

    row: Ints
    label_left: Codes
    label_right: Codes


@dataclass(frozen=True, eq=False)
class PreferencesByLabels(Tabular):
    """What users prefer, by label: counts (label_left, label_right, outcome: left, tie, right) in both orientations.

    p, low, high (label_left, label_right): the chance that the left one is preferred, NaN where nothing was asked.
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
        """Whether users prefer this higher level to the lower one for sure; None where nothing is known."""
        low = self.low[higher, lower]
        return None if np.isnan(low) else bool(low > 0.5)

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per pair of labels, lower label first; None where nothing is known, with a reason."""
        lower, higher = np.triu_indices(len(self.scale), 1)
        return [self._record(a, b) for a, b in zip(lower.tolist(), higher.tolist(), strict=True)]

    def sentence(self) -> str:
        """Say which neighbouring labels users tell apart, and which not."""
        told: dict[str, list[str]] = {}
        for level in range(len(self.scale) - 1):
            told.setdefault(self._verdict(level), []).append(self._step(level))
        said = {verdict: listed(steps, len(self.scale)) for verdict, steps in told.items()}
        parts = "; ".join(f"{verdict} {said[verdict]}" for verdict in VERDICTS if verdict in said)
        equal = self.counts.trace().sum() / self.counts.sum()
        alike = f" ({equal:.0%} of them between equal labels)" if equal else ""
        return f"From {counted(self.n_choices, 'choice')} on {counted(self.n_topics, 'topic')}{alike}: {parts}."

    def _verdict(self, level: int) -> str:
        low, high = self.low[level + 1, level], self.high[level + 1, level]
        return VERDICTS[3 if np.isnan(low) else 0 if low > 0.5 else 2 if high < 0.5 else 1]

    def _step(self, level: int) -> str:
        p, low, high = (float(each[level + 1, level]) for each in (self.p, self.low, self.high))
        name = f"{self.scale.labels[level + 1]} to {self.scale.labels[level]}"
        return name if np.isnan(p) else f"{name} ({p:.0%} of the time, {low:.0%} to {high:.0%})"

    def _record(self, lower: int, higher: int) -> dict[str, Any]:
        won, tied, lost = self.counts[higher, lower].tolist()
        p, low, high = (float(each[higher, lower]) for each in (self.p, self.low, self.high))
        known = not np.isnan(p)
        return {
            "lower": self.scale.labels[lower],
            "higher": self.scale.labels[higher],
            "higher_preferred": won,
            "ties": tied,
            "lower_preferred": lost,
            "p": p if known else None,
            "low": low if known else None,
            "high": high if known else None,
            "told_apart": self.told_apart(higher, lower),
            "reason": None if known else "no choice is between documents with these labels",
        }


def preferences_by_labels(preferences: Preferences, judgments: Judgments) -> PreferencesByLabels:
    """Count choices by the labels of the two documents, and how often the higher label is preferred.

    A choice is counted once for every assessor who labelled both documents.  When not to use this: labels and
    preferences by the same people at the same time, who will not contradict themselves.
    """
    chosen = labelled_choices(preferences, judgments)
    if len(chosen.row) == 0:
        raise PairsError(
            "no choice is between two documents that one assessor labelled",
            hint="check that both files name topics and documents alike",
        )
    n_labels, topic = len(judgments.scale), preferences.topic[chosen.row]
    by_topic = _counts(chosen, preferences.outcome[chosen.row], topic, (len(preferences.topics), n_labels))
    hits = by_topic[..., 0] + by_topic[..., 1] / 2
    p, low, high = clustered_shares(hits, by_topic.sum(axis=-1).astype(np.float64))
    _settle_equals(p, low, high)
    n_choices = len(np.unique(chosen.row))
    return PreferencesByLabels(
        scale=judgments.scale,
        counts=by_topic.sum(axis=0),
        p=p,
        low=low,
        high=high,
        n_choices=n_choices,
        n_unlabelled=len(preferences) - n_choices,
        n_topics=len(np.unique(topic)),
    )


def labelled_choices(preferences: Preferences, judgments: Judgments) -> LabelledChoices:
    """Put the labels of both documents beside each choice, assessor by assessor (Eq. 10).

    Of several labels that an assessor gave to a document the middle one counts, the lower of two.
    """
    left, right = item_numbers(preferences, judgments)
    row = np.flatnonzero((left >= 0) & (right >= 0))
    entries = middle_entries(judgments.item, judgments.assessor.codes, judgments.label, len(judgments.items))
    pairs = by_person(entries, left[row].astype(np.int64), right[row].astype(np.int64))
    return LabelledChoices(row[pairs.pair], pairs.a, pairs.b)


def item_numbers(preferences: Preferences, judgments: Judgments) -> tuple[Ints, Ints]:
    """Number the left and the right document of each choice among the judged items, -1 where it is not there."""
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


def _settle_equals(p: Floats, low: Floats, high: Floats) -> None:
    """Two documents of one label are one half by definition, not by estimate."""
    for each in (p, low, high):
        np.fill_diagonal(each, 0.5)
