r"""A crowd as one judge: the pooled labels of many workers, and who else may judge.

Of a crowd, no single worker is a judge, so that a comparison under another judge needs to know who that is:

- an assessor who is named, or who is declared as the reference: their labels are kept apart and not pooled;
- or else another crowd of the same kind, which gives each item as many labels.

A crowd is of people: declared machines are left out of it.  If at most one person is left besides the reference, and
the reference is several people, all people are pooled; if only machines are left, they are, and their pool is a machine
too.  A note says who is in the pool.

What another crowd says is predicted for each item from the labels of this one.  Its workers are other people, so all
that counts is how often an item has each label: with n labels on item t, counts :math:`n_t`,

.. math:: p_t \sim \mathrm{Dirichlet}(k \mu), \qquad n_t \sim \mathrm{Multinomial}(n, p_t), \qquad
          n'_t \sim \mathrm{Multinomial}(n, p_t)

with mu the frequencies of labels and k of maximum likelihood (Dirichlet-multinomial; Minka 2000, as in
``disagreement.transitions``).  Given :math:`n_t`, the posterior of :math:`p_t` is Dirichlet(:math:`k \mu + n_t`);
draws of :math:`n'_t` are pooled by the same rule, and give the probability of each pooled label.  Where this crowd was
pooled by Dawid and Skene's model, the other is pooled by majority.  Scores
now are those of the pool, in which labels may share weight; another judge's labels are drawn one for an item, given the
label with the most weight.

The forecast is cautious: in simulations (``tests/simulation/test_crowds.py``, 600 pairs of systems) the order stayed in
78 % of the pairs, and 68 % was stated, since systems that return a document tell nothing here.  Transitions counted
between two halves of a crowd do worse (Brier score .177 instead of .157).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.label_pairs import most_assessors
from venire.data.panel import POOLS, Panel, Pool, PooledJudge, in_isolation, one_label_each, pooled_judge
from venire.disagreement.dawid_skene import DAWID_SKENE, pool_for
from venire.disagreement.transitions import ANY, Leaning, Transitions, concentration, stated_transitions
from venire.errors import AmbiguousLabels, PairsError, UnknownName
from venire.results import Note, counted, first_few
from venire.types import Floats, Ints, RNGLike

ANOTHER = "another crowd"
"""The other judge where nobody is named."""
N_CROWDS, TINY = 200, 1e-12
"""How many crowds are drawn to predict the labels of another, and the least probability."""
MOST_NAMES = 6
"""How many people of a pool are named."""


class Crowd(NamedTuple):
    """A crowd that scores the runs: its name as one assessor of the judgments, and the panel that scores with it.

    transitions: to another crowd, where nobody else is the other judge; else None.
    """

    name: str
    judgments: Judgments
    panel: Panel
    transitions: Transitions | None = None
    notes: tuple[Note, ...] = ()


def crowd_judge(
    judgments: Judgments,
    pool: str | Pool,
    *,
    new_judge: str | Sequence[str] = ANY,
    another: bool = True,
    rng: RNGLike = 0,
) -> Crowd:
    """Pool the labels of a crowd, and find the other judge.

    Parameters
    ----------
    pool : "median", "majority", "max", "min", "mean", "dawid-skene" (the posterior of the model), or a function
    new_judge : assessors who are kept apart; "any": the declared reference, and if there is none, another crowd.
        Machines that are not kept apart are left out
    another : estimate how another crowd labels where nobody is kept apart
    rng : draws other crowds
    """
    labels = in_isolation(judgments)[0]
    apart = labels.reference if new_judge == ANY else (new_judge,) if isinstance(new_judge, str) else tuple(new_judge)
    for name in apart:
        if name not in labels.assessors:
            raise UnknownName("assessor", name, labels.assessors)
    others = [name for name in labels.assessors if name not in apart]
    workers = [name for name in others if name not in labels.machines]
    if len(workers) < 2 and new_judge == ANY and len(apart) > 1:
        workers, apart = [name for name in labels.assessors if name in {*apart, *workers}], ()
    workers = workers or others
    if not workers:
        raise AmbiguousLabels("nobody is left to pool", hint="keep fewer assessors apart as the reference")
    crowd = labels.where(assessor=workers)
    rule = pool_for(crowd, pool)
    title = f"{pool if isinstance(pool, str) else 'pool'} of {counted(len(workers), 'assessor')}"
    found = pooled_judge(labels.where(assessor=[*workers, *apart]), rule or "", apart=apart, name=title)
    notes = _who(title, workers, [name for name in others if name not in workers])
    if apart or not another:
        return Crowd(*found, None, notes)
    text = "the other judge is another crowd, with as many labels for each item, predicted from the labels of this one"
    return Crowd(*found, _to_another(found, crowd, pool, rng), (*notes, Note("another-crowd", text)))


def _who(title: str, workers: Sequence[str], machines: Sequence[str]) -> tuple[Note, ...]:
    """Say whose labels are pooled, and who is left out."""
    text = "{pool}: {names}" + "; without the machines {machines}" * bool(machines)
    fields = {"pool": title, "names": first_few(workers, MOST_NAMES), "machines": first_few(machines, MOST_NAMES)}
    return (Note("pooled", text, **fields),)


def _to_another(found: PooledJudge, crowd: Judgments, pool: str | Pool, rng: RNGLike) -> Transitions:
    """Return transitions to another crowd: for each item, the probability of every label."""
    counts = crowd.label_counts()
    if most_assessors(crowd, crowd.item) < 2:
        raise PairsError(
            "no item has labels by two assessors, so that the labels of another crowd cannot be predicted",
            hint="name another judge, or state the agreement rates of another judge",
        )
    chance, label = another_crowd(counts, _rule(pool), rng=rng), one_label_each(found.panel)
    own = np.eye(counts.shape[1])[label] * (label >= 0)[:, None]
    total = own.sum(axis=0)[:, None]
    matrix = np.where(total > 0, own.T @ chance / np.maximum(total, 1), chance[label >= 0].mean(axis=0))
    matrix = np.maximum(matrix, TINY)
    leaning = Leaning(crowd.items, chance / matrix[label], np.inf)
    known = stated_transitions(crowd.scale, matrix / matrix.sum(axis=1, keepdims=True), old=found.name, new=ANOTHER)
    return replace(known, leaning=leaning)


def _rule(pool: str | Pool) -> Pool:
    """Return how another crowd is pooled: as this one, or by majority where a model was fitted on this one."""
    return POOLS["majority" if pool == DAWID_SKENE else pool] if isinstance(pool, str) else pool


def another_crowd(counts: Ints, pool: Pool, *, n_crowds: int = N_CROWDS, rng: RNGLike = 0) -> Floats:
    """Probability of the pooled label of another crowd, as large as this one; counts (item, label) -> same shape.

    Cost: O(crowds x items x labels).

    Examples
    --------
    >>> from venire.data.panel import majority
    >>> counts = np.array([[5, 0], [3, 2], [0, 5], [2, 3], [5, 0], [0, 5]])
    >>> another_crowd(counts, majority)[:4, 1].round(1).tolist()
    [0.0, 0.4, 1.0, 0.6]
    """
    generator, n = np.random.default_rng(rng), counts.sum(axis=1)
    some, mean = n > 0, counts.sum(axis=0) / max(int(n.sum()), 1)
    k = concentration(counts[some].astype(np.float64), mean)
    centre = np.broadcast_to(mean, counts[some].shape)
    posterior = k * centre + counts[some] if np.isfinite(k) else centre
    found = np.zeros(counts.shape)
    for _ in range(n_crowds):
        p = generator.standard_gamma(np.maximum(posterior, TINY)) + TINY if np.isfinite(k) else posterior
        found[some] += pool(generator.multinomial(n[some], p / p.sum(axis=1, keepdims=True)))
    return found / n_crowds
