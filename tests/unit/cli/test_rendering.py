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


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("![x](http://a/b.png)", r"\!\[x\](http\://a/b.png)"),
        ("[x](y)", r"\[x\](y)"),
        ("<img src=x>", r"\<img src=x>"),
        ("&lt;b&gt;", r"\&lt;b\&gt;"),
        ("_x_ a_b", r"\_x\_ a_b"),
        ("$x$", r"\$x\$"),
        ("www.example.org", r"www\.example.org"),
        ("~~x~~", r"\~\~x\~\~"),
    ],
)
def test_markdown_has_no_markup_of_names(text, cell):
    assert as_markdown(Table((text,), [(text,)])).splitlines()[::2] == [f"| {cell} |"] * 2


def test_a_row_of_latex_does_not_begin_with_an_option():
    lines = as_latex(Table(("[1cm]", "x"), [("[x]", "[y]"), ("*", "*"), (" [z]", "")])).splitlines()
    assert [line for line in lines if "&" in line] == [
        r"{}[1cm] & x \\",
        r"{}[x] & [y] \\",
        r"{}* & * \\",
        r"{} [z] &  \\",
    ]


FORMULAS = ["=1+1", '=HYPERLINK("x")', "+1+1", "-1+1", "@x", "--1", "=", "＝1"]  # noqa: RUF001
NO_FORMULAS = ["-1", "+2", "-1.5e-3", "-", "a=b", "1-2", "", "-.5", "+10%"]


@pytest.mark.parametrize("text", FORMULAS)
def test_csv_has_no_formulas_of_names(text):
    table = Table((text, "value"), [(text, -1.5), ("x", -2)])
    rows = list(csv.reader(io.StringIO(as_csv(table))))
    assert rows == [[f"'{text}", "value"], [f"'{text}", "-1.5"], ["x", "-2"]]
    rows = list(csv.reader(io.StringIO(as_csv(table, raw_names=True))))
    assert rows == [[text, "value"], [text, "-1.5"], ["x", "-2"]]


@pytest.mark.parametrize("text", NO_FORMULAS)
def test_csv_keeps_labels_that_are_numbers(text):
    assert next(csv.reader(io.StringIO(as_csv(Table((text, "x"), []))))) == [text, "x"]


@pytest.mark.parametrize("render", [as_text, as_csv, as_markdown, as_latex])
@pytest.mark.parametrize("control", ["\x1b", "\x07", "\x7f", "\x9b", "\u202e", "\udc9b"])
def test_controls_are_seen_and_do_nothing(render, control):
    text = render(Table((f"a{control}b",), [(f"a{control}b",)]))
    assert control not in text
    plain = text.replace("textbackslash{}", "")
    assert plain.count("a\\x") + plain.count("a\\\\x") + plain.count("a\\u202e") + plain.count("a\\\\u202e") == 2


def test_json_has_controls_as_escapes():
    name = "\x1b\x7f\x9b\u202e\n"
    text = as_json({"name": name})
    assert loaded(text) == {"name": name}
    assert text.isprintable() or text.rstrip("\n").isprintable()


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
