r"""A judge's labels beside those of the reference: agreement, its ceiling, repeatability, labels never given, probes.

Agreement is over pairs of labels of one item, one by the judge and one by a person of the reference: Krippendorff's
alpha and the share of equal labels (``agreement.alpha``, ``agreement.kappa``), with intervals over topics.  The
*ceiling* is the same over pairs of two people: what people reach among themselves.  *Repeatability* is the same over
pairs of two labels by the judge for one item.  Of several labels by one assessor for an item, all but the last are used
for repeatability only.

A label is *never* given if the judge did not give it to any item that the reference labelled, although it is more than
``RARE`` of the labels of the reference there; it is *nearly always* given if it is more than ``NEARLY_ALWAYS`` of the
judge's labels there, and less than that of the reference's by ``RARE`` or more.

Probes are documents that deserve the lowest label, such as empty ones or ones that repeat the query: labels whose facet
``task`` begins with "probe", as in "probe-empty".  They count for nothing else.  Reported is the share of them that the
judge gave a higher label, with Wilson's interval (1927, doi:10.1080/01621459.1927.10502953).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from venire.agreement.alpha import alpha
from venire.agreement.intervals import Coefficient
from venire.agreement.kappa import raw_agreement
from venire.agreement.patterns import LabelPatterns, patterns_of
from venire.comparison.significance import superiority
from venire.data.assessors import last_labels
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.results import Note, Records, Tabular, known, listed
from venire.types import Codes, Floats, Ints, RNGLike

NEARLY_ALWAYS, RARE = 0.9, 0.02
PROBE = "probe"


class LabelPairs(NamedTuple):
    """Two labels of one item each: one, other (pair,), levels of the scale; topic (pair,)."""

    one: Codes
    other: Codes
    topic: Codes

    def patterns(self, scale: Scale, n_topics: int) -> LabelPatterns:
        """Return each pair as an item with two labels."""
        n = len(self.one)
        item = np.tile(np.arange(n, dtype=np.int32), 2)
        patterns, pattern = patterns_of(item, np.concatenate([self.one, self.other]), (n, len(scale)))
        about = (patterns, patterns.table(), patterns.size, n_topics, 2)
        return LabelPatterns(scale, item, self.topic, pattern, *about)


class Agreement(NamedTuple):
    """Agreement over pairs of labels: Krippendorff's alpha, and the share of equal labels."""

    alpha: Coefficient
    raw: Coefficient

    @classmethod
    def of(cls, pairs: LabelPairs, judgments: Judgments, *, rng: RNGLike) -> Agreement | None:
        """Compute both; None without pairs."""
        if not len(pairs.one):
            return None
        table = pairs.patterns(judgments.scale, len(judgments.topics))
        return cls(alpha(table, rng=rng), raw_agreement(table, rng=rng))

    def record(self) -> dict[str, Any]:
        """Return both as a JSON object: value, low, high, level; and the number of pairs."""
        keys = ("value", "low", "high", "level")
        found = {name: {key: getattr(each, key) for key in keys} for name, each in zip(self._fields, self, strict=True)}
        return {**found, "pairs": self.alpha.n_items}


class Probe(NamedTuple):
    """Probes of one kind: how many the judge labelled, and the share that it gave a label above the lowest."""

    kind: str
    n: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class ReferenceAgreement(Tabular):
    """A judge's labels beside those of the reference; ``ceiling``: agreement between people.

    shares, reference_shares (label,): of the labels on items that both labelled.
    """

    judge: str
    reference: tuple[str, ...]
    scale: Scale
    found: Agreement | None
    ceiling: Agreement | None
    repeatability: Agreement | None
    shares: Floats
    reference_shares: Floats
    probes: tuple[Probe, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def never(self) -> tuple[str, ...]:
        """Labels that the judge never gives."""
        return self._labels((self.shares == 0) & (self.reference_shares > RARE))

    @property
    def nearly_always(self) -> tuple[str, ...]:
        """Labels that the judge nearly always gives."""
        return self._labels((self.shares > NEARLY_ALWAYS) & (self.reference_shares < self.shares - RARE))

    def _labels(self, chosen: Any) -> tuple[str, ...]:
        return tuple(label for label, is_chosen in zip(self.scale.labels, chosen, strict=True) if is_chosen)

    def sentence(self) -> str:
        """Say how far the judge agrees with the reference, and people with each other."""
        if self.found is None or self.found.alpha.value is None:
            return f"The agreement of {self.judge} with the reference is not known."
        text = f"{self.judge} agrees with the reference with {_in_words(self.found.alpha)}"
        if self.ceiling is not None and self.ceiling.alpha.value is not None:
            text += f"; people agree with each other with {_in_words(self.ceiling.alpha)}"
        return f"{text}.{self._habits()}"

    def _habits(self) -> str:
        habits = [("never gives", self.never), ("nearly always gives", self.nearly_always)]
        return "".join(f" It {what} the label {listed(labels)}." for what, labels in habits if labels)

    def records(self) -> Records:
        """Return one row per kind of agreement; None where it is not known."""
        kinds = {"reference": self.found, "ceiling": self.ceiling, "repeatability": self.repeatability}
        return [
            {
                "agreement": kind,
                "coefficient": name,
                **dict.fromkeys(("value", "low", "high", "level"), None),
                **({} if each is None else each.record()[name]),
                "pairs": 0 if each is None else each.alpha.n_items,
            }
            for kind, each in kinds.items()
            for name in Agreement._fields
        ]

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        found = self.found.record() if self.found else {"alpha": None, "raw": None, "pairs": 0}
        shares = zip(self.scale.labels, self.shares.tolist(), self.reference_shares.tolist(), strict=True)
        return {
            **found,
            "ceiling": self.ceiling.record() if self.ceiling else None,
            "repeatability": self.repeatability.record() if self.repeatability else None,
            "labels": [{"label": name, "judge": known(a), "reference": known(b)} for name, a, b in shares],
            "never": list(self.never),
            "nearly_always": list(self.nearly_always),
            "probes": [{**each._asdict()} for each in self.probes],
            "missing": [str(note) for note in self.notes],
        }


def _in_words(found: Coefficient) -> str:
    """Return alpha with its interval."""
    limits = "" if found.low is None else f" ({found.low:.2f} to {found.high:.2f})"
    return f"alpha {found.value:.2f}{limits}"


def without_probes(judgments: Judgments) -> tuple[Judgments, Judgments]:
    """Separate the labels of probes from the others -> others, probes."""
    task = judgments.facets.get("task")
    if task is None:
        return judgments, judgments.take(np.zeros(0, dtype=np.int64))
    is_probe = np.array([name.startswith(PROBE) for name in task.names], dtype=np.bool_)[task.codes]
    rest = judgments.take(~is_probe)
    facets = {name: each for name, each in rest.facets.items() if name != "task" or len(each.names) > 1}
    return replace(rest, facets=facets), judgments.take(is_probe)


def pairs_within(judgments: Judgments, rows: Ints) -> LabelPairs:
    """Pair every two of these labels that are of one item.  O(rows x labels of an item)."""
    rows = rows[np.argsort(judgments.item[rows], kind="stable")]
    item, first, second = judgments.item[rows], [], []
    for step in range(1, int(np.bincount(item).max(initial=0))):
        both = np.flatnonzero(item[step:] == item[:-step])
        first.append(rows[both])
        second.append(rows[both + step])
    nothing = np.zeros(0, dtype=np.int64)
    return _paired(judgments, np.concatenate([nothing, *first]), np.concatenate([nothing, *second]))


def pairs_between(judgments: Judgments, rows: Ints, others: Ints) -> LabelPairs:
    """Pair labels, one for an item at most, with all others of the same item."""
    place = np.full(len(judgments.items), -1, dtype=np.int64)
    place[judgments.item[rows]] = rows
    shared = others[place[judgments.item[others]] >= 0]
    return _paired(judgments, place[judgments.item[shared]], shared)


def _paired(judgments: Judgments, first: Ints, second: Ints) -> LabelPairs:
    topic = judgments.items.topic[judgments.item[first]]
    return LabelPairs(judgments.label[first], judgments.label[second], topic)


def reference_agreement(
    judgments: JudgmentsLike, judge: str, reference: Sequence[str], *, people: Sequence[str] = (), rng: RNGLike = 0
) -> ReferenceAgreement:
    """Compare the labels of a judge with those of the reference.

    people: among whom the ceiling is estimated; by default those of the reference.  Cost: O(rows x people of an item).

    Examples
    --------
    >>> from venire.io import read_grid
    >>> labels = read_grid("2 1 0 0 1 2 0 1" + chr(10) + "2 1 0 1 1 2 0 1" + chr(10) + "2 2 1 1 2 2 1 2")
    >>> found = reference_agreement(labels, "U3", ["U1", "U2"])
    >>> found.never, round(found.found.raw.value, 3), round(found.ceiling.raw.value, 3)
    (('0',), 0.312, 0.875)
    """
    judgments = as_judgments(judgments)
    labels, probes = without_probes(judgments)
    last = last_labels(labels)
    own, of_people = (_rows_of(last, names) for names in ((judge,), tuple(people) or tuple(reference)))
    pairs = pairs_between(last, own, _rows_of(last, reference))
    n_labels = len(labels.scale)
    notes = _missing(pairs, tuple(people) or tuple(reference))
    return ReferenceAgreement(
        judge=judge,
        reference=tuple(reference),
        scale=labels.scale,
        found=Agreement.of(pairs, last, rng=rng),
        ceiling=Agreement.of(pairs_within(last, of_people), last, rng=rng),
        repeatability=Agreement.of(pairs_within(labels, _rows_of(labels, (judge,))), labels, rng=rng),
        shares=_shares(pairs.one, n_labels),
        reference_shares=_shares(pairs.other, n_labels),
        probes=tuple(_probes(probes, judge)),
        notes=notes,
    )


def _rows_of(judgments: Judgments, names: Sequence[str]) -> Ints:
    return np.flatnonzero(np.isin(judgments.assessors, list(names))[judgments.assessor.codes])


def _shares(label: Codes, n_labels: int) -> Floats:
    """Share of each label -> (label,); NaN if there is none."""
    counts = np.bincount(label, minlength=n_labels)
    return counts / counts.sum() if counts.sum() else np.full(n_labels, np.nan)


def _probes(judgments: Judgments, judge: str) -> list[Probe]:
    """Return how many probes of each kind the judge gave more than the lowest label."""
    task, own = judgments.facets.get("task"), _rows_of(judgments, (judge,))
    if task is None:
        return []
    kind, higher = task.codes[own], judgments.label[own] > 0
    n, wrong = (np.bincount(kind[rows], minlength=len(task.names)) for rows in (slice(None), higher))
    share, low, high = superiority(wrong.astype(np.float64), n)
    rows = zip(task.names, n.tolist(), share.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Probe(str(name), *rest) for name, *rest in rows if rest[0]]


def _missing(pairs: LabelPairs, people: Sequence[str]) -> tuple[Note, ...]:
    notes = []
    if not len(pairs.one):
        notes.append(Note("no-shared-items", "the judge and the reference labelled no item in common"))
    if len(people) < 2:
        text = "what people reach among themselves is not known: one person labelled ({names:list})"
        notes.append(Note("no-ceiling", text, names=tuple(people)))
    return tuple(notes)
