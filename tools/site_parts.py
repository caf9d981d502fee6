"""An extension of Python-Markdown: parts of the documentation that are made from the code when it is built.

A page holds a comment where such a part belongs, as in ``<!-- made here: commands -->``:

    commands                every command with its usage, options and examples
    public names of PAGE    the public names whose homes belong to a page (``HOMES``), each below its module's text
    plots                   every plot function
    thumbnails              the pictures of the gallery, each leading to how it is made
    name table              all public names, with the page of each

Any generator of sites that renders Markdown with Python-Markdown can use it (decision 18).
"""

from __future__ import annotations

import logging
import pkgutil
import re
from collections.abc import Callable, Iterator
from html import unescape
from importlib import import_module
from types import ModuleType

from command_help import all_commands
from gallery import PAGE, entries
from markdown import Extension, Markdown
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor

import venire
import venire.plots
from venire import errors

MADE = re.compile(r"<!-- made here: (?P<part>[a-z ]+?)(?: of (?P<page>[a-z]+))? -->")
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
    "spark": ("spark",),
    "report": ("report",),
    "errors": ("errors",),
}
"""Pages of the Python reference, and what the modules begin with whose names stand there; the longest wins."""


class Parts(Preprocessor):
    """Puts what is made here in its place."""

    def run(self, lines: list[str]) -> list[str]:
        """Replace each comment by the lines of its part."""
        return [new for line in lines for new in made(line)]


def made(line: str) -> list[str]:
    """Return the lines of the part that a line asks for, or the line itself."""
    found = MADE.fullmatch(line.strip())
    return PARTS[found["part"]](found["page"]).split("\n") if found else [line]


class Outputs(Postprocessor):
    """Marks outputs whose long lines are sentences, so that these are wrapped (site.css)."""

    def run(self, text: str) -> str:
        """Add the kind of each output to its classes."""
        return OUTPUT.sub(
            lambda found: found[0].replace("language-text", f"language-text {kind_of(found[1])}", 1), text
        )


class SiteParts(Extension):
    """The first step of a page, and the last."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the name is Python-Markdown's
        """Register both."""
        md.preprocessors.register(Parts(md), "site-parts", 100)
        md.postprocessors.register(Outputs(md), "site-outputs", 0)


class Strict(logging.Handler):
    """Makes an error of a warning about a docstring, such as one on a parameter that is not there."""

    def emit(self, record: logging.LogRecord) -> None:
        """Raise the warning."""
        raise ValueError(record.getMessage())


def makeExtension(**_: object) -> SiteParts:  # noqa: N802 - the name is Python-Markdown's
    """Return the extension, for Python-Markdown."""
    return SiteParts()


logging.getLogger("mkdocs.plugins").addHandler(Strict(logging.WARNING))


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
