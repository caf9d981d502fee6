"""What other judges' own labels say of pairs of systems."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_rel

from two_judges import N_TOPICS, docs_of, judged, lists, table
from venire import compare, evaluate, parse_measure
from venire.comparison.forecast import JudgeSwap
from venire.comparison.observed import SEEN, rank_weights
from venire.disagreement.transitions import FURTHER

PAIR = {"assessor": "expert", "new_judge": "llm", "baseline": "L", "candidate": "C", "n_draws": 40}
MODELS = ("fixed", "assessors", "hierarchical", "pooled")


def llm_only(condition):
    """The expert labelled everything, the llm what meets a condition."""
    return judged(table().filter((pl.col("assessor") == "expert") | condition))


def record(judgments, measure="nDCG@10", **options):
    (found,) = compare(judgments, lists(), measure, **PAIR | options).records()
    return found


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("measure", ["nDCG@10", "P(rel=2)@5", "AP(rel=2)"])
def test_complete_labels_are_observed(measure, model):
    judgments = judged(table())
    found = record(judgments, measure, judge_model=model)
    assert (found["method"], found["p_stays_ahead"], found["p_flips"]) == ("observed", 0, 1)
    scores = evaluate(judgments, lists(), measure, assessor="llm").values[:, :, 0]
    seen = found["observed"]
    assert tuple(seen) == SEEN
    assert seen["delta"] == pytest.approx((scores[0] - scores[2]).mean())
    assert seen["p_value"] == pytest.approx(ttest_rel(scores[0], scores[2]).pvalue)
    assert (seen["topics"], seen["share"], seen["judges"], seen["judges_agree"]) == (N_TOPICS, 1, 1, 0)


@pytest.mark.parametrize("model", MODELS)
def test_a_judge_with_the_same_labels_agrees(model):
    found = record(judged(table(identical=True)), judge_model=model)
    assert (found["method"], found["p_stays_ahead"], found["se"]) == ("observed", 1, 0)
    assert found["observed"]["delta"] == pytest.approx(found["delta"])
    assert found["observed"]["judges_agree"] == 1


def test_only_topics_with_enough_labels_count():
    some = [f"q{n}" for n in range(5)]
    judgments = llm_only(pl.col("topic").is_in(some))
    found = record(judgments)
    scores = evaluate(judgments, lists(), "nDCG@10", assessor="llm", topics=some).values[:, :, 0]
    assert found["observed"]["topics"] == 5
    assert found["observed"]["delta"] == pytest.approx((scores[0] - scores[2]).mean())
    assert found["observed"]["share"] == pytest.approx(5 / 12, abs=1e-9)
    assert found["observed"]["judges"] == 0
    assert found["method"] == "40 draws, hierarchical"


def test_the_share_is_weighed_by_the_discount():
    known = ["C0", "C3", "L1", "x2"]
    found = record(llm_only(pl.col("doc").is_in(known)))["observed"]
    weight = 1 / np.log2(np.arange(2, 12))
    labelled = sum(weight[n] for side in "CL" for n, doc in enumerate(docs_of(side)) if doc in known)
    assert found["share"] == pytest.approx(labelled / (2 * weight.sum()))
    assert (found["delta"], found["p_value"], found["topics"]) == (None, None, 0)


def test_labels_outside_of_the_lists_matter_to_the_best_ranking_only():
    judgments = llm_only(pl.col("doc").is_in([*docs_of("C"), *docs_of("L")]))
    assert record(judgments, "P(rel=2)@5")["method"] == "observed"
    drawn = record(judgments, "nDCG@10")
    assert (drawn["method"], drawn["observed"]["share"]) == ("40 draws, hierarchical", 1)


def test_nothing_is_observed_of_lists_without_labels_or_with_stated_agreement():
    assert record(llm_only(pl.col("doc").is_in(["x18", "x19"])))["observed"] is None
    stated = record(judged(table()), "P@5", new_judge="any", agreement=(0.9, 0.8))
    assert stated["observed"] is None
    assert 0 <= stated["p_stays_ahead_both"] <= 1


def test_three_of_four_judges_agree_and_a_further_one_is_drawn():
    frame, rng = table(), np.random.default_rng(3)
    like = frame.filter(pl.col("assessor") == "expert")
    rows = [frame]
    for name in ("b", "c", "d"):
        other, drawn = pl.Series(rng.random(len(like)) < 0.05), pl.Series(rng.integers(4, size=len(like)).astype(str))
        label = pl.when(other).then(drawn).otherwise(pl.col("label"))  # no copies
        rows.append(like.with_columns(assessor=pl.lit(name), label=label))
    judgments = judged(pl.concat(rows))
    found = record(judgments, new_judge="any", n_draws=490)
    assert (found["observed"]["judges"], found["observed"]["judges_agree"]) == (4, 3)
    assert found["method"] == "observed and 490 draws, hierarchical"
    assert 3 / 7 <= found["p_stays_ahead"] <= 6 / 7
    swap = JudgeSwap.of(judgments, lists(), "nDCG@10", assessor="expert")
    draws = swap.forecasts(n_draws=490)[0].draws
    ahead = (draws[:, 0] > draws[:, 2]).reshape(-1, 4 + FURTHER).mean(axis=0)
    assert sorted(ahead[:4]) == [0, 1, 1, 1]
    assert found["p_stays_ahead"] == pytest.approx((3 + ahead[4:].sum()) / (4 + FURTHER))
    alone = record(judgments, new_judge="any", judge_model="assessors")
    assert alone["p_stays_ahead"] == 3 / 4


def test_observations_are_a_struct_in_data_frames_and_columns_on_pages():
    found = compare(judged(table()), lists(), **PAIR)
    assert found.to_polars()["observed"].struct.field("share").to_list() == [1]
    assert "observed_judges_agree" in found._repr_html_()


def test_topics_and_both_are_wider_than_judges():
    found = record(judged(table(identical=True)), n_draws=500)
    assert found["p_stays_ahead"] == 1
    assert found["p_stays_ahead_topics"] == found["p_stays_ahead_both"]
    (close,) = compare(
        judged(table(identical=True)), lists(), **PAIR | {"baseline": "D", "candidate": "C", "n_draws": 500}
    ).records()
    assert close["p_stays_ahead"] == 1
    assert 0.5 < close["p_stays_ahead_topics"] < 1


@pytest.mark.parametrize(
    ("measure", "weights"),
    [
        ("nDCG@3", [1, 1 / np.log2(3), 0.5, 0]),
        ("P@2", [0.5, 0.5, 0, 0]),
        ("AP", [1, 1 / 2, 1 / 3, 1 / 4]),
        ("RR", [1, 1 / 2, 1 / 3, 1 / 4]),
        ("RBP(p=0.5)", [0.5, 0.25, 0.125, 0.0625]),
    ],
)
def test_weights_of_ranks(measure, weights):
    swap = JudgeSwap.of(judged(table()), lists(), measure, assessor="expert")
    np.testing.assert_allclose(rank_weights(parse_measure(measure), swap.case)[:4], weights)
