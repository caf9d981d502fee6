r"""Latent labels: Dawid and Skene's model of assessors who each err in their own way.

Dawid and Skene (1979), Applied Statistics 28, doi:10.2307/2346806.  Every item has one class, a label of the scale that
nobody sees; assessor a gives label l to an item of class c with probability E (assessor, class, label), independently
of all others.  Classes, their frequencies and E are fitted by maximum likelihood (``kernels.em``), from the shares of
each item's labels as a start.  What a user thinks then follows from the class:

.. math:: P(R | labels) = \sum_c T_c \sum_{l \in R} \bar E_{cl}

with T the probability of the class given all labels, and :math:`\bar E` the answers of the mean assessor, each weighed
by the number of labels given.  So a sure class does not mean a sure user.

Departures: ``smoothing`` is added to every count of E (the mode under a Dirichlet prior of 1 + smoothing); 0 is the
paper's, and calls assessors with few labels infallible.  The label of one assessor alone is weighed by their answers
elsewhere, so p(R|i) holds on average over assessors, and not for each; ``several_labels`` is exact in that.

When not to use it: where assessors have few labels each, or where people differ in taste and not in skill.  The start
alone ties classes to labels: with very noisy labels a class may end up as another mixture of them (see ``confusion``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.errors import PairsError, SettingError
from venire.kernels.em import Rows, ascend, classify, confusion
from venire.models.pairs import most_assessors, refuse_mixed
from venire.models.relevance import Relevant, relevant_sets
from venire.models.several_labels import ItemRelevance, refuse_facets
from venire.tabular import Records, Tabular
from venire.types import Floats, Ints
from venire.words import counted


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
    >>> from venire import read_grid
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

    def fit(self, judgments: Judgments) -> DawidSkeneFit:
        """Fit by expectation and maximisation.

        Several labels by one assessor on an item all count.  Cost: O(rows x labels) an iteration; memory: rows,
        items x labels, assessors x labels^2.
        """
        _refuse(judgments)
        counts = judgments.label_counts()
        seen = counts.sum(axis=1) > 0
        number = np.cumsum(seen, dtype=np.int32) - 1
        shape = (int(seen.sum()), len(judgments.assessor.names), len(judgments.scale))
        rows = Rows.of(number[judgments.item], judgments.assessor.codes, judgments.label, shape)
        start = counts[seen] / counts[seen].sum(axis=1, keepdims=True)
        ascent = ascend(
            start,
            lambda classes: self._step(rows, classes),
            tolerance=self.tolerance * len(judgments),
            most=self.max_iterations,
        )
        posterior = np.full(counts.shape, np.nan)
        posterior[seen] = ascent.state
        prior, answers = ascent.state.mean(axis=0), confusion(rows, ascent.state, self.smoothing)
        who = judgments.assessors, np.bincount(judgments.assessor.codes, minlength=shape[1])
        return DawidSkeneFit(
            self, judgments.scale, *who, counts, posterior, prior, answers, ascent.values, ascent.converged
        )

    def _step(self, rows: Rows, classes: Floats) -> tuple[Floats, float]:
        """Maximise, then expect -> classes, and what the parameters between them are worth."""
        answers = confusion(rows, classes, self.smoothing)
        after, value = classify(rows, classes.mean(axis=0), answers)
        return after, value + (self.smoothing * float(np.log(answers).sum()) if self.smoothing else 0.0)


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

    def relevance(self, relevant: Relevant = None) -> ItemRelevance:
        """P(a random user finds an item relevant | all its labels)."""
        names, marked = relevant_sets(self.scale, relevant)
        if len(names) > 1:
            raise SettingError(f"{len(names)} notions of relevance, expected one", hint=f"relevant={names[0]!r}")
        value = np.clip(self.posterior @ self.users[:, marked[0]].sum(axis=1), 0.0, 1.0)
        notes = () if self.converged else (f"not converged after {counted(self.n_iterations, 'iteration')}",)
        return ItemRelevance(self.scale, names[0], "dawid-skene", value, self.counts.sum(axis=1), notes)

    def records(self) -> Records:
        """Return one row per assessor: how many labels, and how probably one is the class of its item."""
        rows = zip(self.assessors, self.n_labels_of.tolist(), self.skill.tolist(), strict=True)
        return [dict(zip(("assessor", "labels", "skill"), row, strict=True)) for row in rows]

    def sentence(self) -> str:
        """Say how good the assessors are, as far as the model can tell."""
        mean = float(np.average(self.skill, weights=self.n_labels_of))
        who = np.flatnonzero(self.n_labels_of)
        worst, best = (int(who[place(self.skill[who])]) for place in (np.argmin, np.argmax))
        ended = "" if self.converged else ", not converged"
        return (
            f"{100 * mean:.0f}% of the labels by {counted(len(who), 'assessor')} are the class of their item, from "
            f"{100 * self.skill[worst]:.0f}% ({self.assessors[worst]}) to {100 * self.skill[best]:.0f}% "
            f"({self.assessors[best]}), after {counted(self.n_iterations, 'iteration')}{ended}."
        )


def _refuse(judgments: Judgments) -> None:
    """Refuse labels from which nobody's errors can be seen."""
    refuse_mixed(judgments)
    refuse_facets(judgments)
    if len(judgments) == 0:
        raise PairsError("there is no label to learn from", hint="; ".join(judgments.notes) or None)
    relevant_sets(judgments.scale, "all")  # refuses a scale of one label
    if most_assessors(judgments, judgments.item) < 2:
        raise PairsError(
            "no item has labels by two different assessors, so nobody's errors can be seen",
            hint="have some items judged a second time",
        )
