r"""Preference evidence: label preferences, the tests they rest on, and how far both vary from topic to topic.

The standard error is that of a jackknife.  Topics are left out in turn (groups of them where there are many), each
with its lists and its preference tests, and label preferences are estimated anew from the other tests.  With
:math:`v_{(i)}` the value without group i of n, and v the value of all,

.. math:: s^2 = \frac{n - 1}{n} \sum_i (v_{(i)} - \bar v)^2, \qquad \mathrm{bias} = (n - 1) (\bar v - v)

(Efron and Stein 1981, doi:10.1214/aos/1176345462).  Topics with and without tests are strata: their variances are
added, and the degrees of freedom of Student's t are Satterthwaite's.  A test is left out with all labels of its
documents: tests of one topic are not independent, and assessors' labels of one test even less.  Where label
preferences are given this is Student's t over topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.kernels.paired_labels import PairedLabels, count_wins
from venire.quality.label_preferences import LabelPreferences, LabelPreferencesFit, Signals, signals_of
from venire.quality.lists import ListOrders
from venire.results import counted
from venire.types import Bools, Codes, Floats, Ints

DUST = 1e-9
"""Differences below this are what rounding leaves of equal values."""


@dataclass(frozen=True, eq=False)
class Jackknife:
    """A value of all topics, and the values without each group of them: group, tested and without are all (group,).

    group numbers the groups, tested says which have preference tests; grouped: whether they hold several topics.
    """

    value: float
    group: Ints
    tested: Bools
    without: Floats
    grouped: bool = False

    def minus(self, other: Jackknife) -> Jackknife:
        """Return the difference from another value of the same groups; what rounding leaves of equal ones is 0."""
        group = np.union1d(self.group, other.group)
        (mine, tested), (theirs, too) = self._of(group), other._of(group)
        value, *without = _without_dust(np.array([self.value, *mine]) - [other.value, *theirs])
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

    def interval(self, level: float, n_comparisons: int = 1) -> tuple[float, float] | None:
        """Student's interval; those of several comparisons hold together at the level (Bonferroni)."""
        from scipy.special import stdtrit

        found = self.spread()
        if found is None:
            return None
        half = found[0] * float(stdtrit(found[1], 1 - (1 - level) / (2 * n_comparisons)))
        return self.value - half, self.value + half

    def p_value(self, n_comparisons: int = 1) -> float | None:
        """Two-sided p-value of a value of 0, by the same t as the interval."""
        from scipy.special import stdtr

        found = self.spread()
        if found is None:
            return None
        t = abs(self.value) / found[0] if found[0] > 0 else np.inf if self.value else 0.0
        return float(min(1.0, 2 * n_comparisons * stdtr(found[1], -t)))

    @property
    def bias(self) -> float:
        """How far the value is expected to be off because topics and tests are few."""
        return float(sum((len(part) - 1) * (part.mean() - self.value) for part in self._strata()))

    def words(self) -> str:
        """Say how the interval was found."""
        n = counted(len(self.group), "group") + " of topics" if self.grouped else counted(len(self.group), "topic")
        if not self.tested.any():
            return f"Student's t over {n}, label preferences as given"
        return f"jackknife over {n} with their tests"

    def _of(self, group: Ints) -> tuple[Floats, Bools]:
        """Values without these groups, and which of them have tests; a group not known here changes nothing."""
        without, tested = np.full(len(group), self.value), np.zeros(len(group), dtype=np.bool_)
        place = np.searchsorted(group, self.group)
        without[place], tested[place] = self.without, self.tested
        return without, tested

    def _strata(self) -> list[Floats]:
        """Values without groups with tests and without groups that have none; one stratum if either is a single one."""
        parts = [part for part in (self.without[self.tested], self.without[~self.tested]) if len(part)]
        apart = parts if all(len(part) > 1 for part in parts) else [self.without]
        return [part for part in apart if len(part) > 1]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Label preferences, and the tests they rest on, if any; ``topics`` names those of all tests."""

    judgments: Judgments
    fit: LabelPreferencesFit
    tests: Signals | None = None
    observed: PairedLabels | None = None
    topics: tuple[str, ...] = ()

    def lack(self) -> str | None:
        """Why they tell nothing, or None."""
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
        of_test = of_topic[self._topic]
        group = np.array([each for each in np.union1d(of_list, of_test) if (of_list != each).any()], dtype=np.int64)
        tested = np.isin(group, of_test)
        by_topic = np.tile(values, (len(group), 1))
        by_topic[tested] = orders.near(self.fit.p).pdps([self._preferences(of_test != each) for each in group[tested]])
        stays = of_list != group[:, None]
        without = (by_topic * stays).sum(axis=1) / stays.sum(axis=1)
        return Jackknife(float(values.mean()), group, tested, without, grouped=len(names) > max(number.values()) + 1)

    def _preferences(self, stays: Bools) -> Floats:
        """Label preferences by some of the tests -> (label, label); stays (test,)."""
        if self.tests is None or self.observed is None:
            return self.fit.p
        wins = count_wins(self.observed, self.tests.won, stays.astype(np.float64), len(self.judgments.scale))
        return self.fit.setting.fit_wins(wins, self.judgments).p

    @property
    def _topic(self) -> Codes:
        """Topic of every test -> (test,)."""
        first = np.zeros(0, dtype=np.int64) if self.tests is None else self.tests.first
        return self.judgments.items.topic[first]


def _without_dust(values: Floats) -> Floats:
    return np.where(np.abs(values) < DUST, 0.0, values)


def _groups(names: Sequence[str], n: int, rng: np.random.Generator) -> dict[str, int]:
    """Put topics into at most n groups of about the same size, at random; each is its own where they are no more."""
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
