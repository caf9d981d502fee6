r"""Statistics of favour: tests of many systems together, shrunken differences, and lists in the order of labels.

With :math:`D_{st}` the difference of system s for topic t, and :math:`\hat D_s` its mean over topics, as in
``comparison.favoured``:

Tests.  :math:`\hat D_s` is moved towards 0 by the margin, the signs of the moved :math:`D_{\cdot t}` are changed at
random, topic by topic and for all systems together, and p is the share of such changes in which the largest \|t\| of
all systems reaches that of the system (single-step maxT: Westfall and Young 1993, Resampling-Based Multiple Testing;
sign changes as in Fisher 1935, The Design of Experiments).  Where systems have lists for different numbers of topics,
Student's p-value of t takes the place of \|t\|, and a system with fewer than six of more topics is not tested: none of
its p-values could be below .05.  This controls the probability of naming any system if none is favoured, whatever the
correlation of the systems, for each measure; families are adjusted for among themselves.
Chance is over topics and the sample of labels together; with all labels it is over topics.

Shrinkage.  :math:`\hat D_s \sim N(\theta_s, se_s^2)`, :math:`\theta_s \sim N(0, \tau^2)`, with a half-Cauchy prior of
:math:`\tau`, whose scale is ten times the root mean square of the standard errors (Gelman 2006,
doi:10.1214/06-BA117A).  The residual is the posterior mean of :math:`\theta_s`, and its interval has Student's t with
T - 1 degrees of freedom times the posterior standard deviation as half its length; in simulations with 3 to 63 systems
it covers in 93 % of cases or more.  p-values are not shrunken.

Order.  A system may rank by the judge's own labels.  Of two results of a list with different labels by the judge, the
one with the higher label is ranked first in a share of the pairs (Goodman and Kruskal 1954's gamma, as a share).  A
system for which it is at least .9, and, on the results that both labelled, .125 above the share by the reference's
labels, ranks as the judge does.  Each of these shares needs at least 30 pairs.  On TREC Deep Learning 2021 no system
reaches .83.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from venire.data.runs import Facts
from venire.kernels.shares import CONFIDENCE
from venire.types import Bools, Codes, Floats, Ints

N_FLIPS, EXACT_TOPICS = 9_999, 12
"""Random changes of signs; with up to so many topics, all of them."""
FEWEST_TOPICS = 6
"""With fewer topics no change of signs has a p-value below .05: the least is 2 ** (1 - topics)."""
TAUS, PRIOR_SCALE = 200, 10.0
RANKS_ALIKE, ABOVE_REFERENCE = 0.9, 0.125
"""A system ranks as the judge if this share of pairs is in the judge's order, so much more than by the reference."""
FEWEST_PAIRS = 30
"""Fewer pairs of results with different labels say nothing of the order."""


def contrasts(systems: Sequence[str], families: Mapping[str, Sequence[str]]) -> tuple[Floats, Floats]:
    """Return what is compared with what, for systems and for families -> (system, system), (system, family).

    Examples
    --------
    >>> each, together = contrasts(["a", "b", "c"], {"ab": ["a", "b"]})
    >>> each[:, 0].tolist(), each[:, 2].tolist(), together[:, 0].tolist()
    ([1.0, 0.0, -1.0], [-0.5, -0.5, 1.0], [0.5, 0.5, -1.0])
    """
    member = np.array([[name in members for members in families.values()] for name in systems], dtype=np.float64)
    member = member.reshape(len(systems), len(families))
    akin = ((member @ member.T) > 0) | np.eye(len(systems), dtype=np.bool_)
    akin[:, akin.all(axis=0)] = np.eye(len(systems), dtype=np.bool_)[:, akin.all(axis=0)]
    alone = np.eye(len(systems)) - ~akin / np.maximum((~akin).sum(axis=0), 1)
    together = member / np.maximum(member.sum(axis=0), 1) - (1 - member) / np.maximum((1 - member).sum(axis=0), 1)
    return alone, together


def with_lists(facts: Facts, used: Ints) -> Bools:
    """Mark the topics, of those used, for which each system has a list -> (topic, system)."""
    present = np.zeros((len(facts.items.topics), len(facts.systems)), dtype=np.bool_)
    present[facts.topic, facts.system] = True
    return present[used]


def compared(values: Floats, against: Floats, present: Bools) -> Floats:
    """Compare systems with a list in each topic: values, present (topic, system), against as ``contrasts`` returns.

    Returns (topic, name), NaN where one side has no list.

    Examples
    --------
    >>> each, _ = contrasts(["a", "b", "c"], {})
    >>> compared(np.array([[3.0, 2.0, 0.0]]), each, np.array([[True, True, False]])).tolist()
    [[1.0, -1.0, nan]]
    """
    there = present.astype(np.float64)
    sides = []
    for part in (np.maximum(against, 0.0), np.maximum(-against, 0.0)):
        weight = there @ part
        total = np.where(present, values, 0.0) @ part
        sides.append(np.divide(total, weight, out=np.full_like(total, np.nan), where=weight > 0))
    return sides[0] - sides[1]


def tested(differences: Floats, margin: float, rng: np.random.Generator) -> tuple[Floats, ...]:
    """Test, and shrink, the means over topics: differences (topic, name) -> five of (name,), as in ``Findings``.

    Topics whose difference is NaN are left out.
    """
    from scipy.special import stdtrit

    there = ~np.isnan(differences)
    n = there.sum(axis=0)
    mean = np.where(n > 0, np.nan_to_num(differences).sum(axis=0) / np.maximum(n, 1), np.nan)
    squares = (np.where(there, differences - mean, 0.0) ** 2).sum(axis=0)
    error, several = np.sqrt(squares / np.maximum(n - 1, 1) / np.maximum(n, 1)), n > 1
    residual, spread = mean.copy(), np.full(len(n), np.nan)
    if several.any():
        residual[several], spread[several] = shrunken(mean[several], error[several])
    half = stdtrit(np.maximum(n - 1.0, 1.0), (1 + CONFIDENCE) / 2) * spread
    p = adjusted_p(differences - np.clip(mean, -margin, margin), rng)
    return mean, residual, residual - half, residual + half, p


def adjusted_p(differences: Floats, rng: np.random.Generator) -> Floats:
    """Adjusted p-values for a mean of 0, from the largest of all t under changed signs: (topic, name) -> (name,).

    All changes of signs are used with up to 12 topics, 9,999 random ones otherwise.  A topic whose difference is NaN is
    left out for that name; NaN is returned for names with no topic, or with fewer than six of more.  O(changes x topics
    x names).

    Examples
    --------
    >>> apart = np.array([[1.0, 0.1], [1.2, -0.2], [0.9, 0.0], [1.1, 0.1], [1.0, -0.1], [0.8, 0.2]])
    >>> adjusted_p(apart, np.random.default_rng(0)).tolist()
    [0.03125, 1.0]
    """
    n_topics, n = len(differences), (~np.isnan(differences)).sum(axis=0)
    tested, p = n >= max(min(int(n.max(initial=0)), FEWEST_TOPICS), 1), np.full(len(n), np.nan)
    if not tested.any():
        return p
    if n_topics <= EXACT_TOPICS:
        signs = 1.0 - 2.0 * (np.arange(2**n_topics)[:, None] >> np.arange(n_topics) & 1)
    else:
        signs = 1.0 - 2.0 * rng.integers(2, size=(N_FLIPS, n_topics))
    filled, n = np.nan_to_num(differences[:, tested]), n[tested]
    squares = (filled**2).sum(axis=0)
    observed = _distance(filled.sum(axis=0) / n, squares, n)
    reached = np.sort(_distance(signs @ filled / n, squares, n).max(axis=1) * (1 + 1e-9))
    count = len(reached) - np.searchsorted(reached, observed, side="left")
    p[tested] = count / len(reached) if n_topics <= EXACT_TOPICS else (count + 1) / (len(reached) + 1)
    return p


def _distance(mean: Floats, squares: Floats, n: Ints) -> Floats:
    """Distance from 0 of means (..., name) over n topics, given sums of squares (name,): the square of Student's t.

    It is 0 where all values are 0.  If names differ in n, -log p of Student's t, so that names with few topics do not
    have the largest by chance.
    """
    from scipy.special import stdtr

    rest = np.maximum(squares - n * mean**2, 1e-12 * squares)
    square = np.divide(n * (n - 1) * mean**2, rest, out=np.zeros_like(mean), where=squares > 1e-24)
    if (n == n[0]).all():
        return square
    return -np.log(np.maximum(2 * stdtr(n - 1.0, -np.sqrt(square)), 1e-300))


def shrunken(mean: Floats, error: Floats) -> tuple[Floats, Floats]:
    """Shrink means towards 0 by as much as they seem to vary by chance; posterior means and deviations, all (name,).

    Examples
    --------
    >>> value, deviation = shrunken(np.array([-0.2, 0.01, 0.05]), np.array([0.05, 0.05, 0.05]))
    >>> value.round(3).tolist(), deviation.round(3).tolist()
    ([-0.171, 0.009, 0.043], [0.053, 0.046, 0.047])
    """
    scale = float(np.sqrt((error**2).mean()))
    if scale <= 1e-12 * max(1.0, float(np.abs(mean).max())):
        return mean, error
    tau = PRIOR_SCALE * scale * np.tan(np.pi / 2 * (np.arange(TAUS) + 0.5) / TAUS)[:, None]
    variance = tau**2 + error**2
    log_weight = -0.5 * (np.log(variance) + mean**2 / variance).sum(axis=1)
    weight = np.exp(log_weight - log_weight.max())[:, None]
    weight /= weight.sum()
    kept = tau**2 / variance
    value = (weight * kept * mean).sum(axis=0)
    spread = (weight * (kept * error**2 + (kept * mean - value) ** 2)).sum(axis=0)
    return value, np.sqrt(spread)


def ranked_in_order(facts: Facts, label: Codes, used: Ints) -> Floats:
    """In which share of pairs of results with different labels the higher label is ranked first; NaN without pairs.

    label (item,), -1 where there is none; used: numbers of topics -> (system,).  O(hits x labels).
    """
    right, n_pairs = pairs_in_order(facts, label, used)
    return np.divide(right, n_pairs, out=np.full(len(right), np.nan), where=n_pairs > 0)


def pairs_in_order(facts: Facts, label: Codes, used: Ints) -> tuple[Floats, Floats]:
    """Count the pairs of results with different labels: the higher is ranked first, and all -> (system,) each.

    Labels for intents are compared within each intent.
    """
    counts = np.isin(facts.topic, used)
    if facts.items.intents is not None:
        facts, owner = facts.by_need(facts.items.intents)
        counts = counts[owner]
    of_list = np.repeat(np.arange(len(facts.depth)), facts.n_hits)
    kept = (label[facts.item] >= 0) & counts[of_list]
    lists, own = of_list[kept], label[facts.item[kept]]
    n_labels = int(own.max(initial=0)) + 1
    above = np.zeros((len(own) + 1, n_labels))
    above[1:] = np.cumsum(own[:, None] == np.arange(n_labels), axis=0)
    before = above[:-1] - above[np.searchsorted(lists, lists)]
    higher = (before * (np.arange(n_labels) > own[:, None])).sum(axis=1)
    lower = (before * (np.arange(n_labels) < own[:, None])).sum(axis=1)
    system, n_systems = facts.system[lists], len(facts.systems)
    right, wrong = (np.bincount(system, weights=each, minlength=n_systems) for each in (higher, lower))
    return right.astype(np.float64), (right + wrong).astype(np.float64)


def rankers(facts: Facts, own: Codes, theirs: Codes, *, used: Ints) -> Bools:
    """Mark the systems that rank as the judge labels, and not as the reference does on the same items -> (system,).

    own, theirs (item,): labels by the judge and by the reference, -1 where there is none.
    """
    both = (own >= 0) & (theirs >= 0)
    labels = (own, np.where(both, own, -1), np.where(both, theirs, -1))
    counts = [pairs_in_order(facts, each, used) for each in labels]
    enough = np.min([n_pairs for _, n_pairs in counts], axis=0) >= FEWEST_PAIRS
    order, common, by_reference = (right / np.maximum(n_pairs, 1.0) for right, n_pairs in counts)
    return enough & (order >= RANKS_ALIKE) & (common - by_reference >= ABOVE_REFERENCE)
