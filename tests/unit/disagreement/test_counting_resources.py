from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau

from stated_counts import FIT, P_KEY, SCALE, by_system, quiet_count, read_table, stated_fit
from venire import read_judgments
from venire.disagreement.counting_resources import count_resources, resource_pattern
from venire.errors import FormatError, MissingTopicsWarning, SettingError
from venire.results import Note

PATTERN = "F-{resource}-{topic}-{rank}"


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
    assert Note("empty-resources", "", n=2, chosen=8) in counts.notes
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
    [r"F-(?P<resource>[^-]+)-\d+-\d+", {f"F-e{e}-{t}-{r}": f"e{e}" for e in (1, 2, 3) for t in (1, 2) for r in (1, 2)}],
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
    assert Note("no-resource", "", n=6) in counts.notes


def test_what_cannot_be_read_as_resources_is_refused(federated):
    with pytest.raises(SettingError, match="where the resource is"):
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
