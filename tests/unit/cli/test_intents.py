"""Measures by intent on the command line: the second column of qrels, probabilities, and nuggets, in every command."""

from __future__ import annotations

import json

import polars as pl
import pytest

import source_files as files
from labelled_intents import frame, runs

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

M, QUICK = ("-m", "alpha_nDCG@10"), ("--draws", "20", "-q")
NAMES = ("nist", "gpt4")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Qrels of two judges with intents in the second column, and a run of each system."""
    folder = tmp_path_factory.mktemp("intents")
    (folder / "runs").mkdir()
    for name in NAMES:
        own = frame().filter(pl.col("assessor") == name).select("topic", "intent", "doc", "label")
        own.write_csv(folder / f"{name}.qrels", separator=" ", include_header=False)
    for name, lists in runs().items():
        lines = [f"{t} Q0 {d} 1 {score} {name}" for t, docs in lists.items() for d, score in docs.items()]
        (folder / "runs" / name).write_text("\n".join(lines))
    known = [f"q{t}\ti{n}\t{(0.7, 0.2, 0.1)[n]}" for t in range(10) for n in range(3)]
    (folder / "intents.tsv").write_text("\n".join(known))
    return folder


@pytest.fixture
def asked(inputs, venire, tmp_path):
    """Run a command on both judges; the JSON that it writes."""

    def ask(command, *more, judges=NAMES):
        first, *others = (inputs / f"{name}.qrels" for name in judges)
        beside = [word for other in others for word in ("-j", other)]
        page = ("-o", tmp_path / "page.html") if command == "report" else ()
        answer = venire(command, first, inputs / "runs", *beside, *M, *more, *page, "--format", "json")
        assert answer.code == 0, answer.err
        return json.loads(answer.out)

    return ask


def scores(asked, judge, *more):
    rows = asked("evaluate", "--assessor", judge, *more)["scores"]
    return {row["system"]: row["value"] for row in rows}


@pytest.mark.parametrize("weighted", [False, True])
def test_reports_and_certificates_have_the_scores_of_evaluate(asked, inputs, weighted):
    more = ("--intents", inputs / "intents.tsv") if weighted else ()
    expected = {name: scores(asked, name, *more) for name in NAMES}
    report = asked("report", "--reference", "nist", *QUICK, *more)
    found: dict[str, dict[str, float]] = {name: {} for name in NAMES}
    for row in report["verdict"]["by_judge"]:
        found[row["judge"]][row["system"]] = row["mean"]
    assert found["nist"] == pytest.approx(expected["nist"])
    assert found["gpt4"] == pytest.approx(expected["gpt4"])
    (certified,) = asked("certify", "--reference", "nist", *QUICK, *more)["judges"]
    assert {row["system"]: row["raw"] for row in certified["scores"]} == pytest.approx(expected["gpt4"])
    assert {row["system"]: row["corrected"] for row in certified["scores"]} == pytest.approx(expected["nist"])


def test_certificates_are_stale_if_the_probabilities_change(inputs, venire, tmp_path, write):
    known, record = write("known.tsv", (inputs / "intents.tsv").read_bytes()), tmp_path / "c.json"
    files = [inputs / "nist.qrels", inputs / "runs", "-j", inputs / "gpt4.qrels", *M, "--intents", known]
    assert venire("certify", *files, "--reference", "nist", *QUICK, "--json", record).code == 0
    assert venire("certify", *files, "--check", record).code == 0
    known.write_text(known.read_text().replace("0.7", "0.6"))
    assert venire("certify", *files, "--check", record).code == 2


def test_robustness_and_power_read_the_second_column(asked, inputs):
    pair = asked("robustness", "--gains", "linear", "--draws", "0", "-q")["robustness"]
    assert {row["measure"] for row in pair} == {"alpha_nDCG@10"}
    power = ("power", "--per", "assessor", *QUICK)
    plain, weighted = (asked(*power, *more)["power"] for more in ((), ("--intents", inputs / "intents.tsv")))
    assert [row["labels"] for row in plain] == ["gpt4", "nist"]
    assert [row["difference"] for row in plain] != [row["difference"] for row in weighted]


@pytest.mark.parametrize(
    "asked_for", ["report", "certify --reference nist", "robustness", "power --per assessor", "compare --assessor nist"]
)
def test_measures_of_documents_say_how_to_score_labels_for_intents(inputs, venire, asked_for):
    command, *more = asked_for.split()
    both = (inputs / "nist.qrels", inputs / "runs", "-j", inputs / "gpt4.qrels", "--second-column", "intent")
    answer = venire(command, *both, *more, "-q")
    assert answer.code == 2
    assert "nDCG@10 scores documents for one" in answer.err
    assert "(--where intent=NAME) or use measures by intent, such as alpha_nDCG@10" in answer.err


def test_nuggets_of_answers_are_judgments_and_runs(venire, tmp_path):
    opposite = {"support": "not_support", "not_support": "support"}
    second = json.loads(json.dumps(files.NUGGETS))
    for nugget in (nugget for answer in second for nugget in answer["nuggets"]):
        nugget["assignment"] = opposite.get(nugget["assignment"], nugget["assignment"])
    one, other = tmp_path / "gpt4.jsonl", tmp_path / "nist.jsonl"
    for path, records in ((one, files.NUGGETS), (other, second)):
        path.write_bytes(files.lines(records))
    both = (one, "-j", other, "-m", "VitalScore", "--reference", "nist", *QUICK, "--format", "json")
    answer = venire("evaluate", one, "-j", other, "-m", "VitalScore", "--per", "assessor", "--format", "json")
    expected = {(row["assessor"], row["system"]): row["value"] for row in json.loads(answer.out)["scores"]}
    report = venire("report", *both, "-o", tmp_path / "page.html")
    assert report.code == 0, report.err
    rows = json.loads(report.out)["verdict"]["by_judge"]
    assert {(row["judge"], row["system"]): row["mean"] for row in rows} == pytest.approx(expected)
    certified = venire("certify", *both)
    assert certified.code == 0, certified.err
    rows = json.loads(certified.out)["judges"][0]["scores"]
    assert {("gpt4", row["system"]): row["raw"] for row in rows}.items() <= expected.items()
