r"""Simulated systems: rankings whose true order is known; and the names of topics and documents.

For a document of true level l on a scale of L levels, system s gives on topic t

    score = (q_s + d_st) l / (L - 1) + z,    d_st ~ N(0, topic_spread²),    z ~ N(0, 1)

and returns the ``depth`` highest.  Quality q_s is in standard deviations of the noise z: 0 is a random order.
Under the same d and z, a higher quality only swaps pairs of documents in favour of the higher level.  So the
order of the qualities is the order of the expected true score by *every* measure that increases with such
swaps, such as nDCG, AP or RBP.  Rounding by ``tie_step`` makes ties, which the name of the document breaks, and
reduces the differences between systems.

Scores are multiples of 1e-6 and are written with six decimals: reading a file gives the simulated scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.checks import need_at_least
from venire.data.ids import Category, Ids
from venire.data.judgments import Items
from venire.data.runs import Runs, RunTable
from venire.errors import SettingError
from venire.randomness import generators
from venire.types import Codes, Floats

GOLDEN = (5**0.5 - 1) / 2
DECIMALS = 6


def scattered(n_systems: int, *, worst: float = 0.5, best: float = 3.0) -> tuple[float, ...]:
    """Return different qualities between worst and best, roughly evenly spaced, not sorted.

    The k-th is worst + (best - worst) frac(k φ), φ the golden ratio, and does not depend on the number of systems.

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
    quality : latent quality of each system, all different; higher is better
    topic_spread : standard deviation of a system's quality over topics
    depth : largest number of documents in a list
    tie_step : scores are rounded to multiples of this value, which makes ties; 0: no rounding
    missing : share of the topics, drawn for each system, for which it returns no list
    """

    quality: tuple[float, ...] = scattered(10)
    topic_spread: float = 0.5
    depth: int = 100
    tie_step: float = 0.0
    missing: float = 0.0

    def __post_init__(self) -> None:
        if len(set(self.quality)) < len(self.quality) or not np.isfinite(self.quality).all():
            message = f"the qualities {', '.join(f'{each:g}' for each in self.quality)} leave the true order open"
            raise SettingError(message, hint="give every system a different quality, as scattered(10) does")
        need_at_least(0, "topic_spread", self.topic_spread)
        need_at_least(1, "depth", self.depth)
        need_at_least(0, "tie_step", self.tie_step)
        if not 0 <= self.missing < 1:
            raise SettingError(f"missing is {self.missing:g}, expected a share of the topics from 0 to below 1")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the systems: s01, s02, ..."""
        return tuple(numbered("s", len(self.quality), width=2))

    @property
    def best_first(self) -> tuple[str, ...]:
        """Names of the systems, best first."""
        return tuple(self.names[n] for n in np.argsort(-np.array(self.quality)))


@dataclass(frozen=True, eq=False)
class Corpus:
    """True relevance of every document, between 0 and 1: worth (topic, doc); and the names."""

    topics: Ids
    docs: Ids
    worth: Floats


def numbered(letter: str, number: int, *, width: int = 1) -> list[str]:
    """Return names that sort by number: a01, a02, ..., with at least ``width`` digits."""
    width = max(len(str(number)), width)
    return [f"{letter}{n:0{width}d}" for n in range(1, number + 1)]


def topic_names(n_topics: int) -> Ids:
    """Return the names of topics: 1, 2, ..."""
    return Ids.of(str(n) for n in range(1, n_topics + 1))


def doc_names(n_docs: int) -> Ids:
    """Return the names of the documents of a topic: d0001, d0002, ..."""
    return Ids.of(numbered("d", n_docs, width=4))


def all_items(n_topics: int, n_docs: int) -> Items:
    """Return every document of every topic, by topic and document."""
    doc = np.tile(np.arange(n_docs, dtype=np.int32), n_topics)
    topic = np.repeat(np.arange(n_topics, dtype=np.int32), n_docs)
    return Items(topic_names(n_topics), topic, doc_names(n_docs).take(doc))


def runs_of(systems: Systems, corpus: Corpus, seed: np.random.SeedSequence) -> Runs:
    """Simulate the run of every system, each from its own stream."""
    streams = generators(seed, len(systems.quality))
    return Runs(tuple(run_of(systems, n, corpus, rng=rng) for n, rng in enumerate(streams)))


def run_of(systems: Systems, number: int, corpus: Corpus, *, rng: np.random.Generator) -> RunTable:
    """Simulate the run of one system.  O(topics x docs log docs)."""
    n_topics, n_docs = corpus.worth.shape
    quality = systems.quality[number] + systems.topic_spread * rng.standard_normal((n_topics, 1))
    noise = rng.standard_normal((n_topics, n_docs))
    score = quality * corpus.worth + noise
    if systems.tie_step:
        score = np.rint(score / systems.tie_step) * systems.tie_step
    score = np.round(score, DECIMALS) + 0.0  # as written to files; no negative zero
    doc = best_first(score)[:, : systems.depth]
    n_answered = max(n_topics - round(systems.missing * n_topics), 1)
    topic = np.sort(rng.choice(n_topics, size=n_answered, replace=False, shuffle=False)).astype(np.int32)
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
    """Order documents by score, ties by number, both descending, as readers do; (row, doc) -> (row, doc)."""
    place = np.argsort(-score[:, ::-1], axis=1, kind="stable").astype(np.int32)
    return np.int32(score.shape[1] - 1) - place
