"""What is written for other tools gives their nDCG the numbers of ours: each tool is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from json_results import loaded
from venire import Judgments, Runs, evaluate, read_judgments, read_runs
from venire.disagreement.gains import predicted_qrels
from venire.io.exchange import USUAL_SCALE, RunScores, run_scores, write_scaled_qrels
from venire.simulation import Synthetic, generate

pytrec_eval = pytest.importorskip("pytrec_eval")
ir_measures = pytest.importorskip("ir_measures")
pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

CLOSE = 1e-9
PRINTED = 0.5e-4 + 1e-12  # trec_eval prints four places
GAINS = ("prm:2", "udm:1/3", "prm:3:2/3")
ANN = "careful1"
TREC_EVAL = os.environ.get("TREC_EVAL")
needs_trec_eval = pytest.mark.skipif(TREC_EVAL is None, reason="set TREC_EVAL to the trec_eval program")
needs_ranx = pytest.mark.skipif(find_spec("ranx") is None, reason="ranx is not installed")


@pytest.fixture(scope="module")
def judgments() -> Judgments:
    return generate(Synthetic(n_topics=8, docs_per_topic=30), rng=4).judgments


@pytest.fixture(scope="module")
def runs(judgments: Judgments) -> RunScores:
    """Two systems whose scores differ throughout, with documents that nobody judged."""
    rng = np.random.default_rng(5)
    docs = {topic: [f"d{number:04}" for number in range(1, 41)] for topic in judgments.topics}
    return {
        system: {
            topic: dict(zip(each, map(float, rng.permutation(len(each))), strict=True)) for topic, each in docs.items()
        }
        for system in ("one", "two")
    }


def ours(judgments: Judgments, runs: object, gains: object, **whose: str) -> dict[str, dict[str, float]]:
    scores = evaluate(judgments, runs, "nDCG@10", gains=gains, **whose)
    by_system = zip(scores.names["system"], scores.values[..., 0].tolist(), strict=True)
    return {system: dict(zip(scores.names["topic"], values, strict=True)) for system, values in by_system}


def of_pytrec_eval(qrels: dict[str, dict[str, int]], run: object, measure: str = "ndcg_cut_10") -> dict[str, float]:
    found = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    return {topic: each[measure] for topic, each in found.items()}


# --- pytrec_eval ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gains", GAINS)
def test_pytrec_eval_has_our_ndcg(judgments, runs, gains):
    """As near as rounding allows: sums of gains within h times the sum of discounts, twice, over the ideal."""
    qrels = predicted_qrels(judgments, gains, assessor=ANN)
    expected = ours(judgments, runs, qrels.labels, assessor=ANN)
    h, discounts = 0.5 / USUAL_SCALE, 1 / np.log2(np.arange(2, 12))
    for system, run in runs.items():
        theirs = of_pytrec_eval(qrels.to_dict(), run)
        for topic, grades in qrels.to_dict().items():
            ideal = np.sort(list(grades.values()))[::-1][:10] / USUAL_SCALE @ discounts
            assert theirs[topic] == pytest.approx(expected[system][topic], abs=2 * h * discounts.sum() / ideal)


@pytest.mark.parametrize("gains", [*GAINS, "linear"])
def test_the_file_gives_the_same_to_pytrec_eval_ir_measures_and_to_us(judgments, runs, gains, tmp_path):
    path = tmp_path / "prm.qrels"
    write_scaled_qrels(predicted_qrels(judgments, gains, assessor=ANN), path)
    with path.open() as file:
        parsed = pytrec_eval.parse_qrel(file)
    again = ours(read_judgments(path), runs, "raw")
    measure = ir_measures.nDCG @ 10
    for system, run in runs.items():
        theirs = of_pytrec_eval(parsed, run)
        of_ir_measures = ir_measures.iter_calc([measure], ir_measures.read_trec_qrels(str(path)), run)
        assert theirs == pytest.approx({each.query_id: each.value for each in of_ir_measures}, abs=CLOSE)
        assert theirs == pytest.approx(again[system], abs=CLOSE)


def test_fractions_are_refused_by_pytrec_eval_so_whole_numbers_are_needed():
    with pytest.raises(TypeError, match="integer"):
        pytrec_eval.RelevanceEvaluator({"q": {"d": 0.5}}, {"ndcg"})


def test_finer_scales_come_nearer(judgments, runs):
    expected = ours(judgments, runs, predicted_qrels(judgments, "udm:1/3", assessor=ANN).labels, assessor=ANN)
    off = []
    for scale_by in (10, 1000, 100_000):
        qrels = predicted_qrels(judgments, "udm:1/3", assessor=ANN, scale_by=scale_by).to_dict()
        theirs = {system: of_pytrec_eval(qrels, run) for system, run in runs.items()}
        off.append(max(abs(theirs[system][topic] - expected[system][topic]) for system in runs for topic in qrels))
    assert off[0] > 10 * off[1] > 100 * off[2]


# --- ir_measures ------------------------------------------------------------------------------------------------


def test_three_lines_take_an_ir_measures_user_to_prm_gains(judgments, runs):
    qrels = [
        ir_measures.Qrel(*row) for row in judgments.to_polars().select("topic", "doc", "label", "assessor").iter_rows()
    ]
    run = [ir_measures.ScoredDoc(t, d, score) for t, docs in runs["one"].items() for d, score in docs.items()]

    labels = read_judgments(qrels, second_column="assessor")
    predicted = predicted_qrels(labels, "prm:2", assessor=ANN)
    found = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], predicted, run)

    expected = evaluate(judgments, run, "nDCG@10", gains=predicted.labels, assessor=ANN).mean().values.item()
    assert found[ir_measures.nDCG @ 10] == pytest.approx(expected, abs=1e-3)


def test_ir_measures_takes_the_table_as_often_as_it_likes(judgments, runs):
    qrels = predicted_qrels(judgments, "prm:2", pool="mean")
    measure = ir_measures.nDCG @ 10
    evaluator = ir_measures.evaluator([measure], qrels)
    for run in runs.values():
        assert evaluator.calc_aggregate(run)[measure] == pytest.approx(
            np.mean(list(of_pytrec_eval(qrels.to_dict(), run).values())), abs=CLOSE
        )


def test_a_frame_of_pandas_is_taken_too(judgments, runs):
    qrels = predicted_qrels(judgments, "prm:2", assessor=ANN)
    measure = ir_measures.nDCG @ 10
    framed = ir_measures.calc_aggregate([measure], qrels.to_polars().to_pandas(), runs["one"])
    assert framed == ir_measures.calc_aggregate([measure], qrels, runs["one"])


# --- judgment groups --------------------------------------------------------------------------------------------


def test_each_judgment_group_scores_as_its_assessor(judgments, runs, tmp_path):
    """The groups read by plain Python, and scored one by one with trec_eval's map, as -m map_avgjg averages them."""
    path = tmp_path / "groups.qrels"
    write_scaled_qrels(predicted_qrels(judgments, "linear", per="assessor"), path, to="groups")
    groups: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for line in path.read_text().splitlines():
        topic, group, doc, grade = line.split()
        groups[group][topic][doc] = int(grade)
    scores = evaluate(read_judgments(path, second_column="assessor"), runs, "AP", per="assessor")
    assert set(groups) == set(scores.names["assessor"]) == set(judgments.assessors)
    for group, qrels in groups.items():
        found = scores.select(system="one", measure="AP", assessor=group)
        theirs = of_pytrec_eval(qrels, runs["one"], "map")
        assert dict(zip(scores.names["topic"], found.values.tolist(), strict=True)) == pytest.approx(theirs, abs=CLOSE)


def written_run(path: Path, run: dict[str, dict[str, float]]) -> Path:
    lines = [f"{topic} Q0 {doc} 1 {score} one\n" for topic, docs in run.items() for doc, score in docs.items()]
    path.write_text("".join(lines))
    return path


def of_trec_eval(*args: object) -> dict[str, float]:
    done = subprocess.run([str(TREC_EVAL), "-q", *map(str, args)], capture_output=True, text=True, check=True)
    return {line.split()[1]: float(line.split()[2]) for line in done.stdout.splitlines()}


@needs_trec_eval
def test_trec_eval_has_our_ndcg(judgments, runs, tmp_path):
    path, run = tmp_path / "prm.qrels", written_run(tmp_path / "one.run", runs["one"])
    write_scaled_qrels(predicted_qrels(judgments, "prm:2", assessor=ANN), path)
    found = of_trec_eval("-m", "ndcg_cut.10", path, run)
    for topic, value in ours(read_judgments(path), run, "raw")["one"].items():
        assert found[topic] == pytest.approx(value, abs=PRINTED)


@needs_trec_eval
def test_trec_eval_averages_over_our_judgment_groups(judgments, runs, tmp_path):
    path, run = tmp_path / "groups.qrels", written_run(tmp_path / "one.run", runs["one"])
    write_scaled_qrels(predicted_qrels(judgments, "linear", per="assessor"), path, to="groups")
    found = of_trec_eval("-R", "qrels_jg", "-m", "map_avgjg", path, run)
    scores = evaluate(judgments, run, "AP", per="assessor").mean("assessor")
    for topic, value in zip(scores.names["topic"], scores.values[0, :, 0].tolist(), strict=True):
        assert found[topic] == pytest.approx(value, abs=PRINTED)


# --- ranx: in a process of its own, without compiling ------------------------------------------------------------

RANX = """
import sys
sys.modules["coverage"] = None  # numba does not start beside old versions of it
import json
from ranx import Qrels, Run, evaluate
from venire import evaluate as ours
from venire.disagreement.gains import predicted_qrels
from venire.io.exchange import ranx_runs, run_scores

folder = sys.argv[1]
runs = json.load(open(f"{folder}/runs.json"))
qrels = {kind: Qrels.from_file(f"{folder}/prm.{kind}") for kind in ("json", "txt")}
run = Run(runs["one"], name="one")
print(json.dumps({
    "ndcg": {kind: {t: float(v) for t, v in zip(each.keys(), evaluate(each, run, "ndcg@10", return_mean=False))}
             for kind, each in qrels.items()},
    "grades": {kind: {t: {str(d): int(g) for d, g in docs.items()} for t, docs in each.to_dict().items()}
               for kind, each in qrels.items()},
    "from_objects": ours(qrels["json"], [run], "nDCG@10", gains="raw").values[0, :, 0].tolist(),
    "named": list(ours(qrels["json"], {"a": run, "b": Run(runs["two"])}, "nDCG@10").names["system"]),
    "made": int(predicted_qrels({"q": {"d": 1, "e": 0}}, {"1": 0.9, "0": 0.25}).to_ranx().to_dict()["q"]["d"]),
    "runs": [[each.name, each.to_dict() == runs[each.name]] for each in ranx_runs(runs)],
    "read_again": run_scores(ranx_runs(runs)) == runs,
    "cut_down": int(Qrels({"q": {"d": 0.9}}).to_dict()["q"]["d"]),
}))
"""


@pytest.mark.slow
@needs_ranx
def test_ranx_has_our_ndcg(judgments, runs, tmp_path):
    qrels = predicted_qrels(judgments, "prm:2", assessor=ANN)
    for kind in ("json", "txt"):
        write_scaled_qrels(qrels, tmp_path / f"prm.{kind}", to="ranx")
    (tmp_path / "runs.json").write_text(json.dumps(runs))
    done = subprocess.run(
        [sys.executable, "-c", RANX, str(tmp_path)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = loaded(done.stdout)
    expected = of_pytrec_eval(qrels.to_dict(), runs["one"])
    for kind in ("json", "txt"):
        assert found["grades"][kind] == qrels.to_dict()
        assert found["ndcg"][kind] == pytest.approx(expected, abs=CLOSE)
    assert found["from_objects"] == pytest.approx([expected[topic] for topic in judgments.topics], abs=CLOSE)
    assert found["named"] == ["a", "b"]
    assert found["made"] == 900
    assert found["runs"] == [["one", True], ["two", True]]
    assert found["read_again"]
    assert found["cut_down"] == 0


# --- runs go both ways ------------------------------------------------------------------------------------------


def test_runs_come_back_from_files_as_they_were(runs, tmp_path):
    paths = [written_run(tmp_path / f"{name}.run", run) for name, run in runs.items()]
    source: Runs = read_runs(paths, system_from="file")
    assert run_scores(source) == runs
