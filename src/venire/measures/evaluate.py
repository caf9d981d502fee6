"""evaluate: runs, judgments and measures into Scores.

The runs are scanned once into facts (which ranks the judged items hold); then, for a block of judges at a time, every
label becomes a gain, and each measure is computed over (judge, list, slot) arrays.  Another assessor, another gain or
another measure costs arithmetic on the hits, never another pass over the runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from venire.data.facts import Facts
from venire.data.gains import GainsLike, gains_for
from venire.data.judgments import Judgments
from venire.data.panel import Panel, Pool, convene
from venire.data.runs import Runs
from venire.errors import MissingTopicsWarning, UnjudgedWarning, UnknownName
from venire.io.duplicates import Duplicates, groups_of
from venire.io.judgment_sources import JudgmentsLike, read_judgments
from venire.io.run_sources import RunsLike, read_runs
from venire.io.scanning import Progress, scan
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike, Plan, score_facts
from venire.types import Bools, Floats, Ints

UNJUDGED_SHARE, UNJUDGED_DEPTH = 0.2, 10


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
    progress: Progress | None = None,
) -> Scores:
    """Score runs against judgments.

    Parameters
    ----------
    judgments, runs
        As ``read_judgments`` and ``read_runs`` take them.
    measures : names ("nDCG@10"), values (nDCG(10)) or functions of gains by rank, one or several
    gains : "linear", "exponential", "raw", "binary:LABEL", {label: gain}, or Gains
    assessor, per, pool
        Whose labels count where several assessors judged: one by name, each of them (``per="assessor"``, which adds an
        axis), or their labels pooled ("median", "majority", "max", "min", "mean").
    topics : score only these
    unjudged : the gain of documents nobody judged, or "condensed" to remove them from the lists
    missing : topics that a system has no list for score "zero", or are left out ("skip")
    duplicates : documents that are copies of each other: the first in a list counts, later ones have no gain

    Returns
    -------
    Scores with the axes system, topic, measure and, with ``per``, assessor.

    Examples
    --------
    >>> evaluate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 2.0, "d1": 1.0}}, ["RR", "nDCG@10"])
    Scores: 1 systems x 1 topics x 2 measures, means over topics
    system  RR      nDCG@10
    run     0.5000  0.6309
    """
    if missing not in ("zero", "skip"):
        raise UnknownName("rule for missing topics", missing, ["zero", "skip"])
    labels = read_judgments(judgments)
    sources = runs if isinstance(runs, Runs) else read_runs(runs)
    asked = list(measures) if isinstance(measures, Sequence) and not isinstance(measures, str) else [measures]
    plan = Plan.of(asked, gains_for(gains, labels.scale), unjudged)
    panel = convene(labels, assessor=assessor, per=per, pool=pool)
    facts = scan(sources, labels.items, progress=progress)
    group = None if duplicates is None else groups_of(duplicates, labels.items)
    values = score_facts(facts, panel, plan, group=group)
    return _named(values, facts, panel, plan, labels, per=per, topics=topics, missing=missing)


def _named(
    values: Floats,
    facts: Facts,
    panel: Panel,
    plan: Plan,
    judgments: Judgments,
    *,
    per: str | None,
    topics: Iterable[str] | None,
    missing: str,
) -> Scores:
    """Lay scores (judge, measure, list) out by name, with what is missing and what to note."""
    n_topics = len(facts.items.topics)
    nothing = [each.of_nothing if missing == "zero" else np.nan for each in plan.measures]
    table = np.tile(np.array(nothing)[:, None, None], (len(panel.judges), 1, len(facts.systems), n_topics))
    table[:, :, facts.system, facts.topic] = values
    seen = np.zeros((len(panel.judges), n_topics), dtype=np.bool_)
    seen[panel.judge, facts.items.topic[panel.item]] = True
    table = np.where(seen[:, None, None, :], table, np.nan)
    topic_names = judgments.topics
    chosen, unknown = _chosen_topics(topic_names, seen, topics)
    notes = [*judgments.notes, *panel.notes, *dict.fromkeys(w.note for w in plan.worths if w.note)]
    if facts.unjudged_topics:
        notes.append(f"{len(facts.unjudged_topics):,} topics of the runs were not judged and are ignored")
    if unknown:
        notes.append(f"{unknown:,} of the topics asked for were not judged")
    unseen = int((~seen[:, chosen]).sum())
    if unseen:
        notes.append(f"{unseen:,} pairs of assessor and topic without a label have no score")
    _warn_missing(facts, chosen, missing)
    if not plan.unjudged_settled:
        _warn_unjudged(facts, panel, chosen, min(plan.depth or UNJUDGED_DEPTH, UNJUDGED_DEPTH))
    table = table[..., chosen].transpose(2, 3, 1, 0)
    axes: tuple[str, ...] = ("system", "topic", "measure", "assessor")
    names: Mapping[str, tuple[str, ...]] = {
        "system": facts.systems,
        "topic": tuple(topic_names[n] for n in chosen),
        "measure": plan.names,
        "assessor": tuple(str(name) for name in panel.judges),
    }
    if per is None:
        return Scores(table[..., 0], axes[:3], {axis: names[axis] for axis in axes[:3]}, tuple(notes))
    return Scores(table, axes, names, tuple(notes))


def _chosen_topics(names: tuple[str, ...], seen: Bools, wanted: Iterable[str] | None) -> tuple[Ints, int]:
    """Numbers of the topics to score, judged and asked for; and how many asked for were not judged."""
    chosen = seen.any(axis=0)
    if wanted is None:
        return np.flatnonzero(chosen), 0
    asked = set(wanted)
    chosen &= np.array([name in asked for name in names], dtype=np.bool_)
    if not chosen.any():
        raise UnknownName("judged topic among", ", ".join(sorted(asked)[:3]), names)
    return np.flatnonzero(chosen), len(asked) - int(chosen.sum())


def _warn_missing(facts: Facts, chosen: Ints, missing: str) -> None:
    """Say which systems lack lists for topics that are scored."""
    there = np.zeros((len(facts.systems), len(facts.items.topics)), dtype=np.bool_)
    there[facts.system, facts.topic] = True
    lacking = (~there[:, chosen]).sum(axis=1)
    worst = np.flatnonzero(lacking)
    if len(worst):
        named = ", ".join(f"{facts.systems[n]} ({lacking[n]} of {len(chosen)})" for n in worst[:5])
        rule = "score 0; leave them out with missing='skip'" if missing == "zero" else "are left out of its means"
        more = f" and {len(worst) - 5} more systems" if len(worst) > 5 else ""
        message = f"topics without a list {rule}: {named}{more}"
        warnings.warn(message, MissingTopicsWarning, stacklevel=4)


def _warn_unjudged(facts: Facts, panel: Panel, chosen: Ints, k: int) -> None:
    """Say which systems have many documents among their first k that nobody judged."""
    judged = np.zeros(panel.n_items, dtype=np.bool_)
    judged[panel.item] = True
    n_systems = len(facts.systems)
    scored = np.isin(facts.topic, chosen)
    top = (facts.rank <= k) & judged[facts.item] & np.repeat(scored, facts.n_hits)
    hits = np.bincount(np.repeat(facts.system, facts.n_hits)[top], minlength=n_systems)
    reach = np.minimum(facts.depth, k) * scored
    shown = np.bincount(facts.system, weights=reach, minlength=n_systems)
    unjudged = 1 - hits / np.maximum(shown, 1)
    many = np.flatnonzero((unjudged > UNJUDGED_SHARE) & (shown > 0))
    if len(many):
        worst = many[np.argsort(-unjudged[many], kind="stable")][:3]
        named = ", ".join(f"{facts.systems[n]} {unjudged[n]:.0%}" for n in worst)
        message = f"{len(many)} of {n_systems} systems have over {UNJUDGED_SHARE:.0%} unjudged documents"
        warnings.warn(f"{message} among their first {k}: {named}", UnjudgedWarning, stacklevel=4)
