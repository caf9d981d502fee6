from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau, spearmanr, t as student

from venire import evaluate
from venire.errors import SettingError, UnjudgedWarning, UnknownName
from venire.io.clicks import read_clicks
from venire.users.clicks import Online, online_scores
from venire.users.online_correlations import correlate_online

N_TOPICS, N_DOCS = 12, 4


def kinds(notes):
    return [getattr(note, "kind", None) for note in notes]


@pytest.fixture(scope="module")
def case():
    """Clicks on lists of four documents, labels that tell some of what users like, and two systems."""
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 4, (N_TOPICS, N_DOCS))
    rows = [
        (f"q{t}", " ".join(f"d{d}" for d in range(N_DOCS)), " ".join(map(str, flags)))
        for t in range(N_TOPICS)
        for flags in (rng.random((6, N_DOCS)) < labels[t] / 5).astype(int)
    ]
    topic, docs, clicks = zip(*rows, strict=True)
    log = read_clicks({"topic": topic, "docs": docs, "clicks": clicks})
    judgments = {f"q{t}": {f"d{d}": int(labels[t, d]) for d in range(N_DOCS)} for t in range(N_TOPICS)}
    order = {
        name: {f"q{t}": {f"d{d}": float(rng.random()) for d in range(N_DOCS)} for t in range(N_TOPICS)} for name in "ab"
    }
    return judgments, log, order


def test_online_scores_are_those_of_a_loop(case):
    _, log, runs = case
    scores = online_scores(log, runs, setting=Online(top=2))
    assert scores.names["measure"] == ("CTR", "CTR@2", "click nDCG@2")
    rates, names = log.rates(), list(log.items.doc)
    labels = {name: {} for name in log.topics}
    for item, label in enumerate(log.labels().label.tolist()):
        labels[log.topics[log.items.topic[item]]][names[item]] = 2**label - 1
    for system, name in enumerate("ab"):
        for t, topic in enumerate(scores.names["topic"]):
            own = {names[i]: rates[i] for i in np.flatnonzero(log.items.topic == log.topics.index(topic))}
            top = sorted(runs[name][topic], key=lambda doc: -runs[name][topic][doc])[:2]
            best = sorted(labels[topic].values(), reverse=True)[:2]
            gain, ideal = (
                sum(g / np.log2(n + 2) for n, g in enumerate(gains))
                for gains in ([labels[topic][doc] for doc in top], best)
            )
            expected = [np.mean(list(own.values())), np.mean([own[doc] for doc in top]), gain / ideal if ideal else 0.0]
            np.testing.assert_allclose(scores.values[system, t], expected, atol=1e-12)


def test_correlations_are_those_of_the_scores(case):
    judgments, log, runs = case
    found = correlate_online(judgments, log, ["nDCG@4", "P@2"], runs=runs, online=Online(top=3), n_draws=50)
    offline = evaluate(judgments, runs, ["nDCG@4", "P@2"])
    online = online_scores(log, runs, setting=Online(top=3))
    place = [offline.names["topic"].index(topic) for topic in online.names["topic"]]
    theirs = {"kendall": kendalltau, "spearman": spearmanr}
    assert len(found.rows) == 2 * 3 * 2 * 3
    for row in found.rows:
        if row.system != "all":
            system = "ab".index(row.system)
            x = offline.values[system, place, offline.names["measure"].index(row.measure)].round(10)
            y = online.values[system, :, online.names["measure"].index(row.online)].round(10)
            assert row.value == pytest.approx(theirs[row.correlation](x, y).statistic, abs=1e-9)
            assert row.low < row.value < row.high
    mean = [row.value for row in found.rows if (row.measure, row.online, row.correlation) == ("P@2", "CTR", "kendall")]
    assert mean[0] == pytest.approx(np.mean(mean[1:]))
    assert found.headline() == tuple(row for row in found.rows if row.system == "all")
    assert "over 12 topics: CTR with " in found.sentence()


@pytest.mark.filterwarnings("ignore::venire.errors.MissingTopicsWarning")
def test_a_system_that_returned_nothing_for_the_log_has_no_correlation_and_moves_no_other(case):
    judgments, log, runs = case
    held = {"a": runs["a"], "none": {"other": {"d0": 1.0}}, "b": runs["b"]}
    scores, alone = (online_scores(log, each, setting=Online(top=2)) for each in (held, runs))
    assert (scores.names, scores.silent) == (alone.names, ("none",))
    np.testing.assert_array_equal(scores.values, alone.values)
    rows = [correlate_online(judgments, log, "nDCG@4", runs=each, n_draws=20).rows for each in (held, runs)]
    assert rows[0] == rows[1]


def test_without_runs_the_lists_that_were_shown_are_scored(case):
    judgments, log, _ = case
    found = correlate_online(judgments, log, "nDCG@4", n_draws=0)
    assert {row.system for row in found.rows} == {"shown"}
    first = {topic: {f"d{d}": -float(d) for d in range(N_DOCS)} for topic in judgments}
    again = correlate_online(judgments, log, "nDCG@4", runs={"shown": first}, n_draws=0)
    assert [row.value for row in found.rows] == [row.value for row in again.rows]
    assert found.records()[0]["low"] is None, "no draws, no interval"
    assert found.method == "no intervals: topics were not resampled"
    assert "unjudged" not in kinds(found.notes)


def test_lists_that_were_shown_are_no_system_to_be_warned_of(case):
    judgments, log, _ = case
    some = [(t, d, "a", label) for t, docs in judgments.items() for d, label in docs.items() if d in ("d0", "d2")]
    others = [(t, d, "b", label) for t, docs in judgments.items() for d, label in docs.items()]
    keys = ("topic", "doc", "assessor", "label")
    labels = pl.DataFrame(some + others, schema=keys, orient="row")
    found = correlate_online(labels, log, "nDCG@4", assessor="a", n_draws=0)
    assert next(note for note in found.notes if kinds([note]) == ["unjudged"]).fields == {"share": 0.5, "top": 5}
    whole = correlate_online(labels, log, "nDCG@4", assessor="b", n_draws=0)
    assert "unjudged" not in kinds(whole.notes)
    top = correlate_online(labels, log, "nDCG@4", assessor="a", online=Online(top=1), n_draws=0)
    assert "unjudged" not in kinds(top.notes)
    shown = {topic: {f"d{d}": -float(d) for d in range(N_DOCS)} for topic in judgments}
    with pytest.warns(UnjudgedWarning, match="own 50%"):
        correlate_online(labels, log, "nDCG@4", assessor="a", runs={"own": shown}, n_draws=0)


def test_over_alpha_zero_is_the_measure_in_isolation(case):
    judgments, log, runs = case
    rows = [(t, d, label, "") for t, docs in judgments.items() for d, label in docs.items()]
    rows += [(t, "d1", 3, "d0") for t in judgments]
    topic, doc, label, given = zip(*rows, strict=True)
    labels = pl.DataFrame({"topic": topic, "doc": doc, "label": label, "given": given})
    found = correlate_online(labels, log, ["CG@3", "AP"], runs=runs, alphas=[0, 0.5, 1], n_draws=40)
    plain = correlate_online(judgments, log, ["CG@3", "AP"], runs=runs, n_draws=40)
    by = {(row.system, row.measure, row.alpha, row.online, row.correlation): row for row in found.rows}
    for row in plain.rows:
        at_zero = by[row.system, row.measure, 0.0 if row.measure == "CG@3" else None, row.online, row.correlation]
        assert (at_zero.value, at_zero.low, at_zero.gain) == (row.value, row.low, None)
    for (*what, alpha, online, correlation), row in by.items():
        if alpha:
            assert row.gain == pytest.approx(row.value - by[(*what, 0.0, online, correlation)].value)
            assert row.gain_low <= row.gain <= row.gain_high
    assert any(row.gain for row in found.rows), "labels in condition change something"


def test_topics_without_any_list_shown_or_document_seen(case):
    judgments, log, runs = case
    with pytest.raises(UnknownName, match="no topic in the click log called 'x'"):
        correlate_online({"x": {"a": 1}}, log, "AP", runs={"x": {"a": 1.0}})
    with pytest.raises(SettingError, match="alpha is 2, expected a weight"):
        correlate_online(judgments, log, "CG@3", runs=runs, alphas=[2])
    strange = {topic: {"new": 2.0, **docs} for topic, docs in runs["a"].items()}
    scores = online_scores(log, {"strange": strange}, setting=Online(top=1))
    assert np.isnan(scores.values[..., 1]).all()
    assert (scores.notes[-1].kind, scores.notes[-1].fields["share"]) == ("never-shown", 1.0)


def test_a_handful_of_topics_in_perfect_order_leaves_much_open():
    log = {"topic": ["q0", "q1", "q2"] * 2, "docs": ["a b"] * 6, "clicks": ["0 0", "0 1", "1 1", "0 0", "0 0", "1 0"]}
    judgments = {"q0": {"a": 0, "b": 0}, "q1": {"a": 0, "b": 3}, "q2": {"a": 3, "b": 1}}
    found = correlate_online(judgments, read_clicks(log), ["CG@2"], n_draws=100)
    some = {row.correlation: row for row in found.rows if row.online == "CTR"}
    for row in some.values():
        assert (row.value, row.topics) == (1.0, 3)
        assert -1 < row.low < 0
        assert row.high == 1
    reach = student.ppf(0.975, 2) ** 2 * 22 / 54
    assert some["kendall"].low == pytest.approx((1 - reach) / (1 + reach))
    assert (found.notes[-1].kind, found.notes[-1].fields["n"]) == ("few-topics", 3)
    assert "nan" not in correlate_online(judgments, read_clicks(log), ["CG@2"], n_draws=0).sentence()


def test_gains_over_few_topics_are_differences_of_limits(case):
    judgments, log, _ = case
    some = list(judgments)[:6]
    rows = [(topic, doc, label, "") for topic in some for doc, label in judgments[topic].items()]
    rows += [(topic, "d1", 3, "d0") for topic in some]
    labels = pl.DataFrame(rows, schema=["topic", "doc", "label", "given"], orient="row")
    found = correlate_online(labels, log, ["CG@2"], alphas=[0, 0.5], n_draws=50)
    zero, half = (next(row for row in found.rows if row.alpha == alpha) for alpha in (0, 0.5))
    assert (half.gain_low, half.gain_high) == pytest.approx((half.low - zero.high, half.high - zero.low))
