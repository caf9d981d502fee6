"""Labels of top results, on which a model of disagreement is fitted, and draws of top results to label.

What a label says about people depends on where the results come from: among results with one label, those that
systems return near the top are better (Demeester et al. 2015, doi:10.1007/s10791-015-9275-x, Section 6.1).  A model
for top results is therefore fitted on top results, unless too few of them have two labels (``labels_to_fit``).
``named_gains`` resolves several gains by name, those of models fitted on these labels.

``results_to_label`` draws results as a measure meets them: a random place among the first k of all systems and topics,
and the result there; one that many systems return is drawn sooner.  Scores of a measure that is linear in the gains
are then unbiased on average over the systems.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venire.data.gains import Gains, GainsLike, gains_for, names_model
from venire.data.judgments import Judgments
from venire.data.label_pairs import pair_up
from venire.data.runs import Facts, Runs
from venire.data.scale import Scale
from venire.disagreement.gains import fit_gains
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.errors import GainsError, PairsError, PoolFitWarning, SettingError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import Progress, RunsLike, scan
from venire.results import Note, counted
from venire.types import Floats, Ints, RNGLike

ManyGains = Sequence[GainsLike] | Mapping[str, GainsLike] | None
FIT_TO = ("returned", "pool")
TOP = 10
ENOUGH = 300
"""This many pairs of labels on top results, or half of all pairs, are enough to fit on them alone."""

AS_KNOWN = "gains by a model are estimates; intervals and p-values treat them as known"
"""Note on scores with such gains."""


@dataclass(frozen=True, eq=False)
class LabelsToFit:
    """Labels that a model is fitted on; rank (item,) by ``rank_groups``, None where there are no runs.

    top: how many first results they are of, None: all labels; note: how many labels they are, None: all.
    """

    judgments: Judgments
    rank: Ints | None = None
    top: int | None = None
    note: Note | None = None

    def fit(self, model: PredictedRelevance, *, rng: RNGLike = 0) -> PredictedRelevanceFit:
        """Fit a model on the labels."""
        return model.fit(self.judgments, rank=self.rank, rng=rng)

    def gains(self, text: str, *, keep_lowest: bool = False) -> Gains:
        """Gains by the name of a model, as in prm:2, fitted on the labels."""
        return fit_gains(text, self.judgments, keep_lowest=keep_lowest, rank=self.rank)


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
    judgments, runs, top, progress : as in ``in_top_results``
    fit_to : "returned": labels of top results; "pool": all; None: the former, or all with a ``PoolFitWarning`` where
        top results have fewer than 300 pairs of labels and fewer than half of all pairs, or no pair of some label
    model : whose label is paired with whose; None: any two

    Examples
    --------
    >>> judged = {"q": {"a": 1, "b": 0, "c": 1}}
    >>> print(labels_to_fit(judged, {"q": {"a": 3.0, "b": 1.0}}, fit_to="returned").note)
    the model is fitted on top results: 2 of 3 labels are of items in the first 10 of some list
    """
    if fit_to not in (None, *FIT_TO):
        raise UnknownName("set of labels to fit to", str(fit_to), FIT_TO)
    labels = as_judgments(judgments)
    sources = scan(runs, labels.items, progress=progress)
    pool = LabelsToFit(labels, rank_groups(sources.facts))
    if fit_to == "pool":
        return pool
    try:
        shown = in_top_results(labels, sources, top)
    except PairsError as error:
        if fit_to == "returned":
            raise
        return _warned(pool, error.message)
    text = "the model is fitted on top results: {labels}"
    note = Note("fitted-on-top-results", text, labels=shown.notes[-1], top=top)
    lack = "" if fit_to == "returned" else _lack(labels, shown, model or PredictedRelevance())
    return _warned(pool, lack) if lack else replace(pool, judgments=shown, top=top, note=note)


def _warned(pool: LabelsToFit, reason: str) -> LabelsToFit:
    """Warn that a model is fitted on the whole pool."""
    words = f"the model of disagreement is fitted on the whole pool, which may underestimate p(R|i): {reason}"
    warnings.warn(words, PoolFitWarning, stacklevel=3)
    return pool


def _lack(labels: Judgments, shown: Judgments, model: PredictedRelevance) -> str:
    """Say what top results lack to be fitted on; empty if nothing, or if all labels together lack it too."""
    pool, first = (_pairs_by_label(each, model) for each in (labels, shown))
    total, found = float(pool.sum()), float(first.sum())
    if total and found < min(ENOUGH, total / 2):
        return f"{found:,.0f} of {total:,.0f} pairs of labels are of top results, fewer than {ENOUGH} or half of them"
    without = [label for label, a, b in zip(labels.scale.labels, pool, first, strict=True) if a and not b]
    return f"no top result with the label {without[0]} was judged twice" if without else ""


def _pairs_by_label(judgments: Judgments, model: PredictedRelevance) -> Floats:
    """Count the pairs that begin with each label -> (label,)."""
    pairs = pair_up(judgments, estimator=model.estimator, observed=model.observed, reference=model.reference)
    return pairs.sums(np.ones((1, len(judgments.scale)), dtype=np.bool_)).by_topic.sum(axis=(0, 2))


def labels_of_fit(
    labels: Judgments, runs: Runs, *, fit_on: Judgments | None = None, fit_to: str | None = None
) -> LabelsToFit:
    """Choose the labels that models of gains are fitted on: ``fit_on``, or those that ``fit_to`` selects."""
    if fit_on is not None and fit_to is not None:
        raise SettingError("fit_on names other judgments, and fit_to selects from those given: use one of them")
    return labels_to_fit(labels, runs, fit_to=fit_to) if fit_on is None else LabelsToFit(fit_on)


def named_gains(
    labels: Judgments, gains: ManyGains, *, relevant: str | None = None, chosen: Callable[[], LabelsToFit] | None = None
) -> tuple[dict[str, Gains], list[Any]]:
    """Resolve several gains by name, and note which of the default ones could not be fitted.

    chosen: selects the labels that models are fitted on, called only if a model is named; None: all.
    """
    named: Mapping[str, GainsLike]
    if gains is not None and relevant is not None:
        raise SettingError(
            "relevant is a setting of the default gains, and others were named",
            hint=f"put it into their names, as in binary:{relevant} or prm:{relevant}",
        )
    if gains is None:
        named = {name: name for name in default_gains(labels.scale, relevant)}
    elif isinstance(gains, Mapping):
        named = gains
    else:
        named = {each if isinstance(each, str) else gains_for(each, labels.scale).name: each for each in gains}
        if len(named) < len(gains):
            raise SettingError("two of the gains have the same name", hint="name them: {name: gains}")
    models = [name for name, each in named.items() if isinstance(each, str) and names_model(each)]
    fit_on = chosen() if models and chosen is not None else LabelsToFit(labels)
    resolved, omitted = {}, []
    for name, each in named.items():
        try:
            resolved[name] = gains_for(fit_on.gains(str(each)) if name in models else each, labels.scale)
        except (PairsError, GainsError) as error:
            if gains is not None:
                raise
            omitted.append(Note("gains-omitted", "gains {name} are omitted: {why}", name=name, why=error.message))
    fitted = any(name in resolved for name in models)
    return resolved, [*(note for note in (fit_on.note, AS_KNOWN) if note and fitted), *omitted]


def default_gains(scale: Scale, relevant: str | None = None) -> tuple[str, ...]:
    """Return the gains that are compared if none are named; relevant None: the top label."""
    if relevant is None:
        top = scale.labels[-1]
        return ("linear", "exponential", f"binary:{top}", f"prm:{top}", "udm:1/3")
    scale.at_least(relevant)
    return ("linear", "exponential", f"binary:{relevant}", f"prm:{relevant}", f"udm:1/3:{relevant}")


def rank_groups(facts: Facts) -> Ints:
    """Group items that runs rank alike -> (item,): by best rank and the number of lists that have them, 0 if none.

    The number of lists is rounded down to a power of two.  Cost: O(hits).
    """
    n_items = len(facts.items)
    best = np.full(n_items, np.iinfo(np.int32).max, dtype=np.int64)
    np.minimum.at(best, facts.item, facts.rank)
    lists = np.bincount(facts.item, minlength=n_items)
    return np.where(lists > 0, 64 * best + np.log2(np.maximum(lists, 1)).astype(np.int64), 0)


def in_top_results(
    judgments: JudgmentsLike, runs: RunsLike, top: int | None = 10, *, progress: Progress | None = None
) -> Judgments:
    """Select the labels of items that some system has among its first results.

    Parameters
    ----------
    judgments, runs : as ``evaluate`` takes them
    top : how many results of each list count; None: the whole list
    progress : called with the number of bytes of the runs just read

    Returns
    -------
    Judgments : labels by all assessors of the items chosen, each item once however many systems return it; the last
        of ``notes`` has the number of labels kept

    Notes
    -----
    Cost: one scan of the runs, O(lines), and O(labels + hits); where the runs are a Scan for these judgments, only the
    latter.  Among results with one label, those of a good system are still better than those of a poor one.  When not
    to use this: to score with.  The ideal list of nDCG or the recall of AP needs the documents that no system found
    too; fit on top results, and score with all labels.

    Examples
    --------
    >>> judged = {"q": {"a": 1, "b": 0, "c": 1}}
    >>> first = in_top_results(judged, {"q": {"a": 3.0, "x": 2.0, "b": 1.0, "c": 0.0}}, top=3)
    >>> print(first.notes[-1])
    2 of 3 labels are of items in the first 3 of some list
    """
    if top is not None and top < 1:
        raise SettingError(f"the first {top} results: expected 1 or more", hint="None takes whole lists")
    labels = as_judgments(judgments)
    facts = scan(runs, labels.items, progress=progress).facts
    shown = np.zeros(len(labels.items), dtype=np.bool_)
    shown[facts.item if top is None else facts.item[facts.rank <= top]] = True
    kept = shown[labels.item]
    where = "some list" if top is None else f"the first {'result' if top == 1 else top} of some list"
    if not kept.any():
        raise PairsError(
            f"none of {counted(len(labels), 'label')} is of an item in {where}",
            hint=("check that topics and documents have the same names in judgments and runs", "use more results"),
        )
    text, n = "{kept:,} of {n:label} are of items in {where}", int(kept.sum())
    note = Note("top-results", text, kept=n, n=len(labels), where=where)
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
    labels = as_judgments(judgments)
    facts = scan(runs, labels.items).facts
    judged = np.zeros(len(labels.items), dtype=np.bool_)
    judged[labels.item] = True
    places = facts.item[(facts.rank <= k) & judged[facts.item]]
    found, first = np.unique(np.random.default_rng(rng).permutation(places), return_index=True)
    if n < 1 or n > len(found):
        raise SettingError(
            f"{counted(n, 'result')} to label: the first {k} of the lists have {len(found):,} that were judged",
            hint=f"draw fewer, or from more than the first {k}",
        )
    drawn = found[np.argsort(first)[:n]]
    topics, docs = labels.topics, labels.items.doc
    return [(topics[labels.items.topic[item]], docs[int(item)]) for item in drawn.tolist()]
