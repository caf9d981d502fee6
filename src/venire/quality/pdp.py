r"""Pairwise discriminative power: how uncertain the ideal order of documents is, given their labels.

Chu et al. (2021, doi:10.1145/3459637.3482428).  The preference of one document over another follows from their labels
(Eq. 7: the mean over assessors who labelled both; Eq. 8: pooled labels), Plackett-Luce scores from these (Eq. 5), and
PDP is the entropy of the rankings that the scores give (Eq. 3), in nats.  **Lower is better**: 0 where the order is
known, log K! where nothing is known.  As a share of log K! it compares over K.

A topic's PDP is the mean over its lists; the value is the mean over topics (Eq. 2).  Document-level probabilities are
clipped to [.01, .99], as in the published code; two documents that no assessor labelled both, in individual mode, have
probability one half.

The standard error is that of a jackknife.  Topics are left out in turn (groups of them where there are many), each
with its lists and its preference tests, and label preferences are estimated anew from the other tests.  With
:math:`v_{(i)}` the value without group i of n, and v the value of all,

.. math:: s^2 = \frac{n - 1}{n} \sum_i (v_{(i)} - \bar v)^2, \qquad \mathrm{bias} = (n - 1) (\bar v - v)

(Efron and Stein 1981, doi:10.1214/aos/1176345462).  Topics with and without tests are strata: their variances are
added, and the degrees of freedom of Student's t are Satterthwaite's.  A test is left out with all labels of its
documents: tests of one topic are not independent, and assessors' labels of one test even less.  Where label
preferences are given this is Student's t over topics.  In simulations (3 to 50 topics with 2 to 20 tests each;
tests/simulation/test_pdp.py) the interval covered 90 to 97 times in 100.  With few tests the value itself is biased:
chance lowers it, pairs of labels that were never compared raise it.  Where the jackknife's estimate of the bias is
above 2 % of log K!, a note gives it.

Two label settings are compared on the same lists, with the same preference tests.  The interval and the p-value of the
difference are those of one jackknife over topics, each left out of both settings with its tests, so that both matrices
of label preferences are estimated anew.  (A test over topics that takes the matrices as known, as in Section 5.2.1 of
Chu et al. 2021, rejects 15 to 70 times in 100 at a level of 5 % for exchangeable label sets.)  Interval and p-value
always agree: the p-value is below .05 exactly where the interval does not contain 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.data.judgments import Judgments
from venire.data.panel import in_isolation
from venire.data.preferences import Preferences
from venire.errors import SettingError
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.preferences import PreferencesLike, read_preferences
from venire.kernels.paired_labels import PairedLabels, count_wins
from venire.kernels.ranking_entropy import CLIP, MOST_EXACT, N_DRAWS, most_entropy
from venire.quality.label_preferences import LabelPreferences, LabelPreferencesFit, Signals, signals_of
from venire.quality.lists import ListOrders, TopLists, orders_of, top_of_pool
from venire.randomness import copied, seed_of
from venire.results import Estimate, Note, Records, Tabular, counted
from venire.types import Bools, Floats, Ints, RNGLike

CONFIDENCE, NO_INTERVAL = 0.95, "no interval"
BUDGET, FEWEST, MOST = 4e8, 30, 200
"""Cells of work that the jackknife may cost, and the fewest and most groups of topics that are left out in turn."""
DUST = 1e-9
"""Differences below this are rounding errors of 0."""


@dataclass(frozen=True, eq=False)
class Jackknife:
    """A value of all topics, and the values without each group of them: group, tested and without are all (group,).

    group numbers the groups, tested marks those with preference tests; grouped: whether they hold several topics.
    """

    value: float
    group: Ints
    tested: Bools
    without: Floats
    grouped: bool = False

    def minus(self, other: Jackknife) -> Jackknife:
        """Return the difference from another value of the same groups; rounding errors become 0."""
        group = np.union1d(self.group, other.group)
        (mine, tested), (theirs, too) = self._of(group), other._of(group)
        values = np.array([self.value, *mine]) - [other.value, *theirs]
        value, *without = np.where(np.abs(values) < DUST, 0.0, values)
        return Jackknife(float(value), group, tested | too, np.array(without), self.grouped)

    def spread(self) -> tuple[float, float] | None:
        """Return the standard error and its degrees of freedom; None where a single group has all tests or lists."""
        strata = self._strata()
        if not strata or self.tested.sum() == 1:
            return None
        freedom = np.array([len(part) - 1.0 for part in strata])
        variance = np.array([part.var() for part in strata]) * freedom
        total = float(variance.sum())
        return total**0.5, total**2 / float((variance**2 / freedom).sum()) if total > 0 else float(freedom.sum())

    def interval(self, confidence: float, n_comparisons: int = 1) -> tuple[float, float] | None:
        """Return Student's interval; those of several comparisons hold together (Bonferroni)."""
        from scipy.special import stdtrit

        found = self.spread()
        if found is None:
            return None
        half = found[0] * float(stdtrit(found[1], 1 - (1 - confidence) / (2 * n_comparisons)))
        return self.value - half, self.value + half

    def p_value(self, n_comparisons: int = 1) -> float | None:
        """Return the two-sided p-value for a true value of 0, by the same t as the interval."""
        from scipy.special import stdtr

        found = self.spread()
        if found is None:
            return None
        t = abs(self.value) / found[0] if found[0] > 0 else np.inf if self.value else 0.0
        return float(min(1.0, 2 * n_comparisons * stdtr(found[1], -t)))

    @property
    def bias(self) -> float:
        """Estimated bias of the value due to few topics and tests."""
        return float(sum((len(part) - 1) * (part.mean() - self.value) for part in self._strata()))

    def words(self) -> str:
        """Return how the interval was computed."""
        n = counted(len(self.group), "group") + " of topics" if self.grouped else counted(len(self.group), "topic")
        if not self.tested.any():
            return f"Student's t over {n}, label preferences as given"
        return f"jackknife over {n} with their tests"

    def _of(self, group: Ints) -> tuple[Floats, Bools]:
        """Return values without these groups, and which of them have tests; an unknown group changes nothing."""
        without, tested = np.full(len(group), self.value), np.zeros(len(group), dtype=np.bool_)
        place = np.searchsorted(group, self.group)
        without[place], tested[place] = self.without, self.tested
        return without, tested

    def _strata(self) -> list[Floats]:
        """Return values by stratum: groups with tests and groups without; one stratum if either has a single group."""
        parts = [part for part in (self.without[self.tested], self.without[~self.tested]) if len(part)]
        apart = parts if all(len(part) > 1 for part in parts) else [self.without]
        return [part for part in apart if len(part) > 1]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Label preferences, and the tests behind them, if any; ``topics`` names those of all tests."""

    judgments: Judgments
    fit: LabelPreferencesFit
    tests: Signals | None = None
    observed: PairedLabels | None = None
    topics: tuple[str, ...] = ()

    def lack(self) -> str | None:
        """Return why there is no information in the tests, or None."""
        if self.tests is None or self.observed is None or len(self.observed.pair):
            return None
        if not self.tests.n:
            return "there are no preference tests"
        if not len(self.tests.won):
            return f"both documents are labelled in none of the preference tests ({self.tests.n:,})"
        return "no assessor labelled both documents of a preference test"

    def jackknife(self, orders: ListOrders, values: Floats, n_groups: int, rng: np.random.Generator) -> Jackknife:
        """Leave topics out in turn, in at most ``n_groups`` groups; values (topic,) are those of lists by all tests.

        Two settings with the same lists and tests have the same groups if they share the seed.
        """
        names = sorted({*orders.topics, *self.topics})
        number = _groups(names, n_groups if self.tests is not None else len(names), rng)
        of_list = np.array([number[name] for name in orders.topics], dtype=np.int64)
        of_topic = np.array([number.get(name, -1) for name in self.judgments.items.topics], dtype=np.int64)
        first = np.zeros(0, dtype=np.int64) if self.tests is None else self.tests.first
        of_test = of_topic[self.judgments.items.topic[first]]
        group = np.array([each for each in np.union1d(of_list, of_test) if (of_list != each).any()], dtype=np.int64)
        tested = np.isin(group, of_test)
        by_topic = np.tile(values, (len(group), 1))
        by_topic[tested] = orders.near(self.fit.p).pdps([self._preferences(of_test != each) for each in group[tested]])
        stays = of_list != group[:, None]
        without = (by_topic * stays).sum(axis=1) / stays.sum(axis=1)
        return Jackknife(float(values.mean()), group, tested, without, grouped=len(names) > max(number.values()) + 1)

    def _preferences(self, stays: Bools) -> Floats:
        """Estimate label preferences from some of the tests -> (label, label); stays (test,)."""
        if self.tests is None or self.observed is None:
            return self.fit.p
        wins = count_wins(self.observed, self.tests.won, stays.astype(np.float64), len(self.judgments.scale))
        return self.fit.setting.fit_wins(wins, self.judgments).p


def _groups(names: Sequence[str], n: int, rng: np.random.Generator) -> dict[str, int]:
    """Put topics into at most n groups of about the same size, at random; one topic each if they are at most n."""
    if len(names) <= n:
        return dict(zip(names, range(len(names)), strict=True))
    return dict(zip(names, (rng.permutation(len(names)) % n).tolist(), strict=True))


def evidence_of(judgments: Judgments, preferences: Preferences | Floats, setting: LabelPreferences) -> Evidence:
    """Estimate label preferences, or take them as given."""
    if not isinstance(preferences, Preferences):
        return Evidence(judgments, setting.given(np.asarray(preferences), judgments.scale))
    tests = signals_of(judgments, preferences, signal=setting.signal)
    observed = setting.paired(judgments)(tests.first, tests.second)
    wins = count_wins(observed, tests.won, np.ones(len(tests.won)), len(judgments.scale))
    fit = setting.fit_wins(wins, judgments, n_tests=len(tests.won))
    return Evidence(judgments, fit, tests, observed, tuple(preferences.topics))


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
        """The logarithm of K!, the largest possible value."""
        return most_entropy(self.k)

    @property
    def share_of_max(self) -> float | None:
        """PDP over log K!: 0, the order is known; 1, nothing is known."""
        return None if self.value is None else self.value / self.most

    def estimate(self) -> Estimate | None:
        """Return the value with its interval, if it has both."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return Estimate(self.value, self.low, self.high, CONFIDENCE, self.method)

    def record(self) -> dict[str, Any]:
        """Return the value with its interval, its share of the maximum, and numbers of topics and lists."""
        found = {name: getattr(self, name) for name in ("mode", "k", "value", "low", "high", "share_of_max")}
        sizes = {"topics": len(self.topics), "lists": len(self.lists)}
        return {**found, **sizes, "meaning": self.sentence(), "reason": self.reason}

    def records(self) -> Records:
        """Return one row: the record without its sentence."""
        return [{name: value for name, value in self.record().items() if name != "meaning"}]

    def sentence(self) -> str:
        """Return the value and its share of the maximum."""
        if self.value is None:
            return f"PDP@{self.k} in {self.mode} mode is not known: {self.reason}."
        return (
            f"PDP@{self.k} in {self.mode} mode is {self.value:.3f} nats, {self.value / self.most:.0%} of the maximum "
            f"{self.most:.3f} (0%: the labels determine the order of {self.k} documents; 100%: they say nothing on it)."
        )

    def warnings(self) -> list[Note]:
        """Return what limits the conclusions."""
        notes = [] if self.reason is not None else self.labels.warnings()
        if self.lists.left_out:
            words = "{n:short list} (fewer than {k} judged documents) left out"
            notes.append(Note("short-lists", words, n=self.lists.left_out, k=self.k))
        if self.n_unknown:
            words = "{n:pair} of documents that no assessor labelled both: probability 1/2"
            notes.append(Note("unpaired-documents", words, n=self.n_unknown))
        bias = 0.0 if self.jackknife is None else self.jackknife.bias
        if abs(bias) > 0.02 * self.most:
            words = "topics or preference tests are few: the estimated bias of PDP is {bias:+.3f} nats (jackknife)"
            notes.append(Note("bias", words, bias=bias))
        if self.value is not None and self.error.any():
            words = "beyond 15 documents PDP is drawn, not exact; standard error of its mean {error:.2g}"
            notes.append(Note("drawn", words, error=float(np.sqrt((self.error**2).sum()) / len(self.error))))
        return notes


def pdp(
    judgments: JudgmentsLike,
    preferences: PreferencesLike | Floats,
    *,
    labels: LabelPreferences | None = None,
    k: int | None = None,
    lists: TopLists | None = None,
    clip: float = CLIP,
    n_draws: int | None = None,
    rng: RNGLike = 0,
) -> PDP:
    '''Measure the uncertainty of the order of documents, given their labels.

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
    >>> from venire.io import read_grid
    >>> judgments = read_grid("""
    ...     3 2 2 3 3
    ...     3 3 2 3 3
    ...     3 3 2 3 3""", scale="0<1<2<3")
    >>> p = [[0.5, 0.15, 0.1, 0.05], [0.85, 0.5, 0.15, 0.1], [0.9, 0.85, 0.5, 0.15], [0.95, 0.9, 0.85, 0.5]]
    >>> round(pdp(judgments, np.array(p)).value, 4)
    4.2175
    '''
    judgments = as_judgments(judgments)
    setting, seed, judgments = labels or LabelPreferences(), seed_of(rng), in_isolation(judgments)[0]
    preferences = preferences if isinstance(preferences, np.ndarray) else read_preferences(preferences)
    tests = preferences if isinstance(preferences, Preferences) else None
    chosen = top_of_pool(judgments, k, tests, rng=copied(seed)) if lists is None else lists.labelled_in(judgments)
    judgments = judgments if tests is None else setting.coarse(judgments)
    evidence = evidence_of(judgments, preferences, setting)
    reason = evidence.lack() or (None if len(chosen) else f"no list has {counted(chosen.k, 'judged document')}")
    if reason is not None:
        none = np.zeros(0)
        return PDP(setting.mode, chosen.k, (), none, none, evidence.fit, chosen, NO_INTERVAL, None, None, None, reason)
    orders = orders_of(chosen, setting.paired(judgments), clip=clip)
    values, error = orders.pdp(evidence.fit.p)
    n_groups = _n_groups(chosen.k, len(chosen)) if n_draws is None else n_draws
    left_out = evidence.jackknife(orders, values, n_groups, np.random.default_rng(copied(seed))) if n_groups else None
    interval = None if left_out is None else left_out.interval(CONFIDENCE)
    low, high = (None, None) if interval is None else np.clip(interval, 0, most_entropy(chosen.k)).tolist()
    method = NO_INTERVAL if left_out is None or interval is None else left_out.words()
    known = setting.mode, chosen.k, orders.topics, values, error, evidence.fit, chosen
    return PDP(*known, method, low, high, left_out, n_unknown=orders.n_unknown)


def _n_groups(k: int, n_lists: int) -> int:
    """Return the largest number of groups of topics: fewer where lists of K documents are many or long."""
    one = k * 2.0**k if k <= MOST_EXACT else 20.0 * N_DRAWS * k
    return int(np.clip(BUDGET / ((one + 2500) * max(n_lists, 1)), FEWEST, MOST))


@dataclass(frozen=True, kw_only=True)
class PDPDifference(Tabular):
    """PDP of setting a less that of setting b on the same lists; negative: a distinguishes documents better.

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
        """Whether the interval does not contain 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    def record(self) -> dict[str, Any]:
        """Return all fields, and the sentence."""
        return {**self.__dict__, "meaning": self.sentence()}

    def records(self) -> Records:
        """Return one row: the difference, its interval and p-value."""
        return [dict(self.__dict__)]

    def sentence(self) -> str:
        """Return the difference, and whether it is significant."""
        what = f"PDP@{self.k} of {self.a} less that of {self.b} in {self.mode} mode"
        if self.difference is None:
            return f"{what} is not known: {self.reason}."
        found = f"{what} is {self.difference:+.3f} nats on {counted(self.topics, 'topic')}"
        if self.low is None or self.high is None or self.p_value is None:
            return f"{found}, without an interval: {self.reason}."
        chance = "p < .0001" if self.p_value < 1e-4 else f"p = {self.p_value:.3g}"
        return (
            f"{found}, {'' if self.significant else 'not '}significant (95% confidence interval {self.low:+.3f} to "
            f"{self.high:+.3f}, {chance}, {self.test})."
        )


def compare_pdp(a: PDP, b: PDP, *, names: tuple[str, str] = ("a", "b"), n_comparisons: int = 1) -> PDPDifference:
    """Compare two PDPs of the same lists, each computed with the same tests, ``n_draws`` and seed.

    n_comparisons: number of such comparisons; interval and p-value are adjusted (Bonferroni).
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
    interval = found.interval(CONFIDENCE, n_comparisons)
    if interval is None:
        return PDPDifference(**known, reason="all tests, or all lists, are of one topic")
    several = f", Bonferroni for {n_comparisons} comparisons" if n_comparisons > 1 else ""
    known |= {"difference": found.value, "low": interval[0], "high": interval[1]}
    return PDPDifference(**known, p_value=found.p_value(n_comparisons), test=f"{found.words()}{several}")
