"""Venire in other tools, each of which is run: ir_measures, PyTerrier, ranx and MLflow."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from result_examples import EXAMPLES, example
from their_measures import their_measure
from venire import Judgments, evaluate, evaluate_users, fit_gains, read_runs
from venire.errors import SettingError, UnknownName
from venire.io.exchange import run_scores
from venire.simulation import Collection, Synthetic, generate

ir_measures = pytest.importorskip("ir_measures")
pd = pytest.importorskip("pandas")

from venire.integrations.ir_measures import ALIKE, measure, provider  # noqa: E402 - it needs ir_measures
from venire.integrations.mlflow import log_report, log_result, metrics_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
ANN = "careful1"
NDCG, AP = ir_measures.nDCG, ir_measures.AP


@cache
def made() -> Collection:
    return generate(Synthetic(n_topics=6, docs_per_topic=20, n_unjudged=5), rng=4)


def labels() -> Judgments:
    return made().judgments


@cache
def runs() -> dict[str, dict[str, dict[str, float]]]:
    return {name: dict(run) for name, run in run_scores(made().runs).items()}


@cache
def qrels() -> list[object]:
    """What one assessor said, as ir_measures has it."""
    frame = labels().where(assessor=ANN).to_polars()
    return [ir_measures.Qrel(t, d, int(g)) for t, d, g in frame.select("topic", "doc", "label").iter_rows()]


def mean(scores: object) -> float:
    return float(np.mean(scores.values))


# --- ir_measures ------------------------------------------------------------------------------------------------


def test_a_measure_is_computed_beside_those_of_ir_measures():
    run = runs()["s01"]
    prm = measure("nDCG@10", gains="prm:2", judgments=labels(), assessor=ANN)
    users = measure("nDCG@10", gains="prm:2", judgments=labels(), assessor=ANN, users=50)
    each = measure("nDCG@10", judgments=labels(), per="assessor")
    q = measure("Q@10")
    found = ir_measures.calc_aggregate([NDCG @ 10, prm, users, each, q], qrels(), run)
    gains = fit_gains("prm:2", labels())
    assert found[NDCG @ 10] == pytest.approx(mean(evaluate(labels(), run, "nDCG@10", assessor=ANN)))
    assert found[prm] == pytest.approx(mean(evaluate(labels(), run, "nDCG@10", gains=gains, assessor=ANN)))
    drawn = evaluate_users(labels(), run, "nDCG@10", gains=gains, users=50, assessor=ANN)
    assert found[users] == pytest.approx(mean(drawn.topics))
    assert found[each] == pytest.approx(mean(evaluate(labels(), run, "nDCG@10", per="assessor").mean("assessor")))
    assert found[q] == pytest.approx(mean(evaluate(labels(), run, "Q@10", assessor=ANN)))
    assert [*map(str, (prm, users, each, q))] == [
        f"nDCG@10 (gains=prm:2, assessor={ANN})",
        f"nDCG@10 (gains=prm:2, assessor={ANN}, users=50)",
        "nDCG@10 (per=assessor)",
        "Q@10",
    ]


def test_a_cutoff_is_given_as_in_ir_measures():
    deep = measure("nDCG", gains="exponential")
    assert str(deep @ 5) == "nDCG@5 (gains=exponential)"
    scores = ir_measures.calc_aggregate([deep, deep @ 5], qrels(), runs()["s01"])
    assert scores[deep @ 5] != scores[deep]


@pytest.mark.parametrize("name", ["nDCG@10", "Judged@2"])
def test_a_measure_of_the_same_name_is_computed_beside_that_of_ir_measures(name):
    qrels, run = {"q1": {"d1": -1, "d2": 1}}, {"q1": {"d1": 2.0, "d2": 1.0}}
    theirs, ours = their_measure(name), measure(name)
    alone = [ir_measures.calc_aggregate([each], qrels, run)[each] for each in (theirs, ours)]
    for both in ([theirs, ours], [ours, theirs]):
        found = ir_measures.calc_aggregate(both, qrels, run)
        assert [found[theirs], found[ours]] == pytest.approx(alone)
        assert len(found) == 2
    assert name != "Judged@2" or alone == [1.0, 0.5]


def test_measures_with_other_settings_are_others():
    one, other = measure("Q@10", gains={"0": 0, "1": 1}, name="x"), measure("Q@10", gains={"0": 0, "1": 2}, name="x")
    assert one == measure("Q@10", gains={"0": 0, "1": 1}, name="x")
    assert one != other
    assert str(measure("Q@10", gains={"0": 0, "1": 0.2})) == "Q@10 (gains=0:0 1:0.2)"


def test_the_second_column_names_assessors():
    rows = labels().to_polars().select("topic", "doc", "label", "assessor").iter_rows()
    several = [ir_measures.Qrel(topic, doc, int(label), who) for topic, doc, label, who in rows]
    found = measure("P@5", per="assessor", assessors=True).calc_aggregate(several, runs()["s02"])
    assert found == pytest.approx(mean(evaluate(labels(), runs()["s02"], "P@5", per="assessor").mean("assessor")))


def test_the_second_column_names_intents_for_measures_by_intent():
    rows = [
        ("q1", "d1", 1, "1"),
        ("q1", "d2", 1, "2"),
        ("q1", "d2", 0, "1"),
        ("q2", "d3", 1, "1"),
        ("q2", "d1", -1, "1"),
    ]
    several, run = [ir_measures.Qrel(*row) for row in rows], {"q1": {"d3": 2.0, "d2": 1.0}, "q2": {"d3": 1.0}}
    for name in ("alpha_nDCG@5", "ERR_IA@5", "StRecall@1"):
        expected = their_measure(name).calc_aggregate(several, run)
        assert measure(name).calc_aggregate(several, run) == pytest.approx(expected)
    with pytest.raises(SettingError, match="cannot name the assessor for alpha_nDCG@5"):
        measure("alpha_nDCG@5", assessors=True)


def test_a_topic_with_negative_labels_alone_has_no_relevant_document():
    held, run = {"q1": {"d1": 1}, "q2": {"d4": -1}}, {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d4": 1.0}}
    found = {each.query_id: each.value for each in ir_measures.iter_calc([measure("AP")], held, run)}
    assert (
        found == {each.query_id: each.value for each in ir_measures.iter_calc([AP], held, run)} == {"q1": 0.5, "q2": 0}
    )


def test_topics_without_results_score_as_an_empty_list():
    run = dict(list(runs()["s01"].items())[:2])
    q, residual = measure("Q@10"), measure("RBPResidual(p=0.5)")
    found = {
        (str(each.measure), each.query_id): each.value for each in ir_measures.iter_calc([q, residual], qrels(), run)
    }
    assert len(found) == 2 * 6
    missing = next(topic for topic in labels().topics if topic not in run)
    assert found["Q@10", missing] == 0
    assert found["RBPResidual(p=0.5)", missing] == 1
    assert ir_measures.calc_aggregate([q], qrels(), {"nowhere": {"d": 1.0}})[q] == 0


def test_a_topic_that_the_judgments_lack_is_no_zero():
    whole, run = labels(), runs()["s01"]
    first = whole.items.topic[whole.item] == 0
    others = {topic: docs for topic, docs in run.items() if topic != whole.topics[0]}
    by_others = whole.take(~(first & whole.assessor.among(ANN, "assessor")))
    for held, some in ((whole.take(~first), run), (whole.take(~first), others), (by_others, run)):
        with pytest.raises(UnknownName, match="judged by those whose labels count"):
            measure("Q@10", judgments=held, assessor=ANN).calc_aggregate(qrels(), some)


def test_gains_of_a_model_need_judgments():
    with pytest.raises(SettingError, match="fitted on judgments"):
        measure("nDCG@10", gains="prm:2")


@pytest.mark.parametrize("name", [*ALIKE, "P(rel=2)", "AP(rel=2)", "RR(rel=3)", "Rprec(rel=2)"])
def test_the_provider_computes_measures_of_ir_measures_alike(name):
    plain = their_measure(name)
    asked = [plain @ k for k in (3, 10)] if plain.NAME != "Rprec" else [plain]
    asked += [plain] if plain.NAME not in ("P", "R", "Success") else []
    assert all(map(provider.supports, asked))
    for run in (runs()["s01"], runs()["s02"]):
        theirs = ir_measures.calc_aggregate(asked, qrels(), run)
        assert provider.calc_aggregate(asked, qrels(), run) == pytest.approx(theirs, abs=1e-9)


def test_the_provider_counts_negative_labels_as_judged_as_ir_measures_does():
    judged = [ir_measures.Qrel("q1", f"d{n}", label) for n, label in enumerate((2, -1, 0))]
    run = {"q1": {f"d{n}": 5.0 - n for n in range(5)}}
    asked = [ir_measures.Judged @ 5, NDCG @ 5]
    theirs = ir_measures.calc_aggregate(asked, judged, run)
    assert theirs[asked[0]] == pytest.approx(0.6)
    assert provider.calc_aggregate(asked, judged, run) == pytest.approx(theirs, abs=1e-9)


def test_the_provider_leaves_what_is_defined_otherwise():
    assert not provider.supports(ir_measures.ERR @ 10)
    assert not provider.supports(NDCG(dcg="exp-log2") @ 10)
    assert provider.supports(measure("Q@10"))


# --- PyTerrier --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("batch", [None, 2])
def test_pyterrier_computes_our_measures_and_we_read_its_frames(batch):
    pt = pytest.importorskip("pyterrier")
    topics = pd.DataFrame({"qid": list(labels().topics), "query": "some words"})
    frame = pd.DataFrame(
        [(row.query_id, row.doc_id, row.relevance) for row in qrels()], columns=["qid", "docno", "label"]
    )
    systems = {}
    for name in ("s01", "s02"):
        rows = [(topic, doc, score) for topic, docs in runs()[name].items() for doc, score in docs.items()]
        held = pt.model.add_ranks(pd.DataFrame(rows, columns=["qid", "docno", "score"]))
        systems[name] = pt.Transformer.from_df(held)
    prm, q = measure("nDCG@10", gains="prm:2", judgments=labels(), assessor=ANN), measure("Q@10")
    table = pt.Experiment([*systems.values()], topics, frame, [AP, prm, q], names=[*systems], batch_size=batch)
    returned = {name: system(topics) for name, system in systems.items()}
    ours = evaluate(frame, returned, ["AP", "Q@10"]).mean()
    assert ours.names["system"] == ("s01", "s02")
    assert table[["AP", "Q@10"]].to_numpy() == pytest.approx(ours.values)
    gains = fit_gains("prm:2", labels())
    expected = evaluate(labels(), read_runs(returned), "nDCG@10", gains=gains, assessor=ANN).mean().values
    assert table[str(prm)].to_numpy() == pytest.approx(expected[:, 0])


# --- MLflow -----------------------------------------------------------------------------------------------------

MLFLOW = """
import json, sys, warnings
warnings.simplefilter("ignore")
import mlflow
from venire import evaluate, report_on
from venire.agreement import agreement_table
from venire.integrations.mlflow import log_report, log_result
from venire.simulation import Synthetic, generate

mlflow.set_tracking_uri(f"sqlite:///{sys.argv[1]}/mlflow.db")
mlflow.set_experiment(experiment_id=mlflow.create_experiment("search", artifact_location=f"file:{sys.argv[1]}/files"))
made = generate(Synthetic(n_topics=5, docs_per_topic=20), rng=4)
report = report_on(made.judgments, made.runs, assessor="careful1", n_draws=20)
scores = evaluate(made.judgments, made.runs, ["nDCG@10", "P@5"], assessor="careful1")
with mlflow.start_run() as run:
    told = log_report(report)
    told |= log_result(scores, system="s01")
    told |= log_result(agreement_table(made.judgments, n_draws=20))
held = mlflow.get_run(run.info.run_id)
client = mlflow.MlflowClient()
names = sorted(each.path for each in client.list_artifacts(run.info.run_id, "venire"))
page = mlflow.artifacts.load_text(f"runs:/{run.info.run_id}/venire/report.html")
print(json.dumps({"told": told, "metrics": held.data.metrics, "tags": held.data.tags, "names": names, "page": page[:15],
                  "content": mlflow.artifacts.load_dict(f"runs:/{run.info.run_id}/venire/report.json"),
                  "scores": scores.mean().to_polars().to_dicts()}))
"""


@pytest.mark.slow
def test_mlflow_holds_metrics_with_intervals_and_the_page(tmp_path):
    pytest.importorskip("mlflow")
    done = subprocess.run([sys.executable, "-c", MLFLOW, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["metrics"] == pytest.approx(found["told"])
    board = found["content"]["front"]["leaderboard"]
    assert len(board) == 10
    for row in board:
        name = f"nDCG_10/{row['system']}"
        held = [found["metrics"][each] for each in (name, f"{name}/low", f"{name}/high")]
        assert held == pytest.approx([row["score"], row["low"], row["high"]])
    own = {(row["system"], row["measure"]): row["value"] for row in found["scores"]}
    assert found["metrics"]["P_5"] == pytest.approx(own["s01", "P@5"])
    assert found["metrics"]["P_5/low"] < found["metrics"]["P_5"] < found["metrics"]["P_5/high"]
    assert "krippendorff_alpha/ordinal/all/low" in found["metrics"]
    assert found["tags"]["venire.verdict"] == found["content"]["verdict"]["finding"]
    endings = ("AgreementTable.html", "AgreementTable.json", "Scores.html", "Scores.json", "report.html", "report.json")
    assert found["names"] == [f"venire/{ending}" for ending in endings]
    assert found["page"].lower() == "<!doctype html>"


def test_without_mlflow_the_package_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    scores = evaluate({"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 1.0}}}, "nDCG@10")
    with pytest.raises(ImportError, match=r"venire\[mlflow\]"):
        log_result(scores)


def test_names_of_metrics_that_mlflow_allows():
    run = {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}
    odd = evaluate({"q1": {"d1": 1}, "q2": {"d2": 0}}, {"a/../b": run, "ü%": run, "..": run}, "nDCG@10")
    names = [name for name in metrics_of(odd) if not name.endswith(("low", "high"))]
    assert names == ["nDCG_10/a_.._b", "nDCG_10/ü_", "nDCG_10/_"]
    with pytest.raises(SettingError, match="two metrics"):
        metrics_of(evaluate({"q1": {"d1": 1}}, {"a@b": run, "a%b": run}, "nDCG@10"))
    with pytest.raises(UnknownName, match="system"):
        metrics_of(odd, system="bm25")


TABLES = {"Aspects", "Judgments", "PairsToAsk", "PerceivedCollection", "Report", "TopLists"}
WITHOUT_METRICS = TABLES | {"AltTest", "Contour"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_result_with_numbers_has_metrics(name):
    """Rows that nothing tells apart, such as those of a grid, have none."""
    found = metrics_of(example(name))
    assert all(re.fullmatch(r"[\w.\- :/]+", each) for each in found)
    assert bool(found) == (name not in WITHOUT_METRICS)


@pytest.mark.parametrize(
    ("name", "first"),
    {
        "ClickSummary": "click_rate/rank_1",
        "ContextSweep": "CCG_5/weak/weak/alpha_0.0",
        "ConditionalValidation": "accuracy/predictor",
        "AspectClusters": "isolation/novelty_overall",
        "Coefficient": "krippendorff_alpha/ordinal/all",
    }.items(),
)
def test_metrics_of_rows_without_texts_are_named_after_what_tells_them_apart(name, first):
    assert next(iter(metrics_of(example(name)))) == first


def test_what_is_no_result_is_refused_by_what_it_is():
    scores = evaluate({"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 1.0}}}, "nDCG@10")
    with pytest.raises(SettingError, match=r"found Scores, expected a report.*\n.*log_result"):
        log_report(scores)
    for other in (scores.to_polars(), 0.5):
        with pytest.raises(SettingError, match=f"found {type(other).__name__}, expected a result"):
            log_result(other)


# --- pages ------------------------------------------------------------------------------------------------------

PAGES = sorted((Path(__file__).parents[2] / "docs" / "integrations").glob("*.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def snippets(page: Path) -> list[str]:
    """Return the Python of a page that is not run as a doctest."""
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [code for language, code in found if language == "python" and ">>>" not in code]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_snippets_are_short(page):
    for _, code in FENCE.findall(page.read_text(encoding="utf-8")):
        assert len(code.strip().splitlines()) <= 10, code


@pytest.mark.slow
@pytest.mark.parametrize(("page", "package"), [("pyterrier", "pyterrier"), ("mlflow", "mlflow"), ("ranx", "ranx")])
def test_snippets_run(page, package, tmp_path):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    own = next(each for each in PAGES if each.stem == page)
    assert len(snippets(own)) >= 2
    before = 'import sys, warnings; sys.modules["coverage"] = None; warnings.simplefilter("ignore")\n'
    command = [sys.executable, "-c", before + "\n".join(snippets(own))]
    quick = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=quick, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
