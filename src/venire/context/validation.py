r"""How well conditional labels are predicted, on pairs that the predictor was not fitted on.

Two designs.  A random 90/10 split of the pairs is that of Golbus et al. (2014), doi:10.1145/2566486.2568015, Section
5.3; it is repeated several times.  Its training set has other pairs of the same topics, so cross-validation over whole
topics is the design to rely on:

    accuracy            share of pairs whose most probable label is the conditional label
    log loss            mean of -log P(conditional label), natural logarithm
    calibration error   expected calibration error of the probability of the predicted label, over ten bins (Naeini et
                        al. 2015, AAAI): :math:`\sum_b (n_b / n) |\text{share right}_b - \text{mean confidence}_b|`.
                        With few cases it is above 0 even for a calibrated predictor; ``calibrated_error`` simulates
                        how far

Intervals are percentiles over resampled topics, with the models of the folds as they are; those of a bin of the
reliability diagram are by ``kernels.shares``.  The predictor is compared with its other form, with or without
interactions of labels, and with baselines estimated on the same folds:

    same        the label in isolation.  Its probability is the share s of training pairs whose labels are equal,
                (equal + 1) / (pairs + 2); the other labels share 1 - s in proportion to ``prior``
    isolation   P(g(d|c) = k | g(d)), counted on the training pairs, each row with one pair more distributed as
                ``prior``: what is known without the document read before.  The gain over it is due to context
    prior       the share of each conditional label, (count + 1) / (pairs + labels)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from venire.context.model import FOLDS, MOST_LABELS, Regression, Training
from venire.context.pairs import LabelledPairs
from venire.data.scale import Scale
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.kernels.shares import CONFIDENCE, clustered_shares
from venire.randomness import FEW_TOPICS, resampled_sums, topic_weights
from venire.results import Estimate, Note, Records, Tabular, counted, limits_of
from venire.types import Bools, Codes, Floats, Ints, RNGLike

BINS, CALIBRATED_DRAWS = 10, 100
SPLITS, DRAWS = 20, 1000
PREDICTOR, BASELINES = "predictor", ("isolation", "same", "prior")


class Reliability(NamedTuple):
    """Reliability diagram: confidence and share right by bin, all (bin,); share and interval NaN without cases."""

    low: Floats
    high: Floats
    n_cases: Ints
    confidence: Floats
    share: Floats
    share_low: Floats
    share_high: Floats


def calibration_error(confidence: Floats, hit: Bools) -> float:
    """Return the expected calibration error over ten bins; confidence, hit (case,)."""
    off = np.bincount(_bin(confidence), weights=hit - confidence, minlength=BINS)
    return float(np.abs(off).sum() / len(confidence))


def calibrated_error(confidence: Floats, rng: np.random.Generator) -> float:
    """Simulate the mean calibration error of a calibrated predictor with independent cases."""
    drawn = [calibration_error(confidence, rng.random(len(confidence)) < confidence) for _ in range(CALIBRATED_DRAWS)]
    return float(np.mean(drawn))


def _bin(confidence: Floats) -> Ints:
    """Return the bin of each confidence; 1 is in the last."""
    return np.minimum((confidence * BINS).astype(np.int64), BINS - 1)


def reliability(confidence: Floats, hit: Bools, topic: Codes) -> Reliability:
    """Return the share right by bin of confidence, with intervals over topics; all (case,)."""
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


class Guess(NamedTuple):
    """Probability of each label (pair, label), and the predicted label (pair,)."""

    p: Floats
    label: Codes

    @property
    def confidence(self) -> Floats:
        """Probability of the predicted label -> (pair,)."""
        return self.p[np.arange(len(self.label)), self.label]


def most_probable(p: Floats) -> Guess:
    """Predict the most probable label, the lowest of several."""
    return Guess(p, p.argmax(axis=1).astype(np.int32))


def baselines(learnt: LabelledPairs, held: LabelledPairs, n_labels: int) -> dict[str, Guess]:
    """Predict held-out pairs from training pairs, by each baseline.  O(pairs x labels)."""
    label = held.pairs.label
    prior = (np.bincount(learnt.outcome, minlength=n_labels) + 1) / (len(learnt) + n_labels)
    cell = learnt.pairs.label.astype(np.int64) * n_labels + learnt.outcome
    counts = np.bincount(cell, minlength=n_labels**2).reshape(n_labels, n_labels)
    rows = (counts + prior) / (counts.sum(axis=1, keepdims=True) + 1)
    same, stays = np.ones((1, 1)), (np.trace(counts) + 1) / (counts.sum() + 2)
    if n_labels > 1:
        same = (1 - stays) * prior / (1 - prior)[:, None]
        np.fill_diagonal(same, stays)
    most_frequent = most_probable(np.tile(prior, (len(label), 1)))
    return {"isolation": most_probable(rows[label]), "same": Guess(same[label], label), "prior": most_frequent}


class MethodScore(NamedTuple):
    """Scores of one method; calibrated: the calibration error to expect if its probabilities were right.

    Differences are the predictor's scores less these: accuracy (more is better) and log loss (less is better).
    """

    method: str
    accuracy: Estimate
    log_loss: Estimate
    calibration_error: float
    calibrated: float
    accuracy_difference: Estimate | None
    log_loss_difference: Estimate | None


class SplitAccuracy(NamedTuple):
    """Accuracy on random tenths of the pairs: mean and sd over splits, and that of the label in isolation."""

    accuracy: float
    sd: float
    same: float
    n_pairs: int
    n_splits: int


@dataclass(frozen=True, eq=False)
class ConditionalValidation(Tabular):
    """How well conditional labels are predicted on held-out topics; scores[0] is the predictor's.

    confusion   pairs by conditional label and predicted label (label, label)
    """

    setting: Regression
    scale: Scale
    scores: tuple[MethodScore, ...]
    reliability: Reliability
    confusion: Ints
    split: SplitAccuracy
    n_pairs: int
    n_topics: int
    n_folds: int
    notes: tuple[Note, ...] = ()

    def score(self, method: str) -> MethodScore:
        """Return the scores of a method, and the predictor's less these."""
        return next(each for each in self.scores if each.method == method)

    def records(self) -> Records:
        """Return one row per method, the predictor first: accuracy, log loss and calibration."""
        return [
            {
                "method": each.method,
                **limits_of("accuracy", each.accuracy),
                **limits_of("log_loss", each.log_loss),
                "calibration_error": each.calibration_error,
                "calibrated": each.calibrated,
                **limits_of("accuracy_difference", each.accuracy_difference),
                **limits_of("log_loss_difference", each.log_loss_difference),
            }
            for each in self.scores
        ]

    def sentence(self) -> str:
        """Return the accuracy on held-out topics, and whether the document read before lowers the log loss."""
        rows = {row["method"]: row for row in self.records()}
        same, alone = rows["same"]["accuracy"], rows["isolation"]
        low, high = alone["log_loss_difference_low"], alone["log_loss_difference_high"]
        effect = "lowers" if high < 0 else "does not significantly lower"
        return (
            f"{self.scores[0].accuracy.value:.1%} of {counted(self.n_pairs, 'conditional label')} are predicted "
            f"correctly on held-out topics ({same:.1%} by the label in isolation); knowing the document read before "
            f"{effect} the log loss ({alone['log_loss_difference']:+.3f} [{low:+.3f}, {high:+.3f}])"
        )

    def warnings(self) -> list[Note]:
        """Return what limits the conclusions."""
        notes = []
        if self.n_topics < FEW_TOPICS:
            notes.append(Note("few-topics", "intervals over {n:topic} are too narrow", n=self.n_topics))
        other = self.scores[1]
        if other.method not in BASELINES and other.log_loss_difference and other.log_loss_difference.low > 0:
            words = "the log loss is lower by {difference:.3f} with the other form ({form})"
            notes.append(Note("better-form", words, form=other.method, difference=other.log_loss_difference.value))
        return notes


def validate_conditional_labels(
    judgments: JudgmentsLike,
    *,
    folds: int = FOLDS,
    splits: int = SPLITS,
    n_draws: int = DRAWS,
    rng: RNGLike = 0,
    **fitting: Any,
) -> ConditionalValidation:
    """Estimate how well conditional labels are predicted, on held-out topics and on held-out pairs.

    n_draws: resamples of topics; ``fitting``: features, interactions and regularisation, as in
    ``fit_conditional_labels``.  Cost: 2 folds + splits fits.
    """
    judgments = as_judgments(judgments)
    training, generator = Training.of(judgments, **fitting), np.random.default_rng(rng)
    learnt, n = training.learnt, len(judgments.scale)
    guesses = _held_out(training, training.topic_folds(folds, generator)[learnt.topic])
    split = _split_accuracy(training, splits, generator)
    scores, own = _scored(learnt, guesses, n_draws=n_draws, rng=generator), guesses[PREDICTOR]
    return ConditionalValidation(
        training.setting,
        judgments.scale,
        scores,
        reliability(own.confidence, own.label == learnt.outcome, learnt.topic),
        np.bincount(learnt.outcome.astype(np.int64) * n + own.label, minlength=n * n).reshape(n, n),
        split,
        len(learnt),
        len(learnt.topics),
        folds,
        learnt.notes(),
    )


def _held_out(training: Training, fold: Ints) -> dict[str, Guess]:
    """Predict every pair from the other folds, by every method; fold (pair,)."""
    forms, setting = {PREDICTOR: training}, training.setting
    if len(training.scale) <= MOST_LABELS:
        name = "additive" if setting.interactions else "interactions"
        forms[name] = replace(training, setting=replace(setting, interactions=not setting.interactions))
    n, n_labels = len(fold), len(training.scale)
    found = {name: Guess(np.empty((n, n_labels)), np.empty(n, dtype=np.int32)) for name in (*forms, *BASELINES)}
    for number in range(int(fold.max()) + 1):
        out = fold == number
        held = training.learnt.take(out)
        guesses = {name: most_probable(form.fit(~out).probabilities(held.pairs)) for name, form in forms.items()}
        for name, guess in (guesses | baselines(training.learnt.take(~out), held, n_labels)).items():
            found[name].p[out], found[name].label[out] = guess
    return found


def _split_accuracy(training: Training, splits: int, rng: np.random.Generator) -> SplitAccuracy:
    """Predict random tenths of the pairs from the other nine."""
    n = len(training.learnt)
    n_held = max(1, round(n / 10))
    shares = np.empty((splits, 2))
    for number in range(splits):
        order = rng.permutation(n)
        held = training.learnt.take(order[:n_held])
        label = training.fit(order[n_held:]).probabilities(held.pairs).argmax(axis=1)
        shares[number] = (label == held.outcome).mean(), (held.pairs.label == held.outcome).mean()
    mean = shares.mean(axis=0)
    return SplitAccuracy(float(mean[0]), float(shares[:, 0].std()), float(mean[1]), n_held, splits)


def _scored(
    learnt: LabelledPairs, guesses: Mapping[str, Guess], *, n_draws: int, rng: np.random.Generator
) -> tuple[MethodScore, ...]:
    """Score every method, and the predictor against the others, with intervals over topics."""
    topics, topic = np.unique(learnt.topic, return_inverse=True)
    pair = np.arange(len(learnt))
    hit = np.column_stack([guess.label == learnt.outcome for guess in guesses.values()])
    loss = -np.log(np.column_stack([guess.p[pair, learnt.outcome] for guess in guesses.values()]))
    weights = topic_weights(len(topics), n_draws, rng)
    size = np.bincount(topic).astype(np.float64)
    sums: Floats = np.stack([np.bincount(topic, weights=each) for each in (*hit.T, *loss.T)], axis=1)
    drawn = resampled_sums(sums, weights) / resampled_sums(size, weights)[:, None]
    values = sums.sum(axis=0) / len(learnt)
    k, method = len(guesses), f"bootstrap over topics, n={n_draws}"

    def estimate(column: int, other: int | None = None) -> Estimate:
        value, draws = values[column], drawn[:, column]
        if other is not None:
            value, draws = value - values[other], draws - drawn[:, other]
        low, high = np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        return Estimate(float(value), float(low), float(high), CONFIDENCE, method)

    return tuple(
        MethodScore(
            name,
            estimate(m),
            estimate(k + m),
            calibration_error(guess.confidence, hit[:, m]),
            calibrated_error(guess.confidence, rng),
            estimate(0, m) if m else None,
            estimate(k, k + m) if m else None,
        )
        for m, (name, guess) in enumerate(guesses.items())
    )
