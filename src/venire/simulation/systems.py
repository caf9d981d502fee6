r"""Simulated systems: rankings whose true order is known.

For a document of true level l on a scale of L levels, system s gives on topic t

    score = (q_s + d_st) l / (L - 1) + z,    d_st ~ N(0, topic_spread²),    z ~ N(0, 1)

and returns the ``depth`` highest.  Quality q_s counts in standard deviations of the noise z: 0 is a random
order.  Under the same d and z, a higher quality only ever swaps pairs of documents in favour of the higher
level.  So the order of the qualities is the order of the expected true score by *every* measure that gains by
such swaps, be it nDCG, AP or RBP.  Rounding by ``tie_step`` makes ties, which the name of the document then
breaks, and blurs the differences between systems.

Scores are whole multiples of 1e-6, and files hold them so: what was simulated is what is read back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.checks import need_at_least
from venire.data.ids import Category, Ids
from venire.data.runs import RunTable
from venire.errors import SettingError
from venire.types import Codes, Floats

GOLDEN = (5**0.5 - 1) / 2
DECIMALS = 6


def scattered(n_systems: int, *, worst: float = 0.5, best: float = 3.0) -> tuple[float, ...]:
    """Qualities between worst and best, all different, about evenly spread, in no order.

    The k-th is worst + (best - worst) frac(k φ), φ the golden ratio; more systems change none of the first.

    Examples
    --------
    >>> [round(quality, 2) for quality in scattered(4)]
    [2.05, 1.09, 2.64, 1.68]
    """
    return tuple(worst + (best - worst) * (k * GOLDEN % 1) for k in range(1, n_systems + 1))


@dataclass(frozen=True, kw_only=True)
class Systems:
    """Systems to simulate, one per quality.

    Parameters
    ----------
    quality
        Latent quality of each system, all different; higher is better.
    topic_spread
        Standard deviation of how much a system's quality varies over topics.
    depth
        Documents in each list, at most.
    tie_step
        Scores are rounded to multiples of this, which makes ties; 0: no rounding.
    missing
        Share of the topics for which a system has no list, drawn for each system.
    """

    quality: tuple[float, ...] = scattered(10)
    topic_spread: float = 0.5
    depth: int = 100
    tie_step: float = 0.0
    missing: float = 0.0

    def __post_init__(self) -> None:
        if len(set(self.quality)) < len(self.quality) or not np.isfinite(self.quality).all():
            raise SettingError(
                f"the qualities {self.quality} leave the true order open",
                hint="give every system a quality of its own, as scattered(10) does",
            )
        need_at_least(0, "topic_spread", self.topic_spread)
        need_at_least(1, "depth", self.depth)
        need_at_least(0, "tie_step", self.tie_step)
        if not 0 <= self.missing < 1:
            raise SettingError(f"missing is {self.missing:g}, expected a share of the topics from 0 to below 1")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the systems: s01, s02, ..."""
        return tuple(f"s{n:02d}" for n in range(1, len(self.quality) + 1))


@dataclass(frozen=True, eq=False)
class Corpus:
    """True relevance of every document, between 0 and 1: worth (topic, doc); and the names."""

    topics: Ids
    docs: Ids
    worth: Floats


def run_of(systems: Systems, number: int, corpus: Corpus, *, rng: np.random.Generator) -> RunTable:
    """Simulate the run of one system.  O(topics x docs log docs)."""
    n_topics, n_docs = corpus.worth.shape
    quality = systems.quality[number] + systems.topic_spread * rng.standard_normal((n_topics, 1))
    noise = rng.standard_normal((n_topics, n_docs))
    score = _rounded(quality * corpus.worth + noise, systems.tie_step)
    doc = best_first(score)[:, : systems.depth]
    topic = _answered(n_topics, systems.missing, rng)
    doc, score = doc[topic], np.take_along_axis(score, doc, axis=1)[topic]
    name, row = systems.names[number], np.arange(doc.size, dtype=np.int32)
    return RunTable(
        name=name,
        system=Category.constant(name, doc.size),
        topic=Category(row // doc.shape[1], corpus.topics.take(topic)),
        doc=Category(doc.ravel(), corpus.docs),
        score=score.ravel(),
    )


def best_first(score: Floats) -> Codes:
    """Order rows by score, ties by place, all descending, as runs are read; (row, doc) -> (row, doc)."""
    place = np.argsort(-score[:, ::-1], axis=1, kind="stable").astype(np.int32)
    return np.int32(score.shape[1] - 1) - place


def _rounded(score: Floats, tie_step: float) -> Floats:
    """Round to multiples of tie_step, then to the digits that files hold; no negative zero."""
    if tie_step:
        score = np.rint(score / tie_step) * tie_step
    return np.round(score, DECIMALS) + 0.0


def _answered(n_topics: int, missing: float, rng: np.random.Generator) -> Codes:
    """Draw the topics that a system has lists for, at least one -> (topic,)."""
    n_answered = max(n_topics - round(missing * n_topics), 1)
    return np.sort(rng.choice(n_topics, size=n_answered, replace=False, shuffle=False)).astype(np.int32)
