"""A figure as an SVG element within a page: of a report, or of a notebook.

Its text stays text, so that it can be read aloud, searched and scaled.  Colours of the plot style are replaced by those
of the page.  Ids are unique per picture, attributes replace styles, and there is no style sheet, which would apply to
the whole page.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from venire.plots.style import styled
from venire.results import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PREAMBLE = re.compile(r".*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>|\s*<style[^>]*>[^<]*</style>", re.DOTALL)
_SIZE = re.compile(r'<svg([^>]*?) width="([\d.]+)pt" height="([\d.]+)pt"')
_ID = re.compile(r'(id="|href="#|url\(#)([A-Za-z0-9_.:-]+)')
_FONT = re.compile(r"((?:bold |normal |italic |\d+ )*)([\d.]+)px .*")
_STYLE = re.compile(r' style="([^"]*)"')
_TAG = re.compile(r"<[^>]+>")
_NUMBER = re.compile(r"(?<![#\w.-])(-?\d+\.\d{3,})(?![\w%])")


def svg_element(figure: Figure, words: str, *, name: str, theme: Mapping[str, str], font: str) -> str:
    """Draw a figure as an element; words: its label; name: what its ids begin with; theme: colours to be replaced.

    The theme has a colour for the ink, "#000000", which is that of texts.
    """
    with styled(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the browser has the fonts
        sink = io.StringIO()
        figure.savefig(sink, format="svg", metadata={"Date": None}, transparent=True)
    text = _METADATA.sub("", _PREAMBLE.sub("", sink.getvalue(), count=1))
    text = _TAG.sub(lambda tag: _cleaned(tag[0], name, theme, font), text)  # text between tags is as it was drawn
    label = escape(visible(words), quote=True).replace("\\", r"\\")
    opening = (
        rf'<svg\g<1> role="img" aria-label="{label}" width="\g<2>pt" stroke-linejoin="round" stroke-linecap="butt"'
    )
    return _SIZE.sub(opening, text, count=1)


def _cleaned(tag: str, name: str, theme: Mapping[str, str], font: str) -> str:
    """Return a tag that follows the page: colours, unique ids, few digits, and attributes in place of a style."""
    white = tag.startswith("<text") and "fill: #ffffff" in tag  # on a dark cell, in every theme
    for colour, replacement in theme.items():
        tag = tag.replace(colour, "#fff" if white and colour == "#ffffff" else replacement)
    tag = _ID.sub(rf"\g<1>{name}-\g<2>", tag)
    own = {"fill": theme["#000000"], "font-family": font} if tag.startswith("<text") else {}
    tag = _STYLE.sub(lambda found: _attributes(found[1], own), tag)
    return _NUMBER.sub(lambda found: f"{float(found[1]):.2f}", tag)


def _attributes(style: str, own: Mapping[str, str]) -> str:
    """Return a style as attributes; own: the ink, where none is stated, and the font of a text."""
    held = {name.strip(): value.strip() for name, _, value in (each.partition(":") for each in style.split(";"))}
    found = _FONT.fullmatch(held.pop("font", ""))
    if found is not None:
        held["font-size"] = f"{found[2]}px"
        for word in found[1].split():
            held["font-style" if word == "italic" else "font-weight"] = word
    held = {"fill": own["fill"], **held, "font-family": own["font-family"]} if own else held
    return "".join(f' {name}="{value}"' for name, value in held.items() if name)
