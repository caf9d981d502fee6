"""Pictures for a page: figures as SVG inside the HTML, in the colours of the page, light or dark.

Text stays text, so that it can be read aloud, searched and scaled.  Ink, lines and paper of the house style become
properties of the page (``var(--ink)``), so one drawing serves light, dark and print.  Ids are made unique per picture.
"""

from __future__ import annotations

import io
import re
import warnings
from html import escape
from typing import TYPE_CHECKING

from venire.plots.style import GREY, INK, styled

if TYPE_CHECKING:
    from venire.report.document import Picture

THEME = {INK: "var(--ink)", GREY: "var(--line)", "#ffffff": "var(--paper)", "#000000": "var(--ink)"}
_PREAMBLE = re.compile(r".*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_SIZE = re.compile(r'<svg([^>]*?) width="([\d.]+)pt" height="([\d.]+)pt"')
_ID = re.compile(r'(id="|href="#|url\(#)([A-Za-z0-9_.:-]+)')
_FONT = re.compile(r"font: ((?:bold |normal |italic )*)([\d.]+)px [^;\"]*")
_WHITE_TEXT = re.compile(r'(<text style="[^"]*fill: )#ffffff')
_TAG = re.compile(r"<[^>]+>")
_NUMBER = re.compile(r"(?<![#\w.-])(-?\d+\.\d{3,})(?![\w%])")


def inline_svg(picture: Picture) -> str:
    """Draw a picture as an element of a page: scales with it, follows its colours, says what it shows."""
    with styled(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # text stays text: the reader has the fonts
        sink = io.StringIO()
        picture.figure.savefig(sink, format="svg", metadata={"Date": None}, transparent=True)
    text = _METADATA.sub("", _PREAMBLE.sub("", sink.getvalue(), count=1), count=1)
    text = _WHITE_TEXT.sub(r"\g<1>#fff", text)  # it stands on a dark cell, whatever the colour of the page
    for colour, variable in THEME.items():
        text = text.replace(colour, variable)
    text = _ID.sub(rf"\g<1>{picture.name}-\g<2>", text)
    text = _FONT.sub(r"font: \g<1>\g<2>px var(--sans)", text)
    text = _TAG.sub(lambda tag: _NUMBER.sub(lambda found: f"{float(found[1]):.2f}", tag[0]), text)  # not in text
    return _SIZE.sub(_opening(picture), text, count=1)


def _opening(picture: Picture) -> str:
    words = escape(picture.words, quote=True).replace("\\", r"\\")
    return rf'<svg\g<1> role="img" aria-label="{words}" style="width: \g<2>pt; max-width: 100%; height: auto"'
