r"""Pairwise discriminative power: how uncertain the ideal order of documents is, given their labels.

Chu et al. (2021, doi:10.1145/3459637.3482428).  The preference of one document over another follows from their labels
(Eq. 7: the mean over assessors who labelled both; Eq. 8: pooled labels), Plackett-Luce scores from these (Eq. 5), and
PDP is the entropy of the rankings that the scores give (Eq. 3), in nats.  **Lower is better**: 0 where the order is
known, log K! where nothing is.  As a share of log K! it compares over K.

A topic's PDP is the mean over its lists; the value is the mean over topics (Eq. 2).  Document-level probabilities are
clipped to [.01, .99], as in the published code; two documents that no assessor labelled both, in individual mode, have
probability one half.

Intervals resample topics together with their preference tests and all labels that belong to these: tests of one topic
are not independent, and assessors' labels of one test even less.  Every resample makes new label preferences and so a
new PDP of every list.  The interval is :math:`v \pm t_{n-1} s`, with s the spread over resamples of n topics; where
tests are on fewer than ten topics they are drawn singly beside the topics.  In simulations
(50 topics, 100 to 1,000 tests, 150 collections each) it covered 93 to 95 times in 100; with tests drawn singly, 89
to 93 times.  With few tests the value itself is biased: chance looks like knowledge and lowers it, pairs of labels
that never met raise it.  Where resampled tests move the mean by more than 2 % of log K!, a warning says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.analysis.label_preferences import LabelPreferences, LabelPreferencesFit
from venire.analysis.list_orders import orders_of
from venire.analysis.preference_evidence import evidence_of
from venire.analysis.top_lists import TopLists, top_of_pool
from venire.data.judgments import Judgments
from venire.data.panel import in_isolation
from venire.data.preferences import Preferences
from venire.estimate import Estimate
from venire.kernels.plackett_luce import CLIP, MOST_EXACT, N_DRAWS, most_entropy
from venire.tabular import Records, Tabular
from venire.types import Floats, RNGLike
from venire.words import counted

LEVEL = 0.95
BUDGET, FEWEST, MOST = 4e8, 30, 200
"""Cells of work that resampling may cost, and the fewest and most resamples."""


@dataclass(frozen=True, eq=False)
class PDP(Tabular):
    """PDP of a label setting: ``values`` (topic,) of ``topics``, or the ``reason`` why there is none.

    low and high are None where there is no interval; draws (draw,) are means over resampled topics and tests, none
    where label preferences were given.
    """

    mode: str
    k: int
    topics: tuple[str, ...]
    values: Floats
    error: Floats
    labels: LabelPreferencesFit
    lists: TopLists
    method: str
    low: float | None
    high: float | None
    draws: Floats
    reason: str | None = None
    n_unknown: int = 0

    @property
    def value(self) -> float | None:
        """Mean over topics, in nats; None with a reason."""
        return float(self.values.mean()) if self.reason is None else None

    @property
    def most(self) -> float:
        """The logarithm of K!, where nothing is known of the order."""
        return most_entropy(self.k)

    @property
    def share_of_max(self) -> float | None:
        """PDP over log K!: 0, the order is known; 1, nothing is."""
        return None if self.value is None else self.value / self.most

    def estimate(self) -> Estimate | None:
        """The value with its interval, if it has both."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return Estimate(self.value, self.low, self.high, LEVEL, self.method)

    def record(self) -> dict[str, Any]:
        """What JSON holds of it."""
        return {
            "mode": self.mode,
            "k": self.k,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "share_of_max": self.share_of_max,
            "topics": len(self.topics),
            "lists": len(self.lists),
            "meaning": self.sentence(),
            "reason": self.reason,
        }

    def records(self) -> Records:
        """Return one row: the value with its interval, its share of the most there can be, and what it rests on."""
        return [{name: value for name, value in self.record().items() if name != "meaning"}]

    def sentence(self) -> str:
        """Say what it means."""
        if self.value is None:
            return f"PDP@{self.k} in {self.mode} mode is not known: {self.reason}."
        share = self.value / self.most
        return (
            f"PDP@{self.k} in {self.mode} mode is {self.value:.3f} of at most {self.most:.3f}: the labels leave "
            f"{share:.0%} of the order of {self.k} documents open (0%: known, 100%: nothing known)."
        )

    def warnings(self) -> list[str]:
        """What to be careful about."""
        words = [] if self.reason is not None else self.labels.warnings()
        if self.lists.left_out:
            words.append(f"{counted(self.lists.left_out, 'list')} with fewer than {self.k} judged documents left out")
        if self.n_unknown:
            words.append(f"{counted(self.n_unknown, 'pair')} of documents that no assessor labelled both: taken as 1/2")
        moved = 0.0 if self.value is None or not len(self.draws) else float(self.draws.mean()) - self.value
        if abs(moved) > 0.02 * self.most:
            words.append(
                f"the tests are few: resampling them moves PDP by {moved:+.3f}, so that the value may be off by about "
                "as much"
            )
        if self.value is not None and self.error.any():
            noise = float(np.sqrt((self.error**2).sum()) / len(self.error))
            words.append(f"beyond 15 documents PDP is drawn, not exact; standard error of its mean {noise:.2g}")
        return words


def pdp(
    judgments: Judgments,
    preferences: Preferences | Floats,
    *,
    labels: LabelPreferences | None = None,
    k: int | None = None,
    lists: TopLists | None = None,
    clip: float = CLIP,
    n_draws: int | None = None,
    rng: RNGLike = 0,
) -> PDP:
    '''Measure how uncertain the order of documents is, given their labels.

    Parameters
    ----------
    preferences : preference tests, or the label-level matrix itself (label, label)
    labels : how label preferences are estimated; individual mode by default
    k : documents per list, where ``lists`` are not given: the best of each topic, see ``top_lists``
    lists : ``top_of_runs`` or ``top_of_pool``; lists of other judgments are found again by name
    n_draws : resamples of topics and their tests; None: 30 to 200, fewer where lists are many; 0: no interval

    Notes
    -----
    Cost: O(pairs of documents x assessors + lists x K 2^K), times the resamples.

    Examples
    --------
    >>> from venire import read_grid
    >>> judgments = read_grid("""
    ...     3 2 2 3 3
    ...     3 3 2 3 3
    ...     3 3 2 3 3""", scale="0<1<2<3")
    >>> p = [[0.5, 0.15, 0.1, 0.05], [0.85, 0.5, 0.15, 0.1], [0.9, 0.85, 0.5, 0.15], [0.95, 0.9, 0.85, 0.5]]
    >>> round(pdp(judgments, np.array(p)).value, 4)
    4.2175
    '''
    setting, judgments = labels or LabelPreferences(), in_isolation(judgments)[0]
    chosen = top_of_pool(judgments, k) if lists is None else lists.among(judgments.items)
    judgments = setting.coarse(judgments) if isinstance(preferences, Preferences) else judgments
    evidence = evidence_of(judgments, preferences, setting)
    reason = f"no list has {counted(chosen.k, 'judged document')}" if not len(chosen) else evidence.lack()
    orders = orders_of(chosen, setting.paired(judgments), clip=clip)
    if reason is not None:
        none = np.zeros(0)
        return PDP(
            setting.mode, chosen.k, (), none, none, evidence.fit, chosen, "no interval", None, None, none, reason
        )
    values, error = orders.pdp(evidence.fit.p)
    n_draws = _n_draws(chosen.k, len(orders.first)) if n_draws is None else n_draws
    topic, generator = np.unique(chosen.topic), np.random.default_rng(rng)
    near = orders.near(evidence.fit.p) if n_draws else orders
    drawn = [(near.pdp(p)[0] * weight).sum() / weight.sum() for p, weight in evidence.drawn(topic, n_draws, generator)]
    draws = np.array(drawn, dtype=np.float64)
    low, high = interval_of(values, draws) if n_draws else (None, None)
    known = setting.mode, chosen.k, orders.topics, values, error, evidence.fit, chosen
    method = evidence.method(len(draws)) if low is not None else "no interval"
    return PDP(*known, method, *_bounded(low, high, most_entropy(chosen.k)), draws, n_unknown=orders.n_unknown)


def _n_draws(k: int, n_lists: int) -> int:
    """How many resamples: fewer where different lists of K documents are many or long."""
    one = k * 2.0**k if k <= MOST_EXACT else 20.0 * N_DRAWS * k
    return int(np.clip(BUDGET / ((one + 2500) * max(n_lists, 1)), FEWEST, MOST))


def interval_of(values: Floats, draws: Floats) -> tuple[float | None, float | None]:
    """Interval of a mean over topics by the spread of draws (draw,), or of the topics where there are none."""
    from scipy.special import stdtrit

    n = len(values)
    if n < 2 or len(draws) == 1:
        return None, None
    spread = draws.std(ddof=1) * np.sqrt(n / (n - 1)) if len(draws) else values.std(ddof=1) / np.sqrt(n)
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2) * spread)
    return float(values.mean()) - half, float(values.mean()) + half


def _bounded(low: float | None, high: float | None, most: float) -> tuple[float | None, float | None]:
    """Keep an interval within what can be."""
    return None if low is None else max(low, 0.0), None if high is None else min(high, most)
