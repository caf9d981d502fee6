"""Scanning runs: lines of (topic, document, score, system) into the ranks at which judged items stand.

This is the only pass over all lines of a run, and labels and gains have no part in it.  The result is small: the
depth of each list (one system, one topic), and the rank of each *hit* (a judged item in a list).  ``locate`` is a pure
function of a batch of whole lists; batches are independent, so threads or a cluster can process them.

Order within a list: score descending, then document id descending, bytewise.
Cost: O(lines), plus a sort of the lists that are out of order and of the ties that hold a judged item.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from venire.scan.fields import LONGEST_LINE, Fault, Fields
from venire.scan.lookup import Index, find, grouped
from venire.scan.numbers import decimals
from venire.scan.slices import Slices, bytewise_order, changes, encode, hashes
from venire.types import Bools, Codes, Floats, Ints

TOPIC, DOC, RANK, SCORE, TAG = 0, 2, 3, 4, 5

MOST_LINES = 2**31 - 1
"""Number of lines with fields in a batch of whole lists: ranks and numbers of lists have 32 bits."""


class Rules(NamedTuple):
    """How lines become lists: all choices that change the result, and limits, beyond which there is a fault."""

    by_rank: bool = False
    single_precision: bool = False
    keep_first: bool = False
    longest_line: int = LONGEST_LINE
    most_lines: int = MOST_LINES

    def checked(self) -> Rules:
        """Return the rules; raise ValueError at a limit that no scanner can hold."""
        for name, largest in (("longest_line", LONGEST_LINE), ("most_lines", MOST_LINES)):
            if not 1 <= getattr(self, name) <= largest:
                raise ValueError(f"{name} is not from 1 to {largest}")
        return self


class Lines(NamedTuple):
    """A batch of run lines; those of one list are adjacent.  All (line,)."""

    topic: Slices
    system: Slices
    doc: Slices
    score: Floats
    number: Ints

    def take(self, which: Ints) -> Lines:
        """Choose some of the lines."""
        topic, system, doc = (each.take(which) for each in (self.topic, self.system, self.doc))
        return Lines(topic, system, doc, self.score[which], self.number[which])


class Located(NamedTuple):
    """The result of a batch: topic number, first line, depth, whether level (list,); list, rank, item (hit,)."""

    topic: Codes
    first: Ints
    depth: Ints
    level: Bools
    hit_list: Ints
    rank: Ints
    item: Codes
    fault: Fault | None


def read_lines(fields: Fields, rules: Rules) -> tuple[Lines, Fault | None]:
    """Make a batch from split run lines; stops before the first that is too many, or whose score is not a number."""
    fault = fields.fault
    if len(fields.line) > rules.most_lines:
        fault = Fault(int(fields.line[rules.most_lines]), "many")
        fields = fields.take(np.arange(rules.most_lines))
    score, bad = decimals(fields.column(RANK if rules.by_rank else SCORE))
    if bad.any():
        row = int(np.argmax(bad))
        fault = Fault(int(fields.line[row]), "rank" if rules.by_rank else "score")
        fields, score = fields.take(np.arange(row)), score[:row]
    if rules.by_rank:
        score = -score
    if rules.single_precision:
        score = single(score)
    return Lines(fields.column(TOPIC), fields.column(TAG), fields.column(DOC), score, fields.line), fault


def single(score: Floats) -> Floats:
    """Round to single precision, as trec_eval 9 does; values too large for it become infinite, and tied."""
    with np.errstate(over="ignore"):
        return score.astype(np.float32).astype(np.float64)


def list_starts(lines: Lines) -> Bools:
    """Mark the first line of every list: where topic or system differ from the line before."""
    return changes(lines.topic) | changes(lines.system)


def locate(
    lines: Lines, topics: Index, items: Index, rules: Rules, *, go_on: Callable[[], None] = lambda: None
) -> Located:
    """Find the ranks of judged items in a batch of whole lists; go_on is called between steps, and may raise."""
    list_of, first = _lists(lines)
    go_on()
    hashed = hashes(lines.doc)
    go_on()
    again = repeated(lines.doc, grouped(hashed, list_of), list_of)
    go_on()
    fault, kept = None, None
    if again.any() and rules.keep_first:
        kept = np.flatnonzero(~again)
        lines, hashed = lines.take(kept), hashed[kept]
        list_of, first = _lists(lines)
    elif again.any():
        row = int(np.argmax(again))
        fault = Fault(int(lines.number[row]), "twice")
    names = lines.topic.take(first)
    topic = find(topics, np.zeros(len(first), dtype=np.int32), names, hashes(names))
    item = find(items, topic[list_of], lines.doc, hashed)
    go_on()
    order = ranked_order(lines.score, list_of, lines.doc, item >= 0)
    if order is not None:
        item = item[order]
    place = np.flatnonzero(item >= 0)
    owner = list_of[place]
    depth = np.diff(first, append=len(list_of))
    rank = place - first[owner] + 1
    level = all_tied(lines.score, first, depth)
    return Located(topic, first if kept is None else kept[first], depth, level, owner, rank, item[place], fault)


def all_tied(score: Floats, first: Ints, depth: Ints) -> Bools:
    """Mark lists of two documents or more that all have the same score; first, depth (list,)."""
    if len(first) == 0:
        return np.zeros(0, dtype=np.bool_)
    same: Bools = np.minimum.reduceat(score, first) == np.maximum.reduceat(score, first)
    return same & (depth > 1)


def _lists(lines: Lines) -> tuple[Ints, Ints]:
    """Number the lists: the number of each line's list (line,), and the first line of each list (list,)."""
    changed = list_starts(lines)
    return np.cumsum(changed) - 1, np.flatnonzero(changed)


def repeated(docs: Slices, keys: np.ndarray, list_of: Ints) -> Bools:
    """Mark every line whose document occurs earlier in the same list; keys (line,) mix list and document."""
    again = np.zeros(len(keys), dtype=np.bool_)
    ordered = np.sort(keys)
    alike = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(alike):
        suspects = np.flatnonzero(np.isin(keys, alike))
        code, _ = encode(docs.take(suspects))
        pair = list_of[suspects] * (int(code.max()) + 1) + code
        again[suspects] = True
        again[suspects[np.unique(pair, return_index=True)[1]]] = False
    return again


def ranked_order(score: Floats, list_of: Ints, docs: Slices, judged: Bools) -> Ints | None:
    """Positions of the lines, list by list, best first; None where they are so already.

    Tied documents are sorted only where one of them is judged; otherwise their order has no effect.
    """
    same_list = list_of[1:] == list_of[:-1]
    order = None
    if ((score[1:] > score[:-1]) & same_list).any():
        order = in_groups(np.argsort(-score), list_of)
        score, judged = score[order], judged[order]
    tied = (score[1:] == score[:-1]) & same_list
    if not tied.any():
        return order
    order = np.arange(len(score)) if order is None else order
    group = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(~tied)])
    matters = (np.bincount(group) > 1) & (np.bincount(group, weights=judged) > 0)
    rows = np.flatnonzero(matters[group])
    lines = order[rows]
    order[rows] = lines[in_groups(bytewise_order(docs.take(lines))[::-1], group[rows])]
    return order


def first_lines(lines: Lines, depth: int, *, keep_first: bool = False) -> Ints:
    """Positions of the first results of all lists, list by list, best first; lines of a list need not be adjacent.

    keep_first: of a document that is in a list twice, the first line counts.
    """
    list_of, first = _lists(lines)
    system, topic = (encode(each.take(first))[0] for each in (lines.system, lines.topic))
    list_of = (system.astype(np.int64) * (int(topic.max(initial=0)) + 1) + topic)[list_of]
    order = np.argsort(list_of, kind="stable")
    if keep_first:
        order = order[~repeated(lines.doc.take(order), grouped(hashes(lines.doc), list_of)[order], list_of[order])]
    score, docs, list_of = lines.score[order], lines.doc.take(order), list_of[order]
    ranked = ranked_order(score, list_of, docs, np.ones(len(order), dtype=np.bool_))
    rank = np.arange(len(order)) - np.searchsorted(list_of, list_of)
    return order[rank < depth] if ranked is None else order[ranked[rank < depth]]


def in_groups(order: Ints, group: Ints) -> Ints:
    """Bring the members of each group together, groups ascending, in the order they had; group (line,)."""
    number = group[order]
    if len(group) and number.max() < 1 << 16:
        number = number.astype(np.uint16)  # small enough for numpy's radix sort
    return order[np.argsort(number, kind="stable")]
