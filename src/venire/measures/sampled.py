r"""Average precision from a sample of judgments: infAP and statAP.

infAP (Yilmaz and Aslam 2006, doi:10.1145/1183614.1183633) is for a uniform sample of a pool.  Documents of the pool
that were not drawn are in the judgments without a label: a negative grade in qrels.  The expected precision at a
relevant document of rank r, with n documents of the pool above it, s of them relevant and t irrelevant, is

.. math:: \frac1r + \frac{n}{r} \cdot \frac{s + \epsilon}{s + t + 2 \epsilon}, \qquad \epsilon = 10^{-5}

infAP is its mean over the judged relevant documents, as in trec_eval; those that were not retrieved have precision 0.

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
    """Inferred average precision, from a uniform sample of a pool."""

    of_sample: ClassVar[bool] = True
    of_pool: ClassVar[bool] = True

    def _score(self, seen: Ranked) -> Floats:
        return share(inferred_precisions(seen.gains, seen.rank, seen.judged), require_ideal(seen))


@dataclass(frozen=True)
class statAP(AP):  # noqa: N801 - the field's spelling
    """Average precision estimated from documents that were sampled with known probabilities."""

    of_sample: ClassVar[bool] = True

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Relevance of each label, to be divided by the probability of the sample."""
        return super().worth(gains, unjudged)._replace(sampled=True)


def inferred_precisions(gains: Floats, rank: Ints, judged: Bools) -> Floats:
    """Sum over relevant documents of the expected precision at their rank; slots without a label are of the pool."""
    relevant, other = before(gains), before(np.where(judged, 1 - gains, 0.0))
    pooled = before((rank < NOWHERE).astype(np.float64))
    precision = (1 + pooled * (relevant + SMOOTHING) / (relevant + other + 2 * SMOOTHING)) / rank
    return (gains * precision).sum(axis=-1)
