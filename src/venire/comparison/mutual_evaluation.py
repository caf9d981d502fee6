r"""Mutual evaluation: the score of one assessor's labels as a ranking, judged by another assessor.

Demeester et al. (2014), doi:10.1145/2556195.2556268, Section 6.1 and Table 2.  For a topic that two assessors judged,
one is the reference and the labels of the other, the ranker, order the documents, highest first; a measure of that
ranking is 1 if they agree.  It limits how well a system can score against a perfect one.  Parameters of gains by a
model are estimated from all other topics (leave one topic out).  Where the paper does not specify it:

    documents      those that both judged; of several labels by one assessor for a document, the first counts
    order          the exact expectation over all orders within a label
    directions     both, each with its own row; a topic's value is the mean over directions and pairs of assessors
    no value       where nothing has a gain by the reference, or a label was never judged twice in other topics
    parameters     from all pairs of labels in the other topics, not only those by the two assessors

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

Arrays of the expectations: counts (..., level, label) of documents by the level that ranks them and the label that
gives their gain, lowest first; gains (..., label); discount (rank,), from rank 1, zero behind a cut-off; the result is
(...). Cost: O(levels^2 labels) per ranking, whatever the number of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

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
from venire.measures.dcg import DISCOUNTS, nDCG
from venire.measures.evaluate import as_list
from venire.measures.measure import Measure
from venire.measures.precision import AP, GAP
from venire.measures.scoring import MeasureLike, as_measure
from venire.results import Note, counted, first_few
from venire.types import Bools, Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class DoubleJudgments:
    """Two assessors' labels for a topic: reference, ranker, topic (set,); counts (set, ranker's, reference's label)."""

    assessors: tuple[str, ...]
    reference: Ints
    ranker: Ints
    topic: Ints
    counts: Ints
    notes: tuple[Note, ...] = ()

    @property
    def pair(self) -> Ints:
        """Number of the directed pair of assessors -> (set,)."""
        return self.reference * len(self.assessors) + self.ranker


def double_judgments(judgments: Judgments, *, n_items: int = 2) -> DoubleJudgments:
    """Count the labels of every two assessors for the documents that both judged, for topics with n_items or more.

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
            hint="have a topic judged by two assessors, or require fewer documents in common",
        )
    kept = [[each[rows] for each in part] for part, rows in zip(found, enough, strict=True)]
    a, b, topic, table = (np.concatenate(column) for column in zip(*kept, strict=True))
    few = sum(int((~rows).sum()) for rows in enough)
    repeated = len(first) - int(first.sum())
    counts = (
        ("repeated-labels", "{n:further label} by one assessor for a document omitted", repeated),
        ("few-documents", "{n:time} two assessors share fewer than {least} documents of a topic: omitted", few),
    )
    notes = tuple(Note(kind, text, n=n, least=n_items) for kind, text, n in counts if n)
    sets = (np.append(a, b), np.append(b, a), np.append(topic, topic))
    return DoubleJudgments(judgments.assessors, *sets, np.concatenate([table.swapaxes(1, 2), table]), notes)


def _tables(judgments: Judgments, judge: Codes, item: Codes, label: Codes) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """Compare each assessor with the following ones: a, b, topic (table,), counts (table, label of a, label of b)."""
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


def leave_one_topic_out(names: Iterable[str], judgments: Judgments) -> dict[str, Floats]:
    """Return the gains of each topic by models fitted without it -> {name: (topic, label)}; NaN without pairs.

    names: prm:LABEL, prm:LABEL:M/N, udm:M/N, udm:M/N:LABEL.  One pass over the labels per notion of relevance.
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
    """Return p(R|i) from all topics but one -> (topic, label); 0 for a lowest label without pairs."""
    others = fit.by_topic.sum(axis=0) - fit.by_topic
    hits, pairs = others[:, :, fit.relevant.labels[0]].sum(axis=2), others.sum(axis=2)
    p = np.divide(hits, pairs, out=np.full(hits.shape, np.nan), where=pairs > 0)
    p[:, 0] = np.nan_to_num(p[:, 0])
    return p


def expected_discounted(counts: Ints, gains: Floats, discount: Floats) -> Floats:
    """Return the expected sum of gain by discount, over orders within levels."""
    n = counts.sum(axis=-1)
    return (_over(n, (counts * gains[..., None, :]).sum(axis=-1)) * _by_level(n, discount)).sum(axis=-1)


def best_discounted(totals: Ints, gains: Floats, discount: Floats) -> Floats:
    """Return the sum of gain by discount in the best ranking; totals (..., label)."""
    gains = np.broadcast_to(gains, totals.shape)
    order = np.argsort(gains, axis=-1)
    by_level = _by_level(np.take_along_axis(totals, order, axis=-1), discount)
    return (np.take_along_axis(gains, order, axis=-1) * by_level).sum(axis=-1)


def expected_graded_precisions(counts: Ints, gains: Floats, discount: Floats) -> Floats:
    """Return the expected sum over r of c(r) sum_{l<=r} min(g_l, g_r), over orders within levels; AP, GAP: c = 1/r."""
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
    """Return how many documents are ranked above each level -> (..., level)."""
    return np.flip(np.cumsum(np.flip(n, -1), axis=-1), -1) - n


def _by_level(n: Ints, discount: Floats) -> Floats:
    """Return the sum of the discount over the ranks of each level -> (..., level)."""
    upto = np.concatenate([[0.0], np.cumsum(discount)])
    start = _start(n)
    return upto[start + n] - upto[start]


def _over(n: Ints, total: Floats) -> Floats:
    """Divide; 0 where a level is empty."""
    return np.divide(total, n, out=np.zeros(np.shape(total)), where=n > 0)


MEASURES = ("AP", "GAP", "nDCG", "nDCG(dcg=zipf)")
WITHOUT = (
    "no value {n:time} by {columns}: no document has a gain by the reference, a label was never judged twice on other "
    "topics, or gains decrease from label to label (GAP)"
)
MOST_PAIRS = 2000
"""Up to how many directed pairs of assessors have rows."""


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
    n_items : topics on which two assessors share fewer documents are omitted

    Returns
    -------
    Robustness: for every measure and gains the mean and standard deviation over topics, then each directed pair (a is
    the reference, b ranks the documents).

    Cost: O(assessors x labels), and O(labels^3) per topic and pair.  Not for crowds whose workers share few documents
    of a topic: almost any ranking of three documents scores high.  A value near 1 may also mean that the gains are
    nearly equal, so that any order scores high, as with PRM gains where assessors disagree much.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> found = mutual_evaluation(read_grid("2 1 0 0\n 1 2 0 0"), "AP")
    >>> [row.value for row in found.rows]
    [0.5, 0.5, 0.5]
    """
    labels = as_judgments(judgments)
    labels.require_one("intent", reason="the documents that are ranked have one label by each assessor")
    if not labels.scale.ordered:
        raise ScaleError(f"the labels {labels.scale} have no order to rank documents by")
    sets = double_judgments(labels, n_items=n_items)
    columns = _columns([as_measure(each) for each in as_list(measures)], labels, _named(gains, labels), relevant)
    rows: list[RankCorrelation] = []
    lacking: dict[int, list[str]] = {}
    for column in columns:
        values = column.scores(sets)
        lacking.setdefault(int(np.isnan(values).sum()), []).append(f"{column.measure} with {column.gains} gains")
        rows += _rows(values, sets, column)
    notes = [*labels.notes, *sets.notes]
    notes += [Note("no-value", WITHOUT, n=n, columns=first_few(names, 3)) for n, names in lacking.items() if n]
    n_pairs = len(np.unique(sets.pair))
    if n_pairs > MOST_PAIRS:
        notes.append(Note("many-pairs", "{n:,} directed pairs of assessors have no rows", n=n_pairs))
    notes += few_topics(rows)
    return Robustness(tuple(rows), tuple(dict.fromkeys(notes)), "95% intervals: Student's t over topics")


@dataclass(frozen=True, eq=False)
class _Column:
    """A measure with gains, worth (topic, label)."""

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
    """Return gains for GAP: over the top label's, 0 for the lowest; and whether they decrease anywhere -> (set,)."""
    falling = (np.diff(gains, axis=1) < 0).any(axis=1) | (gains[:, -1] <= 0)
    q = gains / np.where(gains[:, -1:] > 0, gains[:, -1:], 1.0)
    q[:, 0] = 0.0
    return q, falling


def _columns(
    measures: Sequence[Measure], labels: Judgments, gains: Mapping[str, GainsLike], relevant: str | None
) -> list[_Column]:
    """Combine every measure with every gains; AP with binary gains only."""
    shape = (len(labels.items.topics), len(labels.scale))
    gains = {} if all(isinstance(each, AP) for each in measures) else gains
    fitted = leave_one_topic_out(
        [each for each in gains.values() if isinstance(each, str) and names_model(each)], labels
    )
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
                f"{measure}: expectations over orders are implemented for AP, GAP and nDCG with log2 or zipf discount",
                hint="for example GAP, nDCG@20 or nDCG(dcg=zipf)",
            )
        columns += [_Column(measure, name, np.broadcast_to(worth, shape)) for name, worth in here.items()]
    return columns


def _named(gains: Sequence[GainsLike] | Mapping[str, GainsLike] | None, labels: Judgments) -> Mapping[str, GainsLike]:
    """Return gains by name; models are fitted later, for each topic."""
    if isinstance(gains, Mapping):
        return gains
    top = labels.scale.labels[-1]
    usual = ("exponential", "linear", "udm:1/2", "udm:1/3", "udm:1/4", f"prm:{top}")
    asked = usual if gains is None else gains
    named = {each if isinstance(each, str) else gains_for(each, labels.scale).name: each for each in asked}
    if len(named) < len(asked):
        raise SettingError("two of the gains have the same name", hint="name them: {name: gains}")
    return named


def _rows(values: Floats, sets: DoubleJudgments, column: _Column) -> list[RankCorrelation]:
    """Return mean and standard deviation over topics, of all pairs of assessors together and of each directed pair."""
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
    what: dict[str, Any] = {"between": "sets", "measure": str(column.measure), "gains": column.gains}
    return RankCorrelation(**what, a=a, b=b, value=value, low=low, high=high, topics=n, sd=sd)
