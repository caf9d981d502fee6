"""Documents are shown without anything that acts, at a cost that grows with their size."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from venire.judging.study import HTML, IMAGE, TEXT, Document
from venire.judging.web.documents import DEEPEST, MOST_BYTES, TAGS, image_of, nested, page_of, sanitised

PIECES = (
    *("<div>", "</div>", "<p>", "</p>", "<b title=1>", "</b>", "<!--", "-->", "<table>", "<tr>", "<td>", "<li>", "<"),
    *(
        ">",
        '"',
        "'",
        "<script>",
        "</script>",
        "<svg>",
        "<math>",
        "<a href=javascript:x>",
        "<img src=x onerror=y>",
        "text",
    ),
    *("&lt;b&gt;", "<form>", "<base href=x>", "<style>", "<textarea>", "\0", "<plaintext>", "<br>", "</x", "<![CDATA["),
)


def page(text, kind=HTML):
    return page_of(Document("d1", "A title", kind=kind, content=text))


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<h1 onclick=x class=y id=z>Hi</h1>", "<h1>Hi</h1>"),
        ("a<script>alert(1)</script>b", "ab"),
        ("a<script>never ends", "a"),
        ("<p>a < b &amp; c", "<p>a &lt; b &amp; c</p>"),
        ('<a href="http://x" target=_top>link</a>', "<a>link</a>"),
        ('<img src="http://x/y.png" alt="a">', '<img alt="a">'),
        ('<img src="/organise">', "<img>"),
        ("<img src='data:image/png;base64,AA=='>", '<img src="data:image/png;base64,AA==">'),
        ('<img src="data:text/html,x">', "<img>"),
        ("<ul><li>1<li>2</ul>", "<ul><li>1</li><li>2</li></ul>"),
        ("<b><i>x</b>y</i>", "<b><i>x</i></b>y"),
        ("a<!-- b -->c<!-- d", "ac"),
        ("<td colspan=2>x", "x"),
        ("&lt;script&gt;", "&lt;script&gt;"),
    ],
)
def test_html_keeps_text_structure_and_its_own_images(html, shown):
    assert sanitised(html) == shown


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_whatever_is_sanitised_has_allowed_tags_and_attributes_only(html):
    for tag in re.findall(r"<[^>]*>", sanitised(html)):
        assert re.fullmatch(r"</?([a-z0-9]+).*>", tag, re.DOTALL)[1] in TAGS
        assert not re.search(r"\s(on\w+|href|style|srcset|id|class)\s*=", re.sub(r'"[^"]*"', '""', tag))


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 50_000,
        "<table><b>" * 20_000,
        "".join(f"<b title={n}><!--</b>-->" for n in range(9_000)) + "<p>x" * 9_000,
    ],
    ids=["deep", "overlapping", "reconstructed"],
)
def test_deep_nesting_is_bounded(html):
    depth = most = 0
    for piece in nested(html):
        depth += piece.startswith("<") - 2 * piece.startswith("</")
        most = max(most, depth)
    assert most == DEEPEST
    assert depth == 0
    assert len(sanitised(html)) < 4 * len(html)


def test_text_is_shown_as_text():
    assert "&lt;b&gt;bold&lt;/b&gt;" in page("<b>bold</b>", TEXT)


def test_a_long_document_is_cut_and_says_so(tmp_path):
    file = tmp_path / "long.txt"
    file.write_bytes(b"a" * (MOST_BYTES + 1))
    long = page_of(Document("d1", kind=TEXT, file=file))
    assert len(long) < MOST_BYTES + 10_000
    assert "this is its beginning" in long
    assert "this is its beginning" not in page("short", TEXT)


def test_invalid_bytes_are_replaced(tmp_path):
    file = tmp_path / "bytes.html"
    file.write_bytes(b"<p>a\xff\xfe\x00b</p>")
    assert "<p>a\ufffd\ufffd\ufffdb</p>" in page_of(Document("d1", kind=HTML, file=file))


def test_a_file_that_cannot_be_read_is_an_empty_document_without_its_path(tmp_path):
    shown = page_of(Document("d1", kind=HTML, file=tmp_path / "nowhere.html"))
    assert "This document is empty." in shown
    assert str(tmp_path) not in shown


def test_a_file_that_changed_is_read_again(tmp_path):
    import os

    file = tmp_path / "d.txt"
    file.write_text("before")
    os.utime(file, (1, 1))
    assert "before" in page_of(Document("d1", file=file))
    file.write_text("after")
    assert "after" in page_of(Document("d1", file=file))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n...", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF....WEBPVP8 ", "image/webp"),
        (b"<svg onload=alert(1)>", None),
        (b"<html>", None),
        (b"", None),
    ],
)
def test_an_image_is_what_its_first_bytes_say(tmp_path, data, kind):
    file = tmp_path / "image.png"
    file.write_bytes(data)
    found = image_of(Document("d1", kind=IMAGE, file=file))
    assert found == ((data, kind) if kind else None)
