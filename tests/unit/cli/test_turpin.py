"""Turpin and Scholer (2009) on the command line: agreement that is needed, and agreement in one direction."""

from __future__ import annotations

import pytest

from json_results import loaded

DOCS = "abcdefgh"


@pytest.fixture
def files(write):
    """Three assessors of eight documents of six topics, and two systems that order them in opposite ways."""
    lines = (
        "".join(
            f"{t},{doc},{who},{label}\n"
            for t in range(6)
            for n, doc in enumerate(DOCS)
            for who, label in (("ann", n < 4), ("bob", n < 5 - t % 2), ("cyd", n % 2))
        )
        .replace("True", "1")
        .replace("False", "0")
    )
    for name, docs in (("up", DOCS), ("down", DOCS[::-1])):
        write(f"runs/{name}", "".join(f"{t} Q0 {d} {n} {9 - n} {name}\n" for t in range(6) for n, d in enumerate(docs)))
    judges = write("judges.csv", "topic,doc,assessor,label\n" + lines)
    return judges, judges.parent / "runs"


def test_the_agreement_needed_is_written_with_its_contour(venire, files, tmp_path):
    plot = tmp_path / "needed.png"
    args = ("compare", *files, "--assessor", "ann", "--agreement-needed", "-m", "P@3")
    answer = venire(*args, "--format", "json", "--plot", plot)
    assert answer.code == 0, answer.err
    document = loaded(answer.out)
    assert list(document) == ["needed", "winner", "judges", "contour"]
    (row,) = document["needed"]
    assert list(row) == [
        *("a", "b", "measure", "delta", "needed", "not_behind", "normal", "method"),
        *("relevant_a", "irrelevant_a", "relevant_b", "irrelevant_b", "places"),
    ]
    assert (row["a"], row["b"], row["delta"], row["places"]) == ("up", "down", 1.0, 18)
    assert 0.5 < row["not_behind"] <= row["needed"] < row["normal"]
    assert document["winner"] == [{"system": "up", "measure": "P@3", "rival": "down", "needed": row["needed"]}]
    contour = document["contour"]
    assert len(contour["p_stays_ahead"]) == len(contour["rates"]) == 41
    assert (contour["p_stays_ahead"][0][0], contour["p_stays_ahead"][-1][-1]) == (0.0, 1.0)
    bob, cyd = document["judges"]
    assert (bob["assessor"], bob["a1"], cyd["a0"], cyd["a1"]) == ("bob", 1.0, 0.5, 0.5)
    assert cyd["p_stays_ahead"] < 0.95 < bob["p_stays_ahead"]
    assert plot.stat().st_size > 10_000
    table = venire(*args)
    assert table.out.splitlines()[0].split() == ["a", "b", "measure", "delta", "needed", "not_behind"]
    assert "up stays ahead of down with a probability of 95% if another judge agrees with at least" in table.err
    assert "cyd agrees with 50% of the irrelevant and 50% of the relevant labels of ann" in table.err
    assert venire(*args, "--format", "csv").out.startswith("a,b,measure,delta,needed,not_behind,normal")


def test_one_judge_is_enough_and_the_measure_is_precision(venire, files, write):
    one = write("ann.qrels", "".join(f"{t} 0 {doc} {int(n < 4)}\n" for t in range(6) for n, doc in enumerate(DOCS)))
    document = loaded(venire("compare", one, files[1], "--agreement-needed", "--format", "json").out)
    assert [row["measure"] for row in document["needed"]] == ["P@10"]
    assert document["judges"] == []
    assert document["contour"] is None, "both return the same ten documents"


def test_other_measures_are_drawn_and_pools_are_judges(venire, files):
    args = ("compare", *files, "--agreement-needed", "--pool", "majority", "-m", "nDCG@3", "--draws", "30")
    document = loaded(venire(*args, "--format", "json").out)
    assert document["needed"][0]["method"] == "30 draws at each of 11 rates"
    assert document["needed"][0]["places"] is None
    assert len(document["contour"]["rates"]) == 11
    assert "of the labels of majority of 3 assessors" in venire(*args).err


@pytest.mark.parametrize(
    "more", [["--new-judge", "bob"], ["--agreement", "0.9,0.9"], ["--judge-model", "fixed"]], ids=lambda each: each[0]
)
def test_what_has_no_effect_is_refused(venire, files, more):
    answer = venire("compare", *files, "--assessor", "ann", "--agreement-needed", *more)
    assert (answer.code, f"{more[0]} cannot be used with --agreement-needed" in answer.err) == (2, True)


def test_agreement_in_one_direction(venire, files):
    document = loaded(venire("agreement", files[0], "--directed", "--format", "json").out)
    assert list(document) == ["directed", "differences", "relevant", "reference", "warnings"]
    rows = {(each["first"], each["second"]): each for each in document["directed"]}
    assert len(rows) == 6
    assert rows["ann", "bob"] == {
        **{"first": "ann", "second": "bob"},
        **{"n0": 24, "agree0": 21, "a0": 0.875, "n1": 24, "agree1": 24, "a1": 1.0},
    }
    assert rows["bob", "ann"]["a0"] == 1.0
    named = loaded(venire("agreement", files[0], "--directed", "--reference", "ann", "--format", "json").out)
    assert {each["first"] for each in named["directed"]} == {"ann"}
    assert named["reference"] == ["ann"]


def test_agreement_by_topic_and_by_task(venire, files, write, tmp_path):
    plot = tmp_path / "directed.png"
    args = ("agreement", files[0], "--directed", "--by", "topic", "--format", "json")
    document = loaded(venire(*args, "--plot", plot).out)
    assert len(document["directed"]) == 36
    (varies,) = document["differences"]
    assert (varies["across"], varies["pairs"], varies["differences"]) == ("topic", 6, 6 * 15)
    assert 0 < varies["typical_a0"] < 0.3
    assert plot.stat().st_size > 10_000
    lines = files[0].read_text().splitlines()
    tasks = [f"{lines[0]},task", *(f"{line},judge" for line in lines[1:])]
    tasks += [f"{line},search" for line in lines[1:] if line.split(",")[1] in "abefgh"]
    two = write("tasks.csv", "\n".join(tasks) + "\n")
    found = loaded(venire("agreement", two, "--directed", "--by", "task", "--by", "topic", "--format", "json").out)
    assert list(found["directed"][0])[:2] == ["task", "topic"]
    assert [each["across"] for each in found["differences"]] == ["task", "topic"]
    assert venire("agreement", two, "--directed").code == 2


def test_few_items_and_many_pairs(venire, files, write):
    some = venire("agreement", files[0], "--directed", "--by", "topic", "--at-least", "4")
    assert "left out: the first judge found fewer than 4 items" in some.err
    none = venire("agreement", files[0], "--directed", "--at-least", "40")
    assert (none.code, "no first judge found 40 common items" in none.err) == (2, True)
    names = [f"w{n}" for n in range(9)]
    lines = "".join(
        f"1,{doc},{who},{(n + place) % 2}\n" for n, doc in enumerate(DOCS) for place, who in enumerate(names)
    )
    many = venire("agreement", write("many.csv", "topic,doc,assessor,label\n" + lines), "--directed")
    assert len(many.out.splitlines()) == 51
    assert "the first 50 of 72 directed pairs are shown" in many.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--directed", "--by", "assessor"], "--by assessor cannot be used with --directed"),
        (["--directed", "--name", "phi"], "--name cannot be used with --directed"),
        (["--relevant", "1"], "--relevant is for --directed"),
        (["--by", "topic", "--by", "assessor"], "--by can be given once"),
        (["--reference", "ann"], "--reference requires --by assessor or --directed"),
    ],
)
def test_odd_options_are_refused(venire, files, args, words):
    answer = venire("agreement", files[0], *args)
    assert (answer.code, words in answer.err) == (2, True)


def test_directed_agreement_says_which_labels_are_relevant_and_needs_a_reference_whom_others_met(venire, write):
    rows = [("ann", 1, 0), ("bob", 2, 0), ("cyd", 2, 1)]
    lines = [f"{topic}\t{doc}\t{who}\t{(n + off) % 3}\n" for who, topic, off in rows for n, doc in enumerate("abcdef")]
    judged = write("j.tsv", "topic\tdoc\tassessor\tlabel\n" + "".join(lines))
    assert "note: relevant: 1 and 2\n" in venire("agreement", judged, "--directed", "--relevant", "1").err
    assert "note: relevant: 2\n" in venire("agreement", judged, "--directed").err
    alone = venire("agreement", judged, "--directed", "--reference", "ann")
    assert alone.code == 2
    assert "nobody labelled enough items that ann labelled" in alone.err
