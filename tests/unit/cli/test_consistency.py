from __future__ import annotations

import pytest

from json_results import loaded

HEAD = "topic\tdoc\tassessor\tlabel\n"
ROWS = [
    *("a\tx\tU\tKey", "a\tx\tU\tKey", "a\tx\tU\tRel", "a\tx\tV\tKey", "a\ty\tU\tNon", "a\ty\tV\tKey"),
    *("a\tz\tU\tRel", "a\tz-copy\tU\tRel", "a\tz\tV\tRel"),
]
SCALE = ("--scale", "Non<Rel<Key")


@pytest.fixture
def judgments(write):
    return write("judgments.tsv", HEAD + "\n".join(ROWS) + "\n")


@pytest.fixture
def duplicates(write):
    return write("duplicates.txt", "0 z z-copy\n")


def test_json(venire, judgments, duplicates):
    answer = venire("consistency", judgments, *SCALE, "--duplicates", duplicates, "--format", "json")
    assert answer.code == 0
    document = loaded(answer.out)
    assert list(document) == ["consistency", "overlap", "warnings"]
    keys = ["relevant", "label", "who", "p", "sd", "low", "high", "hits", "pairs"]
    assert [list(each) for each in document["consistency"]] == [keys] * 6
    found = {(each["label"], each["who"]): each for each in document["consistency"]}
    assert (found["Key", "self"]["hits"], found["Key", "self"]["pairs"]) == (2, 4)
    assert (found["Key", "cross"]["hits"], found["Key", "cross"]["pairs"]) == (4, 6)
    assert (found["Rel", "self"]["hits"], found["Rel", "self"]["pairs"]) == (2, 4)
    assert found["Non", "self"]["p"] is None
    assert document["overlap"] == [
        {
            "relevant": "Key",
            "a": "U",
            "b": "V",
            "jaccard": pytest.approx((2 / 3) / 2),
            "precision": 1.0,
            "recall": pytest.approx(1 / 3),
            "items": 3,
        }
    ]
    assert any("label Rel has 4 self pairs, fewer than 50" in word for word in document["warnings"])


def test_every_threshold_and_a_table_of_overlap(venire, judgments):
    answer = venire("consistency", judgments, *SCALE, "--relevant", "all", "--show", "overlap")
    lines = [line.split() for line in answer.out.splitlines()]
    assert lines[0] == ["relevant", "a", "b", "jaccard", "precision", "recall", "items"]
    assert [line[0] for line in lines[1:]] == ["Key", "Rel"]
    assert "a perfect list for one of them" in answer.err


def test_numbers_from_few_pairs_are_bracketed_for_people_only(venire, judgments):
    for_people = venire("consistency", judgments, *SCALE)
    assert "(0.6667)" in for_people.out
    assert "Assessors agree with themselves for 50%" in for_people.err
    for_machines = venire("consistency", judgments, *SCALE, "--format", "csv", "--quiet")
    assert "(" not in for_machines.out
    assert for_machines.err == ""


def test_one_assessor_with_copies_has_no_overlap(venire, write, duplicates):
    qrels = write("qrels.txt", "a 0 z 2\na 0 z-copy 2\na 0 y 1\n")
    answer = venire("consistency", qrels, "--duplicates", duplicates, "--format", "json")
    document = loaded(answer.out)
    assert document["overlap"] == []
    assert "no page was judged by two assessors" in document["warnings"][0]


def test_options_reach_the_model(venire, judgments, duplicates):
    whole = (*SCALE, "--duplicates", duplicates, "--format", "json", "--where", "assessor=U", "--where", "assessor=V")
    by_page = loaded(venire("consistency", judgments, *whole, "--weight", "page", "--draws", "0").out)
    found = {(each["label"], each["who"]): each for each in by_page["consistency"]}
    assert found["Key", "self"]["pairs"] == pytest.approx(2 / 3)
    assert found["Key", "self"]["sd"] is None
    same = loaded(venire("consistency", judgments, *whole, "--same-pages").out)
    assert {each["label"]: each["pairs"] for each in same["consistency"] if each["who"] == "cross"} == {
        **{"Key": 5, "Rel": 5, "Non": 0}
    }


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_plot(venire, judgments, tmp_path, ending):
    plot = tmp_path / f"plot.{ending}"
    assert venire("consistency", judgments, *SCALE, "--plot", plot).code == 0
    if ending == "svg":
        text = plot.read_text(encoding="utf-8")
        for words in ("the same assessor: mean 0.", "another assessor: mean 0.", "Non: mean 1.000, sd 0.000"):
            assert words in text
    else:
        assert plot.read_bytes().startswith(b"\x89PNG")


def test_errors_say_what_to_do(venire, write, judgments, tmp_path):
    single = write("single.txt", "a 0 x 1\na 0 y 0\n")
    answer = venire("consistency", single)
    assert answer.code == 2
    assert "no page was judged twice" in answer.err
    nothing_drawn = venire("consistency", judgments, *SCALE, "--draws", "0", "--plot", tmp_path / "p.svg")
    assert (nothing_drawn.code, "nothing to plot" in nothing_drawn.err) == (2, True)
    assert venire("consistency", judgments, *SCALE, "--duplicates", tmp_path / "nowhere").code == 2
