from __future__ import annotations

import csv
import io

import pytest

from aspect_examples import WIDE, long_form
from json_results import loaded
from venire.cli import aspects as command

RUNS = "1 Q0 a 1 3 one\n1 Q0 b 2 2 one\n2 Q0 d 1 2 one\n1 Q0 b 1 3 two\n1 Q0 a 2 2 two\n2 Q0 e 1 2 two\n"
QUICK = ("--draws", "20", "--splits", "1", "--folds", "2")


@pytest.fixture
def labels(write):
    return write("labels.tsv", WIDE)


@pytest.fixture
def runs(write):
    return write("runs.txt", RUNS)


def test_json_has_every_part(venire, labels, runs):
    answer = venire("aspects", labels, runs, *QUICK, "-m", "P@1", "--format", "json")
    assert answer.code == 0
    document = loaded(answer.out)
    assert list(document) == ["aspects", *command.PARTS, "tau", "answers", "warnings"]
    assert document["aspects"][1] == {"aspect": "overall", "scale": "0<1<2", "overall": True}
    shares = {(row["context"], row["aspect"]): row["share"] for row in document["coverage"]}
    assert (shares["isolation", None], shares["condition", None]) == (0.75, 0.5)
    assert list(document["correlations"][0]) == [
        *("context", "a", "b", "a_context", "labels", "rho", "low", "high", "reason")
    ]
    assert list(document["prediction"][0])[:4] == ["context", "aspects", "labels", "accuracy"]
    assert document["prediction"][0]["aspects"] == []
    assert document["prediction"][0]["labels"] == 5
    assert list(document["clusters"][0]) == ["context", "order", "groups", "merges", "reason"]
    assert list(document["rankings"][0]) == ["measure", "gains", "system", "score", "rank", "change"]
    assert {row["gains"] for row in document["tau"]} == {"overall + nov", "overall + top", "overall + nov + top"}
    assert any("left out, except for predictive power" in words for words in document["warnings"])
    assert len(document["answers"]) >= 8


def test_people_see_a_summary(venire, write):
    answer = venire("aspects", write("long.tsv", long_form()), *QUICK)
    assert answer.code == 0
    head, *rows = answer.out.splitlines()
    assert head.split() == [*("aspect", "levels", "covered_isolation", "covered_condition", "rho_isolation", "changed")]
    assert [row.split()[0] for row in rows] == ["overall", "nov", "top"]
    assert "75.0% in isolation and 50.0% in condition" in answer.err


@pytest.mark.parametrize("part", [part for part in command.PARTS if part != "rankings"])
def test_every_part_can_be_shown(venire, labels, part):
    answer = venire("aspects", labels, "--show", part, *QUICK, "--format", "csv", "-q")
    assert (answer.code, answer.err) == (0, "")
    assert len(list(csv.reader(io.StringIO(answer.out)))) > 1


def test_ranks_with_weights_and_a_plot(venire, labels, runs, tmp_path):
    place = tmp_path / "ranks.svg"
    args = ("--weights", "overall=1,nov=3", "--reverse", "nov", "-m", "P@1", "--plot", place)
    answer = venire("aspects", labels, runs, *QUICK, *args)
    assert answer.code == 0
    assert answer.out.splitlines()[0].endswith("rank by overall + 3 nov (reversed)")
    assert "compared with overall alone" in answer.err
    assert place.read_bytes().startswith(b"<?xml")


def test_plots(venire, labels, tmp_path):
    place = tmp_path / "aspects.png"
    assert venire("aspects", labels, *QUICK, "--plot", place, "-q").code == 0
    assert place.read_bytes().startswith(b"\x89PNG")


def test_the_plot_of_agreement_has_two_statistics_for_each_aspect(venire, write, tmp_path):
    places = [(t, n, who) for t in range(4) for n in range(3) for who in "ab"]
    rows = [(t, f"d{n}", who, (t + n + (who == "b" and n == 2)) % 3) for t, n, who in places]
    text = "topic\tdoc\tassessor\ttop\tnov\n" + "".join(f"{t}\t{d}\t{w}\t{n}\t{n}\n" for t, d, w, n in rows)
    place = tmp_path / "agreement.svg"
    flags = ("--show", "agreement", "--plot", place, "-q")
    assert venire("aspects", write("two.tsv", text), *flags).code == 0
    drawn = place.read_text(encoding="utf-8")
    for aspect in ("top", "nov"):
        for words in ("alpha, ordinal", "kappa, nominal"):
            assert drawn.count(f">{aspect} in isolation, {words}</text>") == 1
    assert "jaccard" not in drawn


def test_what_is_of_no_single_aspect_has_a_name(venire, labels):
    flags = (*QUICK, "--show")
    assert "all of them" in venire("aspects", labels, *flags, "coverage").out
    assert "none: the commonest label" in venire("aspects", labels, *flags, "prediction").out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--overall", "ovrall"], "there is no aspect 'ovrall'"),
        (["--show", "rankings"], "--show rankings needs RUNS"),
        (["--aspect-scale", "nov"], "is not NAME=VALUE"),
        (["--second-column", "intent"], "--second-column is for qrels"),
    ],
)
def test_errors(venire, labels, args, words):
    answer = venire("aspects", labels, *args)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--weights", "top=1,nvo=2"], "there is no aspect 'nvo'"),
        (["--weights", "top=high"], "'high' is not a number"),
        (["--combine", "mean"], "way to combine aspects 'mean'"),
        (["--combine", "prm", "--relevant", "overall=1,nov=1,top=1"], "no item has labels by two different assessors"),
    ],
)
def test_errors_of_combining(venire, labels, runs, args, words):
    answer = venire("aspects", labels, runs, *args)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_no_base_to_compare_with(venire, write, runs):
    table = write("two.tsv", "topic\tdoc\trel\ttrust\n1\ta\t1\t2\n")
    answer = venire("aspects", table, runs)
    assert answer.code == 2
    assert "--overall NAME, one of rel, trust" in answer.err


def test_an_aspect_scores_on_its_own_scale(venire, write, runs):
    table = write("two.tsv", "topic\tdoc\trel\ttrust\n1\ta\t1\t9\n1\tb\t1\t9\n2\td\t1\t9\n2\te\t0\t9\n")
    args = ("evaluate", table, runs, "--where", "aspect=rel", "-m", "RBP(p=0.5)", "--format", "json")
    scores = {row["system"]: row["value"] for row in loaded(venire(*args).out)["scores"]}
    assert scores == {"one": pytest.approx((0.75 + 0.5) / 2), "two": pytest.approx(0.75 / 2)}
