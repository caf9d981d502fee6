"""Weights of what was said of a snippet and of its page, taken together, for venire disagreement --combine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from venire.cli.labels import read_beside
from venire.cli.rendering import Table
from venire.errors import ScaleError, UnknownName

if TYPE_CHECKING:
    from venire.cli.output import Output
    from venire.data.judgments import Judgments
    from venire.data.scale import Scale
    from venire.disagreement.combined_labels import CombinedTable
    from venire.disagreement.predicted_relevance import PredictedRelevance

UNIT = "unit"
USUAL = (1, 3)
"""Weights are for so many users, M of N, if nothing is said: those of the paper's Table 4."""


def two_units(
    labels: Judgments, source: str, *, reading: Mapping[str, Any], where: Sequence[str]
) -> tuple[Judgments, Judgments]:
    """Labels of snippets and of pages: of a file and those given, or both of these, by the column ``unit``."""
    if source != UNIT:
        return read_beside(source, reading=reading, where=where, but=(UNIT,)), labels
    from venire.disagreement.combined_labels import UNITS, split_units

    there = labels.column(UNIT).names
    for unit in UNITS:
        if unit not in there:
            raise UnknownName("unit", unit, there)
    return split_units(labels, [_scale(labels.where(unit=unit)) for unit in UNITS], UNITS)


def _scale(labels: Judgments) -> Scale:
    """The scale of one unit: that of all labels, or, if they have no order, those of the unit as they are listed."""
    from venire.data.scale import Scale

    if labels.scale.ordered:
        return labels.scale
    used = set(labels.label.tolist())
    return Scale(tuple(label for level, label in enumerate(labels.scale.labels) if level in used))


def combined_tables(
    snippets: Judgments,
    pages: Judgments,
    setting: PredictedRelevance,
    *,
    shares: Sequence[tuple[int, int]],
    lowest: float | None,
    rng: int,
) -> list[CombinedTable]:
    """Weigh combined labels for each M of N; lowest: the weight of the lowest page label, None: as estimated."""
    from venire.disagreement.combined_labels import combined_table

    top = _top(setting.relevant, snippets.scale, pages.scale)
    how: dict[str, Any] = {"top": top, "lowest": lowest, "model": setting, "rng": rng}
    return [combined_table(snippets, pages, at_least=at_least, **how) for at_least in shares or [USUAL]]


def _top(relevant: Any, *scales: Scale) -> tuple[str, str] | None:
    """Read the snippet and the page label that make a result relevant, as in Sure+Key."""
    from venire.disagreement.combined_labels import JOIN

    if relevant is None:
        return None
    for snippet in scales[0].labels:
        page = str(relevant).removeprefix(snippet + JOIN)
        if page != relevant and page in scales[1].labels:
            return snippet, page
    best = JOIN.join(scale.labels[-1] for scale in scales)
    raise ScaleError(
        f"{relevant!r} is not a label of a snippet and one of a page", hint=f"join them, as in --relevant {best}"
    )


def write_combined(out: Output, found: Sequence[CombinedTable]) -> None:
    """Write the weights, a row per combination, largest first; people see those that rest on few pairs bracketed."""
    records = [{"M": each.at_least[0], "N": each.at_least[1], **record} for each in found for record in each.records()]
    if out.format == "json":
        out.json({"combined": records})
        return
    columns = [key for key in records[0] if out.for_machines or key != "few"]
    rows = [[_cell(record, key, people=not out.for_machines) for key in columns] for record in records]
    out.table("combined", Table(columns, rows))


def _cell(record: Mapping[str, Any], key: str, *, people: bool) -> Any:
    value = record[key]
    if people and record["few"] and key in ("weight", "p") and value is not None:
        return f"({value:.4f})"
    return str(value) if isinstance(value, bool) else value
