from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from venire.errors import FormatError, SettingError
from venire.io.judgments import read_judgments
from venire.io.preferences import read_preferences
from venire.io.runs import read_runs
from venire.measures.evaluate import evaluate
from venire.simulation.folders import write_collection
from venire.simulation.levels import Synthetic, generate
from venire.simulation.perceived import PerceivedRelevance, generate_perceived, graded
from venire.simulation.systems import Systems, scattered

SMALL = PerceivedRelevance(
    n_topics=12,
    docs_per_topic=4,
    n_assessors=3,
    topics_per_batch=5,
    preference_assessors=2,
    preference_noise=0.2,
    tie_threshold=0.05,
)


@pytest.fixture(scope="module")
def collection():
    return generate_perceived(SMALL, rng=7)


def rows(judgments):
    return set(judgments.to_polars().select("topic", "doc", "assessor", "label").rows())


def test_every_assessor_of_a_batch_judges_all_of_its_topics(collection):
    judgments = collection.judgments
    assert len(judgments) == 12 * 4 * 3
    assert judgments.assessors == tuple(f"b{batch}a{n}" for batch in (1, 2, 3) for n in (1, 2, 3))
    assert judgments.assessors == tuple(sorted(judgments.assessors))
    whole = judgments.to_polars()
    assert set(whole.filter(whole["topic"] == "6")["assessor"]) == {"b2a1", "b2a2", "b2a3"}
    assert collection.batch.tolist() == [0] * 5 + [1] * 5 + [2] * 2


def test_labels_are_grades_of_what_was_perceived(collection):
    at = {
        (topic, doc): number
        for number, (topic, doc) in enumerate((str(t), f"d{d:04d}") for t in range(1, 13) for d in range(1, 5))
    }
    for topic, doc, assessor, label in rows(collection.at(7)):
        seen = collection.perceived[at[topic, doc], int(assessor[-1]) - 1]
        assert label == str(min(int(seen * 7), 6))


def test_scales_share_all_but_the_labels(collection):
    fine = collection.at(30)
    assert fine.items is collection.judgments.items
    assert len(fine.scale) == 30
    assert np.array_equal(collection.at(4).label, collection.judgments.label)
    assert np.array_equal(collection.at(8).label // 2, collection.judgments.label)
    with pytest.raises(SettingError, match="n_grades is 1"):
        collection.at(1)


def test_preferences_name_documents_of_the_topic(collection):
    preferences = collection.preferences
    assert len(preferences) == 12 * 6 * 2
    assert preferences.assessors == ("p1", "p2")
    assert set(preferences.strength.tolist()) == {-1.0, 0.0, 1.0}
    first = preferences.to_polars().rows()[0]
    assert first[:4] == ("1", "d0001", "d0002", "p1")


def test_preferences_follow_the_truth_of_their_documents():
    exact = generate_perceived(replace(SMALL, preference_noise=0.0, tie_threshold=0.0), rng=7)
    relevance = exact.relevance.reshape(12, 4)
    table = exact.preferences
    better = relevance[table.topic, table.left] > relevance[table.topic, table.right]
    assert np.array_equal(table.strength, np.where(better, 1, -1))


def test_the_same_again(collection):
    again = generate_perceived(SMALL, rng=collection.seed)
    assert np.array_equal(again.judgments.label, collection.judgments.label)
    assert np.array_equal(again.preferences.strength, collection.preferences.strength)
    stream = np.random.default_rng(1)
    one, two = generate_perceived(SMALL, rng=stream), generate_perceived(SMALL, rng=stream)
    assert not np.array_equal(one.perceived, two.perceived)
    assert np.array_equal(one.perceived, generate_perceived(SMALL, rng=one.seed).perceived)


def test_systems_rank_by_true_relevance():
    setting = replace(SMALL, n_topics=400, systems=Systems(quality=(0.5, 8.0)))
    collection = generate_perceived(setting, rng=1)
    assert collection.setting.systems.best_first == ("s02", "s01")
    scores = evaluate(collection.judgments, collection.runs, ["nDCG@4"], pool="median")
    worse, better = np.nanmean(scores.values, axis=scores.axes.index("topic")).ravel()
    assert better > worse + 0.03
    assert np.array_equal(
        generate_perceived(replace(setting, systems=Systems(quality=())), rng=1).perceived, collection.perceived
    )


def test_a_folder_is_read_back_as_it_was(collection, tmp_path):
    write_collection(collection, tmp_path / "made")
    judgments = read_judgments(tmp_path / "made" / "judgments.tsv")
    assert judgments.scale == collection.judgments.scale
    assert rows(judgments) == rows(collection.judgments)
    preferences = read_preferences(tmp_path / "made" / "preferences.tsv")
    assert preferences.to_polars().rows() == collection.preferences.to_polars().rows()
    setting = json.loads((tmp_path / "made" / "truth" / "setting.json").read_text())
    assert (setting["kind"], setting["rng"]) == ("perceived", 7)
    lists = {name: tuple(value) for name, value in setting["setting"].items() if isinstance(value, list)}
    values = setting["setting"] | lists
    values["systems"] = Systems(**values["systems"] | {"quality": tuple(values["systems"]["quality"])})
    assert PerceivedRelevance(**values) == SMALL
    assert not (tmp_path / "made" / "runs").exists()


def test_the_truth_stands_beside_it(collection, tmp_path):
    write_collection(collection, tmp_path)
    truth = [line.split("\t") for line in (tmp_path / "truth" / "items.tsv").read_text().splitlines()]
    assert truth[0] == ["topic", "doc", "relevance", "level", "label"]
    assert np.array_equal(np.array([float(line[2]) for line in truth[1:]]), collection.relevance)
    assert [int(line[3]) for line in truth[1:]] == graded(collection.relevance, 4).tolist()
    assessors = [line.split("\t") for line in (tmp_path / "truth" / "assessors.tsv").read_text().splitlines()[1:]]
    assert [line[:2] for line in assessors[:4]] == [["b1a1", "1"], ["b1a2", "1"], ["b1a3", "1"], ["b2a1", "2"]]
    assert float(assessors[3][2]) == collection.sigma[1, 0]


def test_a_folder_is_replaced_whole(collection, tmp_path):
    with_runs = generate_perceived(replace(SMALL, systems=Systems(quality=scattered(3))))
    write_collection(with_runs, tmp_path)
    assert len(read_runs([tmp_path / "runs"]).sources) == 3
    write_collection(collection, tmp_path)
    assert not list((tmp_path / "runs").iterdir())
    levels = generate(Synthetic(n_topics=1, docs_per_topic=2, n_unjudged=0))
    write_collection(levels, tmp_path)
    assert not (tmp_path / "preferences.tsv").exists()
    (tmp_path / "preferences.tsv").write_text("mine")
    write_collection(levels, tmp_path)
    assert (tmp_path / "preferences.tsv").read_text() == "mine"


def test_other_folders_are_left_alone(collection, tmp_path):
    (tmp_path / "thesis.tex").write_text("dear")
    with pytest.raises(FormatError, match="is not empty"):
        write_collection(collection, tmp_path)
    with pytest.raises(FormatError, match="is a file"):
        write_collection(collection, tmp_path / "thesis.tex")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
