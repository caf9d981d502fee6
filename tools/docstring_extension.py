"""A Griffe extension: what numpydoc says and Markdown does not know.

Formulas, ``.. math::`` and ``:math:``, become MathML.  Parameters that share a description, as in ``low, high : int``,
are listed one by one, so that each has its own default.
"""

from __future__ import annotations

import re
from typing import Any

from formulas import as_mathml, as_plain
from griffe import Extension, Object

DISPLAYED = re.compile(
    r"^(?P<indent> *)\.\. math::(?P<first>[^\n]*)(?P<more>(?:\n(?P=indent) +\S[^\n]*|\n\s*(?=\n))*)", re.MULTILINE
)
INLINE = re.compile(r":math:`([^`]+)`")
SHARED = re.compile(r"^(?P<names>\w+(?:, \w+)+)(?P<kind> : [^\n]*)\n(?P<words>(?: +\S[^\n]*(?:\n|\Z))+)", re.MULTILINE)


class Docstrings(Extension):
    """Rewrites each docstring as it is loaded."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring, if there is one."""
        if obj.docstring is not None:
            obj.docstring.value = with_formulas(one_by_one(obj.docstring.value))


def one_by_one(text: str) -> str:
    """Return a docstring in which every parameter has an entry of its own."""
    return SHARED.sub(
        lambda found: "".join(
            f"{name}{found['kind']}\n{found['words'].rstrip()}\n" for name in found["names"].split(", ")
        ),
        text,
    )


def with_formulas(text: str) -> str:
    """Return Markdown whose formulas are MathML; within blocks of code they are plain text."""
    if "math:" not in text:
        return text
    shown = DISPLAYED.sub(lambda found: f"{found['indent']}<p>{as_mathml(_joined(found), display=True)}</p>\n", text)
    return "\n\n".join(_with_inline(block) for block in re.split(r"\n\s*\n", shown))


def _joined(found: re.Match[str]) -> str:
    return " ".join(f"{found['first']} {found['more']}".split())


def _with_inline(block: str) -> str:
    if block.startswith("    "):
        return INLINE.sub(lambda found: as_plain(found[1]), block)
    return INLINE.sub(lambda found: f"<span>{as_mathml(' '.join(found[1].split()))}</span>", block)
