r"""Set measures: P, R, Success, Rprec, and the share of judged documents.

With probabilities of relevance g (binary labels are 0 and 1):

.. math::
    P@k = \frac1k \sum_{r \le k} g_r \qquad
    R@k = \frac1R \sum_{r \le k} g_r \qquad
    \mathrm{Success}@k = 1 - \prod_{r \le k} (1 - g_r) \qquad R = \sum_{\text{judged}} g

P and Success are expectations over users (Success for independent relevances).  R@k and Rprec are ratios of
expectations.  Rprec is the precision at rank R; the rank that a fraction of R reaches into counts in part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.data.align import NOWHERE, Ranked
from venire.errors import MeasureError
from venire.kernels.ranking import any_relevant, share
from venire.measures.measure import BinaryMeasure, Measure, relevant_count, require_ideal
from venire.types import Floats


@dataclass(frozen=True)
class P(BinaryMeasure):
    """Precision: the share of relevant documents among the first k; ranks without a document count as irrelevant."""

    mean_over_users = "always"

    def __post_init__(self) -> None:
        """Insist on a cut-off."""
        super().__post_init__()
        if self.k is None:
            raise MeasureError("P needs a cut-off", hint="write P@10")

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        return ranked.upto(self.k).gains.sum(axis=-1) / float(self.k or 1)


@dataclass(frozen=True)
class R(BinaryMeasure):
    """Recall: the share of a topic's relevant documents that stand among the first k."""

    counts_relevant = True

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the number of relevant documents."""
        return relevant_count(best)

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        return share(ranked.upto(self.k).gains.sum(axis=-1), require_ideal(ranked.ideal))


@dataclass(frozen=True)
class Success(BinaryMeasure):
    """Whether there is a relevant document among the first k."""

    mean_over_users = "independent"

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        return any_relevant(ranked.upto(self.k).gains)


@dataclass(frozen=True)
class Rprec(BinaryMeasure):
    """Precision at the rank R, the number of relevant documents."""

    counts_relevant = True

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the number of relevant documents."""
        return relevant_count(best)

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        relevant = require_ideal(ranked.ideal)
        seen = ranked.upto(self.k)
        inside = np.clip(relevant[..., None] - (seen.rank - 1), 0, 1)
        return share((seen.gains * inside).sum(axis=-1), relevant)


@dataclass(frozen=True)
class Judged(Measure):
    """The share of the first k documents that were judged; of a shorter list, of those it has."""

    mean_over_users = "always"

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        reach = np.minimum(ranked.depth, self.k or NOWHERE).astype(np.float64)
        return share(ranked.upto(self.k).judged.sum(axis=-1).astype(np.float64), reach)
