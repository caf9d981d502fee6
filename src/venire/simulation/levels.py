r"""Synthetic collections with known truth.

Topic t has levels with probabilities p_t ~ Dirichlet(concentration x prevalence); each document of its judged
pool has a true level drawn from p_t, and each document outside the pool one drawn from

    missed p_t(l)  for l > 0,    the rest for l = 0

since a pool misses few relevant documents.  Assessors label what the pattern gives them
(``venire.simulation.assessors``, ``venire.simulation.assignments``), how well depending on the topic's effect
e_t ~ N(0, topic_effect²).  Systems rank all documents, judged or not (``venire.simulation.systems``).

Every part draws from a stream of its own, spawned from ``rng``: prevalences, pool, levels, effects, pattern,
the labels of each assessor, the run of each system.  So one more system changes no label and no other run;
one more assessor, put last, changes no run and, where everyone judges everything, no other label.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from venire.checks import need_at_least, need_share
from venire.data.ids import Ids, as_bytes
from venire.data.judgments import Items, Judgments
from venire.data.runs import Runs
from venire.data.scale import Scale
from venire.errors import SettingError
from venire.randomness import copied, seed_of
from venire.results import Records, Tabular, counted
from venire.simulation.assessors import Assessor, Careful, Lazy, Lenient, Strict
from venire.simulation.assignments import Everyone, Pattern, pairs_of
from venire.simulation.systems import Corpus, Systems, run_of
from venire.simulation.truth import Truth, drawn, judgments_of
from venire.types import Bools, Codes, Floats, Ints, RNGLike

PARTS = ("prevalences", "pool", "levels", "effects", "pattern", "assessors", "systems")  # new parts go last
SKEW = 0.35
USUAL_SCALE = Scale.parse("0<1<2<3")
_SUM = 1e-6


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """What collection to make.

    Parameters
    ----------
    n_topics, docs_per_topic, n_unjudged
        Topics; for each, documents in its pool, and outside.
    scale
        Ordered labels; a true level is a place on it.
    prevalence
        Mean probability of each true level; None: each level .35 times as frequent as the one below.
    concentration
        How alike the topics' prevalences are; ``math.inf``: all the same.
    missed
        How frequent relevant documents are outside the pool, as a share of their frequency inside.
    assessors
        Who judges, and how well.
    topic_effect
        Standard deviation of how hard topics are to judge; 0: all alike.
    pattern
        Who judges what.
    systems
        Which systems rank the documents.

    Examples
    --------
    >>> from venire.simulation.assignments import OnePerItem
    >>> setting = Synthetic(n_topics=5, docs_per_topic=40, n_unjudged=10, pattern=OnePerItem(twice=0.25))
    >>> generate(setting, rng=7).judgments
    <Judgments: 250 labels on 200 items of 5 topics by 5 assessors, scale 0<1<2<3>
    """

    n_topics: int = 50
    docs_per_topic: int = 200
    n_unjudged: int = 50
    scale: Scale = USUAL_SCALE
    prevalence: tuple[float, ...] | None = None
    concentration: float = 20.0
    missed: float = 0.1
    assessors: tuple[Assessor, ...] = (
        Assessor("careful1", Careful()),
        Assessor("careful2", Careful()),
        Assessor("strict1", Strict()),
        Assessor("lenient1", Lenient()),
        Assessor("lazy1", Lazy()),
    )
    topic_effect: float = 0.3
    pattern: Pattern = field(default_factory=Everyone)
    systems: Systems = field(default_factory=Systems)

    def __post_init__(self) -> None:
        need_at_least(1, "n_topics", self.n_topics)
        need_at_least(1, "docs_per_topic", self.docs_per_topic)
        need_at_least(0, "n_unjudged", self.n_unjudged)
        need_at_least(0, "topic_effect", self.topic_effect)
        need_share("missed", self.missed)
        if not self.concentration > 0:
            raise SettingError(
                f"concentration is {self.concentration:g}, expected more than 0",
                hint="math.inf gives all topics the same prevalence",
            )
        _check_scale(self.scale)
        _check_prevalence(self.prevalence, self.scale)
        _check_assessors(self.assessors, len(self.scale))

    @property
    def level_probabilities(self) -> Floats:
        """The prevalence that holds (level,)."""
        if self.prevalence is not None:
            return np.array(self.prevalence)
        skewed = SKEW ** np.arange(len(self.scale))
        return np.asarray(skewed / skewed.sum())


@dataclass(frozen=True, eq=False, repr=False)
class Collection(Tabular):
    """A simulated collection and its truth; ``generate(setting, rng=seed)`` makes it again."""

    setting: Synthetic
    seed: np.random.SeedSequence
    judgments: Judgments
    runs: Runs
    truth: Truth

    def sentence(self) -> str:
        """Say in one line what is there."""
        return f"{self.judgments.sentence()}; {counted(len(self.runs.sources), 'system')}"

    def records(self) -> Records:
        """Return one row per system, best first: how good it is in truth."""
        quality = self.truth.quality
        return [
            {"system": self.truth.systems[n], "quality": float(quality[n])}
            for n in np.argsort(-quality, kind="stable").tolist()
        ]

    def __repr__(self) -> str:
        return f"<Collection: {self.sentence()}>"


def generate(setting: Synthetic, *, rng: RNGLike = 0) -> Collection:
    """Make a collection; the same setting and rng make the same.

    A Generator is advanced by each call, as everywhere; an integer or a SeedSequence is not.
    Cost: linear in labels and documents, times the log of a topic's documents for each system.

    The labels of two assessors agree only through the true level and the topic's effect.  Where a study is
    about errors that assessors share (a misleading title, a common habit), this is not the generator for it.

    Examples
    --------
    >>> collection = generate(Synthetic(n_topics=5, docs_per_topic=40, n_unjudged=10), rng=7)
    >>> collection
    <Collection: 1,000 labels on 200 items of 5 topics by 5 assessors, scale 0<1<2<3; 10 systems>
    >>> collection.truth.order[:3]
    ('s08', 's03', 's06')
    >>> collection.truth.at_least(1).shape
    (250,)
    """
    seed = seed_of(rng)
    seeds = dict(zip(PARTS, copied(seed).spawn(len(PARTS)), strict=True))
    streams = {part: np.random.default_rng(each) for part, each in seeds.items()}
    pool = _pools(setting, streams["pool"])
    level = _levels(setting, pool, streams)
    effect = setting.topic_effect * streams["effects"].standard_normal(setting.n_topics)
    items = _all_items(setting)
    in_pool = np.flatnonzero(pool)
    pairs = pairs_of(setting.pattern, items.topic[in_pool], len(setting.assessors), rng=streams["pattern"])
    labelled = np.bincount(pairs[0], minlength=len(in_pool)) > 0
    truth = _truth(setting, items, level, in_pool[labelled], effect)
    rows = (in_pool[pairs[0]], _bytewise_places(setting)[pairs[1]])
    judgments = judgments_of(truth, rows, streams=_assessor_streams(setting, seeds["assessors"]))
    return Collection(setting, seed, judgments, _runs(setting, truth, seeds["systems"]), truth)


def _check_scale(scale: Scale) -> None:
    if len(scale) < 2 or not scale.ordered:
        raise SettingError(
            f"the scale {scale} has no two levels in order, so nothing is more relevant",
            hint='use an ordered scale, such as "0<1<2<3"',
        )


def _check_prevalence(prevalence: tuple[float, ...] | None, scale: Scale) -> None:
    if prevalence is None:
        return
    if len(prevalence) != len(scale):
        raise SettingError(
            f"{counted(len(prevalence), 'prevalence')} for the {counted(len(scale), 'level')} of the scale {scale}"
        )
    if not all(share >= 0 for share in prevalence) or abs(sum(prevalence) - 1) > _SUM:
        shown = " + ".join(f"{share:g}" for share in prevalence)
        raise SettingError(
            f"the prevalences {shown} sum to {sum(prevalence):g}",
            hint="they are the probabilities of the true levels: none negative, all together 1",
        )


def _check_assessors(assessors: tuple[Assessor, ...], n_levels: int) -> None:
    if not assessors:
        raise SettingError("there are no assessors", hint='add some: parse_assessors("3*careful, strict")')
    names = [assessor.name for assessor in assessors]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"two assessors are named {name!r}", hint="give each a name of its own")
    for assessor in assessors:
        assessor.confusion(n_levels)


def _pools(setting: Synthetic, rng: np.random.Generator) -> Bools:
    """Draw which documents of each topic are in its pool -> (topic, doc)."""
    n_docs = setting.docs_per_topic + setting.n_unjudged
    pool = np.tile(np.arange(n_docs) < setting.docs_per_topic, (setting.n_topics, 1))
    return rng.permuted(pool, axis=1) if setting.n_unjudged else pool


def _levels(setting: Synthetic, pool: Bools, streams: dict[str, np.random.Generator]) -> Codes:
    """Draw true levels; pool (topic, doc) -> (topic x doc,)."""
    inside = _prevalences(setting, streams["prevalences"])
    outside = setting.missed * inside
    outside[:, 0] += 1 - setting.missed
    p = np.stack([outside, inside], axis=1)
    cell = (2 * np.arange(setting.n_topics)[:, None] + pool).ravel()
    return drawn(p.reshape(-1, p.shape[-1]), cell, streams["levels"])


def _prevalences(setting: Synthetic, rng: np.random.Generator) -> Floats:
    """Draw each topic's probabilities of the levels -> (topic, level)."""
    mean = setting.level_probabilities
    p = np.tile(mean, (setting.n_topics, 1))
    if np.isfinite(setting.concentration):
        p[:, mean > 0] = rng.dirichlet(setting.concentration * mean[mean > 0], size=setting.n_topics)
    return p


def _all_items(setting: Synthetic) -> Items:
    """Name every document of every topic: topics 1, 2, ..., and for each documents d0001, d0002, ..."""
    n_docs = setting.docs_per_topic + setting.n_unjudged
    width = max(len(str(n_docs)), 4)
    docs = Ids.of(f"d{n:0{width}d}" for n in range(1, n_docs + 1))
    return Items(
        Ids.of(str(n) for n in range(1, setting.n_topics + 1)),
        np.repeat(np.arange(setting.n_topics, dtype=np.int32), n_docs),
        docs.take(np.tile(np.arange(n_docs, dtype=np.int32), setting.n_topics)),
    )


def _bytewise_places(setting: Synthetic) -> Ints:
    """Place of each assessor among all, by the bytes of their names -> (assessor,)."""
    names = [as_bytes(assessor.name) for assessor in setting.assessors]
    return np.argsort(np.array(sorted(range(len(names)), key=names.__getitem__)))


def _truth(setting: Synthetic, items: Items, level: Codes, judged: Ints, effect: Floats) -> Truth:
    assessors = sorted(setting.assessors, key=lambda assessor: as_bytes(assessor.name))
    return Truth(
        scale=setting.scale,
        items=items,
        level=level,
        judged=judged,
        prevalence=setting.level_probabilities,
        effect=effect,
        assessors=tuple(assessor.name for assessor in assessors),
        weight=np.array([assessor.weight for assessor in assessors]),
        confusion=np.array([assessor.confusion(len(setting.scale)) for assessor in assessors]),
        systems=setting.systems.names,
        quality=np.array(setting.systems.quality),
    )


def _assessor_streams(setting: Synthetic, seed: np.random.SeedSequence) -> list[np.random.Generator]:
    """One stream per assessor, by position in the setting; in bytewise order of the names."""
    streams = [np.random.default_rng(each) for each in seed.spawn(len(setting.assessors))]
    return [streams[n] for n in np.argsort(_bytewise_places(setting))]


def _runs(setting: Synthetic, truth: Truth, seed: np.random.SeedSequence) -> Runs:
    n_docs = len(truth.items) // setting.n_topics
    worth = truth.level.reshape(-1, n_docs) / (len(truth.scale) - 1)
    corpus = Corpus(truth.topics, truth.items.doc[:n_docs], worth)
    streams = [np.random.default_rng(each) for each in seed.spawn(len(truth.systems))]
    return Runs(tuple(run_of(setting.systems, n, corpus, rng=rng) for n, rng in enumerate(streams)))
