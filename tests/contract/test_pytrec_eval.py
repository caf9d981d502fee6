"""The numbers of other tools: pytrec_eval on real runs, ir_measures by the names that both read."""

from __future__ import annotations

import gzip
import shutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from strategies import SCALE, SHARED, evaluate, grades, qrels_lines, run, with_rel, write
from their_measures import their_measure
from venire import Judgments, Measure, Runs, parse_measure, read_judgments, read_runs
from venire.measures import AP, ERR, RR, Judged, P, R, Rprec, Success, nDCG

pytrec_eval = pytest.importorskip("pytrec_eval")
ir_measures = pytest.importorskip("ir_measures")
pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

CLOSE = 1e-9
PRINTED_BY_GDEVAL = 0.5e-5 + 1e-12  # half a unit of the last place it prints, a tie included
needs_perl = pytest.mark.skipif(shutil.which("perl") is None, reason="ir_measures runs gdeval with perl")


# --- real data: Deep Learning 2021, 63 runs --------------------------------------------------------------------


@pytest.fixture(scope="module")
def deep_learning(data_dir: Path) -> tuple[Judgments, Runs, dict[str, dict[str, dict[str, float]]]]:
    folder = data_dir / "dl21_full"
    lists: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    with gzip.open(folder / "runs.trec.gz", "rt") as file:
        for line in file:
            topic, _, doc, _, score, tag = line.split()
            lists[tag][topic][doc] = float(score)
    judgments = read_judgments(folder / "judges.tsv.gz")
    return judgments, read_runs(folder / "runs.trec.gz", score_type="float32"), lists


def labels_of(judgments: Judgments, assessor: str) -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = defaultdict(dict)
    chosen = judgments.where(assessor=assessor)
    for item, label in zip(chosen.item.tolist(), chosen.label.tolist(), strict=True):
        table[judgments.topics[judgments.items.topic[item]]][judgments.items.doc[item]] = label
    return table


@pytest.mark.parametrize("assessor", ["nist", "gpt4_umbrela", "mistral_p0", "gpt4o_p1"])
@pytest.mark.parametrize("rel", [1, 2, 3])
def test_real_runs_score_as_with_pytrec_eval(deep_learning, assessor, rel):
    judgments, runs, lists = deep_learning
    names = {their: with_rel(our, rel) for their, our in SHARED.items()}
    scores = evaluate(judgments, runs, list(names.values()), assessor=assessor)
    evaluator = pytrec_eval.RelevanceEvaluator(labels_of(judgments, assessor), set(names), relevance_level=rel)
    assert set(scores.names["system"]) == set(lists)
    for values, system in zip(scores.values, scores.names["system"], strict=True):
        theirs = evaluator.evaluate(lists[system])
        expected = [
            [theirs[topic][name] if topic in theirs else 0.0 for name in names] for topic in scores.names["topic"]
        ]
        assert np.abs(values - expected).max() <= CLOSE, system


def test_one_pass_for_all_assessors_is_the_same(deep_learning):
    judgments, runs, _ = deep_learning
    together = evaluate(judgments, runs, ["nDCG@10", "AP(rel=2)"], per="assessor")
    for assessor in ("nist", "gpt4_umbrela", "gpt4o_p9"):
        alone = evaluate(judgments, runs, ["nDCG@10", "AP(rel=2)"], assessor=assessor)
        place = [together.names["topic"].index(topic) for topic in alone.names["topic"]]
        np.testing.assert_allclose(
            together.select(assessor=assessor).values[:, place], alone.values, rtol=0, atol=1e-12
        )


# --- ir_measures: what both can name, both compute alike -------------------------------------------------------

IN_BOTH: list[Measure] = [
    *(P(1), P(5), P(10, rel="2"), R(3), R(10, rel="3"), Success(1), Success(5, rel="2")),
    *(RR(), RR(rel="2"), RR(3), RR(10, rel="2"), AP(), AP(5), AP(rel="2"), AP(3, rel="3"), Rprec(), Rprec(rel="2")),
    *(nDCG(), nDCG(1), nDCG(5), nDCG(10), Judged(1), Judged(5), Judged(10)),
]


def by_topic(name: str, judged: object, lists: object) -> dict[str, float]:
    measure = their_measure(name)
    return {each.query_id: each.value for each in ir_measures.iter_calc([measure], judged, lists)}


@settings(max_examples=40)
@given(judged=grades(lowest=0), lists=run(ties=False))
def test_ir_measures_gives_the_same_under_the_same_name(judged, lists):
    scores = evaluate(read_judgments(judged, scale=SCALE), read_runs(lists), IN_BOTH)
    for name in scores.names["measure"]:
        theirs = by_topic(name, judged, lists)
        ours = dict(zip(scores.names["topic"], scores.select(system="run", measure=name).values, strict=True))
        for topic, value in ours.items():
            assert value == pytest.approx(theirs.get(topic, 0.0), abs=CLOSE), (name, topic)


@pytest.mark.parametrize(
    "measure",
    [*IN_BOTH, ERR(20), nDCG(10, dcg="exp-log2"), parse_measure("RBP(p=0.5,rel=2)@10")],
    ids=str,
)
def test_ir_measures_reads_our_names(measure):
    assert str(parse_measure(str(their_measure(str(measure))))) == str(measure)


@settings(max_examples=40)
@given(judged=grades(lowest=0), lists=run(ties=False))
def test_exponential_gains_are_those_of_ir_measures(judged, lists):
    scores = evaluate(read_judgments(judged, scale=SCALE), read_runs(lists), ["nDCG(dcg='exp-log2')@5"])
    theirs = by_topic("nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7})@5", judged, lists)
    for topic, (value,) in zip(scores.names["topic"], scores.values[0], strict=True):
        assert value == pytest.approx(theirs.get(topic, 0.0), abs=CLOSE), topic


# --- gdeval, which ir_measures brings along: five printed places -----------------------------------------------


def numbered(lines: Iterable[tuple[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    return {str(n): docs for n, (_, docs) in enumerate(lines, 1)}


@pytest.mark.slow
@needs_perl
@settings(max_examples=10)
@given(judged=grades(lowest=0, highest=4), lists=run(ties=False))
def test_gdeval_has_our_err_where_the_scale_ends_at_four(tmp_path_factory, judged, lists):
    judged, lists = numbered(judged.items()), numbered(lists.items())
    folder = tmp_path_factory.mktemp("gdeval")
    judgments = read_judgments(write(folder / "qrels", qrels_lines(judged)), scale="0<1<2<3<4")
    scores = evaluate(judgments, read_runs(lists), ["ERR@5", "nDCG(dcg='exp-log2')@5"])
    for name, ours in zip(("ERR@5", "nDCG(dcg='exp-log2')@5"), np.moveaxis(scores.values[0], 1, 0), strict=True):
        theirs = by_topic(name, judged, lists)
        for topic, value in zip(scores.names["topic"], ours, strict=True):
            assert value == pytest.approx(theirs.get(topic, 0.0), abs=PRINTED_BY_GDEVAL), (name, topic)


@pytest.mark.parametrize("grades", [(1, 3, 7, -1), (1, 1, 1, 1), (0, 2, 4, 2), (1, 2, 3, 4)])
def test_labels_with_gaps_or_without_a_0_have_their_own_gains(grades):
    qrels = {"1": dict(zip("abcd", grades, strict=True)), "2": {"a": grades[0], "b": 1}}
    lists = {"1": {"d": 5.0, "a": 4.0, "x": 3.5, "c": 3.0, "b": 2.0}, "2": {"b": 2.0, "z": 1.0}}
    names = {"map": "AP", "ndcg": "nDCG", "P_5": "P@5", "recip_rank": "RR", "bpref": "bpref", "recall_5": "R@5"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {*names, "P", "recall"}).evaluate(lists)
    ours = evaluate(qrels, {"s": lists}, list(names.values()))
    expected = [[theirs[topic][name] for name in names] for topic in ("1", "2")]
    np.testing.assert_allclose(ours.values[0], expected, rtol=0, atol=CLOSE)
