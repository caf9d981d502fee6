"""Combined labels: an assessor's labels for a snippet and for its page, as one label.

Demeester et al. (2014), Section 7, doi:10.1145/2556195.2556268: the labels of both units are combined, as in
``Sure+HRel``.  The combinations have no order; the User Disagreement Model gives each its weight, the probability that
at least M of N users give the top combination, and the weights order them (Table 4).  A weight from fewer than
50 cases is in brackets.  Departure: page levels alone are fitted on the same results, so that both weights
rest on the same cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from venire.data.ids import Category, joined
from venire.data.judgments import Judgments, number_items
from venire.data.scale import Scale
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.disagreement.user_disagreement import udm_weights
from venire.errors import AmbiguousLabels, PairsError, ScaleError
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.kernels.shares import FEW_PAIRS
from venire.results import Note, Tabular, known, known_count
from venire.types import Floats, Ints, RNGLike

JOIN, ANY = "+", "(any)"
UNITS = ("snippet", "page")


class Combined(NamedTuple):
    """Combined labels; the page's labels of the same rows; which snippet and page level each label joins (label,).

    A snippet level of -1 stands for any.
    """

    judgments: Judgments
    pages: Judgments
    snippet_level: Ints
    page_level: Ints


def split_units(
    judgments: JudgmentsLike, scales: Sequence[Scale | str], units: Sequence[str] = UNITS
) -> tuple[Judgments, Judgments]:
    """Split the labels of a table with a column ``unit``, each unit on its own scale.

    The table is read with all labels on one scale, as in "No|Unlikely|Maybe|Sure|Non|Rel|HRel|Key"; scales: those of
    the units, lowest label first.
    """
    judgments = as_judgments(judgments)
    read = [Scale.parse(scale) if isinstance(scale, str) else scale for scale in scales]
    parts = [judgments.where(unit=unit).on_scale(scale) for unit, scale in zip(units, read, strict=True)]
    return parts[0], parts[1]


def combine(snippets: JudgmentsLike, pages: JudgmentsLike, *, merge_lowest: bool = True) -> Judgments:
    """Make one label of an assessor's labels for the snippet and the page of a result.

    The scale holds the combinations that occur, and that of both top labels; it has no order.  merge_lowest: the lowest
    page label is one combination, whatever the snippet's.  A result with one of both labels only is left out.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> combine(read_grid("Sure Sure No", scale="No<Sure"), read_grid("Key Non Non", scale="Non<Key"))
    <Judgments: 3 labels on 3 items of 1 topic by 1 assessor, scale (any)+Non|Sure+Key>
    """
    snippets = as_judgments(snippets)
    pages = as_judgments(pages)
    return combined(snippets, pages, merge_lowest=merge_lowest).judgments


def combined(snippets: Judgments, pages: Judgments, *, merge_lowest: bool = True) -> Combined:
    """Combine labels, and keep their parts.  O(rows log rows)."""
    snippets, pages, notes = _matched(snippets, pages)
    n_snippet, n_page = len(snippets.scale), len(pages.scale)
    snippet = snippets.label.astype(np.int64) + 1
    if merge_lowest:
        snippet = np.where(pages.label == 0, 0, snippet)
    top = (n_page - 1) * (n_snippet + 1) + n_snippet
    key, label = np.unique(
        np.append(pages.label.astype(np.int64) * (n_snippet + 1) + snippet, top), return_inverse=True
    )
    snippet_level, page_level = key % (n_snippet + 1) - 1, key // (n_snippet + 1)
    names = tuple(
        (ANY if one < 0 else snippets.scale.labels[one]) + JOIN + pages.scale.labels[other]
        for one, other in zip(snippet_level.tolist(), page_level.tolist(), strict=True)
    )
    scale = Scale(names, "nominal")
    judgments = replace(pages, scale=scale, label=label[:-1].astype(np.int32), notes=(*pages.notes, *notes))
    return Combined(judgments, pages, snippet_level, page_level)


def _matched(snippets: Judgments, pages: Judgments) -> tuple[Judgments, Judgments, tuple[Note, ...]]:
    """Match the labels of both units for the same result and assessor, on the same items."""
    for unit, each in zip(UNITS, (snippets, pages), strict=True):
        if not each.scale.ordered:
            raise ScaleError(
                f"the {unit} labels {each.scale} have no order, so none is the top one",
                hint='read each unit with its own scale, as in "No<Unlikely<Maybe<Sure" and "Non<Rel<HRel<Key"',
            )
    sources, n_first = (snippets, pages), len(snippets)
    items, item = number_items(
        joined([each.column("topic") for each in sources]),
        joined([Category(each.item, each.items.doc) for each in sources]),
    )
    who = joined([each.assessor for each in sources])
    cell = item.astype(np.int64) * max(len(who.names), 1) + who.codes
    for unit, keys in zip(UNITS, (cell[:n_first], cell[n_first:]), strict=True):
        if len(np.unique(keys)) < len(keys):
            raise AmbiguousLabels(
                f"an assessor has several {unit} labels for one result, and it is not clear which one to combine",
                hint="keep one of them when reading, or choose an intent with where(intent=...)",
            )
    shared, of_snippet, of_page = np.intersect1d(cell[:n_first], cell[n_first:], return_indices=True)
    if not len(shared):
        raise PairsError(
            "no result has a snippet label and a page label by the same assessor",
            hint="both need the same names of topics, documents and assessors",
        )
    text = "{n:label} for a {unit} without counterpart left out"
    left = [
        Note("unmatched-labels", text, n=len(each) - len(shared), unit=unit)
        for unit, each in zip(UNITS, sources, strict=True)
        if len(each) > len(shared)
    ]
    both = [
        replace(each.take(rows), items=items, item=item[offset + rows], facets={})
        for each, rows, offset in ((snippets, of_snippet, 0), (pages, of_page, n_first))
    ]
    return both[0], both[1], tuple(left)


@dataclass(frozen=True, eq=False)
class CombinedTable(Tabular):
    """Weights of combined labels, largest first; arrays are (label,), and NaN where a label has no pairs.

    fit: of the combined labels; pages: of page labels alone; page_weight: the weight of each label's page level.
    """

    combined: Combined
    at_least: tuple[int, int]
    fit: PredictedRelevanceFit
    pages: PredictedRelevanceFit
    weight: Floats
    page_weight: Floats
    snippet_names: tuple[str, ...]

    def order(self) -> list[int]:
        """Labels by decreasing weight, those without a weight last; ties by page, then snippet."""
        known = np.where(np.isnan(self.weight), -1.0, self.weight)
        order: list[int] = np.lexsort((-self.combined.snippet_level, -self.combined.page_level, -known)).tolist()
        return order

    def records(self) -> list[dict[str, Any]]:
        """Return one row per label, by decreasing weight; ``few``: from fewer than 50 cases."""
        return [self._record(level) for level in self.order()]

    def _record(self, level: int) -> dict[str, Any]:
        snippet, page = int(self.combined.snippet_level[level]), int(self.combined.page_level[level])
        return {
            "snippet": ANY if snippet < 0 else self.snippet_names[snippet],
            "page": self.pages.scale.labels[page],
            "weight": known(self.weight[level]),
            "page_weight": known(self.page_weight[level]),
            "p": known(self.fit.p[0, level]),
            "hits": known_count(self.fit.hits[0, level]),
            "pairs": known_count(self.fit.pairs[0, level]),
            "few": bool(self.fit.pairs[0, level] < FEW_PAIRS),
        }

    def sentence(self) -> str:
        """Say the weights, largest first."""
        m, n = self.at_least
        top = self.fit.relevant.names[0]
        named = [(f"{each['snippet']}{JOIN}{each['page']}", each) for each in self.records()]
        shown = ", ".join(f"{_bracketed(each)} for {name}" for name, each in named if name != top)
        return f"At least {m} of {n} users, the assessor among them, would say {top} with probability {shown}."


def combined_table(
    snippets: JudgmentsLike,
    pages: JudgmentsLike,
    *,
    top: tuple[str, str] | None = None,
    at_least: tuple[int, int] = (1, 3),
    merge_lowest: bool = True,
    lowest: float | None = 0.0,
    model: PredictedRelevance | None = None,
    rng: RNGLike = 0,
) -> CombinedTable:
    """Weight combined labels with the User Disagreement Model, beside page labels alone (Table 4).

    top: the snippet and page label that make a result relevant; None: the highest of each.  at_least: (M, N), at least
    M of N users.  merge_lowest: see ``combine``.  lowest: the weight of labels with the lowest page level, 0 as in
    Section 3.3.2; None: as estimated.  model: how labels are paired and weighted; its ``relevant`` is not used.
    """
    snippets = as_judgments(snippets)
    pages = as_judgments(pages)
    made = combined(snippets, pages, merge_lowest=merge_lowest)
    model = model or PredictedRelevance()
    top = top or (snippets.scale.labels[-1], pages.scale.labels[-1])
    fit = replace(model, relevant=[JOIN.join(top)]).fit(made.judgments, rng=rng)
    alone = replace(model, relevant=[top[1]], estimator=fit.setting.estimator).fit(made.pages, rng=rng)
    weight = _weights(fit, at_least)
    page_weight = _weights(alone, at_least)
    if lowest is not None:
        weight[made.page_level == 0] = page_weight[0] = lowest
    return CombinedTable(made, at_least, fit, alone, weight, page_weight[made.page_level], snippets.scale.labels)


def _weights(fit: PredictedRelevanceFit, at_least: tuple[int, int]) -> Floats:
    """Weights of the labels that have pairs -> (label,); NaN for the others."""
    known = ~np.isnan(fit.p[0])
    weight = np.full(len(known), np.nan)
    weight[known] = udm_weights(*at_least, fit.p[0, known], fit.relevant.labels[0, known])
    return weight


def _bracketed(record: dict[str, Any]) -> str:
    """A weight as the paper prints it: in brackets where few cases were found."""
    text = "unknown" if record["weight"] is None else f"{record['weight']:.2f}"
    return f"({text})" if record["few"] and record["weight"] is not None else text
