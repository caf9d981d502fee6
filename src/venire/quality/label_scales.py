r"""Label scales: the same judgments on a coarser, a finer or a summed scale.

Chu et al. (2021, doi:10.1145/3459637.3482428):

    merge_labels       grades merged: any mapping old label -> new label; ``all_thresholds`` makes all 4to2 (>= M) of
                       Section 5.1.1
    split_labels       grades spread over a finer scale at random, Eq. (16), there 4 grades to 7:

                       .. math:: P(h \mid g) = \frac{e^{-w |c_g - h|}}{\sum_{h'} e^{-w |c_g - h'|}}, \qquad
                                 c_g = g \frac{H - 1}{G - 1}

                       with grades g = 0..G-1 and h = 0..H-1; c_g = 2 g where H = 2 G - 1, as in the paper.  With w
                       infinite, h is the grade nearest to c_g (either of two at the same distance)
    log_sums           one label per item, the integer part of log2(S + 1), where S is the sum of its assessors' labels:
                       the aggregation of NTCIR-15 WWW-3 (Sakai et al. 2020), Section 5.1.2

Each returns ``Judgments`` of the same items, so that runs are not scanned again.  Splitting adds no information: it
shows how a statistic responds to a finer scale alone.

``scale_settings`` has the judgments as they are, and all of these.  G labels can be merged with their neighbours in
2^(G - 1) - 2 ways into fewer, but more than one.  They are named as in Section 5.1.1: ``4to2(>=1)``, and
``4to3(>=1,>=3)`` with two thresholds.  Split labels are ``4to7(w=1)``, sums of labels ``3to5(logS)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from venire.data.gains import GainsLike, gains_for
from venire.data.ids import Category
from venire.data.judgments import Judgments
from venire.data.panel import build_panel
from venire.data.scale import LARGEST_INFERRED, Scale
from venire.errors import ScaleError, SettingError, UnknownName, known_names
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.randomness import copied, seed_of
from venire.results import Note
from venire.types import Floats, RNGLike

WEIGHTS = (0.5, 1.0, 2.0, 3.0, 4.0, float("inf"))
"""Values of w in the paper."""
NEAR = 1e-9
SUMMED = "(logS)"
WAYS = ("all", "two", "none")
MOST_LABELS = 5
"""With more labels than this, "all" means those to two labels: six labels could be merged in 30 ways."""


def merge_labels(
    judgments: JudgmentsLike, mapping: Mapping[str, str], *, scale: Scale | str | None = None
) -> Judgments:
    """Merge labels: ``mapping`` gives every label of the scale a new one.

    scale: the new labels in order; None: in the order of the old scale, which they must keep.

    Examples
    --------
    >>> from venire import read_judgments
    >>> judgments = read_judgments({"q": {"a": 0, "b": 1, "c": 2, "d": 3}})
    >>> coarse = merge_labels(judgments, {"0": "no", "1": "no", "2": "yes", "3": "yes"})
    >>> str(coarse.scale), coarse.label.tolist()
    ('no<yes', [0, 0, 1, 1])
    """
    judgments = as_judgments(judgments)
    old = judgments.scale
    given = {str(label): str(new) for label, new in mapping.items()}
    for label in given:
        if label not in old.labels:
            raise ScaleError(f"{label!r} is not a label of the scale {old}", hint=known_names(label, old.labels))
    missing = [label for label in old.labels if label not in given]
    if missing:
        message = f"no new label is given for {missing[0]!r} of the scale {old}"
        raise ScaleError(message, hint=f"add {{{missing[0]!r}: ...}}")
    new = [given[label] for label in old.labels]
    target = Scale.parse(scale) if isinstance(scale, str) else scale or _in_order(old, new)
    level = np.array([target.level_of(label) for label in new], dtype=np.int32)
    return replace(judgments, scale=target, label=level[judgments.label])


def threshold_labels(judgments: JudgmentsLike, label: object) -> Judgments:
    """Make labels binary: 1 from this label upwards, else 0."""
    judgments = as_judgments(judgments)
    above = judgments.scale.at_least(label)
    names = ["1" if each else "0" for each in above.tolist()]
    return merge_labels(judgments, dict(zip(judgments.scale.labels, names, strict=True)), scale="0<1")


def all_thresholds(judgments: JudgmentsLike) -> dict[str, Judgments]:
    """Make labels binary at every label but the lowest; the names are as in "4to2(>=1)"."""
    judgments = as_judgments(judgments)
    labels = judgments.scale.labels
    return {f"{len(labels)}to2(>={label})": threshold_labels(judgments, label) for label in labels[1:]}


def split_labels(judgments: JudgmentsLike, n_labels: int | None = None, *, w: float, rng: RNGLike = 0) -> Judgments:
    """Spread labels over a finer scale 0..n_labels-1 at random, each label independently, Eq. (16).

    n_labels: None: one new grade between any two, 2 G - 1.  w: from 0 (any grade) to ``math.inf`` (deterministic).
    Cost: O(labels log n_labels).

    Examples
    --------
    >>> from venire import read_judgments
    >>> split_labels(read_judgments({"q": {"a": 0, "b": 1, "c": 2, "d": 3}}), w=float("inf")).label.tolist()
    [0, 2, 4, 6]
    """
    judgments = as_judgments(judgments)
    old = judgments.scale
    if not old.ordered:
        raise ScaleError(f"the labels {old} have no order, so they cannot be split", hint="they can be merged")
    n_new = 2 * len(old) - 1 if n_labels is None else n_labels
    upto = split_probabilities(len(old), n_new, w).cumsum(axis=1)
    upto[:, -1] = 1.0
    place = np.random.default_rng(rng).random(len(judgments)) + judgments.label
    steps = (upto + np.arange(len(old))[:, None]).ravel()
    drawn = np.searchsorted(steps, place, side="right") - n_new * judgments.label.astype(np.int64)
    label = drawn.clip(0, n_new - 1).astype(np.int32)
    return replace(judgments, scale=_graded(n_new - 1, old.measurement), label=label)


def split_probabilities(n_old: int, n_new: int, w: float) -> Floats:
    """Return the probability of each new grade, given the old one, Eq. (16) -> (old, new)."""
    if n_new < n_old:
        message = f"{n_old} labels cannot be split into {n_new}, expected {n_old} or more"
        raise SettingError(message, hint="they can be merged")
    if not w >= 0:
        raise SettingError(f"w is {w:g}, expected 0 or more", hint="as 0.5, 1, 2, 3, 4, or math.inf")
    centre = np.arange(n_old) * ((n_new - 1) / max(n_old - 1, 1))
    distance = np.abs(centre[:, None] - np.arange(n_new))
    further = distance - distance.min(axis=1, keepdims=True)
    odds = (further < NEAR).astype(np.float64) if np.isinf(w) else np.exp(-w * further)
    found: Floats = odds / odds.sum(axis=1, keepdims=True)
    return found


def log_sums(judgments: JudgmentsLike, *, values: GainsLike = "linear", name: str = "log2(S+1)") -> Judgments:
    """Replace the labels of an item by one: the integer part of log2(S + 1), S the sum of its labels.

    values: what each label adds, its level or any gains ("raw": the number it is); name: assessor of the new labels.
    Labels that an assessor gave twice count with their mean.  The scale goes up to the largest possible label of the
    item with most labels.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> log_sums(read_grid('''
    ...     0 1 2 2
    ...     0 1 1 2
    ...     0 1 2 2''')).label.tolist()
    [0, 2, 2, 2]
    """
    judgments = as_judgments(judgments)
    gain = gains_for(values, judgments.scale).values
    panel = build_panel(judgments, per="assessor")
    n_items = len(judgments.items)
    sums = np.bincount(panel.item, weights=panel.weight * gain[panel.label], minlength=n_items)
    n_labels = np.round(np.bincount(panel.item, weights=panel.weight, minlength=n_items)).astype(np.int64)
    item = np.flatnonzero(n_labels).astype(np.int32)
    least, most = int(n_labels[item].min()), int(n_labels[item].max())
    words = "items have from {least} to {most} labels, so that sums of labels do not compare"
    notes: list[Any] = [*judgments.notes, *panel.notes]
    notes += [Note("uneven-labels", words, least=least, most=most)] * (least < most)
    every = np.append(sums[item], most * gain.max())  # the integer part of log2(S + 1), exact at powers of two
    *label, top = np.frexp(np.round(every, 9) + 1.0)[1] - 1
    who, labels = Category.constant(name, len(item)), np.array(label, dtype=np.int32)
    return Judgments(_graded(int(top)), judgments.items, item, who, labels, notes=tuple(notes))


def _in_order(old: Scale, new: list[str]) -> Scale:
    """Return the scale of new labels in the order of the old ones."""
    names = tuple(dict.fromkeys(new))
    places = [names.index(label) for label in new]
    if old.ordered and places != sorted(places):
        turned = next(n for n in range(1, len(places)) if places[n] < places[n - 1])
        message = f"{new[turned]!r} stands below and above {new[turned - 1]!r}: the new labels have no order"
        raise ScaleError(message, hint='give the order: scale="no<yes"')
    return Scale(names, "ordinal" if old.ordered else "nominal")


def _graded(top: int, measurement: str = "ordinal") -> Scale:
    """Return the scale 0..top."""
    if top > LARGEST_INFERRED:
        raise SettingError(f"a scale of {top + 1} labels is too long, expected at most {LARGEST_INFERRED + 1}")
    return Scale(tuple(str(grade) for grade in range(top + 1)), measurement)


def scale_settings(
    judgments: Judgments, *, merge: str = "all", split: Iterable[float] = (), sums: bool = False, rng: RNGLike = 0
) -> tuple[dict[str, Judgments], list[Note]]:
    r"""Make settings of one set of judgments -> {name: judgments}, as they are first, and notes.

    merge: "all" ways to fewer labels (beyond 5 labels, those to two), those to "two", or "none"; split: values of w,
    each for twice the labels less one; sums: one label per item, log2(S + 1).

    Examples
    --------
    >>> from venire.io import read_grid
    >>> settings, _ = scale_settings(read_grid("0 1 2 2\n0 1 1 2"), split=[float("inf")], sums=True)
    >>> list(settings)
    ['3', '3to2(>=1)', '3to2(>=2)', '3to5(w=inf)', '3to3(logS)']
    """
    if merge not in WAYS:
        raise UnknownName("way to merge labels", merge, WAYS)
    n_labels, notes = len(judgments.scale), list[Any]()
    settings = {str(n_labels): judgments}
    if not judgments.scale.ordered:
        words = "the labels {scale} have no order, so they are only compared as they are"
        return settings, [Note("no-order", words, scale=str(judgments.scale))]
    many = n_labels > MOST_LABELS
    if merge == "all" and many:
        words = "{n} labels can be merged in {ways:,} ways; those to two are shown"
        notes.append(Note("many-labels", words, n=n_labels, ways=2 ** (n_labels - 1) - 2))
    settings |= {} if merge == "none" else dict(_merged(judgments, two=merge == "two" or many))
    weights = list(dict.fromkeys(split))
    for w, seed in zip(weights, copied(seed_of(rng)).spawn(len(weights)), strict=True):
        finer = split_labels(judgments, w=w, rng=np.random.default_rng(seed))
        settings[f"{n_labels}to{len(finer.scale)}(w={w:g})"] = finer
    if any(np.isfinite(weights)):
        words = "labels split with a finite w are drawn at random, each once: their numbers depend on the seed"
        notes.append(Note("random-labels", words))
    if sums:
        summed = log_sums(judgments)
        settings[f"{n_labels}to{len(summed.scale)}{SUMMED}"] = summed
        notes += [note for note in summed.notes if note not in judgments.notes]
    return settings, notes


def _merged(judgments: Judgments, *, two: bool) -> Iterator[tuple[str, Judgments]]:
    """Merge neighbouring labels in every way, fewest labels first."""
    labels = judgments.scale.labels
    for n in range(1, min(2, len(labels) - 1) if two else len(labels) - 1):
        for thresholds in combinations(range(1, len(labels)), n):
            level = np.searchsorted(thresholds, np.arange(len(labels)), side="right").tolist()
            mapping = {label: str(new) for label, new in zip(labels, level, strict=True)}
            name = ",".join(f">={labels[at]}" for at in thresholds)
            yield f"{len(labels)}to{n + 1}({name})", merge_labels(judgments, mapping)
