r"""The labels of a reference, predicted from the labels of other judges.

The *reference* are the people whose labels count; *judges* (often language models) labelled nearly all items, the
reference some of them.  ``predict_labels`` gives every item a distribution over the labels of the reference, by one of

    matrix   the row of the transition matrix for the label of the judge (of several, the label next to their mean),
             with the prior of ``disagreement.transitions``; items without a label of a judge have a row of their own
    labels   proportional odds on the labels of all judges, one indicator per judge and label

Proportional odds (McCullagh 1980, doi:10.1111/j.2517-6161.1980.tb01109.x) are
:math:`\mathrm{logit}\, P(y \le j \mid x) = \theta_j - x^\top\beta`, here with the prior :math:`\beta \sim N(0, 1/J)`
for J judges.  They are fitted without the topics of a fold, five folds, and predict the items of that fold, so that the
residuals of labelled items are like those of others.  They are used in place of the matrix if the reference's labels on
left-out topics have a higher mean log probability by them, by more than the standard error of the difference over
topics; the matrix of the comparison is fitted without these topics too.  What topics and systems have in common is not
in the prediction: ``comparison.corrected_scores`` estimates it from the residuals.

How many systems return an item is left out.  On TREC Deep Learning 2021 it lowers the log loss of items (from 1.33 to
1.26 for a weak judge and 300 labels), and yet makes the scores of systems worse (tau .82 in place of .87): what many
systems return is better on average, but systems that return what others do not are not worse for it.

Where reference labels were sampled with known probabilities :math:`\pi_i`, an item counts in proportion to
:math:`\sqrt{c_i (1 - \pi_i)/\pi_i}`, with :math:`c_i` the weight of the item in the lists.  Without the root it would
count as much as the items like it that were not labelled, which are to be predicted (Hájek 1971: means are ratios of
sums with inverse probabilities).  Such weights remove a bias where something is not modelled, and add variance; the
root is a compromise, since designs of samples depend on labels, topics and systems, which are modelled.  Weights
are scaled to sum to their effective number :math:`(\sum w)^2/\sum w^2` (Kish 1965).  Probabilities that are not
given, of all items or of some, are estimated from the weights of the items that were labelled
(``estimated_inclusion``): labels drawn from the lists in proportion to weight then count about the same, and of those
drawn from a pool the ones that many systems return count more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.data.judgments import Judgments
from venire.data.panel import build_panel
from venire.disagreement.transitions import OWN, UNSEEN, prior_of, usual_matrix
from venire.errors import SettingError, UnknownName, Way
from venire.results import Note, first_few
from venire.types import Bools, Floats, Ints

MATRIX, LABELS = "matrix", "labels"
WORDS = {
    MATRIX: "transition matrix",
    LABELS: "proportional odds on the labels",
}
N_FOLDS, ENOUGH_LABELS, ENOUGH_TOPICS = 5, 200, 10
"""Folds of topics; below so many labels or topics the matrix is used without comparison."""
RAREST = 1e-3
TEMPER = 0.5
"""Power of the weights of labels.

On TREC Deep Learning 2021, 100 labels drawn from the pool, P@10: with the powers 1, 1/2 and 1/4 intervals of systems
are .38, .29 and .27 wide and cover .98, .96 and .93 for a strong judge; .41, .32 and .31 wide, and .97, .89 and .85 for
a weak one, whose level is then too low by .01, .06 and .07.
"""
LEAST_LEFT = 0.02
"""Added to the share of similar items that are not labelled, so that labels of a complete sample count too."""


@dataclass(frozen=True, eq=False)
class ReferenceLabels:
    """What is known and predicted of the labels of the reference, for every item.

    shares (item, label): labels that the reference gave, the mean over its members; 0 where none did
    group (item,): the label of the judge, one more than the last where it gave none
    rows (item, label): the predicted distribution over labels
    weight (item,): how much the label of the reference counts; 0 where there is none
    used: the prediction; loss: minus the mean log probability of labels on left-out topics, by prediction
    """

    shares: Floats
    group: Ints
    rows: Floats
    weight: Floats
    used: str
    loss: dict[str, float]
    notes: tuple[Note, ...] = ()

    @property
    def known(self) -> Bools:
        """Whether the reference labelled the item -> (item,)."""
        return np.asarray(self.weight > 0)

    @property
    def n_labels(self) -> int:
        """How many items the reference labelled."""
        return int(self.known.sum())

    @property
    def model(self) -> str:
        """Which prediction was used, and by how much it is better on left-out topics."""
        return str(self.note)

    @property
    def note(self) -> Note:
        """Which prediction was used, with its log loss on left-out topics and that of the best other one."""
        if self.known.all():
            return Note("reference-model", "the reference labelled every item, so none is predicted", used=self.used)
        if not self.loss:
            return Note(
                "reference-model", f"{WORDS[self.used]}; labels are too few to compare predictions", used=self.used
            )
        other = LABELS if self.used == MATRIX else MATRIX
        text = f"{WORDS[self.used]}: log loss {{loss:.4f}} on left-out topics, {WORDS[other]} {{other_loss:.4f}}"
        fields = {"loss": self.loss[self.used], "other": other, "other_loss": self.loss[other]}
        return Note("reference-model", text, used=self.used, **fields)


def reference_names(judgments: Judgments, reference: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the members of the reference: those named, or those that the judgments declare."""
    declared = judgments.reference if reference is None else reference
    names = (declared,) if isinstance(declared, str) else tuple(dict.fromkeys(declared))
    if not names:
        raise SettingError(
            f"nothing says whose labels are the reference, of {first_few(judgments.assessors, 4)}",
            hint=[Way("name the people whose labels count", reference="NAME"), "declare them in the file"],
        )
    for name in names:
        if name not in judgments.assessors:
            raise UnknownName("assessor", name, judgments.assessors)
    return names


def predict_labels(
    judgments: Judgments, judges: Sequence[str], reference: Sequence[str], *, importance: Floats
) -> ReferenceLabels:
    """Predict the labels of the reference from those of judges; judgments in isolation.

    importance (item,): the weight of the items in the lists that are scored

    Judges may be none, and the reference may have given no labels yet: then the prediction is that of the priors.

    Cost: O(rows), and five fits of proportional odds.
    """
    people = judgments.take(np.isin(judgments.assessors, list(reference))[judgments.assessor.codes])
    counts = people.label_counts().astype(np.float64)
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    own = [build_panel(judgments, assessor=name).labels(0, 1)[0] for name in judges]
    label = np.array(own, dtype=np.int64).reshape(len(own), len(counts))
    group, known = _groups(label, counts.shape[1]), total[:, 0] > 0
    weight, note = inclusion_weights(people, known, importance)
    rows = matrix_rows(shares * weight[:, None], group, ordered=judgments.scale.ordered)[group]
    plain = ReferenceLabels(shares, group, rows, weight, MATRIX, {}, (note,))
    too_few = known.sum() < ENOUGH_LABELS or len(np.unique(judgments.items.topic[known])) < ENOUGH_TOPICS
    if too_few or not judgments.scale.ordered or known.all():
        return plain
    return best_prediction(plain, label, judgments.items.topic.astype(np.int64))


def _groups(label: Ints, n_labels: int) -> Ints:
    """Return the label next to the mean of the judges' labels (judge, item), n_labels where there is none."""
    given = label >= 0
    mean = np.where(given, label, 0).sum(axis=0) / np.maximum(given.sum(axis=0), 1)
    return np.where(given.any(axis=0), np.floor(mean + 0.5), n_labels).astype(np.int64)


def inclusion_weights(people: Judgments, known: Bools, importance: Floats) -> tuple[Floats, Note]:
    """Return what the label of each item counts for, 0 where there is none, and a note on how labels were chosen."""
    weight, inside = known.astype(np.float64), known & (importance > 0)
    if not known.any():
        return weight, Note("no-labels-yet", "the reference has given no label yet: an average judge is assumed")
    if known.all():
        return weight, Note("all-labelled", "the reference labelled all {n:item}", n=len(known))
    chance = _stated_inclusion(people)
    given = int((known & ~np.isnan(chance)).sum())
    if given < known.sum():
        chance = np.where(np.isnan(chance), estimated_inclusion(known, importance), chance)
    weight[inside] = (importance * (1 + LEAST_LEFT - chance) / chance)[inside]
    if inside.any():
        weight[inside] **= TEMPER
        weight[inside] *= weight[inside].sum() / (weight[inside] ** 2).sum()
    return weight, _inclusion_note(given, n=int(known.sum()), effective=float(weight.sum()))


def _stated_inclusion(people: Judgments) -> Floats:
    """Return the inclusion probability of each item, the lowest that is given, NaN where none is -> (item,)."""
    found = np.full(len(people.items), np.nan)
    if people.probability is not None:
        np.fmin.at(found, people.item, people.probability)
    return found


def _inclusion_note(given: int, *, n: int, effective: float) -> Note:
    """Say for how many of n labels inclusion probabilities are given, and how many labels they all count as."""
    counts, worth = {"n": n, "effective": effective}, "; the effective number of {n:label} is {effective:,.0f}"
    if given == n:
        text = "labels of the reference are weighted by their inclusion probabilities" + worth
        return Note("inclusion-weights", text, **counts)
    lacking = "inclusion probabilities are given for {given:,} of {n:label} of the reference; the others"
    lacking = lacking if given else "no inclusion probabilities are given; labels of the reference"
    text = " are assumed to be chosen by the weight of results in the lists alone"
    return Note("inclusion-estimated", lacking + text + worth, given=given, **counts)


def estimated_inclusion(known: Bools, importance: Floats) -> Floats:
    r"""Estimate the probability that the reference labelled an item, from its weight c in the lists -> (item,).

    :math:`\pi = 1 - \exp(-e^{a} c^{b})` by maximum likelihood: b is 0 where labels were drawn from the pool, 1 where
    they were drawn from the lists in proportion to weight.
    """
    from scipy.optimize import minimize

    inside = importance > 0
    log_weight = np.log(np.where(inside, importance, 1.0))
    log_weight -= log_weight[inside].mean() if inside.any() else 0.0
    x, y = log_weight[inside], known[inside]
    if y.all() or not y.any():
        return np.ones(len(known))

    def cost(parameters: Floats) -> float:
        rate = np.exp(np.clip(parameters[0] + parameters[1] * x, -30, 30))
        return float(rate[~y].sum() - np.log(-np.expm1(-np.maximum(rate[y], 1e-12))).sum())

    found = minimize(cost, [np.log(-np.log1p(-y.mean())), 0.5], method="Nelder-Mead").x
    rate = np.exp(np.clip(found[0] + found[1] * log_weight, -30, 30))
    return np.where(inside, np.maximum(-np.expm1(-rate), 1e-6), 1.0)


def matrix_rows(weighted: Floats, group: Ints, *, ordered: bool) -> Floats:
    """Estimate the distribution over labels of the reference in each group, the last without a label.

    weighted (item, label): shares times the weight of the item -> (label + 1, label)
    """
    n_labels = weighted.shape[1]
    counts = np.zeros((n_labels + 1, n_labels))
    np.add.at(counts, group, weighted)
    prior = np.empty_like(counts)
    nothing = ordered and not weighted.any()
    prior[:-1] = usual_matrix(n_labels) if nothing else prior_of(counts[:-1], ordered=ordered)
    overall = counts.sum(axis=0) + 1.0 / n_labels
    prior[-1] = OWN * overall / overall.sum() + UNSEEN / n_labels
    rows = counts + prior
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def best_prediction(plain: ReferenceLabels, label: Ints, topic: Ints) -> ReferenceLabels:
    """Predict left-out topics by proportional odds, too, and use these if they are clearly better than the matrix."""
    x = _indicators(label, plain.shares.shape[1])
    by_matrix, by_labels = np.empty_like(plain.rows), np.empty_like(plain.rows)
    fold = _folds(topic, plain.weight)
    for number in range(N_FOLDS):
        there, weight = fold == number, np.where(fold == number, 0.0, plain.weight)
        by_matrix[there] = matrix_rows(plain.shares * weight[:, None], plain.group, ordered=True)[plain.group[there]]
        fitted = fit_proportional_odds(x, plain.shares, weight, penalty=float(max(len(label), 1)))
        by_labels[there] = label_probabilities(fitted, x[there], plain.shares.shape[1])
    score = {MATRIX: _log_probability(by_matrix, plain), LABELS: _log_probability(by_labels, plain)}
    n = plain.weight.sum()
    loss = {name: -float((plain.weight * each).sum() / n) for name, each in score.items()}
    gain = np.bincount(topic, weights=plain.weight * (score[LABELS] - score[MATRIX]))
    if gain.sum() <= np.sqrt((gain**2).sum()):
        return replace(plain, loss=loss)
    return replace(plain, rows=by_labels, used=LABELS, loss=loss)


def _indicators(label: Ints, n_labels: int) -> Floats:
    """Indicators of each label of each judge but the lowest; label (judge, item), -1 = none -> (item, indicator)."""
    levels = np.arange(1, n_labels)
    found = label[:, :, None] == levels
    given = (label >= 0)[..., None]
    mean = np.where(given, found, 0.0).sum(axis=1, keepdims=True) / np.maximum(given.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(given, found - mean, 0.0).transpose(1, 0, 2).reshape(label.shape[1], -1))


def _folds(topic: Ints, weight: Floats) -> Ints:
    """Assign topics to folds with about as many labels each -> (item,); names of topics do not matter."""
    size = np.bincount(topic, weights=weight)
    fold = np.empty(len(size), dtype=np.int64)
    fold[np.argsort(-size, kind="stable")] = np.arange(len(size)) % N_FOLDS
    return fold[topic]


def _log_probability(rows: Floats, labels: ReferenceLabels) -> Floats:
    return np.asarray((labels.shares * np.log(np.maximum(rows, RAREST))).sum(axis=1))


def fit_proportional_odds(x: Floats, shares: Floats, weight: Floats, *, penalty: float) -> Floats:
    """Fit proportional odds -> parameters: first bound, logarithms of steps between bounds, slopes.

    x (item, feature), shares (item, label), weight (item,); penalty: of half the squared slopes
    """
    from scipy.optimize import minimize

    some = weight > 0
    n_bounds = shares.shape[1] - 1
    upto = np.clip((shares[some] * weight[some, None]).sum(axis=0).cumsum()[:-1] / weight[some].sum(), 0.01, 0.99)
    bounds = np.log(upto / (1 - upto))
    steps = np.log(np.maximum(np.diff(bounds), 0.05))
    start = np.concatenate([bounds[:1], steps, np.zeros(x.shape[1])])
    args = x[some], shares[some] * weight[some, None], penalty, n_bounds
    return np.asarray(minimize(_odds_cost, start, args=args, jac=True, method="L-BFGS-B", options={"maxiter": 60}).x)


def label_probabilities(parameters: Floats, x: Floats, n_labels: int) -> Floats:
    """Return the distributions over labels by proportional odds; x (item, feature) -> (item, label)."""
    return np.asarray(np.diff(_cumulative(parameters, x, n_labels - 1)[0], axis=1))


def _cumulative(parameters: Floats, x: Floats, n_bounds: int) -> tuple[Floats, Floats]:
    """Return P(at most label j), from 0 to 1, (item, label + 1), and the steps between bounds."""
    steps = np.exp(np.clip(parameters[1:n_bounds], -10, 10))
    bounds = parameters[0] + np.concatenate([[0.0], np.cumsum(steps)])
    upto = 1 / (1 + np.exp(-np.clip(bounds - (x @ parameters[n_bounds:])[:, None], -30, 30)))
    return np.concatenate([np.zeros((len(x), 1)), upto, np.ones((len(x), 1))], axis=1), steps


def _odds_cost(parameters: Floats, x: Floats, weighted: Floats, penalty: float, n_bounds: int) -> tuple[float, Floats]:
    """Return minus the logarithm of likelihood and prior, and its gradient.  weighted (item, label)."""
    upto, steps = _cumulative(parameters, x, n_bounds)
    p = np.maximum(np.diff(upto, axis=1), 1e-12)
    density, ratio = upto * (1 - upto), weighted / p
    by_bound = (density[:, 1:-1] * (ratio[:, :-1] - ratio[:, 1:])).sum(axis=0)
    by_item = -(ratio * np.diff(density, axis=1)).sum(axis=1)
    tail = by_bound[::-1].cumsum()[::-1]
    slopes = parameters[n_bounds:]
    gradient = np.concatenate([tail[:1], tail[1:] * steps, by_item @ x])
    cost = -float((weighted * np.log(p)).sum()) + penalty / 2 * float(slopes @ slopes)
    return cost, -gradient + penalty * np.concatenate([np.zeros(n_bounds), slopes])
