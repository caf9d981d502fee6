"""--reference and --machine: declared the same way in every command, by options or in the files."""

from __future__ import annotations

import pytest

from json_results import loaded

TABLE = "topic,doc,assessor,label\n" + "".join(
    f"{topic},{doc},{who},{(n + topic + shift) % 3}\n"
    for topic in range(1, 7)
    for n, doc in enumerate("abcdef")
    for shift, who in enumerate(("ann", "bob", "llm"))
)
RUNS = {
    name: "".join(f"{t} Q0 {d} {n} {9 - n} {name}\n" for t in range(1, 7) for n, d in enumerate(docs))
    for name, docs in (("up", "abcdef"), ("down", "fedcba"))
}


@pytest.fixture
def files(write):
    for name, text in RUNS.items():
        write(f"runs/{name}", text)
    return write("judges.csv", TABLE), write("runs/up", RUNS["up"]).parent


def test_compare_says_where_nothing_is_declared(venire, files):
    plain = venire("compare", *files, "--assessor", "llm", "--draws", "20")
    assert plain.code == 0, plain.err
    assert "nobody is declared as the reference or as a machine: ann, bob and llm count alike" in plain.err
    stated = venire(
        "compare", *files, "--assessor", "llm", "--draws", "20", "--machine", "llm", "--reference", "ann,bob"
    )
    assert (stated.code, "nobody is declared" in stated.err) == (0, False)


@pytest.mark.parametrize("option", ["--reference", "--machine"])
def test_an_unknown_name_is_refused_with_a_suggestion(venire, files, option):
    answer = venire("compare", *files, "--assessor", "llm", option, "ann,lm")
    assert answer.code == 2
    assert "there is no assessor 'lm'" in answer.err
    assert "did you mean 'llm'?" in answer.err


def test_options_that_contradict_the_file_are_refused(venire, files, write):
    judges = write("judges.csv", "# machines: llm\n" + TABLE)
    answer = venire("compare", judges, files[1], "--assessor", "ann", "--reference", "llm")
    assert (answer.code, "declared as the reference and as a machine" in answer.err) == (2, True)
    both = venire(
        "compare", judges, files[1], "--assessor", "ann", "--reference", "llm", "--machine", "bob", "--draws", "20"
    )
    assert both.code == 0, both.err


def test_agreement_compares_with_the_reference_that_a_file_declares(venire, files, write):
    judges = write("judges.csv", "# reference: ann,bob\n" + TABLE)
    document = loaded(venire("agreement", judges, "--by", "assessor", "--format", "json").out)
    assert document["reference"] == ["ann", "bob"]
    named = venire("agreement", judges, "--by", "assessor", "--reference", "llm", "--format", "json")
    assert loaded(named.out)["reference"] == ["llm"]
    stated = venire("agreement", files[0], "--by", "assessor", "--reference", "ann,bob", "--format", "json")
    assert loaded(stated.out)["reference"] == ["ann", "bob"]


@pytest.mark.parametrize("header", ["# reference: ann", "# reference: ann,bob,llm"])
def test_report_takes_the_reference_of_the_file_for_users(venire, files, write, header, tmp_path):
    judges = write("judges.csv", f"{header}\n{TABLE}")
    answer = venire("report", judges, files[1], "--assessor", "ann", "--draws", "20", "-o", tmp_path / "page.html")
    assert answer.code == 0, answer.err
    twice = venire("report", judges, files[1], "--assessor", "ann", "--reference", "ann", "-o", tmp_path / "page.html")
    assert twice.code == 0, twice.err


def test_a_name_with_a_comma_is_one_name(venire, write):
    names = ('"a,b"', "c", "d")
    judges = write(
        "judges.csv",
        "topic,doc,assessor,label\n"
        + "".join(f"1,{doc},{who},{n % 2}\n" for n, doc in enumerate("vwxyz") for who in names),
    )
    found = venire(
        "agreement", judges, "--by", "assessor", "--reference", "a,b", "--reference", "c", "--format", "json"
    )
    assert loaded(found.out)["reference"] == ["a,b", "c"]


def test_inspect_shows_what_a_file_declares(venire, write):
    judges = write("judges.csv", "# reference: ann\n# machines: llm\n" + TABLE)
    facts = loaded(venire("inspect", judges, "--format", "json").out)["files"][0]["facts"]
    assert (facts["reference"], facts["machines"]) == (["ann"], ["llm"])


def test_compare_takes_a_pool_as_evaluate_does(venire, files):
    for pool in ("majority", "dawid-skene"):
        found = venire(
            "compare", *files, "--pool", pool, "--new-judge", "ann", "--draws", "20", "--format", "json", "-q"
        )
        assert found.code == 0, found.err
        means = {each["system"]: each["mean"] for each in loaded(found.out)["systems"]}
        where = ("--where", "assessor=bob", "--where", "assessor=llm")
        scored = venire("evaluate", *files, "--pool", pool, *where, "--format", "json", "-q")
        assert means == {each["system"]: pytest.approx(each["value"]) for each in loaded(scored.out)["scores"]}
    crowd = venire("compare", *files, "--pool", "majority", "--draws", "20")
    assert (crowd.code, "the other judge is another crowd" in crowd.err) == (0, True)
    both = venire("compare", *files, "--pool", "majority", "--assessor", "ann")
    assert (both.code, "exclude each other" in both.err) == (2, True)


def test_export_takes_the_posterior_of_a_model(venire, files, tmp_path):
    done = venire("export", files[0], "--pool", "dawid-skene", "--scale-by", "100", "-o", tmp_path / "pooled.qrels")
    assert done.code == 0, done.err
    assert len((tmp_path / "pooled.qrels").read_text().splitlines()) == 36
