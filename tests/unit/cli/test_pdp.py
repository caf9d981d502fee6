from __future__ import annotations

from importlib import import_module

import pytest

from json_results import loaded

SEVEN = ["5 4 3 6 5", "6 5 5 6 5", "5 5 3 6 4"]
FOUR = ["3 2 2 3 3", "3 3 2 3 3", "3 3 2 3 3"]
KEYS = ["mode", "k", "value", "low", "high", "share_of_max", "topics"]


def table(grid: list[str], topics: range = range(12)) -> str:
    lines = ["topic\tdoc\tassessor\tlabel"]
    for t in topics:
        for who, line in enumerate(grid):
            labels = line.split()[t % 5 :] + line.split()[: t % 5]
            lines += [f"t{t:02d}\td{n}\tu{who}\t{label}" for n, label in enumerate(labels, start=1)]
    return "\n".join(lines) + "\n"


def choices(topics: range = range(12)) -> str:
    """Every two documents, the better one by the sum of its seven grades."""
    lines = ["topic\tleft\tright\tstrength"]
    for t in topics:
        sums = [sum(map(int, column)) for column in zip(*(line.split() for line in SEVEN), strict=True)]
        sums = sums[t % 5 :] + sums[: t % 5]
        lines += [f"t{t:02d}\td{a + 1}\td{b + 1}\t{sums[a] - sums[b]}" for a in range(5) for b in range(a)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def seven(write):
    return write("seven.tsv", table(SEVEN))


@pytest.fixture
def four(write):
    return write("four.tsv", table(FOUR))


@pytest.fixture
def preferences(write):
    return write("preferences.tsv", choices())


def test_json(venire, seven, preferences):
    answer = venire("pdp", seven, preferences, "--format", "json", "--draws", "20")
    assert answer.code == 0
    document = loaded(answer.out)
    assert list(document) == ["pdp", "labels", "differences", "warnings"]
    assert [list(each)[:7] for each in document["pdp"]] == [KEYS, KEYS]
    assert [each["mode"] for each in document["pdp"]] == ["individual", "aggregate"]
    for each in document["pdp"]:
        assert (each["k"], each["topics"], each["reason"]) == (5, 12, None)
        assert each["low"] <= each["value"] <= each["high"]
        assert each["share_of_max"] == pytest.approx(each["value"] / 4.787491742782046)
    assert document["differences"] == []


def test_a_table_of_one_mode_and_of_labels(venire, seven, preferences):
    answer = venire("pdp", seven, preferences, "--mode", "individual", "--top", "3", "--draws", "0")
    lines = [line.split() for line in answer.out.splitlines()]
    assert lines[0] == KEYS
    assert lines[1][:2] == ["individual", "3"]
    assert lines[1][3:5] == ["-", "-"]
    assert "K documents with preference tests, drawn at random" in answer.err
    labels = venire("pdp", seven, preferences, "--mode", "aggregate", "--show", "labels", "--draws", "0")
    assert labels.out.splitlines()[0].split() == ["mode", "a", "b", "p", "wins", "n"]


def test_runs_give_the_lists(venire, write, seven, preferences):
    lines = [f"t{t:02d} Q0 d{n} {n} {10 - n} r" for t in range(10) for n in range(1, 4)]
    runs = write("run.txt", "\n".join(lines) + "\n")
    again = write("again.txt", "\n".join(line[:-1] + "s" for line in lines) + "\n")
    how = ("--top", "3", "--draws", "0", "--format", "json")
    one = loaded(venire("pdp", seven, preferences, runs, *how).out)["pdp"]
    two = loaded(venire("pdp", seven, preferences, *how, runs, again).out)["pdp"]
    assert [(each["topics"], each["lists"]) for each in one] == [(10, 10)] * 2
    assert [(each["topics"], each["lists"]) for each in two] == [(10, 20)] * 2
    assert [each["value"] for each in two] == pytest.approx([each["value"] for each in one])


def test_two_settings(venire, seven, four, preferences):
    answer = venire("pdp", seven, preferences, "--against", four, "--format", "json", "--draws", "20")
    found = loaded(answer.out)["differences"]
    assert [each["mode"] for each in found] == ["individual", "aggregate"]
    assert all(each["difference"] < 0 and each["topics"] == 12 for each in found)
    assert all(each["low"] <= each["difference"] <= each["high"] for each in found)
    assert all((each["p_value"] < 0.05) == (each["high"] < 0) for each in found)


def test_documents_of_the_lists_are_chosen_as_asked(venire, seven, four, preferences):
    how = ("--top", "3", "--draws", "0")
    for choose, words in (("tested", "with preference tests"), ("random", "drawn at random"), ("best", "highest mean")):
        answer = venire("pdp", seven, preferences, "--choose", choose, *how)
        assert (answer.code, words in answer.err) == (0, True)
    none = venire("pdp", seven, preferences, "--choose", "runs", *how)
    assert (none.code, "no runs" in none.err) == (2, True)
    biased = venire("pdp", seven, preferences, "--choose", "best", "--against", four, *how)
    assert (biased.code, "favour the other set" in biased.err) == (2, True)


def test_a_reversed_sign_and_cycles_are_warned_of(venire, write, seven, preferences):
    text = preferences.read_text().splitlines()
    turned = [text[0], *("\t".join([*line.split("\t")[:3], str(-int(line.split("\t")[3]))]) for line in text[1:])]
    answer = venire("pdp", seven, write("turned.tsv", "\n".join(turned) + "\n"), "--draws", "0", "--format", "json")
    assert any("reversed" in word for word in loaded(answer.out)["warnings"])
    cycle = "t00\td1\td2\t1\nt00\td2\td3\t1\nt00\td3\td1\t1\n"
    answer = venire("pdp", seven, write("cycle.tsv", f"{text[0]}\n{cycle}"), "--draws", "0", "--format", "json")
    assert any("1 of 1 triple" in word for word in loaded(answer.out)["warnings"])
    clean = loaded(venire("pdp", seven, preferences, "--draws", "0", "--format", "json").out)["warnings"]
    assert not any("reversed" in word or "cycles" in word for word in clean)


def test_no_value_says_why_and_goes_on(venire, write, seven):
    elsewhere = write("elsewhere.tsv", "topic\tleft\tright\tstrength\nx\td1\td2\t1\n")
    answer = venire("pdp", seven, elsewhere, "--format", "json")
    assert answer.code == 0
    found = loaded(answer.out)["pdp"]
    assert [each["value"] for each in found] == [None, None]
    assert "both documents are labelled in none of the preference tests (1)" in found[0]["reason"]


def test_lists_that_are_too_long_are_refused_before_the_work(venire, seven, preferences, monkeypatch):
    import_module("venire.quality.scales")  # which would keep what stands in for pdp
    monkeypatch.setattr("venire.quality.pdp.pdp", lambda *_, **__: pytest.fail("the work had begun"))
    monkeypatch.setattr("venire.quality.scales.scale_settings", lambda *_, **__: pytest.fail("so here"))
    for command in (("pdp", seven, preferences), ("scales", seven, "--preferences", preferences)):
        answer = venire(*command, "--top", "1000")
        assert (answer.code, answer.out) == (2, "")
        assert "no list has 1,000 judged documents; the topic with most has 5" in answer.err
        assert "fewer documents per list" in answer.err


def test_a_plot_is_written(venire, tmp_path, seven, preferences):
    for name, more in (("both.svg", ()), ("one.png", ("--mode", "individual"))):
        answer = venire("pdp", seven, preferences, *more, "--draws", "0", "--plot", str(tmp_path / name))
        assert answer.code == 0
        assert (tmp_path / name).stat().st_size > 5000
    assert "p(a &gt; b), individual" in (tmp_path / "both.svg").read_text()


def test_standard_input_is_read_once(venire):
    answer = venire("pdp", "-", "-")
    assert answer.code == 2
    assert "standard input (-) can be read only once" in answer.err
