"""Names that are escapes of terminals, markup and formulas."""

from __future__ import annotations

from every_command import Names

ESCAPES = ("\x1b[31mred\x1b[0m", "\x9b2J", "\x1b]0;title\x07", "del\x7f", "\u202eright", "two\nlines", "\ttab", "\x00")
MARKUP = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "![x](http://127.0.0.1:9/x.png)", "[x](y)")
FORMULAS = ('=HYPERLINK("http://127.0.0.1:9")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "=1+1")
OTHERS = (r"$\frac{3$", "[x]", "*x*", "#000000", "url(#x)", "_x_", r"\textbf{x}", "</svg>", "{{ 7*7 }}", "%s {} \\")
NAMES = Names(
    topics=(*ESCAPES[:3], *FORMULAS[:2], *MARKUP[:2], OTHERS[0]),
    docs=(*FORMULAS[:2], *MARKUP[:2], *OTHERS[:2], ESCAPES[0], ESCAPES[5]),
    assessors=(ESCAPES[0], FORMULAS[0], MARKUP[1], r"$\frac{3$", "[x]", "url(#x)"),
    systems=(MARKUP[0], FORMULAS[2], ESCAPES[1], r"$\frac{3$", "#000000 url(#x)", "[x]", MARKUP[2], "_x_", ESCAPES[5]),
    labels=(r"$\frac{3$", FORMULAS[0], MARKUP[0], ESCAPES[0], "#000000"),
    aspects=(ESCAPES[0], MARKUP[0], r"$\frac{3$"),
)
