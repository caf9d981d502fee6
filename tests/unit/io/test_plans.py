"""Files of plans: what is written is read back, and what is not a plan is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from venire import FormatError, read_judgments
from venire.data.asked import KINDS, Asked
from venire.io.inspect import inspect_file
from venire.io.limits import within_limits
from venire.io.plans import COLUMNS, plan_bytes, read_plan, write_plan

HEAD = "\t".join(COLUMNS)
ROW = "q1\td1\tann\treference\t0.5\trank 1"
PLAN = (Asked("q1", "d1", "ann", "reference", 0.5, "rank 1"), Asked("q1", "d2", "bob", "first", 1.0, "rank 2"))
ODD = ("a\tb", "two\nlines", 'say "no"', '"', "#1", " spaced ", "=1+1", "\x1b[31m", "é", "NA", "null", "1e5", "\r", ",")


def written(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("name", ["plan.tsv", "plan.tsv.gz", "plan.tsv.zst", "plan"])
def test_round_trip(tmp_path, name):
    write_plan(PLAN, tmp_path / name)
    assert read_plan(tmp_path / name) == PLAN
    assert read_plan(str(tmp_path / name)) == PLAN


def test_columns_are_those_of_the_contract(tmp_path):
    assert plan_bytes(PLAN).decode().splitlines()[0] == "topic\tdoc\tjudge\tkind\tprobability\treason"
    test = Asked("q1", "d1", "ann", "preference", 0.25, "2 against 1", "d2")
    assert plan_bytes([test]).decode().splitlines()[0] == "topic\tdoc\tjudge\tkind\tprobability\treason\tother"
    anybody = test._replace(doc="d2", other="d1", judge="")
    write_plan([test, anybody, *PLAN], tmp_path / "plan.tsv")
    assert read_plan(tmp_path / "plan.tsv") == (test, anybody, *PLAN)


def test_a_plan_that_asks_for_nothing_has_its_header(tmp_path):
    write_plan([], tmp_path / "plan.tsv")
    assert (tmp_path / "plan.tsv").read_text() == HEAD + "\n"
    assert read_plan(tmp_path / "plan.tsv") == ()


names = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(st.lists(st.tuples(names, names, names, st.sampled_from(KINDS[:3]), names), unique=True), st.data())
def test_names_come_back_as_they_were(tmp_path_factory, rows, data):
    chance = st.floats(0, 1, exclude_min=True, allow_subnormal=False)
    asked = {row[:4]: Asked(*row[:4], data.draw(chance), row[4]) for row in rows}
    path = tmp_path_factory.mktemp("plans") / "plan.tsv"
    write_plan(tuple(asked.values()), path)
    assert read_plan(path) == tuple(asked.values())


def test_bytes_that_are_no_text_are_refused(tmp_path):
    with pytest.raises(FormatError, match="not UTF-8"):
        write_plan([Asked("q1", "d\udcff", "ann", "first", 0.5, "rank 1")], tmp_path / "plan.tsv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("q1\td1\tann\treference\t0\trank 1", "the probability is 0"),
        ("q1\td1\tann\treference\t-0.5\trank 1", "the probability is -0.5"),
        ("q1\td1\tann\treference\t1.01\trank 1", "the probability is 1.01"),
        ("q1\td1\tann\treference\tnan\trank 1", "probability"),
        ("q1\td1\tann\treference\tinf\trank 1", "not a finite number"),
        ("q1\td1\tann\treference\t\trank 1", "probability"),
        ("q1\td1\tann\treference\thalf\trank 1", "not a finite number"),
        ("q1\td1\tann\tthird\t0.5\trank 1", "no kind of judgment 'third'"),
        ("q1\td1\tann\tpreference\t0.5\trank 1", "other document"),
        ("q1\t\tann\treference\t0.5\trank 1", "the doc is empty"),
        ("q1\td1\t\treference\t0.5\trank 1", "the judge is empty"),
        ("q1\td1\tann\treference\t\trank 1", "the probability is empty"),
        ("q1\td1\tann\treference\t0.5", "found 5 fields, expected 6"),
        ("q0\td0\tann\treference\t0.25\trank 9", "asked for twice"),
    ],
)
def test_wrong_lines_are_named(tmp_path, line, what):
    path = written(tmp_path / "plan.tsv", HEAD, "q0\td0\tann\treference\t0.5\trank 1", line)
    with pytest.raises(FormatError, match=what) as error:
        read_plan(path)
    assert error.value.line == 3
    assert str(error.value).startswith(f"{path}:3: ")


@pytest.mark.parametrize("head", [f"{HEAD}\tlabel", HEAD.replace("\treason", ""), "topic\tdoc\tlabel", "q1 0 d1 1"])
def test_other_columns_are_refused(tmp_path, head):
    path = written(tmp_path / "plan.tsv", head, "\t".join("x" * (head.count("\t") + 1)))
    with pytest.raises(FormatError, match="columns") as error:
        read_plan(path)
    assert error.value.line == 1


def test_an_empty_file_and_a_missing_one(tmp_path):
    with pytest.raises(FormatError):
        read_plan(written(tmp_path / "empty.tsv"))
    with pytest.raises((FormatError, OSError)):
        read_plan(tmp_path / "none.tsv")


def test_fields_have_limits(tmp_path):
    path = written(tmp_path / "plan.tsv", HEAD, ROW.replace("d1", "d" * 2000))
    assert len(read_plan(path)) == 1
    with within_limits(field_length=1000), pytest.raises(FormatError, match="2,000 bytes"):
        read_plan(path)


def test_a_plan_with_labels_is_a_table_of_judgments(tmp_path):
    path = written(tmp_path / "labels.tsv", f"{HEAD}\tlabel", f"{ROW}\t2", "q1\td2\tbob\tfirst\t1\trank 2\t0")
    labels = read_judgments(path)
    assert labels.assessors == ("ann", "bob")
    assert labels.probability.tolist() == [0.5, 1.0]


def test_a_plan_is_not_taken_for_judgments(tmp_path):
    with pytest.raises(FormatError, match="looks like a plan") as error:
        read_judgments(written(tmp_path / "plan.tsv", HEAD, ROW))
    assert "label" in error.value.hint


def test_inspect_recognises_a_plan(tmp_path):
    write_plan(PLAN, tmp_path / "plan.tsv")
    found = inspect_file(tmp_path / "plan.tsv")
    assert (found.kind, found.readable) == ("plan", True)
    assert {name: found.facts[name] for name in ("judgments", "topics", "judges")} == {
        "judgments": 2,
        "topics": 1,
        "judges": ["ann", "bob"],
    }
    assert (found.facts["first_judgments"], found.facts["reference_judgments"]) == (1, 1)
    assert "second_judgments" not in found.facts


def test_inspect_finds_what_is_wrong_with_a_plan(tmp_path):
    wrong = (ROW, ROW.replace("0.5", "7"), ROW.replace("d1", "d3").replace("0.5", "x"), ROW.replace("d1", "d4"))
    found = inspect_file(written(tmp_path / "plan.tsv", HEAD, *wrong))
    assert found.kind == "plan"
    assert [each.line for each in found.problems if each.fatal] == [3, 4]
