r"""Several labels on one item: the probability that a random user finds it relevant, given all of them.

Demeester et al. (2014, Section 4.4; 2015) condition on one label.  Here every assessor is a user drawn at random (the
same confusion for all), labels of one item are independent given the item, and the joint distribution J of two of them
is that of the pairs behind p(R|i) (``predicted_relevance``).  With mu its margin and
:math:`\bar p = \sum_i \mu_i p_{R|i}`, two rules:

    credibility    the best prediction that is linear in the labels (Buehlmann 1967, doi:10.1017/S0515036100008989)

.. math:: P(R | i_1 \dots i_k) = \bar p + \sum_j g_k(i_j), \qquad
          g_k = (I + (k - 1)(\mathrm{diag}(\mu)^{-1} J - 1 \mu^T))^{-1} (p_{R|\cdot} - \bar p)

    independent    naive Bayes: labels independent given the opinion of the one user who is asked

.. math:: \mathrm{odds}(R | i_1 \dots i_k) = \mathrm{odds}(\bar p) \prod_j P(i_j | R) / P(i_j | \neg R), \qquad
          P(i | R) = \mu_i p_{R|i} / \bar p

Both equal p(R|i) for one label.  Credibility needs pairs only, and tends to the share of the item's users who
find it relevant when labels are many; with two labels on the scale it is the posterior mean of a beta-binomial.  Each
contrast between labels is shrunk by its own correlation lambda between two people, as k lambda / (1 + (k - 1) lambda).
A contrast with lambda <= 0 (no agreement beyond chance) counts no more for k labels than for one.  The linear
prediction may leave [0, 1]; it is then clipped, with a note.  Naive Bayes is overconfident, as labels are correlated by
the item, not by one user's opinion: it tends to 0 or 1 however people disagree.  Where assessors differ in reliability,
use ``dawid_skene``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.data.gains import Gains
from venire.data.ids import Category
from venire.data.judgments import Items, Judgments
from venire.data.scale import Scale
from venire.disagreement.many_labels import labels_of_many
from venire.disagreement.predicted_relevance import PredictedRelevanceFit
from venire.errors import GainsError, PairsError
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.results import Note, Records, Tabular, counted
from venire.types import Bools, Floats, Ints

Rule = Callable[[Floats, Floats, Ints], Floats]
"""From J (label, label) summing to 1, p(R|i) (label,) and counts (item, label) to probabilities (item,)."""
NEARLY = 1e-12


@dataclass(frozen=True, eq=False)
class ItemRelevance(Tabular):
    """P(a random user finds an item relevant | its labels): probability, n_labels (item,); NaN and 0 without labels.

    As gains: ``evaluate(judgments, runs, measures, gains=these.gains(), pool=these.pool)``, on the same judgments.
    """

    scale: Scale
    relevant: str
    rule: str
    probability: Floats
    n_labels: Ints
    notes: tuple[Note, ...] = ()
    items: Items | None = None

    def gains(self) -> Gains:
        """Gains to score with, together with ``pool``: 1 for the top label, which stands for relevant."""
        return Gains(self.scale, np.arange(len(self.scale)) == len(self.scale) - 1.0, f"{self.rule}:{self.relevant}")

    def pool(self, counts: Ints) -> Floats:
        """Weigh the top label with the probability, and the lowest with the rest; counts, weights (labelled, label)."""
        some = self.n_labels > 0
        if counts.shape[1] != len(self.scale) or not np.array_equal(counts.sum(axis=1), self.n_labels[some]):
            raise GainsError(
                f"the probabilities are of {counted(int(some.sum()), 'item')}, and not of the labels to score with",
                hint="evaluate with the judgments that they were made from",
            )
        weights = np.zeros(counts.shape)
        weights[:, -1] = self.probability[some]
        weights[:, 0] = 1 - weights[:, -1]
        return weights

    def sentence(self) -> str:
        """Say the mean probability, and its range over items."""
        some = self.n_labels > 0
        p, k = self.probability[some], self.n_labels[some]
        return (
            f"A random user finds {100 * p.mean():.0f}% of {counted(len(p), 'item')} relevant ({self.relevant}), given "
            f"{k.mean():.1f} labels each; the probability ranges from {p.min():.2f} to {p.max():.2f} over items."
        )

    def records(self) -> Records:
        """Return one row per item that has labels: topic and document, how many labels, and the probability.

        Where the items are unknown, their numbers replace topic and document.
        """
        return self._rows(np.flatnonzero(self.n_labels > 0))

    def _first(self, most: int) -> tuple[Records, int]:
        some = np.flatnonzero(self.n_labels > 0)
        return self._rows(some[:most]), len(some)

    def _rows(self, some: Ints) -> Records:
        columns: dict[str, list[Any]] = {"item": some.tolist()}
        if self.items is not None:
            topic = Category(self.items.topic[some], self.items.topics)
            columns = {"topic": topic.texts(), "doc": Category(some.astype(np.int32), self.items.doc).texts()}
        columns |= {"labels": self.n_labels[some].tolist(), "probability": self.probability[some].tolist()}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def posterior(
    judgments: JudgmentsLike, fit: PredictedRelevanceFit, *, relevant: str | None = None, rule: Rule | None = None
) -> ItemRelevance:
    """P(a random user finds it relevant | all its labels), for every item.

    fit: of these judgments, or of others on the same scale; relevant: which of its notions, None: the first.
    rule: ``credibility`` (the default) or ``independent``.
    Cost: O(rows log rows + items x labels), and one small system of equations.

    Examples
    --------
    >>> from venire import PredictedRelevance
    >>> from venire.io import read_grid
    >>> labels = read_grid('''
    ...     1 1 1 0 0 1
    ...     1 0 1 0 0 .
    ...     1 1 0 0 . .''')
    >>> fit = PredictedRelevance().fit(labels)
    >>> posterior(labels, fit).probability.round(2).tolist()
    [0.84, 0.62, 0.62, 0.19, 0.24, 0.71]
    >>> fit.p.round(2).tolist()
    [[0.33, 0.71]]
    """
    judgments = as_judgments(judgments)
    rule = rule or credibility
    if fit.scale.labels != judgments.scale.labels:
        raise GainsError(f"the fit is for the scale {fit.scale}, the labels are on {judgments.scale}")
    refuse_facets(judgments)
    counts = labels_of_many(judgments).sides.first
    row = fit.row_of(relevant)
    k, joint = counts.sum(axis=1), fit.by_topic.sum(axis=0)
    p = fit.known(row) if np.isnan(fit.p[row][counts.any(axis=0)]).any() else np.nan_to_num(fit.p[row])
    several = k > 1
    _check_pairs(fit, joint, counts[several])
    value = np.where(k == 1, counts @ p, np.nan)
    paired = joint.sum(axis=1) > 0
    if several.any():
        within = np.ix_(paired, paired)
        value[several] = rule(joint[within] / joint.sum(), p[paired], counts[several][:, paired])
    outside = int(((value < 0) | (value > 1)).sum())
    notes = (Note("clipped", "{n:item} outside [0, 1] by the rule, and clipped", n=outside),) if outside else ()
    name = fit.relevant.names[row]
    rule_name, value = getattr(rule, "__name__", "own"), np.clip(value, 0.0, 1.0)
    return ItemRelevance(fit.scale, name, rule_name, value, k, notes, judgments.items)


def credibility(joint: Floats, p: Floats, counts: Ints) -> Floats:
    """The best linear prediction from all labels; may leave [0, 1]."""
    margin = joint.sum(axis=1)
    mean, root = margin @ p, np.sqrt(margin)
    correlation, contrast = np.linalg.eigh((joint - np.outer(margin, margin)) / np.outer(root, root))
    numbers, which = np.unique(counts.sum(axis=1), return_inverse=True)
    more = numbers[:, None] - 1.0
    shrunk = 1 + more * np.where(correlation > NEARLY, correlation, 1.0)
    value = ((contrast.T @ (root * (p - mean))) / shrunk) @ contrast.T / root
    return mean + np.einsum("tl,tl->t", counts, value[which])


def independent(joint: Floats, p: Floats, counts: Ints) -> Floats:
    """Naive Bayes: labels independent given one user's opinion; overconfident where labels are several."""
    margin = joint.sum(axis=1)
    p = np.clip(p, NEARLY, 1 - NEARLY)
    mean = margin @ p
    odds = np.log(mean / (1 - mean)) + counts @ (np.log(p / mean) - np.log((1 - p) / (1 - mean)))
    return 0.5 * (1 + np.tanh(odds / 2))


def refuse_facets(judgments: Judgments) -> None:
    """Refuse labels of one item under several intents, or after several other documents: one probability is asked."""
    judgments.require_one("intent", "given", reason="an item has one probability")


def _check_pairs(fit: PredictedRelevanceFit, joint: Floats, counts: Ints) -> None:
    """Refuse pairs that do not determine the correlation of the labels of an item."""
    if len(counts) and fit.setting.estimator == "one-sided":
        raise PairsError(
            f"{counted(len(counts), 'item')} with several observed labels, and one-sided pairs do not determine their "
            "correlation",
            hint="fit with the estimator labels, or choose one observed assessor",
        )
    unknown: Bools = (joint.sum(axis=1) == 0) & counts.any(axis=0)
    if unknown.any():
        label = fit.scale.labels[int(np.argmax(unknown))]
        raise PairsError(
            f"label {label!r} occurs with others on an item, and the fit has no pairs with it",
            hint="fit on judgments in which items with this label were judged twice",
        )
