"""Favoured systems: how often one is named although none is favoured, how often one that is, and how far off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from scipy.stats import binomtest

from venire import read_judgments
from venire.comparison import favoured_systems
from venire.comparison.favour_statistics import shrunken
from venire.io.runs import scan

N_TOPICS, N_DOCS, DEPTH, N_LABELS, N_COLLECTIONS = 30, 60, 30, 400, 200
QUALITY = np.array([0.2, 0.6, 1.0, 1.4])
"""How much more relevant than others the documents of each system are."""


def collection(rng, *, favoured):
    """Return judgments of a judge and of a person, and runs of four systems and one that ranks by the judge, or not.

    Topics differ in how lenient the judge is; its errors do not depend on the systems.
    """
    relevance = rng.normal(size=(N_TOPICS, N_DOCS))
    error = rng.normal(0.3 + 0.4 * rng.normal(size=(N_TOPICS, 1)), 1.2, (N_TOPICS, N_DOCS))
    person, judge = (relevance > 0.5).astype(int), (relevance + error > 0.5).astype(int)
    scores = [quality * relevance + rng.normal(size=relevance.shape) for quality in QUALITY]
    last = 0.6 * relevance + rng.normal(size=relevance.shape)
    scores.append(last + 10.0 * judge if favoured else last)
    topic, doc = (each.ravel().astype(str) for each in np.indices(relevance.shape))
    names = np.char.add(np.char.add(topic, "-"), doc)
    columns = {"topic": topic, "doc": names}
    tables = [
        pl.DataFrame(columns | {"assessor": who, "label": each.ravel()}) for who, each in (("j", judge), ("p", person))
    ]
    runs = {
        f"s{number}": {
            str(t): {f"{t}-{d}": float(score[t, d]) for d in np.argsort(-score[t])[:DEPTH]} for t in range(N_TOPICS)
        }
        for number, score in enumerate(scores)
    }
    labels = read_judgments(pl.concat(tables))
    return labels, scan(runs, labels.items)


def sampled(labels, runs, rng):
    """Keep some labels of the person, drawn from the lists in proportion to their weight."""
    facts = runs.facts
    weight = np.bincount(facts.item[facts.rank <= 10], minlength=len(labels.items))
    of_person = labels.assessor.among("p", "assessor")
    rows = np.flatnonzero(of_person & (weight[labels.item] > 0))
    kept = ~of_person
    kept[rows[np.argsort(rng.exponential(size=len(rows)) / weight[labels.item[rows]])[:N_LABELS]]] = True
    return labels.take(kept)


def mixed(runs, rng):
    """Give the lists of every topic to the systems at random, so that none is favoured."""
    facts = runs.facts
    names = np.array([rng.permutation(len(facts.systems)) for _ in facts.items.topics])
    return replace(runs, facts=replace(facts, system=names[facts.topic, facts.system].astype(np.int32)))


def test_no_system_is_named_if_none_is_favoured():
    wrong = 0
    for rng in np.random.default_rng(3).spawn(N_COLLECTIONS):
        labels, runs = collection(rng, favoured=False)
        runs = mixed(runs, rng)
        found = favoured_systems(sampled(labels, runs, rng), runs, "P@10", judge="j", reference="p", margin=0, rng=rng)
        wrong += bool((found.by_system.p_adjusted < 0.05).any())
    assert binomtest(wrong, N_COLLECTIONS, p=0.05, alternative="greater").pvalue > 1e-3, wrong


def test_a_system_that_ranks_by_the_judge_is_found_and_others_are_not():
    right, wrong, off = 0, 0, []
    for rng in np.random.default_rng(4).spawn(100):
        labels, runs = collection(rng, favoured=True)
        some = sampled(labels, runs, rng)
        found = favoured_systems(some, runs, "P@10", judge="j", reference="p", rng=rng)
        true = favoured_systems(labels, runs, "P@10", judge="j", reference="p", rng=rng)
        right += "s4" in found.found
        wrong += bool(set(found.found) - {"s4"})
        off.append(found.by_system.difference[:, 0] - true.by_system.difference[:, 0])
        assert [note.fields["system"] for note in found.notes if note.kind == "judge-as-ranker"] == ["s4"]
    assert right >= 90
    assert binomtest(wrong, 100, p=0.05, alternative="greater").pvalue > 1e-3, wrong
    error = np.array(off)
    assert (np.abs(error.mean(axis=0)) < 4 * error.std(axis=0) / np.sqrt(len(error))).all()


def test_shrunken_intervals_cover():
    rng = np.random.default_rng(5)
    for tau in (0.0, 0.05, 0.2):
        true = tau * rng.normal(size=(2000, 6))
        error = rng.uniform(0.03, 0.07, true.shape)
        held = 0.0
        for truth, se in zip(true, error, strict=True):
            value, deviation = shrunken(truth + se * rng.normal(size=6), se)
            held += float((np.abs(value - truth) < 1.96 * deviation).mean())
        assert held / len(true) > 0.925, (tau, held / len(true))
