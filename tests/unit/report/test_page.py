"""The page: tables have names and headers, and numbers in pictures keep their digits."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from importlib.resources import files

from venire.plots.style import one_panel
from venire.report.document import Chapter, Grid, Picture, Report, Words
from venire.report.page import inline_svg, page
from venire.results import CONTROLS, listed


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
    assert 'made.setAttribute("aria-label", text + ": " + label' in script
    assert 'button("Save as CSV", name,' in script
    assert 'button("Save as SVG", figure.id,' in script


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


NAMES = (
    "#000000 #555555 #ffffff",
    "url(#x)",
    'id="y"',
    "font: 9px Arial; style=",
    "<text style='fill: #ffffff'>",
    "0.123456",
)


def test_only_markup_of_a_picture_is_changed():
    """Colours, ids, fonts and digits of tags are; a name that looks like one of them is text."""
    figure, axes = one_panel()
    for number, name in enumerate(NAMES):
        axes.text(0.1, number / 10, name)
    axes.set_title(NAMES[0])
    drawn = inline_svg(Picture("p", "c", figure, "#000000 url(#x)"))
    texts = [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", drawn)]
    assert {*NAMES} <= {*texts}
    tags = re.findall(r"<[^>]+>", drawn)
    assert not [tag for tag in tags[1:] if "#000000" in tag or "#555555" in tag or " style=" in tag]
    assert 'aria-label="#000000 url(#x)"' in tags[0]
    assert "<style" not in drawn
    assert re.findall(r"url\(#(?!p-)", "".join(tags[1:])) == []


def test_a_page_allows_its_own_script_and_style_only():
    found = html()
    policy = unescape(re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', found)[1])
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for kind in ("script", "style"):
        (text,) = re.findall(rf"<{kind}>(.*?)</{kind}>", found, re.DOTALL)
        assert rules[f"{kind}-src"] == f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
    assert found.index("Content-Security-Policy") < found.index("<style>")


def test_controls_of_names_are_escapes_on_a_page():
    grid = Grid("g", "c", ["x\x1b"], [["a\x1b[31m\x00\u202e"]])
    found = page(Report("t\x9b", (Chapter("one", "One", "F\x07.", (Words("w\x1b"), grid)),), {"version": "1"}))
    assert not [each for each in CONTROLS.findall(found) if each != "\n"]
    assert r"a\x1b[31m\x00\u202e" in found
