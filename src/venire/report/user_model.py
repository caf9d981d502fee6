"""The model of users of a report, and the gains by it.

The model of users is p(R|i), the probability that another person finds a result with label i relevant.  It is one-sided
(Demeester et al. 2015, doi:10.1007/s10791-015-9275-x, Eq. 4): the first label is that of the judge who scores the runs,
the second that of any other assessor, or of a reference assessor.  So it does not matter whether results were selected
for a second judgment because of their first label.  It is learnt on first results of some system.  Results with the
same label are better there than deep in the pool, and users see these (Section 6.1 of the paper): on a whole pool,
p(R|i) is too low.  If too few first results were judged twice, the whole pool is used.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from venire.data.gains import Gains
from venire.data.judgments import Judgments
from venire.data.runs import Runs
from venire.disagreement.pooled_pairs import pooled_pairs
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.disagreement.top_results import labels_to_fit
from venire.errors import FewPairsWarning, PoolFitWarning
from venire.report.question import Missing, or_missing
from venire.types import Bools

SECOND = "have some of the results judged by a second assessor"


@dataclass(frozen=True, eq=False)
class UserModel:
    """Labels to learn from, and whose are first and second; ``top``: of so many first results (None: of the pool)."""

    judgments: Judgments
    observed: str
    reference: tuple[str, ...]
    top: int | None
    rng: int

    def fit(self, relevant: str) -> PredictedRelevanceFit | Missing:
        """Estimate p(R|i); relevant: the lowest relevant label, or "all" thresholds."""
        model = PredictedRelevance(
            relevant=relevant, estimator="one-sided", observed=[self.observed], reference=self.reference
        )
        found = or_missing(lambda: model.fit(self.judgments, rng=self.rng))
        return Missing(found.reason, SECOND) if isinstance(found, Missing) else found


def user_model(
    judgments: Judgments, runs: Runs, judge: str, *, reference: tuple[str, ...], top: int, rng: int
) -> UserModel:
    """Choose the labels to learn from: first results, if enough of them were judged twice, or the whole pool."""
    model = PredictedRelevance(estimator="one-sided", observed=[judge], reference=reference)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolFitWarning)
        chosen = or_missing(lambda: labels_to_fit(judgments, runs, top=top, model=model))
    if isinstance(chosen, Missing):
        return UserModel(judgments, judge, reference, None, rng)
    return UserModel(chosen.judgments, judge, reference, chosen.top, rng)


def crowd_model(workers: Judgments, runs: Runs, judge: str, *, top: int, rng: int) -> UserModel:
    """Pair the label of each worker with that of the others: on first results, if enough were judged twice, or all."""
    any_two = PredictedRelevance()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolFitWarning)
        chosen = or_missing(lambda: labels_to_fit(workers, runs, top=top, model=any_two))
    labels, depth = (workers, None) if isinstance(chosen, Missing) else (chosen.judgments, chosen.top)
    return UserModel(pooled_pairs(labels, judge), judge, (), depth, rng)


@contextmanager
def without_few_pairs_warning() -> Iterator[None]:
    """Suppress warnings of labels with few pairs, which the report has as notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewPairsWarning)
        yield


def modelled_gains(fit: PredictedRelevanceFit, given: Bools) -> dict[str, Gains] | Missing:
    """Return the gains of both models by name, interpolated for labels that nobody gave; given (label,)."""
    whole = filled(fit, given)
    with without_few_pairs_warning():
        found = or_missing(lambda: {f"prm:{fit.relevant.names[0]}": whole.gains(), "udm:1/2": whole.udm_gains((1, 2))})
    return Missing(found.reason, SECOND) if isinstance(found, Missing) else found


def filled(fit: PredictedRelevanceFit, given: Bools) -> PredictedRelevanceFit:
    """Fill in p(R|i) of labels that nobody gave: 0 for the lowest, else interpolated; given (label,)."""
    p = fit.spread.p.copy()
    for row in p:
        empty = np.isnan(row) & ~given
        if empty[0]:
            row[0] = 0.0
        known = np.flatnonzero(~np.isnan(row))
        row[empty] = np.interp(np.flatnonzero(empty), known, row[known])
    return replace(fit, spread=fit.spread._replace(p=p))
