r"""Pairwise discriminative power: how uncertain the ideal order of documents is, given their labels.

Chu et al. (2021, doi:10.1145/3459637.3482428).  The preference of one document over another follows from their labels
(Eq. 7: the mean over assessors who labelled both; Eq. 8: pooled labels), Plackett-Luce scores from these (Eq. 5), and
PDP is the entropy of the rankings that the scores give (Eq. 3), in nats.  **Lower is better**: 0 where the order is
known, log K! where nothing is.  As a share of log K! it compares over K.

A topic's PDP is the mean over its lists; the value is the mean over topics (Eq. 2).  Document-level probabilities are
clipped to [.01, .99], as in the published code; two documents that no assessor labelled both, in individual mode, have
probability one half.

Intervals are those of a jackknife (``quality.preference_evidence``): topics are left out in turn with their lists and
tests, label preferences are estimated anew, and :math:`v \pm t\, s` is the interval.  In simulations (3 to 50
topics with 2 to 20 tests each; tests/simulation/test_pdp.py) it covered 90 to 97 times in 100.  With few
tests the value itself is biased: chance looks like knowledge and lowers it, pairs of labels that never met raise it.
Where the jackknife's estimate of the bias is above 2 % of log K!, a warning says so.

PDP differences: do two label settings differ in what they tell of the order of documents?

Both are measured on the same lists, with the same preference tests.  The interval and the p-value of the difference are
those of one jackknife over topics, each left out of both settings with its tests, so that both matrices of label
preferences are estimated anew.  (A test over topics that takes the matrices as known, as in Section 5.2.1 of Chu et al.
2021, finds a difference between exchangeable label sets 15 to 70 times in 100 at a level of 5 %.)  Interval, p-value
and sentence always agree: the p-value is below .05 exactly where the interval leaves 0 out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.data.judgments import Judgments
from venire.data.panel import in_isolation
from venire.data.preferences import Preferences
from venire.errors import SettingError
from venire.kernels.plackett_luce import CLIP, MOST_EXACT, N_DRAWS, most_entropy
from venire.quality.label_preferences import LabelPreferences, LabelPreferencesFit
from venire.quality.lists import TopLists, orders_of, top_of_pool
from venire.quality.preference_evidence import Jackknife, evidence_of
from venire.randomness import copied, seed_of
from venire.results import Estimate, Records, Tabular, counted
from venire.types import Floats, RNGLike

LEVEL, NONE = 0.95, "no interval"
BUDGET, FEWEST, MOST = 4e8, 30, 200
"""Cells of work that the jackknife may cost, and the fewest and most groups of topics that are left out in turn."""


@dataclass(frozen=True, eq=False)
class PDP(Tabular):
    """PDP of a label setting: ``values`` (topic,) of ``topics``, or the ``reason`` why there is none.

    low and high are None where there is no interval, and so is ``jackknife`` where none was asked for.
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
    jackknife: Jackknife | None
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
        bias = 0.0 if self.jackknife is None else self.jackknife.bias
        if abs(bias) > 0.02 * self.most:
            words.append(
                f"topics or preference tests are few: the estimated bias of PDP is {bias:+.3f} nats (jackknife)"
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
    k : documents per list, where ``lists`` are not given: those with preference tests, or any where label preferences
        are given; see ``top_of_pool``
    lists : ``top_of_runs`` or ``top_of_pool``; lists of other judgments are found again by name
    n_draws : groups of topics that are left out in turn, at most; None: 200, or down to 30 where lists are many; 0: no
        interval

    Notes
    -----
    Cost: O(pairs of documents x assessors + lists x K 2^K), times the topics or groups of them that are left out.

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
    setting, seed, judgments = labels or LabelPreferences(), seed_of(rng), in_isolation(judgments)[0]
    tests = preferences if isinstance(preferences, Preferences) else None
    chosen = top_of_pool(judgments, k, tests, rng=copied(seed)) if lists is None else lists.labelled_in(judgments)
    judgments = judgments if tests is None else setting.coarse(judgments)
    evidence = evidence_of(judgments, preferences, setting)
    reason = evidence.lack() or (None if len(chosen) else f"no list has {counted(chosen.k, 'judged document')}")
    if reason is not None:
        none = np.zeros(0)
        return PDP(setting.mode, chosen.k, (), none, none, evidence.fit, chosen, NONE, None, None, None, reason)
    orders = orders_of(chosen, setting.paired(judgments), clip=clip)
    values, error = orders.pdp(evidence.fit.p)
    n_groups = _n_groups(chosen.k, len(chosen)) if n_draws is None else n_draws
    left_out = evidence.jackknife(orders, values, n_groups, np.random.default_rng(copied(seed))) if n_groups else None
    interval = None if left_out is None else left_out.interval(LEVEL)
    low, high = (None, None) if interval is None else np.clip(interval, 0, most_entropy(chosen.k)).tolist()
    method = NONE if left_out is None or interval is None else left_out.words()
    known = setting.mode, chosen.k, orders.topics, values, error, evidence.fit, chosen
    return PDP(*known, method, low, high, left_out, n_unknown=orders.n_unknown)


def _n_groups(k: int, n_lists: int) -> int:
    """How many groups of topics are left out in turn, at most: fewer where lists of K documents are many or long."""
    one = k * 2.0**k if k <= MOST_EXACT else 20.0 * N_DRAWS * k
    return int(np.clip(BUDGET / ((one + 2500) * max(n_lists, 1)), FEWEST, MOST))


@dataclass(frozen=True, kw_only=True)
class PDPDifference(Tabular):
    """PDP of setting a less that of setting b on the same lists; negative: a tells more.

    None where it is not known, with a ``reason``.  Of several comparisons low, high and p_value hold for all together.
    """

    mode: str
    k: int
    a: str
    b: str
    topics: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    test: str = ""
    reason: str | None = None

    @property
    def significant(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    def record(self) -> dict[str, Any]:
        """What JSON holds of it."""
        return {**self.__dict__, "meaning": self.sentence()}

    def records(self) -> Records:
        """Return one row: the difference, its interval and p-value."""
        return [{name: value for name, value in self.record().items() if name != "meaning"}]

    def sentence(self) -> str:
        """Say which setting tells more, and whether that is significant."""
        if self.difference is None:
            return f"PDP@{self.k} of {self.a} and {self.b} in {self.mode} mode cannot be compared: {self.reason}."
        more, less = (self.a, self.b) if self.difference <= 0 else (self.b, self.a)
        what = (
            f"{more} leaves {abs(self.difference):.3f} nats less of the order of {self.k} documents open than {less} "
            f"on {counted(self.topics, 'topic')}"
        )
        if self.low is None or self.high is None or self.p_value is None:
            return f"In {self.mode} mode {what}; there is no interval: {self.reason}."
        least, most = sorted((abs(self.low), abs(self.high))) if self.significant else (self.low, self.high)
        chance = "p < .0001" if self.p_value < 1e-4 else f"p = {self.p_value:.3g}"
        shown = f"(95% confidence interval {least:.3f} to {most:.3f}, {chance}, {self.test})"
        if self.significant:
            return f"In {self.mode} mode {what} {shown}."
        return (
            f"In {self.mode} mode {self.a} and {self.b} do not differ significantly: the difference is "
            f"{self.difference:+.3f} nats on {counted(self.topics, 'topic')} {shown}."
        )


def compare_pdp(a: PDP, b: PDP, *, names: tuple[str, str] = ("a", "b"), n_comparisons: int = 1) -> PDPDifference:
    """Compare two PDPs of the same lists, each computed with the same tests, ``n_draws`` and seed.

    n_comparisons: how many such comparisons are looked at together; interval and p-value are adjusted (Bonferroni).
    """
    if a.k != b.k:
        raise SettingError(f"PDP@{a.k} and PDP@{b.k} differ in K", hint="take lists of the same length for both")
    known: dict[str, Any] = {"mode": a.mode, "k": a.k, "a": names[0], "b": names[1], "topics": len(a.topics)}
    if a.value is None or b.value is None:
        return PDPDifference(**known, reason=a.reason or b.reason)
    if a.lists.records() != b.lists.records():
        hint = "lists.labelled_in(judgments) has those whose documents all have labels; take them for both"
        raise SettingError("the two PDPs are of different lists", hint=hint)
    known["difference"] = a.value - b.value
    if a.jackknife is None or b.jackknife is None:
        return PDPDifference(**known, reason="no topics were left out in turn (n_draws is 0)")
    found = a.jackknife.minus(b.jackknife)
    interval = found.interval(LEVEL, n_comparisons)
    if interval is None:
        return PDPDifference(**known, reason="all tests, or all lists, are of one topic")
    several = f", Bonferroni for {n_comparisons} comparisons" if n_comparisons > 1 else ""
    known |= {"difference": found.value, "low": interval[0], "high": interval[1]}
    return PDPDifference(**known, p_value=found.p_value(n_comparisons), test=f"{found.words()}{several}")
