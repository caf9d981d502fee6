"""evaluate: runs, judgments and measures to Scores.

The runs are scanned once into facts (the ranks of the judged items); then, for a block of judges at a time, labels
become gains, and each measure is computed over (judge, list, slot) arrays.  Another assessor, another gain or another
measure costs arithmetic on the hits, not another pass over the runs.

A Case is what is scored: all labels and lists, or those of some topics.  Large collections are scored in parts, by
threads (``ScoreLists``), and the facts of all parts are merged.  The Layout has the topics that count, and where each
score belongs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from venire.data.gains import GainsLike
from venire.data.intents import Probabilities, by_intent
from venire.data.judgments import Judgments, is_conditional
from venire.data.panel import Panel, Pool, build_panel, chosen_labels, panel_of
from venire.data.runs import Facts, no_common_topic
from venire.data.scale import Scale
from venire.engine.local import Local
from venire.errors import (
    EqualLabelsWarning,
    MeasureError,
    MissingTopicsWarning,
    UnjudgedWarning,
    UnknownName,
    joined_ways,
)
from venire.io.duplicates import Duplicates, groups_of
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import Progress, RunsLike, scan
from venire.measures.cascade import RBPResidual
from venire.measures.list_facts import (
    ListFacts,
    merged_lists,
    silent_systems,
    systems_with_results,
    warn_of_silent,
    with_results,
)
from venire.measures.measure import BinaryMeasure, Measure
from venire.measures.precision import Judged
from venire.measures.scores import ContextUse, Scores
from venire.measures.scoring import MeasureLike, Plan, Scoring, as_measure, score_facts
from venire.results import Note, counted
from venire.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from venire.data.context import Context

UNJUDGED_SHARE, UNJUDGED_DEPTH = 0.2, 10
MOSTLY_JUDGED = 0.5
"""If so many of the first results are judged, a measure for which all labels are relevant tells nothing."""
PART_LABELS = 1 << 22
"""About how many labels a part of topics has, where there are more."""
WITHOUT_LABELS = (Judged, RBPResidual)
"""Measures that depend on whether results are judged, by definition."""


def evaluate(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("nDCG@10",),
    *,
    gains: GainsLike = "linear",
    assessor: str | None = None,
    per: str | None = None,
    pool: str | Pool | None = None,
    topics: Iterable[str] | None = None,
    unjudged: float | str = 0.0,
    missing: str = "zero",
    duplicates: Duplicates | None = None,
    context: Context | None = None,
    intents: Probabilities | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score runs against judgments.

    Parameters
    ----------
    judgments, runs : as ``read_judgments`` and ``read_runs`` take them
    measures : names ("nDCG@10"), values (nDCG(10)) or functions of gains by rank, one or several
    gains : "linear", "exponential", "raw", "binary:LABEL", {label: gain}, or Gains
    assessor, per, pool : whose labels count where several assessors judged: one by name, each of them
        (``per="assessor"``, which adds an axis), or their labels pooled ("median", "majority", "max", "min", "mean")
    topics : the topics to score; None: all judged topics
    unjudged : the gain of documents nobody judged, or "condensed" to remove them from the lists
    missing : topics without a list of a system score "zero", or are omitted ("skip"); a system without a result for any
        topic that is scored has no score by either rule (``Scores.silent``)
    duplicates : groups of copies of a document: the first in a list counts, later ones have no gain
    context : for measures with alpha, such as "CCG(alpha=0.5)@5": what replaces conditional labels that were not
        collected. By default they are not predicted, and the label in isolation is used
    intents : for measures by intent, such as "alpha_nDCG@10": the probability of each intent, or the weight of each
        nugget, {(topic, intent): probability}. By default all intents of a topic count alike

    Returns
    -------
    Scores with the axes system, topic, measure and, with ``per``, assessor.  ``Scores.context`` counts the sources
    of conditional labels.

    Examples
    --------
    >>> evaluate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 2.0, "d1": 1.0}}, ["RR", "nDCG@10"])
    Scores: 1 system x 1 topic x 2 measures, means over topics
    system  RR      nDCG@10
    run     0.5000  0.6309
    """
    scoring = Scoring(assessor, per, pool, gains, unjudged, missing, topics, duplicates)
    labels = labels_for(judgments, measures, intents)
    plan = scoring.plan(as_list(measures), labels.scale, in_context=True)
    plan.require_fit(labels.items)
    if plan.contextual:
        return _evaluate_in_context(labels, runs, plan, scoring, context=context, progress=progress)
    chosen, notes = chosen_labels(labels, assessor=assessor, per=per, pool=pool)
    found = scan(runs, labels.items, progress=progress).facts
    plan, n_parts = plan.resolved(found), -(-len(chosen) // PART_LABELS)
    lists = Local().run(ScoreLists(plan), topic_parts(chosen, found, scoring, n_parts))
    return scores_of(lists, plan, scoring, scale=labels.scale, notes=(*_label_notes(labels, plan), *notes))


@dataclass(frozen=True, eq=False)
class ScoreLists:
    """The job of ``evaluate``: score the lists of a part by its labels.

    plan: with every measure resolved (``Plan.resolved``), since a part does not know the deepest list of all.
    """

    plan: Plan
    together: ClassVar[Mapping[str, tuple[str, ...]]] = {"judgments": ("topic",), "runs": ("topic", "system")}

    def facts(self, part: Case) -> ListFacts:
        """Score the lists of a part."""
        return replace(part.lists(self.plan), values=score_facts(part.facts, part.panel, self.plan, group=part.group))

    def merged(self, facts: Sequence[ListFacts]) -> ListFacts:
        """Merge the scores of all parts."""
        return merged_lists(facts)


def topic_parts(labels: Judgments, facts: Facts, scoring: Scoring, n_parts: int) -> Iterator[Case]:
    """Cut labels that were chosen, and the lists to score, into parts of whole topics with about as many labels each.

    Names and columns are not copied, but for labels that are not in the order of their items.  Labels for several
    intents of a topic are one part.
    """
    group, n_topics = _copies(scoring, labels), len(labels.items.topics)
    if n_parts < 2 or n_topics < 2 or labels.items.intents is not None:
        yield Case(labels, panel_of(labels, scoring.pool), facts, scoring, group)
        return
    labels, facts = labels.by_item(), facts.by_topic()
    weight = np.append(0, np.cumsum(np.bincount(labels.items.topic[labels.item], minlength=n_topics) + 1))
    ends = np.searchsorted(weight, np.linspace(0, weight[-1], n_parts + 1)[1:-1])
    for first, last in pairwise(np.unique(np.concatenate([[0], ends, [n_topics]])).tolist()):
        some, part = labels.items.of_topics(first, last)[0], labels.of_topics(first, last)
        own = None if group is None else group[some] - some.start
        yield Case(part, panel_of(part, scoring.pool), facts.of_topics(first, last), scoring, own)


def scores_of(lists: ListFacts, plan: Plan, scoring: Scoring, *, scale: Scale, notes: tuple[Note, ...] = ()) -> Scores:
    """Name the scores among facts, with warnings and notes of what is missing; notes: those of the labels."""
    layout = Layout.on(lists, plan, scoring, scale=scale, notes=notes)
    return layout.scores(lists.values, scoring, plan)


def _evaluate_in_context(
    labels: Judgments,
    runs: RunsLike,
    plan: Plan,
    scoring: Scoring,
    *,
    context: Context | None,
    progress: Progress | None,
) -> Scores:
    from venire.data.context import Context, build_conditions  # most evaluations do not need them
    from venire.measures.context.scoring import Known, require_conditional, score_in_context

    require_conditional(labels, plan, context)
    case = Case.of(labels.take(~is_conditional(labels)), runs, scoring, progress=progress)
    layout = Layout.of(case, plan)
    conditions = build_conditions(labels, case.panel, assessor=scoring.assessor, pool=scoring.pool)
    known = Known(conditions, context or Context())
    found = score_in_context(case.facts, case.panel, plan, known, group=case.group)
    use = found.use(plan, known, case.facts.topic, layout.scored)
    return layout.scores(found.values, scoring, plan, context=use)


def labels_for(
    judgments: JudgmentsLike, measures: Sequence[MeasureLike] | MeasureLike, intents: Probabilities | None = None
) -> Judgments:
    """Read judgments for measures: items are documents for intents if several are named, or if a measure asks for it.

    Every function that scores systems takes its judgments by it.
    """
    labels = as_judgments(judgments)
    named = "intent" in labels.facets
    several = named and len(labels.facets["intent"].names) > 1
    asked = named and any(as_measure(each).by_intent for each in as_list(measures))
    return by_intent(labels, intents) if several or asked or intents is not None else labels


def as_list(measures: Sequence[MeasureLike] | MeasureLike) -> list[MeasureLike]:
    """Return a list of measures, also for a single one."""
    return list(measures) if isinstance(measures, Sequence) and not isinstance(measures, str) else [measures]


@dataclass(frozen=True, eq=False)
class Case:
    """What is scored: judgments, whose labels count, the facts of one scan of the runs, and copies (item,) or None.

    ``of`` leaves out the systems that returned nothing for any topic that is scored: they are ``facts.silent``.
    """

    judgments: Judgments
    panel: Panel
    facts: Facts
    scoring: Scoring
    group: Ints | None = None

    @classmethod
    def of(cls, judgments: Judgments, runs: RunsLike, scoring: Scoring, *, progress: Progress | None = None) -> Case:
        """Resolve whose labels count, and scan the runs, unless they are a Scan for these items."""
        panel = build_panel(judgments, assessor=scoring.assessor, per=scoring.per, pool=scoring.pool)
        facts = scan(runs, judgments.items, progress=progress).facts
        names = tuple(facts.items.topics)
        chosen, _ = _chosen_topics(names, np.unique(facts.items.topic[panel.item]), scoring.topics)
        _need_results(facts, names, chosen)
        return cls(judgments, panel, with_results(facts, chosen), scoring, _copies(scoring, judgments))

    def lists(self, plan: Plan) -> ListFacts:
        """Summarise lists and labels, without scores."""
        return ListFacts.of(self.facts, self.panel, len(self.judgments.scale), _top(plan))


@dataclass(frozen=True, eq=False)
class Layout:
    """Where scores belong: the topics that are scored (topic,), and which judges have labels for them.

    seen (judge, every topic): whether the judge has a label; nothing (measure,): the score of a missing list.
    silent: the systems that returned nothing for any topic that is scored; they have no scores.
    """

    lists: ListFacts
    chosen: Ints
    seen: Bools
    nothing: Floats
    topics: tuple[str, ...]
    notes: tuple[Any, ...]
    silent: tuple[str, ...] = ()

    @classmethod
    def of(cls, case: Case, plan: Plan) -> Layout:
        """Choose the topics of a case, and warn of what is missing."""
        labels = case.judgments
        plan.require_fit(case.facts.items)
        return cls.on(case.lists(plan), plan, case.scoring, scale=labels.scale, notes=_label_notes(labels, plan))

    @classmethod
    def on(cls, lists: ListFacts, plan: Plan, scoring: Scoring, *, scale: Scale, notes: tuple[Note, ...]) -> Layout:
        """Choose the topics of some lists, and warn of what is missing; notes: those of the labels."""
        names, seen, missing = lists.topics, lists.seen, scoring.missing
        chosen, unknown = _chosen_topics(names, np.flatnonzero(seen.any(axis=0)), scoring.topics)
        _need_results(lists, names, chosen)
        silent = silent_systems(lists, chosen)
        warn_of_silent(silent, len(chosen))
        nothing = [each.empty_score if missing == "zero" else np.nan for each in plan.measures]
        notes = _notes(lists, plan, notes, unseen=int((~seen[:, chosen]).sum()), unknown=unknown)
        _warn_missing(lists, chosen, missing)
        for text in equal_labels(lists, plan, scale, chosen):
            warnings.warn(text, EqualLabelsWarning, stacklevel=4)
        if not (plan.unjudged_known or all(each.of_sample for each in plan.measures)):
            _warn_unjudged(lists, chosen, _top(plan))
        about = notes, (*lists.silent, *silent)
        return cls(lists, chosen, seen, np.array(nothing), tuple(names[n] for n in chosen), *about)

    @property
    def scored(self) -> Bools:
        """Which topics are scored, by judges who have a label for them -> (judge, every topic)."""
        return self.seen & np.isin(np.arange(self.seen.shape[1]), self.chosen)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems with a result for a topic that is scored."""
        return tuple(name for name in self.lists.systems if name not in self.silent)

    def with_results(self, table: Floats) -> Floats:
        """Keep the rows of these systems; table (system, ...).  Without a copy, whose sums may differ, if all are."""
        kept = systems_with_results(self.lists, self.chosen)
        return table if len(kept) == len(table) else table[kept]

    def scores(self, values: Floats, scoring: Scoring, plan: Plan, *, context: ContextUse | None = None) -> Scores:
        """Name scores (judge, measure, list); one judge has no axis unless scores are ``per`` assessor."""
        notes, table = (*self.notes, *(context.notes() if context else ())), self.with_results(self.place(values))
        names = {"system": self.systems, "topic": self.topics, "measure": plan.names}
        if scoring.per is None:
            table = table[..., 0]
        else:
            names["assessor"] = tuple(map(str, self.lists.judges))
            silent = ~self.returned[:, systems_with_results(self.lists, self.chosen)]
            np.copyto(table, np.nan, where=silent.T[:, None, None, :])
            if silent.any():
                text = (
                    "{n:pair} of a system and an assessor without a score: the system returned nothing for the topics"
                )
                notes = (*notes, Note("nothing-for-assessor", text + " of this assessor", n=int(silent.sum())))
        return Scores(table, tuple(names), names, notes, context, self.silent)

    @property
    def returned(self) -> Bools:
        """Whether a system returned something for a topic that is scored by a judge -> (judge, system)."""
        lists, some = self.lists, self.lists.depth > 0
        found = np.zeros((len(lists.topics), len(lists.systems)), dtype=np.float32)
        found[lists.topic[some], lists.system[some]] = 1.0
        return np.asarray(self.scored.astype(np.float32) @ found > 0)

    def place(self, values: Floats) -> Floats:
        """Arrange scores (judge, measure, list) -> (system, topic, measure, judge); NaN where there is no score.

        The labels of one judge may serve many judges that are drawn from them.
        """
        shape = (len(values), len(self.nothing), len(self.lists.systems), len(self.lists.topics))
        table = np.empty(shape)
        table[:] = self.nothing[:, None, None]
        table[:, :, self.lists.system, self.lists.topic] = values
        np.copyto(table, np.nan, where=~self.seen[:, None, None, :])
        return table[..., self.chosen].transpose(2, 3, 1, 0)


def _copies(scoring: Scoring, judgments: Judgments) -> Ints | None:
    """Number items so that copies of a document share a number -> (item,); None where none are known."""
    if scoring.duplicates is None:
        return None
    if judgments.items.intents is not None:
        raise MeasureError("copies of documents are not known to measures by intent", hint="leave them out")
    return groups_of(scoring.duplicates, judgments.items)


def _top(plan: Plan) -> int:
    """Return how many first results the warnings of unjudged documents look at."""
    return min(plan.depth or UNJUDGED_DEPTH, UNJUDGED_DEPTH)


def _label_notes(labels: Judgments, plan: Plan) -> tuple[Note, ...]:
    """Return the notes of labels, and whether measures need probabilities, or documents, that are not there."""
    notes = [*labels.notes]
    if (chance := labels.probability) is None:
        return labels.notes
    sampled = any(each.of_pool for each in plan.measures) and (chance < 1).any()
    if sampled and (labels.items.undrawn is None or not len(labels.items.undrawn.item)):
        text = (
            "infAP takes the judged documents as the whole pool, though their probabilities are below 1; documents "
            "that were not drawn would have a label below zero; statAP needs no such documents"
        )
        notes.append(Note("no-undrawn-documents", text))
    strata = labels.items.undrawn is not None and labels.items.undrawn.strata
    used = any(each.sampled or (each.stratified and strata) for each in plan.worths)
    if used and (unknown := int(np.isnan(chance).sum())):
        notes.append(
            Note("no-probability", "{n:label} without a probability, taken as certain to be chosen", n=unknown)
        )
    return tuple(notes)


def _notes(lists: ListFacts, plan: Plan, notes: tuple[Note, ...], *, unseen: int, unknown: int) -> tuple[Any, ...]:
    counts = (
        ("unjudged-topics", "{n:topic} of the runs not judged and ignored", len(lists.unjudged_topics)),
        ("topics-not-judged", "{n:,} of the requested topics were not judged", unknown),
        ("no-labels", "no score for {n:pair} of assessor and topic without a label", unseen),
    )
    known = [*notes, *lists.notes, *dict.fromkeys(each.note for each in plan.worths if each.note)]
    return (*known, *(Note(kind, text, n=n) for kind, text, n in counts if n))


def _chosen_topics(names: tuple[str, ...], judged: Ints, wanted: Iterable[str] | None) -> tuple[Ints, int]:
    """Return the numbers of the topics to score, and how many of those wanted were not judged."""
    if wanted is None:
        return judged, 0
    requested = set(wanted)
    chosen = [n for n in judged.tolist() if names[n] in requested]
    if not chosen:
        raise UnknownName("judged topic among", ", ".join(sorted(requested)[:3]), names)
    return np.array(chosen, dtype=np.int64), len(requested) - len(chosen)


def _need_results(lists: Facts | ListFacts, topics: Sequence[str], chosen: Ints) -> None:
    """Raise where no system returned anything for a topic that is scored."""
    if lists.systems and not len(systems_with_results(lists, chosen)):
        in_runs = [*(topics[n] for n in np.unique(lists.topic)), *lists.unjudged_topics]
        raise no_common_topic(in_runs, (topics[n] for n in chosen))


def _warn_missing(lists: ListFacts, chosen: Ints, missing: str) -> None:
    """Warn of systems without lists for some of the topics that are scored."""
    present = np.zeros((len(lists.systems), len(lists.topics)), dtype=np.bool_)
    present[lists.system, lists.topic] = True
    lacking = (~present[:, chosen]).sum(axis=1) * present[:, chosen].any(axis=1)
    worst = np.flatnonzero(lacking)
    if len(worst):
        named = ", ".join(f"{lists.systems[n]} ({lacking[n]} of {len(chosen)})" for n in worst[:5])
        rule = "score 0 (the rule 'skip' omits them)" if missing == "zero" else "are omitted from its means"
        more = f" and {counted(len(worst) - 5, 'more system')}" if len(worst) > 5 else ""
        message = f"topics without a list {rule}: {named}{more}"
        warnings.warn(message, MissingTopicsWarning, stacklevel=5)


def equal_labels(lists: ListFacts, plan: Plan, scale: Scale, chosen: Ints) -> list[str]:
    """Name the measures for which all labels that occur count as relevant, or none does, with ways to resolve that.

    Not if one label occurs and is relevant, as in files of relevant documents, nor if most results have no label: then
    scores depend on which results were judged.  chosen: numbers of the topics.
    """
    occurring = np.flatnonzero(lists.labels[chosen].sum(axis=0))
    if len(lists.depth) < 2 or any(len(each.values) != len(scale) for each in plan.worths):  # users have no labels
        return []
    worth = np.array([each.values[occurring] for each in plan.worths])
    equal = np.flatnonzero((worth == worth[:, :1]).all(axis=1)).tolist()
    equal = [n for n in equal if not isinstance(plan.measures[n], WITHOUT_LABELS)]
    none = [n for n in equal if worth[n, 0] == 0]
    every = [n for n in equal if worth[n, 0] != 0 and len(occurring) > 1]
    if every and _share_judged(lists, chosen, _top(plan)) < MOSTLY_JUDGED:
        every = []
    labels = ", ".join(scale.labels[n] for n in occurring)
    every_text = f"all labels that occur ({labels}) count alike, as relevant, so that scores do not depend on them"
    none_text = f"no label that occurs ({labels}) counts as relevant, so that all scores are the same"
    return [
        f"{', '.join(plan.names[n] for n in numbers)}: {text}{_threshold(plan.measures[numbers[0]], scale, occurring)}"
        for numbers, text in ((every, every_text), (none, none_text))
        if numbers
    ]


def _threshold(measure: Measure, scale: Scale, occurring: Ints) -> str:
    """Say how to state which labels are relevant, as an example the upper half of those that occur."""
    if len(occurring) < 2:
        return ""
    rel = scale.labels[occurring[len(occurring) // 2]]
    ways = [str(replace(measure, rel=rel))] if isinstance(measure, BinaryMeasure) else []
    ways.append(f"gains binary:{rel}")
    if scale.steps()[occurring[0]] > 0:
        ways.append(f"the scale {'<'.join(scale.labels[n] for n in occurring)}, whose lowest label has no gain")
    return f"; use {joined_ways(ways)}"


def _share_judged(lists: ListFacts, chosen: Ints, k: int) -> float:
    """Return the share of the first k places of all lists that have a label; 0 without lists."""
    scored = np.isin(lists.topic, chosen)
    return float(lists.top[scored].sum() / max(int(np.minimum(lists.depth, k)[scored].sum()), 1))


def _warn_unjudged(lists: ListFacts, chosen: Ints, k: int) -> None:
    """Warn of systems with many unjudged documents among their first k."""
    n_systems, scored = len(lists.systems), np.isin(lists.topic, chosen)
    hits = np.bincount(lists.system, weights=lists.top * scored, minlength=n_systems)
    shown = np.bincount(lists.system, weights=np.minimum(lists.depth, k) * scored, minlength=n_systems)
    unjudged = 1 - hits / np.maximum(shown, 1)
    many = np.flatnonzero((unjudged > UNJUDGED_SHARE) & (shown > 0))
    if len(many):
        worst = many[np.argsort(-unjudged[many], kind="stable")][:3]
        named = ", ".join(f"{lists.systems[n]} {unjudged[n]:.0%}" for n in worst)
        some = f"{len(many)} of {counted(n_systems, 'system')}"
        message = f"{some} {'has' if len(many) == 1 else 'have'} over {UNJUDGED_SHARE:.0%} unjudged documents"
        warnings.warn(f"{message} among their first {k}: {named}", UnjudgedWarning, stacklevel=5)
