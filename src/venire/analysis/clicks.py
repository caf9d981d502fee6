"""What a click log says by itself: how much was clicked at each rank, and the mean click-through rate with an interval.

Golbus et al. (2014, doi:10.1145/2566486.2568015), Section 5.2.1; the rates are those of ``data.clicks``.  The mean over
topics has Student's interval from the topics' standard deviation: what a bootstrap over topics comes to with
infinitely many draws.  It tells how far other topics of the same kind would differ, not how far other users of these
topics would.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.analysis.likeness import LEVEL
from venire.data.clicks import Clicks
from venire.estimate import Estimate
from venire.tabular import Records, Tabular, known
from venire.types import Floats
from venire.words import counted


@dataclass(frozen=True, eq=False)
class ClickSummary(Tabular):
    """A log in numbers; ``mean_ctr`` is over topics, ``rates`` (topic,) are theirs, in the order of ``clicks.topics``.

    mean_ctr has NaN limits where there is one topic only, and is NaN where the log has nothing but clicks.
    """

    clicks: Clicks
    rates: Floats
    mean_ctr: Estimate

    def record(self) -> dict[str, object]:
        """Return it as a JSON object."""
        clicks, ctr = self.clicks, self.mean_ctr
        return {
            "sessions": clicks.sessions,
            "topics": len(clicks.topics),
            "documents": len(clicks),
            "impressions": int(clicks.impressions.sum()),
            "clicks": int(clicks.clicks.sum()),
            "satisfied": int(clicks.satisfied.sum()),
            "rule": clicks.rule,
            "mean_ctr": known(ctr.value),
            "low": known(ctr.low),
            "high": known(ctr.high),
        }

    def ranks(self) -> list[dict[str, int | float]]:
        """Return what happened at each rank: counts, and clicks and satisfied clicks over impressions."""
        ranks = self.clicks.ranks
        columns = (ranks.rank, ranks.impressions, ranks.clicks, ranks.satisfied)
        return [
            {"rank": rank, "impressions": shown, "clicks": clicked, "satisfied": good}
            | {"click_rate": clicked / shown, "satisfied_rate": good / shown}
            for rank, shown, clicked, good in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def records(self) -> Records:
        """Return one row per rank."""
        return [dict(row) for row in self.ranks()]

    def sentence(self) -> str:
        """Say it in one sentence."""
        ctr, topics = self.mean_ctr, counted(len(self.rates), "topic")
        limits = "" if np.isnan(ctr.low) else f" [{ctr.low:.3f}, {ctr.high:.3f}]"
        log = f"{counted(self.clicks.sessions, 'session')} on {topics}"
        if np.isnan(ctr.value):
            return f"{log}: the click-through rate is not known, since the log has no result without a click."
        return (
            f"{log}: a document that is shown gets a satisfied click "
            f"({self.clicks.rule}) {ctr.value:.3f}{limits} of the time, averaged over documents, then topics."
        )


def summarise_clicks(clicks: Clicks) -> ClickSummary:
    """Sum a click log up.

    Examples
    --------
    >>> from venire import read_clicks
    >>> log = read_clicks({"topic": ["q1", "q2"], "docs": ["a b", "c d"], "clicks": ["1 0", "0 0"]})
    >>> summarise_clicks(log).mean_ctr.value
    0.25
    """
    rates = clicks.topic_rates()
    n, low, high = len(rates), float("nan"), float("nan")
    mean = float("nan") if clicks.all_clicked else float(rates.mean())
    if n > 1 and not clicks.all_clicked:
        from scipy.special import stdtrit

        half = float(stdtrit(n - 1, (1 + LEVEL) / 2) * rates.std(ddof=1) / np.sqrt(n))
        low, high = max(mean - half, 0.0), min(mean + half, 1.0)
    return ClickSummary(clicks, rates, Estimate(mean, low, high, LEVEL, f"Student over topics, n={n}"))
