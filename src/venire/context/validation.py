r"""How well labels in condition are predicted, on pairs that the predictor has not seen.

Two designs.  A random 90/10 split of the pairs is the one of Golbus et al. (2014), doi:10.1145/2566486.2568015,
Section 5.3; it is done several times, since one split is a matter of luck.  It knows other pairs of the same topics, so
folds of whole topics are the design to rely on:

    accuracy            share of pairs whose most probable label is the one that was given
    log loss            mean of -log P(the label given), natural logarithm
    calibration error   by ``calibration``, of the probability of the label that is said

Baselines are those of ``conditional_baselines``, estimated on the same folds; and the other form of the predictor, with
interactions of labels or without.  Intervals are percentiles over resampled topics, the models of the folds as they
are.

Calibration: whether what is said with confidence p is right with the share p.

Expected calibration error, over ten bins of the confidence (Naeini et al. 2015, AAAI):

.. math:: ECE = \sum_b \frac{n_b}{n} |\text{share right}_b - \text{mean confidence}_b|

With few cases it is above 0 even where every confidence is right; ``calibrated_error`` says how far.  Intervals of the
share that is right are by ``kernels.shares``, since cases of one topic are alike.

What labels in condition are predicted by without a model: what a predictor has to beat.

same        the label in isolation again.  Its probability is the share s of pairs learnt from whose label stayed,
            (stayed + 1) / (pairs + 2); the other labels share 1 - s as ``prior`` has them
isolation   P(g(d|c) = k | g(d)), counted on the pairs learnt from, each row with one pair more as ``prior`` has
            it: all that is known without the document read before.  What a predictor gains on this, context gave
prior       the share of each label in condition, (count + 1) / (pairs + labels)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from venire.context.cross_fits import FOLDS, topic_folds
from venire.context.features import Features, bound_features
from venire.context.model import MOST_LABELS, REGULARISATION, Regression, fit_pairs
from venire.context.pairs import LabelledPairs, labelled_pairs
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.kernels.resampling import FEW_TOPICS, resampled_sums, topic_weights
from venire.kernels.shares import CONFIDENCE, clustered_shares
from venire.results import Estimate, Records, Tabular, counted, known
from venire.types import Bools, Codes, Floats, Ints, RNGLike

BINS, CALIBRATED_DRAWS = 10, 100


class Reliability(NamedTuple):
    """Confidence against the share that is right, bin by bin, all (bin,); share and its interval NaN without cases."""

    low: Floats
    high: Floats
    n_cases: Ints
    confidence: Floats
    share: Floats
    share_low: Floats
    share_high: Floats


def calibration_error(confidence: Floats, hit: Bools) -> float:
    """Expected calibration error over ten bins; confidence, hit (case,)."""
    off = np.bincount(_bin(confidence), weights=hit - confidence, minlength=BINS)
    return float(np.abs(off).sum() / len(confidence))


def calibrated_error(confidence: Floats, rng: np.random.Generator) -> float:
    """Mean calibration error if every confidence were right and cases independent, by simulation."""
    drawn = [calibration_error(confidence, rng.random(len(confidence)) < confidence) for _ in range(CALIBRATED_DRAWS)]
    return float(np.mean(drawn))


def _bin(confidence: Floats) -> Ints:
    """Bin of each confidence; 1 is in the last."""
    return np.minimum((confidence * BINS).astype(np.int64), BINS - 1)


def reliability(confidence: Floats, hit: Bools, topic: Codes) -> Reliability:
    """Compare confidence with the share that is right, bin by bin, with intervals over topics; all (case,)."""
    at = _bin(confidence)
    n = np.bincount(at, minlength=BINS)
    _, number = np.unique(topic, return_inverse=True)
    cell, size = number * BINS + at, (int(number.max()) + 1) * BINS
    hits = np.bincount(cell, weights=hit, minlength=size).astype(np.float64, copy=False).reshape(-1, BINS)
    cases = np.bincount(cell, minlength=size).reshape(-1, BINS).astype(np.float64)
    share, low, high = clustered_shares(hits, cases, confidence=CONFIDENCE)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(at, weights=confidence, minlength=BINS) / n
    edges = np.arange(BINS + 1) / BINS
    return Reliability(edges[:-1], edges[1:], n, mean, share, low, high)


BASELINES = ("isolation", "same", "prior")


class Guess(NamedTuple):
    """Probability of each label (pair, label), and the label that is said (pair,)."""

    p: Floats
    label: Codes

    @property
    def confidence(self) -> Floats:
        """Probability of the label that is said -> (pair,)."""
        return self.p[np.arange(len(self.label)), self.label]


def most_probable(p: Floats) -> Guess:
    """Say the most probable label, of equals the lowest."""
    return Guess(p, p.argmax(axis=1).astype(np.int32))


def baselines(learnt: LabelledPairs, held: LabelledPairs, n_labels: int) -> dict[str, Guess]:
    """Guess pairs held out from pairs learnt from, by each baseline.  O(pairs x labels)."""
    label = held.pairs.label
    prior = (np.bincount(learnt.outcome, minlength=n_labels) + 1) / (len(learnt) + n_labels)
    cell = learnt.pairs.label.astype(np.int64) * n_labels + learnt.outcome
    counts = np.bincount(cell, minlength=n_labels**2).reshape(n_labels, n_labels)
    rows = (counts + prior) / (counts.sum(axis=1, keepdims=True) + 1)
    return {
        "isolation": most_probable(rows[label]),
        "same": Guess(_same(counts, prior)[label], label),
        "prior": most_probable(np.tile(prior, (len(label), 1))),
    }


def _same(counts: Ints, prior: Floats) -> Floats:
    """P(label in condition | label in isolation) if it stays with one probability for all -> (label, label)."""
    if len(prior) == 1:
        return np.ones((1, 1))
    stays = (np.trace(counts) + 1) / (counts.sum() + 2)
    table: Floats = (1 - stays) * prior / (1 - prior)[:, None]
    np.fill_diagonal(table, stays)
    return table


SPLITS, DRAWS = 20, 1000
PREDICTOR = "predictor"


class MethodScore(NamedTuple):
    """How well one method predicts; calibrated: the calibration error to expect if its probabilities were right."""

    method: str
    accuracy: Estimate
    log_loss: Estimate
    calibration_error: float
    calibrated: float


class Difference(NamedTuple):
    """The predictor less another method: accuracy (more is better) and log loss (less is better)."""

    method: str
    accuracy: Estimate
    log_loss: Estimate


class SplitAccuracy(NamedTuple):
    """Accuracy on random tenths of the pairs: mean and sd over splits, and that of the label in isolation."""

    accuracy: float
    sd: float
    same: float
    n_pairs: int
    n_splits: int


@dataclass(frozen=True, eq=False)
class ConditionalValidation(Tabular):
    """How well labels in condition are predicted on topics that were left out; scores[0] is the predictor's.

    confusion   pairs by label given in condition and label predicted (label, label)
    """

    setting: Regression
    scale: Scale
    scores: tuple[MethodScore, ...]
    differences: tuple[Difference, ...]
    reliability: Reliability
    confusion: Ints
    split: SplitAccuracy
    n_pairs: int
    n_topics: int
    n_folds: int
    notes: tuple[str, ...] = ()

    def difference_from(self, method: str) -> Difference:
        """Return the predictor's scores less those of another method."""
        return next(each for each in self.differences if each.method == method)

    def records(self) -> Records:
        """Return one row per method, the predictor first: accuracy, log loss and how well it is calibrated."""
        return [
            {
                "method": each.method,
                **{name: known(getattr(each.accuracy, key)) for name, key in _limits("accuracy")},
                **{name: known(getattr(each.log_loss, key)) for name, key in _limits("log_loss")},
                "calibration_error": known(each.calibration_error),
                "calibrated": known(each.calibrated),
            }
            for each in self.scores
        ]

    def sentence(self) -> str:
        """Say in one line how well labels are predicted, and whether context is what helps."""
        accuracy, same = self.scores[0].accuracy.value, self.difference_from("same").accuracy
        alone = self.difference_from("isolation").log_loss
        verdict = "the document read before helps" if alone.high < 0 else "no help by the document read before is seen"
        return (
            f"{accuracy:.1%} of {counted(self.n_pairs, 'label')} in condition are predicted right on topics "
            f"left out, {100 * same.value:+.1f} points [{100 * same.low:+.1f}, {100 * same.high:+.1f}] against the "
            f"same as in isolation; {verdict} (log loss {alone.value:+.3f} [{alone.low:+.3f}, {alone.high:+.3f}])"
        )

    def warnings(self) -> list[str]:
        """Say what makes the numbers doubtful."""
        words = []
        if self.n_topics < FEW_TOPICS:
            words.append(f"intervals rest on {counted(self.n_topics, 'topic')}: they are too narrow")
        other = next((each for each in self.differences if each.method not in BASELINES), None)
        if other is not None and other.log_loss.low > 0:
            form = "with interactions" if other.method == "interactions" else "without interactions"
            words.append(f"{form} of the labels (--interactions) the log loss is lower by {other.log_loss.value:.3f}")
        return words


def validate_conditional_labels(
    judgments: Judgments,
    *,
    folds: int = FOLDS,
    splits: int = SPLITS,
    features: Any = None,
    interactions: bool = False,
    regularisation: float = REGULARISATION,
    n_draws: int = DRAWS,
    rng: RNGLike = 0,
) -> ConditionalValidation:
    """Say how well labels in condition can be predicted from judgments, on topics and on pairs left out.

    features, interactions and regularisation are those of ``fit_conditional_labels``; n_draws: how often topics are
    resampled.  Cost: 2 folds + splits fits.
    """
    learnt = labelled_pairs(judgments)
    bound = None if features is None else bound_features(features, judgments)
    setting = Regression(regularisation=regularisation, interactions=interactions)
    generator = np.random.default_rng(rng)
    fold = topic_folds(learnt, len(judgments.items.topics), folds=folds, rng=generator)
    guesses = _held_out(learnt, judgments.scale, setting, fold=fold[learnt.topic], features=bound)
    split = _split_accuracy(learnt, judgments.scale, setting, features=bound, splits=splits, rng=generator)
    scores, differences = _scored(learnt, guesses, n_draws=n_draws, rng=generator)
    own, n = guesses[PREDICTOR], len(judgments.scale)
    confusion = np.bincount(learnt.outcome.astype(np.int64) * n + own.label, minlength=n * n).reshape(n, n)
    return ConditionalValidation(
        setting,
        judgments.scale,
        scores,
        differences,
        reliability(own.confidence, own.label == learnt.outcome, learnt.topic),
        confusion,
        split,
        len(learnt),
        len(learnt.topics),
        folds,
        tuple(learnt.notes()),
    )


def _held_out(
    learnt: LabelledPairs, scale: Scale, setting: Regression, *, fold: Ints, features: Features | None
) -> dict[str, Guess]:
    """Guess every pair from the folds without it, by every method; fold (pair,)."""
    forms = {PREDICTOR: setting}
    if len(scale) <= MOST_LABELS:
        name = "additive" if setting.interactions else "interactions"
        forms[name] = replace(setting, interactions=not setting.interactions)
    n, n_labels = len(learnt), len(scale)
    found = {name: Guess(np.empty((n, n_labels)), np.empty(n, dtype=np.int32)) for name in (*forms, *BASELINES)}
    for number in range(int(fold.max()) + 1):
        out = fold == number
        seen, held = learnt.take(~out), learnt.take(out)
        guesses = {
            name: most_probable(fit_pairs(seen, scale, form, features=features).probabilities(held.pairs))
            for name, form in forms.items()
        }
        for name, guess in (guesses | baselines(seen, held, n_labels)).items():
            found[name].p[out], found[name].label[out] = guess
    return found


def _split_accuracy(
    learnt: LabelledPairs,
    scale: Scale,
    setting: Regression,
    *,
    features: Features | None,
    splits: int,
    rng: np.random.Generator,
) -> SplitAccuracy:
    """Predict random tenths of the pairs from the other nine."""
    n_held = max(1, round(len(learnt) / 10))
    shares = np.empty((splits, 2))
    for number in range(splits):
        order = rng.permutation(len(learnt))
        seen, held = learnt.take(order[n_held:]), learnt.take(order[:n_held])
        label = fit_pairs(seen, scale, setting, features=features).probabilities(held.pairs).argmax(axis=1)
        shares[number] = (label == held.outcome).mean(), (held.pairs.label == held.outcome).mean()
    mean = shares.mean(axis=0)
    return SplitAccuracy(float(mean[0]), float(shares[:, 0].std()), float(mean[1]), n_held, splits)


def _scored(
    learnt: LabelledPairs, guesses: Mapping[str, Guess], *, n_draws: int, rng: np.random.Generator
) -> tuple[tuple[MethodScore, ...], tuple[Difference, ...]]:
    """Score every method, and the predictor against the others, with intervals over topics."""
    _, topic = np.unique(learnt.topic, return_inverse=True)
    pair = np.arange(len(learnt))
    hit = np.column_stack([guess.label == learnt.outcome for guess in guesses.values()])
    loss = -np.log(np.column_stack([guess.p[pair, learnt.outcome] for guess in guesses.values()]))
    n_topics = int(topic.max()) + 1
    sums = _topic_sums(np.hstack([hit, loss]), topic, n_topics)
    size = np.bincount(topic, minlength=n_topics).astype(np.float64)
    weights = topic_weights(n_topics, n_draws, rng)
    values = sums.sum(axis=0) / len(learnt)
    drawn = resampled_sums(sums, weights) / resampled_sums(size, weights)[:, None]
    k, method = len(guesses), f"bootstrap over topics, n={n_draws}"

    def estimate(value: float, draws: Floats) -> Estimate:
        low, high = np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        return Estimate(float(value), float(low), float(high), CONFIDENCE, method)

    scores = tuple(
        MethodScore(
            name,
            estimate(values[m], drawn[:, m]),
            estimate(values[k + m], drawn[:, k + m]),
            calibration_error(guess.confidence, hit[:, m]),
            calibrated_error(guess.confidence, rng),
        )
        for m, (name, guess) in enumerate(guesses.items())
    )
    differences = tuple(
        Difference(
            name,
            estimate(values[0] - values[m], drawn[:, 0] - drawn[:, m]),
            estimate(values[k] - values[k + m], drawn[:, k] - drawn[:, k + m]),
        )
        for m, name in enumerate(guesses)
        if m
    )
    return scores, differences


def _topic_sums(values: Floats, topic: Ints, n_topics: int) -> Floats:
    """Sum rows by topic: values (pair, column) -> (topic, column)."""
    width = values.shape[1]
    cell = topic[:, None] * width + np.arange(width)
    sums = np.bincount(cell.ravel(), weights=values.ravel(), minlength=n_topics * width)
    return sums.astype(np.float64, copy=False).reshape(n_topics, width)


def _limits(name: str) -> list[tuple[str, str]]:
    """Names in a record of an estimate's value and limits."""
    return [(name, "value"), (f"{name}_low", "low"), (f"{name}_high", "high")]
