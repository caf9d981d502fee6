from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from long_rows import judgments_of
from venire import compare, evaluate, evaluate_users
from venire.agreement import alpha
from venire.data.intents import by_intent
from venire.errors import AmbiguousLabels, FormatError, MeasureError, UnjudgedWarning
from venire.io.answers import as_answers
from venire.io.runs import scan
from venire.measures import alpha_nDCG

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

LISTS = {"1": {"a": 3.0, "x": 2.5, "b": 2.0, "c": 1.0}, "2": {"c": 2.0, "d": 1.0}}
ROWS = [
    *(("1", "a", who, label, "i") for who, label in (("ann", "2"), ("bob", "0"))),
    *(("1", "b", who, label, "j") for who, label in (("ann", "1"), ("bob", "2"))),
    *(("1", "c", who, label, "i") for who, label in (("ann", "1"), ("bob", "1"))),
    *(("2", "d", who, label, "i") for who, label in (("ann", "1"), ("bob", "0"))),
]


def slow(gain: dict[tuple[str, str], float], docs: list[str], p: dict[str, float], *, alpha: float, k: int) -> float:
    """alpha-nDCG, document by document: gain by (doc, intent), p by intent."""
    met = {intent for (_, intent), value in gain.items() if value > 0}

    def adds(doc: str, left: dict[str, float]) -> float:
        return sum(p[i] * gain.get((doc, i), 0.0) * left[i] for i in met)

    def dcg(order: list[str]) -> float:
        left, total = dict.fromkeys(met, 1.0), 0.0
        for rank, doc in enumerate(order[:k], start=1):
            total += adds(doc, left) / np.log2(rank + 1)
            left = {i: left[i] * (1 - alpha * gain.get((doc, i), 0.0)) for i in met}
        return total

    rest, best, left = sorted({doc for doc, _ in gain}), [], dict.fromkeys(met, 1.0)
    while rest and len(best) < k:
        chosen = max(rest, key=lambda doc: (round(adds(doc, left), 12), doc))
        best.append(chosen)
        rest.remove(chosen)
        left = {i: left[i] * (1 - alpha * gain.get((chosen, i), 0.0)) for i in met}
    return dcg(docs) / dcg(best) if dcg(best) > 0 else 0.0


@pytest.mark.parametrize("seed", range(8))
def test_alpha_ndcg_of_probabilities_by_every_assessor_and_their_pool(seed):
    rnd = random.Random(seed)
    docs, intents, who = [f"d{n}" for n in range(9)], "abc", ("ann", "bob", "eve")
    p = {i: rnd.random() for i in intents}
    rows = [("1", d, w, str(rnd.randint(0, 2)), i) for d, i, w in product(docs[:7], intents, who) if rnd.random() < 0.8]
    order = rnd.sample(docs, 9)
    runs = {"1": {doc: -float(n) for n, doc in enumerate(order)}}
    worth, measure = {"0": 0.0, "1": 0.3, "2": 1.0}, alpha_nDCG(k=5, alpha=0.4)
    given = {"gains": worth, "intents": {("1", i): p[i] for i in intents}}
    labels = judgments_of(rows)
    each = evaluate(labels, runs, measure, per="assessor", **given).values[0, 0, 0]
    by = {name: {(r[1], r[4]): worth[r[3]] for r in rows if r[2] == name} for name in who}
    assert each.tolist() == pytest.approx([slow(by[name], order, p, alpha=0.4, k=5) for name in who], abs=1e-12)
    asked = {(r[1], r[4]) for r in rows}
    mean = {q: float(np.mean([worth[r[3]] for r in rows if (r[1], r[4]) == q])) for q in asked}
    pooled = evaluate(labels, runs, measure, pool="mean", **given).values.item()
    assert pooled == pytest.approx(slow(mean, order, p, alpha=0.4, k=5), abs=1e-12)


def test_the_ideal_of_each_assessor_counts_the_intents_that_assessor_found():
    scores = evaluate(judgments_of(ROWS), LISTS, ["StRecall@1", "StRecall", "P_IA@2"], per="assessor")
    assert scores.names["assessor"] == ("ann", "bob")
    first = scores.values[0, 0].T
    assert first.tolist() == [pytest.approx([0.5, 1.0, 0.25]), pytest.approx([0.0, 1.0, 0.0])]
    assert scores.values[0, 1].T.tolist() == [pytest.approx([0.0, 1.0, 0.5]), [0.0, 0.0, 0.0]]


def test_a_ranking_can_exceed_the_greedy_ideal():
    """Greedily d comes first, since it meets four intents; but e and f together meet six."""
    meets = {"d": "abcd", "e": "abx", "f": "cdy"}
    rows = [("1", doc, "ann", str(int(i in intents)), i) for doc, intents in meets.items() for i in "abcdxy"]
    found = evaluate(judgments_of(rows), {"1": {"e": 3.0, "f": 2.0, "d": 1.0}}, "alpha_nDCG(alpha=1)@2")
    assert found.values.item() == pytest.approx((3 + 3 / np.log2(3)) / (4 + 1 / np.log2(3)))


def test_hits_of_documents_become_hits_of_intents_and_lists_are_split():
    labels = by_intent(judgments_of([*ROWS, ("1", "a", "ann", "0", "j")]))
    facts = scan(LISTS, labels.items).facts
    assert facts.rank.tolist() == [1, 1, 3, 4, 2]
    split, owner = facts.by_need(labels.items.intents)
    assert owner.tolist() == [0, 0, 1]
    assert [split.rank[a:b].tolist() for a, b in zip(split.offset, split.offset[1:], strict=False)] == [
        [1, 4],
        [1, 3],
        [2],
    ]
    assert scan(scan(LISTS, labels.items), labels.items).facts is not None


def test_no_intent_met_is_a_label_for_each_unless_it_is_relevant():
    rows = [("1", "a", "ann", "1", "x"), ("1", "a", "ann", "0", "y"), ("1", "b", "ann", "0", "0")]
    assert len(by_intent(judgments_of(rows)).items) == 4
    assert len(by_intent(judgments_of([*rows, ("1", "c", "ann", "1", "0")])).items) == 4


def test_weights_of_intents():
    labels = judgments_of([row for row in ROWS if row[2] == "ann"])
    known = {("1", "i"): 0.9, ("1", "j"): 0.1, ("2", "i"): 1.0}
    scores = evaluate(labels, LISTS, ["P_IA@1", "StRecall@1"], intents=known)
    assert scores.values[0, 0].tolist() == pytest.approx([0.9, 0.5])
    with pytest.raises(MeasureError, match="no probability for intent 'j' of topic '1'"):
        evaluate(labels, LISTS, "P_IA@1", intents={("1", "i"): 1.0})
    with pytest.raises(MeasureError, match="'i' of topic '1' is not a number from 0 on"):
        evaluate(labels, LISTS, "P_IA@1", intents={**known, ("1", "i"): -1.0})
    again = by_intent(by_intent(labels), known)
    assert evaluate(again, LISTS, "P_IA@1").values[0, 0].item() == pytest.approx(0.9)


def test_dsharp_ndcg_equals_the_worked_example_of_ntcireval():
    """Topic 0001 of the sample files of NTCIREVAL 190111; README.diversity, Section 3.1, prints the expected values.

    All labels are L1.  The run meets intents 2 and 3 at rank 3, 2 at rank 4, and 2 and 3 at rank 5.  Of the relevant
    documents that it does not return, two meet intents 1 and 3, and the best others 2 and 3.
    """
    probability = {("0001", "1"): 0.5714, ("0001", "2"): 0.2857, ("0001", "3"): 0.1429}
    meets = {"d3": "23", "d4": "2", "d5": "23", "x": "13", "y": "13", **{f"z{n}": "23" for n in range(8)}}
    rows = [("0001", doc, "ann", "1", intent) for doc, intents in meets.items() for intent in intents]
    rows += [("0001", f"d{n}", "ann", "0", "0") for n in (1, 2, 6, 7, 8, 9, 10)]
    runs = {"0001": {f"d{n}": -float(n) for n in range(1, 11)}}
    scores = evaluate(judgments_of(rows), runs, ["I-rec@10", "D-nDCG@10", "D#-nDCG@10"], intents=probability)
    assert [round(value, 4) for value in scores.values.ravel().tolist()] == [0.6667, 0.2085, 0.4376]


def test_one_intent_is_enough_if_a_measure_asks_for_it():
    labels = judgments_of([("1", "a", "ann", "1", "i"), ("1", "b", "ann", "0", "i")])
    scores = evaluate(labels, {"1": {"b": 2.0, "a": 1.0}}, ["alpha_nDCG@5", "AP_IA"])
    assert scores.values.ravel().tolist() == pytest.approx([1 / np.log2(3), 0.5])
    assert evaluate(labels, {"1": {"b": 2.0, "a": 1.0}}, "AP").values.item() == 0.5


def test_what_is_refused():
    labels = judgments_of(ROWS).where(assessor="ann")
    with pytest.raises(AmbiguousLabels, match="several intents of a topic, and AP scores documents"):
        evaluate(labels, LISTS, ["alpha_nDCG@5", "AP"])
    with pytest.raises(MeasureError, match="these judgments have none"):
        evaluate({"1": {"a": 1}}, LISTS, "alpha_nDCG@5")
    with pytest.raises(AmbiguousLabels, match="no intents"):
        evaluate({"1": {"a": 1}}, LISTS, "AP", intents={("1", "i"): 1.0})
    for settings in ({"unjudged": 0.1}, {"unjudged": "condensed"}, {"duplicates": [["a", "b"]]}):
        with pytest.raises(MeasureError):
            evaluate(labels, LISTS, "alpha_nDCG@5", **settings)
    for name in (
        "alpha_nDCG",
        "alpha_nDCG(alpha=2)@5",
        "Dsharp_nDCG(gamma=-1)@5",
        "NRBP(beta=1)",
        "AllScore(strict=2)",
    ):
        with pytest.raises(MeasureError):
            evaluate(labels, LISTS, name)


def test_compare_treats_a_document_for_an_intent_as_an_item():
    rnd = random.Random(0)
    rows = [
        (str(t), f"d{d}", who, str(int(rnd.random() < 0.4)), i)
        for t, d, i, who in product(range(8), range(6), "ab", ("ann", "llm"))
    ]
    runs = {name: {str(t): {f"d{d}": rnd.random() for d in range(6)} for t in range(8)} for name in ("one", "two")}
    labels = judgments_of(rows)
    found = compare(labels, runs, "alpha_nDCG@3", assessor="llm", new_judge="ann", n_draws=50)
    means = [evaluate(labels, runs, "alpha_nDCG@3", assessor=who).mean().values[:, 0] for who in ("llm", "ann")]
    assert found.records()[0]["delta"] == pytest.approx(means[0][0] - means[0][1])
    assert found.records()[0]["expected_delta"] == pytest.approx(means[1][0] - means[1][1])
    assert found.records()[0]["method"] == "observed"
    assert found.by_judge.judges == ("llm", "ann")
    with pytest.raises(AmbiguousLabels, match="scores documents for one"):
        compare(labels, runs, "nDCG@3", assessor="llm")


NUGGETS = {
    "topic": ["q"] * 8,
    "run": ["a", "a", "b", "b"] * 2,
    "nugget": ["n1", "n2"] * 4,
    "importance": ["vital", "okay"] * 4,
    "assessor": ["nist"] * 4 + ["gpt"] * 4,
    "label": [
        *("support", "partial_support", "not_support", "support"),
        *("partial_support", "not_support", "not_support", "support"),
    ],
}


def test_nuggets_by_assessor():
    names = ["VitalScore", "VitalScore(strict=True)", "AllScore", "AllScore(strict=true)", "WeightedScore"]
    scores = evaluate(*as_answers(NUGGETS), names, per="assessor")
    of = {(r["system"], r["assessor"], r["measure"]): r["value"] for r in scores.records()}
    expected = {
        ("a", "nist"): (1.0, 1.0, 0.75, 0.5, (1 + 0.25) / 1.5),
        ("b", "nist"): (0.0, 0.0, 0.5, 0.5, 0.5 / 1.5),
        ("a", "gpt"): (0.5, 0.0, 0.25, 0.0, 0.5 / 1.5),
        ("b", "gpt"): (0.0, 0.0, 0.5, 0.5, 0.5 / 1.5),
    }
    for place, values in expected.items():
        assert [of[(*place, name)] for name in names] == pytest.approx(values)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("support", "partial_support"), (0.75, 0.5, 1.0, 1.0, 0.83333, 0.66666)),
        (("not_support", "support"), (0.5, 0.5, 0.0, 0.0, 0.5 / 1.5, 0.5 / 1.5)),
    ],
)
def test_a_vital_and_an_okay_nugget(labels, expected):
    """First: the six scores that the tests of Vectara's open-rag-eval (test_autonugget_metric.py) state.  Second: by
    the same definition (Pradeep et al. 2024, doi:10.48550/arXiv.2411.09607, Section 3.5), by hand."""
    measures = [
        f"{name}{strict}" for name in ("AllScore", "VitalScore", "WeightedScore") for strict in ("", "(strict=True)")
    ]
    table = {**{name: column[:2] for name, column in NUGGETS.items()}, "label": list(labels)}
    assert evaluate(*as_answers(table), measures).values.ravel().tolist() == pytest.approx(expected, abs=1e-5)


def test_gains_of_nuggets_that_are_probabilities_count_as_they_are():
    """The mean over users who find support with these probabilities; strict goes by the label, whatever its gain."""
    judgments, runs = as_answers(NUGGETS)
    worth = {"not_support": 0.1, "partial_support": 0.6, "support": 0.5}
    names = ["AllScore", "VitalScore", "WeightedScore", "AllScore(strict=True)"]
    found = evaluate(judgments, runs, names, gains=worth, assessor="nist").values[:, 0]
    assert found[0].tolist() == pytest.approx([0.55, 0.5, (0.5 + 0.3) / 1.5, 0.5])
    assert found[1].tolist() == pytest.approx([0.3, 0.1, (0.1 + 0.25) / 1.5, 0.5])
    users = evaluate_users(judgments, runs, names[:3], gains=worth, assessor="nist", users=4000, rng=1)
    assert users.mean.values == pytest.approx(found[:, :3], abs=0.03)
    larger = {"not_support": 0, "partial_support": 1, "support": 4}
    assert evaluate(judgments, runs, "AllScore", gains=larger, assessor="nist").values.ravel()[0] == 0.625


def test_users_by_intent():
    """Users whose relevance is certain score as the assessor does, with probabilities of intents too."""
    known = {("1", "i"): 0.9, ("1", "j"): 0.1, ("2", "i"): 1.0}
    names, whose = ["alpha_nDCG@3", "D#-nDCG@3", "AP_IA"], {"assessor": "ann", "intents": known}
    users = evaluate_users(judgments_of(ROWS), LISTS, names, gains={"0": 0, "1": 1, "2": 1}, users=2, **whose)
    scores = evaluate(judgments_of(ROWS), LISTS, names, gains="binary:1", **whose)
    assert users.topics.values == pytest.approx(scores.values)
    drawn = evaluate_users(judgments_of(ROWS), LISTS, "P_IA@3", gains={"0": 0, "1": 0.5, "2": 0.5}, users=9, **whose)
    assert 0 < drawn.mean.values.item() < evaluate(judgments_of(ROWS), LISTS, "P_IA@3", **whose).mean().values.item()


def test_a_nugget_that_no_answer_supports_counts():
    table = {name: column[2:4] for name, column in NUGGETS.items()}
    judgments, runs = as_answers(table)
    assert str(judgments.scale) == "not_support<partial_support<support"
    assert evaluate(judgments, runs, "AllScore").values.item() == 0.5


def test_agreement_on_nuggets():
    judgments, _ = as_answers(NUGGETS)
    assert judgments.summary().n_items == 4
    assert 0 < alpha(judgments).value < 1


def test_an_answer_that_one_of_two_assessors_did_not_judge_is_named():
    one = {("rater" if name == "assessor" else name): column[:-2] for name, column in NUGGETS.items()}
    with pytest.warns(UnjudgedWarning, match="did not judge have no support by them: gpt judged 1 of 2$"):
        found = evaluate(*as_answers(one), "AllScore", per="assessor")
    assert found.values.min() == 0


def test_nuggets_with_other_labels_and_importances():
    table = {**NUGGETS, "label": ["1", "0"] * 4, "importance": ["3", "1"] * 4}
    with pytest.raises(FormatError, match="has the importance '3'"):
        as_answers(table)
    found = evaluate(*as_answers(table, weights={"3": 1.0, "1": 0.2}), "WeightedScore", assessor="gpt")
    assert found.values.ravel().tolist() == pytest.approx([1 / 1.2, 1 / 1.2])
    with pytest.raises(FormatError, match="second importance"):
        as_answers({**NUGGETS, "importance": ["vital"] * 4 + ["okay"] * 4})
    with pytest.raises(FormatError, match="no column importance"):
        as_answers({name: column for name, column in NUGGETS.items() if name != "importance"})
