r"""Consistency: does an assessor agree with themselves more than with others?

Demeester et al. (2014), Section 3.3.2, doi:10.1145/2556195.2556268.  Two labels of one page make an ordered pair; by
the same assessor, who judged the page twice or two copies of it, a *self* pair, by two assessors a *cross* pair.  With
d the histogram of labels in a cell (page, assessor) and D that of a page,

.. math:: S = \sum_{cells} d d^\top - diag(d), \qquad C = \sum_{pages} D D^\top - \sum_{cells} d d^\top

count self and cross pairs of labels i and j, and p(R|i) is the share of pairs from i that end in R.

The paper's histograms (Figures 2, 3) are over single judgment lists: of an assessor's judgments of a page each is
equally likely, one is drawn, and p is estimated anew.  For self pairs two *different* judgments are drawn: a judgment
is not compared with itself, which would count as agreement.  ``sd`` is the spread over these draws: what hangs on the
inconsistency of single assessors; it is not known where nobody judged a page twice.  ``low`` and ``high`` are the 95 %
interval over topics (``kernels.shares``); one topic gives none.

Pages: what was judged, with copies of a document taken as one page.

A page judged for several intents, or after several other documents, is a separate page each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from venire.agreement.repeats import Cells, Draws, cells_of, draw_pairs
from venire.data.judgments import Judgments
from venire.data.label_pairs import few_topics, refuse_mixed
from venire.data.relevance import Relevant, RelevantSets, relevant_sets
from venire.data.scale import Scale
from venire.errors import PairsError, SettingError, UnknownName
from venire.io.duplicates import Duplicates, groups_of
from venire.kernels.label_pairs import PairSums, Sides, pair_sums
from venire.kernels.shares import FEW_PAIRS, Spread, n_topics_of, spread_of
from venire.results import Tabular, counted, known, known_count
from venire.types import Bools, Codes, Floats, Ints, RNGLike


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
        raise PairsError("there is no label to pair", hint="; ".join(judgments.notes) or None)
    item = judgments.item if duplicates is None else groups_of(duplicates, judgments.items)[judgments.item]
    key = item.astype(np.int64)
    for name in ("intent", "given"):
        if name in judgments.facets:
            facet = judgments.facets[name]
            key = key * len(facet.names) + facet.codes
    _, first, page = np.unique(key, return_index=True, return_inverse=True)
    topic = judgments.items.topic[judgments.item[first]]
    return Pages(page.astype(np.int32), judgments.assessor.codes, judgments.label, topic)


WHO = ("self", "cross")
WEIGHTS = ("pair", "page")
TOPIC_DRAWS = 300
TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Shares:
    """p(R|i) of one sort of pairs: spread (relevant, label) each, draws of single judgments; how many pages, topics."""

    spread: Spread
    draws: Draws
    n_pages: int
    n_topics: int

    @property
    def drawn(self) -> Floats:
        """p(R|i) in every draw -> (draw, relevant, label); NaN where a draw has no such pair."""
        return _ratio(self.draws.hits, self.draws.pairs[:, None])

    def within(self, relevant: Bools) -> tuple[Floats, Floats]:
        """p(R|R), and in every draw: what is relevant once, is so again -> (relevant,), (draw, relevant)."""
        held = relevant.astype(np.float64)
        whole = _ratio((self.spread.hits * held).sum(axis=1), (self.spread.pairs * held).sum(axis=1))
        drawn = _ratio((self.draws.hits * held).sum(axis=2), self.draws.pairs @ held.T)
        return whole, drawn


@dataclass(frozen=True, eq=False)
class Consistency(Tabular):
    """How assessors agree with themselves (``own``) and with each other (``cross``)."""

    scale: Scale
    relevant: RelevantSets
    weight: str
    own: Shares
    cross: Shares

    def sides(self) -> dict[str, Shares]:
        """Return both sorts of pairs by name, self and cross."""
        return dict(zip(WHO, (self.own, self.cross), strict=True))

    def records(self) -> list[dict[str, Any]]:
        """One record per notion of relevance, label (highest first) and sort of pair; None where nothing is known."""
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

    def histogram(self, *, row: int = 0, bins: int = 50) -> tuple[Floats, Floats]:
        """Share of draws by p(R|i), for Figures 2 and 3: edges (bin + 1,), shares (who, label, bin)."""
        edges = np.linspace(0.0, 1.0, bins + 1)
        counts = np.array(
            [[np.histogram(p[~np.isnan(p)], edges)[0] for p in each.drawn[:, row].T] for each in self.sides().values()]
        )
        return edges, counts / np.maximum(counts.sum(axis=2, keepdims=True), 1)

    def sentence(self, row: int = 0) -> str:
        """Say the main finding in one sentence."""
        own, cross = (each.within(self.relevant.labels)[0][row] for each in (self.own, self.cross))
        name = self.relevant.names[row]
        higher = " or higher" if self.scale.ordered and name in self.scale.labels[:-1] else ""
        if np.isnan(own) and np.isnan(cross):
            return f"No page that was judged twice is {name}{higher}, so nothing is known of agreement on it."
        if np.isnan(own):
            return f"Assessors agree with each other in {cross:.0%} of the labels {name}{higher}."
        others = "" if np.isnan(cross) else f", with each other in {cross:.0%}"
        return f"Assessors agree with themselves in {own:.0%} of the labels {name}{higher}{others}."

    def warnings(self) -> list[str]:
        """What to be careful about."""
        words = []
        if self.own.n_pages == 0:
            words.append("nobody judged a page twice, so nothing is known of how assessors agree with themselves")
        if self.cross.n_pages == 0:
            words.append("no page was judged by two assessors, so nothing is known of how they agree with each other")
        if not words and self.own.n_pages != self.cross.n_pages:
            words.append(
                f"self pairs are of {counted(self.own.n_pages, 'page')}, cross pairs of "
                f"{counted(self.cross.n_pages, 'page')}: pages judged repeatedly may be of another kind"
            )
        topics = [str(note) for who, each in self.sides().items() for note in few_topics(each.n_topics, f"{who} pairs")]
        return [*words, *self._not_apart(), *topics, *self._few()]

    def _not_apart(self) -> list[str]:
        """Notions of relevance in which an assessor seems no more like themselves than like others."""
        own, cross = (each.within(self.relevant.labels)[0] for each in (self.own, self.cross))
        return [
            f"relevant {name}: here assessors agree with themselves ({one:.2f}) no more than with each other "
            f"({other:.2f}); these are two estimates and no test, but the disagreement may be inconsistency"
            for name, one, other in zip(self.relevant.names, own, cross, strict=True)
            if one <= other
        ]

    def _few(self) -> list[str]:
        return [
            f"label {label} has {n:g} {who} pairs, fewer than {FEW_PAIRS}: its numbers are not reliable"
            for who, each in self.sides().items()
            for label, n in zip(self.scale.labels, each.spread.pairs[0], strict=True)
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
    with both sorts of pairs, as the paper does.  Cost: O(rows log rows + pages x labels^2 + draws x judgments of pages
    on which somebody contradicted themselves).

    Examples
    --------
    >>> from venire import read_grid
    >>> judgments = read_grid("""
    ...     2 2 1 0 0
    ...     2 0 2 0 1""")
    >>> print(consistency(judgments, [["d1", "d2"], ["d4", "d5"]], n_draws=100).sentence())
    Assessors agree with themselves in 67% of the labels 2, with each other in 57%.
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
    """Keep the pages that hold pairs, of either sort or of both."""
    n_pages = len(pages.topic)
    twice = np.bincount(cells.page[cells.size > 1], minlength=n_pages) > 0
    several = np.bincount(cells.page, minlength=n_pages) > 1
    keep = twice & several if same_pages else twice | several
    if not keep.any():
        raise PairsError(
            "no page was judged twice by one assessor and once by another"
            if same_pages
            else "no page was judged twice, by one assessor or by two, so nothing can be compared",
            hint="name documents that are copies (--duplicates FILE), or keep second labels (--repeats keep)",
        )
    pages = pages.take(keep[pages.page])
    return cells_of(pages.page, pages.assessor, pages.label), pages


def _own_sums(cells: Cells, pages: Pages, relevant: Bools, by_page: bool) -> PairSums:
    """Sum up self pairs: a cell is what others call an item, and all its labels may be paired."""
    twice = cells.size > 1
    counts = cells.counts(twice, relevant.shape[1])
    none = np.zeros(0, dtype=np.int64), np.zeros((0, relevant.shape[1]), dtype=np.int64)
    topic = pages.topic[cells.page[twice]]
    return pair_sums(Sides(counts, counts, counts, *none), topic, _n_topics(pages), relevant, by_item=by_page)


def _cross_sums(cells: Cells, pages: Pages, relevant: Bools, by_page: bool) -> PairSums:
    """Sum up cross pairs; by page, a label counts as its share of the assessor's labels."""
    n_labels = relevant.shape[1]
    several = np.bincount(cells.page, minlength=len(pages.topic)) > 1
    place, here = np.cumsum(several) - 1, several[cells.page]
    twice = here & (cells.size > 1)
    rows = np.repeat(here, cells.size)
    key = np.repeat(place[cells.page], cells.size)[rows] * n_labels + cells.label[rows]
    worth = np.repeat(1.0 / cells.size, cells.size)[rows] if by_page else None
    n_pages = int(several.sum())
    every = np.bincount(key, worth, minlength=n_pages * n_labels).reshape(n_pages, n_labels)
    own = cells.counts(twice, n_labels)
    own = cast(Ints, own / cells.size[twice, None]) if by_page else own  # shares: the kernel multiplies them as well
    sides = Sides(every, every, every, place[cells.page[twice]], own)
    sums = pair_sums(sides, pages.topic[several], _n_topics(pages), relevant)
    return sums._replace(by_topic=np.where(sums.by_topic < TINY, 0.0, sums.by_topic))


def _n_topics(pages: Pages) -> int:
    return int(pages.topic.max(initial=-1)) + 1


def _columns(shares: Shares, *, repeated: bool) -> dict[str, Floats]:
    """What is told of a sort of pairs, all (relevant, label)."""
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
