"""Documents as they are shown: hostile until they have been through here.

HTML loses everything but text, structure and images that it holds itself (nh3), text is escaped, and an image is one
only if its first bytes say so.  Links, styles and forms of a document are left out; how it is shown is up to the
style sheet here.  The route of a document (``guard.DOCUMENT_POLICY``) and its frame forbid the rest once more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from html import escape, unescape
from importlib.resources import files

import nh3

from venire.judging.study import HTML, Document

MOST_BYTES = 1 << 20
"""Of a page that are shown; its beginning."""
MOST_IMAGE_BYTES = 32 << 20
DEEPEST = 200
"""Elements within each other that are shown as such."""
SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
TAGS = nh3.ALLOWED_TAGS - {"map", "area", "bdo"}
ATTRIBUTES = {
    "*": {"dir", "lang", "title"},
    "img": {"alt", "src", "width", "height"},
    "ol": {"start", "reversed"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
}
VOID = {"br", "col", "hr", "img", "wbr"}
UNSEEN = "script|style|template|noscript|title|iframe|object|textarea|select|svg|math|xmp|noembed|noframes"
"""Elements that are left out with their content."""
TOKEN = re.compile(
    rf"<!--(?:.*?-->|.*)|<({UNSEEN})\b(?:.*?</\1\s*>|.*)|<(/?)([a-z][a-z0-9]*)([^<>]*)>|[^<]+|<",
    re.DOTALL | re.IGNORECASE,
)
ATTRIBUTE = re.compile(r"""([a-z]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
CELLS, PARTS = {"td", "th"}, {"thead", "tbody", "tfoot"}
ENDS = {"p": {"p"}, "li": {"li", "p"}, "td": CELLS, "th": CELLS, "tr": CELLS | {"tr"}}
ENDS |= {"dt": {"dt", "dd", "p"}, "dd": {"dt", "dd", "p"}} | dict.fromkeys(PARTS, CELLS | {"tr"} | PARTS)
"""What the beginning of an element ends, although no tag says so."""


def page_of(document: Document) -> str:
    """Return the HTML page of a document, to be shown in a frame."""
    changed = 0
    if document.file is not None:
        with suppress(OSError):
            changed = document.file.stat().st_mtime_ns
    return _page(document, changed)


@lru_cache(maxsize=32)
def _page(document: Document, changed: int) -> str:  # noqa: ARG001 - a file that changed is read again
    data, cut = _beginning(document)
    text = data.decode("utf-8", "replace").replace("\0", "\ufffd")
    inner = sanitised(text) if document.kind == HTML else as_text(text)
    note = '<p class="note">The document is longer; this is its beginning.</p>' if cut else ""
    if not inner.strip():
        note = '<p class="note">This document is empty.</p>'
    title = escape(document.title or document.doc)
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_style()}</style>'
    return f'<!doctype html><html lang="">{head}<body dir="auto">{inner}{note}'


@cache
def _style() -> str:
    return files("venire.judging.web").joinpath("assets", "document.css").read_text("utf-8")


def image_of(document: Document) -> tuple[bytes, str] | None:
    """Return an image and its type; None if it is none that browsers show safely, or is too large."""
    data, cut = _beginning(document, MOST_IMAGE_BYTES)
    found = next((kind for start, kind in SIGNATURES.items() if data.startswith(start)), None)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        found = "image/webp"
    return None if found is None or cut else (data, found)


def sanitised(html: str) -> str:
    """Return HTML without scripts, links, styles, forms and requests."""
    return nh3.clean(
        "".join(nested(html)),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"data"},
        attribute_filter=_only_images,
        link_rel=None,
    )


def nested(html: str) -> Iterator[str]:
    """Yield HTML whose elements end in the order in which they began, none deeper than ``DEEPEST``.

    Parsers of HTML, nh3's among them, need time and memory that grow with the square of the depth, or faster where
    elements overlap.  Here the cost is linear.  Tags that are too deep are left out; their text stays.
    """
    stack: list[str] = []
    for found in TOKEN.finditer(html):
        whole, (unseen, end, name, attributes) = found[0], found.groups()
        if name is None:
            yield "" if unseen or whole.startswith("<!--") else whole.replace("<", "&lt;")
        elif (tag := name.lower()) not in TAGS:
            yield " "
        elif end:
            if tag in stack:
                yield from _ended(stack, lambda top, tag=tag: top != tag)  # type: ignore[misc]
                yield f"</{stack.pop()}>"
        else:
            yield from _ended(stack, lambda top, tag=tag: top in ENDS.get(tag, ()))  # type: ignore[misc]
            if len(stack) < DEEPEST:
                yield f"<{tag}{_kept(attributes)}>"
                stack += [tag] if tag not in VOID else []
    yield from _ended(stack, lambda _: True)


def _ended(stack: list[str], which: Callable[[str], bool]) -> Iterator[str]:
    while stack and which(stack[-1]):
        yield f"</{stack.pop()}>"


def _kept(attributes: str) -> str:
    """Return the attributes of a tag with their values in quotes; ``ATTRIBUTES`` says which are allowed."""
    found = ATTRIBUTE.findall(attributes)
    return "".join(f' {name}="{escape(unescape(a or b or c))}"' for name, a, b, c in found)


def as_text(text: str) -> str:
    """Return text as HTML that shows it as it is."""
    return f'<div class="text">{escape(text)}</div>' if text.strip() else ""


def _only_images(tag: str, attribute: str, value: str) -> str | None:
    """Keep the address of an image only if the document itself holds the image."""
    return value if attribute != "src" or (tag == "img" and value.lower().startswith("data:image/")) else None


def _beginning(document: Document, most: int = MOST_BYTES) -> tuple[bytes, bool]:
    """Return the first bytes of a document, and whether there are more; nothing of a file that cannot be read."""
    if document.content is not None or document.file is None:
        data = document.data()
    else:
        try:
            with document.file.open("rb") as file:
                data = file.read(most + 1)
        except OSError:
            data = b""
    return data[:most], len(data) > most
