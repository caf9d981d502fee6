"""Returned results: the labels of what systems show first, apart from those of the whole pool.

What a label says about people depends on where the results come from: among results with one label, those that
systems return near the top are the better ones (Demeester et al. 2015, doi:10.1007/s10791-015-9275-x, Section 6.1).
A model that is to say something of first results is therefore fitted on first results.  ``label_draws`` draws some of
them for people to label; this chooses among labels that are there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venire.data.judgments import Judgments
from venire.errors import PairsError, SettingError
from venire.io.judgment_sources import JudgmentsLike, read_judgments
from venire.io.run_sources import RunsLike, as_runs
from venire.io.scanning import Progress, scan
from venire.words import counted


def returned(
    judgments: JudgmentsLike, runs: RunsLike, top: int | None = 10, *, progress: Progress | None = None
) -> Judgments:
    """Choose the labels of items that some system has among its first results.

    Parameters
    ----------
    judgments, runs : as ``evaluate`` takes them
    top : how many results of each list count; None: the whole list
    progress : called with the number of bytes of the runs just read

    Returns
    -------
    Judgments : labels by all assessors of the items chosen, each item once however many systems return it; the last
        of ``notes`` says how many labels were kept

    Notes
    -----
    Cost: one scan of the runs, O(lines), and O(labels + hits); where the runs were scanned for these judgments already,
    only the latter.  What is left differs between systems still: among results with one label, those of a good system
    are better than those of a poor one.  When not to use this: to score with.  The ideal list of nDCG or the recall
    of AP needs the documents that no system found too; fit on what is returned, and score with all labels.

    Examples
    --------
    >>> judged = {"q": {"a": 1, "b": 0, "c": 1}}
    >>> first = returned(judged, {"q": {"a": 3.0, "x": 2.0, "b": 1.0, "c": 0.0}}, top=3)
    >>> first.notes[-1]
    '2 of 3 labels are of items in the first 3 of some list'
    """
    if top is not None and top < 1:
        raise SettingError(f"the first {top} results are asked for, expected 1 or more", hint="None takes whole lists")
    labels = read_judgments(judgments)
    facts = scan(as_runs(runs), labels.items, progress=progress)
    shown = np.zeros(len(labels.items), dtype=np.bool_)
    shown[facts.item if top is None else facts.item[facts.rank <= top]] = True
    kept = shown[labels.item]
    where = "some list" if top is None else f"the first {'result' if top == 1 else top} of some list"
    if not kept.any():
        raise PairsError(
            f"none of {counted(len(labels), 'label')} is of an item in {where}",
            hint=("look whether topics and documents have the same names in judgments and runs", "look deeper"),
        )
    note = f"{int(kept.sum()):,} of {counted(len(labels), 'label')} are of items in {where}"
    return replace(labels.take(kept), notes=(*labels.notes, note))
