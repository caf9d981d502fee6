"""Compute the tables of the papers (tests/papers) and write them into docs/papers: run by ``make papers``.

A page has a heading for every table, and its own text around it; what is written is the table right below the heading,
and the list of all tables on the index page.  Tables whose data are missing stay as they are.  Exits with 1 if a cell
does not hold that is not known, or holds though it is known not to.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from papers.tables import HEADER, NAMES, PAGES, Row, Table, all_tables

INDEX = "| paper | table | cells | data |\n| --- | --- | --- | --- |\n"


def with_table(page: str, heading: str, table: str) -> str:
    """Put a table in place of the one right below a heading."""
    below = re.compile(rf"(^{re.escape(heading)}\n\n)(?:\|.*\n)*", re.MULTILINE)
    page, n = below.subn(lambda found: found[1] + table, page)
    if n != 1:
        raise SystemExit(f"{n} headings {heading!r}, expected one")
    return page


def index_row(table: Table) -> str:
    """Return the line of a table on the index page."""
    kinds = Counter(kind for kind, _ in table.cells.values())
    cells = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
    name = table.name.replace("|", "\\|")
    return f"| [{table.paper}]({table.paper}.md) | {name} | {cells} | {table.needs or ''} |\n"


def main() -> int:
    """Write all pages, and say which cells are wrong."""
    tables, wrong = all_tables(), list[Row]()
    for name in NAMES:
        path = PAGES / f"{name}.md"
        page = path.read_text(encoding="utf-8")
        for table in tables:
            if table.paper != name:
                continue
            if table.missing:
                print(f"{name}, {table.name}: {table.missing}")
                continue
            rows = table.rows
            wrong += [row for row in rows if row.holds == (row.known is not None)]
            page = with_table(page, f"### {table.name}", HEADER + "".join(row.markdown for row in rows))
        path.write_text(page, encoding="utf-8")
    index = PAGES / "index.md"
    text = with_table(index.read_text(encoding="utf-8"), "## Tables", INDEX + "".join(map(index_row, tables)))
    index.write_text(text, encoding="utf-8")
    print(*(row.markdown for row in wrong), sep="", end="")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
