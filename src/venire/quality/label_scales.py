r"""Label scales: the same judgments on a coarser, a finer or a summed scale.

Chu et al. (2021, doi:10.1145/3459637.3482428):

    reduced     grades merged: any mapping old label -> new label; ``cuts`` makes all 4to2 (>= M) of Section 5.1.1
    extended    grades spread over a finer scale by chance, Eq. (16), there 4 grades to 7:

                .. math:: P(h \mid g) = \frac{e^{-w |c_g - h|}}{\sum_{h'} e^{-w |c_g - h'|}}, \qquad
                          c_g = g \frac{H - 1}{G - 1}

                with grades g = 0..G-1 and h = 0..H-1; c_g = 2 g where H = 2 G - 1, as in the paper.  As w grows, less
                is left to chance; with w infinite, h is the grade nearest to c_g (either of two that are as near)
    log_sums    one label per item, the integer part of log2(S + 1), where S is the sum of its assessors' labels: the
                aggregation of NTCIR-15 WWW-3 (Sakai et al. 2020), Section 5.1.2

Each returns ``Judgments`` of the same items, so that runs need no other scan.  Extension adds no knowledge: it shows
what a statistic makes of a finer scale that says no more.

Scale settings: the same judgments as they are, merged into fewer labels in every way, and spread over more.

A reduction merges neighbouring labels: G labels can be cut in 2^(G - 1) - 2 ways into fewer, but not one.  They are
named as in Chu et al. (2021, doi:10.1145/3459637.3482428), Section 5.1.1: ``4to2(>=1)``, and ``4to3(>=1,>=3)`` where
there are two cuts.  Extensions are ``4to7(w=1)`` (Eq. 16), sums of labels ``3to5(logS)`` (Section 5.1.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from venire.data.gains import GainsLike, gains_for
from venire.data.ids import Category, Ids
from venire.data.judgments import Judgments
from venire.data.panel import build_panel
from venire.data.scale import LARGEST_INFERRED, Scale
from venire.errors import ScaleError, SettingError, UnknownName, known_names
from venire.randomness import copied, seed_of
from venire.types import Floats, Ints, RNGLike

WEIGHTS = (0.5, 1.0, 2.0, 3.0, 4.0, float("inf"))
"""Values of w in the paper."""
NEAR = 1e-9


def reduced(judgments: Judgments, mapping: Mapping[str, str], *, scale: Scale | str | None = None) -> Judgments:
    """Merge labels: ``mapping`` gives every label of the scale a new one.

    scale: the new labels in order; None: as they come, going up the old scale, which they must not turn round.

    Examples
    --------
    >>> from venire import read_judgments
    >>> judgments = read_judgments({"q": {"a": 0, "b": 1, "c": 2, "d": 3}})
    >>> coarse = reduced(judgments, {"0": "no", "1": "no", "2": "yes", "3": "yes"})
    >>> str(coarse.scale), coarse.label.tolist()
    ('no<yes', [0, 0, 1, 1])
    """
    old = judgments.scale
    told = {str(label): str(new) for label, new in mapping.items()}
    for label in told:
        if label not in old.labels:
            raise ScaleError(f"{label!r} is not a label of the scale {old}", hint=known_names(label, old.labels))
    missing = [label for label in old.labels if label not in told]
    if missing:
        raise ScaleError(
            f"no new label is given for {missing[0]!r} of the scale {old}", hint=f"add {{{missing[0]!r}: ...}}"
        )
    new = [told[label] for label in old.labels]
    target = Scale.parse(scale) if isinstance(scale, str) else scale or _in_order(old, new)
    level = np.array([target.level_of(label) for label in new], dtype=np.int32)
    return replace(judgments, scale=target, label=level[judgments.label])


def cut(judgments: Judgments, label: object) -> Judgments:
    """Make labels binary: 1 from this label upwards, else 0."""
    above = judgments.scale.at_least(label)
    names = ["1" if each else "0" for each in above.tolist()]
    return reduced(judgments, dict(zip(judgments.scale.labels, names, strict=True)), scale="0<1")


def cuts(judgments: Judgments) -> dict[str, Judgments]:
    """Make labels binary at every label but the lowest; the names are as in "4to2(>=1)"."""
    labels = judgments.scale.labels
    return {f"{len(labels)}to2(>={label})": cut(judgments, label) for label in labels[1:]}


def extended(judgments: Judgments, n_labels: int | None = None, *, w: float, rng: RNGLike = 0) -> Judgments:
    """Spread labels over a finer scale 0..n_labels-1 by chance, each label on its own, Eq. (16).

    n_labels: None: one new grade between any two, 2 G - 1.  w: from 0 (any grade) to ``math.inf`` (nothing is left to
    chance).  Cost: O(labels log n_labels).

    Examples
    --------
    >>> from venire import read_judgments
    >>> extended(read_judgments({"q": {"a": 0, "b": 1, "c": 2, "d": 3}}), w=float("inf")).label.tolist()
    [0, 2, 4, 6]
    """
    old = judgments.scale
    if not old.ordered:
        raise ScaleError(f"the labels {old} have no order to extend", hint="merge them: reduced(judgments, mapping)")
    n_new = 2 * len(old) - 1 if n_labels is None else n_labels
    upto = extension(len(old), n_new, w).cumsum(axis=1)
    upto[:, -1] = 1.0
    place = np.random.default_rng(rng).random(len(judgments)) + judgments.label
    steps = (upto + np.arange(len(old))[:, None]).ravel()
    drawn = np.searchsorted(steps, place, side="right") - n_new * judgments.label.astype(np.int64)
    return replace(
        judgments, scale=_graded(n_new - 1, old.measurement), label=drawn.clip(0, n_new - 1).astype(np.int32)
    )


def extension(n_old: int, n_new: int, w: float) -> Floats:
    """Probability of each new grade, given the old one, Eq. (16) -> (old, new)."""
    if n_new < n_old:
        raise SettingError(
            f"{n_old} labels cannot be extended to {n_new}, expected {n_old} or more",
            hint="merge labels with reduced(judgments, mapping)",
        )
    if not w >= 0:
        raise SettingError(f"w is {w:g}, expected 0 or more", hint="as 0.5, 1, 2, 3, 4, or math.inf")
    centre = np.arange(n_old) * ((n_new - 1) / max(n_old - 1, 1))
    distance = np.abs(centre[:, None] - np.arange(n_new))
    further = distance - distance.min(axis=1, keepdims=True)
    odds = (further < NEAR).astype(np.float64) if np.isinf(w) else np.exp(-w * further)
    found: Floats = odds / odds.sum(axis=1, keepdims=True)
    return found


def log_sums(judgments: Judgments, *, values: GainsLike = "linear", name: str = "log2(S+1)") -> Judgments:
    """Put one label in the place of several: the integer part of log2(S + 1), S the sum of an item's labels.

    values: what each label adds, its level or any gains ("raw": the number it is); name: who is to have given the
    label.  Labels that an assessor gave twice count with their mean.  The scale goes up to what the largest number of
    labels on an item could come to.

    Examples
    --------
    >>> from venire import read_grid
    >>> log_sums(read_grid('''
    ...     0 1 2 2
    ...     0 1 1 2
    ...     0 1 2 2''')).label.tolist()
    [0, 2, 2, 2]
    """
    worth = gains_for(values, judgments.scale).values
    panel = build_panel(judgments, per="assessor")
    n_items = len(judgments.items)
    sums = np.bincount(panel.item, weights=panel.weight * worth[panel.label], minlength=n_items)
    n_labels = np.round(np.bincount(panel.item, weights=panel.weight, minlength=n_items)).astype(np.int64)
    item = np.flatnonzero(n_labels).astype(np.int32)
    least, most = int(n_labels[item].min()), int(n_labels[item].max())
    uneven = [f"items have from {least} to {most} labels, so that sums of labels do not compare"] * (least < most)
    return Judgments(
        scale=_graded(int(_integer_part(np.array([float(most * worth.max())]))[0])),
        items=judgments.items,
        item=item,
        assessor=Category(np.zeros(len(item), dtype=np.int32), Ids.of([name])),
        label=_integer_part(sums[item].astype(np.float64)).astype(np.int32),
        notes=(*judgments.notes, *map(str, panel.notes), *uneven),
    )


def _integer_part(sums: Floats) -> Ints:
    """Integer part of log2(S + 1), exact at powers of two -> (item,)."""
    exponent = np.frexp(np.round(sums, 9) + 1.0)[1]
    return exponent.astype(np.int64) - 1


def _in_order(old: Scale, new: list[str]) -> Scale:
    """New labels as they come, going up the old scale."""
    names = tuple(dict.fromkeys(new))
    places = [names.index(label) for label in new]
    if old.ordered and places != sorted(places):
        turned = next(n for n in range(1, len(places)) if places[n] < places[n - 1])
        raise ScaleError(
            f"{old.labels[turned]!r} becomes {new[turned]!r}, and so does a label below {old.labels[turned - 1]!r}, "
            f"which becomes {new[turned - 1]!r}: the new labels have no order",
            hint='give it: reduced(judgments, mapping, scale="no<yes")',
        )
    return Scale(names, "ordinal" if old.ordered else "nominal")


def _graded(top: int, measurement: str = "ordinal") -> Scale:
    """The scale 0..top."""
    if top > LARGEST_INFERRED:
        raise SettingError(f"a scale of {top + 1} labels is too long, expected at most {LARGEST_INFERRED + 1}")
    return Scale(tuple(str(grade) for grade in range(top + 1)), measurement)


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
