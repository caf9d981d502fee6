r"""Consistency: does an assessor agree with themselves more than with others?

Demeester et al. (2014), Section 3.3.2, doi:10.1145/2556195.2556268.  Two labels of one page make an ordered pair: a
*self* pair by the same assessor, who judged the page twice or two copies of it, a *cross* pair by two assessors.  With
d the histogram of labels in a cell (page, assessor) and D that of a page,

.. math:: S = \sum_{cells} d d^\top - diag(d), \qquad C = \sum_{pages} D D^\top - \sum_{cells} d d^\top

count self and cross pairs of labels i and j, and p(R|i) is the share of pairs from i that end in R.  A page judged for
several intents, or after several other documents, is a separate page each time.

The paper's histograms (Figures 2, 3) are over lists of single judgments: one judgment of every cell is drawn, each
equally likely, and p is estimated again.  For self pairs two *different* judgments are drawn, since a judgment agrees
with itself.  ``sd`` is the standard deviation over these draws: what depends on the inconsistency of single assessors;
it is unknown where nobody judged a page twice.  Cells whose labels are all the same are constant, and counted once for
all draws.  ``low`` and ``high`` are the 95 % interval over topics (``kernels.shares``); one topic gives none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from venire.data.judgments import Judgments
from venire.data.label_pairs import few_topics, refuse_mixed
from venire.data.relevance import Relevant, RelevantSets, relevant_sets
from venire.data.scale import Scale
from venire.errors import PairsError, SettingError, UnknownName
from venire.io.duplicates import Duplicates, groups_of
from venire.kernels.label_pairs import PairSums, Sides, pair_sums
from venire.kernels.shares import FEW_PAIRS, Spread, n_topics_of, spread_of
from venire.results import Note, Tabular, known, known_count
from venire.types import Bools, Codes, Floats, Ints, RNGLike

WHO = ("self", "cross")
WEIGHTS = ("pair", "page")
TOPIC_DRAWS = 300
TINY = 1e-9
BLOCK_CELLS = 1 << 21
"""How many cells (draw x page x label) are held at a time."""


class Pages(NamedTuple):
    """Labels by page: page, assessor, label (row,); topic (page,)."""

    page: Codes
    assessor: Codes
    label: Codes
    topic: Codes

    def take(self, rows: Bools) -> Pages:
        """Choose rows; pages keep their numbers."""
        return self._replace(page=self.page[rows], assessor=self.assessor[rows], label=self.label[rows])


def pages_of(judgments: Judgments, duplicates: Duplicates | None = None) -> Pages:
    """Number the pages that were judged; copies of a document for one topic are one page.  O(rows log rows)."""
    refuse_mixed(judgments)
    if len(judgments) == 0:
        raise PairsError("there is no label to pair", hint="; ".join(map(str, judgments.notes)) or None)
    item = judgments.item if duplicates is None else groups_of(duplicates, judgments.items)[judgments.item]
    key = item.astype(np.int64)
    for name in ("intent", "given"):
        if name in judgments.facets:
            facet = judgments.facets[name]
            key = key * len(facet.names) + facet.codes
    _, first, page = np.unique(key, return_index=True, return_inverse=True)
    topic = judgments.items.topic[judgments.item[first]]
    return Pages(page.astype(np.int32), judgments.assessor.codes, judgments.label, topic)


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


def cells_of(page: Codes, assessor: Codes, label: Codes) -> Cells:
    """Gather labels by page and assessor, all (row,).  O(rows log rows)."""
    n_assessors = int(assessor.max(initial=0)) + 1
    key = page.astype(np.int64) * n_assessors + assessor
    order = np.argsort(key, kind="stable")
    key = key[order]
    start = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    return Cells(key[start] // n_assessors, start, np.diff(np.append(start, len(key))), label[order])


class Draws(NamedTuple):
    """Ordered pairs in every draw: those that begin with a label, pairs (draw, label), and hits among them.

    hits (draw, relevant, label): the pairs whose second label is relevant.
    """

    hits: Floats
    pairs: Floats


@dataclass(frozen=True, eq=False)
class Shares:
    """p(R|i) of self or cross pairs: spread (relevant, label), draws of single judgments, numbers of pages, topics."""

    spread: Spread
    draws: Draws
    n_pages: int
    n_topics: int

    @property
    def drawn(self) -> Floats:
        """p(R|i) in every draw -> (draw, relevant, label); NaN where a draw has no such pair."""
        return _ratio(self.draws.hits, self.draws.pairs[:, None])

    def within(self, relevant: Bools) -> tuple[Floats, Floats]:
        """p(R|R), and in every draw: the share of pairs from R that end in R -> (relevant,), (draw, relevant)."""
        marked = relevant.astype(np.float64)
        whole = _ratio((self.spread.hits * marked).sum(axis=1), (self.spread.pairs * marked).sum(axis=1))
        return whole, _ratio((self.draws.hits * marked).sum(axis=2), self.draws.pairs @ marked.T)


@dataclass(frozen=True, eq=False)
class Consistency(Tabular):
    """How assessors agree with themselves (``own``) and with each other (``cross``)."""

    scale: Scale
    relevant: RelevantSets
    weight: str
    own: Shares
    cross: Shares

    def sides(self) -> dict[str, Shares]:
        """Return both by name, self and cross."""
        return dict(zip(WHO, (self.own, self.cross), strict=True))

    def records(self) -> list[dict[str, Any]]:
        """Return one row per notion of relevance, label (highest first), and self or cross; None where unknown."""
        kind = {"hits": known_count, "pairs": known_count}
        columns = {who: _columns(each, repeated=self.own.n_pages > 0) for who, each in self.sides().items()}
        return [
            {
                "relevant": name,
                "label": self.scale.labels[level],
                "who": who,
                **{key: kind.get(key, known)(column[row, level]) for key, column in columns[who].items()},
            }
            for row, name in enumerate(self.relevant.names)
            for level in reversed(range(len(self.scale)))
            for who in WHO
        ]

    def sentence(self, row: int = 0) -> str:
        """Say how often assessors agree with themselves and with each other on what is relevant."""
        own, cross = (each.within(self.relevant.labels)[0][row] for each in (self.own, self.cross))
        name = self.relevant.names[row]
        higher = " or higher" if self.scale.ordered and name in self.scale.labels[:-1] else ""
        shown = [("themselves", own), ("each other", cross)]
        parts = [f"with {who} for " + ("an unknown share" if np.isnan(p) else f"{p:.0%}") for who, p in shown]
        return f"Assessors agree {' and '.join(parts)} of their labels {name}{higher}."

    @property
    def notes(self) -> tuple[Note | str, ...]:
        """What to be careful about."""
        return (*self._of_pages(), *self._not_above(), *self._of_topics(), *self._of_few_pairs())

    def _of_pages(self) -> list[Note]:
        own, cross = self.own.n_pages, self.cross.n_pages
        found = []
        if own == 0:
            found.append(Note("no-self-pairs", "no assessor judged a page twice, so self agreement is unknown"))
        if cross == 0:
            text = "no page was judged by two assessors, so the agreement between assessors is unknown"
            found.append(Note("no-cross-pairs", text))
        if not found and own != cross:
            text = "self pairs are of {own:page}, cross pairs of {cross:page}: these pages may differ in kind"
            found.append(Note("different-pages", text, own=own, cross=cross))
        return found

    def _not_above(self) -> list[Note]:
        """Notions of relevance for which the estimate of self agreement is no higher than that of cross agreement."""
        own, cross = (each.within(self.relevant.labels)[0] for each in (self.own, self.cross))
        text = (
            "relevant {relevant}: self agreement ({own:.2f}) is estimated no higher than agreement between assessors "
            "({cross:.2f}), so disagreement may be inconsistency; the difference was not tested"
        )
        return [
            Note("self-not-above-cross", text, relevant=name, own=one, cross=other)
            for name, one, other in zip(self.relevant.names, own.tolist(), cross.tolist(), strict=True)
            if one <= other
        ]

    def _of_topics(self) -> list[Note]:
        return [note for who, each in self.sides().items() for note in few_topics(each.n_topics, f"{who} pairs")]

    def _of_few_pairs(self) -> list[Note]:
        text = "label {label} has {n:g} {who} pairs, fewer than {least}: its estimates are not reliable"
        return [
            Note("few-pairs", text, label=label, n=n, who=who, least=FEW_PAIRS)
            for who, each in self.sides().items()
            for label, n in zip(self.scale.labels, each.spread.pairs[0].tolist(), strict=True)
            if self.weight == "pair" and 0 < n < FEW_PAIRS
        ]


def consistency(
    judgments: Judgments,
    duplicates: Duplicates | None = None,
    *,
    relevant: Relevant = None,
    weight: str = "pair",
    same_pages: bool = False,
    n_draws: int = 1000,
    rng: RNGLike = 0,
) -> Consistency:
    '''Compare an assessor with themselves and with others, where pages were judged repeatedly.

    duplicates: groups of documents that are one page.  weight: every pair of labels counts once ("pair"), or every page
    once per assessor and per two assessors ("page", the paper's lists of single judgments).  same_pages: use only pages
    with self and cross pairs, as the paper does.  Cost: O(rows log rows + pages x labels^2 + draws x judgments of pages
    on which somebody contradicted themselves).

    Examples
    --------
    >>> from venire.io import read_grid
    >>> judgments = read_grid("""
    ...     2 2 1 0 0
    ...     2 0 2 0 1""")
    >>> print(consistency(judgments, [["d1", "d2"], ["d4", "d5"]], n_draws=100).sentence())
    Assessors agree with themselves for 67% and with each other for 57% of their labels 2.
    '''
    if weight not in WEIGHTS:
        raise UnknownName("weight", weight, WEIGHTS)
    if n_draws < 0:
        raise SettingError(f"{n_draws} draws: expected 0 or more")
    sets = relevant_sets(judgments.scale, relevant)
    pages = pages_of(judgments, duplicates)
    cells = cells_of(pages.page, pages.assessor, pages.label)
    cells, pages = _chosen(cells, pages, same_pages=same_pages)
    generator, by_page = np.random.default_rng(rng), weight == "page"
    drawn = draw_pairs(cells, sets.labels, n_draws=n_draws, by_page=by_page, rng=generator)
    sums = [count(cells, pages, sets.labels, by_page) for count in (_own_sums, _cross_sums)]
    spreads = [spread_of(each, sets.labels, prior=0.0, n_draws=TOPIC_DRAWS, rng=generator) for each in sums]
    twice = len(np.unique(cells.page[cells.size > 1]))
    several = int((np.bincount(cells.page) > 1).sum())
    sides = [Shares(*each) for each in zip(spreads, drawn, (twice, several), map(n_topics_of, sums), strict=True)]
    return Consistency(judgments.scale, sets, weight, *sides)


def _chosen(cells: Cells, pages: Pages, *, same_pages: bool) -> tuple[Cells, Pages]:
    """Keep the pages that hold self or cross pairs, or both."""
    n_pages = len(pages.topic)
    twice = np.bincount(cells.page[cells.size > 1], minlength=n_pages) > 0
    several = np.bincount(cells.page, minlength=n_pages) > 1
    keep = twice & several if same_pages else twice | several
    if not keep.any():
        pairs = "twice by one assessor and once by another" if same_pages else "twice, by one assessor or by two"
        raise PairsError(
            f"no page was judged {pairs}",
            hint="name the documents that are copies, or keep all labels of an assessor when reading",
        )
    pages = pages.take(keep[pages.page])
    return cells_of(pages.page, pages.assessor, pages.label), pages


def _own_sums(cells: Cells, pages: Pages, relevant: Bools, by_page: bool) -> PairSums:
    """Sum self pairs: every cell is an item, all of whose labels may be paired."""
    twice = cells.size > 1
    counts = cells.counts(twice, relevant.shape[1])
    none = np.zeros(0, dtype=np.int64), np.zeros((0, relevant.shape[1]), dtype=np.int64)
    topic = pages.topic[cells.page[twice]]
    return pair_sums(Sides(counts, counts, counts, *none), topic, _n_topics(pages), relevant, by_item=by_page)


def _cross_sums(cells: Cells, pages: Pages, relevant: Bools, by_page: bool) -> PairSums:
    """Sum cross pairs; by page, a label counts as its share of the assessor's labels."""
    n_labels = relevant.shape[1]
    several = np.bincount(cells.page, minlength=len(pages.topic)) > 1
    place, inside = np.cumsum(several) - 1, several[cells.page]
    twice = inside & (cells.size > 1)
    rows = np.repeat(inside, cells.size)
    key = np.repeat(place[cells.page], cells.size)[rows] * n_labels + cells.label[rows]
    share = np.repeat(1.0 / cells.size, cells.size)[rows] if by_page else None
    n_pages = int(several.sum())
    every = np.bincount(key, share, minlength=n_pages * n_labels).reshape(n_pages, n_labels)
    own = cells.counts(twice, n_labels)
    own = cast(Ints, own / cells.size[twice, None]) if by_page else own  # shares: the kernel multiplies them as well
    sides = Sides(every, every, every, place[cells.page[twice]], own)
    sums = pair_sums(sides, pages.topic[several], _n_topics(pages), relevant)
    return sums._replace(by_topic=np.where(sums.by_topic < TINY, 0.0, sums.by_topic))


def _n_topics(pages: Pages) -> int:
    return int(pages.topic.max(initial=-1)) + 1


def _columns(shares: Shares, *, repeated: bool) -> dict[str, Floats]:
    """Columns of self or cross pairs, all (relevant, label)."""
    spread = shares.spread
    return {
        "p": spread.p,
        "sd": _sd(shares.drawn) if repeated else np.full_like(spread.p, np.nan),
        "low": spread.low,
        "high": spread.high,
        "hits": spread.hits,
        "pairs": spread.pairs,
    }


def _sd(drawn: Floats) -> Floats:
    """Standard deviation over draws that know p; NaN with fewer than two of them."""
    known = ~np.isnan(drawn)
    n = known.sum(axis=0)
    above = np.where(known, drawn - np.fmin.reduce(drawn, axis=0, initial=np.inf), 0.0)
    mean = above.sum(axis=0) / np.maximum(n, 1)
    squares = np.where(known, (above - mean) ** 2, 0.0).sum(axis=0)
    return np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)


def _ratio(hits: Floats, pairs: Floats) -> Floats:
    return np.where(pairs > TINY, hits / np.where(pairs > TINY, pairs, 1.0), np.nan)


def draw_pairs(
    cells: Cells, relevant: Bools, *, n_draws: int, by_page: bool, rng: np.random.Generator
) -> tuple[Draws, Draws]:
    """Draw single judgments, and count self pairs and cross pairs; relevant (relevant, label).

    by_page: a cell counts once, however many judgments it holds; otherwise as often as it holds pairs of them.
    Cost: O(rows + draws x mixed cells + draws x pages that hold one x labels x relevant); memory: a block of draws.
    """
    own, cross = _constant_own(cells, relevant, by_page=by_page), _Cross.of(cells, relevant, by_page=by_page)
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


def _constant_own(cells: Cells, relevant: Bools, *, by_page: bool) -> Draws:
    """Count the self pairs that are the same in every draw."""
    constant = ~cells.mixed()
    label = cells.label[cells.start[constant]][None]
    return _own(label, label, _pair_weight(cells.size[constant], by_page=by_page), relevant)


class _Cross(NamedTuple):
    """Cross pairs that are the same in every draw, and the pages where they vary.

    hits (relevant, label), pairs (label,): constant pages; base (page, label), diagonal (label,): constant cells of the
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
    """Concatenate blocks of draws."""
    if not parts:
        return Draws(np.zeros((0, *relevant.shape)), np.zeros((0, relevant.shape[1])))
    return Draws(np.concatenate([part.hits for part in parts]), np.concatenate([part.pairs for part in parts]))
