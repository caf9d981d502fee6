"""Rankings of systems by other assessors and by other gains: against scipy, by hand, and against the truth."""

import json
from itertools import combinations
from math import isnan

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest, kendalltau

from venire import evaluate, read_judgments
from venire.comparison.rank_agreement import CORRELATIONS, Correlator, RankCorrelation, Robustness, interval
from venire.comparison.robustness import between_assessors, between_gains
from venire.disagreement.top_results import AS_KNOWN, default_gains, named_gains
from venire.errors import PairsError, ScaleError, SettingError, UnknownName
from venire.results import Note
from venire.simulation import Synthetic, generate

KEYS = {
    *{"between", "measure", "gains", "other_gains", "a", "b", "correlation", "value", "low", "high", "systems"},
    *{"topics", "sd"},
}


@pytest.fixture(scope="module")
def collection():
    return generate(Synthetic(n_topics=12, docs_per_topic=40, n_unjudged=5), rng=5)


def means(judgments, runs, gains, assessor):
    return evaluate(judgments, runs, ["nDCG@10"], gains=gains, assessor=assessor).mean().values[:, 0]


def test_every_two_assessors_and_their_mean(collection):
    judgments, runs = collection.judgments, collection.runs
    found = between_assessors(judgments, runs, "nDCG@10", gains=["linear", "exponential"], n_draws=20)
    who = judgments.assessors
    for gains in ("linear", "exponential"):
        rows = [row for row in found.rows if row.gains == gains]
        score = {name: means(judgments, runs, gains, name) for name in who}
        slow = {(a, b): kendalltau(score[a], score[b]).statistic for a, b in combinations(who, 2)}
        assert {(row.a, row.b): row.value for row in rows[1:]} == pytest.approx(slow)
        assert (rows[0].a, rows[0].b) == (None, None)
        assert rows[0].value == pytest.approx(np.mean(list(slow.values())))
        assert {row.systems for row in rows} == {len(score[who[0]])}
    assert found.headline() == tuple(row for row in found.rows if row.a is None)


def test_every_two_gains_under_each_assessor_and_under_a_pool(collection):
    judgments, runs = collection.judgments, collection.runs
    names = ["linear", "exponential", "binary:2"]
    found = between_gains(judgments, runs, gains=names, n_draws=20)
    for one, other in combinations(names, 2):
        rows = [row for row in found.rows if (row.gains, row.other_gains) == (one, other)]
        slow = {
            name: kendalltau(*(means(judgments, runs, gains, name) for gains in (one, other))).statistic
            for name in judgments.assessors
        }
        assert {row.a: row.value for row in rows[1:]} == pytest.approx(slow)
        assert rows[0].value == pytest.approx(np.mean(list(slow.values())))
    one = between_gains(judgments, runs, gains=names, assessor=judgments.assessors[1], n_draws=20)
    assert [(row.a, row.value) for row in one.rows] == [
        (row.a, row.value) for row in found.rows if row.a == judgments.assessors[1]
    ]
    pooled = between_gains(judgments, runs, gains=names, pool="median", n_draws=20)
    assert {row.a for row in pooled.rows} == {"median"}
    assert len(pooled.rows) == 3
    assert pooled.headline() == pooled.rows


@pytest.mark.parametrize("name", CORRELATIONS)
def test_all_at_once_is_pair_by_pair(collection, name):
    values = evaluate(collection.judgments, collection.runs, ["nDCG@10"], per="assessor").values[:, :, 0]
    who = list("abcde")
    by = Correlator.of(name, values.shape[1], n_draws=30, rng=1)
    at_once = list(by.every_two(values, who))
    apart = [by.two(values[..., i], values[..., j], a=who[i], b=who[j]) for i, j in combinations(range(5), 2)]
    for one, other in zip(at_once, apart, strict=True):
        assert one[:3] == other[:3]
        np.testing.assert_allclose(one.draws, other.draws, atol=1e-12)


def test_a_correlation_of_ones_own(collection):
    def top(x, y):
        return (x.argmax(axis=-1) == y.argmax(axis=-1)).astype(float)

    found = between_assessors(collection.judgments, collection.runs, gains=["linear"], correlation=top, n_draws=10)
    assert {row.correlation for row in found.rows} == {"top"}
    assert {row.value for row in found.rows[1:]} <= {0.0, 1.0}


def grid(labels):
    """Judgments from {assessor: {topic: {doc: label}}}."""
    import polars as pl

    rows = [
        {"topic": topic, "doc": doc, "assessor": who, "label": label}
        for who, topics in labels.items()
        for topic, docs in topics.items()
        for doc, label in docs.items()
    ]
    return read_judgments(pl.DataFrame(rows), scale="0<1<2")


RUNS = {
    "good": {topic: {"x": 3.0, "y": 2.0, "z": 1.0} for topic in "123"},
    "fair": {topic: {"y": 3.0, "x": 2.0, "z": 1.0} for topic in "123"},
    "poor": {topic: {"z": 3.0, "y": 2.0, "x": 1.0} for topic in "123"},
}
UP, DOWN = {"x": 2, "y": 1, "z": 0}, {"x": 0, "y": 1, "z": 2}


def test_two_assessors_are_compared_on_the_topics_that_both_judged():
    judgments = grid({"a": {"1": UP, "2": DOWN}, "b": {"1": UP, "3": DOWN}, "c": {"3": UP}, "d": {"2": UP}})
    found = between_assessors(judgments, RUNS, "nDCG", gains=["linear"], n_draws=10)
    assert {(row.a, row.b): row.value for row in found.rows if row.a} == {("a", "b"): 1, ("a", "d"): -1, ("b", "c"): -1}
    assert Note("no-common-topic", "", n=3) in found.notes
    assert found.rows[0].value == pytest.approx(-1 / 3)
    assert all(isnan(row.low) for row in found.rows[1:])
    assert found.records()[1]["low"] is None


def test_scores_that_are_all_tied_have_no_correlation_and_that_is_noted():
    judgments = grid({"a": {"1": UP, "2": UP}, "b": {"1": dict.fromkeys(UP, 0), "2": dict.fromkeys(UP, 0)}})
    found = between_assessors(judgments, RUNS, "nDCG", gains=["linear"], n_draws=10)
    assert found.records()[0]["value"] is None
    assert Note("no-value", "", n=1) in found.notes
    assert found.sentence() == "No comparison has a value."


def test_systems_with_the_same_scores_stay_tied_in_every_draw():
    values = np.random.default_rng(0).random((5, 12))
    values[3] = values[1]
    by = Correlator.of("tau-b", 12, n_draws=200, rng=0)
    draws = by.means(values.T)
    assert (draws[:, 3] == draws[:, 1]).all()


@pytest.mark.filterwarnings("ignore::venire.errors.FewPairsWarning")
def test_the_default_gains_come_with_those_of_the_models(collection):
    found = between_assessors(collection.judgments, collection.runs, n_draws=5)
    assert [row.gains for row in found.headline()] == list(default_gains(collection.judgments.scale))
    worths, notes = named_gains(collection.judgments, None, relevant="2")
    assert list(worths) == ["linear", "exponential", "binary:2", "prm:2", "udm:1/3:2"]
    assert notes == [AS_KNOWN]
    with pytest.raises(SettingError, match="others were named"):
        named_gains(collection.judgments, ["linear"], relevant="2")
    with pytest.raises(ScaleError, match="not a label"):
        named_gains(collection.judgments, None, relevant="7")


def test_default_gains_that_cannot_be_fitted_are_left_out_with_a_word():
    judgments = grid({"a": {"1": UP, "2": UP}})
    worths, notes = named_gains(judgments, None)
    assert list(worths) == ["linear", "exponential", "binary:2"]
    assert [(note.kind, note.fields["name"]) for note in notes] == [
        ("gains-omitted", "prm:2"),
        ("gains-omitted", "udm:1/3"),
    ]
    found = between_gains(judgments, RUNS, "nDCG", n_draws=5)
    assert set(notes) <= set(found.notes)
    with pytest.raises(PairsError, match="two different assessors"):
        named_gains(judgments, ["prm:2"])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda j: between_assessors(j, {"1": {"x": 1.0}, "2": {"x": 1.0}}, gains=["linear"]),
            SettingError,
            "one system",
        ),
        (lambda j: between_assessors(j, RUNS, correlation="tau-c"), UnknownName, "rank correlation"),
        (lambda j: between_gains(j, RUNS, gains=["linear"]), SettingError, "two gains"),
        (lambda j: between_gains(j, RUNS, gains=["linear", "linear"]), SettingError, "same name"),
        (lambda j: between_gains(j, RUNS, gains=["linear", "exponential"], assessor="z"), UnknownName, "assessor"),
    ],
)
def test_what_cannot_be_compared_is_refused(call, error, words):
    judgments = grid({"a": {"1": UP, "2": UP}, "b": {"1": UP, "2": DOWN}})
    with pytest.raises(error, match=words):
        call(judgments)


def test_one_assessor_is_not_compared_with_themselves():
    with pytest.raises(PairsError, match="one assessor judged"):
        between_assessors(grid({"a": {"1": UP}}), RUNS)


def test_results_are_json_and_the_same_for_the_same_seed(collection):
    def found(rng):
        return between_assessors(collection.judgments, collection.runs, gains=["linear"], n_draws=30, rng=rng)

    records = found(3).records()
    assert all(set(record) == KEYS for record in records)
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    assert found(3).records() == records
    assert found(np.random.default_rng(3)).records() != found(np.random.default_rng(4)).records()
    assert all(row.low <= row.value <= row.high for row in found(3).rows)


def comparison(value, **other):
    settings = {"between": "assessors", "measure": "AP", "gains": "linear", "correlation": "tau-b", "systems": 9}
    return RankCorrelation(value=value, low=0.0, high=1.0, topics=5, sd=0.1, **settings | other)


def test_sentences():
    rows = (comparison(0.5), comparison(0.75, gains="binary:2"))
    assert Robustness(rows).sentence() == (
        "By AP, rankings of 9 systems by different assessors have a tau-b of 0.75 with binary:2 (highest) and of 0.50 "
        "with linear (lowest)."
    )
    rows = (comparison(0.5, between="gains", other_gains="prm:2", a="x"),)
    assert "by different gains have a tau-b of 0.50 (linear and prm:2)" in Robustness(rows).sentence()


def test_an_interval_stays_within_what_can_be():
    assert interval(0.9, 0.2, 20)[1] == 1
    assert interval(-0.9, 0.2, 20)[0] == -1
    assert interval(0.1, 0.2, 20, lowest=0.0)[0] == 0
    assert all(map(isnan, interval(0.5, float("nan"), 20)))
    assert all(map(isnan, interval(0.5, 0.1, 1)))
    assert interval(1.0, 0.0, 10) == (1, 1)
    assert all(map(isnan, interval(1.0, 0.0, 9))), "resamples of few topics that do not vary say little"
    low, high = interval(0.5, 0.1, 11)
    assert (low, high) == pytest.approx((0.5 - 2.228139 * 0.1, 0.5 + 2.228139 * 0.1))


def test_few_topics_are_noted():
    topics = ["q1", "q2", "q3"]
    rows = [(topic, doc, who, int(doc == "a")) for topic in topics for doc in "ab" for who in "xy"]
    table = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    runs = {name: {topic: {"a": score, "b": 1.0} for topic in topics} for name, score in (("s", 2.0), ("t", 0.0))}
    found = between_assessors(table, runs, "P@1", gains=["linear"])
    (row,) = found.rows
    assert (row.value, row.topics, row.record()["low"]) == (1, 3, None)
    assert Note("few-topics", "", n=3, missing=True) in found.notes


def test_the_interval_covers_what_as_many_other_topics_give():
    """400 samples of 30 topics; the truth is the mean correlation over many other samples."""
    rng = np.random.default_rng(11)
    n_topics, n_systems = 30, 15
    centre = rng.normal(0, 0.1, n_systems) + rng.normal(0, 0.03, (2, n_systems))

    def sample(size):
        together = rng.normal(0, 0.15, (size, 1, n_topics, n_systems))
        return centre[:, None] + together + rng.normal(0, 0.2, (size, 2, n_topics, n_systems))

    mean_scores = sample(2000).mean(axis=2)
    truth = CORRELATIONS["tau-b"](mean_scores[:, 0], mean_scores[:, 1]).mean()
    by = Correlator.of("tau-b", n_topics, n_draws=200, rng=1)
    rows = [
        by.rows([by.two(one.T, other.T)], between="assessors", measure="own", gains="own")[0]
        for one, other in sample(400)
    ]
    covered = sum(row.low <= truth <= row.high for row in rows)
    assert binomtest(covered, len(rows), 0.95).pvalue > 1e-3
    assert np.mean([row.high - row.low for row in rows]) < 0.5


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
def test_real_rankings(data_dir):
    """NIST against a language model on 63 runs, and gains under NIST; PRM corrects what binary gains lose."""
    judgments = read_judgments(data_dir / "dl21_full" / "judges.tsv.gz")
    two = judgments.where(assessor=["nist", "gpt4_umbrela"])
    runs = data_dir / "dl21_full" / "runs.trec.gz"
    found = {row.gains: row for row in between_assessors(two, runs, n_draws=50).rows if row.a}
    assert found["prm:3"].value > found["binary:3"].value
    assert found["linear"].value > found["binary:3"].value
    by_gains = between_gains(two, runs, gains=["prm:3", "binary:3", "exponential"], assessor="nist", n_draws=50)
    tau = {row.other_gains: row.value for row in by_gains.rows if row.gains == "prm:3"}
    assert tau["exponential"] > tau["binary:3"]
