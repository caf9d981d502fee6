r"""Average precision and its graded kin: AP, GAP, Q.

With probabilities of relevance g, AP is the expected sum of precisions at relevant documents over the expected
number of relevant documents, for independent relevances (a ratio of expectations, not the expectation of AP):

.. math:: AP = \frac{1}{R} \sum_r \frac{g_r}{r} \Big(1 + \sum_{j<r} g_j\Big), \qquad R = \sum_{\text{judged}} g

GAP (Robertson et al. 2010, doi:10.1145/1835449.1835550) in the form of Demeester et al. (2014), Eq. (7), with q the
gain of a label divided by that of the top label and q = 0 for the lowest label.  The paper counts R_i over the result
list; a list that misses two of three top results would then score 1, so the sum goes over all judged documents of the
topic:

.. math:: GAP = \frac{\sum_k \frac1k \sum_{l \le k} \min(q_l, q_k)}{\sum_{\text{judged}} q}

Q (Sakai 2004) blends precision with normalised cumulative gain; cg* is that of the best ranking, R the number of
documents with gain:

.. math:: Q@k = \frac{1}{\min(R, k)} \sum_{r \le k : g_r > 0} \frac{C(r) + \beta\, cg(r)}{r + \beta\, cg^*(r)}

At a cut-off it is divided by min(R, k), as NTCIREVAL does, so that the best ranking scores 1.  AP@k is divided by R, as
trec_eval does, so that it does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.data.align import NOWHERE, Ranked
from venire.data.gains import Gains
from venire.errors import GainsError
from venire.kernels.ranking import blended_ratios, graded_precisions, precisions, share
from venire.measures.measure import BinaryMeasure, Measure, Worth, relevant_count, require_ideal
from venire.types import Floats


@dataclass(frozen=True)
class AP(BinaryMeasure):
    """Average precision."""

    counts_relevant = True

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the number of relevant documents."""
        return relevant_count(best)

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        seen = ranked.upto(self.k)
        return share(precisions(seen.gains, seen.rank), require_ideal(ranked.ideal))


@dataclass(frozen=True)
class GAP(Measure):
    """Graded average precision: AP for a user whose threshold of relevance is drawn at random."""

    counts_relevant = True

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Return q: gains over the top label's, 0 for labels without a linear gain; they must not fall."""
        if (np.diff(gains.values) < 0).any() or not gains.scale.ordered or gains.values[-1] <= 0:
            raise GainsError(
                f"GAP needs gains that rise with the labels, up to more than 0, and {gains!r} do not",
                hint="merge labels that are out of order, or use another measure",
            )
        q = gains.values / gains.values[-1]
        return Worth(np.where(gains.scale.steps() > 0, q, 0.0), unjudged / float(gains.values[-1]))

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the expected number of relevant documents."""
        return relevant_count(best)

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        seen = ranked.upto(self.k)
        return share(graded_precisions(seen.gains, seen.rank), require_ideal(ranked.ideal))


@dataclass(frozen=True)
class Q(Measure):
    """Sakai's Q-measure; beta 0 makes it average precision."""

    beta: float = 1.0
    counts_relevant = True

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the cumulative gain of the best ranking at every rank."""
        return best.gains.cumsum(axis=-1)

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        ideal = require_ideal(ranked.ideal)
        relevant = (np.diff(ideal, axis=-1, prepend=0.0) > 0).sum(axis=-1)
        seen = ranked.upto(self.k)
        within = np.minimum(relevant, self.k or NOWHERE).astype(np.float64)
        return share(blended_ratios(seen.gains, seen.rank, ideal, self.beta), within)
