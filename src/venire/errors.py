"""Errors and warnings: each says where, what was found, what was expected, and how to resolve it.

VenireError
├── FormatError        a file or table that cannot be read                        (also a ValueError)
├── ScaleError         a label that is not on the scale, or an invalid scale      (ValueError)
├── GainsError         gains that do not fit the labels or the measure            (ValueError)
├── MeasureError       a measure that cannot be read or computed                  (ValueError)
├── SettingError       an invalid setting                                         (ValueError)
├── TopicsError        runs and judgments that have no topic in common            (ValueError)
├── PairsError         labels from which disagreement cannot be estimated         (ValueError)
├── AmbiguousLabels    several labels for one item, and no choice among them      (ValueError)
├── StaleCertificate   a certificate that was made from other labels or lists     (ValueError)
├── OutputError        a file that cannot be written                              (OSError)
├── DatabaseError      a database that cannot be opened, read or written          (OSError)
└── UnknownName        an unknown topic, assessor, system or column               (KeyError)

VenireWarning          (UserWarning)
├── RepeatedLineWarning    the same judgment occurs twice in a file
├── MissingTopicsWarning   a run lacks topics that were judged
├── CommentWarning         a comment in a file looks like data
├── TiedScoresWarning      all scores of a run tie
├── FewPairsWarning        a number rests on few pairs of labels
├── PoolFitWarning         a model of disagreement is fitted on the whole pool
├── SelectionWarning       items seem to have been judged again because of their first label
├── EqualLabelsWarning     all labels that occur count the same for a measure
├── UnjudgedWarning        many documents at the top of a run were never judged
└── BadRowsWarning         rows of a data frame that cannot be used were left out
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher, get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LONGEST_VALUE, LONGEST_WORD, LONGEST_MESSAGE = 200, 600, 1_600
"""Characters of a value in quotes, of a text without a space, and of a message: it fits on a screen of 24 lines."""
_LONG = re.compile(
    rf"""'(?:[^'\\]|\\.){{{LONGEST_VALUE},}}+'|"(?:[^"\\]|\\.){{{LONGEST_VALUE},}}+"|\S{{{LONGEST_WORD},}}"""
)
MOST_COMPARED = 10_000
"""Known names that are compared with an unknown one."""
AS_NEAR = 0.1
"""How much less similar than the nearest a name may be to be suggested too."""


def clipped(text: str) -> str:
    """Shorten what a message quotes, and then the message, in the middle: names and values may be of any length."""
    if len(text) <= LONGEST_VALUE:
        return text
    text = _LONG.sub(lambda found: _middle_out(found[0], LONGEST_VALUE // 2), _middle_out(text, 1 << 14))
    return _middle_out(text, LONGEST_MESSAGE)


def _middle_out(text: str, most: int) -> str:
    """Leave out the middle of a text that is too long."""
    return text if len(text) <= most else f"{text[: most * 3 // 4]}...{text[len(text) - most // 5 :]}"


class Way(str):
    """One way to resolve an error, by settings: ``Way("choose one", assessor="NAME")``; the command line adds flags.

    A setting without a value, as in ``Way("replace them", replace="")``, is a switch.
    """

    __slots__ = ("settings", "text")
    text: str
    settings: Mapping[str, str]

    def __new__(cls, text: str, **settings: str) -> Way:
        """Render the settings without flags: "choose one (assessor NAME)"."""
        words = (f"{name} {value}".rstrip() for name, value in settings.items())
        way = super().__new__(cls, f"{text} ({', '.join(words)})")
        way.text, way.settings = text, settings
        return way


class VenireError(Exception):
    """Base class of Venire's errors; ``hint`` is a way to resolve it, or several (``ways``) in one phrase."""

    def __init__(self, message: str, *, hint: str | Sequence[str] | None = None) -> None:
        self.message = clipped(message)
        super().__init__(self.message)
        self.ways = () if hint is None or isinstance(hint, str) else tuple(hint)
        text = hint if isinstance(hint, str) else joined_ways(self.ways)
        self.hint: str | None = None if text is None else clipped(text)

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class FormatError(VenireError, ValueError):
    """A file that cannot be read: ``where`` names it, ``line`` counts from 1 (or is None), ``what`` is wrong there."""

    def __init__(
        self, where: object, line: int | None, message: str, *, hint: str | Sequence[str] | None = None
    ) -> None:
        place = f"{where}:{line}" if line is not None else f"{where}"
        self.what = clipped(message)
        super().__init__(f"{place}: {self.what}", hint=hint)
        self.where = where
        self.line = line


class ScaleError(VenireError, ValueError):
    """A label that is not on the scale, or an invalid scale."""


class GainsError(VenireError, ValueError):
    """Gains that do not cover the labels, or that a measure cannot use."""


class MeasureError(VenireError, ValueError):
    """A measure whose name cannot be read, or which is not defined for what was asked."""


class SettingError(VenireError, ValueError):
    """An invalid setting."""


class TopicsError(VenireError, ValueError):
    """Runs and judgments that have no topic in common."""


class PairsError(VenireError, ValueError):
    """Labels from which disagreement cannot be estimated: none on the same item, or a biased selection."""


class AmbiguousLabels(VenireError, ValueError):  # noqa: N818 - it names the state of the data
    """An item has several labels, and no choice among them was made."""


class StaleCertificate(VenireError, ValueError):  # noqa: N818 - it names the state of the certificate
    """A certificate was made from other labels, lists or prompts than those at hand."""


class OutputError(VenireError, OSError):
    """A file that cannot be written; what was there before is as it was.  ``errno`` is the system's number."""

    def __init__(self, code: int | None, message: str, *, hint: str | Sequence[str] | None = None) -> None:
        super().__init__(message, hint=hint)
        self.errno = code


class DatabaseError(VenireError, OSError):
    """A database that cannot be opened, read or written."""


class UnknownName(VenireError, KeyError):  # noqa: N818 - it names the state of the data
    """An unknown name; the hint has the known names, nearest first."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"there is no {kind} {name!r}", hint=known_names(name, known))


class VenireWarning(UserWarning):
    """The root of Venire's warnings; one about a line of a file has ``where`` and ``line``, and ``what`` is odd."""

    def __init__(self, what: str = "", *, where: object = None, line: int | None = None) -> None:
        self.what, self.where, self.line = clipped(what), where, line
        super().__init__(self.what if where is None else f"{where}:{line}: {self.what}")


class RepeatedLineWarning(VenireWarning):
    """The same judgment occurs twice; the repetition was ignored."""


class MissingTopicsWarning(VenireWarning):
    """A system has no list for topics that were judged."""


class CommentWarning(VenireWarning):
    """A line is a comment, since it begins with ``#``, though it has the columns of data."""


class TiedScoresWarning(VenireWarning):
    """All scores of a run are tied, so they do not order its documents."""


class FewPairsWarning(VenireWarning):
    """A number rests on few pairs of labels, or on none."""


class PoolFitWarning(VenireWarning):
    """Too few first results have two labels, so a model of disagreement is fitted on the whole pool."""


class SelectionWarning(VenireWarning):
    """Items seem to have been judged again because of their first label."""


class EqualLabelsWarning(VenireWarning):
    """All labels that occur count the same for a measure, so that its scores do not depend on them."""


class UnjudgedWarning(VenireWarning):
    """Many documents near the top of a system's lists were never judged."""


class BadRowsWarning(VenireWarning):
    """Rows of a data frame that cannot be used were left out."""


class MissingGlyphWarning(VenireWarning):
    """The font of a plot lacks characters of a name."""


def reasons(notes: Iterable[object]) -> str | None:
    """Return the hint that notes on the input are; None if there are none."""
    return "; ".join(map(str, notes)) or None


def joined_ways(ways: Sequence[str]) -> str | None:
    """Join ways to resolve an error into one phrase; None if there is none."""
    *most, last = ways or [""]
    return ", ".join(most) + f"{',' * (len(most) > 1)} or {last}" if most else last or None


def known_names(name: str, known: Iterable[str], *, most: int = 8) -> str:
    """Return a phrase with the nearest of the known names, or the first few."""
    name, *names = map(str, (name, *known))
    comparable = [each for each in names[:MOST_COMPARED] if len(each) <= LONGEST_VALUE]
    near = get_close_matches(name, comparable, n=3, cutoff=0.6) if len(name) <= LONGEST_VALUE else []
    if near:
        best = SequenceMatcher(None, near[0], name).ratio()
        near = get_close_matches(name, near, cutoff=best - AS_NEAR)
        return "did you mean " + " or ".join(repr(each) for each in near) + "?"
    shown = ", ".join(repr(each) for each in names[:most])
    if len(names) < 2:
        return f"there is only {shown}" if names else "there are none"
    return f"there are {shown}" + (f" and {len(names) - most} more" if len(names) > most else "")
