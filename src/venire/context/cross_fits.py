"""Cross-fitted predictions: every topic is predicted by a model that has not seen it.

Labels in condition that a model was fitted on would be predicted too well, and with them whatever is scored.  Topics
are dealt at random into folds of nearly equal numbers; the model of a fold is fitted on the topics of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.context.features import bound_features
from venire.context.model import REGULARISATION, ConditionalLabels, Regression, fit_pairs
from venire.context.pairs import LabelledPairs, labelled_pairs
from venire.data.conditional import ContextPairs
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.errors import PairsError, SettingError
from venire.results import Records, Tabular, counted
from venire.types import Bools, Codes, Floats, Ints, RNGLike

FOLDS = 10


@dataclass(frozen=True, eq=False)
class CrossFitted(Tabular):
    """Predictors of labels in condition, one per fold (a ``venire.data.conditional.Predictor``).

    models   (fold,); whole: fitted on all topics, for those that no label in condition is known of
    fold     of each topic, -1 for such (topic,); topic of each item (item,)
    """

    scale: Scale
    models: tuple[ConditionalLabels, ...]
    whole: ConditionalLabels
    fold: Ints
    topic: Codes

    def probabilities(self, pairs: ContextPairs) -> Floats:
        """Probability of each label -> (pair, label), by the model fitted without the pair's topic."""
        if int(pairs.item.max(initial=-1)) >= len(self.topic):
            raise SettingError(
                f"this predictor knows the topics of {len(self.topic):,} items, and a pair names one beyond them",
                hint="make it from the judgments that are scored: cross_fitted(judgments)",
            )
        p = np.empty((len(pairs), len(self.scale)))
        fold = self.fold[self.topic[pairs.item]]
        for number, model in enumerate((*self.models, self.whole)):
            rows = fold == (number if number < len(self.models) else -1)
            p[rows] = model.probabilities(chosen_pairs(pairs, rows))
        return p

    def sentence(self) -> str:
        """Say in one line what it is."""
        folds = counted(len(self.models), "fold")
        return f"{self.whole.sentence()}; each topic by a model without it, in {folds} of topics"

    def records(self) -> Records:
        """Return the rows of the model that was fitted on all topics."""
        return self.whole.records()


def cross_fitted(
    judgments: Judgments,
    *,
    folds: int | None = None,
    features: Any = None,
    interactions: bool = False,
    regularisation: float = REGULARISATION,
    rng: RNGLike = 0,
) -> CrossFitted:
    """Learn to predict labels in condition so that no pair is predicted from labels of its own topic.

    folds : of topics; None: 10, or as many as there are topics with pairs.  The other parameters are those of
    ``fit_conditional_labels``.  The predictor is for the items of these judgments.
    """
    learnt = labelled_pairs(judgments)
    bound = None if features is None else bound_features(features, judgments)
    setting = Regression(regularisation=regularisation, interactions=interactions)
    generator = np.random.default_rng(rng)
    folds = max(2, min(FOLDS, len(learnt.topics))) if folds is None else folds
    fold = topic_folds(learnt, len(judgments.items.topics), folds=folds, rng=generator)
    held = [fold[learnt.topic] == number for number in range(folds)]
    models = tuple(
        fit_pairs(learnt.take(~out), judgments.scale, setting, features=bound, rng=generator) for out in held
    )
    whole = fit_pairs(learnt, judgments.scale, setting, features=bound, rng=generator)
    return CrossFitted(judgments.scale, models, whole, fold, judgments.items.topic)


def topic_folds(learnt: LabelledPairs, n_topics: int, *, folds: int, rng: np.random.Generator) -> Ints:
    """Deal the topics that have pairs into folds at random -> fold of each topic, -1 without pairs (topic,)."""
    topics = learnt.topics
    if folds < 2:
        raise SettingError(f"{counted(folds, 'fold')} cannot leave topics out", hint="use at least 2 folds")
    if len(topics) < folds:
        hint = "label pairs of documents on more topics"
        if len(topics) > 1:
            hint = f"use --folds {len(topics)}, each topic by itself, or {hint}"
        raise PairsError(
            f"labels in condition are known for {counted(len(topics), 'topic')}, too few for {folds} folds of topics",
            hint=hint,
        )
    fold = np.full(n_topics, -1, dtype=np.int64)
    fold[rng.permutation(topics)] = np.arange(len(topics)) % folds
    return fold


def chosen_pairs(pairs: ContextPairs, rows: Bools) -> ContextPairs:
    """Choose pairs."""
    return ContextPairs(pairs.item[rows], pairs.given[rows], pairs.label[rows], pairs.given_label[rows])
