"""Figures 4 to 7 of Chu et al. (2021), doi:10.1145/3459637.3482428: what the text says of them, on generated data.

The numbers behind the figures are not printed, so that each cell is a sentence of the text, or a number it names.  The
paper's own judgments (Figure 7) are not at hand; what Section 5.2.3 says of stretched labels must hold for any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from venire.papers.perceived_batches import (
    FULL,
    MODES,
    REDUCED,
    Size,
    chosen_pdp,
    consistency,
    mean_pdp,
    values,
)
from venire.papers.table import Table, Value
from venire.quality.label_preferences import LabelPreferences
from venire.quality.label_scales import extended
from venire.quality.pdp import pdp
from venire.quality.power import discriminative_power
from venire.simulation.perceived import PerceivedCollection, PerceivedRelevance, generate_perceived
from venire.simulation.systems import Systems, scattered

PAPER = "chu2021"
NOISE = ("assessor", "annotation")
RISE = 0.01
"""Nats by which a mean over batches may rise from one number of grades to the next by chance."""
OFTEN = 0.9
"""Share of choices of tests that must give the right order, for a number of tests to be enough."""
AGREEMENT = ("Fleiss' kappa", "weighted kappa", "Krippendorff's alpha")


def _of(cell: str) -> tuple[str, str]:
    """Take "individual, noise per assessor" apart."""
    what, _, noise = cell.partition(", noise per ")
    return what, noise


def falls_with_grades(cell: str, size: Size) -> bool:
    """Whether mean PDP falls with the number of grades, at every quality."""
    steps = np.diff(mean_pdp(_of(cell)[0], size, _of(cell)[1]), axis=0)
    return bool((steps < RISE).all() and (steps.sum(axis=0) < 0).all())


def falls_with_quality(cell: str, size: Size) -> bool:
    """Whether better assessors have a lower mean PDP, at every number of grades."""
    return bool((np.diff(mean_pdp(_of(cell)[0], size, _of(cell)[1]), axis=1) > 0).all())


def aggregate_is_lower(cell: str, size: Size) -> bool:
    """Whether PDP in aggregate mode is below that in individual mode in most batches, at every number of grades."""
    individual, aggregate = (
        np.array([values(mode, grades, size, _of(cell)[1]) for grades in size.grades]) for mode in MODES
    )
    return bool(((aggregate < individual).mean(axis=1) > 0.5).all())


def low_quality(cell: str, size: Size) -> float:
    """Mean PDP of low quality in individual mode, over all numbers of grades."""
    return float(mean_pdp("individual", size, _of(cell)[1])[:, -1].mean())


def follows_most_closely(cell: str, size: Size) -> bool:
    """Whether PDP in individual mode follows sigma as closely as another statistic or more, at any number of grades."""
    other, noise = _of(cell)
    grades = size.phi_grades if other == "Phi" else size.grades
    return all(consistency("individual", n, size, noise) >= consistency(other, n, size, noise) for n in grades)


def with_grades(cell: str, size: Size) -> bool:
    """Whether a statistic follows sigma more closely at 16 grades than at 2, or less, as the cell says."""
    other, noise = _of(cell)
    few, many = (consistency(other.split(":")[0], n, size, noise) for n in (2, 16))
    return many > few if other.endswith("more") else many < few


def right_order(cell: str, size: Size) -> bool:
    """Whether the three qualities come out in their order in nine of ten choices of tests, or more."""
    mode, per_pair, grades = cell.split(", ")
    found = chosen_pdp(mode, int(grades.split()[0]), int(per_pair.split()[0]), size)
    return bool((np.diff(found, axis=1) > 0).all(axis=1).mean() >= OFTEN)


def steadier(cell: str, size: Size) -> bool:
    """Whether PDP varies less over choices of 40 tests in individual mode than in aggregate mode, at every quality."""
    individual, aggregate = (chosen_pdp(mode, int(cell.split()[0]), 40, size).std(axis=0) for mode in MODES)
    return bool((individual < aggregate).all())


def steadier_with_more(cell: str, size: Size) -> bool:
    """Whether PDP varies less the more tests there are, on the mean of the qualities."""
    mode, grades = cell.split(", ")
    spread = [chosen_pdp(mode, int(grades.split()[0]), n, size).std(axis=0).mean() for n in (10, 40, 160)]
    return bool((np.diff(spread) < 0).all())


@lru_cache(maxsize=2)
def _with_runs(n_topics: int, n_systems: int) -> PerceivedCollection:
    """Topics judged by three assessors on 4 grades, and systems that rank their documents."""
    systems = Systems(quality=scattered(n_systems, worst=1.0, best=3.0))
    who = PerceivedRelevance(n_topics=n_topics, topics_per_batch=n_topics, n_assessors=3, sigma=(0.1, 0.1))
    return generate_perceived(replace(who, docs_per_topic=20, systems=systems))


CHINESE, ENGLISH = (80, 11), (160, 37)
"""Topics and runs of the two subtasks (Table 1)."""


@lru_cache(maxsize=16)
def shifts(cell: str, size: tuple[int, int]) -> bool:
    """Whether fewer pairs of systems are told apart when 0, 1, 2, 3 are written as 0, 2, 4, 6."""
    measure, _, gains = cell.partition(", ")
    collection = _with_runs(*size)
    labels = {"4": collection.judgments, "4to7": extended(collection.judgments, w=float("inf"))}
    worth = "exponential" if gains.startswith("exponential") else "linear"
    found = discriminative_power(labels, collection.runs, [measure], gains=[worth], pool="median")
    four, seven = (found.of(measure, name).share or 0.0 for name in labels)
    return seven < four


@lru_cache(maxsize=4)
def stays(mode: str, size: tuple[int, int]) -> bool:
    """Whether PDP stays the same, to the last digit, when 0, 1, 2, 3 are written as 0, 2, 4, 6."""
    collection = _with_runs(*size)
    four, seven = (
        pdp(labels, collection.preferences, labels=LabelPreferences(mode=mode), k=5, n_draws=0).value
        for labels in (collection.judgments, extended(collection.judgments, w=float("inf")))
    )
    return four is not None and four == seven


def _by_noise(*names: str, noise: tuple[str, ...] = NOISE) -> dict[str, str]:
    """Cells of a table that says yes."""
    return {f"{name}, noise per {each}": "yes" for each in noise for name in names}


def _figure(where: str, title: str, compute: Callable[..., Value], **more: Any) -> Table:
    """Make a table that is computed at two sizes."""
    small, whole = more.pop("sizes", (REDUCED, FULL))
    quick, slow = partial(compute, size=small), partial(compute, size=whole)
    return Table(paper=PAPER, where=where, title=title, compute=quick, at_full=slow, **more)


SIZES = (
    f"{REDUCED.n_batches} batches of {REDUCED.n_topics} topics; at full size {FULL.n_batches} of {FULL.n_topics}, "
    "as in the paper"
)
FIGURES = [
    _figure(
        "Figure 4",
        "mean PDP falls with the number of grades, at each quality",
        falls_with_grades,
        printed=_by_noise(*MODES),
        note=f"{SIZES}; a rise of less than {RISE:g} nats counts as chance",
    ),
    _figure(
        "Figure 4",
        "better assessors have a lower mean PDP, at each number of grades",
        falls_with_quality,
        printed=_by_noise(*MODES),
        note=SIZES,
    ),
    _figure(
        "Figure 4",
        "PDP in aggregate mode is lower, in most batches",
        aggregate_is_lower,
        printed=_by_noise("aggregate"),
        note=SIZES,
    ),
    _figure(
        "Section 4.2.1",
        "mean PDP of low quality in individual mode, about",
        low_quality,
        printed={f"individual, noise per {noise}": "4.6" for noise in NOISE},
        note=f"{SIZES}; the mean over all numbers of grades",
        findings={
            "individual, noise per annotation": "it comes out where e_1 of Eq. (15) is drawn once for each assessor, "
            "not for every annotation",
        },
    ),
    _figure(
        "Figure 5",
        "individual mode follows quality as closely as this or more, at each number of grades",
        follows_most_closely,
        printed=_by_noise("aggregate", *AGREEMENT, noise=("assessor",)),
        note=f"{SIZES}; agreement as mean over topics",
    ),
    _figure(
        "Figure 5",
        "so it does beside Phi, and with noise of its own for every annotation",
        follows_most_closely,
        printed={"Phi, noise per assessor": "yes", **_by_noise("aggregate", *AGREEMENT, "Phi", noise=("annotation",))},
        note=f"Phi at {', '.join(map(str, FULL.phi_grades))} grades",
        only_full=True,
        findings={
            "Phi, noise per annotation": "where assessors do not lean, Phi follows quality more closely (on 4 grades "
            "Spearman's correlation is .9996, and .9965 for PDP)",
        },
    ),
    _figure(
        "Figure 5",
        "with more grades, quality is followed more closely, or less",
        with_grades,
        printed=_by_noise("aggregate: more", "Fleiss' kappa: less", noise=("assessor",)),
        note=f"{SIZES}; 16 grades beside 2",
    ),
    _figure(
        "Figure 6",
        "as many tests for every two grades order three qualities rightly, in 9 of 10 choices",
        right_order,
        printed={"individual, 40 tests, 4 grades": "yes", "aggregate, 160 tests, 4 grades": "yes"},
        note=f"{REDUCED.n_choices} choices of tests; at full size {FULL.n_choices}",
    ),
    _figure(
        "Figure 6",
        "so they do with more grades",
        right_order,
        printed={
            **{f"individual, 40 tests, {grades} grades": "yes" for grades in (7, 16)},
            **{f"aggregate, 160 tests, {grades} grades": "yes" for grades in (7, 16)},
        },
        only_full=True,
    ),
    _figure(
        "Figure 6",
        "individual mode is steadier than aggregate mode with 40 tests, at each quality",
        steadier,
        printed={"4 grades": "yes"},
    ),
    _figure(
        "Figure 6",
        "the more tests, the steadier is PDP",
        steadier_with_more,
        printed={f"{mode}, 4 grades": "yes" for mode in MODES},
        note="10, 40 and 160 tests for every two grades",
    ),
    _figure(
        "Section 5.2.3",
        "4to7(infinity) has the PDP of 4 grades, on a generated collection",
        stays,
        sizes=(CHINESE, ENGLISH),
        printed=dict.fromkeys(MODES, "yes"),
        note="80 topics and 11 runs; at full size 160 and 37, as in the Chinese and the English subtask",
    ),
    _figure(
        "Section 5.2.3",
        "4to7(infinity) has less discriminative power than 4 grades, on a generated collection",
        shifts,
        sizes=(CHINESE, ENGLISH),
        printed={
            "nDCG@5, exponential gains": "yes",
            "Q, exponential gains": "yes",
            "nERR@5": "yes",
            "nDCG@5, linear gains": "yes",
        },
        findings={
            "nDCG@5, linear gains": "0, 2, 4, 6 are twice 0, 1, 2, 3, and nDCG is a ratio of gains: with gains linear "
            "from 0 on nothing can shift",
        },
    ),
]
