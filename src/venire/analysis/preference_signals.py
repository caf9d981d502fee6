"""Preference signals: what the choices of several people on the same two documents come to, for labelled documents.

Chu et al. (2021, doi:10.1145/3459637.3482428), Sections 3.4.2 and 5.1.1: a test is a tuple (topic, document, document),
and its signal the median of the assessors' strengths, or what most chose.  Where the two middle strengths of an
even number point different ways, the test counts as one half for either, like a tie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.agreement.preference_cycles import BY_COIN, count_triples
from venire.agreement.preference_labels import item_numbers
from venire.agreement.preferences import settled
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.types import Floats, Ints
from venire.words import counted


class Signals(NamedTuple):
    """Tests on labelled documents: first, second (test,) items, won (test,) by the first: 1, one half or 0.

    number (test,) is the test's number among all ``n`` of the table, labelled or not.
    """

    first: Ints
    second: Ints
    won: Floats
    number: Ints
    n: int


def signals_of(judgments: Judgments, preferences: Preferences, *, signal: str = "median") -> Signals:
    """Combine choices on the same two documents, and find the documents among the labelled ones.  O(n log n)."""
    found = settled(preferences, signal)
    one, other = item_numbers(found.table, judgments)
    labelled = np.append(np.bincount(judgments.item, minlength=len(judgments.items)) > 0, False)
    there = np.flatnonzero(labelled[one] & labelled[other])
    return Signals(one[there], other[there], found.left_share[there], there, len(found.table))


def cycle_warnings(preferences: Preferences, *, signal: str = "median") -> list[str]:
    """Warn of cycles: three documents of which each is preferred to the next.  No order fits them."""
    found = settled(preferences, signal).table
    if not len(found):
        return []
    _, cycles, _, strict = count_triples(found, found.topic.astype(np.int64)).sum(axis=0).tolist()
    if not cycles:
        return []
    return [
        f"preferences contain cycles (a > b > c > a), so that no order of documents fits all of them: {cycles:,} of "
        f"{counted(strict, 'triple')} without ties ({cycles / strict:.0%}; choices at random give {BY_COIN:.0%})"
    ]
