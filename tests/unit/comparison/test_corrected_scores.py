from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import t

from venire import evaluate, read_judgments
from venire.comparison import corrected_on, corrected_scores, residual_model
from venire.comparison.correction import Scene
from venire.data.panel import build_panel
from venire.errors import PairsError, SettingError, UnknownName
from venire.io.runs import scan
from venire.measures.evaluate import Case
from venire.measures.scoring import Scoring
from venire.simulation import Synthetic, generate

MEASURES = ["P(rel=2)@10", "CG@10", "DCG@10", "RBP", "nDCG@10", "AP(rel=2)", "GAP", "ERR@10", "Q@10"]
LINEAR = MEASURES[:4]
WHO = {"judge": "lenient1", "reference": "careful1"}


@pytest.fixture(scope="module")
def made():
    return generate(Synthetic(n_topics=14, docs_per_topic=150, n_unjudged=5), rng=3)


def some(labels, share=4, who="careful1"):
    """All labels of the judges, and every so-many-th of the reference."""
    return labels.take(~labels.assessor.among(who, "assessor") | (labels.item % share == 0))


def corrected(made, measures="P(rel=2)@10", labels=None, **options):
    labels = some(made.judgments) if labels is None else labels
    return corrected_scores(labels, made.runs, measures, **{"n_draws": 40} | WHO | options)


def test_with_all_labels_of_the_reference_scores_are_theirs_without_uncertainty(made):
    found = corrected(made, MEASURES, made.judgments)
    truth = evaluate(made.judgments, made.runs, MEASURES, assessor="careful1").mean()
    assert found.systems == truth.names["system"]
    np.testing.assert_allclose(found.value, truth.values, atol=1e-12)
    np.testing.assert_allclose(found.high - found.low, 0.0, atol=1e-9)
    for measure in MEASURES:
        pairs = found.pairs(measure)
        np.testing.assert_allclose(pairs.high - pairs.low, 0.0, atol=1e-9)
        assert set(pairs.p_a_ahead[np.abs(pairs.value) > 1e-9]) <= {0.0, 1.0}


def test_raw_scores_are_those_of_the_judge(made):
    found = corrected(made, MEASURES)
    own = evaluate(made.judgments, made.runs, MEASURES, assessor="lenient1").mean()
    np.testing.assert_allclose(found.raw, own.values, atol=1e-12)
    assert found.raw.shape == found.value.shape == found.low.shape == (len(found.systems), len(MEASURES))
    assert found.draws.shape == (40, len(found.systems), len(MEASURES))


def test_corrected_scores_are_nearer_to_the_reference_than_those_of_the_judge(made):
    found = corrected(made, MEASURES, n_draws=400)
    truth = evaluate(made.judgments, made.runs, MEASURES, assessor="careful1").mean().values
    error, before = (np.abs(each - truth).mean(axis=0) for each in (found.value, found.raw))
    assert (error[:4] < before[:4]).all()
    assert ((found.low <= truth) & (truth <= found.high)).mean() > 0.85


def test_several_members_of_a_reference_count_with_the_mean_of_their_gains(made):
    people = ["careful1", "careful2"]
    found = corrected(made, ["P(rel=2)@10", "nDCG@10"], made.judgments, reference=people)
    labels = made.judgments.where(assessor=people)
    truth = evaluate(labels, made.runs, ["P(rel=2)@10", "nDCG@10"], pool="mean").mean().values
    np.testing.assert_allclose(found.value, truth, atol=1e-12)
    assert found.reference == tuple(people)


def test_a_linear_measure_by_draws_of_labels_agrees_with_its_closed_form(made, monkeypatch):
    """Labels drawn one by one have nearly the mean and the deviation of the closed form, if thresholds do not vary."""
    exact = corrected(made, LINEAR)
    monkeypatch.setattr(residual_model, "THRESHOLD_SD", 1e-3)
    monkeypatch.setattr(Scene, "corrected", _by_draws)
    drawn = corrected(made, LINEAR, n_draws=1600)
    width, other = (each.high - each.low for each in (exact, drawn))
    assert (np.abs(drawn.value - exact.value) / width).max() < 0.2
    assert other.mean(axis=0) / width.mean(axis=0) == pytest.approx(np.ones(4), abs=0.2)


def _by_draws(self, number, *, n_draws, rng):
    return self.drawn(self.model(number), number, n_draws=n_draws, rng=rng)


def test_known_labels_stand_in_every_draw(made):
    """With all labels of the lists given, and only others missing, P is known."""
    labels = made.judgments
    facts = scan(made.runs, labels.items).facts
    inside = np.bincount(facts.item[facts.rank <= 10], minlength=len(labels.items)) > 0
    few = labels.take(~labels.assessor.among("careful1", "assessor") | inside[labels.item])
    found = corrected(made, ["P(rel=2)@10", "nDCG@10"], few)
    truth = evaluate(labels, made.runs, "P(rel=2)@10", assessor="careful1").mean().values[:, 0]
    np.testing.assert_allclose(found.value[:, 0], truth, atol=1e-12)
    np.testing.assert_allclose(found.low[:, 0], found.high[:, 0], atol=1e-9)
    assert (found.low[:, 1] < found.high[:, 1]).all()


def test_more_labels_make_shorter_intervals(made):
    widths = [
        np.mean(each.high - each.low) for each in (corrected(made, labels=some(made.judgments, n)) for n in (8, 4, 2))
    ]
    assert widths[0] > widths[1] > widths[2] > 0


def test_differences_have_intervals_of_their_own(made):
    found = corrected(made, ["P(rel=2)@10", "nDCG@10"])
    pairs = found.pairs("nDCG@10")
    n = len(found.systems)
    assert len(pairs.a) == n * (n - 1) // 2
    row = pairs.records()[0]
    assert list(row) == ["a", "b", "measure", "raw", "corrected", "low", "high", "p_a_ahead"]
    assert (row["a"], row["b"], row["measure"]) == (found.systems[0], found.systems[1], "nDCG@10")
    assert row["corrected"] == pytest.approx(found.value[0, 1] - found.value[1, 1])
    assert row["raw"] == pytest.approx(found.raw[0, 1] - found.raw[1, 1])
    covariance = found.covariance[1]
    sd = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert found.degrees == 13
    assert row["high"] - row["low"] == pytest.approx(2 * t.ppf(0.975, 13) * sd)
    assert found.pairs().measure == "P(rel=2)@10"
    np.testing.assert_allclose(pairs.p_a_ahead[0], t.cdf(row["corrected"] / sd, 13))
    np.testing.assert_array_equal(pairs.low > 0, pairs.p_a_ahead > 0.975)


def test_draws_have_student_t(made):
    """Percentiles of draws are the intervals, also with few topics."""
    found = corrected(made, n_draws=40_000, topics=made.judgments.topics[:4])
    assert found.degrees == 4
    sd = np.sqrt(found.covariance[0].diagonal())
    ends = np.quantile(found.draws[:, :, 0] - found.value[:, 0], [0.025, 0.975], axis=0) / sd
    np.testing.assert_allclose(ends, np.array([[-1], [1]]) * np.full(len(sd), t.ppf(0.975, 4)), rtol=0.05)
    between = found.draws[:, 0, 0] - found.draws[:, 1, 0]
    assert np.mean(between > 0) == pytest.approx(found.pairs().p_a_ahead[0], abs=0.01)


def test_intervals_by_draws_are_as_wide_as_their_deviation_whatever_the_number_of_draws(made):
    for n_draws in (40, 400):
        found = corrected(made, ["nDCG@10", "ERR@10"], n_draws=n_draws)
        reach = t.ppf(0.975, 13) * np.sqrt(np.diagonal(found.covariance, axis1=1, axis2=2)).T
        np.testing.assert_allclose(found.high, np.minimum(found.value + reach, 1.0))
        np.testing.assert_allclose(found.low, np.maximum(found.value - reach, 0.0))


def test_intervals_by_draws_do_not_leave_the_range_of_the_measure(made):
    topics = made.judgments.topics[:1]
    found = corrected(made, ["nDCG@1", "RR(rel=3)", "Success(rel=3)@1"], topics=topics, n_draws=80)
    assert (found.low >= 0).all()
    assert (found.high <= 1).all()
    assert (found.low == 0).any()
    assert (found.high == 1).any()


def test_records_and_sentences(made):
    found = corrected(made)
    assert list(found.records()[0]) == ["system", "measure", "raw", "corrected", "low", "high"]
    best = found.systems[int(found.value[:, 0].argmax())]
    assert best in found.sentence()
    estimate = found.estimate(best)
    assert (estimate.value, estimate.low, estimate.high) == tuple(each.max() for each in (found.value,)) + tuple(
        float(each[found.systems.index(best), 0]) for each in (found.low, found.high)
    )
    assert "pairs of systems" in found.pairs().sentence()
    kinds = {note.kind for note in found.notes}
    assert {"reference-model", "inclusion-estimated"} <= kinds
    with pytest.raises(UnknownName):
        found.pairs("P@99")


def test_names_and_the_order_of_rows_do_not_matter(made):
    labels = some(made.judgments)
    found = corrected(made, ["P(rel=2)@10", "nDCG@10"], labels)
    frame = labels.to_polars().select("topic", "doc", "assessor", "label")
    names = {"lenient1": "zz", "careful1": "aa", "careful2": "mm"}
    renamed = frame.with_columns(pl.col("assessor").replace(names)).sample(fraction=1.0, shuffle=True, seed=1)
    other = read_judgments(renamed, scale="0<1<2<3")
    again = corrected_scores(other, made.runs, ["P(rel=2)@10", "nDCG@10"], judge="zz", reference="aa", n_draws=40)
    np.testing.assert_allclose(again.value, found.value, atol=1e-9)
    np.testing.assert_allclose(again.low, found.low, atol=1e-9)


@pytest.mark.filterwarnings("ignore::venire.errors.EqualLabelsWarning")
def test_gains_that_are_all_the_same_leave_no_uncertainty(made):
    found = corrected(made, ["CG@10", "DCG@10"], gains=dict.fromkeys(made.judgments.scale.labels, 2.0))
    np.testing.assert_allclose(found.value, found.raw, atol=1e-6)
    np.testing.assert_allclose(found.low, found.high, atol=1e-3)


@pytest.mark.filterwarnings("ignore::venire.errors.EqualLabelsWarning")
@pytest.mark.parametrize("measure", ["nDCG@10", "AP(rel=0)"])
def test_gains_that_are_all_the_same_leave_none_by_draws_either(made, measure):
    found = corrected(made, measure, gains=dict.fromkeys(made.judgments.scale.labels, 2.0))
    np.testing.assert_allclose(found.low, found.high, atol=1e-12)
    np.testing.assert_allclose(found.value, found.raw, atol=1e-12)


def test_the_same_seed_gives_the_same_draws(made):
    one = corrected(made, "nDCG@10", rng=5)
    np.testing.assert_array_equal(one.draws, corrected(made, "nDCG@10", rng=5).draws)
    assert (one.draws != corrected(made, "nDCG@10", rng=6).draws).any()


def test_other_gains_and_labels_that_do_not_start_at_0(made):
    labels = some(made.judgments)
    shifted = labels.to_polars().select("topic", "doc", "assessor", label=pl.col("label").cast(pl.Int64) + 5)
    other = read_judgments(shifted, scale="5<6<7<8")
    plain = corrected(made, ["DCG@10", "nDCG@10"], labels)
    moved = corrected_scores(other, made.runs, ["DCG@10", "nDCG@10"], n_draws=40, **WHO)
    np.testing.assert_allclose(moved.value, plain.value, atol=1e-9)
    double = {label: 2 * n for n, label in enumerate(labels.scale.labels)}
    twice = corrected(made, ["DCG@10", "nDCG@10"], labels, gains=double)
    np.testing.assert_allclose(twice.value[:, 0], 2 * plain.value[:, 0], atol=1e-9)
    np.testing.assert_allclose(twice.high[:, 0], 2 * plain.high[:, 0], atol=1e-9)
    np.testing.assert_allclose(twice.value[:, 1], plain.value[:, 1], atol=1e-9)
    lifted = corrected(made, "DCG@10", labels, gains={label: n + 1 for n, label in enumerate(labels.scale.labels)})
    assert (lifted.value > plain.value[:, :1]).all()


def test_few_topics_and_one_system(made):
    topics = made.judgments.topics[:2]
    found = corrected(made, ["P(rel=2)@10", "nDCG@10"], topics=topics)
    assert np.isfinite(found.value).all()
    assert (found.low <= found.value).all()
    one = {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}
    rows = [
        ("t", doc, who, label) for doc, who, label in zip("abcab", "llllp"[:3] + "pp", (1, 0, 1, 1, 0), strict=True)
    ]
    labels = read_judgments(pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row"))
    tiny = corrected_scores(labels, one, ["P@2", "P@3", "nDCG@3"], judge="l", reference="p", n_draws=20)
    assert tiny.value[0, 0] == pytest.approx(0.5)
    assert 1 / 3 <= tiny.low[0, 1] <= tiny.value[0, 1] <= tiny.high[0, 1] <= 2 / 3
    assert len(tiny.pairs().a) == 0


def test_items_that_the_judge_did_not_label_are_predicted_too(made):
    labels = some(made.judgments)
    gone = labels.assessor.among("lenient1", "assessor") & (labels.item % 7 == 3)
    found = corrected(made, labels=labels.take(~gone))
    truth = evaluate(made.judgments, made.runs, "P(rel=2)@10", assessor="careful1").mean().values
    assert np.abs(found.value - truth).mean() < 0.06


def test_topics_that_the_judge_did_not_label_are_left_out_of_all_scores(made):
    """An identical judge that lacks a topic has the scores of the reference on the others."""
    labels = made.judgments.where(assessor="careful1")
    frame = labels.to_polars().select("topic", "doc", "assessor", "label")
    copy = frame.with_columns(pl.lit("copy").alias("assessor")).filter(pl.col("topic") != labels.topics[0])
    both = read_judgments(pl.concat([frame, copy]), scale="0<1<2<3")
    found = corrected_scores(both, made.runs, ["P(rel=2)@10", "nDCG@10"], judge="copy", reference="careful1", n_draws=4)
    np.testing.assert_allclose(found.value, found.raw, atol=1e-12)
    assert [note.fields["n"] for note in found.notes if note.kind == "topics-without-judge"] == [1]
    others = labels.topics[1:]
    truth = evaluate(labels, made.runs, ["P(rel=2)@10", "nDCG@10"], topics=others).mean().values
    np.testing.assert_allclose(found.value, truth, atol=1e-12)
    assert "topics-without-judge" not in {note.kind for note in corrected(made).notes}


def test_a_judge_that_labelled_none_of_the_topics_is_refused(made):
    labels, first = some(made.judgments), made.judgments.topics[0]
    of_first = labels.items.topic[labels.item] == 0
    without = labels.take(~(labels.assessor.among("lenient1", "assessor") & of_first))
    with pytest.raises(PairsError) as error:
        corrected(made, labels=without, topics=[first])
    assert error.value.hint
    found = corrected(made, labels=without, topics=[first, *labels.topics[3:6], "none such"])
    assert {"topics-without-judge": 1, "topics-not-judged": 1}.items() <= {
        note.kind: note.fields.get("n") for note in found.notes
    }.items()
    np.testing.assert_array_equal(found.value, corrected(made, labels=without, topics=labels.topics[3:6]).value)


def test_several_judges_are_used_together(made):
    judges = ["lenient1", "careful2"]
    found = corrected(made, judge=judges)
    assert found.judge == tuple(judges)
    own = evaluate(made.judgments.where(assessor=judges), made.runs, "P(rel=2)@10", pool="mean").mean().values
    np.testing.assert_allclose(found.raw, own, atol=1e-12)


def test_a_case_that_is_scanned_once_gives_the_same(made):
    labels = some(made.judgments)
    scoring = Scoring(per="assessor")
    case = Case(labels, build_panel(labels, per="assessor"), scan(made.runs, labels.items).facts, scoring)
    plan = scoring.plan(["P(rel=2)@10"], labels.scale)
    again = corrected_on(case, plan, n_draws=40, **WHO)
    np.testing.assert_array_equal(again.value, corrected(made, labels=labels).value)
    condensed = Scoring(per="assessor", unjudged="condensed")
    with pytest.raises(SettingError) as error:
        corrected_on(replace(case, scoring=condensed), condensed.plan(["P@10"], labels.scale), n_draws=40, **WHO)
    assert error.value.ways or error.value.hint


def test_a_declared_reference_is_used(made):
    declared = some(made.judgments).declare(reference="careful1")
    found = corrected_scores(declared, made.runs, "P(rel=2)@10", judge="lenient1", n_draws=40)
    np.testing.assert_array_equal(found.value, corrected(made, labels=declared).value)
    with pytest.raises(SettingError):
        corrected_scores(made.judgments, made.runs, judge="lenient1")


def test_what_cannot_be_corrected(made):
    labels = made.judgments
    with pytest.raises(PairsError):
        corrected(made, labels=labels.take(labels.assessor.among("lenient1", "assessor") ^ (labels.item % 2 == 0)))
    with pytest.raises(UnknownName):
        corrected(made, reference="nobody")
    with pytest.raises(UnknownName):
        corrected(made, judge="nobody")
    with pytest.raises(SettingError):
        corrected(made, judge="careful1")
    with pytest.raises(SettingError):
        corrected(made, n_draws=1)
