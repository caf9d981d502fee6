r"""Verdict: is there a best system, for whom, and with which uncertainty?

Let w be the system with the highest mean score.  It is *named* the winner only if it is significantly better than every
other system: for all j, a two-sided paired t-test of w against j has p <= 1 - confidence.  No adjustment for their
number is needed.  To name w although v is truly best, the test of w against v must reject, and in the wrong direction,
which happens with probability (1 - confidence) / 2 at most, however many systems there are (an intersection-union test:
Berger 1982, Technometrics 24, 295-300).  If two are equal, one is named with probability 1 - confidence; among more
that are equal, usually with less.  Systems that do not differ significantly from w are its *rivals*.

If scores by other judges are given, w is named *without reserve* only if none of them contradicts it: on a pair of w
and another system, judges contradict each other, or another judge has the other system ahead significantly
(``comparison.by_judge``, with p-values adjusted for the pairs of w and for the judges).

The probability that w comes first is estimated by the share of draws in which it does, by source: other topics,
another judge, both (``comparison.uncertainty``), and another user, for whom relevance is drawn
(``measures.random_users``).  Systems with the same score on every topic, its *twins*, count as one system: the
probability is that one of them comes first, so that a copy of a system changes no probability.  A first place shared
by k different systems counts 1 / k.  The *margin* is the 95% quantile over draws of how far the best of the others is
ahead of w or its twins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.comparison.by_judge import ScoresByJudge
from venire.comparison.contradictions import Reversal
from venire.comparison.forecast import TIE
from venire.comparison.significance import CONFIDENCE
from venire.comparison.tests import PairedT, paired_scores
from venire.errors import SettingError
from venire.measures.scores import Scores
from venire.results import Records, Tabular, counted, known, listed
from venire.types import Bools, Floats, Ints

SOURCES = {
    "topics": "other topics",
    "judges": "another judge",
    "both": "another judge on other topics",
    "users": "a random user",
}
"""What is drawn, by source of draws."""
MOST_NAMES = 4
TOP = 10
"""Contradictions about a system of this rank or better are told first."""


@dataclass(frozen=True, eq=False)
class Verdict(Tabular):
    """``best`` has the highest mean, ``rivals`` do not differ significantly from it; p_first and margin are by source.

    twins: rivals with the same score on every topic; ``closest`` is the first other rival.  mean (system,): scores.
    lead: how far the best is ahead of the next system; p_next: the p-value of that difference.  judge: whose labels
    score the systems; reversals: other judges who have another system ahead of the best.
    """

    systems: tuple[str, ...]
    measure: str
    mean: Floats
    n_topics: int
    best: str
    rivals: tuple[str, ...]
    twins: tuple[str, ...]
    second: str | None
    lead: float
    p_next: float
    p_first: Mapping[str, float]
    margin: Mapping[str, float]
    confidence: float = CONFIDENCE
    judge: str | None = None
    reversals: tuple[Reversal, ...] = ()

    @property
    def leader(self) -> str | None:
        """The system that is significantly better than all others by these labels, or None."""
        return self.best if not self.rivals and len(self.systems) > 1 else None

    @property
    def winner(self) -> str | None:
        """The system that is named the winner without reserve: the leader, if no judge contradicts it; or None."""
        return None if self.contradictions or self.doubtful else self.leader

    @property
    def doubtful(self) -> bool:
        """Whether another judge would rather have another system first."""
        return self.p_first.get("judges", 1.0) < 0.5

    @property
    def contradictions(self) -> tuple[Reversal, ...]:
        """The reversals by which judges contradict that the best system is ahead.

        Those about one of the first ten systems come first, then those with the largest difference.
        """
        found = [row for row in self.reversals if row.contradicts or row.b == self.best]
        return tuple(sorted(found, key=lambda row: (not self.near_the_top(row), -row.ahead_of(self.best))))

    @property
    def contradiction(self) -> Reversal | None:
        """The contradiction to name first: about one of the first ten systems, or any where there is a leader."""
        first = next(iter(self.contradictions), None)
        return first if first is None or self.leader or self.near_the_top(first) else None

    def near_the_top(self, row: Reversal) -> bool:
        """Whether both systems of a reversal are among the first ten."""
        top = [self.systems[n] for n in np.argsort(-self.mean, kind="stable")[:TOP].tolist()]
        return row.a in top and row.b in top

    @property
    def closest(self) -> str | None:
        """The rival with the highest mean, of those whose scores differ from the best."""
        return next((name for name in self.rivals if name not in self.twins), None)

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "winner": self.winner,
            "leader": self.leader,
            "judge": self.judge,
            "best": self.best,
            "rivals": list(self.rivals),
            "twins": list(self.twins),
            "measure": self.measure,
            "mean": float(self.mean.max()),
            "lead": known(self.lead),
            "p_value": known(self.p_next),
            "topics": self.n_topics,
            "p_first": dict(self.p_first),
            "margin": dict(self.margin),
            "contradicted_by": [row.record() for row in self.contradictions],
        }

    def records(self) -> Records:
        """Return one row per system, best first: its mean, and whether it differs significantly from the best."""
        standing = {self.best: "best", **dict.fromkeys(self.rivals, "not significantly behind")}
        return [
            {
                "system": self.systems[n],
                "mean": known(self.mean[n]),
                "standing": standing.get(self.systems[n], "behind"),
            }
            for n in np.argsort(-self.mean, kind="stable").tolist()
        ]

    def sentence(self) -> str:
        """Return the winner, or the rivals of the best system, and how often it comes first in simulated outcomes."""
        if len(self.systems) == 1:
            return f"There is one system only, {self.best}; its {self.measure} is {self.mean[0]:.3f}."
        topics = counted(self.n_topics, "topic")
        if self.mean.max() <= TIE:
            return f"No winner can be named: all {len(self.systems)} systems score 0 by {self.measure} over {topics}."
        if self.leader is not None:
            others = "the other system" if len(self.systems) == 2 else f"the {len(self.systems) - 1} other systems"
            text = (
                f"{self.best} is significantly better than {others} by {self.measure} ({self.mean.max():.3f}, "
                f"{self.lead:.3f} ahead of {self.second}, p = {self.p_next:.2g} over {topics})"
            )
            return self._with_reserve(text)
        first = listed([f"{self.best} ({self.mean.max():.3f})", *self.twins], MOST_NAMES)
        alike = ", which score the same on every topic," if self.twins else ""
        rivals = [name for name in self.rivals if name not in self.twins]
        verb = "do not differ significantly from" if self.twins else "does not differ significantly from"
        verb = "cannot be tested against" if self.n_topics < 2 else verb
        text = f" {verb} {listed(rivals, MOST_NAMES)}" if rivals else " have the highest score"
        return f"No winner can be named: by {self.measure} over {topics}, {first}{alike}{text}{self._stays()}."

    def _with_reserve(self, text: str) -> str:
        """Say which judges have another system ahead of the leader."""
        whose = f"With the labels of {self.judge}, " if self.judge else ""
        if not self.contradictions:
            reserve = (
                "No winner can be named without reserve, because another judge would rather have another system first"
            )
            before = f"{reserve}. {whose}" if self.doubtful else ""
            return f"{before}{text}{self._stays()}.{self._not_significantly()}"
        first = self.contradictions[0]
        others = {name for row in self.contradictions for name in (row.judge, row.against)} - {self.judge}
        more = f" ({counted(len(others), 'other judge')} in all)" if len(others) > 1 else ""
        reserve = "No winner can be named without reserve, because judges contradict each other"
        return f"{reserve}: {first.sentence()}{more}. {whose}{text}."

    def _not_significantly(self) -> str:
        """Name the judges who have another system ahead of the leader, but not significantly."""
        names = list(dict.fromkeys(row.against for row in self.reversals))
        whose = f" With the labels of {listed(names, MOST_NAMES)}"
        return f"{whose} another system is ahead of {self.best}, but not significantly." if names else ""

    def _stays(self) -> str:
        shares = list(self.p_first.items())
        if not shares:
            return ""
        of = " of simulated outcomes"
        parts = [f"{_percent(p)}{'' if n else of} with {SOURCES[source]}" for n, (source, p) in enumerate(shares)]
        who = f"one of {listed([self.best, *self.twins], MOST_NAMES)}" if self.twins else "it"
        return f"; {who} comes first in {listed(parts)}"


def verdict(
    scores: Scores,
    measure: str | None = None,
    *,
    draws: Mapping[str, Floats] | None = None,
    confidence: float = CONFIDENCE,
    judge: str | None = None,
    by_judge: ScoresByJudge | None = None,
) -> Verdict:
    """Name the best system, or list the systems that do not differ significantly from it.

    scores: by system and topic, of one measure, or of several and ``measure`` names one.  draws: mean scores (draw,
    system) by source, as of ``uncertainty_sources``; the systems as in ``scores``.  judge: whose labels gave the
    scores; by_judge: the scores by all judges, who may contradict the winner.
    Cost: O(systems x topics + draws x systems).

    Examples
    --------
    >>> values = np.array([[0.9, 0.6, 0.8, 0.7, 0.5, 0.9], [0.5, 0.4, 0.7, 0.3, 0.2, 0.4]])
    >>> found = verdict(Scores(values, ("system", "topic"), {"system": ("new", "old"), "topic": tuple("123456")}))
    >>> found.winner, round(found.lead, 4), round(found.p_next, 4)
    ('new', 0.3167, 0.0033)
    """
    one = scores.select(measure=measure or scores.names["measure"][0]) if "measure" in scores.axes else scores
    name = measure or scores.names.get("measure", ("score",))[0]
    mean, systems = one.mean("topic").values, one.names["system"]
    if np.isnan(mean).all():
        raise SettingError("no system has a score", hint="judge documents that the systems return")
    mean = np.nan_to_num(mean, nan=-np.inf)
    order = np.argsort(-mean, kind="stable")
    best, runner = int(order[0]), int(order[min(1, len(order) - 1)])
    p = _p_values(one)[best]
    worse = (p <= 1 - confidence + 1e-12) & (mean < mean[best] - TIE)
    group = same_scores(one)
    sure = {source: first_places(each, group)[best] for source, each in (draws or {}).items()}
    alone = len(systems) == 1
    return Verdict(
        systems,
        name,
        mean,
        len(one.names["topic"]),
        systems[best],
        tuple(systems[other] for other in order[1:].tolist() if not worse[other]),
        tuple(systems[n] for n in np.flatnonzero(group == group[best]).tolist() if n != best),
        None if alone else systems[runner],
        np.nan if alone else float(mean[best] - mean[runner]),
        float(p[runner]),
        {source: float(share) for source, share in sure.items()},
        {source: _margin(each, group == group[best]) for source, each in (draws or {}).items()},
        confidence,
        judge,
        () if by_judge is None or alone else by_judge.contradictions(name, pairs=systems[best]).reversals,
    )


def same_scores(scores: Scores) -> Ints:
    """Number groups of systems that have the same score on every topic -> (system,)."""
    values = np.moveaxis(scores.values, scores.axes.index("system"), 0).reshape(len(scores.names["system"]), -1)
    first = [np.isclose(values, row, rtol=0, atol=TIE, equal_nan=True).all(axis=1).argmax() for row in values]
    return np.unique(first, return_inverse=True)[1]


def first_places(draws: Floats, group: Ints) -> Floats:
    """Return the share of draws in which a system of the same group comes first, others shared -> (system,).

    draws (draw, system), group (system,): numbers from 0.

    Examples
    --------
    >>> first_places(np.array([[0.6, 0.6, 0.5], [0.4, 0.4, 0.7]]), np.array([0, 0, 1]))
    array([0.5, 0.5, 0.5])
    """
    best = np.stack([draws[:, group == n].max(axis=1) for n in range(group.max() + 1)], axis=1)
    top = best >= best.max(axis=1, keepdims=True) - TIE
    share: Floats = (top / top.sum(axis=1, keepdims=True)).mean(axis=0)
    return share[group]


def _p_values(scores: Scores) -> Floats:
    """Return two-sided p-values of paired t-tests over topics -> (system, system); NaN on the diagonal."""
    n = len(scores.names["system"])
    p = np.full((n, n), np.nan)
    if n > 1:
        paired = paired_scores(scores)
        p[paired.a, paired.b] = p[paired.b, paired.a] = PairedT().p_values(paired, np.random.default_rng(0))
    return p


def _margin(draws: Floats, best: Bools) -> float:
    """Return how far others are ahead of the best systems, 95% quantile: draws (draw, system), best (system,)."""
    if best.all():
        return 0.0
    behind = np.quantile(draws[:, ~best].max(axis=1) - draws[:, best].max(axis=1), 0.95)
    return max(float(behind), 0.0)


def _percent(p: float) -> str:
    """Format a share of draws in per cent, never as 0% or 100%."""
    if p > 0.99:
        return "over 99%"
    return "under 1%" if p < 0.01 else f"{p:.0%}"
