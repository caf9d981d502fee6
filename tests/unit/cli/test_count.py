from __future__ import annotations

import csv
import io

import pytest

from json_results import loaded

LABELS = ("Non", "Rel", "Key")
HEADER = "# scale: Non<Rel<Key\ntopic\tdoc\tassessor\tlabel\n"
COLUMNS = ["system", "relevant", "prm", "prm_se", "binary", "binary_se", "udm", "udm_se", "topics"]
PATTERN = "F-{resource}-{topic}-{rank}"


def double_judgments() -> str:
    """Sixty items of each label by A; B agrees on half, and goes one down, or up from the lowest, on the rest."""
    lines = []
    for level, label in enumerate(LABELS):
        for n in range(60):
            other = label if n % 2 else LABELS[level - 1 if level else 1]
            for who, what in (("A", label), ("B", other)):
                lines.append(f"{n % 12}\tx{label}{n}\t{who}\t{what}\n")
    return HEADER + "".join(lines)


@pytest.fixture
def double(write):
    return write("double.tsv", double_judgments())


@pytest.fixture
def judged(write):
    rows = ["1\ta\tA\tKey", "1\tb\tA\tRel", "1\tc\tA\tNon", "2\ta\tA\tRel", "2\tb\tA\tKey", "2\tc\tA\tKey"]
    return write("judged.tsv", HEADER + "\n".join(rows) + "\n")


@pytest.fixture
def runs(write):
    for name, docs in {"up": "ab", "down": "cb"}.items():
        lines = [f"{t} Q0 {doc} {n} {9 - n} {name}\n" for t in (1, 2) for n, doc in enumerate(docs)]
        path = write(f"runs/{name}.run", "".join(lines))
    return path.parent


@pytest.fixture
def federated(write):
    rows = ["1\tF-e1-1-1\tA\tKey", "1\tF-e2-1-1\tA\tRel", "2\tF-e1-2-1\tA\tNon", "2\tF-e2-2-1\tA\tKey"]
    return write("fw.tsv", HEADER + "\n".join(rows) + "\n")


@pytest.fixture
def engines(write):
    return write("rs.run", "".join(f"{t} Q0 e{n} {n} {9 - n} first\n" for t in (1, 2) for n in (1, 2)))


def test_json_has_counts_tau_and_warnings(venire, judged, runs, double):
    done = venire("count", judged, runs, "--fit-on", double, "--format", "json", "--top", "2", "-q")
    assert (done.code, done.err) == (0, "")
    document = loaded(done.out)
    assert list(document) == ["counts", "tau", "warnings"]
    assert list(document["counts"][0]) == COLUMNS
    assert [(each["a"], each["b"]) for each in document["tau"]] == [("prm", "binary"), ("prm", "udm")]
    rows = {each["system"]: each for each in document["counts"]}
    # p(Key|Key) = 60 / 90, p(Key|Rel) = 30 / 150 and p(Key|Non) = 0, by Eq. (5)
    assert rows["up"]["prm"] == pytest.approx(60 / 90 + 0.2)
    assert rows["up"]["binary"] == 1.0
    assert rows["up"]["udm"] == pytest.approx(1.2)
    assert rows["down"]["prm"] == pytest.approx((0.2 + 2 * 60 / 90) / 2)
    assert rows["down"]["binary_se"] == pytest.approx(1.0)
    assert rows["down"]["topics"] == 2


def test_a_table_for_people_with_a_sentence_beside_it(venire, judged, runs, double):
    done = venire("count", judged, runs, "--fit-on", double)
    assert done.code == 0
    assert done.out.split("\n")[0].split() == COLUMNS
    assert "a random user finds 0.87 ± 0.09 relevant (Key)" in done.err
    assert "tau-b between prm and udm" in done.err


def test_the_model_is_fitted_on_the_judgments_given(venire, double, write):
    run = write("x.run", "".join(f"{n % 12} Q0 xKey{n} 1 1 x\n" for n in range(12)))
    given = ("count", double, run, "--assessor", "A", "--fit-on", "pool", "--format", "json", "-q")
    assert loaded(venire(*given).out)["counts"][0]["prm"] == pytest.approx(60 / 90)
    done = venire(*given, "--observed", "A", "--reference", "B", "--relevant", "all")
    assert [each["prm"] for each in loaded(done.out)["counts"]] == pytest.approx([0.5, 1.0])


def test_fits_on_what_the_runs_return_first(venire, double, write):
    """B agrees on the odd ones, so of these alone a Key is worth 1."""
    lines = [f"{n % 12} Q0 x{label}{n} 0 0 s{n // 12}\n" for n in range(1, 60, 2) for label in LABELS]
    run = write("x.run", "".join(lines))
    given = (double, run, "--assessor", "A", "--observed", "A", "--missing", "skip", "--top", 3, "--format", "json")
    pool = loaded(venire("count", *given, "--fit-on", "pool", "-q").out)
    done = venire("count", *given)
    assert done.code == 0
    assert venire("count", *given, "--fit-on", "returned").out == done.out
    assert "fitted on top results: 180 of 360 labels are of items in the first 3 of some list" in done.err
    first = loaded(done.out)
    assert (list(first), list(first["counts"][0])) == (list(pool), list(pool["counts"][0]))
    assert {row["prm"] for row in pool["counts"]} == {0.5}
    assert {row["prm"] for row in first["counts"]} == {1.0}
    assert [row["binary"] for row in first["counts"]] == [row["binary"] for row in pool["counts"]]


def test_too_few_first_results_fall_back_on_the_pool_aloud(venire, double, write):
    run = write("x.run", "".join(f"{n % 12} Q0 xKey{n} 1 1 x\n" for n in range(12)))
    done = venire("count", double, run, "--assessor", "A", "--format", "json")
    said = loaded(done.out)["warnings"][-1]
    assert "fitted on the whole pool" in said
    assert said in done.err


def test_returned_of_runs_unlike_the_judgments_is_refused(venire, double, write):
    run = write("x.run", "0 Q0 other 1 1 x\n")
    done = venire("count", double, run, "--assessor", "A", "--fit-on", "returned")
    assert done.code == 2
    assert "none of 360 labels is of an item in the first 10 of some list" in done.err


def test_several_assessors_need_a_word(venire, double, write):
    run = write("x.run", "0 Q0 xKey0 1 1 x\n")
    done = venire("count", double, run)
    assert done.code == 2
    assert "2 assessors judged (A, B)" in done.err
    done = venire("count", double, run, "--per", "assessor", "--missing", "skip", "--format", "csv", "-q")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(row["assessor"], row["binary"]) for row in rows] == [("A", "1.0"), ("B", "0.0")]


def test_resources_with_an_oracle(venire, federated, engines, double):
    options = ("--fit-on", double, "--resources", 1, "--resource", PATTERN, "--format", "json", "-q")
    rows = loaded(venire("count", federated, engines, *options).out)["counts"]
    assert [row["system"] for row in rows] == ["oracle", "first"]
    assert [row["binary"] for row in rows] == [1.0, 0.5]


def test_resources_from_a_file(venire, federated, engines, double, write):
    of_doc = write("engines.tsv", "doc\tresource\nF-e1-1-1\te1\nF-e2-1-1\te2\nF-e1-2-1\te1\nF-e2-2-1\te2\n")
    options = ("--fit-on", double, "--resources", 1, "--format", "json", "-q")
    by_file = venire("count", federated, engines, *options, "--resource", of_doc)
    assert by_file.code == 0
    assert loaded(by_file.out) == loaded(venire("count", federated, engines, *options, "--resource", PATTERN).out)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--resources", "2"), "go together"),
        (("--resource", PATTERN), "go together"),
        (("--resources", "2", "--resource", PATTERN, "--top", "5"), "--top is for lists"),
        (("--resources", "2", "--resource", PATTERN, "--unjudged", "condensed"), "--unjudged cannot be used with"),
        (("--resources", "2", "--resource", "engine"), "where the resource is"),
        (("--top", "0"), "not a number from 1 on"),
        (("--top", "few"), "not a number from 1 on"),
        (("--weights", "3/2"), "1 <= M <= N"),
        (("--relevant", "Top"), "not a label"),
    ],
)
def test_what_cannot_be_counted_is_refused(venire, federated, engines, double, options, words):
    done = venire("count", federated, engines, "--fit-on", double, *options)
    assert done.code == 2
    assert words in done.err


def test_resources_have_no_first_results(venire, federated, engines):
    done = venire("count", federated, engines, "--resources", 2, "--resource", PATTERN, "--fit-on", "returned")
    assert done.code == 2
    assert "--fit-on returned is for lists of documents" in done.err


def test_whole_lists_and_other_weights(venire, judged, runs, double):
    options = ("--fit-on", double, "--format", "json", "-q")
    first = loaded(venire("count", judged, runs, *options, "--top", 1).out)["counts"]
    whole = loaded(venire("count", judged, runs, *options, "--top", "all", "--weights", "1/3").out)["counts"]
    assert {row["system"]: row["binary"] for row in first} == {"up": 0.5, "down": 0.5}
    rows = {row["system"]: row for row in whole}
    assert rows["up"]["udm"] == pytest.approx(1 + 1 - 0.8**2)


def test_warnings_of_runs_are_part_of_the_result(venire, judged, double, write):
    run = write("half.run", "1 Q0 a 1 1 half\n1 Q0 z 2 0.5 half\n")
    done = venire("count", judged, run, "--fit-on", double, "--format", "json")
    words = loaded(done.out)["warnings"]
    assert any("topics without a list" in each for each in words)
    assert any("unjudged documents" in each for each in words)
    assert done.err.count("topics without a list") == 1


@pytest.mark.parametrize("name", ["counts.svg", "counts.png"])
def test_plots(venire, judged, runs, double, tmp_path, name):
    pytest.importorskip("matplotlib")
    done = venire("count", judged, runs, "--fit-on", double, "--relevant", "all", "--plot", tmp_path / name, "-q")
    assert done.code == 0
    written = (tmp_path / name).read_bytes()
    assert written
    if name.endswith("svg"):
        text = written.decode()
        assert all(words in text for words in ("up", "down", "relevant: Rel or higher", "for a random user"))
