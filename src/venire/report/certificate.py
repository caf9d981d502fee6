"""The page of a certificate: verdicts first, in plain words; then the evidence for each of them.

One judge has a chapter for each kind of evidence; several judges have a table that ranks them, and a chapter each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from venire.certification.certificate import Certificate, JudgeCertificate, Judged, ranked_table, summary
from venire.certification.claims import NOT_ENOUGH, Claim
from venire.certification.order import CORRELATIONS, COUNTS
from venire.plots.certification import plot_corrected
from venire.report.document import Chapter, Grid, Part, Picture, Report, Words, warning
from venire.report.question import versions
from venire.results import counted, listed

CLAIMS = {
    "levels": "levels of scores",
    "order": "order of all systems",
    "top": "order of the first systems",
    "pairs": "pairs that differ by more than x",
}
MOST_PICTURES = 3
"""Of several judges, the nearest have a picture."""
MOST_FAVOURED = 10
COPIES = ("copied-labels", "more-copies")
"""Kinds of notes on judges who are copies."""


def certificate_report(found: Certificate) -> Report:
    """Write the page of a certificate."""
    if len(found.judges) == 1:
        title, chapters = f"Certificate of {found.judges[0].judge}", _of_one(found.judges[0])
    else:
        title, chapters = f"Certificates of {len(found.judges)} judges", _of_several(found)
    return Report(title, (*chapters, _binding(found)), versions())


def _of_one(judge: JudgeCertificate) -> list[Chapter]:
    chapters = [
        Chapter("verdict", f"What {judge.judge} may be trusted with", judge.sentence(), _verdict_parts(judge)),
        Chapter("agreement", "Agreement with people", judge.agreement.sentence(), _agreement_parts(judge)),
    ]
    if judge.scores is not None:
        scores = judge.scores
        if scores.order:
            chapters.append(Chapter("order", "Order of systems", scores.order[0].sentence(), _order_parts(scores)))
        if scores.favoured is not None:
            parts = _favoured_parts(scores)
            chapters.append(Chapter("favoured", "Favoured systems", scores.favoured.sentence(), parts))
        finding = scores.corrected.sentence()
        chapters.append(Chapter("scores", "Scores that the reference would give", finding, _score_parts(scores)))
    return [*chapters, _missing(judge)]


def _of_several(found: Certificate) -> list[Chapter]:
    rows = ranked_table(found)
    ranking = Grid.of("judges", f"Judges, the nearest to {listed(found.reference)} first.", rows, shown=50)
    repeated = [warning(note) for note in found.notes if getattr(note, "kind", "") in COPIES]
    parts: tuple[Part, ...] = (Words(summary(found)), *repeated, ranking)
    first = Chapter("verdict", "Which judge may be trusted with what", found.sentence(), parts)
    return [first, *(_chapter_of(judge, number) for number, judge in enumerate(found.judges))]


def _chapter_of(judge: JudgeCertificate, number: int) -> Chapter:
    """Write one chapter of several on one judge."""
    name, scores = f"judge{number}", judge.scores
    words = [judge.agreement.sentence(), judge.alt_test.sentence()]
    words += [each.sentence() for each in scores.order] if scores else []
    words += [scores.favoured.sentence()] if scores and scores.favoured else []
    parts: list[Part] = [_claims(judge, name), *map(Words, words)]
    if scores is not None and number < MOST_PICTURES:
        parts.append(_picture(scores, name))
    parts += [warning(note) for note in judge.notes]
    return Chapter(name, judge.judge, judge.sentence(), tuple(parts))


def _verdict_parts(judge: JudgeCertificate) -> tuple[Part, ...]:
    parts: list[Part] = [_claims(judge, "claims")]
    favoured = judge.scores.favoured if judge.scores else None
    if favoured is not None and (favoured.found or favoured.found_families):
        parts.append(Words(favoured.sentence(), "warning", "favoured"))
    if judge.agreement.never or judge.agreement.nearly_always:
        parts.append(Words(judge.agreement.sentence(), "warning", "labels"))
    open_ = [each for each in judge.claims if each.verdict == NOT_ENOUGH and each.needed]
    if open_:
        parts.append(Words(_to_label(open_), "todo"))
    parts.append(_numbers(judge))
    return tuple(parts)


def _to_label(claims: Sequence[Claim]) -> str:
    """Say how many results the reference would have to label to decide all of these claims."""
    most = max(each.needed or 0 for each in claims)
    every = any(each.sample is not None and most >= each.sample.results for each in claims)
    what = f"all {most:,} results that count" if every else f"about {most:,} of the results that count, in all,"
    return f"Have the reference label {what} to decide every claim."


def _claims(judge: JudgeCertificate, name: str) -> Grid:
    rows = [[CLAIMS[each.claim], each.verdict, each.sentence()] for each in judge.claims]
    return Grid(name, "The verdict for each claim, and what it means.", ["claim", "verdict", "in words"], rows)


def _numbers(judge: JudgeCertificate) -> Grid:
    columns = ["claim", "measure", "value", "low", "high", "criterion", "needed"]
    rows = [[CLAIMS[each.claim], each.measure, *each.found, each.criterion, each.needed] for each in judge.claims]
    caption = "The numbers behind the verdicts: the value, its interval, what is required, and the labels of the "
    caption += "reference that would decide it. Levels: the largest difference; pairs: x, and the share of reversed "
    caption += "pairs."
    return Grid("numbers", caption, columns, rows)


def _agreement_parts(judge: JudgeCertificate) -> tuple[Part, ...]:
    found = judge.agreement
    names = {"reference": "judge and reference", "ceiling": "people among themselves", "repeatability": "judge, again"}
    rows = [{**row, "agreement": names[row["agreement"]]} for row in found.records() if row["pairs"]]
    keys = ("agreement", "coefficient", "value", "low", "high", "pairs")
    parts: list[Part] = []
    if rows:
        caption = "Agreement, with intervals over topics: Krippendorff's alpha, and the share of equal labels."
        parts.append(Grid("agreements", caption, keys, [[row.get(key) for key in keys] for row in rows]))
    shares = zip(found.scale.labels, found.shares.tolist(), found.reference_shares.tolist(), strict=True)
    caption = "Share of each label, on the items that both labelled."
    parts.append(Grid("labels", caption, ["label", "judge", "reference"], [list(row) for row in shares]))
    if found.probes:
        caption = "Probes that deserve the lowest label: how many the judge gave a higher one."
        columns = ["probe", "number", "share", "low", "high"]
        parts.append(Grid("probes", caption, columns, [list(each) for each in found.probes]))
    return (*parts, *_alt_test_parts(judge), *(warning(note) for note in found.notes))


def _alt_test_parts(judge: JudgeCertificate) -> tuple[Part, ...]:
    found = judge.alt_test
    if not found.complete:
        return (Words(found.sentence(), "warning", "alt-test"),)
    rates = zip(found.epsilons, found.winning_rate.tolist(), found.passed.tolist(), strict=True)
    caption = "The alternative annotator test, clustered by topic: the share of people whom the judge may replace."
    return (
        Words(found.sentence()),
        Grid("alt_test", caption, ["epsilon", "winning_rate", "passed"], [list(row) for row in rates]),
        Grid.of("annotators", "The same, person by person.", found.records(), shown=12),
        *(warning(note) for note in found.notes),
    )


def _order_parts(scores: Judged) -> tuple[Part, ...]:
    rows = [
        [each.measure, name.replace("_", "-"), *getattr(each, name)] for each in scores.order for name in CORRELATIONS
    ]
    caption = "Correlations of the order by the judge with that by the reference."
    grid = Grid("correlations", caption, ["measure", "correlation", "value", "low", "high"], rows)
    counts = [
        [each.measure, name, *(round(number) for number in each.pairs[name])]
        for each in scores.order
        for name in COUNTS
        if each.pairs
    ]
    caption = (
        "Pairs of systems that differ significantly over topics by the reference: kept, lost or reversed by the judge; "
        "false: significant by the judge alone."
    )
    pairs = Grid("pairs", caption, ["measure", "pairs", "number", "low", "high"], counts)
    others = [Words(each.sentence()) for each in scores.order[1:]]
    return (*others, grid, *([pairs] if counts else []))


def _favoured_parts(scores: Judged) -> tuple[Part, ...]:
    if scores.favoured is None:
        return ()
    rows = sorted(scores.favoured.records(), key=lambda row: row["residual"] if row["residual"] is not None else 0.0)
    caption = (
        "Score by the reference less that by the judge, compared with the other systems, shrunken; negative: the judge "
        f"favours the system. The {MOST_FAVOURED} lowest are shown first."
    )
    parts: list[Part] = [Grid.of("favoured_systems", caption, rows, shown=MOST_FAVOURED)]
    if families := scores.favoured.family_records():
        parts.append(Grid.of("favoured_families", "The same for declared families of systems.", families))
    return tuple(parts)


def _score_parts(scores: Judged) -> tuple[Part, ...]:
    records = sorted(scores.corrected.records(), key=lambda row: -(row["corrected"] or 0.0))
    caption = "Score by the judge (raw), and the score that the reference would give, with its interval."
    used = Words(f"Prediction of missing labels: {scores.corrected.model}.")
    return (_picture(scores, "corrected"), Grid.of("corrected_scores", caption, records, shown=15), used)


def _picture(scores: Judged, name: str) -> Picture:
    found = scores.corrected
    systems = counted(len(found.systems), "system")
    words = f"{found.measures[0]} of {systems} by the judge and by the reference, best first."
    caption = f"{found.measures[0]} by the judge, and corrected with its interval, best first."
    return Picture(f"{name}_picture", caption, plot_corrected(found), words)


def _missing(judge: JudgeCertificate) -> Chapter:
    """Write what is missing: labels, people, and what was assumed."""
    scores = judge.scores
    if scores is None:
        finding = "The judge labelled too little for its scores to be certified."
    elif scores.sample.to_halve is None:
        finding = f"The reference labelled all {scores.sample.results:,} results that count: no label is missing."
    else:
        finding = (
            f"The reference labelled {scores.sample.labelled:,} of {scores.sample.results:,} results that count; about "
            f"{scores.sample.to_halve:,} labels would halve the intervals."
        )
    rows = [[CLAIMS[each.claim], each.measure, each.needed] for each in judge.claims if each.needed]
    caption = "Labels of the reference on results that count, in all, that would decide a claim: a guide, since "
    caption += "estimates move."
    parts: list[Part] = [Grid("needed", caption, ["claim", "measure", "labels"], rows)] if rows else []
    parts += [Words(judge.alt_test.sentence())] if not judge.alt_test.complete else []
    parts += [warning(note) for note in judge.notes]
    return Chapter("missing", "What is missing", finding, tuple(parts))


def _binding(found: Certificate) -> Chapter:
    """Write what the certificate is bound to."""
    rows: list[Sequence[Any]] = [[each.name, each.sha256] for each in found.inputs]
    rows += [[f"prompt of {each.judge}", each.prompt] for each in found.judges if each.prompt]
    rows += [[f"labels of {each.judge} and the reference", each.labels] for each in found.judges]
    criteria = [[name, value] for name, value in vars(found.criteria).items()]
    finding = (
        f"The certificate holds for these inputs alone; the reference is {listed(found.reference)}. If one of them "
        "changes, it is stale."
    )
    hashes = Grid("inputs", "Inputs and their SHA-256 hashes.", ["input", "sha256"], rows, shown=50)
    required = Grid("criteria", "What the claims require.", ["criterion", "value"], criteria)
    notes = [Words(f"{note}.") for note in found.notes if getattr(note, "kind", "") not in COPIES]
    return Chapter("binding", "What it is bound to", finding, (hashes, required, *notes))
