from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau

from venire import PredictedRelevance, Scale, Synthetic, generate, read_judgments
from venire.analysis.counting import KINDS, count_relevant
from venire.analysis.resources import count_resources, resource_pattern
from venire.errors import AmbiguousLabels, FormatError, GainsError, MissingTopicsWarning, SettingError
from venire.models.predicted_relevance import PredictedRelevanceFit
from venire.models.relevance import relevant_sets
from venire.models.spread import Spread

SCALE = Scale.parse("Non<Rel<Key")
P_KEY, P_REL = (0.1, 0.25, 0.5), (0.2, 0.6, 0.9)
COLUMNS = ["prm", "prm_se", "binary", "binary_se", "udm", "udm_se"]
PATTERN = "F-{resource}-{topic}-{rank}"


def stated_fit(*rows: tuple[float, ...], scale: Scale = SCALE, relevant: str = "all") -> PredictedRelevanceFit:
    """A fit whose parameters are stated, highest threshold first."""
    p, n = np.array(rows), np.full((len(rows), len(scale)), 1000.0)
    nothing = np.zeros_like(p)
    spread = Spread(p, p * n, n, nothing, nothing, nothing, p, p)
    setting = PredictedRelevance(relevant=relevant)
    counts = np.ones((1, len(scale), len(scale)))
    return PredictedRelevanceFit(setting, scale, relevant_sets(scale, relevant), spread, counts, 50)


FIT = stated_fit(P_KEY, P_REL)


def by_system(counts, relevant="Key"):
    return {each["system"]: each for each in counts.records() if each["relevant"] == relevant}


@pytest.fixture
def labels():
    qrels = {
        "1": {"a": "Key", "b": "Rel", "c": "Non", "d": "Key"},
        "2": {"a": "Rel", "b": "Non", "c": "Key"},
    }
    return read_judgments(qrels, scale=SCALE)


@pytest.fixture
def runs():
    return {
        "one": {"1": {"a": 4.0, "b": 3.0, "x": 2.0, "d": 1.0}, "2": {"c": 2.0, "a": 1.0}},
        "two": {"1": {"c": 3.0, "b": 2.0, "d": 1.0}, "2": {"b": 3.0, "y": 2.0, "a": 1.0}},
    }


def quiet_count(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return count_relevant(*args, **options)


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
    counts = quiet_count(labels, runs, FIT, top=3, share=(1, 3))
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
            np.testing.assert_allclose(counts.se[place], slow.std(axis=1, ddof=1) / 12**0.5)


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


def read_table(qrels, assessor):
    import polars as pl

    rows = [(topic, doc, assessor, label) for topic, docs in qrels.items() for doc, label in docs.items()]
    return pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")


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


# Resources: Table 5.


@pytest.fixture
def federated():
    """Two topics, three engines: e1 has two results for topic 1, e2 and e3 one or two."""
    rows = {
        "1": {"F-e1-1-1": "Key", "F-e1-1-2": "Non", "F-e2-1-1": "Rel", "F-e3-1-1": "Key", "F-e3-1-2": "Key"},
        "2": {"F-e1-2-1": "Rel", "F-e2-2-1": "Key", "F-e2-2-2": "Rel"},
    }
    return read_judgments(rows, scale=SCALE)


ENGINES = {
    "good": {"1": {"e3": 3.0, "e1": 2.0, "e2": 1.0}, "2": {"e2": 3.0, "e1": 2.0, "e3": 1.0}},
    "bad": {"1": {"e2": 3.0, "e9": 2.0, "e3": 1.0}, "2": {"e1": 3.0, "e3": 2.0, "e2": 1.0}},
}


def test_counts_over_resources_by_hand(federated):
    counts = count_resources(federated, ENGINES, FIT, resource=PATTERN, top=2)
    rows = by_system(counts)
    assert counts.systems == ("oracle", "good", "bad")
    # good: topic 1 e3 + e1 = 3 Key, 1 Non; topic 2 e2 + e1 = 1 Key, 2 Rel
    assert rows["good"]["prm"] == pytest.approx((1.6 + 1.0) / 2)
    assert rows["good"]["binary"] == 2.0
    assert rows["good"]["udm"] == pytest.approx((3 + 1.5) / 2)
    # bad: topic 1 e2 and e9, of which nothing was judged; topic 2 e1 and e3, which has no result there
    assert rows["bad"]["prm"] == pytest.approx((0.25 + 0.25) / 2)
    assert rows["bad"]["binary"] == 0.0
    assert rows["oracle"]["binary"] == 2.0
    assert rows["oracle"]["prm"] == pytest.approx(1.3)
    assert list(rows) == ["oracle", "good", "bad"]
    assert any("2 of the 8 resources chosen have no judged result" in note for note in counts.notes)
    assert "first 2 resources of good, the best of 2 systems" in counts.sentence()


def test_one_resource_is_enough_for_all_relevant_results(federated):
    rows = by_system(count_resources(federated, ENGINES, FIT, resource=PATTERN, top=1))
    assert rows["oracle"]["binary"] == rows["good"]["binary"] == 1.5
    assert by_system(count_resources(federated, ENGINES, FIT, resource=PATTERN, top=9))["oracle"]["binary"] == 2.0


def test_the_oracle_is_left_out_of_tau(federated):
    runs = ENGINES | {"same": ENGINES["good"]}
    counts = count_resources(federated, runs, FIT, resource=PATTERN, top=2)
    assert counts.tau.shape == (2, 2)
    assert counts.tau[0, 0] == pytest.approx(kendalltau(counts.mean[0, 0, 1:], counts.mean[1, 0, 1:]).statistic)


def random_engines(seed, *, n_systems=6):
    rng = np.random.default_rng(seed)
    names, topics = [f"e{n}" for n in range(7)], ["1", "2", "3"]
    docs = {
        topic: {
            f"F-{name}-{topic}-{rank}": SCALE.labels[rng.integers(3)]
            for name in names
            for rank in range(rng.integers(0, 5))
        }
        for topic in topics
    }
    runs = {
        f"s{n}": {topic: dict(zip(names, rng.random(7).tolist(), strict=True)) for topic in topics}
        for n in range(n_systems)
    }
    return docs, runs


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("top", [1, 3])
def test_the_oracle_is_the_best_of_all_choices_and_never_beaten(seed, top):
    docs, runs = random_engines(seed)
    counts = count_resources(read_judgments(docs, scale=SCALE), runs, FIT, resource=PATTERN, top=top)
    values = counts.scores.values
    assert (values[0] >= values[1:] - 1e-12).all()
    worth = dict(zip(SCALE.labels, P_KEY, strict=True))
    for topic, labels in docs.items():
        best = max(
            sum(worth[label] for doc, label in labels.items() if doc.split("-")[1] in chosen)
            for chosen in combinations([f"e{n}" for n in range(7)], top)
        )
        assert values[0, counts.scores.names["topic"].index(topic), 0] == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_resources_equal_a_run_of_their_documents(seed):
    docs, runs = random_engines(seed)
    labels = read_judgments(docs, scale=SCALE)
    found = count_resources(labels, runs, FIT, resource=PATTERN, top=3)
    unions = {
        system: {
            topic: {doc: 1.0 for doc in docs[topic] if doc.split("-")[1] in sorted(order, key=order.get)[-3:]}
            for topic, order in lists.items()
        }
        for system, lists in runs.items()
    }
    plain = quiet_count(labels, unions, FIT, top=None)
    np.testing.assert_allclose(found.mean[:, :, 1:], plain.mean)
    np.testing.assert_allclose(found.se[:, :, 1:], plain.se)


def test_resources_for_each_assessor():
    docs, runs = random_engines(3)
    other, _ = random_engines(4)
    other = {topic: {doc: other[topic].get(doc, "Non") for doc in labels} for topic, labels in docs.items()}
    labels = read_judgments([read_table(docs, "x"), read_table(other, "y")], scale=SCALE)
    each = count_resources(labels, runs, FIT, resource=PATTERN, per="assessor")
    for who, name in enumerate(each.assessors):
        one = count_resources(labels, runs, FIT, resource=PATTERN, assessor=name)
        np.testing.assert_allclose(each.mean[..., who], one.mean)


def test_topics_without_a_list_of_resources(federated):
    runs = {"half": {"1": {"e1": 1.0}}}
    with pytest.warns(MissingTopicsWarning, match=r"half \(1 of 2\)"):
        rows = by_system(count_resources(federated, runs, FIT, resource=PATTERN))
    assert rows["half"]["binary"] == 0.5
    with pytest.warns(MissingTopicsWarning):
        rows = by_system(count_resources(federated, runs, FIT, resource=PATTERN, missing="skip"))
    assert (rows["half"]["binary"], rows["half"]["topics"]) == (1.0, 1)
    assert rows["oracle"]["topics"] == 2


def test_a_run_called_oracle_keeps_its_name(federated):
    counts = count_resources(federated, {"oracle": ENGINES["bad"]}, FIT, resource=PATTERN)
    assert counts.systems == ("oracle*", "oracle")


@pytest.mark.parametrize(
    "resource",
    [
        r"F-(?P<resource>[^-]+)-\d+-\d+",
        {f"F-e{e}-{t}-{r}": f"e{e}" for e in (1, 2, 3) for t in (1, 2) for r in (1, 2)},
    ],
)
def test_other_ways_to_name_a_resource(federated, resource):
    expected = count_resources(federated, ENGINES, FIT, resource=PATTERN)
    np.testing.assert_array_equal(count_resources(federated, ENGINES, FIT, resource=resource).mean, expected.mean)


def test_a_column_names_the_resource():
    import polars as pl

    rows = [("1", "a", "e1", "Key"), ("1", "b", "e1", "Non"), ("1", "c", "e2", "Rel")]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "task", "label"], orient="row")
    runs = {"s": {"1": {"e2": 1.0}}}
    counts = count_resources(read_judgments(frame, scale=SCALE), runs, FIT, resource="task", top=1)
    assert by_system(counts)["s"]["prm"] == 0.25
    assert by_system(counts)["oracle"]["prm"] == pytest.approx(0.6)
    twice = pl.concat([frame, pl.DataFrame([("1", "a", "e2", "Rel")], schema=frame.columns, orient="row")])
    with pytest.raises(SettingError, match="'a' belongs to two resources"):
        count_resources(read_judgments(twice, scale=SCALE), runs, FIT, resource="task")


def test_documents_without_a_resource_are_left_out_and_noted(federated):
    counts = count_resources(federated, ENGINES, FIT, resource={"F-e1-1-1": "e1", "F-e2-2-1": "e2"}, top=3)
    assert by_system(counts)["oracle"]["binary"] == 1.0
    assert "6 judged documents without a resource left out" in counts.notes


def test_what_cannot_be_read_as_resources_is_refused(federated):
    with pytest.raises(SettingError, match="where the resource stands"):
        count_resources(federated, ENGINES, FIT, resource="engine")
    with pytest.raises(SettingError, match="no judged document fits"):
        count_resources(federated, ENGINES, FIT, resource="FW13-{resource}-{rank}")
    with pytest.raises(SettingError, match="not a regular expression"):
        count_resources(federated, ENGINES, FIT, resource="(?P<resource>[")
    with pytest.raises(FormatError, match="no document is the name of a resource"):
        count_resources(federated, {"1": {"F-e1-1-1": 1.0}, "2": {"F-e1-2-1": 1.0}}, FIT, resource=PATTERN)


def test_templates_are_literal_but_for_their_fields():
    pattern = resource_pattern("a.b({resource})/{rank}")
    assert pattern.fullmatch("a.b(x.y)/3")["resource"] == "x.y"
    assert pattern.fullmatch("aXb(x)/3") is None


TABLE_3 = {"7": (0.01, 0.04, 0.27, 0.53), "3": (0.02, 0.22, 0.65, 0.87), "1": (0.08, 0.46, 0.88, 0.93)}
TABLE_5_ORACLE = {"7": (9.02, 0.40, 12.98, 0.93), "1": (21.40, 0.61, 25.92, 0.63)}


def test_the_oracle_of_table_5(data_dir):
    """Demeester et al. (2015): the public file holds 6 % fewer results, so counts are a little lower, errors alike."""
    judgments = read_judgments(data_dir / "fedweb13" / "FW13-QRELS-RM.txt.gz", scale="0<1<3<7")
    runs = {"any": {topic: {"e001": 1.0} for topic in judgments.topics}}
    fit = stated_fit(*TABLE_3.values(), scale=judgments.scale)
    counts = count_resources(judgments, runs, fit, resource="FW13-{resource}-{topic}-{rank}", top=3)
    for relevant, (prm, prm_se, binary, binary_se) in TABLE_5_ORACLE.items():
        oracle = by_system(counts, relevant)["oracle"]
        assert 0.93 * prm < oracle["prm"] <= prm
        assert 0.93 * binary < oracle["binary"] <= binary
        assert oracle["prm_se"] == pytest.approx(prm_se, abs=0.03)
        assert oracle["binary_se"] == pytest.approx(binary_se, abs=0.03)
        assert oracle["topics"] == 50
