"""What a study of aspects looks like on the command line: JSON, tables, plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from venire.cli.rendering import Cell, Table

if TYPE_CHECKING:
    from venire.aspects.rankings import AspectRankings
    from venire.aspects.study import AspectStudy

PARTS = ("coverage", "distributions", "changes", "correlations", "prediction", "clusters", "agreement", "rankings")
DRAWN = {"krippendorff_alpha": "alpha", "cohen_kappa": "kappa"}
"""What a plot of agreement shows, by short names."""
TOGETHER = {"coverage": ("aspect", "all of them"), "prediction": ("aspects", "none: the commonest label")}
"""What people read where a record is of no single aspect."""


def document(study: AspectStudy) -> dict[str, object]:
    """Everything, for JSON."""
    parts = {part: study.records(part) for part in PARTS}
    tau = [] if study.rankings is None else study.rankings.tau_records()
    said = {part: study.sentences(part) for part in PARTS}
    beside = {"tau": tau, "answers": [words for each in said.values() for words in each]}
    return {"aspects": study.scales(), **parts, **beside, "warnings": list(study.notes)}


def part_table(study: AspectStudy, show: str, *, people: bool) -> Table:
    """Lay one part out; people see reasons only where there are any."""
    if show == "rankings" and people and study.rankings is not None:
        return _ranks(study.rankings)
    records = study.summary() if show == "summary" else _flat(study, show)
    if people and show in TOGETHER:
        key, words = TOGETHER[show]
        records = [{**row, key: row[key] or words} for row in records]
    if not records:
        return Table(["reason"], [[words] for words in study.sentences(show)])
    columns = [key for key in records[0] if not people or any(row[key] is not None for row in records)]
    if people and show == "agreement":
        columns = [key for key in columns if key != "meaning"]
    return Table(columns, [[_cell(row[key]) for key in columns] for row in records])


def _ranks(found: AspectRankings) -> Table:
    """Lay ranks out, a row per measure and system: the rank by each gains, and how many places up or down that is."""
    names = list(dict.fromkeys(each.gains for each in found.places))
    rank = {(each.measure, each.system, each.gains): each for each in found.places}
    rows: list[list[Cell]] = []
    for each in found.places:
        if each.gains == found.base:
            others = [rank[each.measure, each.system, name] for name in names[1:]]
            moved = [f"{other.rank} ({other.change:+d})" if other.change else str(other.rank) for other in others]
            rows.append([each.measure, each.system, each.score, each.rank, *moved])
    return Table(["measure", "system", "score", *(f"rank by {name}" for name in names)], rows)


def _flat(study: AspectStudy, show: str) -> list[dict[str, Any]]:
    """Records of a part, clusters merge by merge."""
    if show != "clusters":
        return study.records(show)
    return [{"context": each["context"], **merge} for each in study.records(show) for merge in each["merges"]]


def _cell(value: Any) -> Any:
    return " + ".join(value) if isinstance(value, list) else value


def draw_part(study: AspectStudy, show: str, path: Path) -> None:
    """Draw what is shown; a summary as correlations."""
    from venire.plots.aspects import PLOTS
    from venire.plots.style import write_figure

    if show == "rankings" and study.rankings is not None:
        from venire.plots.aspects import plot_rankings

        figure = plot_rankings(study.rankings)
    elif show == "agreement":
        from venire.plots.agreement import plot_statistics

        figure = plot_statistics(_first_statistics(study))
    else:
        figure = PLOTS.get(show, PLOTS["correlations"])(study)
    write_figure(figure, path)


def _first_statistics(study: AspectStudy) -> list[dict[str, Any]]:
    """Krippendorff's alpha and Cohen's kappa of every aspect, each on the first level that it is on."""
    first: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in study.agreement:
        if row["name"] in DRAWN:
            first.setdefault((row["context"], row["aspect"], row["name"]), row)
    return [
        {**row, "name": DRAWN[row["name"]], "group": f"{row['aspect']} in {row['context']}", "raters": "all"}
        for row in first.values()
    ]
