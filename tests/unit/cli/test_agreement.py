from __future__ import annotations

import pytest

from json_results import loaded
from venire.agreement.intervals import KEYS as RECORD_KEYS
from venire.agreement.table import FUNCTIONS
from venire.cli.agreement import KEYS, LEVELS, OVER
from venire.data import scale
from venire.simulation import Synthetic, generate
from venire.simulation.assessors import parse_assessors

HEAD = "topic\tdoc\tassessor\tlabel\n"
KRIPPENDORFF = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 ."""


def rows(grid, topics=1):
    lines = [line.split() for line in grid.strip().splitlines()]
    cells = [(d, u, label) for u, line in enumerate(lines) for d, label in enumerate(line) if label != "."]
    return [f"t{d % topics}\td{d:02}\tU{u}\t{label}" for d, u, label in cells]


@pytest.fixture
def judgments(write):
    return write("judgments.tsv", HEAD + "\n".join(rows(KRIPPENDORFF, topics=2)) + "\n")


@pytest.fixture
def crowd(tmp_path):
    setting = Synthetic(n_topics=8, docs_per_topic=60, n_unjudged=0, assessors=parse_assessors("5*careful, random"))
    path = tmp_path / "crowd.tsv"
    generate(setting, rng=3).judgments.to_polars().write_csv(path, separator="\t")
    return path


def test_words_are_those_of_the_library():
    assert (KEYS, LEVELS, OVER) == (RECORD_KEYS, scale.LEVELS, ("items", "topics"))


def test_json_has_every_statistic_with_its_meaning(venire, judgments):
    answer = venire("agreement", judgments, "--draws", "50", "--format", "json")
    assert answer.code == 0
    document = loaded(answer.out)
    records = document["statistics"]
    assert [list(each) for each in records] == [list(KEYS)] * len(records)
    assert {each["name"] for each in records} == set(FUNCTIONS)
    assert all(each["meaning"] for each in records)
    assert "not comparable between scales" in document["warnings"][0]


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_published_values_of_alpha(venire, judgments, level, value):
    asked = ("--name", "krippendorff_alpha", "--measurement", level, "--draws", "20", "--format", "json")
    (record,) = loaded(venire("agreement", judgments, *asked).out)["statistics"]
    assert record["value"] == pytest.approx(value, abs=5e-4)
    assert (record["level"], record["n_raters"]) == (level, 4)


def test_phi_stands_among_the_statistics(venire, write):
    items = [[5, 6, 5], [4, 5, 5], [3, 5, 3], [6, 6, 6], [5, 5, 4]]
    lines = [f"1\td{d}\tU{u}\t{label}" for d, item in enumerate(items) for u, label in enumerate(item)]
    path = write("seven.tsv", HEAD + "\n".join(lines) + "\n")
    (record,) = loaded(venire("agreement", path, "--name", "phi", "--scale", "0<1<2<3<4<5<6", "--format", "json").out)[
        "statistics"
    ]
    assert record["value"] == pytest.approx(0.99999975831, abs=1e-8)
    assert record["low"] == pytest.approx(0.986, abs=5e-4)
    nominal = venire("agreement", path, "--name", "phi", "--measurement", "nominal", "--format", "json")
    (record,) = loaded(nominal.out)["statistics"]
    assert (record["value"], nominal.code) == (None, 0)
    assert "no order" in record["reason"]


def test_people_get_a_table_and_the_meaning_beside_it(venire, judgments):
    answer = venire("agreement", judgments, "--draws", "50", "--name", "raw_agreement", "--name", "phi")
    lines = [line.split() for line in answer.out.splitlines()]
    assert lines[0] == ["name", "level", "raters", "value", "low", "high", "n_items", "n_raters"]
    assert [line[0] for line in lines[1:]] == ["raw_agreement", "phi"]
    assert "Phi is" in answer.err
    assert "not comparable between scales" in answer.err
    assert venire("agreement", judgments, "--draws", "0", "--quiet").err == ""


def test_of_a_long_scale_people_see_the_overlap_of_a_few_labels(venire, write, tmp_path):
    labels = [(n, who, (n + 3 * who) % 100) for n in range(100) for who in range(2)]
    path = write("grades.tsv", HEAD + "".join(f"t\td{n:03}\tU{who}\t{label}\n" for n, who, label in labels))
    asked = ("agreement", path, "--name", "jaccard", "--draws", "0")
    plot = ("--plot", tmp_path / "few.svg")
    answer = venire(*asked, *plot)
    assert [line.split()[1] for line in answer.out.splitlines()[1:]] == ["99", "75", "50", "25", "1"]
    assert "note: jaccard is shown for 5 of 99 labels (99, 75, 50, 25, 1); JSON and CSV have all" in answer.err
    assert len(loaded(venire(*asked, "--format", "json").out)["statistics"]) == 99
    assert len(venire(*asked, "--format", "csv").out.splitlines()) == 100
    assert "jaccard, 98" not in (tmp_path / "few.svg").read_text(encoding="utf-8")


def test_a_scale_of_thirteen_labels_has_all_its_rows(venire, write):
    labels = "".join(f"t\td{n:02}\tU{who}\t{n}\n" for n in range(13) for who in range(2))
    answer = venire("agreement", write("grades.tsv", HEAD + labels), "--name", "jaccard", "--draws", "0")
    assert len(answer.out.splitlines()) == 13
    assert "is shown for" not in answer.err


def test_by_topic_there_is_a_set_for_each(venire, judgments):
    asked = ("--by", "topic", "--name", "raw_agreement", "--draws", "20")
    document = loaded(venire("agreement", judgments, *asked, "--format", "json").out)
    assert [(each["group"], each["name"]) for each in document["statistics"]] == [
        ("t0", "raw_agreement"),
        ("t1", "raw_agreement"),
    ]
    assert sum(each["n_items"] for each in document["statistics"]) == 11
    assert venire("agreement", judgments, *asked, "--format", "csv").out.startswith("group,name,level")
    pooled = loaded(venire("agreement", judgments, *asked[2:], "--over", "topics", "--format", "json").out)
    values = [each["value"] for each in document["statistics"]]
    assert pooled["statistics"][0]["value"] == pytest.approx(sum(values) / 2)


def test_by_aspect(venire, write):
    lines = ["1\ta\tU\t1\trel", "1\ta\tV\t1\trel", "1\ta\tU\t0\ttrust", "1\ta\tV\t1\ttrust"]
    path = write("aspects.tsv", HEAD.strip() + "\taspect\n" + "\n".join(lines) + "\n")
    asked = ("--name", "raw_agreement", "--format", "json")
    document = loaded(venire("agreement", path, "--by", "aspect", *asked).out)
    assert [(each["group"], each["value"]) for each in document["statistics"]] == [("rel", 1.0), ("trust", 0.0)]
    mixed = venire("agreement", path, *asked)
    assert (mixed.code, "--where aspect=" in mixed.err) == (2, True)


def test_by_assessor_differences_are_told_with_evidence(venire, crowd):
    answer = venire("agreement", crowd, "--by", "assessor", "--format", "json")
    document = loaded(answer.out)
    assert list(document) == ["assessors", "confusions", "reference", "warnings"]
    flags = {each["assessor"]: each["flags"] for each in document["assessors"]}
    assert {name: flag for name, flag in flags.items() if flag} == {"random1": ["unrelated labels"]}
    assert document["reference"] == []
    assert any("--reference" in text for text in document["warnings"])
    pair = [each for each in document["confusions"] if (each["a"], each["b"]) == ("careful1", "careful2")]
    assert sum(each["n"] for each in pair) == 480
    for_people = venire("agreement", crowd, "--by", "assessor")
    assert "random1: gives the same label as the others in" in for_people.err
    assert for_people.out.splitlines()[0].split()[:2] == ["assessor", "n_labels"]
    for_machines = venire("agreement", crowd, "--by", "assessor", "--format", "csv")
    assert "evidence" in for_machines.out.splitlines()[0]


def test_by_assessor_against_a_reference(venire, crowd):
    answer = venire("agreement", crowd, "--by", "assessor", "--reference", "random1", "--format", "json")
    document = loaded(answer.out)
    assert document["reference"] == ["random1"]
    records = {each["assessor"]: each for each in document["assessors"]}
    assert records["random1"]["agreement"] is None
    assert records["careful1"]["n_shared"] == 480
    assert records["careful1"]["flags"]
    assert document["warnings"] == []
    wrong = venire("agreement", crowd, "--reference", "random1")
    assert (wrong.code, "--by assessor" in wrong.err) == (2, True)
    unknown = venire("agreement", crowd, "--by", "assessor", "--reference", "careful")
    assert (unknown.code, "'careful'" in unknown.err) == (2, True)


def test_one_label_each_is_told_and_goes_on(venire, qrels):
    answer = venire("agreement", qrels, "--format", "json", "--draws", "20")
    assert answer.code == 0
    assert all(each["value"] is None and each["reason"] for each in loaded(answer.out)["statistics"])
    assert "phi (ordinal): no item was judged by two assessors" in venire("agreement", qrels, "--name", "phi").err
    alone = loaded(venire("agreement", qrels, "--by", "assessor", "--format", "json").out)
    assert alone["confusions"] == []
    assert "no item was judged by two" in alone["warnings"][0]


def test_plots(venire, judgments, crowd, qrels, tmp_path):
    plot = tmp_path / "plot.svg"
    assert venire("agreement", judgments, "--draws", "20", "--plot", plot).code == 0
    assert "krippendorff alpha" in plot.read_text(encoding="utf-8")
    assert venire("agreement", crowd, "--by", "assessor", "--plot", plot).code == 0
    assert "random1" in plot.read_text(encoding="utf-8")
    two = ("--where", "assessor=U0", "--where", "assessor=U1")
    assert venire("agreement", judgments, *two, "--by", "assessor", "--plot", plot).code == 0
    assert "label by U0" in plot.read_text(encoding="utf-8")
    nothing = venire("agreement", qrels, "--draws", "0", "--plot", plot)
    assert (nothing.code, "nothing to plot" in nothing.err) == (2, True)


def test_what_is_not_known_is_refused(venire, judgments):
    answer = venire("agreement", judgments, "--name", "krippendorf_alpha")
    assert answer.code == 2
    assert "krippendorff_alpha" in answer.err
    assert venire("agreement", judgments, "--by", "aspect").code == 2


def test_a_crowd_may_be_anonymous(venire, write):
    lines = "".join(f"1\td{n % 5}\tw{n}\t{n % 2}\n" for n in range(40))
    crowd = write("crowd.tsv", "topic\tdoc\tassessor\tlabel\n" + lines)
    assert '"n_raters": 40' in venire("agreement", crowd, "--name", "krippendorff_alpha", "--format", "json").out
    asked = ("agreement", crowd, "--name", "krippendorff_alpha", "--format", "json", "--limit", "assessors=39")
    refused = venire(*asked)
    assert refused.code == 2
    assert "anonymous" in refused.err
    answer = venire(*asked, "--anonymous")
    assert answer.code == 0
    assert '"n_raters": 8' in answer.out
