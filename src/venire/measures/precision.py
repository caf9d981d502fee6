r"""Precision and recall: P, R, Success, Rprec, Judged; average precision: AP, GAP, Q; and bpref.

With probabilities of relevance g (binary labels are 0 and 1):

.. math::
    P@k = \frac1k \sum_{r \le k} g_r \qquad
    R@k = \frac1R \sum_{r \le k} g_r \qquad
    \mathrm{Success}@k = 1 - \prod_{r \le k} (1 - g_r) \qquad R = \sum_{\text{judged}} g

P and Success are expectations over users (Success for independent relevances).  R@k and Rprec are ratios of
expectations.  Rprec is the precision at rank R; the rank that a fraction of R reaches into counts in part.

AP is the expected sum of precisions at relevant documents over the expected number of relevant documents, for
independent relevances (a ratio of expectations, not the expectation of AP):

.. math:: AP = \frac{1}{R} \sum_r \frac{g_r}{r} \Big(1 + \sum_{j<r} g_j\Big)

GAP (Robertson et al. 2010, doi:10.1145/1835449.1835550) in the form of Demeester et al. (2014), Eq. (7), with q the
gain of a label divided by that of the top label and q = 0 for the lowest label.  The paper counts R_i over the result
list; a list that misses two of three top results would then score 1, so the sum is over all judged documents of the
topic:

.. math:: GAP = \frac{\sum_k \frac1k \sum_{l \le k} \min(q_l, q_k)}{\sum_{\text{judged}} q}

Q (Sakai 2004) blends precision with normalised cumulative gain; cg* is that of the best ranking, R the number of
documents with gain:

.. math:: Q@k = \frac{1}{\min(R, k)} \sum_{r \le k : g_r > 0} \frac{C(r) + \beta\, cg(r)}{r + \beta\, cg^*(r)}

At a cut-off it is divided by min(R, k), as NTCIREVAL does, so that the best ranking scores 1.  AP@k is divided by R, as
trec_eval does, so that it does not.

bpref (Buckley and Voorhees 2004, doi:10.1145/1008992.1009000, in the form of trec_eval) counts judged irrelevant
documents above relevant ones; with probabilities of relevance, each document is relevant and irrelevant in part:

.. math:: bpref = \frac1R \sum_r g_r \Big(1 - \frac{\min(n_r, R)}{\min(R, N)}\Big), \qquad
    n_r = \sum_{j<r,\ \text{judged}} (1 - g_j), \quad N = \sum_{\text{judged}} (1 - g)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.data.gains import Gains
from venire.errors import GainsError, MeasureError
from venire.measures.measure import NOWHERE, BinaryMeasure, CountsRelevant, Measure, Ranked, Worth, require_ideal, share
from venire.types import Bools, Floats, Ints


@dataclass(frozen=True)
class P(BinaryMeasure):
    """Precision: the share of relevant documents among the first k; ranks without a document count as irrelevant."""

    mean_over_users = "always"

    def __post_init__(self) -> None:
        """Require a cut-off."""
        super().__post_init__()
        if self.k is None:
            raise MeasureError("P needs a cut-off", hint="write P@10")

    def _score(self, seen: Ranked) -> Floats:
        return seen.gains.sum(axis=-1) / float(self.k or 1)


@dataclass(frozen=True)
class R(CountsRelevant, BinaryMeasure):
    """Recall: the share of a topic's relevant documents that are among the first k."""

    def _score(self, seen: Ranked) -> Floats:
        return share(seen.gains.sum(axis=-1), require_ideal(seen))


@dataclass(frozen=True)
class Success(BinaryMeasure):
    """Whether there is a relevant document among the first k."""

    mean_over_users = "independent"

    def _score(self, seen: Ranked) -> Floats:
        return any_relevant(seen.gains)


@dataclass(frozen=True)
class Rprec(CountsRelevant, BinaryMeasure):
    """Precision at the rank R, the number of relevant documents."""

    def _score(self, seen: Ranked) -> Floats:
        relevant = require_ideal(seen)
        inside = np.clip(relevant[..., None] - (seen.rank - 1), 0, 1)
        return share((seen.gains * inside).sum(axis=-1), relevant)


@dataclass(frozen=True)
class Judged(Measure):
    """The share of the first k documents that were judged; of a shorter list, of those it has."""

    mean_over_users = "always"

    def _score(self, seen: Ranked) -> Floats:
        reach = np.minimum(seen.depth, self.k or NOWHERE).astype(np.float64)
        return share(seen.judged.sum(axis=-1).astype(np.float64), reach)


@dataclass(frozen=True)
class AP(CountsRelevant, BinaryMeasure):
    """Average precision."""

    def _score(self, seen: Ranked) -> Floats:
        return share(precisions(seen.gains, seen.rank), require_ideal(seen))


@dataclass(frozen=True)
class GAP(CountsRelevant):
    """Graded average precision: AP for a user whose threshold of relevance is drawn at random."""

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Return q: gains over the top label's, 0 for labels without a linear gain; they must not decrease."""
        if (np.diff(gains.values) < 0).any() or not gains.scale.ordered or gains.values[-1] <= 0:
            message = f"GAP needs gains that increase with the labels, up to more than 0, and {gains!r} do not"
            raise GainsError(message, hint="merge labels that are out of order, or use another measure")
        q = gains.values / gains.values[-1]
        return Worth(np.where(gains.scale.steps() > 0, q, 0.0), unjudged / float(gains.values[-1]))

    def _score(self, seen: Ranked) -> Floats:
        return share(graded_precisions(seen.gains, seen.rank), require_ideal(seen))


@dataclass(frozen=True)
class Q(Measure):
    """Sakai's Q-measure; beta 0 makes it average precision."""

    beta: float = 1.0
    counts_relevant = True

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the cumulative gain of the best ranking at every rank."""
        return best.gains.cumsum(axis=-1)

    def _score(self, seen: Ranked) -> Floats:
        ideal = require_ideal(seen)
        relevant = (np.diff(ideal, axis=-1, prepend=0.0) > 0).sum(axis=-1)
        within = np.minimum(relevant, self.k or NOWHERE).astype(np.float64)
        return share(blended_ratios(seen.gains, seen.rank, ideal, self.beta), within)


@dataclass(frozen=True)
class bpref(BinaryMeasure):  # noqa: N801 - the field's spelling
    """Binary preference: the share of judged irrelevant documents below each relevant one, on average."""

    counts_relevant = True

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the numbers of relevant and of judged irrelevant documents."""
        relevant = best.gains.sum(axis=-1)
        return np.stack([relevant, best.judged.sum(axis=-1) - relevant], axis=-1)

    def _score(self, seen: Ranked) -> Floats:
        relevant, other = np.moveaxis(require_ideal(seen), -1, 0)
        return share(preferred(seen.gains, seen.judged, relevant, other), relevant)


def any_relevant(gains: Floats) -> Floats:
    """Probability that at least one document is relevant."""
    return 1 - (1 - gains).prod(axis=-1)


def before(values: Floats) -> Floats:
    """Sum of the values at better ranks -> same shape."""
    return values.cumsum(axis=-1) - values


def precisions(gains: Floats, rank: Ints) -> Floats:
    """Sum over relevant documents of the precision at their rank: sum_r g_r (1 + sum_{j<r} g_j) / r.

    For independent relevances with probabilities g this is the expectation of that sum.
    """
    return (gains * (1 + before(gains)) / rank).sum(axis=-1)


def preferred(gains: Floats, judged: Bools, relevant: Floats, other: Floats) -> Floats:
    """Sum over relevant documents of 1 - min(judged irrelevant above, R) / min(R, N); relevant R, other N (...)."""
    above = before(np.where(judged, 1 - gains, 0.0))
    bound = np.minimum(relevant, other)[..., None]
    return (gains * (1 - share(np.minimum(above, relevant[..., None]), bound))).sum(axis=-1)


def graded_precisions(gains: Floats, rank: Ints) -> Floats:
    """Sum over ranks k of (1/k) sum_{l<=k} min(g_l, g_k), by thresholds: one pass per distinct gain."""
    total = np.zeros(gains.shape[:-1])
    lower = 0.0
    for threshold in np.unique(gains[gains > 0]).tolist():
        total += (threshold - lower) * precisions((gains >= threshold).astype(np.float64), rank)
        lower = threshold
    return total


def blended_ratios(gains: Floats, rank: Ints, ideal: Floats, beta: float) -> Floats:
    """Sum over documents with gain of (count + beta cg) / (rank + beta ideal cg at that rank); ideal (..., rank)."""
    relevant = (gains > 0).astype(np.float64)
    reached = np.minimum(np.broadcast_to(rank, gains.shape), ideal.shape[-1]) - 1
    best = np.take_along_axis(np.broadcast_to(ideal, (*gains.shape[:-1], ideal.shape[-1])), reached, axis=-1)
    ratio = (relevant.cumsum(axis=-1) + beta * gains.cumsum(axis=-1)) / (rank + beta * best)
    return (relevant * ratio).sum(axis=-1)
