r"""Assessors: how much each judged, one primary label per item where they shared the work, and copies among them.

In many collections nobody judged everything: each topic went to one assessor, and a part of it to a second.  The
*primary* label of an item is the one by whoever judged most of its topic.  All primary labels together serve as one
assessor's for scoring; the rest shows how far another judge would differ.

Copies are assessors whose labels are the same on every item that both labelled, too many items to be chance.  Let n be
the number of items that both labelled, and :math:`p_c = \sum_l s_l^2` the agreement that their labels with shares s
would have by chance.  Judges with a kappa as high as .9, which independent ones hardly reach, agree on an item with
probability :math:`r = 1 - .1\,(1 - p_c)`, and on all n with :math:`r^n`.  If they do agree on all, and :math:`r^n <
.001`, one set of labels is taken for a copy of the other: a file read twice, a model asked twice.  It carries no
information on what an independent judge would say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from functools import wraps
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from venire.data.ids import Category, Ids
from venire.data.judgments import Judgments
from venire.kernels.distinct import distinct
from venire.results import Note
from venire.types import Bools, Codes, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Found = TypeVar("Found")
PRIMARY = "primary assessors"
KAPPA, CHANCE = 0.9, 0.001
FEWEST = int(np.log(CHANCE) / np.log(KAPPA))
"""With fewer items a copy is never detected."""
MOST_COPIES = 4
"""Number of copies that are named."""


def once(function: Callable[[Judgments], Found]) -> Callable[[Judgments], Found]:
    """Remember what a function finds in judgments, which do not change, for as long as they exist."""
    known: WeakKeyDictionary[Judgments, Found] = WeakKeyDictionary()

    @wraps(function)
    def found(judgments: Judgments) -> Found:
        if judgments not in known:
            known[judgments] = function(judgments)
        return known[judgments]

    return found


@once
def coverage(judgments: Judgments) -> Floats:
    """Share of the judged items that each assessor judged -> (assessor,).  O(rows log rows)."""
    n_items = len(judgments.items)
    cell = distinct(judgments.assessor.codes.astype(np.int64) * n_items + judgments.item)
    judged = max(int((np.bincount(judgments.item) > 0).sum()), 1)
    return np.bincount(cell // max(n_items, 1), minlength=len(judgments.assessors)) / judged


def by_content(judgments: Judgments, names: Sequence[str] | None = None) -> list[str]:
    """Sort all assessors, or these, by a hash of their labels, so that neither names nor the order of rows matter.

    Assessors with the same labels come in the order of their names.  O(rows log rows).
    """
    order = _by_content(judgments)
    return [*order] if names is None else [name for name in order if name in set(names)]


@once
def _by_content(judgments: Judgments) -> tuple[str, ...]:
    row_order = np.lexsort((judgments.label, judgments.item, judgments.assessor.codes))
    ends = np.cumsum(np.bincount(judgments.assessor.codes, minlength=len(judgments.assessors)))
    rows = dict(zip(judgments.assessors, np.split(row_order, ends[:-1]), strict=True))

    def content(name: str) -> bytes:
        mine = rows[name]
        return blake2b(judgments.item[mine].tobytes() + judgments.label[mine].tobytes()).digest()

    return tuple(sorted(sorted(judgments.assessors), key=content))


def by_coverage(judgments: Judgments) -> list[str]:
    """Names of the assessors by how much they judged, most first; ties by a hash of their labels."""
    share = dict(zip(judgments.assessors, coverage(judgments).tolist(), strict=True))
    return sorted(by_content(judgments), key=lambda name: -share[name])


def primary_rows(judgments: Judgments, *, without: Sequence[str] = (), order: Sequence[str] = ()) -> Bools:
    """Mark one label per item and facets: that of the assessor who judged most of its topic -> (row,).

    Of two who judged as much, the one who comes first in ``order``, by default that of ``by_coverage``; of an
    assessor's repeated labels, the last (``last_rows``).  without: assessors whose labels are never primary.
    """
    topic, n_assessors = judgments.items.topic[judgments.item], len(judgments.assessors)
    place = {name: number for number, name in enumerate(order or by_coverage(judgments))}
    rank = np.array([place[name] for name in judgments.assessors], dtype=np.int64)[judgments.assessor.codes]
    cell = topic.astype(np.int64) * n_assessors + judgments.assessor.codes
    excluded = np.isin(judgments.assessors, list(without))[judgments.assessor.codes]
    load, case = np.where(excluded, 0, np.bincount(cell)[cell]), cases(judgments)
    superseded = np.ones(len(cell), dtype=np.bool_)
    superseded[last_rows(judgments)] = False
    rows = np.lexsort((superseded, rank, -load, case))
    marked = np.zeros(len(cell), dtype=np.bool_)
    marked[rows[np.append(True, case[rows][1:] != case[rows][:-1])[: len(rows)]]] = True
    return marked & ~excluded


def cases(judgments: Judgments) -> Ints:
    """Number the distinct items under their facets -> (row,)."""
    case = judgments.item.astype(np.int64)
    for column in judgments.facets.values():
        case = np.unique(case * len(column.names) + column.codes, return_inverse=True)[1]
    return case


def last_rows(judgments: Judgments) -> Ints:
    """Rows with the last label of each assessor for each item under its facets -> (row,), in their order.

    The last is the latest where labels have a time, else the last row: the rule by which files are read.
    O(rows log rows).
    """
    n_rows, n_assessors = len(judgments), len(judgments.assessors)
    time = np.zeros(n_rows) if judgments.time is None else np.nan_to_num(judgments.time, nan=-np.inf)
    key = cases(judgments) * n_assessors + judgments.assessor.codes
    order = np.lexsort((time, key))
    return np.sort(order[np.append(key[order][1:] != key[order][:-1], True)[:n_rows]])


def last_labels(judgments: Judgments) -> Judgments:
    """Keep the last label of each assessor for each item, as readers of tables do unless all are to be kept."""
    rows = last_rows(judgments)
    return judgments if len(rows) == len(judgments) else judgments.take(rows)


def with_primary(judgments: Judgments, *, without: Sequence[str] = (), order: Sequence[str] = ()) -> Judgments:
    """Assign the primary labels to an assessor of their own; all other labels keep their assessor."""
    names = [*judgments.assessors, PRIMARY]
    whose = np.where(primary_rows(judgments, without=without, order=order), len(names) - 1, judgments.assessor.codes)
    used, codes = np.unique(whose, return_inverse=True)
    return judgments.with_assessors(Category(codes.astype(np.int32), Ids.of(names[code] for code in used)))


def nothing_declared(judgments: Judgments) -> tuple[Note, ...]:
    """Return a note where several judged and nobody is declared as the reference or as a machine; else none."""
    if judgments.reference or judgments.machines or len(judgments.assessors) < 2:
        return ()
    text = "nobody is declared as the reference or as a machine: {names:list} count alike"
    return (Note("nothing-declared", text, names=judgments.assessors),)


class Copy(NamedTuple):
    """An assessor (second) whose labels repeat those of another (first), and the number of items."""

    first: str
    second: str
    n_items: int

    def note(self) -> Note:
        """Return it as a note."""
        return Note(
            "copied-labels",
            "{second} is a copy of {first}, not an independent judge: all {n_items:,} items that both labelled "
            "have the same label",
            **self._asdict(),
        )


def copies(judgments: Judgments, assessors: Collection[str] | None = None) -> tuple[Copy, ...]:
    """Find copies among all assessors, or among these; of two, the first by name is taken for the original.

    Of labels that an assessor repeats for an item, the last counts (``last_rows``).  Cost: O(rows log rows + pairs of
    labels on the same item).
    """
    return _every_copy(judgments) if assessors is None else _copies_among(judgments, set(assessors))


@once
def _every_copy(judgments: Judgments) -> tuple[Copy, ...]:
    return _copies_among(judgments, set(judgments.assessors))


def _copies_among(judgments: Judgments, assessors: Set[str]) -> tuple[Copy, ...]:
    codes, case, n_labels = judgments.assessor.codes, cases(judgments), len(judgments.scale)
    chosen = np.array([name in assessors for name in judgments.assessors])
    rows = last_rows(judgments)
    rows = rows[chosen[codes[rows]]]
    item, cell = (_table(codes[rows], column) for column in (case[rows], case[rows] * n_labels + judgments.label[rows]))
    met = (item @ item.T).tocoo()
    enough = (met.row < met.col) & (met.data >= FEWEST)
    names, equal = judgments.assessors, (cell @ cell.T).tocsr()
    found = []
    for a, b, n in zip(met.row[enough].tolist(), met.col[enough].tolist(), met.data[enough].tolist(), strict=True):
        if equal[a, b] == n and _beyond_chance((cell[[a]] * cell[[b]]).indices % n_labels):
            first, second = sorted((names[a], names[b]))
            found.append(Copy(first, second, int(n)))
    return tuple(found)


def without_copies(judgments: Judgments, old: str, found: Iterable[Copy], *, order: Sequence[str]) -> tuple[str, ...]:
    """Return the judges besides ``old`` who are no copies: of copies, the one with most labels; ties by ``order``.

    Only those of ``order`` with a label on an item of ``old`` are returned.  Copies of ``old`` are left out too, unless
    all others are: then the one of them with most labels is returned.
    """
    pairs = {frozenset((each.first, each.second)) for each in found}
    codes = judgments.assessor.codes
    shared = np.isin(judgments.item, judgments.item[codes == judgments.assessor.code_of(old, "assessor")])
    met = {judgments.assessors[code] for code in np.unique(codes[shared]).tolist()} - {old}
    count = dict(zip(judgments.assessors, np.bincount(codes, minlength=len(judgments.assessors)).tolist(), strict=True))
    names = sorted((name for name in order if name in met), key=lambda name: -count[name])
    kept: list[str] = []
    for name in names:
        if not any(frozenset((name, other)) in pairs for other in (old, *kept)):
            kept.append(name)
    return tuple(kept or names[:1])


def copy_notes(found: Iterable[Copy], *names: str) -> list[Note]:
    """Return notes on copies, only those of the named assessors if any are named; at most a few."""
    notes = [each.note() for each in found if not names or {each.first, each.second} & set(names)]
    if len(notes) <= MOST_COPIES:
        return notes
    more = Note("more-copies", "{n} more pairs of assessors are copies", n=len(notes) - MOST_COPIES)
    return [*notes[:MOST_COPIES], more]


def _table(row: Codes, column: Ints) -> csr_array[Any, Any]:
    """Return a sparse table of ones."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(row), dtype=np.int64), (row, column)))


def _beyond_chance(label: Ints) -> bool:
    """Whether labels that all agree, (item,), are too many and too varied to agree by chance."""
    share = np.bincount(label) / len(label)
    agreement = 1 - (1 - KAPPA) * (1 - (share**2).sum())
    return bool(len(label) * np.log(agreement) < np.log(CHANCE))
