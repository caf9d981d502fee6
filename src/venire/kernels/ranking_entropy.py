r"""Plackett-Luce: scores of documents from preferences, and the entropy of the order that they imply.

Chu et al. (2021, doi:10.1145/3459637.3482428).  With s (document,) the scores, a ranking is drawn by choosing the next
document among those left with probability :math:`e^{s_i} / \sum_{j\ left} e^{s_j}` (Eq. 4).

Scores (Eq. 5) minimise :math:`-\sum_{i \ne j} p_{ij} \log \sigma(s_i - s_j)`, a convex function that depends on
differences alone; they are centred.  Newton's steps n are shortened to :math:`\log(1 + d) / d`, with d the largest
difference within n: third derivatives are at most d times second ones, so that no step can overshoot (Sun and Tran-Dinh
2019, doi:10.1007/s10107-018-1282-4).  Where one document always wins, no finite score is the best: probabilities are
clipped, [.01, .99] by default.  An unknown pair (NaN) counts as one half.

Entropy (Eq. 3) in nats.  The documents left are a Markov chain over subsets S, so

.. math:: H = \sum_S P(reach\ S)\, H(choice\ from\ S)

over :math:`2^K` subsets is exact; Eq. (6) draws rankings instead.  Beyond 15 documents rankings are drawn here too,
but each gives the sum of H(choice from S) over the sets it passes instead of -log p (Rao and Blackwell), and rankings
come in antithetic pairs, by Gumbel noise with u and 1 - u.  H lies between 0 and log K!.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import lgamma
from typing import NamedTuple

import numpy as np

from venire.types import Floats, Ints

CLIP = 0.01
MOST_EXACT = 15
N_DRAWS = 2_000
WIDEST_GAP = 40.0
"""Scores further apart than this count as ordered: e^-40 is below the precision of a sum."""
BLOCK_CELLS = 1 << 18
TOLERANCE, MOST_STEPS = 1e-12, 200


class Entropy(NamedTuple):
    """Entropies in nats and their standard errors, both (topic,); the error is 0 where the value is exact."""

    value: Floats
    error: Floats


def most_entropy(n_documents: int) -> float:
    """Return log K!, the entropy of K documents in unknown order."""
    return lgamma(n_documents + 1)


def clipped(preferences: Floats, clip: float = CLIP) -> Floats:
    """Clip probabilities away from 0 and 1; NaN becomes one half."""
    return np.clip(np.where(np.isnan(preferences), 0.5, preferences), clip, 1 - clip)


def scores_of_wins(wins: Floats, start: Floats | None = None) -> Floats:
    """Fit scores, centred, to sums of wins off the diagonal, which are sufficient as every p_ij + p_ji is 1.

    wins (topic, K), each strictly between those of a document that always wins and one that never does; start
    (topic, K): scores to begin with, equal ones by default -> (topic, K)

    Cost: O(topics x K^3), some ten steps over all topics at once; memory: a block of topics.
    """
    n_topics, n_documents = wins.shape
    step = max(1, BLOCK_CELLS // max(n_documents, 1) ** 2)
    scores = np.zeros(wins.shape) if start is None else start.copy()
    for first in range(0, n_topics, step):
        part = slice(first, first + step)
        scores[part] = _newton(wins[part], scores[part])
    return scores


def _newton(wins: Floats, start: Floats) -> Floats:
    """Minimise from start (topic, K) until sums of wins (topic, K) are met."""
    n_documents = wins.shape[1]
    others = 1.0 - np.eye(n_documents)
    scores, left = start.copy(), np.arange(len(wins))
    for _ in range(MOST_STEPS):
        expected = others * _logistic(scores[left, :, None] - scores[left, None, :])
        slope = expected.sum(axis=2) - wins[left]
        slope -= slope.mean(axis=1, keepdims=True)
        far = np.abs(slope).max(axis=1, initial=0.0) > TOLERANCE * n_documents
        left = left[far]
        if not len(left):
            break
        scores[left] -= _damped(_steps(expected[far], slope[far]))
    return scores - scores.mean(axis=1, keepdims=True)


def _steps(expected: Floats, slope: Floats) -> Floats:
    """Newton's steps (topic, K); a constant shift of all documents is held at zero."""
    curve = -expected * (1 - expected)
    diagonal = np.arange(curve.shape[1])
    curve[:, diagonal, diagonal] = -curve.sum(axis=2)
    return np.linalg.solve(curve + 1 / curve.shape[1], slope[:, :, None])[:, :, 0]


def _damped(steps: Floats) -> Floats:
    """Shorten steps so that none overshoots."""
    width = np.ptp(steps, axis=1)[:, None]
    return steps * np.where(width > 1e-6, np.log1p(width) / np.maximum(width, 1e-6), 1.0)


def _logistic(x: Floats) -> Floats:
    return 0.5 * (1 + np.tanh(0.5 * x))


def entropy_of(scores: Floats, *, n_draws: int = N_DRAWS, rng: np.random.Generator | None = None) -> Entropy:
    """Entropy of the rankings that scores (topic, K) give: exact up to K = 15, else by ``n_draws`` rankings.

    Cost: exact O(topics x K 2^K), drawn O(topics x draws x K log K); memory: a block of topics.
    """
    n_topics, n_documents = scores.shape
    value, error = np.zeros(n_topics), np.zeros(n_topics)
    exact = n_documents <= MOST_EXACT
    generator = rng if rng is not None else np.random.default_rng(0)
    step = max(1, BLOCK_CELLS // max((1 << n_documents) if exact else n_documents * n_draws, 1))
    for first in range(0, n_topics, step):
        part = slice(first, first + step)
        if exact:
            value[part] = _over_subsets(scores[part])
        else:
            value[part], error[part] = _over_draws(scores[part], n_draws, generator)
    return Entropy(value, error)


def _over_subsets(scores: Floats) -> Floats:
    """Sum the entropy of a choice over all sets of remaining documents -> (topic,)."""
    n_documents = scores.shape[1]
    if n_documents < 2:
        return np.zeros(len(scores))
    ordered = _without_wide_gaps(scores)
    worth = np.exp(ordered)
    total = _subset_sums(worth)
    choice = np.log(total[1:]) - _subset_sums(worth * ordered)[1:] / total[1:]
    reach, rate = np.zeros((2, *total.shape))
    reach[-1], rate[-1] = 1.0, 1.0 / total[-1]
    for left, before, gone in _levels(n_documents):
        reach[left] = np.einsum("sct,sct->st", rate[before], worth[gone])
        rate[left] = reach[left] / total[left]
    return np.einsum("st,st->t", reach[1:], choice)


def _without_wide_gaps(scores: Floats) -> Floats:
    """Sort scores, highest first at 0, and limit gaps that are practically infinite -> (K, topic)."""
    ordered = -np.sort(-scores, axis=1).T
    gaps = np.minimum(ordered[:-1] - ordered[1:], WIDEST_GAP)
    return np.concatenate([np.zeros((1, len(scores))), -np.cumsum(gaps, axis=0)])


def _subset_sums(values: Floats) -> Floats:
    """Sum over every subset, numbered by its bits: values (K, topic) -> (2^K, topic)."""
    sums = np.zeros((1 << len(values), values.shape[1]))
    for bit, value in enumerate(values):
        np.add(sums[: 1 << bit], value, out=sums[1 << bit : 2 << bit])
    return sums


@lru_cache(maxsize=MOST_EXACT + 1)
def _levels(n_documents: int) -> tuple[tuple[Ints, Ints, Ints], ...]:
    """Subsets by size, from K - 1 down to 2: their numbers (set,), and the larger sets they come from (set, choice).

    The third array is the document that is chosen between the two.  Smaller sets have no choice left.
    """
    levels = []
    for size in range(n_documents - 1, 1, -1):
        missing = np.array(list(combinations(range(n_documents), n_documents - size)), dtype=np.int64)
        left = (1 << n_documents) - 1 - (1 << missing).sum(axis=1)
        levels.append((left, left[:, None] + (1 << missing), missing))
    return tuple(levels)


def _over_draws(scores: Floats, n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Average the entropy of the choices along drawn rankings -> mean and standard error, both (topic,)."""
    n_pairs = max(n_draws // 2, 2)
    uniform = rng.random((len(scores), n_pairs, scores.shape[1]))
    tiny = np.finfo(np.float64).tiny
    paths = [
        _along(scores[:, None, :], -np.log(-np.log(np.clip(each, tiny, 1 - 2**-53)))) for each in (uniform, 1 - uniform)
    ]
    both = (paths[0] + paths[1]) / 2
    return both.mean(axis=1), both.std(axis=1, ddof=1) / np.sqrt(n_pairs)


def _along(scores: Floats, noise: Floats) -> Floats:
    """Sum the entropy of the choices, from the last to the first; scores, noise (..., K) -> (...).

    One more document, chosen with probability w, makes h(w) + (1 - w) H of the entropy H of the choice among the rest.
    """
    order = np.argsort(scores + noise, axis=-1)
    ordered = np.take_along_axis(np.broadcast_to(scores, noise.shape), order, axis=-1)
    log_sum, choice = ordered[..., 0], np.zeros(ordered.shape[:-1])
    total = np.zeros(choice.shape)
    for place in range(1, ordered.shape[-1]):
        more = np.logaddexp(log_sum, ordered[..., place])
        log_taken, log_rest = ordered[..., place] - more, log_sum - more
        rest = np.exp(log_rest)
        choice = rest * (choice - log_rest) - np.exp(log_taken) * log_taken
        total, log_sum = total + choice, more
    return total
