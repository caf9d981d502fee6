r"""Latent labels: Dawid and Skene's model of assessors who each err in their own way.

Dawid and Skene (1979), Applied Statistics 28, doi:10.2307/2346806.  Every item has one class, a label of the scale that
nobody sees; assessor a gives label l to an item of class c with probability E (assessor, class, label), independently
of all others.  Classes, their frequencies and E are fitted by maximum likelihood, from the shares of each item's labels
as a start.  What a user thinks then follows from the class:

.. math:: P(R | labels) = \sum_c T_c \sum_{l \in R} \bar E_{cl}

with T the probability of the class given all labels, and :math:`\bar E` the answers of the mean assessor, each weighed
by the number of labels given.

Departures: ``smoothing`` is added to every count of E (the mode under a Dirichlet prior of 1 + smoothing); 0 is the
paper's, and makes assessors with few labels infallible.  The label of one assessor alone is weighted by their answers
elsewhere, so p(R|i) holds on average over assessors, not for each; ``several_labels`` is exact in that.

When not to use it: where assessors have few labels each, or where people differ in opinion and not in reliability.
Only the start ties classes to labels: with very noisy labels a class may become another mixture (see ``confusion``).

The fit is expectation maximisation (Dempster, Laird and Rubin 1977, doi:10.1111/j.2517-6161.1977.tb01600.x).  With T
(item, class) the probability of an item's class, :math:`\pi` (class,) and E (assessor, class, label):

.. math:: \pi_c = \overline{T_c}, \quad E_{acl} \propto \alpha + \sum_{rows (t, a, l)} T_{tc}; \qquad
          T_{tc} \propto \pi_c \prod_{rows (t, a, l)} E_{acl}

(Dawid and Skene 1979, Eqs. 2.3 to 2.5).  The log-likelihood never decreases, plus :math:`\alpha \sum \log E` with
smoothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.label_pairs import most_assessors, refuse_mixed
from venire.data.panel import Pool, in_isolation
from venire.data.scale import Relevant, Scale, relevant_sets
from venire.disagreement.several_labels import ItemRelevance, refuse_facets
from venire.errors import GainsError, PairsError, SettingError, reasons
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.results import Note, Records, Tabular, counted
from venire.types import Bools, Codes, Floats, Ints

TINY = 1e-300
DAWID_SKENE = "dawid-skene"
"""The name of the pool."""


class Rows(NamedTuple):
    """Labels in long form: item, cell (row,), where a cell is an assessor's label, assessor x n_labels + label."""

    item: Codes
    cell: Ints
    n_items: int
    n_assessors: int
    n_labels: int


def confusion(rows: Rows, classes: Floats, smoothing: float) -> Floats:
    """How assessors answer, given probabilities of classes (item, class) -> (assessor, class, label); rows sum to 1.

    An assessor who never met a class answers it at random.  O(rows x classes).
    """
    shape = (rows.n_assessors, rows.n_labels)
    counts = np.empty((shape[0], classes.shape[1], shape[1]))
    for number, weight in enumerate(classes.T):
        met = np.bincount(rows.cell, weight[rows.item], minlength=shape[0] * shape[1])
        counts[:, number] = met.reshape(shape) + smoothing
    total = counts.sum(axis=2, keepdims=True)
    known: Bools = total > 0
    return np.where(known, counts / np.where(known, total, 1.0), 1.0 / shape[1])


def classify(rows: Rows, prior: Floats, answers: Floats) -> tuple[Floats, float]:
    """Probabilities of classes given all labels -> (item, class), and the log-likelihood.  O(rows x classes)."""
    logs = np.empty((rows.n_items, len(prior)))
    for number, chance in enumerate(prior):
        log = np.log(np.maximum(answers[:, number], TINY)).ravel()
        seen = np.bincount(rows.item, log[rows.cell], minlength=rows.n_items)
        logs[:, number] = seen + np.log(np.maximum(chance, TINY))
    highest = logs.max(axis=1, keepdims=True)
    chances = np.exp(logs - highest)
    total = chances.sum(axis=1, keepdims=True)
    return chances / total, float((np.log(total) + highest).sum())


@dataclass(frozen=True, kw_only=True)
class DawidSkene:
    """Classes of items and errors of assessors: a setting, to be fitted on judgments.

    Parameters
    ----------
    smoothing : added to each count of an assessor's answers; 0 gives plain maximum likelihood
    tolerance : stop when an iteration adds no more than this to the log-likelihood, per label
    max_iterations : stop after so many at the latest

    Examples
    --------
    >>> from venire.io import read_grid
    >>> fit = DawidSkene().fit(read_grid('''
    ...     1 1 1 0 0 0
    ...     1 1 0 0 0 0
    ...     0 1 0 1 0 1
    ...     1 1 1 0 0 0'''))
    >>> fit.posterior[:, 1].round(2).tolist(), fit.converged
    ([1.0, 1.0, 1.0, 0.0, 0.0, 0.0], True)
    """

    smoothing: float = 0.1
    tolerance: float = 1e-7
    max_iterations: int = 1000

    def __post_init__(self) -> None:
        if not 0 <= self.smoothing < np.inf:
            raise SettingError(f"smoothing={self.smoothing}: expected a number from 0 on", hint="0.1 is the default")
        if not self.tolerance < np.inf:
            raise SettingError(f"tolerance={self.tolerance}: expected a number", hint="1e-7 is the default")
        if self.max_iterations < 1:
            raise SettingError(f"{self.max_iterations} iterations: expected 1 or more")

    def fit(self, judgments: JudgmentsLike) -> DawidSkeneFit:
        """Fit by expectation and maximisation.

        Several labels by one assessor on an item all count.  Cost: O(rows x labels) an iteration; memory: rows,
        items x labels, assessors x labels^2.
        """
        judgments = as_judgments(judgments)
        _refuse(judgments)
        counts = judgments.label_counts()
        seen = counts.sum(axis=1) > 0
        number = np.cumsum(seen, dtype=np.int32) - 1
        shape = (int(seen.sum()), len(judgments.assessor.names), len(judgments.scale))
        cell = judgments.assessor.codes.astype(np.int64) * shape[2] + judgments.label
        rows = Rows(number[judgments.item], cell, *shape)
        classes, values = counts[seen] / counts[seen].sum(axis=1, keepdims=True), [-np.inf]
        converged = False
        while not converged and len(values) <= self.max_iterations:
            answers = confusion(rows, classes, self.smoothing)
            classes, value = classify(rows, classes.mean(axis=0), answers)
            value += self.smoothing * float(np.log(answers).sum()) if self.smoothing else 0.0
            converged = value - values[-1] <= self.tolerance * len(judgments)
            values.append(value)
        posterior = np.full(counts.shape, np.nan)
        posterior[seen] = classes
        prior, answers = classes.mean(axis=0), confusion(rows, classes, self.smoothing)
        who = judgments.assessors, np.bincount(judgments.assessor.codes, minlength=shape[1])
        objective = np.array(values[1:])
        return DawidSkeneFit(self, judgments.scale, *who, counts, posterior, prior, answers, objective, converged)


@dataclass(frozen=True, eq=False)
class DawidSkeneFit(Tabular):
    """Classes of items and answers of assessors.

    counts, posterior (item, label)   labels given, and the probability of each class; NaN for an item without labels
    prior (label,)                    how frequent classes are
    confusion (assessor, label, label)   P(an assessor says the last | class)
    objective (iteration,)            log-likelihood on the way, with the smoothing's share
    """

    setting: DawidSkene
    scale: Scale
    assessors: tuple[str, ...]
    n_labels_of: Ints
    counts: Ints
    posterior: Floats
    prior: Floats
    confusion: Floats
    objective: Floats
    converged: bool

    @property
    def n_iterations(self) -> int:
        """How many iterations were made."""
        return len(self.objective)

    @property
    def skill(self) -> Floats:
        """P(an assessor gives the class of a random item) -> (assessor,)."""
        return np.einsum("acc,c->a", self.confusion, self.prior)

    @property
    def users(self) -> Floats:
        """P(a user says the last | class) -> (label, label); a class that no item has is answered by itself."""
        given = np.nan_to_num(self.posterior).T @ self.counts
        total = given.sum(axis=1, keepdims=True)
        return np.where(total > 0, given / np.where(total > 0, total, 1.0), np.eye(len(given)))

    def pool(self, counts: Ints) -> Floats:
        """Weigh each label by the probability of its class, to score with; counts, weights (labelled, label).

        As in ``evaluate(judgments, runs, measures, pool=fit.pool)``, on the judgments of the fit.
        """
        some = self.counts.sum(axis=1) > 0
        if not np.array_equal(counts, self.counts[some]):
            raise GainsError(
                f"the classes are of {counted(int(some.sum()), 'item')}, and not of the labels to score with",
                hint="score with the judgments that the model was fitted on",
            )
        return self.posterior[some]

    def relevance(self, relevant: Relevant = None) -> ItemRelevance:
        """P(a random user finds an item relevant | all its labels)."""
        names, marked = relevant_sets(self.scale, relevant)
        if len(names) > 1:
            raise SettingError(f"{len(names)} notions of relevance, expected one", hint=f"relevant={names[0]!r}")
        value = np.clip(self.posterior @ self.users[:, marked[0]].sum(axis=1), 0.0, 1.0)
        text = "not converged after {n:iteration}"
        notes = () if self.converged else (Note("not-converged", text, n=self.n_iterations),)
        return ItemRelevance(self.scale, names[0], "dawid-skene", value, self.counts.sum(axis=1), notes)

    def records(self) -> Records:
        """Return one row per assessor: how many labels, and how probably one is the class of its item."""
        rows = zip(self.assessors, self.n_labels_of.tolist(), self.skill.tolist(), strict=True)
        return [dict(zip(("assessor", "labels", "skill"), row, strict=True)) for row in rows]

    def sentence(self) -> str:
        """Say how reliable the assessors are by the model."""
        given = self.n_labels_of > 0
        mean, skill = float(np.average(self.skill, weights=self.n_labels_of)), self.skill[given]
        ended = f"{'converged' if self.converged else 'not converged'} after {counted(self.n_iterations, 'iteration')}"
        return (
            f"{mean:.0%} of the labels by {counted(int(given.sum()), 'assessor')} are the class of their item, from "
            f"{skill.min():.0%} to {skill.max():.0%} by assessor ({ended})."
        )


def pool_for(judgments: Judgments, pool: str | Pool | None) -> str | Pool | None:
    r"""Return a pool for judgments: of the name "dawid-skene" the posterior of a fit on them, others as they are.

    Examples
    --------
    >>> from venire.data.panel import build_panel
    >>> from venire.io import read_grid
    >>> labels = read_grid("1 1 0 0 1\n1 1 0 0 1\n0 1 1 0 0")
    >>> build_panel(labels, pool=pool_for(labels, "dawid-skene")).labels(0, 1).tolist()
    [[1, 1, 0, 0, 1]]
    """
    if pool != DAWID_SKENE:
        return pool
    return DawidSkene().fit(in_isolation(judgments)[0]).pool


def _refuse(judgments: Judgments) -> None:
    """Refuse labels that do not determine anybody's errors."""
    refuse_mixed(judgments)
    refuse_facets(judgments)
    if len(judgments) == 0:
        raise PairsError("there is no label to learn from", hint=reasons(judgments.notes))
    relevant_sets(judgments.scale, "all")  # refuses a scale of one label
    if most_assessors(judgments, judgments.item) < 2:
        raise PairsError(
            "no item has labels by two different assessors, so nobody's errors can be seen",
            hint="have some items judged a second time",
        )
