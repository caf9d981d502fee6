"""venire compare: the contract of its output, and the gate."""

from __future__ import annotations

import csv

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from json_results import loaded
from two_judges import table, write_files
from venire.cli.compare import pair_number
from venire.cli.main import cli


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    arguments = ["simulate", "levels", "-o", str(folder / "demo"), "--topics", "15", "--rng", "3", "-q"]
    assert CliRunner().invoke(cli, arguments).exit_code == 0
    return folder / "demo"


def run(collection, *more):
    judgments, runs = str(collection / "judgments.tsv"), str(collection / "runs")
    return CliRunner().invoke(cli, ["compare", judgments, runs, "--assessor", "careful1", "--draws", "100", *more])


def systems(collection):
    return [path.name for path in sorted((collection / "runs").iterdir())]


def test_json_has_pairs_systems_and_tau(collection):
    result = run(collection, "--format", "json", "-q")
    assert result.exit_code == 0, result.output
    held = loaded(result.stdout)
    assert set(held) == {"pairs", "systems", "tau", "judge_models", "by_judge", "contradictions", "favoured"}
    assert list(held["by_judge"][0]) == ["judge", "system", "measure", "mean", "low", "high", "topics", "share"]
    assert len(held["by_judge"]) == 5 * len(held["systems"])
    now = {each["system"]: each["mean"] for each in held["systems"]}
    by_careful = {each["system"]: each["mean"] for each in held["by_judge"] if each["judge"] == "careful1"}
    assert by_careful == pytest.approx(now)
    assert [each["judge_model"] for each in held["judge_models"]] == ["fixed", "assessors", "hierarchical"]
    assert list(held["pairs"][0]) == [
        *("a", "b", "measure", "delta", "p_value", "p_adjusted", "expected_delta", "sd"),
        *(
            "p_stays_ahead",
            "p_tie",
            "p_flips",
            "se",
            "p_stays_ahead_topics",
            "p_stays_ahead_both",
            "observed",
            "method",
        ),
    ]
    assert {"system", "mean", "low", "high", "rank_low", "rank_high"} <= set(held["systems"][0])
    assert set(held["tau"]) == {"mean", "low", "high"}
    n = len(held["systems"])
    assert len(held["pairs"]) == n * (n - 1) // 2


def test_observations_are_columns_of_csv(collection):
    rows = list(csv.DictReader(run(collection, "--format", "csv", "-q", "--new-judge", "careful2").stdout.splitlines()))
    held = loaded(run(collection, "--format", "json", "-q", "--new-judge", "careful2").stdout)["pairs"]
    for row, pair in zip(rows, held, strict=True):
        assert list(row)[-1] == "method"
        assert {f"observed_{key}" for key in pair["observed"]} < set(row)
        assert float(row["observed_share"]) == pytest.approx(pair["observed"]["share"])
        assert row["method"] == pair["method"]


def names(collection):
    held = loaded(run(collection, "--format", "json", "-q").stdout)
    ranked = sorted(held["systems"], key=lambda each: each["mean"])
    return ranked[0]["system"], ranked[-1]["system"]


def test_the_gate_passes_and_fails_with_one_line(collection):
    worst, best = names(collection)
    passed = run(collection, "--baseline", worst, "--candidate", best, "--require", "p_stays_ahead>=0.8")
    assert passed.exit_code == 0
    assert f"passed: {best} against {worst}: p_stays_ahead = " in passed.stderr
    failed = run(collection, "--baseline", best, "--candidate", worst, "--require", "p_stays_ahead>=0.8", "-q")
    assert failed.exit_code == 1
    assert failed.stderr.count("\n") == 1
    assert "not passed" in failed.stderr
    assert "is not ahead of" in failed.stderr


@pytest.mark.parametrize("format", ["table", "csv", "markdown", "latex"])
def test_every_format_has_a_row_per_pair(collection, format):
    result = run(collection, "--format", format, "-q", "--baseline", names(collection)[0])
    assert result.exit_code == 0
    by_judge = 0 if format == "csv" else len(systems(collection))
    assert result.stdout.count("nDCG@10") == len(systems(collection)) - 1 + by_judge


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--candidate", "s01", "--require", "p_stays_ahead>=0.9"], "(--baseline SYSTEM)"),
        (["--candidate", "s01", "--baseline", "s01", "--require", "delta>0"], "'s01' is both"),
        (["--baseline", "x", "--candidate", "y", "--require", "p_stays"], "not a condition"),
        (["--baseline", "x", "--candidate", "y", "--require", "p_stay>=0.9"], "p_stays_ahead"),
        (["--require", "p_adjusted<=5"], "'p_adjusted<=5' has 5, expected a probability from 0 to 1"),
        (["--require", "p_stays_ahead>=90"], "has 90, expected a probability from 0 to 1"),
        (["--require", "delta>-1e999"], "has -1e999, expected a finite number"),
        (["--agreement", "0.9"], "two rates"),
        (["--baseline", "nosuch"], "nosuch"),
        (["--new-judge", "nosuch"], "nosuch"),
    ],
)
def test_what_is_wrong_is_said(collection, arguments, said):
    result = run(collection, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_one_pair_is_told_in_detail(collection):
    worst, best = names(collection)
    result = run(collection, "--baseline", worst, "--candidate", best, "--format", "json")
    held = loaded(result.stdout)
    assert {each["source"] for each in held["sources"]} == {"topics", "judges", "both"}
    assert len(held["topics"]) == 15
    assert [each["judge_model"] for each in held["judge_models"]] == ["fixed", "assessors", "hierarchical"]
    assert "By judge model" in result.stderr


@pytest.mark.parametrize("n", [2, 5, 9])
def test_pairs_are_numbered_as_they_come(n):
    systems = [f"s{k}" for k in range(n)]
    expected = [(systems[a], systems[b]) for a in range(n) for b in range(a + 1, n)]
    for number, (a, b) in enumerate(expected):
        assert pair_number(systems, a, b) == pair_number(systems, b, a) == number


def test_stated_agreement(collection):
    result = run(collection, "--agreement", "0.9,0.7", "-m", "P@10", "--format", "json", "-q")
    assert result.exit_code == 0
    assert all(0 <= pair["p_stays_ahead"] <= 1 for pair in loaded(result.stdout)["pairs"])


def test_the_first_table_has_systems_by_judges(tmp_path):
    judgments, runs = write_files(tmp_path, table())
    arguments = ["compare", judgments, runs, "--assessor", "llm", "--draws", "20"]
    result = CliRunner().invoke(cli, arguments)
    heads, first, *rest = result.stdout.splitlines()
    assert heads.split() == ["system", "measure", "llm", "expert"]
    assert first.split()[:2] == ["L", "nDCG@10"]
    assert first.count("[") == 2
    assert rest[2] == ""
    assert rest[3].split()[:2] == ["a", "b"]
    notes = result.stderr.splitlines()
    assert notes[0].startswith("note: Judges contradict each other on 2 of 3 pairs of systems")
    held = loaded(CliRunner().invoke(cli, [*arguments, "--format", "json", "-q"]).stdout)
    assert {(each["a"], each["b"]) for each in held["contradictions"]} == {("C", "L"), ("L", "D")}
    one = CliRunner().invoke(cli, [*arguments, "--where", "assessor=llm", "--agreement", "0.9,0.8"])
    assert one.stdout.splitlines()[0].split() == ["system", "measure", "llm"]
    assert "contradict" not in one.stderr
    declared = CliRunner().invoke(cli, [*arguments, "--reference", "expert", "--machine", "llm"])
    assert declared.stdout.splitlines()[0].split() == ["system", "measure", "expert", "(reference)", "llm", "(machine)"]


def test_identical_judges_are_announced_as_copies(tmp_path):
    judgments, runs = write_files(tmp_path, table(identical=True))
    result = CliRunner().invoke(cli, ["compare", judgments, runs, "--assessor", "llm", "--draws", "20"])
    one, two = result.stderr.splitlines()[:2]
    assert "one judge only" in one
    assert "llm is a copy of expert" in two


def frame_of(labels, n_topics=12):
    """Rows of labels: for each judge, the probabilities that documents of s and of t are relevant, and a share."""
    rng, rows = np.random.default_rng(5), []
    for judge, (of_s, of_t, share) in labels.items():
        for topic in range(n_topics):
            for doc in (*(f"s{n}" for n in range(8)), *(f"t{n}" for n in range(8))):
                relevant, told = rng.random() < (of_s if doc[0] == "s" else of_t), rng.random() < share
                rows += [(f"q{topic}", doc, judge, str(int(relevant)))] if told or doc.endswith("0") else []
    return pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")


FILES = {
    "contradicting": {"a": (0.9, 0.2, 1), "b": (0.2, 0.9, 1)},
    "one sees no difference": {"a": (0.9, 0.3, 1), "b": (0.5, 0.52, 1)},
    "nothing significant": {"a": (0.55, 0.5, 1), "b": (0.5, 0.55, 1)},
    "few labels by one": {"a": (0.9, 0.2, 1), "b": (0.2, 0.9, 0.1)},
    "parts by both": {"a": (0.9, 0.2, 0.6), "b": (0.2, 0.9, 0.6)},
    "two against one": {"a": (0.7, 0.5, 1), "b": (0.7, 0.5, 1), "c": (0.5, 0.6, 1)},
    "agreeing": {"a": (0.9, 0.2, 1), "b": (0.8, 0.3, 1)},
}
PASSING = {"agreeing": 2, "two against one": 2}
"""For how many judges a gate opens that asks for nothing but the direction."""


@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
@pytest.mark.parametrize("name", FILES)
def test_the_gate_opens_in_one_direction_only(tmp_path, name):
    frame_of(FILES[name]).write_csv(tmp_path / "judgments.tsv", separator="\t")
    for system in "st":
        lines = [f"q{t} Q0 {system}{n} {n} {-n} {system}" for t in range(12) for n in range(8)]
        (tmp_path / f"{system}.run").write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = [str(tmp_path / each) for each in ("judgments.tsv", "s.run", "t.run")]
    opened = []
    for assessor in FILES[name]:
        for candidate, baseline in ("st", "ts"):
            asked = ["--assessor", assessor, "--candidate", candidate, "--baseline", baseline, "--draws", "20"]
            result = CliRunner().invoke(cli, ["compare", *files, "-m", "P@5", *asked, "--require", "p_flips<=1", "-q"])
            assert result.exit_code in (0, 1), result.output
            opened += [candidate] if result.exit_code == 0 else []
    assert len(set(opened)) <= 1
    assert len(opened) == PASSING.get(name, 0)


@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
@pytest.mark.parametrize(("labels", "favoured"), [((0.3, 0.9, 0.3), ["s"]), ((0.9, 0.3, 0.3), [])])
def test_the_gate_fails_if_the_judge_favours_the_candidate(tmp_path, labels, favoured):
    """The expert labelled 30 %, too little to contradict; with these labels the judge is seen to favour s, or not."""
    frame_of({"llm": (0.9, 0.3, 1), "expert": labels}, n_topics=30).write_csv(tmp_path / "j.tsv", separator="\t")
    for system in "st":
        lines = [f"q{t} Q0 {system}{n} {n} {-n} {system}" for t in range(30) for n in range(8)]
        (tmp_path / f"{system}.run").write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = [str(tmp_path / each) for each in ("j.tsv", "s.run", "t.run")]
    asked = ["--assessor", "llm", "--new-judge", "expert", "--candidate", "s", "--baseline", "t", "-m", "P@5"]
    result = CliRunner().invoke(cli, ["compare", *files, *asked, "--require", "p_flips<=1", "--format", "json"])
    held = loaded(result.stdout)
    assert held["contradictions"] == []
    assert [
        each["system"] for each in held["favoured"] if each["residual"] < 0 and each["p_adjusted"] < 0.05
    ] == favoured
    assert result.exit_code == (1 if favoured else 0)
    assert ("llm favours s, compared with the labels of expert" in result.stderr) == bool(favoured)


def test_the_gate_says_who_contradicts(tmp_path):
    judgments, runs = write_files(tmp_path, table())
    arguments = ["compare", judgments, runs, "--assessor", "llm", "--baseline", "C", "--draws", "20", "-q"]
    for more in (["--candidate", "L"], ["--candidate", "L", "--reference", "llm"]):
        result = CliRunner().invoke(cli, [*arguments, *more, "--require", "delta>=-0.5"])
        assert result.exit_code == 1
        assert "judges contradict each other" in result.stderr
        assert "with the labels of expert, C is ahead of L" in result.stderr


def test_a_difference_below_zero_may_be_allowed(tmp_path):
    """Not worse by more than a margin: the only condition that can hold in both directions."""
    judgments, runs = write_files(tmp_path, table(identical=True))
    arguments = ["compare", judgments, runs, "--assessor", "llm", "--draws", "20", "-q"]
    for candidate, baseline in ("CD", "DC"):
        asked = [*arguments, "--candidate", candidate, "--baseline", baseline]
        codes = [
            CliRunner().invoke(cli, [*asked, "--require", each]).exit_code for each in ("delta>=-0.1", "p_value<=1")
        ]
        assert codes == [0, 0 if candidate == "C" else 1]


def test_the_margin_is_that_of_the_strictest_condition(tmp_path):
    frame_of(FILES["nothing significant"]).write_csv(tmp_path / "j.tsv", separator="\t")
    for system in "st":
        lines = [f"q{t} Q0 {system}{n} {n} {-n} {system}" for t in range(12) for n in range(8)]
        (tmp_path / f"{system}.run").write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = [str(tmp_path / each) for each in ("j.tsv", "t.run", "s.run")]
    for more, code in (([], 0), (["--require", "delta>=0"], 1)):
        asked = ["--assessor", "a", "-m", "P@5", "--draws", "20", "--require", "delta>=-0.2", *more]
        result = CliRunner().invoke(cli, ["compare", *files, *asked])
        assert (result.exit_code, "the baseline is ahead with those of b" in result.stderr) == (code, bool(code))


@pytest.mark.parametrize("more", [(), ("--judge-model", "pooled")])
def test_of_two_judges_who_contradict_each_other_neither_opens_the_gate(tmp_path, more):
    judgments, runs = write_files(tmp_path, table())
    for assessor, ahead, behind in (("llm", "L", "C"), ("expert", "C", "L")):
        asked = ["--assessor", assessor, "--baseline", behind, "--candidate", ahead, "--draws", "100", *more]
        result = CliRunner().invoke(cli, ["compare", judgments, runs, *asked, "--require", "p_stays_ahead>=0.9"])
        assert result.exit_code == 1, result.output
        assert "p_stays_ahead" in result.stderr


def test_a_second_judge_who_says_the_same_opens_the_gate(tmp_path):
    judgments, runs = write_files(tmp_path, table(identical=True))
    asked = ["--assessor", "llm", "--baseline", "D", "--candidate", "C", "--require", "p_stays_ahead>=1"]
    result = CliRunner().invoke(
        cli, ["compare", judgments, runs, *asked, "--draws", "100", "-m", "nDCG@10", "-m", "AP"]
    )
    assert result.exit_code == 0, result.output


def test_systems_that_score_alike_have_no_correlation(tmp_path):
    judgments, runs = write_files(tmp_path, table())
    for number in range(2):
        copy = (tmp_path / "runs" / "C").read_text(encoding="utf-8").replace(" C\n", f" C{number}\n")
        (tmp_path / "runs" / f"C{number}").write_text(copy, encoding="utf-8")
    for name in "DL":
        (tmp_path / "runs" / name).unlink()
    result = CliRunner().invoke(cli, ["compare", judgments, runs, "--assessor", "llm", "--format", "json", "-q"])
    assert result.exit_code == 0, result.output
    held = loaded(result.stdout)
    assert held["tau"] == {"mean": None, "low": None, "high": None}
    assert {each["tau"] for each in held["judge_models"]} == {None}


def test_the_pool_of_a_crowd_is_one_judge_of_the_first_table(tmp_path):
    frame = frame_of({"a": (0.8, 0.4, 1), "b": (0.8, 0.4, 1), "c": (0.7, 0.5, 1), "expert": (0.9, 0.2, 1)})
    frame.write_csv(tmp_path / "judgments.tsv", separator="\t")
    for system in "st":
        lines = [f"q{t} Q0 {system}{n} {n} {-n} {system}" for t in range(12) for n in range(8)]
        (tmp_path / f"{system}.run").write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = [str(tmp_path / each) for each in ("judgments.tsv", "s.run", "t.run")]
    asked = ["--pool", "mean", "--reference", "expert", "-m", "P@5", "--draws", "20", "--format", "json", "-q"]
    held = loaded(CliRunner().invoke(cli, ["compare", *files, *asked]).stdout)
    assert {each["judge"] for each in held["by_judge"]} == {"expert", "mean of 3 assessors"}
    by_pool = {each["system"]: each["mean"] for each in held["by_judge"] if each["judge"] != "expert"}
    assert by_pool == pytest.approx({each["system"]: each["mean"] for each in held["systems"]})


@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
def test_the_gate_fails_if_the_declared_reference_would_rather_reverse_the_order(tmp_path):
    """The reference labelled a tenth: too little to contradict; its labels are the opposite of those of the judge."""
    frame_of({"llm": (0.9, 0.2, 1), "expert": (0.1, 0.9, 0.1)}).write_csv(tmp_path / "j.tsv", separator="\t")
    for system in "st":
        lines = [f"q{t} Q0 {system}{n} {n} {-n} {system}" for t in range(12) for n in range(8)]
        (tmp_path / f"{system}.run").write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = [str(tmp_path / each) for each in ("j.tsv", "s.run", "t.run")]
    asked = ["--assessor", "llm", "--candidate", "s", "--baseline", "t", "-m", "P@5", "--reference", "expert"]
    result = CliRunner().invoke(cli, ["compare", *files, *asked, "--require", "p_adjusted<=0.05", "-q"])
    assert result.exit_code == 1
    assert "expert would rather have t ahead" in result.stderr


@pytest.fixture
def one_judge(tmp_path):
    """Labels of one judge, a good and a poor run, and a run of other topics."""
    docs = [f"d{n}" for n in range(8)]
    rows = [f"t{t} 0 {doc} {int(n < 3)}" for t in range(12) for n, doc in enumerate(docs)]
    (tmp_path / "qrels.txt").write_text("\n".join(rows) + "\n")
    for name, topics, order in (("good", "t", docs), ("poor", "t", docs[::-1]), ("lost", "other", docs)):
        lines = [f"{topics}{t} Q0 {doc} {n} {-n} {name}" for t in range(12) for n, doc in enumerate(order, start=1)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    return tmp_path


def compare_all(folder, *more):
    return CliRunner().invoke(cli, ["compare", *map(str, [folder / "qrels.txt", *folder.glob("*.run")]), *more])


@pytest.mark.parametrize(
    ("candidate", "baseline", "condition", "code", "said"),
    [
        ("good", "poor", "delta>=0.02", 0, "passed"),
        ("good", "poor", "p_adjusted<=0.05", 0, "passed"),
        ("poor", "good", "p_adjusted<=0.05", 1, "poor is not ahead of good"),
        ("good", "poor", "p_stays_ahead>=0.9", 1, "p_stays_ahead = unknown"),
        ("good", "lost", "delta>=0.02", 1, "lost returned nothing for any scored topic"),
        ("lost", "poor", "delta>=-1", 1, "lost returned nothing for any scored topic"),
        ("poor", "good", "delta>=-1", 1, "good scores 1: the margin of 1 allows any loss"),
    ],
)
def test_the_gate_works_with_one_judge(one_judge, candidate, baseline, condition, code, said):
    names = "--candidate", candidate, "--baseline", baseline
    result = compare_all(one_judge, *names, "--require", condition)
    assert (result.exit_code, said in result.stderr) == (code, True)


ASKED = ("--require", "delta>=0.02", "--require", "p_adjusted<=0.05")


def gate(folder, *names, judgments="qrels.txt"):
    return CliRunner().invoke(
        cli, ["compare", str(folder / judgments), *(str(folder / name) for name in names), *ASKED]
    )


@pytest.fixture
def several(one_judge):
    """Of the runs good, poor and lost: in folders, in one file by topic and interleaved, and as a table."""
    lines = {name: (one_judge / f"{name}.run").read_text().splitlines() for name in ("poor", "good")}
    interleaved = [line for pair in zip(*lines.values(), strict=True) for line in pair]
    (one_judge / "interleaved.run").write_text("\n".join(interleaved) + "\n")
    by_topic = sorted(lines["poor"] + lines["good"], key=lambda line: line.split()[0])
    (one_judge / "by-topic.run").write_text("\n".join(by_topic) + "\n")
    fields = [line.split() for line in interleaved]
    (one_judge / "table.csv").write_text(
        "system,topic,doc,score\n" + "".join(f"{f[5]},{f[0]},{f[2]},{f[4]}\n" for f in fields)
    )
    for folder, names in {"up": ("1poor", "2good"), "down": ("1good", "2poor")}.items():
        (one_judge / folder).mkdir()
        for name in names:
            (one_judge / folder / name).write_text((one_judge / f"{name[1:]}.run").read_text())
    return one_judge


@pytest.mark.parametrize(
    ("runs", "code", "pair"),
    [
        (["poor.run", "good.run"], 0, "good against poor"),
        (["good.run", "poor.run"], 1, "poor against good"),
        (["up"], 0, "good against poor"),
        (["down"], 1, "poor against good"),
        (["by-topic.run"], 0, "good against poor"),
        (["interleaved.run"], 0, "good against poor"),
        (["table.csv"], 0, "good against poor"),
        (["poor.run", "lost.run"], 1, "lost against poor"),
        (["lost.run", "good.run"], 1, "good against lost"),
    ],
)
@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
def test_without_names_the_first_system_is_the_baseline(several, runs, code, pair):
    result = gate(several, *runs)
    assert result.exit_code == code, result.output
    verdict = f"passed: {pair} (the first system of RUNS; --baseline names another): "
    assert result.stderr.count(verdict) == 1
    assert "error: not passed" in result.stderr if code else "note: passed" in result.stderr
    if "lost" in pair:
        assert result.stderr.endswith("another): lost returned nothing for any scored topic\n")


@pytest.mark.parametrize(
    ("baseline", "code", "failed"), [("poor", 1, ["lost"]), ("good", 1, ["poor", "lost"]), (None, 1, ["poor", "lost"])]
)
def test_every_candidate_must_pass(one_judge, baseline, code, failed):
    names = ["good", *sorted({"lost", "poor"})]
    runs = [str(one_judge / f"{name}.run") for name in names]
    named = [] if baseline is None else ["--baseline", baseline]
    result = CliRunner().invoke(cli, ["compare", str(one_judge / "qrels.txt"), *runs, *ASKED, *named, "-q"])
    assert result.exit_code == code
    against = baseline or "good"
    assert [line.split()[3:6] for line in result.stderr.splitlines()] == [
        [name, "against", against if baseline is None else f"{against}:"] for name in failed
    ]


@pytest.mark.parametrize(("chosen", "code"), [("t0", 1), ("t11", 0)])
@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
def test_a_system_that_returned_nothing_for_the_chosen_topics_fails_the_gate(one_judge, chosen, code):
    (one_judge / "topics.txt").write_text(f"{chosen}\n")
    some = [line for line in (one_judge / "poor.run").read_text().splitlines() if line.startswith("t11 ")]
    (one_judge / "some.run").write_text("\n".join(some).replace("poor", "some") + "\n")
    files = [str(one_judge / name) for name in ("qrels.txt", "some.run", "good.run")]
    asked = ["--topics", str(one_judge / "topics.txt"), "--require", "delta>0", "-q"]
    result = CliRunner().invoke(cli, ["compare", *files, *asked])
    assert result.exit_code == code, result.output
    assert ("some returned nothing for any scored topic" in result.stderr) == bool(code)


@pytest.mark.parametrize("more", [(), ("-m", "P@3", "-m", "AP"), ("--format", "csv"), ("--format", "json", "-q")])
def test_p_values_of_the_gate_are_adjusted_for_its_candidates(one_judge, more):
    """Two candidates, one a copy of the other, so that Holm's factor is 2 for each; the worse system first."""
    (one_judge / "copy.run").write_text((one_judge / "good.run").read_text().replace(" good", " copy"))
    runs = [str(one_judge / f"{name}.run") for name in ("poor", "good", "copy")]
    command = ["compare", str(one_judge / "qrels.txt"), *runs, *more]
    result = CliRunner().invoke(cli, [*command, "--require", f"p_adjusted<={2 * 2**-11}", "--require", "delta>0"])
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("passed: ") == (0 if "-q" in more else 2)
    assert CliRunner().invoke(cli, [*command, "--require", f"p_adjusted<={1.9 * 2**-11}"]).exit_code == 1
    if "json" in more:
        pairs = loaded(result.stdout)["pairs"]
        assert [(each["a"], each["b"], each["p_adjusted"]) for each in pairs] == [
            ("good", "poor", 2 * 2**-11),
            ("copy", "poor", 2 * 2**-11),
        ]


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (["good.run"], "found 1 system (good), expected two or more"),
        (["good.run", "good.run"], "system 'good' is in"),
        (["good.run", "empty.run"], "empty.run: holds no run lines"),
        (["good.run", "nosuch.run"], "there is no such file"),
    ],
)
@pytest.mark.parametrize("named", [(), ("--baseline", "good"), ("--candidate", "good")])
def test_runs_that_cannot_be_gated_are_errors(one_judge, runs, said, named):
    (one_judge / "empty.run").write_text("")
    result = CliRunner().invoke(
        cli, ["compare", str(one_judge / "qrels.txt"), *(str(one_judge / run) for run in runs), *ASKED, *named]
    )
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize("option", ["--require=delta>0", "--agreement-needed", "--draws=20"])
def test_of_two_systems_the_other_is_the_baseline(one_judge, option):
    runs = [str(one_judge / f"{name}.run") for name in ("good", "poor")]
    result = CliRunner().invoke(
        cli, ["compare", str(one_judge / "qrels.txt"), *runs, option, "--candidate", "good", "--format", "csv", "-q"]
    )
    assert result.exit_code == 0, result.stderr
    assert [line.split(",")[:2] for line in result.stdout.splitlines()[1:]] == [["good", "poor"]]


def test_two_judges_need_no_names_either(tmp_path):
    """Judges who contradict each other fail every candidate of whom they do so, in either order of the runs."""
    judgments, runs = write_files(tmp_path, table())
    for order, pair in (("CL", "L against C"), ("LC", "C against L")):
        files = [f"{runs}/{name}" for name in order]
        asked = ["--assessor", "llm", "--draws", "20", "--require", "p_flips<=1", "-q"]
        result = CliRunner().invoke(cli, ["compare", judgments, *files, *asked])
        assert result.exit_code == 1, result.output
        assert f"not passed: {pair} (the first system of RUNS; --baseline names another): judges con" in result.stderr


def test_options_about_another_judge_are_refused_with_one_judge(one_judge):
    result = compare_all(one_judge, "--judge-model", "fixed")
    assert (result.exit_code, "about another judge" in result.stderr) == (2, True)


def test_of_systems_that_never_differ_no_number_of_topics_is_stated(one_judge):
    alike = (one_judge / "good.run").read_text().replace(" good", " alike")
    (one_judge / "poor.run").write_text(alike)
    (one_judge / "lost.run").unlink()
    result = compare_all(one_judge)
    assert result.exit_code == 0
    assert "score the same" in result.stderr
    assert "infinitely" not in result.stderr
