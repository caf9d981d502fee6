"""Corrected scores: intervals cover what the reference gives, on simulated collections and on TREC DL 2021."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from venire import evaluate, read_judgments, read_runs
from venire.comparison import corrected_scores
from venire.disagreement.top_results import results_to_label
from venire.io.runs import scan

N_TOPICS, N_DOCS, N_SYSTEMS, DEPTH = 25, 60, 8, 10


def collection(rng: np.random.Generator, *, favour: float = 0.0):
    """Make labels 0 to 2 of a person and a judge, and runs; with ``favour``, the judge's errors rank for system 0.

    Relevance is normal; a topic has thresholds of its own; runs rank by relevance plus noise of their own.
    """
    shape = (N_TOPICS, N_DOCS)
    relevance = rng.normal(size=shape)
    error = rng.normal(size=shape)
    bounds = np.array([0.0, 0.9]) + rng.normal(size=(N_TOPICS, 2)) * 0.3
    person = (relevance[..., None] > np.sort(bounds)[:, None]).sum(axis=-1)
    judge = ((relevance + error)[..., None] > [-0.3, 0.6]).sum(axis=-1)
    quality = rng.uniform(0.3, 1.5, N_SYSTEMS)
    scores = [q * relevance + rng.normal(size=shape) + favour * error * (s == 0) for s, q in enumerate(quality)]
    topic, doc = (each.ravel().astype(str) for each in np.indices(shape))
    names = np.char.add(np.char.add(topic, "-"), doc)
    columns = {"topic": topic, "doc": names}
    frames = [
        pl.DataFrame(columns | {"assessor": who, "label": each.ravel()})
        for who, each in (("judge", judge), ("person", person))
    ]
    labels = read_judgments(pl.concat(frames), scale="0<1<2")
    runs = {
        f"s{s}": {str(t): dict(zip(names.reshape(shape)[t], each[t].tolist(), strict=True)) for t in range(N_TOPICS)}
        for s, each in enumerate(scores)
    }
    return labels, read_runs(runs)


def keep(labels, runs, n: int, seed: int, *, person: str = "person"):
    """Keep n labels of the person, on results drawn from the lists."""
    drawn = set(results_to_label(labels, runs, n, rng=seed))
    frame = labels.to_polars().select("topic", "doc", "assessor").rows()
    kept = [who != person or (topic, doc) in drawn for topic, doc, who in frame]
    return labels.take(np.array(kept))


def coverage(measure: str, n: int, n_collections: int, **options) -> tuple[float, float, np.ndarray, float]:
    """Share of systems and differences within their intervals, errors before and after, and differences from s0."""
    systems, pairs, errors, first = [], [], [], []
    for seed, rng in enumerate(np.random.default_rng(11).spawn(n_collections)):
        labels, runs = collection(rng, **options)
        truth = evaluate(labels, runs, measure, assessor="person").mean().values[:, 0]
        some = keep(labels, runs, n, seed)
        found = corrected_scores(some, runs, measure, judge="judge", reference="person", n_draws=600, rng=seed)
        systems.append((found.low[:, 0] <= truth) & (truth <= found.high[:, 0]))
        a, b = np.triu_indices(len(truth), 1)
        between = found.pairs()
        pairs.append((between.low <= truth[a] - truth[b]) & (truth[a] - truth[b] <= between.high))
        first.append(pairs[-1][a == 0])
        errors.append([np.abs(each[:, 0] - truth).mean() for each in (found.raw, found.value)])
    return float(np.mean(systems)), float(np.mean(pairs)), np.mean(errors, axis=0), float(np.mean(first))


@pytest.mark.parametrize(("measure", "n"), [("P(rel=2)@10", 100), ("P(rel=2)@10", 400), ("DCG@10", 100)])
def test_intervals_of_linear_measures_cover(measure, n):
    systems, pairs, (before, after), _ = coverage(measure, n, 40)
    assert systems > 0.91
    assert pairs > 0.91
    assert after < before


@pytest.mark.parametrize("favour", [1.0, 3.0])
def test_intervals_cover_where_the_judge_favours_a_system(favour):
    """A system that ranks by the errors of the judge: its differences from others are covered, as others are."""
    systems, pairs, (before, after), favoured = coverage("P(rel=2)@10", 400, 40, favour=favour)
    assert systems > 0.92
    assert pairs > 0.92
    assert favoured > 0.92
    assert after < before


@pytest.mark.parametrize("measure", ["nDCG@10", "AP(rel=2)"])
def test_intervals_of_other_measures_cover(measure):
    systems, pairs, (before, after), _ = coverage(measure, 400, 20)
    assert systems > 0.8
    assert pairs > 0.88
    assert after < before


def by_intent(rng: np.random.Generator, n: int):
    """Make labels for three intents of each topic, those of the person on n documents of the first 10 of some list."""
    shape = (N_TOPICS, 3, N_DOCS)
    relevance = (rng.normal(size=(N_TOPICS, 1, N_DOCS)) + rng.normal(size=shape)) / np.sqrt(2)
    bounds = np.sort(np.array([0.0, 0.9]) + rng.normal(size=(N_TOPICS, 3, 2)) * 0.3)
    person = (relevance[..., None] > bounds[:, :, None]).sum(axis=-1)
    judge = ((relevance + rng.normal(size=shape))[..., None] > [-0.3, 0.6]).sum(axis=-1)
    quality = rng.uniform(0.3, 1.5, N_SYSTEMS)
    scores = [q * np.sqrt(2) * relevance.mean(axis=1) + rng.normal(size=(N_TOPICS, N_DOCS)) for q in quality]
    runs = {
        f"s{s}": {str(t): {f"{t}-{d}": score for d, score in enumerate(each[t].tolist())} for t in range(N_TOPICS)}
        for s, each in enumerate(scores)
    }
    pool = sorted({f"{t}-{d}" for each in scores for t in range(N_TOPICS) for d in np.argsort(-each[t])[:DEPTH]})
    topic, intent, doc = (each.ravel().astype(str) for each in np.indices(shape))
    columns = {"topic": topic, "intent": intent, "doc": np.char.add(np.char.add(topic, "-"), doc)}
    frames = [
        pl.DataFrame(columns | {"assessor": who, "label": each.ravel()})
        for who, each in (("judge", judge), ("person", person))
    ]
    drawn = pl.col("doc").is_in(rng.choice(pool, n, replace=False).tolist())
    every = pl.concat(frames)
    some = every.filter(drawn | (pl.col("assessor") == "judge"))
    return read_judgments(every, scale="0<1<2"), read_judgments(some, scale="0<1<2"), runs


def test_intervals_of_measures_by_intent_cover():
    """Scores and their differences; where the reference labels a document, it does so for every intent."""
    measures, n_collections = ["alpha_nDCG@10", "ERR_IA@10", "StRecall@5"], 30
    inside, between = np.zeros((2, len(measures)))
    a, b = np.triu_indices(N_SYSTEMS, 1)
    for seed, rng in enumerate(np.random.default_rng(11).spawn(n_collections)):
        labels, some, runs = by_intent(rng, 150)
        truth = evaluate(labels, runs, measures, assessor="person").mean().values
        found = corrected_scores(some, runs, measures, judge="judge", reference="person", n_draws=400, rng=seed)
        inside += ((found.low <= truth) & (truth <= found.high)).mean(axis=0) / n_collections
        for number, name in enumerate(measures):
            pairs, gap = found.pairs(name), truth[a, number] - truth[b, number]
            between[number] += ((pairs.low <= gap) & (gap <= pairs.high)).mean() / n_collections
    assert (inside > 0.91).all(), inside
    assert (between > 0.91).all(), between


@pytest.fixture(scope="module")
def dl21(data_dir):
    labels = read_judgments(data_dir / "dl21_full" / "judges.tsv.gz")
    return labels, scan(read_runs(data_dir / "dl21_full" / "runs.trec.gz"), labels.items)


@pytest.mark.parametrize(
    ("judge", "n", "most", "tau"),
    [
        ("gpt4_umbrela", 300, 0.032, 0.87),
        ("gpt4_umbrela", 1000, 0.021, 0.905),
        ("mistral_p26", 300, 0.042, 0.78),
        ("mistral_p26", 1000, 0.026, 0.78),
    ],
)
def test_dl21(dl21, judge, n, most, tau):
    labels, runs = dl21
    labels = labels.where(assessor=[judge, "nist"])
    truth = evaluate(labels, runs, "P(rel=2)@10", assessor="nist").mean().values[:, 0]
    errors, taus, inside = [], [], []
    for seed in range(6):
        some = keep(labels, runs, n, seed, person="nist")
        found = corrected_scores(some, runs, "P(rel=2)@10", judge=judge, reference="nist", n_draws=2)
        errors.append(np.abs(found.value[:, 0] - truth).mean())
        taus.append(kendalltau(found.value[:, 0], truth).statistic)
        inside.append((found.low[:, 0] <= truth) & (truth <= found.high[:, 0]))
    assert np.mean(errors) <= most
    assert np.mean(taus) >= tau
    assert np.mean(inside) >= 0.9
