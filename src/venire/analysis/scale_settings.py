"""Scale settings: the same judgments as they are, merged into fewer labels in every way, and spread over more.

A reduction merges neighbouring labels: G labels can be cut in 2^(G - 1) - 2 ways into fewer, but not one.  They are
named as in Chu et al. (2021, doi:10.1145/3459637.3482428), Section 5.1.1: ``4to2(>=1)``, and ``4to3(>=1,>=3)`` where
there are two cuts.  Extensions are ``4to7(w=1)`` (Eq. 16), sums of labels ``3to5(logS)`` (Section 5.1.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np

from venire.analysis.label_scales import extended, log_sums, reduced
from venire.analysis.seeds import copied, seed_of
from venire.data.judgments import Judgments
from venire.errors import UnknownName
from venire.types import RNGLike

SUMMED = "(logS)"
REDUCTIONS = ("all", "two", "none")
MOST_LABELS = 5
"""With more labels than this, "all" means those to two labels: six labels would have 30 reductions."""


def scale_settings(
    judgments: Judgments,
    *,
    reduce: str = "all",
    extend: Iterable[float] = (),
    sums: bool = False,
    rng: RNGLike = 0,
) -> tuple[dict[str, Judgments], list[str]]:
    r"""Make settings of one set of judgments -> {name: judgments}, as they are first, and notes.

    reduce: "all" ways to fewer labels (beyond 5 labels, those to two), those to "two", or "none"; extend: values of w,
    each an extension to twice the labels but one; sums: one label per item, log2(S + 1).

    Examples
    --------
    >>> from venire import read_grid
    >>> settings, _ = scale_settings(read_grid("0 1 2 2\n0 1 1 2"), extend=[float("inf")], sums=True)
    >>> list(settings)
    ['3', '3to2(>=1)', '3to2(>=2)', '3to5(w=inf)', '3to3(logS)']
    """
    if reduce not in REDUCTIONS:
        raise UnknownName("way to reduce", reduce, REDUCTIONS)
    n_labels, notes = len(judgments.scale), []
    settings = {str(n_labels): judgments}
    weights = list(dict.fromkeys(extend))
    if not judgments.scale.ordered:
        notes.append(f"the labels {judgments.scale} have no order, so they are compared as they are only")
        return settings, notes
    if reduce == "all" and n_labels > MOST_LABELS:
        notes.append(f"{n_labels} labels can be merged in {2 ** (n_labels - 1) - 2:,} ways; those to two are shown")
    settings |= {} if reduce == "none" else dict(_reductions(judgments, two=reduce == "two" or n_labels > MOST_LABELS))
    for w, seed in zip(weights, copied(seed_of(rng)).spawn(len(weights)), strict=True):
        finer = extended(judgments, w=w, rng=np.random.default_rng(seed))
        settings[f"{n_labels}to{len(finer.scale)}(w={w:g})"] = finer
    if any(np.isfinite(weights)):
        notes.append("extensions with a finite w are drawn at random, each once: another --rng moves their numbers")
    if sums:
        summed = log_sums(judgments)
        settings[f"{n_labels}to{len(summed.scale)}{SUMMED}"] = summed
        notes += [note for note in summed.notes if note not in judgments.notes]
    return settings, notes


def _reductions(judgments: Judgments, *, two: bool) -> Iterator[tuple[str, Judgments]]:
    """Cut the scale in every way, fewest labels first."""
    labels = judgments.scale.labels
    for n_cuts in range(1, 2 if two else len(labels) - 1):
        if n_cuts >= len(labels) - 1:
            return
        for cuts in combinations(range(1, len(labels)), n_cuts):
            level = np.searchsorted(cuts, np.arange(len(labels)), side="right").tolist()
            mapping = {label: str(new) for label, new in zip(labels, level, strict=True)}
            named = ",".join(f">={labels[cut]}" for cut in cuts)
            yield f"{len(labels)}to{n_cuts + 1}({named})", reduced(judgments, mapping)
