"""A small table of labels on aspects whose every number can be found by hand."""

from __future__ import annotations

HEAD = "topic\tdoc\tgiven\toverall\ttop\tnov\n"
ROWS = (
    "1\ta\t\t2\t2\tN/A\n"
    "1\tb\t\t1\t1\t1\n"
    "1\tc\t\tN/A\t0\tN/A\n"
    "2\td\t\t0\t0\t2\n"
    "2\te\t\t2\t1\t0\n"
    "1\tb\ta\t0\t1\t2\n"
    "1\tc\tb\tN/A\tN/A\tN/A\n"
    "2\td\te\t1\t0\tN/A\n"
)
WIDE = HEAD + ROWS


def long_form() -> str:
    """The same labels, one to a row."""
    lines = ["topic\tdoc\tgiven\taspect\tlabel\n"]
    for row in ROWS.splitlines():
        topic, doc, given, *labels = row.split("\t")
        lines += [
            f"{topic}\t{doc}\t{given}\t{name}\t{label}\n"
            for name, label in zip(("overall", "top", "nov"), labels, strict=True)
        ]
    return "".join(lines)
