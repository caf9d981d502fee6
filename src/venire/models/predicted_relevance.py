r"""Predicted relevance: what one assessor's label tells about a random user.

Demeester et al. (2015), Information Retrieval Journal, doi:10.1007/s10791-015-9275-x.  Symbols, and where they live:

    i          the label that one assessor gave                      axis ``label``
    R          the labels with which a user is satisfied             axis ``relevant``
    p(R|i)     P(a random user is satisfied | i)     Eqs. (4), (5)   ``PredictedRelevanceFit.p``
    N_N, N_D   numerator and denominator of these                    ``hits``, ``pairs``

.. math:: p_{R|i} = \frac{N_{U_1=R,U_2=i} + N_{U_2=R,U_1=i}}{N_{U_2=i} + N_{U_1=i}} \qquad (5)

The same pairs serve the User Disagreement Model (``user_disagreement``).  Departures: items with more than two labels
count all ordered pairs of distinct assessors; a Dirichlet prior may keep p off 0 and 1 where pairs are few; intervals
know that pairs of one item, and items of one topic, are not independent (``spread``).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.data.gains import Gains
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.errors import FewPairsWarning, GainsError, PairsError, SettingError, UnknownName
from venire.estimate import Estimate
from venire.kernels.resample import FEW_TOPICS
from venire.models.pairs import Pairs
from venire.models.relevance import Relevant, RelevantSets, relevant_sets
from venire.models.selection import safe_pairs
from venire.models.spread import FEW_PAIRS, LEVEL, Spread, n_topics_of, spread_of
from venire.models.user_disagreement import at_least, udm_weights
from venire.tabular import Records, Tabular
from venire.types import Floats, Ints, RNGLike


@dataclass(frozen=True, kw_only=True)
class PredictedRelevance:
    '''P(a random user is satisfied | the label one assessor gave): a setting, to be fitted on judgments.

    Parameters
    ----------
    relevant : a label (on an ordered scale, from it upwards), several ("Key|HRel"), "all" thresholds; None: the top
    estimator : "paired" (Eq. 5), "one-sided" (Eq. 4), "labels" (any number of labels); None: as the labels allow
    observed, reference : names of the assessors whose label is observed, and of those who stand for users
    weight : every pair of labels counts once ("pair"), or every item ("item")
    prior : weight of each label in a Dirichlet prior; 0 gives the paper's ratio
    n_draws : how often topics are resampled

    Examples
    --------
    >>> from venire import read_grid
    >>> fit = PredictedRelevance(relevant="2").fit(read_grid("""
    ...     2 2 1 1
    ...     1 2 1 0"""))
    >>> fit.hits.tolist(), fit.pairs.tolist()
    ([[0.0, 1.0, 2.0]], [[1.0, 4.0, 3.0]])
    '''

    relevant: Relevant = None
    estimator: str | None = None
    observed: Sequence[str] = ()
    reference: Sequence[str] = ()
    weight: str = "pair"
    prior: float = 0.0
    n_draws: int = 300

    def __post_init__(self) -> None:
        if not 0 <= self.prior < np.inf:
            raise SettingError(f"prior={self.prior}: expected a number from 0 on", hint="0 gives the plain ratio")
        if self.n_draws < 0:
            raise SettingError(f"{self.n_draws} resamples: expected 0 or more")

    def fit(self, judgments: Judgments, *, rank: Ints | None = None, rng: RNGLike = 0) -> PredictedRelevanceFit:
        """Count pairs of labels and estimate p(R|i) with its spread.  O(rows log rows + items x labels^2).

        rank : numbers by which runs treat items alike -> (item,), such as their best rank; None: no runs are at hand.
        """
        pairs = safe_pairs(
            judgments,
            estimator=self.estimator,
            observed=self.observed,
            reference=self.reference,
            weight=self.weight,
            rank=rank,
        )
        return self.fit_pairs(pairs, rng=rng)

    def fit_pairs(self, pairs: Pairs, *, rng: RNGLike = 0) -> PredictedRelevanceFit:
        """Estimate from pairs at hand."""
        relevant = relevant_sets(pairs.scale, self.relevant)
        sums = pairs.sums(relevant.labels)
        if not sums.by_topic.sum() > 0:
            raise PairsError(
                "no item has labels by two different assessors, so disagreement cannot be seen",
                hint=["have some items judged a second time", "name another --observed and --reference"],
            )
        spread = spread_of(
            sums, relevant.labels, prior=self.prior, n_draws=self.n_draws, rng=np.random.default_rng(rng)
        )
        setting = replace(self, estimator=pairs.estimator)
        return PredictedRelevanceFit(
            setting, pairs.scale, relevant, spread, sums.by_topic, n_topics_of(sums), pairs.topics
        )


@dataclass(frozen=True, eq=False)
class PredictedRelevanceFit(Tabular):
    """Estimates of p(R|i), arrays (relevant, label); counts of pairs by topic (topic, first, second).

    topics: names of the topics; empty in a fit that was saved, which holds the sums alone.
    """

    setting: PredictedRelevance
    scale: Scale
    relevant: RelevantSets
    spread: Spread
    by_topic: Floats
    n_topics: int
    topics: tuple[str, ...] = ()

    @property
    def p(self) -> Floats:
        """P(R|i) -> (relevant, label); NaN where a label has no pairs."""
        return self.spread.p

    @property
    def hits(self) -> Floats:
        """Pairs whose second label is relevant -> (relevant, label)."""
        return self.spread.hits

    @property
    def pairs(self) -> Floats:
        """Pairs by their first label -> (relevant, label)."""
        return self.spread.pairs

    @property
    def method(self) -> str:
        """How the intervals were had."""
        if self.setting.prior > 0:
            return f"posterior, prior {self.setting.prior:g} per label"
        if self.n_topics < 2:
            return "none, as all pairs of labels are of one topic"
        if self.n_topics < FEW_TOPICS or self.setting.n_draws < 2:
            return f"jackknife over {self.n_topics} topics"
        return f"bootstrap over {self.n_topics} topics, n={self.setting.n_draws}"

    def estimate(self, label: object, relevant: str | None = None) -> Estimate:
        """p(R|i) of one label with its interval."""
        row, level = self.row_of(relevant), self.scale.level_of(label)
        value, low, high = (float(each[row, level]) for each in (self.p, self.spread.low, self.spread.high))
        return Estimate(value, low, high, LEVEL, self.method)

    def row_of(self, relevant: str | None = None) -> int:
        """Which row answers for this notion of relevance; the first without a word on it."""
        if relevant is None:
            return 0
        if relevant not in self.relevant.names:
            raise UnknownName("fitted notion of relevance", relevant, self.relevant.names)
        return self.relevant.names.index(relevant)

    def gains(self, relevant: str | None = None, *, users: tuple[int, int] = (1, 1)) -> Gains:
        """Gains for any measure: P(at least M of N random users are satisfied | i), users=(M, N) (Section 3.1.7)."""
        row = self.row_of(relevant)
        self._warn_of_few(row)
        name = f"prm:{self.relevant.names[row]}" + ("" if users == (1, 1) else f":{users[0]}/{users[1]}")
        return Gains(self.scale, at_least(*users, self.known(row)), name)

    def udm_gains(self, at: tuple[int, int], relevant: str | None = None, *, lowest: float | None = 0.0) -> Gains:
        """Gains of the User Disagreement Model for M of N users, at=(M, N).

        The lowest label is worth nothing, as Demeester et al. (2014) propose in Section 3.3.2; lowest None: as
        estimated.  Labels without an order have no lowest one, and a lowest label that is relevant keeps its weight.
        """
        row = self.row_of(relevant)
        self._warn_of_few(row)
        weights = udm_weights(*at, self.known(row), self.relevant.labels[row])
        neglected = self.scale.ordered and not self.relevant.labels[row, 0]
        if lowest is not None and neglected:
            weights[0] = lowest
        name = "" if self.relevant.names[row] == self.scale.labels[-1] else f":{self.relevant.names[row]}"
        kept = ", lowest kept" if lowest is None and neglected else ""
        return Gains(self.scale, weights, f"udm:{at[0]}/{at[1]}{name}{kept}")

    def known(self, row: int) -> Floats:
        """p(R|i) with every label known -> (label,); a lowest label nobody judged twice counts as 0 (Section 5.2.2)."""
        p = self.p[row].copy()
        if np.isnan(p[0]) and self.scale.ordered:
            p[0] = 0.0
        if np.isnan(p).any():
            label = self.scale.labels[int(np.argmax(np.isnan(p)))]
            raise GainsError(
                f"no item with label {label!r} was judged a second time, so it has no gain",
                hint=["give a prior (--prior 0.5)", "merge the label with another", "judge some of its items twice"],
            )
        return p

    def _warn_of_few(self, row: int) -> None:
        few = [
            f"{label} ({n:.0f})"
            for label, n in zip(self.scale.labels, self.pairs[row], strict=True)
            if 0 < n < FEW_PAIRS and self.setting.prior == 0
        ]
        if few:
            message = f"gains rest on fewer than {FEW_PAIRS} pairs of labels for {', '.join(few)}"
            warnings.warn(message, FewPairsWarning, stacklevel=3)
        if self.scale.ordered and np.isnan(self.p[row, 0]):
            message = f"no item with the lowest label, {self.scale.labels[0]}, was judged twice; it counts as 0"
            warnings.warn(message, FewPairsWarning, stacklevel=3)

    def sentence(self, row: int = 0) -> str:
        """Say what each label tells about other people."""
        from venire.models.diagnosis import sentence

        return sentence(self, row)

    def warnings(self) -> list[str]:
        """What to be careful about, most important first."""
        from venire.models.diagnosis import warnings_of

        return warnings_of(self)

    def records(self) -> Records:
        """Return one row per notion of relevance and label, the highest first; None where nothing is known."""
        from venire.models.fit_files import parameters

        return parameters(self)

    def __str__(self) -> str:
        from venire.models.diagnosis import table_lines

        return "\n".join(table_lines(self))
