"""Names in plots are shortened in one way: in the middle, and are text whatever they hold."""

from __future__ import annotations

import warnings
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from venire.errors import MissingGlyphWarning
from venire.plots import style
from venire.plots.style import name_columns, name_rows, one_panel, plain, short_name, short_names, styled, write_figure


def test_a_name_that_fits_stays_as_it_is():
    assert short_name("x" * 28) == "x" * 28
    assert short_name("bm25", 4) == "bm25"


@pytest.mark.parametrize("longest", [4, 5, 20, 28])
def test_a_long_name_keeps_its_beginning_and_its_end(longest):
    name = "abcdefghijklmnopqrstuvwxyz0123456789"
    found = short_name(name, longest)
    assert len(found) == longest
    start, end = found.split("…")
    assert name.startswith(start)
    assert name.endswith(end)
    assert 0 <= len(start) - len(end) <= 1


@pytest.mark.parametrize("longest", [20, 24, 48])
def test_long_names_that_differ_in_the_middle_stay_different(longest):
    long = [f"a_system_of_a_very_long_name_{n}_bm25_with_another_very_long_ending" for n in range(12)]
    names = [*long, "short", "x" * 100, long[0], *(f"{n}{'y' * 100}" for n in range(3))]
    found = short_names(names, longest)
    assert len(set(found)) == len(set(names))
    assert all(len(each) <= longest for each in found)
    assert found[12:14] == ["short", short_name("x" * 100, longest)]


HOSTILE = (r"$\frac{3$", "$x^2$", "_first", "\x1b[31m", "\x00", "caf\udce9", "#000000", "<b>&amp;")


@pytest.mark.parametrize("ending", [".svg", ".png", ".pdf"])
def test_names_are_text(tmp_path, ending):
    """Whatever a name holds, it is drawn as it is: no mathematics, no markup, no controls; and it is in the legend."""
    with styled():
        figure, axes = one_panel()
        for number, name in enumerate(HOSTILE):
            axes.plot([number], [number], label=plain(name))
        axes.set(title=HOSTILE[0], xlabel=HOSTILE[1])
        name_rows(axes, HOSTILE)
        name_columns(axes, HOSTILE)
        axes.legend()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingGlyphWarning)
        write_figure(figure, tmp_path / f"names{ending}")
    assert len(axes.get_legend().texts) == len(HOSTILE)
    if ending == ".svg":
        texts = [each.text for each in ET.parse(tmp_path / "names.svg").iter() if each.tag.endswith("text")]
        shown = {r"$\frac{3$", "$x^2$", "_first", r"\x1b[31m", r"\x00", r"caf\udce9", "#000000", "<b>&amp;"}
        assert shown <= {text.strip() for text in texts}


@pytest.mark.parametrize("ending", [".png", ".pdf"])
def test_characters_that_the_font_lacks_are_named_in_one_warning(tmp_path, ending):
    with styled():
        figure, axes = one_panel()
        axes.set_title("\u7cfb\u7d71 \u7cfb")
    with pytest.warns(MissingGlyphWarning, match="the font lacks \u7cfb\u7d71; write .svg") as caught:
        write_figure(figure, tmp_path / f"names{ending}")
    assert len(caught) == 1


def test_an_svg_has_its_names_as_text_whatever_the_font(tmp_path):
    with styled():
        figure, axes = one_panel()
        axes.set_title("\u7cfb\u7d71")
    write_figure(figure, tmp_path / "names.svg")
    assert "\u7cfb\u7d71" in (tmp_path / "names.svg").read_text(encoding="utf-8")


def test_no_other_plot_module_cuts_names_itself():
    folder = Path(style.__file__).parent
    assert [path.name for path in sorted(folder.glob("*.py")) if "…" in path.read_text(encoding="utf-8")] == [
        "style.py"
    ]
