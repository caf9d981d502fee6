r"""Collections of true levels, which assessors confuse with known probabilities.

Topic t has levels with probabilities p_t ~ Dirichlet(concentration x prevalence); each document of its judged
pool has a true level drawn from p_t, and each document outside the pool one drawn from

    missed p_t(l)  for l > 0,    the remaining probability for l = 0

since a pool misses few relevant documents.  Assessors label the items that the pattern assigns to them
(``venire.simulation.assessors``, ``venire.simulation.assessors``); their confusion depends on the topic's effect
e_t ~ N(0, topic_effect²).  Systems rank all documents, judged or not (``venire.simulation.systems``).

Every part draws from its own stream, spawned from ``rng``: prevalences, pool, levels, effects, pattern, the
labels of each assessor, the run of each system.  So an additional system changes no label and no other run; an
additional assessor, put last, changes no run and, where everyone judges everything, no other label.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from venire.checks import need_at_least, need_share
from venire.data.ids import Category, Ids, as_bytes
from venire.data.judgments import Items, Judgments
from venire.data.runs import Runs
from venire.data.scale import Scale
from venire.errors import SettingError, UnknownName
from venire.randomness import generators, named_seeds, seed_of
from venire.results import Records, Tabular, counted
from venire.simulation.assessors import (
    Assessor,
    Careful,
    Everyone,
    Lazy,
    Lenient,
    Pairs,
    Pattern,
    Strict,
    pairs_of,
    under_effect,
)
from venire.simulation.systems import Corpus, Systems, all_items, runs_of
from venire.types import Bools, Codes, Floats, Ints, RNGLike

PARTS = ("prevalences", "pool", "levels", "effects", "pattern", "assessors", "systems")  # new parts go last
SKEW = 0.35
USUAL_SCALE = Scale.parse("0<1<2<3")
_SUM = 1e-6


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """Parameters of a collection of true levels.

    Parameters
    ----------
    n_topics, docs_per_topic, n_unjudged : number of topics; for each, number of documents in its pool and outside
    scale : ordered labels; a true level is a position on the scale
    prevalence : mean probability of each true level; None: each level .35 times as frequent as the one below
    concentration : concentration of the topics' prevalences around the mean; ``math.inf``: all equal
    missed : frequency of relevant documents outside the pool, as a share of their frequency inside
    assessors : the assessors
    topic_effect : standard deviation of the difficulty of topics; 0: all equal
    pattern : who judges what
    systems : systems that rank the documents

    Examples
    --------
    >>> from venire.simulation.assessors import OnePerItem
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
            message = f"concentration is {self.concentration:g}, expected more than 0"
            raise SettingError(message, hint="math.inf gives all topics the same prevalence")
        need_ordered(self.scale)
        self._check_prevalence()
        if not self.assessors:
            raise SettingError("there are no assessors", hint='add some: parse_assessors("3*careful, strict")')
        for number, assessor in enumerate(self.assessors):
            if assessor.name in (other.name for other in self.assessors[:number]):
                raise SettingError(f"two assessors are named {assessor.name!r}", hint="give each a different name")
            assessor.confusion(len(self.scale))

    def _check_prevalence(self) -> None:
        given, n = self.prevalence, len(self.scale)
        if given is not None and len(given) != n:
            message = f"{counted(len(given), 'prevalence')} for the {counted(n, 'level')} of the scale {self.scale}"
            raise SettingError(message)
        if given is not None and (min(given) < 0 or not abs(sum(given) - 1) <= _SUM):
            message = f"the prevalences {' + '.join(f'{share:g}' for share in given)} sum to {sum(given):g}"
            raise SettingError(message, hint="expected the probabilities of the true levels: not negative, with sum 1")

    @property
    def level_probabilities(self) -> Floats:
        """Mean probability of each true level (level,)."""
        if self.prevalence is not None:
            return np.array(self.prevalence)
        skewed = SKEW ** np.arange(len(self.scale))
        return np.asarray(skewed / skewed.sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class Truth:
    """The truth: levels, the assessors' confusion matrices, the topics' effects and the systems' qualities.

    Parameters
    ----------
    items : every document of every topic, judged or not, by topic and document
    level : true level (item,)
    judged : positions of the judged items: ``level[judged]`` corresponds to ``judgments.items``
    prevalence : mean probability of each true level (level,)
    effect : difficulty of each topic (topic,), 0 on average; topics as in ``items.topics``
    assessors : names, in the order of ``judgments.assessors``, including those who judged nothing
    weight : weight of a topic's effect for each assessor (assessor,)
    confusion : probability of each label at effect 0 (assessor, true level, label)
    systems, quality : names, and latent quality (system,)
    """

    scale: Scale
    items: Items
    level: Codes
    judged: Ints
    prevalence: Floats
    effect: Floats
    assessors: tuple[str, ...]
    weight: Floats
    confusion: Floats
    systems: tuple[str, ...]
    quality: Floats

    @property
    def topics(self) -> Ids:
        """Names of all topics."""
        return self.items.topics

    @property
    def order(self) -> tuple[str, ...]:
        """The systems, best first."""
        return tuple(self.systems[n] for n in np.argsort(-self.quality))

    def as_judgments(self) -> Judgments:
        """Return the true levels of all items as the labels of one assessor, named truth."""
        item = np.arange(len(self.items), dtype=np.int32)
        return Judgments(self.scale, self.items, item, Category.constant("truth", len(item)), self.level)

    def confusion_on(self, assessor: str) -> Floats:
        """Return the probability of each label of an assessor -> (topic, true level, label)."""
        if assessor not in self.assessors:
            raise UnknownName("assessor", assessor, self.assessors)
        number = self.assessors.index(assessor)
        return under_effect(self.confusion[number], self.weight[number] * self.effect, self.prevalence)

    def label_probabilities(self) -> Floats:
        """Return p(label | item) for an assessor drawn at random -> (item, label)."""
        mean = np.mean([self.confusion_on(assessor) for assessor in self.assessors], axis=0)
        return np.asarray(mean[self.items.topic, self.level])

    def at_least(self, label: object) -> Floats:
        """Return p(R | item), R being this label or higher, for an assessor drawn at random -> (item,)."""
        return self.label_probabilities() @ self.scale.at_least(label)


@dataclass(frozen=True, eq=False, repr=False)
class Collection(Tabular):
    """A simulated collection and its truth; ``generate(setting, rng=seed)`` reproduces it."""

    setting: Synthetic
    seed: np.random.SeedSequence
    judgments: Judgments
    runs: Runs
    truth: Truth

    def sentence(self) -> str:
        """Summarise the collection in one line."""
        return f"{self.judgments.sentence()}; {counted(len(self.runs.sources), 'system')}"

    def records(self) -> Records:
        """Return one row per system, best first, with its true quality."""
        quality = dict(zip(self.truth.systems, self.truth.quality.tolist(), strict=True))
        return [{"system": name, "quality": quality[name]} for name in self.truth.order]

    def __repr__(self) -> str:
        return f"<Collection: {self.sentence()}>"


def generate(setting: Synthetic, *, rng: RNGLike = 0) -> Collection:
    """Simulate a collection of true levels; the same setting and rng give the same collection.

    A Generator is advanced by each call; an integer or a SeedSequence is not.
    Cost: linear in labels and documents, times the log of a topic's documents for each system.

    The labels of two assessors depend on each other only through the true level and the topic's effect.  Do not
    use this generator to study errors that assessors share, such as those caused by a misleading title.

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
    seeds = named_seeds(seed, PARTS)
    streams = {part: np.random.default_rng(each) for part, each in seeds.items()}
    n_docs = setting.docs_per_topic + setting.n_unjudged
    pool = np.tile(np.arange(n_docs) < setting.docs_per_topic, (setting.n_topics, 1))  # (topic, doc)
    pool = streams["pool"].permuted(pool, axis=1) if setting.n_unjudged else pool
    level = _levels(setting, pool, streams)
    effect = setting.topic_effect * streams["effects"].standard_normal(setting.n_topics)
    items = all_items(setting.n_topics, n_docs)
    in_pool = np.flatnonzero(pool)
    pairs = pairs_of(setting.pattern, items.topic[in_pool], len(setting.assessors), rng=streams["pattern"])
    labelled = np.bincount(pairs[0], minlength=len(in_pool)) > 0
    assessors = sorted(setting.assessors, key=lambda assessor: as_bytes(assessor.name))
    truth = Truth(
        scale=setting.scale,
        items=items,
        level=level,
        judged=in_pool[labelled],
        prevalence=setting.level_probabilities,
        effect=effect,
        assessors=tuple(assessor.name for assessor in assessors),
        weight=np.array([assessor.weight for assessor in assessors]),
        confusion=np.array([assessor.confusion(len(setting.scale)) for assessor in assessors]),
        systems=setting.systems.names,
        quality=np.array(setting.systems.quality),
    )
    place = [truth.assessors.index(assessor.name) for assessor in setting.assessors]
    streams_of = dict(zip(place, generators(seeds["assessors"], len(place)), strict=True))
    rows = (in_pool[pairs[0]], np.array(place)[pairs[1]])
    judgments = judgments_of(truth, rows, streams=[streams_of[n] for n in range(len(place))])
    corpus = Corpus(truth.topics, items.doc[: pool.shape[1]], level.reshape(pool.shape) / (len(setting.scale) - 1))
    return Collection(setting, seed, judgments, runs_of(setting.systems, corpus, seeds["systems"]), truth)


def need_ordered(scale: Scale) -> None:
    """Refuse a scale with fewer than two levels, or without an order."""
    if len(scale) < 2 or not scale.ordered:
        message = f"the scale {scale} has no two levels in order"
        raise SettingError(message, hint='use an ordered scale, such as "0<1<2<3"')


def _levels(setting: Synthetic, pool: Bools, streams: dict[str, np.random.Generator]) -> Codes:
    """Draw true levels; pool (topic, doc) -> (topic x doc,)."""
    mean = setting.level_probabilities
    inside = np.tile(mean, (setting.n_topics, 1))
    if np.isfinite(setting.concentration):
        concentration = setting.concentration * mean[mean > 0]
        inside[:, mean > 0] = streams["prevalences"].dirichlet(concentration, size=setting.n_topics)
    outside = setting.missed * inside
    outside[:, 0] += 1 - setting.missed
    p = np.stack([outside, inside], axis=1)
    cell = (2 * np.arange(setting.n_topics)[:, None] + pool).ravel()
    return drawn(p.reshape(-1, p.shape[-1]), cell, streams["levels"])


def judgments_of(truth: Truth, rows: Pairs, *, streams: list[np.random.Generator]) -> Judgments:
    """Draw labels for rows of (item of the truth, assessor), sorted by item and assessor."""
    item, assessor = np.divmod(np.sort(rows[0] * len(truth.assessors) + rows[1]), len(truth.assessors))
    names = Category(assessor.astype(np.int32), Ids.of(truth.assessors)).take(np.arange(len(assessor)))
    number = np.zeros(len(truth.items), dtype=np.int32)
    number[truth.judged] = np.arange(len(truth.judged))
    topic = Category(truth.items.topic, truth.items.topics).take(truth.judged)
    items = Items(topic.names, topic.codes, truth.items.doc.take(truth.judged))
    return Judgments(truth.scale, items, number[item], names, _labels(truth, item, assessor, streams))


def _labels(truth: Truth, item: Ints, assessor: Ints, streams: list[np.random.Generator]) -> Codes:
    """Draw labels (row,), each assessor's from their own stream."""
    n_levels = len(truth.scale)
    label = np.empty(len(item), dtype=np.int32)
    by_assessor = np.argsort(assessor.astype(np.int16) if len(streams) < 2**15 else assessor, kind="stable")
    ends = np.bincount(assessor, minlength=len(streams)).cumsum()
    cell = truth.items.topic.astype(np.int64) * n_levels + truth.level
    for rows, name, rng in zip(np.split(by_assessor, ends[:-1]), truth.assessors, streams, strict=True):
        p = truth.confusion_on(name).reshape(-1, n_levels)
        label[rows] = drawn(p, cell[item[rows]], rng)
    return label


def drawn(p: Floats, cell: Ints, rng: np.random.Generator) -> Codes:
    """Draw a level for every row with the probabilities of its cell; p (cell, level), cell (row,) -> (row,)."""
    cumulative = p.cumsum(axis=1)
    cumulative /= cumulative[:, -1:]
    u = rng.random(len(cell))
    level = np.zeros(len(cell), dtype=np.int32)
    for threshold in cumulative.T[:-1]:
        level += u >= threshold[cell]
    return level
