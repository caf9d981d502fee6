from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr, t

from aspect_examples import WIDE
from venire import read_runs
from venire.aspects.cases import Cases
from venire.aspects.correlations import aspect_clusters, aspect_correlations
from venire.aspects.prediction import aspect_prediction
from venire.aspects.rankings import aspect_rankings
from venire.aspects.study import aspect_changes, aspect_coverage, aspect_distributions, study_aspects
from venire.errors import SettingError, UnknownName
from venire.io.aspects import read_aspects


def wide(text):
    frame = pl.read_csv(io.StringIO(text), separator="\t", infer_schema=False)
    return read_aspects(frame)


@pytest.fixture(scope="module")
def cases():
    return Cases.of(wide(WIDE), "overall", n_draws=50)


def random_aspects(seed=0, n_topics=20, n_docs=10, n_aspects=3):
    """Grades with some N/A: overall follows a0, a1 follows a0 somewhat, the others nothing."""
    rng = np.random.default_rng(seed)
    n = n_topics * n_docs
    grades = rng.integers(0, 4, size=(n, n_aspects))
    grades[:, 1] = np.where(rng.random(n) < 0.5, grades[:, 0], grades[:, 1])
    columns = {
        "topic": [str(1 + row // n_docs) for row in range(n)],
        "doc": [f"d{row}" for row in range(n)],
        "overall": [str(grade) for grade in grades[:, 0]],
    }
    for number in range(n_aspects):
        absent = rng.random(n) < 0.1
        columns[f"a{number}"] = [
            "N/A" if no else str(grade) for no, grade in zip(absent, grades[:, number], strict=True)
        ]
    return read_aspects(pl.DataFrame(columns))


def test_coverage_by_hand(cases):
    found = aspect_coverage(cases)
    assert found.share("top") == 1
    assert found.share("nov") == 0.75
    assert found.share(None) == 0.75
    assert found.share("nov", "condition") == 0.5
    assert found.share(None, "condition") == 0.5
    row = next(row for row in found.records() if (row["context"], row["aspect"]) == ("isolation", "nov"))
    assert (row["labels"], row["covered"], row["not_applicable"], row["missing"]) == (4, 3, 1, 0)
    assert row["low"] <= row["share"] <= row["high"]
    assert (
        found.sentence()
        == "Documents with a grade, not N/A, on every aspect: 75.0% in isolation and 50.0% in condition."
    )


def test_distributions_by_hand(cases):
    rows = aspect_distributions(cases).records()

    def counts(context, documents, aspect):
        return {
            row["label"]: row["count"]
            for row in rows
            if (row["context"], row["documents"], row["aspect"]) == (context, documents, aspect)
        }

    assert counts("isolation", "all", "nov") == {"0": 1, "1": 1, "2": 1, "N/A": 1}
    assert counts("isolation", "complete", "nov") == {"0": 1, "1": 1, "2": 1}
    assert counts("isolation", "complete", "top") == {"0": 1, "1": 2, "2": 0}
    assert counts("condition", "all", "overall") == {"0": 1, "1": 1, "2": 0, "N/A": 0}


def test_changes_by_hand(cases):
    found = aspect_changes(cases)
    rows = {(row["aspect"], row["size"]): row for row in found.records()}
    assert {key: row["count"] for key, row in rows.items()} == {
        ("overall", 0): 0,
        ("overall", 1): 2,
        ("top", 0): 2,
        ("nov", 0): 0,
        ("nov", 1): 1,
    }
    assert (rows["overall", 1]["raised"], rows["overall", 1]["lowered"]) == (1, 1)
    assert "100% differ by one" in found.sentence()
    every = replace(found, overall=None)
    assert "40% are equal, 60% differ by one" in every.sentence()


def test_correlations_by_hand(cases):
    found = aspect_correlations(cases)
    assert found.find("nov", "overall").rho.value == pytest.approx(-1)
    assert found.find("top", "overall").rho.value == pytest.approx(spearmanr([1, 0, 1], [1, 0, 2]).statistic)
    assert found.find("top", "overall").n == 3
    constant = found.find("top", "overall", "change")
    assert (constant.rho.value, constant.n) == (None, 2)
    assert "changes of top are all the same" in constant.rho.reason
    assert found.find("overall", "nov", "change").n == 1
    iso = next(each for each in found.pairs if each.context != each.a_context)
    assert (iso.a, iso.b, iso.n) == ("overall", "overall", 1)


def test_a_document_counts_once_for_every_assessor():
    rows = [f"{t}\td{n}\t{who}\t{(n + t) % 3}\t{n % 2}\n" for t in range(4) for n in range(5) for who in "abc"]
    cases = Cases.of(wide("topic\tdoc\tassessor\toverall\ttop\n" + "".join(rows)), "overall", n_draws=5)
    assert aspect_correlations(cases).records()[0]["labels"] == 4 * 5 * 3
    assert {row["labels"] for row in aspect_coverage(cases).records() if row["context"] == "isolation"} == {4 * 5 * 3}


def test_isolation_overall_is_matched_to_the_same_document():
    rows = [
        f"{1 + n % 3}\td{n}\t{'' if alone else 'd' + str(n % 3)}\t{grade}\t0\n"
        for n in range(3, 15)
        for alone, grade in ((True, n % 3), (False, (n * n) % 3))
    ]
    first = [f"{1 + n}\td{n}\t\t1\t0\n" for n in range(3)]
    found = wide("topic\tdoc\tgiven\toverall\ttop\n" + "".join(first + rows))
    iso = next(
        each
        for each in aspect_correlations(Cases.of(found, "overall", n_draws=5)).with_overall("condition")
        if each.a_context == "isolation"
    )
    expected = spearmanr([n % 3 for n in range(3, 15)], [(n * n) % 3 for n in range(3, 15)]).statistic
    assert iso.rho.value == pytest.approx(expected)


def test_correlations_are_scipys_and_draws_are_those_of_documents_drawn():
    aspects = random_aspects()
    cases = Cases.of(aspects, "overall", n_draws=20, rng=3)
    found = aspect_correlations(cases).find("a0", "a1")
    whole = aspects.complete()
    grades, topic = aspects.grade[whole], aspects.topic[whole]
    a, b = grades[:, aspects.number_of("a0")], grades[:, aspects.number_of("a1")]
    assert found.rho.value == pytest.approx(spearmanr(a, b).statistic)
    for draw in (1, 7, 20):
        times = cases.weights[draw, topic].astype(int)
        expected = spearmanr(np.repeat(a, times), np.repeat(b, times)).statistic
        assert found.draws[draw] == pytest.approx(expected)
    half = t.ppf(0.975, 19) * found.draws[1:].std() * np.sqrt(20 / 19)
    assert (found.rho.low, found.rho.high) == pytest.approx((found.rho.value - half, found.rho.value + half))


def test_nothing_in_condition_is_said_and_null():
    cases = Cases.of(random_aspects(), "overall", n_draws=5)
    for record in aspect_correlations(cases).records():
        assert (record["rho"] is None) == (record["context"] != "isolation")
        assert record["rho"] is not None or "there is no conditional label" in record["reason"]
    assert aspect_coverage(cases).share("a0", "condition") is None
    assert "there is no conditional label" in aspect_changes(cases).sentence()


def test_unordered_labels_have_no_correlation():
    frame = pl.DataFrame(
        {"topic": ["1", "1", "2"], "doc": ["a", "b", "c"], "rel": ["0", "1", "1"], "kind": ["x", "y", "x"]}
    )
    aspects = read_aspects(frame, scales={"kind": "x|y"})
    found = aspect_correlations(Cases.of(aspects, n_draws=5)).find("kind", "rel")
    assert found.rho.value is None
    assert "have no order" in found.rho.reason


def test_prediction_knows_what_determines_overall():
    found = aspect_prediction(Cases.of(random_aspects(n_docs=20), "overall", n_draws=20), splits=1, folds=2)
    alone, noise, base = found.find(("a0",)), found.find(("a2",)), found.find(())
    # A tenth of the labels of a0 is N/A, and there the commonest of four labels is a guess.
    assert 0.85 < alone.held_out_topics.value < 0.97
    assert 0.8 < alone.accuracy < 1
    assert abs(noise.held_out_topics.value - base.held_out_topics.value) < 0.1
    assert base.held_out_topics.value < 0.4
    assert alone.held_out_topics.low < alone.held_out_topics.value < alone.held_out_topics.high
    assert "from" in found.sentence()
    assert found.find(("a0",), "condition").record()["reason"].startswith("there is no conditional label")


def test_prediction_has_not_applicable_as_a_class():
    labels = ["N/A", "1", "0", "2"] * 10
    frame = pl.DataFrame(
        {
            "topic": [str(n % 4) for n in range(40)],
            "doc": [f"d{n}" for n in range(40)],
            "overall": labels,
            "auth": labels,
        }
    )
    cases = Cases.of(
        read_aspects(frame.with_columns(topic=pl.Series([str(n // 10) for n in range(40)]))),
        "overall",
        n_draws=5,
    )
    found = aspect_prediction(cases, splits=2, folds=2).find(("auth",))
    assert (found.labels, found.held_out_topics.value, found.accuracy) == (40, 1.0, 1.0)


def test_prediction_that_is_not_known():
    assert aspect_prediction(Cases.of(random_aspects(), n_draws=2)).reason == "no aspect is named as overall"
    one_topic = aspect_prediction(Cases.of(random_aspects(n_topics=1), "overall", n_draws=2), splits=1)
    assert "1 topic" in one_topic.find(("a0",)).held_out_topics.reason
    assert one_topic.find(("a0",)).accuracy is not None


def test_clusters_leave_out_what_is_unknown():
    frame = pl.DataFrame(
        {
            "topic": ["1", "1", "2", "2"],
            "doc": ["a", "b", "c", "d"],
            "x": ["0", "1", "1", "0"],
            "y": ["0", "1", "1", "1"],
            "same": ["1", "1", "1", "1"],
        }
    )
    correlations = aspect_correlations(Cases.of(read_aspects(frame), n_draws=5))
    found = aspect_clusters(correlations, "isolation", n_clusters=1)
    assert (set(found.names), len(found.merges)) == ({"x", "y"}, 1)
    assert "same" in found.reason
    rho = spearmanr([0, 1, 1, 0], [0, 1, 1, 1]).statistic
    assert found.merges[0].distance == pytest.approx(1 - rho)
    nothing = aspect_clusters(correlations, "change")
    assert nothing.record()["groups"] == []
    assert "are not known" in nothing.sentence()
    with pytest.raises(SettingError):
        aspect_clusters(correlations, "isolation", n_clusters=0)


def test_one_aspect_alone():
    frame = pl.DataFrame({"topic": ["1", "2"], "doc": ["a", "b"], "overall": ["0", "1"]})
    study = study_aspects(read_aspects(frame, layout="aspects"), n_draws=5)
    assert study.cases.overall == "overall"
    assert study.clusters[0].reason == "there is one aspect"
    assert study.prediction.reason == "there is no other aspect"


def test_agreement_per_aspect_and_context():
    rows = [(who, doc, given) for who in ("x", "y") for doc, given in (("a", ""), ("b", ""), ("b", "a"))]
    frame = pl.DataFrame(
        {
            "topic": ["1"] * 6,
            "doc": [doc for _, doc, _ in rows],
            "given": [given for *_, given in rows],
            "assessor": [who for who, *_ in rows],
            "overall": ["0", "1", "1", "0", "1", "0"],
            "top": ["0", "1", "0", "1", "0", "N/A"],
        }
    )
    study = study_aspects(read_aspects(frame), n_draws=5)
    raw = {
        (row["context"], row["aspect"]): row["value"]
        for row in study.records("agreement")
        if row["name"] == "raw_agreement"
    }
    assert raw == {
        ("isolation", "overall"): 1,
        ("isolation", "top"): 0,
        ("condition", "overall"): 0,
        ("condition", "top"): None,
    }
    assert "alpha" in study.sentences("agreement")[0]


RUNS = {
    "one": {"1": {"d0": 3.0, "d1": 2.0, "d2": 1.0}, "2": {"d3": 3.0, "d4": 2.0}},
    "two": {"1": {"d2": 3.0, "d1": 2.0, "d0": 1.0}, "2": {"d4": 3.0, "d3": 2.0}},
}


def ranked(tmp_path, **options):
    for name, lists in RUNS.items():
        lines = [f"{topic} Q0 {doc} 1 {score} {name}\n" for topic, docs in lists.items() for doc, score in docs.items()]
        (tmp_path / name).write_text("".join(lines))
    frame = pl.DataFrame(
        {
            "topic": ["1", "1", "1", "2", "2"],
            "doc": ["d0", "d1", "d2", "d3", "d4"],
            "rel": ["2", "1", "0", "1", "0"],
            "trust": ["0", "0", "9", "0", "9"],
        }
    )
    return aspect_rankings(read_aspects(frame), read_runs(tmp_path), "P@1", base="rel", n_draws=20, **options)


def test_rankings_turn_round_with_trust(tmp_path):
    found = ranked(tmp_path, combinations=[{"rel": 1, "trust": 4}])
    scores = {(each.gains, each.system): (each.score, each.rank, each.change) for each in found.places}
    assert scores == {
        ("rel", "one"): (0.75, 1, 0),
        ("rel", "two"): (0.0, 2, 0),
        ("rel + 4 trust", "two"): (0.8, 1, 1),
        ("rel + 4 trust", "one"): (0.15, 2, -1),
    }
    tau = found.alike[0]
    assert (tau.tau, tau.moved, tau.largest) == (-1, 2, 1)


def test_rankings_by_all_usual_combinations(tmp_path):
    found = ranked(tmp_path, reverse=["trust"], how="minimum")
    assert {each.gains for each in found.places} == {"rel", "minimum of rel, trust (reversed)"}
    assert found.alike[0].tau == 1
    with pytest.raises(UnknownName):
        ranked(tmp_path, combinations=[{"rel": 1, "trst": 4}])
    with pytest.raises(SettingError, match="one judge"):
        ranked(tmp_path, per="assessor")


@pytest.mark.filterwarnings("ignore::venire.errors.MissingTopicsWarning")
def test_clef(data_dir):
    folder = data_dir / "clef18_aspects"
    aspects = read_aspects(folder / "aspects.tsv.gz")
    rho = aspect_correlations(Cases.of(aspects, "rel", n_draws=50)).find("trust", "rel").rho
    assert rho.value == pytest.approx(0.2822, abs=1e-4)
    runs = read_runs(folder / "runs.trec.gz", duplicate_docs="first")
    found = aspect_rankings(aspects, runs, "nDCG@10", base="rel", n_draws=20)
    tau = {each.gains: round(each.tau, 4) for each in found.alike}
    assert tau == {"rel + trust": 0.9396, "rel + understandability": 0.8283, "rel + trust + understandability": 0.876}
