r"""Topic groups: do kinds of topics disagree differently enough to be fitted apart?

Step 2 of the recipe of Demeester et al. (2015), Section 5.1, and Table 4.  For each notion of relevance the groups are
compared by

.. math:: X^2 = \sum_g \sum_i N_{gi} \frac{(p_{gi} - p_i)^2}{p_i (1 - p_i)}

and by how often topics dealt out to the groups at random differ as much: pairs of one topic are not independent, so
topics change places, not pairs.  The p-value counts the deal at hand among them, and so is never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from venire.data.judgments import Judgments
from venire.errors import PairsError
from venire.models.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.tabular import Records, Tabular
from venire.types import Bools, Floats, Ints, RNGLike

N_DEALS = 1_999
KEEP_APART = 0.05


@dataclass(frozen=True, eq=False)
class GroupComparison(Tabular):
    """Fits of each group, and p_value (relevant,): how surprising their difference is if groups did not matter."""

    fits: Mapping[str, PredictedRelevanceFit]
    names: tuple[str, ...]
    statistic: Floats
    p_value: Floats

    @property
    def p_adjusted(self) -> Floats:
        """p-values times their number (Bonferroni), 1 at most -> (relevant,)."""
        return np.minimum(len(self.p_value) * self.p_value, 1.0)

    def sentence(self) -> str:
        """Say whether the groups should be kept apart."""
        groups = " and ".join(self.fits)
        n, p = len(self.p_value), float(self.p_adjusted.min())
        shown = f"p = {p:.2g}" + (f", adjusted for {n} thresholds" if n > 1 else "")
        if p <= KEEP_APART:
            return f"{groups} disagree differently ({shown}): fit them apart."
        return f"No significant difference between {groups} in how judges disagree ({shown}): one fit serves all."

    def records(self) -> Records:
        """Return one row per group, notion of relevance and label, the highest first."""
        return [{"group": group, **row} for group, fit in self.fits.items() for row in fit.records()]


def compare_groups(
    judgments: Judgments, group_of: Mapping[str, str], setting: PredictedRelevance, *, rng: RNGLike = 0
) -> GroupComparison:
    """Fit each group of topics, and test whether they differ; topics in no group are left out."""
    groups = tuple(dict.fromkeys(group_of.values()))
    if len(groups) < 2:
        found = f"all topics are in the group {groups[0]!r}" if groups else "no topic is in a group"
        raise PairsError(f"{found}, and there is nothing to compare", hint="name two groups or more")
    whole = setting.fit(judgments, rng=rng)
    code = np.array([groups.index(group_of[name]) if name in group_of else -1 for name in judgments.topics])
    there = (whole.by_topic.sum(axis=(1, 2)) > 0) & (code >= 0)
    for number, name in enumerate(groups):
        if not (there & (code == number)).any():
            hint = f"look at the file of groups; there are topics {', '.join(judgments.topics[:5])}"
            raise PairsError(f"no topic of group {name!r} has items judged twice", hint=hint)
    counts, labels = whole.by_topic[there], whole.relevant.labels
    found_here = _differences(counts, code[there][None], len(groups), labels)[0]
    deals = np.random.default_rng(rng).permuted(np.tile(code[there], (N_DEALS, 1)), axis=1)
    as_large = _differences(counts, deals, len(groups), labels) >= found_here * (1 - 1e-12)
    fits = {
        name: whole.setting.fit(_topics_of(judgments, code == number), rng=rng) for number, name in enumerate(groups)
    }
    return GroupComparison(fits, whole.relevant.names, found_here, (1 + as_large.sum(axis=0)) / (1 + N_DEALS))


def _topics_of(judgments: Judgments, chosen: Bools) -> Judgments:
    return judgments.take(chosen[judgments.items.topic[judgments.item]])


def _differences(counts: Floats, code: Ints, n_groups: int, relevant: Bools) -> Floats:
    """X^2 of every deal -> (deal, relevant); counts (topic, first, second), code (deal, topic), relevant (., label)."""
    n = counts.sum(axis=2)
    h = np.einsum("tij,rj->tri", counts, relevant.astype(np.float64))
    whole, p = n.sum(axis=0), h.sum(axis=0) / np.maximum(n.sum(axis=0), 1e-300)
    scale = np.where((p > 0) & (p < 1) & (whole > 0), p * (1 - p), np.inf)
    total = np.zeros((len(code), len(relevant)))
    for group in range(n_groups):
        inside = (code == group).astype(np.float64)
        of_n = (inside @ n)[:, None]
        of_h = (inside @ h.reshape(len(h), -1)).reshape(len(code), *h.shape[1:])
        total += ((of_h - p * of_n) ** 2 / (np.where(of_n > 0, of_n, np.inf) * scale)).sum(axis=2)
    return total
