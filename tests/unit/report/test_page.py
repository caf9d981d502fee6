"""The page: tables have names and headers, and numbers in pictures keep their digits."""

from __future__ import annotations

import re
from importlib.resources import files

from venire.report.document import Chapter, Grid, Picture, Report, Words
from venire.report.page import inline_svg, page
from venire.results import listed


def html() -> str:
    grid = Grid("sizes", "How large <things> are.", ["thing", "size"], [["a<b", 1.5], ["c", None]])
    chapter = Chapter("one", "One", "Found 2 of 3.", (Words("a--b"), grid))
    return page(Report("title", (chapter,), {"version": "1"}))


def test_tables_are_named_and_their_rows_and_columns_headed():
    found = html()
    assert '<table aria-labelledby="sizes-caption"' in found
    assert 'id="sizes-caption"' in found
    assert found.count('<th scope="col"') == 2
    assert re.findall(r"<th scope=row>([^<]*)</th>", found) == ["a&lt;b", "c"]


def test_every_button_to_save_has_a_name_of_its_own():
    script = files("venire.report").joinpath("assets", "page.js").read_text(encoding="utf-8")
    assert 'save.setAttribute("aria-label", "Save as CSV: "' in script


def test_few_names_are_listed_and_many_counted():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed([*"abcdefgh"], 3) == "a, b, c and 5 more"


def test_numbers_that_are_written_in_a_picture_keep_their_digits():
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots()
    axes.plot([0.1, 0.2], [1.23456, 2])
    axes.set_xticks([0.125, 0.175])
    drawn = inline_svg(Picture("p", "c", figure, "w"))
    assert ">0.125</text>" in drawn
    assert ">0.175</text>" in drawn
    assert not re.search(r'd="[^"]*\d\.\d{3}', drawn)
