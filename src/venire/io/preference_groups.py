"""Preferences in trec_eval's format ``prefs``: topic, judgment group, sub-group, document, level.

A judgment group is one user; within a sub-group the document with the higher level is preferred, equal levels say
nothing, and how far levels are apart says nothing either.  Sub-groups exist because a user need not have compared
everything with everything.  Level 0 means not relevant, so none is written.  Within one group trec_eval refuses
preferences that contradict each other and adds those that follow from others (``trec_eval -R prefs``); neither is done
here, but for a pair that is written both ways.

Cost of reading: O(rows log rows), and the pairs within each sub-group.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from venire.data.ids import Category, as_bytes
from venire.data.preferences import Preferences, from_columns
from venire.errors import AmbiguousLabels, FormatError
from venire.io.lines import read_bytes, written
from venire.io.sources import split_columns
from venire.results import counted
from venire.scan.fields import Fields
from venire.scan.numbers import decimals
from venire.types import Bools, Floats, Ints

COLUMNS = "topic, group, sub-group, document, level"
LEVEL = 4
BETTER, WORSE = "2.0", "1.0"


def write_preference_groups(preferences: Preferences, path: str | Path) -> None:
    """Write preferences for ``trec_eval -R prefs``: a judgment group per assessor, a sub-group per choice.

    Ties establish nothing there, and are left out; so is how strong a preference is.
    """
    target = Path(path)
    chosen = preferences.take(np.flatnonzero(preferences.outcome))
    _refuse_contradictions(chosen)
    left_better = chosen.outcome > 0
    better, worse = (
        Category(np.where(side, chosen.left, chosen.right), chosen.docs).texts() for side in (left_better, ~left_better)
    )
    topic, group = Category(chosen.topic, chosen.topics).texts(), chosen.assessor.texts()
    for what, names in (("topic", topic), ("assessor", group), ("document", [*better, *worse])):
        wrong = min((name for name in set(names) if len(name.split()) != 1), default=None)
        if wrong is not None:
            message = f"{what} {wrong!r} has no place in columns that white space separates"
            raise FormatError(target, None, message, hint="give it a name without white space")
    pairs = zip(topic, group, range(1, len(chosen) + 1), better, worse, strict=True)
    lines = [f"{t} {g} {n} {up} {BETTER}\n{t} {g} {n} {down} {WORSE}\n" for t, g, n, up, down in pairs]
    with written(target) as file:
        file.write(as_bytes("".join(lines)))


def read_preference_groups(path: str | Path) -> Preferences:
    """Read a file of ``trec_eval -R prefs``: a choice for each pair of a sub-group that has different levels.

    The preferred document is on the left, with strength 1; the assessor is the judgment group.
    """
    fields, level = _columns(Path(path))
    topic, group, sub, doc = (Category.of_slices(fields.column(number)) for number in range(LEVEL))
    key = (topic.codes.astype(np.int64) * len(group.names) + group.codes) * len(sub.names) + sub.codes
    high, low = _pairs_within(key, level)
    again = _repeated(np.stack([topic.codes[high], group.codes[high], doc.codes[high], doc.codes[low]]))
    high, low = high[~again], low[~again]
    left, right = (Category(doc.codes[side], doc.names) for side in (high, low))
    return from_columns((topic.take(high), left, right), np.ones(len(high)), group.take(high))


def _columns(path: Path) -> tuple[Fields, Floats]:
    """Split a file into its columns, and read the last one as numbers."""
    data = read_bytes(path)
    fields = split_columns(data, COLUMNS.split(", "), path)
    level, bad = decimals(fields.column(LEVEL))
    if bad.any():
        line = int(fields.line[np.argmax(bad)]) + 1
        raise FormatError(path, line, "the level is not a finite number", hint=f"expected lines of {COLUMNS}")
    if len(level) == 0:
        raise FormatError(path, None, "holds no preferences", hint=f"expected lines of {COLUMNS}")
    return fields, level


def _pairs_within(key: Ints, level: Floats) -> tuple[Ints, Ints]:
    """Pair every row with each later one of its sub-group that has a lower level -> rows preferred, rows not."""
    order = np.lexsort((-level, key))
    ends = np.searchsorted(key[order], key[order], side="right")
    n_after = ends - np.arange(len(order)) - 1
    first = np.repeat(np.arange(len(order)), n_after)
    step = np.arange(len(first)) - np.repeat(np.cumsum(n_after) - n_after, n_after)
    high, low = order[first], order[first + step + 1]
    differ = level[high] > level[low]
    return high[differ], low[differ]


def _repeated(columns: Ints) -> Bools:
    """Mark what stands in the columns a second time -> (row,)."""
    _, first = np.unique(columns, axis=1, return_index=True)
    again = np.ones(columns.shape[1], dtype=np.bool_)
    again[first] = False
    return again


def _refuse_contradictions(preferences: Preferences) -> None:
    """Refuse an assessor who prefers each of two documents to the other, as trec_eval does."""
    oriented = preferences.oriented()
    pair, _ = preferences.pairs()
    key = pair * len(preferences.assessor.names) + preferences.assessor.codes
    order = np.lexsort((oriented.outcome, key))
    turned = (key[order][1:] == key[order][:-1]) & (oriented.outcome[order][1:] != oriented.outcome[order][:-1])
    if turned.any():
        row = int(order[1:][turned][0])
        who = preferences.assessor.names[int(preferences.assessor.codes[row])]
        left, right = (preferences.docs[int(side[row])] for side in (preferences.left, preferences.right))
        raise AmbiguousLabels(
            f"{who!r} prefers each of {left!r} and {right!r} to the other ({counted(int(turned.sum()), 'such pair')}), "
            "which trec_eval refuses within one judgment group",
            hint="take every choice as another person's, preferences.anonymous(), or settle such pairs first",
        )
