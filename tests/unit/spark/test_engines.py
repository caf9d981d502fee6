"""The same tests on both engines: one machine, and a cluster of Spark with two executors."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from threading import Thread

import numpy as np
import polars as pl
import pytest

import venire
from spark_cluster import cluster, executors
from venire import PredictedRelevance, compare, read_clicks, read_judgments
from venire.agreement import agreement_table
from venire.agreement.table import BY_PATTERN
from venire.errors import AmbiguousLabels, BadRowsWarning, FormatError, TiedScoresWarning, VenireError

pytestmark = [
    pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
MEASURES = ["nDCG@10", "AP", "RBP(p=0.8)", "Judged@5", "RR"]
PAIRS = ["p", "low", "high", "hits", "pairs"]


class OneMachine:
    """The local engine; tables are frames of polars."""

    def table(self, frame):
        return frame

    def evaluate(self, judgments, runs, measures, **options):
        return venire.evaluate(judgments, runs, measures, **options)

    def agreement(self, judgments, **options):
        return agreement_table(judgments, **options)

    def disagreement(self, judgments, **options):
        return PredictedRelevance(**options).fit(judgments)

    def clicks(self, log):
        return read_clicks(log)


class OnSpark(OneMachine):
    """The engine of a cluster; rows come in no order."""

    def __init__(self, spark):
        self.spark = spark

    def table(self, frame):
        rows = frame.sample(fraction=1.0, shuffle=True, seed=5).rows()
        return self.spark.createDataFrame(rows, frame.columns)

    def evaluate(self, judgments, runs, measures, **options):
        return venire.spark.evaluate(self.table(judgments), self.table(runs), measures, **options)

    def agreement(self, judgments, **options):
        return venire.spark.agreement(self.table(judgments), **options)

    def disagreement(self, judgments, **options):
        return venire.spark.disagreement(self.table(judgments), **options)

    def clicks(self, log):
        return venire.spark.clicks(self.table(log))


@pytest.fixture(scope="module")
def on_spark(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("spark")) as spark:
        import venire.spark  # noqa: F401 - a public name of a package is imported by its module

        yield OnSpark(spark)


@pytest.fixture(scope="module", params=["local", pytest.param("spark", marks=pytest.mark.slow)])
def engine(request):
    return OneMachine() if request.param == "local" else request.getfixturevalue("on_spark")


def simulated(seed, n_topics=9, n_docs=40, n_labels=700):
    """Labels by three assessors, some below zero, and lists with ties; two topics of the lists are not judged."""
    rng = np.random.default_rng(seed)
    topic, doc, who = np.unravel_index(rng.permutation(n_topics * n_docs * 3)[:n_labels], (n_topics, n_docs, 3))
    names = {"doc": [f"d{n}" for n in doc], "assessor": [f"a{n}" for n in who]}
    judged = pl.DataFrame({"topic": topic * 7, **names, "label": rng.integers(-1, 4, n_labels)})
    lists = [
        (t * 7, f"s{s}", f"d{d}", float(rng.integers(0, 9)))
        for t in range(n_topics + 2)
        for s in range(4)
        for d in rng.permutation(60)[: rng.integers(2, 30)].tolist()
    ]
    return judged, pl.DataFrame(lists, schema=["topic", "system", "doc", "score"], orient="row")


def same(found, expected):
    """Compare scores by name."""
    order = [found.names["system"].index(name) for name in expected.names["system"]]
    assert sorted(found.names["system"]) == sorted(expected.names["system"])
    assert {**found.names, "system": ()} == {**expected.names, "system": ()}
    np.testing.assert_allclose(found.values[order], expected.values, rtol=0, atol=1e-12)


def same_rows(found, expected):
    """Compare coefficients."""
    for one, other in zip(found.records(), expected.records(), strict=True):
        assert one == pytest.approx(other, abs=1e-12)


def same_pairs(found, expected):
    """Compare p(R|i) and its intervals."""
    assert found.topics == expected.topics
    for name in PAIRS:
        np.testing.assert_allclose(getattr(found.spread, name), getattr(expected.spread, name), rtol=0, atol=1e-12)


def same_clicks(found, expected):
    """Compare counts of clicks."""
    assert (found.topics, found.sessions) == (expected.topics, expected.sessions)
    for name in ("impressions", "clicks", "satisfied"):
        for one, other in ((found, expected), (found.ranks, expected.ranks)):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_scores_by_hand(engine):
    judged = pl.DataFrame({"topic": ["q1"] * 3 + ["q2"], "doc": ["a", "b", "c", "a"], "label": [2, 0, 1, 1]})
    listed = [("q1", "x", "b", 3.0), ("q1", "x", "a", 3.0), ("q1", "x", "z", 2.0), ("q2", "x", "a", 1.0)]
    listed += [("q1", "y", "c", 9.0), ("q3", "y", "c", 1.0)]
    runs = pl.DataFrame(listed, schema=["topic", "system", "doc", "score"], orient="row")
    found = engine.evaluate(judged, runs, ["RR", "P@2", "AP"])
    assert found.names == {"system": ("x", "y"), "topic": ("q1", "q2"), "measure": ("RR", "P@2", "AP")}
    # b before a, since ties are ordered by id, descending; y has no list for q2
    np.testing.assert_allclose(found.values, [[[1 / 2, 1 / 2, 1 / 4], [1, 1 / 2, 1]], [[1, 1 / 2, 1 / 2], [0, 0, 0]]])
    assert "unjudged-topics" in {note.kind for note in found.notes}


def test_agreement_by_hand(engine):
    rows = [
        ("q", f"d{n}", who, label)
        for n, pair in enumerate(["00", "11", "01", "11"])
        for who, label in zip("ab", pair, strict=True)
    ]
    judged = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    found = {row["name"]: row["value"] for row in engine.agreement(judged, measurement="nominal", n_draws=0).records()}
    # 3 of 4 items agree; 3 and 5 labels, so 8 * 7 / 2 pairs, of which 15 differ: 1 - (2 / 8) / (30 / 56)
    assert found["raw_agreement"] == pytest.approx(3 / 4)
    assert found["krippendorff_alpha"] == pytest.approx(1 - (2 / 8) / (30 / 56))
    # by chance, 1/2 x 3/4 + 1/2 x 1/4 agree; 2 documents are relevant to both, 3 to either
    assert found["cohen_kappa"] == pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))
    assert found["jaccard"] == pytest.approx(2 / 3)


def test_pairs_by_hand(engine):
    rows = [
        ("q1", "d1", "a", 1),
        ("q1", "d1", "b", 0),
        ("q1", "d2", "a", 1),
        ("q1", "d2", "b", 1),
        ("q2", "d1", "a", 0),
    ]
    judged = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    found = engine.disagreement(judged, estimator="labels", n_draws=0)
    assert (found.hits.tolist(), found.pairs.tolist()) == ([[1, 2]], [[1, 3]])


def test_clicks_by_hand(engine):
    rows = [
        ("s1", "q", "a", 1, 1, 40.0),
        ("s1", "q", "b", 2, 0, None),
        ("s2", "q", "b", 1, 1, 5.0),
        ("s2", "q", "a", 2, 1, None),
    ]
    log = pl.DataFrame(rows, schema=["session", "topic", "doc", "rank", "clicked", "dwell"], orient="row")
    found = engine.clicks(log)
    assert (found.impressions.tolist(), found.clicks.tolist(), found.satisfied.tolist()) == ([2, 2], [2, 1], [1, 0])
    assert (found.sessions, found.ranks.clicks.tolist(), found.lists.item.tolist()) == (2, [2, 1], [0, 1, 1, 0])
    assert "unknown-dwell-times" in {note.kind for note in found.notes}
    without = engine.clicks(log.drop("dwell"))
    assert without.satisfied.tolist() == [2, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("who", "how"),
    [
        ({"per": "assessor"}, {"partitions": 1}),
        ({"per": "assessor"}, {"partitions": 2, "broadcast": 0}),
        ({"per": "assessor"}, {"partitions": 7, "broadcast": 0, "split_rows": 40}),
        ({"pool": "median"}, {"partitions": 7}),
        ({"assessor": "a1"}, {"partitions": 2, "broadcast": 0, "split_rows": 1}),
        ({"assessor": "a1", "duplicates": [["d1", "d2"]], "topics": ["7", "14"]}, {}),
    ],
)
def test_scores_do_not_depend_on_partitions(on_spark, who, how):
    judged, listed = simulated(len(how))
    expected, found = (
        venire.evaluate(judged, listed, MEASURES, **who),
        on_spark.evaluate(judged, listed, MEASURES, **who, **how),
    )
    same(found, expected)
    kinds = {note.kind: note.fields.get("n") for note in expected.notes if note.kind != "columns"}
    assert {note.kind: note.fields.get("n") for note in found.notes} == kinds


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 7])
def test_labels_do_not_depend_on_partitions(on_spark, partitions):
    judged, _ = simulated(3)
    how = {"n_draws": 30, "rng": 1}
    same_rows(on_spark.agreement(judged, partitions=partitions, **how), agreement_table(judged, **how))
    options = {"weight": "item", "relevant": "all"} if partitions == 1 else {"observed": ["a0"]}
    estimator = {"estimator": "labels"} if partitions == 1 else {}
    found = on_spark.disagreement(judged, partitions=partitions, **options)
    same_pairs(found, PredictedRelevance(**options, **estimator).fit(judged))


@pytest.mark.slow
def test_a_topic_with_a_thousand_times_the_rows_of_others(on_spark):
    rng = np.random.default_rng(9)
    n_docs = [2, 2, 2, 2000]
    items = [(f"q{t}", f"d{d}") for t, n in enumerate(n_docs) for d in range(n)]
    labels = [(*item, who, int(rng.integers(0, 3))) for item in items for who in "ab"]
    lists = [(t, s, d, float(rng.random())) for s in ("x", "y") for t, d in items]
    rows = [(f"s{n % 100}", t, d, n // 100 + 1, int(rng.integers(0, 2)), 40.0) for n, (t, d) in enumerate(items)]
    judged = pl.DataFrame(labels, schema=["topic", "doc", "assessor", "label"], orient="row")
    listed = pl.DataFrame(lists, schema=["topic", "system", "doc", "score"], orient="row")
    log = pl.DataFrame(rows, schema=["session", "topic", "doc", "rank", "clicked", "dwell"], orient="row")
    found = on_spark.evaluate(judged, listed, MEASURES, per="assessor", broadcast=0, split_rows=100, partitions=4)
    same(found, venire.evaluate(judged, listed, MEASURES, per="assessor"))
    same_rows(on_spark.agreement(judged, n_draws=20), agreement_table(judged, n_draws=20))
    same_pairs(on_spark.disagreement(judged), PredictedRelevance(estimator="labels").fit(judged))
    same_clicks(on_spark.clicks(log), read_clicks(log.sort("session", "topic", "rank")))


@pytest.mark.slow
def test_hits_serve_comparisons(on_spark):
    judged, listed = simulated(4)
    judgments = read_judgments(judged)
    hits = venire.spark.scan(judgments, on_spark.table(listed), partitions=3)
    options = {"assessor": "a0", "n_draws": 50, "rng": 1}
    assert compare(judgments, hits, **options).records() == compare(judgments, listed, **options).records()


@pytest.mark.slow
def test_bad_rows_are_counted_by_file_and_refused_where_asked(on_spark, tmp_path):
    judged, listed = simulated(5)
    bad = pl.DataFrame([(0, "s0", "d99", float("nan")), (None, "s0", "d98", 1.0)], schema=listed.schema, orient="row")
    listed.write_parquet(tmp_path / "good.parquet")
    pl.concat([listed.head(0), bad]).write_parquet(tmp_path / "bad.parquet")
    runs = on_spark.spark.read.parquet(str(tmp_path))
    odd = pl.DataFrame([(0, "d1", "a7", "x")], schema=["topic", "doc", "assessor", "label"], orient="row")
    labels = on_spark.table(
        pl.concat([judged.with_columns(pl.col("topic", "label").cast(pl.String)), odd.cast(pl.String)])
    )
    with pytest.warns(BadRowsWarning, match="2 rows of the runs not used"):
        found = venire.spark.evaluate(labels, runs, MEASURES, pool="mean", scale="0<1<2<3")
    same(found, venire.evaluate(read_judgments(judged, scale="0<1<2<3"), listed, MEASURES, pool="mean"))
    shown = {note.fields["table"]: note.fields for note in found.notes if note.kind == "bad-rows"}
    assert (shown["runs"]["n"], shown["judgments"]["n"]) == (2, 1)
    assert "bad.parquet" in shown["runs"]["shown"]
    with pytest.raises(FormatError, match=r"bad.parquet: a row cannot be used: .*d9"):
        venire.spark.evaluate(on_spark.table(judged), runs, pool="mean", strict=True)


@pytest.mark.slow
def test_mistakes_on_executors_are_errors_in_words(on_spark):
    judged, listed = simulated(6)
    twice = pl.concat([judged, judged.head(1).with_columns(label=3 - pl.col("label"))])
    for how in ({}, {"broadcast": 0}):
        with pytest.raises(VenireError, match="had another label before"):
            on_spark.evaluate(twice, listed, MEASURES, pool="mean", **how)
    with pytest.raises(AmbiguousLabels, match="3 assessors judged"):
        on_spark.evaluate(judged, listed, MEASURES)
    with pytest.raises(FormatError, match="no order"):
        on_spark.evaluate(judged, listed, MEASURES, pool="mean", duplicate_labels="last")


@pytest.mark.slow
def test_repeated_rows(on_spark):
    """The same label twice counts once, a document that a list has twice at its best score; ties are a warning."""
    judged, listed = simulated(7)
    labels, again = (
        pl.concat([judged, judged.head(5)]),
        pl.concat([listed, listed.head(3).with_columns(pl.col("score") - 20)]),
    )
    tied = again.with_columns(score=pl.when(pl.col("system") == "s2").then(1.0).otherwise("score"))
    with pytest.warns(TiedScoresWarning, match="all scores of s2 tie"):
        found = on_spark.evaluate(labels, tied, MEASURES, pool="mean", broadcast=0)
    level = listed.with_columns(score=pl.when(pl.col("system") == "s2").then(1.0).otherwise("score"))
    same(found, venire.evaluate(judged, level, MEASURES, pool="mean"))
    counts = {note.kind: note.fields["n"] for note in found.notes if "n" in note.fields}
    n_judged = int((judged.head(5)["label"] >= 0).sum())
    assert (counts["repeated-documents"], counts["identical-rows"]) == (3, n_judged)


@pytest.mark.slow
def test_an_executor_that_is_killed_half_way_changes_no_score(on_spark, tmp_path):
    judged, listed = simulated(8)
    begun, folder, killed = tmp_path / "begun", str(tmp_path), []

    def slow_precision(gains):
        (Path(folder) / "begun").touch()
        time.sleep(0.5)
        return (gains > 0).mean(axis=-1)

    def kill():
        while not begun.exists():
            time.sleep(0.02)
        killed.append(executors(on_spark.spark)[0])
        os.kill(killed[0], signal.SIGKILL)

    expected = venire.evaluate(judged, listed, [*MEASURES, slow_precision], pool="mean")
    begun.unlink()
    thread = Thread(target=kill)
    thread.start()
    found = on_spark.evaluate(judged, listed, [*MEASURES, slow_precision], pool="mean", partitions=8)
    thread.join()
    same(found, expected)
    assert killed[0] not in executors(on_spark.spark)


@pytest.mark.slow
def test_real_collections(on_spark, data_dir, tmp_path):
    def stored(frame, name):
        frame.sample(fraction=1.0, shuffle=True, seed=2).write_parquet(tmp_path / name)
        return on_spark.spark.read.parquet(str(tmp_path / name))

    place = data_dir / "dl21_full"
    judgments, columns = read_judgments(place / "judges.tsv.gz"), ["topic", "q0", "doc", "rank", "score", "system"]
    runs = pl.read_csv(place / "runs.trec.gz", separator=" ", has_header=False, new_columns=columns).drop("q0", "rank")
    labels, lists = stored(judgments.to_polars(), "labels.parquet"), stored(runs, "runs.parquet")
    expected = venire.evaluate(judgments, runs, MEASURES, per="assessor")
    for how in ({"partitions": 2}, {"partitions": 7, "broadcast": 0, "split_rows": 3_000}):
        same(venire.spark.evaluate(labels, lists, MEASURES, per="assessor", **how), expected)
    crowd = pl.read_csv(data_dir / "rf10_crowd" / "trec-rf10-data.tsv.gz", separator="\t").filter(pl.col("label") >= 0)
    how = {"n_draws": 20, "rng": 1, "names": BY_PATTERN}
    found = venire.spark.agreement(stored(crowd, "crowd.parquet"), anonymous=True, partitions=7, **how)
    same_rows(found, agreement_table(read_judgments(crowd, duplicate_labels="keep").anonymous(), **how))
