from __future__ import annotations

import math
import random

import polars as pl
import pytest
import pytrec_eval

from venire import compare, evaluate
from venire.errors import MeasureError

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")


def table(rows: list[tuple[str, str, int, float | None]], **more: list[str]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["topic", "doc", "label", "probability"], orient="row")
    return frame.with_columns(**{name: pl.Series(column) for name, column in more.items()})


@pytest.mark.parametrize("drawn", [0.4, 0.05])
@pytest.mark.parametrize("seed", range(5))
def test_inferred_average_precision_equals_that_of_trec_eval(seed, drawn):
    rnd, qrels, run = random.Random(seed), {}, {}
    for topic in "123":
        docs = [f"d{n}" for n in range(60)]
        qrels[topic] = {d: int(rnd.random() < 0.4) if rnd.random() < drawn else -1 for d in docs[:40]}
        qrels[topic]["d0"] = 1
        rnd.shuffle(docs)
        run[topic] = {doc: 100.0 - n for n, doc in enumerate(docs[:50])}
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"infAP"}).evaluate(run)
    found = evaluate(qrels, run, "infAP").values.ravel()
    assert found.tolist() == pytest.approx([expected[topic]["infAP"] for topic in "123"], abs=1e-12)


def test_the_pool_of_infap_is_what_anybody_was_asked():
    rows = [("1", "a", 1, None), ("1", "b", 0, None), ("1", "c", 1, None)]
    labels = table(rows, assessor=["ann", "bob", "ann"])
    scores = evaluate(labels, {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "infAP", per="assessor")
    small = 1e-5
    third = (1 + 2 * (1 + small) / (1 + 2 * small)) / 3  # b is of the pool, but not judged by ann
    assert scores.values.ravel().tolist() == pytest.approx([(1 + third) / 2, 0.0])


def slow_statap(rows: list[tuple[str, str, int, float | None]], order: list[str]) -> float:
    weight = {doc: label / (p or 1.0) for _, doc, label, p in rows}
    total, above = 0.0, 0.0
    for rank, doc in enumerate(order, start=1):
        total += weight.get(doc, 0.0) * (1 + above) / rank
        above += weight.get(doc, 0.0)
    return total / sum(weight.values())


def test_statap_equals_printed_output_of_the_evaluation_tool_of_the_million_query_track():
    """statAP_MQ_eval_v4.pl (V. Pavlu), whose formula is that of ``slow_statap``; output of a topic with one relevant
    document of the sample, printed in the source of lucene-clueweb-retrieval (class StatAP, topic 57).

    An estimate of 1.563 relevant documents means a probability of 1/1.563; nDCG_10 = 0.356 = 1 / log2(7) and
    Prec_at_10 = 0.156 mean rank 6.  The tool prints AP = 0.167; 1.563/6 would be 0.261.
    """
    rows = [("57", "f", 1, 1 / 1.563), *(("57", doc, 0, 0.3) for doc in "abcde")]
    found = evaluate(table(rows), {"57": {doc: -float(n) for n, doc in enumerate("abcdef")}}, ["statAP", "nDCG@10"])
    assert [round(value, 3) for value in found.values.ravel().tolist()] == [0.167, 0.356]


def test_statap_equals_what_the_evaluation_tool_of_the_million_query_track_computes():
    """Six digits of AP by the lines of statAP_MQ_eval_v4.pl that it depends on, run by Perl on these two topics: labels
    0 to 2, of which 1 and 2 are relevant, relevant documents that were not retrieved, and an estimate above 1."""
    samples = {
        "1": (
            {"d0": (1, 0.8), "d1": (2, 0.04), "d7": (2, 1.0), "d9": (2, 1.0), "d2": (0, 1.0), "d6": (0, 0.25)},
            0.588791,
        ),
        "4": (
            {"d0": (2, 0.25), "d1": (2, 1.0), "d3": (2, 0.1), "d4": (1, 0.8), "d5": (2, 0.1), "d6": (1, 0.04)}
            | {"d7": (2, 0.5), "d8": (2, 0.8), "d2": (0, 0.25), "d9": (0, 1.0), "d10": (0, 0.8)},
            1.609518,
        ),
    }
    found = {
        "1": "d18 d12 d1 d7 d17 d8 d13 d2 d4 d6 d19 d14 d15 d11 d9",
        "4": "d7 d0 d15 d5 d8 d4 d18 d2 d6 d17 d16 d9 d12 d10 d14",
    }
    rows = [(topic, doc, *of) for topic, (labels, _) in samples.items() for doc, of in labels.items()]
    runs = {topic: {doc: -float(n) for n, doc in enumerate(docs.split())} for topic, docs in found.items()}
    scores = evaluate(table(rows), runs, "statAP").values.ravel().tolist()
    assert [round(value, 6) for value in scores] == [expected for _, expected in samples.values()]


@pytest.mark.parametrize("seed", range(5))
def test_statap_weights_documents_by_their_probability(seed):
    rnd = random.Random(seed)
    rows = [("1", f"d{n}", rnd.randint(0, 1), rnd.choice([1.0, 0.5, 0.1])) for n in range(20)]
    order = rnd.sample([f"d{n}" for n in range(30)], 25)
    runs = {"1": {doc: -float(n) for n, doc in enumerate(order)}}
    scores = evaluate(table(rows), runs, ["statAP", "AP"])
    assert scores.values[0, 0, 0] == pytest.approx(slow_statap(rows, order))
    certain = [(*row[:3], 1.0) for row in rows]
    same = evaluate(table(certain), runs, ["statAP", "AP"]).values.ravel()
    assert same[0] == pytest.approx(same[1])
    assert same[1] == pytest.approx(scores.values[0, 0, 1])


@pytest.mark.parametrize("seed", range(3))
def test_statap_has_the_sum_of_precisions_as_its_expectation_over_all_samples(seed):
    """The double sum of Pavlu and Aslam 2007, over pairs of documents by their joint probability, and its expectation.

    All samples of eight documents drawn independently are topics of one evaluation, each with its probability.
    """
    rnd = random.Random(seed)
    docs = [f"d{n}" for n in range(8)]
    relevant, chance = ({doc: draw() for doc in docs} for draw in (lambda: rnd.random() < 0.6, rnd.random))
    rank = {doc: n for n, doc in enumerate(rnd.sample(docs, 6), start=1)}
    rows, expected, likely = [], {}, {}
    for number in range(1, 2 ** len(docs)):
        drawn = [doc for n, doc in enumerate(docs) if number >> n & 1]
        found = [doc for doc in drawn if relevant[doc]]
        pairs = [(a, b) for a in found for b in found if rank.get(b, 9) <= rank.get(a, 0)]
        total = sum(1 / (rank[a] * chance[a] * (1 if a == b else chance[b])) for a, b in pairs)
        count = sum(1 / chance[doc] for doc in found)
        if count:
            rows += [(f"s{number}", doc, int(relevant[doc]), chance[doc]) for doc in drawn]
            expected[f"s{number}"] = (total / count, count)
            likely[f"s{number}"] = math.prod(chance[doc] if doc in drawn else 1 - chance[doc] for doc in docs)
    run = {topic: {doc: -float(n) for doc, n in rank.items()} for topic in expected}
    scores = evaluate(table(rows), run, "statAP")
    value = dict(zip(scores.names["topic"], scores.values[0, :, 0].tolist(), strict=True))
    assert value == pytest.approx({topic: score for topic, (score, _) in expected.items()}, abs=1e-12)
    ahead = [sum(relevant[b] for b in rank if rank[b] <= rank[a]) / rank[a] for a in rank if relevant[a]]
    assert sum(likely[t] * value[t] * expected[t][1] for t in value) == pytest.approx(sum(ahead), rel=1e-9)
    assert sum(likely[t] * expected[t][1] for t in value) == pytest.approx(sum(relevant.values()), rel=1e-9)


def test_labels_without_a_probability_count_as_certain_with_a_note():
    rows = [("1", "a", 1, 0.25), ("1", "b", 1, None)]
    found = evaluate(table(rows), {"1": {"b": 2.0, "a": 1.0}}, "statAP")
    assert found.values.item() == pytest.approx(slow_statap(rows, ["b", "a"]))
    assert [note.fields["n"] for note in found.notes if note.kind == "no-probability"] == [1]


@pytest.mark.parametrize(("probability", "kinds"), [(0.25, 1), (1.0, 0), (None, 0)])
def test_infap_does_not_use_probabilities_and_says_so(probability, kinds):
    rows = [("1", "a", 1, probability), ("1", "b", -1, probability)]
    found = evaluate(table(rows), {"1": {"b": 2.0, "a": 1.0}}, ["infAP", "AP"])
    assert [note.kind for note in found.notes].count("probabilities-unused") == kinds
    assert evaluate(table(rows), {"1": {"b": 2.0, "a": 1.0}}, "AP").values.item() == 0.5


def test_statap_compares_systems_by_one_assessor_alone():
    rows = [(str(t), doc, int((t + n) % 3 > 0), 0.5) for t in range(6) for n, doc in enumerate("abc")]
    labels = pl.concat([table(rows, assessor=[who] * len(rows)) for who in ("ann", "bob")])
    runs = {
        name: {str(t): {doc: -float(order.index(doc)) for doc in "abc"} for t in range(6)}
        for name, order in (("one", "abc"), ("two", "cba"))
    }
    with pytest.raises(MeasureError, match="drawn by a model have none") as refused:
        compare(labels, runs, "statAP", assessor="ann")
    assert "where assessor=NAME" in str(refused.value.hint)
    (pair,) = compare(labels.filter(assessor="ann"), runs, "statAP").records()
    means = evaluate(labels, runs, "statAP", assessor="ann").mean().values[:, 0]
    assert pair["delta"] == pytest.approx(means[0] - means[1])


def test_statap_by_assessor_and_what_it_refuses():
    rows = [("1", "a", 1, 0.5), ("1", "b", 1, 1.0), ("1", "b", 0, 0.2), ("1", "c", 1, 0.2)]
    labels, runs = table(rows, assessor=["ann", "ann", "bob", "bob"]), {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
    found = evaluate(labels, runs, "statAP", per="assessor").values.ravel().tolist()
    assert found == pytest.approx([slow_statap(rows[:2], list("abc")), slow_statap(rows[2:], list("abc"))])
    with pytest.raises(MeasureError, match="pooled labels have none"):
        evaluate(labels, runs, "statAP", pool="mean")
    with pytest.raises(MeasureError, match="these labels have none"):
        evaluate({"1": {"a": 1}}, runs, "statAP")
    with pytest.raises(MeasureError, match="unjudged documents stay"):
        evaluate({"1": {"a": 1}}, runs, "infAP", unjudged="condensed")
