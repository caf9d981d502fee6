r"""Perceived relevance: true relevance as each assessor sees it, cut into any number of grades.

The generator of Chu et al. (2021), "Evaluating Relevance Judgments with Pairwise Discriminative Power", CIKM,
doi:10.1145/3459637.3482428, Section 4.1.  For document d of topic q and assessor u

    alpha_q, beta_q ~ U(shape)                          the topic's own shape             ``Block.shape``
    r_dq            ~ Beta(alpha_q, beta_q)             true relevance, in [0, 1]         ``Block.relevance``
    sigma_u         ~ U(sigma)                          how much the assessor errs        ``Quality.sigma``
    w_dqu           ~ U(spread)                         how much more on this annotation
    perceived_dqu   = r_dq + sigma_u (e_1 + exp(w_dqu) e_2)      Eq. (15)                 ``Block.perceived``
    grade g  if perceived is in [g/G, (g+1)/G), the top one with its upper end            ``graded``

e_1 and e_2 are standard normal.  Topics come in batches (the paper's Y); each has assessors of its own, who share one
sigma if ``alike``, so that sigma is the annotation quality of the batch.

Where the paper is silent: perceived relevance is clipped to [0, 1]; e_1 is drawn for every annotation, or, as an
option, once for each assessor, who then leans one way throughout.

Preferences: the paper's are free of noise, left better if and only if r_left > r_right.  Here somebody sees both
documents with normal noise of their own, of standard deviation nu (``preference_noise``) for each, and calls a tie what
differs by at most tau (``tie_threshold``).  nu = tau = 0 is the paper's.  What is compared is not clipped.

Every quantity draws from a stream of its own, and so does every assessor.  So more topics change none of the earlier
ones; more assessors, noisier preferences or another number of grades change no true relevance; and the size of the
blocks in which topics are drawn changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from venire.checks import need_at_least
from venire.errors import SettingError, known_names
from venire.randomness import copied, seed_of
from venire.simulation.systems import Systems
from venire.types import Codes, Floats, RNGLike

PARTS = ("quality", "leaning", "topics", "relevance", "annotations", "pairs", "preferences", "systems")  # new ones last
NOISE = ("annotation", "assessor")
NO_SYSTEMS = Systems(quality=())
CELLS = 2**20
"""Numbers in the largest array of a block, about."""


@dataclass(frozen=True, kw_only=True)
class PerceivedRelevance:
    """What collection to make; the defaults are the paper's (Section 4.1), in 4 grades.

    Parameters
    ----------
    n_topics, docs_per_topic, n_assessors
        Topics; for each, documents and assessors, all of whom judge all of them.
    n_grades
        Labels of the scale.
    topics_per_batch
        Topics that have the same assessors.
    shape, sigma, spread
        Ranges of the Beta distribution's parameters, of sigma, and of w.
    alike
        Whether the assessors of a batch have the same sigma.
    noise_per
        What e_1 is drawn for: each ``"annotation"``, or each ``"assessor"``.
    preference_noise, tie_threshold
        nu and tau.
    preference_assessors
        Who compare documents side by side, each all of the pairs.
    pairs_per_topic
        Pairs that are compared, drawn for each topic; None: all.
    systems
        Which systems rank the documents, if any.
    """

    n_topics: int = 10_000
    docs_per_topic: int = 5
    n_assessors: int = 15
    n_grades: int = 4
    topics_per_batch: int = 100
    shape: tuple[float, float] = (2.0, 5.0)
    sigma: tuple[float, float] = (0.001, 0.3)
    spread: tuple[float, float] = (-0.5, 0.5)
    alike: bool = True
    noise_per: str = "annotation"
    preference_noise: float = 0.0
    tie_threshold: float = 0.0
    preference_assessors: int = 1
    pairs_per_topic: int | None = None
    systems: Systems = field(default=NO_SYSTEMS)

    def __post_init__(self) -> None:
        for name in ("n_topics", "docs_per_topic", "n_assessors", "topics_per_batch", "preference_assessors"):
            need_at_least(1, name, getattr(self, name))
        need_at_least(2, "n_grades", self.n_grades)
        need_at_least(0, "preference_noise", self.preference_noise)
        need_at_least(0, "tie_threshold", self.tie_threshold)
        if self.pairs_per_topic is not None:
            need_at_least(1, "pairs_per_topic", self.pairs_per_topic)
        for name, least in (("shape", 0.0), ("sigma", 0.0), ("spread", -np.inf)):
            _check_range(name, getattr(self, name), least)
        if not self.shape[0] > 0:
            raise SettingError("shape begins at 0, expected more", hint="the paper's range is 2 to 5")
        if self.noise_per not in NOISE:
            raise SettingError(f"noise_per is {self.noise_per!r}", hint=known_names(self.noise_per, NOISE))

    @property
    def n_batches(self) -> int:
        """How many batches of topics there are; the last may be smaller."""
        return -(-self.n_topics // self.topics_per_batch)

    @property
    def n_pairs(self) -> int:
        """How many pairs of documents are compared for each topic."""
        all_pairs = self.docs_per_topic * (self.docs_per_topic - 1) // 2
        return all_pairs if self.pairs_per_topic is None else min(self.pairs_per_topic, all_pairs)

    @property
    def block_size(self) -> int:
        """How many topics are drawn at once."""
        largest = max(self.docs_per_topic * self.n_assessors, self.n_pairs * self.preference_assessors)
        if self.pairs_per_topic is not None:
            largest = max(largest, self.docs_per_topic * (self.docs_per_topic - 1) // 2)
        return max(CELLS // largest, 1)


@dataclass(frozen=True, eq=False)
class Quality:
    """How well assessors judge, sigma, and how they lean, e_1 (None: not throughout); both (batch, assessor)."""

    sigma: Floats
    leaning: Floats | None


@dataclass(frozen=True, eq=False)
class Block:
    """Topics in a row, the first of them being number ``first``.

    ``shape`` (topic, 2); ``relevance`` (topic, doc); ``perceived`` (topic, doc, assessor); ``left`` and ``right``
    (topic, pair), places of documents; ``strength`` (topic, pair, assessor): 1 left is better, -1 right, 0 a tie.
    """

    first: int
    shape: Floats
    relevance: Floats
    perceived: Floats
    left: Codes
    right: Codes
    strength: Floats


def graded(perceived: Floats, n_grades: int) -> Codes:
    """Cut [0, 1] into grades of equal width: g from g/G to below (g+1)/G, the top one with 1; any shape.  O(n)."""
    grade = np.minimum((perceived * n_grades).astype(np.int32), n_grades - 1)
    grade += (perceived >= (grade + 1) / n_grades) & (grade < n_grades - 1)  # where the product was rounded down
    grade -= perceived < grade / n_grades  # or up
    return grade


def quality_of(setting: PerceivedRelevance, *, rng: RNGLike = 0) -> Quality:
    """Draw how well the assessors of each batch judge; the same ``rng`` goes with the same ``blocks``."""
    seeds = _seeds(rng)
    size = (setting.n_batches, 1 if setting.alike else setting.n_assessors)
    sigma = np.random.default_rng(seeds["quality"]).uniform(*setting.sigma, size=size)
    leaning = None
    if setting.noise_per == "assessor":
        streams = _streams(seeds["leaning"], setting.n_assessors)
        leaning = np.stack([each.standard_normal(setting.n_batches) for each in streams], axis=1)
    return Quality(np.broadcast_to(sigma, (setting.n_batches, setting.n_assessors)), leaning)


def blocks(setting: PerceivedRelevance, *, rng: RNGLike = 0, size: int | None = None) -> Iterator[Block]:
    """Draw a collection, some topics at a time; ``size`` (None: ``setting.block_size``) changes nothing in them.

    Cost: linear in annotations and in preferences; memory, that of one block.  An integer or a SeedSequence as ``rng``
    gives the same blocks again.
    """
    seed = seed_of(rng)
    seeds, quality = _seeds(seed), quality_of(setting, rng=seed)
    topics, relevances, pairs = (np.random.default_rng(seeds[part]) for part in ("topics", "relevance", "pairs"))
    annotators = [_streams(each, 3) for each in copied(seeds["annotations"]).spawn(setting.n_assessors)]
    comparers = _streams(seeds["preferences"], setting.preference_assessors)
    step = setting.block_size if size is None else size
    for first in range(0, setting.n_topics, step):
        n_topics = min(step, setting.n_topics - first)
        shape = topics.uniform(*setting.shape, size=(n_topics, 2))
        relevance = relevances.beta(shape[:, :1], shape[:, 1:], size=(n_topics, setting.docs_per_topic))
        batch = (first + np.arange(n_topics)) // setting.topics_per_batch
        perceived = _perceived(setting, relevance, _of_batches(quality, batch), annotators)
        left, right = _pairs(setting, n_topics, pairs)
        strength = _strengths(setting, relevance, (left, right), comparers)
        yield Block(first, shape, relevance, perceived, left, right, strength)


def _of_batches(quality: Quality, batch: np.ndarray) -> Quality:
    """Look up the batch of each topic -> both (topic, assessor)."""
    return Quality(quality.sigma[batch], None if quality.leaning is None else quality.leaning[batch])


def _perceived(
    setting: PerceivedRelevance, relevance: Floats, quality: Quality, streams: list[list[np.random.Generator]]
) -> Floats:
    """Eq. (15), clipped; relevance (topic, doc), quality (topic, assessor) -> (topic, doc, assessor)."""
    perceived = np.empty((*relevance.shape, setting.n_assessors))
    for number, (first, second, extra) in enumerate(streams):
        leaning = None if quality.leaning is None else quality.leaning[:, number, None]
        noise = first.standard_normal(relevance.shape) if leaning is None else leaning
        noise = noise + np.exp(extra.uniform(*setting.spread, size=relevance.shape)) * second.standard_normal(
            relevance.shape
        )
        perceived[..., number] = relevance + quality.sigma[:, number, None] * noise
    return np.clip(perceived, 0, 1, out=perceived)


def _pairs(setting: PerceivedRelevance, n_topics: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Choose the pairs that are compared -> places of the two documents, both (topic, pair), left < right."""
    left, right = (each.astype(np.int32) for each in np.triu_indices(setting.docs_per_topic, 1))
    if setting.n_pairs == len(left):
        return np.tile(left, (n_topics, 1)), np.tile(right, (n_topics, 1))
    among = rng.random((n_topics, len(left))).argpartition(setting.n_pairs, axis=1)[:, : setting.n_pairs]
    among.sort(axis=1)
    return left[among], right[among]


def _strengths(
    setting: PerceivedRelevance, relevance: Floats, pairs: tuple[Codes, Codes], streams: list[np.random.Generator]
) -> Floats:
    """Compare documents; relevance (topic, doc), pairs (topic, pair) -> (topic, pair, assessor)."""
    left, right = (np.take_along_axis(relevance, each.astype(np.int64), axis=1) for each in pairs)
    strength = np.empty((*left.shape, len(streams)))
    for number, rng in enumerate(streams):
        seen = left - right
        if setting.preference_noise:
            seen = seen + np.sqrt(2) * setting.preference_noise * rng.standard_normal(left.shape)
        strength[..., number] = np.where(np.abs(seen) > setting.tie_threshold, np.sign(seen), 0)
    return strength


def _seeds(rng: RNGLike) -> dict[str, np.random.SeedSequence]:
    return dict(zip(PARTS, copied(seed_of(rng)).spawn(len(PARTS)), strict=True))


def _streams(seed: np.random.SeedSequence, number: int) -> list[np.random.Generator]:
    return [np.random.default_rng(each) for each in copied(seed).spawn(number)]


def _check_range(name: str, ends: tuple[float, float], least: float) -> None:
    low, high = ends
    if not (least <= low <= high < np.inf) or low == -np.inf:
        hint = f"{low:g} twice holds it fixed" if np.isfinite(low) else None
        raise SettingError(f"{name} goes from {low:g} to {high:g}, expected finite numbers, the lower first", hint=hint)
