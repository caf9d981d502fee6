"""The reference and the gallery keep up with the code: commands, public names, plot functions."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import click
import pytest

from venire.cli.main import COMMANDS, cli

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))

from command_help import all_commands, escaped  # noqa: E402 - the folder of tools is known now
from formulas import as_mathml, as_plain  # noqa: E402
from gallery import PAGE, entries, opening  # noqa: E402

MOST_BYTES = 1_500_000
TEXT = PAGE.read_text(encoding="utf-8")
ENTRIES = entries(TEXT)


@pytest.fixture(scope="module")
def parts():
    pytest.importorskip("markdown")
    import site_parts

    return site_parts


def test_every_option_of_a_command_is_listed():
    commands = all_commands()
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        here = f"\n{commands}".partition(f"\n## venire {name}\n")[2].partition("\n## ")[0]
        shown = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
        assert all(re.search(rf"`[^`]*{re.escape(each.opts[-1])}\b", here) for each in shown), name
        assert f"\nvenire {name}" in here.partition("**Examples**")[2], name


def test_help_shows_its_own_characters():
    assert escaped("a|b <c> *d*") == "a&#124;b &#60;c&#62; &#42;d&#42;"


def test_every_public_name_stands_on_one_page_that_is_there(parts):
    found = [name for page in parts.HOMES for names in parts.names_on(page).values() for name in names]
    assert len(found) > 200
    assert {"compare", "alpha", "UnjudgedWarning"} <= set(found)
    pages = ROOT / "docs" / "reference" / "python"
    for page in parts.HOMES:
        text = (pages / f"{page}.md").read_text(encoding="utf-8")
        assert f"made here: public names of {page} " in text or not parts.names_on(page)


def test_every_plot_function_has_a_picture(parts):
    drawn = [picture.removesuffix(".svg") for _, picture, *_ in ENTRIES]
    assert sorted(drawn) == sorted(name for names in parts.plot_functions().values() for name in names)
    for each in ENTRIES:
        assert f"figure = {each.picture.removesuffix('.svg')}(" in each.code


def test_pictures_are_there_and_small():
    files = sorted(path.name for path in PAGE.parent.glob("*.svg"))
    assert files == sorted(each.picture for each in ENTRIES)
    assert sum((PAGE.parent / name).stat().st_size for name in files) < MOST_BYTES


def test_commands_of_the_gallery_are_understood():
    for line in [*opening(TEXT)[0], *(line for each in ENTRIES for line in each.commands)]:
        first, name, *rest = shlex.split(line)
        assert first == "venire"
        command = cli.get_command(click.Context(cli), name)
        assert command is not None, line
        command.make_context(name, rest)


def test_comments_are_replaced_by_what_is_made(parts):
    made = parts.made("<!-- made here: public names of planning -->")
    assert [line for line in made if line.startswith("::: venire.planning.")]
    assert parts.made("<!-- not run: no -->") == ["<!-- not run: no -->"]
    with pytest.raises(KeyError, match="nosuch"):
        parts.made("<!-- made here: nosuch -->")


def test_long_sentences_of_outputs_are_marked(parts):
    from markdown import Markdown

    assert parts.kind_of(f"note: {'word ' * 40}") == "words"
    assert parts.kind_of(f"label     p\n3    0.74\nnote: {'word ' * 40}") == "mixed"
    assert parts.kind_of("  ".join("abcdefghij")) == "mixed"
    assert parts.kind_of("<span>cell  </span>" * 40) == "cells"
    block = '<div class="language-text highlight"><pre><code>done</code></pre></div>'
    assert 'class="language-text words highlight"' in Markdown(extensions=["site_parts"]).convert(block)


def test_formulas():
    assert as_mathml("a_i^2") == "<math><msubsup><mi>a</mi><mi>i</mi><mn>2</mn></msubsup></math>"
    shown = as_mathml(r"\sum_{j<k} \frac{1}{\text{to j}}", display=True)
    assert shown.startswith('<math display="block"><munder><mo>∑</mo><mrow><mi>j</mi><mo>&#60;</mo><mi>k</mi></mrow>')
    assert "<mfrac><mrow><mn>1</mn></mrow><mrow><mtext>to&nbsp;j</mtext></mrow></mfrac>" in shown
    assert as_plain(r"\delta \le \text{all}") == "δ≤all"


def test_formulas_in_docstrings_and_shared_parameters():
    pytest.importorskip("markdown")
    from docstring_extension import one_by_one, with_formulas, with_meanings

    text = "One :math:`x`.\n\n.. math:: y =\n    2\n\nThen\n\n    a table of :math:`\\mu`"
    one, shown, then, table = with_formulas(text).split("\n\n")
    assert one == "One <span><math><mi>x</mi></math></span>."
    assert shown.startswith('<p style="overflow-x: auto"><math display="block"><mi>y</mi><mo>=</mo><mn>2</mn>')
    assert (then, table) == ("Then", "    a table of μ")
    lines = with_formulas(".. math:: a &= b \\\\\n    c &= d\n\n    a table").split("\n\n")
    assert (lines[0].count("<math "), "&" in lines[0], lines[1]) == (2, False, "    a table")
    assert with_formulas("    where\n\n        .. math:: \\frac{a}{b}") == "    where\n\n        (a) / (b)"
    shared = "Parameters\n----------\nlow, high : int\n    Limits.\nname : str\n    A name.\n"
    apart = "Parameters\n----------\nlow : int\n    Limits.\nhigh : int\n    Limits.\nname : str\n    A name.\n"
    assert one_by_one(shared) == apart
    assert with_meanings(apart) == apart
    head = "Parameters\n----------\n"
    short = f"{head}k : how deep\nn : how many of them there are\n    0: none\nm : int\n    Most.\n\nk : v"
    said = f"{head}k\n    how deep\nn\n    how many of them there are\n    0: none\nm : int\n    Most.\n\nk : v"
    assert with_meanings(short) == said
