from __future__ import annotations

import csv
import io
import json

import pytest

from venire import papers
from venire.papers.table import Table

KEYS = ["paper", "table", "cell", "printed", "ours", "difference", "holds", "skipped"]


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("VENIRE_DATA", raising=False)


@pytest.fixture
def one_wrong(monkeypatch):
    """Two papers of one table each; a cell of the second does not hold."""

    def table(paper: str, ours: float) -> Table:
        return Table(paper=paper, where="Table 1", title="t", compute=lambda _: ours, printed={"c": "0.50"})

    tables = {"right": [table("right", 0.5)], "wrong": [table("wrong", 0.6)]}
    monkeypatch.setattr("venire.cli.papers.PAPERS", dict.fromkeys(tables, "title"))
    monkeypatch.setattr("venire.cli.papers.tables_of", tables.__getitem__)


def test_lists_papers_and_tables(venire):
    answer = venire("papers")
    assert answer.code == 0
    assert len(answer.out.splitlines()) == 1 + len(papers.ALL)
    assert "doi:10.1145/2556195.2556268" in answer.err
    document = json.loads(venire("papers", "--format", "json").out)
    assert [each["paper"] for each in document["papers"]] == list(papers.PAPERS)
    assert document["tables"][0].keys() == {"paper", "table", "title", "cells", "needs"}
    assert sum(each["cells"] for each in document["tables"]) == sum(len(table.printed) for table in papers.ALL)


def test_check_computes_every_cell(venire):
    answer = venire("papers", "check", "--format", "json")
    assert answer.code == 0
    cells = json.loads(answer.out)["cells"]
    assert [list(each) for each in cells] == [KEYS] * sum(len(table.printed) for table in papers.ALL)
    assert all(each["holds"] or each["skipped"] for each in cells)
    skipped = [each for each in cells if each["holds"] is None]
    assert {each["ours"] for each in skipped} == {each["difference"] for each in skipped} == {None}
    reasons = {each["skipped"] for each in skipped}
    assert all(reason.startswith(("needs the data set", "takes minutes")) for reason in reasons)
    assert {"needs the data set rf10_crowd", "needs the data set fedweb13"} <= {each.split(";")[0] for each in reasons}


def test_check_of_one_paper(venire):
    cells = json.loads(venire("papers", "check", "demeester2015", "--format", "json").out)["cells"]
    assert {each["paper"] for each in cells} == {"demeester2015"}
    first = cells[0]
    assert (first["table"], first["cell"]) == ("Table 1: p(U2=2|U1=i) by Eq. (4)", "2")
    assert (first["printed"], first["ours"], first["difference"], first["holds"]) == ("2/4", 0.5, 0.0, True)
    assert first["skipped"] is None


def test_between_statements_there_is_no_difference(venire):
    cells = json.loads(venire("papers", "check", "golbus2014", "--format", "json").out)["cells"]
    said = [each for each in cells if each["printed"] in ("yes", "no")]
    assert {each["difference"] for each in said} == {None}
    assert {each["holds"] for each in said} == {True, False}
    assert None not in [each["difference"] for each in cells if each not in said and each["holds"] is not None]
    lines = venire("papers", "check", "golbus2014").out.splitlines()
    (same,) = [line.split() for line in lines if line.strip().startswith("the two are the same")]
    assert same[-4:] == ["yes", "no", "-", "known"]


def test_people_read_a_block_per_table(venire):
    answer = venire("papers", "check")
    assert answer.code == 0
    blocks = answer.out.split("\n\n")
    assert len(blocks) == len(papers.ALL)
    by_head = {block.splitlines()[0]: block.splitlines()[1:] for block in blocks}
    fitted = by_head["demeester2015, Table 1: p(2|i) by Eq. (5)"]
    assert fitted[1].split() == ["2", "4/10", "4/10", "0.0000", "yes"]
    assert by_head["demeester2014, Table 1: experimental P(M/N) given Rel"] == [
        "  skipped: needs the data set rf10_crowd; set VENIRE_DATA to the folder that holds it"
    ]
    known = by_head["demeester2015, Section 7.2: gain of label 1 over that of label 2, Chinese informational queries"]
    assert known[1].split()[-1] == "known"
    assert known[2].startswith("  known, 1: does not follow")
    assert "hold and 0 do not" in answer.err


@pytest.mark.usefixtures("one_wrong")
def test_what_does_not_hold_ends_with_1(venire):
    answer = venire("papers", "check")
    assert answer.code == 1
    assert "of 2 cells 1 hold and 1 do not" in answer.err
    assert answer.out.splitlines()[-1].split() == ["c", "0.50", "0.6000", "0.1000", "no"]
    assert venire("papers", "check", "right").code == 0
    wrong = venire("papers", "check", "wrong", "--format", "json")
    assert wrong.code == 1
    assert json.loads(wrong.out)["cells"][0]["holds"] is False


def test_full_size_is_asked_for(venire, monkeypatch):
    shared = {"paper": "p", "where": "Table 1", "compute": lambda _: 0.4, "at_full": lambda _: 0.5}
    tables = [
        Table(title="quick", printed={"c": "0.4"}, **shared | {"at_full": None}),
        Table(title="two sizes", printed={"c": "0.5"}, findings={"c": "small"}, **shared),
        Table(title="slow", printed={"c": "0.5"}, only_full=True, **shared),
    ]
    monkeypatch.setattr("venire.cli.papers.tables_of", lambda _: tables)
    quick, full = (venire("papers", "check", "chu2021", "--format", "json", *more) for more in ((), ("--full",)))
    assert [each["ours"] for each in json.loads(quick.out)["cells"]] == [0.4, 0.4, None]
    assert [each["ours"] for each in json.loads(full.out)["cells"]] == [0.4, 0.5, 0.5]
    assert "papers check --full" in quick.err
    assert "--full" not in full.err


def test_a_value_that_is_no_number_fails_and_is_null(venire, monkeypatch):
    table = Table(paper="p", where="Table 1", title="t", compute=lambda _: float("nan"), printed={"c": "0.50"})
    monkeypatch.setattr("venire.cli.papers.tables_of", lambda _: [table])
    answer = venire("papers", "check", "demeester2015", "--format", "json")
    (cell,) = json.loads(answer.out)["cells"]
    assert (answer.code, cell["ours"], cell["difference"], cell["holds"]) == (1, None, None, False)


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_other_formats_have_a_row_per_cell(venire, form, tmp_path):
    place = tmp_path / "out"
    answer = venire("papers", "check", "demeester2015", "--format", form, "-o", place, "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    text = place.read_text()
    n_cells = sum(len(table.printed) for table in papers.tables_of("demeester2015"))
    if form == "csv":
        rows = list(csv.reader(io.StringIO(text)))
        assert rows[0] == KEYS
        assert len(rows) == 1 + n_cells
        assert {row[6] for row in rows[1:]} == {"yes", "known"}
    else:
        assert text.count("demeester2015") == n_cells


def test_an_unknown_paper_is_bad_input(venire):
    answer = venire("papers", "check", "demester2015")
    assert (answer.code, answer.out) == (2, "")
    assert "did you mean 'demeester2015'" in answer.err
    assert venire("papers", "chek").code == 2
