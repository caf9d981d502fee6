"""The judgments: how many, by whom, how far they agree, and who labels differently."""

from __future__ import annotations

from typing import Any

from venire.agreement.confusion import Confusions
from venire.agreement.habits import ONE_LABEL, caution
from venire.data.assessors import copy_notes
from venire.disagreement.returned import rank_groups
from venire.disagreement.selection import find_selection
from venire.plots.agreement import plot_confusion, plot_labels, plot_statistics
from venire.report.document import Chapter, Grid, Part, Picture, Words, warning
from venire.report.evidence import Evidence
from venire.report.question import Missing, or_missing
from venire.results import counted, listed

MOST_MAPS = 4
MOST_TOLD = 8
MOST_LABELS = 12
LONGEST_SCALE = 80
STATISTICS = ("krippendorff_alpha", "fleiss_kappa", "cohen_kappa", "gwet_ac", "phi", "raw_agreement", "jaccard")
PROFILE = ("assessor", "n_labels", "n_shared", "agreement", "kappa", "leniency", "entropy", "top_label", "top_share")


def chapter(evidence: Evidence) -> Chapter:
    """Write it."""
    labels = evidence.question.judgments
    parts: list[Part] = [*(warning(str(note)) for note in copy_notes(evidence.copies)), _overlap(evidence)]
    if not isinstance(evidence.profiles, Missing):
        words = "Shares of labels of each assessor as one bar; beside it, in what they differ from the others."
        caption = "What labels each assessor gives."
        parts.append(Picture("labels_by_assessor", caption, plot_labels(evidence.profiles), words))
        parts += _differing(evidence)
    parts += [*_agreement(evidence), *_selected(evidence), *_maps(evidence)]
    if labels.notes:
        parts.append(Words(f"When the judgments were read: {'; '.join(labels.notes)}."))
    return Chapter("judgments", "The judgments", _finding(evidence), tuple(parts))


def _finding(evidence: Evidence) -> str:
    labels, agreement = evidence.question.judgments, evidence.agreement
    said = labels.summary().sentence()
    names = labels.scale.labels
    if len(names) > MOST_LABELS or (len(names) > 3 and len(str(labels.scale)) > LONGEST_SCALE):
        said = said.replace(str(labels.scale), f"{names[0]}<{names[1]}<...<{names[-1]} ({len(names)} labels)")
    if isinstance(agreement, Missing):
        return f"{said}; {agreement.sentence('how far assessors agree')}"
    alpha = next((each for each in agreement if each["name"] == "krippendorff_alpha"), None)
    if alpha is None or alpha["value"] is None:
        reason = "nothing was judged twice" if alpha is None else alpha["reason"]
        return f"{said}; how far assessors agree cannot be told: {reason}."
    between = "" if alpha["low"] is None else f", 95 % interval {alpha['low']:.2f} to {alpha['high']:.2f}"
    return f"{said}; they agree with Krippendorff's alpha {alpha['value']:.2f} ({alpha['level']}{between})."


def _overlap(evidence: Evidence) -> Grid:
    summary = evidence.question.judgments.summary()
    total = sum(summary.items_with.values())
    rows = [[k, n, n / total] for k, n in summary.items_with.items()]
    return Grid("overlap", "How many labels items have.", ["labels_per_item", "items", "share"], rows, shown=12)


def _differing(evidence: Evidence) -> list[Part]:
    """Say who labels differently, with the evidence, and list all assessors."""
    found = evidence.profiles
    if isinstance(found, Missing):
        return [Words(found.sentence("How assessors label"), "warning")]
    records = found.records()
    differ = sorted((each for each in records if each["flags"]), key=_unlike)
    told = [
        Words(f"{each['assessor']} ({', '.join(each['flags'])}): {'; '.join(each['evidence'])}.")
        for each in differ[:MOST_TOLD]
    ]
    if len(differ) > MOST_TOLD:
        told.append(Words(f"These {MOST_TOLD} of {len(differ)} agree least; the table has all."))
    rows = [{key: each[key] for key in PROFILE} | {"differs_by": ", ".join(each["flags"])} for each in records]
    others = listed(found.reference) or "the others"
    caption = (
        f"Every assessor: agreement and kappa with {others} on shared items, leniency (mean label less that of "
        f"{others}), entropy of the labels (0: always one label)."
    )
    warned = [warning(text) for text in [caution(found)] if text]
    return [Words(found.sentence()), *told, *warned, Grid.of("assessors", caption, rows, shown=40)]


def _unlike(record: dict[str, Any]) -> tuple[bool, float, float]:
    """Sort assessors: those whose labels say nothing first, then by how little they agree with the others."""
    nothing = ONE_LABEL in record["flags"]
    return not nothing, 0.0 if record["kappa"] is None else record["kappa"], -abs(record["leniency"] or 0.0)


def _agreement(evidence: Evidence) -> list[Part]:
    found = evidence.agreement
    if isinstance(found, Missing):
        return []
    whole = [each for each in found if "," not in each["raters"] and each["name"] in STATISTICS]
    keys: tuple[str, ...] = ("name", "level", "raters", "value", "low", "high", "n_items", "meaning")
    if any(each["reason"] for each in whole):
        keys = (*keys, "reason")
    rows = [{key: each[key] for key in keys} for each in whole]
    if all(each["value"] is None for each in whole):
        return []  # the finding says why
    words = "Statistics of agreement with their 95 % intervals, one below the other."
    caption = (
        "How far assessors agree, by several statistics; all but raw agreement and Jaccard's leave out what chance "
        "would give."
    )
    return [
        Picture("agreement", caption, plot_statistics(whole), words),
        Grid.of("agreement_statistics", "Statistics of agreement, and what each means.", rows),
    ]


def _selected(evidence: Evidence) -> list[Part]:
    """Warn that agreement is that of chosen items, where second judgments were asked for because of the first label."""
    found = or_missing(lambda: find_selection(evidence.question.judgments, rank=rank_groups(evidence.facts)))
    if found is None or isinstance(found, Missing) or isinstance(evidence.agreement, Missing):
        return []
    return [warning(f"{found.reason}; agreement is that of items so chosen, not of all")]


def _maps(evidence: Evidence) -> list[Part]:
    """Confusion of the judge with those who share most items with them; where several are the judge, of any two."""
    found = evidence.confusions
    if isinstance(found, Missing):
        return []
    return [_map(found, *pair) for pair in _closest(found, evidence.judge)]


def _closest(found: Confusions, judge: str) -> list[tuple[str, str]]:
    alone = judge in found.assessors
    pairs = [(judge, other) for other in found.assessors if other != judge] if alone else found.pairs()
    n_shared = {pair: found.matrix(*pair).sum() for pair in pairs}
    return sorted((pair for pair, n in n_shared.items() if n), key=lambda pair: -n_shared[pair])[:MOST_MAPS]


def _map(found: Confusions, one: str, other: str) -> Picture:
    words = f"Counts of items by the label of {one} and the label of {other}."
    caption = (
        f"Labels of {one} and {other} on the {counted(int(found.matrix(one, other).sum()), 'item')} that both judged."
    )
    return Picture(
        f"confusion_{_slug(one)}_{_slug(other)}", caption, plot_confusion(found, one, other), words, small=True
    )


def _slug(name: str) -> str:
    """A name that may be part of an id."""
    return "".join(letter if letter.isalnum() and letter.isascii() else f"_{ord(letter):x}" for letter in name)
