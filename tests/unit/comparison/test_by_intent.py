"""Measures by intent in every function that scores systems: assessors are an axis, a document for an intent an item."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from labelled_intents import JUDGES, frame, runs
from venire import certify, compare, evaluate, parse_measure, read_judgments
from venire.certification.binding import hash_of_labels
from venire.comparison import (
    agreement_needed,
    between_assessors,
    between_gains,
    corrected_scores,
    favoured_systems,
    forecast,
    mutual_evaluation,
    scores_by_judge,
)
from venire.comparison.correction import Scene, list_weights, rank_weights
from venire.comparison.favour_statistics import pairs_in_order
from venire.data.intents import by_intent
from venire.errors import AmbiguousLabels
from venire.io.runs import scan
from venire.measures.evaluate import Case
from venire.measures.intents import item_shares
from venire.measures.scoring import Scoring
from venire.quality import compare_scales, discriminative_power
from venire.users import preferences_by_labels

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

M = "alpha_nDCG@10"
MEASURES = [M, "Dsharp_nDCG@10", "StRecall@5"]


@pytest.fixture(scope="module")
def labels():
    return read_judgments(frame())


@pytest.fixture(scope="module")
def part():
    return read_judgments(frame(part=True))


def own(labels, judge, measures=M):
    return evaluate(labels, runs(), measures, assessor=judge).mean("topic").values


def test_scores_by_judge_are_those_of_evaluate(labels):
    found = scores_by_judge(labels, runs(), MEASURES)
    for judge, means in zip(found.judges, found.mean, strict=True):
        assert means == pytest.approx(own(labels, judge, MEASURES))
    assert set(found.judges) == set(JUDGES)


def test_another_judge_who_labelled_everything_is_what_is_forecast(labels):
    found = forecast(labels, runs(), M, assessor="gpt4", new_judge="nist", n_draws=20)
    assert found.mean == pytest.approx(own(labels, "gpt4")[:, 0])
    assert found.draws == pytest.approx(np.tile(own(labels, "nist")[:, 0], (20, 1)))


def test_rankings_by_two_assessors_are_those_of_evaluate(labels):
    by_gains = between_assessors(labels, runs(), M, gains=["linear", "binary:2"], n_draws=0)
    assert {row.gains for row in by_gains.rows} == {"linear", "binary:2"}
    assert between_gains(labels, runs(), M, gains=["linear", "binary:2"], n_draws=0).rows
    each = scores_by_judge(labels, runs(), M).mean[:, :, 0]
    pair = next(row for row in by_gains.rows if (row.a, row.b) == ("ann", "gpt4") and row.gains == "linear")
    names = scores_by_judge(labels, runs(), M).judges
    one, other = (each[names.index(name)] for name in ("ann", "gpt4"))
    a, b = np.triu_indices(len(one), 1)
    assert pair.value == pytest.approx(np.mean(np.sign(one[a] - one[b]) * np.sign(other[a] - other[b])))


@pytest.mark.parametrize("call", [agreement_needed, discriminative_power, compare_scales])
def test_rooms_that_score_systems_take_labels_as_they_are_read(call):
    """They are told nothing of items: with documents for intents as items the result is the same."""
    how = {} if call is compare_scales else {"assessor": "gpt4"}
    how |= {"n_draws": 20} if call is not discriminative_power else {}
    plain, prepared = (call(each, runs(), M, **how) for each in (frame(), by_intent(read_judgments(frame()))))
    assert plain.records() == prepared.records()
    assert any(row.get("measure") == M for row in plain.records())


def test_complete_labels_of_the_reference_are_its_scores(labels):
    found = corrected_scores(labels, runs(), MEASURES, judge="gpt4", reference="nist", n_draws=50)
    assert found.raw == pytest.approx(own(labels, "gpt4", MEASURES))
    assert found.value == pytest.approx(own(labels, "nist", MEASURES))
    favoured = favoured_systems(labels, runs(), MEASURES, judge="gpt4", reference="nist")
    difference = own(labels, "nist", MEASURES) - own(labels, "gpt4", MEASURES)
    others = (difference.sum(axis=0) - difference) / (len(difference) - 1)
    assert favoured.by_system.difference == pytest.approx(difference - others)


def test_draws_of_missing_labels_are_scored_as_labels_are(labels, part):
    """Each draw of the gains of items, by known and drawn labels, has the scores of judgments with these labels."""
    case = Case.of(by_intent(part), runs(), Scoring(per="assessor"))
    plan = case.scoring.plan(["D_nDCG@10", "StRecall@5"], part.scale)
    scene = Scene.of(case, plan, judge="gpt4", reference="nist")
    gain = scene.known_gains(0)[None].repeat(3, axis=0)
    gain[:, scene.models[0].item] = scene.models[0].label_draws()(3, np.random.default_rng(1))
    assert (gain[:, scene.labels.known] == scene.known_gains(0)[scene.labels.known]).all()
    every = by_intent(labels).where(assessor="nist").by_item()
    for draw, scores in zip(gain, scene.by_reference(0, gain), strict=True):
        drawn = replace(every, label=draw[every.item].astype(np.int32))
        assert scores == pytest.approx(evaluate(drawn, runs(), "D_nDCG@10").values[:, :, 0])


def test_labels_of_the_reference_on_a_part_leave_intervals(labels, part):
    found = corrected_scores(part, runs(), MEASURES, judge="gpt4", reference="nist", n_draws=200)
    assert found.raw == pytest.approx(own(labels, "gpt4", MEASURES))
    assert (found.high - found.low > 0.01).all()
    assert (found.low >= 0).all()
    assert (found.high[:, 1:] <= 1).all()
    truth = own(labels, "nist", MEASURES)
    a, b = np.triu_indices(len(truth), 1)
    pairs = [found.pairs(name) for name in MEASURES]
    inside = [(p.low <= t[a] - t[b]) & (t[a] - t[b] <= p.high) for p, t in zip(pairs, truth.T, strict=True)]
    assert np.mean(inside) > 0.8


def test_certificates_have_the_numbers_of_compare(labels):
    found = certify(labels, runs(), MEASURES, reference="nist", n_draws=20)
    for each in found.judges:
        assert each.scores.corrected.raw == pytest.approx(own(labels, each.judge, MEASURES))
    assert any(note.kind == "by-intent" for note in found.notes)
    compared = compare(labels, runs(), M, assessor="gpt4", new_judge="nist", n_draws=20)
    gpt4 = next(each for each in found.judges if each.judge == "gpt4").scores.corrected
    for row in compared.records():
        a, b = (gpt4.systems.index(row[side]) for side in "ab")
        assert row["delta"] == pytest.approx(gpt4.raw[a, 0] - gpt4.raw[b, 0])
        assert row["expected_delta"] == pytest.approx(gpt4.value[a, 0] - gpt4.value[b, 0])


def test_certificates_are_bound_to_the_probabilities_of_intents(labels):
    known = {(topic, f"i{n}"): 0.5 - 0.1 * n for topic in labels.topics for n in range(3)}
    hashes = [hash_of_labels(by_intent(labels, each)) for each in (None, known, {**known, ("q3", "i1"): 0.9})]
    assert len({*hashes}) == 3
    found = certify(labels, runs(), M, judges="gpt4", reference="nist", intents=known, n_draws=10).judges[0]
    weighted = evaluate(labels, runs(), M, assessor="nist", intents=known).mean("topic").values
    assert found.scores.corrected.value == pytest.approx(weighted)


def test_weights_of_items_are_shares_of_their_intents(labels):
    """The weights of a document's items sum to that of its rank where it is labelled for every intent."""
    known = {(topic, f"i{n}"): (1.0, 2.0, 5.0)[n] for topic in labels.topics for n in range(3)}
    items = by_intent(labels, known).items
    facts = scan(runs(), items).facts
    one = item_shares(items, parse_measure(M))[items.intents.document == 0]
    assert one == pytest.approx([0.125, 0.25, 0.625])
    assert item_shares(items, parse_measure("StRecall@5"))[:3] == pytest.approx([1 / 3] * 3)
    measure, share = parse_measure("ERR_IA@3"), np.full(len(facts.systems), 0.1)
    found = list_weights(facts, np.arange(10), measure, share)
    of_document = np.bincount(items.intents.document, weights=found[0], minlength=len(items.intents.documents))
    depths = rank_weights(measure, 5)
    assert depths[3:].tolist() == [0, 0]
    assert np.sort(of_document)[-30:] == pytest.approx(np.sort(np.tile(depths[:3] * 0.1, 10)))


def test_order_of_results_is_compared_within_intents(labels):
    items = by_intent(labels).items
    facts = scan(runs(), items).facts
    label = np.full(len(items), -1)
    mine = by_intent(labels).where(assessor="gpt4")
    label[mine.item] = mine.label
    right, n_pairs = pairs_in_order(facts, label, np.arange(7))
    expected = np.zeros((2, len(facts.systems)))
    for number in range(len(facts.depth)):
        hits = slice(*facts.offset[number : number + 2])
        seen = [
            (rank, items.intents.need[n], label[n]) for rank, n in zip(facts.rank[hits], facts.item[hits], strict=True)
        ]
        for rank, need, level in seen if facts.topic[number] < 7 else ():
            lower = [other for at, of, other in seen if at > rank and of == need and other != level]
            expected[:, facts.system[number]] += sum(level > other for other in lower), len(lower)
    assert (right.tolist(), n_pairs.tolist()) == tuple(expected.tolist())


def test_documents_with_labels_are_counted_once(labels):
    items = by_intent(labels).items
    facts = scan(runs(), items).facts
    assert facts.documents(np.ones(len(items), dtype=bool)).tolist() == [12] * len(facts.depth)
    assert facts.documents(np.ones(len(items), dtype=bool), depth=5).tolist() == [5] * len(facts.depth)
    some = items.intents.document == items.intents.document[facts.item[0]]
    assert facts.documents(some)[0] == 1


def test_what_ranks_or_compares_documents_refuses_labels_for_intents(labels):
    with pytest.raises(AmbiguousLabels, match="different values of intent"):
        mutual_evaluation(labels, "AP")
    pairs = pl.DataFrame({"topic": ["q0"], "left": ["d00"], "right": ["d01"], "preferred": ["left"]})
    with pytest.raises(AmbiguousLabels, match="named without one"):
        preferences_by_labels(pairs, by_intent(labels).where(assessor="ann"))
    with pytest.raises(AmbiguousLabels, match="scores documents for one"):
        certify(labels, runs(), "nDCG@10", reference="nist")
