r"""Transitions: matrices from one judge's label to another's, which may vary with the judge and the topic.

T_ij is the probability that the new judge gives j where the old one gave i (Turpin and Scholer 2009 have two labels and
the two agreement rates).  It is estimated from the items that both labelled; as these may be few, each row is shrunk
with the weight of ``PRIOR`` items: to a model of proportional odds fitted on all rows together, or, where labels have
no order or are many, to the new judge's own distribution of labels; and with the weight of one item to the uniform
distribution (Perks 1947, Journal of the Institute of Actuaries 73), since a label not yet seen may be given.  Three
forms, by what may vary:

    fixed          one matrix: rows are drawn from their Dirichlet posterior
    assessors      the judge is one of the assessors, drawn at random, with their own matrix
    hierarchical   assessor a has rows Dirichlet(k_a T_i), a topic of theirs rows Dirichlet(k_t T^a_i); where the new
                   judge has labels, these count for them, and those on a topic for that topic; what the systems that
                   return a document say of it tilts its row (``comparison.tilting``)

The concentrations k have maximum likelihood (Dirichlet-multinomial; Minka 2000) on a grid.

Where several others judged, a document has a difficulty of its own (``leaning``, of the hierarchical form): with n_j
labels j by others on a document that the old judge labelled i, the rows of a draw are multiplied by
(k_d T_ij + n_j) / ((k_d + n) T_ij), and normalised.  On TREC Deep Learning 2021, forecasting language models one by one
from the others lowers the Brier score from .065 to .051 with it.

Proportional odds (McCullagh 1980, doi:10.1111/j.2517-6161.1980.tb01109.x) has L parameters instead of L (L - 1): where
the old judge gave level x, the new one gives at most level j with the odds

.. math:: \mathrm{logit}\, P(\text{new} \le j \mid x) = \theta_j - \beta x, \qquad \beta > 0

The logarithm of the slope has the prior N(-1/2, 1), and the bounds have a weak one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from venire.checks import need_rates
from venire.data.assessors import by_content
from venire.data.judgments import Items, Judgments
from venire.data.label_pairs import pair_up
from venire.data.rejudging import Matrices
from venire.data.scale import Scale
from venire.errors import PairsError, SettingError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.limits import refuse_crowd
from venire.kernels.minimum import minimum
from venire.results import Records, Tabular, counted
from venire.types import Floats

SLOPE, WEAK = -0.5, 0.02
"""Logarithm of the slope that is expected, and the weight of the prior of bounds."""
USUAL_SLOPE, USUAL_BOUND = 0.2, 0.8
"""Log slope of an average language model, and the middle of its bounds: its labels are higher than those of people."""


def proportional_odds(counts: Floats) -> Floats:
    """Fit counts of pairs (old, new) -> matrix (old, new), rows sum to 1.  A few hundred evaluations of a small sum."""
    n_labels = counts.shape[-1]
    start = np.concatenate([[-1.0], np.zeros(n_labels - 2), [SLOPE]])
    return _matrix(minimum(lambda parameters: _cost(parameters, counts), start))


def _cost(parameters: Floats, counts: Floats) -> float:
    """Minus the logarithm of likelihood and prior."""
    *bounds, slope = parameters.tolist()
    prior = WEAK * sum(bound**2 for bound in bounds) + (slope - SLOPE) ** 2 / 2
    return float(prior - (counts * np.log(_matrix(parameters))).sum())


def _matrix(parameters: Floats) -> Floats:
    """Probabilities of new labels given old ones; parameters: first bound, logarithms of steps, of the slope."""
    n_labels = len(parameters)
    exp = np.exp(np.minimum(np.maximum(parameters[1:], -20), 20))
    bounds = np.concatenate([parameters[:1], exp[:-1]]).cumsum()
    level = exp[-1] * (np.arange(n_labels) - (n_labels - 1) / 2)
    edges = np.zeros((n_labels, n_labels + 1))
    edges[:, 1:-1] = 1 / (1 + np.exp(np.minimum(np.maximum(level[:, None] - bounds, -500), 500)))
    edges[:, -1] = 1.0
    chances = np.maximum(edges[:, 1:] - edges[:, :-1], 1e-9)
    return chances / chances.sum(axis=1, keepdims=True)


def usual_matrix(n_labels: int) -> Floats:
    """Return the matrix of a judge of whom nothing is known yet, (old, new): that of an average language model.

    Its slope and bounds are about those of five language models on TREC Deep Learning 2021, which give higher labels
    than people.  Before the first label, P@10 by ten others is then predicted with a mean error of .05, and differences
    between systems with errors about as large as they are stated to be: the mean square of error over deviation is .87.
    With bounds around 0 and a log slope of 0 the errors are .11, and those of differences higher by a seventh.  Where
    labels are known the prior is more cautious.

    Examples
    --------
    >>> usual_matrix(4)[:, 2:].sum(axis=1).round(2).tolist()  # labels from 2, by the label of the judge
    [0.07, 0.2, 0.45, 0.74]
    """
    first = USUAL_BOUND - (n_labels - 2) / 2
    return _matrix(np.concatenate([[first], np.zeros(n_labels - 2), [USUAL_SLOPE]]))


FORMS = ("fixed", "assessors", "hierarchical")
ANY = "any"
PRIOR, OWN = 20.0, 2.0
"""Weight of the prior of a row, in items: that of all judges, and that of one judge around it."""
UNSEEN = 1.0
"""Weight of the uniform part of the prior of a row, in items.

Without it, a judge of whom only one label is known would hardly ever give another, and systems would be tied in most
draws.
"""
MOST_LABELS = 12
"""With more labels, proportional odds are not fitted."""
FURTHER = 3
"""How many further judges take turns with the others.

On TREC Deep Learning 2021, 23 language models were predicted from NIST and 2, 4 and 7 others.  With 0 and 3 further
judges, the Brier scores are .063 and .051 (2 others), .052 and .047 (4), .048 and .046 (7); the calibration errors are
at most .059 and .021 (``bench/forecasts.py``).  With 1 they were higher, with 6 lower by .001 at most, on 12 of these.
"""
SURE = 1e9
"""A number of items that makes an estimate certain."""
CONCENTRATIONS = np.array([1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, np.inf])


class Leaning(NamedTuple):
    """How much more probable than by the matrix a label is for an item, ratio (item, label); k: concentration."""

    items: Items
    ratio: Floats
    k: float


@dataclass(frozen=True, eq=False)
class Transitions(Tabular):
    """Counts of pairs by new assessor and topic (assessor, topic, old, new), and estimates from them."""

    scale: Scale
    old: str
    new: tuple[str, ...]
    counts: Floats
    prior: Floats
    matrix: Floats
    by_assessor: Floats
    k_assessor: float
    k_topic: float
    leaning: Leaning | None = None

    def leaning_of(self, items: Items, form: str) -> Floats | None:
        """Return the ratios of ``leaning`` (item, label), if the form uses them and they are of these items."""
        if form != "hierarchical" or self.leaning is None or self.leaning.items is not items:
            return None
        return self.leaning.ratio

    @property
    def n_pairs(self) -> int:
        """How many pairs of labels it rests on."""
        return int(self.counts.sum())

    def correlations(self) -> Floats:
        """Correlation of the labels of each new assessor with the old one's -> (assessor,); 0 where one gave one label.

        Labels are numbered in their order.
        """
        table = self.counts.sum(axis=1)
        table = table / table.sum(axis=(1, 2), keepdims=True)
        level = np.arange(table.shape[-1], dtype=np.float64)
        old, new = table.sum(axis=2) @ level, table.sum(axis=1) @ level
        x, y = level - old[:, None], level - new[:, None]
        product = np.einsum("aij,ai,aj->a", table, x, y)
        size = np.sqrt((table.sum(axis=2) * x**2).sum(axis=1) * (table.sum(axis=1) * y**2).sum(axis=1))
        return np.divide(product, size, out=np.zeros_like(product), where=size > 1e-12)

    def sentence(self) -> str:
        """Say which label another judge repeats most often, and which least."""
        kept = np.diag(self.matrix)
        most, least = int(np.argmax(kept)), int(np.argmin(kept))
        labels = self.scale.labels
        return (
            f"Another judge repeats {labels[most]} in {kept[most]:.0%} of cases and {labels[least]} in "
            f"{kept[least]:.0%}, from {counted(self.n_pairs, 'pair')} of labels."
        )

    def records(self) -> Records:
        """Return one row per old and new label: how probable it is, and how many pairs there were."""
        counts, labels = self.counts.sum(axis=(0, 1)), self.scale.labels
        return [
            {"old": old, "new": new, "probability": float(self.matrix[i, j]), "pairs": float(counts[i, j])}
            for i, old in enumerate(labels)
            for j, new in enumerate(labels)
        ]

    def n_judges(self, form: str) -> int:
        """Return how many judges take turns in draws: the others, and ``FURTHER`` further ones.

        A further judge has no labels.  There are none if there is only one other, whose difference from further judges
        is unknown, and none of the form "assessors", where the judge is one of the assessors.
        """
        n = len(self.new)
        return n + FURTHER if n > 1 and form != "assessors" else n

    def matrices(self, form: str, *, with_labels: bool = False) -> Matrices:
        """Return the function that draws matrices (topic or 1, old, new), in one of the FORMS.

        with_labels: judges take turns (``n_judges``), and the labels of each, in all and on a topic, count for them and
        for that topic; otherwise the hierarchical judge has no labels, unless there is one other only.
        """
        if form not in FORMS:
            raise UnknownName("form of judge", form, FORMS)
        total, n_judges = self.counts.sum(axis=(0, 1)), self.n_judges(form) if with_labels else len(self.new)
        nothing = np.zeros_like(self.counts[0])

        def draw(rng: np.random.Generator, number: int) -> Floats:
            judge = number % n_judges
            if form == "assessors":
                return _rows(self.counts[judge].sum(axis=0) + OWN * self.matrix, rng)[None]
            own = _rows(total + self.prior, rng)
            if form == "fixed":
                return own[None]
            own_labels = judge < len(self.new) and (with_labels or len(self.new) == 1)
            counts = self.counts[judge] if own_labels else nothing
            if np.isfinite(self.k_assessor):
                own = _rows(self.k_assessor * own + counts.sum(axis=0), rng)
            return _rows(self.k_topic * own + counts, rng) if np.isfinite(self.k_topic) else own[None]

        return draw


def fit_transitions(judgments: JudgmentsLike, old: str, new: str = ANY) -> Transitions:
    """Count transitions from labels of one assessor to another's, or to those of any other assessor.  O(rows)."""
    judgments = as_judgments(judgments)
    others = [name for name in judgments.assessors if name != old]
    if not others:
        raise PairsError(
            f"only {old!r} judged, so the labels of another judge cannot be predicted",
            hint="add judgments by others, or state the agreement rates of another judge",
        )
    if new != ANY and new not in others:
        raise UnknownName("other assessor", new, others)
    refuse_crowd(len(others))
    names = [new] if new != ANY else by_content(judgments, others)
    pairs = [pair_up(judgments, estimator="one-sided", observed=[old], reference=[name]) for name in names]
    nothing = np.zeros((1, len(judgments.scale)), dtype=np.bool_)
    counts = np.stack([each.sums(nothing).by_topic for each in pairs])
    present = counts.sum(axis=(1, 2, 3)) > 0
    if not present.any():
        raise PairsError(
            f"no item was labelled by {old!r} and by {new if new != ANY else 'another assessor'!r}",
            hint="have some items judged by both, or state agreement rates",
        )
    counts = counts[present]
    names = [name for name, known in zip(names, present.tolist(), strict=True) if known]
    prior = prior_of(counts.sum(axis=(0, 1)), ordered=judgments.scale.ordered)
    matrix = _shrunk(counts.sum(axis=(0, 1)), prior)
    by_assessor = _shrunk(counts.sum(axis=1), OWN * matrix)
    k_assessor = concentration(counts.sum(axis=1), matrix[None]) if len(names) > 1 else np.inf
    k_topic = concentration(counts, by_assessor[:, None])
    leaning = _leaning(judgments, old, matrix) if len(names) > 1 else None
    held = (counts, prior, matrix, by_assessor, k_assessor, k_topic)
    return Transitions(judgments.scale, old, tuple(names), *held, leaning)


def _leaning(judgments: Judgments, old: str, matrix: Floats) -> Leaning | None:
    """Estimate the leaning of documents from the labels of others; None where they do not differ.  O(rows)."""
    own = judgments.assessor.codes == judgments.assessor.code_of(old, "assessor")
    n_items, n_labels = len(judgments.items), len(judgments.scale)
    label = np.full(n_items, -1)
    label[judgments.item[own]] = judgments.label[own]
    rows = ~own & (label >= 0)[judgments.item]
    cell = judgments.item[rows].astype(np.int64) * n_labels + judgments.label[rows]
    seen = np.bincount(cell, minlength=n_items * n_labels).reshape(n_items, n_labels).astype(np.float64)
    centre = matrix[label]
    k = concentration(seen, centre)
    if not np.isfinite(k):
        return None
    return Leaning(judgments.items, (k * centre + seen) / ((k + seen.sum(axis=1, keepdims=True)) * centre), k)


def stated_transitions(scale: Scale, matrix: Floats, *, old: str = "", new: str = "stated") -> Transitions:
    """Transitions with a known matrix (old, new), as if counted on very many items."""
    counts = SURE * matrix[None, None]
    return Transitions(scale, old, (new,), counts, OWN * matrix, matrix, matrix[None], np.inf, np.inf)


def agreement_transitions(scale: Scale, a0: float, a1: float) -> Transitions:
    """Transitions of two labels by agreement rates: a0 with the lower label, a1 with the upper one."""
    need_rates(a0, a1)
    if len(scale) != 2:
        raise SettingError(
            f"agreement {a0:g},{a1:g} on the scale {scale}: expected two labels",
            hint="merge the labels to two with binary gains, or estimate the rates from the labels",
        )
    return stated_transitions(scale, np.array([[a0, 1 - a0], [1 - a1, a1]]))


def prior_of(counts: Floats, *, ordered: bool) -> Floats:
    """Prior counts of each row, from counts (old, new) -> (old, new)."""
    n_labels = len(counts)
    if ordered and n_labels <= MOST_LABELS:
        return PRIOR * proportional_odds(counts) + UNSEEN / n_labels
    new = counts.sum(axis=0) + 1.0 / n_labels
    return np.broadcast_to(OWN * new / new.sum() + UNSEEN / n_labels, counts.shape)


def concentration(counts: Floats, centre: Floats) -> float:
    """Concentration of maximum likelihood for groups (..., old, new) with rows around the centre; inf: none vary."""
    from scipy.special import gammaln

    n = counts.sum(axis=-1)
    best, found = -np.inf, np.inf
    for k in CONCENTRATIONS.tolist():
        if np.isinf(k):
            likelihood = float((counts * np.log(np.maximum(centre, 1e-12))).sum())
        else:
            a = np.maximum(k * centre, 1e-9)
            rows = gammaln(k) - gammaln(n + k) + (gammaln(counts + a) - gammaln(a)).sum(axis=-1)
            likelihood = float(rows.sum())
        if likelihood > best:
            best, found = likelihood, k
    return found


def _shrunk(counts: Floats, prior: Floats) -> Floats:
    rows = counts + prior
    return rows / rows.sum(axis=-1, keepdims=True)


def _rows(weights: Floats, rng: np.random.Generator) -> Floats:
    """Draw every row from a Dirichlet distribution with these weights -> the same shape."""
    drawn = rng.standard_gamma(np.maximum(weights, 1e-12))
    drawn = np.maximum(drawn, 1e-300)
    return drawn / drawn.sum(axis=-1, keepdims=True)
