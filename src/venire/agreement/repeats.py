"""Repeats: an assessor who judged a page several times, and lists that hold one of these judgments each.

Labels lie in cells, one per page and assessor.  A draw takes two different judgments of every cell at random, each
equally likely (Demeester et al. 2014, Section 3.3.2): the first of two assessors make a cross pair, the first and
the second of one assessor a self pair.  Cells whose labels are all the same are settled, and counted once for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from venire.types import Bools, Codes, Floats, Ints

BLOCK_CELLS = 1 << 21
"""How many cells (draw x page x label) are held at a time."""


class Cells(NamedTuple):
    """Labels by page and assessor, in the order of pages: page, start, size (cell,); label (row,)."""

    page: Ints
    start: Ints
    size: Ints
    label: Codes

    def mixed(self) -> Bools:
        """Which cells hold different labels -> (cell,)."""
        if not len(self.start):
            return np.zeros(0, dtype=np.bool_)
        differs = self.label != np.repeat(self.label[self.start], self.size)
        mixed: Bools = np.logical_or.reduceat(differs, self.start)
        return mixed

    def counts(self, cells: Bools, n_labels: int) -> Ints:
        """Count the labels of some cells -> (cell, label)."""
        place = np.repeat(np.cumsum(cells) - 1, self.size)
        rows = np.repeat(cells, self.size)
        shape = (int(cells.sum()), n_labels)
        return np.bincount(place[rows] * n_labels + self.label[rows], minlength=shape[0] * n_labels).reshape(shape)


class Draws(NamedTuple):
    """Ordered pairs in every draw: those that begin with a label, pairs (draw, label), and hits among them.

    hits (draw, relevant, label): the pairs whose second label is relevant.
    """

    hits: Floats
    pairs: Floats


def cells_of(page: Codes, assessor: Codes, label: Codes) -> Cells:
    """Gather labels by page and assessor, all (row,).  O(rows log rows)."""
    n_assessors = int(assessor.max(initial=0)) + 1
    key = page.astype(np.int64) * n_assessors + assessor
    order = np.argsort(key, kind="stable")
    key = key[order]
    start = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    return Cells(key[start] // n_assessors, start, np.diff(np.append(start, len(key))), label[order])


def draw_pairs(
    cells: Cells, relevant: Bools, *, n_draws: int, by_page: bool, rng: np.random.Generator
) -> tuple[Draws, Draws]:
    """Draw single judgments, and count self pairs and cross pairs; relevant (relevant, label).

    by_page: a cell counts once, however many judgments it holds; otherwise as often as it holds pairs of them.
    Cost: O(rows + draws x mixed cells + draws x pages that hold one x labels x relevant); memory: a block of draws.
    """
    own, cross = _own_settled(cells, relevant, by_page=by_page), _Cross.of(cells, relevant, by_page=by_page)
    mixed = cells.mixed()
    step = max(1, BLOCK_CELLS // max(int(mixed.sum()), cross.base.size, 1))
    found: list[tuple[Draws, Draws]] = []
    for first, second in _two_of(cells, mixed, n_draws, step, rng):
        weight = _pair_weight(cells.size[mixed], by_page=by_page)
        own_drawn = _own(first, second, weight, relevant)
        found.append((Draws(own_drawn.hits + own.hits, own_drawn.pairs + own.pairs), cross.of_draws(first, relevant)))
    return _joined([each[0] for each in found], relevant), _joined([each[1] for each in found], relevant)


def _two_of(
    cells: Cells, mixed: Bools, n_draws: int, step: int, rng: np.random.Generator
) -> Iterator[tuple[Codes, Codes]]:
    """Draw two different judgments of every mixed cell, some draws at a time -> labels (draw, cell), twice."""
    start, size = cells.start[mixed], cells.size[mixed]
    for begin in range(0, n_draws, step):
        shape = (min(step, n_draws - begin), len(size))
        one = rng.integers(0, size, shape)
        other = rng.integers(0, size - 1, shape)
        yield cells.label[start + one], cells.label[start + other + (other >= one)]


def _pair_weight(size: Ints, *, by_page: bool) -> Floats:
    return (size > 1).astype(np.float64) if by_page else (size * (size - 1)).astype(np.float64)


def _totals(key: Ints, weight: Floats, shape: tuple[int, ...]) -> Floats:
    """Sum weights by key, in an array of this shape."""
    weight = np.broadcast_to(weight, key.shape).ravel()
    return np.asarray(np.bincount(key.ravel(), weight, minlength=int(np.prod(shape))), np.float64).reshape(shape)


def _tally(label: Codes, weight: Floats, n_labels: int) -> Floats:
    """Sum weights by draw and label: label, weight (draw, cell) -> (draw, label)."""
    return _totals(np.arange(len(label))[:, None] * n_labels + label, weight, (len(label), n_labels))


def _own(first: Codes, second: Codes, weight: Floats, relevant: Bools) -> Draws:
    """Count self pairs of mixed cells, either judgment first; first, second (draw, cell), weight (cell,)."""
    n_labels = relevant.shape[1]
    hits = [
        _tally(first, weight * marked[second], n_labels) + _tally(second, weight * marked[first], n_labels)
        for marked in relevant
    ]
    return Draws(np.stack(hits, axis=1), _tally(first, weight, n_labels) + _tally(second, weight, n_labels))


def _own_settled(cells: Cells, relevant: Bools, *, by_page: bool) -> Draws:
    """Count the self pairs that are the same in every draw: one draw's worth."""
    settled = ~cells.mixed()
    label = cells.label[cells.start[settled]][None]
    return _own(label, label, _pair_weight(cells.size[settled], by_page=by_page), relevant)


class _Cross(NamedTuple):
    """What cross pairs are in every draw, and the pages where they vary.

    hits (relevant, label), pairs (label,): settled pages; base (page, label), diagonal (label,): settled cells of the
    other pages; chosen (mixed cell,), page, weight (chosen cell,): their mixed cells.
    """

    hits: Floats
    pairs: Floats
    base: Floats
    diagonal: Floats
    chosen: Bools
    page: Ints
    weight: Floats

    @classmethod
    def of(cls, cells: Cells, relevant: Bools, *, by_page: bool) -> _Cross:
        n_labels, n_pages = relevant.shape[1], int(cells.page.max(initial=-1)) + 1
        mixed, label = cells.mixed(), cells.label[cells.start]
        weight = np.ones(len(label)) if by_page else cells.size.astype(np.float64)
        several = np.bincount(cells.page, minlength=n_pages) > 1
        open_page = several & (np.bincount(cells.page[mixed], minlength=n_pages) > 0)
        place = np.cumsum(open_page) - 1
        is_open = open_page[cells.page]

        def histogram(which: Bools, page: Ints, size: int) -> tuple[Floats, Floats]:
            counts = _totals(page[which] * n_labels + label[which], weight[which], (size, n_labels))
            return counts, _totals(label[which].astype(np.int64), weight[which] ** 2, (n_labels,))

        closed = several & ~open_page
        counts, squares = histogram(closed[cells.page], (np.cumsum(closed) - 1)[cells.page], int(closed.sum()))
        fixed = _products(counts[None], squares[None], relevant)
        base, diagonal = histogram(is_open & ~mixed, place[cells.page], int(open_page.sum()))
        varies = is_open & mixed
        varying = is_open[mixed], place[cells.page[varies]], weight[varies]
        return cls(fixed.hits[0], fixed.pairs[0], base, diagonal, *varying)

    def of_draws(self, drawn: Codes, relevant: Bools) -> Draws:
        """Count the cross pairs of some draws; drawn (draw, mixed cell)."""
        drawn = drawn[:, self.chosen]
        n_draws, (n_pages, n_labels) = len(drawn), self.base.shape
        key = (np.arange(n_draws)[:, None] * n_pages + self.page) * n_labels + drawn
        counts = self.base + _totals(key, self.weight, (n_draws, n_pages, n_labels))
        diagonal = self.diagonal + _tally(drawn, self.weight**2, n_labels)
        varying = _products(counts, diagonal, relevant)
        return Draws(varying.hits + self.hits, varying.pairs + self.pairs)


def _products(counts: Floats, diagonal: Floats, relevant: Bools) -> Draws:
    """Pairs of different assessors from weights by page: counts (draw, page, label), diagonal (draw, label)."""
    marked = relevant.astype(np.float64)
    hits = np.swapaxes(counts @ marked.T, 1, 2) @ counts - diagonal[:, None, :] * marked
    total = counts.sum(axis=2)
    return Draws(hits, (total[:, None, :] @ counts)[:, 0] - diagonal)


def _joined(parts: list[Draws], relevant: Bools) -> Draws:
    """Put blocks of draws end to end."""
    if not parts:
        return Draws(np.zeros((0, *relevant.shape)), np.zeros((0, relevant.shape[1])))
    return Draws(np.concatenate([part.hits for part in parts]), np.concatenate([part.pairs for part in parts]))
