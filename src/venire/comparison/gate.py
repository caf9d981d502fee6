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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from venire.comparison.compare import OBSERVED, Comparison
from venire.comparison.significance import HeadToHead, compare_systems, head_to_head
from venire.results import counted, listed

LEVEL, SURE = 0.05, 0.9
"""Level of the tests over topics, and the least probability under another judge."""
MOST_TOPICS = 5
"""Number of topics that are named."""


def objections(found: Comparison, *, margin: float = 0.0) -> list[str]:
    """Return why it may not be claimed that the first system of the pair is ahead, or at most ``margin`` behind.

    A claim without objection cannot be made in both directions.
    """
    against = found.contradictions.against(*found.pairs[0], margin=max(margin, 0.0))
    reasons = [*nothing_returned(found), *against.reasons()]
    candidate, favoured, reference = found.pairs[0][0], found.favoured, found.case.judgments.reference
    by_reference = found.swap is not None and set(found.swap.transitions.new) <= set(reference)
    for record in found.records():
        if favoured is not None and candidate in favoured.found and record["method"] != OBSERVED:
            reasons.append(
                f"{favoured.judge} favours {candidate}, compared with the labels of {listed(favoured.reference)}"
            )
        if by_reference and record["p_flips"] > record["p_stays_ahead"]:
            about = f"{listed(reference)} would rather have {record['b']} ahead (p_flips = {record['p_flips']:.2f})"
            reasons.append(about)
    return list(dict.fromkeys(reasons))


def nothing_returned(found: Comparison) -> list[str]:
    """Name the systems of the pair that returned nothing for any judged topic."""
    facts = found.case.facts
    some = {facts.systems[number] for number in facts.system[facts.depth > 0].tolist()}
    return [f"{name} returned nothing for any judged topic" for name in found.pairs[0] if name not in some]


@dataclass(frozen=True, eq=False)
class Claim:
    """The claim that one system is better than another by a comparison of the two.

    margin: 0 for superiority; else the candidate may be behind by this much
    level: of the test over topics; sure: the least probability under another judge
    """

    found: Comparison
    margin: float = 0.0
    level: float = LEVEL
    sure: float = SURE

    @cached_property
    def reasons(self) -> list[str]:
        """Why the claim may not be made; empty if it may."""
        return [*objections(self.found, margin=self.margin), *self._over_topics(), *self._by_another_judge()]

    def _over_topics(self) -> Iterator[str]:
        candidate, baseline = self.found.pairs[0]
        for each in self.found.by_measure:
            delta, p = float(each.tested.delta[0]), float(each.tested.p_value[0])
            by = f"by {each.tested.measure}"
            if self.margin > 0:
                low = self.lower_bound(each.tested.measure)
                if not low > -self.margin:
                    shown = "not known" if np.isnan(low) else f"{low:+.4f}"
                    yield f"{by}, the lower bound of the difference is {shown}, below the margin of -{self.margin:g}"
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
                name = self.found.pairs[0][0]
                yield (
                    f"by {each.tested.measure}, {name} is {than} under another judge with probability {p:.2f}, "
                    f"required {self.sure:g}"
                )

    def topics(self, measure: str) -> HeadToHead:
        """Return the topics by one measure, the largest gain of the candidate first."""
        return head_to_head(self.found.scores, *self.found.pairs[0], measure=measure)

    def sentence(self) -> str:
        """Return the claim, why it may not be made, and the topics on which the candidate loses most."""
        candidate, baseline = self.found.pairs[0]
        claim = f"better than {baseline}" if self.margin <= 0 else f"no more than {self.margin:g} worse than {baseline}"
        lines = [f"{candidate} is {'not shown to be ' if self.reasons else ''}{claim}"]
        lines += [f"  {reason}" for reason in self.reasons]
        for each in self.found.by_measure:
            effects, measure = each.tested.effects, each.tested.measure
            topics = counted(int(each.tested.n_topics[0]), "topic")
            low, high = effects.low[0], effects.high[0]
            interval = "not known" if np.isnan(low) else f"[{low:+.4f}, {high:+.4f}]"
            lines.append(f"  {measure}: difference {effects.delta[0]:+.4f}, 95% interval {interval}, {topics}")
            found = self.topics(measure)
            worst = [
                f"{topic} ({difference:+.4f})"
                for topic, difference in zip(found.topics[::-1], found.difference[::-1].tolist(), strict=True)
                if difference < 0
            ]
            if worst:
                lines.append(f"  worst topics by {measure}: {', '.join(worst[:MOST_TOPICS])}")
        return "\n".join(lines)
