"""Disagreement: `python bench/disagreement.py CONTENDER N_LABELS`; prints what it cost as JSON.

venire           a fit with 300 resamples of topics
dictionary loop  what one writes first: ordered pairs in dictionaries, anew for every resample of topics
counts kept      the same loop over pairs, but once; resamples sum up what was counted per topic

Labels are drawn in memory: 5 to an item (the crowd of 2010 has 98,453 labels on 20,232 items of 100 topics by 766
workers), three grades.
"""

from __future__ import annotations

import json
import random
import resource
import sys
from collections import defaultdict
from time import perf_counter

import numpy as np
from machine import megabytes

from venire import Judgments, PredictedRelevance, Scale
from venire.data.ids import Category, Ids
from venire.data.judgments import Items

N_DRAWS, N_ASSESSORS, PER_TOPIC, PER_ITEM = 300, 766, 200, 5


def drawn(n_labels: int) -> Judgments:
    rng = np.random.default_rng(n_labels)
    n_items = max(n_labels // PER_ITEM, 1)
    n_topics = max(n_items // PER_TOPIC, 1)
    topic = np.sort(rng.integers(0, n_topics, n_items)).astype(np.int32)
    item = np.sort(rng.integers(0, n_items, n_labels)).astype(np.int32)
    quality = rng.random(n_items)
    label = (quality[item] + 0.8 * rng.random(n_labels) > 0.7).astype(np.int32)
    label += (quality[item] + 0.8 * rng.random(n_labels) > 1.2).astype(np.int32)
    names = Ids.of(map(str, range(N_ASSESSORS)))
    who = Category(rng.integers(0, N_ASSESSORS, n_labels).astype(np.int32), names)
    items = Items(Ids.of(map(str, range(n_topics))), topic, Ids.of(map(str, range(n_items))))
    return Judgments(Scale.parse("0<1<2"), items, item, who, label)


def venire(judgments: Judgments) -> list[float]:
    return PredictedRelevance(estimator="labels", n_draws=N_DRAWS).fit(judgments).p[0].tolist()


def by_item(judgments: Judgments) -> dict[int, dict[int, list[tuple[int, int]]]]:
    """Labels as (assessor, label), by topic and item."""
    topics: dict[int, dict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    columns = judgments.item, judgments.assessor.codes, judgments.label
    topic = judgments.items.topic.tolist()
    for item, who, label in zip(*(column.tolist() for column in columns), strict=True):
        topics[topic[item]][item].append((who, label))
    return topics


def counted(items: dict[int, list[tuple[int, int]]]) -> dict[int, list[int]]:
    """Hits and pairs by the first label, over all ordered pairs of labels by two assessors."""
    counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for labels in items.values():
        for one, first in labels:
            for other, second in labels:
                if one != other:
                    counts[first][0] += second == 2
                    counts[first][1] += 1
    return counts


def resampled(topics: dict[int, object], count: object) -> list[float]:
    """Shares over all topics; and over every resample, which are thrown away as only the cost is wanted."""
    numbers, rng = list(topics), random.Random(0)
    found: list[float] = []
    for draw in range(N_DRAWS + 1):
        chosen = numbers if draw == 0 else rng.choices(numbers, k=len(numbers))
        hits, pairs = [0, 0, 0], [0, 0, 0]
        for number in chosen:
            for label, (hit, pair) in count(topics[number]).items():
                hits[label] += hit
                pairs[label] += pair
        shares = [hit / pair for hit, pair in zip(hits, pairs, strict=True)]
        found = found or shares
    return found


def dictionary_loop(judgments: Judgments) -> list[float]:
    return resampled(by_item(judgments), counted)


def counts_kept(judgments: Judgments) -> list[float]:
    return resampled({topic: counted(items) for topic, items in by_item(judgments).items()}, lambda kept: kept)


CONTENDERS = {"venire": venire, "dictionary loop": dictionary_loop, "counts kept": counts_kept}

if __name__ == "__main__":
    venire(drawn(1_000))  # loads what is loaded when first needed
    judgments = drawn(int(sys.argv[2]))
    start = perf_counter()
    shares = CONTENDERS[sys.argv[1]](judgments)
    work = perf_counter() - start
    peak = megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(json.dumps({"work": work, "peak": peak, "shares": shares}))
