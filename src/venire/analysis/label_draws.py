"""Draws of results that people should label, so that a judge's labels can be read through theirs.

What a label says about people depends on where the results come from: among results with one label, those that good
systems return near the top are the better ones (Demeester et al. 2015, doi:10.1007/s10791-015-9275-x, Section 6.1).
So results are drawn as a measure meets them: a place in a list at random, among the first k of all systems and
topics, and the result that stands there; one that many systems return is drawn sooner.  Scores of a measure that is
linear in the gains are then right on average over the systems, whatever the label.
"""

from __future__ import annotations

import numpy as np

from venire.errors import SettingError
from venire.io.judgment_sources import JudgmentsLike, read_judgments
from venire.io.run_sources import RunsLike, as_runs
from venire.io.scanning import scan
from venire.types import RNGLike
from venire.words import counted


def results_to_label(
    judgments: JudgmentsLike, runs: RunsLike, n: int, *, k: int = 10, rng: RNGLike = 0
) -> list[tuple[str, str]]:
    """Draw n judged results, (topic, doc), from the first k of the lists; each result once.  O(hits).

    Examples
    --------
    >>> judged = {"q": {"a": 1, "b": 0, "c": 1}}
    >>> sorted(results_to_label(judged, {"q": {"a": 3.0, "x": 2.0, "b": 1.0, "c": 0.0}}, 2, k=3))
    [('q', 'a'), ('q', 'b')]
    """
    labels = read_judgments(judgments)
    facts = scan(as_runs(runs), labels.items)
    judged = np.zeros(len(labels.items), dtype=np.bool_)
    judged[labels.item] = True
    places = facts.item[(facts.rank <= k) & judged[facts.item]]
    found, first = np.unique(np.random.default_rng(rng).permutation(places), return_index=True)
    if n < 1 or n > len(found):
        raise SettingError(
            f"{counted(n, 'result')} to label: the first {k} of the lists have {len(found):,} that were judged",
            hint=f"ask for fewer, or look deeper than k={k}",
        )
    drawn = found[np.argsort(first)[:n]]
    topics, docs = labels.topics, labels.items.doc
    return [(topics[labels.items.topic[item]], docs[int(item)]) for item in drawn.tolist()]
