from __future__ import annotations

import math
import random

import numpy as np
import polars as pl
import pytest
import pytrec_eval

from venire import compare, evaluate, read_judgments
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


def slow_infap(pool: dict[str, tuple[int, float]], order: list[str]) -> float:
    """xinfAP by its definition; pool: label, negative if not drawn, and probability by document."""
    strata = [{doc for doc in pool if pool[doc][1] == p} for p in {p for _, p in pool.values()}]

    def count(docs: set[str], *labels: int) -> int:
        return sum(pool[doc][0] in labels for doc in docs)

    estimated = {n: count(docs, 1) * len(docs) / count(docs, 0, 1) for n, docs in enumerate(strata)}
    total = 0.0
    for n, docs in enumerate(strata):
        for rank, doc in enumerate(order, start=1):
            if doc in docs and pool[doc][0] == 1:
                precision = 1 / rank
                for others in strata:
                    above = others & set(order[: rank - 1])
                    share = (count(above, 1) + 1e-5) / (count(above, 0, 1) + 2e-5)
                    precision += len(above) / rank * share
                total += estimated[n] * precision / count(docs, 1)
    return total / sum(estimated.values()) if total else 0.0


def sample(rnd: random.Random, chances: list[float], n_docs: int = 30) -> dict[str, tuple[int, float]]:
    """Draw documents by strata; of each stratum at least one is drawn and one is not, but of certain documents all."""
    pool = {}
    for n in range(n_docs):
        p = chances[n % len(chances)]
        drawn = p == 1 or (rnd.random() < p and n >= len(chances)) or len(chances) <= n < 2 * len(chances)
        pool[f"d{n}"] = (int(rnd.random() < 0.5) if drawn else -1, p)
    return pool


def ranked(rnd: random.Random, pool: dict[str, tuple[int, float]], n: int) -> list[str]:
    """Draw a list, some documents of which are not of the pool."""
    return rnd.sample([*pool, *(f"x{n}" for n in range(10))], n)


def rows_of(pools: dict[str, dict[str, tuple[int, float]]]) -> list[tuple[str, str, int, float | None]]:
    return [(topic, doc, *of) for topic, pool in pools.items() for doc, of in pool.items()]


def run_of(orders: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    return {topic: {doc: -float(n) for n, doc in enumerate(order)} for topic, order in orders.items()}


@pytest.mark.parametrize("seed", range(20))
def test_infap_by_strata_equals_its_definition(seed):
    """Also one stratum among the topics, relevant documents that were not retrieved, and documents of no pool."""
    rnd = random.Random(seed)
    chances = {"1": [1.0, 0.3], "2": [0.5, 0.2, 0.1], "3": [0.4], "4": [1.0, 0.7, 0.5, 0.2]}
    pools = {topic: sample(rnd, each) for topic, each in chances.items()}
    runs = {name: {t: ranked(rnd, pool, rnd.randint(1, 30)) for t, pool in pools.items()} for name in "ab"}
    lists = {name: run_of(each) for name, each in runs.items()}
    scores = evaluate(table(rows_of(pools)), lists, ["AP", "infAP", "infAP@9"])
    assert scores.values[:, :, :1].tolist() == evaluate(table(rows_of(pools)), lists, "AP").values.tolist()
    for s, name in enumerate("ab"):
        for t, topic in enumerate(pools):
            expected = [slow_infap(pools[topic], runs[name][topic][:k]) for k in (None, 9)]
            assert scores.values[s, t, 1:].tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("p", [1.0, 0.3, None])
def test_infap_with_one_probability_for_all_is_that_of_a_uniform_sample(seed, p):
    rnd = random.Random(seed)
    pool = {doc: label for doc, (label, _) in sample(rnd, [0.3]).items()}
    run = run_of({"1": ranked(rnd, dict.fromkeys(pool, (0, 1.0)), 25)})
    found = evaluate(table([("1", doc, label, p) for doc, label in pool.items()]), run, "infAP")
    expected = pytrec_eval.RelevanceEvaluator({"1": pool}, {"infAP"}).evaluate(run)["1"]["infAP"]
    assert found.values.item() == evaluate({"1": pool}, run, "infAP").values.item() == pytest.approx(expected)
    assert slow_infap({doc: (label, 0.3) for doc, label in pool.items()}, list(run["1"])) == pytest.approx(expected)


def test_infap_by_strata_of_an_example_computed_by_hand():
    """Certain: a relevant, b not.  Two of four with 0.5 drawn: c relevant, d not.  R = 1 + 1 * 4/2 = 3.

    The list is c, e, a.  At rank 1 the precision of c is 1.  At rank 3, two documents of the second stratum are above
    a, of which one was judged, as relevant: (1 + 2 * 1) / 3 = 1.  b and d are not retrieved.  infAP = (2 * 1 + 1) / 3.
    In the list a, e, b, c the precision of a is 1; above c there are a and b, of which 1 is relevant, and e, of a
    stratum of which no document above was judged, counts 1/2: (1 + 1 + 1/2) / 4.  infAP = (1 + 2 * 0.625) / 3.
    """
    pool = {"a": (1, 1.0), "b": (0, 1.0), "c": (1, 0.5), "d": (0, 0.5), "e": (-1, 0.5), "f": (-1, 0.5)}
    runs = {name: run_of({"1": list(order)}) for name, order in (("one", "cea"), ("two", "aebc"), ("three", "bdx"))}
    found = evaluate(table(rows_of({"1": pool})), runs, "infAP").values.ravel().tolist()
    assert found == pytest.approx([1.0, 0.75, 0.0], abs=1e-5)


def test_infap_by_strata_equals_what_the_evaluation_tool_of_trec_computes():
    """Four digits, as sample_eval.pl of NIST prints, by the lines that infAP depends on, run by Perl on these topics.

    In them the tool's sum of smoothing, 3 epsilon instead of 2, changes the sixth digit.
    """
    samples = {
        "1": {"d0": (1, 1.0), "d1": (0, 0.5), "d2": (-1, 0.25), "d3": (-1, 0.25), "d4": (1, 1.0), "d5": (1, 0.25)}
        | {"d6": (1, 1.0), "d7": (-1, 0.5), "d8": (0, 1.0), "d9": (1, 0.5), "d10": (-1, 0.25), "d11": (-1, 0.5)}
        | {"d12": (-1, 0.5), "d13": (1, 1.0)},
        "2": {"d0": (1, 1.0), "d1": (0, 1.0), "d2": (0, 0.5), "d3": (-1, 0.25), "d4": (1, 0.5), "d5": (-1, 0.25)}
        | {"d6": (-1, 0.25), "d7": (-1, 0.25), "d8": (-1, 0.25), "d9": (1, 0.5), "d10": (-1, 0.25), "d11": (1, 0.25)}
        | {"d12": (0, 0.5), "d13": (1, 0.25)},
    }
    orders = {
        "1": "d5 d8 d12 d1 x1 d11 d10 x0 d0 d4 d7 d6 d9",
        "2": "x2 d13 d5 x1 d6 d3 x0 d0 d8 d2 d11 d12 d10",
    }
    runs = run_of({topic: docs.split() for topic, docs in orders.items()})
    scores = evaluate(table(rows_of(samples)), runs, "infAP").values.ravel().tolist()
    assert [round(value, 4) for value in scores] == [0.6004, 0.4700]


def test_assessors_have_samples_and_strata_of_their_own():
    rnd = random.Random(4)
    chances = {"ann": [1.0, 0.3], "bob": [0.5, 0.2, 0.1], "cat": [0.4]}
    pools = {who: {t: sample(rnd, each) for t in "12"} for who, each in chances.items()}
    orders = {t: ranked(rnd, pools["ann"][t], 28) for t in "12"}
    labels = pl.concat([table(rows_of(each), assessor=[who] * 60) for who, each in pools.items()])
    found = evaluate(labels, run_of(orders), "infAP", per="assessor")
    for n, who in enumerate(found.names["assessor"]):
        expected = [slow_infap(pools[who][t], orders[t]) for t in "12"]
        assert found.values[0, :, 0, n].tolist() == pytest.approx(expected, abs=1e-12)
        alone = evaluate(labels, run_of(orders), "infAP", assessor=who).values
        assert alone.ravel().tolist() == pytest.approx(expected, abs=1e-12)


def test_parts_of_topics_have_the_strata_of_all(monkeypatch):
    rnd = random.Random(7)
    pools = {str(t): sample(rnd, [1.0, 0.5, 0.2]) for t in range(5)}
    run = run_of({t: ranked(rnd, pool, 30) for t, pool in pools.items()})
    whole = evaluate(table(rows_of(pools)), run, "infAP").values
    monkeypatch.setattr("venire.measures.evaluate.PART_LABELS", 20)
    assert evaluate(table(rows_of(pools)), run, "infAP").values.tolist() == whole.tolist()


def test_rows_that_are_not_chosen_are_of_no_stratum_nor_those_of_other_facets():
    pool = sample(random.Random(2), [1.0, 0.5, 0.2])
    other = table([("1", doc, -1, 0.9) for doc in pool], round=["2"] * len(pool))
    rows = pl.concat([table(rows_of({"1": pool}), round=["1"] * len(pool)), other])
    run = run_of({"1": list(pool)})
    found = evaluate(read_judgments(rows, where={"round": "1"}), run, "infAP").values.item()
    assert found == pytest.approx(slow_infap(pool, list(pool)))
    units = rows.rename({"round": "unit"})
    assert evaluate(read_judgments(units, where={"unit": "1"}), run, "infAP").values.item() == found
    with pytest.raises(MeasureError, match="has no probability"):
        evaluate(read_judgments(units).where(unit="1"), run, "infAP")


REFUSED = {
    "was not judged and has no probability": {"a": (1, 1.0), "b": (0, 0.5), "c": (-1, None)},
    "all documents of topic '1' were judged": {"a": (1, 0.31), "b": (0, 0.52), "c": (0, 0.2)},
    "no document of topic '1' with the probability 0.2": {"a": (1, 1.0), "b": (-1, 0.2), "c": (0, 0.5), "d": (-1, 0.5)},
}


@pytest.mark.parametrize("message", REFUSED)
def test_infap_refuses_pools_whose_strata_are_not_known_or_not_judged(message):
    run = {"1": {"a": 2.0, "b": 1.0}}
    with pytest.raises(MeasureError, match=message) as refused:
        evaluate(table(rows_of({"1": REFUSED[message]})), run, "infAP")
    assert "use statAP" in str(refused.value.hint)
    labels = table(rows_of({"1": REFUSED[message]}), assessor=["ann"] * len(REFUSED[message]))
    two = pl.concat([labels, labels.with_columns(assessor=pl.lit("bob"))])
    with pytest.raises(MeasureError, match="by 'ann'"):
        evaluate(two, run, "infAP", per="assessor")


def test_infap_refuses_what_has_no_probability_of_its_own():
    rnd = random.Random(1)
    pools = {t: sample(rnd, [1.0, 0.3]) for t in "12345"}
    labels = pl.concat([table(rows_of(pools), assessor=[who] * 150) for who in ("ann", "bob")])
    runs = {name: run_of({t: ranked(rnd, pool, 30) for t, pool in pools.items()}) for name in ("one", "two")}
    with pytest.raises(MeasureError, match=r"^infAP needs .* pooled labels have none"):
        evaluate(labels, runs, "infAP", pool="mean")
    with pytest.raises(MeasureError, match=r"^infAP needs .* drawn by a model have none"):
        compare(labels, runs, "infAP", assessor="ann")
    (pair,) = compare(labels.filter(assessor="ann"), runs, "infAP").records()
    means = evaluate(labels, runs, "infAP", assessor="ann").mean().values[:, 0]
    assert pair["delta"] == pytest.approx(means[0] - means[1])


def test_infap_refuses_second_labels_with_other_probabilities():
    rows = [("1", "a", 1, 1.0), ("1", "a", 1, 0.5), ("1", "b", 0, 0.5), ("1", "c", -1, 0.5)]
    with pytest.raises(MeasureError, match="document 'a' of topic '1' has rows with different probabilities"):
        evaluate(read_judgments(table(rows), duplicate_labels="keep"), {"1": {"a": 1.0}}, "infAP")


def test_infap_refuses_second_rows_that_were_not_drawn_with_other_probabilities():
    rows = [("1", "a", 1, 1.0), ("1", "b", 0, 0.5), ("1", "c", -1, 0.5), ("1", "c", -1, 1.0)]
    with pytest.raises(MeasureError, match="document 'c' of topic '1' has rows with different probabilities"):
        evaluate(table(rows), {"1": {"a": 1.0}}, "infAP")


def test_assessors_with_different_probabilities_have_no_strata_if_each_has_one():
    """A person judged a uniform sample, and a model everything: their labels can be pooled as before."""
    pool = {"a": (1, 0.5), "b": (0, 0.5), "c": (-1, 0.5), "d": (-1, 0.5)}
    person = table(rows_of({"1": pool}), assessor=["ann"] * 4)
    model = table([("1", doc, 1, None) for doc in pool], assessor=["llm"] * 4)
    labels, run = pl.concat([person, model]), {"1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    assert not read_judgments(labels).items.undrawn.strata
    pooled = evaluate(labels, run, "infAP", pool="mean")
    assert np.isfinite(pooled.values).all()
    found = evaluate(labels, run, "infAP", per="assessor")
    assert found.select(assessor="ann").values.item() == pytest.approx(slow_infap(pool, list("abcd")))
    assert not {note.kind for note in found.notes} & {"no-undrawn-documents", "no-probability"}


def test_labels_without_a_probability_are_certain_to_infap_too():
    pool = {"a": (1, 1.0), "b": (0, 1.0), "c": (1, 0.5), "d": (0, 0.5), "e": (-1, 0.5), "f": (-1, 0.5)}
    missing = [(*row[:3], None if row[1] in "ab" else row[3]) for row in rows_of({"1": pool})]
    run = run_of({"1": list("eabc")})
    found = evaluate(table(missing), run, "infAP")
    assert found.values.item() == pytest.approx(slow_infap(pool, list("eabc")))
    assert [note.fields["n"] for note in found.notes if note.kind == "no-probability"] == [2]


@pytest.mark.parametrize(("label", "probability", "kinds"), [(0, 0.25, 1), (-1, 0.25, 0), (0, 1.0, 0), (0, None, 0)])
def test_a_uniform_sample_without_documents_that_were_not_drawn_has_a_note(label, probability, kinds):
    rows = [("1", "a", 1, probability), ("1", "b", label, probability)]
    found = evaluate(table(rows), {"1": {"b": 2.0, "a": 1.0}}, ["infAP", "AP"])
    assert [note.kind for note in found.notes].count("no-undrawn-documents") == kinds
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
