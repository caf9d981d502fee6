"""Slopes: what the gain of one result adds to the score of its list, by its rank, with all other gains as they are.

For the lists of one judge, and every rank r of the first ones,

    slope(r) = (score with gain m at rank r - score with gain 0 there) / m

with m the largest gain, and the best ranking of the topic left as it is.  Of a sum of discounted gains it is the
discount, over the best sum where the measure is normalised; of AP, ERR or RR it depends on the results around it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venire.data.runs import Facts
from venire.measures.blocks import list_blocks
from venire.measures.measure import Ranked
from venire.measures.scoring import Judges, Labels, Plan, ideals_of
from venire.types import Floats


def rank_slopes(facts: Facts, panel: Judges, plan: Plan, depth: int) -> Floats:
    """Return slopes of the first measure by the labels of the first judge -> (list, depth); NaN: nobody judged it.

    Cost: that of ``2 depth`` scorings.
    """
    deepest = int(facts.depth.max(initial=1))
    measure, worth = plan.measures[0].resolved(deepest), plan.worths[0]
    one = replace(plan, names=plan.names[:1], measures=(measure,), worths=(worth,))
    labels, most = Labels.of(*panel.gains(worth.values, 0, 1), worth.unjudged), float(worth.values.max()) or 1.0
    ideal, slopes = ideals_of(facts, labels, one, None)[0], np.full((len(facts.depth), depth), np.nan)
    for block in list_blocks(facts, labels.gains.shape[1] - 2, depth=measure.k, every_rank=False, n_judges=1):
        gains, judged = labels.gains[:, block.item], labels.judged[:, block.item]
        best = None if ideal is None else ideal[:, facts.topic[block.lists]]
        for slot in range(min(depth, gains.shape[-1])):
            rank = block.rank[:, slot]
            ends = []
            for value in (most, 0.0):
                changed, seen = gains.copy(), judged.copy()
                changed[..., slot], seen[..., slot] = value, True
                ends.append(measure(Ranked(changed, block.rank, seen, block.depth, best))[0])
            there = rank <= depth
            slopes[block.lists[there], rank[there] - 1] = (ends[0] - ends[1])[there] / most
    return slopes
