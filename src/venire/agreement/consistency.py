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

from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from venire.data.judgments import Judgments
from venire.data.label_pairs import few_topics, refuse_mixed
from venire.data.scale import Relevant, RelevantSets, Scale, relevant_sets
from venire.errors import PairsError, SettingError, UnknownName, reasons
from venire.io.duplicates import Duplicates, groups_of
from venire.io.judgments import JudgmentsLike, as_judgments
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
        raise PairsError("there is no label to pair", hint=reasons(judgments.notes))
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

    def plus(self, other: Draws) -> Draws:
        """Add the pairs of other cells."""
        return Draws(self.hits + other.hits, self.pairs + other.pairs)


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
    def notes(self) -> tuple[Note, ...]:
        """What to be careful about."""
        pages = {who: each.n_pages for who, each in self.sides().items()}
        missing = {
            "self": "no assessor judged a page twice, so self agreement is unknown",
            "cross": "no page was judged by two assessors, so the agreement between assessors is unknown",
        }
        found = [Note(f"no-{who}-pairs", missing[who]) for who, n in pages.items() if n == 0]
        if not found and pages["self"] != pages["cross"]:
            text = "self pairs are of {own:page}, cross pairs of {cross:page}: these pages may differ in kind"
            found.append(Note("different-pages", text, own=pages["self"], cross=pages["cross"]))
        text = (
            "relevant {relevant}: self agreement ({own:.2f}) is estimated no higher than agreement between assessors "
            "({cross:.2f}), so disagreement may be inconsistency; the difference was not tested"
        )
        within = (each.within(self.relevant.labels)[0].tolist() for each in (self.own, self.cross))
        found += [
            Note("self-not-above-cross", text, relevant=name, own=own, cross=cross)
            for name, own, cross in zip(self.relevant.names, *within, strict=True)
            if own <= cross
        ]
        found += [note for who, each in self.sides().items() for note in few_topics(each.n_topics, f"{who} pairs")]
        text = "label {label} has {n:g} {who} pairs, fewer than {least}: its estimates are not reliable"
        found += [
            Note("few-pairs", text, label=label, n=n, who=who, least=FEW_PAIRS)
            for who, each in self.sides().items()
            for label, n in zip(self.scale.labels, each.spread.pairs[0].tolist(), strict=True)
            if self.weight == "pair" and 0 < n < FEW_PAIRS
        ]
        return tuple(found)


def consistency(
    judgments: JudgmentsLike,
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
    judgments = as_judgments(judgments)
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
    columns = {name: getattr(shares.spread, name) for name in ("p", "sd", "low", "high", "hits", "pairs")}
    return columns | {"sd": _sd(shares.drawn) if repeated else np.full_like(shares.spread.p, np.nan)}


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

    by_page: a cell counts once, however many judgments it holds; otherwise as often as it holds pairs of them.  Pages
    without a mixed cell are counted once for all draws.
    Cost: O(rows + draws x cells of pages that hold a mixed one x relevant); memory: a block of draws.
    """
    n_labels, mixed, label = relevant.shape[1], cells.mixed(), cells.label[cells.start]
    n_cells, n_mixed = np.bincount(cells.page, minlength=1), np.bincount(cells.page, mixed, minlength=1)
    varies = (n_mixed > 0)[cells.page]
    fixed = _counted(cells, ~varies, label[None, ~varies], label[None, ~varies], relevant, by_page=by_page)
    start, size, place = cells.start[mixed], cells.size[mixed], mixed[varies]
    step = max(1, BLOCK_CELLS // max(len(size), int(((n_cells > 1) & (n_mixed > 0)).sum()) * n_labels, 1))
    nothing = Draws(np.zeros((0, *relevant.shape)), np.zeros((0, n_labels)))
    found = [(nothing, nothing)]
    for begin in range(0, n_draws, step):
        shape = (min(step, n_draws - begin), len(size))
        one = rng.integers(0, size, shape)
        other = rng.integers(0, size - 1, shape)
        first = np.tile(label[varies], (shape[0], 1))
        second = first.copy()
        first[:, place], second[:, place] = cells.label[start + one], cells.label[start + other + (other >= one)]
        drawn = _counted(cells, varies, first, second, relevant, by_page=by_page)
        found.append((drawn[0].plus(fixed[0]), drawn[1].plus(fixed[1])))
    own, cross = (Draws(*map(np.concatenate, zip(*side, strict=True))) for side in zip(*found, strict=True))
    return own, cross


def _counted(
    cells: Cells, chosen: Bools, first: Codes, second: Codes, relevant: Bools, *, by_page: bool
) -> tuple[Draws, Draws]:
    """Count self pairs and cross pairs of the chosen cells; first, second (draw, chosen): two judgments of each.

    Of self pairs either judgment comes first; of cross pairs, the first judgment of each cell.
    """
    size, (n_draws, n_labels) = cells.size[chosen].astype(np.float64), (len(first), relevant.shape[1])
    pages, page = np.unique(cells.page[chosen], return_inverse=True)

    def sums(label: Codes, weight: Floats, group: Ints | int = 0, n_groups: int = 1) -> Floats:
        """Sum weights by draw, group and label: label, weight (draw, cell) -> (draw, group, label)."""
        key = (np.arange(n_draws)[:, None] * n_groups + group) * n_labels + label
        total = np.bincount(key.ravel(), np.broadcast_to(weight, key.shape).ravel(), n_draws * n_groups * n_labels)
        return np.asarray(total, np.float64).reshape(n_draws, n_groups, n_labels)

    weight = (size > 1).astype(np.float64) if by_page else size * (size - 1)
    ways = ((first, second), (second, first))
    hits = [sum(sums(one, weight * marked[other]) for one, other in ways) for marked in relevant]
    own = Draws(np.concatenate(hits, axis=1), (sums(first, weight) + sums(second, weight))[:, 0])
    weight, marked = np.ones(len(size)) if by_page else size, relevant.astype(np.float64)
    counts, diagonal = sums(first, weight, page, len(pages)), sums(first, weight**2)
    hits_cross = np.swapaxes(counts @ marked.T, 1, 2) @ counts - diagonal * marked
    return own, Draws(hits_cross, (counts.sum(axis=2)[:, None, :] @ counts - diagonal)[:, 0])
