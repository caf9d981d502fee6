r"""Collections of perceived relevance: true relevance with each assessor's noise, divided into any number of grades.

The generator of Chu et al. (2021), "Evaluating Relevance Judgments with Pairwise Discriminative Power", CIKM,
doi:10.1145/3459637.3482428, Section 4.1.  For document d of topic q and assessor u

    alpha_q, beta_q ~ U(shape)                          shape of the topic                ``shape``
    r_dq            ~ Beta(alpha_q, beta_q)             true relevance, in [0, 1]         ``relevance``
    sigma_u         ~ U(sigma)                          noise of the assessor             ``sigma``
    w_dqu           ~ U(spread)                         additional noise of the annotation
    perceived_dqu   = r_dq + sigma_u (e_1 + exp(w_dqu) e_2)      Eq. (15)                 ``perceived``
    grade g  if perceived is in [g/G, (g+1)/G), the top one with its upper end            ``graded``

e_1 and e_2 are standard normal.  Topics are divided into batches (the paper's Y), each with different assessors; with
``alike`` these have the same sigma, which is then the annotation quality of the batch.

Not stated in the paper: perceived relevance is clipped to [0, 1]; e_1 is drawn for every annotation or, optionally,
once for each assessor, who is then biased in one direction.

Preferences: those of the paper have no noise, left is better if and only if r_left > r_right.  Here an assessor
perceives each of the two documents with normal noise of standard deviation nu (``preference_noise``), not clipped, and
calls a difference of at most tau (``tie_threshold``) a tie.  The paper has nu = tau = 0.

Every quantity and every assessor draws from its own stream.  So more topics do not change the earlier ones, and more
assessors, noisier preferences or another number of grades do not change true relevance.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from venire.checks import need_at_least
from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.data.preferences import Preferences
from venire.data.runs import Runs
from venire.data.scale import Scale
from venire.errors import SettingError, known_names
from venire.randomness import copied, generators, named_seeds, seed_of
from venire.results import Records, Tabular, counted
from venire.simulation.systems import Corpus, Systems, all_items, doc_names, numbered, runs_of
from venire.types import Codes, Floats, RNGLike

PARTS = ("quality", "leaning", "topics", "relevance", "annotations", "pairs", "preferences", "systems")  # new ones last
NOISE = ("annotation", "assessor")
NO_SYSTEMS = Systems(quality=())


@dataclass(frozen=True, kw_only=True)
class PerceivedRelevance:
    """Parameters of a collection of perceived relevance; the defaults are the paper's (Section 4.1), with 4 grades.

    Parameters
    ----------
    n_topics, docs_per_topic, n_assessors : number of topics; for each, number of documents and of assessors, who judge
        all of them
    n_grades : number of labels of the scale
    topics_per_batch : number of topics with the same assessors
    shape, sigma, spread : ranges of the Beta distribution's parameters, of sigma, and of w
    alike : whether the assessors of a batch have the same sigma
    noise_per : unit for which e_1 is drawn: ``"annotation"`` or ``"assessor"``
    preference_noise, tie_threshold : nu and tau
    preference_assessors : number of assessors who compare documents side by side, each all pairs
    pairs_per_topic : number of pairs compared, drawn for each topic; None: all
    systems : systems that rank the documents, if any
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
        for name in ("preference_noise", "tie_threshold"):
            need_at_least(0, name, getattr(self, name))
        if self.pairs_per_topic is not None:
            need_at_least(1, "pairs_per_topic", self.pairs_per_topic)
        for name, least in (("shape", 0.0), ("sigma", 0.0), ("spread", -np.inf)):
            low, high = getattr(self, name)
            if not (least <= low <= high < np.inf) or low == -np.inf:
                message = f"{name} goes from {low:g} to {high:g}, expected finite numbers, the lower first"
                raise SettingError(message, hint="use a number twice for a constant")
        if not self.shape[0] > 0:
            raise SettingError("shape begins at 0, expected more", hint="the paper's range is 2 to 5")
        if self.noise_per not in NOISE:
            raise SettingError(f"noise_per is {self.noise_per!r}", hint=known_names(self.noise_per, NOISE))

    @property
    def n_batches(self) -> int:
        """Number of batches of topics; the last may be smaller."""
        return -(-self.n_topics // self.topics_per_batch)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of documents compared for each topic."""
        all_pairs = self.docs_per_topic * (self.docs_per_topic - 1) // 2
        return all_pairs if self.pairs_per_topic is None else min(self.pairs_per_topic, all_pairs)


def graded(perceived: Floats, n_grades: int) -> Codes:
    """Divide [0, 1] into grades of equal width: g from g/G to below (g+1)/G, the top one with 1; any shape.  O(n)."""
    grade = np.minimum((perceived * n_grades).astype(np.int32), n_grades - 1)
    grade += (perceived >= (grade + 1) / n_grades) & (grade < n_grades - 1)  # where the product was rounded down
    grade -= perceived < grade / n_grades  # or up
    return grade


@dataclass(frozen=True, eq=False, repr=False)
class PerceivedCollection(Tabular):
    """A simulated collection and its truth; ``generate_perceived(setting, rng=seed)`` reproduces it.

    Parameters
    ----------
    judgments : labels in the grades of the setting; ``at(n)`` returns the labels in n grades
    preferences : pairs of documents of a topic, compared side by side
    shape : parameters of each topic's Beta distribution (topic, 2)
    batch : number of the batch of each topic (topic,)
    sigma : noise of each assessor (batch, assessor)
    relevance : true relevance (item,), items as in ``judgments.items``
    perceived : relevance as perceived by each of the item's assessors (item, assessor)
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
        """Return the judgments in this many grades; all arrays except the labels are shared.  O(labels)."""
        need_at_least(2, "n_grades", n_grades)
        return replace(self.judgments, scale=grades(n_grades), label=graded(self.perceived, n_grades).ravel())

    def __repr__(self) -> str:
        return f"<PerceivedCollection: {self.sentence()}>"

    def sentence(self) -> str:
        """Summarise the collection in one line."""
        text = f"{self.judgments.summary().sentence()}; {counted(len(self.preferences), 'preference')}"
        n_systems = len(self.runs.sources)
        return text + (f"; {counted(n_systems, 'system')}" if n_systems else "")

    def records(self) -> Records:
        """Return one row per system, best first, with its quality."""
        systems = self.setting.systems
        quality = dict(zip(systems.names, systems.quality, strict=True))
        return [{"system": name, "quality": float(quality[name])} for name in systems.best_first]


def grades(n_grades: int) -> Scale:
    """Return the scale 0 < 1 < ... with this number of grades."""
    return Scale(tuple(str(level) for level in range(n_grades)))


def generate_perceived(setting: PerceivedRelevance, *, rng: RNGLike = 0) -> PerceivedCollection:
    """Simulate a collection of perceived relevance; the same setting and rng give the same collection.

    Cost: linear in labels and preferences.

    True relevance is a number, not a level.  For true levels with a known confusion, use ``generate(Synthetic(...))``.

    Examples
    --------
    >>> collection = generate_perceived(PerceivedRelevance(n_topics=20, topics_per_batch=10, n_assessors=3), rng=7)
    >>> collection
    <PerceivedCollection: 300 labels on 100 items of 20 topics by 6 assessors, scale 0<1<2<3; 200 preferences>
    >>> collection.at(7)
    <Judgments: 300 labels on 100 items of 20 topics by 6 assessors, scale 0<1<2<3<4<5<6>
    """
    seed = seed_of(rng)
    seeds = named_seeds(seed, PARTS)
    quality, topics, relevances = (np.random.default_rng(seeds[part]) for part in ("quality", "topics", "relevance"))
    sigma = quality.uniform(*setting.sigma, size=(setting.n_batches, 1 if setting.alike else setting.n_assessors))
    sigma = np.broadcast_to(sigma, (setting.n_batches, setting.n_assessors))
    shape = topics.uniform(*setting.shape, size=(setting.n_topics, 2))
    relevance = relevances.beta(shape[:, :1], shape[:, 1:], size=(setting.n_topics, setting.docs_per_topic))
    perceived = _perceived(setting, relevance, sigma, seeds).reshape(-1, setting.n_assessors)
    items = all_items(*relevance.shape)
    batch = (np.arange(setting.n_topics) // setting.topics_per_batch).astype(np.int32)
    corpus = Corpus(items.topics, doc_names(setting.docs_per_topic), relevance)
    judgments = _judgments(setting, items, batch, perceived)
    preferences = _preferences(setting, relevance, items.topics, seeds)
    runs, truth = (
        runs_of(setting.systems, corpus, seeds["systems"]),
        (shape, batch, sigma, relevance.ravel(), perceived),
    )
    return PerceivedCollection(setting, seed, judgments, preferences, runs, *truth)


def assessor_names(setting: PerceivedRelevance) -> list[str]:
    """Return the names of the assessors, by batch: b001a01, b001a02, ..."""
    within = numbered("a", setting.n_assessors)
    return [batch + name for batch in numbered("b", setting.n_batches) for name in within]


def _judgments(setting: PerceivedRelevance, items: Items, batch: Codes, perceived: Floats) -> Judgments:
    """Return the labels of every item by every assessor of its batch, sorted by item and assessor."""
    n_assessors = setting.n_assessors
    item = np.repeat(np.arange(len(items), dtype=np.int32), n_assessors)
    within_batch = np.tile(np.arange(n_assessors, dtype=np.int32), len(items))
    assessor = batch[items.topic[item]] * np.int32(n_assessors) + within_batch
    names = Category(assessor, Ids.of(assessor_names(setting)))
    return Judgments(grades(setting.n_grades), items, item, names, graded(perceived, setting.n_grades).ravel())


def _perceived(
    setting: PerceivedRelevance, relevance: Floats, sigma: Floats, seeds: dict[str, np.random.SeedSequence]
) -> Floats:
    """Draw Eq. (15), clipped; relevance (topic, doc), sigma (batch, assessor) -> (topic, doc, assessor)."""
    batch = np.arange(setting.n_topics) // setting.topics_per_batch
    biases = generators(seeds["leaning"], setting.n_assessors)
    streams = [generators(each, 3) for each in copied(seeds["annotations"]).spawn(setting.n_assessors)]
    perceived = np.empty((*relevance.shape, setting.n_assessors))
    for number, (first, second, extra) in enumerate(streams):
        if setting.noise_per == "assessor":
            noise = biases[number].standard_normal(setting.n_batches)[batch, None]
        else:
            noise = first.standard_normal(relevance.shape)
        spread = np.exp(extra.uniform(*setting.spread, size=relevance.shape))
        noise = noise + spread * second.standard_normal(relevance.shape)
        perceived[..., number] = relevance + sigma[batch, number, None] * noise
    return np.clip(perceived, 0, 1, out=perceived)


def _preferences(
    setting: PerceivedRelevance, relevance: Floats, topics: Ids, seeds: dict[str, np.random.SeedSequence]
) -> Preferences:
    """Draw comparisons of documents, sorted by topic, pair and assessor; relevance (topic, doc)."""
    left, right = (np.tile(each, (setting.n_topics, 1)) for each in np.triu_indices(setting.docs_per_topic, 1))
    if setting.n_pairs < left.shape[1]:
        order = np.random.default_rng(seeds["pairs"]).random(left.shape).argpartition(setting.n_pairs, axis=1)
        among = np.sort(order[:, : setting.n_pairs], axis=1)
        left, right = (np.take_along_axis(each, among, axis=1) for each in (left, right))
    difference = np.take_along_axis(relevance, left, axis=1) - np.take_along_axis(relevance, right, axis=1)
    n_assessors = setting.preference_assessors
    strength = np.empty((*left.shape, n_assessors))
    for number, rng in enumerate(generators(seeds["preferences"], n_assessors)):
        noise = np.sqrt(2) * setting.preference_noise
        seen = difference + noise * rng.standard_normal(left.shape) if noise else difference
        strength[..., number] = np.where(np.abs(seen) > setting.tie_threshold, np.sign(seen), 0)
    who = np.tile(np.arange(n_assessors, dtype=np.int32), left.size)
    return Preferences(
        topics=topics,
        docs=doc_names(setting.docs_per_topic),
        topic=np.repeat(np.arange(setting.n_topics, dtype=np.int32), setting.n_pairs * n_assessors),
        left=np.repeat(left, n_assessors).astype(np.int32),
        right=np.repeat(right, n_assessors).astype(np.int32),
        assessor=Category(who, Ids.of(numbered("p", n_assessors))),
        strength=strength.ravel(),
    )
