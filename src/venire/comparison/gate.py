r"""Gates: may it be claimed that one system is better than another, or not worse by more than a margin?

Neither claim may be made if one of the systems returned nothing, if judges contradict it
(``comparison.contradictions``), if the judge who scores the runs favours the candidate (``comparison.favoured``), or if
the declared reference would rather reverse the order (``objections``).  Then

    superiority      :math:`H_0: \delta \le 0`: the difference is significant, by a two-sided test
    non-inferiority  :math:`H_0: \delta \le -\text{margin}`: the lower bound of the difference, one-sided at the level,
                     lies above minus the margin (Piaggio et al. 2012, doi:10.1001/jama.2012.87802)

over topics; and under another judge, if anything is known of one, the difference is above 0, or minus the margin, with
a probability of at least ``SURE``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from venire.checks import need_number
from venire.comparison.compare import OBSERVED, Comparison
from venire.comparison.significance import HeadToHead, SystemComparison, compare_systems, head_to_head
from venire.errors import SettingError, Way
from venire.measures.scores import NOTHING
from venire.results import Records, Tabular, counted, listed, visible

LEVEL, SURE = 0.05, 0.9
"""Level of the tests over topics, and the least probability under another judge."""
MOST_TOPICS = 5
"""Number of topics that are named."""


def objections(found: Comparison, *, margin: float = 0.0) -> dict[tuple[str, str], list[str]]:
    """Return, by pair, why it may not be claimed that its first system is ahead, or at most ``margin`` behind.

    A claim without objection cannot be made in both directions.  Of a system that returned nothing, only this is said.
    """
    reasons = {pair: found.contradictions.against(*pair, margin=max(margin, 0.0)).reasons() for pair in found.pairs}
    for record in found.records():
        pair = record["a"], record["b"]
        if pair in reasons:
            reasons[pair] += [*_any_loss(found, record, margin), *_by_judges(found, record)]
    silent = {pair: [f"{name} {NOTHING}" for name in pair if name in found.scores.silent] for pair in found.untested}
    return {pair: list(dict.fromkeys(texts)) for pair, texts in (reasons | silent).items()}


def _any_loss(found: Comparison, record: Mapping[str, Any], margin: float) -> Iterator[str]:
    """Yield that the first system of a pair is behind, and could not be behind by more than the margin."""
    now = next(each.forecast for each in found.by_measure if each.tested.measure == record["measure"])
    score = float(now.mean[now.systems.index(record["b"])])
    if (record["delta"] or 0) < 0 <= score <= margin:
        yield f"by {record['measure']}, {record['b']} scores {score:.4g}: the margin of {margin:g} allows any loss"


def _by_judges(found: Comparison, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield that the judge favours the first system of a pair, and that the reference would reverse the order."""
    candidate, favoured, reference = record["a"], found.favoured, found.case.judgments.reference
    if favoured is not None and candidate in favoured.found and record["method"] != OBSERVED:
        yield f"{favoured.judge} favours {candidate}, compared with the labels of {listed(favoured.reference)}"
    by_reference = found.swap is not None and set(found.swap.transitions.new) <= set(reference)
    if by_reference and record["p_flips"] > record["p_stays_ahead"]:
        yield f"{listed(reference)} would rather have {record['b']} ahead (p_flips = {record['p_flips']:.2f})"


def topics_returned(found: Comparison) -> dict[str, int]:
    """Return for how many of the scored topics each system returned something."""
    facts, scored = found.case.facts, {*found.scores.names["topic"]}
    counts = np.array([topic in scored for topic in facts.items.topics])[facts.topic] & (facts.depth > 0)
    n = np.bincount(facts.system[counts], minlength=len(facts.systems))
    return dict(zip(facts.systems, n.tolist(), strict=True))


NO_DIFFERENCE = {"delta": None, "low": None, "high": None, "p_value": None, "n_topics": 0}
"""The numbers of a pair of which a system returned nothing."""


def _record(tested: SystemComparison) -> dict[str, Any]:
    effects = tested.effects
    numbers = {"delta": effects.delta, "low": effects.low, "high": effects.high, "p_value": tested.p_value}
    known = {name: None if np.isnan(values[0]) else float(values[0]) for name, values in numbers.items()}
    return {"measure": tested.measure, **known, "n_topics": int(tested.n_topics[0])}


@dataclass(frozen=True, eq=False)
class Claim(Tabular):
    """The claim that one system is better than another by a comparison of the two.

    margin: 0 for superiority; else the candidate may be behind by this much
    level: of the test over topics; sure: the least probability under another judge
    """

    found: Comparison
    margin: float = 0.0
    level: float = LEVEL
    sure: float = SURE

    def __post_init__(self) -> None:
        if (n := len(self.found.pairs) + len(self.found.untested)) != 1:
            ways = [Way("name the systems", candidate="SYSTEM", baseline="SYSTEM")]
            raise SettingError(f"a claim is about 1 pair of systems, found {n}", hint=ways)
        need_number("the margin", self.margin, 0, np.inf, "0 or more")
        need_number("level", self.level, 0, 0.5, "a number above 0 and below 0.5", ends=False)
        need_number("sure", self.sure, 0, 1, "a probability from 0 to 1")

    @cached_property
    def reasons(self) -> list[str]:
        """Why the claim may not be made; empty if it may."""
        against = objections(self.found, margin=self.margin)[self.pair]
        if self.silent:
            return against
        return [*against, *self._over_topics(), *self._by_another_judge()]

    @property
    def pair(self) -> tuple[str, str]:
        """The candidate and the baseline."""
        (pair,) = (*self.found.pairs, *self.found.untested)
        return pair

    @property
    def silent(self) -> bool:
        """Whether one of the systems returned nothing, so that there is nothing to compare."""
        return bool(self.found.untested)

    def _over_topics(self) -> Iterator[str]:
        candidate, baseline = self.pair
        for each in self.found.by_measure:
            delta, p = float(each.tested.delta[0]), float(each.tested.p_value[0])
            by = f"by {each.tested.measure}"
            if self.margin > 0:
                low = self.lower_bound(each.tested.measure)
                if not low > -self.margin:
                    few = "there are too few topics for a lower bound of the difference"
                    bound = f"the lower bound of the difference is {low:+.4f}, below the margin of -{self.margin:g}"
                    yield f"{by}, {few if np.isnan(low) else bound}"
            elif not delta > 0:
                yield f"{by}, {candidate} is not ahead of {baseline}"
            elif not p <= self.level:
                shown = "there are too few topics for a test" if np.isnan(p) else f"p = {p:.3g}, above {self.level:g}"
                yield f"{by}, the difference is not significant over topics: {shown}"

    def lower_bound(self, measure: str) -> float:
        """Return the lower bound of the difference by one measure, one-sided at the level, by Student's t."""
        interval = compare_systems(
            self.found.scores, measure, pairs=self.found.pairs, confidence=1 - 2 * self.level, n_resamples=1
        )
        return float(interval.effects.low[0])

    def _by_another_judge(self) -> Iterator[str]:
        for each in self.found.by_measure:
            draws = each.forecast.draws
            if not len(draws):
                continue
            a, b = int(each.tested.a[0]), int(each.tested.b[0])
            new = draws[:, a] - draws[:, b]
            p = float((new > -self.margin if self.margin > 0 else new > 1e-12).mean())
            if p < self.sure:
                than = f"at most {self.margin:g} behind" if self.margin > 0 else "ahead"
                name = self.pair[0]
                yield (
                    f"by {each.tested.measure}, {name} is {than} under another judge with probability {p:.2f}, "
                    f"required {self.sure:g}"
                )

    def topics(self, measure: str) -> HeadToHead:
        """Return the topics by one measure, the largest gain of the candidate first."""
        return head_to_head(self.found.scores, *self.pair, measure=measure)

    def sentence(self) -> str:
        """Return the claim, and whether it may be made."""
        candidate, baseline = self.pair
        claim = f"better than {baseline}" if self.margin <= 0 else f"no more than {self.margin:g} worse than {baseline}"
        return f"{candidate} is {'not shown to be ' if self.reasons else ''}{claim}"

    def records(self) -> Records:
        """Return a row for each measure: the difference with its 95% interval, its p-value, and the topics."""
        if self.silent:
            return [{"measure": measure, **NO_DIFFERENCE} for measure in self.found.scores.names["measure"]]
        return [_record(each.tested) for each in self.found.by_measure]

    @property
    def notes(self) -> list[str]:
        """Why the claim may not be made."""
        return self.reasons

    def message(self) -> str:
        """Return the claim, why it may not be made, and the topics on which the candidate loses most."""
        lines = [self.sentence(), *(f"  {reason}" for reason in self.reasons)]
        if self.silent:
            return "\n".join(map(visible, lines))
        returned, n = topics_returned(self.found), len(self.found.scores.names["topic"])
        lacking = [(name, n - returned[name]) for name in self.pair if returned[name] < n]
        lines += [f"  {name} returned nothing for {missing} of {counted(n, 'topic')}" for name, missing in lacking]
        for row in self.records():
            interval = "not known" if row["low"] is None else f"[{row['low']:+.4f}, {row['high']:+.4f}]"
            topics, measure = counted(row["n_topics"], "topic"), row["measure"]
            lines.append(f"  {measure}: difference {row['delta']:+.4f}, 95% interval {interval}, {topics}")
            found = self.topics(measure)
            worst = [
                f"{topic} ({difference:+.4f})"
                for topic, difference in zip(found.topics[::-1], found.difference[::-1].tolist(), strict=True)
                if difference < 0
            ]
            if worst:
                lines.append(f"  worst topics by {measure}: {', '.join(worst[:MOST_TOPICS])}")
        return "\n".join(map(visible, lines))
