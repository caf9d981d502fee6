"""Context: the conditional label of a document that is read after another.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 3.2: for the document at rank i the label g(d_i|d_(i-1)) is
the one collected, else the one predicted.  Without either, Venire backs off: to g(d_i) ("isolation"), or to the
collected g(d_i|d_1) and then to g(d_i) ("first").  The first document has g(d_1|d_0) = g(d_1).

Conditional labels are a panel whose items are pairs of documents, so assessors are chosen or pooled as for labels in
isolation.  Nothing is predicted where one of the two documents has no label in isolation by the same judge; the
back-off applies there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from venire.data.ids import Ids
from venire.data.judgments import Items, Judgments, given_items, is_conditional
from venire.data.panel import Panel, Pool, build_panel
from venire.errors import AmbiguousLabels, SettingError, UnknownName
from venire.results import Note
from venire.types import Bools, Codes, Floats, Ints

BACKOFFS = ("isolation", "first")
NONE, FIRST_RANK, COLLECTED, PREDICTED, GIVEN_FIRST, ISOLATION = range(6)
"""Source of the conditional label of a document; NONE: the document has no label."""


@dataclass(frozen=True, eq=False)
class ContextPairs:
    """Documents read after another, all (pair,).

    item, given       both among the items; given is -1 where nothing that is known was read before
    label, given_label   their labels in isolation, -1 where there is none
    """

    item: Ints
    given: Ints
    label: Codes
    given_label: Codes

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: Ints | Bools) -> ContextPairs:
        """Choose pairs."""
        return ContextPairs(self.item[rows], self.given[rows], self.label[rows], self.given_label[rows])


class Predictor(Protocol):
    """Whoever can say which label a document would get after another."""

    def probabilities(self, pairs: ContextPairs) -> Floats:
        """Probability of each label -> (pair, label); rows sum to 1."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """How conditional labels that were not collected are replaced.

    Parameters
    ----------
    predictor : a model that predicts them, such as ``fit_conditional_labels(...)``, or None
    backoff : "isolation": g(d_i); "first": the collected g(d_i|d_1), else g(d_i)
    expected : the mean gain over the predicted labels, in place of the gain of the most probable one
    """

    predictor: Predictor | None = None
    backoff: str = "isolation"
    expected: bool = False

    def __post_init__(self) -> None:
        if self.backoff not in BACKOFFS:
            raise UnknownName("back-off", self.backoff, BACKOFFS)
        if self.expected and self.predictor is None:
            raise SettingError("an expected gain needs predicted labels", hint="fit or read a model that predicts them")

    def shares(self, pairs: ContextPairs, n_labels: int) -> Floats:
        """Weight of each label for pairs whose label was not collected -> (pair, label)."""
        if self.predictor is None:
            return np.zeros((0, n_labels))
        p = np.asarray(self.predictor.probabilities(pairs), dtype=np.float64)
        if p.shape != (len(pairs), n_labels) or not np.allclose(p.sum(axis=1), 1.0, atol=1e-6):
            raise SettingError(
                f"predicted labels have the shape {p.shape}, expected {(len(pairs), n_labels)} with rows that sum to 1",
                hint="the model must be fitted for the scale of these judgments",
            )
        return p if self.expected else np.eye(n_labels)[p.argmax(axis=1)]


class Reads(NamedTuple):
    """Documents in the order of reading; all broadcast to (judge, list, slot).

    rank (from 1); item; previous, first: the item read just before, and that at rank 1; -1 where unknown.
    """

    rank: Ints
    item: Ints
    previous: Ints
    first: Ints


class Found(NamedTuple):
    """Conditional labels: row and source (judge, list, slot); rows into shares (row, label), -1 for none."""

    row: Ints
    source: Ints
    shares: Floats


@dataclass(frozen=True, eq=False)
class Conditions:
    """Conditional labels by the judges of a panel.

    pair (pair,): item * n_items + given, ascending.  A row is a judge's label of a pair: judge (row,) ascending,
    place (row,) into the pairs, shares (row, label).
    """

    n_items: int
    pair: Ints
    judge: Codes
    place: Codes
    shares: Floats
    notes: tuple[Note, ...] = ()

    @property
    def item(self) -> Ints:
        """The item that each row is about -> (row,)."""
        return self.pair[self.place] // max(self.n_items, 1)

    def seen(self, first: int, last: int) -> Bools:
        """Mark the items that judges first..last-1 labelled after any other -> (judge, item)."""
        rows = slice(*np.searchsorted(self.judge, [first, last]))
        found = np.zeros((last - first, self.n_items), dtype=np.bool_)
        found[self.judge[rows] - first, self.item[rows]] = True
        return found

    def rows(self, first: int, last: int) -> Ints:
        """Row of each pair for judges first..last-1, -1 for none; the last column is no pair -> (judge, pair + 1)."""
        rows = np.arange(*np.searchsorted(self.judge, [first, last]))
        table = np.full((last - first, len(self.pair) + 1), -1, dtype=np.int64)
        table[self.judge[rows] - first, self.place[rows]] = rows
        return table

    def pairs_of(self, item: Ints, given: Ints) -> Ints:
        """Number of each pair of items, the number of pairs for one without a label; same shape."""
        if not len(self.pair):
            return np.zeros(np.broadcast_shapes(item.shape, given.shape), dtype=np.int64)
        key = np.where(given >= 0, item * self.n_items + given, -1)
        place = np.minimum(np.searchsorted(self.pair, key), len(self.pair) - 1)
        return np.where(self.pair[place] == key, place, len(self.pair))


@dataclass(frozen=True, eq=False)
class Reader:
    """A few judges who read lists: rows (judge, pair + 1), label (judge, item) in isolation, -1 for none."""

    conditions: Conditions
    context: Context
    rows: Ints
    label: Codes

    @classmethod
    def of(cls, conditions: Conditions, context: Context, panel: Panel, judges: tuple[int, int]) -> Reader:
        """Take judges first..last-1 of a panel."""
        return cls(conditions, context, conditions.rows(*judges), panel.labels(*judges))

    def find(self, reads: Reads, seen: Bools) -> Found:
        """Find the conditional label of every document; seen (judge, list, slot): whether it has any label.

        Cost: O(slots log pairs) and one prediction per distinct pair of documents and of their labels.
        """
        judge = np.arange(len(self.rows))[:, None, None]
        row = np.broadcast_to(self.rows[judge, self.conditions.pairs_of(reads.item, reads.previous)], seen.shape)
        source = np.where(row >= 0, COLLECTED, np.where(reads.rank == 1, FIRST_RANK, ISOLATION))
        source = np.where(seen, source, NONE)
        row, source, shares = self._predicted(reads, row.copy(), source)
        if self.context.backoff == "first":
            other = self.rows[judge, self.conditions.pairs_of(reads.item, reads.first)]
            found = (source == ISOLATION) & (other >= 0)
            row, source = np.where(found, other, row), np.where(found, GIVEN_FIRST, source)
        return Found(row, source, shares)

    def _predicted(self, reads: Reads, row: Ints, source: Ints) -> tuple[Ints, Ints, Floats]:
        """Predict labels where none was collected and both documents have one in isolation."""
        shares, n_labels = self.conditions.shares, self.conditions.shares.shape[1]
        if self.context.predictor is None:
            return row, source, shares
        judge = np.arange(len(self.rows))[:, None, None]
        known = np.append(self.label, np.full((len(self.label), 1), -1, dtype=np.int32), axis=1)
        item, previous = (np.broadcast_to(each, row.shape) for each in (reads.item, reads.previous))
        item = np.where(item < self.conditions.n_items, item, -1)
        own, before = known[judge, item], known[judge, previous]
        missing = (source == ISOLATION) & (own >= 0) & (before >= 0) & (item != previous)
        key = (item[missing] * self.conditions.n_items + previous[missing]) * n_labels + own[missing]
        distinct, inverse = np.unique(key * n_labels + before[missing], return_inverse=True)
        row[missing] = len(shares) + inverse
        pair, labels = np.divmod(distinct, n_labels * n_labels)
        pairs = ContextPairs(
            *np.divmod(pair, self.conditions.n_items),
            *(each.astype(np.int32) for each in np.divmod(labels, n_labels)),
        )
        predicted = self.context.shares(pairs, n_labels) if len(pairs) else shares[:0]
        return row, np.where(missing, PREDICTED, source), np.concatenate([shares, predicted])


def build_conditions(
    judgments: Judgments, panel: Panel, *, assessor: str | None = None, pool: str | Pool | None = None
) -> Conditions:
    """Collect the conditional labels of the judges of a panel that was built with this choice.  O(n log n)."""
    n_items = len(judgments.items)
    rows = is_conditional(judgments)
    if assessor is not None:
        rows &= np.array([name == assessor for name in judgments.assessors], dtype=np.bool_)[judgments.assessor.codes]
    if not rows.any():
        nothing = np.zeros(0, dtype=np.int32)
        return Conditions(n_items, nothing.astype(np.int64), nothing, nothing, np.zeros((0, len(judgments.scale))))
    pair, pairs = _of_pairs(judgments, rows)
    bench = build_panel(pairs, per="assessor") if pool is None else build_panel(pairs, pool=pool)
    place = {name: number for number, name in enumerate(panel.judges)}
    unknown = [str(name) for name in bench.judges if name not in place]
    if unknown and len(unknown) == len(bench.judges):
        message = f"conditional labels are by {unknown[0]!r}, who gave none in isolation, expected {panel.judges[0]!r}"
        raise AmbiguousLabels(message, hint="pool the assessors, or choose one who gave both kinds of labels")
    notes = [Note(note.kind, f"conditional labels: {note.template}", **note.fields) for note in bench.notes]
    if unknown:
        text = "conditional labels by {names:list}, who gave none in isolation, are left out"
        notes.append(Note("conditional-labels-without-isolation", text, names=tuple(unknown)))
    judge = np.array([place.get(name, -1) for name in bench.judges], dtype=np.int32)[bench.judge]
    return _gathered(replace(bench, judge=judge), pair, n_items, len(judgments.scale), tuple(notes))


def _of_pairs(judgments: Judgments, rows: Bools) -> tuple[Ints, Judgments]:
    """Make pairs of documents the items: item * n_items + given (pair,), and the judgments of them."""
    item, given = judgments.item[rows].astype(np.int64), given_items(judgments)[rows]
    pair, place = np.unique(item * len(judgments.items) + given, return_inverse=True)
    facets = {name: column.take(rows) for name, column in judgments.facets.items() if name != "given"}
    owner = judgments.items.topic[pair // len(judgments.items)]
    items = Items(judgments.items.topics, owner, Ids.of([""] * len(pair)))
    chosen = judgments.take(rows)
    return pair, replace(chosen, items=items, item=place.astype(np.int32), facets=facets)


def _gathered(bench: Panel, pair: Ints, n_items: int, n_labels: int, notes: tuple[Note, ...]) -> Conditions:
    """Put the weights of each judge's labels of a pair into one row."""
    kept = bench.judge >= 0
    key = bench.judge[kept].astype(np.int64) * len(pair) + bench.item[kept]
    cell, inverse = np.unique(key, return_inverse=True)
    flat = inverse * n_labels + bench.label[kept]
    shares = np.bincount(flat, weights=bench.weight[kept], minlength=len(cell) * n_labels).astype(
        np.float64, copy=False
    )
    judge, place = (each.astype(np.int32) for each in np.divmod(cell, len(pair)))
    return Conditions(n_items, pair, judge, place, shares.reshape(-1, n_labels), notes)
