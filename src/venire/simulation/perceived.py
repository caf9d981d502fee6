"""Collections of perceived relevance: judgments in any number of grades, preferences and runs over one truth.

See ``venire.simulation.perceived_truth`` for how they are drawn (Chu et al. 2021, Section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from venire.checks import need_at_least
from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.data.preferences import Preferences
from venire.data.runs import Runs
from venire.data.scale import Scale
from venire.randomness import copied, seed_of
from venire.results import Records, Tabular, counted
from venire.simulation.perceived_truth import (
    PARTS,
    Block,
    PerceivedRelevance,
    blocks,
    graded,
    quality_of,
)
from venire.simulation.systems import Corpus, run_of
from venire.types import Codes, Floats, RNGLike


@dataclass(frozen=True, eq=False, repr=False)
class PerceivedCollection(Tabular):
    """A simulated collection and its truth; ``generate_perceived(setting, rng=seed)`` makes it again.

    Parameters
    ----------
    judgments
        Labels in the grades of the setting; ``at(n)`` gives those in n grades.
    preferences
        Pairs of documents of a topic, compared side by side.
    shape
        Parameters of each topic's Beta distribution (topic, 2).
    batch
        Which batch a topic belongs to (topic,).
    sigma
        How much each assessor errs (batch, assessor).
    relevance
        True relevance (item,), items as in ``judgments.items``.
    perceived
        Relevance as each of the item's assessors saw it (item, assessor).
    """

    setting: PerceivedRelevance
    seed: np.random.SeedSequence
    judgments: Judgments
    preferences: Preferences
    runs: Runs
    shape: Floats
    batch: Codes
    sigma: Floats
    relevance: Floats
    perceived: Floats

    def at(self, n_grades: int) -> Judgments:
        """Return the labels in this many grades; all but the labels is shared.  O(labels)."""
        need_at_least(2, "n_grades", n_grades)
        return replace(self.judgments, scale=grades(n_grades), label=graded(self.perceived, n_grades).ravel())

    @property
    def systems_best_first(self) -> tuple[str, ...]:
        """The systems, best first."""
        systems = self.setting.systems
        return tuple(systems.names[n] for n in np.argsort(-np.array(systems.quality)))

    def __repr__(self) -> str:
        return f"<PerceivedCollection: {self.sentence()}>"

    def sentence(self) -> str:
        """Say in one line what is there."""
        held = f"{self.judgments.summary().sentence()}; {counted(len(self.preferences), 'preference')}"
        n_systems = len(self.runs.sources)
        return held + (f"; {counted(n_systems, 'system')}" if n_systems else "")

    def records(self) -> Records:
        """Return one row per system, best first: how good it is."""
        systems = self.setting.systems
        quality = dict(zip(systems.names, systems.quality, strict=True))
        return [{"system": name, "quality": float(quality[name])} for name in self.systems_best_first]


def grades(n_grades: int) -> Scale:
    """Return the scale 0 < 1 < ... of so many grades."""
    return Scale(tuple(str(level) for level in range(n_grades)))


def generate_perceived(setting: PerceivedRelevance, *, rng: RNGLike = 0) -> PerceivedCollection:
    """Make a collection of perceived relevance; the same setting and rng make the same.

    Cost: linear in labels and preferences.  Where they do not fit into memory, take them from ``blocks``.

    The judgments are better than the labels can tell where documents lie near the edge of a grade: the truth is a
    number, not a level.  Where true levels with a known confusion are wanted, use ``generate(Synthetic(...))``.

    Examples
    --------
    >>> collection = generate_perceived(PerceivedRelevance(n_topics=20, topics_per_batch=10, n_assessors=3), rng=7)
    >>> collection
    <PerceivedCollection: 300 labels on 100 items of 20 topics by 6 assessors, scale 0<1<2<3; 200 preferences>
    >>> collection.at(7)
    <Judgments: 300 labels on 100 items of 20 topics by 6 assessors, scale 0<1<2<3<4<5<6>
    """
    seed = seed_of(rng)
    drawn = list(blocks(setting, rng=seed))
    shape, relevance = _whole(drawn, "shape"), _whole(drawn, "relevance")
    perceived = _whole(drawn, "perceived").reshape(-1, setting.n_assessors)
    items, docs = _items(setting)
    batch = (np.arange(setting.n_topics) // setting.topics_per_batch).astype(np.int32)
    return PerceivedCollection(
        setting=setting,
        seed=seed,
        judgments=_judgments(setting, items, batch, perceived),
        preferences=_preferences(drawn, items.topics, docs),
        runs=_runs(setting, Corpus(items.topics, docs, relevance), seed),
        shape=shape,
        batch=batch,
        sigma=quality_of(setting, rng=seed).sigma,
        relevance=relevance.ravel(),
        perceived=perceived,
    )


def numbered(letter: str, number: int, *, least: int = 1) -> list[str]:
    """Name things in bytewise order: a01, a02, ..."""
    width = max(len(str(number)), least)
    return [f"{letter}{n:0{width}d}" for n in range(1, number + 1)]


def assessor_names(setting: PerceivedRelevance) -> list[str]:
    """Name the assessors, batch by batch: b001a01, b001a02, ..."""
    within = numbered("a", setting.n_assessors)
    return [batch + name for batch in numbered("b", setting.n_batches) for name in within]


def _whole(drawn: list[Block], name: str) -> Floats:
    """Put one array of all blocks together along the topics."""
    return np.concatenate([getattr(block, name) for block in drawn])


def _items(setting: PerceivedRelevance) -> tuple[Items, Ids]:
    """Name every document of every topic: topics 1, 2, ..., and for each documents d0001, d0002, ..."""
    n_topics, n_docs = setting.n_topics, setting.docs_per_topic
    docs = Ids.of(numbered("d", n_docs, least=4))
    topic = np.repeat(np.arange(n_topics, dtype=np.int32), n_docs)
    names = Ids.of(str(n) for n in range(1, n_topics + 1))
    return Items(names, topic, docs.take(np.tile(np.arange(n_docs, dtype=np.int32), n_topics))), docs


def _judgments(setting: PerceivedRelevance, items: Items, batch: Codes, perceived: Floats) -> Judgments:
    """Label every item by every assessor of its batch; rows by item, then assessor."""
    n_assessors = setting.n_assessors
    item = np.repeat(np.arange(len(items), dtype=np.int32), n_assessors)
    assessor = batch[items.topic[item]] * np.int32(n_assessors) + np.tile(
        np.arange(n_assessors, dtype=np.int32), len(items)
    )
    names = Category(assessor, Ids.of(assessor_names(setting)))
    return Judgments(grades(setting.n_grades), items, item, names, graded(perceived, setting.n_grades).ravel())


def _preferences(drawn: list[Block], topics: Ids, docs: Ids) -> Preferences:
    """Lay the comparisons out; rows by topic, pair and assessor."""
    strength = _whole(drawn, "strength")
    n_topics, n_pairs, n_assessors = strength.shape
    left, right = (np.repeat(cast("Codes", _whole(drawn, side)), n_assessors) for side in ("left", "right"))
    who = np.tile(np.arange(n_assessors, dtype=np.int32), n_topics * n_pairs)
    return Preferences(
        topics=topics,
        docs=docs,
        topic=np.repeat(np.arange(n_topics, dtype=np.int32), n_pairs * n_assessors),
        left=left,
        right=right,
        assessor=Category(who, Ids.of(numbered("p", n_assessors))),
        strength=strength.ravel(),
    )


def _runs(setting: PerceivedRelevance, corpus: Corpus, seed: np.random.SeedSequence) -> Runs:
    """Simulate the run of each system, each from a stream of its own."""
    own = copied(seed).spawn(len(PARTS))[PARTS.index("systems")]
    streams = [np.random.default_rng(each) for each in own.spawn(len(setting.systems.quality))]
    return Runs(tuple(run_of(setting.systems, n, corpus, rng=rng) for n, rng in enumerate(streams)))
