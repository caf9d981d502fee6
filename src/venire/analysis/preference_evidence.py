"""Preference evidence: label preferences and the tests they rest on, to be drawn anew with their topics.

A test is drawn with all labels of its documents; assessors' labels are never drawn singly.  Where tests are on fewer
than ten topics they are drawn singly, beside the topics of the lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from venire.analysis.label_preferences import LabelPreferences, LabelPreferencesFit
from venire.analysis.preference_signals import Signals, signals_of
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.kernels.paired_labels import PairedLabels, count_wins
from venire.kernels.resample import FEW_TOPICS, topic_weights
from venire.types import Codes, Floats


@dataclass(frozen=True, eq=False)
class Evidence:
    """Label preferences, and the tests they rest on, if any."""

    judgments: Judgments
    fit: LabelPreferencesFit
    tests: Signals | None = None
    observed: PairedLabels | None = None

    def lack(self) -> str | None:
        """Why they tell nothing, or None."""
        if self.tests is None or self.observed is None or len(self.observed.pair):
            return None
        if not self.tests.n:
            return "there are no preference tests"
        if not len(self.tests.won):
            return f"both documents are labelled in none of the preference tests ({self.tests.n:,})"
        return "no assessor labelled both documents of a preference test"

    @property
    def by_topic(self) -> bool:
        """Whether tests are drawn with their topics: there must be enough of these."""
        return self.tests is not None and len(np.unique(self._topic)) >= FEW_TOPICS

    @property
    def _topic(self) -> Codes:
        """Topic of every test -> (test,)."""
        first = np.zeros(0, dtype=np.int64) if self.tests is None else self.tests.first
        return self.judgments.items.topic[first]

    def drawn(self, topic: Codes, n: int, rng: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
        """Label preferences, and weights of the topics of lists, when topics and their tests are drawn anew.

        topic (topic,) are those of lists.  Two settings of the same topics share the draws if they share the seed.
        """
        if self.tests is None or self.observed is None:
            return
        every = np.union1d(topic, self._topic)
        place, own = np.searchsorted(every, topic), np.searchsorted(every, self._topic)
        for _ in range(n):
            weight = topic_weights(len(every), 1, rng)[0]
            single = np.bincount(rng.integers(self.tests.n, size=self.tests.n), minlength=self.tests.n)
            worth = weight[own] if self.by_topic else single[self.tests.number].astype(np.float64)
            wins = count_wins(self.observed, self.tests.won, worth, len(self.judgments.scale))
            if weight[place].any():
                yield self.fit.setting.fit_wins(wins, self.judgments).p, weight[place]

    def method(self, n: int) -> str:
        """Say how the interval was had."""
        if self.tests is None:
            return "Student's, over topics; label preferences as given"
        return f"bootstrap over topics {'with their' if self.by_topic else 'and'} tests, n={n}"


def evidence_of(judgments: Judgments, preferences: Preferences | Floats, setting: LabelPreferences) -> Evidence:
    """Estimate label preferences, or take them as given."""
    if not isinstance(preferences, Preferences):
        return Evidence(judgments, setting.given(np.asarray(preferences), judgments.scale))
    tests = signals_of(judgments, preferences, signal=setting.signal)
    observed = setting.paired(judgments)(tests.first, tests.second)
    wins = count_wins(observed, tests.won, np.ones(len(tests.won)), len(judgments.scale))
    return Evidence(judgments, setting.fit_wins(wins, judgments, n_tests=len(tests.won)), tests, observed)
