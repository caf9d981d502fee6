r"""Counting relevant results over resources: what the first n search engines that a system chooses return together.

In federated search a run ranks *resources* for a topic, and every resource has a few judged results for it.  The count
of a system is that over the results of its first n resources; an *oracle* chooses, for each topic and each kind of
count, the n resources with the highest (Demeester et al. 2015, Section 7.1 and Table 5, doi:10.1007/s10791-015-9275-x).

A judged document belongs to one resource, so the counts of resources add up, and the n largest are the best choice.
Copies of a page in several resources are results of their own, each with its label, as in the paper.

The resource of a document follows from its name (``FW13-{resource}-{topic}-{rank}``, or a regular expression with a
group named ``resource``), from a column of the judgments, or from a mapping.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.data.ids import Category
from venire.data.judgments import Items, Judgments
from venire.data.panel import Pool, build_panel
from venire.data.runs import Facts
from venire.disagreement.counting import Counts, Model, counts_of, measures_of
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.errors import FormatError, SettingError, known_names
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import Progress, RunsLike, scan
from venire.kernels.ragged import gather, offsets
from venire.measures.evaluate import Case, Layout
from venire.measures.scores import Scores
from venire.measures.scoring import Plan, Scoring, score_facts
from venire.results import Note, counted, first_few
from venire.types import Floats, RNGLike

ResourceLike = str | Mapping[str, str]
ORACLE = "oracle"
FITTED_ON_POOL = Note(
    "fitted-on-pool", "the model is fitted on all judgments, not only on the results of the resources counted"
)
HINT = "a pattern is like 'FW13-{resource}-{topic}-{rank}', or a regular expression with a group (?P<resource>...)"
_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, eq=False)
class Offers:
    """What resources offer: ``items``, a topic and a resource each, and the judged documents of each as facts."""

    items: Items
    lists: Facts
    notes: tuple[Note, ...] = ()


def count_resources(
    judgments: JudgmentsLike,
    runs: RunsLike,
    model: Model | None = None,
    *,
    resource: ResourceLike,
    top: int = 3,
    at_least: tuple[int, int] = (1, 2),
    assessor: str | None = None,
    per: str | None = None,
    pool: str | Pool | None = None,
    missing: str = "zero",
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> Counts:
    """Count the relevant results of the first resources that each system chooses, beside an oracle's choice.

    Parameters
    ----------
    judgments : as ``evaluate`` takes them
    runs : runs whose documents are the names of resources
    model, at_least, rng : as in ``count_relevant``; a setting is fitted on all judgments, with a note
    resource : a pattern of document names, the name of a column, or a mapping from documents to resources
    top : how many resources count
    assessor, per, pool, missing : as in ``evaluate``; a topic that a system has no list for counts 0, or is left out

    Notes
    -----
    Cost: O(judgments + run lines); memory: judges x counts x (topics x resources).
    """
    if top < 1:
        raise SettingError(f"the first {top} resources count, expected 1 or more")
    labels, of_item = with_resources(as_judgments(judgments), resource)
    offers = offers_of(labels.items, of_item)
    note = None
    if isinstance(model, PredictedRelevanceFit):
        fit = model
    else:
        fit, note = (model or PredictedRelevance()).fit(labels, rng=rng), FITTED_ON_POOL
    measures = measures_of(fit, None, at_least)
    plan = Plan.of(measures, measures[0].gains or fit.gains(), "condensed")
    panel = build_panel(labels, assessor=assessor, per=per, pool=pool)
    chosen = scan(runs, offers.items, progress=progress).facts
    if len(chosen.rank) == 0:
        names = first_few(list(dict.fromkeys(chosen.items.doc)), 5)
        hint = f"the resources are {names}"
        raise FormatError("runs", None, "no document is the name of a resource of its topic", hint=hint)
    worth = score_facts(offers.lists, panel, plan)
    layout = Layout.of(Case(labels, panel, replace(chosen, items=labels.items), Scoring(missing=missing)), plan)
    sums, labelled = oracle_sums(worth, offers.items, top, n_labels=len(fit.scale))
    seen = np.where(layout.seen, 1.0, np.nan)
    oracle = (sums * seen[:, None])[..., layout.chosen]
    values = np.insert(
        layout.with_results(layout.place(first_sums(worth, chosen, top))), 0, oracle.transpose(2, 1, 0), axis=0
    )
    weights = np.nanmean((labelled * seen[:, None, :, None])[:, :, layout.chosen], axis=2)
    notes = (*layout.notes, *offers.notes, *_empty(chosen, layout, top))
    scores = _named(values, layout, plan, judges=None if per is None else panel.judges, notes=notes)
    among = f"the results of the first {counted(top, 'resource')}"
    found = counts_of(scores, fit, at_least, among=among, oracle=weights if per else weights[0])
    return replace(found, fitted_on=note)


def with_resources(judgments: Judgments, resource: ResourceLike) -> tuple[Judgments, Category]:
    """Find the resource of every item, "" where it has none -> (item,); its column is removed from the facets."""
    if isinstance(resource, str) and resource in judgments.facets:
        facets = {name: column for name, column in judgments.facets.items() if name != resource}
        return replace(judgments, facets=facets), _by_column(judgments, resource)
    docs = list(judgments.items.doc)
    if isinstance(resource, str):
        pattern = resource_pattern(resource, judgments.facets)
        found = [match["resource"] if (match := pattern.fullmatch(doc)) else "" for doc in docs]
    else:
        found = [resource.get(doc, "") for doc in docs]
    if not any(found):
        matches = f"fits the pattern {resource!r}" if isinstance(resource, str) else "is in the mapping"
        raise SettingError(
            f"no judged document {matches}; the first is {docs[0]!r}" if docs else "there is no judged document",
            hint=HINT,
        )
    return judgments, Category.of(found)


def resource_pattern(text: str, columns: Mapping[str, object] | None = None) -> re.Pattern[str]:
    """Read a template with {resource} (other fields in braces are anything), or a regular expression with that group.

    Examples
    --------
    >>> resource_pattern("FW13-{resource}-{topic}-{rank}").fullmatch("FW13-e001-7001-01")["resource"]
    'e001'
    """
    if "{resource}" in text:
        group = {"resource": "(?P<resource>.+?)"}
        parts = [re.escape(part) if n % 2 == 0 else group.get(part, ".+?") for n, part in enumerate(_FIELD.split(text))]
        return re.compile("".join(parts))
    if "(?P<resource>" in text:
        try:
            return re.compile(text)
        except re.error as error:
            raise SettingError(f"{text!r} is not a regular expression ({error})") from None
    others = f"; columns: {known_names(text, columns)}" if columns else ""
    raise SettingError(f"{text!r} does not say where the resource is in a document's name", hint=HINT + others)


def _by_column(judgments: Judgments, name: str) -> Category:
    """Take the resource of each item from a column of its labels; two for one item are an error."""
    column = judgments.facets[name]
    codes = np.full(len(judgments.items), -1, dtype=np.int32)
    codes[judgments.item] = column.codes
    other = np.flatnonzero(codes[judgments.item] != column.codes)
    if len(other):
        item = int(judgments.item[other[0]])
        both = " and ".join(repr(column.names[int(code)]) for code in (column.codes[other[0]], codes[item]))
        raise SettingError(
            f"document {judgments.items.doc[item]!r} belongs to two resources for one topic, {both}",
            hint="give the results of each resource names of their own",
        )
    names = [*column.names, ""]
    return Category.of(names[code] for code in codes.tolist())


def offers_of(items: Items, resource: Category) -> Offers:
    """List the documents of every resource, topic by topic.  O(items log items)."""
    belongs = np.flatnonzero(np.array([bool(name) for name in resource.names])[resource.codes])
    left, names = len(items) - len(belongs), resource.take(belongs)
    n_names = len(names.names)
    key, pair = np.unique(items.topic[belongs].astype(np.int64) * n_names + names.codes, return_inverse=True)
    pairs = Items(items.topics, (key // n_names).astype(np.int32), names.names.take(key % n_names))
    order = np.argsort(pair, kind="stable")
    offset = offsets(np.bincount(pair, minlength=len(pairs)))
    lists = Facts(
        items,
        ("resource",),
        np.zeros(len(pairs), dtype=np.int32),
        pairs.topic,
        np.diff(offset),
        offset,
        (np.arange(len(order)) - offset[pair[order]] + 1).astype(np.int32),
        belongs[order].astype(np.int32),
    )
    text = "{n:judged document} without a resource left out"
    notes = (Note("no-resource", text, n=left),) if left else ()
    return Offers(pairs, lists, notes)


def oracle_sums(worth: Floats, items: Items, top: int, *, n_labels: int) -> tuple[Floats, Floats]:
    """Sum the n largest counts of each topic, and the results of each label among them.

    worth (judge, measure, offer), the last n_labels measures being numbers of results with each label
    -> (judge, measure, topic), (judge, measure but those, topic, label).
    """
    n_of = np.bincount(items.topic, minlength=len(items.topics))
    cell = gather(offsets(n_of)[:-1], n_of, int(n_of.max(initial=0)), padding=len(items))
    padded = np.concatenate([worth, np.zeros((*worth.shape[:2], 1))], axis=2)
    best = np.zeros((*worth.shape[:2], len(n_of)))
    labels = np.zeros((len(worth), worth.shape[1] - n_labels, len(n_of), n_labels))
    for judge, measure in np.ndindex(worth.shape[:2]):
        order = np.argsort(-padded[judge, measure][cell], axis=1, kind="stable")[:, :top]
        chosen = np.take_along_axis(cell, order, axis=1)
        best[judge, measure] = padded[judge, measure][chosen].sum(axis=1)
        if measure < labels.shape[1]:
            labels[judge, measure] = padded[judge, -n_labels:][:, chosen].sum(axis=2).T
    return best, labels


def first_sums(worth: Floats, chosen: Facts, top: int) -> Floats:
    """Sum the counts of the first n resources of each list; worth (judge, measure, offer) -> (judge, measure, list)."""
    first = chosen.rank <= top
    into, offer = np.repeat(np.arange(len(chosen.depth)), chosen.n_hits)[first], chosen.item[first]
    sums = np.zeros((*worth.shape[:2], len(chosen.depth)))
    for place in np.ndindex(worth.shape[:2]):
        sums[place] = np.bincount(into, weights=worth[place][offer], minlength=sums.shape[2])
    return sums


def _empty(chosen: Facts, layout: Layout, top: int) -> list[Note]:
    """Note how many of the resources chosen have no judged result."""
    lists = np.isin(chosen.topic, layout.chosen)
    asked = int(np.minimum(chosen.depth, top)[lists].sum())
    empty = asked - int((chosen.rank[np.repeat(lists, chosen.n_hits)] <= top).sum())
    text = "{n:,} of the {chosen:,} resources chosen have no judged result for the topic, and count 0"
    return [Note("empty-resources", text, n=empty, chosen=asked)] if empty else []


def _named(
    values: Floats, layout: Layout, plan: Plan, *, judges: Sequence[str | None] | None, notes: tuple[Note, ...]
) -> Scores:
    """Name counts (system, topic, measure, judge); the oracle is the first system."""
    oracle = ORACLE
    while oracle in layout.lists.systems:
        oracle += "*"
    names = {"system": (oracle, *layout.systems), "topic": layout.topics, "measure": plan.names}
    if judges is None:
        return Scores(values[..., 0], tuple(names), names, notes, silent=layout.silent)
    names["assessor"] = tuple(str(name) for name in judges)
    return Scores(values, tuple(names), names, notes, silent=layout.silent)
