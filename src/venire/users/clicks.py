"""Click logs: clicks by rank, the mean click-through rate with an interval, and online measures of runs.

Golbus et al. (2014, doi:10.1145/2566486.2568015), Section 5.2.1; the rates are those of ``data.clicks``.  The mean
click-through rate over topics has Student's interval from the topics' standard deviation, the limit of a bootstrap over
topics.  It covers other topics of the same kind, not other users of these topics.  Online measures are

    CTR            mean click-through rate of all documents shown for a topic: a set has no order, so it is the same
                   for every run
    CTR@K          the same over the first K documents of a run's list, as far as they were shown to users
    click nDCG@K   nDCG by click labels: 2 satisfied, 1 clicked, 0 neither (also what was never shown); gains 2^g - 1,
                   their Eq. (2); 0 where a topic had no click

Without runs, the list that was shown most often for each topic is scored, under the name ``shown``.
Clicks at any rank of any page count, whatever list is scored.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venire.comparison.rank_agreement import CONFIDENCE
from venire.data.clicks import Clicks
from venire.data.gains import GainsLike
from venire.data.runs import Facts, Runs
from venire.errors import UnjudgedWarning, UnknownName
from venire.io.clicks import ClicksLike, read_clicks
from venire.io.runs import RunsLike, as_runs, scan
from venire.measures.evaluate import evaluate
from venire.measures.scores import Scores
from venire.results import Estimate, Note, Records, Tabular, counted, known
from venire.types import Bools, Floats

MANY_UNSEEN = 0.2


@dataclass(frozen=True, eq=False)
class ClickSummary(Tabular):
    """Summary of a log; ``mean_ctr`` is over topics, ``rates`` (topic,) are theirs, in the order of ``clicks.topics``.

    mean_ctr has NaN limits where there is one topic only, and is NaN where the log has nothing but clicks.
    """

    clicks: Clicks
    rates: Floats
    mean_ctr: Estimate

    def record(self) -> dict[str, object]:
        """Return the totals."""
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

    def records(self) -> Records:
        """Return one row per rank: counts, and clicks and satisfied clicks over impressions."""
        ranks = self.clicks.ranks
        columns = (ranks.rank, ranks.impressions, ranks.clicks, ranks.satisfied)
        names = ("rank", "impressions", "clicks", "satisfied", "click_rate", "satisfied_rate")
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [dict(zip(names, (*row, row[2] / row[1], row[3] / row[1]), strict=True)) for row in rows]

    def sentence(self) -> str:
        """Return the size of the log and the mean click-through rate."""
        ctr = self.mean_ctr
        limits = "" if np.isnan(ctr.low) else f" [{ctr.low:.3f}, {ctr.high:.3f}]"
        rate = "not known, since the log has no result without a click" if np.isnan(ctr.value) else f"{ctr.value:.3f}"
        log = f"{counted(self.clicks.sessions, 'session')} on {counted(len(self.rates), 'topic')}"
        return f"{log}: the mean rate of satisfied clicks ({self.clicks.rule}) per document shown is {rate}{limits}."


def summarise_clicks(clicks: ClicksLike) -> ClickSummary:
    """Summarise a click log.

    Examples
    --------
    >>> from venire import read_clicks
    >>> log = read_clicks({"topic": ["q1", "q2"], "docs": ["a b", "c d"], "clicks": ["1 0", "0 0"]})
    >>> summarise_clicks(log).mean_ctr.value
    0.25
    """
    clicks = read_clicks(clicks)
    rates = clicks.topic_rates()
    n, low, high = len(rates), float("nan"), float("nan")
    mean = float("nan") if clicks.all_clicked else float(rates.mean())
    if n > 1 and not clicks.all_clicked:
        from scipy.special import stdtrit

        half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2) * rates.std(ddof=1) / np.sqrt(n))
        low, high = max(mean - half, 0.0), min(mean + half, 1.0)
    return ClickSummary(clicks, rates, Estimate(mean, low, high, CONFIDENCE, f"Student over topics, n={n}"))


@dataclass(frozen=True, kw_only=True)
class Online:
    """Settings of online measures: the first ``top`` documents of a list, and the gains of click labels."""

    top: int = 5
    gains: GainsLike = "exponential"

    @property
    def names(self) -> tuple[str, str, str]:
        """Names of the online measures."""
        return "CTR", f"CTR@{self.top}", f"click nDCG@{self.top}"


def lists_of(clicks: Clicks, runs: RunsLike | None) -> Runs:
    """Return the runs given, or the lists that were usually shown."""
    return clicks.usual_lists() if runs is None else as_runs(runs)


def online_scores(
    clicks: ClicksLike,
    runs: RunsLike | None = None,
    *,
    topics: Iterable[str] | None = None,
    setting: Online = Online(),
) -> Scores:
    """Score runs by clicks -> Scores (system, topic, measure); NaN where none of a list's documents was shown.

    topics: only these, as far as they are in the log.  Topics that no run has are left out.
    """
    clicks = read_clicks(clicks)
    sources = scan(lists_of(clicks, runs), clicks.items)
    facts = sources.facts
    chosen = _chosen(clicks, facts, topics)
    names = tuple(name for name, wanted in zip(clicks.topics, chosen, strict=True) if wanted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjudgedWarning)  # documents that were never shown: a note below
        cut = f"nDCG@{setting.top}"
        labels = evaluate(clicks.labels(), sources, cut, gains=setting.gains, topics=names, missing="skip")
    kept = [facts.systems.index(name) for name in labels.names["system"]]
    of_topic = np.broadcast_to(clicks.topic_rates()[chosen], labels.values.shape[:2])
    of_top, unseen = _top_rates(clicks, facts, setting.top)
    values = np.stack([of_topic, of_top[kept][:, chosen], labels.values[..., 0]], axis=-1)
    values = np.where(np.isnan(labels.values), np.nan, values)
    words = "{share:.0%} of the first {top} documents were never shown"
    never = [Note("never-shown", words, share=unseen, top=setting.top)] * (unseen > MANY_UNSEEN)
    notes: tuple[Any, ...] = (*labels.notes, *never)
    axes = {**labels.names, "topic": names, "measure": setting.names}
    return replace(labels, values=values, names=axes, notes=notes)


def _chosen(clicks: Clicks, facts: Facts, topics: Iterable[str] | None) -> Bools:
    """Mark the topics that are asked for and have a list -> (topic,)."""
    chosen = np.zeros(len(clicks.items.topics), dtype=np.bool_)
    chosen[facts.topic] = True
    asked = None if topics is None else set(topics)
    if asked is not None:
        chosen &= np.array([name in asked for name in clicks.topics], dtype=np.bool_)
    if not chosen.any():
        wanted = min(asked) if asked else facts.unjudged_topics[0]
        raise UnknownName("topic of the click log among those asked for:", wanted, clicks.topics)
    return chosen


def _top_rates(clicks: Clicks, facts: Facts, top: int) -> tuple[Floats, float]:
    """Return the mean rate of the first documents of lists -> (system, topic), and the share never shown."""
    hit = facts.rank <= top
    owner = np.repeat(np.arange(len(facts.depth)), facts.n_hits)[hit]
    total = np.bincount(owner, clicks.rates()[facts.item[hit]], minlength=len(facts.depth))
    present = np.bincount(owner, minlength=len(facts.depth))
    mean = np.divide(total, present, out=np.full(len(total), np.nan), where=present > 0)
    table = np.full((len(facts.systems), len(facts.items.topics)), np.nan)
    table[facts.system, facts.topic] = mean
    return table, 1 - float(present.sum() / max(np.minimum(facts.depth, top).sum(), 1))
