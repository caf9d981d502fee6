"""Lines of the keys of a TOML file, for errors: the parser of the standard library does not tell them.

A place is a path of keys and, in arrays, of numbers from 0: ``("tasks", 1, "plan")``.  The text has been parsed before,
so that it is known to be valid TOML, and the scan looks for what it needs only: headers, keys, commas and brackets.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Generator, Iterator

Place = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*+")
_SPACE = re.compile(r"[ \t]*+")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}'
    r"|'''(?:[^']|'(?!''))*+'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'[^'\n]*+'",
    re.DOTALL,
)
_BARE = re.compile(r"[A-Za-z0-9_-]++")
_PLAIN = re.compile(r"[^,\]}#\r\n]*+")
"""A number, a date, or true or false."""


def key_lines(text: str) -> dict[Place, int]:
    r"""Return the line, from 1, of each key, table and element of an array.  O(bytes).

    Examples
    --------
    >>> key_lines('[[tasks]]\n# a comment\nkind = "label"')
    {('tasks',): 1, ('tasks', 0): 1, ('tasks', 0, 'kind'): 3}
    """
    ends = [found.start() for found in re.finditer("\n", text)]
    lines: dict[Place, int] = {}
    for place, start in _Scan(text).places():
        lines.setdefault(place, bisect_right(ends, start - 1) + 1 if start else 1)
    return lines


def nearest_line(lines: dict[Place, int], place: Place) -> int | None:
    """Return the line of a place, or else of the nearest one that holds it; None for the file as a whole."""
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place)


class _Scan:
    """One pass over a text; ``at`` is how far it is."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.n_tables: dict[Place, int] = {}

    def places(self) -> Iterator[tuple[Place, int]]:
        """Yield each place and where it begins."""
        table: Place = ()
        while self._blank() < len(self.text):
            start = self.at
            if self.text[self.at] == "[":
                table = yield from self._header(start)
            else:
                yield from self._pair(table)

    def _blank(self) -> int:
        """Pass over white space, line ends and comments."""
        self.at = self._end(_BLANK)
        return self.at

    def _end(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self.text, self.at)
        return self.at if found is None else found.end()

    def _header(self, start: int) -> Generator[tuple[Place, int], None, Place]:
        """Read [table] or [[table]], and return it."""
        several = self.text.startswith("[[", start)
        self.at += 1 + several
        names = self._key()
        self.at += 1 + several
        table: Place = ()
        for name in names:
            table = (*table, name)
            yield table, start
            if table in self.n_tables and (name is not names[-1] or not several):
                table = (*table, self.n_tables[table] - 1)
        if several:
            self.n_tables[table] = self.n_tables.get(table, 0) + 1
            table = (*table, self.n_tables[table] - 1)
            yield table, start
        return table

    def _key(self) -> list[str]:
        """Read a dotted key, up to what follows it."""
        names = []
        while True:
            self.at = self._end(_SPACE)
            end = self._end(_STRING)
            quoted = end > self.at
            end = end if quoted else self._end(_BARE)
            part = self.text[self.at : end]
            names.append(str(tomllib.loads(f"x = {part}")["x"]) if quoted else part)
            self.at = end
            self.at = self._end(_SPACE)
            if self.text[self.at : self.at + 1] != ".":
                return names
            self.at += 1

    def _pair(self, table: Place) -> Iterator[tuple[Place, int]]:
        """Read a key and its value."""
        start = self.at
        place = table
        for name in self._key():
            place = (*place, name)
            yield place, start
        self.at += 1  # =
        self.at = self._end(_SPACE)
        yield from self._value(place)

    def _value(self, place: Place) -> Iterator[tuple[Place, int]]:
        first = self.text[self.at : self.at + 1]
        if first == "[":
            yield from self._array(place)
        elif first == "{":
            yield from self._inline(place)
        else:
            end = self._end(_STRING)
            self.at = end if end > self.at else self._end(_PLAIN)

    def _array(self, place: Place) -> Iterator[tuple[Place, int]]:
        self.at += 1
        number = 0
        while self.text[self._blank()] != "]":
            yield (*place, number), self.at
            yield from self._value((*place, number))
            number += 1
            if self.text[self._blank()] == ",":
                self.at += 1
        self.at += 1

    def _inline(self, place: Place) -> Iterator[tuple[Place, int]]:
        self.at += 1
        while self.text[self._blank()] != "}":
            yield from self._pair(place)
            if self.text[self._blank()] == ",":
                self.at += 1
        self.at += 1
