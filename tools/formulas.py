r"""Formulas in TeX as MathML, which browsers show without a script: the small part of TeX that docstrings use.

>>> as_mathml(r"\frac{x_1}{2}")
'<math><mfrac><mrow><msub><mi>x</mi><mn>1</mn></msub></mrow><mrow><mn>2</mn></mrow></mfrac></math>'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import html5

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|[A-Za-z]{3,}|\S")  # three letters and more are a word
GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
FRACTION = re.compile(rf"\\[dt]?frac\s*{GROUP}\s*{GROUP}")
EXPONENT = re.compile(r"\^\{([^{}]{2,})\}")
WORDS = re.compile(r"\\(?:text|mathrm|operatorname)\s*\{([^{}]*)\}")
DIFFERENT = {
    **{"cdot": "sdot", "circ": "compfn", "dots": "hellip", "ldots": "hellip", "cdots": "ctdot", "infty": "infin"},
    **{"mid": "vert", "|": "Vert", "{": "lbrace", "}": "rbrace", "to": "rightarrow", "neg": "not"},
}
"""Commands of TeX whose names are not those of the characters in HTML."""
SPACES = {",": 0.17, ":": 0.22, ";": 0.28, "!": 0.0, " ": 0.25, "quad": 1.0, "qquad": 2.0}
LIMITS = (html5["sum;"], html5["prod;"])
ACCENTS = {"bar": "¯", "overline": "¯", "hat": "^", "tilde": "~"}
SIZES = ("big", "Big", "bigl", "bigr", "Bigl", "Bigr", "bigg", "Bigg", "left", "right")


def as_mathml(tex: str, *, display: bool = False) -> str:
    """Return a formula as MathML; a command that is not known is shown by its name."""
    kept: list[str] = []
    numbered = WORDS.sub(lambda found: kept.append(found[1]) or f"\\words{{{len(kept) - 1}}}", tex)
    row = "".join(_Formula(numbered, kept, display=display).row())
    return f'<math display="block">{row}</math>' if display else f"<math>{row}</math>"


def as_plain(tex: str) -> str:
    r"""Return a formula as plain text, for places that know no markup.

    >>> as_plain(r"\frac{e^{-w x}}{\sum_h e^{-w}}, \qquad c_g = g \frac{H - 1}{2}")
    '(e^(-w x)) / (∑_h e^(-w)),  c_g = g (H - 1) / (2)'
    """
    text = FRACTION.sub(r"(\1) / (\2)", EXPONENT.sub(r"^(\1)", WORDS.sub(r"\1", tex)))
    text = re.sub(r"\\([A-Za-z]+|.)\s?", lambda found: _sign(found[1]), text)
    return re.sub(r"[{}]", "", text)


def _sign(name: str) -> str:
    return "" if name in SIZES else " " if name in SPACES else _character(name) or f"{name} "


def _character(name: str) -> str | None:
    """Return the character that a command stands for, if it does."""
    return html5.get(f"{DIFFERENT.get(name, name)};")


def _safe(text: str) -> str:
    return re.sub(r"[&<>*_`|\\\[\]]", lambda found: f"&#{ord(found[0])};", text)


class _Formula:
    """The tokens of a formula that are still to be read."""

    def __init__(self, tex: str, words: list[str], *, display: bool) -> None:
        self.tokens, self.words, self.display = TOKEN.findall(tex)[::-1], words, display

    def row(self) -> Iterator[str]:
        """Read up to a closing brace, or to the end."""
        while self.tokens and self.tokens[-1] != "}":
            yield self.scripted(self.atom())

    def scripted(self, core: str) -> str:
        """Read what stands below and above an atom."""
        parts: dict[str, str] = {}
        while self.tokens and self.tokens[-1] in "^_":
            sign = self.tokens.pop()
            parts[sign] = self.argument()
        if not parts:
            return core
        limits = self.display and any(sign in core for sign in LIMITS)
        below, above = ("munder", "mover") if limits else ("msub", "msup")
        both = "munderover" if limits else "msubsup"
        kind = both if len(parts) == 2 else below if "_" in parts else above
        return f"<{kind}>{core}{''.join(parts[sign] for sign in '_^' if sign in parts)}</{kind}>"

    def argument(self) -> str:
        """Read one atom, or a group."""
        return self.atom() if self.tokens else ""

    def atom(self) -> str:
        token = self.tokens.pop()
        if token == "{":
            inner = "".join(self.row())
            del self.tokens[-1:]
            return f"<mrow>{inner}</mrow>"
        if token.startswith("\\") and len(token) > 1:
            return self.command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        return f"<mi>{token}</mi>" if token.isalpha() else _operator({"'": "′", "-": html5["minus;"]}.get(token, token))

    def command(self, name: str) -> str:
        """Read a command with its arguments."""
        if name in ("frac", "tfrac", "dfrac"):
            return f"<mfrac>{self.argument()}{self.argument()}</mfrac>"
        if name == "binom":
            inside = f'<mfrac linethickness="0">{self.argument()}{self.argument()}</mfrac>'
            return f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>"
        if name == "sqrt":
            return f"<msqrt>{self.argument()}</msqrt>"
        if name in ACCENTS:
            return f'<mover accent="true">{self.argument()}<mo>{ACCENTS[name]}</mo></mover>'
        if name == "words":
            number = re.sub(r"\D", "", self.argument())
            return f"<mtext>{_safe(self.words[int(number)]).replace(' ', '&nbsp;')}</mtext>"
        return self.sign(name)

    def sign(self, name: str) -> str:
        """Return what a command without arguments shows."""
        if name in SIZES:
            size = "" if name in ("left", "right") else ' minsize="1.8em" maxsize="1.8em"'
            token = self.tokens.pop() if self.tokens else ""
            return f"<mo{size}>{_safe(token.removeprefix(chr(92)))}</mo>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}em"></mspace>'
        shown = _character(name) or name
        return f"<mi>{_safe(shown)}</mi>" if shown.isalpha() else _operator(shown)


def _operator(sign: str) -> str:
    fixed = ' stretchy="false"' if sign in "()[]{}|" else ""
    return f"<mo{fixed}>{_safe(sign)}</mo>"
