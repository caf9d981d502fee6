"""Measures by intent equal those of ndeval (pyndeval) and of ir_measures, and D-nDCG that of NTCIREVAL by global gains.

Where a topic has no relevant document, nNRBP of ndeval is not a number; it is 0 here, as all other measures are.
"""

from __future__ import annotations

import random

import ir_measures
import numpy as np
import polars as pl
import pyndeval
import pytest
from pyNTCIREVAL.metrics import MSnDCG

from their_measures import their_measure
from venire import evaluate, read_judgments

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

NAMES = {
    **{"alpha-DCG@5": "alpha_DCG@5", "alpha-nDCG@10": "alpha_nDCG@10", "alpha-nDCG@20": "alpha_nDCG@20"},
    **{"ERR-IA@10": "ERR_IA@10", "nERR-IA@5": "nERR_IA@5", "nERR-IA@20": "nERR_IA@20", "NRBP": "NRBP"},
    **{"nNRBP": "nNRBP", "P-IA@10": "P_IA@10", "MAP-IA": "AP_IA", "strec@10": "StRecall@10"},
}
WITHOUT_ALPHA = ("P-IA@10", "MAP-IA", "strec@10")
SCHEMA = ["topic", "intent", "doc", "label"]


def collection(seed: int) -> tuple[list[tuple[str, str, str, int]], list[tuple[str, str, float]]]:
    """Draw qrels (some intents are never met, some documents judged for some intents only) and a run without ties."""
    rnd, qrels, run = random.Random(seed), [], []
    for topic in "12345":
        docs, n_intents = [f"d{n}" for n in range(40)], rnd.randint(1, 6)
        for intent in range(1, n_intents + 1):
            share = 0.0 if intent == 1 and n_intents > 2 else rnd.choice([0.05, 0.3])
            judged = [doc for doc in docs[:30] if rnd.random() < 0.7]
            qrels += [(topic, str(intent), doc, rnd.choice([1, 2]) * (rnd.random() < share)) for doc in judged]
        rnd.shuffle(docs)
        run += [(topic, doc, 100.0 - n) for n, doc in enumerate(docs[: rnd.randint(3, 40)])]
    return qrels, run


def lists(run: list[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for topic, doc, score in run:
        found.setdefault(topic, {})[doc] = score
    return found


@pytest.mark.parametrize(("seed", "alpha", "rel"), [(1, 0.5, 1), (2, 0.5, 2), (3, 0.2, 1), (4, 0.9, 1), (5, 1.0, 1)])
def test_equal_to_ndeval(seed, alpha, rel):
    qrels, run = collection(seed)
    judge = pyndeval.RelevanceEvaluator(qrels, list(NAMES), relevance_level=rel, alpha=alpha)
    expected = judge.evaluate(run)
    measures = []
    for theirs, ours in NAMES.items():
        name, at, k = ours.partition("@")
        measures.append(f"{name}(rel={rel}{'' if theirs in WITHOUT_ALPHA else f',alpha={alpha}'}){at}{k}")
    labels = read_judgments(pl.DataFrame(qrels, schema=SCHEMA, orient="row"), scale="0<1<2")
    scores = evaluate(labels, lists(run), measures)
    for topic, values in zip(scores.names["topic"], scores.values[0], strict=True):
        theirs = np.nan_to_num([expected[topic][name] for name in NAMES])
        assert values.tolist() == pytest.approx(theirs.tolist(), abs=1e-12)


def few(seed: int, assessor: str = "") -> list[tuple[str, str, str, int]]:
    """Draw labels of eight documents for five intents, numbered from 0: many are equal in the greedy ideal."""
    rnd = random.Random(f"{seed}{assessor}")
    return [("q", str(i), f"d{n}", int(rnd.random() < 0.4)) for i in range(5) for n in range(8)]


FEW = {"q": {f"d{n}": -float(n) for n in range(8)}}


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_equal_to_ndeval_where_documents_are_equal_and_intents_are_numbered_from_0(alpha):
    names, found, expected = ["nERR-IA@5", "nERR-IA@10", "alpha-nDCG@10", "alpha-DCG@10"], [], []
    for seed in range(150):
        judge = pyndeval.RelevanceEvaluator(few(seed), names, relevance_level=1, alpha=alpha)
        expected.append([judge.evaluate([("q", doc, score) for doc, score in FEW["q"].items()])["q"][n] for n in names])
        measures = [f"{name}(alpha={alpha})@{k}" for name, _, k in (n.replace("-", "_").partition("@") for n in names)]
        labels = pl.DataFrame(few(seed), schema=SCHEMA, orient="row")
        found.append(evaluate(labels, FEW, measures).values.ravel())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def odd(seed: int) -> tuple[list[tuple[str, str, str, int]], list[tuple[str, str, float]]]:
    """Draw few intents and documents, perhaps one, with negative labels, perhaps nothing relevant, and equal scores."""
    rnd, qrels, run = random.Random(seed), [], []
    for topic in "12":
        docs, n_intents = [f"d{n}" for n in range(rnd.choice([1, 3, 8]))], rnd.choice([1, 1, 2, 5])
        labels = rnd.choice([[-2, -1, 0], [-1, 0, 0, 1, 2]])
        qrels += [(topic, str(i), doc, rnd.choice(labels)) for i in range(n_intents) for doc in docs]
        qrels.append((topic, "0", "d99", 0))
        listed = rnd.sample([*docs, "u1", "u2"], rnd.randint(1, len(docs) + 2))
        run += [(topic, doc, float(rnd.randint(0, 2))) for doc in listed]
    return qrels, run


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_equal_to_ndeval_on_odd_shapes(alpha):
    """pyndeval orders equal scores by ascending name, so that it gets the order of trec_eval as scores."""
    measures = [
        f"{name}(rel=1{'' if theirs in WITHOUT_ALPHA else f',alpha={alpha}'}){at}{k}"
        for theirs, (name, at, k) in zip(NAMES, (each.partition("@") for each in NAMES.values()), strict=True)
    ]
    for seed in range(60):
        qrels, run = odd(seed)
        ordered = sorted(run, key=lambda row: (row[0], row[2], row[1]), reverse=True)
        judge = pyndeval.RelevanceEvaluator(qrels, list(NAMES), relevance_level=1, alpha=alpha)
        expected = judge.evaluate([(topic, doc, 100.0 - n) for n, (topic, doc, _) in enumerate(ordered)])
        labels = read_judgments(pl.DataFrame(qrels, schema=SCHEMA, orient="row"), scale="-2<-1<0<1<2")
        scores = evaluate(labels, lists(run), measures, gains="linear")
        for topic, values in zip(scores.names["topic"], scores.values[0], strict=True):
            theirs = np.nan_to_num([expected[topic][name] for name in NAMES])
            assert values.tolist() == pytest.approx(theirs.tolist(), abs=1e-12), (seed, topic)


@pytest.mark.parametrize("seed", [114, 326])
def test_scores_of_an_assessor_do_not_depend_on_others(seed):
    rows = {who: few(seed, who) for who in ("ann", "bob", "cy")}
    frames = {who: pl.DataFrame(each, schema=SCHEMA, orient="row") for who, each in rows.items()}
    both = evaluate(frames, FEW, "nERR_IA(alpha=0.9)@8", per="assessor")
    alone = [evaluate(frame, FEW, "nERR_IA(alpha=0.9)@8").values.item() for frame in frames.values()]
    assert both.values.ravel().tolist() == pytest.approx(alone, abs=1e-12)


def test_equal_to_ir_measures():
    qrels, run = collection(7)
    names = ["alpha_nDCG@10", "alpha_DCG@10", "ERR_IA@10", "nERR_IA@10", "StRecall@10", "P_IA@5", "AP_IA", "NRBP"]
    theirs = [ir_measures.Qrel(topic, doc, label, intent) for topic, intent, doc, label in qrels]
    ranked = [ir_measures.ScoredDoc(*row) for row in run]
    found = ir_measures.iter_calc([their_measure(name) for name in names], theirs, ranked)
    scores = evaluate(read_judgments(theirs, second_column="intent"), lists(run), names)
    cells = {(cell["topic"], cell["measure"]): cell["value"] for cell in scores.records()}
    assert cells == pytest.approx({(each.query_id, str(each.measure)): each.value for each in found}, abs=1e-12)


@pytest.mark.parametrize("k", [1, 5, 10])
def test_global_gains_equal_those_of_ntcireval(k):
    qrels, run = collection(11)
    probability = {(topic, intent): 1 / (1 + int(intent)) for topic, intent, _, _ in qrels}
    frame = pl.DataFrame(qrels, schema=SCHEMA, orient="row")
    scores = evaluate(frame, lists(run), [f"D-nDCG@{k}", f"I-rec@{k}", f"D#-nDCG@{k}"], intents=probability)
    for topic, (gained, found, both) in zip(scores.names["topic"], scores.values[0].tolist(), strict=True):
        mine = [row for row in qrels if row[0] == topic]
        gain: dict[str, float] = {}
        for _, intent, doc, label in mine:
            gain[doc] = gain.get(doc, 0.0) + probability[topic, intent] * label
        grades = sorted({value for value in gain.values() if value > 0})
        level = {doc: 1 + grades.index(value) if value > 0 else 0 for doc, value in gain.items()}
        count = [sum(each == n for each in level.values()) for n in range(len(grades) + 1)]
        ranked = [(doc, level.get(doc, 0)) for _, doc, _ in (row for row in run if row[0] == topic)]
        assert gained == pytest.approx(MSnDCG(count, grades, k).compute(ranked), abs=1e-12)
        top = {doc for doc, _ in ranked[:k]}
        met = {intent for _, intent, doc, label in mine if label > 0 and doc in top}
        assert found == pytest.approx(len(met) / len({intent for _, intent, _, label in mine if label > 0}))
        assert both == pytest.approx((found + gained) / 2)
