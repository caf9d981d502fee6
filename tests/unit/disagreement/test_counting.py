from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from long_rows import judgments_of
from stated_counts import FIT, SCALE, by_system, quiet_count, read_table, stated_fit
from venire import PredictedRelevance, Scale, read_judgments
from venire.disagreement import in_top_results
from venire.disagreement.counting import KINDS, count_relevant
from venire.errors import AmbiguousLabels, FewPairsWarning, GainsError, MissingTopicsWarning, SettingError, UnknownName
from venire.simulation import Synthetic, generate

COLUMNS = ["prm", "prm_se", "binary", "binary_se", "udm", "udm_se"]


@pytest.fixture
def labels():
    qrels = {"1": {"a": "Key", "b": "Rel", "c": "Non", "d": "Key"}, "2": {"a": "Rel", "b": "Non", "c": "Key"}}
    return read_judgments(qrels, scale=SCALE)


@pytest.fixture
def runs():
    return {
        "one": {"1": {"a": 4.0, "b": 3.0, "x": 2.0, "d": 1.0}, "2": {"c": 2.0, "a": 1.0}},
        "two": {"1": {"c": 3.0, "b": 2.0, "d": 1.0}, "2": {"b": 3.0, "y": 2.0, "a": 1.0}},
    }


def test_three_counts_by_hand(labels, runs):
    counts = quiet_count(labels, runs, FIT, top=3)
    one, two = by_system(counts)["one"], by_system(counts)["two"]
    # one: a Key, b Rel, x unjudged; c Key, a Rel.  two: c Non, b Rel, d Key; b Non, y unjudged, a Rel.
    assert one["prm"] == pytest.approx((0.75 + 0.75) / 2)
    assert one["binary"] == 1.0
    assert one["udm"] == pytest.approx((1.25 + 1.25) / 2)
    assert two["prm"] == pytest.approx((0.85 + 0.35) / 2)
    assert two["prm_se"] == pytest.approx(np.std([0.85, 0.35], ddof=1) / 2**0.5)
    assert two["binary"] == 0.5
    assert two["binary_se"] == pytest.approx(0.5)
    assert two["udm"] == pytest.approx((1.25 + 0.25) / 2)
    assert two["topics"] == 2
    lenient = by_system(counts, "Rel")
    assert lenient["one"]["binary"] == 2.0
    assert lenient["one"]["prm"] == pytest.approx(1.5)
    assert lenient["two"]["udm"] == lenient["two"]["binary"] == 1.5


def test_whole_lists_count_more_than_their_top(labels, runs):
    whole = by_system(quiet_count(labels, runs, FIT, top=None))["one"]
    assert whole["binary"] == 1.5
    assert whole["prm"] == pytest.approx((1.25 + 0.75) / 2)


def test_weights_of_three_users(labels, runs):
    counts = quiet_count(labels, runs, FIT, top=3, at_least=(1, 3))
    assert by_system(counts)["one"]["udm"] == pytest.approx(1 + (1 - 0.75**2))


def test_a_system_without_a_list_counts_nothing_or_is_left_out(labels):
    runs = {"one": {"1": {"a": 1.0}, "2": {"c": 1.0}}, "half": {"1": {"a": 1.0}}}
    with pytest.warns(MissingTopicsWarning, match=r"half \(1 of 2\)"):
        half = by_system(count_relevant(labels, runs, FIT))["half"]
    assert (half["binary"], half["topics"]) == (0.5, 2)
    with pytest.warns(MissingTopicsWarning):
        half = by_system(count_relevant(labels, runs, FIT, missing="skip"))["half"]
    assert (half["binary"], half["binary_se"], half["topics"]) == (1.0, None, 1)


@pytest.fixture(scope="module")
def collection():
    return generate(Synthetic(n_topics=12, docs_per_topic=60, n_unjudged=0), rng=5)


def slow_counts(collection, gains, assessor, top):
    """Sum gains document by document; (system, topic)."""
    frame = collection.judgments.where(assessor=assessor).to_polars()
    worth = {(topic, doc): gains[label] for topic, doc, _, label in frame.iter_rows()}
    table = []
    for source in collection.runs.sources:
        lists: dict[str, list[tuple[float, bytes]]] = {}
        rows = zip(source.topic.texts(), source.doc.texts(), source.score.tolist(), strict=True)
        for topic, doc, score in rows:
            lists.setdefault(topic, []).append((score, doc))
        table.append([sum(worth.get((t, d), 0) for _, d in sorted(docs)[::-1][:top]) for t, docs in lists.items()])
    return np.array(table)


@pytest.mark.parametrize("top", [5, 1000])
def test_counts_equal_a_slow_loop(collection, top):
    counts = count_relevant(
        collection.judgments, collection.runs, PredictedRelevance(relevant="all"), top=top, assessor="careful1"
    )
    fit = counts.fit
    for row, name in enumerate(fit.relevant.names):
        marked = dict(zip(fit.scale.labels, fit.relevant.labels[row].astype(float), strict=True))
        p = dict(zip(fit.scale.labels, fit.p[row].tolist(), strict=True))
        lowest = fit.scale.labels[0]
        udm = {label: 1.0 if marked[label] else 0.0 if label == lowest else p[label] for label in p}
        for kind, gains in zip(KINDS, (p, marked, udm), strict=True):
            slow = slow_counts(collection, gains, "careful1", top)
            place = KINDS.index(kind), row
            np.testing.assert_allclose(counts.mean[place], slow.mean(axis=1), err_msg=f"{kind} {name}")
            if kind == "binary":
                np.testing.assert_allclose(counts.se[place], slow.std(axis=1, ddof=1) / 12**0.5)


def test_errors_equal_a_slow_jackknife_of_counts_and_fit(collection):
    """Leave each topic out of both; the change of a product is that of its factors, to first order."""
    labels, topics = collection.judgments, collection.judgments.topics
    model = PredictedRelevance(relevant="2")
    counts = count_relevant(labels, collection.runs, model, assessor="careful1", fit_to="pool")

    def changes(weights, values):
        return sum(weights[n] * values[n] for n in range(len(values)))

    alone = [slow_counts(collection, dict(zip("0123", row, strict=True)), "careful1", 10) for row in np.eye(4)]
    base, whole = counts.fit.p[0], sum(p * n for p, n in zip(counts.fit.p[0], alone, strict=True))
    squares = 0.0
    for number, topic in enumerate(topics):
        p = model.fit(labels.where(topic=[each for each in topics if each != topic])).p[0]
        of_counts = np.delete(whole, number, axis=1).mean(axis=1) - whole.mean(axis=1)
        of_fit = changes(p - base, [each.mean(axis=1) for each in alone])
        squares += (of_counts + of_fit) ** 2 * 11 / 12
    np.testing.assert_allclose(counts.se[0, 0], np.sqrt(squares))
    assert (counts.se[0, 0] > whole.std(axis=1, ddof=1) / 12**0.5).any()


def test_topics_of_another_fit_add_their_own_error(collection):
    other = generate(Synthetic(n_topics=12, docs_per_topic=60, n_unjudged=0), rng=6).judgments
    rows = other.to_polars().with_columns(topic="other" + pl.col("topic"))
    fit = PredictedRelevance(relevant="2").fit(read_judgments(rows, scale=other.scale))
    found = count_relevant(collection.judgments, collection.runs, fit, assessor="careful1")
    known = replace(fit, topics=(), spread=fit.spread._replace(low=fit.p, high=fit.p))
    plain = count_relevant(collection.judgments, collection.runs, known, assessor="careful1")
    np.testing.assert_allclose(found.mean, plain.mean)
    assert (found.se[0] > plain.se[0]).all()
    np.testing.assert_allclose(found.se[1], plain.se[1])


def test_a_label_that_nobody_confirmed_is_not_known_for_sure():
    """Three pairs without a hit: p = 0, yet the error of the count is not 0."""
    rows = [(t, f"d{t}{n}", who, 1) for t in range(3) for n in range(4) for who in "AB" if who == "A" or n < 1]
    rows += [(t, f"{label}{t}", who, label) for t in range(3) for label in (0, 2) for who in "AB"]
    labels = judgments_of(rows)
    runs = {str(t): {f"d{t}{n}": float(n) for n in range(4)} for t in range(3)}
    fit = PredictedRelevance(relevant="2", observed=["A"]).fit(labels)
    with pytest.warns(FewPairsWarning):
        found = count_relevant(labels, runs, fit, assessor="A")
    assert found.mean[0, 0, 0] == pytest.approx(0, abs=1e-6)
    assert found.se[0, 0, 0] > 0


def test_first_results_are_what_a_setting_is_fitted_on(collection):
    model = PredictedRelevance(relevant="2")
    first = count_relevant(collection.judgments, collection.runs, model, assessor="careful1")
    stated = count_relevant(collection.judgments, collection.runs, model, assessor="careful1", fit_to="returned")
    pool = count_relevant(collection.judgments, collection.runs, model, assessor="careful1", fit_to="pool")
    np.testing.assert_array_equal(first.fit.p, model.fit(in_top_results(collection.judgments, collection.runs)).p)
    np.testing.assert_array_equal(first.fit.p, stated.fit.p)
    np.testing.assert_array_equal(pool.fit.p, model.fit(collection.judgments).p)
    assert first.notes[0].kind == "fitted-on-top-results"
    assert pool.notes == ()
    with pytest.raises(UnknownName):
        count_relevant(collection.judgments, collection.runs, model, assessor="careful1", fit_to="first")


def test_tau_is_that_of_scipy_and_of_the_means(collection):
    counts = count_relevant(collection.judgments, collection.runs, pool="median")
    prm, binary, udm = counts.mean[:, 0]
    assert counts.tau[0, 0] == pytest.approx(kendalltau(prm, binary).statistic)
    assert counts.tau[1, 0] == pytest.approx(kendalltau(prm, udm).statistic)
    taus = counts.tau_records()
    assert [(each["a"], each["b"]) for each in taus] == [("prm", "binary"), ("prm", "udm")]
    assert taus[0]["tau"] == counts.tau[0, 0]


def test_tau_is_none_where_a_count_tells_no_systems_apart(labels):
    runs = {"one": {"1": {"a": 1.0}, "2": {"a": 1.0}}, "two": {"1": {"d": 1.0}, "2": {"a": 1.0}}}
    assert [each["tau"] for each in quiet_count(labels, runs, FIT).tau_records()] == [None] * 4


def test_each_assessor_is_an_axis(collection):
    each = count_relevant(collection.judgments, collection.runs, per="assessor")
    assert each.mean.shape == (3, 1, 10, 5)
    one = count_relevant(collection.judgments, collection.runs, each.fit, assessor="strict1")
    who = each.assessors.index("strict1")
    np.testing.assert_allclose(each.mean[..., who], one.mean)
    np.testing.assert_allclose(each.tau[..., who], one.tau)
    records = [record for record in each.records() if record["assessor"] == "strict1"]
    assert [record.pop("assessor") for record in records] == ["strict1"] * 10
    for found, expected in zip(records, one.records(), strict=True):
        assert found == pytest.approx(expected)
    assert f"(labels of {each.assessors[0]})" in each.sentence()


def test_whose_labels_count_has_to_be_said(collection):
    with pytest.raises(AmbiguousLabels, match="5 assessors"):
        count_relevant(collection.judgments, collection.runs)


def test_records_come_highest_first_and_the_sentence_names_the_best(collection):
    counts = count_relevant(collection.judgments, collection.runs, PredictedRelevance(relevant="all"), pool="mean")
    records = counts.records()
    assert len(records) == 30
    assert list(records[0]) == ["system", "relevant", *COLUMNS, "topics"]
    first = [each["prm"] for each in records[:10]]
    assert first == sorted(first, reverse=True)
    sentence = counts.sentence()
    assert f"of {records[0]['system']}, the best of 10 systems" in sentence
    assert f"{records[0]['prm']:.2f} ± {records[0]['prm_se']:.2f} relevant (3)" in sentence
    assert sentence.startswith("Among the first 10 results")


def test_no_disagreement_makes_all_counts_one():
    qrels = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 0, "b": 1}}
    labels = read_judgments([read_table(qrels, name) for name in ("x", "y")])
    runs = {"1": {"a": 2.0, "b": 1.0}, "2": {"b": 1.0, "a": 0.5}}
    with pytest.warns(UserWarning, match="fewer than 50 pairs"):
        counts = count_relevant(labels, runs, assessor="x")
    np.testing.assert_array_equal(counts.mean[:, 0, 0], [1.0, 1.0, 1.0])


def test_categories_count_too():
    scale = Scale.parse("news|wiki|shop")
    labels = read_judgments({"1": {"a": "news", "b": "wiki"}, "2": {"a": "shop", "b": "news"}}, scale=scale)
    fit = stated_fit((0.6, 0.3, 0.1), scale=scale, relevant="news")
    runs = {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 2.0, "b": 1.0}}
    record = count_relevant(labels, runs, fit).records()[0]
    assert record["prm"] == pytest.approx((0.9 + 0.7) / 2)
    assert record["binary"] == 1.0


def test_a_fit_on_another_scale_is_refused(labels, runs):
    with pytest.raises(GainsError, match="scale"):
        count_relevant(labels, runs, stated_fit((0.1, 0.2), scale=Scale.parse("No<Yes")))


def test_zero_results_cannot_be_counted(labels, runs):
    with pytest.raises(SettingError, match="expected 1 or more"):
        count_relevant(labels, runs, FIT, top=0)
