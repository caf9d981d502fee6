"""A crowd as one judge: how often another crowd, of other workers, keeps the order, against what was forecast."""

from __future__ import annotations

import numpy as np

from venire import compare, evaluate
from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.data.scale import Scale

N_TOPICS, N_DOCS, PER_ITEM, N_WORKERS, N_SYSTEMS = 12, 20, 5, 15, 4
SCALE = Scale.parse("0<1<2")


def collection(rng: np.random.Generator) -> tuple[Judgments, Judgments, dict[str, dict[str, dict[str, float]]]]:
    """Label items by two crowds of different workers, who err and are lenient each in their own way; and rank them."""
    topic = np.repeat(np.arange(N_TOPICS, dtype=np.int32), N_DOCS)
    docs = [f"d{n}" for n in range(len(topic))]
    items = Items(Ids.of(f"{t:02d}" for t in range(N_TOPICS)), topic, Ids.of(docs))
    quality = rng.normal(size=len(topic))
    crowds = [_labels(items, quality, name, rng) for name in "ab"]
    near = quality + rng.normal(0, 0.6, len(topic))
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for number in range(N_SYSTEMS):
        score = 0.6 * near + rng.normal(0, 0.8 + 0.15 * number, len(topic))
        lists: dict[str, dict[str, float]] = {}
        for t, doc, value in zip(topic.tolist(), docs, score.tolist(), strict=True):
            lists.setdefault(f"{t:02d}", {})[doc] = value
        runs[f"s{number}"] = lists
    return crowds[0], crowds[1], runs


def _labels(items: Items, quality: np.ndarray, name: str, rng: np.random.Generator) -> Judgments:
    lenience, noise = rng.normal(0, 0.4, N_WORKERS), rng.uniform(0.4, 1.6, N_WORKERS)
    who = np.argsort(rng.random((len(quality), N_WORKERS)), axis=1)[:, :PER_ITEM].ravel()
    item = np.repeat(np.arange(len(quality), dtype=np.int32), PER_ITEM)
    seen = quality[item] + lenience[who] + noise[who] * rng.normal(size=len(who))
    assessor = Category(who.astype(np.int32), Ids.of(f"{name}{n:02d}" for n in range(N_WORKERS)))
    return Judgments(SCALE, items, item, assessor, np.digitize(seen, [0.3, 1.2]).astype(np.int32))


def test_another_crowd_keeps_the_order_as_often_as_forecast(collections, figure):
    stated, kept = [], []
    for number in range(collections(30)):
        now, later, runs = collection(np.random.default_rng(number))
        found = compare(now, runs, "nDCG@10", pool="majority", n_draws=200, rng=number).records()
        after = evaluate(later, runs, "nDCG@10", pool="majority").mean().values[:, 0]
        for row in found:
            change = (after[int(row["a"][1])] - after[int(row["b"][1])]) * row["delta"]
            stated.append(row["p_stays_ahead"])
            kept.append(change > 0)
    stated_mean, kept_mean = float(np.mean(stated)), float(np.mean(kept))
    brier = float(np.mean((np.array(stated) - kept) ** 2))
    figure("stated", stated_mean)
    figure("kept", kept_mean)
    figure("Brier", brier)
    assert kept_mean - 0.15 < stated_mean < kept_mean + 0.04, "cautious, but not by much"
    assert brier < kept_mean * (1 - kept_mean), "better than the share that is kept"
