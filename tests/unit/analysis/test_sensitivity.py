"""Sensitivity of p(R|i): everything that is summed up cleverly is refitted from scratch here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from venire import PairsError, PredictedRelevance, SettingError, UnknownName, read_grid, read_judgments, read_runs
from venire.analysis.annotation_rounds import available, default_sizes, simulate_rounds
from venire.analysis.judging_effort import double_judgments_needed, lowest_labels
from venire.analysis.patterns import Main
from venire.analysis.result_lists import lists_of_resources, lists_of_runs
from venire.analysis.result_quality import against_quality
from venire.analysis.sensitivity import ListOrder, sensitivity
from venire.analysis.synthetic import Synthetic, generate
from venire.analysis.systems import Systems, scattered
from venire.analysis.topic_influence import topic_influence
from venire.data.ids import Category
from venire.io.scanning import scan
from venire.kernels.shares import annotation_rounds, shares
from venire.models.fit_files import read_fit, write_fit
from venire.models.pairs import pair_up

ALL = PredictedRelevance(relevant="all", estimator="labels")
SETTING = Synthetic(
    n_topics=12,
    docs_per_topic=40,
    n_unjudged=10,
    pattern=Main(share=0.6, common=False),
    systems=Systems(quality=scattered(5), depth=20, missing=0.2),
)


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
        judgments, lists_of_runs(scan(runs, judgments.items)), setting, by=["careful1"], level="2", top=7
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
    lists = lists_of_runs(scan(runs, judgments.items))
    found = against_quality(judgments, lists, ALL, by=["careful1"], level="2")
    alone = against_quality(
        judgments, lists, PredictedRelevance(relevant="all", observed=["careful1"]), by=["careful1"], level="2"
    )
    np.testing.assert_array_equal(found.one_sided, alone.p)
    assert found.selected
    assert not alone.selected
    assert alone.one_sided is None
    assert "read one-sided from careful1" in found.sentence()
    assert "as good as" in alone.sentence()


def test_ordering_by_second_labels_is_warned_of(collection):
    judgments, lists = collection.judgments, lists_of_runs(scan(collection.runs, collection.judgments.items))
    setting = PredictedRelevance(observed=["strict1"], reference=["careful1"])
    by_second = against_quality(judgments, lists, setting, by=["careful1"])
    assert by_second.selected
    assert any("come second too" in word for word in by_second.warnings())
    assert against_quality(judgments, lists, replace(setting, observed="strict1")).by == ("strict1",)
    assert not against_quality(judgments, lists, setting).selected


def test_subsets_give_what_their_documents_give(collection):
    judgments, runs = collection.judgments, collection.runs
    found = against_quality(
        judgments, lists_of_runs(scan(runs, judgments.items)), ALL, by=["careful1"], level="2", top=6
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
    lists = lists_of_runs(scan(collection.runs, collection.judgments.items))
    found = against_quality(collection.judgments, lists, ALL)
    assert (found.by, found.level) == (("careful1",), "2")
    assert found.judged == 1
    with pytest.raises(UnknownName, match="nobody"):
        against_quality(collection.judgments, lists, ALL, by=["nobody"])
    with pytest.raises(SettingError, match="1 or more"):
        against_quality(collection.judgments, lists, ALL, top=0)
    alone = replace(ALL, estimator="one-sided", observed=["careful1"])
    rarely = against_quality(collection.judgments, lists, alone, by=["lazy1"])
    assert (rarely.judged < 0.5) == any("says little" in word for word in rarely.warnings())


def test_lists_without_double_judgments():
    judgments = _judgments(_rows({"1": {"a": 1, "b": 0}}, "x") + _rows({"1": {"a": 1}}, "y"))
    lists = lists_of_runs(scan(read_runs({"1": {"b": 1.0}}), judgments.items))
    with pytest.raises(PairsError, match="no item in a list"):
        against_quality(judgments, lists, PredictedRelevance())


def test_intents_stay_apart(tmp_path):
    path = tmp_path / "intents.csv"
    path.write_text(
        "topic,doc,assessor,intent,label\n1,a,x,1,1\n1,a,y,1,1\n1,a,x,2,0\n1,a,y,2,1\n1,b,x,1,0\n1,b,y,1,0\n"
    )
    judgments = read_judgments(path)
    lists = lists_of_runs(scan(read_runs({"s": {"1": {"a": 1.0}}, "t": {"1": {"b": 1.0}}}), judgments.items))
    found = against_quality(judgments, lists, PredictedRelevance())
    assert found.pairs[:, 0].tolist() == [[1, 3], [3, 3]]


def test_leaving_a_topic_out_is_fitting_without_it(collection):
    judgments = collection.judgments
    fit = ALL.fit(judgments)
    found = topic_influence(fit, judgments.topics, rng=5)
    np.testing.assert_array_equal(found.p, fit.p)
    names = judgments.column("topic").texts()
    for number in (0, 7):
        without = ALL.fit(judgments.take(np.array([name != found.topics[number] for name in names])))
        np.testing.assert_allclose(found.influence[number], fit.p - without.p, atol=1e-15)
    strongest = found.strongest(0, 3)
    moved = np.abs(found.influence[:, 0, 3])
    assert moved[strongest].tolist() == np.sort(moved)[::-1][:3].tolist()
    assert f"without topic {found.topics[strongest[0]]}" in found.sentence()


def test_topics_are_drawn_whole(collection):
    fit = ALL.fit(collection.judgments)
    found = topic_influence(fit, collection.judgments.topics, n_draws=4_000, rng=5)
    assert (np.diff(found.quantiles, axis=0) >= 0).all()
    wide = (found.quantiles[4] - found.quantiles[0]) / (2 * 1.6449)
    np.testing.assert_allclose(wide[1:], fit.spread.sd_topics[1:], rtol=0.25)
    again = topic_influence(fit, collection.judgments.topics, n_draws=4_000, rng=5)
    np.testing.assert_array_equal(found.quantiles, again.quantiles)


def test_labels_and_topics_that_are_not_there():
    labels = {"1": {"a": 2}, "2": {"a": 0}}
    judgments = _judgments(_rows(labels, "x") + _rows(labels, "y"))
    fit = PredictedRelevance(relevant="2").fit(judgments)
    found = topic_influence(fit, judgments.topics)
    assert np.isnan(found.quantiles[:, 0, 1]).all()
    assert np.isnan(found.influence[0, 0, 2])
    assert "without" not in found.sentence()
    with pytest.raises(SettingError, match="3 names"):
        topic_influence(fit, ("1", "2", "3"))
    one = read_grid("1 0 1\n1 1 0")
    with pytest.raises(PairsError, match="nothing varies over topics"):
        topic_influence(PredictedRelevance().fit(one), one.topics)


def test_the_variance_is_that_clustered_by_item(collection):
    """On double judgments the closed form is the sum over items, but for the n / (n - 1) of a sample."""
    judgments = collection.judgments.where(assessor=["careful1", "strict1"])
    fit = PredictedRelevance(relevant="all", estimator="labels").fit(judgments)
    needed = double_judgments_needed(fit, 0.02)
    n_of_label = pair_up(judgments, estimator="labels").sums(fit.relevant.labels).n_items
    of_items = fit.spread.sd_items * np.sqrt((n_of_label - 1) / n_of_label)
    inside = (fit.p > 0) & (fit.p < 1)
    np.testing.assert_allclose(needed.deviation_with(available(fit))[inside], of_items[inside], rtol=1e-9)
    assert inside.sum() >= 9
    assert available(fit) == 288


def test_one_sided_needs_the_printed_number():
    fit = PredictedRelevance(observed=["U1"]).fit(read_grid("1 1 1 1 0 0 0 0\n1 1 1 0 0 0 0 1"))
    needed = double_judgments_needed(fit, 0.05)
    assert needed.judgments.tolist() == [[150, 150]]
    assert double_judgments_needed(fit, 0.2).judgments.tolist() == [[100, 100]]  # 50 pairs of each label
    assert np.isnan(needed.topics).all()
    assert needed.sentences()[1] == "With 1 topic nothing can be said of how topics differ."
    with pytest.raises(SettingError, match="between 0 and 1"):
        double_judgments_needed(fit, 1.0)


def test_a_share_of_all_is_planned_with_the_end_of_its_interval():
    fit = PredictedRelevance(observed=["U1"]).fit(read_grid("1 1 1 1 0 0\n1 1 1 1 0 1"))
    low = fit.spread.low[0, 1]
    assert double_judgments_needed(fit).variance[0, 1] == pytest.approx(low * (1 - low) / (4 / 6))


def test_a_share_of_nothing_is_planned_with_the_end_of_its_interval():
    fit = PredictedRelevance(relevant="2", observed=["U1"]).fit(read_grid("2 2 1 1 1 1\n2 1 1 1 1 1", scale="0<1<2"))
    needed = double_judgments_needed(fit, 0.02)
    high = fit.spread.high[0, 1]
    assert 0 < high < 1
    assert needed.variance[0, 1] == pytest.approx(high * (1 - high) / (4 / 6))
    assert np.isnan(needed.judgments[0, 0])
    assert "for 0" not in needed.sentences()[0]


def test_topics_that_differ_cannot_be_outdone():
    """Two kinds of topics: all agree, or all disagree; ever so many double judgments leave that."""
    agreed = {str(topic): {f"d{n}": 1 for n in range(50)} for topic in range(20)}
    other = {topic: {doc: int(topic) % 2 for doc in docs} for topic, docs in agreed.items()}
    fit = PredictedRelevance(observed=["a"]).fit(_judgments(_rows(agreed, "a") + _rows(other, "b"), "0<1"), rng=1)
    needed = double_judgments_needed(fit, 0.05)
    square = fit.spread.sd_topics[0, 1] ** 2 * 20 / 19
    assert square == pytest.approx(0.25 / 19, rel=0.2)
    assert needed.floor[0, 1] == pytest.approx(np.sqrt(square - 0.25 / 999))
    assert np.isnan(needed.judgments_on_these_topics[0, 1])
    assert needed.judgments[0, 1] == 100
    assert needed.topics[0, 1] == np.ceil(20 * square / 0.05**2)
    assert "judge more topics instead" in needed.sentences()[1]
    rough = double_judgments_needed(fit, 0.3)
    assert rough.judgments_on_these_topics[0, 1] == 50
    assert "Counting how topics differ" in rough.sentences()[1]


def test_a_saved_fit_still_knows_what_is_needed(collection, tmp_path):
    fit = ALL.fit(collection.judgments)
    write_fit(fit, tmp_path / "fit.json", fingerprint="x")
    needed, again = double_judgments_needed(fit), double_judgments_needed(read_fit(tmp_path / "fit.json"))
    np.testing.assert_array_equal(needed.judgments, again.judgments)
    np.testing.assert_array_equal(needed.topics, again.topics)


def test_the_lowest_label_is_neglected_below_two_in_a_hundred():
    often = read_grid(" ".join(["0"] * 900 + ["1"] * 100) + "\n" + " ".join(["0"] * 896 + ["1"] * 104))
    (lowest,) = lowest_labels(PredictedRelevance(observed=["U1"]).fit(often))
    assert lowest.p == pytest.approx(4 / 900)
    assert lowest.high < 0.02
    assert lowest.negligible
    assert lowest.saved == pytest.approx(0.9)
    assert lowest.part == pytest.approx(4 / 104)
    assert "saves 90% of the double judgments; 4% of what users" in lowest.sentence()
    rarely = read_grid(" ".join(["0"] * 90 + ["1"] * 10) + "\n" + " ".join(["0"] * 90 + ["1"] * 10))
    (lowest,) = lowest_labels(PredictedRelevance(observed=["U1"]).fit(rarely))
    assert lowest.p == 0
    assert not lowest.negligible
    assert "Go on" in lowest.sentence()
    unknown = read_grid("1 2 0 .\n1 2 . 0")
    (lowest,) = lowest_labels(PredictedRelevance().fit(unknown))
    assert not lowest.negligible
    assert "not known" in lowest.sentence()
    assert lowest_labels(PredictedRelevance(relevant="b").fit(read_grid("a b a\na b b", scale="a|b"))) == []


def test_sizes_go_up_to_what_is_there():
    assert default_sizes(3) == [3]
    assert default_sizes(1_100)[-3:] == [500, 700, 1_100]
    with pytest.raises(PairsError):
        default_sizes(0)


def test_rounds_settle(collection):
    fit = ALL.fit(collection.judgments)
    rounds = simulate_rounds(fit, rng=2)
    assert rounds.sizes[-1] == available(fit)
    assert rounds.mean.shape == rounds.sd.shape == (len(rounds.sizes), 3, 4)
    np.testing.assert_allclose(rounds.mean[-1], fit.p, atol=0.02)
    assert (rounds.sd[-1] < rounds.sd[0])[~np.isnan(rounds.sd[0])].all()
    np.testing.assert_array_equal(rounds.sd, simulate_rounds(fit, rng=2).sd)
    assert rounds.sentence().startswith("p(3|")
    assert simulate_rounds(fit, sizes=[20, 5]).sizes.tolist() == [5, 20]
    for sizes, n_rounds in (([0, 5], 50), ([], 50), ([5], 1)):
        with pytest.raises(SettingError):
            simulate_rounds(fit, sizes=sizes, n_rounds=n_rounds)


def test_moments_are_of_the_rounds_in_which_a_label_was_seen():
    judgments = read_grid(" ".join(["0"] * 60 + ["1"]) + "\n" + " ".join(["0"] * 60 + ["1"]))
    rounds = simulate_rounds(PredictedRelevance(estimator="labels").fit(judgments), sizes=[1, 5_000], n_rounds=20)
    assert np.isnan(rounds.mean[0, 0, 1])
    assert rounds.mean[1, 0, 1] == 1
    assert rounds.sd[1, 0, 1] == 0


def test_moments_over_rounds_are_those_of_numpy(collection):
    fit = ALL.fit(collection.judgments)
    counts = annotation_rounds(
        fit.by_topic.sum(axis=0), np.array([900]), 7, mirrored=True, rng=np.random.default_rng(6)
    )
    p, _ = shares(counts[:, 0], fit.relevant.labels)
    rounds = simulate_rounds(fit, sizes=[900], n_rounds=7, rng=6)
    assert not np.isnan(p).any()
    np.testing.assert_allclose(rounds.mean[0], p.mean(axis=0))
    np.testing.assert_allclose(rounds.sd[0], p.std(axis=0, ddof=1))


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


def test_what_cannot_be_done_is_said(collection):
    with pytest.raises(SettingError, match="no lists"):
        sensitivity(collection.judgments, against=["quality"])
    with pytest.raises(SettingError, match="not from both"):
        sensitivity(collection.judgments, collection.runs, lists=ListOrder(resource="{resource}"))
    with pytest.raises(UnknownName, match="weather"):
        sensitivity(collection.judgments, against=["weather"])
    one = sensitivity(read_grid("1 0 1\n1 1 0"), setting=PredictedRelevance(prior=0.5))
    assert one.topics is None
    assert "nothing is said of topics: 1 with double judgments, drawn 300 times" in one.warnings
    assert any("prior is left out" in word for word in one.warnings)


@settings(max_examples=30)
@given(data=st.data())
def test_any_lists_give_what_their_documents_give(data):
    """Random labels, some missing, and random lists that share documents."""
    docs = [f"d{n}" for n in range(8)]
    judged = {"a": docs, **{who: data.draw(st.lists(st.sampled_from(docs), unique=True)) for who in "bc"}}
    labels = {who: {"both": 1, **{doc: data.draw(st.integers(0, 2)) for doc in judged[who]}} for who in "abc"}
    judgments = _judgments([row for who in "abc" for row in _rows({"1": labels[who]}, who)])
    some = st.lists(st.sampled_from(docs), unique=True)
    lists = {name: {"1": {doc: float(k) for k, doc in enumerate(["both", *data.draw(some)])}} for name in "stu"}
    setting = PredictedRelevance(relevant="2", estimator="labels")
    found = against_quality(
        judgments, lists_of_runs(scan(read_runs(lists), judgments.items)), setting, by=["a"], level="2", top=100
    )
    held = {("1", name): list(lists[name]["1"]) for name in lists}
    order = slow_order(judgments, held, by="a", level=2)["1"]
    for n in range(3):
        fit = refit(judgments, setting, {("1", doc) for name in order[: n + 1] for doc in held["1", name]})
        np.testing.assert_array_equal(found.p[n], fit.p)


def _rows(labels: dict[str, dict[str, int]], who: str) -> list[tuple[str, str, str, int]]:
    return [(who, topic, doc, label) for topic, docs in labels.items() for doc, label in docs.items()]


def _judgments(rows, scale: str = "0<1<2"):
    import polars as pl

    frame = pl.DataFrame(rows, schema=["assessor", "topic", "doc", "label"], orient="row")
    return read_judgments(frame, scale=scale)
