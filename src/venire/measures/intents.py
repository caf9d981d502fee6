r"""Measures by intent: novelty and diversity of rankings, and nuggets in answers.

An intent i of a topic has the probability :math:`p_i`, by default 1 / M for each of the M intents that have a relevant
document, as in ndeval.  With :math:`g_{ir}` the relevance of the document at rank r for intent i (0 or 1, or the
probability of relevance), and a user who tires of an intent that was met before:

.. math::
    \sum_i p_i\, n_i, \qquad n_i = \sum_{r \le k} c(r)\, g_{ir} \prod_{j<r} (1 - \alpha g_{ij})

with c(r) = 1 / log2(r + 1) for alpha-DCG (Clarke et al. 2008, doi:10.1145/1390334.1390446), 1 / r for ERR-IA (Chapelle
et al. 2009, doi:10.1145/1645953.1646033, with the redundancy of alpha-DCG as in Clarke et al. 2011,
doi:10.1145/1935826.1935847), and beta^(r-1) for NRBP (Clarke et al. 2009, doi:10.1007/978-3-642-04417-5_17).  These
three are divided by the value of a ranking in which every document meets every intent, as ndeval does; alpha-nDCG,
nERR-IA and nNRBP by that of the *greedy ideal*: at each rank the document that adds most to :math:`\sum_i p_i g_i s_i`,
with :math:`s_i` what is left of intent i; of equal ones, that whose name comes last, as in ndeval.  The best order is
NP-hard to find; where the greedy one is not the best, a ranking may score above 1.

StRecall is the share of intents that a relevant document was found for (Zhai et al. 2003, doi:10.1145/860435.860440;
I-rec at NTCIR); P-IA and AP-IA are means over intents (Agrawal et al. 2009, doi:10.1145/1498759.1498766).

D-nDCG is nDCG with the global gain :math:`\sum_i p_i g_{ir}` of graded labels (Sakai and Song 2011,
doi:10.1145/2009916.2010055), which is the sum above with alpha = 0, so that the greedy ideal is exact; and

.. math:: D\sharp\text{-}nDCG@k = \gamma\, \text{I-rec}@k + (1 - \gamma)\, D\text{-}nDCG@k

Nuggets of an answer are intents that one document, the answer, meets or not (Pradeep et al. 2024,
doi:10.48550/arXiv.2411.09607, Section 3.5): the mean support over vital nuggets, over all, or over all with a weight of
1/2 for those that are not vital. Support is the gain of the label as a share of the highest, so that partial support
counts 1/2, or the probability of support where gains are probabilities; where it is ``strict``, 1 for the highest label
and nothing for others. All nuggets count that were judged, those that no answer supports too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from venire.data.gains import Gains
from venire.data.judgments import Intents, Items
from venire.errors import GainsError, MeasureError
from venire.measures.cascade import none_before
from venire.measures.measure import BinaryMeasure, Measure, Ranked, Worth, require_ideal, share
from venire.measures.precision import any_relevant, precisions
from venire.types import Bools, Floats, Ints

NEGLIGIBLE = 1e-12
"""A weight of ranks below which NRBP ignores them in its ideal."""


@dataclass(frozen=True)
class IntentMeasure(Measure):
    """A weighted mean over intents of what ``_score`` gives for the documents of each; perhaps a share of the ideal."""

    by_intent: ClassVar[bool] = True
    weighted: ClassVar[bool] = True
    """Whether intents count by their probabilities; else they count alike."""
    needs_cutoff: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Require a cut-off."""
        super().__post_init__()
        if self.needs_cutoff and self.k is None:
            raise MeasureError(f"{type(self).__name__} needs a cut-off", hint=f"write {type(self).__name__}@10")

    @property
    def best_depth(self) -> int | None:
        """The cut-off: relevant documents of an intent count no deeper in the ideal either."""
        return self.k

    @property
    def parts(self) -> tuple[tuple[float, IntentMeasure], ...]:
        """The measures whose weighted sum it is."""
        return ((1.0, self),)

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the sum of the gains of all documents for an intent -> (judge, need)."""
        return best.gains.sum(axis=-1)

    def need_weights(self, intents: Intents, gained: Bools, judged: Bools) -> Floats:  # noqa: ARG002 - of nuggets
        """Weight of each need; gained, judged: whether the judge found, or has a label for it -> (judge, need)."""
        return np.where(gained, intents.weight if self.weighted else 1.0, 0.0)

    @property
    def redundancy(self) -> float | None:
        """The alpha of the greedy ideal that it is a share of; None: of no ideal."""
        return None

    @property
    def ideal_depth(self) -> int:
        """How many ranks of the ideal count."""
        return self.k or 0

    def of_ideal(self, gains: Floats) -> Floats:
        """Return the value of gains at the ranks of the ideal (judge, topic, rank) -> (judge, topic)."""
        shown = gains[..., : self.ideal_depth]
        return np.asarray(shown @ self.weights(np.arange(1, shown.shape[-1] + 1)))


@dataclass(frozen=True)
class Novelty(IntentMeasure, BinaryMeasure):
    """What the measures with a redundancy ``alpha`` share: each names the weight of a rank, ``weights``."""

    alpha: float = 0.5

    def __post_init__(self) -> None:
        """Check the redundancy."""
        super().__post_init__()
        if not 0 <= self.alpha <= 1:
            message = f"{type(self).__name__}: alpha is {self.alpha}, expected a number from 0 to 1"
            raise MeasureError(message, hint="with 0 repetition costs nothing; 0.5 is usual")

    def weights(self, rank: Ints) -> Floats:
        """1 / log2(rank + 1)."""
        return 1 / np.log2(rank + 1.0)

    def _score(self, seen: Ranked) -> Floats:
        left = none_before(self.alpha * seen.gains)
        total = (left * seen.gains * self.weights(seen.rank)).sum(axis=-1)
        return total if self.redundancy is not None else total / self._of_every_intent()

    def _of_every_intent(self) -> float:
        """Return the value for an intent that all documents meet."""
        rank = np.arange(1, (self.k or 0) + 1)
        return float((self.weights(rank) * (1 - self.alpha) ** (rank - 1.0)).sum())


@dataclass(frozen=True)
class GreedyShare(Novelty):
    """A measure as a share of its value for the greedy ideal."""

    @property
    def redundancy(self) -> float:
        """The redundancy of the measure."""
        return self.alpha


@dataclass(frozen=True)
class alpha_DCG(Novelty):  # noqa: N801 - the field's spelling
    """Discounted gain over intents, less for intents that were met before; 1 where all documents meet all intents."""


@dataclass(frozen=True)
class alpha_nDCG(GreedyShare):  # noqa: N801 - the field's spelling
    """alpha-DCG as a share of that of the greedy ideal."""


@dataclass(frozen=True)
class ERR_IA(Novelty):  # noqa: N801 - the field's spelling
    """Intent-aware expected reciprocal rank; 1 where all documents meet all intents."""

    def weights(self, rank: Ints) -> Floats:
        """1 / rank."""
        return 1.0 / rank


@dataclass(frozen=True)
class nERR_IA(GreedyShare, ERR_IA):  # noqa: N801 - the field's spelling
    """ERR-IA as a share of that of the greedy ideal."""


@dataclass(frozen=True)
class NRBP(Novelty):
    """Novelty- and rank-biased precision; beta: the probability of reading on."""

    needs_cutoff: ClassVar[bool] = False
    beta: float = 0.5

    def __post_init__(self) -> None:
        """Check the persistence."""
        super().__post_init__()
        if not 0 < self.beta < 1:
            raise MeasureError(f"NRBP: beta is {self.beta}, expected a probability strictly between 0 and 1")

    def weights(self, rank: Ints) -> Floats:
        """beta^(rank - 1)."""
        return np.power(self.beta, rank - 1.0)

    @property
    def ideal_depth(self) -> int:
        """The cut-off, or how many ranks it takes until what follows is negligible."""
        return self.k or int(np.ceil(np.log(NEGLIGIBLE) / np.log(self.beta)))

    @property
    def best_depth(self) -> int:
        """How many ranks of the ideal count."""
        return self.ideal_depth

    def _of_every_intent(self) -> float:
        return 1 / (1 - (1 - self.alpha) * self.beta)


@dataclass(frozen=True)
class nNRBP(GreedyShare, NRBP):  # noqa: N801 - the field's spelling
    """NRBP as a share of that of the greedy ideal."""


@dataclass(frozen=True)
class StRecall(IntentMeasure, BinaryMeasure):
    """Subtopic recall: the share of intents that have a relevant document among the first k."""

    weighted: ClassVar[bool] = False
    needs_cutoff: ClassVar[bool] = False

    def _score(self, seen: Ranked) -> Floats:
        return any_relevant(seen.gains)


@dataclass(frozen=True)
class P_IA(IntentMeasure, BinaryMeasure):  # noqa: N801 - the field's spelling
    """Intent-aware precision: the mean over intents of the precision at k."""

    def _score(self, seen: Ranked) -> Floats:
        return seen.gains.sum(axis=-1) / float(self.k or 1)


@dataclass(frozen=True)
class AP_IA(IntentMeasure, BinaryMeasure):  # noqa: N801 - the field's spelling
    """Intent-aware average precision: the mean over intents of average precision."""

    needs_cutoff: ClassVar[bool] = False

    @property
    def best_depth(self) -> None:
        """All relevant documents of an intent count."""
        return None

    def _score(self, seen: Ranked) -> Floats:
        return share(precisions(seen.gains, seen.rank), require_ideal(seen))


@dataclass(frozen=True)
class D_nDCG(IntentMeasure):  # noqa: N801 - the field's spelling
    """nDCG with the expected gain over intents."""

    def weights(self, rank: Ints) -> Floats:
        """1 / log2(rank + 1)."""
        return 1 / np.log2(rank + 1.0)

    def _score(self, seen: Ranked) -> Floats:
        return (seen.gains * self.weights(seen.rank)).sum(axis=-1)

    @property
    def redundancy(self) -> float:
        """Repetition costs nothing, so that the ideal sorts by global gain."""
        return 0.0


@dataclass(frozen=True)
class IntentsFound(IntentMeasure):
    """The share of intents that have a document with a gain among the first k: I-rec, as a part of D#-nDCG."""

    weighted: ClassVar[bool] = False

    def _score(self, seen: Ranked) -> Floats:
        return np.asarray((seen.gains > 0).any(axis=-1), dtype=np.float64)


@dataclass(frozen=True)
class Dsharp_nDCG(IntentMeasure):  # noqa: N801 - the field's spelling
    """D#-nDCG: gamma I-rec + (1 - gamma) D-nDCG."""

    gamma: float = 0.5

    def __post_init__(self) -> None:
        """Check the weight."""
        super().__post_init__()
        if not 0 <= self.gamma <= 1:
            raise MeasureError(f"Dsharp_nDCG: gamma is {self.gamma}, expected a weight from 0 to 1")

    @property
    def parts(self) -> tuple[tuple[float, IntentMeasure], ...]:
        """I-rec and D-nDCG."""
        return (self.gamma, IntentsFound(self.k)), (1 - self.gamma, D_nDCG(self.k))

    def _score(self, seen: Ranked) -> Floats:
        (of_found, found), (of_gain, gained) = self.parts
        return np.asarray(of_found * found._score(seen) + of_gain * gained._score(seen))


@dataclass(frozen=True)
class AllScore(IntentMeasure):
    """Nugget recall: the mean support of all nuggets; with ``strict``, the share of nuggets fully supported."""

    strict: bool = False
    needs_cutoff: ClassVar[bool] = False

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Gain of each label as a share of the highest, or a probability; with ``strict``, 1 for the highest label."""
        top = float(gains.values.max(initial=0.0))
        if top <= 0:
            raise GainsError(f"{self} needs a label with a gain above 0", hint=f"found {gains!r}")
        if not self.strict:
            return Worth(gains.values if gains.unit else gains.values / top, unjudged)
        highest = len(gains.values) - 1 if gains.scale.ordered else int(gains.values.argmax())
        return Worth(np.eye(len(gains.values))[highest], unjudged)

    def need_weights(self, intents: Intents, gained: Bools, judged: Bools) -> Floats:  # noqa: ARG002 - not gained
        """Return the weight of each nugget that was judged."""
        return np.where(judged, self._importance(intents.weight), 0.0)

    def _importance(self, weight: Floats) -> Floats:
        return np.ones_like(weight)

    def _score(self, seen: Ranked) -> Floats:
        return np.asarray(seen.gains.max(axis=-1, initial=0.0))


@dataclass(frozen=True)
class VitalScore(AllScore):
    """Recall of vital nuggets, those of weight 1."""

    def _importance(self, weight: Floats) -> Floats:
        return (weight >= 1).astype(np.float64)


@dataclass(frozen=True)
class WeightedScore(AllScore):
    """Nugget recall with the weights of nuggets: 1 for vital ones, 1/2 for others."""

    def _importance(self, weight: Floats) -> Floats:
        return weight


def item_shares(items: Items, measure: Measure) -> Floats:
    """Return what an item counts for beside those of its document: the share of its intent, as weighted -> (item,).

    It is 1 for a document that is judged for no intents.
    """
    intents = items.intents
    if intents is None or not isinstance(measure, IntentMeasure):
        return np.ones(len(items))
    every = np.ones((1, len(intents.topic)), dtype=np.bool_)
    weight = measure.need_weights(intents, every, every)[0]
    total = np.bincount(intents.topic, weights=weight).astype(np.float64)[intents.topic]
    return share(weight, total)[intents.need]


def greedy_gains(gains: Floats, intents: Intents, weight: Floats, *, alpha: float, k: int) -> Floats:
    """Order documents greedily: what the ideal adds at each rank -> (judge, topic, rank).

    gains (judge, item), weight (judge, need).  At each rank, each topic takes the document of the highest
    sum over intents of weight x gain x what is left of the intent, the last in name of equal ones.
    Cost: O(k x judges x items with gain), memory O(judges x items with gain).
    """
    n_topics = len(intents.documents.topics)
    kept = np.flatnonzero((gains > 0).any(axis=0))
    found = np.zeros((len(gains), n_topics, k))
    if not len(kept):
        return found
    gains, need, document = gains[:, kept], intents.need[kept], intents.document[kept]
    start = np.flatnonzero(np.diff(document, prepend=-1))
    topic = intents.documents.topic[document[start]]
    first, n_items = np.flatnonzero(np.diff(topic, prepend=-1)), len(start)
    owner = np.repeat(np.arange(n_items), np.diff(np.append(start, len(kept))))
    block = np.repeat(np.arange(len(first)), np.diff(np.append(first, n_items)))
    worth, used = gains * weight[:, need], np.zeros((len(gains), n_items), dtype=np.bool_)
    left, place = np.ones_like(weight), np.arange(n_items)
    for rank in range(k):
        value = _added(worth * left[:, need], owner, n_items)
        value[used] = -1.0
        best = np.maximum.reduceat(value, first, axis=1)
        found[:, topic[first], rank] = np.maximum(best, 0.0)
        taken = np.maximum.reduceat(np.where(value == best[:, block], place, -1), first, axis=1)
        if (best <= 0).all():
            break
        np.put_along_axis(used, taken, values=True, axis=1)
        chosen = np.take_along_axis(taken, np.broadcast_to(block[owner], gains.shape), axis=1) == owner
        judge, cell = np.nonzero(chosen)
        left[judge, need[cell]] *= 1 - alpha * gains[judge, cell]
    return found


def _added(values: Floats, group: Ints, n_groups: int) -> Floats:
    """Sum values of each group one after another -> (judge, group).

    The last digit decides between documents that are equal but for rounding, so that the order is that of ndeval.
    """
    place = np.arange(len(values))[:, None] * n_groups + group
    total = np.bincount(place.ravel(), weights=values.ravel(), minlength=len(values) * n_groups)
    return total.reshape(len(values), n_groups).astype(np.float64)
