"""The model of users: what the labels of the judge are worth to other people, learnt where users look.

p(R|i) is one-sided (Demeester et al. 2015, doi:10.1007/s10791-015-9275-x, Eq. 4): first the label of the judge, whose
labels score the runs, then that of anybody else, or of those who stand for users.  So it does not matter which results
were given to a second assessor because of their first label.

It is learnt on results that some system returns among its first ones.  Results with one label are better there than in
the depth of the pool, and it is there that users meet them (Section 6.1 of the paper): learnt on a whole pool, p(R|i)
promises too little.  Where too few of the first results were judged twice, the whole pool has to do.
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
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.disagreement.top_results import labels_to_fit
from venire.errors import FewPairsWarning, PoolFitWarning
from venire.report.question import Missing, or_missing
from venire.types import Bools

SECOND = "have some of the results judged by a second assessor"


@dataclass(frozen=True, eq=False)
class UserModel:
    """Labels to learn from, and whose come first and second; ``top``: of so many first results (None: of the pool)."""

    judgments: Judgments
    observed: str
    reference: tuple[str, ...]
    top: int | None
    rng: int

    def fit(self, relevant: str) -> PredictedRelevanceFit | Missing:
        """Estimate p(R|i); relevant: a label from which on a user is satisfied, or "all"."""
        model = PredictedRelevance(
            relevant=relevant, estimator="one-sided", observed=[self.observed], reference=self.reference
        )
        found = or_missing(lambda: model.fit(self.judgments, rng=self.rng))
        return Missing(found.reason, SECOND) if isinstance(found, Missing) else found


def user_model(
    judgments: Judgments, runs: Runs, judge: str, *, reference: tuple[str, ...], top: int, rng: int
) -> UserModel:
    """Settle what is learnt from: first results, if enough of them were judged twice, or the whole pool."""
    model = PredictedRelevance(estimator="one-sided", observed=[judge], reference=reference)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolFitWarning)
        chosen = or_missing(lambda: labels_to_fit(judgments, runs, top=top, model=model))
    if isinstance(chosen, Missing):
        return UserModel(judgments, judge, reference, None, rng)
    return UserModel(chosen.judgments, judge, reference, chosen.top, rng)


@contextmanager
def few_pairs_told() -> Iterator[None]:
    """Do not warn of labels with few pairs: the report says it beside their numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewPairsWarning)
        yield


def modelled_gains(fit: PredictedRelevanceFit, given: Bools) -> dict[str, Gains] | Missing:
    """Gains by both models, by name, a label nobody gave lying between its neighbours; given (label,)."""
    whole = filled(fit, given)
    with few_pairs_told():
        found = or_missing(lambda: {f"prm:{fit.relevant.names[0]}": whole.gains(), "udm:1/2": whole.udm_gains((1, 2))})
    return Missing(found.reason, SECOND) if isinstance(found, Missing) else found


def filled(fit: PredictedRelevanceFit, given: Bools) -> PredictedRelevanceFit:
    """Fill what is unknown of labels nobody gave: 0 for the lowest, else from the labels around; given (label,)."""
    p = fit.spread.p.copy()
    for row in p:
        empty = np.isnan(row) & ~given
        if empty[0]:
            row[0] = 0.0
        there = np.flatnonzero(~np.isnan(row))
        row[empty] = np.interp(np.flatnonzero(empty), there, row[there])
    return replace(fit, spread=fit.spread._replace(p=p))
