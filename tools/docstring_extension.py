"""A Griffe extension: what numpydoc says and Markdown does not know.

Formulas, ``.. math::`` and ``:math:``, become MathML.  Parameters that share a description, as in ``low, high : int``,
are listed one by one, so that each has its own default.  What stands behind a parameter's colon is a type only if it is
a word or three; else it is what the parameter means, and the type is that of the signature.
"""

from __future__ import annotations

import re
from typing import Any

from formulas import as_mathml, as_plain
from griffe import Extension, Object

DISPLAYED = re.compile(
    r"^(?P<indent> *)\.\. math::(?P<first>[^\n]*)(?P<more>(?:\n(?P=indent) +\S[^\n]*)*)", re.MULTILINE
)
"""A formula, to the next empty line."""
NEXT_LINE = r"\\"
INLINE = re.compile(r":math:`([^`]+)`")
SHARED = re.compile(r"^(?P<names>\w+(?:, \w+)+)(?P<kind> : [^\n]*)\n(?P<words>(?: +\S[^\n]*(?:\n|\Z))+)", re.MULTILINE)
PARAMETERS = re.compile(r"^Parameters\n-+\n.*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
MEANING = re.compile(r"^(?P<name>\*{0,2}\w+) : (?P<words>\S+(?: \S+){3}.*|.+(?!\n +\S)$)", re.MULTILINE)


class Docstrings(Extension):
    """Rewrites each docstring as it is loaded."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring, if there is one."""
        if obj.docstring is not None:
            obj.docstring.value = with_formulas(with_meanings(one_by_one(obj.docstring.value)))


def one_by_one(text: str) -> str:
    """Return a docstring in which every parameter has an entry of its own."""
    return SHARED.sub(
        lambda found: "".join(
            f"{name}{found['kind']}\n{found['words'].rstrip()}\n" for name in found["names"].split(", ")
        ),
        text,
    )


def with_meanings(text: str) -> str:
    """Return a docstring whose parameters have their meaning where Markdown shows it."""
    return PARAMETERS.sub(lambda part: MEANING.sub(r"\g<name>\n    \g<words>", part[0]), text)


def with_formulas(text: str) -> str:
    """Return Markdown whose formulas are MathML; within blocks of code they are plain text."""
    if "math:" not in text:
        return text
    shown = DISPLAYED.sub(_displayed, text)
    return "\n\n".join(_with_inline(block) for block in re.split(r"\n\s*\n", shown))


def _displayed(found: re.Match[str]) -> str:
    tex = " ".join(f"{found['first']} {found['more']}".split())
    if found["indent"]:
        return found["indent"] + as_plain(tex)
    lines = (as_mathml(line.replace("&", ""), display=True) for line in tex.split(NEXT_LINE))
    return f'<p style="overflow-x: auto">{"".join(lines)}</p>\n'


def _with_inline(block: str) -> str:
    if block.startswith("    "):
        return INLINE.sub(lambda found: as_plain(found[1]), block)
    return INLINE.sub(lambda found: f"<span>{as_mathml(' '.join(found[1].split()))}</span>", block)
