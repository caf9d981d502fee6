r"""bpref: how often judged irrelevant documents stand above relevant ones; unjudged documents play no part.

.. math:: bpref = \frac1R \sum_r g_r \Big(1 - \frac{\min(n_r, R)}{\min(R, N)}\Big), \qquad
    n_r = \sum_{j<r,\ \text{judged}} (1 - g_j), \quad R = \sum_{\text{judged}} g, \quad N = \sum_{\text{judged}} (1 - g)

Buckley and Voorhees (2004), doi:10.1145/1008992.1009000, in the form of trec_eval.  With probabilities of relevance g,
each document is relevant and irrelevant in part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.data.align import Ranked
from venire.kernels.ranking import preferred, share
from venire.measures.measure import BinaryMeasure, require_ideal
from venire.types import Floats


@dataclass(frozen=True)
class bpref(BinaryMeasure):  # noqa: N801 - the field's spelling
    """Binary preference."""

    counts_relevant = True

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the numbers of relevant and of judged irrelevant documents."""
        relevant = best.gains.sum(axis=-1)
        return np.stack([relevant, best.judged.sum(axis=-1) - relevant], axis=-1)

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        relevant, other = np.moveaxis(require_ideal(ranked.ideal), -1, 0)
        seen = ranked.upto(self.k)
        return share(preferred(seen.gains, seen.judged, relevant, other), relevant)
