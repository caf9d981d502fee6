"""venire preferences and venire context sweep, end to end."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from pathlib import Path

import pytest

from json_results import loaded
from venire.simulation.context.collection import ContextSetting, generate_context
from venire.simulation.folders import write_collection
from venire.simulation.perceived import PerceivedRelevance, generate_perceived


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small collection whose users value what comes after what they read."""
    path = tmp_path_factory.mktemp("context")
    setting = ContextSetting(n_topics=30, context=1.0, redundancy=0.9, design="neighbours")
    write_collection(generate_context(setting, rng=4), path)
    return path


def test_which_measure_agrees_best(venire, folder, tmp_path):
    files = [folder / "judgments.tsv", folder / "runs", "--preferences", folder / "preferences.tsv", "--pool", "median"]
    args = [*files, "-m", "nDCG@5", "-m", "CCG(alpha=1)@5", "--gains", "linear", "--gains", "exponential"]
    answer = venire("preferences", *args, "--draws", "50", "--format", "json", "--plot", tmp_path / "p.svg")
    assert answer.code == 0
    document = loaded(answer.out)
    assert list(document) == ["measures", "baseline", "people", "assessors", "position", "warnings"]
    first = document["measures"][0]
    assert list(first)[:5] == ["rank", "measure", "gains", "condition", "preference"]
    assert {"kappa", "low", "high", "jaccard", "p", "p_adjusted"} <= set(first)
    assert (first["rank"], first["measure"], first["condition"]) == (1, "CCG(alpha=1)@5", "weak")
    assert "agrees best with users" in answer.err
    assert "predicting a tie for every pair: kappa 0" in answer.err
    assert (tmp_path / "p.svg").read_text().count("<svg") == 1
    table = venire("preferences", *files, "-m", "DCG@5", "--draws", "0").out.splitlines()
    assert table[0].split()[:7] == ["rank", "measure", "gains", "condition", "preference", "share_of_ties", "kappa"]
    assert len(table) == 5


def test_the_sweep_over_alpha(venire, folder, tmp_path):
    args = [folder / "judgments.tsv", folder / "runs", "--preferences", folder / "preferences.tsv", "--pool", "median"]
    args += ["-m", "CCG@5", "--alphas", "0,0.5,1", "--draws", "30"]
    answer = venire("context", "sweep", *args, "--format", "json", "--plot", tmp_path / "a.png")
    assert answer.code == 0
    document = loaded(answer.out)
    assert list(document) == ["gains", "sweep", "ties", "users", "baseline", "warnings"]
    assert [each["condition"] for each in document["gains"]] == ["weak", "strong", "simultaneous"]
    assert [each["alpha"] for each in document["sweep"][:3]] == [0.0, 0.5, 1.0]
    assert "CCG@5: context" in answer.err
    assert (tmp_path / "a.png").stat().st_size > 0
    rows = list(csv.DictReader(io.StringIO(venire("context", "sweep", *args, "--format", "csv").out)))
    assert len(rows) == 4 * 3
    assert "difference_low" in rows[0]
    drawn = venire("context", "sweep", *args, "--show", "ties", "--plot", tmp_path / "t.svg")
    assert drawn.out.splitlines()[0].split()[:4] == ["measure", "condition", "alpha", "kappa"]
    assert "share of ties" in (tmp_path / "t.svg").read_text()
    assert venire("context", "sweep", *args[:-4], "--alphas", "0,x").code == 2


def test_a_list_that_is_not_there_is_told_with_its_line(venire, folder, write):
    text = (folder / "preferences.tsv").read_text().splitlines()
    wrong = write("wrong.tsv", "\n".join([*text[:4], text[4].replace("left", "Left"), *text[5:]]))
    answer = venire(
        "preferences", folder / "judgments.tsv", folder / "runs", "--preferences", wrong, "--pool", "median"
    )
    assert (answer.code, answer.out) == (2, "")
    assert f"{wrong}:5: there is no result list 'Left' in the runs" in answer.err
    assert "did you mean 'left'?" in answer.err


def test_labels_that_users_tell_apart(venire, write, tmp_path):
    qrels = write("qrels.txt", "".join(f"{t} 0 d{n} {n}\n" for t in range(12) for n in range(3)))
    lines = "".join(f"{t} d2 d0 d2\n{t} d1 d0 {'d1' if t % 2 else 'd0'}\n" for t in range(12))
    choices = write("choices.txt", lines)
    answer = venire("preferences", qrels, "--preferences", choices, "--plot", tmp_path / "l.svg")
    assert answer.code == 0
    rows = [line.split() for line in answer.out.splitlines()]
    assert rows[1][:5] == ["0", "1", "6", "0", "6"]
    assert [row[-1] for row in rows[1:]] == ["no", "yes", "-"]
    document = loaded(venire("preferences", qrels, "--preferences", choices, "--format", "json").out)
    assert (document["choices"], document["unlabelled"], len(document["labels"])) == (24, 0, 3)
    assert (tmp_path / "l.svg").exists()


@pytest.mark.parametrize("plan", [[], ["--ask", "2"], ["--within", "0.2", "--draws", "20"]])
def test_labels_of_one_assessor(venire, tested, plan):
    args = ["preferences", tested / "judgments.tsv", "--preferences", tested / "preferences.tsv", *plan]
    everybody, one, chosen = (
        venire(*args, "--format", "csv", *whose) for whose in ([], ["--assessor", "b1a2"], ["--where", "assessor=b1a2"])
    )
    assert one.code == 0, one.err
    assert one.out == chosen.out
    assert one.out != everybody.out
    unknown = venire(*args, "--assessor", "nobody")
    assert (unknown.code, unknown.out) == (2, "")
    assert "there is no assessor 'nobody'" in unknown.err


@pytest.mark.parametrize(
    "odd",
    [
        *(["--pool", "median"], ["--missing", "error"], ["-m", "AP"], ["--gains", "linear"], ["--predict", "fit"]),
        *(["--fit-on", "other.qrels"], ["--backoff", "first"]),
    ],
)
def test_without_runs_nothing_says_how_they_are_scored(venire, tested, odd):
    for files in ([tested / "judgments.tsv"], []):
        answer = venire("preferences", *files, "--preferences", tested / "preferences.tsv", *odd)
        assert (answer.code, answer.out) == (2, "")
        assert f"{odd[0]} requires RUNS" in answer.err
    assert venire("preferences", tested / "judgments.tsv", "--ask", 3, *odd).code == 2


def test_without_judgments_no_assessor_is_chosen(venire, tested):
    answer = venire("preferences", "--preferences", tested / "preferences.tsv", "--assessor", "1")
    assert (answer.code, answer.out) == (2, "")
    assert "--assessor requires JUDGMENTS" in answer.err


def test_people_alone(venire, write, tmp_path):
    lines = "qid\tassessor\tscore\n" + "".join(f"{t}\t{who}\t{t % 5 - 2}\n" for t in range(15) for who in "abc")
    answer = venire("preferences", "--preferences", write("p.tsv", lines), "--plot", tmp_path / "p.svg")
    assert answer.code == 0
    assert answer.out.splitlines()[1].split()[:6] == ["weak", "15", "6", "3", "6", "0"]
    assert "45 choices (9 ties) on 15 pairs of 15 topics by 3 assessors" in answer.err
    assert (tmp_path / "p.svg").exists()
    unknown = write("q.txt", "1 a b a\n1 a b b\n1 a b a\n2 a b b\n")
    assert "anonymous" in venire("preferences", "--preferences", unknown).err
    anonymous = loaded(venire("preferences", "--preferences", unknown, "--anonymous", "--format", "json").out)
    assert anonymous["people"][0]["agreement"] == pytest.approx(1 / 3)
    assert venire("preferences").code == 2
    assert venire("preferences", "--preferences", unknown, "-j", "x.qrels").code == 2


@pytest.mark.parametrize(
    ("judgments", "preferences", "extra", "apart"),
    [
        ("cast19_prefs/qrels_nist.txt.gz", "cast19_prefs/prefs_crowd.txt.gz", [], {"21", "32", "42", "43"}),
        ("dl21_full/judges.tsv.gz", "dl21_full/prefs_crowd.txt.gz", ["--where", "assessor=nist"], {"32"}),
    ],
)
def test_real_labels_that_users_tell_apart(venire, data_dir, judgments, preferences, extra, apart):
    args = [data_dir / judgments, "--preferences", data_dir / preferences, "--anonymous", *extra]
    document = loaded(venire("preferences", *args, "--format", "json").out)
    told = {each["higher"] + each["lower"] for each in document["labels"] if each["told_apart"]}
    assert told == apart
    assert document["choices"] == {"cast19_prefs": 14573, "dl21_full": 9416}[judgments.partition("/")[0]]


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labels of documents, and tests on pairs of them."""
    path = tmp_path_factory.mktemp("tested")
    write_collection(generate_perceived(PerceivedRelevance(n_topics=30, docs_per_topic=6, n_assessors=3), rng=1), path)
    return path


def test_which_pairs_to_ask(venire, tested):
    answer = venire("preferences", tested / "judgments.tsv", "--ask", "5", "--format", "json")
    assert answer.code == 0
    pairs = loaded(answer.out)["pairs"]
    assert list(pairs[0]) == ["topic", "left", "right", "label_left", "label_right"]
    asked = Counter(frozenset((pair["label_left"], pair["label_right"])) for pair in pairs)
    assert len(asked) == 6
    assert set(asked.values()) == {5}
    assert "5 for every two labels" in answer.err


def test_how_many_tests_are_enough(venire, tested):
    files = [tested / "judgments.tsv", "--preferences", tested / "preferences.tsv"]
    answer = venire("preferences", *files, "--within", "0.1", "--draws", "50", "--format", "json")
    assert answer.code == 0
    document = loaded(answer.out)
    assert list(document) == ["tests", "needed", "warnings"]
    assert [each["mode"] for each in document["needed"]] == ["individual", "aggregate"]
    for needed in document["needed"]:
        rows = [each for each in document["tests"] if each["mode"] == needed["mode"]]
        fitting = [each["per_label_pair"] for each in rows if max(each["error_95"], each["expected_95"]) <= 0.1]
        assert needed["by_drawing"] == min(fitting)
        variance = (rows[0]["expected_95"] / 1.959964) ** 2 * rows[0]["per_label_pair"]
        assert needed["by_equation"] == math.ceil(variance * (1.959964 / 0.1) ** 2)
    assert "Eq. 12, corrected" in answer.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Missing option '--preferences'"),
        (["--ask", "3"], "--ask requires JUDGMENTS"),
        (["judgments.tsv", "runs", "--within", "0.1"], "--within requires JUDGMENTS and no RUNS"),
        (["judgments.tsv", "--ask", "3", "--within", "0.1"], "cannot be used with --within"),
    ],
)
def test_plans_that_make_no_sense_are_refused(venire, args, message):
    answer = venire("preferences", *args)
    assert answer.code == 2
    assert message in answer.err
