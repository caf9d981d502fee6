r"""Systems without runs: how far the scores of two systems will differ between topics, by the labels alone.

A system is imagined to rank the labelled documents of a topic by :math:`q\, l / s + e`: l is the place of the label on
its scale, s the standard deviation of l over all documents, e standard normal for each document, and :math:`q \sim
N(\mu, \tau^2)` how well the system does on this topic.  q makes the results of a topic good or poor together, so that
scores of long lists vary, too.  The standard deviation of the difference of two such systems over topics,

.. math:: d^2 = \frac{1}{T} \sum_t 2\, \mathrm{Var}_{system}(score_t)

depends on the measure, the gains and the labels much as that of real systems does: where nearly all results are
relevant, P@10 hardly differs.  That of two real systems, :math:`\sigma`, is taken as log-normal with the median
``RATIO`` d.  Over all pairs of runs of TREC DL 2021 and CLEF eHealth 2018, NIST and language models as judges, and 14
measures (``bench/system_spread.py``), the median ratio is .94, and half the distance between the 16 % and the 84 %
quantile of its logarithm .37, the logarithm of an estimate from 50 topics apart.

The half-width of the mean difference over n topics is :math:`t_{n-1}\, \hat\sigma / \sqrt n`, with an estimate of
:math:`\sigma` whose logarithm has the variance :math:`1 / (2 (n - 1))` of that of normal differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.data.judgments import Judgments
from venire.data.panel import chosen_labels
from venire.data.runs import Facts, RunRules, Scan
from venire.errors import SettingError
from venire.kernels.ragged import offsets
from venire.kernels.shares import CONFIDENCE
from venire.measures.evaluate import evaluate
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike
from venire.planning.preferences import middle_labels
from venire.planning.result import Expected
from venire.types import Floats

QUALITY = 0.3, 0.2
"""Mean and standard deviation of q."""
RATIO, SPREAD = 0.94, 0.37
"""Median of the standard deviation of two real systems over d, and the standard deviation of its logarithm."""
DEPTH = 100
"""Results of a list."""
LISTS, MOST_SYSTEMS = 1000, 50
"""About so many lists are scored, by at most so many systems."""


@dataclass(frozen=True)
class NewSystems:
    """What is expected of two systems: sd, the median standard deviation of their difference; topics at hand."""

    measure: str
    n_topics: int
    sd: float

    @classmethod
    def of(cls, judgments: Judgments, measure: MeasureLike, *, rng: np.random.Generator, **scoring: Any) -> NewSystems:
        """Score imagined systems; scoring: as ``evaluate`` takes it."""
        if judgments.items.intents is not None:
            raise SettingError("labels by intent say too little of systems that did not run", hint="name runs")
        scores = imagined_scores(judgments, [measure], rng=rng, **scoring)
        sd = RATIO * float(deviations(scores)[0])
        name = scores.names["measure"][0]
        if not sd > 0:
            message = f"by these labels {name} of any two systems is the same, so nothing can be forecast without runs"
            raise SettingError(message, hint="name runs, or a measure that the labels can change")
        return cls(name, len(scores.names["topic"]), sd)

    def between(self) -> tuple[float, float]:
        """Return the quartiles of the standard deviation of two systems."""
        away = 0.6745 * SPREAD
        return self.sd * float(np.exp(-away)), self.sd * float(np.exp(away))

    def expected(self, more: float, within: float) -> Expected:
        """Forecast the half-width of the mean difference with more topics besides those at hand."""
        from scipy.special import ndtr, stdtrit

        total = self.n_topics + more
        freedom = max(total - 1, 1.0)
        half_width = float(stdtrit(freedom, (1 + CONFIDENCE) / 2) * self.sd / np.sqrt(total))
        away = np.log(within / half_width) / np.sqrt(SPREAD**2 + 1 / (2 * freedom))
        return Expected(float(more), float(ndtr(away)), half_width)


def imagined_scores(
    judgments: Judgments, measures: list[MeasureLike], *, rng: np.random.Generator, **scoring: Any
) -> Scores:
    """Score lists of imagined systems by the labels that count."""
    whose = {name: scoring.get(name) for name in ("assessor", "pool")}
    labels, _ = chosen_labels(judgments, **whose)
    n_systems = int(np.clip(LISTS // max(len(labels.topics), 1), 2, MOST_SYSTEMS)) + 1
    facts = imagined_lists(labels, n_systems, rng)
    return evaluate(judgments, Scan((), RunRules(), facts=facts), measures, **scoring)


def deviations(scores: Scores) -> Floats:
    """Return d by the scores of imagined systems -> (measure,)."""
    return np.asarray(np.sqrt(2 * np.nanmean(scores.values.var(axis=0, ddof=1), axis=0)))


def imagined_lists(labels: Judgments, n_systems: int, rng: np.random.Generator) -> Facts:
    """Rank the labelled documents of each topic by imagined systems.  Cost: O(systems x items log items)."""
    label = middle_labels(labels)
    item = np.flatnonzero(label >= 0)
    item = item[np.argsort(labels.items.topic[item], kind="stable")]
    topic, level = labels.items.topic[item], label[item] / max(float(label[item].std()), 1e-9)
    quality = rng.normal(*QUALITY, (n_systems, len(labels.items.topics)))[:, topic]
    value = quality * level + rng.standard_normal((n_systems, len(item)))
    n_docs = np.bincount(topic, minlength=len(labels.items.topics))
    place = np.arange(len(item)) - offsets(n_docs)[topic]
    kept, depth = place < DEPTH, np.minimum(n_docs, DEPTH)
    order = np.stack([np.lexsort((-each, topic)) for each in value])[:, kept]
    return Facts(
        labels.items,
        tuple(f"system {number}" for number in range(n_systems)),
        np.repeat(np.arange(n_systems, dtype=np.int32), len(depth)),
        np.tile(np.arange(len(depth), dtype=np.int32), n_systems),
        np.tile(depth, n_systems),
        offsets(np.tile(depth, n_systems)),
        np.tile((place[kept] + 1).astype(np.int32), n_systems),
        item[order].ravel().astype(np.int32),
    )
