"""Returned results: the labels of what systems show first, apart from those of the whole pool.

What a label says about people depends on where the results come from: among results with one label, those that
systems return near the top are the better ones (Demeester et al. 2015, doi:10.1007/s10791-015-9275-x, Section 6.1).
A model that is to say something of first results is therefore fitted on first results, unless too few of them have two
labels.  ``label_draws`` draws some of them for people to label; this chooses among labels that are there.

    returned        the labels of results among the first of some list
    labels_to_fit   those, where they are enough to fit a model on; else all labels, with a warning

Draws of results that people should label, so that a judge's labels can be read through theirs.

What a label says about people depends on where the results come from: among results with one label, those that good
systems return near the top are the better ones (Demeester et al. 2015, doi:10.1007/s10791-015-9275-x, Section 6.1).
So results are drawn as a measure meets them: a place in a list at random, among the first k of all systems and
topics, and the result that stands there; one that many systems return is drawn sooner.  Scores of a measure that is
linear in the gains are then right on average over the systems, whatever the label.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from venire.data.facts import Facts
from venire.data.gains import Gains
from venire.data.judgments import Judgments
from venire.data.label_pairs import pair_up
from venire.disagreement.gains import fitted_gains
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.errors import PairsError, PoolFitWarning, SettingError, UnknownName
from venire.io.judgment_sources import JudgmentsLike, read_judgments
from venire.io.runs import Progress, RunsLike, scan
from venire.results import counted
from venire.types import Floats, Ints, RNGLike

FIT_TO = ("returned", "pool")
TOP = 10
ENOUGH = 300
"""So many pairs of labels on first results are enough to fit on them alone; or half of all pairs that there are."""


AS_KNOWN = "gains by a model are estimates; intervals and p-values take them as known"
"""To be said where scores with such gains have either."""


@dataclass(frozen=True, eq=False)
class LabelsToFit:
    """Labels that a model is fitted on; rank (item,) as ``rank_groups`` has it, None where no runs are at hand.

    top: they are those of so many first results, None: all; note: how many they are, empty where they are all.
    """

    judgments: Judgments
    rank: Ints | None = None
    top: int | None = None
    note: str = ""

    def fit(self, model: PredictedRelevance, *, rng: RNGLike = 0) -> PredictedRelevanceFit:
        """Fit a model on them."""
        return model.fit(self.judgments, rank=self.rank, rng=rng)

    def gains(self, text: str, *, keep_lowest: bool = False) -> Gains:
        """Gains by the name of a model, as in prm:2, fitted on them."""
        return fitted_gains(text, self.judgments, keep_lowest=keep_lowest, rank=self.rank)


def labels_to_fit(
    judgments: JudgmentsLike,
    runs: RunsLike,
    *,
    fit_to: str | None = None,
    top: int | None = TOP,
    model: PredictedRelevance | None = None,
    progress: Progress | None = None,
) -> LabelsToFit:
    """Choose the labels that a model of disagreement is fitted on, where runs are scored with it.

    Parameters
    ----------
    judgments, runs, top, progress : as in ``returned``
    fit_to : "returned": labels of first results; "pool": all; None: the former, or all with a ``PoolFitWarning`` where
        first results have fewer than 300 pairs of labels and fewer than half of all pairs, or no pair of some label
    model : whose label is paired with whose; None: any two

    Examples
    --------
    >>> judged = {"q": {"a": 1, "b": 0, "c": 1}}
    >>> labels_to_fit(judged, {"q": {"a": 3.0, "b": 1.0}}, fit_to="returned").note
    'fitted on what is returned: 2 of 3 labels are of items in the first 10 of some list'
    """
    if fit_to not in (None, *FIT_TO):
        raise UnknownName("set of labels to fit to", str(fit_to), FIT_TO)
    labels = read_judgments(judgments)
    sources = scan(runs, labels.items, progress=progress)
    pool = LabelsToFit(labels, rank_groups(sources.facts))
    if fit_to == "pool":
        return pool
    try:
        shown = returned(labels, sources, top)
    except PairsError as error:
        if fit_to == "returned":
            raise
        return _warned(pool, error.message)
    note = f"fitted on what is returned: {shown.notes[-1]}"
    lack = "" if fit_to == "returned" else _lack(labels, shown, model or PredictedRelevance())
    return _warned(pool, lack) if lack else replace(pool, judgments=shown, top=top, note=note)


def _warned(pool: LabelsToFit, reason: str) -> LabelsToFit:
    """Say that a model is fitted on the whole pool, and why."""
    words = f"the model of disagreement is fitted on the whole pool, which may promise too little: {reason}"
    warnings.warn(words, PoolFitWarning, stacklevel=3)
    return pool


def _lack(labels: Judgments, shown: Judgments, model: PredictedRelevance) -> str:
    """Say what first results lack to be fitted on; empty if nothing, or if all labels together lack it too."""
    pool, first = (_pairs_by_label(each, model) for each in (labels, shown))
    total, found = float(pool.sum()), float(first.sum())
    if total and found < min(ENOUGH, total / 2):
        return f"{found:,.0f} of {total:,.0f} pairs of labels are of first results, fewer than {ENOUGH} or half of them"
    without = [label for label, a, b in zip(labels.scale.labels, pool, first, strict=True) if a and not b]
    return f"no first result with the label {without[0]} was judged twice" if without else ""


def _pairs_by_label(judgments: Judgments, model: PredictedRelevance) -> Floats:
    """Count the pairs that begin with each label -> (label,)."""
    pairs = pair_up(judgments, estimator=model.estimator, observed=model.observed, reference=model.reference)
    return pairs.sums(np.ones((1, len(judgments.scale)), dtype=np.bool_)).by_topic.sum(axis=(0, 2))


def rank_groups(facts: Facts) -> Ints:
    """Put together the items that runs treat alike -> (item,): by best rank and how many lists have them; 0: none has.

    The number of lists counts by its power of two.  Cost: O(hits).
    """
    n_items = len(facts.items)
    best = np.full(n_items, np.iinfo(np.int32).max, dtype=np.int64)
    np.minimum.at(best, facts.item, facts.rank)
    lists = np.bincount(facts.item, minlength=n_items)
    return np.where(lists > 0, 64 * best + np.log2(np.maximum(lists, 1)).astype(np.int64), 0)


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
    Cost: one scan of the runs, O(lines), and O(labels + hits); where the runs are a Scan for these judgments, only the
    latter.  What is left differs between systems still: among results with one label, those of a good system
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
    facts = scan(runs, labels.items, progress=progress).facts
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
    facts = scan(runs, labels.items).facts
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
