"""Parts of the documentation that are made when it is built, so that they cannot fall behind the code.

A page holds a comment where such a part belongs, as in ``<!-- made here: commands -->``:

    commands        every command with its usage, options and examples
    public names    the public names whose homes belong to this page (``HOMES``), each below its module's text
    plots           every plot function
    thumbnails      the pictures of the gallery, each leading to how it is made
    name table      all public names, with the page of each
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Iterator
from html import unescape
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import docstring_extension  # noqa: F401 - mkdocs.yml names it, and it is found once it is loaded
from command_help import all_commands
from gallery import PAGE, entries

import venire
import venire.plots
from venire import errors

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

MADE = re.compile(r"^<!-- made here: ([a-z ]+) -->$", re.MULTILINE)
OUTPUT = re.compile(r'<div class="language-text highlight">(.*?)</div>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")
WIDTH = 90
"""Characters of a block of code that a page has room for, about."""
HOMES = {
    "reading": ("data", "io", "results"),
    "measures": ("measures",),
    "models": ("disagreement", "context.model", "context.validation"),
    "agreement": ("agreement",),
    "comparing": ("comparison", "disagreement.counting", "disagreement.top_results", "disagreement.sensitivity"),
    "labels": ("quality",),
    "users": ("aspects", "context", "users"),
    "simulating": ("simulation",),
    "certifying": ("certification",),
    "planning": ("planning", "disagreement.double_judgments"),
    "judging": ("judging",),
    "report": ("report",),
    "errors": ("errors",),
}
"""Pages of the Python reference, and what the modules begin with whose names stand there; the longest wins."""


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Put what is made here in its place."""
    name = page.file.src_uri.rpartition("/")[2].removesuffix(".md")
    return MADE.sub(lambda found: PARTS[found[1]](name), markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Mark outputs whose long lines are sentences, so that these are wrapped (site.css)."""
    return OUTPUT.sub(lambda found: found[0].replace("language-text", f"language-text {kind_of(found[1])}", 1), html)


def kind_of(output: str) -> str:
    """Say ``results`` for no cells, which two spaces separate, ``mixed`` if lines with cells fit in, else ``cells``."""
    cells = [line for line in unescape(TAG.sub("", output)).splitlines() if "  " in line.strip()]
    return "cells" if any(len(line) > WIDTH for line in cells) else "mixed" if cells else "words"


def page_of(home: str) -> str:
    """Return the page of a module, such as ``measures.evaluate``."""
    fitting = [(len(start), page) for page, starts in HOMES.items() for start in starts if home.startswith(start)]
    return max(fitting)[1]


def names_on(page: str) -> dict[str, list[str]]:
    """Return the public names that belong on a page, by module."""
    return {home: sorted(names) for home, names in public_names().items() if page_of(home) == page}


def public_names() -> dict[str, dict[str, str]]:
    """Return the public names of each module, and the package that each is imported from."""
    inner = (import_module(f"venire.{each.name}") for each in pkgutil.iter_modules(venire.__path__) if each.ispkg)
    found = {"errors": {name: "venire.errors" for name, value in vars(errors).items() if isinstance(value, type)}}
    for package in (*inner, venire):
        for name in getattr(package, "__all__", ()):
            home = package._home[name].removeprefix("venire.")
            if not home.startswith("_"):
                found.setdefault(home, {})[name] = package.__name__
    return found


def plot_functions() -> dict[str, list[str]]:
    """Return the plot functions of each module of plots, not those that it borrows."""
    homes = sorted(each.name for each in pkgutil.iter_modules(venire.plots.__path__))
    found = {home: _own_plots(import_module(f"venire.plots.{home}")) for home in homes}
    return {home: names for home, names in found.items() if names}


def _own_plots(module: ModuleType) -> list[str]:
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    return sorted(name for name in own if name.startswith("plot_"))


def module_text(home: str, names: list[str]) -> Iterator[str]:
    """Yield what asks for the text of a module and of some of its names."""
    yield from [f"## venire.{home}", "", f"::: venire.{home}", "    options:", "      members:"]
    yield from (f"        - {name}" for name in names)
    yield ""


def _public(page: str) -> str:
    return "\n".join(line for home, names in names_on(page).items() for line in module_text(home, names))


def _plots(_: str) -> str:
    found = plot_functions().items()
    return "\n".join(line for home, names in found for line in module_text(f"plots.{home}", names))


def _thumbnails(_: str) -> str:
    from markdown.extensions.toc import slugify

    pictures = (
        f'<a href="#{slugify(title, "-")}"><img src="{picture}" alt="" loading="lazy"><span>{title}</span></a>'
        for title, picture, *_ in entries(PAGE.read_text(encoding="utf-8"))
    )
    return "\n".join(['<div class="thumbnails">', *pictures, "</div>"])


def _name_table(_: str) -> str:
    names = sorted((name.lower(), name, package, page_of(home)) for home, name, package in _flat(public_names()))
    rows = (f"| `{name}` | `{package}` | [{page}]({page}.md) |" for _, name, package, page in names)
    return "\n".join(["| name | import from | page |", "| --- | --- | --- |", *rows])


def _flat(found: dict[str, dict[str, str]]) -> Iterator[tuple[str, str, str]]:
    return ((home, name, package) for home, names in found.items() for name, package in names.items())


PARTS: dict[str, Callable[[str], str]] = {
    "commands": lambda _: all_commands(),
    "public names": _public,
    "plots": _plots,
    "thumbnails": _thumbnails,
    "name table": _name_table,
}
