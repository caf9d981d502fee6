r"""Contextual cumulative gain: CCG, CCGsingle, nCCG.

.. math::
    CCG@k = \sum_{i=1}^{k} \frac{1}{\log_2(i+1)} \sum_{j=1}^{i} u_j
          = \sum_{j=1}^{k} u_j \sum_{i=j}^{k} \frac{1}{\log_2(i+1)}, \qquad
    u_j = (1 - \alpha)\, g(d_j) + \alpha\, g(d_j | d_{j-1})

Golbus et al. (2014), doi:10.1145/2566486.2568015, Eq. (6), with the index j inside the inner sum, as the text of
Section 3.3.2 has it (printed: i).  A user stops at rank i with a chance proportional to 1 / log2(i + 1), and has gained
what stands up to there.  Eq. (7), which the paper calls the same, is another measure, CCGsingle:

.. math:: CCGsingle@k = \sum_{i=1}^{k} (k - i + 1) \frac{u_i}{\log_2(i+1)}

For utilities 3, 1, 2, 0, 1 they are 13.8157 and 20.9106.  Ranks without a document count as worth nothing, so a list
that ends before rank k does not score less than the same list filled up with worthless documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.data.align import Ranked
from venire.errors import MeasureError
from venire.kernels.ranking import discounted, share
from venire.measures.dcg import log2
from venire.measures.measure import ContextMeasure, OverUsers, require_ideal
from venire.types import Floats, Ints


@dataclass(frozen=True)
class CCG(ContextMeasure):
    """Contextual cumulative gain by Eq. (6): what users have gained by the rank at which they stop."""

    @property
    def mean_over_users(self) -> OverUsers:
        """Always: it is linear in the gains."""
        return "always"

    def __post_init__(self) -> None:
        """Insist on a cut-off."""
        super().__post_init__()
        if self.k is None:
            name = type(self).__name__
            raise MeasureError(f"{name} needs a cut-off", hint=f"write {name}(alpha=0.5)@5")

    def by_rank(self, depth: int) -> Floats:
        """Weight of the utility at ranks 1..depth -> (depth,)."""
        return log2(np.arange(1, depth + 1))[::-1].cumsum()[::-1]

    def weights(self, rank: Ints) -> Floats:
        """Return the weight of the utility at each rank, 0 beyond k; same shape."""
        depth = self.k or 1
        return np.append(self.by_rank(depth), 0.0)[np.minimum(rank, depth + 1) - 1]

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        seen = ranked.upto(self.k)
        return discounted(seen.gains, self.weights(seen.rank))


@dataclass(frozen=True)
class CCGsingle(CCG):
    """The single sum of Eq. (7): each discounted utility counts for every rank from its own to k."""

    def by_rank(self, depth: int) -> Floats:
        """Weight of the utility at ranks 1..depth -> (depth,)."""
        return np.arange(depth, 0, -1.0) * log2(np.arange(1, depth + 1))


@dataclass(frozen=True)
class nCCG(CCG):  # noqa: N801 - spelled as nDCG is
    """CCG as a share of what the best order of the topic's judged documents would have."""

    mean_over_users = "never"

    @property
    def best_depth(self) -> int | None:
        """Return the cut-off."""
        return self.k

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the CCG of the best ranking."""
        return CCG.__call__(self, best)

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        return share(super().__call__(ranked), require_ideal(ranked.ideal))
