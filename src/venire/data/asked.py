"""Judgments to collect: what a plan lists, and what a file of a plan holds.

Kinds of judgments, each with a cost of its own:

    first       the first label of a result that nobody labelled
    second      a label of a result by a second assessor
    reference   a label by the reference (people) of a result that a judge labelled
    preference  which of two documents is better

A judgment is chosen at random with a known probability, which travels with its label and is used by the estimates.
"""

from __future__ import annotations

from typing import NamedTuple

FIRST, SECOND, REFERENCE, PREFERENCE = "first", "second", "reference", "preference"
KINDS = (FIRST, SECOND, REFERENCE, PREFERENCE)


class Asked(NamedTuple):
    """One judgment to collect; other is the second document of a preference, "" for labels."""

    topic: str
    doc: str
    judge: str
    kind: str
    probability: float
    reason: str
    other: str = ""
