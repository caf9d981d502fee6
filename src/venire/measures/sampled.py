r"""Average precision from a sample of judgments: infAP and statAP.

infAP (Yilmaz and Aslam 2006, doi:10.1145/1183614.1183633) is for a uniform sample of a pool.  Documents of the pool
that were not drawn are in the judgments without a label: a negative grade in qrels.  The expected precision at a
relevant document of rank r, with n documents of the pool above it, s of them relevant and t irrelevant, is

.. math:: \frac1r + \frac{n}{r} \cdot \frac{s + \epsilon}{s + t + 2 \epsilon}, \qquad \epsilon = 10^{-5}

infAP is its mean over the judged relevant documents, as in trec_eval; those that were not retrieved have precision 0.

For a pool that was sampled by strata, with a uniform sample of each, infAP is that of Yilmaz, Kanoulas and Aslam 2008
(doi:10.1145/1390334.1390437), where it is called xinfAP.  A stratum is the documents of a topic with the same
``probability`` (``strata``).  Let stratum h have :math:`N_h` documents, :math:`m_h` of them judged, and let n, s and t
with an index h count documents of this stratum.  A judged relevant document stands for :math:`N_h / m_h`, so that

.. math::
    \mathrm{infAP} = \frac{1}{\hat R} \sum_{d\ \text{relevant}} \frac{N_{h(d)}}{m_{h(d)}} \cdot \frac{1}{r_d} \Big(1 +
        \sum_h n_h \frac{s_h + \epsilon}{s_h + t_h + 2 \epsilon}\Big),
    \qquad \hat R = \sum_{d\ \text{relevant}} \frac{N_{h(d)}}{m_{h(d)}}

This is the mean of the expected precision over the relevant documents of each stratum, averaged over strata with the
estimated numbers of their relevant documents as weights.  With one stratum the weights cancel, and it is the formula
above.  Documents outside the pool count as irrelevant.

The formula is that of sample_eval.pl, the tool of TREC tracks, with these differences; it was not checked against the
text of the paper.  The tool adds :math:`3 \epsilon` to the number of judged documents, so that where a stratum has
documents above, but none of them judged, 1/3 of them count as relevant; here 1/2, as in trec_eval.  It leaves a stratum
without a judged document out of :math:`\hat R`; here this is an error.  It ends lists at rank 1000, and its version for
TRECVID divides by at most 1000.

statAP is for documents that are drawn with different known probabilities :math:`\pi`, the column ``probability`` of
judgments.  It estimates the sum of precisions and the number of relevant documents from the sample, and divides (after
Pavlu and Aslam 2007, *A practical sampling strategy for efficient retrieval evaluation*, and Carterette et al. 2008,
doi:10.1145/1390334.1390445); the formula is that of statAP_MQ_eval_v4.pl, the tool of the Million Query track.  With
:math:`w = g / \pi` of judged documents and 0 for others,

.. math::
    \mathrm{statAP} = \frac{1}{\hat R} \sum_r \frac{w_r}{r} \Big(1 + \sum_{j<r} w_j\Big),
    \qquad \hat R = \sum_{\text{judged}} w

In the precision at its own rank, a relevant document counts 1, not :math:`1 / \pi`: that precision is used only if the
document was drawn, so that a second weight would overestimate it.  Two documents are taken to be drawn together with
the probability :math:`\pi_j \pi_r`.  If they are drawn independently, numerator and denominator are both unbiased
(Horvitz and Thompson 1952, doi:10.1080/01621459.1952.10483446).  In a sample of fixed size, or by strata, joint
probabilities are others; they are not used, and the numerator is then unbiased only approximately.  The ratio may
exceed 1, and has a bias that falls with the number of sampled relevant documents: -0.03, -0.01 and -0.003 with 11, 21
and 38 of them in ``tests/simulation/test_sampled_measures.py``, where AP is 0.69.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from venire.data.gains import Gains
from venire.measures.measure import NOWHERE, BinaryMeasure, CountsRelevant, Ranked, Worth, require_ideal, share
from venire.measures.precision import AP, before
from venire.types import Bools, Floats, Ints

SMOOTHING = 1e-5
"""What is added to the counts of judged documents above, as in trec_eval."""


@dataclass(frozen=True)
class infAP(CountsRelevant, BinaryMeasure):  # noqa: N801 - the field's spelling
    """Inferred average precision, from a uniform sample of a pool, or of each of its strata."""

    of_sample: ClassVar[bool] = True
    of_pool: ClassVar[bool] = True

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Relevance of each label, to be multiplied by the weight of its stratum."""
        return super().worth(gains, unjudged)._replace(stratified=True)

    def _score(self, seen: Ranked) -> Floats:
        relevance, stratum = seen.gains, None
        if seen.strata is not None:
            stratum = seen.strata.number
            relevance = seen.gains / seen.strata.weight[stratum]
        precision = inferred_precisions(relevance, seen.rank, seen.judged, stratum)
        return share((seen.gains * precision).sum(axis=-1), require_ideal(seen))


@dataclass(frozen=True)
class statAP(AP):  # noqa: N801 - the field's spelling
    """Average precision estimated from documents that were sampled with known probabilities."""

    of_sample: ClassVar[bool] = True

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Relevance of each label, to be divided by the probability of the sample."""
        return super().worth(gains, unjudged)._replace(sampled=True)


def inferred_precisions(relevance: Floats, rank: Ints, judged: Bools, stratum: Ints | None = None) -> Floats:
    """Precision expected at each rank if its document is relevant -> same shape as relevance.

    Slots without a label are of the pool.  stratum (judge, list, slot): of each slot; None if the pool is one stratum.
    Cost: O(slots), and a sort of the slots of each list where there are strata.
    """
    pooled = np.broadcast_to((rank < NOWHERE).astype(np.float64), relevance.shape)
    counts = pooled, relevance, np.where(judged, 1 - relevance, 0.0)
    if stratum is None:
        return (1 + _expected(*map(before, counts))) / rank
    order = np.argsort(stratum, axis=-1, kind="stable")
    ordered = np.take_along_axis(stratum, order, axis=-1)
    start = np.diff(ordered, axis=-1, prepend=-1) != 0
    first = np.maximum.accumulate(np.where(start, np.arange(start.shape[-1]), 0), axis=-1)
    above, upto = [], []
    for count in counts:
        own = np.take_along_axis(count, order, axis=-1)
        earlier = before(own)
        above.append(earlier - np.take_along_axis(earlier, first, axis=-1))
        upto.append(above[-1] + own)
    added = np.empty(relevance.shape)
    np.put_along_axis(added, order, _expected(*upto) - _expected(*above), axis=-1)
    return (1 + before(added)) / rank


def _expected(pooled: Floats, relevant: Floats, other: Floats) -> Floats:
    """Relevant documents expected among those of the pool, by those that were judged."""
    return pooled * (relevant + SMOOTHING) / (relevant + other + 2 * SMOOTHING)
