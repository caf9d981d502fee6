from __future__ import annotations

import csv
import gzip
import io
from statistics import stdev

import pytest
from scipy.stats import t

from json_results import loaded

approx = pytest.approx
LOG3 = 1.584962500721156
NDCG_1 = (2 + 1 / 2) / (2 + 1 / LOG3)
NDCG_2 = 1 / LOG3
NUMBERS = ["value", "low", "high"]
KEYS = ["system", "measure", "topic", "assessor", *NUMBERS]


def scores(answer) -> list[dict[str, object]]:
    assert answer.code == 0, answer.err
    document = loaded(answer.out)
    assert list(document) == ["scores"]
    assert all(list(row) == KEYS for row in document["scores"])
    return document["scores"]


def values(answer) -> dict[tuple[str, str, str | None], float | None]:
    return {(row["measure"], row["topic"], row["assessor"]): row["value"] for row in scores(answer)}


def test_the_mean_of_the_usual_measure(venire, qrels, run):
    row = {"system": "sys", "measure": "nDCG@10", "topic": "all", "assessor": "qrels"}
    half = t.ppf(0.975, 1) * abs(NDCG_1 - NDCG_2) / 2
    mean = (NDCG_1 + NDCG_2) / 2
    interval = {"low": approx(max(mean - half, 0)), "high": approx(min(mean + half, 1))}
    assert scores(venire("evaluate", qrels, run, "--format", "json")) == [row | {"value": approx(mean)} | interval]


def test_measures_are_named_as_typed_and_come_in_the_order_given(venire, qrels, run):
    asked = ["P(rel=2)@1", "AP", "P( rel = 2 )@1", "AP"]
    answer = venire("evaluate", qrels, run, "--format", "json", *(arg for name in asked for arg in ("-m", name)))
    assert [(row["measure"], row["value"]) for row in scores(answer)] == [
        ("P(rel=2)@1", 0.5),
        ("AP", approx((5 / 6 + 1 / 2) / 2)),
        ("P( rel = 2 )@1", 0.5),
    ]


def test_intervals_of_means_for_every_kind_of_judge(venire, write):
    judges = write(
        "judges.csv", "topic,doc,ann,bob,cyd\n" + "".join(f"{t},a,{t % 2},1,0\n{t},b,1,0,{t % 2}\n" for t in range(6))
    )
    run = write("x.run", "".join(f"{t} Q0 a 1 2 x\n{t} Q0 b 2 1 x\n" for t in range(6)))
    for more in (["--assessor", "ann"], ["--per", "assessor"], ["--pool", "mean"], ["--pool", "dawid-skene"]):
        rows = scores(venire("evaluate", judges, run, "-m", "P@1", *more, "--per-topic", "--format", "json"))
        means = [row for row in rows if row["topic"] == "all"]
        assert all(row["low"] is None for row in rows if row["topic"] != "all")
        for mean in means:
            some = [row["value"] for row in rows if row["topic"] != "all" and row["assessor"] == mean["assessor"]]
            half = t.ppf(0.975, 5) * stdev(some) / 6**0.5
            limits = max(mean["value"] - half, 0), min(mean["value"] + half, 1)
            assert (mean["low"], mean["high"]) == approx(limits)
    table = venire("evaluate", judges, run, "-m", "P@1", "--assessor", "ann")
    assert table.out.splitlines()[0].split() == ["system", "P@1", "low", "high"]
    assert "95% interval of the mean over 6 topics" in table.err
    assert "low and high: 95% interval" in table.err


@pytest.mark.parametrize("others", [["AP"], ["AP", "RR", "nDCG@10"]])
def test_several_measures_have_intervals_in_brackets(venire, write, others):
    """P@1 of three topics is 1, 1 and 0: 2/3, with Student's interval."""
    qrels = write("q.qrels", "1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 b 0\n3 0 a 0\n3 0 b 1\n")
    name = "a-system-with-a-very-long-name-" + "x" * 40
    run = write(
        "r.run", "".join(f"{topic} Q0 {doc} {n} {-n} {name}\n" for topic in "123" for n, doc in enumerate("ab"))
    )
    asked = [part for measure in ["P@1", *others] for part in ("-m", measure)]
    answer = venire("evaluate", qrels, run, *asked, "--per-topic")
    lines = answer.out.splitlines()
    assert lines[0].split() == ["system", "topic", "P@1", *others]
    assert "all    0.6667 [0.000, 1.000]  " in lines[-1]
    assert all("[" not in line for line in lines[:-1])
    assert lines[-1].count("[") == 1 + len(others)
    assert "note: in brackets: 95% interval of the mean over 3 topics" in answer.err


def test_a_pool_of_people_and_machines_is_announced(venire, write, run):
    rows = "".join(f"1,a,{who},1\n1,b,{who},0\n" for who in ("ann", "bob", "gpt"))
    mixed, people = (
        write(f"{name}.csv", f"{line}topic,doc,assessor,label\n{rows}")
        for name, line in (("mixed", "# machines: gpt\n"), ("people", ""))
    )
    assert "machines (gpt) are pooled with those of people" in venire("evaluate", mixed, run, "--pool", "mean").err
    assert "machines" not in venire("evaluate", people, run, "--pool", "mean").err
    chosen = venire("evaluate", mixed, run, "--pool", "mean", "--where", "assessor=ann", "--where", "assessor=bob")
    assert "machines" not in chosen.err


def test_one_topic_has_no_interval(venire, write, run):
    (row,) = scores(venire("evaluate", write("one.qrels", "1 0 a 1\n"), run, "-m", "P@1", "--format", "json"))
    assert (row["low"], row["high"]) == (None, None)


def test_dawid_and_skenes_posterior_is_a_pool(venire, write):
    """Of three assessors who differ on one document, the one who errs elsewhere is outvoted by one who does not."""
    labels = {doc: (doc in "abcdef", doc in "abcdef", n % 2) for n, doc in enumerate("abcdefghijkl")}
    lines = "".join(f"1,{doc},{int(good)},{int(also)},{bad}\n" for doc, (good, also, bad) in labels.items())
    judges = write("judges.csv", f"topic,doc,good,also,bad\n{lines}1,z,1,,0\n2,y,1,,0\n3,x,0,,1\n")
    run = write("x.run", "1 Q0 z 1 1 s\n2 Q0 y 1 1 s\n3 Q0 x 1 1 s\n")
    at = {
        pool: scores(venire("evaluate", judges, run, "-m", "CG@1", "--pool", pool, "--format", "json"))[0]["value"]
        for pool in ("majority", "dawid-skene")
    }
    assert at["majority"] == approx(0.5)
    assert 0.6 < at["dawid-skene"] < 2 / 3 + 1e-9


def test_per_topic_gives_topics_and_then_their_mean(venire, qrels, run):
    answer = venire("evaluate", qrels, run, "--per-topic", "-m", "RR", "--format", "json")
    assert [(row["topic"], row["value"]) for row in scores(answer)] == [("1", 1.0), ("2", 0.5), ("all", 0.75)]


def test_per_topic_csv_has_the_same_rows_as_json(venire, qrels, second, run):
    args = ("evaluate", qrels, run, "-j", second, "--per", "assessor", "--per-topic", "-m", "RR", "-m", "P@1")
    rows = list(csv.DictReader(io.StringIO(venire(*args, "--format", "csv").out)))
    assert list(rows[0]) == KEYS
    expected = scores(venire(*args, "--format", "json"))
    assert [row | {key: float(row[key]) if row[key] else None for key in NUMBERS} for row in rows] == expected


def test_per_assessor_scores_with_each_and_none_where_nothing_was_judged(venire, qrels, second, run):
    answer = venire(
        "evaluate", qrels, run, "-j", second, "--per", "assessor", "--per-topic", "-m", "RR", "--format", "json"
    )
    assert values(answer) == {
        ("RR", "1", "qrels"): 1.0,
        ("RR", "1", "other"): 0.5,
        ("RR", "2", "qrels"): 0.5,
        ("RR", "2", "other"): None,
        ("RR", "all", "qrels"): 0.75,
        ("RR", "all", "other"): 0.5,
    }
    assert "note: no score for 1 pair of assessor and topic without a label" in answer.err


def test_a_pool_has_no_assessor(venire, qrels, second, run):
    answer = venire("evaluate", qrels, run, "-j", second, "--pool", "min", "-m", "RR", "--format", "json")
    assert values(answer) == {("RR", "all", None): approx((1 / 3 + 1 / 2) / 2)}


def test_one_assessor_of_several(venire, qrels, second, run):
    answer = venire("evaluate", qrels, run, "-j", second, "--assessor", "other", "-m", "RR", "--format", "json")
    assert values(answer) == {("RR", "all", "other"): 0.5}


def test_several_assessors_need_a_word_and_the_error_lists_the_ways_out(venire, qrels, second, run):
    answer = venire("evaluate", qrels, run, "-j", second)
    assert (answer.code, answer.out) == (2, "")
    error, hint = answer.err.splitlines()
    assert error.startswith("error: 2 assessors judged (other, qrels")
    assert hint.startswith("hint: ")
    for way in ("--assessor NAME", "--per assessor", "--pool median|majority|max|min|mean"):
        assert way in hint


def test_whose_labels_can_be_said_only_once(venire, qrels, second, run):
    answer = venire("evaluate", qrels, run, "-j", second, "--pool", "max", "--per", "assessor")
    assert answer.code == 2
    assert "exclude each other" in answer.err


def test_the_table_has_four_digits_and_only_the_columns_that_differ(venire, qrels, second, run):
    assert (
        venire("evaluate", qrels, run, "-m", "RR", "-m", "P@1").out
        == "system      RR     P@1\nsys     0.7500  0.5000\n"
    )
    several = venire("evaluate", qrels, run, "-j", second, "--per", "assessor", "--per-topic", "-m", "RR").out
    assert several.splitlines()[:3] == [
        "system  topic  assessor      RR",
        "sys     1      other     0.5000",
        "sys     1      qrels     1.0000",
    ]
    assert "sys     2      other          -" in several.splitlines()


def test_markdown_and_latex(venire, qrels, write):
    odd = write("a_b.run", "1 Q0 a 1 1 a_b|c\n")
    markdown = venire("evaluate", qrels, odd, "-q", "--format", "markdown").out
    assert markdown.splitlines()[0::2] == ["| system | nDCG@10 |", "| a_b\\|c | 0.3801 |"]
    latex = venire("evaluate", qrels, odd, "-q", "--format", "latex").out
    assert r"a\_b\textbar{}c & 0.3801 \\" in latex


def test_a_file_takes_the_result_and_standard_output_stays_empty(venire, qrels, run, tmp_path):
    target = tmp_path / "scores.csv"
    answer = venire("evaluate", qrels, run, "--format", "csv", "-o", target)
    assert (answer.code, answer.out) == (0, "")
    assert target.read_text() == venire("evaluate", qrels, run, "--format", "csv").out
    assert venire("evaluate", qrels, run, "--format", "csv", "-o", "-").out == target.read_text()


@pytest.mark.parametrize(("place", "words"), [("none/x.csv", "there is no folder"), (".", "is a folder")])
def test_a_place_that_cannot_be_written_is_refused_before_any_work(venire, qrels, tmp_path, place, words):
    answer = venire("evaluate", qrels, "no-such-run", "-o", tmp_path / place)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert "no-such-run" not in answer.err


def test_quiet_leaves_nothing_but_the_result(venire, qrels, second, run):
    args = ("evaluate", qrels, run, "-j", second, "--per", "assessor")
    loud, quiet = venire(*args), venire(*args, "--quiet")
    assert "note: " in loud.err
    assert quiet == (0, loud.out, "")


def test_warnings_are_said_beside_the_result(venire, qrels, write):
    run = write("x.run", "1 Q0 a 1 1 x\n1 Q0 z 2 0.5 x\n")
    answer = venire("evaluate", qrels, run)
    assert answer.out == "system  nDCG@10\nx        0.3801\n"
    assert "warning: topics without a list score 0" in answer.err
    assert "unjudged documents" in answer.err
    assert venire("evaluate", qrels, run, "--quiet").err == ""


def test_errors_are_said_even_when_quiet(venire, qrels):
    answer = venire("evaluate", qrels, "no-such-run", "--quiet")
    assert answer[:2] == (2, "")
    assert answer.err.startswith("error: no-such-run: there is no such file or folder\nhint: looked from ")


def test_runs_from_standard_input(venire, qrels, run):
    expected = loaded(venire("evaluate", qrels, run, "--format", "json").out)
    assert loaded(venire("evaluate", qrels, "-", "--format", "json", stdin=run.read_bytes()).out) == expected
    packed = gzip.compress(run.read_bytes())
    assert loaded(venire("evaluate", qrels, "-", "--format", "json", stdin=packed).out) == expected


def test_standard_input_cannot_be_two_things(venire):
    answer = venire("evaluate", "-", "-")
    assert answer.code == 2
    assert "only once" in answer.err


def test_folders_and_patterns_of_runs(venire, qrels, write, tmp_path):
    for name in ("a", "b"):
        write(f"runs/{name}.run", f"1 Q0 a 1 1 {name}\n2 Q0 a 1 1 {name}\n")
    write("runs/c.txt", "1 Q0 a 1 1 c\n2 Q0 a 1 1 c\n")
    for source, systems in (("runs", "abc"), ("runs/*.run", "ab")):
        answer = venire("evaluate", qrels, tmp_path / source, "-q", "--format", "json")
        assert "".join(row["system"] for row in scores(answer)) == systems


def test_gains_by_name_by_pairs_and_by_file(venire, qrels, run, write):
    def dcg(gains: object) -> float:
        (value,) = values(
            venire("evaluate", qrels, run, "-m", "DCG", "--gains", gains, "--where", "topic=1", "--format", "json")
        ).values()
        return value

    assert dcg("linear") == approx(2 + 1 / 2)
    assert dcg("exponential") == approx(3 + 1 / 2)
    assert dcg("binary:2") == approx(1)
    pairs = approx(0.9 + 0.1 / LOG3 + 0.4 / 2)
    assert dcg("0=0.1,1=0.4,2=0.9") == pairs
    for name, text in {
        "spaces.txt": "# what labels are worth\n0 0.1\n\n1\t0.4\n2   0.9\n",
        "commas.csv": "label,gain\n0,0.1\n1,0.4\n2,0.9\n",
        "tabs.tsv": "Label\tGain\r\n0\t0.1\r\n1\t0.4\r\n2\t0.9",
    }.items():
        assert dcg(write(name, text)) == pairs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 0\n1 much\n2 1\n", ":2: gain 'much' is not a finite number"),
        ("0 0\n# half\n1\n", ":3: found '1', expected label, gain"),
        ("0 0\n1 1\n0 2\n", ":3: label '0' gets a second gain"),
        ("0 -1\n", ":1: gain '-1' is not a finite number from 0 on"),
        ("0 nan\n", ":1: gain 'nan' is not a finite number from 0 on"),
        ("# nothing\n", ": is empty"),
        ("0 0\n1 1\n", "no gain for label '2'"),
        ("0 0\n1 1\n2 2\nx 3\n", "gains name a label 'x'"),
    ],
)
def test_a_bad_file_of_gains(venire, qrels, run, write, text, words):
    answer = venire("evaluate", qrels, run, "--gains", write("gains.txt", text))
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err.splitlines()[0]


def test_gains_that_are_nothing(venire, qrels, run):
    answer = venire("evaluate", qrels, run, "--gains", "no-such-file.txt")
    assert answer.code == 2
    assert "'no-such-file.txt' are not gains" in answer.err


def test_topics_of_a_file(venire, qrels, run, write):
    topics = write("topics.txt", "# the second half\n2\tsome title\n\n2\n9\n")
    answer = venire("evaluate", qrels, run, "--topics", topics, "-m", "RR", "--per-topic", "--format", "json")
    assert values(answer) == {("RR", "2", "qrels"): 0.5, ("RR", "all", "qrels"): 0.5}
    assert f"note: topics of {topics} that were not judged: 9" in answer.err


@pytest.mark.parametrize("text", ["7\n8\n", "\n"])
def test_topics_that_nobody_judged(venire, qrels, run, write, text):
    answer = venire("evaluate", qrels, run, "--topics", write("topics.txt", text))
    assert (answer.code, answer.out) == (2, "")
    assert "contains no judged topic" in answer.err


TABLE = "topic,doc,aspect,label\n1,a,trust,1\n1,b,trust,0\n1,a,rel,0\n1,b,rel,1\n2,d,rel,1\n"


def test_where_chooses_labels(venire, run, write):
    table = write("aspects.csv", TABLE)
    refused = venire("evaluate", table, run)
    assert refused.code == 2
    assert "--where aspect=trust" in refused.err
    for aspect, value in (("trust", 1.0), ("rel", 0.5)):
        answer = venire("evaluate", table, run, "--where", f"aspect={aspect}", "-m", "RR", "--format", "json")
        assert values(answer)["RR", "all", "aspects"] == value


def test_where_takes_alternatives_and_several_columns(venire, qrels, run):
    both = ("--where", "topic=1", "--where", "topic=2", "--where", "assessor=qrels")
    assert venire("evaluate", qrels, run, *both).out == venire("evaluate", qrels, run).out


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (["aspect"], "is not COLUMN=VALUE"),
        (["colour=red"], "there is no column 'colour'"),
        (["self=1"], "there is no column 'self'"),
        (["topic=3"], "there is no topic '3'"),
        (["assessor=other", "topic=2"], "no labels remain"),
    ],
)
def test_where_that_chooses_nothing(venire, qrels, second, run, where, words):
    flags = [flag for each in where for flag in ("--where", each)]
    answer = venire("evaluate", qrels, run, "-j", second, "--pool", "max", *flags)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_only_unjudged_labels_are_an_error_that_says_so(venire, run, write):
    answer = venire("evaluate", write("q.txt", "1 0 a -1\n"), run)
    assert answer.code == 2
    assert "below zero" in answer.err


def test_flags_that_change_how_files_are_read(venire, write):
    qrels = write("q.txt", "1 i1 a 1\n1 i2 b -1\n1 i1 b 2\n")
    run = write("r.run", "1 Q0 b 2 9 x\n1 Q0 a 1 1 x\n1 Q0 a 3 0 x\n")

    def rr(*flags: str) -> float:
        answer = venire("evaluate", qrels, run, "-m", "RR(rel=2)", "--format", "json", "-q", *flags)
        return scores(answer)[0]["value"]

    assert venire("evaluate", qrels, run).code == 2
    assert rr("--duplicate-docs", "first") == 1.0
    assert rr("--duplicate-docs", "first", "--order", "rank") == 0.5
    assert rr("--duplicate-docs", "first", "--second-column", "assessor", "--assessor", "i1") == 1.0
    named = venire(
        "evaluate", qrels, run, "--duplicate-docs", "first", "--system-from", "file", "--format", "json", "-q"
    )
    assert scores(named)[0]["system"] == "r"
    qrels = write("q.txt", "1 i1 a 1\n1 i2 b 0\n1 i1 b 2\n")
    assert rr("--duplicate-docs", "first", "--duplicate-labels", "last") == 1.0
    assert rr("--duplicate-docs", "first", "--duplicate-labels", "first") == 0.0


def test_single_precision_ties_what_double_keeps_apart(venire, qrels, write):
    run = write("r.run", "1 Q0 a 1 1.00000001 x\n1 Q0 b 2 1.0 x\n")
    args = ("evaluate", qrels, run, "-m", "RR", "--topics", write("t.txt", "1\n"), "--format", "json")
    assert scores(venire(*args))[0]["value"] == 1.0
    assert scores(venire(*args, "--order", "float32"))[0]["value"] == 0.5


def test_flags_that_change_scoring(venire, qrels, write):
    run = write("r.run", "1 Q0 z 1 3 x\n1 Q0 b 2 2 x\n1 Q0 c 3 1 x\n")

    def score(measure: str, *flags: object) -> float:
        answer = venire("evaluate", qrels, run, "-m", measure, "--format", "json", "-q", *flags)
        return scores(answer)[0]["value"]

    assert score("RR") == approx(1 / 6)
    assert score("RR", "--missing", "skip") == approx(1 / 3)
    assert score("RR", "--missing", "skip", "--unjudged", "condensed") == approx(1 / 2)
    assert score("DCG@1", "--missing", "skip", "--unjudged", "0.5") == approx(1 / 2)
    copies = write("copies.txt", "b c\n")
    assert score("RR", "--missing", "skip", "--duplicates", copies) == 0.0


def test_a_wide_table_and_a_scale(venire, run, write):
    table = write("judges.tsv", "topic\tdoc\tann\tbob\n1\ta\tRel\tNon\n1\tb\tNon\tRel\n")
    answer = venire(
        *("evaluate", table, run, "--scale", "Non<Rel", "--per", "assessor", "-m", "RR", "--format", "json")
    )
    assert values(answer) == {("RR", "all", "ann"): 1.0, ("RR", "all", "bob"): 0.5}


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--pool", "mode"], "'mode' is not one of"),
        (["--unjudged", "some"], "there is no rule for unjudged documents 'some'"),
        (["--scale", "0<1"], "label '2' is not on the scale 0<1"),
        (["--assessor", "qrel"], "error: there is no assessor 'qrel'\nhint: did you mean 'qrels'?\n"),
        (["--duplicates", "none"], "error: none: there is no such file\n"),
    ],
)
def test_bad_options(venire, qrels, run, flags, words):
    answer = venire("evaluate", qrels, run, *flags)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_a_misspelt_measure_is_noticed_before_anything_is_read(venire):
    answer = venire("evaluate", "no-such-qrels", "no-such-run", "-m", "nDGC")
    assert answer.err == "error: 'nDGC': there is no measure 'nDGC'\nhint: did you mean 'nDCG'?\n"


def test_bad_lines_are_named(venire, qrels, write):
    answer = venire("evaluate", qrels, bad := write("bad.run", "1 Q0 a 1 1 x\n1 Q0 b 2 x\n"))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {bad}:2: found 5 columns in '1 Q0 b 2 x', expected 6")
