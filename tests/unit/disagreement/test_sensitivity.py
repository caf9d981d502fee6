"""Sensitivity of p(R|i): everything that is summed up cleverly is refitted from scratch here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from sensitivity_labels import ALL, SETTING, judgments_of, rows_by
from venire import PredictedRelevance, read_judgments, read_runs
from venire.data.ids import Category
from venire.disagreement.by_result_quality import against_quality, lists_of_resources, lists_of_runs
from venire.disagreement.double_judgments import double_judgments_needed
from venire.disagreement.sensitivity import ListOrder, sensitivity
from venire.errors import PairsError, SettingError, UnknownName
from venire.io import read_grid, run_scores
from venire.io.runs import scan
from venire.results import Note
from venire.simulation.levels import generate


@pytest.fixture(scope="module")
def collection():
    return generate(SETTING, rng=3)


def ranked_docs(runs) -> dict[tuple[str, str], list[str]]:
    """(topic, system) -> documents, best first; higher scores first, ties by name, descending."""
    found: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for source in runs.sources:
        rows = zip(source.topic.texts(), source.system.texts(), source.doc.texts(), source.score, strict=True)
        for topic, system, doc, score in rows:
            found.setdefault((topic, system), []).append((score, doc))
    return {key: [doc for _, doc in sorted(rows, reverse=True)] for key, rows in found.items()}


def rows_of(judgments) -> list[tuple[str, str, str, int]]:
    frame = judgments.to_polars()
    return list(zip(frame["topic"], frame["doc"], frame["assessor"], judgments.label.tolist(), strict=True))


def slow_order(judgments, lists, *, by: str, level: int) -> dict[str, list[str]]:
    """topic -> names of its lists, best first."""
    good = {(topic, doc) for topic, doc, who, label in rows_of(judgments) if who == by and label >= level}
    keys = sorted(lists, key=lambda key: (-sum((key[0], doc) in good for doc in lists[key]), key[1]))
    order: dict[str, list[str]] = {}
    for topic, name in keys:
        order.setdefault(topic, []).append(name)
    return order


def refit(judgments, setting, chosen: set[tuple[str, str]]):
    """p and pairs from the items chosen alone, fitted from scratch."""
    docs = Category(judgments.item, judgments.items.doc).texts()
    names = list(zip(judgments.column("topic").texts(), docs, strict=True))
    return setting.fit(judgments.take(np.array([name in chosen for name in names])))


@pytest.mark.parametrize(
    "setting",
    [
        ALL,
        replace(ALL, weight="item"),
        PredictedRelevance(estimator="one-sided", observed=["careful1"]),
        PredictedRelevance(relevant="2", estimator="paired", observed=["careful1"], reference=["strict1", "lazy1"]),
    ],
    ids=["labels", "item", "one-sided", "paired"],
)
def test_the_first_lists_give_what_their_documents_give(collection, setting):
    judgments, runs = collection.judgments, collection.runs
    found = against_quality(
        judgments, lists_of_runs(scan(runs, judgments.items).facts), setting, by=["careful1"], level="2", top=7
    )
    lists = {key: docs[:7] for key, docs in ranked_docs(runs).items()}
    order = slow_order(judgments, lists, by="careful1", level=2)
    assert len(found.p) == max(map(len, order.values())) == 5
    for n in range(5):
        chosen = {
            (topic, doc) for topic, names in order.items() for name in names[: n + 1] for doc in lists[topic, name]
        }
        fit = refit(judgments, setting, chosen)
        if setting.weight == "pair":
            np.testing.assert_array_equal(found.p[n], fit.p)
            np.testing.assert_array_equal(found.pairs[n], fit.pairs)
        else:
            np.testing.assert_allclose(found.p[n], fit.p, rtol=1e-12)
            assert not np.allclose(found.p[n], refit(judgments, ALL, chosen).p)


def test_the_one_sided_curve_is_that_of_a_one_sided_fit(collection):
    judgments, runs = collection.judgments, collection.runs
    lists = lists_of_runs(scan(runs, judgments.items).facts)
    found = against_quality(judgments, lists, ALL, by=["careful1"], level="2")
    alone = against_quality(
        judgments, lists, PredictedRelevance(relevant="all", observed=["careful1"]), by=["careful1"], level="2"
    )
    np.testing.assert_array_equal(found.one_sided, alone.p)
    assert found.selected
    assert not alone.selected
    assert alone.one_sided is None
    assert "one-sided from careful1" in found.sentence()


def test_ordering_by_second_labels_is_warned_of(collection):
    judgments, lists = collection.judgments, lists_of_runs(scan(collection.runs, collection.judgments.items).facts)
    setting = PredictedRelevance(observed=["strict1"], reference=["careful1"])
    by_second = against_quality(judgments, lists, setting, by=["careful1"])
    assert by_second.selected
    assert "ranking-labels-second" in [note.kind for note in by_second.notes]
    assert against_quality(judgments, lists, replace(setting, observed="strict1")).by == ("strict1",)
    assert not against_quality(judgments, lists, setting).selected


def test_subsets_give_what_their_documents_give(collection):
    judgments, runs = collection.judgments, collection.runs
    found = against_quality(
        judgments, lists_of_runs(scan(runs, judgments.items).facts), ALL, by=["careful1"], level="2", top=6
    )
    assert [(each.lists, each.top) for each in found.subsets] == [
        (kind, top) for top in (3, 6) for kind in ("all", "high-quality", "low-quality")
    ]
    lists = ranked_docs(runs)
    labels = {(topic, doc): label for topic, doc, who, label in rows_of(judgments) if who == "careful1"}
    for row, level in enumerate((3, 2, 1)):
        high = {key for key, docs in lists.items() if any(labels.get((key[0], doc), 0) >= level for doc in docs[:6])}
        kinds = {"all": set(lists), "high-quality": high, "low-quality": set(lists) - high}
        for subset in found.subsets:
            chosen = {(key[0], doc) for key in kinds[subset.lists] for doc in lists[key][: subset.top]}
            if not chosen:
                assert not subset.pairs[row].any()
                continue
            fit = refit(judgments, ALL, chosen)
            np.testing.assert_array_equal(subset.p[row], fit.p[row])
            np.testing.assert_array_equal(subset.pairs[row], fit.pairs[row])


FEDERATED = """topic,doc,assessor,label
7001,FW-e2-7001-01,a,2
7001,FW-e2-7001-02,a,0
7001,FW-e10-7001-01,a,2
7001,FW-e10-7001-11,a,2
7001,other,a,1
7001,FW-e2-7001-01,b,1
7001,FW-e2-7001-02,b,0
7001,FW-e10-7001-01,b,2
7001,FW-e10-7001-11,b,0
7001,other,b,1
7002,FW-e2-7002-01,a,0
7002,FW-e10-7002-01,a,1
7002,FW-e2-7002-01,b,1
7002,FW-e10-7002-01,b,1
"""


@pytest.fixture
def federated(tmp_path):
    path = tmp_path / "federated.csv"
    path.write_text(FEDERATED)
    return read_judgments(path)


@pytest.mark.parametrize(
    "pattern", ["FW-{resource}-{topic}-{rank}", r"FW-(?P<resource>e\d+)-\d+-(?P<rank>\d+)"], ids=["template", "regex"]
)
def test_lists_of_resources_from_names(federated, pattern):
    judgments, lists = lists_of_resources(federated, pattern)
    assert lists.names == ("e10", "e2")
    assert [lists.names[name] for name in lists.name] == ["e10", "e2", "e10", "e2"]
    assert judgments is federated
    assert lists.rank is not None
    found = against_quality(federated, lists, PredictedRelevance(), by=["a"], level="2", top=10)
    # 7001: e10 and e2 have one good result each among their ten, so e10 comes first by its name; 7002 alike
    assert found.pairs[:, 0].tolist() == [[0, 2, 2], [3, 4, 3]]
    assert found.p[0, 0, 2] == 1.0
    assert found.outside == pytest.approx(2 / 14 + 2 / 14)
    deep = against_quality(federated, lists, PredictedRelevance(), by=["a"], level="2", top=11)
    assert deep.pairs[-1, 0].tolist() == [4, 4, 4]


def test_lists_of_resources_from_a_mapping(federated):
    of = {doc: doc.split("-")[1] for doc in federated.items.doc if doc != "other"}
    _, lists = lists_of_resources(federated, of)
    assert lists.rank is None
    found = against_quality(federated, lists, PredictedRelevance(), by=["a"], level="2")
    assert [(each.lists, each.top) for each in found.subsets] == [
        ("all", None),
        ("high-quality", None),
        ("low-quality", None),
    ]
    assert found.pairs[:, 0].tolist() == [[1, 2, 3], [4, 4, 4]]
    assert found.outside == pytest.approx(2 / 14)


def test_a_rank_that_is_no_number(federated):
    with pytest.raises(SettingError, match="reads the rank 'e10', expected a number"):
        lists_of_resources(federated, "FW-{rank}-{resource}-{x}")


def test_who_gave_most_labels_orders_the_lists(collection):
    lists = lists_of_runs(scan(collection.runs, collection.judgments.items).facts)
    found = against_quality(collection.judgments, lists, ALL)
    assert (found.by, found.level) == (("careful1",), "2")
    assert found.judged == 1
    with pytest.raises(UnknownName, match="nobody"):
        against_quality(collection.judgments, lists, ALL, by=["nobody"])
    with pytest.raises(SettingError, match="1 or more"):
        against_quality(collection.judgments, lists, ALL, top=0)
    alone = replace(ALL, estimator="one-sided", observed=["careful1"])
    rarely = against_quality(collection.judgments, lists, alone, by=["lazy1"])
    assert (rarely.judged < 0.5) == any(note.kind == "few-ranking-labels" for note in rarely.notes)


def test_lists_without_double_judgments():
    judgments = judgments_of(rows_by({"1": {"a": 1, "b": 0}}, "x") + rows_by({"1": {"a": 1}}, "y"))
    lists = lists_of_runs(scan(read_runs({"1": {"b": 1.0}}), judgments.items).facts)
    with pytest.raises(PairsError, match="no item in a list"):
        against_quality(judgments, lists, PredictedRelevance())


def test_intents_stay_apart(tmp_path):
    path = tmp_path / "intents.csv"
    path.write_text(
        "topic,doc,assessor,intent,label\n1,a,x,1,1\n1,a,y,1,1\n1,a,x,2,0\n1,a,y,2,1\n1,b,x,1,0\n1,b,y,1,0\n"
    )
    judgments = read_judgments(path)
    lists = lists_of_runs(scan(read_runs({"s": {"1": {"a": 1.0}}, "t": {"1": {"b": 1.0}}}), judgments.items).facts)
    found = against_quality(judgments, lists, PredictedRelevance())
    assert found.pairs[:, 0].tolist() == [[1, 3], [3, 3]]


def test_all_that_can_be_done_is_done(collection):
    found = sensitivity(collection.judgments, collection.runs, ALL, lists=ListOrder(by=["careful1"]), rng=4)
    assert found.quality is not None
    assert found.topics is not None
    assert found.judgments is not None
    assert len(found.answers()) == 3 * 5 + 3
    assert found.sentence() == found.needed.sentences()[0]
    without = sensitivity(collection.judgments, setting=ALL)
    assert without.quality is None
    only = sensitivity(collection.judgments, setting=ALL, against=["topics"])
    assert (only.quality, only.judgments) == (None, None)
    assert len(only.answers()) == 3
    again = sensitivity(collection.judgments, collection.runs, ALL, lists=ListOrder(by=["careful1"]), rng=4)
    np.testing.assert_array_equal(found.topics.quantiles, again.topics.quantiles)
    np.testing.assert_array_equal(found.judgments.sd, again.judgments.sd)


def test_runs_may_be_a_frame(collection):
    scores = run_scores(collection.runs)
    rows = [
        (s, t, d, score) for s, of_topic in scores.items() for t, docs in of_topic.items() for d, score in docs.items()
    ]
    frame = pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row")
    how = {"setting": ALL, "against": ["quality"], "lists": ListOrder(by=["careful1"])}
    found, expected = (sensitivity(collection.judgments, runs, **how) for runs in (frame, collection.runs))
    np.testing.assert_array_equal(found.quality.pairs, expected.quality.pairs)


def test_what_cannot_be_done_is_said(collection):
    with pytest.raises(SettingError, match="no lists"):
        sensitivity(collection.judgments, against=["quality"])
    with pytest.raises(SettingError, match="not from both"):
        sensitivity(collection.judgments, collection.runs, lists=ListOrder(resource="{resource}"))
    with pytest.raises(UnknownName, match="weather"):
        sensitivity(collection.judgments, against=["weather"])
    one = sensitivity(read_grid("1 0 1\n1 1 0"), setting=PredictedRelevance(prior=0.5))
    assert one.topics is None
    assert {"no-topics", "no-prior"} <= {note.kind for note in one.notes if isinstance(note, Note)}


@settings(max_examples=30)
@given(data=st.data())
def test_any_lists_give_what_their_documents_give(data):
    """Random labels, some missing, and random lists that share documents."""
    docs = [f"d{n}" for n in range(8)]
    judged = {"a": docs, **{who: data.draw(st.lists(st.sampled_from(docs), unique=True)) for who in "bc"}}
    labels = {who: {"both": 1, **{doc: data.draw(st.integers(0, 2)) for doc in judged[who]}} for who in "abc"}
    judgments = judgments_of([row for who in "abc" for row in rows_by({"1": labels[who]}, who)])
    some = st.lists(st.sampled_from(docs), unique=True)
    lists = {name: {"1": {doc: float(k) for k, doc in enumerate(["both", *data.draw(some)])}} for name in "stu"}
    setting = PredictedRelevance(relevant="2", estimator="labels")
    found = against_quality(
        judgments, lists_of_runs(scan(read_runs(lists), judgments.items).facts), setting, by=["a"], level="2", top=100
    )
    held = {("1", name): list(lists[name]["1"]) for name in lists}
    order = slow_order(judgments, held, by="a", level=2)["1"]
    for n in range(3):
        fit = refit(judgments, setting, {("1", doc) for name in order[: n + 1] for doc in held["1", name]})
        np.testing.assert_array_equal(found.p[n], fit.p)


def test_what_is_needed_is_that_of_the_plain_fit_with_the_same_seed(collection):
    plain = PredictedRelevance().fit(collection.judgments, rng=5)
    found = sensitivity(collection.judgments, rng=5, against=["judgments"], deviation=0.05)
    assert found.records() == double_judgments_needed(plain, 0.05).records()
