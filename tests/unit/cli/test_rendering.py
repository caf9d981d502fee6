from __future__ import annotations

import csv
import io

import pytest

from json_results import loaded
from venire.cli.output import Table, as_csv, as_json, as_latex, as_markdown, as_text

SCORES = Table(("system", "AP"), [("bm25_a", 0.123456), ("b|c", None), ("d", 1.0)])


def test_a_table_for_a_terminal_is_aligned():
    assert as_text(SCORES) == "system      AP\nbm25_a  0.1235\nb|c          -\nd       1.0000\n"


def test_counts_have_their_thousands_apart():
    assert as_text(Table(("what", "n"), [("labels", 12345), ("topics", 7)])) == (
        "what         n\nlabels  12,345\ntopics       7\n"
    )


def test_a_table_without_rows_is_its_header():
    assert as_text(Table(("system", "AP"), [])) == "system  AP\n"


def test_csv_has_all_digits_and_nothing_for_nothing():
    assert as_csv(SCORES) == "system,AP\nbm25_a,0.123456\nb|c,\nd,1.0\n"


def test_csv_quotes_what_needs_it():
    table = Table(("system", "value"), [('a,"b"', 1)])
    assert list(csv.reader(io.StringIO(as_csv(table)))) == [["system", "value"], ['a,"b"', "1"]]


def test_markdown_keeps_pipes_inside_their_cells():
    assert as_markdown(SCORES) == (
        "| system | AP |\n| --- | ---: |\n| bm25_a | 0.1235 |\n| b\\|c | - |\n| d | 1.0000 |\n"
    )


@pytest.mark.parametrize("text", ["a*b*", "a<b>", "a`b`", "a\\b"])
def test_markdown_shows_names_as_they_are(text):
    cell = as_markdown(Table(("x",), [(text,)])).splitlines()[2]
    assert "".join(character for character in cell if character != "\\").strip("| ") == text.replace("\\", "")
    assert cell.count("\\") == sum(text.count(each) for each in "*<`") + 2 * text.count("\\")


def test_latex_has_rules_and_escapes():
    assert as_latex(SCORES).splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"system & AP \\",
        r"\midrule",
        r"bm25\_a & 0.1235 \\",
        r"b\textbar{}c & -- \\",
        r"d & 1.0000 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_latex_escapes_everything_special():
    cell = as_latex(Table((r"&%$#_{}~^\<>",), [])).splitlines()[2]
    assert cell == (r"\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}\textless{}\textgreater{} \\")


@pytest.mark.parametrize("render", [as_text, as_markdown, as_latex])
def test_a_line_end_in_a_name_makes_no_row(render):
    one, two = (render(Table(("x",), [(name,)])).count("\n") for name in ("a b", "a\nb"))
    assert one == two


def test_json_puts_records_on_lines_of_their_own():
    document = {"scores": [{"a": 1}, {"a": None}], "names": ["x"], "n": 2, "none": []}
    text = as_json(document)
    assert loaded(text) == document
    assert '\n{"a": 1},\n' in text


def test_json_never_holds_nan():
    document = {"value": float("nan"), "records": [{"low": float("-inf"), "high": [float("inf"), 1.0]}]}
    assert loaded(as_json(document)) == {"value": None, "records": [{"low": None, "high": [None, 1.0]}]}
