"""What the generator of the site does not check: the navigation has every page, and links and names lead to files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"(?<![\w/.-])(?:src|tests|tools|docs|bench|fuzz|recipe|changelog\.d|\.github|\.ci)/[\w./*-]*\w")
OF_USERS = {"tools/venire"}
"""Where a user may put a copy of the repository."""


def broken_links(text: str, folder: Path) -> list[str]:
    """Return the links of a page that lead to no file; those with a scheme lead elsewhere."""
    links = [link.partition("#")[0] for link in LINK.findall(CODE.sub("", text))]
    return [link for link in links if link and ":" not in link and not (folder / link).exists()]


def unknown_files(text: str) -> list[str]:
    """Return the files and folders of the repository that a text names, or matches, and that do not exist."""
    return [name for name in NAMED.findall(text) if name not in OF_USERS and not any(ROOT.glob(name))]


def test_the_navigation_has_every_page_once():
    nav = re.findall(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(nav) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_files(path):
    assert broken_links(path.read_text(encoding="utf-8"), path.parent) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_named_files_exist(path):
    history = path.name == "CHANGELOG.md"  # it may name what was removed later
    assert history or unknown_files(path.read_text(encoding="utf-8")) == []


def test_an_unknown_file_is_found():
    text = (
        "`tests/unit/nosuch.py::test_x` src/venire, docs/*.md and `tools/*.nosuch`; https://example.org/docs/nosuch.md"
    )
    assert unknown_files(text) == ["tests/unit/nosuch.py", "tools/*.nosuch"]


def test_a_broken_link_is_found():
    text = "[a](README.md#b) [c](nosuch.md) ![d](nosuch.png) [e](https://example.org/x) `[f](x.md)` [g](/docs/x.md)"
    assert broken_links(text, ROOT) == ["nosuch.md", "nosuch.png", "/docs/x.md"]
