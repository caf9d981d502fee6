r"""Mutual evaluation: how well does one set of judgments do when another judges it?

Demeester et al. (2014), doi:10.1145/2556195.2556268, Section 6.1 and Table 2.  For a topic that two assessors judged,
one is the reference and the other's labels rank the documents, highest first; a measure of that ranking is 1 if they
agree, and says how far a system can be told from a perfect one.  Parameters of gains by a model are estimated from all
other topics.  Where the paper is silent:

    documents      those that both judged; of several labels by one assessor for a document, the first counts
    order          the exact expectation over all orders within a label
    directions     both, each with its own row; a topic's value is the mean over directions and pairs of assessors
    no value       where nothing has a gain by the reference, or a label was never judged twice in other topics
    parameters     from all pairs of labels in the other topics, not only those by the two assessors

Double judgments: what two assessors said of the same documents, topic by topic, as tables of their labels.

A *set* is one assessor's labels for a topic seen from another's: the reference says what documents are worth, the
ranker in which order they come.  Every two assessors make two sets of each topic that they share.

Gains by a model for every topic, from what assessors said on all other topics (leave one topic out).

Expected scores of a ranking by levels, over all orders of the documents within a level.

A ranking by few levels leaves the order within a level open.  Level b holds the ranks :math:`s_b < r \le s_b + n_b`,
highest level first; its documents have gains by another label.  With every order within levels equally likely, rank r
holds each of the level's documents with probability :math:`1/n_b`, and two ranks of one level hold each ordered pair of
them with probability :math:`1/(n_b(n_b-1))`.  So, with :math:`\bar g_b` the mean gain of a level,

.. math:: E\sum_r c(r)\, g_r = \sum_b \bar g_b \sum_{r \in b} c(r)

for discounted gain, and with :math:`M_{ab} = \sum_{i \in a, j \in b} \min(g_i, g_j)`, for the sum of graded precisions
(average precision where gains are 0 and 1),

.. math::
    E\sum_r c(r) \sum_{l \le r} \min(g_l, g_r) = \sum_b \Big(\bar g_b + \sum_{a > b} \frac{M_{ab}}{n_b}\Big)
    \sum_{r \in b} c(r) + \sum_b \frac{M_{bb} - n_b \bar g_b}{n_b (n_b - 1)} \sum_{r \in b} (r - s_b - 1)\, c(r)

Everywhere: counts (..., level, label) of documents by the level that ranks them and the label that gives their gain,
lowest first; gains (..., label); discount (rank,), from rank 1, zero behind a cut-off; the answer is (...).
Cost: O(levels^2 labels) per ranking, whatever the number of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from venire.comparison.rank_agreement import RankCorrelation, Robustness, few_topics, interval
from venire.data.gains import GainsLike, binary, gains_for, names_model
from venire.data.judgments import Judgments
from venire.data.panel import build_panel
from venire.disagreement.gains import read_model
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.disagreement.user_disagreement import at_least, udm_weights
from venire.errors import MeasureError, PairsError, ScaleError, SettingError
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.measures.ap import AP, GAP
from venire.measures.dcg import DISCOUNTS, nDCG
from venire.measures.measure import Measure
from venire.measures.scoring import MeasureLike, as_measure
from venire.results import counted, first_few
from venire.types import Bools, Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class DoubleJudgments:
    """Sets: reference, ranker, topic (set,); counts (set, label of the ranker, label of the reference)."""

    assessors: tuple[str, ...]
    reference: Ints
    ranker: Ints
    topic: Ints
    counts: Ints
    notes: tuple[str, ...] = ()

    @property
    def pair(self) -> Ints:
        """Number of the directed pair of assessors -> (set,)."""
        return self.reference * len(self.assessors) + self.ranker


def double_judgments(judgments: Judgments, *, n_items: int = 2) -> DoubleJudgments:
    """Gather what every two assessors said of the documents that both judged, for topics with n_items such or more.

    Of several labels by one assessor for a document, the first counts.  Cost: O(assessors x labels); memory: a table
    of labels for each pair of assessors and topic that they share.
    """
    panel = build_panel(judgments, per="assessor")
    first = np.ones(len(panel.judge), dtype=np.bool_)
    first[1:] = (panel.judge[1:] != panel.judge[:-1]) | (panel.item[1:] != panel.item[:-1])
    found = list(_tables(judgments, panel.judge[first], panel.item[first], panel.label[first]))
    enough = [part[3].sum(axis=(1, 2)) >= n_items for part in found]
    if not any(kept.any() for kept in enough):
        raise PairsError(
            f"no topic has {counted(n_items, 'document')} judged by the same two assessors",
            hint="have a topic judged by two assessors, or ask for fewer documents in common",
        )
    kept = [[each[rows] for each in part] for part, rows in zip(found, enough, strict=True)]
    a, b, topic, table = (np.concatenate(column) for column in zip(*kept, strict=True))
    few = sum(int((~rows).sum()) for rows in enough)
    repeated = len(first) - int(first.sum())
    notes = [f"{counted(repeated, 'further label')} by one assessor for a document left out"] if repeated else []
    if few:
        notes.append(f"{counted(few, 'time')} two assessors share fewer than {n_items} documents of a topic: left out")
    return DoubleJudgments(
        judgments.assessors,
        np.concatenate([a, b]),
        np.concatenate([b, a]),
        np.concatenate([topic, topic]),
        np.concatenate([table.swapaxes(1, 2), table]),
        tuple(notes),
    )


def _tables(judgments: Judgments, judge: Codes, item: Codes, label: Codes) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """Compare each assessor with those behind it: a, b, topic (table,), and counts (table, label of a, label of b)."""
    n_topics, n_labels = len(judgments.items.topics), len(judgments.scale)
    starts = np.searchsorted(judge, np.arange(len(judgments.assessors) + 1))
    for number, (begin, end) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
        own = np.full(len(judgments.items), -1)
        own[item[begin:end]] = label[begin:end]
        shared = end + np.flatnonzero(own[item[end:]] >= 0)
        if len(shared) == 0:
            continue
        place = judge[shared].astype(np.int64) * n_topics + judgments.items.topic[item[shared]]
        places, table = np.unique(place, return_inverse=True)
        cell = (table * n_labels + own[item[shared]]) * n_labels + label[shared]
        counts = np.bincount(cell, minlength=len(places) * n_labels**2).reshape(-1, n_labels, n_labels)
        yield np.full(len(places), number), places // n_topics, places % n_topics, counts


def left_out_gains(names: Iterable[str], judgments: Judgments) -> dict[str, Floats]:
    """Gains of each topic by models fitted without it -> {name: (topic, label)}; NaN where others have no pairs.

    names: prm:LABEL, prm:LABEL:M/N, udm:M/N, udm:M/N:LABEL.  One pass over the labels per notion of relevance; leaving
    a topic out is a subtraction.
    """
    fits: dict[str | None, PredictedRelevanceFit] = {}
    gains = {}
    for name in names:
        model, relevant, share = read_model(name, judgments.scale)
        if relevant not in fits:
            fits[relevant] = PredictedRelevance(relevant=relevant, n_draws=0).fit(judgments)
        p, marked = _without_each(fits[relevant]), fits[relevant].relevant.labels[0]
        known = np.nan_to_num(p)
        worth = at_least(*share, known) if model == "prm" else udm_weights(*share, known, marked)
        if model == "udm" and judgments.scale.ordered and not marked[0]:
            worth[:, 0] = 0.0
        gains[name] = np.where(np.isnan(p), np.nan, worth)
    return gains


def _without_each(fit: PredictedRelevanceFit) -> Floats:
    """p(R|i) from all topics but one -> (topic, label); 0 for a lowest label that nobody judged twice."""
    others = fit.by_topic.sum(axis=0) - fit.by_topic
    hits, pairs = others[:, :, fit.relevant.labels[0]].sum(axis=2), others.sum(axis=2)
    p = np.divide(hits, pairs, out=np.full(hits.shape, np.nan), where=pairs > 0)
    p[:, 0] = np.nan_to_num(p[:, 0])
    return p


def expected_discounted(counts: Ints, gains: Floats, discount: Floats) -> Floats:
    """Expected sum of gain by discount, over orders within levels."""
    n = counts.sum(axis=-1)
    return (_over(n, (counts * gains[..., None, :]).sum(axis=-1)) * _by_level(n, discount)).sum(axis=-1)


def best_discounted(totals: Ints, gains: Floats, discount: Floats) -> Floats:
    """Sum of gain by discount in the best ranking; totals (..., label)."""
    gains = np.broadcast_to(gains, totals.shape)
    order = np.argsort(gains, axis=-1)
    by_level = _by_level(np.take_along_axis(totals, order, axis=-1), discount)
    return (np.take_along_axis(gains, order, axis=-1) * by_level).sum(axis=-1)


def expected_graded_precisions(counts: Ints, gains: Floats, discount: Floats) -> Floats:
    """Expected sum over ranks r of c(r) sum_{l<=r} min(g_l, g_r), over orders within levels; c(r) = 1/r for AP, GAP."""
    n = counts.sum(axis=-1)
    least = np.minimum(gains[..., :, None], gains[..., None, :])
    pairs = counts @ least @ counts.swapaxes(-1, -2)
    own = (counts * gains[..., None, :]).sum(axis=-1)
    among = np.diagonal(pairs, axis1=-2, axis2=-1)
    above = np.tril(pairs, -1).sum(axis=-2)
    rank = np.arange(1, len(discount) + 1)
    first = _start(n) + 1
    here = _by_level(n, discount)
    behind = _by_level(n, discount * rank) - first * here
    return (_over(n, own + above) * here + _over(n * (n - 1), among - own) * behind).sum(axis=-1)


def _start(n: Ints) -> Ints:
    """How many documents stand above each level -> (..., level)."""
    return np.flip(np.cumsum(np.flip(n, -1), axis=-1), -1) - n


def _by_level(n: Ints, discount: Floats) -> Floats:
    """Sum of the discount over the ranks of each level -> (..., level)."""
    upto = np.concatenate([[0.0], np.cumsum(discount)])
    start = _start(n)
    return upto[start + n] - upto[start]


def _over(n: Ints, total: Floats) -> Floats:
    """Divide; 0 where a level is empty."""
    return np.divide(total, n, out=np.zeros(np.shape(total)), where=n > 0)


MEASURES = ("AP", "GAP", "nDCG", "nDCG(dcg=zipf)")
MOST_PAIRS = 2000
"""Directed pairs of assessors up to this number have rows of their own."""


def mutual_evaluation(
    judgments: JudgmentsLike,
    measures: Sequence[MeasureLike] | MeasureLike = MEASURES,
    *,
    gains: Sequence[GainsLike] | Mapping[str, GainsLike] | None = None,
    relevant: str | None = None,
    n_items: int = 2,
) -> Robustness:
    r"""Evaluate every two assessors' judgments against each other, topic by topic.

    Parameters
    ----------
    judgments : as ``read_judgments`` takes them
    measures : AP, GAP and nDCG, with any discount and cut-off
    gains : as in ``between_assessors``; None: exponential, linear, udm:1/2, udm:1/3, udm:1/4 and PRM gains
    relevant : the label from which AP takes documents as relevant; None: the top label
    n_items : topics on which two assessors share fewer documents are left out

    Returns
    -------
    Robustness: for every measure and gains the mean and standard deviation over topics, then each directed pair (a is
    the reference, b ranks the documents).

    Cost: O(assessors x labels), and O(labels^3) per topic and pair.  Not for crowds whose workers share few documents
    of a topic: a ranking of three documents is nearly always good.  A value near 1 may also mean that gains hardly
    differ: any order is good then, as with PRM gains where assessors disagree much.

    Examples
    --------
    >>> from venire import read_grid
    >>> found = mutual_evaluation(read_grid("2 1 0 0\n 1 2 0 0"), "AP")
    >>> [row.value for row in found.rows]
    [0.5, 0.5, 0.5]
    """
    labels = as_judgments(judgments)
    if not labels.scale.ordered:
        raise ScaleError(f"the labels {labels.scale} have no order to rank documents by")
    sets = double_judgments(labels, n_items=n_items)
    asked = list(measures) if isinstance(measures, Sequence) and not isinstance(measures, str) else [measures]
    columns = _columns([as_measure(each) for each in asked], labels, _named(gains, labels), relevant)
    rows: list[RankCorrelation] = []
    lacking: dict[int, list[str]] = {}
    for column in columns:
        values = column.scores(sets)
        lacking.setdefault(int(np.isnan(values).sum()), []).append(f"{column.measure} with {column.gains} gains")
        rows += _rows(values, sets, column)
    notes = [
        *map(str, labels.notes),
        *sets.notes,
        *(_without(times, names) for times, names in lacking.items() if times),
    ]
    if len(np.unique(sets.pair)) > MOST_PAIRS:
        notes.append(f"{len(np.unique(sets.pair)):,} directed pairs of assessors have no rows of their own")
    notes += few_topics(rows)
    return Robustness(tuple(rows), tuple(dict.fromkeys(notes)), "95% intervals: Student's t over topics")


def _without(times: int, names: Sequence[str]) -> str:
    """Say which measures had no value, how often, and why that may be."""
    return (
        f"no value {counted(times, 'time')} by {first_few(names, 3)}: nothing has a gain by the reference, a label was "
        "never judged twice on other topics, or gains fall from label to label (GAP)"
    )


@dataclass(frozen=True, eq=False)
class _Column:
    """A measure with gains: worth (topic, label)."""

    measure: Measure
    gains: str
    worth: Floats

    def scores(self, sets: DoubleJudgments) -> Floats:
        """Expected score of each set -> (set,); NaN where there is none."""
        totals = sets.counts.sum(axis=1)
        discount = self._discount(int(totals.sum(axis=1).max()))
        gains = self.worth[sets.topic]
        unknown = (np.isnan(gains) & (totals > 0)).any(axis=1)
        gains = np.nan_to_num(gains)
        if isinstance(self.measure, nDCG):
            part, whole = expected_discounted(sets.counts, gains, discount), best_discounted(totals, gains, discount)
        else:
            gains, falling = _rising(gains)
            unknown |= falling
            part = expected_graded_precisions(sets.counts, gains, discount)
            whole = (totals * gains).sum(axis=1)
        return np.divide(part, whole, out=np.full(len(whole), np.nan), where=(whole > 0) & ~unknown)

    def _discount(self, depth: int) -> Floats:
        rank: Ints = np.arange(1, depth + 1)
        discount = DISCOUNTS[self.measure.dcg if isinstance(self.measure, nDCG) else "zipf"](rank)
        return discount if self.measure.k is None else np.where(rank <= self.measure.k, discount, 0.0)


def _rising(gains: Floats) -> tuple[Floats, Bools]:
    """Gains as GAP takes them: over the top label's, 0 for the lowest; and whether they fall anywhere -> (set,)."""
    falling = (np.diff(gains, axis=1) < 0).any(axis=1) | (gains[:, -1] <= 0)
    q = gains / np.where(gains[:, -1:] > 0, gains[:, -1:], 1.0)
    q[:, 0] = 0.0
    return q, falling


def _columns(
    measures: Sequence[Measure], labels: Judgments, gains: Mapping[str, GainsLike], relevant: str | None
) -> list[_Column]:
    """Every measure with every gains; AP with those of its relevant labels alone."""
    shape = (len(labels.items.topics), len(labels.scale))
    gains = {} if all(isinstance(each, AP) for each in measures) else gains
    fitted = left_out_gains([each for each in gains.values() if isinstance(each, str) and names_model(each)], labels)
    worths = {
        name: fitted[each] if isinstance(each, str) and each in fitted else gains_for(each, labels.scale).values[None]
        for name, each in gains.items()
    }
    columns = []
    for measure in measures:
        if isinstance(measure, AP):
            rel = measure.rel or relevant or labels.scale.labels[-1]
            here = {f"binary:{rel}": binary(rel)(labels.scale).values[None]}
        elif isinstance(measure, GAP) or (
            isinstance(measure, nDCG) and measure.dcg in ("log2", "zipf") and measure.alpha == 0
        ):
            here = worths
        else:
            raise MeasureError(
                f"{measure}: expectations over orders are known for AP, GAP and nDCG with log2 or zipf discount",
                hint="for example GAP, nDCG@20 or nDCG(dcg=zipf)",
            )
        columns += [_Column(measure, name, np.broadcast_to(worth, shape)) for name, worth in here.items()]
    return columns


def _named(gains: Sequence[GainsLike] | Mapping[str, GainsLike] | None, labels: Judgments) -> Mapping[str, GainsLike]:
    """Gains under their names; models are fitted later, topic by topic."""
    if isinstance(gains, Mapping):
        return gains
    top = labels.scale.labels[-1]
    usual = ("exponential", "linear", "udm:1/2", "udm:1/3", "udm:1/4", f"prm:{top}")
    several = usual if gains is None else gains
    named = {each if isinstance(each, str) else gains_for(each, labels.scale).name: each for each in several}
    if len(named) < len(several):
        raise SettingError("two of the gains have the same name", hint="name them: {name: gains}")
    return named


def _rows(values: Floats, sets: DoubleJudgments, column: _Column) -> list[RankCorrelation]:
    """Mean and spread over topics, for all pairs of assessors together, and for each directed pair."""
    known = np.flatnonzero(~np.isnan(values))
    topics, topic = np.unique(sets.topic[known], return_inverse=True)
    by_topic = np.bincount(topic, values[known], len(topics)) / np.bincount(topic, minlength=len(topics))
    rows = [_row(by_topic, column)]
    pairs = np.unique(sets.pair)
    order = known[np.argsort(sets.pair[known], kind="stable")]
    places = np.searchsorted(sets.pair[order], [*pairs, len(sets.assessors) ** 2])
    for number, pair in enumerate(pairs.tolist() if len(pairs) <= MOST_PAIRS else ()):
        reference, ranker = divmod(pair, len(sets.assessors))
        own = values[order[places[number] : places[number + 1]]]
        rows.append(_row(own, column, a=sets.assessors[reference], b=sets.assessors[ranker]))
    return rows


def _row(values: Floats, column: _Column, *, a: str | None = None, b: str | None = None) -> RankCorrelation:
    n = len(values)
    value = float(values.mean()) if n else np.nan
    sd = float(values.std(ddof=1)) if n > 1 else np.nan
    low, high = interval(value, sd / sqrt(max(n, 1)), n, lowest=0.0)
    return RankCorrelation(
        between="sets",
        measure=str(column.measure),
        gains=column.gains,
        a=a,
        b=b,
        value=value,
        low=low,
        high=high,
        topics=n,
        sd=sd,
    )
