from __future__ import annotations

import csv
import io
from importlib import import_module

import numpy as np
import pytest

from json_results import loaded
from venire import PredictedRelevance
from venire.cli.sensitivity import AGAINST, QUANTILES
from venire.simulation import Synthetic, generate, write_collection
from venire.simulation.assessors import OneJudgesAll
from venire.simulation.systems import Systems, scattered

KEYS = ["quality", "topics", "judgments", "needed", "subsets", "influence", "answers", "warnings"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    setting = Synthetic(
        n_topics=12,
        docs_per_topic=40,
        n_unjudged=0,
        pattern=OneJudgesAll(share=0.5),
        assessors=Synthetic().assessors[:2],
        systems=Systems(quality=scattered(4), depth=20),
    )
    path = tmp_path_factory.mktemp("sensitivity") / "demo"
    collection = generate(setting, rng=2)
    write_collection(collection, path)
    return path, collection.judgments


def document(answer) -> dict:
    assert answer.code == 0, answer.err
    found = loaded(answer.out)
    assert list(found) == KEYS
    return found


def test_everything_in_json(venire, folder):
    path, judgments = folder
    found = document(
        venire(
            "sensitivity", path / "judgments.tsv", path / "runs", "--relevant", "all", "--format", "json", "--top", 6
        )
    )
    fit = PredictedRelevance(relevant="all").fit(judgments)
    cells = [(name, label) for name in ("3", "2", "1") for label in ("3", "2", "1", "0")]
    assert [list(found[key][0])[:5] for key in ("quality", "topics", "judgments", "needed")] == [
        ["lists", "relevant", "label", "p", "pairs"],
        ["relevant", "label", "p", "q05", "q25"],
        ["judgments", "relevant", "label", "mean", "sd"],
        ["relevant", "label", "deviation", "judgments", "topics"],
    ]
    assert [record["lists"] for record in found["quality"]] == [n for n in (1, 2, 3, 4) for _ in cells]
    for key in ("topics", "needed"):
        assert [(record["relevant"], record["label"]) for record in found[key]] == cells
    np.testing.assert_allclose([record["p"] for record in found["topics"]], fit.p[:, ::-1].ravel())
    assert all(isinstance(record["pairs"], int) for record in found["quality"])
    assert {record["deviation"] for record in found["needed"]} == {0.02}
    assert [(record["lists"], record["top"]) for record in found["subsets"][:: len(cells)]] == [
        (kind, top) for top in (3, 6) for kind in ("all", "high-quality", "low-quality")
    ]
    assert {record["topic"] for record in found["influence"]} <= set(judgments.topics)
    assert any("double judgments" in words for words in found["answers"])


def test_the_table_sums_up(venire, folder):
    path, _ = folder
    answer = venire("sensitivity", path / "judgments.tsv", path / "runs")
    head, *rows = answer.out.splitlines()
    assert head.split() == ["relevant", "label", "p", "best_list", "all_lists", "q05", "q95", "judgments", "topics"]
    assert [row.split()[:2] for row in rows] == [["3", label] for label in ("3", "2", "1", "0")]
    assert "note: A standard deviation of at most 0.02 on p(3|i) takes" in answer.err
    head = venire("sensitivity", path / "judgments.tsv", "-q").out.splitlines()[0]
    assert head.split() == ["relevant", "label", "p", "q05", "q95", "judgments", "topics"]


@pytest.mark.parametrize(
    ("against", "columns"),
    [
        ("topics", ["relevant", "label", "p", *QUANTILES]),
        ("judgments", ["judgments", "relevant", "label", "mean", "sd"]),
        ("quality", ["lists", "relevant", "label", "p", "pairs", "one_sided"]),
    ],
)
def test_one_question_in_full(venire, folder, against, columns):
    path, _ = folder
    answer = venire("sensitivity", path / "judgments.tsv", path / "runs", "--against", against, "--format", "csv", "-q")
    rows = list(csv.reader(io.StringIO(answer.out)))
    assert rows[0] == columns
    assert len(rows) > 4
    assert answer.err == ""


def test_the_order_of_lists_is_by_whom_one_says(venire, folder):
    path, judgments = folder
    args = ["sensitivity", path / "judgments.tsv", path / "runs", "--against", "quality", "--format", "json"]
    by = {name: document(venire(*args, "--lists-by", name))["quality"] for name in judgments.assessors}
    assert by["careful1"] != by["careful2"]
    assert by["careful1"] == document(venire(*args))["quality"]
    assert by["careful1"] != document(venire(*args, "--level", "3"))["quality"]


def test_one_sided_is_ordered_by_those_observed(venire, folder):
    path, _ = folder
    args = ["sensitivity", path / "judgments.tsv", path / "runs", "--observed", "careful2", "--format", "json"]
    found = document(venire(*args))
    assert {record["one_sided"] for record in found["quality"]} == {None}
    assert not any("rank the lists and are second labels too" in word for word in found["warnings"])
    other = document(venire(*args, "--lists-by", "careful1"))
    assert any("rank the lists and are second labels too" in word for word in other["warnings"])


FEDERATED = "topic,doc,assessor,label\n" + "".join(
    f"{topic},FW-e{engine}-{topic}-{rank},{who},{(topic * engine + rank * (who == 'a')) % 3}\n"
    for who in "ab"
    for topic in range(1, 6)
    for engine in (1, 2, 3)
    for rank in range(1, 5)
)


def test_resources_from_names_and_from_a_file(venire, write):
    judgments = write("federated.csv", FEDERATED)
    docs = sorted({line.split(",")[1] for line in FEDERATED.splitlines()[1:]})
    listed = write("resources.tsv", "".join(f"{doc}\t{doc.split('-')[1]}\n" for doc in docs))
    args = ["sensitivity", judgments, "--against", "quality", "--estimator", "labels", "--format", "json"]
    by_name = document(venire(*args, "--resource", "FW-{resource}-{topic}-{rank}"))
    by_file = document(venire(*args, "--resource", listed))
    assert by_name["quality"] == by_file["quality"]
    assert [record["lists"] for record in by_name["quality"]] == [1] * 3 + [2] * 3 + [3] * 3
    assert {record["top"] for record in by_name["subsets"]} == {5, 10}
    assert {record["top"] for record in by_file["subsets"]} == {None}
    fewer = document(venire(*args, "--resource", "FW-{resource}-{topic}-{rank}", "--top", 2))
    assert sum(record["pairs"] for record in fewer["quality"][-3:]) == 2 * 2 * 15


def test_the_same_seed_gives_the_same(venire, folder):
    path, _ = folder
    args = ["sensitivity", path / "judgments.tsv", "--format", "json"]
    assert venire(*args).out == venire(*args).out
    assert venire(*args).out != venire(*args, "--rng", 1).out


def test_what_is_not_known_is_null(venire, write):
    one = write("one.qrels", "1 0 a 2\n1 0 b 0\n")
    other = write("other.qrels", "1 0 a 2\n1 0 b 0\n")
    found = document(venire("sensitivity", one, "-j", other, "--scale", "0<1<2", "--format", "json"))
    assert found["topics"] == []
    needed = {record["label"]: record for record in found["needed"]}
    assert needed["1"]["judgments"] is None
    assert needed["2"]["judgments"] > 0
    assert needed["2"]["topics"] is None
    assert any("sensitivity to topics needs two topics" in word for word in found["warnings"])
    assert any("label 1 has no pairs" in word for word in found["warnings"])


def test_plots(venire, folder, tmp_path):
    path, _ = folder
    places = [tmp_path / f"{n}.svg" for n in range(2)]
    for place in places:
        answer = venire(
            "sensitivity", path / "judgments.tsv", path / "runs", "--relevant", "all", "-q", "--plot", place
        )
        assert answer.code == 0, answer.err
    assert places[0].read_bytes() == places[1].read_bytes()
    text = places[0].read_text()
    for words in ("lists of each topic", "12 topics resampled", "double judgments (mean", "relevant: 2 or higher"):
        assert words in text


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--against", "quality"], "there are no lists"),
        (["--against", "weather"], "'weather' is not one of"),
        (["--resource", "nothing"], "does not say where the resource is"),
        (["--deviation", "0"], "0<x<1"),
        (["--lists-by", "nobody", "--resource", "d{resource}"], "no assessor 'nobody'"),
        (["--level", "9", "--resource", "d{resource}"], "'9' is not a label"),
        (["--relevant", "9"], "'9' is not a label"),
    ],
)
def test_bad_usage_is_said(venire, folder, args, words):
    path, _ = folder
    answer = venire("sensitivity", path / "judgments.tsv", *args)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_judgments_without_double_judgments(venire, qrels):
    answer = venire("sensitivity", qrels)
    assert answer.code == 2
    assert "no item has labels by two different assessors" in answer.err


def test_standard_input_is_read_once(venire):
    assert "only once" in venire("sensitivity", "-", "-").err


def test_the_words_are_those_of_the_library():
    by_topic, sensitivity = (import_module(f"venire.disagreement.{name}") for name in ("by_topic", "sensitivity"))

    assert AGAINST == sensitivity.AGAINST
    assert tuple(by_topic.QUANTILES) == QUANTILES


def test_an_llm_and_people(venire, data_dir):
    """The lists that an LLM orders: read both ways p(2|0) is .72 in the best of them, read from the LLM it is 0."""
    place = data_dir / "dl21_full"
    only = ["--where", "assessor=nist", "--where", "assessor=gpt4_umbrela", "--relevant", 2]
    args = [place / "judges.tsv.gz", place / "runs.trec.gz", *only, "--estimator", "labels", "--format", "json"]
    found = document(venire("sensitivity", *args, "--lists-by", "gpt4_umbrela"))
    best = {record["label"]: record for record in found["quality"][:4]}
    every = {record["label"]: record for record in found["quality"][-4:]}
    assert (len(found["quality"]) // 4, best["0"]["lists"], every["0"]["lists"]) == (63, 1, 63)
    assert best["0"]["p"] == pytest.approx(0.717, abs=5e-4)
    assert every["0"]["p"] == pytest.approx(0.088, abs=5e-4)
    assert best["0"]["one_sided"] == 0
    assert every["0"]["one_sided"] == pytest.approx(0.011, abs=5e-4)
    assert found["needed"][0]["judgments"] == 2_380
